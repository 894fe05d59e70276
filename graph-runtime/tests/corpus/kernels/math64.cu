// Double precision functions of the CUDA library. Row r of thread i is out[r * n + i].

extern "C" __global__ void functions_f64(const double *in, double *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];
    out[i] = sin(x);
    out[n + i] = cos(x);
    out[2 * n + i] = tan(x);
    out[3 * n + i] = exp(x);
    out[4 * n + i] = log(x);
    out[5 * n + i] = log2(x);
    out[6 * n + i] = expm1(x);
    out[7 * n + i] = log1p(x);
    out[8 * n + i] = tanh(x);
    out[9 * n + i] = erf(x);
    out[10 * n + i] = atan(x);
    out[11 * n + i] = asin(x);
    out[12 * n + i] = cbrt(x);
    out[13 * n + i] = rsqrt(x);
    out[14 * n + i] = exp2(x);
    out[15 * n + i] = sqrt(x);
    out[16 * n + i] = lgamma(x);
}

extern "C" __global__ void two_arguments_f64(const double *first, const double *second, double *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = first[i], y = second[i];
    out[i] = pow(x, y);
    out[n + i] = atan2(x, y);
    out[2 * n + i] = hypot(x, y);
    out[3 * n + i] = fmod(x, y);
    out[4 * n + i] = remainder(x, y);
    out[5 * n + i] = x / y;
    out[6 * n + i] = fma(x, y, -x);
    out[7 * n + i] = ldexp(x, (int)y);
    int exponent;
    out[8 * n + i] = frexp(x, &exponent) + exponent;
}
