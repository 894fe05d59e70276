// cuda-graph: --gpu-architecture=compute_90 --diag-suppress=1105
// Kernels behind programmatic edges: right ones, and each way to be wrong.
#include <cuda_device_runtime_api.h>

extern "C" {
__device__ float bias = 1.0f;
__device__ const float table[4] = {1, 2, 3, 4};
}

__device__ unsigned thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Lets the next kernel start, prepares, waits, then works.
extern "C" __global__ void right(const float *in, float *out)
{
    cudaTriggerProgrammaticLaunchCompletion();
    __shared__ float tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    cudaGridDependencySynchronize();
    out[thread()] = in[thread()] + tile[31 - threadIdx.x];
}

// The weights may be read before the wait: whether some node writes them only the graph knows.
extern "C" __global__ void weights(const float *weights, const float *in, float *out)
{
    float w = weights[thread()];
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[thread()] = in[thread()] * w;
}

extern "C" __global__ void never_waits(const float *in, float *out)
{
    out[thread()] = in[thread()];
    asm volatile("griddepcontrol.launch_dependents;");
}

extern "C" __global__ void writes_early(const float *in, float *out)
{
    out[thread()] = 0;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[thread()] += in[thread()];
}

extern "C" __global__ void counts_early(unsigned *count)
{
    atomicAdd(count, 1);
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Threads beyond the end leave without having waited.
extern "C" __global__ void returns_early(const float *in, float *out, unsigned n)
{
    if (thread() >= n)
        return;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[thread()] = in[thread()];
}

extern "C" __global__ void waits_sometimes(const float *in, float *out, unsigned n)
{
    if (n > 1)
        asm volatile("griddepcontrol.wait;" ::: "memory");
    out[thread()] = in[thread()];
}

extern "C" __global__ void waits_guarded(const float *in, float *out, unsigned n)
{
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p griddepcontrol.wait; }" ::"r"(n) : "memory");
    out[thread()] = in[thread()];
}

extern "C" __global__ void waits_in_a_loop(const float *in, float *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        asm volatile("griddepcontrol.wait;" ::: "memory");
    out[thread()] = in[thread()];
}

// No one wait dominates the end, but every path has passed one.
extern "C" __global__ void waits_on_all_paths(const float *in, float *out, unsigned n)
{
    if (n > 1) {
        asm volatile("griddepcontrol.wait; // many" ::: "memory");
        out[thread()] = in[thread()] * n;
    } else {
        asm volatile("griddepcontrol.wait; // one" ::: "memory");
        out[thread()] = in[thread()];
    }
}

// `const __restrict__` makes loads that may see what a cache held before the kernel ran.
extern "C" __global__ void restricted(const float *__restrict__ in, float *__restrict__ out)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[thread()] = in[thread()];
}

__device__ __noinline__ void wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ __noinline__ void put(float *out, float value) { out[thread()] = value; }

extern "C" __global__ void waits_in_a_function(const float *in, float *out)
{
    wait();
    put(out, in[thread()]);
}

extern "C" __global__ void writes_early_in_a_function(float *out)
{
    put(out, 1);
    wait();
    put(out, 2);
}

extern "C" __global__ void follows_early(float *const *list)
{
    *list[thread()] = 1;
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

extern "C" __global__ void variables(float *out, unsigned n)
{
    float before = bias * table[n & 3];
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[thread()] = before;
    bias = 2;
}

// A trap is no way out: the graph fails.
extern "C" __global__ void traps(float *out, unsigned n)
{
    if (n == 0)
        __trap();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[thread()] = n;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(float *out)
{
    out[thread()] = 1;
}
