// cuda-graph: --with-headers --diag-suppress=1444
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

// CUB's primitives of a block of 128 threads and of its warps.
constexpr int THREADS = 128, ITEMS = 4;

extern "C" __global__ void block_sum(const int *in, int *out)
{
    using Reduce = cub::BlockReduce<int, THREADS>;
    __shared__ typename Reduce::TempStorage shared;
    const int sum = Reduce(shared).Sum(in[blockIdx.x * THREADS + threadIdx.x]);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

extern "C" __global__ void block_scan(const int *in, int *out)
{
    using Scan = cub::BlockScan<int, THREADS>;
    __shared__ typename Scan::TempStorage shared;
    int sum;
    Scan(shared).InclusiveSum(in[blockIdx.x * THREADS + threadIdx.x], sum);
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

extern "C" __global__ void block_sort(const unsigned *in, unsigned *out)
{
    using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage shared;
    unsigned keys[ITEMS];
    const unsigned first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (int i = 0; i < ITEMS; i++)
        keys[i] = in[first + i];
    Sort(shared).Sort(keys);
    for (int i = 0; i < ITEMS; i++)
        out[first + i] = keys[i];
}

extern "C" __global__ void warp_sum(const float *in, float *out)
{
    using Reduce = cub::WarpReduce<float>;
    __shared__ typename Reduce::TempStorage shared[THREADS / 32];
    const int warp = threadIdx.x / 32;
    const float sum = Reduce(shared[warp]).Sum(in[blockIdx.x * THREADS + threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        out[blockIdx.x * (THREADS / 32) + warp] = sum;
}
