// cuda-graph: --gpu-architecture=compute_90
// Kernels of graph-runtime's tests of programmatic edges. `i` is always the thread's index in the whole
// (one-dimensional) launch.

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static inline void trigger() { asm volatile("griddepcontrol.launch_dependents;"); }
__device__ static inline void wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// Takes its time for a 0 that the compiler does not foresee.
__device__ static inline unsigned spin(unsigned steps)
{
    unsigned x = 1;
#pragma unroll 1
    for (unsigned step = 0; step < steps; step++)
        x = x * 1664525u + 1013904223u;
    return x == 0x9e3779b9u;
}

// out[i] = value, long after it has let the next kernel start
extern "C" __global__ void slow_write(unsigned *out, unsigned value, unsigned steps)
{
    trigger();
    out[index_in_launch()] = value + spin(steps);
}

// As `slow_write`, after a programmatic edge of its own.
extern "C" __global__ void slow_step(const unsigned *in, unsigned *out, unsigned steps)
{
    trigger();
    wait();
    out[index_in_launch()] = in[index_in_launch()] + 1 + spin(steps);
}

// Reads in[i] long after it has let the next kernel start.
extern "C" __global__ void slow_read(const unsigned *in, unsigned *out, unsigned steps)
{
    trigger();
    out[index_in_launch()] = in[index_in_launch() + spin(steps)];
}

// out[i] = in[i] + 1
extern "C" __global__ void step(const unsigned *in, unsigned *out)
{
    trigger();
    wait();
    out[index_in_launch()] = in[index_in_launch()] + 1;
}

// out[i] += by, after the wait; lets nobody start early
extern "C" __global__ void bump(unsigned *out, unsigned by)
{
    wait();
    out[index_in_launch()] += by;
}

// out[i] = weights[i] * in[i]: the weights are read before the wait
extern "C" __global__ void weigh(const unsigned *weights, const unsigned *in, unsigned *out)
{
    unsigned weight = weights[index_in_launch()];
    trigger();
    wait();
    out[index_in_launch()] = weight * in[index_in_launch()];
}

// out[i] = in[i] + 1, without waiting
extern "C" __global__ void never_waits(const unsigned *in, unsigned *out)
{
    trigger();
    out[index_in_launch()] = in[index_in_launch()] + 1;
}

// As `step`, but waits only if n is not 0.
extern "C" __global__ void waits_predicated(const unsigned *in, unsigned *out, unsigned n)
{
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p griddepcontrol.wait; }" ::"r"(n) : "memory");
    out[index_in_launch()] = in[index_in_launch()] + 1;
}

// As `step`, after a wait that some threads do not reach.
extern "C" __global__ void ends_early(const unsigned *in, unsigned *out, unsigned n)
{
    if (index_in_launch() >= n)
        return;
    wait();
    out[index_in_launch()] = in[index_in_launch()] + 1;
}

// As `step`, but loads before the wait.
extern "C" __global__ void reads_early(const unsigned *in, unsigned *out)
{
    unsigned value = in[index_in_launch()];
    wait();
    out[index_in_launch()] = value + 1;
}

// out[i] = 7 before the wait, which others may still read.
extern "C" __global__ void writes_early(unsigned *out)
{
    out[index_in_launch()] = 7;
    wait();
}

// out[i] = in[i] + 1, from a cache that may hold what was there before
extern "C" __global__ void loads_stale(const unsigned *__restrict__ in, unsigned *__restrict__ out)
{
    wait();
    out[index_in_launch()] = in[index_in_launch()] + 1;
}

// out[i] = in[i] + more[i] + 1, or without `more`, if that is null
extern "C" __global__ void step_with(const unsigned *in, const unsigned *more, unsigned *out)
{
    trigger();
    wait();
    out[index_in_launch()] = in[index_in_launch()] + (more ? more[index_in_launch()] : 0) + 1;
}
