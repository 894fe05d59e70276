// The kernels of `tutorial.md`: a linear model with four weights, trained by gradient descent.

#define FEATURES 4

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// y[i] = x[i][0] * w[0] + x[i][1] * w[1] + .., one thread for each row
extern "C" __global__ void predict(const float (*x)[FEATURES], const float *w, float *y)
{
    unsigned i = index_in_launch();
    float sum = 0;
    for (unsigned j = 0; j < FEATURES; j++)
        sum += x[i][j] * w[j];
    y[i] = sum;
}

// error[i] = y[i] - target[i], one thread for each row
extern "C" __global__ void subtract(const float *y, const float *target, float *error)
{
    error[index_in_launch()] = y[index_in_launch()] - target[index_in_launch()];
}

// loss += error[i] * error[i] / n, one thread for each row
extern "C" __global__ void add_loss(float *loss, const float *error, float n)
{
    float difference = error[index_in_launch()];
    atomicAdd(loss, difference * difference / n);
}

// slope[j] = the derivative of the loss by w[j], one thread for each weight
extern "C" __global__ void differentiate(const float (*x)[FEATURES], const float *error, float *slope, unsigned n)
{
    unsigned j = index_in_launch();
    float sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += error[i] * x[i][j];
    slope[j] = 2 * sum / n;
}

// w[j] -= rate * slope[j], one thread for each weight
extern "C" __global__ void descend(float *w, const float *slope, float rate)
{
    w[index_in_launch()] -= rate * slope[index_in_launch()];
}
