// cuda-graph: --gpu-architecture=compute_90
// cuda-graph sm_90a:
// The kernels of the `train_text` example: a decoder of the kind of GPT-2, forwards and backwards. Products are of bf16
// numbers on tensor cores, with sums in f32; the way from layer to layer (`x`, and its gradient `dx`), norms, the loss
// and the weights that learn are f32. Activations have a row for each place of each text, matrices one for each output.
// Heads have 64 columns, and there are 128 tokens. Gradients of weights are in registers only: `learn` computes a tile
// of them, and the weights descend at once.

typedef unsigned u32;
typedef unsigned long long u64;
struct Philox {
    u64 seed, offset;
};
struct bf16 {
    unsigned short bits;
};

constexpr int HEAD = 64, TOKENS = 128, CHUNK = 64, WARPS = 8;
constexpr int LARGE = 128, SMALL = 64; // columns of tiles

// The next kernel may come to the GPU, and this one waits for the one before.
__device__ __forceinline__ void begin() { asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory"); }

__device__ __forceinline__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(u32 to, const void *from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory"); }
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all groups of copies but the last `n`
template <int n> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory"); }

__device__ __forceinline__ u32 pack(float low, float high)
{
    u32 both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
__device__ __forceinline__ void store(bf16 *to, float low, float high) { *(u32 *)to = pack(low, high); }
__device__ __forceinline__ float2 both(u32 pair) { return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)); }

// The sum, or the greatest, of the lanes whose numbers differ in bits below `lanes`
__device__ __forceinline__ float sum_of(float x, int lanes = 32)
{
    for (int other = lanes / 2; other; other /= 2)
        x += __shfl_xor_sync(~0u, x, other);
    return x;
}
__device__ __forceinline__ float greatest_of(float x, int lanes)
{
    for (int other = lanes / 2; other; other /= 2)
        x = fmaxf(x, __shfl_xor_sync(~0u, x, other));
    return x;
}

__device__ __forceinline__ void mma(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A tile in shared memory has 128 bytes of each row, then those of the next 64 columns. Piece p of 16 bytes of row r is
// at p ^ r % 8, so that banks differ: the 128-byte swizzle of `wgmma`.
__device__ __forceinline__ u32 piece(int row, int at) { return at / 8 * (CHUNK * 128) + row * 128 + ((at ^ row) & 7) * 16; }

// Four 8 x 8 matrices of a tile, from `row` and `column` on; the second one is below the first where `DOWN`, else right
template <bool TRANSPOSED, bool DOWN> __device__ __forceinline__ void fragment(u32 (&to)[4], u32 tile, int row, int column)
{
    const int lane = threadIdx.x & 31;
    row += DOWN ? lane & 15 : (lane & 7) + lane / 16 * 8;
    const u32 at = tile + piece(row, column / 8 + (DOWN ? lane / 16 : lane / 8 & 1));
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}

// A factor of a product: rows of `stride` numbers, of which a block takes some from `first` on, of `count`. With `ROWS`
// in the templates below, the sums go along the rows and these are rows; else sums go down, and these are columns.
struct Factor {
    const bf16 *at;
    u32 stride, first, count;
};

__device__ constexpr int bytes(int span, bool rows) { return (rows ? span : (span + 63) / 64 * 64) * CHUNK * 2; }

// Copies the part of a factor for `CHUNK` numbers of each sum. Beyond the factor's end, its last numbers are repeated.
template <int SPAN, bool ROWS, int THREADS> __device__ __forceinline__ void load(u32 to, const Factor &from, u32 k)
{
    constexpr int ACROSS = ROWS ? CHUNK / 8 : SPAN / 8;
    #pragma unroll
    for (int i = 0; i < (SPAN * CHUNK / 8 + THREADS - 1) / THREADS; i++) {
        const u32 number = threadIdx.x + i * THREADS, row = number / ACROSS, at = number % ACROSS;
        if (SPAN * CHUNK / 8 % THREADS && number >= SPAN * CHUNK / 8)
            break;
        const u32 outer = ROWS ? min(from.first + row, from.count - 1) : k + row;
        const u32 inner = ROWS ? k + at * 8 : min(from.first + at * 8, from.count - 8);
        copy16(to + piece(row, at), from.at + (size_t)outer * from.stride + inner);
    }
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define WARPGROUPS 1
// Four warps multiply 64 rows, from tiles in shared memory. A descriptor has the address, and the distances of the next
// 64 columns (of a factor whose sums go down) and of the next eight rows, all by 16 bytes.
__device__ __forceinline__ u64 descriptor(u32 at) { return (u64)1 << 62 | (u64)(1024 >> 4) << 32 | (u64)(CHUNK * 128 >> 4) << 16 | (at & 0x3ffff) >> 4; }
#define C4(i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
#define C16(i) C4(i), C4(i + 1), C4(i + 2), C4(i + 3)
template <int TA, int TB> __device__ __forceinline__ void warpgroup_mma(float (&c)[1][4], u64 a, u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3 "
        "}, %4, %5, 1, 1, 1, %6, %7;" : C4(0) : "l"(a), "l"(b), "n"(TA), "n"(TB));
}
template <int TA, int TB> __device__ __forceinline__ void warpgroup_mma(float (&c)[8][4], u64 a, u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31 "
        "}, %32, %33, 1, 1, 1, %34, %35;" : C16(0), C16(4) : "l"(a), "l"(b), "n"(TA), "n"(TB));
}
template <int TA, int TB> __device__ __forceinline__ void warpgroup_mma(float (&c)[16][4], u64 a, u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "
        "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
        "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63 "
        "}, %64, %65, 1, 1, 1, %66, %67;" : C16(0), C16(4), C16(8), C16(12) : "l"(a), "l"(b), "n"(TA), "n"(TB));
}
#else
#define WARPGROUPS 0
#endif

