// xtask: variants
// What sm_90 adds: programmatic launches, clusters, bulk copies.
#include <cuda_fp16.h>
typedef unsigned long long u64;
extern "C" __global__ void chained(const float *in, float *out) {
    float before = in[threadIdx.x];
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[threadIdx.x] += before;
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) clustered(int *out) {
    __shared__ int mine;
    mine = threadIdx.x;
    unsigned addr = (unsigned)__cvta_generic_to_shared(&mine), other; int v;
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;\n\tld.shared::cluster.s32 %2, [%0];" : "=r"(other), "=r"(addr), "=r"(v));
    out[threadIdx.x] = v;
}
extern "C" __global__ void bulk(const float *in, float *out) {
    __shared__ alignas(128) float tile[256];
    __shared__ u64 bar;
    unsigned t = (unsigned)__cvta_generic_to_shared(tile), b = (unsigned)__cvta_generic_to_shared(&bar);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" :: "r"(t), "l"(in), "r"(b) : "memory");
    asm volatile("{\n\t.reg .pred P1;\n\tLAB_WAIT:\n\tmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], 0;\n\t@P1 bra DONE;\n\tbra LAB_WAIT;\n\tDONE:\n\t}" :: "r"(b));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" :: "l"(out), "r"(t) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
}
struct alignas(64) Map { u64 opaque[16]; };
extern "C" __global__ void tensor(const __grid_constant__ Map in, const __grid_constant__ Map out, int x) {
    __shared__ alignas(128) float tile[256];
    __shared__ u64 bar;
    unsigned t = (unsigned)__cvta_generic_to_shared(tile), b = (unsigned)__cvta_generic_to_shared(&bar);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :: "r"(t), "l"(&in), "r"(x), "r"(0), "r"(b) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&out), "r"(x), "r"(0), "r"(t) : "memory");
}
extern "C" __global__ void staged(const float4 *in, float4 *out) {
    __shared__ float4 tile[32];
    unsigned t = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;" :: "r"(t), "l"(in + threadIdx.x) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void matrix(const __half *a, float *d) {
    __shared__ __half tile[256];
    tile[threadIdx.x] = a[threadIdx.x];
    unsigned t = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x * 8 % 256]), r0, r1, r2, r3; float f0 = 0, f1 = 0, f2 = 0, f3 = 0;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(t));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+f"(f0), "+f"(f1), "+f"(f2), "+f"(f3) : "r"(r0), "r"(r1), "r"(r2));
    d[threadIdx.x] = f0 + f1 + f2 + f3 + __uint_as_float(r3);
}
