// Kernels that read and write variables of their module, which graphs declare as memory.

extern "C" {
__constant__ float table[4] = {1.0f, 1.0f, 1.0f, 1.0f};
__device__ unsigned totals[2] = {10, 20};
}

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// data[i] *= table[i % 4]
extern "C" __global__ void weigh(float *data)
{
    data[index_in_launch()] *= table[index_in_launch() % 4];
}

// totals[i] += by; two threads at most
extern "C" __global__ void add_totals(unsigned by)
{
    totals[index_in_launch()] += by;
}

// out[i] = totals[i % 2]
extern "C" __global__ void read_totals(unsigned *out)
{
    out[index_in_launch()] = totals[index_in_launch() % 2];
}
