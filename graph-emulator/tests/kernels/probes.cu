// cuda-graph: --gpu-architecture=compute_90
// Instructions whose results depend on the hardware more than on the manual. Each kernel makes its operands from the
// thread's index and writes its results. `probes.txt` has the results of an H200, which the emulator must repeat. Not
// here: `.sat` and `.shr` of unsigned `vmad`, and `.sat` to a part; driver 580 differs from the manual in these.
#include <mma.h>
#include <cuda_bf16.h>
typedef unsigned u32;

__device__ u32 mix(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352d;
    x ^= x >> 15;
    x *= 0x846ca68b;
    return x ^ x >> 16;
}

__device__ u32 word(u32 i) { return mix(threadIdx.x * 64 + i); }

// Small enough for sums to be exact in every format.
__device__ int small(u32 i) { return (int)(word(i) % 15) - 7; }

__device__ u32 one_half(u32 i) {
    unsigned short h;
    asm("cvt.rn.f16.s32 %0, %1;" : "=h"(h) : "r"(small(i)));
    return h;
}

__device__ u32 f16(u32 i) { return one_half(2 * i) | one_half(2 * i + 1) << 16; }
__device__ u32 f32(u32 i) { return __float_as_uint((float)small(i)); }
__device__ u32 bf16(u32 i) { return f32(2 * i) >> 16 | (f32(2 * i + 1) & 0xffff0000); }
// The lower bits must have no effect.
__device__ u32 tf32(u32 i) { return f32(i) | (word(i + 7) & 0x1fff); }
__device__ u32 b8(u32 i) { return word(i); }
__device__ u32 s32(u32 i) { return word(i); }
__device__ u32 e4m3(u32 i) {
    u32 low;
    asm("{ .reg .b16 a, b; cvt.rn.satfinite.e4m3x2.f32 a, %1, %2; cvt.rn.satfinite.e4m3x2.f32 b, %3, %4; mov.b32 %0, {a, b}; }"
        : "=r"(low) : "f"((float)small(4 * i)), "f"((float)small(4 * i + 1)), "f"((float)small(4 * i + 2)), "f"((float)small(4 * i + 3)));
    return low;
}
__device__ u32 e5m2(u32 i) {
    u32 low;
    asm("{ .reg .b16 a, b; cvt.rn.satfinite.e5m2x2.f32 a, %1, %2; cvt.rn.satfinite.e5m2x2.f32 b, %3, %4; mov.b32 %0, {a, b}; }"
        : "=r"(low) : "f"((float)(small(4 * i) / 2)), "f"((float)(small(4 * i + 1) / 2)), "f"((float)(small(4 * i + 2) / 2)), "f"((float)(small(4 * i + 3) / 2)));
    return low;
}

#define PROBE(name) extern "C" __global__ void name(u32* out)

#define MMA_1_1_2(name, text, A, B, C) \
    PROBE(name) { \
        u32 d[2]; \
        asm volatile("mma.sync.aligned." text " {%0, %1}, {%2}, {%3}, {%4, %5};" \
                     : "=r"(d[0]), "=r"(d[1]) : "r"(A(0)), "r"(B(8)), "r"(C(16)), "r"(C(17))); \
        for (int i = 0; i < 2; i++) out[threadIdx.x * 8 + i] = d[i]; \
    }

#define MMA_2_1_2(name, text, A, B, C) \
    PROBE(name) { \
        u32 d[2]; \
        asm volatile("mma.sync.aligned." text " {%0, %1}, {%2, %3}, {%4}, {%5, %6};" \
                     : "=r"(d[0]), "=r"(d[1]) : "r"(A(0)), "r"(A(1)), "r"(B(8)), "r"(C(16)), "r"(C(17))); \
        for (int i = 0; i < 2; i++) out[threadIdx.x * 8 + i] = d[i]; \
    }

#define MMA_2_1_4(name, text, A, B, C) \
    PROBE(name) { \
        u32 d[4]; \
        asm volatile("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};" \
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(A(0)), "r"(A(1)), "r"(B(8)), "r"(C(16)), "r"(C(17)), "r"(C(18)), "r"(C(19))); \
        for (int i = 0; i < 4; i++) out[threadIdx.x * 8 + i] = d[i]; \
    }

