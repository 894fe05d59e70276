// The kernels of the `train_conv` example: one step of training a convolutional net on 32 images of 16 x 16.
//
//     x [16][16] -> 3x3 filters, bias, ReLU, largest of 2x2 -> h1 [16][8][8] -> the same -> h2 [32][4][4] -> 10 logits
//
// `where` holds which of the 2x2 was the largest, 0 to 3: the gradient of the others is zero. Gradients by h1 and h2
// are zero where ReLU is. A cell is a place of h1 or h2. On the Rust side, `#[requires(..)]` fixes the launches.

constexpr int BATCH = 32, CLASSES = 10;
typedef unsigned char byte;

// x and y: rows of `images` and `labels`, the next ones at each step, from the first one again after n; a block for
// each image of the batch, a thread for each pixel
extern "C" __global__ void pick(
    const float (*images)[256], const unsigned *labels, const unsigned *step, unsigned n, float (*x)[256],
    unsigned *y)
{
    unsigned b = blockIdx.x, row = (*step % n * BATCH + b) % n;
    x[b][threadIdx.x] = images[row][threadIdx.x];
    if (threadIdx.x == 0)
        y[b] = labels[row];
}

// Adds a 3x3 filter at each of 2x2 places to `sums`; `patch` is the corner of their 4x4 numbers, in rows of 12
__device__ void filter_2x2(const float *patch, const float (&filter)[12], float (&sums)[4])
{
    float p[4][4], f[12];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        *(float2 *)&p[i][0] = *(const float2 *)(patch + i * 12);
        *(float2 *)&p[i][2] = *(const float2 *)(patch + i * 12 + 2);
    }
#pragma unroll
    for (int i = 0; i < 3; i++)
        *(float4 *)&f[i * 4] = *(const float4 *)&filter[i * 4];
#pragma unroll
    for (int tap = 0; tap < 9; tap++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            sums[i] += f[tap] * p[tap / 3 + i / 2][tap % 3 + i % 2];
}

__device__ float pool(const float (&sums)[4], float bias, byte &where)
{
    float most = sums[0];
    where = 0;
#pragma unroll
    for (int i = 1; i < 4; i++)
        if (sums[i] > most)
            most = sums[i], where = i;
    return fmaxf(most + bias, 0);
}

__device__ float sum_of_warp(float value)
{
    for (int o = 16; o; o /= 2)
        value += __shfl_xor_sync(~0u, value, o);
    return value;
}

