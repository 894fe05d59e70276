// Memory of the host that kernels and the host access while a graph runs.

/// `tokens[position] = position * position + 1`, then `position += 1`; `more` becomes 0 after `len` tokens, or if the
/// host has stored another number than 0 to `stop`.
extern "C" __global__ void next(volatile unsigned *tokens, unsigned len, volatile const unsigned *stop,
                                unsigned *position, unsigned *more)
{
    unsigned at = *position;
    if (at < len)
        tokens[at] = at * at + 1;
    *position = at + 1;
    *more = at + 1 < len && stop[0] == 0;
}

/// Counts its calls until the host has stored another number than 0 to `stop`.
extern "C" __global__ void until(volatile const unsigned *stop, volatile unsigned *calls, unsigned *more)
{
    calls[0] = calls[0] + 1;
    *more = stop[0] == 0;
}

/// `values[i] = first + i` for each thread.
extern "C" __global__ void fill(volatile unsigned long long *values, unsigned long long first)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = first + i;
}

/// `pairs[1][i] = pairs[0][i] + 1`
extern "C" __global__ void copy_row(volatile float *pairs, unsigned len)
{
    unsigned i = threadIdx.x;
    if (i < len)
        pairs[len + i] = pairs[i] + 1.0f;
}

/// Answers each number that the host stores to `question` by its square, until the number is 0. The answer comes
/// before the number of the question.
extern "C" __global__ void answer(volatile const unsigned *question, volatile unsigned *reply)
{
    unsigned last = 0;
    for (;;) {
        unsigned number = question[0];
        if (number == last)
            continue;
        if (number == 0xffffffffu)
            break;
        __threadfence_system();
        reply[1] = question[1] * question[1];
        __threadfence_system();
        reply[0] = number;
        last = number;
    }
}

/// Accesses that mapped memory does not allow.
extern "C" __global__ void plainly(unsigned *words)
{
    words[0] += 1;
}

extern "C" __global__ void by_atomics(unsigned *words)
{
    atomicAdd_system(words, 1);
}

extern "C" __global__ void by_halves(volatile unsigned short *words)
{
    words[0] = 1;
}
