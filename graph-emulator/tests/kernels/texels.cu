// cuda-graph: --gpu-architecture=compute_70
// Reads through textures, and loads and stores through surfaces, at places that each kernel makes from the thread's
// index. `texels.cpp` runs them on a GPU for the cases of `texels.txt`, which also has the results of an H200. The
// emulator must repeat these.
typedef unsigned u32;

struct Sides {
    int width, height, depth, layers;
    // Whether coordinates go from 0 to 1.
    int normalized;
    // The words that each thread writes.
    int words;
};

__device__ u32 mix(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352d;
    x ^= x >> 15;
    x *= 0x846ca68b;
    return x ^ x >> 16;
}

__device__ u32 word(u32 thread, u32 axis) { return mix(thread * 4 + axis + 1); }

// A coordinate along a side, from 2 before its beginning to 2 after its end.
__noinline__ __device__ float coordinate(u32 thread, u32 axis, Sides sides, int side) {
    u32 any = word(thread, axis);
    float at;
    switch ((thread + axis) % 8) {
    case 0:
    case 1:
    case 2:
        at = (float)(any % (u32)(side * 512 + 2048)) / 512.0f - 2.0f;
        break;
    case 3:
    case 4:
        at = (float)(any % (u32)(side * 4096 + 16384)) / 4096.0f - 2.0f;
        break;
    case 5:
        at = (float)(any >> 8) / 16777216.0f * (float)side;
        break;
    case 6: {
        // Very near to the middle or the edge of a texel.
        float near = (float)(1 << (any >> 8) % 14) / 4194304.0f;
        at = (float)(any % (u32)(side * 2 + 8)) / 2.0f - 2.0f;
        at += any & 0x100000 ? near : -near;
        break;
    }
    default:
        switch (any % 8) {
        case 0: at = __int_as_float(0x7fc00000); break;
        case 1: at = __int_as_float(0x7f800000); break;
        case 2: at = __int_as_float(0xff800000); break;
        case 3: at = -0.0f; break;
        case 4: at = 1e10f; break;
        case 5: at = -1e10f; break;
        case 6: at = (float)(any >> 16) - 32768.0f; break;
        default: at = (float)side; break;
        }
    }
    return sides.normalized ? at / (float)side : at;
}

// An integer coordinate, from 2 before the beginning to 2 after the end.
__noinline__ __device__ int index(u32 thread, u32 axis, int side) {
    u32 any = word(thread, axis);
    if (any % 16 == 0) return any & 256 ? 0x7fffffff : 0x80000000;
    return (int)(any % (u32)(side + 4)) - 2;
}

