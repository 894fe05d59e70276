// cuda-graph sm_90:
// The kernels of the `train_linear` example: a whole training step of y = x W^T + b with the loss sum((y - target)^2),
// in one kernel. W has a row for each output. A batch has 64 samples.
//
// The outputs are dealt to the blocks of a column of the grid, 72 at most to each. From compute capability 9.0 on, such
// a column is a cluster of 8 blocks, and each block has a tile of W: these outputs, and 128 inputs. It needs the tile
// for both products, and so reads it once:
//
//     x, W tiles -> shared memory;  y, partial sums over 128 inputs -> the block that owns these samples
//     that block: y, loss, dy = 2 (y - target) -> all blocks of the cluster;  W tile -= rate dy^T x
//
// In the first file, for old devices and for the emulator, the first block of a column does all that by itself.

#define BATCH 64
#define MOST 72        // outputs of a cluster
#define THREADS 256    // of a block

// The sum over a warp, in all of its threads
__device__ __forceinline__ float sum_of_warp(float sum)
{
    for (int offset = 16; offset; offset >>= 1)
        sum += __shfl_xor_sync(~0u, sum, offset);
    return sum;
}

// Stores the errors of a block, which its warps have left in `sums`. Returns whether all other blocks have done so.
__device__ __forceinline__ bool add_loss(const float *sums, float *losses, unsigned *count, unsigned block, unsigned blocks)
{
    float sum = 0;
    for (int warp = 0; warp < THREADS / 32; warp++)
        sum += sums[warp];
    losses[block] = sum;
    __threadfence();
    return atomicInc(count, blocks - 1) == blocks - 1;
}

// The sum of the errors of all blocks, by one warp of the last one.
__device__ __forceinline__ void sum_losses(bool is_last, const float *losses, float *loss, unsigned blocks)
{
    if (!__shfl_sync(~0u, is_last, 0))
        return;
    __threadfence();
    float sum = 0;
    for (unsigned i = threadIdx.x; i < blocks; i += 32)
        sum += __ldcg(losses + i);
    sum = sum_of_warp(sum);
    if (threadIdx.x == 0)
        *loss = sum;
}

#if __CUDA_ARCH__ >= 900

#define RANKS 8                       // blocks of a cluster
#define DEPTH 128                     // inputs of a block
#define STRIDE (DEPTH + 8)            // of a row in shared memory, so that no banks collide
#define ROWS (BATCH / RANKS)          // samples that a block owns
#define PART (MOST + 4)               // stride of partial sums
#define GROUPS 2                      // the tiles come in groups of columns
#define TILES (MOST / 8)

// x = big + small, both with the 11 bits that tensor cores take
__device__ __forceinline__ void split(float x, unsigned &big, unsigned &small)
{
    big = __float_as_uint(x) & 0xffffe000u;
    small = __float_as_uint(x - __uint_as_float(big));
}

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy16(float *to, const float *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared_address(to)), "l"(from) : "memory");
}

// Writes to the shared memory of another block of the cluster.
__device__ __forceinline__ void store_to(float *here, int rank, float x, float y)
{
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(here)), "r"(rank));
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" :: "r"(there), "f"(x), "f"(y) : "memory");
}

__device__ __forceinline__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ __forceinline__ void meet() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }

template <bool exact>
__device__ __forceinline__ void run(const float *__restrict__ x, const float *__restrict__ target, float *w, float *bias,
                                    float *losses, unsigned *count, float *loss, unsigned inputs, unsigned outputs, float rate)
{
    extern __shared__ __align__(16) float memory[];
    __shared__ float sums[THREADS / 32];
    float *xs = memory, *ws = xs + BATCH * STRIDE, *parts = ws + MOST * STRIDE, *ds = parts + BATCH * PART;
    arrive();
    const int rank = blockIdx.x, tid = threadIdx.x, warp = tid / 32, lane = tid % 32, g = lane / 4, t = lane % 4;
    const int first = blockIdx.y * (outputs / 8) / gridDim.y, tiles = (blockIdx.y + 1) * (outputs / 8) / gridDim.y - first;
    const int columns = tiles * 8;
    x += rank * DEPTH, w += first * 8 * inputs + rank * DEPTH, target += first * 8, bias += first * 8;

    constexpr int GROUP = DEPTH / GROUPS, CHUNKS = GROUP / 4;
    #pragma unroll
    for (int group = 0; group < GROUPS; group++) {
        #pragma unroll
        for (int i = 0; i < (BATCH + MOST) * CHUNKS / THREADS; i++) {
            const int chunk = tid + i * THREADS, row = chunk / CHUNKS, column = group * GROUP + chunk % CHUNKS * 4;
            if (row < BATCH)
                copy16(xs + row * STRIDE + column, x + row * inputs + column);
            else if (row < BATCH + columns)
                copy16(ws + (row - BATCH) * STRIDE + column, w + (row - BATCH) * inputs + column);
        }
        asm volatile("cp.async.commit_group;");
    }
    // pairs of numbers that this block owns
    constexpr int PAIRS = ROWS * MOST / 2, EACH = (PAIRS + THREADS - 1) / THREADS;
    float2 want[EACH], base[EACH];
    #pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int pair = tid + i * THREADS, row = pair / (MOST / 2), column = pair % (MOST / 2) * 2;
        if (row < ROWS && column < columns) {
            want[i] = *(const float2 *)(target + (rank * ROWS + row) * outputs + column);
            base[i] = *(const float2 *)(bias + column);
        }
    }
    {   // y: a warp has 16 samples, and half of the outputs
        constexpr int HALF = (TILES + 1) / 2;
        const int m = warp % 4 * 16, n = warp / 4 * HALF;
        float c[HALF][4] = {}, d[HALF][4] = {};
        #pragma unroll
        for (int group = 0; group < GROUPS; group++) {
            if (group == 0)
                asm volatile("cp.async.wait_group %0;" :: "n"(GROUPS - 1));
            else
                asm volatile("cp.async.wait_group 0;");
            __syncthreads();
            #pragma unroll
            for (int s = 0; s < GROUP; s += 8) {
                const int k = group * GROUP + s + t * 2;
                const float2 a0 = *(float2 *)(xs + (m + g) * STRIDE + k), a1 = *(float2 *)(xs + (m + g + 8) * STRIDE + k);
                unsigned ab[4], as[4], bb[2], bs[2];
                split(a0.x, ab[0], as[0]), split(a1.x, ab[1], as[1]), split(a0.y, ab[2], as[2]), split(a1.y, ab[3], as[3]);
                #pragma unroll
                for (int i = 0; i < HALF; i++) {
                    if (n + i >= TILES)
                        break;
                    const float2 b = *(float2 *)(ws + ((n + i) * 8 + g) * STRIDE + k);
                    split(b.x, bb[0], bs[0]), split(b.y, bb[1], bs[1]);
                    if (exact)
                        multiply(d[i], as, bb), multiply(d[i], ab, bs);
                    multiply(c[i], ab, bb);
                }
            }
        }
        meet(); // all blocks of the cluster have begun
        #pragma unroll
        for (int i = 0; i < HALF; i++)
            if (n + i < tiles)
                #pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int row = m + h * 8 + g, column = (n + i) * 8 + t * 2;
                    store_to(parts + (rank * ROWS + row % ROWS) * PART + column, row / ROWS, c[i][2 * h] + d[i][2 * h], c[i][2 * h + 1] + d[i][2 * h + 1]);
                }
    }
    arrive(), meet();
    float error = 0;
    #pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int pair = tid + i * THREADS, row = pair / (MOST / 2), column = pair % (MOST / 2) * 2;
        if (row < ROWS && column < columns) {
            float2 y = base[i];
            #pragma unroll
            for (int from = 0; from < RANKS; from++) {
                const float2 part = *(float2 *)(parts + (from * ROWS + row) * PART + column);
                y.x += part.x, y.y += part.y;
            }
            y.x -= want[i].x, y.y -= want[i].y;
            error += y.x * y.x + y.y * y.y;
            #pragma unroll
            for (int to = 0; to < RANKS; to++)
                store_to(ds + (rank * ROWS + row) * MOST + column, to, 2 * y.x, 2 * y.y);
        }
    }
    arrive();
    error = sum_of_warp(error);
    if (lane == 0)
        sums[warp] = error;
    meet();
    __syncthreads();
    bool is_last = false;
    if (tid == 0)
        is_last = add_loss(sums, losses, count, blockIdx.y * RANKS + rank, RANKS * gridDim.y);
    {   // the tile of W, transposed: a warp has 16 inputs
        const int m = warp * 16;
        float c[TILES][4] = {};
        #pragma unroll
        for (int k = 0; k < BATCH; k += 8) {
            unsigned ab[4], as[4], bb[2], bs[2];
            const float *a = xs + (k + t) * STRIDE + m + g;
            split(a[0], ab[0], as[0]), split(a[8], ab[1], as[1]), split(a[4 * STRIDE], ab[2], as[2]), split(a[4 * STRIDE + 8], ab[3], as[3]);
            #pragma unroll
            for (int n = 0; n < TILES; n++) {
                const float *b = ds + (k + t) * MOST + n * 8 + g;
                split(b[0], bb[0], bs[0]), split(b[4 * MOST], bb[1], bs[1]);
                if (exact)
                    multiply(c[n], as, bb), multiply(c[n], ab, bs);
                multiply(c[n], ab, bb);
            }
        }
        #pragma unroll
        for (int n = 0; n < TILES; n++)
            if (n < tiles)
                #pragma unroll
                for (int e = 0; e < 4; e++) {
                    const int o = n * 8 + t * 2 + e % 2, i = m + g + e / 2 * 8;
                    w[o * inputs + i] = ws[o * STRIDE + i] - rate * c[n][e];
                }
    }
    if (rank == 0 && tid < columns) {
        float sum = 0;
        #pragma unroll 16
        for (int row = 0; row < BATCH; row++)
            sum += ds[row * MOST + tid];
        bias[tid] -= rate * sum;
    }
    if (warp == 0)
        sum_losses(is_last, losses, loss, RANKS * gridDim.y);
}

