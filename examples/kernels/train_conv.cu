// The kernels of the `train_conv` example: one step of training a convolutional net on 32 images of 16 x 16.
//
//     x [16][16] -> 3x3 filters, bias, ReLU, largest of 2x2 -> h1 [16][8][8] -> the same -> h2 [32][4][4] -> 10 logits
//
// `where` holds which of the 2x2 was the largest, 0 to 3: the gradient of the others is zero. Gradients by h1 and h2
// are zero where ReLU is. A cell is a place of h1 or h2.

constexpr int BATCH = 32, CLASSES = 10;
typedef unsigned char byte;

// x and y: rows of `images` and `labels`, the next ones at each step, from the first one again after n; a block for each
// image of the batch, a thread for each pixel
extern "C" __global__ void pick(const float (*images)[256], const unsigned *labels, const unsigned *step, unsigned n,
                                float (*x)[256], unsigned *y)
{
    unsigned b = blockIdx.x, row = (*step % n * BATCH + b) % n;
    x[b][threadIdx.x] = images[row][threadIdx.x];
    if (threadIdx.x == 0)
        y[b] = labels[row];
}

// Adds a 3x3 filter at each of 2x2 places to `sums`; `patch` is the corner of their 4x4 numbers, in rows of `width`
template <int width> __device__ void filter_2x2(const float *patch, const float *filter, float (&sums)[4])
{
    float p[4][4];
    for (int i = 0; i < 16; i++)
        p[i / 4][i % 4] = patch[i / 4 * width + i % 4];
    for (int tap = 0; tap < 9; tap++)
        for (int i = 0; i < 4; i++)
            sums[i] += filter[tap] * p[tap / 3 + i / 2][tap % 3 + i % 2];
}

__device__ float pool(const float (&sums)[4], float bias, byte &where)
{
    float most = sums[0];
    where = 0;
    for (int i = 1; i < 4; i++)
        if (sums[i] > most)
            most = sums[i], where = i;
    return fmaxf(most + bias, 0);
}

// h1 and where1; a block for each image and 4 channels, a thread for each of their cells
extern "C" __global__ void conv1(const float (*x)[256], const float (*w)[9], const float *bias, float (*h)[16][64],
                                 byte (*where)[16][64])
{
    __shared__ float in[18][20]; // with a border of zeros
    unsigned b = blockIdx.x, t = threadIdx.x;
    for (int i = t; i < 18 * 18; i += 256) {
        unsigned row = i / 18 - 1, column = i % 18 - 1;
        in[row + 1][column + 1] = row < 16 && column < 16 ? x[b][row * 16 + column] : 0;
    }
    __syncthreads();
    unsigned c = blockIdx.y * 4 + t / 64, cell = t % 64;
    float sums[4] = {};
    filter_2x2<20>(&in[cell / 8 * 2][cell % 8 * 2], w[c], sums);
    h[b][c][cell] = pool(sums, bias[c], where[b][c][cell]);
}

// h2 and where2; a block for each image and 8 channels, a thread for each of their cells
extern "C" __global__ void conv2(const float (*h1)[16][64], const float (*w)[16][9], const float *bias,
                                 float (*h)[32][16], byte (*where)[32][16])
{
    __shared__ float in[16][10][12], filters[8][16][9];
    unsigned b = blockIdx.x, t = threadIdx.x, c0 = blockIdx.y * 8;
    for (int i = t; i < 8 * 16 * 9; i += 128)
        filters[0][0][i] = w[c0][0][i];
    for (int i = t; i < 16 * 100; i += 128) {
        unsigned row = i % 100 / 10 - 1, column = i % 10 - 1;
        in[i / 100][row + 1][column + 1] = row < 8 && column < 8 ? h1[b][i / 100][row * 8 + column] : 0;
    }
    __syncthreads();
    unsigned c = t / 16, cell = t % 16;
    float sums[4] = {};
#pragma unroll 4
    for (int k = 0; k < 16; k++)
        filter_2x2<12>(&in[k][cell / 4 * 2][cell % 4 * 2], filters[c][k], sums);
    h[b][c0 + c][cell] = pool(sums, bias[c0 + c], where[b][c0 + c][cell]);
}

