// A linear layer in many blocks: `graph.advice()` asks for them where `linear` of mlp.cu, with a thread for each
// output, has too few. Matrices are row by row; the weights have a row for each output.

// y[r][c] = x[r] . w[c] + b[c], not below 0 where `relu`; a block of 256 threads for each row and eight columns, a warp
// for each column
extern "C" __global__ void linear_by_warps(const float *x, const float *w, const float *b, float *y, unsigned inputs,
                                           unsigned outputs, unsigned relu)
{
    unsigned r = blockIdx.x, c = blockIdx.y * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (c >= outputs)
        return;
    float sum = 0;
    for (unsigned k = lane; k < inputs; k += 32)
        sum += x[r * inputs + k] * w[c * inputs + k];
    for (unsigned other = 16; other; other /= 2)
        sum += __shfl_xor_sync(~0u, sum, other);
    sum += b[c];
    if (lane == 0)
        y[r * outputs + c] = relu && sum < 0 ? 0 : sum;
}
