// Kernels that draw random numbers, for the tests of `rng`.

struct Philox {
    unsigned long long seed;
    unsigned long long offset;
};

// Philox 4x32-10: the four numbers of one block of a stream. (Salmon et al., SC 2011)
static __device__ void philox(unsigned long long seed, unsigned long long block, unsigned long long stream, unsigned out[4])
{
    unsigned key0 = (unsigned)seed, key1 = (unsigned)(seed >> 32);
    unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32), c2 = (unsigned)stream, c3 = (unsigned)(stream >> 32);
    for (int round = 0; round < 10; round++) {
        unsigned long long a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
        unsigned n0 = (unsigned)(b >> 32) ^ c1 ^ key0, n2 = (unsigned)(a >> 32) ^ c3 ^ key1;
        c1 = (unsigned)b;
        c3 = (unsigned)a;
        c0 = n0;
        c2 = n2;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

// out[thread * draws + j] = the thread's number j from the offset on
extern "C" __global__ void draw_numbers(const Philox *rng, unsigned *out, unsigned draws)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned j = 0; j < draws; j++) {
        unsigned long long number = rng->offset + j;
        unsigned block[4];
        philox(rng->seed, number / 4, thread, block);
        out[thread * draws + j] = block[number % 4];
    }
}

// Appends the offset to a log: log[0] counts its entries, which follow.
extern "C" __global__ void log_offset(const Philox *rng, unsigned long long *log)
{
    unsigned long long entry = atomicAdd(log, 1ull);
    log[1 + entry] = rng->offset;
}

// As `log_offset`, scaled by a factor, so that a node that draws can have a param.
extern "C" __global__ void log_scaled(const Philox *rng, unsigned long long *log, unsigned factor)
{
    unsigned long long entry = atomicAdd(log, 1ull);
    log[1 + entry] = rng->offset * factor;
}

// *count -= 1
extern "C" __global__ void count_down(unsigned *count)
{
    *count -= 1;
}
