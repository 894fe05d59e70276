// cuda-graph: --gpu-architecture=compute_80
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
/// The bytes of shared memory that the launch asked for.
__device__ __forceinline__ int dynamic_shared() {
    int bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}
/// The distance of rows of so many bytes in shared memory, a multiple of 64: an odd one, so that banks differ.
__device__ __forceinline__ constexpr int apart(int bytes) {
    return bytes % 128 == 0 ? bytes + 64 : bytes;
}

#if __CUDA_ARCH__ >= 900
/// The blocks of a cluster share K.
template <int S> constexpr int SHARES = S;
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
__device__ __forceinline__ float4 of_rank(const float *here, int rank) {
    unsigned there;
    float4 v;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(here)), "r"(rank));
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(there) : "memory");
    return v;
}
__device__ __forceinline__ void launch_dependents() {
    asm volatile("griddepcontrol.launch_dependents;");
}
__device__ __forceinline__ void wait_for_grid() {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
#define CLUSTER(n) __cluster_dims__(n, 1, 1)
#else
/// Without clusters, the blocks share the rows instead.
template <int S> constexpr int SHARES = 1;
__device__ __forceinline__ void cluster_sync() {
    __syncthreads();
}
__device__ __forceinline__ float4 of_rank(const float *here, int) {
    return *(const float4 *)here;
}
__device__ __forceinline__ void launch_dependents() {}
__device__ __forceinline__ void wait_for_grid() {}
#define CLUSTER(n)
#endif

constexpr int ROWS = 128; // of a tile, shared or not
constexpr int WIDTH = 768; // at most, where rows are normalised
constexpr float EPSILON = 1e-5f;

/// The most warps, of at most so many, that share the columns of `eights` tiles evenly.
__host__ __device__ constexpr int columns(int eights, int warps) {
    return eights % warps == 0 ? warps : columns(eights, warps - 1);
}

/// A tile of `ROWS` x `N` of `x w^T`, by `S` blocks of `WARPS` warps. `x` is normalised, as `gain` and `shift` say, if
/// `NORM`. Copies go by `BYTES` of each row, `STAGES` of them ahead. `finish(row, column, float4)` gets each four sums.
template <typename T, int N, int S, int WARPS, int R0, int STAGES, int BYTES, bool NORM, typename F>
__device__ __forceinline__ void product(const void *x, const T *w, const float *gain, const float *shift, int rows, int k, int tile, F finish) {
    constexpr int SHARE = SHARES<S>, M = ROWS * SHARE / S, THREADS = WARPS * 32;
    constexpr int R = M / 16 < R0 ? M / 16 : R0, C = columns(N / 8, WARPS / R), MT = M / 16 / R, NT = N / 8 / C;
    static_assert(MT * R * 16 == M, "rows");
    constexpr int STRIDE = apart(BYTES), STAGE = (N + (NORM ? 0 : M)) * STRIDE, PIECES = BYTES / 16;
    extern __shared__ __align__(16) char shared[];
    __shared__ __align__(16) float sums[M][4];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid & 31, g = lane / 4, t = lane & 3, rank = blockIdx.x;
    const int slice = k / SHARE, k0 = SHARE == 1 ? 0 : rank * slice, m0 = blockIdx.z * ROWS + (SHARE == 1 ? rank * M : 0), n0 = tile * N;
    const int chunks = slice * (int)sizeof(T) / BYTES, normed = apart(slice * (int)sizeof(T));
    char *ring = shared + (NORM ? M * normed : 0);
    if (slice % (BYTES / (int)sizeof(T)) != 0 || dynamic_shared() < max((int)(ring - shared) + STAGES * STAGE, M * (N + 8) * 4)) __trap();
    launch_dependents();
    if (SHARE == 1 && m0 >= rows) return wait_for_grid();

    // A thread has a column of sixteen bytes, and every so many rows.
    constexpr int STEP = THREADS / PIECES;
    const int row1 = tid < STEP * PIECES ? tid / PIECES : ROWS, byte = tid % PIECES * 16;
    auto load = [&](char *to, const T *matrix, int chunk, int count) {
        const char *from = (const char *)(matrix + (long)row1 * k + k0) + chunk * BYTES + byte;
        to += row1 * STRIDE + byte;
        #pragma unroll 1
        for (int row = row1; row < count; row += STEP) copy16(to, from), to += STEP * STRIDE, from += (long)STEP * k * sizeof(T);
    };
    auto load_w = [&](int chunk) { load(ring + chunk % STAGES * STAGE, w + (long)n0 * k, chunk, N); };
    auto load_x = [&](int chunk) { load(ring + chunk % STAGES * STAGE + N * STRIDE, (const T *)x + (long)m0 * k, chunk, min(M, rows - m0)); };
    #pragma unroll 1
    for (int chunk = 0; chunk < STAGES; chunk++) {
        if (chunk < chunks) load_w(chunk);
        if (NORM) commit();
    }
    wait_for_grid();
    if (!NORM) {
        #pragma unroll 1
        for (int chunk = 0; chunk < STAGES; chunk++) {
            if (chunk < chunks) load_x(chunk);
            commit();
        }
    } else {
        // `LANES` lanes have a row, and keep it in registers until mean and deviation are known.
        constexpr int LANES = SHARE == 8 ? 8 : 16, GROUPS = THREADS / LANES, OWN = (M + GROUPS - 1) / GROUPS, FOURS = WIDTH / SHARE / LANES / 4;
        const int group = tid / LANES, column = tid % LANES * 4;
        float4 v[OWN][FOURS];
        #pragma unroll
        for (int i = 0; i < OWN; i++)
            #pragma unroll
            for (int j = 0; j < FOURS; j++) {
                const int row = group + i * GROUPS;
                const bool inside = row < M && m0 + row < rows && column + j * LANES * 4 < slice;
                v[i][j] = inside ? *(const float4 *)((const float *)x + (long)(m0 + row) * k + k0 + column + j * LANES * 4) : make_float4(0, 0, 0, 0);
            }
        #pragma unroll
        for (int i = 0; i < OWN; i++) {
            float sum = 0, squares = 0;
            #pragma unroll
            for (int j = 0; j < FOURS; j++) {
                const float4 a = v[i][j];
                sum += a.x + a.y + (a.z + a.w), squares += a.x * a.x + a.y * a.y + (a.z * a.z + a.w * a.w);
            }
            #pragma unroll
            for (int other = LANES / 2; other; other /= 2) sum += __shfl_xor_sync(~0u, sum, other), squares += __shfl_xor_sync(~0u, squares, other);
            if (tid % LANES == 0 && group + i * GROUPS < M) *(float4 *)sums[group + i * GROUPS] = make_float4(sum, squares, 0, 0);
        }
        cluster_sync();
        #pragma unroll
        for (int i = 0; i < OWN; i++) {
            const int row = group + i * GROUPS;
            if (row >= M) break;
            float sum = 0, squares = 0;
            #pragma unroll
            for (int other = 0; other < SHARE; other++) {
                const float4 a = of_rank(sums[row], other);
                sum += a.x, squares += a.y;
            }
            const float mean = sum / k, scale = rsqrtf(squares / k - mean * mean + EPSILON);
            #pragma unroll
            for (int j = 0; j < FOURS; j++) {
                const int c = column + j * LANES * 4;
                if (c >= slice) break;
                const float4 a = v[i][j], b = *(const float4 *)(gain + k0 + c), d = *(const float4 *)(shift + k0 + c);
                store4((T *)(shared + row * normed) + c, make_float4((a.x - mean) * scale * b.x + d.x, (a.y - mean) * scale * b.y + d.y,
                    (a.z - mean) * scale * b.z + d.z, (a.w - mean) * scale * b.w + d.w));
            }
        }
    }

    const int row0 = warp / C * MT * 16, column0 = warp % C * NT * 8;
    float c[MT][NT][4] = {};
    const bool works = warp < R * C;
    #pragma unroll 1
    for (int chunk = 0; chunk < chunks; chunk++) {
        if (chunk == 0) wait<STAGES - 1>();
        else wait<STAGES - 2>();
        __syncthreads();
        if (chunk > 0) {
            const int next = chunk - 1 + STAGES;
            if (next < chunks) {
                load_w(next);
                if (!NORM) load_x(next);
            }
            commit();
        }
        if (!works) continue;
        const char *b = ring + chunk % STAGES * STAGE + (column0 + g) * STRIDE + t * 16;
        constexpr int XS = STRIDE;
        const int stride = NORM ? normed : XS;
        const char *a = (NORM ? shared + chunk * BYTES : ring + chunk % STAGES * STAGE + N * STRIDE) + (row0 + g) * stride + t * 16;
        #pragma unroll
        for (int group = 0; group < BYTES; group += 64) {
            uint4 low[MT], high[MT], bs[NT];
            #pragma unroll
            for (int m = 0; m < MT; m++) low[m] = *(const uint4 *)(a + m * 16 * stride + group), high[m] = *(const uint4 *)(a + (m * 16 + 8) * stride + group);
            #pragma unroll
            for (int n = 0; n < NT; n++) bs[n] = rounded(*(const uint4 *)(b + n * 8 * STRIDE + group), T());
            #pragma unroll
            for (int m = 0; m < MT; m++)
                #pragma unroll
                for (int n = 0; n < NT; n++) multiply<T>(c[m][n], low[m], high[m], bs[n]);
        }
    }
    __syncthreads();

    // The sums of this block, in place of the operands; then each block adds up its share of the rows.
    constexpr int PART = N + 8, OWN = M / SHARE;
    float *part = (float *)shared;
    #pragma unroll
    for (int m = 0; m < MT; m++)
        #pragma unroll
        for (int n = 0; n < NT; n++)
            #pragma unroll
            for (int h = 0; h < 2 && works; h++)
                *(float2 *)(part + (row0 + m * 16 + h * 8 + g) * PART + column0 + n * 8 + t * 2) = make_float2(c[m][n][h * 2], c[m][n][h * 2 + 1]);
    cluster_sync();
    const int first = SHARE == 1 ? 0 : rank * OWN;
    #pragma unroll 1
    for (int i = tid; i < OWN * N / 4; i += THREADS) {
        const int row = first + i / (N / 4), column = i % (N / 4) * 4;
        if (m0 + row >= rows) continue;
        float4 v = make_float4(0, 0, 0, 0);
        #pragma unroll
        for (int other = 0; other < SHARE; other++) {
            const float4 a = of_rank(part + row * PART + column, other);
            v.x += a.x, v.y += a.y, v.z += a.z, v.w += a.w;
        }
        finish(m0 + row, n0 + column, v);
    }
    if (SHARE > 1) cluster_sync(); // others read our shared memory until here
}

__device__ __forceinline__ float4 plus(float4 a, const float *from) {
    const float4 b = *(const float4 *)from;
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__device__ __forceinline__ float gelu(float x) {
    return x * 0.5f * (1 + erff(x * 0.70710678f));
}

/// The uses of the sums of `norm_linear`: as they are, transposed, or in the MLP's nonlinear function.
enum Finish { PLAIN, ACROSS, GELU };

/// `out = norm(x) w^T + bias`, as `how` says
template <typename T, int N, int S, int WARPS, int R, int STAGES, int BYTES>
__device__ __forceinline__ void norm_linear(const float *x, const float *gain, const float *shift, const T *w, const float *bias, T *out, int rows, int n, int k, int how, int tile) {
    product<T, N, S, WARPS, R, STAGES, BYTES, true>(x, w, gain, shift, rows, k, tile, [=](int row, int column, float4 v) {
        v = plus(v, bias + column);
        if (how == ACROSS) {
            T *to = out + (long)column * rows + row;
            store(to, v.x), store(to + rows, v.y), store(to + 2l * rows, v.z), store(to + 3l * rows, v.w);
            return;
        }
        if (how == GELU) v = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
        store4(out + (long)row * n + column, v);
    });
}

/// `out = x w^T + bias + residual`
template <typename T, int N, int S, int WARPS, int R, int STAGES, int BYTES>
__device__ __forceinline__ void linear_add(const T *x, const T *w, const float *bias, const float *residual, float *out, int rows, int n, int k) {
    product<T, N, S, WARPS, R, STAGES, BYTES, false>(x, w, nullptr, nullptr, rows, k, blockIdx.y, [=](int row, int column, float4 v) {
        *(float4 *)(out + (long)row * n + column) = plus(plus(v, bias + column), residual + (long)row * n + column);
    });
}

constexpr int HEAD = 64; // columns of a head
constexpr int TOKENS = 128; // at most

/// Attention of 16 rows of a head to all rows: grid (rows / 16, heads), block 128. `v` is transposed.
template <typename T> __device__ __forceinline__ void attention(const T *q, const T *k, const T *v, T *out, int rows, int width) {
    constexpr int ROW = HEAD * sizeof(T), STRIDE = apart(ROW);
    const int across = rows * (int)sizeof(T), stride = apart(across);
    extern __shared__ __align__(16) char shared[];
    char *qs = shared, *ks = qs + 16 * STRIDE, *vs = ks + rows * STRIDE, *ps = vs + HEAD * stride;
    if (dynamic_shared() < ps + 16 * stride - shared) __trap();
    __shared__ float most[4][16], total[4][16];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid & 31, g = lane / 4, t = lane & 3;
    const int row0 = blockIdx.x * 16, column0 = blockIdx.y * HEAD;
    launch_dependents();
    wait_for_grid();
    #pragma unroll 1
    for (int i = tid; i < (16 + rows) * (ROW / 16); i += 128) {
        const int row = i / (ROW / 16), byte = i % (ROW / 16) * 16;
        const T *from = row < 16 ? q + (long)(row0 + row) * width : k + (long)(row - 16) * width;
        copy16(qs + row * STRIDE + byte, (const char *)(from + column0) + byte);
    }
    commit();
    const int pieces = across / 16;
    #pragma unroll 1
    for (int i = tid; i < HEAD * pieces; i += 128) {
        const int row = i / pieces, byte = i % pieces * 16;
        copy16(vs + row * stride + byte, (const char *)(v + (long)(column0 + row) * rows) + byte);
    }
    commit();
    wait<1>();
    __syncthreads();

    constexpr int MOST = TOKENS / 8 / 4; // keys by eights, of a warp
    float s[MOST][4] = {};
    #pragma unroll
    for (int group = 0; group < ROW; group += 64) {
        const uint4 low = *(const uint4 *)(qs + g * STRIDE + group + t * 16), high = *(const uint4 *)(qs + (g + 8) * STRIDE + group + t * 16);
        #pragma unroll
        for (int n = 0; n < MOST; n++) {
            const int key = (warp + n * 4) * 8;
            if (key < rows) multiply<T>(s[n], low, high, *(const uint4 *)(ks + (key + g) * STRIDE + group + t * 16));
        }
    }
    float highest[2] = {-1e30f, -1e30f}, sum[2] = {};
    #pragma unroll
    for (int n = 0; n < MOST; n++)
        #pragma unroll
        for (int i = 0; i < 4; i++)
            if ((warp + n * 4) * 8 < rows) highest[i / 2] = fmaxf(highest[i / 2], s[n][i]);
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
        for (int other = 0; other < 4; other++) highest[h] = fmaxf(highest[h], most[other][h * 8 + g]);
    constexpr float SCALE = 0.125f * 1.44269504f; // 1 / sqrt(HEAD), for powers of two
    #pragma unroll
    for (int n = 0; n < MOST; n++) {
        const int key = (warp + n * 4) * 8;
        if (key >= rows) break;
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            const float x = exp2f((s[n][h * 2] - highest[h]) * SCALE), y = exp2f((s[n][h * 2 + 1] - highest[h]) * SCALE);
            sum[h] += x + y;
            store2((T *)(ps + (h * 8 + g) * stride) + key + t * 2, x, y);
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
    float o[2][4] = {};
    #pragma unroll 1
    for (int group = 0; group < across; group += 64) {
        const uint4 low = *(const uint4 *)(ps + g * stride + group + t * 16), high = *(const uint4 *)(ps + (g + 8) * stride + group + t * 16);
        #pragma unroll
        for (int n = 0; n < 2; n++) multiply<T>(o[n], low, high, *(const uint4 *)(vs + (warp * 16 + n * 8 + g) * stride + group + t * 16));
    }
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = h * 8 + g;
        const float scale = 1 / (total[0][row] + total[1][row] + total[2][row] + total[3][row]);
        #pragma unroll
        for (int n = 0; n < 2; n++)
            store2(out + (long)(row0 + row) * width + column0 + warp * 16 + n * 8 + t * 2, o[n][h * 2] * scale, o[n][h * 2 + 1] * scale);
    }
}

typedef float f32;
#define KERNELS(T) \
    extern "C" __global__ void CLUSTER(4) __launch_bounds__(256) norm_linear_##T(const float *x, const float *gain, \
            const float *shift, const T *w, const float *bias, T *out, int rows, int n, int k, int how) { \
        norm_linear<T, 96, 4, 8, 4, 4, 192>(x, gain, shift, w, bias, out, rows, n, k, how, blockIdx.y); \
    } \
    extern "C" __global__ void CLUSTER(8) __launch_bounds__(256) linear_add_##T(const T *x, const T *w, \
            const float *bias, const float *residual, float *out, int rows, int n, int k) { \
        linear_add<T, 48, 8, 8, 4, 4, 192>(x, w, bias, residual, out, rows, n, k); \
    } \
    extern "C" __global__ void __launch_bounds__(128) attention_##T(const T *q, const T *k, const T *v, T *out, \
            int rows, int width) { \
        attention(q, k, v, out, rows, width); \
    }
KERNELS(f32)
KERNELS(bf16)
