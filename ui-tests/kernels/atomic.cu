// Kernels of the ui-tests that update memory by atomic operations, or initialise memory that they then read. They are
// never run.

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// Updates by atomic operations alone.
extern "C" __global__ void count(unsigned *bins)
{
    atomicAdd(&bins[index_in_launch()], 1u);
}

// The same on other memory, told by other memory that it reads.
extern "C" __global__ void count_where(unsigned *bins, const unsigned *where)
{
    if (where[index_in_launch()])
        atomicAdd(&bins[index_in_launch()], 1u);
}

// Also loads what it updates.
extern "C" __global__ void count_and_look(unsigned *bins, unsigned *out)
{
    atomicAdd(&bins[index_in_launch()], 1u);
    out[index_in_launch()] = bins[index_in_launch()];
}

// Is atomic among the threads of a block.
extern "C" __global__ void count_in_block(unsigned *bins)
{
    atomicAdd_block(&bins[index_in_launch()], 1u);
}

// Updates two elements of four bytes as one of eight.
extern "C" __global__ void count_wide(unsigned *bins)
{
    atomicAdd((unsigned long long *)bins + index_in_launch(), 1ull);
}

// Loads.
extern "C" __global__ void look(const unsigned *bins, unsigned *out)
{
    out[index_in_launch()] = bins[index_in_launch()];
}

// Writes `tmp`, then reads it.
extern "C" __global__ void through(float *tmp, float *out)
{
    tmp[index_in_launch()] = 1;
    __syncthreads();
    out[index_in_launch()] = tmp[index_in_launch() ^ 1];
}

// Only reads `tmp`.
extern "C" __global__ void from(const float *tmp, float *out)
{
    out[index_in_launch()] = tmp[index_in_launch()];
}

// Counts how often each byte occurs.
extern "C" __global__ void histogram(unsigned *bins, const unsigned char *bytes)
{
    atomicAdd(&bins[bytes[index_in_launch()]], 1u);
}

// Adds the squares of the differences to one number.
extern "C" __global__ void add_loss(float *loss, const float *output, const float *target)
{
    float difference = output[index_in_launch()] - target[index_in_launch()];
    atomicAdd(loss, difference * difference);
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
