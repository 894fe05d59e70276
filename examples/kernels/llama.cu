// cuda-graph: --gpu-architecture=compute_90
// A step of a Llama in bf16, for one token: matrices times vectors, and attention to the tokens before.
//
// What a token takes is reading the weights once, so each kernel begins to read its own before it waits for the kernel
// before it, and lets the next one begin as soon as its last weights are on their way. Sums are f32; what is multiplied
// with weights is bf16, as they are. `state` has: whether to go on, the place of the token in the text, the number of
// given tokens, the end of the text, and tokens to stop at.

typedef unsigned long long size;
struct bf16 {
    unsigned short bits;
};

const unsigned WARP = 32, THREADS = 512, HEAD = 128, STOPS = 4;
// Columns of a piece are this number of times 256.
const unsigned STEPS = 2;
const float LOWEST = -3.4e38f;

__device__ static void launch_dependents() { asm volatile("griddepcontrol.launch_dependents;"); }
__device__ static void wait_for_grid() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

__device__ static float low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ static float high(unsigned pair) { return __uint_as_float(pair & 0xffff0000); }
__device__ static unsigned pack(float low, float high)
{
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
__device__ static bf16 rounded(float x)
{
    bf16 number = {(unsigned short)pack(x, 0)};
    return number;
}
// The sum of the products of two numbers each
__device__ static float dot(unsigned a, unsigned b) { return low(a) * low(b) + high(a) * high(b); }
__device__ static float dot(uint4 a, uint4 b) { return dot(a.x, b.x) + dot(a.y, b.y) + (dot(a.z, b.z) + dot(a.w, b.w)); }

// The sum of the numbers of a warp, in all its lanes
__device__ static float sum_of_warp(float value)
{
    for (unsigned other = WARP / 2; other; other /= 2)
        value += __shfl_xor_sync(~0u, value, other);
    return value;
}

// Brings memory near: nothing needs what it reads, so it may come before the kernel waits.
__device__ static void prefetch(const void *at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }

// The rows of a matrix that a warp multiplies with a vector. A piece is up to `STEPS` times 256 columns of a row, eight
// for each lane, and `AHEAD` pieces are on their way. Each lane reads what it has copied itself: there is no barrier.
template <unsigned AHEAD, typename Row> struct Rows {
    Row row;               // the row of a number below `count`, a word of 16 bytes for each eight columns
    unsigned count, words; // the number of rows, the words of each
    uint4 *ring;           // the words of this thread, `blockDim.x` apart
    unsigned next, word, slot; // the row and the first word of the piece to copy next, and the place for it

    __device__ Rows(Row row, unsigned count, unsigned words, uint4 *ring)
        : row(row), count(count), words(words), ring(ring + threadIdx.x), next(0), word(threadIdx.x % WARP), slot(0)
    {
        launch_dependents();
        for (unsigned piece = 0; piece < AHEAD; piece++)
            copy();
    }
    // Begins to copy the next piece, if there is one.
    __device__ void copy()
    {
        if (next < count) {
            const uint4 *from = row(next) + word;
#pragma unroll
            for (unsigned step = 0; step < STEPS; step++)
                if (word + WARP * step < words)
                    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                                     (unsigned)__cvta_generic_to_shared(ring + (slot * STEPS + step) * blockDim.x)),
                                 "l"(from + WARP * step));
            word += WARP * STEPS;
            if (word >= words)
                word = threadIdx.x % WARP, next++;
        }
        asm volatile("cp.async.commit_group;");
        slot = slot + 1 < AHEAD ? slot + 1 : 0;
    }
    // Calls `result` with the number of each row, and its product with `x`.
    template <typename Result> __device__ void times(const uint4 *x, Result result)
    {
        for (unsigned number = 0; number < count; number++) {
            float sum = 0;
            for (unsigned first = threadIdx.x % WARP; first < words; first += WARP * STEPS) {
                asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
#pragma unroll
                for (unsigned step = 0; step < STEPS; step++)
                    if (first + WARP * step < words)
                        sum += dot(ring[(slot * STEPS + step) * blockDim.x], x[first + WARP * step]);
                copy();
            }
            result(number, sum_of_warp(sum));
        }
    }
};

