// cuda-graph: --device-int128
// Integer arithmetic of every width, and bits. Each thread writes a column of `out`: row r of thread i is out[r *
// threads + i].

struct Column {
    unsigned *at;
    unsigned step;
    __device__ Column(unsigned *out)
        : at(out + blockIdx.x * blockDim.x + threadIdx.x), step(gridDim.x * blockDim.x)
    {
    }
    __device__ void put(unsigned value)
    {
        *at = value;
        at += step;
    }
    __device__ void put(unsigned long long value)
    {
        put((unsigned)value);
        put((unsigned)(value >> 32));
    }
};

// Instructions about the bits of single words.
extern "C" __global__ void bits(const unsigned *in, unsigned *out)
{
    Column column(out);
    unsigned x = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned long long wide = (unsigned long long)(x * 2654435761u) << 32 | x;
    if (x == 0)
        wide = 0;
    column.put(__brev(x));
    column.put(__brevll(wide));
    column.put((unsigned)__popc(x));
    column.put((unsigned)__popcll(wide));
    column.put((unsigned)__clz(x));
    column.put((unsigned)__clzll(wide));
    column.put((unsigned)__ffs(x));
    column.put((unsigned)__ffsll(wide));
    unsigned found;
    asm("bfind.u32 %0, %1;" : "=r"(found) : "r"(x));
    column.put(found);
    asm("bfind.s32 %0, %1;" : "=r"(found) : "r"(x));
    column.put(found);
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(found) : "r"(x));
    column.put(found);
    asm("bfind.u64 %0, %1;" : "=r"(found) : "l"(wide));
    column.put(found);
    asm("bfind.shiftamt.s64 %0, %1;" : "=r"(found) : "l"(wide));
    column.put(found);
    asm("cnot.b32 %0, %1;" : "=r"(found) : "r"(x));
    column.put(found);
    column.put((unsigned)abs((int)x));
    column.put((unsigned long long)llabs((long long)wide));
    column.put((unsigned)(unsigned short)-(short)x);
    column.put(~x);
}

// Bit fields, permuted bytes, three-input logic, shifts by too much.
extern "C" __global__ void fields(const unsigned *first, const unsigned *second, const unsigned *third, unsigned *out)
{
    Column column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = first[i], b = second[i], c = third[i], r;
    unsigned long long wide = (unsigned long long)a << 32 | b, w;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 31), "r"(c & 31));
    column.put(r);
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 63), "r"(c & 127));
    column.put(r);
    asm("bfe.u64 %0, %1, %2, %3;" : "=l"(w) : "l"(wide), "r"(b & 63), "r"(c & 127));
    column.put(w);
    asm("bfe.s64 %0, %1, %2, %3;" : "=l"(w) : "l"(wide), "r"(b & 127), "r"(c & 63));
    column.put(w);
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c & 63), "r"(b >> 3));
    column.put(r);
    asm("bfi.b32 %0, %1, %2, 7, 9;" : "=r"(r) : "r"(a), "r"(c));
    column.put(r);
    asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(w) : "l"(wide), "l"(~wide * 3), "r"(c & 63), "r"(b & 31));
    column.put(w);
    column.put(__byte_perm(a, b, c));
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("lop3.b32 %0, %1, %2, %3, 0x1b;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    column.put(__funnelshift_l(a, b, c));
    column.put(__funnelshift_r(a, b, c));
    column.put(__funnelshift_lc(a, b, c));
    column.put(__funnelshift_rc(a, b, c));
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(c & 63));
    column.put(r);
    asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(c & 63));
    column.put(r);
    asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(c));
    column.put(r);
    asm("shr.s64 %0, %1, %2;" : "=l"(w) : "l"(wide), "r"(c & 127));
    column.put(w);
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 31), "r"((int)(c & 15) - 7));
    column.put(r);
    column.put(__fns(a, 0, 3));
}

