// Reads through textures.

extern "C" __global__ void gather_texels(cudaTextureObject_t table, const int *index, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1Dfetch<float>(table, index[i]);
}

extern "C" __global__ void sample(cudaTextureObject_t image, const float2 *at, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<float>(image, at[i].x, at[i].y);
}

// The same text as `sample`, for other samplers.
extern "C" __global__ void sample_wrapped(cudaTextureObject_t image, const float2 *at, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<float>(image, at[i].x, at[i].y);
}

// Channels from 0 to 1, in the order blue, green, red, alpha.
extern "C" __global__ void swap_colours(cudaTextureObject_t image, float4 *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    float4 colour = tex2D<float4>(image, x + 0.5f, y + 0.5f);
    out[y * width + x] = make_float4(colour.z, colour.y, colour.x, colour.w);
}

extern "C" __global__ void sum_pairs(cudaTextureObject_t pairs, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int2 pair = tex1Dfetch<int2>(pairs, i);
    out[i] = pair.x + pair.y;
}

extern "C" __global__ void read_bytes(cudaTextureObject_t bytes, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1Dfetch<signed char>(bytes, i);
}

// Declared in wrong ways.
extern "C" __global__ void address_too(cudaTextureObject_t image, float *out) {
    out[threadIdx.x] = tex2D<float>(image, 0.5f, 0.5f) + *(const float *)image;
}
