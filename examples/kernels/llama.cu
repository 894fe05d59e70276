// cuda-graph: --gpu-architecture=compute_90
// A step of a Llama in bf16, for one token: matrices times vectors, and attention to the tokens before.
//
// What a token takes is reading the weights once, so each kernel lets the next one begin at once, and begins to read
// its own weights before it waits for the kernel before it. Sums are f32; what is multiplied with weights is bf16, as
// they are. A word has 16 bytes: eight columns of a row. `state` has: whether to go on, the place of the token in the
// text, the number of given tokens, the end of the text, and tokens to stop at.

typedef unsigned long long size;
struct bf16 {
    unsigned short bits;
};

const unsigned WARP = 32, THREADS = 512, HEAD = 128, STOPS = 4;
// The words of a thread in a piece of rows, and the pieces on their way
const unsigned PIECE = 2, AHEAD = 6;
// The policy of caches by which weights leave first: nothing reads them again before the next token.
const size EVICT_FIRST = 0x12f0000000000000;
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
__device__ static float dot(uint4 a, uint4 b)
{
    return dot(a.x, b.x) + dot(a.y, b.y) + (dot(a.z, b.z) + dot(a.w, b.w));
}

// The sum of the numbers of a warp, in all its lanes
__device__ static float sum_of_warp(float value)
{
    for (unsigned other = WARP / 2; other; other /= 2)
        value += __shfl_xor_sync(~0u, value, other);
    return value;
}

// Brings memory near: nothing needs what it reads, so it may come before the kernel waits.
__device__ static void prefetch(const void *at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }

// The number of this warp among all, one of each block after the other, so that all have about as many rows
__device__ static unsigned warp_of_grid() { return threadIdx.x / WARP * gridDim.x + blockIdx.x; }
__device__ static unsigned warps_of_grid() { return gridDim.x * (blockDim.x / WARP); }

// Dynamic shared memory: the vector, then the ring of each thread
extern __shared__ uint4 shared[];

// Rows of matrices that a warp multiplies with a vector, `EACH` at a time. A piece is up to `STEPS` words for each lane
// of each of these rows, and `AHEAD` pieces are on their way. A lane reads what it has copied itself, so there is no
// barrier.
template <unsigned EACH, typename Row> struct Rows {
    static const unsigned STEPS = PIECE / EACH;
    Row row;                   // gives the rows of a number below `count`
    unsigned count, words;     // the number of rows, for all warps; the words of each
    unsigned next, word, slot; // the row and the first word of the piece to copy next, and its place in the ring

    __device__ Rows(Row row, unsigned count, unsigned words)
        : row(row), count(count), words(words), next(warp_of_grid()), word(threadIdx.x % WARP), slot(0)
    {
        launch_dependents();
#pragma unroll 1
        for (unsigned piece = 0; piece < AHEAD; piece++)
            copy();
    }
    // The place of a word of a piece, a thread's words `blockDim.x` apart
    __device__ uint4 *place(unsigned each, unsigned step)
    {
        return shared + (words + (min(slot, AHEAD - 1) * PIECE + each * STEPS + step) * blockDim.x + threadIdx.x);
    }
    // Begins to copy the next piece, if there is one.
    __device__ void copy()
    {
        if (next < count) {
#pragma unroll
            for (unsigned each = 0; each < EACH; each++) {
                const uint4 *const from = row(next, each);
#pragma unroll
                for (unsigned step = 0; step < STEPS; step++)
                    if (word + WARP * step < words)
                        asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"l"(
                                         __cvta_generic_to_shared(place(each, step))),
                                     "l"(from + (word + WARP * step)), "l"(EVICT_FIRST));
            }
            word += WARP * STEPS;
            if (word >= words)
                word = threadIdx.x % WARP, next += warps_of_grid();
        }
        asm volatile("cp.async.commit_group;");
        slot = slot + 1 < AHEAD ? slot + 1 : 0;
    }
    // Calls `result` with the number of each row, and its products with the vector.
    template <typename Result> __device__ void times(Result result)
    {
        for (unsigned number = warp_of_grid(); number < count; number += warps_of_grid()) {
            float sums[EACH] = {};
            for (unsigned first = threadIdx.x % WARP; first < words; first += WARP * STEPS) {
                asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
#pragma unroll
                for (unsigned step = 0; step < STEPS; step++)
                    if (first + WARP * step < words) {
                        const uint4 x = shared[first + WARP * step];
#pragma unroll
                        for (unsigned each = 0; each < EACH; each++)
                            sums[each] += dot(*place(each, step), x);
                    }
                copy();
            }
#pragma unroll
            for (unsigned each = 0; each < EACH; each++)
                sums[each] = sum_of_warp(sums[each]);
            result(number, sums);
        }
    }
};
template <unsigned EACH, typename Row> __device__ static Rows<EACH, Row> rows(Row row, unsigned count, unsigned words)
{
    return Rows<EACH, Row>(row, count, words);
}

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