// Products, quotients and remainders of all widths. Left out is `mad.hi.sat.s32`, which does not saturate on an H200,
// whatever the manual says.
extern "C" __global__ void multiply_divide(const unsigned *first, const unsigned *second, const unsigned *third, unsigned *out)
{
    Column column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = first[i], b = second[i], c = third[i], r;
    int sa = a, sb = b;
    unsigned long long wide = (unsigned long long)a << 32 | c, divisor = (unsigned long long)(b & 0xffff) << 20 | c >> 8 | 1, w;
    long long swide = wide, sdivisor = (long long)(int)(c | 1) * ((int)b >> 7 | 1);
    column.put(a * b + c);
    column.put(__umulhi(a, b));
    column.put((unsigned)__mulhi(sa, sb));
    column.put((unsigned)__mul24(sa, sb));
    column.put(__umul24(a, b));
    asm("mul24.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    column.put(r);
    asm("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(w) : "r"(a), "r"(b), "l"(wide));
    column.put(w);
    asm("mul.wide.u16 %0, %1, %2;" : "=r"(r) : "h"((unsigned short)a), "h"((unsigned short)b));
    column.put(r);
    asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    column.put(r);
    asm("sub.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    column.put(r);
    column.put((unsigned long long)a * b);
    column.put(wide * divisor);
    column.put(__umul64hi(wide, divisor));
    column.put((unsigned long long)__mul64hi(swide, sdivisor));
    column.put(a / (b | 1));
    column.put(a % (b | 1));
    column.put((unsigned)(sb == -1 ? 0 : sa / (sb | 1)));
    column.put((unsigned)(sb == -1 ? 0 : sa % (sb | 1)));
    column.put(wide / divisor);
    column.put(wide % divisor);
    column.put((unsigned long long)(sdivisor == -1 ? 0 : swide / sdivisor));
    column.put((unsigned long long)(sdivisor == -1 ? 0 : swide % sdivisor));
    column.put(a / 7u + b % 1000u);
    column.put((unsigned)(sa / -10 + sb % 365));
    column.put(wide / 1000000007ull);
    column.put((unsigned)(unsigned short)((short)a / (short)(b | 1)));
    column.put((unsigned)min(sa, sb) ^ max(a, b));
    column.put((unsigned long long)max(swide, sdivisor) - min(wide, divisor));
    column.put(__sad(sa, sb, c));
    column.put(__usad(a, b, c));
    column.put(__hadd(sa, sb) ^ __uhadd(a, b) ^ __rhadd(sa, sb) ^ __urhadd(a, b));
}

// Comparisons: setp in all forms, set, selp, slct.
extern "C" __global__ void comparisons(const unsigned *first, const unsigned *second, unsigned *out)
{
    Column column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = first[i], b = second[i], r;
    float x = __uint_as_float(a), y = __uint_as_float(b);
    double dx = __hiloint2double(a, b), dy = __hiloint2double(b, a);
    unsigned found = 0;
    found = found * 2 + (a < b);
    found = found * 2 + (a <= b);
    found = found * 2 + ((int)a > (int)b);
    found = found * 2 + ((int)a >= (int)b);
    found = found * 2 + (a == b);
    found = found * 2 + (a != b);
    found = found * 2 + ((unsigned short)a < (unsigned short)b);
    found = found * 2 + ((short)a < (short)b);
    found = found * 2 + ((signed char)a < (signed char)b);
    found = found * 2 + ((long long)a - b > (long long)b * 2);
    column.put(found);
    found = 0;
#define FLOAT(relation)                                                                                                               \
    asm("{ .reg .pred p; setp." relation ".f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "f"(x), "f"(y));                      \
    found = found * 2 + r;                                                                                                            \
    asm("{ .reg .pred p; setp." relation ".f64 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "d"(dx), "d"(dy));                    \
    found = found * 2 + r;
    FLOAT("eq")
    FLOAT("ne")
    FLOAT("lt")
    FLOAT("le")
    FLOAT("gt")
    FLOAT("ge")
    FLOAT("equ")
    FLOAT("neu")
    FLOAT("ltu")
    FLOAT("leu")
    FLOAT("gtu")
    FLOAT("geu")
    FLOAT("num")
    FLOAT("nan")
    column.put(found);
    asm("{ .reg .pred p, q, s; setp.lt.u32 s, %1, 1000; setp.gt.and.s32 p|q, %1, %2, s; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }"
        : "=r"(r)
        : "r"(a), "r"(b));
    column.put(r);
    asm("{ .reg .pred p, s; setp.hi.u32 s, %1, %2; setp.ls.xor.u32 p, %1, 77, !s; selp.u32 %0, %1, %2, p; }"
        : "=r"(r)
        : "r"(a), "r"(b));
    column.put(r);
    asm("set.lt.u32.f32 %0, %1, %2;" : "=r"(r) : "f"(x), "f"(y));
    column.put(r);
    asm("set.geu.s32.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    float f;
    asm("set.ne.f32.u32 %0, %1, %2;" : "=f"(f) : "r"(a), "r"(b));
    column.put(__float_as_uint(f));
    asm("{ .reg .pred s; setp.eq.u32 s, %1, 0; set.gt.or.f32.f32 %0, %2, %3, s; }" : "=f"(f) : "r"(a), "f"(x), "f"(y));
    column.put(__float_as_uint(f));
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(a - b));
    column.put(r);
    asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(f) : "f"(1.5f), "f"(-2.5f), "f"(x));
    column.put(__float_as_uint(f));
    column.put((unsigned)isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | signbit(x) << 3);
    asm("{ .reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p; testp.normal.f32 p, %1; @p add.u32 %0, %0, 2; "
        "testp.notanumber.f64 p, %2; @p add.u32 %0, %0, 4; testp.infinite.f32 p, %1; @p add.u32 %0, %0, 8; }"
        : "=r"(r)
        : "f"(x), "d"(dx));
    column.put(r);
}

// Numbers of several words by chains of carries: 128-bit sums, differences and products, 256-bit products, and their
// flags.
extern "C" __global__ void carries(const uint4 *first, const uint4 *second, unsigned *out)
{
    Column column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, r[8] = {};
    uint4 a = first[i], b = second[i];
    asm("add.cc.u32 %0, %5, %9;\n\taddc.cc.u32 %1, %6, %10;\n\taddc.cc.u32 %2, %7, %11;\n\taddc.cc.u32 %3, %8, %12;\n\taddc.u32 %4, 0, 0;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w));
    for (int k = 0; k < 5; k++)
        column.put(r[k]);
    asm("sub.cc.u32 %0, %5, %9;\n\tsubc.cc.u32 %1, %6, %10;\n\tsubc.cc.u32 %2, %7, %11;\n\tsubc.cc.u32 %3, %8, %12;\n\tsubc.u32 %4, 0, 0;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w));
    for (int k = 0; k < 5; k++)
        column.put(r[k]);
    unsigned x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w}, p[8] = {};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        asm("mad.lo.cc.u32 %0, %5, %6, %0;\n\tmadc.lo.cc.u32 %1, %5, %7, %1;\n\tmadc.lo.cc.u32 %2, %5, %8, %2;\n\t"
            "madc.lo.cc.u32 %3, %5, %9, %3;\n\taddc.u32 %4, %4, 0;"
            : "+r"(p[k]), "+r"(p[k + 1]), "+r"(p[k + 2]), "+r"(p[k + 3]), "+r"(p[k + 4])
            : "r"(x[k]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
        asm("mad.hi.cc.u32 %0, %4, %5, %0;\n\tmadc.hi.cc.u32 %1, %4, %6, %1;\n\tmadc.hi.cc.u32 %2, %4, %7, %2;\n\tmadc.hi.u32 %3, %4, %8, %3;"
            : "+r"(p[k + 1]), "+r"(p[k + 2]), "+r"(p[k + 3]), "+r"(p[k + 4])
            : "r"(x[k]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
    }
    for (int k = 0; k < 8; k++)
        column.put(p[k]);
    unsigned long long low = (unsigned long long)a.y << 32 | a.x, high = (unsigned long long)b.y << 32 | b.x;
    asm("add.cc.u64 %0, %0, %1;\n\taddc.u64 %1, %1, %0;" : "+l"(low), "+l"(high));
    column.put(low);
    column.put(high);
    unsigned __int128 wide = (unsigned __int128)low << 64 | high, product = wide * (wide >> 3), shifted = product >> (a.z & 127);
    column.put((unsigned long long)product);
    column.put((unsigned long long)(product >> 64));
    column.put((unsigned long long)shifted);
    column.put((unsigned long long)(wide < product));
}

// Dot products of bytes, and the video instructions on parts of words. Left out are those that an H200 (driver 580)
// does not compute as the manual says: results merged into `.h1`, and saturated ones into a byte.
extern "C" __global__ void bytes_and_video(const unsigned *first, const unsigned *second, const unsigned *third, unsigned *out)
{
    Column column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = first[i], b = second[i], c = third[i], r;
    column.put((unsigned)__dp4a((int)a, (int)b, (int)c));
    column.put(__dp4a(a, b, c));
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    column.put((unsigned)__dp2a_lo((int)a, (int)b, (int)c));
    column.put(__dp2a_hi(a, b, c));
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("vadd.s32.s32.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    column.put(r);
    asm("vadd.s32.u32.s32.sat %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    column.put(r);
    asm("vadd.u32.s32.s32.sat.add %0, %1.b2, %2.h1, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("vsub.s32.u32.u32 %0.h0, %1.b0, %2.b3, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("vabsdiff.u32.s32.s32.max %0, %1, %2.h0, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("vmin.s32.s32.s32 %0.b1, %1.h1, %2.h0, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("vmax.u32.u32.u32 %0, %1.b1, %2.b2;" : "=r"(r) : "r"(a), "r"(b));
    column.put(r);
    asm("vshl.u32.u32.u32.clamp.add %0, %1, %2.b0, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("vshr.s32.s32.u32.wrap %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    column.put(r);
    asm("vmad.s32.s32.s32.shr7 %0, %1.h0, %2.h1, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    column.put(r);
    asm("vset.s32.u32.lt %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    column.put(r);
    column.put(__vadd4(a, b));
    column.put(__vsub2(a, b));
    column.put(__vaddss4(a, b));
    column.put(__vabsdiffu4(a, b));
    column.put(__vavgu4(a, b));
    column.put(__vmaxs2(a, b));
    column.put(__vminu4(a, b));
    column.put(__vcmpgts4(a, b));
    column.put(__vsetltu2(a, b));
    column.put(__vneg4(a));
    column.put(__vsads4(a, b));
    column.put(__vsubus2(a, b));
}
