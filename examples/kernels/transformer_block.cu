// cuda-graph: --gpu-architecture=compute_80
// cuda-graph sm_90:
// A pre-norm transformer block: products on tensor cores, in tf32 or bf16.
//
// Sixteen bytes of a row are four words: of one tf32 number each, or of two bf16 numbers. Two `mma`s take them, and may
// take the columns of a row in any order, as long as both operands have the same. So one code serves both.

struct bf16 {
    unsigned short bits;
};

/// Rounds to the nearest number of 10 bits, half away from zero.
__device__ __forceinline__ unsigned tf32(unsigned bits) {
    return bits + 0x1000 & 0xffffe000;
}
__device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
__device__ __forceinline__ void store(float *to, float x) {
    *to = __uint_as_float(tf32(__float_as_uint(x)));
}
__device__ __forceinline__ void store(bf16 *to, float x) {
    to->bits = (unsigned short)pack(x, 0);
}
__device__ __forceinline__ void store2(float *to, float x, float y) {
    *(uint2 *)to = make_uint2(tf32(__float_as_uint(x)), tf32(__float_as_uint(y)));
}
__device__ __forceinline__ void store2(bf16 *to, float x, float y) {
    *(unsigned *)to = pack(x, y);
}
__device__ __forceinline__ void store4(float *to, float4 v) {
    store2(to, v.x, v.y), store2(to + 2, v.z, v.w);
}
__device__ __forceinline__ void store4(bf16 *to, float4 v) {
    *(uint2 *)to = make_uint2(pack(v.x, v.y), pack(v.z, v.w));
}

/// Weights as operands: those in f32 are rounded, which the hardware does not do.
__device__ __forceinline__ uint4 rounded(uint4 v, float) {
    return make_uint4(v.x + 0x1000, v.y + 0x1000, v.z + 0x1000, v.w + 0x1000);
}
__device__ __forceinline__ uint4 rounded(uint4 v, bf16) {
    return v;
}

__device__ __forceinline__ void mma(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1, float) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1, bf16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
/// `c += a b` for 16 bytes of the rows `low` and `high` of `a`, and of a row of `b`.
template <typename T> __device__ __forceinline__ void multiply(float (&c)[4], uint4 low, uint4 high, uint4 b) {
    mma(c, low.x, high.x, low.y, high.y, b.x, b.y, T());
    mma(c, low.z, high.z, low.w, high.w, b.z, b.w, T());
}

__device__ __forceinline__ void copy16(char *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}
__device__ __forceinline__ void commit() {
    asm volatile("cp.async.commit_group;");
}
/// Waits for all groups of copies but the last `n`.
template <int n> __device__ __forceinline__ void wait() {
    asm volatile("cp.async.wait_group %0;" :: "n"(n));
}
/// The distance of rows of so many bytes in shared memory, a multiple of 64: an odd one, so that banks differ.
__device__ __forceinline__ constexpr int apart(int bytes) {
    return bytes % 128 == 0 ? bytes + 64 : bytes;
}