// A token and its logit as one number: it is greater if the token is likelier, or as likely and before the other one.
__device__ static size likely(float logit, unsigned token)
{
    const unsigned bits = __float_as_uint(logit);
    return size(bits >> 31 ? ~bits : bits | 1u << 31) << 32 | ~token;
}

// The greatest number of a warp, in all its lanes
__device__ static size greatest_of_warp(size number)
{
    for (unsigned other = WARP / 2; other; other /= 2)
        number = max(number, __shfl_xor_sync(~0u, number, other));
    return number;
}

// The greatest number of all threads, in the first warp
__device__ static size greatest_of_block(size number)
{
    __shared__ size number_of[WARP];
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    number = greatest_of_warp(number);
    if (lane == 0)
        number_of[warp] = number;
    __syncthreads();
    return warp == 0 ? greatest_of_warp(lane < blockDim.x / WARP ? number_of[lane] : 0) : 0;
}

// `x` becomes the row of a token, and `turn` the cosines and the sines of the angles of its place. By one block
__device__ static void embed(const bf16 *table, unsigned token, const float *angles, unsigned place, float *x,
                             float *turn, unsigned width, unsigned head)
{
    for (unsigned i = threadIdx.x; i < width; i += blockDim.x)
        x[i] = low(table[size(token) * width + i].bits);
    for (unsigned i = threadIdx.x; i < head; i += blockDim.x)
        turn[i] = angles[size(place) * head + i];
}

// Begins at the place of the state.
extern "C" __global__ void __launch_bounds__(THREADS)
    begin(const bf16 *table, const float *angles, const unsigned *text, const unsigned *state, float *x, float *turn,
          unsigned width, unsigned vocabulary, unsigned head, unsigned context)
{
    const unsigned place = min(state[1], context - 1);
    embed(table, min(text[place], vocabulary - 1), angles, place, x, turn, width, head);
}