// The mean cross-entropy of the softmax of `w h2 + bias` is added to losses[step % n]; d is its gradient by the logits,
// dh that by h2. A block for each image, a warp for each class
extern "C" __global__ void head(const float (*h)[512], const float (*w)[512], const float *bias, const unsigned *y,
                                const unsigned *step, float (*d)[10], float (*dh)[512], float *losses, unsigned n)
{
    __shared__ float logits[CLASSES];
    unsigned b = blockIdx.x, t = threadIdx.x, label = y[b];
    float sum = 0;
#pragma unroll
    for (int i = t % 32; i < 512; i += 32)
        sum += h[b][i] * w[t / 32][i];
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (t % 32 == 0)
        logits[t / 32] = sum + bias[t / 32];
    __syncthreads();
    float most = logits[0], right = 0, all = 0, g[CLASSES];
#pragma unroll
    for (int c = 0; c < CLASSES; c++)
        most = fmaxf(most, logits[c]), right = c == label ? logits[c] : right;
#pragma unroll
    for (int c = 0; c < CLASSES; c++)
        all += g[c] = __expf(logits[c] - most);
#pragma unroll
    for (int c = 0; c < CLASSES; c++)
        g[c] = (g[c] / all - (c == label)) / BATCH;
    if (t < CLASSES)
        d[b][t] = (__expf(logits[t] - most) / all - (t == label)) / BATCH;
    if (t == 0)
        atomicAdd(&losses[*step % n], (__logf(all) + most - right) / BATCH);
    for (int i = t; i < 512; i += 320) {
        float sum = 0;
#pragma unroll
        for (int c = 0; c < CLASSES; c++)
            sum += g[c] * w[c][i];
        dh[b][i] = h[b][i] > 0 ? sum : 0;
    }
}

// The gradient by h1; a block for each image and 4 channels; 4 threads, of 8 channels of h2 each, for 2x2 of its cells
extern "C" __global__ void conv2_backward(const float (*dh2)[32][16], const byte (*where)[32][16],
                                          const float (*w)[16][9], const float (*h1)[16][64], float (*dh1)[16][64])
{
    __shared__ float in[32][10][12], filters[32][4][9], parts[4][4][64];
    unsigned b = blockIdx.x, t = threadIdx.x, c0 = blockIdx.y * 4;
    for (int i = t; i < 32 * 120; i += 256)
        in[0][0][i] = 0;
    for (int i = t; i < 32 * 36; i += 256) // turned around
        filters[i / 36][i % 36 / 9][8 - i % 9] = w[i / 36][c0][i % 36];
    __syncthreads();
    for (int i = t; i < 512; i += 256) {
        unsigned k = i / 16, cell = i % 16, at = where[b][k][cell] % 4;
        in[k][cell / 4 * 2 + at / 2 + 1][cell % 4 * 2 + at % 2 + 1] = dh2[b][k][cell];
    }
    __syncthreads();
    unsigned part = t / 64, c = t / 16 % 4, row = t % 16 / 4 * 2, column = t % 4 * 2;
    float sums[4] = {};
#pragma unroll 4
    for (int k = part * 8; k < part * 8 + 8; k++)
        filter_2x2<12>(&in[k][row][column], filters[k][c], sums);
    for (int i = 0; i < 4; i++)
        parts[part][c][(row + i / 2) * 8 + column + i % 2] = sums[i];
    __syncthreads();
    float sum = parts[0][0][t] + parts[1][0][t] + parts[2][0][t] + parts[3][0][t];
    dh1[b][c0][t] = h1[b][c0][t] > 0 ? sum : 0;
}

// One step down the gradients of the second filters and their biases: a block for each filter and 4 of its channels; 16
// threads, of 2 images each, for each weight
extern "C" __global__ void conv2_descend(const float (*h1)[16][64], const float (*dh)[32][16],
                                         const byte (*where)[32][16], float (*w)[16][9], float *bias, float rate)
{
    __shared__ float in[BATCH][4][64], g[BATCH * 16], parts[16][36];
    __shared__ byte at[BATCH * 16];
    unsigned f = blockIdx.x, c0 = blockIdx.y * 4, t = threadIdx.x;
    for (int i = t; i < BATCH * 256; i += 576)
        in[0][0][i] = h1[i / 256][c0][i % 256];
    if (t < BATCH * 16)
        g[t] = dh[t / 16][f][t % 16], at[t] = where[t / 16][f][t % 16];
    __syncthreads();
    unsigned part = t / 36, weight = t % 36, c = weight / 9, tap = weight % 9;
    float sum = 0;
#pragma unroll 8
    for (int i = part * 32; i < part * 32 + 32; i++) {
        unsigned row = i % 16 / 4 * 2 + at[i] / 2 % 2 + tap / 3 - 1, column = i % 4 * 2 + at[i] % 2 + tap % 3 - 1;
        if (row < 8 && column < 8)
            sum += g[i] * in[i / 16][c][row * 8 + column];
    }
    parts[part][weight] = sum;
    __syncthreads();
    if (t < 36) {
        float sum = 0;
        for (int part = 0; part < 16; part++)
            sum += parts[part][t];
        w[f][c0][t] -= rate * sum;
    } else if (t >= 64 && t < 96 && blockIdx.y == 0) {
        float sum = 0;
        for (int i = t - 64; i < BATCH * 16; i += 32)
            sum += g[i];
        for (int o = 16; o; o /= 2)
            sum += __shfl_xor_sync(~0u, sum, o);
        if (t == 64)
            bias[f] -= rate * sum;
    }
}

