// Prefix sums and what is made with them.

__device__ unsigned warp_scan(unsigned value)
{
    for (int offset = 1; offset < 32; offset *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, value, offset);
        if (threadIdx.x % 32 >= offset)
            value += other;
    }
    return value;
}

// Inclusive scan of each block: by shuffles within warps, then of the warps' sums.
extern "C" __global__ void scan_inclusive(const unsigned *in, unsigned *out)
{
    __shared__ unsigned sums[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned value = warp_scan(in[i]);
    if (lane == 31)
        sums[warp] = value;
    __syncthreads();
    if (warp == 0)
        sums[lane] = warp_scan(lane < blockDim.x / 32 ? sums[lane] : 0);
    __syncthreads();
    out[i] = value + (warp ? sums[warp - 1] : 0);
}

// Blelloch's exclusive scan of one block of floats in dynamic shared memory, two elements a thread.
extern "C" __global__ void scan_exclusive(const float *in, float *out)
{
    extern __shared__ float tree[];
    unsigned n = 2 * blockDim.x, thread = threadIdx.x;
    tree[2 * thread] = in[2 * thread];
    tree[2 * thread + 1] = in[2 * thread + 1];
    unsigned offset = 1;
    for (unsigned d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thread < d)
            tree[offset * (2 * thread + 2) - 1] += tree[offset * (2 * thread + 1) - 1];
        offset *= 2;
    }
    if (thread == 0)
        tree[n - 1] = 0.0f;
    for (unsigned d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thread < d) {
            unsigned left = offset * (2 * thread + 1) - 1, right = offset * (2 * thread + 2) - 1;
            float t = tree[left];
            tree[left] = tree[right];
            tree[right] += t;
        }
    }
    __syncthreads();
    out[2 * thread] = tree[2 * thread];
    out[2 * thread + 1] = tree[2 * thread + 1];
}

// Inclusive scan over all blocks in one pass: a block takes a ticket and waits for the sum of those before it.
// `state` starts zeroed: the ticket, then (ready, sum) of each block.
extern "C" __global__ void scan_lookback(const unsigned long long *in, unsigned long long *out, unsigned *ticket,
                                         volatile unsigned long long *sums, volatile unsigned *ready)
{
    __shared__ unsigned block;
    __shared__ unsigned long long before, data[128];
    if (threadIdx.x == 0)
        block = atomicAdd(ticket, 1u);
    __syncthreads();
    unsigned i = block * 128 + threadIdx.x;
    data[threadIdx.x] = in[i];
    __syncthreads();
    for (unsigned offset = 1; offset < 128; offset *= 2) {
        unsigned long long value = threadIdx.x >= offset ? data[threadIdx.x - offset] : 0;
        __syncthreads();
        data[threadIdx.x] += value;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        unsigned long long sum = 0;
        if (block > 0) {
            while (ready[block - 1] == 0) {
            }
            __threadfence();
            sum = sums[block - 1];
        }
        before = sum;
        sums[block] = sum + data[127];
        __threadfence();
        ready[block] = 1;
    }
    __syncthreads();
    out[i] = before + data[threadIdx.x];
}

// Keeps the positive elements of each block in order, by ballots; `counts` says how many.
extern "C" __global__ void compact(const int *in, int *out, unsigned *counts)
{
    __shared__ unsigned warps[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned kept = __ballot_sync(0xffffffff, value > 0);
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    if (lane == 0)
        warps[warp] = __popc(kept);
    __syncthreads();
    unsigned start = 0;
    for (unsigned w = 0; w < warp; w++)
        start += warps[w];
    if (value > 0)
        out[blockIdx.x * blockDim.x + start + __popc(kept & below)] = value;
    unsigned total = __syncthreads_count(value > 0);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = total;
}

// Sums of runs of equal keys, which are sorted: a segmented scan by shuffles. One warp.
extern "C" __global__ void segmented_sum(const unsigned *keys, const int *values, int *out)
{
    unsigned lane = threadIdx.x, key = keys[lane];
    int sum = values[lane];
    for (int offset = 1; offset < 32; offset *= 2) {
        int other = __shfl_up_sync(0xffffffff, sum, offset);
        unsigned other_key = __shfl_up_sync(0xffffffff, key, offset);
        if (lane >= offset && other_key == key)
            sum += other;
    }
    unsigned next = __shfl_down_sync(0xffffffff, key, 1);
    if (lane == 31 || next != key)
        out[key] = sum;
}