#define MMA_2_2_4(name, text, A, B, C) \
    PROBE(name) { \
        u32 d[4]; \
        asm volatile("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11};" \
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(A(0)), "r"(A(1)), "r"(B(8)), "r"(B(9)), "r"(C(16)), "r"(C(17)), "r"(C(18)), "r"(C(19))); \
        for (int i = 0; i < 4; i++) out[threadIdx.x * 8 + i] = d[i]; \
    }

#define MMA_2_2_8(name, text, A, B, C) \
    PROBE(name) { \
        u32 d[8]; \
        asm volatile("mma.sync.aligned." text " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19};" \
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7]) : "r"(A(0)), "r"(A(1)), "r"(B(8)), "r"(B(9)), "r"(C(16)), "r"(C(17)), "r"(C(18)), "r"(C(19)), "r"(C(20)), "r"(C(21)), "r"(C(22)), "r"(C(23))); \
        for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = d[i]; \
    }

#define MMA_4_2_2(name, text, A, B, C) \
    PROBE(name) { \
        u32 d[2]; \
        asm volatile("mma.sync.aligned." text " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};" \
                     : "=r"(d[0]), "=r"(d[1]) : "r"(A(0)), "r"(A(1)), "r"(A(2)), "r"(A(3)), "r"(B(8)), "r"(B(9)), "r"(C(16)), "r"(C(17))); \
        for (int i = 0; i < 2; i++) out[threadIdx.x * 8 + i] = d[i]; \
    }

#define MMA_4_2_4(name, text, A, B, C) \
    PROBE(name) { \
        u32 d[4]; \
        asm volatile("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" \
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(A(0)), "r"(A(1)), "r"(A(2)), "r"(A(3)), "r"(B(8)), "r"(B(9)), "r"(C(16)), "r"(C(17)), "r"(C(18)), "r"(C(19))); \
        for (int i = 0; i < 4; i++) out[threadIdx.x * 8 + i] = d[i]; \
    }

MMA_4_2_4(mma_f16_k16, "m16n8k16.row.col.f32.f16.f16.f32", f16, f16, f32)
MMA_2_1_4(mma_f16_k8, "m16n8k8.row.col.f32.f16.f16.f32", f16, f16, f32)
MMA_4_2_2(mma_f16_sum, "m16n8k16.row.col.f16.f16.f16.f16", f16, f16, f16)
MMA_2_1_2(mma_f16_sum_k8, "m16n8k8.row.col.f16.f16.f16.f16", f16, f16, f16)
MMA_4_2_4(mma_bf16_k16, "m16n8k16.row.col.f32.bf16.bf16.f32", bf16, bf16, f32)
MMA_2_1_4(mma_bf16_k8, "m16n8k8.row.col.f32.bf16.bf16.f32", bf16, bf16, f32)
MMA_4_2_4(mma_tf32_k8, "m16n8k8.row.col.f32.tf32.tf32.f32", tf32, tf32, f32)
MMA_2_1_4(mma_tf32_k4, "m16n8k4.row.col.f32.tf32.tf32.f32", tf32, tf32, f32)
MMA_4_2_4(mma_s8_k32, "m16n8k32.row.col.s32.s8.s8.s32", b8, b8, s32)
MMA_2_1_4(mma_u8_s8_k16, "m16n8k16.row.col.satfinite.s32.u8.s8.s32", b8, b8, s32)
MMA_1_1_2(mma_s8_small, "m8n8k16.row.col.s32.s8.u8.s32", b8, b8, s32)
MMA_4_2_4(mma_s4_k64, "m16n8k64.row.col.s32.s4.u4.s32", b8, b8, s32)
MMA_1_1_2(mma_s4_small, "m8n8k32.row.col.s32.u4.s4.s32", b8, b8, s32)
MMA_4_2_4(mma_e4m3, "m16n8k32.row.col.f32.e4m3.e5m2.f32", e4m3, e5m2, f32)
MMA_2_2_8(mma_quad_row_col, "m8n8k4.row.col.f32.f16.f16.f32", f16, f16, f32)
MMA_2_2_8(mma_quad_col_row, "m8n8k4.col.row.f32.f16.f16.f32", f16, f16, f32)
MMA_2_2_4(mma_quad_f16, "m8n8k4.row.row.f16.f16.f16.f16", f16, f16, f16)

