// cuda-graph sm_90:
// The kernels of the `generate` example: one token of a decoder, by all blocks together, or all tokens of a text, if
// the decoder has GPT-2's width and the GPU knows clusters. Matrices are bf16, row by row, with a row for each output.
// A head has 64 columns.
//
// A layer has the matrices of q, k and v (3 W rows of W), of the projection (W rows of W), up (4 W rows of W) and down
// (W rows of 4 W); and the vectors: the gains of both norms, their biases, the biases of q, k and v, of the projection,
// up and down.

typedef unsigned u32;
typedef unsigned long long u64;
struct bf16 {
    unsigned short bits;
};
struct Philox {
    u64 seed, offset;
};
// The state of the loop, as in `decoder.rs`. `arrived` and `best` are 0 between launches.
struct State {
    u32 more, position, given, end, stop;
    float heat;
    u32 tag, arrived;
    u64 best;
};

__device__ static inline float number(bf16 v)
{
    return __uint_as_float((u32)v.bits << 16);
}

__device__ static inline bf16 rounded(float v)
{
    u32 bits = __float_as_uint(v);
    return {(unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

// The two numbers in one word
__device__ static inline float low(u32 v)
{
    return __uint_as_float(v << 16);
}

__device__ static inline float high(u32 v)
{
    return __uint_as_float(v & 0xffff0000u);
}

__device__ static inline float gelu(float x)
{
    return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

// out[i] = scale * a number between -1 and 1 that depends on i and `seed`, and one more for the first `ones` of every
// `period`: weights by a formula
extern "C" __global__ void formula(bf16 *out, u32 n, u32 seed, float scale, u32 ones, u32 period)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u32 x = i + seed * 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    x ^= x >> 16;
    out[i] = rounded(__fmaf_rn(scale, (float)((int)(x >> 8) - 0x800000) / 0x800000, i % period < ones));
}

// A number between 0 and 1, both excluded: draw `index` of the state for a token of the launch, by Philox 4x32-10
__device__ static float uniform(const Philox *rng, u32 index, u32 token)
{
    u32 c0 = (u32)(rng->offset >> 2), c1 = (u32)(rng->offset >> 34), c2 = index, c3 = token;
    u32 k0 = (u32)rng->seed, k1 = (u32)(rng->seed >> 32);
    for (int round = 0; round < 10; round++) {
        u64 a = (u64)0xd2511f53u * c0, b = (u64)0xcd9e8d57u * c2;
        c0 = (u32)(b >> 32) ^ c1 ^ k0, c1 = (u32)b, c2 = (u32)(a >> 32) ^ c3 ^ k1, c3 = (u32)a;
        k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
    }
    return ((float)(c0 >> 9) + 0.5f) / 8388608;
}

// A key that grows with the logit and, if there is any heat, with luck: the greatest of all is a sample of the softmax.
// Of equal ones the first row's is the greatest.
__device__ static u64 key(float logit, u32 row, float heat, const Philox *rng, u32 token)
{
    if (heat > 0)
        logit = logit / heat - logf(-logf(uniform(rng, row, token)));
    u32 bits = __float_as_uint(logit);
    return (u64)(bits >> 31 ? ~bits : bits | 0x80000000u) << 32 | ~row;
}

// Enters the best of a block; the last block to do so takes the step to the next token. The host reads `stream`
// meanwhile: a token and one, or 0.
__device__ static void choose(u64 best, u32 *text, volatile u32 *stream, u32 context, State *state)
{
    atomicMax(&state->best, best);
    __threadfence();
    if (atomicAdd(&state->arrived, 1) % gridDim.x != gridDim.x - 1)
        return;
    __threadfence();
    u32 next = ~(u32)atomicExch(&state->best, 0), position = min(state->position, context - 1) + 1;
    bool given = position < state->given;
    if (!given)
        text[position] = next;
    stream[position] = text[position] + 1;
    state->more = position < state->end && (given || next != state->stop);
    state->position = position;
    state->tag++;
    state->arrived = 0;
}

// All blocks wait for each other; `met` counts the arrivals of this launch
__device__ static void meet(State *state, u32 &met)
{
    __syncthreads();
    met += gridDim.x;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&state->arrived, 1);
        while (*(volatile u32 *)&state->arrived < met) {
        }
        __threadfence();
    }
    __syncthreads();
}

// The sum of `value` over the block, for all threads
__device__ static float over_block(float value, float *sums)
{
    for (int lanes = 16; lanes; lanes /= 2)
        value += __shfl_xor_sync(~0u, value, lanes);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (u32 warp = 0; warp < blockDim.x / 32; warp++)
        value += sums[warp];
    return value;
}

// in[i] of what other blocks have written
__device__ static void take(float *in, const float *from, u32 n)
{
    for (u32 i = threadIdx.x; i < n; i += blockDim.x)
        in[i] = __ldcg(from + i);
    __syncthreads();
}

// The layer norm of in[..width], in place
__device__ static void normalize(float *in, const bf16 *gain, const bf16 *bias, u32 width, float *sums)
{
    float sum = 0, squares = 0;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        sum += in[i];
    float mean = over_block(sum, sums) / width;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        squares += (in[i] - mean) * (in[i] - mean);
    float inverse = rsqrtf(over_block(squares, sums) / width + 1e-5f);
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        in[i] = (in[i] - mean) * inverse * number(gain[i]) + number(bias[i]);
    __syncthreads();
}

// done(row, sum of matrix[row][i] * in[i]) for all rows, by one lane of one warp of all blocks
template <typename Done>
__device__ static void product(const bf16 *matrix, const float *in, u32 rows, u32 columns, Done done)
{
    u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (u32 row = blockIdx.x * warps + threadIdx.x / 32; row < rows; row += gridDim.x * warps) {
        const u32 *pairs = (const u32 *)(matrix + (u64)row * columns);
        float sum = 0;
        for (u32 i = lane; i < columns / 2; i += 32) {
            u32 pair = pairs[i];
            sum += low(pair) * in[2 * i] + high(pair) * in[2 * i + 1];
        }
        for (int lanes = 16; lanes; lanes /= 2)
            sum += __shfl_xor_sync(~0u, sum, lanes);
        if (lane == 0)
            done(row, sum);
    }
}

// The attention of a head over the positions up to this one, by the block; `scores` has room for each position
__device__ static void attend(const float *q, const bf16 *keys, const bf16 *values, float *out, u32 positions, float *scores, float *sums)
{
    float most = -1e30f, sum = 0;
    for (u32 p = threadIdx.x; p < positions; p += blockDim.x) {
        float score = 0;
        for (u32 d = 0; d < 32; d++) {
            u32 pair = __ldcg((const u32 *)(keys + p * 64) + d);
            score += __ldcg(q + 2 * d) * low(pair) + __ldcg(q + 2 * d + 1) * high(pair);
        }
        scores[p] = score / 8;
    }
    __syncthreads();
    for (u32 p = 0; p < positions; p++)
        most = fmaxf(most, scores[p]);
    __syncthreads();
    for (u32 p = threadIdx.x; p < positions; p += blockDim.x) {
        scores[p] = expf(scores[p] - most);
        sum += scores[p];
    }
    sum = over_block(sum, sums);
    for (u32 d = threadIdx.x; d < 64; d += blockDim.x) {
        float mean = 0;
        for (u32 p = 0; p < positions; p++)
            mean += scores[p] * low(__ldcg((const unsigned short *)(values + p * 64 + d)));
        out[d] = mean / sum;
    }
    __syncthreads();
}

#if __CUDA_ARCH__ >= 900
#include "generate_clusters.cuh"
#endif

// The token after the one at the state's position, if there is more to write: its logits, and the choice by them. In
// clusters, as many tokens as there are to write.
// `space` has the numbers that blocks pass to each other. The cache has [layer][key or value][head][position][64].
extern "C" __global__ void __launch_bounds__(384, 1) decode(const bf16 *tokens, const bf16 *places, const bf16 *matrices, const bf16 *vectors,
    const bf16 *last_norm, bf16 *cache, float *space, float *logits, u32 *text, volatile u32 *stream, State *state,
    const Philox *rng, u32 layers, u32 width,
    u32 vocabulary, u32 context)
{
    if (!state->more)
        return;
    __shared__ __align__(16) float in[4096];
    __shared__ float sums[32];
    __shared__ u64 bests[32];
#if __CUDA_ARCH__ >= 900
    u32 shared;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shared));
    if (width == fast::WIDTH && gridDim.x == fast::BLOCKS && blockDim.x == fast::THREADS && shared >= fast::S_ALL && layers && fast::cluster_blocks() == fast::CLUSTER) {
        fast::decode(tokens, places, matrices, vectors, last_norm, cache, (unsigned char *)space, logits, text, stream, state, rng, layers, vocabulary, context, (unsigned char *)in);
        return;
    }