#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ void launch_dependents() {
    asm volatile("griddepcontrol.launch_dependents;");
}
__device__ __forceinline__ void wait_for_grid() {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
#else
__device__ __forceinline__ void launch_dependents() {}
__device__ __forceinline__ void wait_for_grid() {}
#endif

__device__ __forceinline__ float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// A tile of `M` x `N` of `x w^T + bias`, which `finish(row, column, float4)` gets by fours: grid (tiles of rows, tiles
/// of columns, parts of K), blocks of `WM` x `WN` warps for parts of the tile, times `WK` that share K. Copies go by
/// `BYTES` of each row, `STAGES` of them ahead.
template <typename T, int M, int N, int WM, int WN, int WK, int STAGES, int BYTES, typename F>
__device__ __forceinline__ void product(const T *x, const T *w, const float *bias, int rows, int k, F finish) {
    constexpr int THREADS = WM * WN * WK * 32, MT = M / 16 / WM, NT = N / 8 / WN;
    static_assert(MT * WM * 16 == M && NT * WN * 8 == N && BYTES / 64 % WK == 0, "warps");
    constexpr int STRIDE = apart(BYTES), STAGE = (N + M) * STRIDE, PIECES = BYTES / 16;
    extern __shared__ __align__(16) char shared[];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid & 31, g = lane / 4, t = lane & 3;
    const int part = k / gridDim.z, k0 = blockIdx.z * part, m0 = blockIdx.x * M, n0 = blockIdx.y * N;
    const int bytes = part * sizeof(T), chunks = (bytes + BYTES - 1) / BYTES;
    launch_dependents();

    // A thread copies a column of sixteen bytes, of every so many rows.
    constexpr int STEP = THREADS / PIECES;
    const int row1 = tid / PIECES, byte = tid % PIECES * 16;
    auto load = [&](char *to, const T *matrix, int chunk, int count) {
        if (chunk * BYTES + byte >= bytes || row1 >= STEP) return;
        const char *from = (const char *)(matrix + (long)row1 * k + k0) + chunk * BYTES + byte;
        to += row1 * STRIDE + byte;
        #pragma unroll 4
        for (int row = row1; row < count; row += STEP) copy16(to, from), to += STEP * STRIDE, from += (long)STEP * k * sizeof(T);
    };
    auto load_w = [&](int chunk) { load(shared + chunk % STAGES * STAGE, w + (long)n0 * k, chunk, N); };
    auto load_x = [&](int chunk) { load(shared + chunk % STAGES * STAGE + N * STRIDE, x + (long)m0 * k, chunk, min(M, rows - m0)); };
    #pragma unroll 1
    for (int chunk = 0; chunk < STAGES; chunk++) load_w(chunk);
    // The numbers that this thread will add sums to; they come while the tile is computed.
    constexpr int FOURS = M * N / 4, MINE = (FOURS + THREADS - 1) / THREADS;
    float4 sums[MINE];
    #pragma unroll
    for (int i = 0; i < MINE; i++) sums[i] = bias ? *(const float4 *)(bias + n0 + (tid + i * THREADS) % (N / 4) * 4) : make_float4(0, 0, 0, 0);
    wait_for_grid();
    #pragma unroll 1
    for (int chunk = 0; chunk < STAGES; chunk++) load_x(chunk), commit();

    const int wk = warp / (WM * WN), row0 = warp / WN % WM * MT * 16, column0 = warp % WN * NT * 8;
    float c[MT][NT][4] = {};
    #pragma unroll 1
    for (int chunk = 0; chunk < chunks; chunk++) {
        if (chunk == 0) wait<STAGES - 1>();
        else wait<STAGES - 2>();
        __syncthreads();
        if (chunk > 0) load_w(chunk - 1 + STAGES), load_x(chunk - 1 + STAGES), commit();
        if (m0 + row0 >= rows) continue;
        const char *b = shared + chunk % STAGES * STAGE + (column0 + g) * STRIDE + t * 16;
        const char *a = shared + chunk % STAGES * STAGE + (N + row0 + g) * STRIDE + t * 16;
        #pragma unroll
        for (int turn = 0; turn < BYTES; turn += 64 * WK) {
            const int group = turn + wk * 64;
            if (chunk * BYTES + group >= bytes) break;
            uint4 low[MT], high[MT], bs[NT];
            #pragma unroll
            for (int m = 0; m < MT; m++) {
                low[m] = *(const uint4 *)(a + m * 16 * STRIDE + group);
                high[m] = *(const uint4 *)(a + (m * 16 + 8) * STRIDE + group);
            }
            #pragma unroll
            for (int n = 0; n < NT; n++) bs[n] = rounded(*(const uint4 *)(b + n * 8 * STRIDE + group), T());
            #pragma unroll
            for (int m = 0; m < MT; m++)
                #pragma unroll
                for (int n = 0; n < NT; n++) multiply<T>(c[m][n], low[m], high[m], bs[n]);
        }
    }

    // The sums of all warps that share K, in place of the operands.
    constexpr int PART = N + 8;
    float *parts = (float *)shared;
    __syncthreads();
    #pragma unroll
    for (int m = 0; m < MT; m++)
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            float *to = parts + (wk * M + row0 + m * 16 + h * 8 + g) * PART + column0 + t * 2;
            #pragma unroll
            for (int n = 0; n < NT; n++) *(float2 *)(to + n * 8) = make_float2(c[m][n][h * 2], c[m][n][h * 2 + 1]);
        }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < MINE; i++) {
        const int four = tid + i * THREADS, row = four / (N / 4), column = four % (N / 4) * 4;
        if (four >= FOURS || m0 + row >= rows) continue;
        #pragma unroll
        for (int other = 0; other < WK; other++) sums[i] = plus(sums[i], *(const float4 *)(parts + (other * M + row) * PART + column));
        finish(m0 + row, n0 + column, sums[i]);
    }
}

