// cuda-graph: --gpu-architecture=compute_80
// Matrix products on tensor cores, one warp for each tile.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

// c (16 x 8) = a (16 x 16) b (16 x 8) + c in half precision with float sums; fragments through ldmatrix.
extern "C" __global__ void mma_f16(const __half *a, const __half *b, float *c)
{
    __shared__ __align__(16) __half left[16][16], right[16][8];
    unsigned lane = threadIdx.x, x[4], y[2];
    a += blockIdx.x * 256;
    b += blockIdx.x * 128;
    c += blockIdx.x * 128;
    for (unsigned i = lane; i < 256; i += 32)
        left[i / 16][i % 16] = a[i];
    for (unsigned i = lane; i < 128; i += 32)
        right[i / 8][i % 8] = b[i];
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(&left[lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(y[0]), "=r"(y[1])
                 : "r"(shared_address(&right[lane % 16][0])));
    unsigned row = lane / 4, column = lane % 4 * 2;
    float sum[4] = {c[row * 8 + column], c[row * 8 + column + 1], c[(row + 8) * 8 + column], c[(row + 8) * 8 + column + 1]};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    c[row * 8 + column] = sum[0];
    c[row * 8 + column + 1] = sum[1];
    c[(row + 8) * 8 + column] = sum[2];
    c[(row + 8) * 8 + column + 1] = sum[3];
}

// As above, with sums in half precision, k = 8 and then k = 16, fragments straight from registers.
extern "C" __global__ void mma_f16_sums(const unsigned *a, const unsigned *b, unsigned *d)
{
    unsigned lane = threadIdx.x, sum[2] = {0, 0};
    a += lane * 6;
    b += lane * 3;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
                 : "+r"(sum[0]), "+r"(sum[1])
                 : "r"(a[4]), "r"(a[5]), "r"(b[2]));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(sum[0]), "+r"(sum[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    d[lane * 2] = sum[0];
    d[lane * 2 + 1] = sum[1];
}

// bfloat16 with k = 8 and k = 16, TF32 with k = 4 and k = 8, and bytes with k = 32, each lane its own fragments.
extern "C" __global__ void mma_kinds(const unsigned *bfloats, const float *floats, const unsigned *bytes, float *sums, int *integers)
{
    unsigned lane = threadIdx.x;
    const unsigned *p = bfloats + lane * 9;
    float d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(p[6]), "r"(p[7]), "r"(p[8]));
    for (int k = 0; k < 4; k++)
        sums[lane * 4 + k] = d[k];
    unsigned t[9];
    for (int k = 0; k < 9; k++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(t[k]) : "f"(floats[lane * 9 + k]));
    float e[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])
                 : "r"(t[0]), "r"(t[1]), "r"(t[2]), "r"(t[3]), "r"(t[4]), "r"(t[5]));
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])
                 : "r"(t[6]), "r"(t[7]), "r"(t[8]));
    for (int k = 0; k < 4; k++)
        sums[128 + lane * 4 + k] = e[k];
    const unsigned *q = bytes + lane * 6;
    int f[4] = {-1, 0, 1, 2};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(f[0]), "+r"(f[1]), "+r"(f[2]), "+r"(f[3])
                 : "r"(q[0]), "r"(q[1]), "r"(q[2]), "r"(q[3]), "r"(q[4]), "r"(q[5]));
    for (int k = 0; k < 4; k++)
        integers[lane * 4 + k] = f[k];
}
