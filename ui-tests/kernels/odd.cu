// Kernels that are easily declared wrongly, for the ui-tests of `missing-kernel`, `signature` and `access`. None of
// them is ever run.

struct Pair {
    unsigned short first;
    unsigned short second;
    unsigned short third;
    unsigned short fourth;
};

struct View {
    float *data;
    unsigned long long len;
};

__device__ static inline unsigned index_in_launch()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// C++ mangles its name.
__global__ void mangled(float *out)
{
    out[index_in_launch()] = 1;
}

// No kernel, but a function that stays one.
extern "C" __device__ __noinline__ float helper(float value)
{
    return value * value;
}

extern "C" __global__ void with_helper(float *data)
{
    data[index_in_launch()] = helper(data[index_in_launch()]);
}

// Takes an address as a number.
extern "C" __global__ void by_address(unsigned long long address)
{
    reinterpret_cast<float *>(address)[index_in_launch()] = 1;
}

// Takes an address inside a struct.
extern "C" __global__ void by_view(View view)
{
    view.data[index_in_launch()] = 1;
}

// Reads through a pointer that it loads from memory.
extern "C" __global__ void gather(const float *const *table, float *out)
{
    out[index_in_launch()] = table[index_in_launch()][0];
}

// Writes through one of two parameters.
extern "C" __global__ void either(float *first, float *second, unsigned which)
{
    float *target = which == 0 ? first : second;
    target[index_in_launch()] = 1;
}

// Scalars of several types.
extern "C" __global__ void scalars(float *out, double factor, unsigned char flag, int offset)
{
    out[index_in_launch()] = flag != 0 ? static_cast<float>(factor) : static_cast<float>(offset);
}

// Eight bytes aligned to two.
extern "C" __global__ void with_pair(float *out, Pair pair)
{
    out[index_in_launch()] = pair.first + pair.second + pair.third + pair.fourth;
}
