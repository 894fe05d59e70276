// cuda-graph: --gpu-architecture=compute_80
// Operations of all lanes of a warp together. Row r of thread i is out[r * threads + i].

struct Column {
    unsigned *at;
    unsigned step;
    __device__ Column(unsigned *out)
        : at(out + blockIdx.x * blockDim.x + threadIdx.x), step(gridDim.x * blockDim.x)
    {
    }
    __device__ void put(unsigned value)
    {
        *at = value;
        at += step;
    }
};

extern "C" __global__ void votes(const int *in, unsigned *out)
{
    Column column(out);
    int x = in[blockIdx.x * blockDim.x + threadIdx.x], lane = threadIdx.x % 32;
    column.put(__ballot_sync(0xffffffff, x > 0));
    column.put(__any_sync(0xffffffff, x == 7));
    column.put(__all_sync(0xffffffff, x > -100));
    unsigned r;
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; vote.sync.uni.pred q, !p, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(r) : "r"(x));
    column.put(r);
    column.put(__match_any_sync(0xffffffff, x));
    column.put(__match_any_sync(0xffffffff, (long long)x << 33 | (lane & 1)));
    int all;
    column.put(__match_all_sync(0xffffffff, x & ~0xff, &all));
    column.put(all);
    unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
    if (lane < 16)
        r = __ballot_sync(half, x & 1);
    else
        r = __match_any_sync(half, x & 3);
    column.put(r);
    unsigned kept = __ballot_sync(0xffffffff, x > 10);
    r = 0;
    if (x > 10)
        r = __reduce_or_sync(kept, 1u << (x & 31));
    __syncwarp();
    column.put(r);
}

extern "C" __global__ void shuffles(const int *in, unsigned *out)
{
    Column column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = in[i], lane = threadIdx.x % 32;
    column.put(__shfl_sync(0xffffffff, x, 5));
    column.put(__shfl_sync(0xffffffff, x, lane * 7 + 3));
    column.put(__shfl_sync(0xffffffff, x, lane + 1, 8));
    column.put(__shfl_up_sync(0xffffffff, x, 3));
    column.put(__shfl_up_sync(0xffffffff, x, 2, 16));
    column.put(__shfl_down_sync(0xffffffff, x, 9));
    column.put(__shfl_down_sync(0xffffffff, x, 1, 4));
    column.put(__shfl_xor_sync(0xffffffff, x, 21));
    column.put(__shfl_xor_sync(0xffffffff, x, 6, 4));
    unsigned long long wide = __shfl_xor_sync(0xffffffff, (unsigned long long)x << 32 | i, 1);
    column.put((unsigned)(wide >> 32));
    column.put(__float_as_uint(__shfl_down_sync(0xffffffff, (float)x, 4)));
    column.put(__double2hiint(__shfl_sync(0xffffffff, (double)x, 31 - lane)));
    // The predicate says whether the source lane was in range.
    unsigned r, inside;
    asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 5, 0x0800, 0xffffffff; selp.u32 %1, 1, 0, p; }" : "=r"(r), "=r"(inside) : "r"(x));
    column.put(r);
    column.put(inside);
    asm volatile("{ .reg .pred p; shfl.sync.bfly.b32 %0|p, %2, %3, 0x1c03, 0xffffffff; selp.u32 %1, 1, 0, p; }"
                 : "=r"(r), "=r"(inside)
                 : "r"(x), "r"(lane & 7));
    column.put(r);
    column.put(inside);
    if (lane % 3 == 0) // a part of the warp
        r = __shfl_sync(0x49249249, x, 9);
    column.put(r);
}

extern "C" __global__ void reduce_sync(const int *in, unsigned *out)
{
    Column column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int x = in[i];
    column.put(__reduce_add_sync(0xffffffff, x));
    column.put(__reduce_min_sync(0xffffffff, x));
    column.put(__reduce_max_sync(0xffffffff, x));
    column.put(__reduce_min_sync(0xffffffff, (unsigned)x));
    column.put(__reduce_max_sync(0xffffffff, (unsigned)x));
    column.put(__reduce_and_sync(0xffffffff, (unsigned)x));
    column.put(__reduce_or_sync(0xffffffff, (unsigned)x));
    column.put(__reduce_xor_sync(0xffffffff, (unsigned)x));
    unsigned odd = lane & 1 ? 0xaaaaaaaau : 0x55555555u;
    column.put(__reduce_add_sync(odd, (unsigned)x));
}

// The position of a thread.
extern "C" __global__ void special_registers(unsigned *out)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned *at = out + (block * blockDim.x * blockDim.y * blockDim.z + thread) * 12, r;
    at[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
    at[1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
    at[2] = blockDim.x | blockDim.y << 8 | blockDim.z << 16;
    at[3] = gridDim.x | gridDim.y << 8 | gridDim.z << 16;
#define SPECIAL(row, name)                                                                                                            \
    asm volatile("mov.u32 %0, %%" name ";" : "=r"(r));                                                                               \
    at[row] = r;
    SPECIAL(4, "laneid")
    SPECIAL(5, "lanemask_eq")
    SPECIAL(6, "lanemask_le")
    SPECIAL(7, "lanemask_lt")
    SPECIAL(8, "lanemask_ge")
    SPECIAL(9, "lanemask_gt")
    unsigned multiprocessor, count;
    asm volatile("mov.u32 %0, %%smid; mov.u32 %1, %%nsmid;" : "=r"(multiprocessor), "=r"(count));
    unsigned warp, warps;
    asm volatile("mov.u32 %0, %%warpid; mov.u32 %1, %%nwarpid;" : "=r"(warp), "=r"(warps));
    long long start = clock64(), before;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
    unsigned ticks = clock();
    __syncwarp();
    at[10] = multiprocessor < count | (warp < warps) << 1 | (clock64() >= start) << 2 | (before > 0) << 3;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r));
    at[11] = r + (ticks == 0xdeadbeef && start == 0);
}
