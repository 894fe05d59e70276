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
// The same for GPT-2's width from compute capability 9.0 on: 12 clusters of 8 blocks of 384 threads, and all tokens in
// one launch. Each cluster has a head: its rows of q, k and v, its attention, and its columns of the projection; and
// 256 rows of up, and their columns of down. So numbers cross the whole chip twice in a layer: the parts of the sums
// that the residual gets. The blocks of one rank in all clusters add up the same 96 rows, and share them in their
// cluster.
//
// A part lies in a word of 16 bytes, with a tag, that of the token, in the lowest bits of its four numbers: who waits
// for the numbers waits for the tag. In a cluster, numbers come into the shared memory of those who need them. The
// weights of the next layer come into shared memory meanwhile. Products are made by tensor cores: the rows of weights
// are the rows of `a`, and the vector is a column of `b`.
namespace fast {
constexpr u32 WIDTH = 768, CLUSTER = 8, CLUSTERS = 12, BLOCKS = CLUSTER * CLUSTERS, WARPS = 12, THREADS = 32 * WARPS, MAX_CONTEXT = 1024;
// Rows of a block: of q, k and v together, of the residual, of up
constexpr u32 QKV = 24, OWN = WIDTH / CLUSTER, UP = 32, HIDDEN = CLUSTER * UP;
// Bytes of a row in shared memory: those that are loaded together begin in different banks
constexpr u32 ROW = WIDTH * 2 + 32, HEAD_ROW = 128 + 64, DOWN_ROW = HIDDEN * 2 + 64;
// The most positions of a block's keys and values, of a warp's, and the warps that have any
constexpr u32 CHUNK = MAX_CONTEXT / CLUSTER, PAST_WARPS = CHUNK / 16;
// Shared memory, in bytes: the weights of each phase, keys and values, norms, sums of warps, what blocks of the cluster
// pass to each other, barriers
constexpr u32 S_QKV = 0, S_HEADS = S_QKV + QKV * ROW, S_KEYS = S_HEADS + OWN * HEAD_ROW, S_VALUES = S_KEYS + CHUNK * 128, S_UP = S_VALUES + CHUNK * 128,
              S_DOWN = S_UP + UP * ROW, S_NORM1 = S_DOWN + OWN * DOWN_ROW, S_NORM2 = S_NORM1 + 4 * WIDTH, S_SUMS = S_NORM2 + 4 * WIDTH,
              S_MIX = S_SUMS + 3 * 34 * WARPS * 4, S_X = S_MIX + (PAST_WARPS + 1) * 72 * 4, S_Q = S_X + 2 * WIDTH * 2, S_MIXED = S_Q + 3 * 128,
              S_HIDDEN = S_MIXED + CLUSTER * 256, S_BARS = S_HIDDEN + HIDDEN * 2, S_ALL = S_BARS + 512;
// What crosses the chip in a layer, in bytes: for each rank and four rows a word of each cluster; then the blocks' best
// tokens
constexpr u32 PARTS = 16, P_MIDDLE = 0, P_OUT = P_MIDDLE + WIDTH / 4 * PARTS * 16, P_BEST = P_OUT + WIDTH / 4 * PARTS * 16, P_LAYER = 43 * WIDTH * 4;
static_assert(P_BEST + BLOCKS * 16 <= P_LAYER, "the memory is large enough");
// Logits: each warp has stages of two rows on the way, each stage where a phase had its weights
constexpr u32 STAGES = 4, STAGE = 2 * WIDTH * 2;
static_assert(S_HEADS - S_QKV >= WARPS * STAGE && S_UP - S_HEADS >= WARPS * STAGE && S_DOWN - S_UP >= WARPS * STAGE && S_NORM1 - S_DOWN >= WARPS * STAGE, "");
// Barriers: weights of q, k and v, those of up, keys and values have come; numbers of the cluster have come; rows of
// the logits have come
constexpr u32 B_QKV = 0, B_UP = 8, B_PAST = 16, B_Q = 24, B_MIXED = 32, B_MIDDLE = 40, B_HIDDEN = 48, B_OUT = 56, B_ROWS = 64;

// All threads of the cluster wait for each other in two steps. What they have written before the first one, copies read
// after the second one.
__device__ static inline void meet_cluster_begin()
{
    asm volatile("fence.proxy.async;\nbarrier.cluster.arrive.release;" ::: "memory");
}

__device__ static inline void meet_cluster_end()
{
    asm volatile("barrier.cluster.wait.acquire;\nfence.proxy.async;" ::: "memory");
}

// Where a stage is
__device__ static inline u32 slot_of(u32 stage)
{
    const u32 slot = stage % STAGES;
    return slot == 0 ? S_QKV : slot == 1 ? S_HEADS : slot == 2 ? S_UP : S_DOWN;
}

__device__ static inline u32 cluster_blocks()
{
    u32 v;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(v));
    return v;
}

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

// Copies 16 bytes
__device__ static inline void copy(u32 to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// The copies of a thread before this are a group
__device__ static inline void close_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// The warp waits for all its groups but the last `others`
template <u32 others> __device__ static inline void wait_group()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(others) : "memory");
    __syncwarp();
}

