// cuda-graph: --ptx-version=7.7
// The built-in kernels of collectives: each rank's kernel writes into memory of the others, and reads its own.
//
// Every rank has a `Station` in the memory of its device, which the kernels of all ranks reach. A collective runs in
// rounds, and each block does rounds of its own: block `b` of a rank meets block `b` of the other ranks, and no other.
// In a round, a block writes what its rank gives into its slots in the staging of the others, meets them, and reads
// what they have written into its own staging. (Writes cross NVLink without a way back, which reads have.)
//
// A meeting: each rank stores the number of the round in the stations of the others, and waits until all have stored it
// in its own. A rank comes to round `k + 1`, and writes what it gives there, before it waits for the others at round
// `k`: so data cross while it waits. It has read what it wanted of round `k - 1` by then. So a rank that has waited for
// the others at round `k`, who came there after they had read round `k - 2`, may write for round `k + 2`: there are
// four stagings, and four places for numbers, which rounds use in turns. Numbers go on from kernel to kernel and from
// launch to launch, so nothing is reset, and a rank may be a launch ahead.
//
// With the number of the round, a rank stores a number of the collective, so that ranks which run different ones find
// that. A rank that waits too long, or is told that a rank is missing, gives up: it tells the host and the other ranks,
// and its later kernels return at once. It never comes to another round, so the others do not take wrong numbers for
// right ones.
//
// Programmatic edges lead to these kernels and from them. So a kernel waits for the one before it first. It lets the
// next one start when all ranks have come for the last time: not before, since the next one would then keep places on
// the GPU from kernels for which another rank waits. Instructions for both are put in for devices that have them, in
// place of the comments that the macros write (`backend/cuda/kernels.rs`).
#define WAIT_FOR_GRID() asm volatile("// griddepcontrol: wait" ::: "memory")
#define LAUNCH_DEPENDENTS() asm volatile("// griddepcontrol: launch_dependents" ::: "memory")

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef int i32;
typedef long long i64;

// `graph-runtime/src/ownership/station.rs` has the same numbers.
#define MAX_RANKS 32
#define MAX_BLOCKS 256
#define STAGING (32 << 10)
#define TURNS 4
#define MAX_MOVES 64

struct Station {
    // Whether a rank is missing: 0, or its number + 1.
    u32 missing;
    // Whether the host was told.
    u32 told;
    u32 unused[30];
    // The number of the last round of each block.
    u32 round[MAX_BLOCKS];
    // The place to which each rank has come, in rounds that take turns: see `place`.
    u32 arrived[MAX_BLOCKS][TURNS][MAX_RANKS];
    alignas(128) char staging[MAX_BLOCKS][TURNS][STAGING];
};

// The memory by which a kernel and the host speak, in the memory of the host.
struct Post {
    // 0, or: 1 << 63, the reason << 61, the node << 16, the missing rank.
    u64 report;
    // Whether a rank has left: 0, or its number + 1.
    u32 left;
};

// The group of ranks, for one of them.
struct Group {
    Station *stations[MAX_RANKS];
    Post *post;
    // In nanoseconds.
    u64 timeout;
    // Each in 8 bytes, so that the compiler does not load several at once by an instruction that older drivers lack.
    alignas(8) u32 rank;
    alignas(8) u32 ranks;
    // A number by which the host knows the node.
    alignas(8) u32 node;
    // The index of the node in its graph, and the number of that graph, which are the same on all ranks.
    alignas(8) u32 index;
    const u32 *graph;
    // The bytes of a slot of a block's staging, which one rank fills in a round.
    alignas(8) u32 chunk;
};

