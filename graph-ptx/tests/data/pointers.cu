// xtask: variants
// Where addresses come from: kernels whose accesses the summaries must attribute.
typedef unsigned long long u64;

struct View { float *data; int n; };
struct Pair { float a; float b; double c; };

__device__ float gain = 2.0f;
__device__ int visits[4];
__constant__ float taps[4] = {0.25f, 0.5f, 0.25f, 0.0f};
__device__ float table[3] = {1.0f, 2.0f, 3.0f};
__device__ float *table_end = table + 2;

extern "C" __global__ void scale(float *data, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor;
}

extern "C" __global__ void add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, u64 n) {
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

// An unscaled 64-bit index: `p + n` is ambiguous without the declaration.
extern "C" __global__ void mark(char *p, u64 n) { p[n] = 1; }

extern "C" __global__ void select(float *a, float *b, const int *which) {
    float *target = which[0] > 0 ? a : b;
    target[threadIdx.x] = 1.0f;
}

extern "C" __global__ void join(float *a, float *b, const int *which, int n) {
    float *target = a;
    for (int i = 0; i < n; i++) {
        if (which[i] == 3) target = b;
        target[i] += 1.0f;
    }
}

// The pointers go through local memory.
extern "C" __global__ void spill(float *a, float *b, const int *which) {
    float *targets[4] = {a, b, a + 16, b + 16};
    targets[which[threadIdx.x] & 3][threadIdx.x] = 1.0f;
}

// The pointers go through shared memory.
extern "C" __global__ void share(float *a, float *b, const int *which) {
    __shared__ float *targets[2];
    if (threadIdx.x == 0) { targets[0] = a; targets[1] = b; }
    __syncthreads();
    *targets[which[threadIdx.x] & 1] = 1.0f;
}

// A pointer loaded from memory: unknown.
extern "C" __global__ void gather(float **rows, float *out) {
    out[threadIdx.x] = rows[threadIdx.x][0];
}
extern "C" __global__ void scatter(float **rows, const float *in) {
    rows[threadIdx.x][0] = in[threadIdx.x];
}

extern "C" __global__ void by_value(View view, float x) {
    if (threadIdx.x < view.n) view.data[threadIdx.x] = x;
}

extern "C" __global__ void plain_struct(Pair pair, double *out) { out[0] = pair.a + pair.b + pair.c; }

extern "C" __global__ void dynamic_struct(View view, const int *at, int *out) {
    out[0] = reinterpret_cast<const int *>(&view)[at[0] & 3];
}

extern "C" __global__ void address(u64 raw, float x) { *reinterpret_cast<float *>(raw) = x; }

__device__ __noinline__ void store(float *p, float x, int i) { p[i] = x; }
__device__ __noinline__ float fetch(const float *p, int i) { return p[i]; }
__device__ __noinline__ float *pick(float *a, float *b, int c) { return c ? a : b + 1; }
extern "C" __global__ void calls(float *a, const float *b, int n) { store(a, fetch(b, n), n); }
extern "C" __global__ void picks(float *a, float *b, int n) { *pick(a, b, n) = 1.0f; }

__device__ __noinline__ int descend(float *p, int n) {
    if (n <= 0) return 0;
    p[n] = n;
    return descend(p + 1, n - 1) + descend(p, n - 2);
}
extern "C" __global__ void recursive(float *p, const int *n, int *out) { out[0] = descend(p, n[0]); }

__device__ float twice(float x) { return 2 * x; }
__device__ float thrice(float x) { return 3 * x; }
typedef float (*Op)(float);
__device__ Op ops[2] = {twice, thrice};
extern "C" __global__ void indirect(const float *in, float *out, int which) { out[threadIdx.x] = ops[which](in[threadIdx.x]); }

extern "C" __global__ void globals(float *out) {
    out[threadIdx.x] = gain * taps[threadIdx.x & 3] + *table_end;
    atomicAdd(&visits[threadIdx.x & 3], 1);
}

extern "C" __global__ void atomics(int *counts, const int *keys, u64 *sum) {
    atomicAdd(&counts[keys[threadIdx.x]], 1);
    u64 old = atomicCAS(sum, 1ull, 2ull);
    if (old == 7) atomicExch(sum, old + 1);
}

extern "C" __global__ void __launch_bounds__(256, 2) reduce(const float *in, float *out, int n) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += in[i];
    partial[t] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step >>= 1) {
        if (t < step) partial[t] += partial[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void dynamic(float *data, int n) {
    extern __shared__ float window[];
    window[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = window[(threadIdx.x + n) % blockDim.x];
}

template <typename T, int N> __global__ void fill(T *data, T value) {
#pragma unroll
    for (int i = 0; i < N; i++) data[threadIdx.x * N + i] = value;
}
template __global__ void fill<float, 4>(float *, float);
template __global__ void fill<double, 2>(double *, double);

extern "C" __global__ void rebuild(float *a, float *b) {
    u64 bits = reinterpret_cast<u64>(a);
    u64 flipped = bits ^ 0x8ull;
    *reinterpret_cast<float *>(flipped & ~0x3ull) = b[0];
}

// One pointer minus another plus a third: nobody knows.
extern "C" __global__ void distance(float *a, float *b, float *c) { c[b - a] = 1.0f; }

struct Args { const float *in[8]; float *out[8]; int n; };
extern "C" __global__ void multi(Args args) {
    for (int k = 0; k < args.n; k++) args.out[k][threadIdx.x] = args.in[k][threadIdx.x];
}

// Bits of a pointer are an index into its own memory.
extern "C" __global__ void aligned(char *p, const char *q, u64 n) {
    u64 lead = (16 - (reinterpret_cast<u64>(p) & 15)) & 15;
    for (u64 i = threadIdx.x; i < n; i += blockDim.x) p[lead + i] = q[i];
}

extern "C" __global__ void search(const float *first, const float *last, float *out, float x) {
    while (first < last) {
        const float *mid = first + (last - first) / 2;
        if (*mid < x) first = mid + 1; else last = mid;
    }
    out[0] = *first;
}

extern "C" __global__ void reversed(float *a, const float *b, int n) {
    const float *q = b + n;
    for (float *p = a; p != a + n; ++p) *p = *--q;
}

extern "C" __global__ void heap(float **out) {
    out[0] = static_cast<float *>(malloc(64));
    out[0][3] = 1;
}

extern "C" __global__ void nullable(const float *x, const float *bias, float *out) {
    float v = x[threadIdx.x];
    if (bias) v += bias[threadIdx.x];
    out[threadIdx.x] = v;
}

extern "C" __global__ void histogram(const int *in, float *out, int n) {
    int counts[32] = {};
    for (int i = 0; i < n; i++) counts[in[i] & 31]++;
    out[counts[n & 31]] = counts[in[0] & 31];
}
