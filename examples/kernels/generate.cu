// cuda-graph sm_90:
// The kernels of the `generate` example: one token of a decoder, by all blocks together. Matrices are bf16, row by row,
// with a row for each output. A head has 64 columns.
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

// A number between 0 and 1, both excluded: draw `index` of the state, by Philox 4x32-10
__device__ static float uniform(const Philox *rng, u32 index)
{
    u32 c0 = (u32)(rng->offset >> 2), c1 = (u32)(rng->offset >> 34), c2 = index, c3 = 0;
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
__device__ static u64 key(float logit, u32 row, float heat, const Philox *rng)
{
    if (heat > 0)
        logit = logit / heat - logf(-logf(uniform(rng, row)));
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
// The same for GPT-2's width from compute capability 9.0 on: 128 blocks of 384 threads without barriers between them. A
// number that blocks pass to each other lies in one word with a tag, that of the token: who waits for the number waits
// for the tag. The weights of the next layer come into shared memory meanwhile. Products are made by tensor cores: the
// rows of weights are the rows of `a`, and the vector is a column of `b`.
namespace fast {
constexpr u32 WIDTH = 768, BLOCKS = 128, THREADS = 416, WARPS = 12, HEADS = 12, SPLITS = 4, MAX_CONTEXT = 1024;
// Copies of what blocks pass to each other: fewer of them look at the same one
constexpr u32 REPLICAS = 4;
// Rows of a block in each matrix
constexpr u32 QKV = 18, OWN = 6, UP = 24;
// Bytes of a row in shared memory: no two rows of eight begin in the same banks
constexpr u32 ROW = WIDTH * 2 + 32, LONG_ROW = WIDTH * 8 + 64;
// Shared memory, in bytes: the weights of each phase, norms, keys and values, sums of warps, barriers
constexpr u32 CHUNK = MAX_CONTEXT / SPLITS, S_QKV = 0, S_NORM1 = S_QKV + QKV * ROW, S_HEADS = S_NORM1 + 4 * WIDTH, S_UP = S_HEADS + OWN * ROW,
              S_NORM2 = S_UP + UP * ROW, S_DOWN = S_NORM2 + 4 * WIDTH, S_KEYS = S_DOWN + OWN * LONG_ROW, S_VALUES = S_KEYS + CHUNK * 128,
              S_SUMS = S_VALUES + CHUNK * 128, S_MIX = S_SUMS + 2 * 3 * 32 * WARPS * 4, S_HIDDEN = S_MIX + WARPS * 72 * 4,
              S_BARS = S_HIDDEN + WARPS * 512, S_ALL = S_BARS + 512;
// What blocks pass to each other in a layer, in bytes: pairs with their tag in 8 bytes, four of a head in 16
constexpr u32 P_QKV = 0, P_MIXED = P_QKV + 3 * WIDTH * 4, P_MIDDLE = P_MIXED + HEADS * SPLITS * 256 * REPLICAS, P_HIDDEN = P_MIDDLE + WIDTH * 4 * REPLICAS,
              P_OUT = P_HIDDEN + WIDTH * 16 * REPLICAS, P_LAYER = P_OUT + WIDTH * 4 * REPLICAS;
// Logits: each warp has stages of two rows on the way
constexpr u32 STAGES = 4, STAGE = 2 * WIDTH * 2;

__device__ static inline u32 address(const void *shared)
{
    return (u32)__cvta_generic_to_shared(shared);
}

__device__ static inline void expect(u32 bar, u32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

__device__ static inline void copy(u32 to, const void *from, u32 bytes, u32 bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes),
        "r"(bar)
        : "memory");
}

__device__ static inline void wait(u32 bar, u32 parity)
{
    u32 done;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    while (!done);
}

// The warps that compute wait for each other
__device__ static inline void together()
{
    asm volatile("bar.sync 1, 384;" ::: "memory");
}

// The warp has read what it needs of a phase's weights
__device__ static inline void release(u32 bar, u32 lane)
{
    __syncwarp();
    if (lane == 0)
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(bar) : "memory");
}

__device__ static inline void put(void *to, u32 pair, u32 tag)
{
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(to), "l"((u64)tag << 32 | pair) : "memory");
}

