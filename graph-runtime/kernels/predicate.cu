// cuda-graph: --ptx-version=6.0
// The built-in kernels of bodies that run as predicated kernels: a copy of a condition, for bodies that change it, and
// the copies that are nodes of their own elsewhere.

typedef unsigned long long u64;

// Copies a condition. One thread.
extern "C" __global__ void graph_runtime_latch(const unsigned *flag, unsigned *latch)
{
    *latch = *flag;
}

// Copies `count` units of each of `rows` rows. The first rows begin at `to` and at `from`, and each one `to_pitch` or
// `from_pitch` bytes after the one before. Any launch will do, as for fills.
#define COPY(name, Unit)                                                                                              \
    extern "C" __global__ void name(char *to, const char *from, u64 count, u64 to_pitch, u64 from_pitch, u64 rows)    \
    {                                                                                                                 \
        u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;                   \
        _Pragma("unroll 1") for (u64 row = blockIdx.y; row < rows; row += gridDim.y)                                  \
        {                                                                                                             \
            Unit *target = (Unit *)(to + row * to_pitch);                                                             \
            const Unit *source = (const Unit *)(from + row * from_pitch);                                             \
            _Pragma("unroll 1") for (u64 i = first; i < count; i += step) target[i] = source[i];                      \
        }                                                                                                             \
    }

COPY(graph_runtime_copy_words, unsigned)
COPY(graph_runtime_copy_bytes, unsigned char)
