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

extern "C" __global__ void __launch_bounds__(THREADS) infer(const float4 *__restrict__ x, const float4 *__restrict__ layer1,
                                                          const float4 *__restrict__ layer2,
                                                          const float4 *__restrict__ layer3, float *__restrict__ y)
{
    __shared__ float4 inputs[16], first[32], second[32];
    const unsigned thread = threadIdx.x, output = thread / 8, part = thread % 8, warp = thread / 32, lane = thread % 32;
    // 8 threads for each output of the hidden layers, a warp for each of the last one
    if (thread < 16)
        inputs[thread] = x[blockIdx.x * 16 + thread];
    float4 w1[2], w2[4], w3 = make_float4(0, 0, 0, 0);
    #pragma unroll
    for (unsigned i = 0; i < 2; i++)
        w1[i] = layer1[output * 16 + part + 8 * i];
    #pragma unroll
    for (unsigned i = 0; i < 4; i++)
        w2[i] = layer2[output * 32 + part + 8 * i];
    if (warp < 10)
        w3 = layer3[warp * 32 + lane];
    const float b1 = ((const float *)layer1)[128 * 64 + output], b2 = ((const float *)layer2)[128 * 128 + output];
    const float b3 = warp < 10 ? ((const float *)layer3)[10 * 128 + warp] : 0;
    __syncthreads();

    float sum = 0;
    #pragma unroll
    for (unsigned i = 0; i < 2; i++)
        sum += dot(w1[i], inputs[part + 8 * i]);
    sum = sum_of(sum, 8) + b1;
    if (part == 0)
        ((float *)first)[output] = fmaxf(sum, 0);
    __syncthreads();

    sum = 0;
    #pragma unroll
    for (unsigned i = 0; i < 4; i++)
        sum += dot(w2[i], first[part + 8 * i]);
    sum = sum_of(sum, 8) + b2;
    if (part == 0)
        ((float *)second)[output] = fmaxf(sum, 0);
    __syncthreads();

    if (warp < 10) {
        sum = sum_of(dot(w3, second[lane]), 32) + b3;
        if (lane == 0)
            y[blockIdx.x * 10 + warp] = sum;
    }
}