// The number of this warp among all, one of each block after the other, so that all have about as many rows
__device__ static unsigned warp_of_grid() { return threadIdx.x / WARP * gridDim.x + blockIdx.x; }
__device__ static unsigned warps_of_grid() { return gridDim.x * (blockDim.x / WARP); }
// The number of rows, of `all`, that this warp takes: its own number, and every so many
__device__ static unsigned share(unsigned all)
{
    const unsigned warps = warps_of_grid();
    return (all + warps - 1 - warp_of_grid()) / warps;
}

// Dynamic shared memory: the vector, then the ring of each thread
extern __shared__ uint4 shared[];

// Brings the gain of a norm near.
__device__ static void prefetch_gain(const bf16 *gain, unsigned words)
{
    if (threadIdx.x * 8 < words)
        prefetch((const uint4 *)gain + threadIdx.x * 8);
}

// Puts a vector into shared memory.
__device__ static void take(const bf16 *x, unsigned words)
{
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        shared[i] = ((const uint4 *)x)[i];
    __syncthreads();
}

// Puts `x * gain` into shared memory. Returns `1 / sqrt(mean(x^2) + epsilon)`, the factor of products with it.
__device__ static float take_norm(const float *x, const bf16 *gain, unsigned words, float epsilon)
{
    __shared__ float sums[WARP];
    float sum = 0;
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
        const uint4 g = ((const uint4 *)gain)[i];
        const float4 a = ((const float4 *)x)[2 * i], b = ((const float4 *)x)[2 * i + 1];
        shared[i] = make_uint4(pack(a.x * low(g.x), a.y * high(g.x)), pack(a.z * low(g.y), a.w * high(g.y)),
                               pack(b.x * low(g.z), b.y * high(g.z)), pack(b.z * low(g.w), b.w * high(g.w)));
        sum += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w + b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w;
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % WARP == 0)
        sums[threadIdx.x / WARP] = sum;
    __syncthreads();
    const unsigned lane = threadIdx.x % WARP;
    return rsqrtf(sum_of_warp(lane < blockDim.x / WARP ? sums[lane] : 0) / (8 * words) + epsilon);
}

template <unsigned AHEAD = 6, typename Row> __device__ static Rows<AHEAD, Row> rows(Row row, unsigned count, unsigned words)
{
    return Rows<AHEAD, Row>(row, count, words, shared + words);
}

// A token and its logit as one number: it is greater if the token is likelier, or as likely and before the other one.
__device__ static size likely(float logit, unsigned token)
{
    const unsigned bits = __float_as_uint(logit);
    return size(bits >> 31 ? ~bits : bits | 1u << 31) << 32 | ~token;
}

// The greatest number of all threads, in the first thread
__device__ static size greatest_of_block(size number)
{
    __shared__ size number_of[WARP];
    for (unsigned other = WARP / 2; other; other /= 2)
        number = max(number, __shfl_xor_sync(~0u, number, other));
    unsigned warp = threadIdx.x / WARP;
    if (threadIdx.x % WARP == 0)
        number_of[warp] = number;
    __syncthreads();
    for (warp = 1; threadIdx.x == 0 && warp < blockDim.x / WARP; warp++)
        number = max(number, number_of[warp]);
    return number;
}

// `x` becomes the row of a token, and `turn` the cosines and the sines of the angles of its place. By one block
__device__ static void embed(const bf16 *table, unsigned token, const float *angles, unsigned place, float *x, float *turn,
                             unsigned width, unsigned head)
{
    for (unsigned i = threadIdx.x; i < width; i += blockDim.x)
        x[i] = low(table[size(token) * width + i].bits);
    for (unsigned i = threadIdx.x; i < head; i += blockDim.x)
        turn[i] = angles[size(place) * head + i];
}

// Begins at the place of the state.
extern "C" __global__ void __launch_bounds__(THREADS) begin(const bf16 *table, const float *angles, const unsigned *text,
                                                            const unsigned *state, float *x, float *turn, unsigned width,
                                                            unsigned vocabulary, unsigned head, unsigned context)
{
    const unsigned place = min(state[1], context - 1);
    embed(table, min(text[place], vocabulary - 1), angles, place, x, turn, width, head);
}