static __device__ u64 now()
{
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

static __device__ u32 load(const u32 *word)
{
    u32 value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

static __device__ void store(u32 *word, u32 value)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

// The group of the kernel.
static __shared__ Group group;

// Reasons to give up: a rank does not come, another rank has told of one, a rank is at another collective.
enum { ABSENT, TOLD, ELSEWHERE };

// Gives up, and tells the others, unless one of them has told.
static __noinline__ __device__ void give_up(u32 missing, u32 reason)
{
    Station *own = group.stations[group.rank];
    if (atomicExch(&own->told, 1) == 0) {
        u64 report = 1ull << 63 | (u64)reason << 61 | (u64)group.node << 16 | missing;
        *(volatile u64 *)&group.post->report = report;
        __threadfence_system();
    }
    store(&own->missing, missing + 1);
    _Pragma("unroll 1") for (u32 peer = 0; peer < group.ranks && reason != TOLD; peer++)
        store(&group.stations[peer]->missing, missing + 1);
}

// A place in a collective: a number of that, the last bits of the number of the round, and whether a rank is there, and
// has more to give. Two rounds of one slot differ by 4 or, if a rank is at the wrong place, by a few.
#define CAME 1
#define MORE 2
#define ROUND 0x3fc

static __device__ u32 place(u32 collective, u32 round) { return collective << 10 | (round << 2 & ROUND) | CAME; }

// Takes the group, and sets the number of the last round, and the number of the collective. Returns false if a rank is
// missing.
static __device__ bool begin(const Group &given, u32 &round, u32 &collective)
{
    WAIT_FOR_GRID();
    const Station *own = given.stations[given.rank];
    round = own->round[blockIdx.x];
    collective = (*given.graph << 12) + given.index;
    u32 missing = load(&own->missing);
    for (u32 i = threadIdx.x; i < sizeof(Group) / sizeof(u32); i += blockDim.x)
        ((u32 *)&group)[i] = ((const u32 *)&given)[i];
    bool over = __syncthreads_or(missing);
    if (over && threadIdx.x == 0) give_up(load(&own->missing) - 1, TOLD);
    return !over;
}

// Waits for a rank. Returns the word that it has stored; 0 if it is missing.
static __device__ u32 wait(const u32 *word, u32 expected, u32 peer)
{
    const Station *own = group.stations[group.rank];
    u64 begin = 0;
    _Pragma("unroll 1") for (u32 count = 1;; count++)
    {
        // Asked before the word: a rank that leaves has stored all of its words, and has seen those of the others.
        u32 absent = 0;
        if (count % 64 == 0) {
            u64 time = now();
            if (begin == 0) begin = time;
            u32 missing = load(&own->missing);
            if (missing) {
                give_up(missing - 1, TOLD);
                return 0;
            }
            if (time - begin > group.timeout) absent = peer + 1;
            if (count % 1024 == 0 && absent == 0) absent = load(&group.post->left);
        }
        u32 value = load(word);
        if (((value ^ expected) & (ROUND | CAME)) == 0) {
            if ((value ^ expected) >> 10 == 0) return value;
            give_up(peer, ELSEWHERE);
            return 0;
        }
        if (absent) {
            give_up(absent - 1, ABSENT);
            return 0;
        }
        if (count > 64) asm volatile("nanosleep.u32 100;");
    }
}

// Tells the other ranks that this one has come to a round, and whether it has more to give.
static __noinline__ __device__ void come(u32 collective, u32 round, bool more)
{
    __syncthreads();
    u32 peer = threadIdx.x;
    if (peer < group.ranks && peer != group.rank)
        store(&group.stations[peer]->arrived[blockIdx.x][round % TURNS][group.rank],
              place(collective, round) | (more ? MORE : 0));
}

// Waits for all ranks in a round. Returns `CAME`, or 0 if one is missing; and `MORE` if any rank has more to give, and
// if this one has.
static __noinline__ __device__ u32 meet(u32 collective, u32 round, bool more)
{
    u32 word = place(collective, round) | (more ? MORE : 0);
    u32 peer = threadIdx.x;
    if (peer < group.ranks && peer != group.rank)
        word = wait(&group.stations[group.rank]->arrived[blockIdx.x][round % TURNS][peer], word, peer);
    more = __syncthreads_or(word & MORE);
    return (__syncthreads_and(word) ? CAME : 0) | (more ? MORE : 0);
}

// A slot in the staging of a rank, in a round.
static __device__ char *slot(u32 of, u32 index, u32 round)
{
    return group.stations[of]->staging[blockIdx.x][round % TURNS] + index * group.chunk;
}

// The slot in the staging of a rank of what another one gives: a rank has none in its own.
static __device__ char *gift(u32 of, u32 giver, u32 round) { return slot(of, giver < of ? giver : giver - 1, round); }

// Does something for each other rank.
template <typename Do> static __device__ void for_others(Do act)
{
    _Pragma("unroll 1") for (u32 peer = 0; peer < group.ranks; peer++)
        if (peer != group.rank) act(peer);
}

static __device__ void end(u32 round)
{
    if (threadIdx.x == 0) group.stations[group.rank]->round[blockIdx.x] = round;
}

// Whether all of these addresses and numbers are multiples of 16.
static __device__ bool aligned(u64 a, u64 b = 0, u64 c = 0) { return ((a | b | c) & 15) == 0; }

// The loads of a thread that are in flight when it copies.
#define COPIES 4

// Copies bytes with all threads of the block. `unit` is the size of an element, which all is a multiple of.
template <typename Unit>
static __device__ void copy_units(char *to, const char *from, u32 bytes)
{
    _Pragma("unroll 1") for (u32 i = threadIdx.x; i < bytes / sizeof(Unit); i += blockDim.x)
        ((Unit *)to)[i] = ((const Unit *)from)[i];
}

// As `copy_units`, with several units in flight.
template <typename Unit>
static __device__ void copy_many(char *to, const char *from, u32 bytes)
{
    u32 count = bytes / sizeof(Unit), step = blockDim.x;
    _Pragma("unroll 1") for (u32 first = threadIdx.x; first < count; first += COPIES * step)
    {
        Unit units[COPIES];
        for (u32 i = 0; i < COPIES; i++)
            if (first + i * step < count) units[i] = ((const Unit *)from)[first + i * step];
        for (u32 i = 0; i < COPIES; i++)
            if (first + i * step < count) ((Unit *)to)[first + i * step] = units[i];
    }
}

static __noinline__ __device__ void copy(char *to, const char *from, u32 bytes)
{
    u64 all = (u64)to | (u64)from;
    u32 whole = bytes & ~15u;
    if ((all & 15) == 0) {
        copy_many<uint4>(to, from, whole);
        copy_units<u8>(to + whole, from + whole, bytes - whole);
    } else if (((all | bytes) & 3) == 0) {
        copy_units<u32>(to, from, bytes);
    } else {
        copy_units<u8>(to, from, bytes);
    }
}

// Arithmetic, as `program/communicator/number.rs` has it. `Work` is the type in which operations are done.
struct f16 {
    u16 bits;
    __device__ operator float() const
    {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
    f16() = default;
    __device__ f16(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
};

struct bf16 {
    u16 bits;
    __device__ operator float() const { return __uint_as_float((u32)bits << 16); }
    bf16() = default;
    __device__ bf16(float value)
    {
        u32 word = __float_as_uint(value);
        bits = (word & 0x7fffffff) > 0x7f800000 ? word >> 16 | 0x40 : (word + 0x7fff + (word >> 16 & 1)) >> 16;
    }
};

template <typename T> struct Arithmetic {
    static __device__ T add(T a, T b) { return (T)((u64)a + (u64)b); }
    static __device__ T multiply(T a, T b) { return (T)((u64)a * (u64)b); }
    static __device__ T least(T a, T b) { return a < b ? a : b; }
    static __device__ T greatest(T a, T b) { return a > b ? a : b; }
    // More ranks than the type counts leave nothing.
    static __device__ T share(T sum, u32 ranks)
    {
        const u64 most = (T)-1 > (T)0 ? (u64)(T)-1 : ((u64)1 << (8 * sizeof(T) - 1)) - 1;
        return ranks > most ? 0 : sum / (T)ranks;
    }
};

template <> struct Arithmetic<float> {
    static __device__ float add(float a, float b) { return __fadd_rn(a, b); }
    static __device__ float multiply(float a, float b) { return __fmul_rn(a, b); }
    static __device__ float least(float a, float b) { return fminf(a, b); }
    static __device__ float greatest(float a, float b) { return fmaxf(a, b); }
    static __device__ float share(float sum, u32 ranks) { return __fdiv_rn(sum, (float)ranks); }
};

template <> struct Arithmetic<double> {
    static __device__ double add(double a, double b) { return __dadd_rn(a, b); }
    static __device__ double multiply(double a, double b) { return __dmul_rn(a, b); }
    static __device__ double least(double a, double b) { return fmin(a, b); }
    static __device__ double greatest(double a, double b) { return fmax(a, b); }
    static __device__ double share(double sum, u32 ranks) { return __ddiv_rn(sum, (double)ranks); }
};

// Each operation is done in `float`, and rounded.
template <> struct Arithmetic<f16> : Arithmetic<float> {};
template <> struct Arithmetic<bf16> : Arithmetic<float> {};

enum { SUM, PROD, MIN, MAX, AVG };

template <typename T> static __device__ T combine(u32 operation, T a, T b)
{
    switch (operation) {
    case PROD: return Arithmetic<T>::multiply(a, b);
    case MIN: return Arithmetic<T>::least(a, b);
    case MAX: return Arithmetic<T>::greatest(a, b);
    default: return Arithmetic<T>::add(a, b);
    }
}

// Several elements that are loaded at once.
template <typename T, u32 COUNT> struct alignas(sizeof(T) * COUNT) Pack {
    T items[COUNT];
};

// Combines what all ranks have, in the order of ranks, to `to`: `of(rank)` is where a rank's is.
template <typename T, u32 COUNT, typename Of>
static __device__ void combine_packs(Of of, u32 operation, char *to, u32 bytes)
{
    typedef Pack<T, COUNT> P;
    u32 ranks = group.ranks;
    _Pragma("unroll 1") for (u32 at = threadIdx.x * sizeof(P); at < bytes; at += blockDim.x * sizeof(P))
    {
        P sum = *(const P *)(of(0) + at);
        _Pragma("unroll 1") for (u32 rank = 1; rank < ranks; rank++)
        {
            P other = *(const P *)(of(rank) + at);
            for (u32 i = 0; i < COUNT; i++) sum.items[i] = combine<T>(operation, sum.items[i], other.items[i]);
        }
        if (operation == AVG)
            for (u32 i = 0; i < COUNT; i++) sum.items[i] = Arithmetic<T>::share(sum.items[i], ranks);
        *(P *)(to + at) = sum;
    }
}

// Runs the rounds of a collective in which each rank gives and takes `bytes` bytes in all, `chunk` bytes in a round:
// `give(at, count, round)` writes to the others, and `take(at, count, round)` reads what they have written. With
// `twice`, `take` writes to the others for the next round, which `collect(at, count, round)` reads, and only then the
// next chunk is given.
template <typename Give, typename Take, typename Collect>
static __device__ void rounds(const Group &given, u64 bytes, u32 chunk, bool twice, Give give, Take take,
                              Collect collect)
{
    u32 round, collective;
    if (!begin(given, round, collective)) return;
    u64 step = (u64)gridDim.x * chunk, next = (u64)blockIdx.x * chunk;
    // The bytes that were given in `round`, if any.
    u32 staged = 0;
    _Pragma("unroll 1") while (staged || next < bytes)
    {
        u64 at = next - step;
        u32 before = staged;
        staged = 0;
        if (next < bytes && !(twice && before)) {
            staged = bytes - next < chunk ? (u32)(bytes - next) : chunk;
            give(next, staged, round + 1);
            come(collective, round + 1, false);
            next += step;
        }
        if (before) {
            if (meet(collective, round, false) == 0) return;
            if (staged == 0 && !twice) LAUNCH_DEPENDENTS();
            take(at, before, round);
        }
        if (before && twice) {
            come(collective, round + 1, false);
            if (meet(collective, round + 1, false) == 0) return;
            if (next >= bytes) LAUNCH_DEPENDENTS();
            collect(at, before, ++round);
        }
        if (staged) round++;
    }
    end(round);
}

// The ways to combine: all give all to all, and each combines all; several combine a part of a large row each, and
// give that to all; each combines its own row of several.
enum { ONCE, TWICE, SCATTER };

// Combines what all ranks have at `from`: `bytes` bytes, or that many in each row for the rank of its number.
template <typename T>
static __device__ void reduce(const Group &given, const char *from, char *to, u64 bytes, u32 way, u32 operation)
{
    // The bytes of a rank's part of a chunk: all parts but the last one have as many as a slot.
    auto part = [](u32 count, u32 rank) {
        u32 start = rank * group.chunk, left = count > start ? count - start : 0;
        return left < group.chunk ? left : group.chunk;
    };
    // Of what a rank has in a chunk, the bytes that `rank` combines.
    auto source = [=](u64 at, u32 rank) {
        return from + at + (way == SCATTER ? rank * bytes : way == TWICE ? rank * group.chunk : 0);
    };
    auto size = [=](u32 count, u32 rank) { return way == TWICE ? part(count, rank) : count; };
    auto give = [=](u64 at, u32 count, u32 round) {
        for_others([=](u32 peer) { copy(gift(peer, group.rank, round), source(at, peer), size(count, peer)); });
    };
    auto take = [=](u64 at, u32 count, u32 round) {
        const char *own = source(at, group.rank);
        char *target = to + at + (way == TWICE ? group.rank * group.chunk : 0);
        count = size(count, group.rank);
        u32 whole = aligned((u64)target, (u64)own) ? count & ~15u : 0;
        auto of = [=](u32 rank) { return rank == group.rank ? own : gift(group.rank, rank, round); };
        combine_packs<T, 16 / sizeof(T)>(of, operation, target, whole);
        auto rest = [=](u32 rank) { return of(rank) + whole; };
        combine_packs<T, 1>(rest, operation, target + whole, count - whole);
        if (way != TWICE) return;
        __syncthreads();
        for_others([=](u32 peer) { copy(gift(peer, group.rank, round + 1), target, count); });
    };
    auto collect = [=](u64 at, u32 count, u32 round) {
        for_others([=](u32 peer) {
            copy(to + at + peer * group.chunk, gift(group.rank, peer, round), part(count, peer));
        });
    };
    u32 chunk = given.chunk * (way == TWICE ? given.ranks : 1);
    rounds(given, bytes, chunk, way == TWICE, give, take, collect);
}

#define REDUCE(T)                                                                                                     \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                 \
        graph_runtime_reduce_##T(const __grid_constant__ Group given, const char *from, char *to, u64 bytes, u32 way, \
                                 u32 operation)                                                                       \
    {                                                                                                                 \
        reduce<T>(given, from, to, bytes, way, operation);                                                           \
    }

typedef float f32;
typedef double f64;
REDUCE(f16)
REDUCE(bf16)
REDUCE(f32)
REDUCE(f64)
REDUCE(i8)
REDUCE(u8)
REDUCE(i32)
REDUCE(u32)
REDUCE(i64)
REDUCE(u64)

// Gives `bytes` bytes of `from`, unless it is null, and puts those of `count` ranks, from `first` on, to rows of `to`.
extern "C" __global__ void __launch_bounds__(512, 2)
    graph_runtime_gather(const __grid_constant__ Group given, const char *from, char *to, u64 bytes, u32 first, u32 count)
{
    auto give = [=](u64 at, u32 size, u32 round) {
        if (from) for_others([=](u32 peer) { copy(gift(peer, group.rank, round), from + at, size); });
    };
    auto take = [=](u64 at, u32 size, u32 round) {
        _Pragma("unroll 1") for (u32 row = 0; row < count; row++)
        {
            u32 rank = first + row;
            const char *source = rank == group.rank ? from + at : gift(group.rank, rank, round);
            copy(to + row * bytes + at, source, size);
        }
    };
    rounds(given, bytes, given.chunk, false, give, take, [](u64, u32, u32) {});
}

// Memory that is sent to a rank, or received from it.
struct Move {
    char *memory;
    u64 bytes;
    alignas(8) u32 peer;
    alignas(8) u32 sends;
};

struct Moves {
    Move moves[MAX_MOVES];
};

// The part of the stream of bytes between this rank and another one that is in this round of the block, and of which a
// move has some.
struct Stream {
    u64 begin, end;

    // What a move that begins at `start` of the stream has of it: the number of bytes, at `offset` of the move.
    __device__ u32 of(u64 start, u64 bytes, u64 &offset) const
    {
        u64 first = start > begin ? start : begin, last = start + bytes < end ? start + bytes : end;
        offset = first - start;
        return first < last ? (u32)(last - first) : 0;
    }
};

// Sends and receives. What one rank sends to another is a stream of bytes, in the order of its moves; each rank has a
// slot in every staging, also in its own. The ranks go on as long as any has more to send.
extern "C" __global__ void __launch_bounds__(512, 2)
    graph_runtime_exchange(const __grid_constant__ Group given, const __grid_constant__ Moves moves, u32 count)
{
    u32 round, collective;
    if (!begin(given, round, collective)) return;
    u32 met = MORE;
    for (u64 turn = 0; met & MORE; turn++) {
        u64 begin = (turn * gridDim.x + blockIdx.x) * group.chunk;
        Stream stream = {begin, begin + group.chunk};
        bool more = false;
        round++;
        // First all that is sent, and then all that is received.
        _Pragma("unroll 1") for (u32 index = 0; index <= 2 * count; index++)
        {
            bool sends = index < count;
            if (index == count) {
                come(collective, round, more);
                if ((met = meet(collective, round, more)) == 0) return;
            }
            if (index == 2 * count) break;
            const Move &move = moves.moves[sends ? index : index - count];
            if (move.sends != sends) continue;
            u64 start = 0, offset;
            _Pragma("unroll 1") for (u32 before = 0; before < index % count; before++)
                if (moves.moves[before].sends == move.sends && moves.moves[before].peer == move.peer)
                    start += moves.moves[before].bytes;
            u32 bytes = stream.of(start, move.bytes, offset);
            u64 inside = start + offset - begin;
            if (sends) {
                more |= start + move.bytes > begin + (u64)gridDim.x * group.chunk;
                if (bytes)
                    copy(slot(move.peer, group.rank, round) + inside, move.memory + offset, bytes);
            } else if (bytes) {
                copy(move.memory + offset, slot(group.rank, move.peer, round) + inside, bytes);
            }
        }
    }
    end(round);
}