// A tile of M x N sums, 16 rows by each warp
template <int M, int N> struct Tile {
    static constexpr int NT = N / 8, THREADS = M * 2, STAGES = N < 128 ? 6 : 3;
    static_assert(NT % 4 == 0, "columns by 32");
    float c[NT][4] = {};
    float sums[1][4] = {};

    static __device__ __forceinline__ int row() { return threadIdx.x / 32 * 16; }

    // c += a b^T, with sums of `k` products. Where `SUMMED` and `summed`, the first warps add up the rows of `a`, too.
    template <bool AR, bool BR, bool SUMMED = false> __device__ __forceinline__ void add(const Factor &a, const Factor &b, u32 k, bool summed = false)
    {
        extern __shared__ __align__(1024) char shared[];
        constexpr int STAGE = bytes(M, AR) + bytes(N, BR);
        const int chunks = k / CHUNK;
        auto bring = [&](int chunk) {
            if (chunk < chunks) {
                const u32 to = address(shared) + chunk % STAGES * STAGE;
                load<M, AR, THREADS>(to, a, chunk * CHUNK);
                load<N, BR, THREADS>(to + bytes(M, AR), b, chunk * CHUNK);
            }
            commit();
        };
#if WARPGROUPS
        if (SUMMED && summed && threadIdx.x < 64) // ones, to add up rows by
            *(uint4 *)(shared + STAGES * STAGE + threadIdx.x * 16) = make_uint4(0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80);
#endif
        __syncthreads(); // the last product is done
        for (int chunk = 0; chunk < STAGES - 1; chunk++)
            bring(chunk);
        #pragma unroll 1
        for (int chunk = 0; chunk < chunks; chunk++) {
            wait<STAGES - 2>();
#if WARPGROUPS
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
            __syncthreads();
            const u32 as = address(shared) + chunk % STAGES * STAGE, bs = as + bytes(M, AR);
#if WARPGROUPS
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            #pragma unroll
            for (int s = 0; s < CHUNK; s += 16) {
                const u64 x = descriptor(as + row() / 64 * (CHUNK * 128) + s * (AR ? 2 : 128)), y = descriptor(bs + s * (BR ? 2 : 128));
                warpgroup_mma<!AR, !BR>(c, x, y);
                if (SUMMED && summed)
                    warpgroup_mma<!AR, 0>(sums, x, descriptor(address(shared) + STAGES * STAGE));
            }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            bring(chunk + STAGES - 1);
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#else
            bring(chunk + STAGES - 1);
            #pragma unroll
            for (int s = 0; s < CHUNK; s += 16) {
                u32 x[4], y[4];
                fragment<!AR, AR>(x, as, AR ? row() : s, AR ? s : row());
                #pragma unroll
                for (int n = 0; n < NT; n += 2) {
                    fragment<!BR, !BR>(y, bs, BR ? n * 8 : s, BR ? s : n * 8);
                    mma(c[n], x, y[0], y[1]);
                    mma(c[n + 1], x, y[2], y[3]);
                }
                if (SUMMED && summed)
                    mma(sums[0], x, 0x3f803f80, 0x3f803f80); // ones
            }
#endif
        }
    }

    // done(row, column, eight sums from this column on, before(row, column)) for all that are in the matrix. `before`
    // reads what is needed, `AHEAD` times before it is. The four lanes that have two columns each of four times eight
    // columns exchange them, so that each lane has eight in a row.
    template <int AHEAD, typename B, typename F> __device__ __forceinline__ void each(u32 row0, u32 column0, u32 rows, u32 columns, B before, F done)
    {
        const u32 lane = threadIdx.x & 31, t = lane % 4;
        row0 += row() + lane / 4, column0 += t * 8;
        decltype(before(0u, 0u)) read[AHEAD + 1];
        auto bring = [&](int i) {
            if (i < NT / 2 && row0 + i % 2 * 8 < rows && column0 + i / 2 * 32 < columns)
                read[i % (AHEAD + 1)] = before(row0 + i % 2 * 8, column0 + i / 2 * 32);
        };
        #pragma unroll
        for (int i = 0; i < AHEAD; i++)
            bring(i);
        #pragma unroll
        for (int i = 0; i < NT / 2; i++) {
            bring(i + AHEAD);
            float v[4][2];
            #pragma unroll
            for (int j = 0; j < 8; j++)
                v[j / 2][j % 2] = c[i / 2 * 4 + j / 2][i % 2 * 2 + j % 2];
            #pragma unroll
            for (int bit = 1; bit <= 2; bit *= 2) // transpose: lane and index exchange this bit
                #pragma unroll
                for (int j = 0; j < 8; j++) {
                    float &low = v[j / 2 & ~bit][j % 2], &high = v[j / 2 | bit][j % 2];
                    if (j / 2 & bit)
                        continue;
                    const float other = __shfl_xor_sync(~0u, t & bit ? low : high, bit);
                    (t & bit ? low : high) = other;
                }
            const u32 r = row0 + i % 2 * 8, at = column0 + i / 2 * 32;
            if (r < rows && at < columns)
                done(r, at, (const float(&)[8])v, read[i % (AHEAD + 1)]);
        }
    }
};

__device__ __forceinline__ void store(bf16 *to, const float (&v)[8]) { *(uint4 *)to = make_uint4(pack(v[0], v[1]), pack(v[2], v[3]), pack(v[4], v[5]), pack(v[6], v[7])); }
__device__ __forceinline__ void load(float (&v)[8], const float *from)
{
    *(float4 *)v = *(const float4 *)from, *(float4 *)(v + 4) = *(const float4 *)(from + 4);
}
__device__ __forceinline__ void store(float *to, const float (&v)[8])
{
    *(float4 *)to = *(const float4 *)v, *(float4 *)(to + 4) = *(const float4 *)(v + 4);
}

