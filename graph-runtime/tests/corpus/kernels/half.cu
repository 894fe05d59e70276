// cuda-graph: --gpu-architecture=compute_86
// Half precision. Row r of thread i is out[r * threads + i].

#include <cuda_fp16.h>

template <typename T> struct Column {
    T *at;
    unsigned step;
    __device__ Column(T *out)
        : at(out + blockIdx.x * blockDim.x + threadIdx.x), step(gridDim.x * blockDim.x)
    {
    }
    __device__ void put(T value)
    {
        *at = value;
        at += step;
    }
};

extern "C" __global__ void half_arithmetic(const __half *first, const __half *second, const __half *third, __half *out)
{
    Column<__half> column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __half a = first[i], b = second[i], c = third[i];
    column.put(a + b);
    column.put(a - b);
    column.put(a * b);
    column.put(__hfma(a, b, c));
    column.put(__hadd_sat(a, b));
    column.put(__hmul_sat(a, b));
    column.put(__hsub_sat(a, b));
    column.put(__hfma_sat(a, b, c));
    column.put(__hfma_relu(a, b, c));
    column.put(__hmin(a, b));
    column.put(__hmax(a, b));
    column.put(__hmin_nan(a, b));
    column.put(__hmax_nan(a, b));
    column.put(__habs(a));
    column.put(-a);
    column.put(a / b);
    column.put(__hadd_rn(a, b));
}

extern "C" __global__ void half2_arithmetic(const __half2 *first, const __half2 *second, const __half2 *third, __half2 *out)
{
    Column<__half2> column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 a = first[i], b = second[i], c = third[i];
    column.put(__hadd2(a, b));
    column.put(__hsub2(a, b));
    column.put(__hmul2(a, b));
    column.put(__hfma2(a, b, c));
    column.put(__hfma2_sat(a, b, c));
    column.put(__hfma2_relu(a, b, c));
    column.put(__hmin2(a, b));
    column.put(__hmax2(a, b));
    column.put(__hmax2_nan(a, b));
    column.put(__habs2(a));
    column.put(__hneg2(a));
    column.put(__lows2half2(a, b));
    column.put(__highs2half2(a, b));
    column.put(__lowhigh2highlow(a));
    column.put(__halves2half2(__low2half(a), __high2half(c)));
    column.put(__hcmadd(a, b, c));
}

// 1 for each comparison that holds, as a bit; ordered first.
extern "C" __global__ void half_compare(const __half2 *first, const __half2 *second, unsigned *out)
{
    Column<unsigned> column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, found = 0;
    __half2 a = first[i], b = second[i];
    __half x = __low2half(a), y = __low2half(b);
    bool all[] = {__heq(x, y),       __hne(x, y),       __hlt(x, y),       __hle(x, y),       __hgt(x, y),        __hge(x, y),
                  __hequ(x, y),      __hneu(x, y),      __hltu(x, y),      __hleu(x, y),      __hgtu(x, y),       __hgeu(x, y),
                  __hbeq2(a, b),     __hbne2(a, b),     __hblt2(a, b),     __hbgeu2(a, b),    __hisnan(x),        bool(__hisinf(x))};
    for (bool one : all)
        found = found * 2 + one;
    column.put(found);
    __half2 set = __hlt2(a, b), unordered = __hneu2(a, b);
    column.put(*reinterpret_cast<unsigned *>(&set));
    column.put(*reinterpret_cast<unsigned *>(&unordered));
    column.put(__heq2_mask(a, b));
    column.put(__hgtu2_mask(a, b));
}

