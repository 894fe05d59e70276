// cuda-graph: --gpu-architecture=compute_80 --device-int128
// Every number type, carry chains, conversions, asynchronous copies, 64-bit atomics, bit tricks.
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void halves(const __half2 *a, const __half2 *b, __half2 *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = __hadd2(__hfma2(a[i], b[i], a[i]), __hmul2(a[i], __float2half2_rn(0.1f)));
}

extern "C" __global__ void brains(const float *a, float *out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 x = __float2bfloat16(a[i]);
    out[i] = __bfloat162float(__hfma(x, x, x)) + __bfloat162float(__hmax(x, __float2bfloat16(0.5f)));
}

extern "C" __global__ void conversions(const float *a, int *out) {
    int i = threadIdx.x;
    float x = a[i];
    int *o = out + i * 16;
    o[0] = (int)x; o[1] = (int)(unsigned)x; o[2] = __float2int_rn(x); o[3] = __float2int_ru(x);
    o[4] = __float2int_rd(x); o[5] = (signed char)(int)x; o[6] = (int)(long long)x; o[7] = (int)((unsigned long long)x >> 7);
    o[8] = __float_as_int(rintf(x)); o[9] = __float_as_int(floorf(x)); o[10] = __float_as_int((float)(double)x * 0.5f);
    o[11] = __half_as_ushort(__float2half_rn(x)); o[12] = (short)__double2int_rz((double)x * 3.0);
    o[13] = __float_as_int(__saturatef(x)); o[14] = __float_as_int((float)(unsigned)(i * 0x1234567u)); o[15] = __float_as_int(truncf(x));
}

extern "C" __global__ void rounding(const float *a, const float *b, float *out) {
    int i = threadIdx.x;
    float *o = out + i * 12;
    o[0] = __fadd_rz(a[i], b[i]); o[1] = __fadd_ru(a[i], b[i]); o[2] = __fadd_rd(a[i], b[i]);
    o[3] = __fmul_rz(a[i], b[i]); o[4] = __fmul_ru(a[i], b[i]); o[5] = __fmaf_rd(a[i], b[i], a[i]);
    o[6] = __fdiv_ru(a[i], b[i]); o[7] = __fsqrt_rd(fabsf(a[i])); o[8] = __frcp_rz(b[i]);
    o[9] = (float)__dadd_ru((double)a[i], 1e-30); o[10] = __double2float_rd((double)a[i] * b[i]); o[11] = __int2float_rz(i * 0x7654321);
}

extern "C" __global__ void wide_integers(const unsigned long long *a, unsigned long long *out) {
    int i = threadIdx.x;
    unsigned __int128 x = (unsigned __int128)a[i] * a[i + 1];
    x += (unsigned __int128)a[i + 1] << 32;
    x -= a[i];
    out[2 * i] = (unsigned long long)x;
    out[2 * i + 1] = (unsigned long long)(x >> 64);
}

extern "C" __global__ void bit_tricks(const unsigned *a, unsigned *out) {
    int i = threadIdx.x;
    unsigned x = a[i], y = a[(i + 1) % 32];
    out[i] = __byte_perm(x, y, 0x3175) + __funnelshift_l(x, y, i) + __funnelshift_rc(x, y, i + 8) + __dp4a((int)x, (int)y, 7)
        + __usad(x, y, 3) + ((x >> 5) & 0x7ff) + (unsigned)__popcll((unsigned long long)x * y) + __uhadd(x, y) + __vadd4(x, y);
}

extern "C" __global__ void wide_atomics(unsigned long long *sum, double *total, float *best, unsigned *ring) {
    atomicAdd(sum, 1ull << threadIdx.x % 40);
    atomicAdd(total, 0.5);
    atomicMax((int *)best, __float_as_int((float)threadIdx.x));
    atomicInc(ring, 9);
}

extern "C" __global__ void async_copy(const float *in, float *out) {
    __shared__ float tile[128];
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(in + threadIdx.x));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

extern "C" __global__ void switches(const int *in, int *out) {
    int i = threadIdx.x, x = in[i];
    switch (x) {
    case 0: x = 17; break; case 1: x = x * x + 5; break; case 2: x = i; break; case 3: x = -1; break;
    case 4: x ^= i; break; case 5: x = 99 - i; break; case 6: x = i * 7; break; case 7: x = 1 << (i & 7); break;
    default: x = 1000;
    }
    out[i] = x;
}

extern "C" __global__ void local_arrays(const int *in, int *out, int n) {
    int data[16];
    for (int k = 0; k < 16; k++) data[k] = in[(threadIdx.x + k) % n];
    for (int k = 0; k < n; k++) { int j = in[k] & 15; int t = data[j]; data[j] = data[(j * 7 + k) & 15]; data[(j * 7 + k) & 15] = t; }
    int sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * 31 + data[k];
    out[threadIdx.x] = sum;
}

extern "C" __global__ void barrier_reductions(const int *in, int *out) {
    int i = threadIdx.x, x = in[i];
    out[i] = __syncthreads_count(x > 3) * 100 + (__syncthreads_or(x == 7) ? 10 : 0) + (__syncthreads_and(x >= 0) ? 1 : 0)
        + __reduce_add_sync(~0u, x) * 1000;
}

extern "C" __global__ void fast_math(const float *in, float *out) {
    float x = in[threadIdx.x];
    out[threadIdx.x] = __expf(x) + __logf(x + 2) + __sinf(x) + __fdividef(x, 3.0f) + rsqrtf(x + 2) + __powf(x + 2, 0.5f);
}
