// Kernels that read and write variables of their module.

extern "C" {
__constant__ float table[4];
__device__ unsigned totals[2];
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

// totals[i] += 1
extern "C" __global__ void count_up()
{
    totals[index_in_launch() % 2] += 1;
}
