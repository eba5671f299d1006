/* The transpose of a matrix, or of every matrix of a batch, before a product that is faster with it (gemm/transpose.c). Blocks
 * bring tiles of SIDE x SIDE entries through shared memory, so that reads and writes are both along columns.
 *
 * Macros of the host program: COMPLEX, SINGLE. */
#if SINGLE
typedef float real;
#else
typedef double real;
#endif
constexpr int SIDE = 32, THREADS = 256, LINES = THREADS / SIDE;

struct entry {
    real part[COMPLEX ? 2 : 1];
};

/* As transpose_values of gemm/transpose.c. Units: entries. */
struct transpose_values {
    int64 rows, columns, ld, first, stride; /* of the matrix that is read */
    int64 to_ld, to_stride;                 /* its transpose begins at 0 */
    int64 conjugate;
};

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(int64 n, const entry *from, entry *to, BY_VALUE(transpose_values) v) {
    DYNAMIC_SHARED(bytes);
    entry(*tile)[SIDE + 1] = (entry(*)[SIDE + 1])bytes;
    const int64 down = (v.rows + SIDE - 1) / SIDE, across = (v.columns + SIDE - 1) / SIDE;
    const int64 matrix = blockIdx.x / (down * across), rest = blockIdx.x % (down * across);
    const int64 row = rest % down * SIDE, column = rest / down * SIDE;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    (void)n;
    from += v.first + matrix * v.stride;
    to += matrix * v.to_stride;
    UNROLL for (int j = y; j < SIDE; j += LINES)
        if (row + x < v.rows && column + j < v.columns)
            tile[j][x] = from[row + x + (column + j) * v.ld];
    __syncthreads();
    UNROLL for (int j = y; j < SIDE; j += LINES)
        if (column + x < v.columns && row + j < v.rows) {
            entry out = tile[x][j];
            if (COMPLEX && v.conjugate)
                out.part[COMPLEX] = -out.part[COMPLEX];
            to[column + x + (row + j) * v.to_ld] = out;
        }
}
