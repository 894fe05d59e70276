// The kernels of the `train_text` example: the layers of a decoder, forwards and backwards, in f32. Activations have a
// row for each place of each text, matrices a row for each output. Gradients of weights are added atomically, so
// several nodes may add at the same time.

typedef unsigned u32;
typedef unsigned long long u64;
struct Philox {
    u64 seed, offset;
};

// The sum or the greatest of `value` over the block, for all threads
template <bool greatest> __device__ static float over_block(float value)
{
    __shared__ float all[32];
    for (int lanes = 16; lanes; lanes /= 2) {
        float other = __shfl_xor_sync(~0u, value, lanes);
        value = greatest ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        all[threadIdx.x / 32] = value;
    __syncthreads();
    value = all[0];
    for (u32 warp = 1; warp < blockDim.x / 32; warp++)
        value = greatest ? fmaxf(value, all[warp]) : value + all[warp];
    return value;
}

// Adds to c the product of 32 rows of `a` and 32 rows of `b`, over k in `from..to`, by 256 threads: thread (x, y) has
// the rows y and y + 16 of `a`, x and x + 16 of `b`. Element (row, k) of `a` is a[row * a_row + k * a_k].
__device__ static void tile(const float *a, u32 a_row, u32 a_k, u32 a_rows, const float *b, u32 b_row, u32 b_k, u32 b_rows, u32 from, u32 to,
    float (&c)[2][2])
{
    __shared__ float as[32][33], bs[32][33];
    u32 x = threadIdx.x % 16, y = threadIdx.x / 16, a0 = blockIdx.y * 32, b0 = blockIdx.x * 32;
    for (u32 k0 = from; k0 < to; k0 += 32) {
        for (u32 i = threadIdx.x; i < 1024; i += 256) {
            // Neighbours in memory go to neighbouring threads.
            u32 row = a_k == 1 ? i / 32 : i % 32, k = a_k == 1 ? i % 32 : i / 32;
            as[k][row] = a0 + row < a_rows && k0 + k < to ? a[(a0 + row) * a_row + (k0 + k) * a_k] : 0;
            row = b_k == 1 ? i / 32 : i % 32, k = b_k == 1 ? i % 32 : i / 32;
            bs[k][row] = b0 + row < b_rows && k0 + k < to ? b[(b0 + row) * b_row + (k0 + k) * b_k] : 0;
        }
        __syncthreads();
        for (u32 k = 0; k < 32; k++) {
            float a1 = as[k][y], a2 = as[k][y + 16], b1 = bs[k][x], b2 = bs[k][x + 16];
            c[0][0] += a1 * b1, c[0][1] += a1 * b2, c[1][0] += a2 * b1, c[1][1] += a2 * b2;
        }
        __syncthreads();
    }
}

// done(row of a, row of b, sum) for each element of the thread
template <typename Done> __device__ static void each(const float (&c)[2][2], u32 a_rows, u32 b_rows, Done done)
{
    for (u32 i = 0; i < 2; i++)
        for (u32 j = 0; j < 2; j++) {
            u32 row = blockIdx.y * 32 + threadIdx.x / 16 + 16 * i, column = blockIdx.x * 32 + threadIdx.x % 16 + 16 * j;
            if (row < a_rows && column < b_rows)
                done(row, column, c[i][j]);
        }
}

// A window of the text for each thread, and the tokens after each of its tokens: ids[n][context + 1]
extern "C" __global__ void pick(const Philox *rng, const unsigned char *text, u32 *ids, u32 length, u32 context, u32 count)
{
    u32 sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= count)
        return;
    u64 bits = (rng->seed * 0x9e3779b97f4a7c15ull + rng->offset) * 0xbf58476d1ce4e5b9ull + sample * 0x94d049bb133111ebull;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
    u32 first = (u32)((bits >> 32) % (length - context));
    for (u32 i = 0; i <= context; i++)
        ids[sample * (context + 1) + i] = text[first + i];
}

// x = the embedding of the token and that of the place; a block for each row
extern "C" __global__ void embed(const u32 *ids, const float *tokens, const float *places, float *x, u32 width, u32 vocabulary, u32 context)
{
    u32 row = blockIdx.x, place = row % context, token = min(ids[row / context * (context + 1) + place], vocabulary - 1);
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        x[row * width + i] = tokens[token * width + i] + places[place * width + i];
}

// The gradients of the embeddings
extern "C" __global__ void embed_back(const u32 *ids, const float *dx, float *tokens, float *places, u32 width, u32 vocabulary, u32 context)
{
    u32 row = blockIdx.x, place = row % context, token = min(ids[row / context * (context + 1) + place], vocabulary - 1);
    for (u32 i = threadIdx.x; i < width; i += blockDim.x) {
        atomicAdd(&tokens[token * width + i], dx[row * width + i]);
        atomicAdd(&places[place * width + i], dx[row * width + i]);
    }
}

