// The kernels of a training step of `train_digits`: layers with dropout, softmax cross-entropy, gradients, Adam with a
// schedule. Matrices are row by row. A layer is one piece of memory: its weights, a row for each output, then its
// biases. On the Rust side, `#[requires(..)]` bounds the launches.

const unsigned TILE = 32;    // rows and columns that a block computes, by 256 threads
const unsigned STRIDE = TILE + 1;

struct Philox {
    unsigned long long seed, offset;
};

// The sums of a tile, 2 x 2 for each thread: c[i][j] is that of row `row + 16 i` and column `column + 16 j`.
struct Tile {
    unsigned row, column;
    float c[2][2];
};

// a(m, k) = a[m * am + k * ak], and b(n, k) likewise: c(m, n) = sum over k of a(m, k) b(n, k), for a tile of an `ms` by
// `ns` matrix. What lies outside counts as 0.
__device__ static Tile product(const float *a, unsigned am, unsigned ak, const float *b, unsigned bn, unsigned bk,
                               unsigned ms, unsigned ns, unsigned ks)
{
    __shared__ float as[TILE][STRIDE], bs[TILE][STRIDE];
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16, m0 = blockIdx.y * TILE, n0 = blockIdx.x * TILE;
    Tile tile = {m0 + y, n0 + x, {}};
    #pragma unroll 1
    for (unsigned k0 = 0; k0 < ks; k0 += TILE) {
        #pragma unroll 1
        for (unsigned i = threadIdx.x; i < TILE * TILE; i += 256) {
            // neighbouring threads read neighbouring numbers, along whichever side lies together
            const unsigned low = i % TILE, high = i / TILE;
            const unsigned ma = ak == 1 ? high : low, ka = ak == 1 ? low : high;
            const unsigned nb = bk == 1 ? high : low, kb = bk == 1 ? low : high;
            as[ka][ma] = m0 + ma < ms && k0 + ka < ks ? a[(m0 + ma) * am + (k0 + ka) * ak] : 0;
            bs[kb][nb] = n0 + nb < ns && k0 + kb < ks ? b[(n0 + nb) * bn + (k0 + kb) * bk] : 0;
        }
        __syncthreads();
        #pragma unroll 8
        for (unsigned k = 0; k < TILE; k++) {
            const float a0 = as[k][y], a1 = as[k][y + 16], b0 = bs[k][x], b1 = bs[k][x + 16];
            tile.c[0][0] += a0 * b0, tile.c[0][1] += a0 * b1;
            tile.c[1][0] += a1 * b0, tile.c[1][1] += a1 * b1;
        }
        __syncthreads();
    }
    return tile;
}