struct Eight {
    float v[8];
};
__device__ __forceinline__ Eight eight(const float *from)
{
    Eight x;
    load(x.v, from);
    return x;
}

// done(row, column, eight sums, before(row, column)) for the block's tile of a w^T, or of a w where `BACK`; `k` is the
// columns of `a`
template <int N, bool BACK, int AHEAD, typename B, typename F>
__device__ __forceinline__ void product(const bf16 *a, const bf16 *w, u32 rows, u32 columns, u32 k, B before, F done)
{
    begin();
    Tile<128, N> tile;
    const u32 row = blockIdx.y * 128, column = blockIdx.x * N;
    tile.template add<true, !BACK>({a, k, row, rows}, {w, BACK ? columns : k, column, columns}, k);
    tile.template each<AHEAD>(row, column, rows, columns, before, done);
}
// The same with small tiles, of which a small batch has enough, or large ones
template <bool BACK, int AHEAD, typename B, typename F>
__device__ __forceinline__ void product(u32 small, const bf16 *a, const bf16 *w, u32 rows, u32 columns, u32 k, B before, F done)
{
    if (small)
        product<SMALL, BACK, AHEAD>(a, w, rows, columns, k, before, done);
    else
        product<LARGE, BACK, AHEAD>(a, w, rows, columns, k, before, done);
}

// out = a w^T + bias
extern "C" __global__ void __launch_bounds__(256, 2) project(const bf16 *a, const bf16 *w, const float *bias, bf16 *out, u32 rows, u32 columns, u32 k)
{
    product<LARGE, false, 1>(a, w, rows, columns, k, [=](u32 row, u32 column) { return eight(bias + column); },
        [=](u32 row, u32 column, const float (&v)[8], Eight x) {
            #pragma unroll
            for (int i = 0; i < 8; i++)
                x.v[i] += v[i];
            store(out + (size_t)row * columns + column, x.v);
        });
}

// The logistic function of 2 * 0.7978845608 (x + 0.044715 x^3): GELU is x times it.
__device__ __forceinline__ float share(float x) { return __fdividef(1, 1 + __expf(-1.5957691216f * (x + 0.044715f * x * x * x))); }
__device__ __forceinline__ float slope(float x)
{
    const float s = share(x);
    return s + x * s * (1 - s) * 1.5957691216f * (1 + 0.134145f * x * x);
}

// up = a w^T + bias, and hidden = GELU of it
extern "C" __global__ void __launch_bounds__(256, 2) widen(const bf16 *a, const bf16 *w, const float *bias, bf16 *up, bf16 *hidden, u32 rows, u32 columns, u32 k)
{
    product<LARGE, false, 1>(a, w, rows, columns, k, [=](u32 row, u32 column) { return eight(bias + column); },
        [=](u32 row, u32 column, const float (&v)[8], Eight x) {
            const size_t at = (size_t)row * columns + column;
            #pragma unroll
            for (int i = 0; i < 8; i++)
                x.v[i] += v[i];
            store(up + at, x.v);
            #pragma unroll
            for (int i = 0; i < 8; i++)
                x.v[i] *= share(x.v[i]);
            store(hidden + at, x.v);
        });
}

// out = x + a w^T + bias
extern "C" __global__ void __launch_bounds__(256, 2) linear_add(const bf16 *a, const bf16 *w, const float *bias, const float *x, float *out, u32 rows, u32 columns, u32 k,
    u32 small)
{
    product<false, 2>(small, a, w, rows, columns, k, [=](u32 row, u32 column) { return eight(x + (size_t)row * columns + column); },
        [=](u32 row, u32 column, const float (&v)[8], Eight old) {
            float add[8];
            load(add, bias + column);
            #pragma unroll
            for (int i = 0; i < 8; i++)
                old.v[i] += add[i] + v[i];
            store(out + (size_t)row * columns + column, old.v);
        });
}

// out = dout w
extern "C" __global__ void __launch_bounds__(256, 2) linear_back(const bf16 *dout, const bf16 *w, bf16 *out, u32 rows, u32 columns, u32 k, u32 small)
{
    product<true, 0>(small, dout, w, rows, columns, k, [=](u32 row, u32 column) { return 0; },
        [=](u32 row, u32 column, const float (&v)[8], int) { store(out + (size_t)row * columns + column, v); });
}

// out = dout w, times the slope of GELU
extern "C" __global__ void __launch_bounds__(256, 2) narrow_back(const bf16 *dout, const bf16 *w, const bf16 *up, bf16 *out, u32 rows, u32 columns, u32 k)
{
    product<LARGE, true, 4>(dout, w, rows, columns, k, [=](u32 row, u32 column) { return *(const uint4 *)(up + (size_t)row * columns + column); },
        [=](u32 row, u32 column, const float (&v)[8], uint4 was) {
            const u32 pairs[4] = {was.x, was.y, was.z, was.w};
            float x[8];
            #pragma unroll
            for (int i = 0; i < 8; i++)
                x[i] = v[i] * slope(i % 2 ? both(pairs[i / 2]).y : both(pairs[i / 2]).x);
            store(out + (size_t)row * columns + column, x);
        });
}

