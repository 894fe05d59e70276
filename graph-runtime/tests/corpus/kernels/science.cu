// Physics, finance, fractals.

// Accelerations of all bodies on each, by tiles in shared memory.
extern "C" __global__ void nbody(const float4 *bodies, float3 *acceleration, int n, float softening)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = bodies[i];
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int start = 0; start < n; start += blockDim.x) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < blockDim.x; j++) {
            float4 other = tile[j];
            float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
            float inverse = rsqrtf(x * x + y * y + z * z + softening);
            float scale = other.w * inverse * inverse * inverse;
            sum.x += x * scale;
            sum.y += y * scale;
            sum.z += z * scale;
        }
        __syncthreads();
    }
    acceleration[i] = sum;
}

__device__ float normal_cdf(float d)
{
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f;
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * expf(-0.5f * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))));
    return d > 0.0f ? 1.0f - tail : tail;
}

struct Market {
    float rate;
    float volatility;
};

// European calls and puts.
extern "C" __global__ void black_scholes(const float *price, const float *strike, const float *years, float *call, float *put,
                                         Market market, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
        float d1 = (logf(s / x) + (market.rate + 0.5f * market.volatility * market.volatility) * t) / (market.volatility * root);
        float d2 = d1 - market.volatility * root;
        float discounted = x * expf(-market.rate * t), n1 = normal_cdf(d1), n2 = normal_cdf(d2);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}

// Steps until escape: every lane leaves its loop at another time.
extern "C" __global__ void mandelbrot(unsigned short *steps, int width, double left, double top, double pixel)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    double cx = left + x * pixel, cy = top - y * pixel, zx = 0.0, zy = 0.0;
    unsigned short step = 0;
    while (step < 200 && zx * zx + zy * zy < 4.0) {
        double t = zx * zx - zy * zy + cx;
        zy = 2.0 * zx * zy + cy;
        zx = t;
        step++;
    }
    steps[y * width + x] = step;
}

// Wrapping, rounding up and down: a periodic cell list for particles.
extern "C" __global__ void cells(const float3 *positions, int3 *cell, float3 *wrapped, float box, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float3 p = positions[i];
    p.x -= box * floorf(p.x / box);
    p.y -= box * rintf(p.y / box);
    p.z = fmodf(p.z, box);
    wrapped[i] = p;
    cell[i] = make_int3((int)p.x, __float2int_rn(p.y), (int)ceilf(p.z));
}

// A path of Brownian motion by inversion-free sampling: the sum of twelve uniform numbers each step.
extern "C" __global__ void monte_carlo(unsigned long long seed, double *mean, unsigned *inside, int steps)
{
    unsigned long long state = seed + (blockIdx.x * blockDim.x + threadIdx.x) * 0x9e3779b97f4a7c15ull;
    double sum = 0.0;
    unsigned hits = 0;
    for (int step = 0; step < steps; step++) {
        float normal = -6.0f;
        float last = 0.0f;
        for (int i = 0; i < 12; i++) {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            unsigned bits = (unsigned)(state * 0x2545f4914f6cdd1dull >> 40);
            float uniform = bits * 0x1p-24f;
            hits += uniform * uniform + last * last < 1.0f;
            last = uniform;
            normal += uniform;
        }
        sum += normal;
    }
    mean[blockIdx.x * blockDim.x + threadIdx.x] = sum / steps;
    for (int offset = 16; offset; offset >>= 1)
        hits += __shfl_xor_sync(0xffffffff, hits, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, hits);
}
