// Kernels of the ui-tests: they are compiled into PTX that `#[cuda_kernels]` reads, and never run. Each is the
// smallest one with a given parameter list and way of touching its parameters. `required.ptx` beside this is written
// by hand, since NVRTC 12.4 has no way to ask for `.reqntid`.

struct Params {
    float a;
    float b;
    unsigned n;
};

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// Writes only.
extern "C" __global__ void write(float *out)
{
    out[index_in_launch()] = 1;
}

// Reads `in`, writes `out`.
extern "C" __global__ void read(const float *in, float *out)
{
    out[index_in_launch()] = in[index_in_launch()];
}

// Writes another element type.
extern "C" __global__ void write_f64(double *out)
{
    out[index_in_launch()] = 1;
}

// Reads and writes; scalars by value.
extern "C" __global__ void scaled(float *data, float factor, unsigned n)
{
    unsigned i = index_in_launch();
    if (i < n)
        data[i] *= factor;
}

// A struct of 12 bytes by value.
extern "C" __global__ void with_struct(float *data, Params p)
{
    unsigned i = index_in_launch();
    if (i < p.n)
        data[i] = data[i] * p.a + p.b;
}

// Rows of 16.
extern "C" __global__ void tile(float (*data)[16])
{
    data[threadIdx.y][threadIdx.x] = 1;
}

// `.maxntid 128, 1, 1`
extern "C" __global__ void __launch_bounds__(128) bounded(float *data)
{
    data[index_in_launch()] = 1;
}

// Takes a pointer to writable memory that it only reads.
extern "C" __global__ void needless(float *input, float *out)
{
    out[index_in_launch()] = input[index_in_launch()];
}

// Writes two buffers.
extern "C" __global__ void two_out(float *first, float *second)
{
    first[index_in_launch()] = 1;
    second[index_in_launch()] = 2;
}

// Stores through a pointer that it loads from memory, so that the store's provenance is unknown.
extern "C" __global__ void indirect(float **table)
{
    table[index_in_launch()][0] = 1;
}

// data[i] *= factor for each element type
template <typename T> __device__ static inline void scale(T *data, T factor)
{
    data[index_in_launch()] *= factor;
}

extern "C" __global__ void scale_f32(float *data, float factor)
{
    scale(data, factor);
}

extern "C" __global__ void scale_f64(double *data, double factor)
{
    scale(data, factor);
}

struct Philox {
    unsigned long long seed, offset;
};

// data[i] += something between 0 and 1, which depends on the state of a generator
extern "C" __global__ void noisy(const Philox *rng, float *data)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long x = (rng->seed ^ rng->offset) + i;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    data[i] += (float)(x >> 40) / 16777216.0f;
}