// The layer norm of each row, by a block each; `normal` is it before gain and bias, `inverse` one over the deviation
extern "C" __global__ void layer_norm(const float *x, const float *gain, const float *bias, float *normal, float *inverse, float *out, u32 width)
{
    u32 row = blockIdx.x * width;
    float sum = 0, squares = 0;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        sum += x[row + i];
    float mean = over_block<false>(sum) / width;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        squares += (x[row + i] - mean) * (x[row + i] - mean);
    float scale = rsqrtf(over_block<false>(squares) / width + 1e-5f);
    for (u32 i = threadIdx.x; i < width; i += blockDim.x) {
        float y = (x[row + i] - mean) * scale;
        normal[row + i] = y;
        out[row + i] = y * gain[i] + bias[i];
    }
    if (threadIdx.x == 0)
        inverse[blockIdx.x] = scale;
}

// Adds to dx the gradient by the input of `layer_norm`
extern "C" __global__ void layer_norm_back(const float *dout, const float *normal, const float *inverse, const float *gain, float *dx, float *dgain,
    float *dbias, u32 width)
{
    u32 row = blockIdx.x * width;
    float sum = 0, product = 0;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x) {
        float d = dout[row + i];
        atomicAdd(&dgain[i], d * normal[row + i]);
        atomicAdd(&dbias[i], d);
        sum += d * gain[i];
        product += d * gain[i] * normal[row + i];
    }
    sum = over_block<false>(sum) / width;
    product = over_block<false>(product) / width;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        dx[row + i] += (dout[row + i] * gain[i] - sum - normal[row + i] * product) * inverse[blockIdx.x];
}

// out = x w^T + bias; where `add`, that is added to out
extern "C" __global__ void linear(const float *x, const float *w, const float *bias, float *out, u32 rows, u32 outputs, u32 inputs, u32 add)
{
    float c[2][2] = {};
    tile(x, inputs, 1, rows, w, inputs, 1, outputs, 0, inputs, c);
    each(c, rows, outputs, [=](u32 row, u32 column, float sum) {
        float *to = out + row * outputs + column;
        *to = (add ? *to : 0) + bias[column] + sum;
    });
}

// dx = dout w
extern "C" __global__ void linear_back(const float *dout, const float *w, float *dx, u32 rows, u32 outputs, u32 inputs)
{
    float c[2][2] = {};
    tile(dout, outputs, 1, rows, w, 1, inputs, inputs, 0, outputs, c);
    each(c, rows, inputs, [=](u32 row, u32 column, float sum) { dx[row * inputs + column] = sum; });
}

// Adds dout^T x to dw, and the sum of the rows of dout to dbias; each z of the grid has a part of the rows
extern "C" __global__ void linear_learn(const float *dout, const float *x, float *dw, float *dbias, u32 rows, u32 outputs, u32 inputs)
{
    float c[2][2] = {};
    u32 part = (rows + gridDim.z - 1) / gridDim.z, from = min(rows, blockIdx.z * part), to = min(rows, from + part);
    tile(dout, 1, outputs, outputs, x, 1, inputs, inputs, from, to, c);
    each(c, outputs, inputs, [=](u32 row, u32 column, float sum) { atomicAdd(&dw[row * inputs + column], sum); });
    u32 column = blockIdx.y * 32 + threadIdx.x;
    if (blockIdx.x || threadIdx.x >= 32 || column >= outputs)
        return;
    float sum = 0;
    for (u32 row = from; row < to; row++)
        sum += dout[row * outputs + column];
    atomicAdd(&dbias[column], sum);
}

// Attention by heads of 64 columns. A row of qkv has q, k and v. The block (place, head, text) has a row of `shares`:
// the softmax of its scores, 0 after its own place.
extern "C" __global__ void attend(const float *qkv, float *shares, float *out, u32 width, u32 context)
{
    __shared__ float q[64], row[1024];
    u32 place = blockIdx.x, head = blockIdx.y, text = blockIdx.z;
    const float *base = qkv + text * context * 3 * width + head * 64;
    for (u32 d = threadIdx.x; d < 64; d += blockDim.x)
        q[d] = base[place * 3 * width + d];
    __syncthreads();
    float most = -1e30f, sum = 0;
    for (u32 p = threadIdx.x; p <= place; p += blockDim.x) {
        float score = 0;
        for (u32 d = 0; d < 64; d++)
            score += q[d] * base[p * 3 * width + width + d];
        row[p] = score / 8;
        most = fmaxf(most, score / 8);
    }
    most = over_block<true>(most);
    for (u32 p = threadIdx.x; p <= place; p += blockDim.x)
        sum += row[p] = expf(row[p] - most);
    sum = over_block<false>(sum);
    float *to = shares + ((text * gridDim.y + head) * context + place) * context;
    for (u32 p = threadIdx.x; p < context; p += blockDim.x)
        to[p] = p <= place ? row[p] /= sum : 0;
    __syncthreads();
    for (u32 d = threadIdx.x; d < 64; d += blockDim.x) {
        float mixed = 0;
        for (u32 p = 0; p <= place; p++)
            mixed += row[p] * base[p * 3 * width + 2 * width + d];
        out[(text * context + place) * width + head * 64 + d] = mixed;
    }
}

