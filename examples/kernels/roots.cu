// The kernel of the `roots` example.

// A step of Newton's method towards x[i] = sqrt(a[i]) for the first n; *more = 1 where some x[i] still moved by more
// than `tolerance`
extern "C" __global__ void newton(const float *a, float *x, unsigned *more, float tolerance, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float next = 0.5f * (x[i] + a[i] / x[i]);
    if (fabsf(next - x[i]) > tolerance * next)
        *more = 1;
    x[i] = next;
}
