// cuda-graph: --generate-line-info
// Kernels that go wrong when `count[0]` is 3, and do nothing before. Launch them with 32 threads.
typedef unsigned long long u64;

// 32 GiB past the end.
extern "C" __global__ void past_end(const unsigned *count, unsigned *out)
{
    if (*count == 3)
        out[(1ull << 33) + threadIdx.x] = 1;
}

extern "C" __global__ void misaligned(const unsigned *count, unsigned *out)
{
    if (*count == 3)
        *(volatile unsigned *)((char *)out + 2) = 1;
}

// Reads through an address, which is null, or where memory was.
extern "C" __global__ void through(const unsigned *count, const u64 *address, unsigned *out)
{
    if (*count == 3)
        out[threadIdx.x] = *(const volatile unsigned *)address[0];
}

extern "C" __global__ void trapped(const unsigned *count)
{
    if (*count == 3)
        __trap();
}

extern "C" __global__ void endless(const unsigned *count)
{
    while (*(const volatile unsigned *)count == 3) {}
}

extern "C" __global__ void address_of(unsigned *data, u64 *out)
{
    out[0] = (u64)data;
}

// Writes where an address says: to memory that it is given to read.
extern "C" __global__ void scribble(const unsigned *count, const u64 *address, const unsigned *input, unsigned *out)
{
    if (*count == 3)
        *(volatile unsigned *)address[0] = input[0] + 1;
    out[threadIdx.x] = *count;
}

// The quotient by 0 is 2^32 - 1, so this is 64 GiB past the end.
extern "C" __global__ void divided(const unsigned *count, const unsigned *parts, unsigned *out)
{
    if (*count == 3)
        out[16ull / 4 * ((threadIdx.x + 32) / parts[0])] = 1;
}

// 0 / 0 in the end.
extern "C" __global__ void not_finite(const unsigned *count, float *row)
{
    row[threadIdx.x] = row[threadIdx.x] / (float)(3 - *count);
}
