// Stencils.

// Seven points in one dimension; the halo is loaded by the first and last threads.
extern "C" __global__ void stencil_1d(const int *in, int *out, int n)
{
    constexpr int RADIUS = 3;
    __shared__ int tile[128 + 2 * RADIUS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, local = threadIdx.x + RADIUS;
    tile[local] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        tile[local - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
        tile[local + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        sum += tile[local + offset] * (4 - abs(offset));
    if (i < n)
        out[i] = sum;
}

// One explicit step of the heat equation; coefficients in constant memory.
__constant__ float weights[3] = {0.5f, 0.1f, 0.025f};

extern "C" __global__ void heat(const float *__restrict__ in, float *__restrict__ out, int width, int height)
{
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int v = threadIdx.y; v < 18; v += 16)
        for (int u = threadIdx.x; u < 18; u += 16) {
            int from_x = min(max(int(blockIdx.x) * 16 + u - 1, 0), width - 1);
            int from_y = min(max(int(blockIdx.y) * 16 + v - 1, 0), height - 1);
            tile[v][u] = in[from_y * width + from_x];
        }
    __syncthreads();
    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += weights[(dy != 1) + (dx != 1)] * tile[threadIdx.y + dy][threadIdx.x + dx];
    out[y * width + x] = sum;
}

// Conway's life on a torus, a bit for each cell, 32 cells a word.
extern "C" __global__ void life(const unsigned *in, unsigned *out, int words, int rows)
{
    int word = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (word >= words)
        return;
    unsigned ones = 0, twos = 0, fours = 0, self = in[row * words + word];
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned *line = in + (row + dy + rows) % rows * words;
        unsigned here = line[word], before = line[(word + words - 1) % words], after = line[(word + 1) % words];
        unsigned neighbours[3] = {__funnelshift_l(before, here, 1), here, __funnelshift_r(here, after, 1)};
        for (int i = 0; i < 3; i++) {
            if (dy == 0 && i == 1)
                continue;
            unsigned carry = ones & neighbours[i];
            ones ^= neighbours[i];
            fours |= twos & carry;
            twos ^= carry;
        }
    }
    out[row * words + word] = twos & ~fours & (ones | self);
}
