/* Numbers edges, faces and cells of a mesh by their lowest vertex, and the nodes of a space on them; places the nodes
 * (fem/mesh/entities.c, fem/space/nodes.c). An entity is in the list of its lowest vertex, by its second and third
 * lowest ones; cells are by their number. No fused operations, as on the host. */
#define FEW_ENTITIES 96 /* in the list of a vertex, repetitions included */

/* sizes: vertices of a cell; entities of a cell; vertices of an entity; whether they are cells; then the vertices of
 * each entity of the reference cell */
INLINE int32_t vertex_of(const int64_t *sizes, const int32_t *cells, int64_t cell, int64_t entity, int64_t k)
{
    return cells[cell * sizes[0] + sizes[4 + entity * sizes[2] + k]];
}

/* The lowest vertex of an entity, and its key among those with this one. */
INLINE uint64_t entity_key(const int64_t *sizes, const int32_t *cells, int64_t cell, int64_t entity, int64_t *lowest)
{
    uint32_t a = 0xffffffffu, b = a, c = a;
    for (int64_t k = 0; k < sizes[2]; ++k) {
        const uint32_t v = (uint32_t)vertex_of(sizes, cells, cell, entity, k);
        c = v < b ? b : v < c ? v : c;
        b = v < a ? a : v < b ? v : b;
        a = v < a ? v : a;
    }
    *lowest = a;
    return sizes[3] ? (uint64_t)cell : (uint64_t)b << 32 | c;
}

/* n: cells.  counts [vertices]: of the entities whose lowest vertex it is, once for each cell */
extern "C" __global__ void count_entities(long long n, const int64_t *sizes, const int32_t *cells, uint32_t *counts)
{
    const int64_t i = element();
    int64_t lowest;
    if (i >= n)
        return;
    for (int64_t k = 0; k < sizes[1]; ++k) {
        (void)entity_key(sizes, cells, i, k, &lowest);
        atomicAdd(&counts[lowest], 1u);
    }
}

/* In any order; counts become 0. */
extern "C" __global__ void list_entities(long long n, const int64_t *sizes, const int32_t *cells, const int64_t *start,
                                         uint32_t *counts, uint64_t *keys)
{
    const int64_t i = element();
    int64_t lowest;
    if (i >= n)
        return;
    for (int64_t k = 0; k < sizes[1]; ++k) {
        const uint64_t key = entity_key(sizes, cells, i, k, &lowest);
        keys[start[lowest] + atomicAdd(&counts[lowest], ~0u) - 1] = key;
    }
}

/* sort_once of a long list. */
INLINE int64_t heap_keys(uint64_t *list, int64_t length)
{
    int64_t kept = 1;
    heap_sort(list, length);
    for (int64_t k = 1; k < length; ++k)
        if (list[k] != list[kept - 1])
            list[kept++] = list[k];
    return kept;
}

/* n: vertices.  own [n]: the entities of each */
extern "C" __global__ void sort_entities(long long n, const int64_t *start, uint64_t *keys, uint32_t *own)
{
    const int64_t i = element();
    if (i >= n)
        return;
    const int64_t length = start[i + 1] - start[i];
    own[i] = (uint32_t)(length > FEW_ENTITIES ? heap_keys(keys + start[i], length)
                                              : sort_once(keys + start[i], length));
}

/* Where the nodes on entities are. Of dimension k: nodes on each; entities of lower vertices than each vertex. */
struct node_layout {
    int64_t nodes[4];
    const int64_t *first[4];
};

/* The first node of an entity: after those of lower vertices, and those of entities of its lowest vertex that have lower
 * dimensions or numbers. */
INLINE int64_t first_node(const node_layout *layout, int dimension, int64_t vertex, int64_t number)
{
    int64_t at = 0;
    UNROLL for (int k = 0; k < 4; ++k) {
        const int64_t v = vertex + (k < dimension);
        at += (k == 0 ? v : layout->nodes[k] > 0 ? layout->first[k][v] : 0) * layout->nodes[k];
        at += k == dimension ? number * layout->nodes[k] : 0;
    }
    return at;
}

/* The first two vertices of an entity in the order of the vertices' numbers, as a number: see fem/space/nodes.c. */
INLINE int64_t order_code(const int64_t *sizes, const int32_t *cells, int64_t cell, int64_t entity)
{
    const int64_t n = sizes[2];
    int64_t first = 0, second = -1;
    for (int64_t k = 1; k < n; ++k)
        if (vertex_of(sizes, cells, cell, entity, k) < vertex_of(sizes, cells, cell, entity, first))
            first = k;
    for (int64_t k = 0; k < n; ++k) {
        const bool is_neighbour = n == 4 ? k == (first ^ 1) || k == (first ^ 2) : k != first;
        if (is_neighbour && (second < 0 || vertex_of(sizes, cells, cell, entity, k) <
                                               vertex_of(sizes, cells, cell, entity, second)))
            second = k;
    }
    return first * n + second;
}