__device__ static inline void put(void *to, u32 a, u32 b, u32 c, u32 tag)
{
    asm volatile("{\n.reg .b64 x, y;\n.reg .b128 v;\nmov.b64 x, {%1, %2};\nmov.b64 y, {%3, %4};\nmov.b128 v, {x, y};\nst.relaxed.gpu.global.b128 [%0], v;\n}" ::"l"(to),
        "r"(a), "r"(b), "r"(c), "r"(tag)
        : "memory");
}

__device__ static inline uint4 look(const void *from)
{
    uint4 v;
    asm volatile("{\n.reg .b64 x, y;\n.reg .b128 v;\nld.relaxed.gpu.global.b128 v, [%4];\nmov.b128 {x, y}, v;\nmov.b64 {%0, %1}, x;\nmov.b64 {%2, %3}, y;\n}"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

// 2 n pairs, two from each `stride` bytes on, when all have come
template <u32 n> __device__ static inline void take(u32 (&pairs)[2 * n], const unsigned char *from, u32 stride, u32 tag)
{
    bool all;
    do {
        all = true;
#pragma unroll
        for (u32 i = 0; i < n; i++) {
            uint4 v = look(from + stride * i);
            pairs[2 * i] = v.x, pairs[2 * i + 1] = v.z;
            all = all && v.y == tag && v.w == tag;
        }
    } while (!all);
}

__device__ static inline u32 pack(float a, float b)
{
    u32 v;
    asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(v) : "f"(a), "f"(b));
    return v;
}

__device__ static inline u32 pack_halves(float a, float b)
{
    u32 v;
    asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(v) : "f"(a), "f"(b));
    return v;
}

__device__ static inline float2 halves(u32 v)
{
    float2 f;
    asm("{\n.reg .b16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}" : "=f"(f.x), "=f"(f.y) : "r"(v));
    return f;
}

__device__ static inline u32 fma2(u32 x, u32 m, u32 a)
{
    u32 v;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(v) : "r"(x), "r"(m), "r"(a));
    return v;
}

__device__ static inline float exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ static inline void multiply(float (&c)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ static inline void load(u32 (&to)[8], const unsigned char *from)
{
    uint4 a = *(const uint4 *)from, b = *(const uint4 *)(from + 16);
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = a.w, to[4] = b.x, to[5] = b.y, to[6] = b.z, to[7] = b.w;
}

// Loads four times four columns; each thread of a group has its own four
__device__ static inline void load_apart(u32 (&to)[8], const unsigned char *from)
{
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        uint2 v = *(const uint2 *)(from + 32 * i);
        to[2 * i] = v.x, to[2 * i + 1] = v.y;
    }
}

__device__ static inline float over_warps(const float *sums)
{
    float4 a = *(const float4 *)sums, b = *(const float4 *)(sums + 4), c = *(const float4 *)(sums + 8);
    return ((a.x + a.y) + (a.z + a.w)) + ((b.x + b.y) + (b.z + b.w)) + ((c.x + c.y) + (c.z + c.w));
}

// The part of a thread in a product: its rows are `group` and `group` + 8, its columns of the warp's 64 are four from
// 4 `part` on in each 16
struct Thread {
    u32 warp, lane, group, part;
};

// The product of the normed vector with up to 30 rows, by all warps: the sum of a row comes to its lane of warp 0.
// With y = (x - mean) g / deviation + b, w y = (w (x g) - mean w g) / deviation + w b. So the columns of `b` are x g,
// g, b and x; and two rows of `a` are 1 and x, for the sums of x and its squares.
struct Norm {
    u32 a[4][8], factor[8], summand[8];

