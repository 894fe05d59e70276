// Kernels of the ui-tests that access mapped memory, or fail to. They are never run.

// Loads and stores as the host does.
extern "C" __global__ void announce(volatile unsigned *news, unsigned value)
{
    news[threadIdx.x] = value;
}

// The same with 8 bytes.
extern "C" __global__ void announce_wide(volatile unsigned long long *news)
{
    news[threadIdx.x] = 1;
}

// Stores that the compiler may join or leave out.
extern "C" __global__ void plainly(unsigned *news)
{
    news[threadIdx.x] = 1;
}

// Updates that are not atomic for the host.
extern "C" __global__ void update(unsigned *news)
{
    atomicAdd_system(news, 1);
}
