/* Numbers and places the nodes of a space on a device (kernels/setup/nodes.cu). */
#include "fem/element/element.h"
#include "fem/space/private.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>

/* The entities of one dimension; vertices, too, but for their lists. */
typedef struct device_entities {
    weft_memory *sizes;        /* of the kernels */
    weft_memory *start, *keys; /* lists of the vertices, sorted */
    weft_memory *first;        /* [n_nodes + 1]: entities of lower vertices than each */
    int64_t n;
} device_entities;

typedef struct device_numbering {
    weft_setup *setup;
    weft_device *device;
    const weft_mesh *mesh;
    const weft_cell *cell;
    const weft_element *element;
    weft_memory *vertices, *own_vertices; /* of the cells; own: copied here */
    device_entities entities[4];          /* of the dimensions that have nodes */
    weft_device_nodes made;
} device_numbering;

static void entities_free(device_entities *entities) {
    weft_memory_free(&entities->sizes);
    weft_memory_free(&entities->start);
    weft_memory_free(&entities->keys);
    weft_memory_free(&entities->first);
}

void weft_device_nodes_free(weft_device_nodes *nodes) {
    weft_memory_free(&nodes->cells);
    weft_memory_free(&nodes->x);
}

static weft_status send(weft_device *device, const void *array, size_t bytes, weft_memory **out,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_make_unset(device, bytes, out, error));
    TRY(weft_memory_write(*out, 0, array, bytes, error));
done:
    return status;
}

/* ---- entities -------------------------------------------------------------------------------- */

/* The vertices of the entities of the reference cell, see kernels/setup/nodes.cu. */
static weft_status send_sizes(device_numbering *s, int dimension, weft_error *error) {
    enum { NUMBERS = 4 + 12 * 4 };
    int64_t sizes[NUMBERS] = {s->cell->n_entities[0], s->cell->n_entities[dimension]};
    int vertices[8], n = 0;
    for (int i = 0; i < s->cell->n_entities[dimension]; ++i) {
        n = weft_cell_entity(s->cell, dimension, i, vertices);
        for (int k = 0; k < n; ++k)
            sizes[4 + i * n + k] = vertices[k];
    }
    sizes[2] = n;
    sizes[3] = dimension == s->cell->dimension;
    return weft_setup_numbers(s->setup, sizes, NUMBERS, &s->entities[dimension].sizes, error);
}

