// cuda-graph: --gpu-architecture=compute_80
// Cooperative groups: tiles of a warp, lanes that happen to be together, the block.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace groups = cooperative_groups;

// Sums and scans of tiles of 8 and of 32, row r of thread i at out[r * n + i].
extern "C" __global__ void tiles(const int *in, int *out, unsigned n)
{
    groups::thread_block block = groups::this_thread_block();
    auto warp = groups::tiled_partition<32>(block);
    auto tile = groups::tiled_partition<8>(warp);
    unsigned i = block.group_index().x * block.size() + block.thread_rank();
    int x = in[i];
    out[i] = groups::reduce(tile, x, groups::plus<int>());
    out[n + i] = groups::reduce(warp, x, groups::less<int>());
    out[2 * n + i] = groups::inclusive_scan(tile, x);
    out[3 * n + i] = groups::exclusive_scan(warp, x, groups::bit_xor<int>());
    out[4 * n + i] = tile.shfl_down(x, 2) + tile.meta_group_rank() * 1000 + tile.any(x > 50);
    auto labeled = groups::labeled_partition(warp, x & 3);
    out[5 * n + i] = labeled.size() * 100 + labeled.thread_rank();
    auto split = groups::binary_partition(tile, x > 0);
    out[6 * n + i] = groups::reduce(split, x, groups::plus<int>()) * 2 + split.size();
    block.sync();
}

// An atomic for all lanes that take the branch together.
extern "C" __global__ void aggregated(const int *in, int *kept, unsigned *count)
{
    int x = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (x > 20) {
        groups::coalesced_group active = groups::coalesced_threads();
        unsigned at = 0;
        if (active.thread_rank() == 0)
            at = atomicAdd(count, active.size());
        at = active.shfl(at, 0);
        atomicAdd(&kept[(at + active.thread_rank()) % 4], 1);
        atomicAdd(&kept[4], x);
    }
}
