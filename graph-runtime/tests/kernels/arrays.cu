// Textures and surfaces of CUDA arrays.

__device__ int thread() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void sample_line(cudaTextureObject_t line, const float *at, float *out) {
    int i = thread();
    out[i] = tex1D<float>(line, at[i]);
}

extern "C" __global__ void sample_plane(cudaTextureObject_t plane, const float2 *at, float *out) {
    int i = thread();
    out[i] = tex2D<float>(plane, at[i].x, at[i].y);
}

extern "C" __global__ void sample_volume(cudaTextureObject_t volume, const float4 *at, float *out) {
    int i = thread();
    out[i] = tex3D<float>(volume, at[i].x, at[i].y, at[i].z);
}

extern "C" __global__ void sample_lines(cudaTextureObject_t lines, const float2 *at, float *out) {
    int i = thread();
    out[i] = tex1DLayered<float>(lines, at[i].x, (int)at[i].y);
}

extern "C" __global__ void sample_planes(cudaTextureObject_t planes, const float4 *at, float *out) {
    int i = thread();
    out[i] = tex2DLayered<float>(planes, at[i].x, at[i].y, (int)at[i].z);
}

// The second channel of the four texels around a place.
extern "C" __global__ void gather_plane(cudaTextureObject_t plane, const float2 *at, uint4 *out) {
    int i = thread();
    out[i] = tex2Dgather<uint4>(plane, at[i].x, at[i].y, 1);
}

// A row in each block.
extern "C" __global__ void double_plane(cudaSurfaceObject_t plane) {
    float value = surf2Dread<float>(plane, threadIdx.x * sizeof(float), blockIdx.x);
    surf2Dwrite(2 * value, plane, threadIdx.x * sizeof(float), blockIdx.x);
}

extern "C" __global__ void read_plane(cudaSurfaceObject_t plane, float *out) {
    out[thread()] = surf2Dread<float>(plane, threadIdx.x * sizeof(float), blockIdx.x);
}

extern "C" __global__ void number_line(cudaSurfaceObject_t line) {
    int i = thread();
    surf1Dwrite((float)i, line, i * sizeof(float));
}

extern "C" __global__ void number_volume(cudaSurfaceObject_t volume) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    surf3Dwrite(make_uchar4(x, y, z, 255), volume, x * sizeof(uchar4), y, z);
}

extern "C" __global__ void number_lines(cudaSurfaceObject_t lines) {
    int x = threadIdx.x, layer = blockIdx.x;
    surf1DLayeredwrite(make_int2(x, -layer), lines, x * sizeof(int2), layer);
}

extern "C" __global__ void number_planes(cudaSurfaceObject_t planes) {
    int x = threadIdx.x, y = blockIdx.x, layer = blockIdx.y;
    surf2DLayeredwrite((short)(x + 10 * y + 100 * layer), planes, x * sizeof(short), y, layer);
}

// Outside of the surface: a load gives 0, a store does nothing.
extern "C" __global__ void outside_plane(cudaSurfaceObject_t plane, float *out) {
    int x = (int)threadIdx.x - 1;
    out[threadIdx.x] = surf2Dread<float>(plane, x * (int)sizeof(float), 0, cudaBoundaryModeZero);
    surf2Dwrite(5.0f, plane, x * (int)sizeof(float), -1, cudaBoundaryModeZero);
}

extern "C" __global__ void trap_plane(cudaSurfaceObject_t plane) {
    surf2Dwrite(5.0f, plane, threadIdx.x * sizeof(float), 1000);
}

// A surface and a texture of two arrays: one step of a blur.
extern "C" __global__ void blur(cudaTextureObject_t from, cudaSurfaceObject_t to) {
    int x = threadIdx.x, y = blockIdx.x;
    float sum = tex2D<float>(from, x - 0.5f, y + 0.5f) + tex2D<float>(from, x + 1.5f, y + 0.5f);
    surf2Dwrite(sum / 2, to, x * sizeof(float), y);
}
