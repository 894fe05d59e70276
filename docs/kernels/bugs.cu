// cuda-graph: --generate-line-info
// Three kernels with a bug each, which GPUs often pass over silently.

// sums[b] = the sum of block b's 64 elements of x
extern "C" __global__ void block_sums(const float *x, float *sums)
{
    __shared__ float part[64];
    unsigned t = threadIdx.x;
    part[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        if (t < stride)
            part[t] += part[t + stride];
        // Here a barrier is missing.
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}

// y[i] = the mean of x[i - 1], x[i] and x[i + 1]; blocks of 64 threads
extern "C" __global__ void blur(const float *x, float *y, unsigned n)
{
    __shared__ float tile[66];
    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t + 1] = x[i];
    if (t == 0 && i > 0)
        tile[0] = x[i - 1];
    if (t == 63 && i + 1 < n)
        tile[65] = x[i + 1];
    __syncthreads();
    // At both ends of x, one of the three was never written.
    y[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3;
}

// data[i] *= by
extern "C" __global__ void scale(float *data, float by)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    // `if (i < n)` is missing.
    data[i] *= by;
}