// Queries, keys and values of the normed `x`, `asked` and `kept` numbers of them; keys and values go to the row of the
// place. A warp computes pairs of numbers of a head, which are half a head apart, and turns those of queries and keys
// by the angle of the place.
extern "C" __global__ void __launch_bounds__(THREADS) project(const float *x, const bf16 *gain, const bf16 *q, const bf16 *k,
                                                          const bf16 *v, const float *turn, const unsigned *state, float *queries, bf16 *keys, bf16 *values,
                                                          unsigned width, unsigned asked, unsigned kept, unsigned half,
                                                          unsigned context, float epsilon)
{
    const unsigned words = width / 8;
    // The number of the first of the warp's pairs, in all queries, keys and values; the second comes `half` after it.
    auto first = [=](unsigned number) {
        const unsigned pair = warp_of_grid() + number / 2 * warps_of_grid();
        return pair / half * 2 * half + pair % half;
    };
    auto row = [=](unsigned number) {
        const unsigned at = first(number) + number % 2 * half;
        const bf16 *matrix = at < asked ? q + size(at) * width
                             : at < asked + kept ? k + size(at - asked) * width
                                                 : v + size(at - asked - kept) * width;
        return (const uint4 *)matrix;
    };
    auto stream = rows<8>(row, 2 * share(asked / 2 + kept), words);
    prefetch_gain(gain, words);
    wait_for_grid();
    __shared__ float angle[HEAD];
    if (threadIdx.x < 2 * half)
        angle[threadIdx.x] = turn[threadIdx.x];
    const unsigned place = min(state[1], context - 1);
    const float scale = take_norm(x, gain, words, epsilon);
    float one = 0;
    stream.times(shared, [&](unsigned number, float sum) {
        if (number % 2 == 0) {
            one = sum * scale;
            return;
        }
        if (threadIdx.x % WARP)
            return;
        const unsigned at = first(number), i = at % (2 * half);
        const float other = sum * scale, c = angle[i], s = angle[half + i];
        if (at < asked) {
            queries[at] = one * c - other * s;
            queries[at + half] = other * c + one * s;
        } else if (at < asked + kept) {
            bf16 *const key = keys + size(place) * kept + (at - asked);
            key[0] = rounded(one * c - other * s);
            key[half] = rounded(other * c + one * s);
        } else {
            bf16 *const value = values + size(place) * kept + (at - asked - kept);
            value[0] = rounded(one);
            value[half] = rounded(other);
        }
    });
}

// Calls `result` with the number of each row of `w` of this warp, and its product with `y`.
template <typename Result>
__device__ static void multiply(const bf16 *w, const bf16 *y, unsigned rows_of_w, unsigned columns, Result result)
{
    const unsigned words = columns / 8;
    auto at = [=](unsigned number) { return warp_of_grid() + number * warps_of_grid(); };
    auto row = [=](unsigned number) { return (const uint4 *)w + size(at(number)) * words; };
    auto stream = rows(row, share(rows_of_w), words);
    wait_for_grid();
    take(y, words);
    stream.times(shared, [&](unsigned number, float sum) {
        if (threadIdx.x % WARP == 0)
            result(at(number), sum);
    });
}

// `x += w y`
extern "C" __global__ void __launch_bounds__(THREADS) add_product(const bf16 *w, const bf16 *y, float *x, unsigned rows_of_w,
                                                              unsigned columns)
{
    // No other warp adds to it, and nothing waits for what was there.
    multiply(w, y, rows_of_w, columns, [=](unsigned at, float sum) { atomicAdd(x + at, sum); });
}

// `x += w y` on the first rank, and `x = w y` on the others: the sum over all ranks is what `add_product` makes.
extern "C" __global__ void __launch_bounds__(THREADS) add_share(const bf16 *w, const bf16 *y, float *x, unsigned rows_of_w,
                                                            unsigned columns, unsigned rank)
{
    multiply(w, y, rows_of_w, columns, [=](unsigned at, float sum) {
        if (rank)
            x[at] = sum;
        else
            atomicAdd(x + at, sum);
    });
}