// Queries, keys and values of the normed `x`, `asked` and `kept` numbers of them; keys and values go to the row of the
// place. A warp computes pairs of numbers of a head, which are half a head apart, and turns those of queries and keys
// by the angle of the place.
extern "C" __global__ void __launch_bounds__(THREADS)
    project(const float *x, const bf16 *gain, const bf16 *q, const bf16 *k, const bf16 *v, const float *turn,
            const unsigned *state, float *queries, bf16 *keys, bf16 *values, unsigned words, unsigned asked,
            unsigned kept, unsigned half, unsigned context, float epsilon)
{
    // The first number of a pair, in all queries, keys and values
    auto first = [=](unsigned pair) { return pair / half * 2 * half + pair % half; };
    auto row = [=](unsigned pair, unsigned each) {
        const unsigned at = first(pair) + each * half;
        const uint4 *const of_q = (const uint4 *)q + size(min(at, asked - 1)) * words;
        const uint4 *const of_k = (const uint4 *)k + size(min(at - asked, kept - 1)) * words;
        const uint4 *const of_v = (const uint4 *)v + size(min(at - asked - kept, kept - 1)) * words;
        return at < asked ? of_q : at < asked + kept ? of_k : of_v;
    };
    auto pairs = rows<2>(row, asked / 2 + kept, words);
    prefetch_gain(gain, words);
    wait_for_grid();
    __shared__ float angle[HEAD];
    if (threadIdx.x < 2 * half)
        angle[threadIdx.x] = turn[threadIdx.x];
    bf16 *const key = keys + size(min(state[1], context - 1)) * kept;
    bf16 *const value = values + size(min(state[1], context - 1)) * kept;
    const float scale = take_norm(x, gain, words, epsilon);
    pairs.times([&](unsigned pair, const float *sums) {
        if (threadIdx.x % WARP)
            return;
        const float one = sums[0] * scale, other = sums[1] * scale;
        const float c = angle[pair % half], s = angle[half + pair % half];
        const float turned[] = {one * c - other * s, other * c + one * s};
        for (unsigned each = 0; each < 2; each++) {
            const unsigned at = first(pair) + each * half;
            if (at < asked)
                queries[at] = turned[each];
            else if (at - asked < kept)
                key[at - asked] = rounded(turned[each]);
            else if (at - asked - kept < kept)
                value[at - asked - kept] = rounded(sums[each] * scale);
        }
    });
}

// Calls `result` with the number of each row of `w` of this warp, and its product with `y`.
template <typename Result>
__device__ static void multiply(const bf16 *w, const bf16 *y, unsigned rows_of_w, unsigned words, Result result)
{
    auto row = [=](unsigned number, unsigned) { return (const uint4 *)w + size(number) * words; };
    auto all = rows<1>(row, rows_of_w, words);
    wait_for_grid();
    take(y, words);
    all.times([&](unsigned number, const float *sum) {
        if (threadIdx.x % WARP == 0)
            result(number, *sum);
    });
}

// `x += w y`
extern "C" __global__ void __launch_bounds__(THREADS)
    add_product(const bf16 *w, const bf16 *y, float *x, unsigned rows_of_w, unsigned words)
{
    // No other warp adds to it, and nothing waits for what was there.
    multiply(w, y, rows_of_w, words, [=](unsigned at, float sum) { atomicAdd(x + at, sum); });
}

// `x += w y` on the first rank, and `x = w y` on the others: the sum over all ranks is what `add_product` makes.
extern "C" __global__ void __launch_bounds__(THREADS)
    add_share(const bf16 *w, const bf16 *y, float *x, unsigned rows_of_w, unsigned words, unsigned rank)
{
    multiply(w, y, rows_of_w, words, [=](unsigned at, float sum) {
        if (rank)
            x[at] = sum;
        else
            atomicAdd(x + at, sum);
    });
}

// `hidden = silu(gate n) * (up n)`, with `n` the normed `x`
extern "C" __global__ void __launch_bounds__(THREADS)
    widen(const float *x, const bf16 *gain, const bf16 *gate, const bf16 *up, bf16 *hidden, unsigned words,
          unsigned rows_of_w, float epsilon)
{
    auto row = [=](unsigned number, unsigned each) { return (const uint4 *)(each ? up : gate) + size(number) * words; };
    auto both = rows<2>(row, rows_of_w, words);
    prefetch_gain(gain, words);
    wait_for_grid();
    const float scale = take_norm(x, gain, words, epsilon);
    both.times([&](unsigned number, const float *sums) {
        const float one = sums[0] * scale;
        if (threadIdx.x % WARP == 0)
            hidden[number] = rounded(one / (1 + __expf(-one)) * (sums[1] * scale));
    });
}

