// cuda-graph: --gpu-architecture=compute_75
// Approximate instructions, one by one. Row r of thread i is out[r * threads + i].

#define UNARY(op, row, x) asm(op " %0, %1;" : "=f"(r) : "f"(x)); out[(row) * n + i] = r;
#define BINARY(op, row, x, y) asm(op " %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); out[(row) * n + i] = r;

// Over all floats.
extern "C" __global__ void approximate(const float *first, const float *second, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = first[i], y = second[i], r;
    UNARY("rcp.approx.f32", 0, x)
    UNARY("rcp.approx.ftz.f32", 1, x)
    UNARY("sqrt.approx.f32", 2, x)
    UNARY("sqrt.approx.ftz.f32", 3, x)
    UNARY("rsqrt.approx.f32", 4, x)
    UNARY("rsqrt.approx.ftz.f32", 5, x)
    BINARY("div.full.f32", 6, x, y)
    BINARY("div.full.ftz.f32", 7, x, y)
    UNARY("tanh.approx.f32", 8, x)
    UNARY("ex2.approx.f32", 9, x)
    UNARY("ex2.approx.ftz.f32", 10, x)
    UNARY("lg2.approx.f32", 11, x)
    UNARY("lg2.approx.ftz.f32", 12, x)
}

// Over arguments of moderate size, where division, sines and cosines have bounds.
extern "C" __global__ void approximate_moderate(const float *first, const float *second, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = first[i], y = second[i], r;
    UNARY("sin.approx.f32", 0, x)
    UNARY("cos.approx.f32", 1, x)
    UNARY("sin.approx.ftz.f32", 2, x)
    UNARY("cos.approx.ftz.f32", 3, x)
    BINARY("div.approx.f32", 4, x, y)
    BINARY("div.approx.ftz.f32", 5, x, y)
    UNARY("ex2.approx.f32", 6, x)
    UNARY("tanh.approx.f32", 7, x)
    UNARY("lg2.approx.f32", 8, fabsf(y))
}

// The intrinsics made of them.
extern "C" __global__ void intrinsics(const float *first, const float *second, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = first[i], y = second[i], sine, cosine;
    out[i] = __sinf(x);
    out[n + i] = __cosf(x);
    __sincosf(x, &sine, &cosine);
    out[2 * n + i] = sine + cosine;
    out[3 * n + i] = __expf(x);
    out[4 * n + i] = __exp10f(x);
    out[5 * n + i] = __logf(fabsf(y));
    out[6 * n + i] = __log2f(fabsf(y));
    out[7 * n + i] = __log10f(fabsf(y));
    out[8 * n + i] = __fdividef(x, y);
    out[9 * n + i] = rsqrtf(fabsf(y));
    out[10 * n + i] = __frsqrt_rn(fabsf(y));
    out[11 * n + i] = __powf(fabsf(x), y);
}

// Gross approximations in f64, refined by two of Newton's steps.
extern "C" __global__ void approximate_f64(const double *in, double *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i], r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    out[i] = r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    out[n + i] = r;
    asm("rsqrt.approx.f64 %0, %1;" : "=d"(r) : "d"(x));
    out[2 * n + i] = r;
}
