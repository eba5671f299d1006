/* Blocks of vectors [rows][stride], one vector a column, for eigenvalues (fem/eigen/columns_device.c). Columns are in groups of
 * GROUP, to which strides are rounded up; those of the last group that are not columns hold zeros. A thread has a group of a row,
 * or of more rows at once, whose groups are those of neighbouring threads. `s` holds the numbers that a kernel's comment lists,
 * and behind NUMBERS of them its coefficients. Sums over rows are those of chunks, each added up in the order of its rows by a
 * thread block, and then in the order of the chunks: the same bits in each run. */
#define INLINE static __device__ __forceinline__
#define THREADS 256
#define GROUP 4
#define TILE 16 /* columns of a Gram matrix that a thread block has */
#define NUMBERS 16

struct group {
    double2 a, b;
};
INLINE group load(const double *from)
{
    const double2 *pair = (const double2 *)from;
    const group g = {pair[0], pair[1]};
    return g;
}
INLINE void store(double *to, const double *v)
{
    for (int c = 0; c < GROUP; ++c)
        to[c] = v[c];
}
INLINE void add(double *sum, double factor, group g)
{
    sum[0] += factor * g.a.x;
    sum[1] += factor * g.a.y;
    sum[2] += factor * g.b.x;
    sum[3] += factor * g.b.y;
}
INLINE double random_entry(long long i)
{
    unsigned long long z = ((unsigned long long)i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return (double)(long long)z * 1.0842021724855044e-19; /* 2^-63 */
}

/* y = A x, 0 in dropped rows.  n: rows; s: groups, strides of x and y */
extern "C" __global__ void __launch_bounds__(THREADS)
    multiply(long long n, const long long *__restrict__ s, const long long *__restrict__ row_start,
             const int *__restrict__ columns, const double *__restrict__ values,
             const unsigned char *__restrict__ dropped, const double *__restrict__ x, double *__restrict__ y)
{
    const int groups = (int)s[0], rows = THREADS / groups, slot = (int)threadIdx.x / groups;
    const int at = (int)threadIdx.x % groups * GROUP;
    const long long i = blockIdx.x * (long long)rows + slot, next = s[1];
    if (slot >= rows || i >= n)
        return;
    double sum[GROUP] = {0, 0, 0, 0};
    const long long last = dropped[i] ? row_start[i] : row_start[i + 1];
#pragma unroll 4
    for (long long k = row_start[i]; k < last; ++k)
        add(sum, values[k], load(x + columns[k] * next + at));
    store(y + i * s[2] + at, sum);
}

/* Groups of a tile of a Gram matrix, of those from its first on. */
INLINE int groups_of(long long groups, long long tile)
{
    const long long left = groups - tile * (TILE / GROUP);
    return left < TILE / GROUP ? (int)left : TILE / GROUP;
}

/* Parts of a^T b.  n: rows; s: groups of a and b, their strides, tiles along b, tiles, chunks; sums: [chunks][tiles][TILE][TILE],
 * a thread block each. A thread adds up GROUP x GROUP products, of every slice-th row. */
extern "C" __global__ void __launch_bounds__(THREADS)
    gram(long long n, const long long *__restrict__ s, const double *__restrict__ a, const double *__restrict__ b,
         double *__restrict__ sums)
{
    __shared__ double parts[THREADS * GROUP * GROUP];
    const long long tile = blockIdx.x % s[5], chunk = blockIdx.x / s[5];
    const long long of_a = tile / s[4], of_b = tile % s[4];
    const int wide = groups_of(s[1], of_b), pairs = groups_of(s[0], of_a) * wide, slices = THREADS / pairs;
    const int me = (int)threadIdx.x, pair = me % pairs, slice = me / pairs;
    const long long last = (chunk + 1) * n / s[6], next_a = s[2], next_b = s[3];
    double sum[GROUP][GROUP] = {{0}};
    a += of_a * TILE + pair / wide * GROUP;
    b += of_b * TILE + pair % wide * GROUP;
    if (slice < slices) {
#pragma unroll 2
        for (long long i = chunk * n / s[6] + slice; i < last; i += slices) {
            const group left = load(a + i * next_a), right = load(b + i * next_b);
            add(sum[0], left.a.x, right);
            add(sum[1], left.a.y, right);
            add(sum[2], left.b.x, right);
            add(sum[3], left.b.y, right);
        }
    }
    for (int k = 0; k < GROUP; ++k)
        store(parts + (me * GROUP + k) * GROUP, sum[k]);
    __syncthreads();
    const int from = me / (GROUP * GROUP), entry = me % (GROUP * GROUP);
    double all = 0;
    for (int k = 0; k < slices && from < pairs; ++k)
        all += parts[(k * pairs + from) * GROUP * GROUP + entry];
    if (from < pairs)
        sums[blockIdx.x * (long long)(TILE * TILE) +
             (from / wide * GROUP + entry / GROUP) * TILE + from % wide * GROUP + entry % GROUP] = all;
}

/* Parts of the sums of (a - c b)^2 d over rows, of each column.  n: rows; s: columns, strides of a and b, tiles, chunks; c: the
 * coefficients; sums: [chunks][tiles][TILE], a thread block each */
extern "C" __global__ void __launch_bounds__(THREADS)
    squares(long long n, const long long *__restrict__ s, const double *__restrict__ a, const double *__restrict__ b,
            const double *__restrict__ d, double *__restrict__ sums)
{
    __shared__ double parts[THREADS];
    const double *c = (const double *)(s + NUMBERS);
    const long long tile = blockIdx.x % s[3], chunk = blockIdx.x / s[3], last = (chunk + 1) * n / s[4];
    const int me = (int)threadIdx.x, slices = THREADS / TILE;
    const long long column = tile * TILE + me % TILE;
    double sum = 0;
    for (long long i = chunk * n / s[4] + me / TILE; i < last && column < s[0]; i += slices) {
        const double r = a[i * s[1] + column] - c[column] * b[i * s[2] + column];
        sum += r * r * d[i];
    }
    parts[me] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < slices && me < TILE; ++k)
        sum += parts[k * TILE + me];
    if (me < TILE)
        sums[blockIdx.x * (long long)TILE + me] = sum;
}

