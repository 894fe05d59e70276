// Random numbers and hashes.

// Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011): four words for each counter.
extern "C" __global__ void philox(uint4 *out, uint2 key, unsigned long long offset)
{
    unsigned long long index = offset + blockIdx.x * blockDim.x + threadIdx.x;
    uint4 c = make_uint4((unsigned)index, (unsigned)(index >> 32), 0, 0);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        unsigned low0 = 0xd2511f53u * c.x, high0 = __umulhi(0xd2511f53u, c.x);
        unsigned low1 = 0xcd9e8d57u * c.z, high1 = __umulhi(0xcd9e8d57u, c.z);
        c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = c;
}

// Pairs of normal numbers from uniform words, by Box and Muller.
extern "C" __global__ void box_muller(const uint2 *in, float2 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint2 word = in[i];
    float u = fmaf(word.x, 0x1p-32f, 0x1p-33f), v = word.y * 0x1p-32f;
    float radius = sqrtf(-2.0f * logf(u)), sine, cosine;
    sincospif(2.0f * v, &sine, &cosine);
    out[i] = make_float2(radius * cosine, radius * sine);
}

// MurmurHash3's 64-bit finaliser and xxHash-like mixing, FNV-1a over the bytes.
extern "C" __global__ void hashes(const unsigned long long *in, unsigned long long *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long h = in[i];
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ull;
    h ^= h >> 33;
    out[i] = h;
    unsigned long long x = in[i] * 0x9e3779b185ebca87ull;
    x = (x << 31 | x >> 33) * 0xc2b2ae3d27d4eb4full;
    out[n + i] = x;
    const unsigned char *bytes = (const unsigned char *)&in[i];
    unsigned fnv = 2166136261u;
    for (int b = 0; b < 8; b++)
        fnv = (fnv ^ bytes[b]) * 16777619u;
    out[2 * n + i] = fnv;
    unsigned long long crc = 0xffffffffu;
    for (int b = 0; b < 8; b++) {
        crc ^= bytes[b];
        for (int k = 0; k < 8; k++)
            crc = (crc & 1) ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    out[3 * n + i] = crc ^ 0xffffffffu;
}

// SHA-256 of a block of one padded 16-word message for each thread.
__constant__ unsigned sha_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned rotate(unsigned x, int by)
{
    return __funnelshift_r(x, x, by);
}

extern "C" __global__ void sha256(const unsigned *messages, unsigned *digests)
{
    const unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, w[64], s[8];
    for (int t = 0; t < 16; t++)
        w[t] = __byte_perm(messages[i * 16 + t], 0, 0x0123);
    for (int t = 16; t < 64; t++) {
        unsigned a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[t - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    for (int k = 0; k < 8; k++)
        s[k] = start[k];
#pragma unroll 1
    for (int t = 0; t < 64; t++) {
        unsigned e = s[4], a = s[0];
        unsigned one = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + sha_constants[t] + w[t];
        unsigned two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        for (int k = 7; k > 0; k--)
            s[k] = s[k - 1];
        s[4] += one;
        s[0] = one + two;
    }
    for (int k = 0; k < 8; k++)
        digests[i * 8 + k] = __byte_perm(s[k] + start[k], 0, 0x0123);
}