// The gradients by q, and those by the scores
extern "C" __global__ void attend_back_q(const float *qkv, const float *shares, const float *dout, float *dscores, float *dqkv, u32 width, u32 context)
{
    __shared__ float d_own[64], row[1024];
    u32 place = blockIdx.x, head = blockIdx.y, text = blockIdx.z;
    const float *base = qkv + text * context * 3 * width + head * 64;
    u32 index = ((text * gridDim.y + head) * context + place) * context;
    for (u32 d = threadIdx.x; d < 64; d += blockDim.x)
        d_own[d] = dout[(text * context + place) * width + head * 64 + d];
    __syncthreads();
    float sum = 0;
    for (u32 p = threadIdx.x; p <= place; p += blockDim.x) {
        float dshare = 0;
        for (u32 d = 0; d < 64; d++)
            dshare += d_own[d] * base[p * 3 * width + 2 * width + d];
        row[p] = dshare;
        sum += dshare * shares[index + p];
    }
    sum = over_block<false>(sum);
    for (u32 p = threadIdx.x; p < context; p += blockDim.x)
        dscores[index + p] = p <= place ? row[p] = shares[index + p] * (row[p] - sum) / 8 : 0;
    __syncthreads();
    for (u32 d = threadIdx.x; d < 64; d += blockDim.x) {
        float dq = 0;
        for (u32 p = 0; p <= place; p++)
            dq += row[p] * base[p * 3 * width + width + d];
        dqkv[(text * context + place) * 3 * width + head * 64 + d] = dq;
    }
}

// The gradients by k and v of a place, of which the later places make use
extern "C" __global__ void attend_back_kv(const float *qkv, const float *shares, const float *dout, const float *dscores, float *dqkv, u32 width,
    u32 context)
{
    u32 place = blockIdx.x, head = blockIdx.y, text = blockIdx.z;
    const float *q = qkv + text * context * 3 * width + head * 64, *d_mixed = dout + text * context * width + head * 64;
    u32 index = (text * gridDim.y + head) * context * context + place;
    for (u32 d = threadIdx.x; d < 64; d += blockDim.x) {
        float dk = 0, dv = 0;
        for (u32 p = place; p < context; p++) {
            dk += dscores[index + p * context] * q[p * 3 * width + d];
            dv += shares[index + p * context] * d_mixed[p * width + d];
        }
        float *to = dqkv + (text * context + place) * 3 * width + head * 64 + d;
        to[width] = dk, to[2 * width] = dv;
    }
}

extern "C" __global__ void activate(const float *x, float *out, u32 n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * x[i] * (1 + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

// The gradient by x, in place
extern "C" __global__ void activate_back(const float *x, float *d, u32 n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float t = tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i]));
    d[i] *= 0.5f * (1 + t) + 0.5f * x[i] * (1 - t * t) * 0.7978845608f * (1 + 0.134145f * x[i] * x[i]);
}

// The cross-entropy of each row of logits, added up to their mean; and the gradient by the logits, in place
extern "C" __global__ void cross_entropy(const u32 *ids, float *logits, float *losses, float *mean, u32 vocabulary, u32 context)
{
    u32 row = blockIdx.x, target = min(ids[row / context * (context + 1) + row % context + 1], vocabulary - 1);
    float *line = logits + row * vocabulary, most = -1e30f, sum = 0;
    for (u32 i = threadIdx.x; i < vocabulary; i += blockDim.x)
        most = fmaxf(most, line[i]);
    most = over_block<true>(most);
    for (u32 i = threadIdx.x; i < vocabulary; i += blockDim.x)
        sum += expf(line[i] - most);
    sum = over_block<false>(sum);
    if (threadIdx.x == 0) {
        losses[row] = logf(sum) + most - line[target];
        atomicAdd(mean, losses[row] / gridDim.x);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < vocabulary; i += blockDim.x)
        line[i] = (expf(line[i] - most) / sum - (i == target)) / gridDim.x;
}

// The next step begins
extern "C" __global__ void tick(u32 *step)
{
    *step += 1;
}

// Adam. The rate rises for `warm_up` steps to `rate`, and falls as a cosine until `steps`.
extern "C" __global__ void adam(float *weights, const float *gradients, float *means, float *squares, const u32 *step, float rate, u32 warm_up,
    u32 steps, u32 n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float t = *step, g = gradients[i], progress = fminf(1, fmaxf(0, t - warm_up) / fmaxf(1, (float)steps - warm_up));
    rate *= fminf(1, t / fmaxf(1, warm_up)) * (0.5f + 0.5f * cosf(3.14159265f * progress));
    float mean = means[i] = 0.9f * means[i] + 0.1f * g, square = squares[i] = 0.99f * squares[i] + 0.01f * g * g;
    weights[i] -= rate * (mean / (1 - powf(0.9f, t))) / (sqrtf(square / (1 - powf(0.99f, t))) + 1e-8f);
}
