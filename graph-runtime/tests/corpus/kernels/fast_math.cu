// cuda-graph: --use_fast_math
// Ordinary functions as --use_fast_math makes them: flushing, approximate division and roots.

extern "C" __global__ void fast(const float *first, const float *second, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = first[i], y = second[i];
    out[i] = x / y;
    out[n + i] = sqrtf(fabsf(x));
    out[2 * n + i] = sinf(fminf(fmaxf(x, -6.0f), 6.0f)) + cosf(fminf(fmaxf(y, -6.0f), 6.0f));
    out[3 * n + i] = expf(x);
    out[4 * n + i] = logf(fabsf(y));
    out[5 * n + i] = x * y + 1.0f;
    out[6 * n + i] = x - y;
    out[7 * n + i] = fmaxf(x, y);
    out[8 * n + i] = x < y ? floorf(x) : (float)(int)y;
}