// `hidden = silu(gate n) * (up n)`, with `n` the normed `x`
extern "C" __global__ void __launch_bounds__(THREADS) widen(const float *x, const bf16 *gain, const bf16 *gate, const bf16 *up,
                                                        bf16 *hidden, unsigned width, unsigned rows_of_w, float epsilon)
{
    const unsigned words = width / 8;
    auto at = [=](unsigned number) { return warp_of_grid() + number / 2 * warps_of_grid(); };
    auto row = [=](unsigned number) { return (const uint4 *)(number % 2 ? up : gate) + size(at(number)) * words; };
    auto stream = rows(row, 2 * share(rows_of_w), words);
    prefetch_gain(gain, words);
    wait_for_grid();
    const float scale = take_norm(x, gain, words, epsilon);
    float one = 0;
    stream.times(shared, [&](unsigned number, float sum) {
        if (number % 2 == 0)
            one = sum * scale;
        else if (threadIdx.x % WARP == 0)
            hidden[at(number)] = rounded(one / (1 + __expf(-one)) * (sum * scale));
    });
}

// The logits of the normed `x` for the tokens from `from` on, and the likeliest token of each block
extern "C" __global__ void __launch_bounds__(THREADS) score(const float *x, const bf16 *gain, const bf16 *table, float *logits,
                                                        size *likeliest, unsigned width, unsigned vocabulary, unsigned from,
                                                        float epsilon)
{
    const unsigned words = width / 8;
    auto at = [=](unsigned number) { return warp_of_grid() + number * warps_of_grid(); };
    auto row = [=](unsigned number) { return (const uint4 *)table + size(at(number)) * words; };
    auto stream = rows(row, share(vocabulary), words);
    prefetch_gain(gain, words);
    wait_for_grid();
    const float scale = take_norm(x, gain, words, epsilon);
    size best = likely(LOWEST, 0);
    stream.times(shared, [&](unsigned number, float sum) {
        sum *= scale;
        if (threadIdx.x % WARP == 0)
            logits[at(number)] = sum;
        best = max(best, likely(sum, from + at(number)));
    });
    best = greatest_of_block(best);
    if (threadIdx.x == 0)
        likeliest[blockIdx.x] = best;
}