    __device__ inline void prepare(const unsigned char *weights, const unsigned char *norm, const Thread &t)
    {
#pragma unroll
        for (u32 i = 0; i < 4; i++)
            load_apart(a[i], weights + (t.group + 8 * i) * ROW + t.warp * 128 + t.part * 8);
        u32 gain[8], bias[8];
        load_apart(gain, norm + t.warp * 128 + t.part * 8);
        load_apart(bias, norm + WIDTH * 2 + t.warp * 128 + t.part * 8);
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            factor[i] = t.group == 0 ? gain[i] : t.group == 4 ? 0x3f803f80u : 0;
            summand[i] = t.group == 2 ? gain[i] : t.group == 3 ? bias[i] : 0;
        }
    }

    __device__ inline void finish(const u32 (&x)[8], float (*sums)[32][WARPS], const Thread &t)
    {
        float c[2][4] = {};
#pragma unroll
        for (u32 i = 0; i < 8; i += 2) {
            u32 b0 = fma2(x[i], factor[i], summand[i]), b1 = fma2(x[i + 1], factor[i + 1], summand[i + 1]);
            multiply(c[0], a[0][i], a[1][i], a[0][i + 1], a[1][i + 1], b0, b1);
            u32 a1 = t.group == 6 ? 0x3f803f80u : t.group == 7 ? x[i] : a[3][i], a3 = t.group == 6 ? 0x3f803f80u : t.group == 7 ? x[i + 1] : a[3][i + 1];
            multiply(c[1], a[2][i], a1, a[2][i + 1], a3, b0, b1);
        }
        // Part 0 has the columns 0 and 1, ..
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            u32 row = t.group + 8 * i;
            float first = c[i / 2][i % 2 * 2], second = c[i / 2][i % 2 * 2 + 1];
            if (t.part == 0 && row < 30 || t.part == 2 && row >= 30)
                sums[0][row][t.warp] = first;
            if (t.part == 1)
                sums[1][row][t.warp] = first, sums[2][row][t.warp] = second;
        }
    }

    __device__ static inline float sum(const float (*sums)[32][WARPS], u32 lane)
    {
        float dot = over_warps(sums[0][lane]), gain = over_warps(sums[1][lane]), bias = over_warps(sums[2][lane]);
        float mean = __shfl_sync(~0u, dot, 30) / WIDTH, square = __shfl_sync(~0u, dot, 31) / WIDTH;
        return (dot - mean * gain) * rsqrtf(square - mean * mean + 1e-5f) + bias;
    }
};

