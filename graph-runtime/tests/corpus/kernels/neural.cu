// The layers of neural networks.

#define INFINITY __int_as_float(0x7f800000)

__device__ float warp_max(float value)
{
    for (int offset = 16; offset; offset >>= 1)
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
    return value;
}

__device__ float warp_sum(float value)
{
    for (int offset = 16; offset; offset >>= 1)
        value += __shfl_xor_sync(0xffffffff, value, offset);
    return value;
}

// The sum over the block, to every thread; at most 32 warps.
__device__ float block_sum(float value)
{
    __shared__ float partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = warp_sum(value);
    __syncthreads();
    if (lane == 0)
        partial[warp] = value;
    __syncthreads();
    value = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
    return warp_sum(value);
}

// Softmax of each row, a warp for each.
extern "C" __global__ void softmax_rows(const float *in, float *out, int rows, int columns)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    in += row * columns;
    out += row * columns;
    float top = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += 32)
        top = fmaxf(top, in[i]);
    top = warp_max(top);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 32)
        sum += expf(in[i] - top);
    sum = warp_sum(sum);
    for (int i = threadIdx.x; i < columns; i += 32)
        out[i] = expf(in[i] - top) / sum;
}

// Layer norm of each row, a block for each; the row's mean and 1/deviation are kept for the backward pass.
extern "C" __global__ void layer_norm(const float *in, const float *gain, const float *bias, float *out, float2 *kept,
                                      int columns, float epsilon)
{
    in += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += in[i];
    float mean = block_sum(sum) / columns;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        squares += (in[i] - mean) * (in[i] - mean);
    float scale = 1.0f / sqrtf(block_sum(squares) / columns + epsilon);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[i] = fmaf((in[i] - mean) * scale, gain[i], bias[i]);
    if (threadIdx.x == 0)
        kept[blockIdx.x] = make_float2(mean, scale);
}

// One head of causal attention with the online softmax: a thread for each query, keys and values by tiles of 16.
extern "C" __global__ void attention(const float *query, const float *key, const float *value, float *out, int tokens)
{
    constexpr int WIDTH = 32, TILE = 16;
    __shared__ float keys[TILE][WIDTH], values[TILE][WIDTH];
    int token = blockIdx.x * blockDim.x + threadIdx.x;
    float q[WIDTH], sum[WIDTH] = {}, top = -INFINITY, weight = 0.0f;
    for (int d = 0; d < WIDTH; d++)
        q[d] = token < tokens ? query[token * WIDTH + d] * rsqrtf(float(WIDTH)) : 0.0f;
    for (int start = 0; start < tokens; start += TILE) {
        __syncthreads();
        for (int i = threadIdx.x; i < TILE * WIDTH; i += blockDim.x) {
            bool inside = start + i / WIDTH < tokens;
            keys[i / WIDTH][i % WIDTH] = inside ? key[start * WIDTH + i] : 0.0f;
            values[i / WIDTH][i % WIDTH] = inside ? value[start * WIDTH + i] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < TILE && start + j <= token; j++) {
            float score = 0.0f;
            for (int d = 0; d < WIDTH; d++)
                score += q[d] * keys[j][d];
            float next = fmaxf(top, score), old = __expf(top - next), now = __expf(score - next);
            top = next;
            weight = weight * old + now;
            for (int d = 0; d < WIDTH; d++)
                sum[d] = sum[d] * old + now * values[j][d];
        }
    }
    if (token < tokens)
        for (int d = 0; d < WIDTH; d++)
            out[token * WIDTH + d] = sum[d] / weight;
}

// Activations of every kind, one row of `out` for each.
extern "C" __global__ void activations(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    out[i] = fmaxf(x, 0.0f);
    out[n + i] = x > 0.0f ? x : 0.01f * x;
    out[2 * n + i] = 1.0f / (1.0f + expf(-x));
    out[3 * n + i] = 0.5f * x * (1.0f + erff(x * 0.70710678f));
    out[4 * n + i] = tanhf(x);
    out[5 * n + i] = x / (1.0f + __expf(-x));
    out[6 * n + i] = log1pf(expf(-fabsf(x))) + fmaxf(x, 0.0f);
    out[7 * n + i] = __saturatef(fmaf(x, 1.0f / 6.0f, 0.5f));
}

// A 3 x 3 convolution of one image of 3 planes into `gridDim.z` planes, borders by reflection.
extern "C" __global__ void convolve(const float *image, const float *filters, float *out, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, plane = blockIdx.z;
    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
    for (int from = 0; from < 3; from++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int u = abs(x + dx), v = abs(y + dy);
                u = u < width ? u : 2 * width - 2 - u;
                v = v < height ? v : 2 * height - 2 - v;
                sum += image[(from * height + v) * width + u] * filters[((plane * 3 + from) * 3 + dy + 1) * 3 + dx + 1];
            }
    out[(plane * height + y) * width + x] = sum;
}