#endif
    u32 position = min(state->position, context - 1), token = min(text[position], vocabulary - 1), heads = width / 64, met = 0;
    float *x = space, *qkv = x + width, *mixed = qkv + 3 * width, *hidden = mixed + width;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        in[i] = number(tokens[(u64)token * width + i]) + number(places[position * width + i]);
    if (blockIdx.x == 0)
        for (u32 i = threadIdx.x; i < width; i += blockDim.x)
            x[i] = in[i];
    __syncthreads();
    for (u32 layer = 0; layer < layers; layer++) {
        const bf16 *matrix = matrices + (u64)layer * 12 * width * width, *vector = vectors + layer * 13 * width;
        bf16 *keys = cache + (u64)layer * 2 * context * width, *values = keys + context * width;
        if (layer)
            take(in, x, width);
        normalize(in, vector, vector + 2 * width, width, sums);
        product(matrix, in, 3 * width, width, [=](u32 row, float sum) {
            sum += number(vector[4 * width + row]);
            u32 part = row / width, column = row % width, to = column / 64 * context * 64 + position * 64 + column % 64;
            if (part == 0)
                qkv[row] = sum;
            else
                (part == 1 ? keys : values)[to] = rounded(sum);
        });
        meet(state, met);
        for (u32 head = blockIdx.x; head < heads; head += gridDim.x)
            attend(qkv + head * 64, keys + head * context * 64, values + head * context * 64, mixed + head * 64, position + 1, in, sums);
        meet(state, met);
        take(in, mixed, width);
        product(matrix + 3 * width * width, in, width, width, [=](u32 row, float sum) {
            x[row] = __ldcg(x + row) + sum + number(vector[7 * width + row]);
        });
        meet(state, met);
        take(in, x, width);
        normalize(in, vector + width, vector + 3 * width, width, sums);
        product(matrix + 4 * width * width, in, 4 * width, width, [=](u32 row, float sum) {
            hidden[row] = gelu(sum + number(vector[8 * width + row]));
        });
        meet(state, met);
        take(in, hidden, 4 * width);
        product(matrix + 8 * width * width, in, width, 4 * width, [=](u32 row, float sum) {
            x[row] = __ldcg(x + row) + sum + number(vector[12 * width + row]);
        });
        meet(state, met);
    }
    take(in, x, width);
    normalize(in, last_norm, last_norm + width, width, sums);
    u64 best = 0;
    product(tokens, in, vocabulary, width, [&](u32 row, float sum) {
        logits[row] = sum;
        best = max(best, key(sum, row, state->heat, rng, 0));
    });
    if (threadIdx.x % 32 == 0)
        bests[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (u32 warp = 1; warp < blockDim.x / 32; warp++)
        best = max(best, bests[warp]);
    choose(best, text, stream, context, state);
}
