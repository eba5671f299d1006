/* Numbers the nodes of a space on vertices, edges, faces and cells, and places them.
 *
 * Decision  docs/decisions/0031-cells-are-not-sorted.md */
#include "core/base/fault.h"
#include "fem/element/element.h"
#include "fem/space/private.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 256 };

typedef struct numbering {
    weft_device *device;
    const weft_mesh *mesh;
    const weft_cell *cell;
    const weft_element *element;
    weft_entities entities[4];              /* of dimension 1 to d, where they have nodes */
    weft_node_permutations permutations[3]; /* of edges and faces */
    int32_t *cells;
    int64_t n_nodes;
} numbering;

/* ---- order of the nodes on shared entities --------------------------------------------------- */

/* The vertices of an entity in the order of their node numbers: ascending on simplices; on
 * quadrilaterals the lowest, the lower of its neighbours, the other one, the opposite one. */
static void sort_vertices(const weft_cell *entity, const int32_t *nodes, int order[4]) {
    const int n = entity->n_entities[0];
    for (int i = 0; i < n; ++i) {
        order[i] = i;
        for (int k = i; entity->simplex && k > 0 && nodes[order[k]] < nodes[order[k - 1]]; --k) {
            const int swapped = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swapped;
        }
    }
    if (entity->simplex)
        return;
    for (int i = 1; i < n; ++i)
        if (nodes[i] < nodes[order[0]])
            order[0] = i;
    const int a = order[0] ^ 1, b = order[0] ^ 2;
    order[1] = nodes[a] < nodes[b] ? a : b;
    order[2] = nodes[a] < nodes[b] ? b : a;
    order[3] = order[0] ^ 3;
}

/* The first two vertices tell an order of an interval, triangle or quadrilateral. */
static int order_code(int n_vertices, const int order[4]) {
    return order[0] * n_vertices + order[1];
}

