// cuda-graph: --gpu-architecture=compute_90
// The kernels of `ui_tests` that need compute capability 9.0.

// data[i] = 1, in clusters of two blocks
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(float *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// out[i] = input[i] behind a programmatic edge: lets the next kernel start, and waits for the one before.
extern "C" __global__ void chained(const float *input, float *out)
{
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = input[i];
}

// The same, but it reads before it has waited.
extern "C" __global__ void eager(const float *input, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = input[i];
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[i] = value;
}

// The same, but threads from n on end without having waited.
extern "C" __global__ void hasty(const float *input, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[i] = input[i];
}

// The same, but what it loads may be what a cache held before.
extern "C" __global__ void stale(const float *__restrict__ input, float *__restrict__ out)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = input[i];
}
