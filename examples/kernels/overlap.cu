// The kernel of the `overlap` example, with plain edges.

// A step of a generator of random numbers, for each of `data`; one thread for each
extern "C" __global__ void advance(unsigned *data, unsigned step)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i] * 1664525u + 1013904223u + step;
}