/* Tabulated from the orders that node numbers 0 .. n - 1 can have. */
weft_status weft_node_permutations_make(const weft_element *element, int dimension,
                                        weft_node_permutations *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *entity =
        weft_cell_of(weft_cell_entity_type(weft_cell_of(element->cell), dimension));
    const int n = entity->n_entities[0], inside = element->entity_nodes[dimension];
    double *points = malloc((size_t)(inside * dimension) * sizeof *points);
    int *nodes = malloc((size_t)inside * sizeof *nodes);
    *out = (weft_node_permutations){.n = inside};
    out->from = calloc((size_t)WEFT_NODE_ORDERS * (size_t)inside + 1, sizeof *out->from);
    if (!out->from || !points || !nodes)
        TRY(weft_out_of_memory(error, "the nodes of a space"));
    for (int i = 0; i < inside; ++i)
        nodes[i] = weft_element_first_node(element, dimension, 0) + i;
    weft_element_points_on(element, dimension, 0, inside, nodes, points);
    for (int first = 0; first < n; ++first)
        for (int second = 0; second < n; ++second) {
            int32_t numbers[4] = {2, 3, 4, 5};
            int order[4];
            numbers[first] = 0;
            numbers[second] = first == second ? 0 : 1;
            sort_vertices(entity, numbers, order);
            if (order[0] == first && order[1] == second &&
                weft_points_permute(entity, inside, points, order, nodes))
                memcpy(out->from + order_code(n, order) * inside, nodes,
                       (size_t)inside * sizeof *nodes);
        }
done:
    free(points);
    free(nodes);
    return status;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int64_t entities_below(const numbering *s, int dimension, int64_t vertex) {
    const int32_t *first = s->entities[dimension].first;
    return dimension == 0 ? vertex : first ? first[vertex] : 0;
}

/* The first node of an entity whose lowest vertex this is: after all nodes of lower vertices, and
 * after those of its own entities of lower dimensions. */
static int64_t entity_start(const numbering *s, int32_t vertex, int dimension, int64_t entity) {
    const int *k = s->element->entity_nodes;
    int64_t start = 0;
    for (int lower = 0; lower <= s->cell->dimension; ++lower)
        start += entities_below(s, lower, vertex + (lower < dimension)) * k[lower];
    return start + (entity - entities_below(s, dimension, vertex)) * k[dimension];
}

static void put_entity(const numbering *s, int64_t cell, int dimension, int local, int32_t *row) {
    const int inside = s->element->entity_nodes[dimension];
    int32_t nodes[8];
    const int n = weft_entity_nodes(s->mesh, cell, dimension, local, nodes);
    int32_t least = nodes[0];
    for (int i = 1; i < n; ++i)
        least = nodes[i] < least ? nodes[i] : least;
    const weft_entities *entities = &s->entities[dimension];
    const int64_t entity =
        dimension == 0 ? least : entities->number[cell * entities->per_cell + local];
    const int64_t start = entity_start(s, least, dimension, entity);
    int32_t *out = row + weft_element_first_node(s->element, dimension, local);
    const int32_t *from = NULL;
    if (dimension > 0 && dimension < s->cell->dimension && s->permutations[dimension].from) {
        int order[4];
        sort_vertices(weft_cell_of(weft_cell_entity_type(s->cell, dimension)), nodes, order);
        from = s->permutations[dimension].from + order_code(n, order) * inside;
    }
    if (weft_fault(dimension == 1 ? "edge_swapped" : "face_rotated"))
        from = NULL;
    for (int i = 0; i < inside; ++i)
        out[from ? from[i] : i] = (int32_t)(start + i);
}

static void put_chunk(void *user, int64_t chunk) {
    const numbering *s = user;
    const int64_t n = s->mesh->n_cells, end = n * (chunk + 1) / CHUNKS;
    for (int64_t c = n * chunk / CHUNKS; c < end; ++c)
        for (int dimension = 0; dimension <= s->cell->dimension; ++dimension)
            for (int i = 0; i < s->cell->n_entities[dimension]; ++i)
                if (s->element->entity_nodes[dimension] > 0)
                    put_entity(s, c, dimension, i, s->cells + c * s->element->n_nodes);
}

/* Elements whose nodes are inside the cells, or those of all cells. */
static void put_inside(numbering *s) {
    const int64_t width = s->element->n_nodes, n = s->mesh->n_cells * width;
    const bool is_one = weft_family_about(s->element->family)->is_global;
    for (int64_t i = 0; i < n; ++i)
        s->cells[i] = (int32_t)(is_one ? i % width : i);
}

weft_status weft_nodes_check(const weft_mesh *mesh, int64_t n, weft_error *error) {
    if (n <= INT32_MAX)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s: the space has %lld nodes", mesh->source,
                   (long long)n);
    weft_error_hint(error, "at most 2^31 - 1 are supported: use a coarser mesh or a lower degree");
    return WEFT_ERROR_UNSUPPORTED;
}

/* The entities that have nodes, the permutations of their nodes, and the number of nodes. */
static weft_status prepare(numbering *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = s->cell->dimension, *k = s->element->entity_nodes;
    int64_t n = s->mesh->n_nodes * k[0];
    if (s->element->map != WEFT_MAP_IDENTITY && !s->mesh->is_sorted)
        TRY(weft_error_refuse(
            error, WEFT_ERROR_USAGE,
            "functions with continuous tangential or normal components need cells "
            "whose vertices ascend",
            "make the space by a problem, which sorts them"));
    if (!weft_element_is_shared(s->element)) {
        n = (weft_family_about(s->element->family)->is_global ? 1 : s->mesh->n_cells) *
            s->element->n_nodes;
    } else {
        for (int dimension = 1; dimension <= d; ++dimension) {
            if (k[dimension] == 0)
                continue;
            TRY(weft_entities_make(s->device, s->mesh, dimension, &s->entities[dimension], error));
            if (dimension < d && s->element->map == WEFT_MAP_IDENTITY)
                TRY(weft_node_permutations_make(s->element, dimension, &s->permutations[dimension],
                                                error));
            n += s->entities[dimension].n * k[dimension];
        }
    }
    TRY(weft_nodes_check(s->mesh, n, error));
    s->n_nodes = n;
done:
    return status;
}

