// cuda-graph: --generate-line-info
// Kernels that do what they must not.
extern "C" __global__ void out_of_bounds(const float *in, float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x]; }

extern "C" __global__ void before_start(float *out) { out[(int)threadIdx.x - 2] = 1; }

extern "C" __global__ void misaligned(char *out) { *(int *)(out + 4 * threadIdx.x + (threadIdx.x == 3)) = 1; }

extern "C" __global__ void null_pointer(int *out) { *out = 1; }

extern "C" __global__ void load(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }

extern "C" __global__ void shared_overrun(int *out, int n) {
    __shared__ int data[32];
    data[threadIdx.x + n] = 1;
    __syncthreads();
    out[threadIdx.x] = data[31 - threadIdx.x];
}

extern "C" __global__ void warp_deadlock(int *out) {
    if (threadIdx.x < 8) out[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 0);
    else __syncthreads();
}

extern "C" __global__ void deadlock(int *out) {
    if (threadIdx.x < 32) { __syncthreads(); out[0] = 1; }
    else { asm volatile("bar.sync 1, 64;"); }
}

extern "C" __global__ void forever(int *out) { while (*(volatile int *)out == 0) { } }

extern "C" __global__ void trap(int *out) { if (threadIdx.x == 5) __trap(); out[threadIdx.x] = 1; }

__device__ __noinline__ int deep(int n) { return n == 0 ? 1 : n ^ (3 * deep(n - 1)); }

extern "C" __global__ void overflow(int *out, int n) { *out = deep(n); }