// The logits of each row, the cross-entropy of them, added up to the mean, and the gradient by the logits
extern "C" __global__ void __launch_bounds__(128) score(const bf16 *a, const bf16 *tokens, const u32 *ids, bf16 *dlogits, float *losses, float *mean, u32 rows,
    u32 context, u32 width)
{
    begin();
    Tile<64, TOKENS> tile; // a warp has whole rows
    tile.add<true, true>({a, width, blockIdx.x * 64, rows}, {tokens, width, 0, TOKENS}, width);
    const u32 lane = threadIdx.x & 31;
    float total = 0;
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        const u32 row = blockIdx.x * 64 + tile.row() + h * 8 + lane / 4, known = min(row, rows - 1);
        const u32 target = min(ids[known / context * (context + 1) + known % context + 1], TOKENS - 1);
        float most = -1e30f, sum = 0, wanted = 0;
        #pragma unroll
        for (int i = 0; i < TOKENS / 4; i++)
            most = fmaxf(most, tile.c[i / 2][h * 2 + i % 2]);
        most = greatest_of(most, 4);
        #pragma unroll
        for (int i = 0; i < TOKENS / 4; i++) {
            float &c = tile.c[i / 2][h * 2 + i % 2];
            if (i / 2 * 8 + lane % 4 * 2 + i % 2 == target)
                wanted = c - most;
            sum += c = __expf(c - most);
        }
        sum = sum_of(sum, 4), wanted = sum_of(wanted, 4);
        const float loss = __logf(sum) - wanted, scale = 1.0f / rows;
        if (row >= rows)
            continue;
        if (lane % 4 == 0)
            losses[row] = loss, total += loss * scale;
        #pragma unroll
        for (int n = 0; n < TOKENS / 8; n++) {
            const u32 column = n * 8 + lane % 4 * 2;
            store(dlogits + (size_t)row * TOKENS + column, (tile.c[n][h * 2] / sum - (column == target)) * scale,
                (tile.c[n][h * 2 + 1] / sum - (column + 1 == target)) * scale);
        }
    }
    total = sum_of(total);
    if (lane == 0)
        atomicAdd(mean, total);
}

// A row by a warp: lane l has four columns from 4 l on, and from 128 columns later on, and so on
constexpr int FOURS = 3; // at most
#define EACH_FOUR(i, column, width) _Pragma("unroll") for (u32 i = 0, column = threadIdx.x % 32 * 4; i < FOURS; i++, column += 128) if (column < width)
typedef float4 Row[FOURS];
__device__ __forceinline__ float sum_of(float4 v) { return v.x + v.y + (v.z + v.w); }
__device__ __forceinline__ float4 four(const float *from) { return *(const float4 *)from; }
__device__ __forceinline__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ __forceinline__ float4 operator*(float4 a, float4 b) { return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
__device__ __forceinline__ float4 scaled(float4 v, float scale, float shift = 0)
{
    return make_float4(v.x * scale + shift, v.y * scale + shift, v.z * scale + shift, v.w * scale + shift);
}
__device__ __forceinline__ void store(bf16 *to, float4 v) { *(uint2 *)to = make_uint2(pack(v.x, v.y), pack(v.z, v.w)); }

// out = the layer norm of a row; `stats` gets its mean and one over its deviation.
__device__ __forceinline__ void normalize(const Row &v, const float *gain, const float *shift, float *stats, bf16 *out, u32 width)
{
    float sum = 0, squares = 0;
    EACH_FOUR(i, column, width) sum += sum_of(v[i]);
    const float mean = sum_of(sum) / width;
    EACH_FOUR(i, column, width) {
        const float4 d = scaled(v[i], 1, -mean);
        squares += sum_of(d * d);
    }
    const float scale = rsqrtf(sum_of(squares) / width + 1e-5f);
    EACH_FOUR(i, column, width) store(out + column, scaled(v[i], scale, -mean * scale) * four(gain + column) + four(shift + column));
    if (threadIdx.x % 32 == 0)
        *(float2 *)stats = make_float2(mean, scale);
}

extern "C" __global__ void __launch_bounds__(256) layer_norm(const float *x, const float *gain, const float *shift, float *stats, bf16 *out, u32 rows, u32 width)
{
    begin();
    const u32 row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows)
        return;
    Row v;
    EACH_FOUR(i, column, width) v[i] = four(x + (size_t)row * width + column);
    normalize(v, gain, shift, stats + row * 2, out + (size_t)row * width, width);
}

// A step begins: windows of `context + 1` characters of the text (`ids`), a row for each place with a 1 for its token
// (`places`), the embeddings of token and place, and their norm.
extern "C" __global__ void __launch_bounds__(256) embed(const Philox *rng, const unsigned char *text, const float *tokens, const float *places, const float *gain,
    const float *shift, u32 *ids, bf16 *ones, float *x, float *stats, bf16 *out, u32 *step, float *mean, u32 length, u32 rows, u32 width, u32 context, u32 texts)
{
    const u32 row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *step += 1, *mean = 0;
    if (row >= rows)
        return;
    const u32 sample = row / context, place = row % context;
    u64 bits = (rng->seed * 0x9e3779b97f4a7c15ull + rng->offset) * 0xbf58476d1ce4e5b9ull + (texts + sample) * 0x94d049bb133111ebull;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
    text += (u32)((bits >> 32) % (length - context)) + place;
    const u32 token = min((u32)text[0], TOKENS - 1);
    if (lane < 2 && (lane == 0 || place + 1 == context))
        ids[sample * (context + 1) + place + lane] = text[lane];
    store(ones + (size_t)row * TOKENS + lane * 4,
        make_float4(token == lane * 4, token == lane * 4 + 1, token == lane * 4 + 2, token == lane * 4 + 3));
    Row v;
    EACH_FOUR(i, column, width) {
        v[i] = four(tokens + token * width + column) + four(places + place * width + column);
        *(float4 *)(x + (size_t)row * width + column) = v[i];
    }
    normalize(v, gain, shift, stats + row * 2, out + (size_t)row * width, width);
}

