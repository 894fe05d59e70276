// cuda-graph: --gpu-architecture=compute_75
// Conversions of every kind. Row r of thread i is out[r * threads + i].

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

extern "C" __global__ void float_to_integer(const float *in, unsigned *out, unsigned long long *wide)
{
    Column<unsigned> column(out);
    Column<unsigned long long> wides(wide);
    float x = in[blockIdx.x * blockDim.x + threadIdx.x];
    column.put(__float2int_rn(x));
    column.put(__float2int_rz(x));
    column.put(__float2int_ru(x));
    column.put(__float2int_rd(x));
    column.put(__float2uint_rn(x));
    column.put(__float2uint_rz(x));
    column.put(__float2uint_ru(x));
    column.put(__float2uint_rd(x));
    wides.put(__float2ll_rn(x));
    wides.put(__float2ll_rz(x));
    wides.put(__float2ll_ru(x));
    wides.put(__float2ll_rd(x));
    wides.put(__float2ull_rn(x));
    wides.put(__float2ull_rz(x));
    wides.put(__float2ull_ru(x));
    wides.put(__float2ull_rd(x));
    short narrow;
    asm("cvt.rzi.s16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
    column.put(narrow);
    asm("cvt.rni.u16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
    column.put((unsigned short)narrow);
    unsigned byte;
    asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(byte) : "f"(x));
    column.put(byte);
    asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(byte) : "f"(x));
    column.put(byte);
    asm("cvt.rmi.ftz.s32.f32 %0, %1;" : "=r"(byte) : "f"(x));
    column.put(byte);
}

extern "C" __global__ void double_to_integer(const double *in, unsigned *out, unsigned long long *wide)
{
    Column<unsigned> column(out);
    Column<unsigned long long> wides(wide);
    double x = in[blockIdx.x * blockDim.x + threadIdx.x];
    column.put(__double2int_rn(x));
    column.put(__double2int_rz(x));
    column.put(__double2int_ru(x));
    column.put(__double2int_rd(x));
    column.put(__double2uint_rn(x));
    column.put(__double2uint_rz(x));
    column.put(__double2uint_ru(x));
    column.put(__double2uint_rd(x));
    wides.put(__double2ll_rn(x));
    wides.put(__double2ll_rz(x));
    wides.put(__double2ll_ru(x));
    wides.put(__double2ll_rd(x));
    wides.put(__double2ull_rn(x));
    wides.put(__double2ull_rz(x));
    wides.put(__double2ull_ru(x));
    wides.put(__double2ull_rd(x));
    short narrow;
    asm("cvt.rzi.s16.f64 %0, %1;" : "=h"(narrow) : "d"(x));
    column.put(narrow);
    asm("cvt.rni.u16.f64 %0, %1;" : "=h"(narrow) : "d"(x));
    column.put((unsigned short)narrow);
    unsigned byte;
    asm("cvt.rzi.u8.f64 %0, %1;" : "=r"(byte) : "d"(x));
    column.put(byte);
    asm("cvt.rzi.sat.s8.f64 %0, %1;" : "=r"(byte) : "d"(x));
    column.put(byte);
    column.put(__double2loint(x));
    column.put(__double2hiint(x));
}

extern "C" __global__ void integer_to_float(const unsigned *in, float *out, double *wide)
{
    Column<float> column(out);
    Column<double> wides(wide);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    unsigned long long w = (unsigned long long)x << 32 | __brev(x) >> (i & 31);
    column.put(__int2float_rn(x));
    column.put(__int2float_rz(x));
    column.put(__int2float_ru(x));
    column.put(__int2float_rd(x));
    column.put(__uint2float_rn(x));
    column.put(__uint2float_rz(x));
    column.put(__uint2float_ru(x));
    column.put(__uint2float_rd(x));
    column.put(__ll2float_rn(w));
    column.put(__ll2float_rz(w));
    column.put(__ll2float_ru(w));
    column.put(__ll2float_rd(w));
    column.put(__ull2float_rn(w));
    column.put(__ull2float_rz(w));
    column.put(__ull2float_ru(w));
    column.put(__ull2float_rd(w));
    column.put((float)(short)x);
    column.put((float)(unsigned char)x);
    column.put((float)(signed char)x);
    wides.put(__int2double_rn(x));
    wides.put(__uint2double_rn(x));
    wides.put(__ll2double_rn(w));
    wides.put(__ll2double_rz(w));
    wides.put(__ll2double_ru(w));
    wides.put(__ll2double_rd(w));
    wides.put(__ull2double_rn(w));
    wides.put(__ull2double_rz(w));
    wides.put(__ull2double_ru(w));
    wides.put(__ull2double_rd(w));
}

