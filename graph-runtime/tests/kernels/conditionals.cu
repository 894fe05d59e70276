// Kernels of graph-runtime's tests of conditional nodes: they write numbers that conditions look at. `i` is always the
// thread's index in the whole (one-dimensional) launch.

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// data[i] += value
extern "C" __global__ void add_to(unsigned *data, unsigned value)
{
    data[index_in_launch()] += value;
}

// As `add_to`, after `steps` steps of about 17 ns each on an H100: a kernel that does not wait for it finds the number
// as it was.
extern "C" __global__ void add_late(unsigned *data, unsigned value, unsigned long long steps)
{
    unsigned i = index_in_launch();
    unsigned x = 1;
#pragma unroll 1
    for (unsigned long long step = 0; step < steps; step++)
        x = x * 1664525u + 1013904223u;
    data[i] += x == 7u ? 0u : value; // never 7 within the first million steps
}

// to[i] += from[i]
extern "C" __global__ void accumulate(const unsigned *from, unsigned *to)
{
    unsigned i = index_in_launch();
    to[i] += from[i];
}

// flag[i] = data[i] < limit
extern "C" __global__ void is_below(const unsigned *data, unsigned limit, unsigned *flag)
{
    unsigned i = index_in_launch();
    flag[i] = data[i] < limit;
}

// One step of Newton's method for the square root of a[i], and whether x[i] changed by more than one part in 2^20.
extern "C" __global__ void newton(const float *a, float *x, unsigned *more)
{
    unsigned i = index_in_launch();
    float before = x[i], after = 0.5f * (before + a[i] / before);
    x[i] = after;
    float change = after - before;
    more[i] = (change < 0 ? -change : change) > after * 0x1p-20f;
}

// to[i] = 31 to[i] + from[i] + 1: what two of these do depends on their order
extern "C" __global__ void mix(const unsigned *from, unsigned *to)
{
    unsigned i = index_in_launch();
    to[i] = 31 * to[i] + from[i] + 1;
}

// flag[i] = data[i] % divisor
extern "C" __global__ void remainder_of(const unsigned *data, unsigned divisor, unsigned *flag)
{
    unsigned i = index_in_launch();
    flag[i] = data[i] % divisor;
}
