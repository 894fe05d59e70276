// cuda-graph sm_90:
// The kernel of the `train_linear` example: a whole training step of y = x W^T + b with the loss sum((y - target)^2).
// W has a row for each output. A batch has 64 samples.
//
// The outputs are dealt to the columns of the grid, 72 at most to each. From compute capability 9.0 on, a column is a
// cluster of 8 blocks, and each block has a tile of W: these outputs, and 128 inputs. Both products need the tile, the
// second one in the same block as the first, so that it is read once, and written once:
//
//     tiles of x and W -> shared memory -> y, partial sums over 128 inputs -> the block that has these samples;
//     there y, the loss, dy = 2 (y - target) -> all blocks of the cluster;  tile of W -= rate dy^T x
//
// In the first file, for old devices and for the emulator, the first block of a column does all that by itself.

#define BATCH 64
#define MOST 72                       // outputs of a column
#define WORKERS 256                   // threads that compute; one more warp adds up the loss
#define THREADS (WORKERS + 32)

// The sum over a warp, in all of its threads
__device__ __forceinline__ float sum_of_warp(float sum)
{
    for (int offset = 16; offset; offset >>= 1)
        sum += __shfl_xor_sync(~0u, sum, offset);
    return sum;
}

// Adds up the loss, by one warp of each block: stores the sum of the block, and in the last block adds up all sums.
__device__ __forceinline__ void add_loss(const float *sums, float *losses, unsigned *count, float *loss, unsigned block, unsigned blocks)
{
    const unsigned lane = threadIdx.x % 32;
    bool is_last = false;
    if (lane == 0) {
        float sum = 0;
        for (int warp = 0; warp < WORKERS / 32; warp++)
            sum += sums[warp];
        losses[block] = sum;
        __threadfence();
        is_last = atomicInc(count, blocks - 1) == blocks - 1; // counts from 0 again for the next launch
    }
    if (!__shfl_sync(~0u, is_last, 0))
        return;
    __threadfence();
    float sum = 0;
    for (unsigned i = lane; i < blocks; i += 32)
        sum += __ldcg(losses + i);
    sum = sum_of_warp(sum);
    if (lane == 0)
        *loss = sum;
}

#if __CUDA_ARCH__ >= 900

#define RANKS 8                       // blocks of a cluster
#define DEPTH 128                     // inputs of a block
#define STRIDE (DEPTH + 8)            // of a row in shared memory, so that no banks collide
#define ROWS (BATCH / RANKS)          // samples of which a block adds up the partial sums
#define PART (MOST + 4)               // stride of partial sums
#define TILES (MOST / 8)              // of 8 outputs, for tensor cores
#define CLUSTER __cluster_dims__(RANKS, 1, 1)

// x = big + small, of the 11 digits that tensor cores take. Products of two small parts are too small to count.
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

__device__ __forceinline__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy16(float *to, const float *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(address(to)), "l"(from) : "memory");
}

// A barrier in shared memory that so many bytes from other blocks complete, once.
__device__ __forceinline__ void expect(unsigned long long *barrier, unsigned bytes)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(address(barrier)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(address(barrier)), "r"(bytes) : "memory");
}

// Writes to the shared memory of another block of the cluster, and counts the bytes at its barrier.
__device__ __forceinline__ void send(float *to, unsigned long long *barrier, int rank, float x, float y)
{
    unsigned there, counter;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address(to)), "r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(counter) : "r"(address(barrier)), "r"(rank));
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];"
        :: "r"(there), "f"(x), "f"(y), "r"(counter) : "memory");
}

__device__ __forceinline__ void receive(unsigned long long *barrier)
{
    asm volatile("{\n.reg .pred p;\nagain:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}" :: "r"(address(barrier)) : "memory");
}