extern "C" __global__ void between_floats(const float *in, const double *wide_in, float *out, double *wide)
{
    Column<float> column(out);
    Column<double> wides(wide);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], f;
    double d = wide_in[i];
    wides.put(x);
    column.put(__double2float_rn(d));
    column.put(__double2float_rz(d));
    column.put(__double2float_ru(d));
    column.put(__double2float_rd(d));
    column.put(rintf(x));
    column.put(truncf(x));
    column.put(ceilf(x));
    column.put(floorf(x));
    column.put(roundf(x));
    column.put(nearbyintf(x));
    wides.put(rint(d));
    wides.put(trunc(d));
    wides.put(ceil(d));
    wides.put(floor(d));
    wides.put(round(d));
    asm("cvt.sat.f32.f32 %0, %1;" : "=f"(f) : "f"(x));
    column.put(f);
    asm("cvt.rni.ftz.f32.f32 %0, %1;" : "=f"(f) : "f"(x));
    column.put(f);
    asm("cvt.rn.ftz.f32.f64 %0, %1;" : "=f"(f) : "d"(d));
    column.put(f);
    asm("cvt.rn.sat.f32.f64 %0, %1;" : "=f"(f) : "d"(d));
    column.put(f);
}

// Narrowing with saturation, sign extension, truncation.
extern "C" __global__ void between_integers(const unsigned *in, unsigned *out, unsigned long long *wide)
{
    Column<unsigned> column(out);
    Column<unsigned long long> wides(wide);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], r;
    unsigned long long w = (unsigned long long)x << 20 | x;
    unsigned short h;
    column.put((signed char)x);
    column.put((unsigned char)x);
    column.put((short)x);
    column.put((unsigned short)x);
    wides.put((long long)(int)x);
    wides.put((signed char)x);
    wides.put((unsigned long long)(long long)(short)x);
    column.put((unsigned)w);
    asm("cvt.sat.u8.s32 %0, %1;" : "=r"(r) : "r"(x));
    column.put(r);
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(r) : "r"(x));
    column.put(r);
    asm("cvt.sat.s8.u32 %0, %1;" : "=r"(r) : "r"(x));
    column.put(r);
    asm("cvt.sat.u16.s32 %0, %1;" : "=h"(h) : "r"(x));
    column.put(h);
    asm("cvt.sat.s16.s32 %0, %1;" : "=h"(h) : "r"(x));
    column.put(h);
    asm("cvt.sat.u32.s32 %0, %1;" : "=r"(r) : "r"(x));
    column.put(r);
    asm("cvt.sat.s32.u32 %0, %1;" : "=r"(r) : "r"(x));
    column.put(r);
    asm("cvt.sat.s32.s64 %0, %1;" : "=r"(r) : "l"(w * ((x & 1) ? -1ll : 1ll)));
    column.put(r);
    asm("cvt.sat.u32.s64 %0, %1;" : "=r"(r) : "l"(w * ((x & 1) ? -1ll : 1ll)));
    column.put(r);
    asm("cvt.u32.u8 %0, %1;" : "=r"(r) : "r"(x));
    column.put(r);
    asm("cvt.s32.s8 %0, %1;" : "=r"(r) : "r"(x));
    column.put(r);
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(~x >> 20), "r"(0x12345678));
    column.put(r);
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"((int)x >> 15));
    column.put(r);
}
