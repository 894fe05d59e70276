// cuda-graph: --ptx-version=6.0
// The built-in kernel of `rng`, which advances the states of random number generators.

typedef unsigned long long u64;

struct State {
    u64 seed, offset, step, scope;
};

// Advances those of `count` states whose scope is `scope` by their step. One thread for each state.
extern "C" __global__ void graph_runtime_rng_advance(State *states, u64 count, u64 scope)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && states[i].scope == scope)
        states[i].offset += states[i].step;
}