__device__ static void decode(const bf16 *tokens, const bf16 *places, const bf16 *matrices, const bf16 *vectors, const bf16 *last_norm,
    bf16 *cache, unsigned char *space, float *logits, u32 *text, volatile u32 *stream, State *state, const Philox *rng, u32 layers, u32 vocabulary, u32 context)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const u32 tid = threadIdx.x, block = blockIdx.x, bars = address(shared) + S_BARS, here = address(shared);
    const Thread t = {tid / 32, tid % 32, tid % 32 / 4, tid % 4};
    const u32 position = min(state->position, context - 1), token = min(text[position], vocabulary - 1), tag = state->tag + 1;
    // The part of a head's past that the block attends to
    const bool attends = block < HEADS * SPLITS;
    const u32 head = block / SPLITS, split = block % SPLITS, chunk = (position + SPLITS - 1) / SPLITS, first = min(position, split * chunk),
              count = min(position, first + chunk) - first;
    // The last warp asks for weights: `what` for the phases in turn, 4 for keys and values
    auto ask = [&](u32 layer, u32 what) {
        const bf16 *matrix = matrices + (u64)layer * 12 * WIDTH * WIDTH, *vector = vectors + layer * 13 * WIDTH;
        const u32 bar = bars + what * 8;
        auto rows = [&](u32 to, u32 stride, const bf16 *from, u32 rows, u32 columns, u32 norm, const bf16 *gain) {
            expect(bar, rows * columns * 2 + (norm ? 4 * WIDTH : 0));
            for (u32 i = 0; i < rows; i++)
                copy(here + to + i * stride, from + (block * rows + i) * columns, columns * 2, bar);
            if (norm) {
                copy(here + norm, gain, 2 * WIDTH, bar);
                copy(here + norm + 2 * WIDTH, gain + 2 * WIDTH, 2 * WIDTH, bar);
            }
        };
        if (what == 0)
            rows(S_QKV, ROW, matrix, QKV, WIDTH, S_NORM1, vector);
        else if (what == 1)
            rows(S_HEADS, ROW, matrix + 3 * WIDTH * WIDTH, OWN, WIDTH, 0, vector);
        else if (what == 2)
            rows(S_UP, ROW, matrix + 4 * WIDTH * WIDTH, UP, WIDTH, S_NORM2, vector + WIDTH);
        else if (what == 3)
            rows(S_DOWN, LONG_ROW, matrix + 8 * WIDTH * WIDTH, OWN, 4 * WIDTH, 0, vector);
        else if (count) {
            const bf16 *keys = cache + (u64)layer * 2 * context * WIDTH + (head * context + first) * 64;
            expect(bar, count * 256);
            copy(here + S_KEYS, keys, count * 128, bar);
            copy(here + S_VALUES, keys + context * WIDTH, count * 128, bar);
        }
    };
    if (tid == 0) {
        for (u32 i = 0; i < 10 + WARPS * STAGES; i++)
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bars + i * 8), "r"(i / 5 == 1 ? WARPS : 1));
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (t.warp == WARPS) {
        if (t.lane == 0)
            for (u32 layer = 0; layer < layers; layer++)
                for (u32 i = 0; i < 5; i++) {
                    const u32 what = i == 0 ? 0 : i == 1 ? 4 : i - 1;
                    if (what == 4 && !attends)
                        continue;
                    if (layer)
                        wait(bars + 40 + what * 8, layer - 1 & 1);
                    ask(layer, what);
                }
        return;
    }
    float(*sums)[3][32][WARPS] = (float(*)[3][32][WARPS])(shared + S_SUMS);
    float(*mix)[72] = (float(*)[72])(shared + S_MIX);
    u32 turn = 0, x[8];
    const u32 replica = block % REPLICAS, row = block * OWN + min(t.lane, OWN - 1);
    // The columns of the thread; of warp 0, also the row that its lane owns
    {
        u32 word[8], place[8];
        load_apart(word, (const unsigned char *)(tokens + (u64)token * WIDTH) + t.warp * 128 + t.part * 8);
        load_apart(place, (const unsigned char *)(places + position * WIDTH) + t.warp * 128 + t.part * 8);
#pragma unroll
        for (u32 i = 0; i < 8; i++)
            x[i] = pack(low(word[i]) + low(place[i]), high(word[i]) + high(place[i]));
    }
    float mine = number(tokens[(u64)token * WIDTH + row]) + number(places[position * WIDTH + row]);
    float bias_qkv = number(vectors[4 * WIDTH + block * QKV + min(t.lane, QKV - 1)]), bias_own = number(vectors[7 * WIDTH + row]),
          bias_up = number(vectors[8 * WIDTH + block * UP + min(t.lane, UP - 1)]), bias_down = number(vectors[12 * WIDTH + row]);
    const float scale = 0.125f * 1.44269504f;
    // Pairs of rows of the lanes of warp 0, for all replicas
    auto put_pairs = [&](unsigned char *to, u32 stride, u32 replicas, float value, u32 rows) {
        const u32 pair = pack(value, __shfl_down_sync(~0u, value, 1)), pairs = rows / 2;
#pragma unroll
        for (u32 i = 0; i < pairs * replicas; i += 32) {
            const u32 which = (i + t.lane) % pairs, copy = (i + t.lane) / pairs, found = __shfl_sync(~0u, pair, 2 * which);
            if (copy < replicas)
                put(to + copy * stride + which * 8, found, tag);
        }
    };
    for (u32 layer = 0; layer < layers; layer++) {
        const u32 parity = layer & 1, next = min(layer + 1, layers - 1);
        const bf16 *vector = vectors + next * 13 * WIDTH;
        unsigned char *passed = space + layer * P_LAYER;
        { // q, k and v
            Norm norm;
            wait(bars, parity);
            norm.prepare(shared + S_QKV, shared + S_NORM1, t);
            release(bars + 40, t.lane);
            if (layer)
                take<4>(x, passed - P_LAYER + P_OUT + replica * WIDTH * 4 + t.warp * 256 + t.part * 16, 64, tag);
            norm.finish(x, sums[turn], t);
            together();
            if (t.warp == 0) {
                float y = Norm::sum(sums[turn], t.lane) + bias_qkv;
                put_pairs(passed + P_QKV + block * QKV * 4, 0, 1, y, QKV);
                u32 index = block * QKV + t.lane, part = index / WIDTH, column = index % WIDTH;
                if (t.lane < QKV && part)
                    cache[(u64)(layer * 2 + part - 1) * context * WIDTH + (column / 64 * context + position) * 64 + column % 64] = rounded(y);
                bias_qkv = number(vector[4 * WIDTH + block * QKV + min(t.lane, QKV - 1)]);
            }
            turn ^= 1;
        }
        if (attends) {
            u32 q[8], k[2][8], v[2][8];
            float most = -1e30f, share = 0, mixed[16] = {};
            if (count)
                wait(bars + 32, parity);
            // 16 positions of a warp, two of a thread
            auto load_past = [&](u32 p0) {
#pragma unroll
                for (u32 i = 0; i < 2; i++) {
                    const u32 p = min(p0 + t.group + 8 * i, max(count, 1u) - 1) * 128 + t.part * 32;
                    load(k[i], shared + S_KEYS + p);
                    load(v[i], shared + S_VALUES + p);
                }
            };
            load_past(t.warp * 16);
            const unsigned char *from = passed + P_QKV + head * 256 + t.part * 64;
            const bool newest = split == SPLITS - 1 && t.warp == WARPS - 1;
            if (!newest)
                take<4>(q, from, 16, tag);
            if (newest) { // this position, whose keys and values come with q
                u32 k[8], v[8];
                bool all;
                do {
                    all = true;
#pragma unroll
                    for (u32 i = 0; i < 4; i++) {
                        const uint4 a = look(from + 16 * i), b = look(from + WIDTH * 4 + 16 * i), c = look(from + WIDTH * 8 + 16 * i);
                        q[2 * i] = a.x, q[2 * i + 1] = a.z, k[2 * i] = b.x, k[2 * i + 1] = b.z, v[2 * i] = c.x, v[2 * i + 1] = c.z;
                        all = all && a.y == tag && a.w == tag && b.y == tag && b.w == tag && c.y == tag && c.w == tag;
                    }
                } while (!all);
                most = 0;
#pragma unroll
                for (u32 i = 0; i < 8; i++)
                    most += low(q[i]) * low(k[i]) + high(q[i]) * high(k[i]);
                most += __shfl_xor_sync(~0u, most, 1);
                most = (most + __shfl_xor_sync(~0u, most, 2)) * scale;
                if (t.group == 0) {
                    share = 1;
#pragma unroll
                    for (u32 i = 0; i < 8; i++)
                        mixed[2 * i] = low(v[i]), mixed[2 * i + 1] = high(v[i]);
                }
            }
            // All columns of `b` are q.
            for (u32 p0 = t.warp * 16; p0 < count; p0 += WARPS * 16) {
                float c[4] = {};
                if (p0 >= WARPS * 16)
                    load_past(p0);
#pragma unroll
                for (u32 i = 0; i < 8; i += 2)
                    multiply(c, k[0][i], k[1][i], k[0][i + 1], k[1][i + 1], q[i], q[i + 1]);
                float s0 = p0 + t.group < count ? c[0] * scale : -1e30f, s1 = p0 + t.group + 8 < count ? c[2] * scale : -1e30f;
                float now = fmaxf(s0, s1);
#pragma unroll
                for (u32 lanes = 4; lanes < 32; lanes *= 2)
                    now = fmaxf(now, __shfl_xor_sync(~0u, now, lanes));
                now = fmaxf(most, now);
                const float keep = exp2(most - now), p_0 = exp2(s0 - now), p_1 = exp2(s1 - now);
                most = now;
                share = share * keep + p_0 + p_1;
#pragma unroll
                for (u32 i = 0; i < 8; i++) {
                    mixed[2 * i] = mixed[2 * i] * keep + p_0 * low(v[0][i]) + p_1 * low(v[1][i]);
                    mixed[2 * i + 1] = mixed[2 * i + 1] * keep + p_0 * high(v[0][i]) + p_1 * high(v[1][i]);
                }
            }
            release(bars + 72, t.lane);
            // Over the groups: two columns remain in each thread
#pragma unroll
            for (u32 lanes = 16, n = 8; lanes >= 4; lanes /= 2, n /= 2) {
                const bool upper = t.lane & lanes;
#pragma unroll
                for (u32 i = 0; i < 8; i++)
                    if (i < n) {
                        float send = upper ? mixed[i] : mixed[i + n], keep = upper ? mixed[i + n] : mixed[i];
                        mixed[i] = keep + __shfl_xor_sync(~0u, send, lanes);
                    }
                share += __shfl_xor_sync(~0u, share, lanes);
            }
            const u32 column = t.part * 16 + (t.group >> 2 & 1) * 8 + (t.group >> 1 & 1) * 4 + (t.group & 1) * 2;
            *(float2 *)&mix[t.warp][column] = make_float2(mixed[0], mixed[1]);
            if (t.lane == 0)
                mix[t.warp][64] = most, mix[t.warp][65] = share;
            together();
            if (tid < 16 * REPLICAS) {
                const u32 four = tid % 16;
                float4 y = {};
                most = -1e30f, share = 0;
#pragma unroll
                for (u32 i = 0; i < WARPS; i++)
                    most = fmaxf(most, mix[i][64]);
#pragma unroll
                for (u32 i = 0; i < WARPS; i++) {
                    const float f = exp2(mix[i][64] - most);
                    const float4 v = *(const float4 *)&mix[i][4 * four];
                    share += f * mix[i][65], y.x += f * v.x, y.y += f * v.y, y.z += f * v.z, y.w += f * v.w;
                }
                const float inverse = share > 0 ? 1 / share : 0;
                put(passed + P_MIXED + tid / 16 * HEADS * SPLITS * 256 + (block * 16 + four) * 16, pack_halves(y.x * inverse, y.y * inverse),
                    pack_halves(y.z * inverse, y.w * inverse), __float_as_uint(share > 0 ? most + __log2f(share) : -1e30f), tag);
            }
        }
        { // The heads together: a warp has a head; the columns of `b` are its splits
            u32 a[8] = {}, b[8];
            uint4 v[2];
            wait(bars + 8, parity);
            if (t.group < OWN)
                load_apart(a, shared + S_HEADS + t.group * ROW + t.warp * 128 + t.part * 8);
            release(bars + 48, t.lane);
            // Threads of the groups 4 .. look for those of the groups 0 .., so that a warp looks at whole lines.
            const unsigned char *from = passed + P_MIXED + replica * HEADS * SPLITS * 256 + ((t.warp * SPLITS + t.group % 4) * 16 + t.group / 4 * 4 + t.part) * 16;
            bool all;
            do {
                v[0] = look(from), v[1] = look(from + 128);
                all = v[0].w == tag && v[1].w == tag;
            } while (!all);
            float most = __uint_as_float(v[0].z), own = most;
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 4));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 8));
            float f = exp2(own - most), all_f = f + __shfl_xor_sync(~0u, f, 4);
            all_f += __shfl_xor_sync(~0u, all_f, 8);
            f /= all_f;
