// Sorting and searching.

// Bitonic sort of one block of keys in shared memory; the values follow.
extern "C" __global__ void bitonic_sort(float *keys, unsigned *values)
{
    __shared__ float key[512];
    __shared__ unsigned value[512];
    unsigned i = threadIdx.x;
    key[i] = keys[blockIdx.x * 512 + i];
    value[i] = i;
    for (unsigned size = 2; size <= 512; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned j = i ^ stride;
            bool up = (i & size) == 0;
            if (j > i && (key[i] > key[j]) == up) {
                float k = key[i];
                key[i] = key[j];
                key[j] = k;
                unsigned v = value[i];
                value[i] = value[j];
                value[j] = v;
            }
        }
    __syncthreads();
    keys[blockIdx.x * 512 + i] = key[i];
    values[blockIdx.x * 512 + i] = value[i];
}

// Radix sort of one block of 256 keys: 32 passes of one bit, each a stable split by a ballot scan.
extern "C" __global__ void radix_sort(const unsigned *in, unsigned *out)
{
    __shared__ unsigned keys[256], zeros[8];
    unsigned i = threadIdx.x, lane = i % 32, warp = i / 32;
    keys[i] = in[blockIdx.x * 256 + i];
    __syncthreads();
    for (int bit = 0; bit < 32; bit++) {
        unsigned key = keys[i];
        bool one = (key >> bit) & 1;
        unsigned vote = __ballot_sync(0xffffffff, !one);
        if (lane == 0)
            zeros[warp] = __popc(vote);
        __syncthreads();
        unsigned before = __popc(vote & ((1u << lane) - 1)), all = 0;
        for (unsigned w = 0; w < 8; w++) {
            before += w < warp ? zeros[w] : 0;
            all += zeros[w];
        }
        keys[one ? all + i - before : before] = key;
        __syncthreads();
    }
    out[blockIdx.x * 256 + i] = keys[i];
}

// The place of each key in a sorted table, by binary search.
extern "C" __global__ void lower_bound(const long long *table, int n, const long long *keys, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    long long key = keys[i];
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low;
}

// Quicksort of one array by each thread, with a stack of its own and insertion sort for short pieces.
extern "C" __global__ void quicksort_local(short *data, int n)
{
    data += (blockIdx.x * blockDim.x + threadIdx.x) * n;
    int stack[32], top = 0, low = 0, high = n - 1;
    for (;;) {
        if (high - low < 6) {
            for (int i = low + 1; i <= high; i++) {
                short value = data[i];
                int j = i;
                for (; j > low && data[j - 1] > value; j--)
                    data[j] = data[j - 1];
                data[j] = value;
            }
            if (top == 0)
                break;
            high = stack[--top];
            low = stack[--top];
            continue;
        }
        short pivot = data[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (data[i] < pivot)
                i++;
            while (data[j] > pivot)
                j--;
            if (i <= j) {
                short t = data[i];
                data[i++] = data[j];
                data[j--] = t;
            }
        }
        stack[top++] = i;
        stack[top++] = high;
        high = j;
    }
}