// h1 and where1; a block for each image and 4 channels, a thread for each of their cells
extern "C" __global__ void __launch_bounds__(256) conv1(
    const float (*x)[256], const float (*w)[9], const float *bias, float (*h)[16][64], byte (*where)[16][64])
{
    __shared__ float in[18][20]; // with a border of zeros
    unsigned b = blockIdx.x, t = threadIdx.x, c = blockIdx.y * 4 + t / 64, cell = t % 64;
    for (int i = t; i < 360; i += 256)
        in[0][i] = 0;
    float own = x[b][t], f[9], offset = bias[c];
#pragma unroll
    for (int i = 0; i < 9; i++)
        f[i] = w[c][i];
    __syncthreads();
    in[t / 16 + 1][t % 16 + 1] = own;
    __syncthreads();
    float sums[4] = {};
#pragma unroll
    for (int tap = 0; tap < 9; tap++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            sums[i] += f[tap] * in[cell / 8 * 2 + tap / 3 + i / 2][cell % 8 * 2 + tap % 3 + i % 2];
    h[b][c][cell] = pool(sums, offset, where[b][c][cell]);
}

// h2 and where2; a block for each image and 8 channels; 2 threads, of 8 channels of h1 each, for each of their cells
extern "C" __global__ void __launch_bounds__(256) conv2(
    const float (*h1)[16][64], const float (*w)[16][9], const float *bias, float (*h)[32][16], byte (*where)[32][16])
{
    __shared__ __align__(16) float in[16][10][12], filters[8 * 16][12];
    __shared__ __align__(16) float parts[128][4];
    unsigned b = blockIdx.x, t = threadIdx.x, c0 = blockIdx.y * 8;
    for (int i = t; i < 480; i += 256)
        ((float4 *)in)[i] = make_float4(0, 0, 0, 0);
    float own[4], fs[5];
#pragma unroll
    for (int i = 0; i < 4; i++)
        own[i] = h1[b][0][t + i * 256];
#pragma unroll
    for (int i = 0; i < 5; i++)
        if (i < 4 || t < 128)
            fs[i] = w[c0][0][t + i * 256];
#pragma unroll
    for (int i = 0; i < 5; i++)
        if (i < 4 || t < 128)
            filters[(t + i * 256) / 9][(t + i * 256) % 9] = fs[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++)
        in[t / 64 + i * 4][t % 64 / 8 + 1][t % 8 + 1] = own[i];
    __syncthreads();
    unsigned c = t / 16 % 8, cell = t % 16, k0 = t / 128 * 8;
    float sums[4] = {};
#pragma unroll
    for (int k = 0; k < 8; k++)
        filter_2x2(&in[k0 + k][cell / 4 * 2][cell % 4 * 2], filters[c * 16 + k0 + k], sums);
    if (t >= 128)
        *(float4 *)parts[t - 128] = *(float4 *)sums;
    __syncthreads();
    if (t >= 128)
        return;
#pragma unroll
    for (int i = 0; i < 4; i++)
        sums[i] += parts[t][i];
    h[b][c0 + c][cell] = pool(sums, bias[c0 + c], where[b][c0 + c][cell]);
}

// The mean cross-entropy of the softmax of `w h2 + bias` is added to losses[step % n]; d is its gradient by the logits,
// dh that by h2. A block for each image, a thread for each number of h2
extern "C" __global__ void __launch_bounds__(512) head(
    const float (*h)[512], const float (*w)[512], const float *bias, const unsigned *y, const unsigned *step,
    float (*d)[10], float (*dh)[512], float *losses, unsigned n)
{
    __shared__ float products[CLASSES][512], logits[CLASSES];
    unsigned b = blockIdx.x, t = threadIdx.x, label = y[b];
    float own = h[b][t], ws[CLASSES];
#pragma unroll
    for (int c = 0; c < CLASSES; c++)
        ws[c] = w[c][t];
#pragma unroll
    for (int c = 0; c < CLASSES; c++)
        products[c][t] = own * ws[c];
    __syncthreads();
    if (t < CLASSES * 32) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 16; i++)
            sum += products[t / 32][t % 32 + i * 32];
        sum = sum_of_warp(sum);
        if (t % 32 == 0)
            logits[t / 32] = sum + bias[t / 32];
    }
    __syncthreads();
    float most = logits[0], right = 0, all = 0, sum = 0, g[CLASSES];
#pragma unroll
    for (int c = 0; c < CLASSES; c++)
        most = fmaxf(most, logits[c]), right = c == label ? logits[c] : right;
#pragma unroll
    for (int c = 0; c < CLASSES; c++)
        all += g[c] = __expf(logits[c] - most);
    float scale = 1 / (all * BATCH);
#pragma unroll
    for (int c = 0; c < CLASSES; c++) {
        g[c] = g[c] * scale - (c == label ? 1.f / BATCH : 0);
        sum += g[c] * ws[c];
        if (t == c)
            d[b][c] = g[c];
    }
    dh[b][t] = own > 0 ? sum : 0;
    if (t == 0)
        atomicAdd(&losses[*step % n], (__logf(all) + most - right) / BATCH);
}

