/* Uniform refinement (fem/mesh/refine.c): an edge belongs to the lower of its nodes, whose list has the other ends,
 * ascending; the midpoints of a node's edges are numbered directly after it. No fused operations, as on the host. */
#define SIMPLEX_MOST 4

/* The tables of fem/mesh/refine.c. */
static __device__ const int edges[6][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};
static __device__ const int triangles[4][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}, {3, 5, 4}};
static __device__ const int tetrahedra[8][4] = {{0, 4, 5, 7}, {4, 1, 6, 8}, {5, 6, 2, 9}, {7, 8, 9, 3},
                                                {4, 5, 7, 8}, {6, 5, 4, 8}, {5, 7, 8, 9}, {8, 6, 5, 9}};
static __device__ const int segments[2][2] = {{0, 2}, {2, 1}};
static __device__ const int rotations[3][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}};

INLINE double product(double a, double b)
{
    return __dmul_rn(a, b);
}

INLINE double sum(double a, double b)
{
    return __dadd_rn(a, b);
}

/* The nodes of a cell, ascending; with 3 nodes the last is 2^31 - 1. */
INLINE void ascending(const int32_t *cell, int width, int32_t *v)
{
    UNROLL for (int k = 0; k < SIMPLEX_MOST; ++k)
        v[k] = k < width ? cell[k] : 0x7fffffff;
    UNROLL for (int last = SIMPLEX_MOST - 1; last > 0; --last)
        UNROLL for (int k = 0; k < last; ++k) {
            const int32_t low = v[k] < v[k + 1] ? v[k] : v[k + 1];
            v[k + 1] = v[k] < v[k + 1] ? v[k + 1] : v[k];
            v[k] = low;
        }
}

/* n: cells.  sizes: vertices of a cell.  counts [nodes]: of the edges to higher nodes, once for each cell */
extern "C" __global__ void count_ends(long long n, const int64_t *sizes, const int32_t *cells, uint32_t *counts)
{
    const int64_t i = element();
    const int width = (int)sizes[0];
    int32_t v[SIMPLEX_MOST];
    if (i >= n)
        return;
    ascending(cells + i * width, width, v);
    UNROLL for (int k = 0; k < SIMPLEX_MOST - 1; ++k)
        if (k < width - 1)
            atomicAdd(&counts[v[k]], (uint32_t)(width - 1 - k));
}

extern "C" __global__ void most_ends(long long n, const uint32_t *counts, uint32_t *longest)
{
    const int64_t i = element();
    if (i < n && counts[i] > longest[0]) /* rarely: reads are cheaper than atomic operations */
        atomicMax(longest, counts[i]);
}

/* In any order; counts become 0. */
extern "C" __global__ void list_ends(long long n, const int64_t *sizes, const int32_t *cells, const int64_t *start,
                                     uint32_t *counts, int32_t *ends)
{
    const int64_t i = element();
    const int width = (int)sizes[0];
    int32_t v[SIMPLEX_MOST];
    if (i >= n)
        return;
    ascending(cells + i * width, width, v);
    UNROLL for (int k = 0; k < SIMPLEX_MOST - 1; ++k) {
        if (k >= width - 1)
            continue;
        const uint32_t more = (uint32_t)(width - 1 - k);
        const int64_t first = start[v[k]] + atomicAdd(&counts[v[k]], 0u - more) - more;
        UNROLL for (int j = 1; j < SIMPLEX_MOST; ++j)
            if (j <= (int)more && k + j < SIMPLEX_MOST)
                ends[first + j - 1] = v[(k + j) % SIMPLEX_MOST];
    }
}

/* n: nodes.  Sort each list and remove duplicates; own [n]: one for the node and one for each edge */
extern "C" __global__ void sort_ends(long long n, const int64_t *start, int32_t *ends, uint32_t *own)
{
    const int64_t i = element();
    if (i >= n)
        return;
    own[i] = (uint32_t)(sort_once(ends + start[i], start[i + 1] - start[i]) + 1);
}

/* n: nodes.  sizes: vertices of a cell.  number [n + 1]: of each node in the refined mesh.  parents: of its nodes */
extern "C" __global__ void refine_nodes(long long n, const int64_t *sizes, const double *x, const int64_t *start,
                                        const int32_t *ends, const int64_t *number, double *out, int32_t *parents)
{
    const int64_t i = element(), d = sizes[0] - 1;
    if (i >= n)
        return;
    const int64_t first = number[i], count = number[i + 1] - first;
    for (int64_t e = 0; e < count; ++e) {
        const int64_t end = e > 0 ? ends[start[i] + e - 1] : i;
        for (int64_t k = 0; k < d; ++k)
            out[(first + e) * d + k] =
                e > 0 ? sum(product(0.5, x[i * d + k]), product(0.5, x[end * d + k])) : x[i * d + k];
        parents[2 * (first + e)] = (int32_t)i;
        parents[2 * (first + e) + 1] = (int32_t)end;
    }
}

