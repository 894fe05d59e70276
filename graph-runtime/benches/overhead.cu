// cuda-graph: --ptx-version=6.0
// The kernel of the benchmark of overheads.

// data[i] += by
extern "C" __global__ void bump(unsigned *data, unsigned by)
{
    data[threadIdx.x] += by;
}

// Takes so many cycles of the GPU's clock.
extern "C" __global__ void take(unsigned *data, unsigned cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
    data[0] = cycles;
}
