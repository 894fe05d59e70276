// cuda-graph: --ptx-version=6.0
// The built-in kernel before and after a collective that NCCL carries: it tells the host where this rank is.

typedef unsigned u32;
typedef unsigned long long u64;

// Before a collective, `node` is its number, and the collective is counted; after that, `node` is 0. The host finds
// both in one word.
extern "C" __global__ void graph_runtime_mark(u64 *count, u64 *post, u32 node)
{
    u64 now = *count + (node != 0);
    *count = now;
    *(volatile u64 *)post = now << 32 | node;
}