// dx += the gradient by the input of a norm, or = where `first`; and rounded. Adds to the gradients of gain and shift.
extern "C" __global__ void __launch_bounds__(256) norm_back(const bf16 *dout, const float *x, const float *stats, const float *gain, float *dx, bf16 *rounded,
    float *dgain, float *dshift, u32 rows, u32 width, u32 first)
{
    __shared__ float4 sums[2][WARPS][FOURS * 32];
    begin();
    Row gains = {}, shifts = {}, weights;
    EACH_FOUR(i, column, width) weights[i] = four(gain + column);
    const u32 warp = threadIdx.x / 32;
    for (u32 row = blockIdx.x * WARPS + warp; row < rows; row += gridDim.x * WARPS) {
        const float2 stat = *(const float2 *)(stats + row * 2);
        const size_t at = (size_t)row * width;
        Row normal, d;
        float sum = 0, product = 0;
        EACH_FOUR(i, column, width) {
            const uint2 pairs = *(const uint2 *)(dout + at + column);
            const float2 low = both(pairs.x), high = both(pairs.y);
            d[i] = make_float4(low.x, low.y, high.x, high.y);
            normal[i] = scaled(four(x + at + column), stat.y, -stat.x * stat.y);
            gains[i] = gains[i] + d[i] * normal[i], shifts[i] = shifts[i] + d[i];
            d[i] = d[i] * weights[i];
            sum += sum_of(d[i]), product += sum_of(d[i] * normal[i]);
        }
        sum = sum_of(sum) / width, product = sum_of(product) / width;
        EACH_FOUR(i, column, width) {
            float4 *to = (float4 *)(dx + at + column), v = scaled(d[i] + scaled(normal[i], -product), stat.y, -sum * stat.y);
            if (!first)
                v = v + *to;
            *to = v;
            store(rounded + at + column, v);
        }
    }
    EACH_FOUR(i, column, width) sums[0][warp][column / 4] = gains[i], sums[1][warp][column / 4] = shifts[i];
    __syncthreads();
    for (u32 i = threadIdx.x; i < width; i += 256) {
        float gain = 0, shift = 0;
        for (int other = 0; other < WARPS; other++)
            gain += ((const float *)sums[0][other])[i], shift += ((const float *)sums[1][other])[i];
        atomicAdd(dgain + i, gain);
        atomicAdd(dshift + i, shift);
    }
}

constexpr float LOG2 = 1.44269504f, SCALE = 0.125f; // 1 / sqrt(HEAD)
constexpr int TILE = 64, BYTES = TILE * HEAD * 2, THREADS = 128; // rows of a tile, 16 for each warp

// s += a b^T, where `a` is a warp's rows of a tile, and `b` another tile
__device__ __forceinline__ void scores(float (&s)[8][4], u32 a, u32 b)
{
    #pragma unroll
    for (int k = 0; k < HEAD; k += 16) {
        u32 x[4], y[4];
        fragment<false, true>(x, a, threadIdx.x / 32 * 16, k);
        #pragma unroll
        for (int n = 0; n < 8; n += 2) {
            fragment<false, false>(y, b, n * 8, k);
            mma(s[n], x, y[0], y[1]);
            mma(s[n + 1], x, y[2], y[3]);
        }
    }
}
// o += p b, for sums over the rows of the tile `b`
__device__ __forceinline__ void mix(float (&o)[8][4], const float (&p)[8][4], u32 b)
{
    #pragma unroll
    for (int k = 0; k < 8; k += 2) {
        const u32 x[4] = {pack(p[k][0], p[k][1]), pack(p[k][2], p[k][3]), pack(p[k + 1][0], p[k + 1][1]), pack(p[k + 1][2], p[k + 1][3])};
        u32 y[4];
        #pragma unroll
        for (int n = 0; n < 8; n += 2) {
            fragment<true, true>(y, b, k * 8, n * 8);
            mma(o[n], x, y[0], y[1]);
            mma(o[n + 1], x, y[2], y[3]);
        }
    }
}
// Stores a warp's rows of a tile, scaled
__device__ __forceinline__ void store(bf16 *to, u32 stride, const float (&o)[8][4], float low, float high)
{
    const u32 row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    #pragma unroll
    for (int n = 0; n < 8; n++) {
        store(to + (size_t)row * stride + n * 8 + column, o[n][0] * low, o[n][1] * low);
        store(to + (size_t)(row + 8) * stride + n * 8 + column, o[n][2] * high, o[n][3] * high);
    }
}

