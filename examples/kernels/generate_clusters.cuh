// The decoder for GPT-2's width from compute capability 9.0 on: 12 clusters of 8 blocks of 384 threads, and all tokens
// of a text in one launch. `generate.cu` includes this file.
//
// Each cluster has a head: its rows of q, k and v, its attention, and its columns of the projection; and 256 rows of
// up, and their columns of down. So numbers cross the whole chip twice in a layer: sums over a cluster's columns, which
// the residual gets. The blocks of one rank in all clusters add up the same 96 rows, and share them in their cluster.
//
// In a cluster, numbers come into the shared memory of those who need them. Weights come into shared memory while
// numbers are waited for. Products are made by tensor cores: the rows of weights are the rows of `a`, and the vector is
// a column of `b`.
namespace fast {
constexpr u32 WIDTH = 768, CLUSTER = 8, CLUSTERS = 12, BLOCKS = CLUSTER * CLUSTERS, WARPS = 12, THREADS = 32 * WARPS, SPLITS = 4;
// Rows of a block: of q, k and v together, of the residual, of up
constexpr u32 QKV = 24, OWN = WIDTH / CLUSTER, UP = 32, HIDDEN = CLUSTER * UP;
// Bytes of a row in shared memory: those that are loaded together begin in different banks. Rows of down have no room
// for that; odd ones have each 128 bytes' halves exchanged.
constexpr u32 ROW = WIDTH * 2 + 32, HEAD_ROW = 128 + 32, DOWN_ROW = HIDDEN * 2, MIXED_ROW = 128 + 32;
// The positions of a split whose keys and values are in shared memory; the others are read from the cache.
constexpr u32 NEAR = WARPS * 16;
// Shared memory, in bytes: the weights of each phase, keys and values, norms, what blocks of the cluster pass to each
// other, barriers
constexpr u32 S_QKV = 0, S_HEADS = S_QKV + QKV * ROW, S_KEYS = S_HEADS + OWN * HEAD_ROW, S_VALUES = S_KEYS + NEAR * 128, S_UP = S_VALUES + NEAR * 128,
              S_DOWN = S_UP + UP * ROW, S_NORM1 = S_DOWN + OWN * DOWN_ROW, S_NORM2 = S_NORM1 + 4 * WIDTH, S_Q = S_NORM2 + 4 * WIDTH, S_MIXED = S_Q + 3 * 128,
              S_HIDDEN = S_MIXED + SPLITS * MIXED_ROW, S_LAST = S_HIDDEN + HIDDEN * 2, S_BARS = S_LAST + 4 * WIDTH,
              S_ALL = S_BARS + 512;
// In the memory that the kernel declares: sums of warps, parts of the attention, the residual before up and before the
// next layer
constexpr u32 D_SUMS = 0, D_MIX = D_SUMS + 3 * 34 * WARPS * 4, D_X = D_MIX + WARPS * 72 * 4, X_BYTES = WIDTH * 2;
static_assert(D_X + 2 * X_BYTES <= 4 * 4096, "what `decode` declares is large enough");
// What crosses the chip in an exchange: for each rank and four rows 16 bytes of each cluster. There are two exchanges
// in a layer, and memory for three tokens: see `publish`.
constexpr u32 EXCHANGE = WIDTH / 4 * CLUSTERS * 16, AGES = 3, P_LAYER = 2 * AGES * EXCHANGE;
// Logits: each warp has stages of two rows on the way. They lie where keys, values and weights of the last layer were;
// the first three stages come before that layer's down, and those of q, k and v of the first layer are there then.
constexpr u32 STAGES = 4, AHEAD = 2, STAGE = 2 * WIDTH * 2;
static_assert(S_HEADS + 3 * WARPS * STAGE <= S_DOWN && S_HEADS + STAGES * WARPS * STAGE <= S_NORM1, "");
// Barriers: weights have come, numbers of the cluster have come, rows of the logits have come
constexpr u32 B_QKV = 0, B_UP = 8, B_PAST = 16, B_HIDDEN = 24, B_Q = 32, B_MIXED = 40, B_MIDDLE = 48, B_OUT = 56, B_ROWS = 64;

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
    return S_HEADS + stage % STAGES * WARPS * STAGE;
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

__device__ static inline void push(u32 to, u32 bar, u32 rank, u32 a, u32 b)
{
    asm volatile("{\n.reg .b32 to, bar;\nmapa.shared::cluster.u32 to, %0, %2;\nmapa.shared::cluster.u32 bar, %1, %2;\n"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [to], {%3, %4}, [bar];\n}" ::"r"(to),
        "r"(bar), "r"(rank), "r"(a), "r"(b)
        : "memory");
}

__device__ static inline void push(u32 to, u32 bar, u32 rank, u32 a)
{
    asm volatile("{\n.reg .b32 to, bar;\nmapa.shared::cluster.u32 to, %0, %2;\nmapa.shared::cluster.u32 bar, %1, %2;\n"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [to], %3, [bar];\n}" ::"r"(to),
        "r"(bar), "r"(rank), "r"(a)
        : "memory");
}

