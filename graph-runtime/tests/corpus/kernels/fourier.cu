// Transforms.

struct Complex {
    float re, im;
};

__device__ Complex operator*(Complex a, Complex b)
{
    return {fmaf(a.re, b.re, -(a.im * b.im)), fmaf(a.re, b.im, a.im * b.re)};
}

// Radix-2 Fourier transform of 256 points in each block of 128 threads, in shared memory, bit-reversed at the start.
extern "C" __global__ void fft_radix2(const Complex *in, Complex *out)
{
    __shared__ Complex data[256];
    unsigned t = threadIdx.x;
    in += blockIdx.x * 256;
    out += blockIdx.x * 256;
    data[__brev(t) >> 24] = in[t];
    data[__brev(t + 128) >> 24] = in[t + 128];
    for (unsigned half = 1; half < 256; half *= 2) {
        __syncthreads();
        unsigned k = t & (half - 1), i = (t / half) * 2 * half + k;
        Complex twiddle;
        sincospif(-float(k) / half, &twiddle.im, &twiddle.re);
        Complex a = data[i], b = twiddle * data[i + half];
        data[i] = {a.re + b.re, a.im + b.im};
        data[i + half] = {a.re - b.re, a.im - b.im};
    }
    __syncthreads();
    out[t] = data[t];
    out[t + 128] = data[t + 128];
}

// Number-theoretic transform of 64 points modulo 2^64 - 2^32 + 1, a warp for each, two points a lane.
__device__ unsigned long long multiply_mod(unsigned long long a, unsigned long long b)
{
    constexpr unsigned long long P = 0xffffffff00000001ull;
    unsigned long long low = a * b, high = __umul64hi(a, b);
    unsigned long long top = high >> 32, middle = high & 0xffffffffull;
    unsigned long long t = low - top;
    if (low < top)
        t -= 0xffffffffull;
    unsigned long long u = (middle << 32) - middle, sum = t + u;
    if (sum < u)
        sum += 0xffffffffull;
    return sum >= P ? sum - P : sum;
}

extern "C" __global__ void ntt(const unsigned long long *in, unsigned long long *out, unsigned long long root)
{
    constexpr unsigned long long P = 0xffffffff00000001ull;
    __shared__ unsigned long long data[4][64];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned long long *own = data[warp];
    in += (blockIdx.x * 4 + warp) * 64;
    out += (blockIdx.x * 4 + warp) * 64;
    own[__brev(lane) >> 26] = in[lane];
    own[__brev(lane + 32) >> 26] = in[lane + 32];
    for (unsigned half = 1; half < 64; half *= 2) {
        __syncwarp();
        unsigned k = lane & (half - 1), i = (lane / half) * 2 * half + k;
        unsigned long long twiddle = 1, base = root; // root^(k * 32 / half)
        for (unsigned e = k * (32 / half); e; e >>= 1) {
            if (e & 1)
                twiddle = multiply_mod(twiddle, base);
            base = multiply_mod(base, base);
        }
        unsigned long long a = own[i], b = multiply_mod(twiddle, own[i + half]);
        unsigned long long sum = a + b;
        own[i] = sum < a || sum >= P ? sum - P : sum;
        own[i + half] = a >= b ? a - b : a - b + P;
    }
    __syncwarp();
    out[lane] = own[lane];
    out[lane + 32] = own[lane + 32];
}

// Discrete cosine transform of 8 x 8 pixels, the table in constant memory, made by the host compiler.
__constant__ float cosines[8][8] = {
    {0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f},
    {0.49039264f, 0.41573481f, 0.27778512f, 0.09754516f, -0.09754516f, -0.27778512f, -0.41573481f, -0.49039264f},
    {0.46193977f, 0.19134172f, -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f, 0.46193977f},
    {0.41573481f, -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f, 0.49039264f, 0.09754516f, -0.41573481f},
    {0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f, 0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f},
    {0.27778512f, -0.49039264f, 0.09754516f, 0.41573481f, -0.41573481f, -0.09754516f, 0.49039264f, -0.27778512f},
    {0.19134172f, -0.46193977f, 0.46193977f, -0.19134172f, -0.19134172f, 0.46193977f, -0.46193977f, 0.19134172f},
    {0.09754516f, -0.27778512f, 0.41573481f, -0.49039264f, 0.49039264f, -0.41573481f, 0.27778512f, -0.09754516f}};

extern "C" __global__ void dct_8x8(const unsigned char *pixels, short *coefficients, int width)
{
    __shared__ float block[8][9], half_done[8][9];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
    block[y][x] = pixels[at] - 128.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < 8; i++)
        sum += block[y][i] * cosines[x][i];
    half_done[y][x] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int i = 0; i < 8; i++)
        sum += half_done[i][x] * cosines[y][i];
    coefficients[at] = (short)__float2int_rn(sum);
}