// Attention of 64 places of a head to those before, and to each itself. A row of qkv has q, k and v. `logs` gets the
// base-2 logarithm of the sum of each row's powers: grid (places / 64, heads, texts)
extern "C" __global__ void __launch_bounds__(128) attend(const bf16 *qkv, float *logs, bf16 *out, u32 width, u32 context)
{
    __shared__ __align__(128) char tiles[5][BYTES];
    begin();
    const u32 own = gridDim.x - 1 - blockIdx.x; // long ones first
    const u32 head = blockIdx.y, lane = threadIdx.x & 31, stride = 3 * width;
    const bf16 *q = qkv + (size_t)blockIdx.z * context * stride + head * HEAD;
    auto bring = [&](u32 j) {
        load<TILE, true, THREADS>(address(tiles[1 + j % 2 * 2]), {q + width, stride, j * TILE, context}, 0);
        load<TILE, true, THREADS>(address(tiles[2 + j % 2 * 2]), {q + 2 * width, stride, j * TILE, context}, 0);
        commit();
    };
    load<TILE, true, THREADS>(address(tiles[0]), {q, stride, own * TILE, context}, 0);
    bring(0);
    float o[8][4] = {}, most[2] = {-1e30f, -1e30f}, sum[2] = {};
    #pragma unroll 1
    for (u32 j = 0; j <= own; j++) {
        if (j < own)
            bring(j + 1), wait<1>();
        else
            wait<0>();
        __syncthreads();
        float s[8][4] = {};
        scores(s, address(tiles[0]), address(tiles[1 + j % 2 * 2]));
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            const u32 row = threadIdx.x / 32 * 16 + h * 8 + lane / 4;
            float high = most[h];
            #pragma unroll
            for (int i = 0; i < 16; i++) {
                float &x = s[i / 2][h * 2 + i % 2];
                if (j == own && i / 2 * 8 + lane % 4 * 2 + i % 2 > row)
                    x = -1e30f;
                high = fmaxf(high, x);
            }
            high = greatest_of(high, 4);
            const float less = exp2f((most[h] - high) * (SCALE * LOG2));
            most[h] = high, sum[h] *= less;
            #pragma unroll
            for (int i = 0; i < 16; i++) {
                float &x = s[i / 2][h * 2 + i % 2];
                sum[h] += x = exp2f((x - high) * (SCALE * LOG2));
                o[i / 2][h * 2 + i % 2] *= less;
            }
        }
        mix(o, s, address(tiles[2 + j % 2 * 2]));
        __syncthreads();
    }
    sum[0] = sum_of(sum[0], 4), sum[1] = sum_of(sum[1], 4);
    store(out + ((size_t)blockIdx.z * context + own * TILE) * width + head * HEAD, width, o, 1 / sum[0], 1 / sum[1]);
    #pragma unroll
    for (int h = 0; h < 2; h++)
        if (lane % 4 == 0)
            logs[(blockIdx.z * gridDim.y + head) * context + own * TILE + threadIdx.x / 32 * 16 + h * 8 + lane / 4] = most[h] * (SCALE * LOG2) + log2f(sum[h]);
}

// The gradients by q of 64 places, from the tiles of k and v up to them; or those by k and v where `KEYS`, from the
// tiles of q and of the result from them on. Scores are computed again, by rows of the block's own places.
template <bool KEYS> __device__ __forceinline__ void attend_back_of(u32 own, const bf16 *qkv, const float *logs, const bf16 *out, const bf16 *dout, bf16 *dqkv, u32 width,
    u32 context)
{
    extern __shared__ __align__(1024) char shared[];
    const u32 tiles = address(shared), lane = threadIdx.x & 31, stride = 3 * width;
    float2 *stats = (float2 *)(shared + 6 * BYTES); // of each place that asks: its logarithm, and out * dout
    const Factor q = {qkv, stride, 0, context}, k = {qkv + width, stride, 0, context}, v = {qkv + 2 * width, stride, 0, context}, d = {dout, width, 0, context};
    auto bring = [&](u32 at, Factor one, Factor two, u32 j) {
        one.first = two.first = j * TILE;
        load<TILE, true, THREADS>(tiles + at * BYTES, one, 0);
        load<TILE, true, THREADS>(tiles + (at + 1) * BYTES, two, 0);
    };
    const u32 first = KEYS ? own : 0, end = KEYS ? context / TILE : own + 1;
    auto other = [&](u32 j) { bring(2 + j % 2 * 2, KEYS ? q : k, KEYS ? d : v, j), commit(); };
    bring(0, KEYS ? k : q, KEYS ? v : d, own);
    other(first);
    for (u32 place = own * TILE + threadIdx.x / 2; place < end * TILE; place += THREADS / 2) {
        float sum = 0;
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            const size_t at = (size_t)place * width + (threadIdx.x % 2 * 4 + i) * 8;
            const uint4 x = *(const uint4 *)(out + at), y = *(const uint4 *)(dout + at);
            auto dot = [](u32 x, u32 y) { return both(x).x * both(y).x + both(x).y * both(y).y; };
            sum += dot(x.x, y.x) + dot(x.y, y.y) + (dot(x.z, y.z) + dot(x.w, y.w));
        }
        sum = sum_of(sum, 2);
        if (threadIdx.x % 2 == 0)
            stats[place] = make_float2(logs[place], sum);
    }
    float one[8][4] = {}, two[8][4] = {};
    #pragma unroll 1
    for (u32 j = first; j < end; j++) {
        if (j + 1 < end)
            other(j + 1), wait<1>();
        else
            wait<0>();
        __syncthreads();
        const u32 at = tiles + (2 + j % 2 * 2) * BYTES;
        float p[8][4] = {}, dp[8][4] = {};
        scores(p, tiles, at);
        scores(dp, tiles + BYTES, at + BYTES);
        #pragma unroll
        for (int i = 0; i < 32; i++) {
            const u32 row = threadIdx.x / 32 * 16 + i / 2 % 2 * 8 + lane / 4, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            const float2 stat = stats[KEYS ? j * TILE + column : own * TILE + row];
            float &x = p[i / 4][i % 4], &dx = dp[i / 4][i % 4];
            x = j == own && (KEYS ? row > column : column > row) ? 0 : exp2f(x * (SCALE * LOG2) - stat.x);
            dx = x * (dx - stat.y);
        }
        mix(one, dp, at);
        if (KEYS)
            mix(two, p, at + BYTES);
        __syncthreads();
    }
    bf16 *to = dqkv + (size_t)own * TILE * stride;
    store(to + (KEYS ? width : 0), stride, one, SCALE, SCALE);
    if (KEYS)
        store(to + 2 * width, stride, two, 1, 1);
}