__device__ static inline void put(void *to, u32 a, u32 b, u32 c, u32 d)
{
    asm volatile("{\n.reg .b64 x, y;\n.reg .b128 v;\nmov.b64 x, {%1, %2};\nmov.b64 y, {%3, %4};\nmov.b128 v, {x, y};\nst.relaxed.gpu.global.b128 [%0], v;\n}" ::"l"(to),
        "r"(a), "r"(b), "r"(c), "r"(d)
        : "memory");
}

__device__ static inline void put(void *to, u32 a)
{
    asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(to), "r"(a) : "memory");
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

__device__ static inline float inverse_root(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// a / b as `/` rounds it, for numbers whose quotients are neither tiny nor huge
__device__ static inline float quotient(float a, float b)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
    r = __fmaf_rn(__fmaf_rn(-b, r, 1), r, r);
    float q = __fmul_rn(a, r);
    q = __fmaf_rn(__fmaf_rn(-b, q, a), r, q);
    return __fmaf_rn(__fmaf_rn(-b, q, a), r, q);
}

// a / WIDTH, likewise
__device__ static inline float of_width(float a)
{
    const float r = 1.0f / WIDTH, q = __fmul_rn(a, r);
    return __fmaf_rn(__fmaf_rn(-(float)WIDTH, q, a), r, q);
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

__device__ static inline void load_past(u32 (&to)[8], const bf16 *from)
{
    uint4 a = __ldcg((const uint4 *)from), b = __ldcg((const uint4 *)from + 1);
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

// The greatest number of the warp's
__device__ static inline u64 greatest(u64 v)
{
    const u32 upper = __reduce_max_sync(~0u, (u32)(v >> 32)), lower = __reduce_max_sync(~0u, (u32)(v >> 32) == upper ? (u32)v : 0);
    return (u64)upper << 32 | lower;
}

// The part of a thread in a product: its rows are `group` and `group` + 8, its columns of the warp's 64 are four from
// 4 `part` on in each 16
struct Thread {
    u32 warp, lane, group, part;
};

// The product of the normed vector with up to 32 rows, by all warps: the sum of a row comes to its lane of warp 0.
// With y = (x - mean) g / deviation + b, w y = (w (x g) - mean w g) / deviation + w b. The sums of w g and w b are made
// before x comes; then the columns of `b` are x g and x, and two more rows of `a` are 1 and x, for the sums of x and of
// its squares.
typedef float Sums[3][34][WARPS];
template <u32 rows> struct Norm {
    u32 a[rows / 8][8], b[8];
    float gain_sum, bias_sum;

    u32 bias[8];

    __device__ inline void load(const unsigned char *weights, const unsigned char *norm, const Thread &t)
    {
#pragma unroll
        for (u32 i = 0; i < rows / 8; i++)
            load_apart(a[i], weights + (t.group + 8 * i) * ROW + t.warp * 128 + t.part * 8);
        load_apart(b, norm + t.warp * 128 + t.part * 8);
        load_apart(bias, norm + WIDTH * 2 + t.warp * 128 + t.part * 8);
    }

    __device__ inline void prepare(Sums &sums, const Thread &t)
    {
        float c[2][4] = {};
#pragma unroll
        for (u32 i = 0; i < 8; i += 2) {
            const u32 b0 = t.group % 2 ? bias[i] : b[i], b1 = t.group % 2 ? bias[i + 1] : b[i + 1];
            multiply(c[0], a[0][i], a[1][i], a[0][i + 1], a[1][i + 1], b0, b1);
            multiply(c[1], a[2][i], rows > 24 ? a[rows / 8 - 1][i] : 0, a[2][i + 1], rows > 24 ? a[rows / 8 - 1][i + 1] : 0, b0, b1);
        }
        if (t.part == 0)
#pragma unroll
            for (u32 i = 0; i < rows / 8; i++)
                sums[1][t.group + 8 * i][t.warp] = c[i / 2][i % 2 * 2], sums[2][t.group + 8 * i][t.warp] = c[i / 2][i % 2 * 2 + 1];
        if (t.group)
#pragma unroll
            for (u32 i = 0; i < 8; i++)
                b[i] = 0x3f803f80u;
        if (t.warp)
            asm volatile("bar.arrive 2, 384;" ::: "memory");
        else {
            asm volatile("bar.sync 2, 384;" ::: "memory");
            const u32 row = min(t.lane, rows - 1);
            gain_sum = over_warps(sums[1][row]), bias_sum = over_warps(sums[2][row]);
        }
    }

    __device__ inline void finish(const u32 (&x)[8], Sums &sums, const Thread &t)
    {
        float c[3][4] = {};
        const u32 one = 0x3f803f80u;
#pragma unroll
        for (u32 i = 0; i < 8; i += 2) {
            u32 b0 = product(x[i], b[i]), b1 = product(x[i + 1], b[i + 1]);
            multiply(c[0], a[0][i], a[1][i], a[0][i + 1], a[1][i + 1], b0, b1);
            if (rows > 24) {
                multiply(c[1], a[2][i], a[rows / 8 - 1][i], a[2][i + 1], a[rows / 8 - 1][i + 1], b0, b1);
                multiply(c[2], t.group ? x[i] : one, 0, t.group ? x[i + 1] : one, 0, b0, b1);
            } else
                multiply(c[1], a[2][i], t.group ? x[i] : one, a[2][i + 1], t.group ? x[i + 1] : one, b0, b1);
        }
        // Part 0 has the columns 0 and 1, ..
        if (t.part == 0) {
#pragma unroll
            for (u32 i = 0; i < rows / 8; i++)
                sums[0][t.group + 8 * i][t.warp] = c[i / 2][i % 2 * 2];
            if (t.group < 2)
                sums[0][32 + t.group][t.warp] = rows > 24 ? c[2][1] : c[1][3];
        }
    }

    __device__ inline float sum(const Sums &sums, u32 lane) const
    {
        const float dot = over_warps(sums[0][min(lane, rows - 1)]), all = of_width(over_warps(sums[0][32 + lane % 2]));
        const float mean = __shfl_sync(~0u, all, 0), square = __shfl_sync(~0u, all, 1);
        return (dot - mean * gain_sum) * inverse_root(square - mean * mean + 1e-5f) + bias_sum;
    }
};


__device__ static void decode(const bf16 *tokens, const bf16 *places, const bf16 *matrices, const bf16 *vectors, const bf16 *last_norm,
    bf16 *cache, unsigned char *space, float *logits, u32 *text, volatile u32 *stream, State *state, const Philox *rng, u32 layers, u32 vocabulary, u32 context, unsigned char *small)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    const u32 tid = threadIdx.x, block = blockIdx.x, here = address(shared), bars = here + S_BARS, cluster = block / CLUSTER, rank = block % CLUSTER;
    const Thread t = {tid / 32, tid % 32, tid % 32 / 4, tid % 4};
    const u32 head = cluster, given = state->given, text_end = state->end, stop = state->stop;
    const float heat = state->heat;
    u32 position = min(state->position, context - 1), token = min(text[position], vocabulary - 1);
    Sums &sums = *(Sums *)(small + D_SUMS);
    float(*mix)[72] = (float(*)[72])(small + D_MIX);
    const u32 middle_x = address(small + D_X), out_x = middle_x + X_BYTES;
    // The part of the head's past that the block attends to: four blocks have one each
    const bool attends = rank < SPLITS;
    auto past = [&](u32 position, u32 &count) {
        const u32 chunk = (position + SPLITS - 1) / SPLITS, first = min(position, rank * chunk);
        count = attends ? min(position, first + chunk) - first : 0;
        return first;
    };
    // Each rank has a part of the logits' rows, in pairs. Each of its warps has as many as it has stages, and draws
    // others then: some clusters get weights faster than others.
    const u32 pairs = (vocabulary + 1) / 2, of_rank = (pairs + CLUSTER - 1) / CLUSTER, first_pair = min(pairs, rank * of_rank),
              own_pairs = min(pairs, first_pair + of_rank) - first_pair, NONE = ~0u, DRAWERS = CLUSTERS * WARPS, drawn_pairs = max(own_pairs, STAGES * DRAWERS) - STAGES * DRAWERS;
    u32 *draws = (u32 *)(space + layers * P_LAYER + BLOCKS * 16 + rank * 128);
    auto row_of = [&](u32 pair) { return pair < own_pairs ? 2 * (first_pair + pair) : NONE; };
    auto first_row = [&](u32 slot) { return row_of((slot * CLUSTERS + cluster) * WARPS + t.warp); };
    auto ask_row = [&](u32 slot, u32 row) {
        if (row == NONE || t.lane)
            return;
        const u32 bytes = min(2u, vocabulary - row) * WIDTH * 2, bar = bars + B_ROWS + (t.warp * STAGES + slot) * 8;
        expect(bar, bytes);
        copy(here + slot_of(slot) + t.warp * STAGE, tokens + (u64)row * WIDTH, bytes, bar);
    };
    if (tid == 0) {
        for (u32 i = 0; i < B_ROWS / 8 + WARPS * STAGES; i++)
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bars + i * 8), "r"(1));
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
        expect(bars + B_HIDDEN, HIDDEN * 2);
        expect(bars + B_Q, rank == SPLITS - 1 ? 384 : 128);
        expect(bars + B_MIXED, SPLITS * 132);
        expect(bars + B_MIDDLE, WIDTH * 2);
        expect(bars + B_OUT, WIDTH * 2);
    }
    for (u32 i = tid; i < WIDTH; i += THREADS)
        ((u32 *)(shared + S_LAST))[i] = ((const u32 *)last_norm)[i];
    __syncthreads();
    meet_cluster_begin();
    u32 *chosen = (u32 *)(shared + S_BARS + 448);
    // All warps but the first one ask for weights.
    auto ask = [&](u32 layer, u32 bar) {
        const bf16 *matrix = matrices + (u64)layer * 12 * WIDTH * WIDTH, *vector = vectors + layer * 13 * WIDTH;
        u32 count;
        const u32 first = past(position, count), near = min(count, NEAR), rows = bar == B_QKV ? QKV : bar == B_UP ? UP : near ? 2 : 0, norm = t.warp - (WARPS - 2);
        if (tid == 32)
            expect(bars + bar, bar == B_PAST ? near * 256 : rows * WIDTH * 2 + 4 * WIDTH);
        if (t.lane || !t.warp)
            return;
        for (u32 i = t.warp - 1; i < rows; i += WARPS - 1)
            if (bar == B_QKV)
                copy(here + S_QKV + i * ROW, matrix + (i / 8 * WIDTH + head * 64 + rank * 8 + i % 8) * WIDTH, WIDTH * 2, bars + bar);
            else if (bar == B_UP)
                copy(here + S_UP + i * ROW, matrix + 4 * WIDTH * WIDTH + (block * UP + i) * WIDTH, WIDTH * 2, bars + bar);
            else
                copy(here + (i ? S_VALUES : S_KEYS), cache + (u64)(layer * 2 + i) * context * WIDTH + (head * context + first) * 64, near * 128, bars + bar);
        if (bar != B_PAST && norm < 2)
            copy(here + (bar == B_QKV ? S_NORM1 : S_NORM2) + norm * 2 * WIDTH, vector + (bar == B_QKV ? 0 : WIDTH) + norm * 2 * WIDTH, 2 * WIDTH, bars + bar);
    };
    // The rows of a warp in the projection and in down: too many for such copies, so all threads ask for 16 bytes each
    const bf16 *heads_row = matrices + 3 * WIDTH * WIDTH + (rank * OWN + t.warp * 8) * WIDTH + head * 64,
               *down_row = matrices + 8 * WIDTH * WIDTH + (rank * OWN + t.warp * 8) * 4 * WIDTH + cluster * HIDDEN;
    auto ask_heads = [&](u32 layer) {
        const u64 start = (u64)layer * 12 * WIDTH * WIDTH;
        __syncwarp();
#pragma unroll
        for (u32 i = 0; i < 8; i += 4)
            copy(here + S_HEADS + (t.warp * 8 + t.lane / 8 + i) * HEAD_ROW + t.lane % 8 * 16, heads_row + start + (t.lane / 8 + i) * WIDTH + t.lane % 8 * 8);
        close_group();
    };
    auto ask_down = [&](u32 layer) {
        const u64 start = (u64)layer * 12 * WIDTH * WIDTH;
        __syncwarp();
#pragma unroll
        for (u32 i = 0; i < 8; i++)
            copy(here + S_DOWN + (t.warp * 8 + i) * DOWN_ROW + (t.lane ^ i % 2 * 4) * 16, down_row + start + i * 4 * WIDTH + t.lane * 8);
        close_group();
    };
    // The row of the residual that the lane has
    const u32 half = t.lane / 16, row = rank * OWN + t.warp * 8 + half * 4 + (t.lane & 1) * 2 + (t.lane >> 1 & 1);
    const u32 qkv_row = min(t.lane / 8, 2u) * WIDTH + head * 64 + rank * 8 + t.lane % 8, up_row = block * UP + t.lane;
    const float scale = 0.125f * 1.44269504f;
    u32 phases = 0, base_draw = 0, word_tag = state->tag, age = 0;
    // Passes the sum of row `group` of the warp to the other clusters: its bits inverted, since zero means that there
    // is no number yet. Clears the number of the token before, which all have read: they have chosen this token since.
    // The token after the next one writes there.
    auto publish = [&](unsigned char *to, float sum) {
        if (t.part == 0) {
            to += ((rank * (OWN / 4) + 2 * t.warp + t.group / 4) * CLUSTERS + cluster) * 16 + t.group % 4 * 4;
            put(to + age * EXCHANGE, ~__float_as_uint(sum));
            put(to + (age + AGES - 1) % AGES * EXCHANGE, 0);
        }
    };
    // The sums of four rows that the lane looks at, of one cluster
    auto parts = [&](const unsigned char *from) {
        return from + age * EXCHANGE + ((rank * (OWN / 4) + 2 * t.warp + half) * CLUSTERS + min(t.lane % 16, CLUSTERS - 1)) * 16;
    };
    auto wait_parts = [&](uint4 v, const unsigned char *from) {
        while (!__all_sync(~0u, v.x && v.y && v.z && v.w))
            v = look(from);
        return v;
    };
    // Adds the sums of all clusters to the residual, and shares the warp's eight rows with the cluster. A lane has four
    // sums of one cluster, then two of two clusters, then one of four clusters.
    auto add_up = [&](uint4 v, float &mine, float bias, u32 x, u32 bar) {
        const float a = __uint_as_float(~v.x), b = __uint_as_float(~v.y), c = __uint_as_float(~v.z), d = __uint_as_float(~v.w);
        const bool odd = t.lane & 1, second = t.lane & 2;
        const float e = (odd ? c : a) + __shfl_xor_sync(~0u, odd ? a : c, 1), f = (odd ? d : b) + __shfl_xor_sync(~0u, odd ? b : d, 1);
        const float g = (second ? f : e) + __shfl_xor_sync(~0u, second ? e : f, 2);
        const u32 base = t.lane & 0x13;
        mine += ((__shfl_sync(~0u, g, base) + __shfl_sync(~0u, g, base + 4)) + __shfl_sync(~0u, g, base + 8)) + bias;
        const float other = __shfl_xor_sync(~0u, mine, 2);
        const u32 pair = second ? pack(other, mine) : pack(mine, other), next = __shfl_xor_sync(~0u, pair, 1);
        if (!(t.lane & 8)) {
            const u32 at = (rank * OWN + t.warp * 8 + half * 4) / 2, p = odd ? next : pair, q = odd ? pair : next;
            push(x + at * 4, bars + bar, t.lane & 7, p, q);
        }
    };
    bf16 bias_next = vectors[4 * WIDTH + qkv_row];
    Norm<QKV> first_norm;
    auto load_first = [&](u32 layer) {
        wait(bars + B_QKV, layer & 1);
        first_norm.load(shared + S_QKV, shared + S_NORM1, t);
    };
    ask(0, B_QKV);
    load_first(0);
    first_norm.prepare(sums, t);
    meet_cluster_end();
    for (u32 run = 0;; run += layers) {
        ask(0, B_PAST);
        ask(0, B_UP);
        word_tag++;
        u32 x[8], count;
        const u32 first = past(position, count);
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
        for (u32 layer = 0; layer < layers; layer++) {
            const u32 parity = run + layer & 1, next = layer + 1 < layers ? layer + 1 : 0;
            const bf16 *vector = vectors + layer * 13 * WIDTH;
            // Biases, not yet as numbers, long before their use: looks at others' words wait for loads before them.
            const bf16 bias_qkv = bias_next, bias_own = vector[7 * WIDTH + row], bias_up = vector[8 * WIDTH + up_row], bias_down = vector[12 * WIDTH + row];
            bias_next = vectors[next * 13 * WIDTH + 4 * WIDTH + qkv_row];
            unsigned char *passed = space + layer * P_LAYER;
            { // q, k and v
                if (layer) {
                    wait(bars + B_OUT, parity ^ 1);
                    load_apart(x, small + D_X + X_BYTES + t.warp * 128 + t.part * 8);
                }
                first_norm.finish(x, sums, t);
                __syncthreads();
                if (tid == 0 && layer)
                    expect(bars + B_OUT, WIDTH * 2);
                if (t.warp == 0) {
                    const float y = first_norm.sum(sums, t.lane) + number(bias_qkv);
                    const u32 pair = pack(y, __shfl_down_sync(~0u, y, 1)), which = t.lane < 8 ? 0 : min(t.lane / 2 - 3, 2u), from = which * 8 + t.lane % 2 * 4;
                    const u32 p0 = __shfl_sync(~0u, pair, from), p1 = __shfl_sync(~0u, pair, from + 2);
                    // All need q, and the last one needs the key and the value of this position.
                    if (t.lane < 12) {
                        const u32 at = which * 32 + rank * 4 + t.lane % 2 * 2, to = t.lane < 8 ? t.lane / 2 : SPLITS - 1;
                        push(here + S_Q + at * 4, bars + B_Q, to, p0, p1);
                    }
                    const u32 part = t.lane / 8;
                    if (part == 1 || part == 2)
                        cache[(u64)(layer * 2 + part - 1) * context * WIDTH + (head * context + position) * 64 + rank * 8 + t.lane % 8] = rounded(y);
                }
                ask_heads(layer);
                ask_down(layer);
            }
            if (attends) {
                const bool newest = rank == SPLITS - 1 && t.warp == WARPS - 1;
                u32 q[8], k[2][8], v[2][8];
                float most = -1e30f, mine_share = 0, mixed[16] = {};
                if (count)
                    wait(bars + B_PAST, parity);
                // 16 positions of a warp, two of a thread
#pragma unroll
                for (u32 i = 0; i < 2; i++) {
                    const u32 p = min(t.warp * 16 + t.group + 8 * i, min(max(count, 1u), NEAR) - 1) * 128 + t.part * 32;
                    load(k[i], shared + S_KEYS + p);
                    load(v[i], shared + S_VALUES + p);
                }
                wait(bars + B_Q, parity);
                load(q, shared + S_Q + t.part * 32);
                if (newest) { // this position, whose key and value come with q
                    u32 k[8], v[8];
                    load(k, shared + S_Q + 128 + t.part * 32);
                    load(v, shared + S_Q + 256 + t.part * 32);
                    most = 0;
#pragma unroll
                    for (u32 i = 0; i < 8; i++)
                        most += low(q[i]) * low(k[i]) + high(q[i]) * high(k[i]);
                    most += __shfl_xor_sync(~0u, most, 1);
                    most = (most + __shfl_xor_sync(~0u, most, 2)) * scale;
                    if (t.group == 0) {
                        mine_share = 1;
#pragma unroll
                        for (u32 i = 0; i < 8; i++)
                            mixed[2 * i] = low(v[i]), mixed[2 * i + 1] = high(v[i]);
                    }
                }
                // All columns of `b` are q.
                for (u32 p0 = t.warp * 16; p0 < count; p0 += WARPS * 16) {
                    float c[4] = {};
                    if (p0 >= NEAR) {
                        const bf16 *keys = cache + (u64)layer * 2 * context * WIDTH + (head * context + first) * 64;
#pragma unroll
                        for (u32 i = 0; i < 2; i++) {
                            const u32 p = min(p0 + t.group + 8 * i, count - 1) * 64 + t.part * 16;
                            load_past(k[i], keys + p);
                            load_past(v[i], keys + context * WIDTH + p);
                        }
                    }
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
                    mine_share = mine_share * keep + p_0 + p_1;
#pragma unroll
                    for (u32 i = 0; i < 8; i++) {
                        mixed[2 * i] = mixed[2 * i] * keep + p_0 * low(v[0][i]) + p_1 * low(v[1][i]);
                        mixed[2 * i + 1] = mixed[2 * i + 1] * keep + p_0 * high(v[0][i]) + p_1 * high(v[1][i]);
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
                    mine_share += __shfl_xor_sync(~0u, mine_share, lanes);
                }
                const u32 column = t.part * 16 + (t.group >> 2 & 1) * 8 + (t.group >> 1 & 1) * 4 + (t.group & 1) * 2;
                *(float2 *)&mix[t.warp][column] = make_float2(mixed[0], mixed[1]);
                if (t.lane == 0)
                    mix[t.warp][64] = most, mix[t.warp][65] = mine_share;
            }
            __syncthreads();
            if (tid == 0 && attends)
                expect(bars + B_Q, rank == SPLITS - 1 ? 384 : 128);
            if (attends) {
                if (tid < 16 * CLUSTER) {
                    const u32 four = tid % 16;
                    float4 y = {};
                    float most = -1e30f, all = 0;
#pragma unroll
                    for (u32 i = 0; i < WARPS; i++)
                        most = fmaxf(most, mix[i][64]);
#pragma unroll
                    for (u32 i = 0; i < WARPS; i++) {
                        const float2 own = *(const float2 *)&mix[i][64];
                        const float4 v = *(const float4 *)&mix[i][4 * four];
                        const float f = exp2(own.x - most);
                        all += f * own.y, y.x += f * v.x, y.y += f * v.y, y.z += f * v.z, y.w += f * v.w;
                    }
                    const float inverse = all > 0 ? quotient(1, all) : 0;
                    const u32 p = pack_halves(y.x * inverse, y.y * inverse), q = pack_halves(y.z * inverse, y.w * inverse);
                    const u32 score = __float_as_uint(all > 0 ? most + __log2f(all) : -1e30f);
                    push(here + S_MIXED + rank * MIXED_ROW + four * 8, bars + B_MIXED, tid / 16, p, q);
                    if (four == 0)
                        push(here + S_MIXED + rank * MIXED_ROW + 128, bars + B_MIXED, tid / 16, score);
                }
            }
            if (layer + 1 < layers)
                ask(layer + 1, B_PAST);
            { // The projection of the head: a warp has 8 rows; the columns of `b` are the splits
                u32 a[8], b[8], mixed[8];
                float own;
                wait_group<1>();
                load_apart(a, shared + S_HEADS + (t.warp * 8 + t.group) * HEAD_ROW + t.part * 8);
                const u32 split = t.group % SPLITS;
                wait(bars + B_MIXED, parity);
                own = *(const float *)(shared + S_MIXED + split * MIXED_ROW + 128);
#pragma unroll
                for (u32 i = 0; i < 4; i++) {
                    const uint2 v = *(const uint2 *)(shared + S_MIXED + split * MIXED_ROW + (i * 4 + t.part) * 8);
                    mixed[2 * i] = v.x, mixed[2 * i + 1] = v.y;
                }
                float most = own;
                most = fmaxf(most, __shfl_xor_sync(~0u, most, 4));
                most = fmaxf(most, __shfl_xor_sync(~0u, most, 8));
                float f = exp2(own - most), all_f = f + __shfl_xor_sync(~0u, f, 4);
                all_f += __shfl_xor_sync(~0u, all_f, 8);
                f = quotient(f, all_f);
#pragma unroll
                for (u32 i = 0; i < 8; i++) {
                    const float2 y = halves(mixed[i]);
                    b[i] = t.group < SPLITS ? pack(y.x * f, y.y * f) : 0;
                }
                float c[4] = {};
#pragma unroll
                for (u32 i = 0; i < 8; i += 2)
                    multiply(c, a[i], 0, a[i + 1], 0, b[i], b[i + 1]);
                c[0] += c[1];
                c[0] += __shfl_xor_sync(~0u, c[0], 1);
                publish(passed, c[0]);
            }
            Norm<UP> norm;
            {
                const unsigned char *from = parts(passed);
                uint4 v = look(from);
                wait(bars + B_UP, parity);
                norm.load(shared + S_UP, shared + S_NORM2, t);
                norm.prepare(sums, t);
                v = wait_parts(v, from);
                add_up(v, mine, number(bias_own), middle_x, B_MIDDLE);
                ask(next, B_QKV);
            }
            { // Up
                wait(bars + B_MIDDLE, parity);
                load_apart(x, small + D_X + t.warp * 128 + t.part * 8);
                norm.finish(x, sums, t);
                __syncthreads();
                if (tid == 0)
                    expect(bars + B_MIDDLE, WIDTH * 2), expect(bars + B_MIXED, SPLITS * 132);
                if (t.warp == 0) {
                    float y = norm.sum(sums, t.lane) + number(bias_up);
                    y *= 1 - quotient(1, fminf(exp2(2.88539008f * 0.79788456f * (y + 0.044715f * y * y * y)), 0x1p60f) + 1);
                    const u32 pair = pack(y, __shfl_down_sync(~0u, y, 1)), from = t.lane % 4 * 8;
                    const u32 p0 = __shfl_sync(~0u, pair, from), p1 = __shfl_sync(~0u, pair, from + 2), p2 = __shfl_sync(~0u, pair, from + 4), p3 = __shfl_sync(~0u, pair, from + 6);
                    push(here + S_HIDDEN + rank * UP * 2 + from * 2, bars + B_HIDDEN, t.lane / 4, p0, p1, p2, p3);
                }
                if (layer + 1 == layers)
#pragma unroll
                    for (u32 slot = 0; slot + 1 < STAGES; slot++)
                        ask_row(slot, first_row(slot));
            }
            { // Down: a warp has 8 rows
                u32 a[HIDDEN / 8];
                wait_group<0>();
#pragma unroll
                for (u32 i = 0; i < HIDDEN / 32; i++) {
                    const uint4 v = *(const uint4 *)(shared + S_DOWN + (t.warp * 8 + t.group) * DOWN_ROW + (t.part + 4 * i ^ t.group % 2 * 4) * 16);
                    a[4 * i] = v.x, a[4 * i + 1] = v.y, a[4 * i + 2] = v.z, a[4 * i + 3] = v.w;
                }
                wait(bars + B_HIDDEN, parity);
                if (tid == 0)
                    expect(bars + B_HIDDEN, HIDDEN * 2);
                // The rows of `a` have two chains of sums at a time, as have the columns of `b`.
                float c[2][4] = {};
#pragma unroll
                for (u32 i = 0; i < HIDDEN / 32; i += 2) {
                    const uint4 b = *(const uint4 *)(shared + S_HIDDEN + (t.part + 4 * (i + t.group % 2)) * 16);
                    multiply(c[i / 2 % 2], a[4 * i], a[4 * i + 4], a[4 * i + 1], a[4 * i + 5], b.x, b.y);
                    multiply(c[i / 2 % 2], a[4 * i + 2], a[4 * i + 6], a[4 * i + 3], a[4 * i + 7], b.z, b.w);
                }
                publish(passed + AGES * EXCHANGE, (c[0][0] + c[0][3]) + (c[1][0] + c[1][3]));
            }
            {
                const unsigned char *from = parts(passed + AGES * EXCHANGE);
                uint4 v = look(from);
                if (layer + 1 < layers) {
                    load_first(run + layer + 1);
                    first_norm.prepare(sums, t);
                }
                v = wait_parts(v, from);
                add_up(v, mine, number(bias_down), out_x, B_OUT);
                if (layer + 1 < layers)
                    ask(layer + 1, B_UP);
            }
        }
        // The logits: a warp has some rows, two on the way together
        float y[24];
        {
            const u32 gain = ((const u32 *)(shared + S_LAST))[tid], bias = ((const u32 *)(shared + S_LAST))[THREADS + tid];
            wait(bars + B_OUT, run + layers - 1 & 1);
            const u32 pair = *(const u32 *)(small + D_X + X_BYTES + tid * 4);
            const float x0 = low(pair), x1 = high(pair);
            float *all = &sums[0][0][0], *both = &mix[0][0], sum = x0 + x1, squares = x0 * x0 + x1 * x1;
#pragma unroll
            for (u32 lanes = 16; lanes; lanes /= 2)
                sum += __shfl_xor_sync(~0u, sum, lanes), squares += __shfl_xor_sync(~0u, squares, lanes);
            __syncthreads();
            ask_row(STAGES - 1, first_row(STAGES - 1));
            if (tid == 0)
                expect(bars + B_OUT, WIDTH * 2);
            if (t.lane == 0)
                both[t.warp] = sum, both[WARPS + t.warp] = squares;
            __syncthreads();
            const float mean = of_width(over_warps(both)), factor = rsqrtf(of_width(over_warps(both + WARPS)) - mean * mean + 1e-5f);
            *(float2 *)(all + tid * 2) = make_float2((x0 - mean) * factor * low(gain) + low(bias), (x1 - mean) * factor * high(gain) + high(bias));
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < 24; i += 4)
                *(float4 *)&y[i] = *(const float4 *)(all + i / 8 * 256 + t.lane * 8 + i % 8);
        }
        u64 best = 0;
        u32 ready[STAGES], ticket = 0;
        bool settled = false;
        auto settle = [&] {
            // The cluster's numbers of this token have come, and those of the next one may be on the way after this.
            // Who sees a number of the next token sees what this one has cleared.
            __threadfence();
            meet_cluster_begin();
            settled = true;
        };
        if (t.lane == 0 && drawn_pairs)
            ticket = atomicAdd(draws, 1) - base_draw;
#pragma unroll
        for (u32 slot = 0; slot < STAGES; slot++)
            ready[slot] = first_row(slot);
        u32 begun = 0;
#pragma unroll 1
        while (true) {
            bool any = false;
#pragma unroll
            for (u32 slot = 0; slot < STAGES; slot++)
                any = any || ready[slot] != NONE;
            if (!any)
                break;
            float sum[2 * STAGES] = {};
            u32 row = NONE;
#pragma unroll
            for (u32 slot = 0; slot < STAGES; slot++) {
                if (ready[slot] != NONE) {
                    if (t.group / 2 == slot)
                        row = ready[slot] + t.group % 2;
                    ready[slot] = NONE;
                    wait(bars + B_ROWS + (t.warp * STAGES + slot) * 8, phases >> slot & 1);
                    phases ^= 1 << slot;
#pragma unroll
                    for (u32 i = 0; i < 6; i++) {
                        const uint4 w = *(const uint4 *)(shared + slot_of(slot) + t.warp * STAGE + i * 512 + t.lane * 16);
                        const float *z = y + i % 3 * 8;
                        sum[2 * slot + i / 3] += z[0] * low(w.x) + z[1] * high(w.x) + z[2] * low(w.y) + z[3] * high(w.y) + z[4] * low(w.z) + z[5] * high(w.z) + z[6] * low(w.w)
                            + z[7] * high(w.w);
                    }
                }
                __syncwarp();
                if (begun + slot + AHEAD >= STAGES) {
                    const u32 drawn = __shfl_sync(~0u, ticket, 0);
                    if (drawn < drawn_pairs) {
                        const u32 to = (slot + AHEAD) % STAGES;
                        ready[to] = row_of(STAGES * DRAWERS + drawn);
                        ask_row(to, ready[to]);
                        if (t.lane == 0)
                            ticket = atomicAdd(draws, 1) - base_draw;
                    }
                }
            }
            begun = STAGES;
            if (!settled)
                settle();
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
            sum[0] += __shfl_xor_sync(~0u, sum[0], 2);
            sum[0] += __shfl_xor_sync(~0u, sum[0], 1);
            if (t.part == 0 && row < vocabulary) {
                logits[row] = sum[0];
                best = max(best, key(sum[0], row, heat, rng, run / layers));
            }
        }
        if (!settled)
            settle();
        base_draw += drawn_pairs ? drawn_pairs + DRAWERS : 0;
        best = greatest(best);
        u64 *bests = (u64 *)&mix[0][0] + 16;
        if (t.lane == 0)
            bests[t.warp] = best;
        __syncthreads();
        if (t.warp) { // for the next token
            load_first(run + layers);
            first_norm.prepare(sums, t);
        } else { // all blocks find the greatest of all
            unsigned char *words = space + layers * P_LAYER;
            best = greatest(bests[min(t.lane, WARPS - 1)]);
            if (t.lane == 0)
                put(words + block * 16, (u32)best, (u32)(best >> 32), word_tag, word_tag);
            uint4 v[BLOCKS / 32];
#pragma unroll
            for (u32 i = 0; i < BLOCKS / 32; i++)
                v[i] = look(words + (i * 32 + t.lane) * 16);
            load_first(run + layers);
            first_norm.prepare(sums, t);
#pragma unroll
            for (u32 i = 0; i < BLOCKS / 32; i++) {
                while (v[i].w != word_tag)
                    v[i] = look(words + (i * 32 + t.lane) * 16);
                best = max(best, (u64)v[i].y << 32 | v[i].x);
            }
            __syncwarp();
            best = greatest(best);
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
            break;
        token = min(chosen[0], vocabulary - 1), position++, age = (age + 1) % AGES;
    }
    // Nothing is left for the next launch.
    if (cluster == 0 && tid == 0)
        *draws = 0;
    if (t.part == 0)
        for (u32 i = 0; i < 2 * layers; i++)
            put(space + (i * AGES + age) * EXCHANGE + ((rank * (OWN / 4) + 2 * t.warp + t.group / 4) * CLUSTERS + cluster) * 16 + t.group % 4 * 4, 0);
}
}
