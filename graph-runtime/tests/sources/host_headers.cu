// xtask: source
// A file as engines have it: with headers of the host, of which NVRTC has none.
#include "scale.h"
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cuda.h>
#include <math.h>
#include <stdint.h>

extern "C" __global__ void rounded(const float *in, std::int32_t *out, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = static_cast<std::int32_t>(std::floor(std::min(in[i], float(CHAR_BIT)))) + int(CUDA_VERSION > 0);
}