// The gradients by q, k and v: grid (2 * places / 64, heads, texts)
extern "C" __global__ void __launch_bounds__(128, 3) attend_back(const bf16 *qkv, const float *logs, const bf16 *out, const bf16 *dout, bf16 *dqkv, u32 width, u32 context)
{
    begin();
    const size_t row = (size_t)blockIdx.z * context * width, column = blockIdx.y * HEAD;
    qkv += row * 3 + column, dqkv += row * 3 + column, out += row + column, dout += row + column;
    logs += (blockIdx.z * gridDim.y + blockIdx.y) * context;
    const u32 tiles = gridDim.x / 2, own = blockIdx.x / 2; // long ones first
    if (blockIdx.x % 2 == 0)
        attend_back_of<true>(own, qkv, logs, out, dout, dqkv, width, context);
    else
        attend_back_of<false>(tiles - 1 - own, qkv, logs, out, dout, dqkv, width, context);
}

// Rounds the weights, once before the first step
extern "C" __global__ void round_all(const float *weights, bf16 *rounded, u32 n)
{
    const u32 i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (i + 1 < n)
        store(rounded + i, weights[i], weights[i + 1]);
}

// AdamW. The rate rises for `warm_up` steps, and falls as a cosine until `steps`.
struct Descent {
    float *weights, *means, *squares, rate, mean, square;

    __device__ __forceinline__ Descent(float *weights, float *means, float *squares, u32 step, float most, u32 warm_up, u32 steps)
        : weights(weights), means(means), squares(squares)
    {
        const float t = step, progress = fminf(1, fmaxf(0, t - warm_up) / fmaxf(1, (float)steps - warm_up));
        rate = most * fminf(1, t / fmaxf(1, warm_up)) * (0.5f + 0.5f * __cosf(3.14159265f * progress));
        mean = 1 / (1 - exp2f(-0.152003093f * t)), square = 1 / (1 - exp2f(-0.0144995697f * t)); // 0.9^t, 0.99^t
    }
    __device__ __forceinline__ float next(float &w, float &m, float &s, float gradient, float decay) const
    {
        m = 0.9f * m + 0.1f * gradient, s = 0.99f * s + 0.01f * gradient * gradient;
        return w -= rate * (decay * w + __fdividef(m * mean, sqrtf(s * square) + 1e-8f));
    }
    __device__ __forceinline__ void one(size_t at, float gradient, float decay) const { next(weights[at], means[at], squares[at], gradient, decay); }
    __device__ __forceinline__ void eight(size_t at, const float (&gradient)[8], float decay, bf16 *rounded) const
    {
        float w[8], m[8], s[8];
        load(w, weights + at), load(m, means + at), load(s, squares + at);
        #pragma unroll
        for (int i = 0; i < 8; i++)
            next(w[i], m[i], s[i], gradient[i], decay);
        store(weights + at, w), store(means + at, m), store(squares + at, s), store(rounded + at, w);
    }
};

// Stores gradients instead, which ranks average before the weights descend: those of a matrix and of its biases, of
// which the first ones have these indices.
struct Gradients {
    float *matrices, *biases;
    u32 first, first_bias;

    __device__ __forceinline__ void one(size_t at, float gradient, float) const { biases[at - first_bias] = gradient; }
    __device__ __forceinline__ void eight(size_t at, const float (&gradient)[8], float, bf16 *) const { store(matrices + (at - first), gradient); }
};

// The tiles of tokens, of which there are `across`, and those of each layer
struct Tiles {
    u32 across, across3, across4, each;

    __device__ __forceinline__ Tiles(u32 width)
        : across((width + 127) / 128), across3((3 * width + 127) / 128), across4((4 * width + 127) / 128), each((across3 + across + 2 * across4) * across)
    {
    }
};

// A step for a tile of 128 x 128 of a matrix, and for its biases: first those of the tokens, since their sums are twice
// as long. Each table has a part for each layer, or for each norm.
template <typename Step> __device__ __forceinline__ void learn_tile(const Step &step, u32 tile, const bf16 *dlogits, const bf16 *ones, const bf16 *normed, const bf16 *mixed,
    const bf16 *hidden, const bf16 *dqkv, const bf16 *dxs, const bf16 *dup, bf16 *rounded, float decay, u32 layers, u32 width, u32 context, u32 rows)
{
    const Tiles tiles(width);
    const u32 across = tiles.across, matrices = (TOKENS + context) * width, square = width * width, vectors = matrices + layers * 12 * square;
    // A matrix, its bias, and its factors: the gradient by the outputs, and the inputs
    u32 outputs = TOKENS, inputs = width, matrix = 0, bias = 0, wide = across;
    const size_t all = (size_t)rows * width;
    const bf16 *a = dlogits, *b = normed + 2 * layers * all;
    if (tile >= across) {
        const u32 layer = (tile - across) / tiles.each;
        tile = (tile - across) % tiles.each, matrix = matrices + layer * 12 * square, bias = vectors + layer * 13 * width;
        if (tile < tiles.across3 * across)
            outputs = 3 * width, bias += 4 * width, a = dqkv + layer * 3 * all, b = normed + 2 * layer * all;
        else if ((tile -= tiles.across3 * across) < across * across)
            outputs = width, matrix += 3 * square, bias += 7 * width, a = dxs + (2 * layer + 1) * all, b = mixed + layer * all;
        else if ((tile -= across * across) < tiles.across4 * across)
            outputs = 4 * width, matrix += 4 * square, bias += 8 * width, a = dup + layer * 4 * all, b = normed + (2 * layer + 1) * all;
        else
            tile -= tiles.across4 * across, outputs = width, inputs = 4 * width, wide = tiles.across4, matrix += 8 * square, bias += 12 * width,
                a = dxs + (2 * layer + 2) * all, b = hidden + layer * 4 * all;
    }
    const u32 row = tile / wide * 128, column = tile % wide * 128;
    const bool is_first = column == 0 && bias > 0;
    Tile<128, 128> gradient;
    #pragma unroll 1
    for (int part = 0; part < (bias > 0 ? 1 : 2); part++) {
        gradient.add<false, false, true>({a, outputs, row, outputs}, {b, inputs, column, inputs}, rows, is_first);
        a = ones, b = dxs; // tokens are embedded, too
    }
    gradient.each<0>(row, column, outputs, inputs, [](u32, u32) { return 0; },
        [=](u32 row, u32 column, const float (&v)[8], int) { step.eight(matrix + row * inputs + column, v, decay, rounded); });
    const u32 at = row + gradient.row() + threadIdx.x % 32 / 4;
    if (is_first && threadIdx.x % 4 == 0)
        for (int half = 0; half < 2; half++)
            if (at + half * 8 < outputs)
                step.one(bias + at + half * 8, gradient.sums[0][half * 2], 0);
}