// To halves and back in every mode.
extern "C" __global__ void half_convert(const float *in, const double *wide, const int *integers, __half *out, unsigned *words,
                                        long long *longs)
{
    Column<__half> column(out);
    Column<unsigned> integer(words);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    int n = integers[i];
    __half h = __float2half_rn(x);
    column.put(h);
    column.put(__float2half_rz(x));
    column.put(__float2half_ru(x));
    column.put(__float2half_rd(x));
    column.put(__double2half(wide[i]));
    column.put(__int2half_rn(n));
    column.put(__int2half_rz(n));
    column.put(__uint2half_ru(n));
    column.put(__short2half_rd((short)n));
    column.put(__ushort2half_rn((unsigned short)n));
    column.put(__ll2half_rn((long long)n << 3));
    column.put(hrint(h));
    column.put(htrunc(h));
    column.put(hceil(h));
    column.put(hfloor(h));
    integer.put(__float_as_uint(__half2float(h)));
    integer.put(__half2int_rn(h));
    integer.put(__half2int_rz(h));
    integer.put(__half2uint_ru(h));
    integer.put(__half2short_rd(h));
    integer.put(__half2ushort_rz(h));
    integer.put((unsigned)__half2char_rz(h));
    __half2 both = __floats2half2_rn(x, (float)n);
    integer.put(*reinterpret_cast<unsigned *>(&both));
    float2 back = __half22float2(both);
    integer.put(__float_as_uint(back.y));
    unsigned short relu;
    asm("cvt.rn.relu.f16.f32 %0, %1;" : "=h"(relu) : "f"(x));
    integer.put(relu);
    unsigned packed;
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(x), "f"(-x));
    integer.put(packed);
    longs[i] = __half2ll_rn(h);
}

// Elementary functions: approximate in binary32 and rounded to half, or native.
extern "C" __global__ void half_functions(const __half *in, __half *out)
{
    Column<__half> column(out);
    __half x = in[blockIdx.x * blockDim.x + threadIdx.x], r;
    column.put(hsqrt(x));
    column.put(hrsqrt(x));
    column.put(hrcp(x));
    column.put(hexp(x));
    column.put(hexp2(x));
    column.put(hexp10(x));
    column.put(hlog(x));
    column.put(hlog2(x));
    column.put(hlog10(x));
    column.put(hsin(x));
    column.put(hcos(x));
    asm("{ .reg .b16 a; mov.b16 a, %1; tanh.approx.f16 %0, a; }" : "=h"(*reinterpret_cast<unsigned short *>(&r)) : "h"(__half_as_ushort(x)));
    column.put(r);
    asm("ex2.approx.f16 %0, %1;" : "=h"(*reinterpret_cast<unsigned short *>(&r)) : "h"(__half_as_ushort(x)));
    column.put(r);
}

// A product of half matrices with sums in float, by half2 along the rows.
extern "C" __global__ void half_matvec(const __half2 *matrix, const __half2 *x, __half *y, int columns)
{
    const __half2 *row = matrix + blockIdx.x * columns / 2;
    __half2 sum = __float2half2_rn(0.0f);
    float wide = 0.0f;
    for (int i = threadIdx.x; i < columns / 2; i += 32) {
        sum = __hfma2(row[i], x[i], sum);
        float2 a = __half22float2(row[i]), b = __half22float2(x[i]);
        wide += a.x * b.x + a.y * b.y;
    }
    for (int offset = 16; offset; offset /= 2) {
        sum = __hadd2(sum, __shfl_xor_sync(0xffffffff, sum, offset));
        wide += __shfl_xor_sync(0xffffffff, wide, offset);
    }
    if (threadIdx.x == 0) {
        y[2 * blockIdx.x] = __low2half(sum) + __high2half(sum);
        y[2 * blockIdx.x + 1] = __float2half(wide);
    }
}

// Halves in atomics: single and paired, on global and shared memory. The sums are exact.
extern "C" __global__ void half_atomics(const __half *in, __half *sums, __half2 *pairs)
{
    __shared__ __half2 local;
    if (threadIdx.x == 0)
        local = __float2half2_rn(0.0f);
    __syncthreads();
    __half x = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&sums[threadIdx.x % 4], x);
    atomicAdd(&pairs[1], __halves2half2(x, -x));
    atomicAdd(&local, __halves2half2(x, __float2half(1.0f)));
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&pairs[0], local);
}
