// xtask: variants
// One kernel for each feature of PTX that ordinary code brings about.
#include <cuda_fp16.h>
extern "C" __device__ int vprintf(const char *, const void *);
extern "C" __global__ void prints(const int *x) { int v = x[threadIdx.x]; vprintf("value %d\n", &v); }

extern "C" __global__ void switches(int *out, int n) {
    switch (out[threadIdx.x]) {
    case 0: out[0] = n; break;
    case 1: out[1] = n * 3; break;
    case 2: out[2] = n ^ 5; break;
    case 3: out[3] = n / 7; break;
    case 4: out[4] = __popc(n); break;
    case 5: out[5] = n % 11; break;
    default: out[6] = n << 3;
    }
}
extern "C" __global__ void inlined(unsigned *out, const unsigned *in) {
    unsigned x = in[threadIdx.x], y;
    asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 t<3>;\n\tsetp.gt.u32 p, %1, 7;\n\tadd.u32 t0, %1, 1;\n\tselp.u32 t1, t0, 9, p;\n\t@p bra DONE;\n\tmov.u32 t1, 4;\n\tDONE:\n\tmov.u32 %0, t1;\n\t}" : "=r"(y) : "r"(x));
    asm volatile("{\n\t.reg .pred p;\n\tsetp.gt.u32 p, %1, 9;\n\t@p bra DONE;\n\tst.global.u32 [%0], %1;\n\tDONE:\n\t}" :: "l"(out + 1), "r"(y) : "memory");
    out[0] = y;
}
extern "C" __global__ void trigonometry(float *out, const float *in) { out[threadIdx.x] = sinf(in[threadIdx.x]) + powf(in[1], in[2]); }
extern "C" __global__ void warps(int *out) {
    int v = out[threadIdx.x];
    for (int step = 16; step; step >>= 1) v += __shfl_xor_sync(~0u, v, step);
    if (__any_sync(~0u, v > 3)) out[threadIdx.x] = v + __ballot_sync(~0u, v & 1);
}
extern "C" __global__ void halves(__half2 *out, const __half2 *in, float4 *wide) {
    out[threadIdx.x] = __hfma2(in[threadIdx.x], in[1], in[2]);
    float4 w = wide[threadIdx.x];
    wide[threadIdx.x] = make_float4(w.w, w.z, w.y, w.x);
}
extern "C" __global__ void doubles(double *out, long long *n) { out[0] = sqrt(out[1]) / (double)n[0]; n[1] = (long long)out[2] / n[2]; }
struct Big { int values[12]; };
__device__ __noinline__ Big make(int n) { Big b; for (int i = 0; i < 12; i++) b.values[i] = n * i; return b; }
extern "C" __global__ void structs(int *out, int n) { Big b = make(n); out[0] = b.values[n % 12]; }
struct Base { virtual __device__ int value(int) = 0; };
struct One : Base { __device__ int value(int n) override { return n + 1; } };
struct Two : Base { __device__ int value(int n) override { return n * 2; } };
extern "C" __global__ void virtuals(int *out, int n) { One one; Two two; Base *b = n > 3 ? (Base *)&one : (Base *)&two; out[0] = b->value(n); }
__device__ struct { int a; const char *name; short s; } record = {7, "seven", 3};
__device__ double matrix[2][3] = {{1, 2}, {3}};
extern "C" __global__ void tables(double *out) { out[threadIdx.x] = matrix[threadIdx.x & 1][threadIdx.x % 3] + record.a + record.name[out[0] > 1]; }
__device__ __managed__ int managed_count;
extern "C" __global__ void counting() { managed_count++; }