/* What finds the numbers of midpoints. */
struct edge_lists {
    const int64_t *start, *number;
    const int32_t *ends;
};

INLINE int32_t midpoint(edge_lists lists, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    const int32_t *ends = lists.ends + lists.start[low];
    int first = 0, n = (int)(lists.number[low + 1] - lists.number[low]) - 1;
    while (n > 1) {
        const int half = n / 2;
        first += ends[first + half] <= high ? half : 0;
        n -= half;
    }
    return (int32_t)lists.number[low] + 1 + first;
}

/* Write the children of a simplex. */
template <int WIDTH> INLINE void put_children(edge_lists lists, const int32_t *nodes, const int *children, int32_t *out)
{
    constexpr int n_edges = WIDTH * (WIDTH - 1) / 2;
    int32_t vertices[WIDTH + n_edges];
    UNROLL for (int k = 0; k < WIDTH; ++k)
        vertices[k] = (int32_t)lists.number[nodes[k]];
    UNROLL for (int e = 0; e < n_edges; ++e)
        vertices[WIDTH + e] = midpoint(lists, nodes[edges[e][0]], nodes[edges[e][1]]);
    UNROLL for (int k = 0; k < WIDTH << (WIDTH - 1); ++k)
        out[k] = vertices[children[k]];
}

/* The rotation of a tetrahedron about vertex 0 that is best for its children: see fem/mesh/refine.c. */
INLINE int best_rotation(const double *x, const int32_t *nodes)
{
    double u[3][3], least = __longlong_as_double(0x7ff0000000000000ll); /* infinite */
    int best = 0;
    UNROLL for (int t = 0; t < 3; ++t)
        UNROLL for (int k = 0; k < 3; ++k)
            u[t][k] = sum(sum(sum(x[3 * (int64_t)nodes[0] + k], x[3 * (int64_t)nodes[rotations[t][2]] + k]),
                              -x[3 * (int64_t)nodes[rotations[t][1]] + k]),
                          -x[3 * (int64_t)nodes[rotations[t][3]] + k]);
    UNROLL for (int t = 0; t < 3; ++t) {
        const double *v = u[(t + 1) % 3], *w = u[(t + 2) % 3];
        const double own = sum(sum(product(u[t][0], u[t][0]), product(u[t][1], u[t][1])), product(u[t][2], u[t][2]));
        const double others = sum(sum(product(v[0], w[0]), product(v[1], w[1])), product(v[2], w[2]));
        const double cost = sum(product(5, own), product(2, others < 0 ? -others : others));
        if (cost < product(least, 1 - 1e-9)) { /* ignore rounding */
            least = cost;
            best = t;
        }
    }
    return best;
}

/* n: cells.  sizes: vertices of a cell.  out [n][2^d][vertices]; rotated: the vertices of tetrahedra in the order of
 * which their children were made; of triangles, the vertices */
extern "C" __global__ void refine_cells(long long n, const int64_t *sizes, const double *x, const int32_t *cells,
                                        const int64_t *start, const int32_t *ends, const int64_t *number, int32_t *out,
                                        int32_t *rotated)
{
    const int64_t i = element();
    const edge_lists lists = {start, number, ends};
    int32_t nodes[SIMPLEX_MOST], reoriented[SIMPLEX_MOST];
    if (i >= n)
        return;
    if (sizes[0] == 3) {
        UNROLL for (int k = 0; k < 3; ++k)
            rotated[3 * i + k] = nodes[k] = cells[3 * i + k];
        put_children<3>(lists, nodes, triangles[0], out + 12 * i);
        return;
    }
    UNROLL for (int k = 0; k < 4; ++k)
        nodes[k] = cells[4 * i + k];
    const int best = best_rotation(x, nodes);
    UNROLL for (int k = 0; k < 4; ++k) {
        reoriented[k] = best == 0 ? nodes[rotations[0][k]] : best == 1 ? nodes[rotations[1][k]] : nodes[rotations[2][k]];
        rotated[4 * i + k] = reoriented[k];
    }
    put_children<4>(lists, reoriented, tetrahedra[0], out + 32 * i);
}

/* n: facets.  sizes: vertices of a cell.  out [n][2^(d-1)][d] */
extern "C" __global__ void refine_facets(long long n, const int64_t *sizes, const int32_t *facets, const int64_t *start,
                                         const int32_t *ends, const int64_t *number, int32_t *out)
{
    const int64_t i = element();
    const edge_lists lists = {start, number, ends};
    if (i >= n)
        return;
    if (sizes[0] == 3)
        put_children<2>(lists, facets + 2 * i, segments[0], out + 4 * i);
    else
        put_children<3>(lists, facets + 3 * i, triangles[0], out + 12 * i);
}
