// cuda-graph: --gpu-architecture=compute_90
// The kernel of the `overlap` example with programmatic edges.

// As `advance` in overlap.cu; lets the next kernel start at once, and waits for the one before.
extern "C" __global__ void advance_early(unsigned *data, unsigned step)
{
    asm volatile("griddepcontrol.launch_dependents;");
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    data[i] = data[i] * 1664525u + 1013904223u + step;
}