PROBE(mma_f64) {
    double d[2];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
                 : "=d"(d[0]), "=d"(d[1])
                 : "d"(small(0) * 0.1), "d"(small(1) * 0.3), "d"(small(2) * 0.7), "d"(small(3) * 1.1));
    for (int i = 0; i < 2; i++) {
        out[threadIdx.x * 8 + 2 * i] = __double2loint(d[i]);
        out[threadIdx.x * 8 + 2 * i + 1] = __double2hiint(d[i]);
    }
}

PROBE(mma_f64_k16) {
    double d[4];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
                 "{%12, %13, %14, %15}, {%16, %17, %18, %19};"
                 : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
                 : "d"(small(0) * 1.0), "d"(small(1) * 1.0), "d"(small(2) * 1.0), "d"(small(3) * 1.0), "d"(small(4) * 1.0),
                   "d"(small(5) * 1.0), "d"(small(6) * 1.0), "d"(small(7) * 1.0), "d"(small(8) * 1.0), "d"(small(9) * 1.0),
                   "d"(small(10) * 1.0), "d"(small(11) * 1.0), "d"(small(12) * 1.0), "d"(small(13) * 1.0), "d"(small(14) * 1.0),
                   "d"(small(15) * 1.0));
    for (int i = 0; i < 4; i++) out[threadIdx.x * 8 + i] = (int)d[i];
}

// Rows of shared memory into fragments and back.
PROBE(matrix_rows) {
    __shared__ __align__(16) u32 tile[128];
    for (int i = 0; i < 4; i++) tile[threadIdx.x * 4 + i] = word(i);
    __syncwarp();
    u32 at = (u32)__cvta_generic_to_shared(tile) + threadIdx.x * 16, r[8];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[4]), "=r"(r[5]) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[6]) : "r"(at));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[7]) : "r"(r[1]));
    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = r[i];
}

PROBE(matrix_store) {
    __shared__ __align__(16) u32 tile[256];
    u32 at = (u32)__cvta_generic_to_shared(tile) + threadIdx.x * 16;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(at), "r"(word(0)), "r"(word(1)), "r"(word(2)), "r"(word(3)));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(at + 512), "r"(word(0)), "r"(word(1)), "r"(word(2)), "r"(word(3)));
    __syncwarp();
    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = tile[threadIdx.x * 8 + i];
}

// `nvcuda::wmma`, through shared memory. The order of a fragment's elements does not matter.
template <class Layout> struct is_row { static const bool value = false; };
template <> struct is_row<nvcuda::wmma::row_major> { static const bool value = true; };

template <class T, class Memory, class Sum, int M, int N, int K, class A, class B>
__device__ void tiles(u32* out) {
    using namespace nvcuda::wmma;
    __shared__ __align__(32) Memory a[M * K], b[K * N];
    __shared__ __align__(32) Sum c[M * (N + 8)];
    for (int i = threadIdx.x; i < M * K; i += 32) a[i] = (Memory)(float)small(i);
    for (int i = threadIdx.x; i < K * N; i += 32) b[i] = (Memory)(float)small(i + 7);
    for (int i = threadIdx.x; i < M * (N + 8); i += 32) c[i] = (Sum)(float)small(i + 9);
    __syncwarp();
    fragment<matrix_a, M, N, K, T, A> left;
    fragment<matrix_b, M, N, K, T, B> right;
    fragment<accumulator, M, N, K, Sum> sum;
    load_matrix_sync(left, a, is_row<A>::value ? K : M);
    load_matrix_sync(right, b, is_row<B>::value ? N : K);
    load_matrix_sync(sum, c, N + 8, mem_row_major);
    for (int i = 0; i < left.num_elements; i++) left.x[i] = left.x[i] + left.x[i];
    mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] - (Sum)1.0f;
    store_matrix_sync(c, sum, M, mem_col_major);
    __syncwarp();
    for (int i = threadIdx.x; i < M * N; i += 32) out[i] = (u32)(int)(float)c[i];
}

