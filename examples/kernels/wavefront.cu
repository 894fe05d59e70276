// The kernel of the `wavefront` example.

#define SIDE 16

// The edit distances in a block of the table: that of the letters up to `a[r]` and up to `b[c]` is cells[r][c]. The
// blocks above it, to its left, and above that are known. A thread for each row.
extern "C" __global__ void distances(const unsigned above[SIDE][SIDE], const unsigned left[SIDE][SIDE],
                                     const unsigned corner[SIDE][SIDE], const unsigned char *a,
                                     const unsigned char *b, unsigned cells[SIDE][SIDE])
{
    int r = threadIdx.x;
    for (int diagonal = 0; diagonal < 2 * SIDE - 1; ++diagonal) {
        int c = diagonal - r;
        if (c >= 0 && c < SIDE) {
            unsigned up = r > 0 ? cells[r - 1][c] : above[SIDE - 1][c];
            unsigned before = c > 0 ? cells[r][c - 1] : left[r][SIDE - 1];
            unsigned both;
            if (r > 0)
                both = c > 0 ? cells[r - 1][c - 1] : left[r - 1][SIDE - 1];
            else
                both = c > 0 ? above[SIDE - 1][c - 1] : corner[SIDE - 1][SIDE - 1];
            cells[r][c] = min(min(up, before) + 1, both + (a[r] != b[c]));
        }
        __syncthreads();
    }
}
