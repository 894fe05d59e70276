// Kernels of graph-runtime's integration tests: each is the smallest one that shows a way of taking arguments, of
// touching memory or of synchronising. `i` is always the thread's index in the whole (one-dimensional) launch.

struct Affine {
    float scale;
    float shift;
    unsigned n;
};

// Counts the threads of every launch of `count` since the module was loaded.
extern "C" {
__device__ unsigned counter = 0;
}

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// y[i] += a * x[i] for i < n
extern "C" __global__ void saxpy(float a, const float *x, float *y, unsigned n)
{
    unsigned i = index_in_launch();
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// As `saxpy`, in double precision.
extern "C" __global__ void axpy_f64(double a, const double *x, double *y, unsigned n)
{
    unsigned i = index_in_launch();
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// data[i] *= factor for i < n
extern "C" __global__ void scale(float *data, float factor, unsigned n)
{
    unsigned i = index_in_launch();
    if (i < n)
        data[i] *= factor;
}

// out[i] = a[i] + b[i] for i < n
extern "C" __global__ void add(const float *a, const float *b, float *out, unsigned n)
{
    unsigned i = index_in_launch();
    if (i < n)
        out[i] = a[i] + b[i];
}

// out[i] = i; no bounds check
extern "C" __global__ void fill_index(unsigned *out)
{
    unsigned i = index_in_launch();
    out[i] = i;
}

// out[block] = the sum of the block's elements of `in`; blocks of a power of two, at most 256 threads
extern "C" __global__ void sum_block(const float *in, float *out)
{
    __shared__ float partial[256];
    partial[threadIdx.x] = in[index_in_launch()];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

// data[i] += 1; the launch bound becomes `.maxntid 256, 1, 1`
extern "C" __global__ void __launch_bounds__(256) bounded(float *data)
{
    data[index_in_launch()] += 1;
}

// out[i] = in[i] * t.scale + t.shift for i < t.n; a struct of 12 bytes passed by value
extern "C" __global__ void copy_struct(Affine t, const float *in, float *out)
{
    unsigned i = index_in_launch();
    if (i < t.n)
        out[i] = in[i] * t.scale + t.shift;
}

// out = a * b for one 16 by 16 tile, `[[f32; 16]; 16]` in Rust; one block of (16, 16) threads
extern "C" __global__ void matmul(const float (*a)[16], const float (*b)[16], float (*out)[16])
{
    __shared__ float left[16][16];
    __shared__ float right[16][16];
    unsigned row = threadIdx.y, column = threadIdx.x;
    left[row][column] = a[row][column];
    right[row][column] = b[row][column];
    __syncthreads();
    float sum = 0;
    for (unsigned k = 0; k < 16; k++)
        sum += left[row][k] * right[k][column];
    out[row][column] = sum;
}

// Takes its time: `count` steps of x = 1664525 x + 1013904223 from x = 1, then flag[0] = x | 1, which is never zero.
// A step takes about 17 ns on an H100. Launch it with one thread.
extern "C" __global__ void slow(unsigned long long count, unsigned *flag)
{
    unsigned x = 1;
#pragma unroll 1
    for (unsigned long long step = 0; step < count; step++)
        x = x * 1664525u + 1013904223u;
    flag[0] = x | 1u;
}

// out[i] = in[index[i]]; nothing is checked, so an index may point out of bounds
extern "C" __global__ void gather(const unsigned *index, const float *in, float *out)
{
    unsigned i = index_in_launch();
    out[i] = in[index[i]];
}

// out = in with the elements of each block reversed; dynamic shared memory of blockDim.x floats
extern "C" __global__ void reverse_shared(const float *in, float *out)
{
    extern __shared__ float tile[];
    unsigned i = index_in_launch();
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[blockDim.x - 1 - threadIdx.x];
}

// Every thread adds one to the module's `counter`; the first writes what it found plus one. Launched with one thread,
// out[0] is the number of launches so far.
extern "C" __global__ void count(unsigned *out)
{
    unsigned before = atomicAdd(&counter, 1u);
    if (index_in_launch() == 0)
        out[0] = before + 1;
}
