// Kernels that update memory by atomic operations alone (`&[Atomic<T>]`), and kernels that initialise memory before
// they read it (`&mut [MaybeUninit<T>]`). `i` is the thread's index in the whole (one-dimensional) launch.

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// Counts how often each byte occurs, one thread for each byte.
extern "C" __global__ void histogram(unsigned *bins, const unsigned char *bytes)
{
    atomicAdd(&bins[bytes[index_in_launch()]], 1u);
}

// As `histogram`, in the row of bins of the thread's block.
extern "C" __global__ void histogram_rows(unsigned *bins, const unsigned char *bytes)
{
    atomicAdd(&bins[256 * (blockIdx.x % 4) + bytes[index_in_launch()]], 1u);
}

// Adds the square of the difference of each two elements to one number.
extern "C" __global__ void add_loss(float *loss, const float *output, const float *target)
{
    unsigned i = index_in_launch();
    float difference = output[i] - target[i];
    atomicAdd(loss, difference * difference);
}

// One update of each type: the thread's index is added, or the largest is kept.
extern "C" __global__ void update_i32(int *memory)
{
    atomicMax(memory, (int)index_in_launch());
}

extern "C" __global__ void update_u64(unsigned long long *memory)
{
    atomicAdd(memory, (unsigned long long)index_in_launch());
}

extern "C" __global__ void update_i64(long long *memory)
{
    atomicMax(memory, (long long)index_in_launch());
}

extern "C" __global__ void update_f64(double *memory)
{
    atomicAdd(memory, (double)index_in_launch());
}

// Adds 1.0 to a half.
extern "C" __global__ void update_f16(unsigned short *memory)
{
    asm volatile("{ .reg .b16 one; mov.b16 one, 0x3c00; red.add.noftz.f16 [%0], one; }" : : "l"(memory) : "memory");
}

// Copies the bins, by plain loads.
extern "C" __global__ void look(const unsigned *bins, unsigned *out)
{
    out[index_in_launch()] = bins[index_in_launch()];
}

// Counts, and looks at what it counts: no kernel for `&[Atomic<u32>]`.
extern "C" __global__ void count_and_look(unsigned *bins, unsigned *out)
{
    unsigned i = index_in_launch();
    atomicAdd(&bins[i], 1u);
    out[i] = bins[i];
}

// The softmax of each row of 64, one block of 64 threads for each row. `exps` holds what the second pass needs.
extern "C" __global__ void softmax(const float *x, float *exps, float *out)
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
    out[i] = exps[i] / sum;
}

// Writes each element, then doubles it in place.
extern "C" __global__ void start(float *x, float value)
{
    unsigned i = index_in_launch();
    x[i] = value;
    __threadfence_block();
    float *volatile again = x;
    again[i] = again[i] * 2;
}

// Doubles each element in place.
extern "C" __global__ void twice(float *x)
{
    x[index_in_launch()] *= 2;
}

// Subtracts one.
extern "C" __global__ void count_down(unsigned *memory)
{
    atomicSub(memory, 1u);
}

// Adds a number to each element.
extern "C" __global__ void add_all(unsigned *to, unsigned by)
{
    atomicAdd(&to[index_in_launch()], by);
}

// Writes each element, then changes what it has written.
extern "C" __global__ void start_words(unsigned *to, unsigned value)
{
    volatile unsigned *word = to + index_in_launch();
    *word = value;
    *word = *word * 3 + 1;
}