// The gradient by h1; a block for each image and 4 channels; 4 threads, of 8 channels of h2 each, for 2x2 of its cells
extern "C" __global__ void __launch_bounds__(256) conv2_backward(
    const float (*dh2)[32][16], const byte (*where)[32][16], const float (*w)[16][9], const float (*h1)[16][64],
    float (*dh1)[16][64])
{
    __shared__ __align__(16) float in[32][10][12], filters[32 * 4][12];
    __shared__ float parts[4][4][64];
    unsigned b = blockIdx.x, t = threadIdx.x, c0 = blockIdx.y * 4;
    for (int i = t; i < 960; i += 256)
        ((float4 *)in)[i] = make_float4(0, 0, 0, 0);
    float own[2], fs[5], passed = h1[b][c0][t];
    unsigned at[2];
#pragma unroll
    for (int i = 0; i < 2; i++)
        own[i] = dh2[b][0][t + i * 256], at[i] = where[b][0][t + i * 256];
#pragma unroll
    for (int i = 0; i < 5; i++)
        if (i < 4 || t < 128)
            fs[i] = w[(t + i * 256) / 36][c0][(t + i * 256) % 36];
#pragma unroll
    for (int i = 0; i < 5; i++)
        if (i < 4 || t < 128)
            filters[(t + i * 256) / 9][8 - (t + i * 256) % 9] = fs[i]; // turned around
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; i++)
        in[t / 16 + i * 16][t % 16 / 4 * 2 + at[i] / 2 % 2 + 1][t % 4 * 2 + at[i] % 2 + 1] = own[i];
    __syncthreads();
    unsigned part = t / 64, c = t / 16 % 4, row = t % 16 / 4 * 2, column = t % 4 * 2;
    float sums[4] = {};
#pragma unroll
    for (int k = 0; k < 8; k++)
        filter_2x2(&in[part * 8 + k][row][column], filters[(part * 8 + k) * 4 + c], sums);
#pragma unroll
    for (int i = 0; i < 4; i++)
        parts[part][c][(row + i / 2) * 8 + column + i % 2] = sums[i];
    __syncthreads();
    float sum = parts[0][0][t] + parts[1][0][t] + parts[2][0][t] + parts[3][0][t];
    dh1[b][c0][t] = passed > 0 ? sum : 0;
}

// The gradients of the second filters, of 4 images each: a block for each filter and 4 images; a thread for each
// channel and 4 cells
extern "C" __global__ void __launch_bounds__(256) conv2_gradient(
    const float (*h1)[16][64], const float (*dh)[32][16], const byte (*where)[32][16], float (*gradients)[32][144])
{
    __shared__ float in[4][10 * 10][17], parts[16][16 * 9];
    unsigned f = blockIdx.x, b0 = blockIdx.y * 4, t = threadIdx.x;
    for (int i = t; i < 4 * 100 * 17; i += 256)
        in[0][0][i] = 0;
    unsigned c = t % 16, part = t / 16, image = part / 4, at[4];
    float own[16], g[4], sums[9] = {};
#pragma unroll
    for (int i = 0; i < 4; i++)
        g[i] = dh[b0 + image][f][part % 4 * 4 + i], at[i] = where[b0 + image][f][part % 4 * 4 + i];
#pragma unroll
    for (int i = 0; i < 16; i++)
        own[i] = h1[b0 + i / 4][t / 64 + i % 4 * 4][t % 64];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++)
        in[i / 4][(t % 64 / 8 + 1) * 10 + t % 8 + 1][t / 64 + i % 4 * 4] = own[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float(*corner)[17] = &in[image][(part % 4 * 2 + at[i] / 2 % 2) * 10 + i * 2 + at[i] % 2];
#pragma unroll
        for (int tap = 0; tap < 9; tap++)
            sums[tap] += g[i] * corner[tap / 3 * 10 + tap % 3][c];
    }
#pragma unroll
    for (int tap = 0; tap < 9; tap++)
        parts[part][c * 9 + tap] = sums[tap];
    __syncthreads();
    if (t < 144) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 16; i++)
            sum += parts[i][t];
        gradients[blockIdx.y][f][t] = sum;
    }
}

