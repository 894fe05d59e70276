// Atomic operations of every kind. Where the order of threads would show, only what it cannot change is kept.

// 32-bit operations on global memory.
extern "C" __global__ void atomics_32(const int *in, int *out, unsigned *unsigned_out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = in[i];
    atomicAdd(&out[0], x);
    atomicSub(&out[1], x);
    atomicMin(&out[2], x);
    atomicMax(&out[3], x);
    atomicAnd(&out[4], x | 0xff);
    atomicOr(&out[5], x & 0xf0f0);
    atomicXor(&out[6], x);
    atomicAdd(&unsigned_out[0], (unsigned)x);
    atomicMin(&unsigned_out[1], (unsigned)x);
    atomicMax(&unsigned_out[2], (unsigned)x);
    atomicInc(&unsigned_out[3], 6u);
    atomicDec(&unsigned_out[4], 9u);
    // Tickets: each thread gets one of its own.
    unsigned_out[8 + atomicAdd(&unsigned_out[5], 1u)] = 1;
    // Exchanges: all values but one come back.
    int before = atomicExch(&out[7], (int)i + 1);
    atomicAdd(&out[8], before);
    atomicAdd(&out[9], before != 0);
}

// 64-bit operations on global memory.
extern "C" __global__ void atomics_64(const long long *in, long long *out, unsigned long long *unsigned_out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    long long x = in[i];
    atomicMin(&out[0], x);
    atomicMax(&out[1], x);
    atomicAdd(&unsigned_out[0], (unsigned long long)x);
    atomicMin(&unsigned_out[1], (unsigned long long)x);
    atomicMax(&unsigned_out[2], (unsigned long long)x);
    atomicAnd(&unsigned_out[3], (unsigned long long)x | 0xffffffffull);
    atomicOr(&unsigned_out[4], (unsigned long long)x & 0x1111111111111111ull);
    atomicXor(&unsigned_out[5], (unsigned long long)x);
    unsigned long long before = atomicExch(&unsigned_out[6], i + 1ull);
    atomicAdd(&unsigned_out[7], before);
    unsigned long long seen = unsigned_out[8], expected;
    do {
        expected = seen;
        seen = atomicCAS(&unsigned_out[8], expected, expected + (x & 0xff));
    } while (seen != expected);
}

// Sums of floats that are exact in any order; a maximum of floats, and a product, by compare and swap.
extern "C" __global__ void atomics_float(const float *in, float *out, double *wide)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    atomicAdd(&out[0], x);
    atomicAdd(&out[1 + i % 3], -x);
    atomicAdd(wide, (double)x * 0x1p40);
    int *cell = (int *)&out[4], old = *cell, assumed;
    do {
        assumed = old;
        old = atomicCAS(cell, assumed, __float_as_int(fmaxf(x, __int_as_float(assumed))));
    } while (assumed != old);
    unsigned long long *product = (unsigned long long *)(wide + 1), seen = *product, expected;
    do {
        expected = seen;
        double next = __longlong_as_double(expected) * (i % 8 == 0 ? 0.5 : i % 8 == 4 ? 2.0 : 1.0);
        seen = atomicCAS(product, expected, __double_as_longlong(next));
    } while (seen != expected);
    atomicExch(&out[5], 3.25f);
}

// All of them on shared memory, in the scope of the block.
extern "C" __global__ void atomics_shared(const int *in, int *out, unsigned long long *wide, float *floats)
{
    __shared__ int cells[12];
    __shared__ unsigned long long wides[6];
    __shared__ float sums[2];
    __shared__ double double_sum;
    unsigned t = threadIdx.x;
    if (t < 12)
        cells[t] = t == 3 ? -1 : 0;
    if (t < 6)
        wides[t] = t == 2 ? ~0ull : 0;
    if (t < 2)
        sums[t] = 0.0f;
    if (t == 0)
        double_sum = 0.0;
    __syncthreads();
    int x = in[blockIdx.x * blockDim.x + t];
    atomicAdd(&cells[0], x);
    atomicMin(&cells[1], x);
    atomicMax_block(&cells[2], x);
    atomicAnd(&cells[3], x | 7);
    atomicOr(&cells[4], x & 0x777);
    atomicXor(&cells[5], x);
    atomicInc((unsigned *)&cells[6], 11u);
    atomicDec((unsigned *)&cells[7], 11u);
    int old = cells[8], assumed;
    do {
        assumed = old;
        old = atomicCAS(&cells[8], assumed, assumed + (x & 3));
    } while (old != assumed);
    int before = atomicExch(&cells[9], (int)t + 1);
    atomicAdd(&cells[10], before);
    atomicSub(&cells[11], x);
    unsigned long long w = (unsigned long long)(long long)x * 0x100000001ull;
    atomicAdd(&wides[0], w);
    atomicMax(&wides[1], w);
    atomicMin(&wides[2], w);
    atomicXor(&wides[3], w);
    atomicOr(&wides[4], w & 0xf0f0f0f0f0ull);
    unsigned long long seen = wides[5], expected;
    do {
        expected = seen;
        seen = atomicCAS(&wides[5], expected, expected + 3);
    } while (seen != expected);
    atomicAdd(&sums[t & 1], (float)(x & 0xff));
    atomicAdd_block(&double_sum, (double)(x & 0xfff) + 0.25);
    __syncthreads();
    if (t < 12)
        out[blockIdx.x * 12 + t] = cells[t];
    if (t < 6)
        wide[blockIdx.x * 6 + t] = wides[t];
    if (t < 3)
        floats[blockIdx.x * 3 + t] = t < 2 ? sums[t] : (float)double_sum;
}

// Sixteen-bit compare and swap, scopes and orders spelt out, reductions without a result.
extern "C" __global__ void atomics_assembly(const unsigned *in, unsigned *out, unsigned short *narrow)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], r;
    asm volatile("red.global.add.u32 [%0], %1;" : : "l"(out), "r"(x) : "memory");
    asm volatile("red.relaxed.gpu.global.max.s32 [%0+4], %1;" : : "l"(out), "r"(x) : "memory");
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(out + 2), "r"(1u) : "memory");
    atomicAdd(&out[6], r); // all tickets
    asm volatile("atom.relaxed.sys.xor.b32 %0, [%1+12], %2;" : "=r"(r) : "l"(out), "r"(x) : "memory");
    asm volatile("atom.global.cta.min.u32 %0, [%1], %2;" : "=r"(r) : "l"(out + 4 + blockIdx.x), "r"(x) : "memory");
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
    asm volatile("fence.sc.sys;" : : : "memory");
    __threadfence_block();
    __threadfence_system();
    unsigned short seen = narrow[i & 1], expected;
    do {
        expected = seen;
        asm volatile("atom.global.cas.b16 %0, [%1], %2, %3;"
                     : "=h"(seen)
                     : "l"(narrow + (i & 1)), "h"(expected), "h"((unsigned short)(expected + 5))
                     : "memory");
    } while (seen != expected);
}
