// cuda-graph: --ptx-version=6.0
// The kernel of the benchmark of overheads.

// data[i] += by
extern "C" __global__ void bump(unsigned *data, unsigned by)
{
    data[threadIdx.x] += by;
}
