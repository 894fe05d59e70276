// cuda-graph sm_80:
// cuda-graph sm_90:
// Kernels in files for several targets.

// out[i] = the compute capability that the file is for
extern "C" __global__ void target_of(unsigned *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = __CUDA_ARCH__ / 10;
}

// out[i] = input[i] + 1. In the file for 9.0, lets the next kernel start, and waits for the one before.
extern "C" __global__ void chained(const unsigned *input, unsigned *out)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = input[i] + 1;
}

// out[i] = i. In the file for 9.0, in clusters of two blocks of 64 threads at most.
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) paired(unsigned *out)
#else
extern "C" __global__ void paired(unsigned *out)
#endif
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}
