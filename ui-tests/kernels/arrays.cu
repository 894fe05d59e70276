// Kernels of the ui-tests that take CUDA arrays. They are never run.

// Reads rows of texels, and stores rows.
extern "C" __global__ void soften(cudaTextureObject_t from, cudaSurfaceObject_t to)
{
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite(tex2D<float>(from, x, y + 0.5f), to, x * sizeof(float), y);
}

// Reads a volume.
extern "C" __global__ void look_into(cudaTextureObject_t volume, float *out)
{
    out[threadIdx.x] = tex3D<float>(volume, threadIdx.x, 0.5f, 0.5f);
}

// Reads layers of rows.
extern "C" __global__ void look_at_layers(cudaTextureObject_t layers, float *out)
{
    out[threadIdx.x] = tex2DLayered<float>(layers, threadIdx.x, 0.5f, 1);
}