#pragma unroll
            for (u32 i = 0; i < 2; i++) {
                float2 y = halves(v[i].x), z = halves(v[i].y);
                b[4 * i] = pack(y.x * f, y.y * f), b[4 * i + 1] = pack(z.x * f, z.y * f);
                b[4 * i + 2] = __shfl_down_sync(~0u, b[4 * i], 16), b[4 * i + 3] = __shfl_down_sync(~0u, b[4 * i + 1], 16);
            }
#pragma unroll
            for (u32 i = 0; i < 8; i++)
                b[i] = t.group < SPLITS ? b[i] : 0;
            float c[4] = {};
#pragma unroll
            for (u32 i = 0; i < 8; i += 2)
                multiply(c, a[i], 0, a[i + 1], 0, b[i], b[i + 1]);
            c[0] += c[1];
            c[0] += __shfl_xor_sync(~0u, c[0], 1);
            if (t.part == 0)
                sums[turn][0][t.group][t.warp] = c[0];
            together();
            if (t.warp == 0) {
                mine += over_warps(sums[turn][0][min(t.lane, 7)]) + bias_own;
                put_pairs(passed + P_MIDDLE + block * OWN * 4, WIDTH * 4, REPLICAS, mine, OWN);
                bias_own = number(vector[7 * WIDTH + row]);
            }
            turn ^= 1;
        }
        { // Up
            Norm norm;
            wait(bars + 16, parity);
            norm.prepare(shared + S_UP, shared + S_NORM2, t);
            release(bars + 56, t.lane);
            take<4>(x, passed + P_MIDDLE + replica * WIDTH * 4 + t.warp * 256 + t.part * 16, 64, tag);
            norm.finish(x, sums[turn], t);
            together();
            if (t.warp == 0) {
                float y = Norm::sum(sums[turn], t.lane) + bias_up;
                y *= 1 - 1 / (exp2(2.88539008f * 0.79788456f * (y + 0.044715f * y * y * y)) + 1);
                put_pairs(passed + P_HIDDEN + block * UP * 4, WIDTH * 16, REPLICAS, y, UP);
                bias_up = number(vector[8 * WIDTH + block * UP + min(t.lane, UP - 1)]);
            }
            turn ^= 1;
        }
        { // Down: a warp has 256 columns; a thread looks at 8 of them, and the warp shares them
            u32 a[32] = {}, pairs[4];
            wait(bars + 24, parity);
            if (t.group < OWN)
#pragma unroll
                for (u32 i = 0; i < 8; i++) {
                    uint4 v = *(const uint4 *)(shared + S_DOWN + t.group * LONG_ROW + t.warp * 512 + (t.part + 4 * i) * 16);
                    a[4 * i] = v.x, a[4 * i + 1] = v.y, a[4 * i + 2] = v.z, a[4 * i + 3] = v.w;
                }
            release(bars + 64, t.lane);
            take<2>(pairs, passed + P_HIDDEN + replica * WIDTH * 16 + t.warp * 1024 + t.lane * 16, 512, tag);
            unsigned char *hidden = shared + S_HIDDEN + t.warp * 512;
            *(uint2 *)(hidden + t.lane * 8) = make_uint2(pairs[0], pairs[1]);
            *(uint2 *)(hidden + 256 + t.lane * 8) = make_uint2(pairs[2], pairs[3]);
            __syncwarp();
            float c[4][4] = {};
#pragma unroll
            for (u32 i = 0; i < 8; i++) {
                uint4 b = *(const uint4 *)(hidden + (t.part + 4 * i) * 16);
                multiply(c[i % 4], a[4 * i], 0, a[4 * i + 1], 0, b.x, b.y);
                multiply(c[i % 4], a[4 * i + 2], 0, a[4 * i + 3], 0, b.z, b.w);
            }
            if (t.part == 0)
                sums[turn][0][t.group][t.warp] = (c[0][0] + c[1][0]) + (c[2][0] + c[3][0]);
            together();
            if (t.warp == 0) {
                mine += over_warps(sums[turn][0][min(t.lane, 7)]) + bias_down;
                put_pairs(passed + P_OUT + block * OWN * 4, WIDTH * 4, REPLICAS, mine, OWN);
                bias_down = number(vector[12 * WIDTH + row]);
            }
            turn ^= 1;
        }
    }
    // The logits: a warp has some rows, two on the way together
    const u32 share = (vocabulary + BLOCKS - 1) / BLOCKS, end = min(vocabulary, (block + 1) * share), of_warp = (share + WARPS - 1) / WARPS,
              row0 = min(end, block * share + t.warp * of_warp), rows = min(end, row0 + of_warp) - row0, stages = (rows + 1) / 2;
    auto ask_rows = [&](u32 stage) {
        const u32 bytes = min(2u, rows - 2 * stage) * WIDTH * 2, slot = t.warp * STAGES + stage % STAGES;
        expect(bars + 80 + slot * 8, bytes);
        copy(here + slot * STAGE, tokens + (u64)(row0 + 2 * stage) * WIDTH, bytes, bars + 80 + slot * 8);
    };
    if (t.lane == 0)
        for (u32 i = 0; i < min(STAGES, stages); i++)
            ask_rows(i);
    float y[24];
    {
        const u32 gain = *(const u32 *)(last_norm + tid * 2), bias = *(const u32 *)(last_norm + WIDTH + tid * 2);
        const unsigned char *from = space + (layers - 1) * P_LAYER + P_OUT + replica * WIDTH * 4;
        uint4 v;
        do {
            v = look(from + tid / 2 * 16);
        } while ((tid % 2 ? v.w : v.y) != tag);
        const u32 pair = tid % 2 ? v.z : v.x;
        const float x0 = low(pair), x1 = high(pair);
        float *all = &mix[0][0], *both = &sums[0][0][0][0], sum = x0 + x1, squares = x0 * x0 + x1 * x1;
#pragma unroll
        for (u32 lanes = 16; lanes; lanes /= 2)
            sum += __shfl_xor_sync(~0u, sum, lanes), squares += __shfl_xor_sync(~0u, squares, lanes);
        together();
        if (t.lane == 0)
            both[t.warp] = sum, both[WARPS + t.warp] = squares;
        together();
        const float mean = over_warps(both) / WIDTH, inverse = rsqrtf(over_warps(both + WARPS) / WIDTH - mean * mean + 1e-5f);
        *(float2 *)(all + tid * 2) = make_float2((x0 - mean) * inverse * low(gain) + low(bias), (x1 - mean) * inverse * high(gain) + high(bias));
        together();
#pragma unroll
        for (u32 i = 0; i < 24; i += 4)
            *(float4 *)&y[i] = *(const float4 *)(all + i / 8 * 256 + t.lane * 8 + i % 8);
    }
    u64 best = 0;
    for (u32 stage = 0; stage < stages; stage++) {
        const u32 slot = t.warp * STAGES + stage % STAGES;
        float sum[2] = {};
        wait(bars + 80 + slot * 8, stage / STAGES & 1);
#pragma unroll
        for (u32 i = 0; i < 6; i++) {
            const uint4 w = *(const uint4 *)(shared + slot * STAGE + i * 512 + t.lane * 16);
            const float *z = y + i % 3 * 8;
            sum[i / 3] += z[0] * low(w.x) + z[1] * high(w.x) + z[2] * low(w.y) + z[3] * high(w.y) + z[4] * low(w.z) + z[5] * high(w.z) + z[6] * low(w.w)
                + z[7] * high(w.w);
        }
        __syncwarp();
        if (t.lane == 0 && stage + STAGES < stages)
            ask_rows(stage + STAGES);
#pragma unroll
        for (u32 lanes = 16; lanes; lanes /= 2)
            sum[0] += __shfl_xor_sync(~0u, sum[0], lanes), sum[1] += __shfl_xor_sync(~0u, sum[1], lanes);
        if (t.lane < 2 && 2 * stage + t.lane < rows) {
            const u32 r = row0 + 2 * stage + t.lane;
            const float logit = t.lane ? sum[1] : sum[0];
            logits[r] = logit;
            best = max(best, key(logit, r, state->heat, rng));
        }
    }
    best = max(best, __shfl_xor_sync(~0u, best, 1));
    u64 *bests = (u64 *)(shared + S_SUMS) + 64;
    if (t.lane == 0)
        bests[t.warp] = best;
    together();
    if (tid == 0) {
        for (u32 i = 1; i < WARPS; i++)
            best = max(best, bests[i]);
        choose(best, text, stream, context, state);
    }
}
}
#endif

// The token after the one at the state's position, if there is more to write: its logits, and the choice by them.
// `space` has the numbers that blocks pass to each other. The cache has [layer][key or value][head][position][64].
extern "C" __global__ void __launch_bounds__(416, 1) decode(const bf16 *tokens, const bf16 *places, const bf16 *matrices, const bf16 *vectors,
    const bf16 *last_norm, bf16 *cache, float *space, float *logits, u32 *text, volatile u32 *stream, State *state,
    const Philox *rng, u32 layers, u32 width,
    u32 vocabulary, u32 context)
{
    if (!state->more)
        return;
#if __CUDA_ARCH__ >= 900
    u32 shared;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shared));
    if (width == fast::WIDTH && gridDim.x == fast::BLOCKS && blockDim.x == fast::THREADS && shared >= fast::S_ALL && layers) {
        fast::decode(tokens, places, matrices, vectors, last_norm, cache, (unsigned char *)space, logits, text, stream, state, rng, layers, vocabulary, context);
        return;
    }
#endif
    __shared__ float in[4096], sums[32];
    __shared__ u64 bests[32];
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
        best = max(best, key(sum, row, state->heat, rng));
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
