// cuda-graph sm_80:
// cuda-graph sm_90:
// Kernels whose files for newer targets differ from the first one in what tests are about.

// data[i] = i; from 9.0 on, in clusters of two blocks
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) numbers(unsigned *data)
#else
extern "C" __global__ void numbers(unsigned *data)
#endif
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x * blockDim.x + threadIdx.x;
}

// to[i] = from[i]; from 9.0 on, also clears from[i], and never waits
extern "C" __global__ void moved(unsigned *from, unsigned *to)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
#if __CUDA_ARCH__ >= 900
    from[i] = 0;
#endif
}

// Not for 8.0.
#if __CUDA_ARCH__ != 800
extern "C" __global__ void one(unsigned *data)
{
    *data = 1;
}
#endif
