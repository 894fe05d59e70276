// cuda-graph: --generate-line-info
// Everyday kernels: elementwise, tiles, reductions, atomics, scans.
struct Pair { float scale; int offset; };

__device__ int counter;
__constant__ float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void by_value(Pair pair, const int *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = pair.scale * (float)(in[i] + pair.offset) + table[i % 4];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void matmul32(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[32][32], tb[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += 32) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void reduce_shuffle(const float *in, float *out, int n) {
    __shared__ float partial[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}

extern "C" __global__ void reduce_shared(const int *in, int *out) {
    extern __shared__ int data[];
    data[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int s = blockDim.x / 2; s; s /= 2) {
        if (threadIdx.x < s) data[threadIdx.x] += data[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = data[0];
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void scan(const int *in, int *out) {
    __shared__ int temp[2][256];
    int t = threadIdx.x, p = 0;
    temp[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        temp[1 - p][t] = temp[p][t] + (t >= d ? temp[p][t - d] : 0);
        p = 1 - p;
        __syncthreads();
    }
    out[t] = temp[p][t];
}

extern "C" __global__ void softmax(const float *in, float *out, int n) {
    __shared__ float shared[32];
    const float *row = in + blockIdx.x * n;
    float best = -1e30f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) best = fmaxf(best, row[i]);
    for (int d = 16; d; d /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = best;
    __syncthreads();
    best = shared[0];
    for (int w = 1; w < blockDim.x / 32; w++) best = fmaxf(best, shared[w]);
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - best);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < blockDim.x / 32; w++) sum += shared[w];
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = expf(row[i] - best) / sum;
}

extern "C" __global__ void spin_lock(int *lock, int *count) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    __threadfence();
    *(volatile int *)count = *(volatile int *)count + 1;
    __threadfence();
    atomicExch(lock, 0);
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

typedef int (*Function)(int);
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ Function functions[2] = {twice, square};

extern "C" __global__ void indirect(int *out) { out[threadIdx.x] = functions[threadIdx.x % 2](threadIdx.x); }

extern "C" __global__ void count_launches(int *out) {
    if (threadIdx.x == 0) { counter += 1; *out = counter; }
}

extern "C" __global__ void votes(unsigned *out) {
    unsigned lane = threadIdx.x;
    unsigned ballot = __ballot_sync(~0u, lane % 3 == 0);
    unsigned match = __match_any_sync(~0u, lane / 4);
    unsigned divergent = 0;
    if (lane & 1) divergent = __shfl_sync(0xaaaaaaaa, lane, 31); else divergent = __shfl_sync(0x55555555, lane * 2, 0);
    out[lane] = ballot + match * 3 + divergent * 5 + __activemask() + (__any_sync(~0u, lane == 7) ? 1 : 0);
}

extern "C" __global__ void trigonometry(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sinf(in[i]) + cosf(in[i] * 1e6f) + logf(fabsf(in[i]) + 1) + tanhf(in[i]) + powf(fabsf(in[i]), 0.3f);
}

extern "C" __global__ void doubles(const double *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sin(in[i]) * exp(in[i]) / sqrt(in[i] * in[i] + 1.0);
}

extern "C" __global__ void integers(const int *a, const int *b, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = (long long)a[i] * 1000003 + b[i];
    unsigned long long u = (unsigned long long)x;
    out[i] = x / (b[i] | 1) + x % 97 + (long long)(u >> (a[i] & 63)) + __popc(a[i]) + __clz(b[i]) + __brev(a[i]) + __mulhi(a[i], b[i]) + __ffs(b[i]);
}

extern "C" __global__ void print(int n) { printf("thread %d of %d: %s %5.2f\n", threadIdx.x, n, "text", 1.5 * threadIdx.x); }
