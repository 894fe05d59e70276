// A perceptron of 64, 128, 128 and 10 numbers with ReLU in one kernel: a block for each row of `x`. A layer is its
// weights, a row for each output, then its biases, in whole rows. All weights are requested at once, and wait in
// registers for the activations, so the way to L2 is paid for once and not for each layer.

const unsigned THREADS = 1024;

__device__ static float dot(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// The sum over `lanes` neighbouring lanes
__device__ static float sum_of(float value, int lanes)
{
    for (int other = lanes / 2; other; other /= 2)
        value += __shfl_xor_sync(~0u, value, other);
    return value;
}

struct Layers {
    const float4 *__restrict__ first, *__restrict__ second, *__restrict__ third;
};

// The logits of one row of 64 numbers. If they lie in memory of the host (`mapped`), each comes over the bus once,
// while the weights come from L2; else every thread loads what it needs.
template <bool mapped>
__device__ static void network(const float *x, const Layers &layers, float *y)
{
    __shared__ float4 inputs[16], first[32], second[32];
    __shared__ float biases[10];
    const unsigned thread = threadIdx.x, output = thread / 8, part = thread % 8, warp = thread / 32, lane = thread % 32;
    // 8 threads for each output of the hidden layers, a warp for each of the last one; the other warps repeat it
    const unsigned last = warp < 10 ? warp : 9;
    float4 x1[2], w1[2], w2[4];
    const float mine = mapped && thread < 64 ? *(const volatile float *)&x[thread] : 0;
    #pragma unroll
    for (unsigned i = 0; i < 2 && !mapped; i++)
        x1[i] = ((const float4 *)x)[part + 8 * i];
    #pragma unroll
    for (unsigned i = 0; i < 2; i++)
        w1[i] = layers.first[output * 16 + part + 8 * i];
    #pragma unroll
    for (unsigned i = 0; i < 4; i++)
        w2[i] = layers.second[output * 32 + part + 8 * i];
    const float4 w3 = layers.third[last * 32 + lane];
    const float b1 = part == 0 ? ((const float *)layers.first)[128 * 64 + output] : 0;
    const float b2 = part == 0 ? ((const float *)layers.second)[128 * 128 + output] : 0;
    if (thread < 10)
        biases[thread] = ((const float *)layers.third)[10 * 128 + thread];
    if (mapped) {
        if (thread < 64)
            ((float *)inputs)[thread] = mine; // waits for it, after all has been requested
        __syncthreads();
        x1[0] = inputs[part], x1[1] = inputs[part + 8];
    }

    float sum = sum_of(dot(w1[0], x1[0]) + dot(w1[1], x1[1]), 8);
    if (part == 0)
        ((float *)first)[output] = fmaxf(sum + b1, 0);
    __syncthreads();

    sum = 0;
    #pragma unroll
    for (unsigned i = 0; i < 4; i++)
        sum += dot(w2[i], first[part + 8 * i]);
    sum = sum_of(sum, 8);
    if (part == 0)
        ((float *)second)[output] = fmaxf(sum + b2, 0);
    __syncthreads();

    sum = sum_of(dot(w3, second[lane]), 32);
    if (lane == 0 && warp < 10) {
        if (mapped)
            *(volatile float *)&y[warp] = sum + biases[warp];
        else
            y[warp] = sum + biases[warp];
    }
}

// From and to memory of the device
extern "C" __global__ void __launch_bounds__(THREADS, 1)
infer(const float *__restrict__ x, const float4 *__restrict__ layer1, const float4 *__restrict__ layer2,
      const float4 *__restrict__ layer3, float *__restrict__ y)
{
    network<false>(x + blockIdx.x * 64, {layer1, layer2, layer3}, y + blockIdx.x * 10);
}

// From and to memory of the host, without copies
extern "C" __global__ void __launch_bounds__(THREADS, 1)
infer_mapped(const float *x, const float4 *__restrict__ layer1, const float4 *__restrict__ layer2,
             const float4 *__restrict__ layer3, float *y)
{
    network<true>(x + blockIdx.x * 64, {layer1, layer2, layer3}, y + blockIdx.x * 10);
}
