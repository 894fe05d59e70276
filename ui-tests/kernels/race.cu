// A race within a kernel: a thread reads the element that the next thread writes.

/// `data[i] = (data[i] + data[i + 1]) / 2` for `i < n`, in place.
extern "C" __global__ void smooth(float *data, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 0.5f * (data[i] + data[i + 1]);
}

/// `out[i] = (data[i] + data[i + 1]) / 2` for `i < n`
extern "C" __global__ void smoothed(const float *data, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * (data[i] + data[i + 1]);
}
