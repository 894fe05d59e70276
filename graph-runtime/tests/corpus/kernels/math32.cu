// Single precision functions of the CUDA library, in full accuracy. Row r of thread i is out[r * n + i].

extern "C" __global__ void trigonometric(const float *in, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], sine, cosine;
    out[i] = sinf(x);
    out[n + i] = cosf(x);
    out[2 * n + i] = tanf(x);
    sincosf(x, &sine, &cosine);
    out[3 * n + i] = sine - cosine;
    out[4 * n + i] = sinpif(x);
    out[5 * n + i] = cospif(x);
    out[6 * n + i] = asinf(x);
    out[7 * n + i] = acosf(x);
    out[8 * n + i] = atanf(x);
}

extern "C" __global__ void exponential(const float *in, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    out[i] = expf(x);
    out[n + i] = exp2f(x);
    out[2 * n + i] = exp10f(x);
    out[3 * n + i] = expm1f(x);
    out[4 * n + i] = logf(x);
    out[5 * n + i] = log2f(x);
    out[6 * n + i] = log10f(x);
    out[7 * n + i] = log1pf(x);
    out[8 * n + i] = sinhf(x);
    out[9 * n + i] = coshf(x);
    out[10 * n + i] = tanhf(x);
    out[11 * n + i] = asinhf(x);
    out[12 * n + i] = erff(x);
    out[13 * n + i] = erfcf(x);
    out[14 * n + i] = tgammaf(x);
    out[15 * n + i] = lgammaf(x);
    out[16 * n + i] = cbrtf(x);
    out[17 * n + i] = normcdff(x);
    out[18 * n + i] = j0f(x);
}

extern "C" __global__ void two_arguments(const float *first, const float *second, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = first[i], y = second[i];
    out[i] = powf(x, y);
    out[n + i] = atan2f(x, y);
    out[2 * n + i] = hypotf(x, y);
    out[3 * n + i] = fmodf(x, y);
    out[4 * n + i] = remainderf(x, y);
    out[5 * n + i] = nextafterf(x, y);
    out[6 * n + i] = ldexpf(x, (int)y);
    int exponent;
    out[7 * n + i] = frexpf(x, &exponent) + exponent;
    float whole;
    out[8 * n + i] = modff(x, &whole) - whole;
    out[9 * n + i] = (float)ilogbf(x) + logbf(y);
}
