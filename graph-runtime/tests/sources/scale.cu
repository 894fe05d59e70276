// xtask: source
// Compiled by NVRTC when a test runs; `scale.entry` is what that writes to the cache for the emulator.
#include "scale.h"

__device__ unsigned int launches;

extern "C" __global__ void scale(float *data, float by, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= by * FACTOR;
}

extern "C" __global__ void __launch_bounds__(64) weigh(const float *in, float *out, Weights w) {
    unsigned int i = threadIdx.x;
    out[i] = in[i] * w.slope + w.shift;
}

extern "C" __global__ void count(unsigned int *out) {
    out[0] = atomicAdd(&launches, 1u) + 1u;
}