#define CLUSTER __cluster_dims__(RANKS, 1, 1)

#else

template <bool>
__device__ __forceinline__ void run(const float *x, const float *target, float *w, float *bias, float *losses, unsigned *count,
                                    float *loss, unsigned inputs, unsigned outputs, float rate)
{
    __shared__ float dy[BATCH][MOST], sums[THREADS / 32];
    if (blockIdx.x > 0)
        return;
    const unsigned first = blockIdx.y * (outputs / 8) / gridDim.y * 8, columns = (blockIdx.y + 1) * (outputs / 8) / gridDim.y * 8 - first;
    float error = 0;
    for (unsigned i = threadIdx.x; i < BATCH * columns; i += THREADS) {
        const unsigned row = i / columns, column = i % columns;
        const float *a = x + row * inputs, *b = w + (first + column) * inputs;
        float y = bias[first + column];
        for (unsigned k = 0; k < inputs; k++)
            y += a[k] * b[k];
        y -= target[row * outputs + first + column];
        error += y * y;
        dy[row][column] = 2 * y;
    }
    error = sum_of_warp(error);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = error;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < columns * inputs; i += THREADS) {
        const unsigned column = i / inputs, k = i % inputs;
        float sum = 0;
        for (unsigned row = 0; row < BATCH; row++)
            sum += dy[row][column] * x[row * inputs + k];
        w[(first + column) * inputs + k] -= rate * sum;
    }
    if (threadIdx.x < columns) {
        float sum = 0;
        for (unsigned row = 0; row < BATCH; row++)
            sum += dy[row][threadIdx.x];
        bias[first + threadIdx.x] -= rate * sum;
    }
    if (threadIdx.x < 32) {
        bool is_last = threadIdx.x == 0 && add_loss(sums, losses, count, blockIdx.y, gridDim.y);
        __syncwarp();
        sum_losses(is_last, losses, loss, gridDim.y);
    }
}

#define CLUSTER

#endif

// A step. Where `exact`, it is as accurate as arithmetic on 32-bit floats; else tensor cores cut fractions to 10 bits.
extern "C" __global__ void CLUSTER __launch_bounds__(THREADS)
step(const float *__restrict__ x, const float *__restrict__ target, float *w, float *bias, float *losses, unsigned *count,
     float *loss, unsigned inputs, unsigned outputs, float rate, unsigned exact)
{
    if (exact)
        run<true>(x, target, w, bias, losses, count, loss, inputs, outputs, rate);
    else
        run<false>(x, target, w, bias, losses, count, loss, inputs, outputs, rate);
}
