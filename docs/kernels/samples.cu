// The kernels of the examples in `language.md` and `tutorial.md`. One thread for each element and, in most, no bounds
// check: on the Rust side, `#[requires(..)]` bounds the launch.

struct Params {
    float a;
    float b;
    unsigned n;
};

struct Philox {
    unsigned long long seed, offset;
};

extern "C" {
__constant__ float table[4];
}

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// out[i] = 1
extern "C" __global__ void write(float *out)
{
    out[index_in_launch()] = 1;
}

// out[i] = input[i]
extern "C" __global__ void read(const float *input, float *out)
{
    out[index_in_launch()] = input[index_in_launch()];
}

// data[i] *= factor, for the first n
extern "C" __global__ void scaled(float *data, float factor, unsigned n)
{
    unsigned i = index_in_launch();
    if (i < n)
        data[i] *= factor;
}

// data[i] = data[i] * p.a + p.b, for the first p.n
extern "C" __global__ void with_struct(float *data, Params p)
{
    unsigned i = index_in_launch();
    if (i < p.n)
        data[i] = data[i] * p.a + p.b;
}

// first[i] = 1, second[i] = 2
extern "C" __global__ void two_out(float *first, float *second)
{
    first[index_in_launch()] = 1;
    second[index_in_launch()] = 2;
}

// data[i] *= factor, for each element type
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

// data[i] *= table[i % 4]
extern "C" __global__ void weigh(float *data)
{
    data[index_in_launch()] *= table[index_in_launch() % 4];
}

// data[i] += a number between 0 and 1, which depends on the state of a generator
extern "C" __global__ void noisy(const Philox *rng, float *data)
{
    unsigned i = index_in_launch();
    unsigned long long x = (rng->seed ^ rng->offset) + i;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    data[i] += (float)(x >> 40) / 16777216.0f;
}

// bins[bytes[i]] += 1
extern "C" __global__ void histogram(unsigned *bins, const unsigned char *bytes)
{
    atomicAdd(&bins[bytes[index_in_launch()]], 1u);
}

// loss += (output[i] - target[i])²
extern "C" __global__ void add_loss(float *loss, const float *output, const float *target)
{
    float difference = output[index_in_launch()] - target[index_in_launch()];
    atomicAdd(loss, difference * difference);
}

// The token at `position`, which a host may read while others are made: a stand-in for a model. `more` is 0 after `len`
// tokens, or if the host has stored another number than 0 to `stop`.
extern "C" __global__ void next_token(volatile unsigned *tokens, unsigned len, const volatile unsigned *stop,
                                      unsigned *position, unsigned *more)
{
    unsigned at = *position;
    if (at < len)
        tokens[at] = at * at + 1;
    *position = at + 1;
    *more = at + 1 < len && *stop == 0;
}

// The softmax of each row of 64, by one block of 64 threads each. `exps` holds what the second pass needs.
extern "C" __global__ void softmax(const float *x, float *exps, float *y)
{
    unsigned i = index_in_launch();
    const float *row = x + 64 * blockIdx.x;
    float most = row[0];
    for (unsigned column = 1; column < 64; column++)
        most = fmaxf(most, row[column]);
    exps[i] = __expf(x[i] - most);
    __syncthreads();
    float sum = 0;
    for (unsigned column = 0; column < 64; column++)
        sum += exps[64 * blockIdx.x + column];
    y[i] = exps[i] / sum;
}

// shrunk[y][x] is the mean of four texels of an image that is twice as large: the middle between them.
extern "C" __global__ void shrink(cudaTextureObject_t image, float *shrunk)
{
    unsigned x = threadIdx.x, y = blockIdx.x;
    shrunk[index_in_launch()] = tex2D<float>(image, 2 * x + 1, 2 * y + 1);
}

// to[y][x] is the mean of the texels left and right of from[y][x]; a row in each block.
extern "C" __global__ void soften(cudaTextureObject_t from, cudaSurfaceObject_t to)
{
    unsigned x = threadIdx.x, y = blockIdx.x;
    float mean = (tex2D<float>(from, x - 0.5f, y + 0.5f) + tex2D<float>(from, x + 1.5f, y + 0.5f)) / 2;
    surf2Dwrite(mean, to, x * sizeof(float), y); // the x coordinate of a surface is in bytes
}

// seen[i] is the density at a place of a volume, between its texels.
extern "C" __global__ void look(cudaTextureObject_t volume, const float4 *at, float *seen)
{
    unsigned i = index_in_launch();
    seen[i] = tex3D<float>(volume, at[i].x, at[i].y, at[i].z);
}
