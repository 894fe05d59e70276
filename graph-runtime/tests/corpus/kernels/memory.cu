// Memory of every space, width and volatility.

// Vector loads and stores of all widths: each swaps ends or rotates.
extern "C" __global__ void vectors(const uchar4 *bytes, uchar4 *bytes_out, const short2 *shorts, short2 *shorts_out, const int4 *words,
                                   int4 *words_out, const double2 *doubles, double2 *doubles_out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 b = bytes[i];
    bytes_out[i] = make_uchar4(b.w, b.z, b.y, b.x);
    short2 s = shorts[i];
    shorts_out[i] = make_short2(s.y, s.x);
    int4 w = words[i];
    words_out[i] = make_int4(w.y, w.z, w.w, w.x);
    double2 d = doubles[i];
    doubles_out[i] = make_double2(d.y, -d.x);
}

// Every cache hint, volatile, read-only and assembly forms; `out` has seventeen rows.
extern "C" __global__ void hints(const int *__restrict__ in, int *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int r;
    out[i] = __ldg(in + i);
    __stcg(out + n + i, __ldcg(in + i) + 1);
    __stcs(out + 2 * n + i, __ldcs(in + i) + 2);
    __stwt(out + 3 * n + i, __ldca(in + i) + 3);
    __stwb(out + 4 * n + i, __ldcv(in + i) + 4);
    out[5 * n + i] = __ldlu(in + i) + 5;
    *(volatile int *)(out + 6 * n + i) = *(const volatile int *)(in + i) + 6;
    asm volatile("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(r) : "l"(in + i));
    out[7 * n + i] = r;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(r) : "l"(in + i));
    asm volatile("st.relaxed.sys.global.s32 [%0], %1;" : : "l"(out + 8 * n + i), "r"(r + 8) : "memory");
    asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(r) : "l"(in + i) : "memory");
    asm volatile("st.release.cta.s32 [%0], %1;" : : "l"(out + 9 * n + i), "r"(r + 9) : "memory");
    asm volatile("prefetch.global.L2 [%0];" : : "l"(in));
    asm volatile("ld.global.L1::evict_last.s32 %0, [%1+0];" : "=r"(r) : "l"(in + i));
    out[10 * n + i] = r - 10;
    int4 v = __ldg((const int4 *)in + i / 4);
    out[11 * n + i] = v.x + v.y + v.z + v.w;
    unsigned short half;
    asm volatile("ld.global.v2.u16 {%0, _}, [%1];" : "=h"(half) : "l"(in + i));
    out[12 * n + i] = half;
    signed char c = __ldg((const signed char *)in + i);
    out[13 * n + i] = c;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(r) : "l"((const char *)in + i));
    out[14 * n + i] = r;
    asm volatile("ldu.global.b32 %0, [%1];" : "=r"(r) : "l"(in));
    out[15 * n + i] = r;
    asm volatile("{ .reg .pred p; isspacep.global p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(r) : "l"(out));
    out[16 * n + i] = r;
}

// A local array that is indexed by data, and one whose address is taken.
__device__ __noinline__ void rotate(int *values, int count, int by)
{
    for (int k = 0; k < by; k++) {
        int first = values[0];
        for (int i = 1; i < count; i++)
            values[i - 1] = values[i];
        values[count - 1] = first;
    }
}

extern "C" __global__ void local_arrays(const int *in, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int values[12];
    unsigned char counts[16] = {};
    for (int k = 0; k < 12; k++)
        values[k] = in[i] + k * k;
    rotate(values, 12, in[i] & 7);
    for (int k = 0; k < 12; k++)
        counts[values[k] & 15]++;
    int sum = 0;
    for (int k = 0; k < 16; k++)
        sum = sum * 3 + counts[(k + in[i]) & 15];
    out[i] = sum ^ values[in[i] & 7];
}

struct Entry {
    short key;
    char kind;
    float scale;
    double offset;
};

