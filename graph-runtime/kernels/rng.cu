// cuda-graph: --ptx-version=6.0
// The built-in kernels of `rng`, which advance the states of random number generators.

typedef unsigned long long u64;

// The point in a sequence at which draws begin.
struct Philox {
    u64 seed, offset;
};

// The state of one use: its own point, its distance from the point of its generator, and the body at whose end it
// advances (0: the whole graph).
struct State {
    u64 seed, offset, lane, scope;
};

// Sets `count` states to begin where their generator is. One thread for each state.
extern "C" __global__ void graph_runtime_rng_start(const Philox *generator, State *states, u64 count)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        states[i].seed = generator->seed;
        states[i].offset = generator->offset + states[i].lane;
    }
}

// Advances those of `count` states whose scope is `scope` by `step`. One thread for each state.
extern "C" __global__ void graph_runtime_rng_advance(State *states, u64 count, u64 scope, u64 step)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && states[i].scope == scope)
        states[i].offset += step;
}

// Advances the generator past all that the uses have drawn, and sets their states to begin there. Uses of the whole
// graph have drawn once; others have advanced by `step` as often as they have drawn. One block, whose number of threads
// is a power of two, at most 256.
extern "C" __global__ void graph_runtime_rng_finish(Philox *generator, State *states, u64 count, u64 step)
{
    __shared__ u64 most[256];
    unsigned thread = threadIdx.x, threads = blockDim.x;
    u64 base = generator->offset, seed = generator->seed, drawn = 0;
    for (u64 i = thread; i < count; i += threads) {
        u64 mine = states[i].offset - states[i].lane - base;
        if (states[i].scope == 0)
            mine += step;
        if (mine > drawn)
            drawn = mine;
    }
    most[thread] = drawn;
    __syncthreads();
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        if (thread < half && most[thread + half] > most[thread])
            most[thread] = most[thread + half];
        __syncthreads();
    }
    u64 next = base + most[0];
    if (thread == 0)
        generator->offset = next;
    for (u64 i = thread; i < count; i += threads) {
        states[i].seed = seed;
        states[i].offset = next + states[i].lane;
    }
}
