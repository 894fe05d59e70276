// Kernels of the ui-tests that update memory by atomic operations, or initialise memory that they then read. They are
// never run.

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// Updates by atomic operations alone.
extern "C" __global__ void count(unsigned *bins)
{
    atomicAdd(&bins[index_in_launch()], 1u);
}

// The same on other memory, told by other memory that it reads.
extern "C" __global__ void count_where(unsigned *bins, const unsigned *where)
{
    if (where[index_in_launch()])
        atomicAdd(&bins[index_in_launch()], 1u);
}

// Also loads what it updates.
extern "C" __global__ void count_and_look(unsigned *bins, unsigned *out)
{
    atomicAdd(&bins[index_in_launch()], 1u);
    out[index_in_launch()] = bins[index_in_launch()];
}

// Is atomic among the threads of a block.
extern "C" __global__ void count_in_block(unsigned *bins)
{
    atomicAdd_block(&bins[index_in_launch()], 1u);
}

// Updates two elements of four bytes as one of eight.
extern "C" __global__ void count_wide(unsigned *bins)
{
    atomicAdd((unsigned long long *)bins + index_in_launch(), 1ull);
}

// Loads.
extern "C" __global__ void look(const unsigned *bins, unsigned *out)
{
    out[index_in_launch()] = bins[index_in_launch()];
}

// Writes `tmp`, then reads it.
extern "C" __global__ void through(float *tmp, float *out)
{
    tmp[index_in_launch()] = 1;
    __syncthreads();
    out[index_in_launch()] = tmp[index_in_launch() ^ 1];
}

// Only reads `tmp`.
extern "C" __global__ void from(const float *tmp, float *out)
{
    out[index_in_launch()] = tmp[index_in_launch()];
}
