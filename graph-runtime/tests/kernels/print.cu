// A kernel that prints: two threads of each block say who they are.

extern "C" __global__ void say(unsigned *out)
{
    if (threadIdx.x < 2)
        out[threadIdx.x] = printf("thread %u of block %u: %5.2f%%\n", threadIdx.x, blockIdx.x, 1.5 + threadIdx.x);
}
