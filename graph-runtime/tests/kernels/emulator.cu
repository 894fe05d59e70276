// cuda-graph: --generate-line-info
// Kernels that do what the emulator tells of. Launch them with 32 threads a block.
typedef unsigned long long u64;

extern "C" {
__device__ unsigned total = 0;
}

extern "C" __global__ void past_end(unsigned *out)
{
    out[blockIdx.x * 32 + threadIdx.x + 8] = 1;
}

extern "C" __global__ void misaligned(unsigned *out)
{
    *(unsigned *)((char *)out + 2 * threadIdx.x) = 1;
}

extern "C" __global__ void null_pointer(unsigned *out)
{
    *(unsigned *)(u64)(out[threadIdx.x] * 4) = 1;
}

extern "C" __global__ void store_to_input(const unsigned *in, unsigned *out)
{
    ((unsigned *)in)[threadIdx.x] = out[threadIdx.x];
}

// Reads through an address.
extern "C" __global__ void through(const u64 *address, unsigned *out)
{
    out[threadIdx.x] = *(const volatile unsigned *)address[0];
}

extern "C" __global__ void address_of(unsigned *data, u64 *out)
{
    out[0] = (u64)data;
}

extern "C" __global__ void address_of_total(u64 *out)
{
    out[0] = (u64)&total;
}

// The threads draw numbers, one after the other.
extern "C" __global__ void draw(unsigned *out)
{
    if (threadIdx.x == 0)
        out[0] = atomicAdd(&total, 1);
}

extern "C" __global__ void unwritten(unsigned *out)
{
    __shared__ unsigned numbers[33];
    numbers[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = numbers[threadIdx.x + 1];
}

extern "C" __global__ void race(unsigned *out)
{
    __shared__ unsigned numbers[32];
    numbers[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = numbers[31 - threadIdx.x];
}

extern "C" __global__ void forever(unsigned *out)
{
    while (*(volatile unsigned *)out == 0) {}
}