/* The sorted lists of the vertices. */
static weft_status list_entities(device_numbering *s, int dimension, weft_error *error) {
    weft_status status = WEFT_OK;
    device_entities *e = &s->entities[dimension];
    const int64_t n_cells = s->mesh->n_cells, n_nodes = s->mesh->n_nodes;
    const size_t bytes = (size_t)n_nodes * sizeof(uint32_t);
    int64_t total = 0;
    weft_memory *counts = NULL;
    TRY(weft_memory_make(s->device, bytes, &counts, error));
    const weft_setup_kernel count = {"nodes", "count_entities", n_cells, 0, 0};
    TRY(weft_setup_launch(s->setup, &count, (weft_memory *[]){e->sizes, s->vertices, counts}, 3,
                          error));
    TRY(weft_setup_sums(s->setup, counts, n_nodes, &e->start, &total, error));
    TRY(weft_memory_make_unset(s->device, (size_t)total * sizeof(uint64_t), &e->keys, error));
    const weft_setup_kernel list = {"nodes", "list_entities", n_cells, 0, 0};
    weft_memory *const listed[] = {e->sizes, s->vertices, e->start, counts, e->keys};
    TRY(weft_setup_launch(s->setup, &list, listed, 5, error));
    const weft_setup_kernel sort = {"nodes", "sort_entities", n_nodes, 0, 0};
    TRY(weft_setup_launch(s->setup, &sort, (weft_memory *[]){e->start, e->keys, counts}, 3, error));
    TRY(weft_setup_sums(s->setup, counts, n_nodes, &e->first, &e->n, error));
done:
    weft_memory_free(&counts);
    return status;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The nodes on the entities of one dimension in the rows of the cells. */
static weft_status put_nodes(device_numbering *s, int dimension, weft_error *error) {
    weft_status status = WEFT_OK;
    device_entities *e = s->entities;
    const weft_element *element = s->element;
    const int *k = element->entity_nodes;
    const int64_t numbers[] = {dimension,
                               k[0],
                               k[1],
                               k[2],
                               k[3],
                               element->n_nodes,
                               weft_element_first_node(element, dimension, 0)};
    weft_node_permutations permutations = {0};
    weft_memory *layout = NULL, *from = NULL;
    TRY(weft_setup_numbers(s->setup, numbers, 7, &layout, error));
    if (dimension > 0 && dimension < s->cell->dimension) {
        TRY(weft_node_permutations_make(element, dimension, &permutations, error));
        TRY(send(s->device, permutations.from,
                 (size_t)(WEFT_NODE_ORDERS * permutations.n) * sizeof *permutations.from, &from,
                 error));
    }
    const weft_setup_kernel put = {"nodes", "put_nodes", s->mesh->n_cells, 0, 0};
    weft_memory *lists[] = {e[dimension].start, e[dimension].keys, e[1].first,
                            e[2].first,         e[3].first,        from};
    for (int i = 0; i < 6; ++i) /* those that are not read */
        lists[i] = lists[i] ? lists[i] : layout;
    weft_memory *const arguments[] = {e[dimension].sizes, layout,       s->vertices, lists[0],
                                      lists[1],           lists[2],     lists[3],    lists[4],
                                      lists[5],           s->made.cells};
    TRY(weft_setup_launch(s->setup, &put, arguments, 10, error));
done:
    free(permutations.from);
    weft_memory_free(&layout);
    weft_memory_free(&from);
    return status;
}

static weft_status alloc_cells(device_numbering *s, weft_error *error) {
    return weft_memory_make_unset(
        s->device, (size_t)s->mesh->n_cells * (size_t)s->element->n_nodes * sizeof(int32_t),
        &s->made.cells, error);
}

static weft_status number_shared(device_numbering *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = s->cell->dimension, *k = s->element->entity_nodes;
    s->made.n = s->mesh->n_nodes * k[0];
    for (int dimension = 0; dimension <= d; ++dimension) {
        if (k[dimension] == 0)
            continue;
        TRY(send_sizes(s, dimension, error));
        if (dimension > 0)
            TRY(list_entities(s, dimension, error));
        s->made.n += s->entities[dimension].n * k[dimension];
    }
    TRY(weft_nodes_check(s->mesh, s->made.n, error));
    TRY(alloc_cells(s, error));
    for (int dimension = 0; dimension <= d; ++dimension)
        if (k[dimension] > 0)
            TRY(put_nodes(s, dimension, error));
done:
    return status;
}

/* Elements whose nodes are inside the cells, or those of all cells. */
static weft_status number_inside(device_numbering *s, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t width = s->element->n_nodes, n = s->mesh->n_cells * width;
    const bool is_one = weft_family_about(s->element->family)->is_global;
    weft_memory *sizes = NULL;
    s->made.n = is_one ? width : n;
    TRY(weft_nodes_check(s->mesh, s->made.n, error));
    TRY(alloc_cells(s, error));
    TRY(weft_setup_numbers(s->setup, (int64_t[]){width, is_one}, 2, &sizes, error));
    const weft_setup_kernel own = {"nodes", "own_nodes", n, 0, 0};
    TRY(weft_setup_launch(s->setup, &own, (weft_memory *[]){sizes, s->made.cells}, 2, error));
done:
    weft_memory_free(&sizes);
    return status;
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* What places nodes: coordinates of the vertices, or of the points of curved cells. */
static weft_status send_places(const device_numbering *s, int n_functions, weft_memory **out,
                               weft_error *error) {
    const weft_mesh *mesh = s->mesh;
    const int64_t n = mesh->curve ? mesh->n_cells * n_functions : mesh->n_nodes;
    return send(s->device, mesh->curve ? mesh->curve : mesh->x,
                (size_t)(n * mesh->dimension) * sizeof(double), out, error);
}

/* copied  the coordinates of the vertices on the device, or NULL */
static weft_status place(device_numbering *s, weft_memory *copied, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = s->mesh;
    const int64_t n = s->made.n, width = s->element->n_nodes, n_cells = mesh->n_cells;
    double *shape = NULL;
    int v = 0;
    weft_memory *sizes = NULL, *functions = NULL, *sent = NULL, *owners = NULL;
    TRY(weft_nodes_map(mesh, (int)width, s->element->points, &shape, &v, error));
    const int64_t numbers[] = {width, mesh->dimension, v, mesh->curve != NULL};
    TRY(weft_setup_numbers(s->setup, numbers, 4, &sizes, error));
    TRY(send(s->device, shape, (size_t)(width * v) * sizeof *shape, &functions, error));
    if (!copied || mesh->curve)
        TRY(send_places(s, v, &sent, error));
    TRY(weft_memory_make(s->device, (size_t)n * sizeof(int32_t), &owners, error));
    TRY(weft_memory_make_unset(s->device, (size_t)(n * mesh->dimension) * sizeof(double),
                               &s->made.x, error));
    const weft_setup_kernel own = {"nodes", "node_owners", n_cells, 0, 0};
    TRY(weft_setup_launch(s->setup, &own, (weft_memory *[]){sizes, s->made.cells, owners}, 3,
                          error));
    const weft_setup_kernel put = {"nodes", "place_nodes", n_cells, 0, 0};
    weft_memory *const arguments[] = {sizes,         functions, s->vertices, sent ? sent : copied,
                                      s->made.cells, owners,    s->made.x};
    TRY(weft_setup_launch(s->setup, &put, arguments, 7, error));
done:
    free(shape);
    weft_memory_free(&sizes);
    weft_memory_free(&functions);
    weft_memory_free(&sent);
    weft_memory_free(&owners);
    return status;
}

weft_status weft_nodes_make_on_device(weft_device *device, const weft_mesh *mesh,
                                      const weft_mesh_copies *copies, const weft_element *element,
                                      weft_device_nodes *out, weft_error *error) {
    weft_status status = WEFT_OK;
    device_numbering s = {
        .device = device, .mesh = mesh, .cell = weft_mesh_cell(mesh), .element = element};
    s.vertices = copies ? copies->cells : NULL;
    TRY(weft_setup_make(device, &s.setup, error));
    if (!s.vertices)
        TRY(send(device, mesh->cells,
                 (size_t)(mesh->n_cells * s.cell->n_entities[0]) * sizeof *mesh->cells,
                 &s.own_vertices, error));
    s.vertices = s.vertices ? s.vertices : s.own_vertices;
    TRY(weft_element_is_shared(element) ? number_shared(&s, error) : number_inside(&s, error));
    for (int dimension = 0; dimension < 4; ++dimension) /* memory for the next step */
        entities_free(&s.entities[dimension]);
    TRY(place(&s, copies ? copies->x : NULL, error));
    *out = s.made;
    s.made = (weft_device_nodes){0};
done:
    for (int dimension = 0; dimension < 4; ++dimension)
        entities_free(&s.entities[dimension]);
    weft_device_nodes_free(&s.made);
    weft_memory_free(&s.own_vertices);
    weft_setup_free(&s.setup);
    return status;
}
