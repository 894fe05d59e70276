// Kernels whose pointers may be null.

extern "C" __global__ void biased(const float *x, const float *bias, float *y, unsigned *uses, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] + (bias ? bias[i] : 0.0f);
    if (uses) atomicAdd(uses, 1u);
}

extern "C" __global__ void split(const float *x, float *whole, float *part, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (whole) whole[i] = truncf(x[i]);
    part[i] = x[i] - truncf(x[i]);
}
