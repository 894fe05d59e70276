// Printing, assertions that hold, traps that are not reached.

struct Pair {
    int first;
    double second;
};

// Keeps the number that printf returns, which is that of its arguments.
extern "C" __global__ void print(const int *in, int *out)
{
    unsigned i = threadIdx.x;
    int x = in[i];
    out[i] = printf("thread %u: %d %5.2f %s %c %llx%%\n", i, x, x * 0.5, x < 0 ? "negative" : "positive", 'a' + (int)i, (long long)x);
    if (i == 0)
        out[32] = printf("no arguments\n");
    assert(x != 123456);
    if (x == 654321)
        __trap();
    if (x == 1234567)
        __brkpt();
    if (i >= 16)
        asm volatile("exit;");
    out[i] += 100;
    __nanosleep(20);
    asm volatile("pmevent 1;");
}
