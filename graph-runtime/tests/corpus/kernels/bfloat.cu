// cuda-graph: --gpu-architecture=compute_90
// bfloat16. Row r of thread i is out[r * threads + i].

#include <cuda_bf16.h>

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

extern "C" __global__ void bfloat_arithmetic(const __nv_bfloat16 *first, const __nv_bfloat16 *second, const __nv_bfloat16 *third,
                                             __nv_bfloat16 *out)
{
    Column<__nv_bfloat16> column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_bfloat16 a = first[i], b = second[i], c = third[i];
    column.put(a + b);
    column.put(a - b);
    column.put(a * b);
    column.put(__hfma(a, b, c));
    column.put(__hadd_sat(a, b));
    column.put(__hfma_sat(a, b, c));
    column.put(__hfma_relu(a, b, c));
    column.put(__hmin(a, b));
    column.put(__hmax(a, b));
    column.put(__hmax_nan(a, b));
    column.put(__habs(a));
    column.put(-a);
    column.put(a / b);
}

extern "C" __global__ void bfloat2_arithmetic(const __nv_bfloat162 *first, const __nv_bfloat162 *second,
                                              const __nv_bfloat162 *third, __nv_bfloat162 *out, unsigned *masks)
{
    Column<__nv_bfloat162> column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_bfloat162 a = first[i], b = second[i], c = third[i];
    column.put(__hadd2(a, b));
    column.put(__hsub2(a, b));
    column.put(__hmul2(a, b));
    column.put(__hfma2(a, b, c));
    column.put(__hfma2_sat(a, b, c));
    column.put(__hfma2_relu(a, b, c));
    column.put(__hmin2(a, b));
    column.put(__hmax2_nan(a, b));
    column.put(__habs2(a));
    column.put(__hneg2(a));
    column.put(__hlt2(a, b));
    column.put(__hgeu2(a, b));
    Column<unsigned> mask(masks);
    mask.put(__hne2_mask(a, b));
    mask.put(__hbeq2(a, b) | __hbltu2(a, b) << 1 | __hisnan(__low2bfloat16(a)) << 2 | __hgt(__high2bfloat16(a), __high2bfloat16(b)) << 3);
}

extern "C" __global__ void bfloat_convert(const float *in, const double *wide, const int *integers, __nv_bfloat16 *out, unsigned *words,
                                          float *floats)
{
    Column<__nv_bfloat16> column(out);
    Column<unsigned> integer(words);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    int n = integers[i];
    __nv_bfloat16 b = __float2bfloat16_rn(x);
    column.put(b);
    column.put(__float2bfloat16_rz(x));
    column.put(__float2bfloat16_ru(x));
    column.put(__float2bfloat16_rd(x));
    column.put(__double2bfloat16(wide[i]));
    column.put(__int2bfloat16_rn(n));
    column.put(__uint2bfloat16_rz(n));
    column.put(__short2bfloat16_ru((short)n));
    column.put(__ll2bfloat16_rd((long long)n * n));
    column.put(hrint(b));
    column.put(hfloor(b));
    column.put(htrunc(b));
    integer.put(__bfloat162int_rn(b));
    integer.put(__bfloat162uint_rz(b));
    integer.put(__bfloat162ushort_rd(b));
    __nv_bfloat162 both = __floats2bfloat162_rn(x, -1.0f);
    integer.put(*reinterpret_cast<unsigned *>(&both));
    unsigned packed;
    asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(x), "f"(-x));
    integer.put(packed);
    Column<float> single(floats);
    single.put(__bfloat162float(b));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(packed) : "f"(x));
    single.put(__uint_as_float(packed));
}

extern "C" __global__ void bfloat_functions(const __nv_bfloat16 *in, __nv_bfloat16 *out)
{
    Column<__nv_bfloat16> column(out);
    __nv_bfloat16 x = in[blockIdx.x * blockDim.x + threadIdx.x], r;
    column.put(hsqrt(x));
    column.put(hrsqrt(x));
    column.put(hrcp(x));
    column.put(hexp(x));
    column.put(hexp2(x));
    column.put(hlog(x));
    column.put(hlog2(x));
    column.put(hsin(x));
    column.put(hcos(x));
    asm("tanh.approx.bf16 %0, %1;" : "=h"(*reinterpret_cast<unsigned short *>(&r)) : "h"(__bfloat16_as_ushort(x)));
    column.put(r);
    asm("ex2.approx.ftz.bf16 %0, %1;" : "=h"(*reinterpret_cast<unsigned short *>(&r)) : "h"(__bfloat16_as_ushort(x)));
    column.put(r);
}

// Adam with bfloat16 weights and float moments.
extern "C" __global__ void adam(__nv_bfloat16 *weights, const __nv_bfloat16 *gradients, float *first, float *second, float rate, int step)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float gradient = __bfloat162float(gradients[i]);
    float m = first[i] = 0.9f * first[i] + 0.1f * gradient;
    float v = second[i] = 0.999f * second[i] + 0.001f * gradient * gradient;
    m /= 1.0f - powf(0.9f, step);
    v /= 1.0f - powf(0.999f, step);
    weights[i] = __float2bfloat16(__bfloat162float(weights[i]) - rate * m / (sqrtf(v) + 1e-8f));
}

extern "C" __global__ void bfloat_atomics(const __nv_bfloat16 *in, __nv_bfloat16 *sums, __nv_bfloat162 *pairs)
{
    __nv_bfloat16 x = in[threadIdx.x];
    atomicAdd(&sums[threadIdx.x % 4], x);
    atomicAdd(&pairs[threadIdx.x % 2], __halves2bfloat162(x, -x));
}