// One step down the gradients of the first filters and their biases: a block for each filter and row of it, 4 cells for
// each thread
extern "C" __global__ void __launch_bounds__(512) conv1_descend(
    const float (*x)[256], const float (*dh)[16][64], const byte (*where)[16][64], float (*w)[9], float *bias,
    float rate)
{
    __shared__ __align__(16) float in[BATCH][16][20], parts[4][16];
    unsigned f = blockIdx.x, t = threadIdx.x, row = blockIdx.y;
    for (int i = t; i < BATCH * 16; i += 512)
        in[0][i][0] = in[0][i][17] = 0;
    float own[16], g[4], sums[4] = {}; // the last one is that of the bias
    unsigned at[4];
    float old = t < 3 ? w[f][row * 3 + t] : t == 3 && row == 0 ? bias[f] : 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        g[i] = dh[t / 64 + i * 8][f][t % 64], at[i] = where[t / 64 + i * 8][f][t % 64];
#pragma unroll
    for (int i = 0; i < 16; i++)
        own[i] = x[t / 256 + i * 2][t % 256];
#pragma unroll
    for (int i = 0; i < 16; i++)
        in[t / 256 + i * 2][t % 256 / 16][t % 16 + 1] = own[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned r = t % 64 / 8 * 2 + at[i] / 2 % 2 + row - 1, c = t % 8 * 2 + at[i] % 2;
        sums[3] += g[i];
        if (r < 16)
#pragma unroll
            for (int tap = 0; tap < 3; tap++)
                sums[tap] += g[i] * in[t / 64 + i * 8][r][c + tap];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        sums[i] = sum_of_warp(sums[i]);
        if (t % 32 == 0)
            parts[i][t / 32] = sums[i];
    }
    __syncthreads();
    if (t < 4) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 16; i++)
            sum += parts[t][i];
        if (t < 3)
            w[f][row * 3 + t] = old - rate * sum;
        else if (row == 0)
            bias[f] = old - rate * sum;
    }
}

// One step down the gradients of the last layer, and the next number of the step; a thread for each weight
extern "C" __global__ void __launch_bounds__(128) linear_descend(
    const float (*h)[512], const float (*d)[10], float (*w)[512], float *bias, float rate, unsigned *step)
{
    unsigned i = blockIdx.x * 128 + threadIdx.x, c = i / 512, k = i % 512;
    float sum = 0, all = 0, old = w[c][k];
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
        float g = d[b][c];
        sum += g * h[b][k], all += g;
    }
    w[c][k] = old - rate * sum;
    if (k == 0)
        bias[c] -= rate * all;
    if (i == 0)
        ++*step;
}

// Bias, ReLU and the largest of 2x2 of `sums`, which a library that convolves leaves to do; n cells in channels of
// side x side, a thread for each
extern "C" __global__ void pool_2x2(
    const float *sums, const float *bias, float *h, byte *where, unsigned n, unsigned channels, unsigned side)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *corner = sums + i / side * 4 * side + i % side * 2;
    float four[4] = {corner[0], corner[1], corner[2 * side], corner[2 * side + 1]};
    h[i] = pool(four, bias[i / (side * side) % channels], where[i]);
}

// The gradient by `sums` of that by h
extern "C" __global__ void unpool_2x2(
    const float *dh, const float *h, const byte *where, float *dsums, unsigned n, unsigned side)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float *corner = dsums + i / side * 4 * side + i % side * 2, g = h[i] > 0 ? dh[i] : 0;
    unsigned at = where[i] % 4;
    corner[0] = at == 0 ? g : 0, corner[1] = at == 1 ? g : 0;
    corner[2 * side] = at == 2 ? g : 0, corner[2 * side + 1] = at == 3 ? g : 0;
}

// One step down the sum of `parts` gradients of filters with `taps` weights, and down that of their biases, which is in
// the gradient by h [BATCH][filters][cells]; a block for each filter
extern "C" __global__ void __launch_bounds__(256) filters_descend(
    const float *gradients, const float *dh, const float *h, float *w, float *bias, float rate, unsigned parts,
    unsigned taps, unsigned cells)
{
    __shared__ float sums[8];
    unsigned f = blockIdx.x, filters = gridDim.x, t = threadIdx.x;
    float all = 0;
#pragma unroll 2
    for (unsigned cell = t % 8; cell < cells; cell += 8) { // 8 threads for each image
        unsigned at = (t / 8 * filters + f) * cells + cell;
        all += h[at] > 0 ? dh[at] : 0;
    }
    for (int i = t; i < taps; i += 256) {
        float sum = 0;
#pragma unroll 8
        for (int part = 0; part < parts; part++)
            sum += gradients[(part * filters + f) * taps + i];
        w[f * taps + i] -= rate * sum;
    }
    all = sum_of_warp(all);
    if (t % 32 == 0)
        sums[t / 32] = all;
    __syncthreads();
    if (t == 0) {
        for (int i = 1; i < 8; i++)
            all += sums[i];
        bias[f] -= rate * all;
    }
}
