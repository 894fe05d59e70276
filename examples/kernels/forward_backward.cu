// The kernels of the forward/backward sample, as the README shows them. One thread for each element and no bounds
// check: on the Rust side, the contract `#[requires(threads <= data.len())]` bounds the launch.

#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void kernel_forward(float *data)  { data[I] *= 2; }
extern "C" __global__ void kernel_backward(float *data) { data[I] /= 2; }
