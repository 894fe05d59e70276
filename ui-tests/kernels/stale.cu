// xtask: variants
// The PTX beside this file was made before the factor was 3: it is the input of tests about stale PTX.
extern "C" __global__ void scaled(float *data) { data[threadIdx.x] *= 3; }