#define ROW nvcuda::wmma::row_major
#define COL nvcuda::wmma::col_major
PROBE(tile_f16) { tiles<half, half, float, 16, 16, 16, ROW, COL>(out); }
PROBE(tile_f16_wide) { tiles<half, half, half, 8, 32, 16, COL, ROW>(out); }
PROBE(tile_bf16) { tiles<__nv_bfloat16, __nv_bfloat16, float, 32, 8, 16, ROW, ROW>(out); }
PROBE(tile_tf32) { tiles<nvcuda::wmma::precision::tf32, float, float, 16, 16, 8, COL, COL>(out); }
PROBE(tile_s8) { tiles<signed char, signed char, int, 16, 16, 16, ROW, COL>(out); }
PROBE(tile_f64) { tiles<double, double, double, 8, 8, 4, ROW, ROW>(out); }

// Pairs of operands at the edges.
__device__ u32 edge(u32 i) {
    const u32 edges[8] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x80808080, 0x7f7f8000, 0x00ff7fff};
    u32 x = word(i);
    return x & 8 ? edges[x & 7] : mix(x);
}

#define THREE(text) asm volatile(text " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); out[threadIdx.x * COUNT + n++] = r;
#define TWO(text) asm volatile(text " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); out[threadIdx.x * COUNT + n++] = r;
#define PARTS(text, to, from, other) \
    asm volatile("{ .reg .b32 q; mov.b32 q, %3;" text " q" to ", %1" from ", %2" other ", %3; mov.b32 %0, q; }" \
                 : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
    out[threadIdx.x * COUNT + n++] = r;

#define COUNT 32
PROBE(video_scalar) {
    u32 a = edge(0), b = edge(1), c = edge(2), r, n = 0;
    TWO("vadd.s32.s32.s32")
    TWO("vadd.s32.s32.u32.sat")
    TWO("vadd.u32.s32.s32.sat")
    THREE("vadd.s32.u32.s32.add")
    THREE("vmax.u32.u32.u32.min")
    TWO("vsub.s32.u32.u32.sat")
    THREE("vsub.s32.s32.s32.max")
    TWO("vabsdiff.u32.u32.u32")
    THREE("vabsdiff.s32.s32.s32.sat.add")
    TWO("vmin.s32.s32.u32")
    TWO("vmax.u32.u32.s32.sat")
    THREE("vmin.u32.u32.u32.max")
    PARTS("vmin.s32.s32.s32", ".b2", ".b1", ".h1")
    n++; // `.h1` of a result: the manual names the lower half, as the emulator does, the driver (580) the upper one.
    PARTS("vabsdiff.u32.u32.u32.sat", ".b0", ".b0", ".b2")
    PARTS("vmax.s32.s32.s32", ".h0", ".h1", ".b0")
    PARTS("vadd.s32.s32.u32.add", "", ".b1", ".b2")
    TWO("vset.s32.s32.lt")
    TWO("vset.u32.s32.ge")
    THREE("vset.u32.u32.ne.add")
    PARTS("vset.s32.s32.le", ".b3", ".b0", ".h1")
    TWO("vshl.u32.u32.u32.clamp")
    TWO("vshl.u32.u32.u32.wrap")
    TWO("vshr.s32.s32.u32.clamp")
    THREE("vshr.u32.u32.u32.wrap.add")
    THREE("vmad.s32.s32.s32")
    THREE("vmad.s32.s32.s32.sat")
    THREE("vmad.s32.s32.s32.shr7")
    THREE("vmad.s32.s32.s32.shr15")
    THREE("vmad.s32.s32.s32.sat.shr15")
    THREE("vmad.s32.s32.s32.po.shr7")
    PARTS("vmad.u32.u32.u32", "", ".b1", ".h0")
}

PROBE(video_parallel) {
    u32 a = edge(0), b = edge(1), c = edge(2), r, n = 0;
    THREE("vadd2.s32.s32.s32")
    THREE("vadd2.u32.u32.u32.sat")
    THREE("vadd2.s32.s32.s32.sat")
    THREE("vadd2.s32.s32.s32.add")
    THREE("vsub2.s32.u32.u32.sat")
    THREE("vsub2.u32.u32.u32")
    THREE("vavrg2.s32.s32.s32")
    THREE("vavrg2.u32.u32.u32")
    THREE("vabsdiff2.u32.s32.s32")
    THREE("vabsdiff2.s32.s32.s32.add")
    THREE("vmin2.s32.s32.s32")
    THREE("vmax2.u32.u32.u32")
    THREE("vmax2.s32.s32.s32.add")
    THREE("vset2.s32.s32.lt")
    THREE("vset2.u32.u32.gt.add")
    PARTS("vadd2.s32.s32.s32", ".h1", "", "")
    THREE("vadd4.s32.s32.s32")
    THREE("vadd4.u32.u32.u32.sat")
    THREE("vadd4.s32.s32.s32.add")
    THREE("vsub4.s32.s32.s32.sat")
    THREE("vavrg4.s32.s32.s32")
    THREE("vavrg4.u32.u32.u32")
    THREE("vabsdiff4.u32.u32.u32")
    THREE("vabsdiff4.u32.u32.u32.add")
    THREE("vabsdiff4.s32.s32.s32.sat")
    THREE("vmin4.s32.s32.s32")
    THREE("vmax4.u32.u32.u32.add")
    THREE("vset4.u32.u32.le")
    THREE("vset4.s32.s32.ne.add")
    PARTS("vmin4.u32.u32.u32", ".b310", "", "")
    PARTS("vsub4.s32.s32.s32.sat", ".b2", "", "")
    PARTS("vadd4.u32.u32.u32", ".b10", "", "")
}
#undef COUNT

#define COUNT 20
PROBE(packed) {
    u32 a = edge(0), b = edge(1), c = edge(2), r, n = 0;
    TWO("add.s16x2")
    TWO("add.u16x2")
    TWO("min.s16x2")
    TWO("max.u16x2")
    TWO("min.relu.s16x2")
    TWO("max.relu.s16x2")
    TWO("min.relu.s32")
    TWO("max.relu.s32")
    TWO("cvt.pack.sat.s16.s32")
    TWO("cvt.pack.sat.u16.s32")
    THREE("cvt.pack.sat.s8.s32.b32")
    THREE("cvt.pack.sat.u8.s32.b32")
    THREE("cvt.pack.sat.s4.s32.b32")
    THREE("cvt.pack.sat.u4.s32.b32")
    THREE("cvt.pack.sat.s2.s32.b32")
    THREE("cvt.pack.sat.u2.s32.b32")
    a &= 0x000000ff; b >>= 22;
    TWO("cvt.pack.sat.s16.s32")
    THREE("cvt.pack.sat.s8.s32.b32")
    THREE("cvt.pack.sat.u8.s32.b32")
    THREE("cvt.pack.sat.s4.s32.b32")
}
#undef COUNT

// Eight-bit floats: every code, and numbers between them.
#define COUNT 20
PROBE(narrow_floats) {
    u32 n = 0, r;
    for (u32 i = 0; i < 4; i++) {
        unsigned short codes = threadIdx.x * 8 + 2 * i | (threadIdx.x * 8 + 2 * i + 1) << 8;
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(codes));
        out[threadIdx.x * COUNT + n++] = r;
        asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"(codes));
        out[threadIdx.x * COUNT + n++] = r;
    }
    for (u32 i = 0; i < 4; i++) {
        unsigned short codes;
        float a = __uint_as_float(word(i) & 0x83ffffff | 0x38000000), b = __uint_as_float(word(i + 9) & 0x8fffffff | 0x38000000);
        if (word(i) % 7 == 0) a = __uint_as_float(0x7fc00000);
        if (word(i) % 7 == 1) a = __uint_as_float(0xff800000);
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(a), "f"(b));
        out[threadIdx.x * COUNT + n++] = codes;
        asm("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(a), "f"(b));
        out[threadIdx.x * COUNT + n++] = codes;
        u32 both = word(i + 20) & 0xcfffcfff;
        asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(codes) : "r"(both));
        out[threadIdx.x * COUNT + n++] = codes;
    }
}
