// IEEE arithmetic with every rounding mode, saturation and flushing. Row r of thread i is out[r * threads + i].

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

extern "C" __global__ void rounding_f32(const float *first, const float *second, const float *third, float *out)
{
    Column<float> column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = first[i], b = second[i], c = third[i];
    column.put(__fadd_rn(a, b));
    column.put(__fadd_rz(a, b));
    column.put(__fadd_ru(a, b));
    column.put(__fadd_rd(a, b));
    column.put(__fsub_rn(a, b));
    column.put(__fsub_rz(a, b));
    column.put(__fsub_ru(a, b));
    column.put(__fsub_rd(a, b));
    column.put(__fmul_rn(a, b));
    column.put(__fmul_rz(a, b));
    column.put(__fmul_ru(a, b));
    column.put(__fmul_rd(a, b));
    column.put(__fmaf_rn(a, b, c));
    column.put(__fmaf_rz(a, b, c));
    column.put(__fmaf_ru(a, b, c));
    column.put(__fmaf_rd(a, b, c));
    column.put(__fdiv_rn(a, b));
    column.put(__fdiv_rz(a, b));
    column.put(__fdiv_ru(a, b));
    column.put(__fdiv_rd(a, b));
    column.put(__frcp_rn(a));
    column.put(__frcp_rz(a));
    column.put(__frcp_ru(a));
    column.put(__frcp_rd(a));
    column.put(__fsqrt_rn(a));
    column.put(__fsqrt_rz(a));
    column.put(__fsqrt_ru(a));
    column.put(__fsqrt_rd(a));
}

extern "C" __global__ void rounding_f64(const double *first, const double *second, const double *third, double *out)
{
    Column<double> column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double a = first[i], b = second[i], c = third[i];
    column.put(__dadd_rn(a, b));
    column.put(__dadd_rz(a, b));
    column.put(__dadd_ru(a, b));
    column.put(__dadd_rd(a, b));
    column.put(__dsub_rz(a, b));
    column.put(__dsub_ru(a, b));
    column.put(__dmul_rn(a, b));
    column.put(__dmul_rz(a, b));
    column.put(__dmul_ru(a, b));
    column.put(__dmul_rd(a, b));
    column.put(__fma_rn(a, b, c));
    column.put(__fma_rz(a, b, c));
    column.put(__fma_ru(a, b, c));
    column.put(__fma_rd(a, b, c));
    column.put(__ddiv_rn(a, b));
    column.put(__ddiv_rz(a, b));
    column.put(__ddiv_ru(a, b));
    column.put(__ddiv_rd(a, b));
    column.put(__drcp_rn(a));
    column.put(__drcp_rz(a));
    column.put(__drcp_ru(a));
    column.put(__drcp_rd(a));
    column.put(__dsqrt_rn(a));
    column.put(__dsqrt_rz(a));
    column.put(__dsqrt_ru(a));
    column.put(__dsqrt_rd(a));
}

// Operations without rounding: signs, extremes, copies; saturation and flushing to zero, which need assembly.
extern "C" __global__ void modifiers(const float *first, const float *second, const float *third, float *out)
{
    Column<float> column(out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = first[i], b = second[i], c = third[i], r;
    column.put(fminf(a, b));
    column.put(fmaxf(a, b));
    column.put(copysignf(a, b));
    column.put(fdimf(a, b));
    column.put(__saturatef(a));
#define BINARY(op)                                                                                                                    \
    asm(op " %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));                                                                               \
    column.put(r);
#define TERNARY(op)                                                                                                                   \
    asm(op " %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));                                                                   \
    column.put(r);
#define UNARY(op)                                                                                                                     \
    asm(op " %0, %1;" : "=f"(r) : "f"(a));                                                                                           \
    column.put(r);
    BINARY("add.sat.f32")
    BINARY("sub.rz.sat.f32")
    BINARY("mul.rp.sat.f32")
    TERNARY("fma.rn.sat.f32")
    TERNARY("mad.rn.f32")
    BINARY("add.ftz.f32")
    BINARY("mul.rz.ftz.f32")
    BINARY("mul.ftz.sat.f32")
    TERNARY("fma.rm.ftz.f32")
    BINARY("div.rn.ftz.f32")
    BINARY("min.ftz.f32")
    BINARY("max.ftz.f32")
    BINARY("copysign.f32")
    UNARY("sqrt.rn.ftz.f32")
    UNARY("rcp.rn.ftz.f32")
    UNARY("abs.ftz.f32")
    UNARY("neg.ftz.f32")
}

// Signs alone.
extern "C" __global__ void signs(const float *in, const double *wide, float *out, double *wide_out)
{
    Column<float> column(out);
    Column<double> wide_column(wide_out);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[i];
    double d = wide[i];
    column.put(a);
    column.put(fabsf(a));
    column.put(-a);
    wide_column.put(d);
    wide_column.put(fabs(d));
    wide_column.put(-d);
    wide_column.put(fmin(d, 1.0));
    wide_column.put(fmax(d, -1.0));
    wide_column.put(copysign(d, -2.0));
}

// Products that NVRTC leaves alone, with no rounding mode, so that ptxas may fuse them with the sum or difference.
template <typename T> __device__ void contract(const T *in, T *out)
{
    Column<T> column(out);
    unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    auto next = [&in, n, i] {
        T value = in[i];
        in += n;
        return value;
    };
    T a = next(), b = next(), c = next(), d = next();
    column.put(a * b - c * d);
    a = next(), b = next(), c = next();
    column.put(a * b - c);
    a = next(), b = next(), c = next();
    column.put(c - a * b);
    a = next(), b = next(), c = next();
    T product = a * b;
    column.put(product - c);
    column.put(product + c);
    a = next(), b = next(), c = next(), d = next();
    product = a * b;
    column.put(product - c * d);
    column.put(product);
    a = next(), b = next(), c = next();
    product = a * b;
    if (c > T(1.5)) // another basic block
        c = product - c;
    column.put(c);
    a = next(), b = next(), c = next();
    column.put(-(a * b) - c);
    a = next(), b = next(), c = next(), d = next();
    column.put(a * b - c * d - a * d);
}

extern "C" __global__ void contracted(const float *in, const double *wide, float *out, double *wide_out)
{
    contract(in, out);
    contract(wide, wide_out);
}
