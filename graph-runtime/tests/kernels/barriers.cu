// cuda-graph: --gpu-architecture=compute_90
// Barriers in shared memory (mbarrier), the copies that arrive at them, clusters of one block, and groups of two warps.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace groups = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

// Sums of tiles of 128 words, each of which one bulk copy brings. 128 threads.
extern "C" __global__ void copy_tiles(const int *in, int *out, unsigned tiles)
{
    __shared__ alignas(16) int tile[128];
    __shared__ barrier arrived;
    auto block = groups::this_thread_block();
    if (block.thread_rank() == 0)
        init(&arrived, block.size());
    block.sync();
    int sum = 0;
    for (unsigned t = 0; t < tiles; t++) {
        cuda::memcpy_async(block, tile, in + t * 128, cuda::aligned_size_t<16>(sizeof(tile)), arrived);
        arrived.arrive_and_wait();
        sum = sum * 3 + tile[(threadIdx.x + t + 1) % 128];
        arrived.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}

// 64 threads fill two buffers, 64 others empty them.
extern "C" __global__ void produce_and_consume(const int *in, int *out, unsigned rounds)
{
    __shared__ int buffers[2][64];
    __shared__ barrier full[2], empty[2];
    if (threadIdx.x < 2) {
        init(&full[threadIdx.x], 128);
        init(&empty[threadIdx.x], 128);
    }
    __syncthreads();
    unsigned t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        for (unsigned i = 0; i < rounds; i++) {
            if (i >= 2)
                empty[i % 2].arrive_and_wait();
            buffers[i % 2][t] = in[i * 64 + t];
            (void)full[i % 2].arrive();
        }
    } else {
        int sum = 0;
        for (unsigned i = 0; i < rounds; i++) {
            full[i % 2].arrive_and_wait();
            sum = sum * 3 + buffers[i % 2][63 - t];
            if (i + 2 < rounds)
                (void)empty[i % 2].arrive();
        }
        out[t] = sum;
    }
}

// A pipeline of two stages. 128 threads.
extern "C" __global__ void two_stages(const int *in, int *out, unsigned rounds)
{
    __shared__ alignas(16) int buffers[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (unsigned i = 0, begun = 0; i < rounds; i++) {
        for (; begun < rounds && begun < i + 2; begun++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, buffers[begun % 2], in + begun * 128, sizeof(int) * 128, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum = sum * 5 + buffers[i % 2][127 - threadIdx.x];
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// The forms that the library does not use, in one thread: what each tells of the barrier.
extern "C" __global__ void forms(unsigned *out)
{
    __shared__ unsigned long long word;
    __shared__ alignas(16) unsigned data[8];
    unsigned at = (unsigned)__cvta_generic_to_shared(&word);
    unsigned to = (unsigned)__cvta_generic_to_shared(data);
    unsigned long long state;
    unsigned count, over, n = 0;
    auto test = [&](unsigned parity) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(over) : "r"(at), "r"(parity) : "memory");
        out[n++] = over;
    };
    auto pending = [&] {
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
        out[n++] = count;
    };
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 3;" : : "r"(at) : "memory");
    test(0);
    test(1);
    asm volatile("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %0, [%1], 2;" : "=l"(state) : "r"(at) : "memory");
    pending();
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    pending();
    test(0);
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], 48;" : "=l"(state) : "r"(at) : "memory");
    pending();
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(at) : "memory");
    test(1);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" : : "r"(at) : "memory");
    test(1);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 : : "r"(to), "l"(out + 24), "r"(32), "r"(at) : "memory");
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.acquire.cta.shared::cta.b64 p, [%1], %2, 100; selp.u32 %0, 1, 0, p; }"
                     : "=r"(over) : "r"(at), "l"(state) : "memory");
    while (!over);
    out[n++] = data[0] + data[7];
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" : : "r"(at) : "memory");
    asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" : : "r"(at) : "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    do
        test(0), n--;
    while (!over);
    out[n++] = over;
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" : : "r"(at) : "memory");
    data[3] = 77;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" : : "l"(out + 16), "r"(to) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" : : : "memory");
}

// A cluster of one block knows itself. 64 threads.
extern "C" __global__ void alone(unsigned *out)
{
    __shared__ unsigned numbers[64];
    groups::cluster_group cluster = groups::this_cluster();
    unsigned t = threadIdx.x;
    numbers[t] = t * t;
    auto token = cluster.barrier_arrive();
    unsigned facts = cluster.num_blocks() * 1000 + cluster.block_rank() * 100 + cluster.num_threads();
    cluster.barrier_wait(std::move(token));
    const unsigned *theirs = cluster.map_shared_rank(numbers, cluster.block_rank());
    unsigned i = blockIdx.x * 64 + t;
    out[i] = facts * 10000 + theirs[63 - t] + cluster.query_shared_rank(&numbers[t]);
    cluster.sync();
}

// Sums of groups of two warps, through shared memory that is reserved for them.
extern "C" __global__ void two_warps(const int *in, int *out)
{
    auto block = groups::this_thread_block();
    auto tile = groups::tiled_partition<64>(block);
    unsigned i = blockIdx.x * block.size() + block.thread_rank();
    int sum = groups::reduce(tile, in[i], groups::plus<int>());
    tile.sync();
    out[i] = sum * 10 + tile.meta_group_rank() + tile.any(in[i] == 7) * 5;
}
