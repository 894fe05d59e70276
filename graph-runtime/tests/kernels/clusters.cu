// cuda-graph: --gpu-architecture=compute_90
// Clusters of several blocks: their registers, the shared memory of other blocks, and the barriers between them.

#include <cooperative_groups.h>

namespace groups = cooperative_groups;

// out[b] = the position of block b in its cluster, the cluster's sides, and the cluster's own position in the grid: a
// digit for each
extern "C" __global__ void positions(unsigned *out)
{
    auto cluster = groups::this_cluster();
    dim3 in = cluster.block_index(), sides = cluster.dim_blocks();
    dim3 id;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id.x));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(id.y));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(id.z));
    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (threadIdx.x == 0)
        out[b] = in.x + 10 * (in.y + 10 * (in.z + 10 * (sides.x + 10 * (sides.y + 10 * (sides.z + 10 * (id.x + 10 * (id.y + 10 * id.z)))))));
}

// sums[c] = the sum of `numbers` of cluster c, `blockDim.x` numbers for each block: each block adds up its own, and the
// first block those of all
extern "C" __global__ void sums(float *out, const float *numbers)
{
    __shared__ float own[256];
    __shared__ float total;
    auto cluster = groups::this_cluster();
    unsigned t = threadIdx.x;
    own[t] = numbers[blockIdx.x * blockDim.x + t];
    if (t == 0)
        total = 0;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step)
            own[t] += own[t + step];
        __syncthreads();
    }
    cluster.sync();
    if (t == 0)
        atomicAdd(cluster.map_shared_rank(&total, 0), own[0]);
    cluster.sync();
    if (t == 0 && cluster.block_rank() == 0)
        out[blockIdx.x / cluster.num_blocks()] = total;
}

// Each block writes to the memory of the next one, and reads that of the one before: out[i] = the number of thread i of
// the block two places before, in the ring of the cluster
extern "C" __global__ void ring(unsigned *out)
{
    __shared__ unsigned from_before[64];
    __shared__ unsigned own[64];
    auto cluster = groups::this_cluster();
    unsigned t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    own[t] = blockIdx.x * 64 + t;
    cluster.sync();
    cluster.map_shared_rank(from_before, (rank + 1) % blocks)[t] = own[t];
    auto token = cluster.barrier_arrive();
    unsigned before = cluster.query_shared_rank(cluster.map_shared_rank(own, (rank + blocks - 1) % blocks));
    cluster.barrier_wait(std::move(token));
    unsigned two_before = cluster.map_shared_rank(from_before, before)[63 - t];
    out[blockIdx.x * 64 + t] = two_before;
    cluster.sync();
}

// A block waits for the others by an `mbarrier`, at which they arrive from afar: out[c] = 1 + 2 + .. + (blocks - 1)
extern "C" __global__ void arrivals(unsigned *out)
{
    __shared__ unsigned long long barrier;
    __shared__ unsigned parts[16];
    auto cluster = groups::this_cluster();
    unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), part = (unsigned)__cvta_generic_to_shared(parts);
    if (rank == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blocks - 1) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    cluster.sync();
    if (rank != 0) {
        unsigned there, parts_there;
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(at));
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(parts_there) : "r"(part));
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(parts_there + 4 * rank), "r"(rank) : "memory");
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
    } else {
        unsigned done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
                         "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
        unsigned sum = 0;
        for (unsigned block = 1; block < blocks; block++)
            sum += ((volatile unsigned *)parts)[block];
        out[blockIdx.x / blocks] = sum;
    }
    cluster.sync();
}

// Wrong: a block reads the memory of the next one, which may not have written it, or may have come to its end
extern "C" __global__ void too_early(unsigned *out)
{
    __shared__ unsigned own[32];
    auto cluster = groups::this_cluster();
    own[threadIdx.x] = blockIdx.x;
    out[blockIdx.x] = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % cluster.num_blocks())[0];
    cluster.sync();
}

extern "C" __global__ void too_late(unsigned *out)
{
    __shared__ unsigned own[32];
    auto cluster = groups::this_cluster();
    own[threadIdx.x] = blockIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 0)
        return;
    for (unsigned i = 0; i < 1000; i++)
        out[blockIdx.x] += *(volatile unsigned *)cluster.map_shared_rank(own, 0);
}