// Four random numbers of 32 bits, the ones of this thread at the state's offset: Philox 4x32-10 (Salmon et al., SC11).
__device__ static uint4 random(const Philox *rng, unsigned thread)
{
    const unsigned long long block = rng->offset / 4;
    uint4 c = make_uint4((unsigned)block, (unsigned)(block >> 32), thread, 0);
    unsigned k0 = (unsigned)rng->seed, k1 = (unsigned)(rng->seed >> 32);
    for (int round = 0; round < 10; round++) {
        const unsigned long long p = 0xD2511F53ull * c.x, q = 0xCD9E8D57ull * c.z;
        c = make_uint4((unsigned)(q >> 32) ^ c.y ^ k0, (unsigned)q, (unsigned)(p >> 32) ^ c.w ^ k1, (unsigned)p);
        k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
    return c;
}

// y = relu(x w^T + b), then dropout: each output stays with probability `keep`, and is divided by it
extern "C" __global__ void hidden(const float *x, const float *layer, const Philox *rng, float *y, unsigned inputs,
                                  unsigned outputs, float keep)
{
    const unsigned rows = gridDim.y * TILE;
    const Tile tile = product(x, inputs, 1, layer, inputs, 1, rows, outputs, inputs);
    const uint4 draw = random(rng, (blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.x);
    const unsigned draws[2][2] = {{draw.x, draw.y}, {draw.z, draw.w}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const unsigned row = tile.row + 16 * i, column = tile.column + 16 * j;
            if (column >= outputs)
                continue;
            const float sum = tile.c[i][j] + layer[outputs * inputs + column];
            const bool kept = (float)(draws[i][j] >> 8) * (1.0f / (1 << 24)) < keep;
            y[row * outputs + column] = kept && sum > 0 ? sum / keep : 0;
        }
}

// The last layer and the loss, a warp for each row of 128 inputs: dy = (softmax(x w^T + b) - onehot(label)) / rows for
// the first `rows` rows, 0 for the others; their cross-entropies are added to *loss.
extern "C" __global__ void loss(const float *x, const float *layer, const unsigned *labels, float *dy, float *loss,
                                unsigned rows)
{
    const unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float logits[10], most = -1e30f, sum = 0, wanted = 0;
    #pragma unroll
    for (unsigned c = 0; c < 10; c++) {
        float y = 0;
        for (unsigned k = lane; k < 128; k += 32)
            y += x[row * 128 + k] * layer[c * 128 + k];
        for (int other = 16; other; other /= 2)
            y += __shfl_xor_sync(~0u, y, other);
        logits[c] = y + layer[10 * 128 + c];
        most = fmaxf(most, logits[c]);
    }
    #pragma unroll
    for (unsigned c = 0; c < 10; c++)
        sum += __expf(logits[c] - most);
    const unsigned label = labels[row];
    #pragma unroll
    for (unsigned c = 0; c < 10; c++) {
        if (c == label)
            wanted = logits[c];
        const float error = __expf(logits[c] - most) / sum - (c == label);
        if (lane == c)
            dy[row * 10 + c] = row < rows ? error / rows : 0;
    }
    if (lane == 0 && row < rows)
        atomicAdd(loss, __logf(sum) + most - wanted);
}

// dx = dy w where x, the output of a layer with ReLU and dropout, is not 0; divided by `keep`, as x is
extern "C" __global__ void back(const float *dy, const float *layer, const float *x, float *dx, unsigned inputs,
                                unsigned outputs, float keep)
{
    const Tile tile = product(dy, outputs, 1, layer, 1, inputs, gridDim.y * TILE, inputs, outputs);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const unsigned at = (tile.row + 16 * i) * inputs + tile.column + 16 * j;
            if (tile.column + 16 * j < inputs)
                dx[at] = x[at] > 0 ? tile.c[i][j] / keep : 0;
        }
}

// Counts the step, and writes what Adam needs of it: the rate (a straight warm-up to `peak`, then half a cosine down to
// 0 at `total`), and what divides the moments, which begin at 0: 1 - beta1^step and the root of 1 - beta2^step.
extern "C" __global__ void schedule(unsigned *step, float *rates, float peak, unsigned warm_up, unsigned total)
{
    const unsigned now = ++*step;
    const float done = (float)(now - warm_up) / (float)(total - warm_up);
    rates[0] = now <= warm_up ? peak * (float)now / (float)warm_up
             : now < total    ? peak * 0.5f * (1 + cospif(done))
                              : 0;
    rates[1] = 1 - exp2f((float)now * -0.15200309f);           // log2(0.9)
    rates[2] = sqrtf(1 - exp2f((float)now * -0.0014434169f));  // log2(0.999)
}

// One number of a layer, by Adam (Kingma & Ba, 2015), with PyTorch's place for epsilon
__device__ static void adam(float *parameter, float *mean, float *square, const float *rates, float gradient)
{
    *mean += 0.1f * (gradient - *mean);
    *square += 0.001f * (gradient * gradient - *square);
    *parameter -= rates[0] * (*mean / rates[1]) / (sqrtf(*square) / rates[2] + 1e-8f);
}

// The gradient of a layer, dy^T x for its weights and the sum of dy for its biases, and a step of Adam with it.
// `moments` are the means, then the means of squares, each laid out as the layer.
extern "C" __global__ void learn(const float *dy, const float *x, const float *rates, float *layer, float *moments,
                                 unsigned rows, unsigned inputs, unsigned outputs, unsigned size)
{
    const Tile tile = product(dy, 1, outputs, x, 1, inputs, outputs, inputs, rows);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const unsigned row = tile.row + 16 * i, column = tile.column + 16 * j, at = row * inputs + column;
            if (row < outputs && column < inputs)
                adam(&layer[at], &moments[at], &moments[size + at], rates, tile.c[i][j]);
        }
    const unsigned output = blockIdx.y * TILE + threadIdx.x, at = outputs * inputs + output;
    if (blockIdx.x == 0 && threadIdx.x < TILE && output < outputs) {
        float sum = 0;
        for (unsigned r = 0; r < rows; r++)
            sum += dy[r * outputs + output];
        adam(&layer[at], &moments[at], &moments[size + at], rates, sum);
    }
}
