// Histograms.

// Counts of bytes: private to each block in shared memory, then added to the result.
extern "C" __global__ void histogram_shared(const unsigned char *in, unsigned *bins, unsigned n)
{
    __shared__ unsigned local[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i])
            atomicAdd(&bins[i], local[i]);
}

// Counts of floats in even bins over [0, 1), ends included, straight to global memory. Lanes of a warp with the same
// bin add once.
extern "C" __global__ void histogram_matched(const float *in, unsigned *bins, int count, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = max(0, min(count - 1, (int)floorf(in[i] * count)));
        unsigned active = __activemask();
        unsigned peers = __match_any_sync(active, bin);
        if (threadIdx.x % 32 == __ffs(peers) - 1)
            atomicAdd(&bins[bin], __popc(peers));
    }
}

// Sixteen-bit counters, two to a word, in dynamic shared memory; an atomic on the half that is meant.
extern "C" __global__ void histogram_packed(const unsigned short *in, unsigned short *bins, unsigned n, unsigned count)
{
    extern __shared__ unsigned packed[];
    for (unsigned i = threadIdx.x; i < count / 2; i += blockDim.x)
        packed[i] = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned bin = in[i] % count;
        atomicAdd(&packed[bin / 2], bin % 2 ? 0x10000u : 1u);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
        bins[i] = (unsigned short)(packed[i / 2] >> (i % 2 * 16));
}