/* all[k] = the sum over chunks of sums[chunk][k].  n: numbers, a thread block has 32 of them; s: chunks */
extern "C" __global__ void __launch_bounds__(THREADS)
    add_chunks(long long n, const long long *__restrict__ s, const double *__restrict__ sums, double *__restrict__ all)
{
    __shared__ double parts[THREADS];
    const int me = (int)threadIdx.x, slices = THREADS / 32;
    const long long k = blockIdx.x * 32LL + me % 32;
    double sum = 0;
#pragma unroll 4
    for (long long chunk = me / 32; chunk < s[0] && k < n; chunk += slices)
        sum += sums[chunk * n + k];
    parts[me] = sum;
    __syncthreads();
    for (int slice = 1; slice < slices && me < 32; ++slice)
        sum += parts[slice * 32 + me];
    if (me < 32 && k < n)
        all[k] = sum;
}

/* A term of a combination: its rows, and what they are multiplied with; C NULL: nothing. */
struct term {
    const double *of, *C;
    long long next;
    int m;
};
INLINE term term_of(const long long *s, int number, const double *of)
{
    const long long *own = s + 3 + 3 * number;
    const double *C = own[2] < 0 ? (const double *)0 : (const double *)(s + NUMBERS) + own[2];
    const term t = {of, C, own[1], (int)own[0]};
    return t;
}

/* Add a term to a group of columns of GROUP rows. */
INLINE void add_term(term t, const long long *rows, int at, int width, double (*sum)[GROUP])
{
    for (int k = 0; !t.C && k < GROUP; ++k)
        for (int c = 0; c < GROUP; ++c)
            sum[k][c] += at + c < t.m ? t.of[rows[k] * t.next + at + c] : 0;
    for (int k = 0; t.C && k < t.m; k += GROUP) {
        const double *C = t.C + k * (long long)width + at;
        const group factors[GROUP] = {load(C), load(C + width), load(C + 2 * width), load(C + 3 * width)};
        for (int row = 0; row < GROUP; ++row) {
            const group v = load(t.of + rows[row] * t.next + k);
            add(sum[row], v.a.x, factors[0]);
            add(sum[row], v.a.y, factors[1]);
            add(sum[row], v.b.x, factors[2]);
            add(sum[row], v.b.y, factors[3]);
        }
    }
}

/* out = the sum of terms; it may be one of them: a thread block has all columns of its rows, and writes them when all are
 * computed.  n: rows; s: terms, groups and stride of out, and of each term columns, stride and place of its coefficients, -1:
 * none. They are [columns, rounded up to GROUP][groups * GROUP], filled up with zeros. */
extern "C" __global__ void __launch_bounds__(THREADS)
    combine(long long n, const long long *__restrict__ s, const double *of0, const double *of1, const double *of2,
            double *out)
{
    const int groups = (int)s[1], width = groups * GROUP, slots = THREADS / groups;
    const int slot = (int)threadIdx.x / groups, at = (int)threadIdx.x % groups * GROUP;
    const double *const of[] = {of0, of1, of2};
    double sum[GROUP][GROUP] = {{0}};
    long long rows[GROUP];
    const long long first = blockIdx.x * (long long)slots * GROUP + slot;
    for (int k = 0; k < GROUP; ++k)
        rows[k] = first + k * slots < n ? first + k * slots : n - 1;
    for (int k = 0; k < s[0] && slot < slots; ++k)
        add_term(term_of(s, k, of[k]), rows, at, width, sum);
    __syncthreads();
    for (int k = 0; k < GROUP && slot < slots; ++k)
        if (first + k * slots < n)
            store(out + rows[k] * s[2] + at, sum[k]);
}

/* Pseudorandom columns, 0 in dropped rows, as columns_random.  n: rows; s: first and last column, seed, stride */
extern "C" __global__ void fill_random(long long n, const long long *__restrict__ s,
                                       const unsigned char *__restrict__ dropped, double *__restrict__ out)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    for (long long k = s[0]; k < s[1] && i < n; ++k)
        out[i * s[3] + k] = dropped[i] ? 0 : random_entry(i + (s[2] + k) * 0x100000001b3ll);
}

/* A column of a block.  n: rows; s: the column, where set_column finds it, stride. So one column after the other is taken out and put
 * back by the same launches. */
extern "C" __global__ void get_column(long long n, long long *__restrict__ s, const double *__restrict__ block,
                                      double *__restrict__ out)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = block[i * s[2] + s[0]];
    if (i == 0)
        s[1] = s[0];
}

/* The same back.  s: the next column, this one, stride, not 0: dropped rows get 0 */
extern "C" __global__ void set_column(long long n, long long *__restrict__ s, const unsigned char *__restrict__ dropped,
                                      const double *__restrict__ from, double *__restrict__ block)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        block[i * s[2] + s[1]] = s[3] && dropped[i] ? 0 : from[i];
    if (i == 0)
        s[0] = s[1] + 1;
}

/* Rows times d.  n: rows; s: columns, stride */
extern "C" __global__ void scale_rows(long long n, const long long *__restrict__ s, const double *__restrict__ d,
                                      double *__restrict__ block)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    for (long long k = 0; k < s[0] && i < n; ++k)
        block[i * s[1] + k] *= d[i];
}
