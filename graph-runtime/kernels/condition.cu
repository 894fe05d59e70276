// cuda-graph: --ptx-version=6.0
// The built-in kernels that set conditions. They are loaded only for graphs with conditional nodes: drivers before CUDA
// 12.3 do not have `cudaGraphSetConditional`, which the driver itself defines. Each runs as one thread.

typedef unsigned long long u64;

extern "C" __device__ void cudaGraphSetConditional(u64 handle, unsigned value);

// Sets the condition `handle` to `*flag`.
extern "C" __global__ void graph_runtime_condition(u64 handle, const unsigned *flag)
{
    cudaGraphSetConditional(handle, *flag);
}

// Sets the condition `handle` to 1 if `*flag` is `number`, else to 0.
extern "C" __global__ void graph_runtime_condition_equal(u64 handle, const unsigned *flag, unsigned number)
{
    cudaGraphSetConditional(handle, *flag == number);
}