__device__ u32 number() { return blockIdx.x * blockDim.x + threadIdx.x; }
__noinline__ __device__ void put(u32 *out, Sides sides, u32 x, u32 y, u32 z, u32 w) {
    u32 all[4] = {x, y, z, w};
    u32 thread = number();
    for (int i = 0; i < sides.words; i++) out[thread * sides.words + i] = all[i];
}
__device__ void put(u32 *out, Sides sides, float4 v) {
    put(out, sides, __float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}
__device__ void put(u32 *out, Sides sides, int4 v) { put(out, sides, v.x, v.y, v.z, v.w); }
__device__ void put(u32 *out, Sides sides, uint4 v) { put(out, sides, v.x, v.y, v.z, v.w); }

#define AT(axis, side) coordinate(number(), axis, sides, sides.side)
#define LAYER index(number(), 3, sides.layers)
#define FETCH(name, call)                                                                                              \
    extern "C" __global__ void name(cudaTextureObject_t texture, u32 *out, Sides sides) { put(out, sides, call); }

FETCH(tex_1d_f32, tex1D<float4>(texture, AT(0, width)))
FETCH(tex_1d_s32, tex1D<int4>(texture, AT(0, width)))
FETCH(tex_a1d_f32, tex1DLayered<float4>(texture, AT(0, width), LAYER))
FETCH(tex_2d_f32, tex2D<float4>(texture, AT(0, width), AT(1, height)))
FETCH(tex_2d_u32, tex2D<uint4>(texture, AT(0, width), AT(1, height)))
FETCH(tex_a2d_f32, tex2DLayered<float4>(texture, AT(0, width), AT(1, height), LAYER))
FETCH(tex_a2d_s32, tex2DLayered<int4>(texture, AT(0, width), AT(1, height), LAYER))
FETCH(tex_3d_f32, tex3D<float4>(texture, AT(0, width), AT(1, height), AT(2, depth)))
FETCH(tex_3d_u32, tex3D<uint4>(texture, AT(0, width), AT(1, height), AT(2, depth)))
FETCH(fetch_1d_u32, tex1Dfetch<uint4>(texture, index(number(), 0, sides.width)))

// A channel of each of the four texels.
template <typename T> __device__ T gathered(cudaTextureObject_t texture, Sides sides) {
    float x = AT(0, width), y = AT(1, height);
    switch (number() / 8 % 4) {
    case 0: return tex2Dgather<T>(texture, x, y, 0);
    case 1: return tex2Dgather<T>(texture, x, y, 1);
    case 2: return tex2Dgather<T>(texture, x, y, 2);
    default: return tex2Dgather<T>(texture, x, y, 3);
    }
}
FETCH(gather_2d_f32, gathered<float4>(texture, sides))
FETCH(gather_2d_s32, gathered<int4>(texture, sides))

// Rows by integers, which CUDA C++ has not.
__device__ float4 by_integers(cudaTextureObject_t texture, Sides sides) {
    float4 v;
    asm volatile("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(texture), "r"(index(number(), 0, sides.width)), "r"(index(number(), 1, sides.height)));
    return v;
}
FETCH(index_2d_f32, by_integers(texture, sides))

// The sizes of a texture. (Drivers load no PTX that asks for the layers, or for the sizes of a surface.)
#define QUERY(name, opcode)                                                                                            \
    extern "C" __global__ void name(cudaTextureObject_t texture, u32 *out, Sides sides) {                              \
        u32 answer;                                                                                                    \
        asm volatile(opcode ".b32 %0, [%1];" : "=r"(answer) : "l"(texture));                                           \
        put(out, sides, answer, 0, 0, 0);                                                                              \
    }
QUERY(query_width, "txq.width")
QUERY(query_height, "txq.height")
QUERY(query_depth, "txq.depth")

// Results of `suld` as words; the bits above are what the register of the instruction has there.
__device__ void keep(u32 *out, Sides sides, unsigned char v) { put(out, sides, v, 0, 0, 0); }
__device__ void keep(u32 *out, Sides sides, uchar4 v) { put(out, sides, v.x, v.y, v.z, v.w); }
__device__ void keep(u32 *out, Sides sides, unsigned short v) { put(out, sides, v, 0, 0, 0); }
__device__ void keep(u32 *out, Sides sides, ushort2 v) { put(out, sides, v.x, v.y, 0, 0); }
__device__ void keep(u32 *out, Sides sides, u32 v) { put(out, sides, v, 0, 0, 0); }
__device__ void keep(u32 *out, Sides sides, uint2 v) { put(out, sides, v.x, v.y, 0, 0); }
__device__ void keep(u32 *out, Sides sides, uint4 v) { put(out, sides, v); }
__device__ void keep(u32 *out, Sides sides, unsigned long long v) { put(out, sides, (u32)v, (u32)(v >> 32), 0, 0); }

template <typename T> __device__ T made(u32 thread);
template <> __device__ unsigned char made(u32 thread) { return word(thread, 77); }
template <> __device__ unsigned short made(u32 thread) { return word(thread, 77); }
template <> __device__ u32 made(u32 thread) { return word(thread, 77); }
template <> __device__ uchar4 made(u32 thread) {
    u32 v = word(thread, 77);
    return make_uchar4(v, v >> 8, v >> 16, v >> 24);
}
template <> __device__ ushort2 made(u32 thread) { return make_ushort2(word(thread, 77), word(thread, 78)); }
template <> __device__ uint2 made(u32 thread) { return make_uint2(word(thread, 77), word(thread, 78)); }
template <> __device__ uint4 made(u32 thread) {
    return make_uint4(word(thread, 77), word(thread, 78), word(thread, 79), word(thread, 80));
}
template <> __device__ unsigned long long made(u32 thread) { return (unsigned long long)word(thread, 77) << 32 | word(thread, 78); }

// The byte of a row at an integer coordinate of elements; `width` counts elements.
template <typename T> __device__ int byte(u32 thread, Sides sides) {
    int at = index(thread, 0, sides.width);
    return at < -2 || at > sides.width + 2 ? at & ~((int)sizeof(T) - 1) : at * (int)sizeof(T);
}
#define PLACE_1D(type) byte<type>(i, sides)
#define PLACE_1DLayered(type) byte<type>(i, sides), index(i, 3, sides.layers)
#define PLACE_2D(type) byte<type>(i, sides), index(i, 1, sides.height)
#define PLACE_2DLayered(type) byte<type>(i, sides), index(i, 1, sides.height), index(i, 3, sides.layers)
#define PLACE_3D(type) byte<type>(i, sides), index(i, 1, sides.height), index(i, 2, sides.depth)

// Loads by all threads, and stores by one thread, one after the other, so that the last one counts.
#define SURFACE(geometry, type, name, mode)                                                                            \
    extern "C" __global__ void suld_##geometry##_##name##_##mode(cudaSurfaceObject_t s, u32 *out, Sides sides) {       \
        u32 i = number();                                                                                              \
        keep(out, sides, surf##geometry##read<type>(s, PLACE_##geometry(type), cudaBoundaryMode##mode));               \
    }                                                                                                                  \
    extern "C" __global__ void sust_##geometry##_##name##_##mode(cudaSurfaceObject_t s, u32 *out, Sides sides) {       \
        _Pragma("unroll 1") for (u32 i = 0; i < 32; i++)                                                                                 \
            surf##geometry##write(made<type>(i), s, PLACE_##geometry(type), cudaBoundaryMode##mode);                   \
    }
SURFACE(1D, unsigned char, b8, Zero)
SURFACE(1D, uint2, v2b32, Clamp)
SURFACE(1DLayered, uchar4, v4b8, Clamp)
SURFACE(1DLayered, u32, b32, Zero)
SURFACE(2D, unsigned char, b8, Clamp)
SURFACE(2D, unsigned short, b16, Zero)
SURFACE(2D, ushort2, v2b16, Clamp)
SURFACE(2D, u32, b32, Zero)
SURFACE(2D, u32, b32, Clamp)
SURFACE(2D, unsigned long long, b64, Clamp)
SURFACE(2DLayered, u32, b32, Clamp)
SURFACE(2DLayered, uchar4, v4b8, Zero)
SURFACE(3D, u32, b32, Zero)
SURFACE(3D, ushort2, v2b16, Clamp)
SURFACE(3D, uint4, v4b32, Clamp)