// The same of the first filters: a block for each filter, 4 cells for each thread
extern "C" __global__ void conv1_descend(const float (*x)[256], const float (*dh)[16][64], const byte (*where)[16][64],
                                         float (*w)[9], float *bias, float rate)
{
    __shared__ float parts[16][10];
    unsigned f = blockIdx.x, t = threadIdx.x;
    float sums[10] = {}; // the last one is that of the bias
#pragma unroll
    for (int i = t; i < BATCH * 64; i += 512) {
        unsigned b = i / 64, cell = i % 64, at = where[b][f][cell];
        unsigned row = cell / 8 * 2 + at / 2 % 2 - 1, column = cell % 8 * 2 + at % 2 - 1;
        float g = dh[b][f][cell];
        for (int tap = 0; tap < 9; tap++) {
            unsigned r = row + tap / 3, c = column + tap % 3;
            if (r < 16 && c < 16)
                sums[tap] += g * x[b][r * 16 + c];
        }
        sums[9] += g;
    }
    for (int i = 0; i < 10; i++) {
        for (int o = 16; o; o /= 2)
            sums[i] += __shfl_xor_sync(~0u, sums[i], o);
        if (t % 32 == 0)
            parts[t / 32][i] = sums[i];
    }
    __syncthreads();
    if (t < 10) {
        float sum = 0;
        for (int part = 0; part < 16; part++)
            sum += parts[part][t];
        *(t < 9 ? &w[f][t] : &bias[f]) -= rate * sum;
    }
}

// The same of the last layer, and the next step; a thread for each weight
extern "C" __global__ void linear_descend(const float (*h)[512], const float (*d)[10], float (*w)[512], float *bias,
                                          float rate, unsigned *step)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x, c = i / 512, k = i % 512;
    float sum = 0, all = 0;
#pragma unroll
    for (int b = 0; b < BATCH; b++)
        sum += d[b][c] * h[b][k], all += d[b][c];
    w[c][k] -= rate * sum;
    if (k == 0)
        bias[c] -= rate * all;
    if (i == 0)
        ++*step;
}

// What a library that convolves leaves to do: bias, ReLU and the largest of 2x2 of `sums`; n cells in channels of side x
// side, a thread for each
extern "C" __global__ void pool_2x2(const float *sums, const float *bias, float *h, byte *where, unsigned n,
                                    unsigned channels, unsigned side)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *corner = sums + i / side * 4 * side + i % side * 2;
    float four[4] = {corner[0], corner[1], corner[2 * side], corner[2 * side + 1]};
    h[i] = pool(four, bias[i / (side * side) % channels], where[i]);
}

// The gradient by `sums` of that by h
extern "C" __global__ void unpool_2x2(const float *dh, const float *h, const byte *where, float *dsums, unsigned n,
                                      unsigned side)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float *corner = dsums + i / side * 4 * side + i % side * 2, g = h[i] > 0 ? dh[i] : 0;
    unsigned at = where[i] % 4;
    corner[0] = at == 0 ? g : 0, corner[1] = at == 1 ? g : 0;
    corner[2 * side] = at == 2 ? g : 0, corner[2 * side + 1] = at == 3 ? g : 0;
}

// One step down the gradient of filters of `taps` weights, and of their biases by that of h [BATCH][filters][cells]; a
// block for each filter
extern "C" __global__ void filters_descend(const float *gradient, const float *dh, const float *h, float *w,
                                           float *bias, float rate, unsigned taps, unsigned cells)
{
    __shared__ float parts[8];
    unsigned f = blockIdx.x, t = threadIdx.x;
    for (int i = t; i < taps; i += 256)
        w[f * taps + i] -= rate * gradient[f * taps + i];
    float sum = 0;
    for (int i = t; i < BATCH * cells; i += 256) {
        unsigned at = (i / cells * gridDim.x + f) * cells + i % cells;
        sum += h[at] > 0 ? dh[at] : 0;
    }
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (t % 32 == 0)
        parts[t / 32] = sum;
    __syncthreads();
    if (t == 0) {
        for (int part = 1; part < 8; part++)
            sum += parts[part];
        bias[f] -= rate * sum;
    }
}
