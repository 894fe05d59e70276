// Another module with a variable of a name that is in `constants.cu`, too.

extern "C" {
__constant__ float table[4];
}

// data[i] += table[i % 4]
extern "C" __global__ void shift(float *data)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += table[i % 4];
}
