// cuda-graph: --gpu-architecture=compute_90
// Kernels of graph-runtime's tests of node attributes. `i` is always the thread's index in the whole (one-dimensional)
// launch.

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// out[i] = i
extern "C" __global__ void number(unsigned *out)
{
    out[index_in_launch()] = index_in_launch();
}

// out[b] = the sum of in[b'] over all blocks b', by a barrier of the whole grid: arrived counts up by the number of
// blocks in each launch. One thread a block.
extern "C" __global__ void meet(unsigned *arrived, unsigned *in, unsigned *out)
{
    unsigned b = blockIdx.x;
    ((volatile unsigned *)in)[b] = b + 1;
    __threadfence();
    unsigned before = atomicAdd(arrived, 1);
    unsigned round = before / gridDim.x + 1;
    while (*(volatile unsigned *)arrived < round * gridDim.x)
        ;
    __threadfence();
    unsigned sum = 0;
    for (unsigned other = 0; other < gridDim.x; other++)
        sum += ((volatile unsigned *)in)[other];
    out[b] = sum;
}

// out[i] = the rank of its block in the cluster, and 100 times the number of the cluster's blocks
extern "C" __global__ void rank(unsigned *out)
{
    unsigned rank, ranks;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
    out[index_in_launch()] = rank + 100 * ranks;
}
