// cuda-graph: --gpu-architecture=compute_90
// The kernel of the example of `programmatic` in `language.md`, which needs compute capability 9.0 to start early.

// out[i] = input[i]: lets the next kernel start, and waits for the one before.
extern "C" __global__ void chained(const float *input, float *out)
{
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = input[i];
}
