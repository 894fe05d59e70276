// Reductions of every style.

// The tree in dynamic shared memory.
extern "C" __global__ void sum_tree(const float *in, float *out)
{
    extern __shared__ float partial[];
    partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

// The tree whose last steps run within one warp on volatile memory, as was written before Volta, with __syncwarp.
extern "C" __global__ void sum_volatile(const int *in, int *out)
{
    __shared__ volatile int partial[256];
    unsigned i = threadIdx.x;
    partial[i] = in[blockIdx.x * 256 + i];
    __syncthreads();
    if (i < 128)
        partial[i] += partial[i + 128];
    __syncthreads();
    if (i < 64)
        partial[i] += partial[i + 64];
    __syncthreads();
    if (i < 32) {
        int sum = partial[i];
#pragma unroll
        for (int offset = 32; offset; offset /= 2) {
            sum += partial[i + offset];
            __syncwarp();
            partial[i] = sum;
            __syncwarp();
        }
    }
    if (i == 0)
        out[blockIdx.x] = partial[0];
}

// Shuffles, over a grid-stride loop.
extern "C" __global__ void sum_shuffle(const double *in, double *out, unsigned n)
{
    __shared__ double warps[32];
    double sum = 0.0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int offset = 16; offset; offset >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0;
        for (int offset = 16; offset; offset >>= 1)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
    }
}

// One atomic for each warp.
extern "C" __global__ void sum_atomic(const unsigned long long *in, unsigned long long *out, unsigned n)
{
    unsigned long long sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int offset = 16; offset; offset >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

__device__ unsigned blocks_done;

// The block that finishes last adds up what the others left, and makes all ready for the next launch.
extern "C" __global__ void sum_last_block(const float *in, float *partial, float *out, unsigned n)
{
    __shared__ float sums[128];
    __shared__ bool last;
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0.0f;
        for (unsigned i = 0; i < blockDim.x; i++)
            all += sums[i];
        partial[blockIdx.x] = all;
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float all = 0.0f;
        for (unsigned i = 0; i < gridDim.x; i++)
            all += ((volatile float *)partial)[i];
        *out = all;
    }
}

// Smallest, largest and where: NaNs are passed over, ties go to the smaller index.
extern "C" __global__ void extremes(const float *in, float *low, float *high, int *where)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = in[i], smallest = value, largest = value;
    int index = i;
    for (int offset = 16; offset; offset >>= 1) {
        smallest = fminf(smallest, __shfl_xor_sync(0xffffffff, smallest, offset));
        float other = __shfl_xor_sync(0xffffffff, largest, offset);
        int other_index = __shfl_xor_sync(0xffffffff, index, offset);
        bool take = isnan(largest) || other > largest || (other == largest && other_index < index);
        if (!isnan(other) && take) {
            largest = other;
            index = other_index;
        }
    }
    if (threadIdx.x % 32 == 0) {
        low[i / 32] = smallest;
        high[i / 32] = largest;
        where[i / 32] = index;
    }
}

// Mean and variance in one pass, by Welford's update and Chan's merge.
extern "C" __global__ void welford(const float *in, float *mean_out, float *variance_out, int n)
{
    float mean = 0.0f, m2 = 0.0f, count = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        count += 1.0f;
        float delta = in[i] - mean;
        mean += delta / count;
        m2 += delta * (in[i] - mean);
    }
    for (int offset = 16; offset; offset >>= 1) {
        float other_mean = __shfl_xor_sync(0xffffffff, mean, offset), other_m2 = __shfl_xor_sync(0xffffffff, m2, offset);
        float delta = other_mean - mean;
        mean = 0.5f * (mean + other_mean);
        m2 += other_m2 + delta * delta * count * 0.5f;
        count *= 2.0f;
    }
    if (threadIdx.x == 0) {
        *mean_out = mean;
        *variance_out = m2 / count;
    }
}
