// cuda-graph: --gpu-architecture=compute_80
// Copies from global to shared memory that run beside the computation.

#include <cuda_pipeline.h>

// Sums of tiles through two stages of cp.async.
extern "C" __global__ void pipeline(const float4 *in, float4 *out, int tiles)
{
    __shared__ float4 stage[2][64];
    unsigned t = threadIdx.x;
    auto copy = [&](int tile) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&stage[tile & 1][t]);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(in + tile * 64 + t) : "memory");
        asm volatile("cp.async.commit_group;" : : : "memory");
    };
    copy(0);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles) {
            copy(tile + 1);
            asm volatile("cp.async.wait_group 1;" : : : "memory");
        } else
            asm volatile("cp.async.wait_all;" : : : "memory");
        __syncthreads();
        float4 other = stage[tile & 1][63 - t];
        sum.x += other.x;
        sum.y += other.y;
        sum.z += other.z;
        sum.w += other.w;
        __syncthreads();
    }
    out[t] = sum;
}

// Copies of 4, 8 and 16 bytes, cut short so that the rest is zeroed.
extern "C" __global__ void copy_sizes(const unsigned *in, unsigned *out, int valid)
{
    __shared__ __align__(16) unsigned words[3][128];
    unsigned t = threadIdx.x;
    for (int row = 0; row < 3; row++)
        words[row][t] = 0xdeadbeef;
    __syncthreads();
    unsigned to = (unsigned)__cvta_generic_to_shared(&words[0][t]);
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4;" : : "r"(to), "l"(in + t) : "memory");
    if (t < 64) {
        to = (unsigned)__cvta_generic_to_shared(&words[1][2 * t]);
        int bytes = max(0, min(8, (valid - 2 * (int)t) * 4));
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" : : "r"(to), "l"(in + 2 * t), "r"(bytes) : "memory");
    }
    if (t < 32) {
        to = (unsigned)__cvta_generic_to_shared(&words[2][4 * t]);
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 3; cp.async.cg.shared.global [%0], [%1], 16, p; }"
                     :
                     : "r"(to), "l"(in + 4 * t), "r"(t & 3)
                     : "memory");
    }
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" : : : "memory");
    __syncthreads();
    for (int row = 0; row < 3; row++)
        out[row * 128 + t] = words[row][127 - t];
}

// Rows of a matrix turned into columns, each loaded while the one before is stored, by the intrinsics of
// cuda_pipeline.h.
extern "C" __global__ void pipeline_intrinsics(const int2 *in, int2 *out, int rows)
{
    __shared__ int2 buffer[3][32];
    unsigned t = threadIdx.x;
    for (int row = 0; row < rows + 2; row++) {
        if (row < rows)
            __pipeline_memcpy_async(&buffer[row % 3][t], &in[row * 32 + t], sizeof(int2), row == 1 && t >= 16 ? sizeof(int2) : 0);
        __pipeline_commit();
        if (row >= 2) {
            __pipeline_wait_prior(2);
            __syncthreads();
            int2 value = buffer[(row - 2) % 3][31 - t];
            out[t * rows + row - 2] = make_int2(value.y, value.x);
            __syncthreads();
        }
    }
}
