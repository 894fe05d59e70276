// cuda-graph: --ptx-version=6.0
// The built-in kernels of memsets that CUDA's own memsets cannot do: values that do not repeat every 1, 2 or 4 bytes,
// and rectangles.

typedef unsigned long long u64;

// The value, `period` units of it.
template <typename Unit>
struct alignas(4) Pattern {
    Unit units[256 / sizeof(Unit)];
};

// Writes the pattern over and over, to `count` units of each of `rows` rows. The first row begins at `to`, and each one
// `pitch` bytes after the one before. Any launch will do: along x each thread starts at its index and advances by the
// number of threads, and along y each block does that with rows.
#define FILL(name, Unit)                                                                                              \
    extern "C" __global__ void name(char *to, u64 count, unsigned period, Pattern<Unit> pattern, u64 pitch, u64 rows)  \
    {                                                                                                                 \
        u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;                   \
        _Pragma("unroll 1") for (u64 row = blockIdx.y; row < rows; row += gridDim.y)                                  \
        {                                                                                                             \
            Unit *units = (Unit *)(to + row * pitch);                                                                 \
            _Pragma("unroll 1") for (u64 i = first; i < count; i += step) units[i] = pattern.units[i % period];       \
        }                                                                                                             \
    }

FILL(graph_runtime_fill_words, unsigned)
FILL(graph_runtime_fill_bytes, unsigned char)
