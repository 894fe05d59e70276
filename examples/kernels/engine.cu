// A step of a Llama in f32, for one token: the token and its place are in memory, so each launch is the same.
//
// Sizes are values, so one file serves all models. `position` is the place of the token, and the number of given
// tokens. Memory may have any contents: what is read of it is bounded before it is an index. So each launch can be
// proved to stay within its memory, if that has the lengths that the sizes say.

typedef unsigned long long size;

const float LOWEST = -3.4e38f;

// The sum of the numbers of a warp, in all its lanes
__device__ static float sum_of_warp(float value)
{
    for (unsigned other = 16; other; other /= 2)
        value += __shfl_xor_sync(~0u, value, other);
    return value;
}

// The place of the token
__device__ static unsigned place(const unsigned *position, unsigned context)
{
    const unsigned at = position[0];
    return at < context ? at : 0;
}

// `x` becomes the row of the token: a thread for each column.
extern "C" __global__ void embed(const float *table, const unsigned *text, const unsigned *position, float *x,
                                 unsigned width, unsigned vocabulary, unsigned context)
{
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width)
        return;
    const unsigned token = text[place(position, context)];
    x[column] = table[size(token < vocabulary ? token : 0) * width + column];
}

// `out = x / sqrt(mean(x^2) + epsilon) * gain`, by a block of 256
extern "C" __global__ void __launch_bounds__(256) rms_norm(const float *x, const float *gain, float *out, unsigned width,
                                                           float epsilon)
{
    __shared__ float sums[8];
    float sum = 0;
    for (unsigned i = threadIdx.x; i < width; i += 256)
        sum += x[i] * x[i];
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned warp = 0; warp < 8; warp++)
        sum += sums[warp];
    const float scale = 1 / sqrtf(sum / width + epsilon);
    for (unsigned i = threadIdx.x; i < width; i += 256)
        out[i] = x[i] * scale * gain[i];
}

// The product of row `row` of `w` and `x`, by a warp
__device__ static float product(const float *w, const float *x, unsigned row, unsigned columns)
{
    float sum = 0;
    for (unsigned i = threadIdx.x % 32; i < columns; i += 32)
        sum += w[size(row) * columns + i] * x[i];
    return sum_of_warp(sum);
}

// `out = w x`: a warp for each row, blocks of 128
extern "C" __global__ void __launch_bounds__(128) multiply(const float *w, const float *x, float *out, unsigned rows,
                                                           unsigned columns)
{
    const unsigned row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= rows)
        return;
    const float sum = product(w, x, row, columns);
    if (threadIdx.x % 32 == 0)
        out[row] = sum;
}

// `out += w x`, as `multiply`
extern "C" __global__ void __launch_bounds__(128) multiply_add(const float *w, const float *x, float *out, unsigned rows,
                                                               unsigned columns)
{
    const unsigned row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= rows)
        return;
    const float sum = product(w, x, row, columns);
    if (threadIdx.x % 32 == 0)
        out[row] += sum;
}

// Turns each pair of numbers of a head, which are `half` apart, by the angle of the place: a block for each head, a
// thread for each pair.
extern "C" __global__ void turn(float *heads, const float *cosines, const float *sines, const unsigned *position,
                                unsigned half, unsigned context)
{
    const unsigned pair = threadIdx.x;
    if (pair >= half)
        return;
    const unsigned angle = place(position, context) * half + pair, first = blockIdx.x * 2 * half + pair;
    const float x = heads[first], y = heads[first + half], c = cosines[angle], s = sines[angle];
    heads[first] = x * c - y * s;
    heads[first + half] = y * c + x * s;
}

// Keeps the numbers of a token in the row of its place: a thread for each.
extern "C" __global__ void keep(const float *numbers, const unsigned *position, float *rows, unsigned width,
                                unsigned context)
{
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < width)
        rows[size(place(position, context)) * width + column] = numbers[column];
}

// Attention: a block of 32 for each query, of `gridDim.x` groups of `gridDim.y`. A group shares keys and values, whose
// rows have `width` numbers. Dynamic shared memory has a number for each place.
extern "C" __global__ void __launch_bounds__(32) attend(const float *queries, const float *keys, const float *values,
                                                        const unsigned *position, float *out, unsigned head,
                                                        unsigned width, unsigned context)
{
    extern __shared__ float shares[];
    const unsigned count = place(position, context) + 1, group = blockIdx.x * head;
    const unsigned query = (blockIdx.x * gridDim.y + blockIdx.y) * head;
    float most = LOWEST;
    for (unsigned at = threadIdx.x; at < count; at += 32) {
        float sum = 0;
        for (unsigned i = 0; i < head; i++)
            sum += queries[query + i] * keys[size(at) * width + group + i];
        shares[at] = sum / sqrtf(head);
        most = fmaxf(most, shares[at]);
    }
    for (unsigned other = 16; other; other /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, other));
    float total = 0;
    for (unsigned at = threadIdx.x; at < count; at += 32) {
        shares[at] = expf(shares[at] - most);
        total += shares[at];
    }
    total = sum_of_warp(total);
    for (unsigned i = 0; i < head; i++) {
        float sum = 0;
        for (unsigned at = threadIdx.x; at < count; at += 32)
            sum += shares[at] * values[size(at) * width + group + i];
        sum = sum_of_warp(sum);
        if (threadIdx.x == 0)
            out[query + i] = sum / total;
    }
}

// `gate = silu(gate) * up`: a thread for each number
extern "C" __global__ void gate_by_silu(float *gate, const float *up, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        gate[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
}

// Goes on to the next place. Its token is the likeliest one, unless it is given. By a block of 256
extern "C" __global__ void __launch_bounds__(256) choose(const float *logits, unsigned *text, unsigned *position,
                                                         unsigned vocabulary, unsigned context)
{
    __shared__ float logit_of[256];
    __shared__ unsigned token_of[256];
    float most = LOWEST;
    unsigned token = 0;
    for (unsigned i = threadIdx.x; i < vocabulary; i += 256)
        if (logits[i] > most)
            most = logits[i], token = i;
    logit_of[threadIdx.x] = most;
    token_of[threadIdx.x] = token;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (unsigned other = 1; other < 256; other++)
        if (logit_of[other] > most || logit_of[other] == most && token_of[other] < token)
            most = logit_of[other], token = token_of[other];
    const unsigned next = place(position, context) + 1;
    if (next >= context)
        return;
    if (next >= position[1])
        text[next] = token;
    position[0] = next;
}