// The logits of the normed `x` for the tokens from `from` on, and the likeliest token of each block
extern "C" __global__ void __launch_bounds__(THREADS)
    score(const float *x, const bf16 *gain, const bf16 *table, float *logits, size *likeliest, unsigned words,
          unsigned vocabulary, unsigned from, float epsilon)
{
    auto row = [=](unsigned number, unsigned) { return (const uint4 *)table + size(number) * words; };
    auto all = rows<1>(row, vocabulary, words);
    prefetch_gain(gain, words);
    wait_for_grid();
    const float scale = take_norm(x, gain, words, epsilon);
    size best = likely(LOWEST, 0);
    all.times([&](unsigned number, const float *sum) {
        const float logit = *sum * scale;
        if (threadIdx.x % WARP == 0)
            logits[number] = logit;
        best = max(best, likely(logit, from + number));
    });
    best = greatest_of_block(best);
    if (threadIdx.x == 0)
        likeliest[blockIdx.x] = best;
}

// Attention: a block for each query; those of a row of blocks share keys and values. A row of threads has eight numbers
// of a head each, and goes through every so many places, `PLACES` at a time.
extern "C" __global__ void __launch_bounds__(256)
    attend(const float *queries, const bf16 *keys, const bf16 *values, const unsigned *state, bf16 *mixed,
           unsigned context)
{
    const unsigned PLACES = 4, WARPS = 8;
    __shared__ float most_of[WARPS], total_of[WARPS], part_of[WARPS][HEAD];
    const unsigned lanes = blockDim.x, head = 8 * lanes, eight = 8 * threadIdx.x;
    const unsigned parts = blockDim.y, part = threadIdx.y, thread = part * lanes + threadIdx.x;
    const size kept = size(gridDim.y) * head, column = size(blockIdx.y) * head + eight;
    const size query_of = (size(blockIdx.y) * gridDim.x + blockIdx.x) * head;
    for (unsigned i = 0; i < 2 * PLACES; i++) {
        const size at = min(i * parts + part, context - 1) * kept + column;
        prefetch(keys + at);
        prefetch(values + at);
    }
    wait_for_grid();
    launch_dependents(); // not before: the next kernel's weights would be in the way of what is read here
    const unsigned count = min(state[1], context - 1) + 1;
    const float4 *const own = (const float4 *)(queries + query_of + eight);
    const float query[8] = {own[0].x, own[0].y, own[0].z, own[0].w, own[1].x, own[1].y, own[1].z, own[1].w};
    float sums[8] = {}, most = LOWEST, total = 0;
    unsigned first = 0;
    do {
        uint4 key[PLACES], value[PLACES];
        float score[PLACES];
#pragma unroll
        for (unsigned i = 0; i < PLACES; i++) {
            // Any place of the context may be read before `count` is here.
            const size at = min(first + i * parts + part, context - 1) * kept + column;
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
    const unsigned warp = min(thread / WARP, WARPS - 1);
    if (thread % WARP < lanes) {
        most_of[warp] = largest;
        total_of[warp] = total;
        for (unsigned i = 0; i < 8; i++)
            part_of[warp][eight + i] = sums[i];
    }
    __syncthreads();
    if (thread >= head)
        return;
    for (unsigned other = 0; other < WARPS; other++)
        largest = fmaxf(largest, most_of[other]);
    float sum = 0;
    total = 0;
    for (unsigned other = 0; other < WARPS; other++) {
        const float factor = __expf(most_of[other] - largest);
        total += total_of[other] * factor;
        sum += part_of[other][thread] * factor;
    }
    mixed[query_of + thread] = rounded(sum / total);
}

// Goes on to the next place. Its token is the likeliest one, unless it is given. By a block of 256
extern "C" __global__ void __launch_bounds__(256)
    choose(const size *likeliest, const bf16 *table, const float *angles, unsigned *text, volatile unsigned *stream,
           unsigned *state, float *x, float *turn, unsigned count, unsigned width, unsigned vocabulary, unsigned head,
           unsigned context)
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
        chosen = token = min(token, vocabulary - 1);
        text[next] = token, stream[next] = token + 1;
        state[1] = next;
        state[0] = goes_on;
    }
    __syncthreads();
    embed(table, min(chosen, vocabulary - 1), angles, min(state[1], context - 1), x, turn, width, head);
}
