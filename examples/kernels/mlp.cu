// The kernels of the `mlp` example: a perceptron of two layers that learns. Matrices are row by row; a layer's weights
// have a row for each output. On the Rust side, `#[requires(..)]` bounds the launches.

// y[r][c] = x[r] . w[c] + b[c], not below 0 where `relu`; a block for each row, a thread for each column
extern "C" __global__ void linear(const float *x, const float *w, const float *b, float *y, unsigned inputs, unsigned outputs, unsigned relu)
{
    unsigned r = blockIdx.x, c = threadIdx.x;
    if (c >= outputs)
        return;
    float sum = b[c];
    for (unsigned k = 0; k < inputs; k++)
        sum += x[r * inputs + k] * w[c * inputs + k];
    y[r * outputs + c] = relu && sum < 0 ? 0 : sum;
}

// The mean squared error of y is added to *loss, and its gradient by y is written to dy; a thread for each of n
// elements
extern "C" __global__ void squared_error(const float *y, const float *target, float *dy, float *loss, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float error = y[i] - target[i];
    dy[i] = 2 * error / n;
    atomicAdd(loss, error * error / n);
}

// dx[r][k] = sum over c of dy[r][c] w[c][k], where x[r][k] > 0, else 0; a block for each row, a thread for each input
extern "C" __global__ void gradient(const float *dy, const float *w, const float *x, float *dx, unsigned inputs, unsigned outputs)
{
    unsigned r = blockIdx.x, k = threadIdx.x;
    if (k >= inputs)
        return;
    float sum = 0;
    for (unsigned c = 0; c < outputs; c++)
        sum += dy[r * outputs + c] * w[c * inputs + k];
    dx[r * inputs + k] = x[r * inputs + k] > 0 ? sum : 0;
}

// w[c][k] -= rate * sum over r of dy[r][c] x[r][k], and b[c] likewise; a block for each output, a thread for each input
extern "C" __global__ void descend(const float *dy, const float *x, float *w, float *b, float rate, unsigned rows, unsigned inputs)
{
    unsigned c = blockIdx.x, k = threadIdx.x, outputs = gridDim.x;
    if (k >= inputs)
        return;
    float weight = 0, bias = 0;
    for (unsigned r = 0; r < rows; r++) {
        weight += dy[r * outputs + c] * x[r * inputs + k];
        bias += dy[r * outputs + c];
    }
    w[c * inputs + k] -= rate * weight;
    if (k == 0)
        b[c] -= rate * bias;
}