// The gradient by a number of a place
__device__ __forceinline__ float place_gradient(u32 i, const float *dx, u32 width, u32 context, u32 rows)
{
    float sum = 0;
    for (u32 text = 0; text < rows / context; text++)
        sum += dx[(size_t)text * context * width + i];
    return sum;
}

// All weights descend: a block for each tile, then a thread for each place and each number of a norm. `dvectors` is set
// to 0 again.
extern "C" __global__ void __launch_bounds__(256, 2) learn(const bf16 *dlogits, const bf16 *ones, const bf16 *normed, const bf16 *mixed, const bf16 *hidden,
    const bf16 *dqkv, const bf16 *dxs, const bf16 *dup, const float *dx, float *dvectors, float *weights, bf16 *rounded, float *means, float *squares, const u32 *step,
    float rate, u32 warm_up, u32 steps, float decay, u32 layers, u32 width, u32 context, u32 rows)
{
    begin();
    const Descent descent(weights, means, squares, *step, rate, warm_up, steps);
    const u32 tiles = Tiles(width).across + layers * Tiles(width).each;
    if (blockIdx.x < tiles) {
        learn_tile(descent, blockIdx.x, dlogits, ones, normed, mixed, hidden, dqkv, dxs, dup, rounded, decay, layers, width, context, rows);
        return;
    }
    const u32 places = TOKENS * width, vectors = places + context * width + layers * 12 * width * width;
    const u32 i = (blockIdx.x - tiles) * 256 + threadIdx.x, vector = i / width - context;
    if (i < context * width) {
        descent.one(places + i, place_gradient(i, dx, width, context, rows), decay);
    } else if (vector < 4 * layers + 2) {
        const u32 at = vectors + (vector < 4 * layers ? vector / 4 * 13 + vector % 4 : layers * 13 + vector % 4) * width + i % width;
        descent.one(at, dvectors[i - context * width], 0);
        dvectors[i - context * width] = 0;
    }
}

// The gradients by the matrices of a layer, a tile for each block, and by their biases, from the tables of the layer
extern "C" __global__ void __launch_bounds__(256, 2) layer_gradients(const bf16 *normed, const bf16 *mixed, const bf16 *hidden, const bf16 *dqkv, const bf16 *dxs, const bf16 *dup,
    float *matrices, float *biases, u32 width, u32 rows)
{
    const Tiles tiles(width);
    const u32 first = TOKENS * width; // as in a decoder of one layer without places
    const Gradients gradients = {matrices, biases, first, first + (12 * width + 4) * width};
    if (blockIdx.x < tiles.each)
        learn_tile(gradients, tiles.across + blockIdx.x, dup, dup, normed, mixed, hidden, dqkv, dxs, dup, 0, 0, 1, width, 0, rows);
}

// The gradients by tokens, a tile for each block, and by places, a number for each thread. `normed` is of the last
// norm, and `dxs` of the first one.
extern "C" __global__ void __launch_bounds__(256, 2) embedding_gradients(const bf16 *dlogits, const bf16 *ones, const bf16 *normed, const bf16 *dxs, const float *dx,
    float *embeddings, u32 width, u32 context, u32 rows)
{
    const Gradients gradients = {embeddings};
    const u32 across = Tiles(width).across, i = (blockIdx.x - across) * 256 + threadIdx.x;
    if (blockIdx.x < across)
        learn_tile(gradients, blockIdx.x, dlogits, ones, normed, dxs, dxs, dxs, dxs, dxs, 0, 0, 0, width, context, rows);
    else if (i < context * width)
        embeddings[TOKENS * width + i] = place_gradient(i, dx, width, context, rows);
}

// All weights descend by gradients that are averages over ranks, eight by a thread. `dvectors` is set to 0 again.
extern "C" __global__ void __launch_bounds__(256) descend(const float *embeddings, const float *matrices, const float *biases, float *dvectors, float *weights, bf16 *rounded,
    float *means, float *squares, const u32 *step, float rate, u32 warm_up, u32 steps, float decay, u32 layers, u32 width, u32 context)
{
    const Descent descent(weights, means, squares, *step, rate, warm_up, steps);
    const u32 at = (blockIdx.x * 256 + threadIdx.x) * 8, square = width * width, begin = (TOKENS + context) * width, vectors = begin + layers * 12 * square;
    const u32 vector = (at - vectors) / width, layer = at < vectors ? (at - begin) / (12 * square) : vector / 13, kind = vector % 13;
    float gradient[8];
    if (at >= vectors + (13 * layers + 2) * width)
        return;
    if (at < begin) {
        load(gradient, embeddings + at);
    } else if (at < vectors) {
        load(gradient, matrices + layer * 12 * square + (at - begin) % (12 * square));
    } else if (layer < layers && kind >= 4) {
        load(gradient, biases + (layer * 9 + kind - 4) * width + (at - vectors) % width);
    } else {
        float *from = dvectors + (layer * 4 + kind) * width + (at - vectors) % width;
        const float zeroes[8] = {};
        load(gradient, from), store(from, zeroes);
    }
    descent.eight(at, gradient, at < vectors ? decay : 0, rounded);
}
