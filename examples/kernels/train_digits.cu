// The kernels of a training step of `train_digits`: layers with dropout, softmax cross-entropy, gradients, Adam with a
// schedule. Matrices are row by row. A layer is one piece of memory: its weights, a row for each output, then its
// biases. On the Rust side, `#[requires(..)]` bounds the launches.

const unsigned TILE = 32; // rows and columns that a block computes, by 256 threads

struct Philox {
    unsigned long long seed, offset;
};

// Rows of two matrices, `DEPTH` numbers of each at a time; the rows begin in different banks of shared memory.
template <unsigned DEPTH> struct alignas(16) Panels {
    float a[TILE][DEPTH + 4], b[TILE][DEPTH + 4];
};

// Four numbers of a tile for each thread: c[i] is that of row `row_of(i)` and column `column_of(i)`.
struct Sums {
    float c[4];
};

__device__ static unsigned row_of(unsigned i)
{
    return blockIdx.y * TILE + threadIdx.x / 16 + i / 2 * 16;
}

__device__ static unsigned column_of(unsigned i)
{
    return blockIdx.x * TILE + threadIdx.x % 16 + i % 2 * 16;
}

// a(m, k) = a[m * am + k * ak], and b(n, k) likewise: c(m, n) = sum over k of a(m, k) b(n, k), for a tile of an `ms` by
// `ns` matrix. What lies outside counts as 0. Afterwards the last `DEPTH` numbers of a(m, k) are still in `panels`.
template <unsigned DEPTH>
__device__ static Sums product(Panels<DEPTH> &panels, const float *a, unsigned am, unsigned ak, const float *b,
                               unsigned bn, unsigned bk, unsigned ms, unsigned ns, unsigned ks)
{
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16, m0 = blockIdx.y * TILE, n0 = blockIdx.x * TILE;
    const unsigned each = TILE * DEPTH / 256;
    Sums sums = {};
    #pragma unroll 1
    for (unsigned k0 = 0; k0 < ks; k0 += DEPTH) {
        // Neighbouring threads read neighbouring numbers, along whichever side lies together. All loads come before the
        // first store, so that they are under way together; those outside load the first number instead.
        float from_a[each], from_b[each];
        #pragma unroll
        for (unsigned i = 0; i < each; i++) {
            const unsigned at = threadIdx.x + i * 256;
            const unsigned ma = m0 + (ak == 1 ? at / DEPTH : at % TILE), ka = k0 + (ak == 1 ? at % DEPTH : at / TILE);
            const unsigned nb = n0 + (bk == 1 ? at / DEPTH : at % TILE), kb = k0 + (bk == 1 ? at % DEPTH : at / TILE);
            const bool in_a = ma < ms && ka < ks, in_b = nb < ns && kb < ks;
            from_a[i] = a[in_a ? ma * am + ka * ak : 0], from_b[i] = b[in_b ? nb * bn + kb * bk : 0];
            from_a[i] = in_a ? from_a[i] : 0, from_b[i] = in_b ? from_b[i] : 0;
        }
        #pragma unroll
        for (unsigned i = 0; i < each; i++) {
            const unsigned at = threadIdx.x + i * 256;
            (ak == 1 ? panels.a[at / DEPTH][at % DEPTH] : panels.a[at % TILE][at / TILE]) = from_a[i];
            (bk == 1 ? panels.b[at / DEPTH][at % DEPTH] : panels.b[at % TILE][at / TILE]) = from_b[i];
        }
        __syncthreads();
        #pragma unroll 2
        for (unsigned k = 0; k < DEPTH && k0 + k < ks; k += 4) {
            float4 p[2], q[2];
            #pragma unroll
            for (unsigned i = 0; i < 2; i++) {
                p[i] = *(const float4 *)&panels.a[y + 16 * i][k];
                q[i] = *(const float4 *)&panels.b[x + 16 * i][k];
            }
            #pragma unroll
            for (unsigned i = 0; i < 4; i++) {
                const float4 u = p[i / 2], v = q[i % 2];
                sums.c[i] += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
            }
        }
        __syncthreads();
    }
    return sums;
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
extern "C" __global__ void hidden(const float *__restrict__ x, const float *__restrict__ layer, const Philox *rng,
                                  float *__restrict__ y, unsigned inputs, unsigned outputs, float keep)
{
    __shared__ Panels<128> panels;
    const uint4 draw = random(rng, (blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.x);
    const unsigned draws[4] = {draw.x, draw.y, draw.z, draw.w};
    float bias[2];
    #pragma unroll
    for (unsigned i = 0; i < 2; i++) { // requested before the product, as all that is needed after it
        const unsigned column = column_of(i);
        bias[i] = column < outputs ? layer[outputs * inputs + column] : 0;
    }
    const Sums sums = product(panels, x, inputs, 1, layer, inputs, 1, gridDim.y * TILE, outputs, inputs);
    #pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        const float z = sums.c[i] + bias[i % 2];
        const bool kept = (float)(draws[i] >> 8) * (1.0f / (1 << 24)) < keep;
        if (column_of(i) < outputs)
            y[row_of(i) * outputs + column_of(i)] = kept && z > 0 ? z / keep : 0;
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
extern "C" __global__ void back(const float *__restrict__ dy, const float *__restrict__ layer,
                                const float *__restrict__ x, float *__restrict__ dx, unsigned inputs,
                                unsigned outputs, float keep)
{
    __shared__ Panels<128> panels;
    bool passes[4];
    #pragma unroll
    for (unsigned i = 0; i < 4; i++)
        passes[i] = column_of(i) < inputs && x[row_of(i) * inputs + column_of(i)] > 0;
    const Sums sums = product(panels, dy, outputs, 1, layer, 1, inputs, gridDim.y * TILE, inputs, outputs);
    #pragma unroll
    for (unsigned i = 0; i < 4; i++)
        if (column_of(i) < inputs)
            dx[row_of(i) * inputs + column_of(i)] = passes[i] ? sums.c[i] / keep : 0;
}

// Counts the step, and writes what Adam needs of it: the rate (a straight warm-up to `peak`, then half a cosine down to
// 0 at `total`), and the factors of the moments, which begin at 0: 1 / (1 - beta1^step), 1 / sqrt(1 - beta2^step).
extern "C" __global__ void schedule(unsigned *step, float *rates, float peak, unsigned warm_up, unsigned total)
{
    const unsigned now = ++*step;
    const float done = (float)(now - warm_up) / (float)(total - warm_up);
    rates[0] = now <= warm_up ? peak * (float)now / (float)warm_up
             : now < total    ? peak * 0.5f * (1 + cospif(done))
                              : 0;
    rates[1] = 1 / (1 - exp2f((float)now * -0.15200309f));           // log2(0.9)
    rates[2] = 1 / sqrtf(1 - exp2f((float)now * -0.0014434169f));    // log2(0.999)
}

// The gradient of a layer, dy^T x for its weights and the sum of dy for its biases, and a step of Adam with it (Kingma
// and Ba, 2015; epsilon where PyTorch has it). `moments` are the means, then the means of squares, each laid out as the
// layer. There are at most 64 rows.
extern "C" __global__ void learn(const float *__restrict__ dy, const float *__restrict__ x,
                                 const float *__restrict__ rates, float *__restrict__ layer,
                                 float *__restrict__ moments, unsigned rows, unsigned inputs, unsigned outputs,
                                 unsigned size)
{
    __shared__ Panels<64> panels;
    // Four weights for each thread, and a bias for the first threads of the first blocks
    unsigned at[5];
    float parameter[5], mean[5], square[5], gradient[5];
    const float rate = rates[0], factor1 = rates[1], factor2 = rates[2];
    #pragma unroll
    for (unsigned i = 0; i < 5; i++) {
        const unsigned output = i < 4 ? row_of(i) : blockIdx.y * TILE + threadIdx.x, input = column_of(i);
        const bool mine = output < outputs && (i < 4 ? input < inputs : blockIdx.x == 0 && threadIdx.x < TILE);
        at[i] = !mine ? size : i < 4 ? output * inputs + input : outputs * inputs + output;
        parameter[i] = mine ? layer[at[i]] : 0;
        mean[i] = mine ? moments[at[i]] : 0, square[i] = mine ? moments[size + at[i]] : 0;
    }
    const Sums sums = product(panels, dy, 1, outputs, x, 1, inputs, outputs, inputs, rows);
    float4 sum = make_float4(0, 0, 0, 0);
    if (at[4] < size)
        #pragma unroll
        for (unsigned k = 0; k < 64; k += 4) {
            const float4 p = *(const float4 *)&panels.a[threadIdx.x][k];
            sum = make_float4(sum.x + p.x, sum.y + p.y, sum.z + p.z, sum.w + p.w);
        }
    #pragma unroll
    for (unsigned i = 0; i < 5; i++) {
        gradient[i] = i < 4 ? sums.c[i] : sum.x + sum.y + sum.z + sum.w;
        mean[i] += 0.1f * (gradient[i] - mean[i]);
        square[i] += 0.001f * (gradient[i] * gradient[i] - square[i]);
        parameter[i] -= rate * mean[i] * factor1 / (sqrtf(square[i]) * factor2 + 1e-8f);
        if (at[i] < size)
            layer[at[i]] = parameter[i], moments[at[i]] = mean[i], moments[size + at[i]] = square[i];
    }
}
