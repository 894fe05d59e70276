// cuda-graph: --ptx-version=6.0
// The built-in kernels about time: one delays nodes, for `Device::with_delays`, and one takes the time, for profiles.

typedef unsigned long long u64;

// The GPU's clock, in nanoseconds.
static __device__ u64 now()
{
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

// Spins for this time.
extern "C" __global__ void graph_runtime_delay(u64 nanoseconds)
{
    u64 start = now();
    while (now() - start < nanoseconds) {}
}

// Takes the time.
extern "C" __global__ void graph_runtime_stamp(u64 *time)
{
    *time = now();
}
