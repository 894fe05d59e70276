// cuda-graph: --gpu-architecture=compute_90
// The kernel of the benchmark of programmatic edges.

// data[i] += 1
extern "C" __global__ void increment(unsigned *data)
{
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    data[threadIdx.x] += 1;
}