// Attention: a block for each query, several of which share keys and values. A few lanes have eight numbers of a head
// each, and go through every so many places, `PLACES` at a time.
extern "C" __global__ void __launch_bounds__(256) attend(const float *queries, const bf16 *keys, const bf16 *values,
                                                         const unsigned *state, bf16 *mixed, unsigned head, unsigned sharing,
                                                         unsigned kept, unsigned context)
{
    const unsigned PLACES = 4, WARPS = 8;
    __shared__ float most_of[WARPS], total_of[WARPS], part_of[WARPS][HEAD];
    const unsigned lanes = head / 8, parts = blockDim.x / lanes, part = threadIdx.x / lanes, eight = threadIdx.x % lanes * 8;
    const unsigned column = blockIdx.x / sharing * head + eight;
    for (unsigned i = 0; i < 2 * PLACES; i++) {
        const size at = size(min(i * parts + part, context - 1)) * kept + column;
        prefetch(keys + at);
        prefetch(values + at);
    }
    wait_for_grid();
    launch_dependents(); // not before: the next kernel's weights would be in the way of what is read here
    const unsigned count = min(state[1], context - 1) + 1;
    const float4 *const own = (const float4 *)(queries + blockIdx.x * head + eight);
    const float query[8] = {own[0].x, own[0].y, own[0].z, own[0].w, own[1].x, own[1].y, own[1].z, own[1].w};
    float sums[8] = {}, most = LOWEST, total = 0;
    unsigned first = 0;
    do {
        uint4 key[PLACES], value[PLACES];
        float score[PLACES];
#pragma unroll
        for (unsigned i = 0; i < PLACES; i++) {
            // Any place of the context may be read before `count` is here.
            const size at = size(min(first + i * parts + part, context - 1)) * kept + column;
            key[i] = *(const uint4 *)(keys + at);
            value[i] = *(const uint4 *)(values + at);
        }
        const float before = most;
#pragma unroll
        for (unsigned i = 0; i < PLACES; i++) {
            const unsigned k[] = {key[i].x, key[i].y, key[i].z, key[i].w};
            float sum = 0;
            for (unsigned j = 0; j < 4; j++)
                sum += low(k[j]) * query[2 * j] + high(k[j]) * query[2 * j + 1];
            for (unsigned other = lanes / 2; other; other /= 2)
                sum += __shfl_xor_sync(~0u, sum, other);
            score[i] = first + i * parts + part < count ? sum * rsqrtf(head) : LOWEST;
            most = fmaxf(most, score[i]);
        }
        const float factor = __expf(before - most);
        total *= factor;
        for (unsigned j = 0; j < 8; j++)
            sums[j] *= factor;
#pragma unroll
        for (unsigned i = 0; i < PLACES; i++) {
            const unsigned v[] = {value[i].x, value[i].y, value[i].z, value[i].w};
            const float share = score[i] > LOWEST ? __expf(score[i] - most) : 0;
            total += share;
            for (unsigned j = 0; j < 4; j++)
                sums[2 * j] += share * low(v[j]), sums[2 * j + 1] += share * high(v[j]);
        }
        first += PLACES * parts;
    } while (first < count);

    // The sums of a warp, relative to its largest score, then those of all warps
    float largest = most;
    for (unsigned other = WARP / 2; other >= lanes; other /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, other));
    const float factor = __expf(most - largest);
    total *= factor;
    for (unsigned i = 0; i < 8; i++)
        sums[i] *= factor;
    for (unsigned other = WARP / 2; other >= lanes; other /= 2) {
        total += __shfl_xor_sync(~0u, total, other);
        for (unsigned i = 0; i < 8; i++)
            sums[i] += __shfl_xor_sync(~0u, sums[i], other);
    }
    const unsigned warp = threadIdx.x / WARP;
    if (threadIdx.x % WARP < lanes) {
        most_of[warp] = largest;
        total_of[warp] = total;
        for (unsigned i = 0; i < 8; i++)
            part_of[warp][eight + i] = sums[i];
    }
    __syncthreads();
    if (threadIdx.x >= head)
        return;
    for (unsigned other = 0; other < WARPS; other++)
        largest = fmaxf(largest, most_of[other]);
    float sum = 0;
    total = 0;
    for (unsigned other = 0; other < WARPS; other++) {
        const float factor = __expf(most_of[other] - largest);
        total += total_of[other] * factor;
        sum += part_of[other][threadIdx.x] * factor;
    }
    mixed[blockIdx.x * head + threadIdx.x] = rounded(sum / total);
}

// Goes on to the next place. Its token is the likeliest one, unless it is given. By a block of 256
extern "C" __global__ void __launch_bounds__(256) choose(const size *likeliest, const bf16 *table, const float *angles,
                                                         unsigned *text, volatile unsigned *stream, unsigned *state,
                                                         float *x, float *turn, unsigned count, unsigned width,
                                                         unsigned vocabulary, unsigned head, unsigned context)
{
    __shared__ unsigned chosen;
    launch_dependents();
    wait_for_grid();
    size best = likely(LOWEST, 0);
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
        best = max(best, likeliest[i]);
    best = greatest_of_block(best);
    if (threadIdx.x == 0) {
        unsigned token = ~unsigned(best);
        const unsigned next = min(state[1], context - 1) + 1;
        bool goes_on = next < min(state[3], context - 1);
        if (next < min(state[2], context))
            token = text[next];
        else
            for (unsigned i = 0; i < STOPS; i++)
                goes_on = goes_on && token != state[4 + i];
        chosen = min(token, vocabulary - 1);
        text[next] = chosen;
        stream[next] = chosen + 1;
        state[1] = next;
        state[0] = goes_on;
    }
    __syncthreads();
    embed(table, chosen, angles, min(state[1], context - 1), x, turn, width, head);
}
