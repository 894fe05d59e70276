// A grid whose blocks meet: `grid_group` of CUDA's cooperative groups.

#include <cooperative_groups.h>

namespace groups = cooperative_groups;

// In each round, every element becomes three times the sum of its neighbours in the ring of `n` elements, which other
// blocks have written, plus the number of the round.
extern "C" __global__ void rounds(unsigned *a, unsigned *b, unsigned n, unsigned rounds)
{
    groups::grid_group grid = groups::this_grid();
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = a[(i + 1) % n] + a[(i + n - 1) % n];
        grid.sync();
        for (unsigned i = grid.thread_rank(); i < n; i += grid.size())
            a[i] = b[i] * 3 + round;
        grid.sync();
    }
}

// Whether the grid can meet, which it can in cooperative launches alone; then what each thread knows of its grid.
extern "C" __global__ void ranks(unsigned *out)
{
    groups::grid_group grid = groups::this_grid();
    unsigned rank = grid.thread_rank();
    out[rank] = grid.is_valid() * 1000000 + grid.block_rank() * 10000 + grid.num_blocks() * 1000 + rank;
}

// Arrives, computes, then waits.
extern "C" __global__ void arrive_and_wait(unsigned *numbers, unsigned *out)
{
    groups::grid_group grid = groups::this_grid();
    unsigned rank = grid.thread_rank();
    numbers[rank] = rank * rank;
    auto token = grid.barrier_arrive();
    unsigned own = rank * 7;
    grid.barrier_wait(std::move(token));
    out[rank] = own + numbers[grid.size() - 1 - rank];
}