/* The nodes on the entities of one dimension in the rows of the cells.  n: cells.  layout: the dimension; nodes on an
 * entity of dimension 0 to 3; nodes of a cell; the first of them on these entities.  start, keys: of the entities,
 * first_k [vertices + 1]: see node_layout.  from [order][nodes on an entity]: the place in the cell of each, by
 * order_code; not for cells and vertices.  out [n][nodes of a cell] */
extern "C" __global__ void put_nodes(long long n, const int64_t *sizes, const int64_t *layout, const int32_t *cells,
                                     const int64_t *start, const uint64_t *keys, const int64_t *first_1,
                                     const int64_t *first_2, const int64_t *first_3, const int32_t *from, int32_t *out)
{
    const int64_t i = element(), inside = layout[1 + layout[0]];
    const int dimension = (int)layout[0];
    const node_layout where = {{layout[1], layout[2], layout[3], layout[4]}, {0, first_1, first_2, first_3}};
    const int64_t *own = dimension == 1 ? first_1 : dimension == 2 ? first_2 : first_3;
    if (i >= n)
        return;
    for (int64_t k = 0; k < sizes[1]; ++k) {
        int64_t vertex, number = 0;
        const uint64_t key = entity_key(sizes, cells, i, k, &vertex);
        int32_t *row = out + i * layout[5] + layout[6] + k * inside;
        if (dimension > 0) {
            const uint64_t *list = keys + start[vertex];
            int64_t length = own[vertex + 1] - own[vertex];
            while (length > 1) {
                const int64_t half = length / 2;
                number += list[number + half] <= key ? half : 0;
                length -= half;
            }
        }
        const int64_t at = first_node(&where, dimension, vertex, number);
        const bool is_shared = dimension > 0 && !sizes[3];
        const int32_t *places = from + (is_shared ? order_code(sizes, cells, i, k) * inside : 0);
        for (int64_t j = 0; j < inside; ++j)
            row[is_shared ? places[j] : j] = (int32_t)(at + j);
    }
}

/* Nodes that no other cell has, or that all cells have.  n: nodes of all cells.  sizes: nodes of a cell; whether all
 * cells have them */
extern "C" __global__ void own_nodes(long long n, const int64_t *sizes, int32_t *out)
{
    const int64_t i = element();
    if (i < n)
        out[i] = (int32_t)(sizes[1] ? i % sizes[0] : i);
}

/* owners [nodes], zeros before: the last cell of each node.  n: cells.  sizes: nodes of a cell */
extern "C" __global__ void node_owners(long long n, const int64_t *sizes, const int32_t *nodes, int32_t *owners)
{
    const int64_t i = element();
    if (i >= n)
        return;
    for (int64_t k = 0; k < sizes[0]; ++k)
        if (owners[nodes[i * sizes[0] + k]] < i) /* reads are cheaper than atomic operations */
            atomicMax(&owners[nodes[i * sizes[0] + k]], (int32_t)i);
}

/* n: cells.  sizes: nodes of a cell; dimension; functions of the map from the reference cell; whether `places` has
 * their points for each cell, otherwise of each vertex.  shape [nodes of a cell][functions].  out [nodes][dimension] */
extern "C" __global__ void place_nodes(long long n, const int64_t *sizes, const double *shape, const int32_t *cells,
                                       const double *places, const int32_t *nodes, const int32_t *owners, double *out)
{
    const int64_t i = element(), width = sizes[0], d = sizes[1], v = sizes[2];
    if (i >= n)
        return;
    for (int64_t k = 0; k < width; ++k) {
        const int64_t node = nodes[i * width + k];
        for (int64_t axis = 0; axis < d && owners[node] == i; ++axis) {
            double sum = 0;
            for (int64_t f = 0; f < v; ++f) {
                const int64_t point = sizes[3] ? i * v + f : cells[i * v + f];
                sum = __dadd_rn(sum, __dmul_rn(shape[k * v + f], places[point * d + axis]));
            }
            out[node * d + axis] = sum;
        }
    }
}

/* The two coarser dofs whose mean each finer dof is, the lower one first, so that all cells write the same.
 * sizes: nodes of a cell of the finer functions, of the coarser, lanes, components; then for each finer node two
 * coarser ones of its cell */
extern "C" __global__ void list_parents(long long n, const int64_t *sizes, const int32_t *fines,
                                        const int32_t *coarses, int32_t *parents)
{
    const int64_t cell = element(), lanes = sizes[2], components = sizes[3];
    if (cell >= n)
        return;
    for (int64_t i = 0; i < sizes[0]; ++i) {
        const int64_t *pair = sizes + 4 + 2 * i;
        const int64_t dof = fines[place_of(cell, i, sizes[0], lanes)] * components;
        const int32_t a = coarses[place_of(cell, pair[0], sizes[1], lanes)];
        const int32_t b = coarses[place_of(cell, pair[1], sizes[1], lanes)];
        for (int64_t k = 0; k < components; ++k) {
            parents[2 * (dof + k)] = (int32_t)((a < b ? a : b) * components + k);
            parents[2 * (dof + k) + 1] = (int32_t)((a < b ? b : a) * components + k);
        }
    }
}