__constant__ Entry entries[4] = {{3, 'a', 1.5f, 0.25}, {-7, 'b', -2.0f, 1e10}, {100, 'c', 0.0f, -0.0}, {-32768, 'd', 3e38f, 5e-324}};
__constant__ const char text[] = "constant tables";
__constant__ float scale = 2.5f;
__constant__ const float *unset;

// Tables in constant memory, reached by an index that differs between lanes, of mixed types.
extern "C" __global__ void constants(const unsigned *index, double *out, unsigned char *characters)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const Entry &entry = entries[index[i] & 3];
    out[i] = entry.key + entry.kind * 1e-3 + entry.scale * (double)scale + entry.offset + (unset == nullptr);
    characters[i] = text[index[i] % sizeof text];
}

__device__ unsigned launches = 5;
__device__ double history[8] = {1.0, 2.0};
__device__ unsigned *last_place;

// Variables of the module keep their values from launch to launch; one is a pointer, which is followed in the next.
extern "C" __global__ void module_state(unsigned *counts, double *out)
{
    unsigned launch = launches;
    if (last_place)
        *last_place += 1000;
    history[launch % 8] += launch * 0.5;
    counts[launch % 8] = launch;
    last_place = &counts[launch % 8];
    launches = launch + 1;
    for (int i = 0; i < 8; i++)
        out[i] = history[i];
}

struct Parameters {
    int offsets[5];
    double weight;
    char tag;
    short pair[2];
    const int *nothing;
};

// A struct by value, read by a constant and by a dynamic index; narrow scalars.
extern "C" __global__ void parameters(Parameters p, unsigned char byte, short half, unsigned long long wide, bool flag, double *out)
{
    unsigned i = threadIdx.x;
    double sum = p.offsets[i % 5] + p.weight * p.tag + p.pair[i & 1];
    out[i] = flag ? sum + byte - half : (double)(wide >> (i & 63)) + (p.nothing != nullptr);
}

// Static, dynamic and carved shared memory of several types, and generic pointers that may lead to any space.
__device__ __noinline__ float sum_of(const float *values, int count)
{
    float sum = 0.0f;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

__constant__ float fixed[4] = {1.0f, 2.0f, 4.0f, 8.0f};

extern "C" __global__ void spaces(const float *in, float *out)
{
    __shared__ float still[4];
    extern __shared__ __align__(16) unsigned char raw[];
    double *doubles = reinterpret_cast<double *>(raw);
    short *shorts = reinterpret_cast<short *>(doubles + 32);
    unsigned i = threadIdx.x;
    float own[4] = {in[i], 1.0f, in[i] * 2.0f, (float)i};
    if (i < 4)
        still[i] = in[i] + 0.5f;
    doubles[i] = in[i] * 3.0;
    shorts[31 - i] = (short)in[i];
    __syncthreads();
    const float *where[4] = {in, still, fixed, own};
    float sum = sum_of(where[i % 4], 4);
    out[i] = sum + (float)doubles[i ^ 1] + shorts[i];
    out[32 + i] = (__isShared(where[i % 4]) ? 1 : 0) + (__isGlobal(where[i % 4]) ? 2 : 0) + (__isLocal(where[i % 4]) ? 4 : 0);
}

// memcpy and memset in kernels, unaligned pieces by bytes, bit-fields.
struct Flags {
    unsigned low : 5, middle : 11, high : 16;
    int negative : 7;
};

extern "C" __global__ void pieces(const unsigned char *in, unsigned char *out, Flags *flags)
{
    unsigned i = threadIdx.x;
    unsigned char buffer[24];
    memset(buffer, 0xa5, sizeof buffer);
    memcpy(buffer + 3, in + i, 8);
    memcpy(buffer + 12 + (in[i] & 3), in + i, 5);
    memcpy(out + i * 24, buffer, 24);
    Flags f = {};
    f.low = in[i];
    f.middle = in[i] * 37;
    f.high = ~in[i];
    f.negative = in[i];
    flags[i] = f;
    flags[i].middle++;
    flags[i].negative -= 3;
}
