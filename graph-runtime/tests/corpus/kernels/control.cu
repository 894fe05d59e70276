// Control flow: recursion, indirect calls, switches, locks, barriers by name, divergence.

// Ackermann's function by plain recursion.
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

// Solutions of n queens, counted by recursion on local arrays.
__device__ __noinline__ int queens(int row, int n, int *columns)
{
    if (row == n)
        return 1;
    int count = 0;
    for (int column = 0; column < n; column++) {
        bool free = true;
        for (int before = 0; before < row; before++)
            free &= columns[before] != column && abs(columns[before] - column) != row - before;
        if (free) {
            columns[row] = column;
            count += queens(row + 1, n, columns);
        }
    }
    return count;
}

extern "C" __global__ void recursive(unsigned *out)
{
    unsigned i = threadIdx.x;
    int columns[8];
    out[i] = ackermann(i % 3, i / 3);
    out[32 + i] = queens(0, i % 6 + 1, columns);
}

__device__ float add(float a, float b)
{
    return a + b;
}
__device__ float subtract(float a, float b)
{
    return a - b;
}
__device__ float larger(float a, float b)
{
    return fmaxf(a, b);
}
__device__ __noinline__ float horner(float a, float b)
{
    float sum = 0.0f;
    for (int i = 0; i < 4; i++)
        sum = fmaf(sum, a, b + i);
    return sum;
}
using Binary = float (*)(float, float);
__device__ Binary table[4] = {add, subtract, larger, horner};

// Lanes of one warp call different functions through a table of pointers.
extern "C" __global__ void function_table(const int *which, const float *a, const float *b, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[which[i]](a[i], b[i]);
}

struct Shape {
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float side;
    __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
    float radius;
    __device__ float area() const override { return 3.14159274f * radius * radius; }
};

// Virtual functions of objects made on the device.
extern "C" __global__ void virtual_calls(const float *sizes, float *areas)
{
    unsigned i = threadIdx.x;
    Square square;
    square.side = sizes[i];
    Disc disc;
    disc.radius = sizes[i];
    const Shape *shape = i % 3 == 0 ? static_cast<const Shape *>(&square) : &disc;
    areas[i] = shape->area();
}

// A stack machine: a dense switch.
extern "C" __global__ void interpreter(const unsigned char *programs, const int *inputs, int *out, int length)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *program = programs + i % 4 * length;
    int stack[16], top = 0, accumulator = inputs[i];
    for (int at = 0; at + 1 < length;) {
        unsigned char code = program[at++];
        switch (code) {
        case 0:
            stack[top++ & 15] = accumulator;
            break;
        case 1:
            accumulator += stack[--top & 15];
            break;
        case 2:
            accumulator *= stack[--top & 15];
            break;
        case 3:
            accumulator = (signed char)program[at++];
            break;
        case 4:
            accumulator = ~accumulator;
            break;
        case 5:
            accumulator = accumulator << (program[at++] & 31) | (unsigned)accumulator >> 27;
            break;
        case 6:
            if (accumulator < 0)
                at += program[at];
            at++;
            break;
        case 7:
            accumulator = accumulator % 1000 - inputs[i];
            break;
        case 8:
            accumulator = __popc(accumulator) * at;
            break;
        case 9:
            at = length;
            break;
        default:
            accumulator ^= code;
        }
    }
    out[i] = accumulator;
}

// NVRTC 12.4 makes compares of a switch, nvcc 13 a branch table: this is one, written out. The index is data, lanes
// differ.
extern "C" __global__ void branch_table(const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], r = 0;
    for (int round = 0; round < 3; round++) {
        asm volatile("{\n\t"
                     ".reg .u32 case;\n\t"
                     "and.b32 case, %1, 3;\n\t"
                     "cases: .branchtargets zero, one, two, zero;\n\t"
                     "brx.idx case, cases;\n\t"
                     "zero: add.u32 %0, %0, 1;\n\t"
                     "bra.uni done;\n\t"
                     "one: mad.lo.u32 %0, %0, 7, %1;\n\t"
                     "two: xor.b32 %0, %0, 0x55;\n\t"
                     "done:\n\t"
                     "}"
                     : "+r"(r)
                     : "r"(x));
        x = x >> 2 ^ r;
    }
    out[i] = r;
}

