/* Renumbers the nodes of a mesh and sorts its simplices by their nodes (fem/order/simplices.c). */
#define SIMPLEX_MOST 4

/* n: nodes.  sizes: dimension.  old: new -> old; new_of: old -> new */
extern "C" __global__ void move_nodes(long long n, const int64_t *sizes, const int32_t *old, const double *x,
                                      int32_t *new_of, double *moved)
{
    const int64_t i = element(), d = sizes[0];
    if (i >= n)
        return;
    const int64_t from = old[i];
    new_of[from] = (int32_t)i;
    for (int64_t c = 0; c < d; ++c)
        moved[i * d + c] = x[from * d + c];
}

/* n: simplices, which are renumbered.  sizes: width.  counts [nodes]: of those whose lowest node it is */
extern "C" __global__ void count_simplices(long long n, const int64_t *sizes, const int32_t *new_of, int32_t *simplices,
                                           uint32_t *counts)
{
    const int64_t i = element(), width = sizes[0];
    if (i >= n)
        return;
    int32_t low = 0x7fffffff;
    for (int64_t k = 0; k < width; ++k) {
        const int32_t node = new_of[simplices[i * width + k]];
        simplices[i * width + k] = node;
        low = node < low ? node : low;
    }
    atomicAdd(&counts[low], 1u);
}

/* n: nodes; longest[0] gets the most simplices of a node */
extern "C" __global__ void most_simplices(long long n, const uint32_t *counts, uint32_t *longest)
{
    const int64_t i = element();
    if (i < n && counts[i] > longest[0]) /* rarely: reads are cheaper than atomic operations */
        atomicMax(longest, counts[i]);
}

INLINE void exchange(uint32_t *a, uint32_t *b)
{
    const uint32_t low = *a < *b ? *a : *b;
    *b = *a < *b ? *b : *a;
    *a = low;
}

/* The nodes of a simplex, ascending. */
INLINE void simplex_key(const int32_t *simplices, int64_t i, int width, uint32_t *v)
{
    UNROLL for (int k = 0; k < SIMPLEX_MOST; ++k)
        v[k] = k < width ? (uint32_t)simplices[i * width + k] : 0xffffffffu;
    exchange(&v[0], &v[1]);
    exchange(&v[2], &v[3]);
    exchange(&v[0], &v[2]);
    exchange(&v[1], &v[3]);
    exchange(&v[1], &v[2]);
}

/* List the simplices of each node in any order. */
extern "C" __global__ void list_simplices(long long n, const int64_t *sizes, const int32_t *simplices,
                                          const int64_t *start, uint32_t *counts, int32_t *list)
{
    const int64_t i = element();
    if (i >= n)
        return;
    uint32_t v[SIMPLEX_MOST];
    simplex_key(simplices, i, (int)sizes[0], v);
    list[start[v[0]] + atomicAdd(&counts[v[0]], ~0u) - 1] = (int32_t)i;
}

/* Each item of the lists finds its rank in its list: by its nodes, then by its number.  from [n]: the old number */
extern "C" __global__ void sort_simplices(long long n, const int64_t *sizes, const int32_t *simplices,
                                          const int64_t *start, const int32_t *list, int32_t *sorted, int32_t *from)
{
    const int64_t at = element();
    const int width = (int)sizes[0];
    if (at >= n)
        return;
    const int32_t me = list[at];
    uint32_t own[SIMPLEX_MOST], other[SIMPLEX_MOST];
    simplex_key(simplices, me, width, own);
    const int64_t first = start[own[0]], last = start[own[0] + 1];
    int64_t place = first;
    for (int64_t p = first; p < last; ++p) {
        const int32_t i = list[p];
        simplex_key(simplices, i, width, other);
        const uint64_t a = (uint64_t)other[2] << 32 | other[3], b = (uint64_t)own[2] << 32 | own[3];
        place += other[1] < own[1] ||
                 (other[1] == own[1] && (a < b || (a == b && i < me)));
    }
    for (int k = 0; k < width; ++k)
        sorted[place * width + k] = simplices[(int64_t)me * width + k];
    from[place] = me;
}