template <bool exact>
__device__ __forceinline__ void run(const float *__restrict__ x, const float *__restrict__ target, float *w, float *bias,
                                    float *losses, unsigned *count, float *loss, unsigned inputs, unsigned outputs, float rate)
{
    extern __shared__ __align__(16) float memory[];
    __shared__ float sums[WORKERS / 32];
    __shared__ unsigned long long parts_came, dy_came;
    float *xs = memory, *ws = xs + BATCH * STRIDE, *parts = ws + MOST * STRIDE, *ds = parts + BATCH * PART;
    const int rank = blockIdx.x, tid = threadIdx.x, warp = tid / 32, lane = tid % 32, g = lane / 4, t = lane % 4;
    const int first = blockIdx.y * (outputs / 8) / gridDim.y, tiles = (blockIdx.y + 1) * (outputs / 8) / gridDim.y - first;
    const int columns = tiles * 8;
    x += rank * DEPTH, w += first * 8 * inputs + rank * DEPTH, target += first * 8, bias += first * 8;

    if (tid == WORKERS) {
        expect(&parts_came, BATCH * columns * 4), expect(&dy_came, BATCH * columns * 4);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    if (warp == WORKERS / 32) {
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
        asm volatile("barrier.sync 2, %0;" :: "n"(THREADS) : "memory"); // the sums are there
        add_loss(sums, losses, count, loss, blockIdx.y * RANKS + rank, RANKS * gridDim.y);
        return;
    }

    // The tiles come in two halves. Meanwhile come the numbers that this block adds partial sums to.
    constexpr int HALF = DEPTH / 2, CHUNKS = HALF / 4;
    #pragma unroll
    for (int half = 0; half < 2; half++) {
        #pragma unroll
        for (int i = 0; i < ((BATCH + MOST) * CHUNKS + WORKERS - 1) / WORKERS; i++) {
            const int chunk = tid + i * WORKERS, row = chunk / CHUNKS, column = half * HALF + chunk % CHUNKS * 4;
            if (row < BATCH)
                copy16(xs + row * STRIDE + column, x + row * inputs + column);
            else if (row < BATCH + columns)
                copy16(ws + (row - BATCH) * STRIDE + column, w + (row - BATCH) * inputs + column);
        }
        asm volatile("cp.async.commit_group;");
    }
    constexpr int PAIRS = ROWS * MOST / 2, EACH = (PAIRS + WORKERS - 1) / WORKERS;
    float2 want[EACH], base[EACH];
    #pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int pair = tid + i * WORKERS, row = pair / (MOST / 2), column = pair % (MOST / 2) * 2;
        if (row < ROWS && column < columns) {
            want[i] = *(const float2 *)(target + (rank * ROWS + row) * outputs + column);
            base[i] = *(const float2 *)(bias + column);
        }
    }

    {   // partial sums of y: a warp has 16 samples, and half of the outputs
        constexpr int NEAR = (TILES + 1) / 2;
        const int m = warp % 4 * 16, n = warp / 4 * (TILES - NEAR); // both halves compute the tile in the middle
        float c[NEAR][4] = {}, d[NEAR][4] = {};
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            if (half == 0)
                asm volatile("cp.async.wait_group 1;");
            else
                asm volatile("cp.async.wait_group 0;");
            asm volatile("barrier.sync 1, %0;" :: "n"(WORKERS) : "memory");
            #pragma unroll
            for (int s = 0; s < HALF; s += 8) {
                const int k = half * HALF + s + t * 2;
                const float2 a0 = *(float2 *)(xs + (m + g) * STRIDE + k), a1 = *(float2 *)(xs + (m + g + 8) * STRIDE + k);
                unsigned ab[4], as[4], bb[2], bs[2];
                split(a0.x, ab[0], as[0]), split(a1.x, ab[1], as[1]), split(a0.y, ab[2], as[2]), split(a1.y, ab[3], as[3]);
                #pragma unroll
                for (int i = 0; i < NEAR; i++) {
                    const float2 b = *(float2 *)(ws + ((n + i) * 8 + g) * STRIDE + k);
                    split(b.x, bb[0], bs[0]), split(b.y, bb[1], bs[1]);
                    if (exact)
                        multiply(d[i], as, bb), multiply(d[i], ab, bs);
                    multiply(c[i], ab, bb);
                }
            }
        }
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); // the other blocks have their barriers
        #pragma unroll
        for (int i = 0; i < NEAR; i++)
            if (n + i < tiles && (i > 0 || n == 0))
                #pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int row = m + h * 8 + g, column = (n + i) * 8 + t * 2;
                    send(parts + (rank * ROWS + row % ROWS) * PART + column, &parts_came, row / ROWS,
                         c[i][2 * h] + d[i][2 * h], c[i][2 * h + 1] + d[i][2 * h + 1]);
                }
    }
    // x for the second product: a warp has 16 inputs
    float ahead[BATCH / 8][4];
    #pragma unroll
    for (int k = 0; k < BATCH; k += 8) {
        const float *a = xs + (k + t) * STRIDE + warp * 16 + g;
        ahead[k / 8][0] = a[0], ahead[k / 8][1] = a[8], ahead[k / 8][2] = a[4 * STRIDE], ahead[k / 8][3] = a[4 * STRIDE + 8];
    }
    receive(&parts_came);
    float error = 0;
    #pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int pair = tid + i * WORKERS, row = pair / (MOST / 2), column = pair % (MOST / 2) * 2;
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
                send(ds + (rank * ROWS + row) * MOST + column, &dy_came, to, 2 * y.x, 2 * y.y);
        }
    }
    error = sum_of_warp(error);
    if (lane == 0)
        sums[warp] = error;
    asm volatile("barrier.arrive 2, %0;" :: "n"(THREADS) : "memory");
    receive(&dy_came); // after this, no other block writes here

    float c[TILES][4] = {};
    #pragma unroll
    for (int k = 0; k < BATCH; k += 8) {
        unsigned ab[4], as[4], bb[2], bs[2];
        #pragma unroll
        for (int i = 0; i < 4; i++)
            split(ahead[k / 8][i], ab[i], as[i]);
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
                const int o = n * 8 + t * 2 + e % 2, i = warp * 16 + g + e / 2 * 8;
                w[o * inputs + i] = ws[o * STRIDE + i] - rate * c[n][e];
            }
    if (rank == 0 && tid < columns) {
        float sum = 0;
        #pragma unroll 16
        for (int row = 0; row < BATCH; row++)
            sum += ds[row * MOST + tid];
        bias[tid] -= rate * sum;
    }
}