weft_status weft_nodes_number(weft_device *device, const weft_mesh *mesh,
                              const weft_element *element, int32_t **cells, int64_t *n_nodes,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    numbering s = {
        .device = device, .mesh = mesh, .cell = weft_mesh_cell(mesh), .element = element};
    TRY(prepare(&s, error));
    s.cells = weft_array_make((size_t)mesh->n_cells * (size_t)element->n_nodes, sizeof *s.cells);
    if (!s.cells)
        TRY(weft_out_of_memory(error, "the nodes of a space"));
    if (weft_element_is_shared(element))
        TRY(weft_device_for(device, CHUNKS, put_chunk, &s, error));
    else
        put_inside(&s);
    *cells = s.cells;
    *n_nodes = s.n_nodes;
    s.cells = NULL;
done:
    for (int dimension = 1; dimension < 4; ++dimension)
        weft_entities_free(&s.entities[dimension]);
    for (int dimension = 1; dimension < 3; ++dimension)
        free(s.permutations[dimension].from);
    free(s.cells);
    return status;
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* What cells place nodes by. */
typedef struct placing {
    const weft_mesh *mesh;
    int width, v;        /* points; functions of the map */
    const double *shape; /* [width][v] at the points */
    const int32_t *cells;
    int32_t *owners; /* the last cell of each node, which places it: others differ by rounding */
    double *x;
} placing;

static void own_chunk(void *user, int64_t chunk) {
    const placing *p = user;
    const int64_t n = p->mesh->n_cells, end = n * (chunk + 1) / CHUNKS;
    for (int64_t c = n * chunk / CHUNKS; c < end; ++c)
        for (int i = 0; i < p->width; ++i) {
            int32_t *owner = &p->owners[p->cells[c * p->width + i]];
            int32_t found = __atomic_load_n(owner, __ATOMIC_RELAXED);
            while (found < c && !__atomic_compare_exchange_n(owner, &found, (int32_t)c, false,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                ;
        }
}

static void place_cell(const placing *p, int64_t c) {
    const weft_mesh *mesh = p->mesh;
    const int d = mesh->dimension, v = p->v;
    double corners[27 * 3];
    const double *places = mesh->curve ? mesh->curve + c * v * d : corners;
    for (int k = 0; k < v && !mesh->curve; ++k)
        memcpy(corners + k * d, mesh->x + (int64_t)mesh->cells[c * v + k] * d,
               (size_t)d * sizeof *corners);
    for (int i = 0; i < p->width; ++i) {
        const int64_t node = p->cells[c * p->width + i];
        double *out = p->x + node * d;
        for (int axis = 0; axis < d && p->owners[node] == c; ++axis) {
            double sum = 0;
            for (int k = 0; k < v; ++k)
                sum += p->shape[i * v + k] * places[k * d + axis];
            out[axis] = sum;
        }
    }
}

static void place_chunk(void *user, int64_t chunk) {
    const placing *p = user;
    const int64_t n = p->mesh->n_cells, end = n * (chunk + 1) / CHUNKS;
    for (int64_t c = n * chunk / CHUNKS; c < end; ++c)
        place_cell(p, c);
}

weft_status weft_nodes_map(const weft_mesh *mesh, int width, const double *points, double **shape,
                           int *n_functions, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_element *geometry = NULL;
    double *made = NULL;
    TRY(weft_element_make(WEFT_LAGRANGE, weft_mesh_cell(mesh)->type, mesh->curve ? 2 : 1, &geometry,
                          error));
    made = malloc((size_t)(width * geometry->n_nodes) * sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "the coordinates of a space"));
    TRY(weft_element_tabulate(geometry, 0, width, points, made, error));
    *n_functions = geometry->n_nodes;
    *shape = made;
    made = NULL;
done:
    weft_element_free(&geometry);
    free(made);
    return status;
}

weft_status weft_nodes_place(weft_device *device, const weft_mesh *mesh, int width,
                             const double *points, const int32_t *cells, int64_t n, double **x,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t d = (size_t)mesh->dimension;
    double *made = NULL, *shape = NULL;
    int32_t *owners = weft_array_make((size_t)n, sizeof *owners);
    int n_functions = 0;
    TRY(weft_nodes_map(mesh, width, points, &shape, &n_functions, error));
    made = weft_array_make((size_t)n * d, sizeof *made);
    if (!made || !owners)
        TRY(weft_out_of_memory(error, "the coordinates of a space"));
    placing all = {mesh, width, n_functions, shape, cells, owners, made};
    TRY(weft_device_for(device, CHUNKS, own_chunk, &all, error));
    TRY(weft_device_for(device, CHUNKS, place_chunk, &all, error));
    *x = made;
    made = NULL;
done:
    free(made);
    free(owners);
    free(shape);
    return status;
}