__device__ __forceinline__ float gelu(float x) {
    return x * 0.5f * (1 + erff(x * 0.70710678f));
}

/// `out = x w^T + bias`, and GELU of it, if `with_gelu` is not 0
template <typename T, int M, int N, int WM, int WN, int WK, int STAGES, int BYTES>
__device__ __forceinline__ void linear(const T *x, const T *w, const float *bias, T *out, int rows, int n, int k, int with_gelu) {
    product<T, M, N, WM, WN, WK, STAGES, BYTES>(x, w, bias, rows, k, [=](int row, int column, float4 v) {
        if (with_gelu) v = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
        store4(out + (long)row * n + column, v);
    });
}

/// `out[part] = x w^T`, for each part of K
template <typename T, int M, int N, int WM, int WN, int WK, int STAGES, int BYTES>
__device__ __forceinline__ void linear_parts(const T *x, const T *w, float *out, int rows, int n, int k) {
    product<T, M, N, WM, WN, WK, STAGES, BYTES>(x, w, nullptr, rows, k, [=](int row, int column, float4 v) {
        *(float4 *)(out + ((long)blockIdx.z * rows + row) * n + column) = v;
    });
}

constexpr int PARTS = 4; // of long sums

/// The index of this thread, which has four columns of the row of its block.
__device__ __forceinline__ long own() {
    return (long)blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ float4 four(const float *of, long index) {
    return ((const float4 *)of)[index];
}

/// The numbers of this thread of a row with mean 0 and variance 1, times `gain` plus `shift`; `total` threads have it.
__device__ __forceinline__ float4 normalized(float4 v, float4 gain, float4 shift, int total) {
    __shared__ float2 warps[32];
    float2 sum = make_float2(v.x + v.y + (v.z + v.w), v.x * v.x + v.y * v.y + (v.z * v.z + v.w * v.w));
    #pragma unroll
    for (int other = 16; other; other /= 2)
        sum.x += __shfl_xor_sync(~0u, sum.x, other), sum.y += __shfl_xor_sync(~0u, sum.y, other);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = make_float2(0, 0);
    for (int warp = 0; warp < total / 32; warp++) sum.x += warps[warp].x, sum.y += warps[warp].y;
    const float mean = sum.x / (total * 4), scale = rsqrtf(sum.y / (total * 4) - mean * mean + 1e-5f);
    return make_float4((v.x - mean) * scale * gain.x + shift.x, (v.y - mean) * scale * gain.y + shift.y,
        (v.z - mean) * scale * gain.z + shift.z, (v.w - mean) * scale * gain.w + shift.w);
}

/// The numbers of this thread of `parts[0] + parts[1] + .. + bias + residual`; a block has a row.
__device__ __forceinline__ float4 sum(const float *parts, const float *bias, const float *residual) {
    const long count = (long)gridDim.x * blockDim.x;
    float4 v = four(bias, threadIdx.x), part[PARTS];
    wait_for_grid();
    #pragma unroll
    for (int i = 0; i < PARTS; i++) part[i] = four(parts, i * count + own());
    v = plus(v, four(residual, own()));
    #pragma unroll
    for (int i = 0; i < PARTS; i++) v = plus(v, part[i]);
    return v;
}

constexpr int HEAD = 64; // columns of a head
constexpr int TOKENS = 128; // at most
constexpr int WARPS = HEAD / 8; // each has eight columns of the result

/// Keys that two `mma`s take: those of lanes `t` are t, t + 4, ..
template <typename T> constexpr int KEYS = 64 / sizeof(T);
/// The numbers of those keys in a column of `values`, whose rows are `stride` bytes apart
__device__ __forceinline__ uint4 of_keys(const char *values, int stride, float) {
    auto at = [=](int key) { return *(const unsigned *)(values + key * stride); };
    return make_uint4(at(0), at(4), at(8), at(12));
}
__device__ __forceinline__ uint4 of_keys(const char *values, int stride, bf16) {
    auto at = [=](int key) { return (unsigned)*(const unsigned short *)(values + key * stride); };
    auto two = [=](int key) { return at(key) | at(key + 4) << 16; };
    return make_uint4(two(0), two(8), two(16), two(24));
}

/// Attention of 16 rows of a head to all rows: grid (rows / 16, heads), block 256
template <typename T> __device__ __forceinline__ void attention(const T *q, const T *k, const T *v, T *out, int rows, int width) {
    constexpr int ROW = HEAD * sizeof(T), STRIDE = apart(ROW), VALUES = ROW + 8 * sizeof(T);
    const int across = rows * (int)sizeof(T), stride = apart(across);
    extern __shared__ __align__(16) char shared[];
    char *qs = shared, *ks = qs + 16 * STRIDE, *vs = ks + rows * STRIDE, *ps = vs + rows * VALUES;
    __shared__ float most[WARPS][16], total[WARPS][16];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid & 31, g = lane / 4, t = lane & 3;
    const int row0 = blockIdx.x * 16, column0 = blockIdx.y * HEAD;
    launch_dependents();
    wait_for_grid();
    #pragma unroll 1
    for (int i = tid; i < (16 + rows) * (ROW / 16); i += WARPS * 32) {
        const int row = i / (ROW / 16), byte = i % (ROW / 16) * 16;
        const T *from = row < 16 ? q + (long)(row0 + row) * width : k + (long)(row - 16) * width;
        copy16(qs + row * STRIDE + byte, (const char *)(from + column0) + byte);
    }
    commit();
    #pragma unroll 1
    for (int i = tid; i < rows * (ROW / 16); i += WARPS * 32) {
        const int row = i / (ROW / 16), byte = i % (ROW / 16) * 16;
        copy16(vs + row * VALUES + byte, (const char *)(v + (long)row * width + column0) + byte);
    }
    commit();
    wait<1>();
    __syncthreads();

    constexpr int MOST = TOKENS / 8 / WARPS; // keys by eights, of a warp
    float s[MOST][4] = {};
    #pragma unroll
    for (int group = 0; group < ROW; group += 64) {
        const uint4 low = *(const uint4 *)(qs + g * STRIDE + group + t * 16), high = *(const uint4 *)(qs + (g + 8) * STRIDE + group + t * 16);
        #pragma unroll
        for (int n = 0; n < MOST; n++) {
            const int key = (warp + n * WARPS) * 8;
            if (key < rows) multiply<T>(s[n], low, high, *(const uint4 *)(ks + (key + g) * STRIDE + group + t * 16));
        }
    }
    float highest[2] = {-1e30f, -1e30f}, sum[2] = {};
    #pragma unroll
    for (int n = 0; n < MOST; n++)
        #pragma unroll
        for (int i = 0; i < 4; i++)
            if ((warp + n * WARPS) * 8 < rows) highest[i / 2] = fmaxf(highest[i / 2], s[n][i]);
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        highest[h] = fmaxf(highest[h], __shfl_xor_sync(~0u, highest[h], 1));
        highest[h] = fmaxf(highest[h], __shfl_xor_sync(~0u, highest[h], 2));
        if (t == 0) most[warp][h * 8 + g] = highest[h];
    }
    __syncthreads();
    #pragma unroll
    for (int h = 0; h < 2; h++)
        #pragma unroll
        for (int other = 0; other < WARPS; other++) highest[h] = fmaxf(highest[h], most[other][h * 8 + g]);
    constexpr float SCALE = 0.125f * 1.44269504f; // 1 / sqrt(HEAD), for powers of two
    #pragma unroll
    for (int n = 0; n < MOST; n++) {
        const int key = (warp + n * WARPS) * 8;
        if (key >= rows) break;
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            const float x = exp2f((s[n][h * 2] - highest[h]) * SCALE), y = exp2f((s[n][h * 2 + 1] - highest[h]) * SCALE);
            sum[h] += x + y;
            T *to = (T *)(ps + (h * 8 + g) * stride) + key / KEYS<T> * KEYS<T> + (key + t * 2) % KEYS<T> / 4;
            store(to + t * 2 % 4 * (KEYS<T> / 4), x), store(to + (t * 2 % 4 + 1) * (KEYS<T> / 4), y);
        }
    }
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
        sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
        if (t == 0) total[warp][h * 8 + g] = sum[h];
    }
    wait<0>();
    __syncthreads();
    float o[4] = {};
    #pragma unroll 4
    for (int group = 0; group < across; group += 64) {
        const uint4 low = *(const uint4 *)(ps + g * stride + group + t * 16), high = *(const uint4 *)(ps + (g + 8) * stride + group + t * 16);
        multiply<T>(o, low, high, of_keys(vs + (group / (int)sizeof(T) + t) * VALUES + (warp * 8 + g) * sizeof(T), VALUES, T()));
    }
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = h * 8 + g;
        float all = 0;
        #pragma unroll
        for (int other = 0; other < WARPS; other++) all += total[other][row];
        store2(out + (long)(row0 + row) * width + column0 + warp * 8 + t * 2, o[h * 2] / all, o[h * 2 + 1] / all);
    }
}