#else

#define CLUSTER

template <bool>
__device__ __forceinline__ void run(const float *x, const float *target, float *w, float *bias, float *losses, unsigned *count,
                                    float *loss, unsigned inputs, unsigned outputs, float rate)
{
    __shared__ float dy[BATCH][MOST], sums[WORKERS / 32];
    const unsigned tid = threadIdx.x;
    if (blockIdx.x > 0 || tid >= WORKERS)
        return;
    const unsigned first = blockIdx.y * (outputs / 8) / gridDim.y * 8, columns = (blockIdx.y + 1) * (outputs / 8) / gridDim.y * 8 - first;
    float error = 0;
    for (unsigned i = tid; i < BATCH * columns; i += WORKERS) {
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
    if (tid % 32 == 0)
        sums[tid / 32] = error;
    asm volatile("barrier.sync 1, %0;" :: "n"(WORKERS) : "memory");
    for (unsigned i = tid; i < columns * inputs; i += WORKERS) {
        const unsigned column = i / inputs, k = i % inputs;
        float sum = 0;
        for (unsigned row = 0; row < BATCH; row++)
            sum += dy[row][column] * x[row * inputs + k];
        w[(first + column) * inputs + k] -= rate * sum;
    }
    if (tid < columns) {
        float sum = 0;
        for (unsigned row = 0; row < BATCH; row++)
            sum += dy[row][tid];
        bias[first + tid] -= rate * sum;
    }
    if (tid < 32)
        add_loss(sums, losses, count, loss, blockIdx.y, gridDim.y);
}

#endif

// A step. Where `exact`, it is as accurate as arithmetic on 32-bit floats; else tensor cores cut fractions to 10 bits.
extern "C" __global__ void CLUSTER __launch_bounds__(THREADS, 1)
step(const float *__restrict__ x, const float *__restrict__ target, float *w, float *bias, float *losses, unsigned *count,
     float *loss, unsigned inputs, unsigned outputs, float rate, unsigned exact)
{
    if (exact)
        run<true>(x, target, w, bias, losses, count, loss, inputs, outputs, rate);
    else
        run<false>(x, target, w, bias, losses, count, loss, inputs, outputs, rate);
}
