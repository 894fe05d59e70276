// Dense and sparse linear algebra.

constexpr unsigned TILE = 16;

// c = a b for row-major a (m x k), b (k x n): square tiles in shared memory, edges padded with zeros.
extern "C" __global__ void matmul_tiled(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                        int m, int n, int k)
{
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        int across = start + threadIdx.x, down = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && across < k ? a[row * k + across] : 0.0f;
        right[threadIdx.y][threadIdx.x] = down < k && column < n ? b[down * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

// Each thread computes a 4 x 4 piece from registers; float4 loads and stores. All sizes are multiples of 32.
extern "C" __global__ void __launch_bounds__(64) matmul_registers(const float4 *a, const float4 *b, float4 *c, int n)
{
    __shared__ float4 left[8][32 / 4];
    __shared__ float4 right[8][32 / 4];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
    float sum[4][4] = {};
    for (int start = 0; start < n; start += 8) {
        left[ty][tx] = a[(start + ty) * (n / 4) + blockIdx.y * 8 + tx]; // a is transposed
        right[ty][tx] = b[(start + ty) * (n / 4) + blockIdx.x * 8 + tx];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float4 l = left[i][ty], r = right[i][tx];
            float ls[4] = {l.x, l.y, l.z, l.w}, rs[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
            for (int y = 0; y < 4; y++)
#pragma unroll
                for (int x = 0; x < 4; x++)
                    sum[y][x] = fmaf(ls[y], rs[x], sum[y][x]);
        }
        __syncthreads();
    }
    for (int y = 0; y < 4; y++)
        c[(blockIdx.y * 32 + ty * 4 + y) * (n / 4) + blockIdx.x * 8 + tx] =
            make_float4(sum[y][0], sum[y][1], sum[y][2], sum[y][3]);
}

// The transpose of a rows x columns matrix through a tile whose rows are padded against bank conflicts.
extern "C" __global__ void transpose_padded(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += blockDim.y)
        if (x < columns && y + i < rows)
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += blockDim.y)
        if (x < rows && y + i < columns)
            out[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
}

// y = A x for A in compressed sparse rows, a warp for each row.
extern "C" __global__ void spmv_csr(const int *__restrict__ starts, const int *__restrict__ columns,
                                    const double *__restrict__ values, const double *__restrict__ x, double *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    double sum = 0.0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32)
        sum += values[i] * __ldg(&x[columns[i]]);
    for (int offset = 16; offset; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}

// In-place Cholesky factor of one 16 x 16 matrix by one block of 16 threads.
extern "C" __global__ void cholesky(double *matrix)
{
    constexpr int N = 16;
    __shared__ double a[N][N];
    int row = threadIdx.x;
    for (int column = 0; column < N; column++)
        a[row][column] = matrix[row * N + column];
    __syncthreads();
    for (int k = 0; k < N; k++) {
        if (row == k)
            a[k][k] = sqrt(a[k][k]);
        __syncthreads();
        if (row > k)
            a[row][k] /= a[k][k];
        __syncthreads();
        for (int column = k + 1; column <= row; column++)
            a[row][column] = fma(-a[row][k], a[column][k], a[row][column]);
        __syncthreads();
    }
    for (int column = 0; column < N; column++)
        matrix[row * N + column] = column <= row ? a[row][column] : 0.0;
}