/// `y = parts[0] + parts[1] + .. + bias + residual`; a block for each row, a thread for each four columns
extern "C" __global__ void add(const float *parts, const float *bias, const float *residual, float *y) {
    const float4 v = sum(parts, bias, residual);
    ((float4 *)y)[own()] = v;
}

typedef float f32;
#define KERNELS(T) \
    /* `out`: each row of `x`, normalised; blocks and threads as for `add` */ \
    extern "C" __global__ void norm_##T(const float *x, const float *gain, const float *shift, T *out) { \
        launch_dependents(); \
        const float4 b = four(gain, threadIdx.x), d = four(shift, threadIdx.x); \
        wait_for_grid(); \
        store4(out + own() * 4, normalized(four(x, own()), b, d, blockDim.x)); \
    } \
    /* As `add`, and `out`: each row of `y`, normalised */ \
    extern "C" __global__ void add_norm_##T(const float *parts, const float *bias, const float *residual, \
            const float *gain, const float *shift, float *y, T *out) { \
        launch_dependents(); \
        const float4 b = four(gain, threadIdx.x), d = four(shift, threadIdx.x), v = sum(parts, bias, residual); \
        ((float4 *)y)[own()] = v; \
        store4(out + own() * 4, normalized(v, b, d, blockDim.x)); \
    } \
    extern "C" __global__ void __launch_bounds__(256) linear_##T(const T *x, const T *w, const float *bias, T *out, \
            int rows, int n, int k, int with_gelu) { \
        linear<T, 64, 48, 2, 1, 4, 2, 768>(x, w, bias, out, rows, n, k, with_gelu); \
    } \
    extern "C" __global__ void __launch_bounds__(256) linear_parts_##T(const T *x, const T *w, float *out, int rows, \
            int n, int k) { \
        linear_parts<T, 64, 48, 2, 1, 4, 2, 768>(x, w, out, rows, n, k); \
    } \
    extern "C" __global__ void __launch_bounds__(256) attention_##T(const T *q, const T *k, const T *v, T *out, \
            int rows, int width) { \
        attention(q, k, v, out, rows, width); \
    }
KERNELS(f32)
KERNELS(bf16)
