// Kernels of the ui-tests that read memory through textures. They are never run.

// Reads rows of texels.
extern "C" __global__ void sample(cudaTextureObject_t image, float *out)
{
    out[threadIdx.x] = tex2D<float>(image, threadIdx.x, 0.5f);
}

// Reads texels by their number.
extern "C" __global__ void fetch(cudaTextureObject_t table, float *out)
{
    out[threadIdx.x] = tex1Dfetch<float>(table, threadIdx.x);
}

// Also takes the handle for an address.
extern "C" __global__ void sample_and_load(cudaTextureObject_t image, float *out)
{
    out[threadIdx.x] = tex2D<float>(image, threadIdx.x, 0.5f) + *(const float *)image;
}
