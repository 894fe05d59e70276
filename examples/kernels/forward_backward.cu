// The kernels of the forward/backward sample. One thread for each element and no bounds check: on the Rust side, the
// contract `#[requires(threads <= data.len())]` bounds the launch.

extern "C" __global__ void kernel_forward(float *data)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] *= 2;
}

extern "C" __global__ void kernel_backward(float *data)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] /= 2;
}