// Brings 128 bytes into the second cache
__device__ static inline void foresee(const void *from)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from) : "memory");
}

__device__ static inline void wait(u32 bar, u32 parity)
{
    u32 done;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(bar), "r"(parity)
                     : "memory");
    while (!done);
}

// Sends 16 bytes into the shared memory of a block of the cluster, and tells its barrier
__device__ static inline void push(u32 to, u32 bar, u32 rank, u32 a, u32 b, u32 c, u32 d)
{
    asm volatile("{\n.reg .b32 to, bar;\nmapa.shared::cluster.u32 to, %0, %2;\nmapa.shared::cluster.u32 bar, %1, %2;\n"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [to], {%3, %4, %5, %6}, [bar];\n}" ::"r"(to),
        "r"(bar), "r"(rank), "r"(a), "r"(b), "r"(c), "r"(d)
        : "memory");
}

__device__ static inline void put(void *to, u32 a, u32 b, u32 c, u32 d)
{
    asm volatile("{\n.reg .b64 x, y;\n.reg .b128 v;\nmov.b64 x, {%1, %2};\nmov.b64 y, {%3, %4};\nmov.b128 v, {x, y};\nst.relaxed.gpu.global.b128 [%0], v;\n}" ::"l"(to),
        "r"(a), "r"(b), "r"(c), "r"(d)
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

// The products of two pairs
__device__ static inline u32 product(u32 x, u32 y)
{
    u32 v;
    asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(v) : "r"(x), "r"(y));
    return v;
}

__device__ static inline float exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ static inline float inverse(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ static inline float inverse_root(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
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

// The product of the normed vector with up to 32 rows, by all warps: the sum of a row comes to its lane of warp 0.
// With y = (x - mean) g / deviation + b, w y = (w (x g) - mean w g) / deviation + w b. So the columns of `b` are x g,
// g, b and x; and two more rows of `a` are 1 and x, for the sums of x and its squares.
typedef float Sums[3][34][WARPS];
template <u32 rows> struct Norm {
    u32 a[rows / 8][8], b[8];

    __device__ inline void prepare(const unsigned char *weights, const unsigned char *norm, const Thread &t)
    {
#pragma unroll
        for (u32 i = 0; i < rows / 8; i++)
            load_apart(a[i], weights + (t.group + 8 * i) * ROW + t.warp * 128 + t.part * 8);
        u32 gain[8], bias[8];
        load_apart(gain, norm + t.warp * 128 + t.part * 8);
        load_apart(bias, norm + WIDTH * 2 + t.warp * 128 + t.part * 8);
#pragma unroll
        for (u32 i = 0; i < 8; i++)
            b[i] = t.group == 0 || t.group == 2 ? gain[i] : t.group == 3 ? bias[i] : t.group == 4 ? 0x3f803f80u : 0;
    }

    __device__ inline void finish(const u32 (&x)[8], Sums &sums, const Thread &t)
    {
        const bool scaled = t.group == 0 || t.group == 4;
        float c[3][4] = {};
#pragma unroll
        for (u32 i = 0; i < 8; i += 2) {
            u32 b0 = scaled ? product(x[i], b[i]) : b[i], b1 = scaled ? product(x[i + 1], b[i + 1]) : b[i + 1];
            multiply(c[0], a[0][i], a[1][i], a[0][i + 1], a[1][i + 1], b0, b1);
            multiply(c[1], a[2][i], rows > 24 ? a[rows / 8 - 1][i] : 0, a[2][i + 1], rows > 24 ? a[rows / 8 - 1][i + 1] : 0, b0, b1);
            multiply(c[2], t.group ? x[i] : 0x3f803f80u, 0, t.group ? x[i + 1] : 0x3f803f80u, 0, b0, b1);
        }
        // Part 0 has the columns 0 and 1, ..
#pragma unroll
        for (u32 i = 0; i < rows / 8; i++) {
            u32 row = t.group + 8 * i;
            float first = c[i / 2][i % 2 * 2], second = c[i / 2][i % 2 * 2 + 1];
            if (t.part == 0)
                sums[0][row][t.warp] = first;
            if (t.part == 1)
                sums[1][row][t.warp] = first, sums[2][row][t.warp] = second;
        }
        if (t.part == 2 && t.group < 2)
            sums[0][32 + t.group][t.warp] = c[2][0];
    }

    __device__ static inline float sum(const Sums &sums, u32 lane)
    {
        const u32 row = min(lane, rows - 1);
        float dot = over_warps(sums[0][row]), gain = over_warps(sums[1][row]), bias = over_warps(sums[2][row]), all = over_warps(sums[0][32 + lane % 2]);
        all *= 1.0f / WIDTH;
        float mean = __shfl_sync(~0u, all, 0), square = __shfl_sync(~0u, all, 1);
        return (dot - mean * gain) * inverse_root(square - mean * mean + 1e-5f) + bias;
    }
};

// The tag of a token, two bits for each number of a word: 1 to 255, so no memory that was never written has it
struct Tag {
    u32 bits[4];

    __device__ inline Tag(u32 token)
    {
        const u32 tag = token % 255 + 1;
#pragma unroll
        for (u32 i = 0; i < 4; i++)
            bits[i] = tag >> 2 * i & 3;
    }

    __device__ inline bool is_in(const uint4 &v) const
    {
        return (((v.x ^ bits[0]) | (v.y ^ bits[1]) | (v.z ^ bits[2]) | (v.w ^ bits[3])) & 3) == 0;
    }

    __device__ inline u32 with(float v, u32 i) const
    {
        return __float_as_uint(v) & ~3u | bits[i];
    }
};

// Passes a part of the sums of a warp's eight rows to the other clusters; `sum` is that of row `group`
__device__ static inline void publish(unsigned char *to, float sum, const Thread &t, u32 rank, u32 cluster, const Tag &tag)
{
    float v[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++)
        v[i] = __shfl_sync(~0u, sum, (t.lane & 1) * 16 + 4 * i);
    if (t.lane < 2)
        put(to + ((rank * (OWN / 4) + 2 * t.warp + t.lane) * PARTS + cluster) * 16, tag.with(v[0], 0), tag.with(v[1], 1), tag.with(v[2], 2), tag.with(v[3], 3));
}

// Adds the parts of all clusters to the residual, of which a lane has a row, and shares the warp's eight rows with the
// cluster. `meanwhile` runs when the first look is on the way.
template <typename Meanwhile>
__device__ static inline void add_up(Meanwhile meanwhile, float &mine, float bias, const unsigned char *from, u32 to, u32 bar, const Thread &t, u32 rank, const Tag &tag)
{
    uint4 v = {};
    from += ((rank * (OWN / 4) + 2 * t.warp) * PARTS + t.lane) * 16;
    const bool has = t.lane % PARTS < CLUSTERS;
    if (has)
        v = look(from);
    meanwhile();
    while (!__all_sync(~0u, !has || tag.is_in(v)))
        if (has)
            v = look(from);
    // The bits 3 and 2 of the lane become the number's place in the word.
    float a = __uint_as_float(v.x), b = __uint_as_float(v.y), c = __uint_as_float(v.z), d = __uint_as_float(v.w);
    const bool upper = t.lane & 8, odd = t.lane & 4;
    const float e = (upper ? c : a) + __shfl_xor_sync(~0u, upper ? a : c, 8), f = (upper ? d : b) + __shfl_xor_sync(~0u, upper ? b : d, 8);
    float g = (odd ? f : e) + __shfl_xor_sync(~0u, odd ? e : f, 4);
    g += __shfl_xor_sync(~0u, g, 1);
    g += __shfl_xor_sync(~0u, g, 2);
    mine += g + bias;
    const u32 pair = pack(mine, __shfl_xor_sync(~0u, mine, 4));
    const u32 p0 = __shfl_sync(~0u, pair, 0), p1 = __shfl_sync(~0u, pair, 8), p2 = __shfl_sync(~0u, pair, 16), p3 = __shfl_sync(~0u, pair, 24);
    if (t.lane < CLUSTER)
        push(to + (rank * OWN + t.warp * 8) * 2, bar, t.lane, p0, p1, p2, p3);
}

__device__ static void decode(const bf16 *tokens, const bf16 *places, const bf16 *matrices, const bf16 *vectors, const bf16 *last_norm,
    bf16 *cache, unsigned char *space, float *logits, u32 *text, volatile u32 *stream, State *state, const Philox *rng, u32 layers, u32 vocabulary, u32 context)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const u32 tid = threadIdx.x, block = blockIdx.x, here = address(shared), bars = here + S_BARS, cluster = block / CLUSTER, rank = block % CLUSTER;
    const Thread t = {tid / 32, tid % 32, tid % 32 / 4, tid % 4};
    const u32 head = cluster, given = state->given, text_end = state->end, stop = state->stop;
    const float heat = state->heat;
    u32 position = min(state->position, context - 1), token = min(text[position], vocabulary - 1);
    // The first of the head's past positions that the block attends to, and their number
    auto past = [&](u32 position, u32 &count) {
        const u32 chunk = (position + CLUSTER - 1) / CLUSTER, first = min(position, rank * chunk);
        count = min(position, first + chunk) - first;
        return first;
    };
    // The rows of the logits that a warp has
    const u32 share = (vocabulary + BLOCKS - 1) / BLOCKS, end = min(vocabulary, (block + 1) * share), of_warp = (share + WARPS - 1) / WARPS;
    auto first_row = [&](u32 warp) { return min(end, block * share + warp * of_warp); };
    auto last_row = [&](u32 warp) { return min(end, first_row(warp) + of_warp); };
    auto ask_rows = [&](u32 warp, u32 stage) {
        const u32 row0 = first_row(warp), rows = last_row(warp) - row0;
        if (2 * stage >= rows)
            return;
        const u32 bytes = min(2u, rows - 2 * stage) * WIDTH * 2, bar = bars + B_ROWS + (warp * STAGES + stage % STAGES) * 8;
        expect(bar, bytes);
        copy(here + slot_of(stage) + warp * STAGE, tokens + (u64)(row0 + 2 * stage) * WIDTH, bytes, bar);
    };
    if (tid == 0) {
        for (u32 i = 0; i < B_ROWS / 8 + WARPS * STAGES; i++)
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bars + i * 8), "r"(1));
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
        expect(bars + B_Q, rank == CLUSTER - 1 ? 384 : 128);
        expect(bars + B_MIXED, CLUSTER * 256);
        expect(bars + B_MIDDLE, WIDTH * 2);
        expect(bars + B_HIDDEN, HIDDEN * 2);
        expect(bars + B_OUT, WIDTH * 2);
    }
    __syncthreads();
    meet_cluster_begin();
    u32 *chosen = (u32 *)(shared + S_BARS + 448);
    // All warps but the first one, which has other work then, ask for weights: those of q, k and v, those of up, and
    // keys and values. A copy takes a thread some time, so each of these warps asks for a part.
    auto ask = [&](u32 layer, u32 bar) {
        const bf16 *matrix = matrices + (u64)layer * 12 * WIDTH * WIDTH, *vector = vectors + layer * 13 * WIDTH;
        u32 count;
        const u32 first = past(position, count), rows = bar == B_QKV ? QKV : bar == B_UP ? UP : count ? 2 : 0, norm = t.warp - (WARPS - 2);
        if (tid == 32)
            expect(bars + bar, bar == B_PAST ? count * 256 : rows * WIDTH * 2 + 4 * WIDTH);
        if (t.lane || !t.warp)
            return;
        for (u32 i = t.warp - 1; i < rows; i += WARPS - 1)
            if (bar == B_QKV)
                copy(here + S_QKV + i * ROW, matrix + (i / 8 * WIDTH + head * 64 + rank * 8 + i % 8) * WIDTH, WIDTH * 2, bars + bar);
            else if (bar == B_UP)
                copy(here + S_UP + i * ROW, matrix + 4 * WIDTH * WIDTH + (block * UP + i) * WIDTH, WIDTH * 2, bars + bar);
            else
                copy(here + (i ? S_VALUES : S_KEYS), cache + (u64)(layer * 2 + i) * context * WIDTH + (head * context + first) * 64, count * 128, bars + bar);
        if (bar != B_PAST && norm < 2)
            copy(here + (bar == B_QKV ? S_NORM1 : S_NORM2) + norm * 2 * WIDTH, vector + (bar == B_QKV ? 0 : WIDTH) + norm * 2 * WIDTH, 2 * WIDTH, bars + bar);
    };
    // The rows of a warp in the projection and in down: too many for such copies, so all threads ask for 16 bytes each
    const bf16 *heads_row = matrices + 3 * WIDTH * WIDTH + (rank * OWN + t.warp * 8) * WIDTH + head * 64,
               *down_row = matrices + 8 * WIDTH * WIDTH + (rank * OWN + t.warp * 8) * 4 * WIDTH + cluster * HIDDEN;
    auto ask_own = [&](u32 layer) {
        const u64 start = (u64)layer * 12 * WIDTH * WIDTH;
        __syncwarp();
#pragma unroll
        for (u32 i = 0; i < 8; i += 4)
            copy(here + S_HEADS + (t.warp * 8 + t.lane / 8 + i) * HEAD_ROW + t.lane % 8 * 16, heads_row + start + (t.lane / 8 + i) * WIDTH + t.lane % 8 * 8);
        close_group();
#pragma unroll
        for (u32 i = 0; i < 8; i++)
            copy(here + S_DOWN + (t.warp * 8 + i) * DOWN_ROW + t.lane * 16, down_row + start + i * 4 * WIDTH + t.lane * 8);
        close_group();
    };
    auto foresee_own = [&](u32 layer) {
        const u64 start = (u64)layer * 12 * WIDTH * WIDTH;
        foresee(down_row + start + t.lane / 4 * 4 * WIDTH + t.lane % 4 * 64);
        if (t.lane < 8)
            foresee(heads_row + start + t.lane * WIDTH);
    };
    Sums &sums = *(Sums *)(shared + S_SUMS);
    float(*mix)[72] = (float(*)[72])(shared + S_MIX);
    const u32 row = rank * OWN + t.warp * 8 + t.lane / 16 * 4 + t.lane / 4 % 4;
    const u32 qkv_row = min(t.lane / 8, 2u) * WIDTH + head * 64 + rank * 8 + t.lane % 8, up_row = block * UP + t.lane;
    const u32 row0 = first_row(t.warp), rows = last_row(t.warp) - row0, stages = (rows + 1) / 2;
    const float scale = 0.125f * 1.44269504f;
    bf16 bias_next = vectors[4 * WIDTH + qkv_row];
    u32 phases = 0, word_tag = state->tag;
    meet_cluster_end();
    for (u32 run = 0;; run += layers) {
        ask(0, B_QKV);
        ask(0, B_PAST);
        ask(0, B_UP);
        const Tag tag(word_tag++);
        u32 x[8], count;
        past(position, count);
        // The columns of the thread, and the row of the residual that the lane has
        {
            u32 word[8], place[8];
            load_apart(word, (const unsigned char *)(tokens + (u64)token * WIDTH) + t.warp * 128 + t.part * 8);
            load_apart(place, (const unsigned char *)(places + position * WIDTH) + t.warp * 128 + t.part * 8);
#pragma unroll
            for (u32 i = 0; i < 8; i++)
                x[i] = pack(low(word[i]) + low(place[i]), high(word[i]) + high(place[i]));
        }
        float mine = number(tokens[(u64)token * WIDTH + row]) + number(places[position * WIDTH + row]);
        Norm<QKV> first_norm;
        auto prepare_first = [&](u32 layer) {
            wait(bars + B_QKV, layer & 1);
            first_norm.prepare(shared + S_QKV, shared + S_NORM1, t);
        };
        prepare_first(run);
        for (u32 layer = 0; layer < layers; layer++) {
            const u32 parity = run + layer & 1, next = layer + 1 < layers ? layer + 1 : 0;
            const bf16 *vector = vectors + layer * 13 * WIDTH;
            // Biases, not yet as numbers, long before their use: looks at others' words wait for loads before them.
            const bf16 bias_qkv = bias_next, bias_own = vector[7 * WIDTH + row], bias_up = vector[8 * WIDTH + up_row], bias_down = vector[12 * WIDTH + row];
            bias_next = vectors[next * 13 * WIDTH + 4 * WIDTH + qkv_row];
            ask_own(layer);
            unsigned char *passed = space + layer * P_LAYER;
            // Waits for numbers of the cluster, and lets the next ones come
            auto come = [&](u32 bar, u32 bytes) {
                wait(bars + bar, parity);
                if (tid == 0)
                    expect(bars + bar, bytes);
            };
            {
                { // q, k and v
                    if (layer) {
                        wait(bars + B_OUT, parity ^ 1);
                        load_apart(x, shared + S_X + WIDTH * 2 + t.warp * 128 + t.part * 8);
                    }
                    first_norm.finish(x, sums, t);
                    __syncthreads();
                    if (layer + 1 < layers)
                        ask(layer + 1, B_QKV);
                    else if (t.lane == 0)
                        ask_rows(t.warp, 0);
                    if (t.warp)
                        foresee_own(next);
                    if (t.warp == 0) {
                        const float y = Norm<QKV>::sum(sums, t.lane) + number(bias_qkv);
                        const u32 pair = pack(y, __shfl_down_sync(~0u, y, 1)), from = t.lane < CLUSTER ? 0 : t.lane == CLUSTER ? 8 : 16;
                        const u32 p0 = __shfl_sync(~0u, pair, from), p1 = __shfl_sync(~0u, pair, from + 2), p2 = __shfl_sync(~0u, pair, from + 4), p3 = __shfl_sync(~0u, pair, from + 6);
                        // All need q, and the last one needs the key and the value of this position.
                        if (t.lane < CLUSTER + 2)
                            push(here + S_Q + from * 16 + rank * 16, bars + B_Q, min(t.lane, CLUSTER - 1), p0, p1, p2, p3);
                        const u32 part = t.lane / 8;
                        if (part == 1 || part == 2)
                            cache[(u64)(layer * 2 + part - 1) * context * WIDTH + (head * context + position) * 64 + rank * 8 + t.lane % 8] = rounded(y);
                        foresee_own(next);
                    }
                }
                const bool newest = t.warp == WARPS - 1;
                if (t.warp < PAST_WARPS || newest) {
                    u32 q[8], k[2][8], v[2][8];
                    float most = -1e30f, share = 0, mixed[16] = {};
                    const u32 p0 = t.warp * 16;
                    if (count && !newest) {
                        wait(bars + B_PAST, parity);
                        // 16 positions of a warp, two of a thread
#pragma unroll
                        for (u32 i = 0; i < 2; i++) {
                            const u32 p = min(p0 + t.group + 8 * i, count - 1) * 128 + t.part * 32;
                            load(k[i], shared + S_KEYS + p);
                            load(v[i], shared + S_VALUES + p);
                        }
                    }
                    come(B_Q, rank == CLUSTER - 1 ? 384 : 128);
                    load(q, shared + S_Q + t.part * 32);
                    if (newest && rank == CLUSTER - 1) { // this position, whose key and value come with q
                        load(k[0], shared + S_Q + 128 + t.part * 32);
                        load(v[0], shared + S_Q + 256 + t.part * 32);
                        most = 0;
#pragma unroll
                        for (u32 i = 0; i < 8; i++)
                            most += low(q[i]) * low(k[0][i]) + high(q[i]) * high(k[0][i]);
                        most += __shfl_xor_sync(~0u, most, 1);
                        most = (most + __shfl_xor_sync(~0u, most, 2)) * scale;
                        share = t.group == 0;
#pragma unroll
                        for (u32 i = 0; i < 8; i++)
                            mixed[2 * i] = share * low(v[0][i]), mixed[2 * i + 1] = share * high(v[0][i]);
                    } else if (!newest && p0 < count) { // all columns of `b` are q
                        float c[4] = {};
#pragma unroll
                        for (u32 i = 0; i < 8; i += 2)
                            multiply(c, k[0][i], k[1][i], k[0][i + 1], k[1][i + 1], q[i], q[i + 1]);
                        const float s0 = p0 + t.group < count ? c[0] * scale : -1e30f, s1 = p0 + t.group + 8 < count ? c[2] * scale : -1e30f;
                        most = fmaxf(s0, s1);
#pragma unroll
                        for (u32 lanes = 4; lanes < 32; lanes *= 2)
                            most = fmaxf(most, __shfl_xor_sync(~0u, most, lanes));
                        const float p_0 = exp2(s0 - most), p_1 = exp2(s1 - most);
                        share = p_0 + p_1;
#pragma unroll
                        for (u32 i = 0; i < 8; i++) {
                            mixed[2 * i] = p_0 * low(v[0][i]) + p_1 * low(v[1][i]);
                            mixed[2 * i + 1] = p_0 * high(v[0][i]) + p_1 * high(v[1][i]);
                        }
                    }
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
                    float *to = mix[min(t.warp, PAST_WARPS)];
                    *(float2 *)&to[column] = make_float2(mixed[0], mixed[1]);
                    if (t.lane == 0)
                        to[64] = most, to[65] = share;
                }
                __syncthreads();
                if (layer + 1 < layers)
                    ask(layer + 1, B_PAST);
                if (tid < 16 * CLUSTER) {
                    const u32 four = tid % 16;
                    float4 y = {};
                    float most = -1e30f, share = 0;
#pragma unroll
                    for (u32 i = 0; i <= PAST_WARPS; i++)
                        most = fmaxf(most, mix[i][64]);
#pragma unroll
                    for (u32 i = 0; i <= PAST_WARPS; i++) {
                        const float f = exp2(mix[i][64] - most);
                        const float4 v = *(const float4 *)&mix[i][4 * four];
                        share += f * mix[i][65], y.x += f * v.x, y.y += f * v.y, y.z += f * v.z, y.w += f * v.w;
                    }
                    const float part = share > 0 ? inverse(share) : 0;
                    push(here + S_MIXED + (rank * 16 + four) * 16, bars + B_MIXED, tid / 16, pack_halves(y.x * part, y.y * part),
                        pack_halves(y.z * part, y.w * part), __float_as_uint(share > 0 ? most + __log2f(share) : -1e30f), 0);
                }
                { // The projection of the head: a warp has 8 rows; the columns of `b` are the parts of the past
                    u32 a[8], b[8];
                    wait_group<1>();
                    const unsigned char *weights = shared + S_HEADS + (t.warp * 8 + t.group) * HEAD_ROW + t.part * 16;
                    const uint4 a0 = *(const uint4 *)weights, a1 = *(const uint4 *)(weights + 64);
                    a[0] = a0.x, a[1] = a0.y, a[2] = a0.z, a[3] = a0.w, a[4] = a1.x, a[5] = a1.y, a[6] = a1.z, a[7] = a1.w;
                    come(B_MIXED, CLUSTER * 256);
                    const unsigned char *from = shared + S_MIXED;
                    float scores[CLUSTER], most = -1e30f, all = 0;
#pragma unroll
                    for (u32 i = 0; i < CLUSTER; i++)
                        scores[i] = *(const float *)(from + i * 256 + 8), most = fmaxf(most, scores[i]);
#pragma unroll
                    for (u32 i = 0; i < CLUSTER; i++)
                        all += exp2(scores[i] - most);
                    const float f = exp2(*(const float *)(from + t.group * 256 + 8) - most) * inverse(all);
#pragma unroll
                    for (u32 i = 0; i < 4; i++) {
                        const uint2 v = *(const uint2 *)(from + (t.group * 16 + t.part * 2 + i / 2 * 8 + i % 2) * 16);
                        const float2 y = halves(v.x), z = halves(v.y);
                        b[2 * i] = pack(y.x * f, y.y * f), b[2 * i + 1] = pack(z.x * f, z.y * f);
                    }
                    float c[2][4] = {};
#pragma unroll
                    for (u32 i = 0; i < 4; i++)
                        multiply(c[i % 2], a[2 * i], 0, a[2 * i + 1], 0, b[2 * i], b[2 * i + 1]);
                    float sum = (c[0][0] + c[0][1]) + (c[1][0] + c[1][1]);
                    sum += __shfl_xor_sync(~0u, sum, 1);
                    sum += __shfl_xor_sync(~0u, sum, 2);
                    publish(passed + P_MIDDLE, sum, t, rank, cluster, tag);
                }
            }
            Norm<UP> norm;
            auto prepare_up = [&] {
                wait(bars + B_UP, parity);
                norm.prepare(shared + S_UP, shared + S_NORM2, t);
            };
            add_up(prepare_up, mine, number(bias_own), passed + P_MIDDLE, here + S_X, bars + B_MIDDLE, t, rank, tag);
            { // Up
                come(B_MIDDLE, WIDTH * 2);
                load_apart(x, shared + S_X + t.warp * 128 + t.part * 8);
                norm.finish(x, sums, t);
                __syncthreads();
                if (layer + 1 < layers) {
                    ask(layer + 1, B_UP);
                } else {
                    if (t.lane == 0) {
                        ask_rows(t.warp, 1);
                        ask_rows(t.warp, 2);
                    }
                    // The next token needs these first.
                    const u32 i = tid / 12, part = tid % 12 * 64;
                    if (i < QKV)
                        foresee(matrices + (i / 8 * WIDTH + head * 64 + rank * 8 + i % 8) * WIDTH + part);
                    foresee(matrices + 4 * WIDTH * WIDTH + (block * UP + i) * WIDTH + part);
                }
                if (t.warp == 0) {
                    float y = Norm<UP>::sum(sums, t.lane) + number(bias_up);
                    y *= 1 - inverse(exp2(2.88539008f * 0.79788456f * (y + 0.044715f * y * y * y)) + 1);
                    const u32 pair = pack(y, __shfl_down_sync(~0u, y, 1)), from = t.lane % 4 * 8;
                    const u32 p0 = __shfl_sync(~0u, pair, from), p1 = __shfl_sync(~0u, pair, from + 2), p2 = __shfl_sync(~0u, pair, from + 4), p3 = __shfl_sync(~0u, pair, from + 6);
                    push(here + S_HIDDEN + rank * UP * 2 + from * 2, bars + B_HIDDEN, t.lane / 4, p0, p1, p2, p3);
                }
            }
            { // Down: a warp has 8 rows
                u32 a[HIDDEN / 8];
                wait_group<0>();
#pragma unroll
                for (u32 i = 0; i < HIDDEN / 32; i++) {
                    const uint4 v = *(const uint4 *)(shared + S_DOWN + (t.warp * 8 + t.group) * DOWN_ROW + (t.part + 4 * i) * 16);
                    a[4 * i] = v.x, a[4 * i + 1] = v.y, a[4 * i + 2] = v.z, a[4 * i + 3] = v.w;
                }
                come(B_HIDDEN, HIDDEN * 2);
                float c[4][4] = {};
#pragma unroll
                for (u32 i = 0; i < HIDDEN / 32; i++) {
                    const uint4 b = *(const uint4 *)(shared + S_HIDDEN + (t.part + 4 * i) * 16);
                    multiply(c[i % 2 * 2], a[4 * i], 0, a[4 * i + 1], 0, b.x, b.y);
                    multiply(c[i % 2 * 2 + 1], a[4 * i + 2], 0, a[4 * i + 3], 0, b.z, b.w);
                }
                publish(passed + P_OUT, (c[0][0] + c[1][0]) + (c[2][0] + c[3][0]), t, rank, cluster, tag);
            }
            if (tid == 0 && run + layer) {
                wait(bars + B_OUT, parity ^ 1);
                expect(bars + B_OUT, WIDTH * 2);
            }
            auto prepare_next = [&] {
                if (layer + 1 < layers)
                    prepare_first(run + layer + 1);
            };
            add_up(prepare_next, mine, number(bias_down), passed + P_OUT, here + S_X + WIDTH * 2, bars + B_OUT, t, rank, tag);
        }
        meet_cluster_begin();
        // The logits: a warp has some rows, two on the way together. Of the two rows' 768 columns, a group has 96: it
        // has a row of `a` for each of them, and a column of `b`, twice: what bf16 has of the vector, and the rest.
        u32 b[12], rest[12];
        {
            const u32 gain = *(const u32 *)(last_norm + tid * 2), bias = *(const u32 *)(last_norm + WIDTH + tid * 2);
            wait(bars + B_OUT, run + layers - 1 & 1);
            const u32 pair = *(const u32 *)(shared + S_X + WIDTH * 2 + tid * 4);
            const float x0 = low(pair), x1 = high(pair);
            float *all = &sums[0][0][0], *both = &mix[0][0], sum = x0 + x1, squares = x0 * x0 + x1 * x1;
#pragma unroll
            for (u32 lanes = 16; lanes; lanes /= 2)
                sum += __shfl_xor_sync(~0u, sum, lanes), squares += __shfl_xor_sync(~0u, squares, lanes);
            __syncthreads();
            if (t.lane == 0)
                ask_rows(t.warp, 3);
            if (t.lane == 0)
                both[t.warp] = sum, both[WARPS + t.warp] = squares;
            __syncthreads();
            const float mean = over_warps(both) * (1.0f / WIDTH), factor = inverse_root(over_warps(both + WARPS) * (1.0f / WIDTH) - mean * mean + 1e-5f);
            *(float2 *)(all + tid * 2) = make_float2((x0 - mean) * factor * low(gain) + low(bias), (x1 - mean) * factor * high(gain) + high(bias));
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < 12; i++) {
                const float2 y = *(const float2 *)(all + t.group * 96 + t.part * 8 + i / 4 * 32 + i % 4 * 2);
                b[i] = pack(y.x, y.y), rest[i] = pack(y.x - low(b[i]), y.y - high(b[i]));
            }
        }
        u64 best = 0;
#pragma unroll 1
        for (u32 stage = 0; stage < stages; stage += STAGES) {
            float sum[2 * STAGES] = {};
#pragma unroll
            for (u32 slot = 0; slot < STAGES; slot++) {
                if (stage + slot >= stages)
                    continue;
                wait(bars + B_ROWS + (t.warp * STAGES + slot) * 8, phases >> slot & 1);
                phases ^= 1 << slot;
                float c[2][4] = {};
                uint4 w[2][3];
#pragma unroll
                for (u32 i = 0; i < 6; i++)
                    w[i / 3][i % 3] = *(const uint4 *)(shared + slot_of(slot) + t.warp * STAGE + i / 3 * WIDTH * 2 + t.group * 192 + t.part * 16 + i % 3 * 64);
#pragma unroll
                for (u32 i = 0; i < 3; i++) {
                    multiply(c[0], w[0][i].x, w[1][i].x, w[0][i].y, w[1][i].y, b[4 * i], b[4 * i + 1]);
                    multiply(c[1], w[0][i].x, w[1][i].x, w[0][i].y, w[1][i].y, rest[4 * i], rest[4 * i + 1]);
                    multiply(c[0], w[0][i].z, w[1][i].z, w[0][i].w, w[1][i].w, b[4 * i + 2], b[4 * i + 3]);
                    multiply(c[1], w[0][i].z, w[1][i].z, w[0][i].w, w[1][i].w, rest[4 * i + 2], rest[4 * i + 3]);
                }
                __syncwarp();
                if (t.lane == 0)
                    ask_rows(t.warp, stage + slot + STAGES);
                // The columns of the group's own row
                const bool own = t.part == t.group / 2, odd = t.group & 1;
                sum[2 * slot] = own ? odd ? c[0][1] + c[1][1] : c[0][0] + c[1][0] : 0;
                sum[2 * slot + 1] = own ? odd ? c[0][3] + c[1][3] : c[0][2] + c[1][2] : 0;
            }
            // A group gets the sum of a row.
#pragma unroll
            for (u32 lanes = 16, n = STAGES; n; lanes /= 2, n /= 2)
#pragma unroll
                for (u32 i = 0; i < STAGES; i++)
                    if (i < n) {
                        const bool upper = t.lane & lanes;
                        const float send = upper ? sum[i] : sum[i + n], keep = upper ? sum[i + n] : sum[i];
                        sum[i] = keep + __shfl_xor_sync(~0u, send, lanes);
                    }
            sum[0] += __shfl_xor_sync(~0u, sum[0], 1);
            sum[0] += __shfl_xor_sync(~0u, sum[0], 2);
            const u32 r = 2 * stage + t.group;
            if (t.part == 0 && r < rows) {
                logits[row0 + r] = sum[0];
                best = max(best, key(sum[0], row0 + r, heat, rng, run / layers));
            }
        }
#pragma unroll
        for (u32 lanes = 4; lanes < 32; lanes *= 2)
            best = max(best, __shfl_xor_sync(~0u, best, lanes));
        u64 *bests = (u64 *)&mix[0][0] + 16;
        if (t.lane == 0)
            bests[t.warp] = best;
        __syncthreads();
        if (t.warp == 0) { // all blocks find the greatest of all
            best = bests[min(t.lane, WARPS - 1)];
#pragma unroll
            for (u32 lanes = 16; lanes; lanes /= 2)
                best = max(best, __shfl_xor_sync(~0u, best, lanes));
            if (t.lane == 0)
                put(space + P_BEST + block * 16, (u32)best, (u32)(best >> 32), word_tag, word_tag);
#pragma unroll
            for (u32 i = 0; i < BLOCKS / 32; i++) {
                uint4 v;
                do
                    v = look(space + P_BEST + (i * 32 + t.lane) * 16);
                while (v.w != word_tag);
                best = max(best, (u64)v.y << 32 | v.x);
            }
            __syncwarp();
#pragma unroll
            for (u32 lanes = 16; lanes; lanes /= 2)
                best = max(best, __shfl_xor_sync(~0u, best, lanes));
            if (t.lane == 0) {
                const u32 next = ~(u32)best, at = position + 1;
                const bool more = at < text_end && (at < given || next != stop);
                chosen[0] = at < given ? text[at] : next;
                chosen[1] = more && at < context;
                if (block == 0) { // The host reads `stream` meanwhile: a token and one, or 0.
                    if (at >= given)
                        text[at] = next;
                    stream[at] = chosen[0] + 1;
                    state->more = more, state->position = at, state->tag = word_tag;
                }
            }
        }
        __syncthreads();
        meet_cluster_end();
        if (!chosen[1])
            return;
        token = min(chosen[0], vocabulary - 1), position++;
    }
}
}
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
#if __CUDA_ARCH__ >= 900
    u32 shared;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shared));
    if (width == fast::WIDTH && gridDim.x == fast::BLOCKS && blockDim.x == fast::THREADS && shared >= fast::S_ALL && layers && fast::cluster_blocks() == fast::CLUSTER) {
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
