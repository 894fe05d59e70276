// cuda-graph: --gpu-architecture=compute_90
// Instructions that compute capability 9.0 adds to ordinary kernels.

// A kernel of a programmatic launch: it lets the next one start, and waits for the one before.
extern "C" __global__ void programmatic(const int *in, int *out)
{
    asm volatile("griddepcontrol.launch_dependents;");
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.wait;" : : : "memory");
    out[i] = in[i] * 3 + 1;
}

// One lane elected for the warp, redux on a part of it, extremes of three, integer relu.
extern "C" __global__ void elected(const int *in, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, leader, chosen;
    int x = in[i];
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(chosen));
    out[i] = __viaddmax_s32(x, -50, 3);
    out[blockDim.x + i] = __vimax3_s32(x, 10, x * -2);
    out[2 * blockDim.x + i] = __vimin_s32_relu(x, 40);
    out[3 * blockDim.x + i] = __reduce_add_sync(0xffffffff, chosen) * 100 + __shfl_sync(0xffffffff, chosen, leader);
    unsigned rank, size;
    asm volatile("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(size));
    out[4 * blockDim.x + i] = rank * 10 + size;
}

// Vectors of floats added by one atomic.
extern "C" __global__ void vector_atomics(const float4 *in, float4 *sum, float2 *pairs)
{
    float4 x = in[threadIdx.x];
    atomicAdd(sum, x);
    atomicAdd(&pairs[threadIdx.x & 1], make_float2(x.x, x.w));
}