__device__ int lock;

// Every lane of every warp takes the same lock in turn, the way that needs independent thread scheduling.
extern "C" __global__ void spin_lock(int *shared_counter, int *order)
{
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    int before = *(volatile int *)shared_counter;
    *(volatile int *)shared_counter = before + 1;
    __threadfence();
    atomicExch(&lock, 0);
    atomicAdd(&order[before / 32], 1);
}

// Lanes of one warp hand a value on, each spinning until its neighbour has written.
extern "C" __global__ void relay(int *out)
{
    __shared__ volatile int baton[33];
    unsigned lane = threadIdx.x;
    baton[lane] = -1;
    if (lane == 0)
        baton[32] = 7;
    __syncwarp();
    int from = lane == 31 ? 32 : lane + 1, value;
    while ((value = baton[from]) == -1) {
    }
    baton[lane] = value * 3 + lane;
    __syncwarp();
    out[lane] = baton[lane];
}

// Two producer warps fill two buffers in turn, two consumer warps empty them: barriers 1 and 2 say full, 3 and 4 empty.
extern "C" __global__ void warp_specialised(const int *in, int *out, int rounds)
{
    __shared__ int buffer[2][64];
    int half = threadIdx.x / 64, t = threadIdx.x % 64;
    if (half == 0) {
        for (int round = 0; round < rounds; round++) {
            int slot = round & 1;
            if (round >= 2)
                asm volatile("bar.sync %0, 128;" : : "r"(3 + slot) : "memory");
            buffer[slot][t] = in[round * 64 + t] * 2;
            asm volatile("bar.arrive %0, 128;" : : "r"(1 + slot) : "memory");
        }
    } else {
        int sum = 0;
        for (int round = 0; round < rounds; round++) {
            int slot = round & 1;
            asm volatile("bar.sync %0, 128;" : : "r"(1 + slot) : "memory");
            sum += buffer[slot][63 - t];
            out[round * 64 + t] = sum;
            if (round + 2 < rounds)
                asm volatile("bar.arrive %0, 128;" : : "r"(3 + slot) : "memory");
        }
    }
}

// Barriers that count and vote, with some threads gone already; a barrier of a part of the block.
extern "C" __global__ void barrier_votes(const int *in, int *out)
{
    int value = in[threadIdx.x];
    if (threadIdx.x >= 96)
        return;
    int count = __syncthreads_count(value & 1);
    int all = __syncthreads_and(value > 0);
    int any = __syncthreads_or(value < 0);
    int part = 0;
    if (threadIdx.x < 64) {
        asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 100; bar.red.or.pred q, 5, 64, p; selp.s32 %0, 1, 0, q; }"
                     : "=r"(part)
                     : "r"(value)
                     : "memory");
        asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 0; barrier.sync.aligned 6, 64; bar.red.popc.u32 %0, 5, 64, p; add.u32 %0, %0, %2; }"
                     : "=&r"(count)
                     : "r"(value), "r"(count * 1000)
                     : "memory");
    }
    out[threadIdx.x] = count * 8 + all * 4 + any * 2 + part;
}

// Loops, breaks, continues and returns inside one another, all depending on the lane.
extern "C" __global__ void divergence(const unsigned *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = in[i], steps = 0;
    for (unsigned outer = 0; outer < 10; outer++) {
        unsigned x = n + outer;
        do {
            if (x % 7 == 3)
                continue;
            if (x % 11 == 5) {
                steps += 100;
                break;
            }
            if (steps > 900) {
                out[i] = steps | 0x80000000u;
                return;
            }
            for (unsigned inner = x & 3; inner; inner--)
                steps += inner ^ outer;
        } while ((x = x & 1 ? 3 * x + 1 : x / 2) > 1);
        if (n % 5 == 2 && outer == n % 9)
            goto done;
    }
    steps += 10000;
done:
    out[i] = steps;
}
