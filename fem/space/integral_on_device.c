/* Integrates a component of a function over the cells by a kernel of a GPU (kernels/setup/integrals.cu). */
#include "fem/base/memory.h"
#include "fem/element/element.h"
#include "fem/mesh/map.h"
#include "fem/mesh/mesh.h"
#include "fem/space/private.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>

/* BLOCK_CELLS: a thread block has as many at least */
enum { BLOCKS_MOST = 1024, BLOCK_CELLS = 1024 };

/* The vertices, or the functions of a Lagrange element of the map's degree, interpolate the map. Where cells take so much memory that the device
 * may have lost them, they are not written there again. Ranks add what they own without rounding, on the host. */
bool cells_integrate_on_device(const weft_space *space) {
    const weft_element *element = weft_space_element(space);
    const weft_limits *limits = weft_device_limits(weft_space_device(space));
    const int64_t places = weft_space_mesh(space)->n_cells * element->n_nodes;
    return weft_setup_on_device(weft_space_device(space)) && !weft_space_mesh(space)->part &&
           weft_connectivity_ranges(limits, (size_t)places) == 1 &&
           weft_family_about(element->family)->is_lattice &&
           element->degree >= (weft_space_mesh(space)->curve ? 2 : 1);
}

/* What the kernel reads. */
typedef struct arguments {
    weft_memory *sizes, *table, *slopes, *weights, *sums;
} arguments;

static void arguments_clear(arguments *a) {
    weft_memory_free(&a->sizes);
    weft_memory_free(&a->table);
    weft_memory_free(&a->slopes);
    weft_memory_free(&a->weights);
    weft_memory_free(&a->sums);
}

/* The nodes whose functions interpolate the map of a cell are its first ones: the vertices of straight cells, where the element
 * has nodes there. */
static bool has_vertices(const weft_space *space) {
    return !weft_space_mesh(space)->curve && weft_element_has_vertices(weft_space_element(space));
}

/* Place the functions of an element, or their derivatives, at the points of a rule.
 *  slopes  the derivatives */
static weft_status send_table(const weft_space *space, const weft_element *element,
                              const weft_quadrature *rule, bool slopes, weft_memory **out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)(rule->n * element->n_nodes), d = (size_t)rule->dimension;
    double *table = malloc((1 + d) * n * sizeof *table);
    if (!table)
        TRY(weft_out_of_memory(error, "the integral of a function"));
    TRY(weft_element_tabulate(element, 1, rule->n, rule->points, table, error));
    TRY(weft_memory_place(weft_space_device(space), table + (slopes ? n : 0), slopes ? d * n : n,
                          sizeof *table, out, error));
done:
    free(table);
    return status;
}

static weft_status send_rule(const weft_space *space, const weft_quadrature *rule, arguments *a,
                             int64_t *n_map, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(space);
    weft_cell_map straight = {0};
    if (has_vertices(space))
        TRY(weft_cell_map_make(weft_space_mesh(space), &straight, error));
    const weft_element *map = straight.element ? straight.element : element;
    *n_map = map->n_nodes;
    TRY(send_table(space, element, rule, false, &a->table, error));
    TRY(send_table(space, map, rule, true, &a->slopes, error));
    TRY(weft_memory_place(weft_space_device(space), rule->weights, (size_t)rule->n,
                          sizeof *rule->weights, &a->weights, error));
done:
    weft_cell_map_clear(&straight);
    return status;
}

weft_status cells_integrate(const weft_space *space, int degree, weft_memory *u, int64_t first,
                            double out[2], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_space_device(space);
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    const int lanes = weft_device_limits(device)->lanes_double;
    const int64_t blocks = (mesh->n_cells + BLOCK_CELLS - 1) / BLOCK_CELLS;
    const weft_setup_kernel kernel = {.file = "integrals",
                                      .name = "cell_integrals",
                                      .n = mesh->n_cells,
                                      .n_blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST};
    weft_quadrature rule = {.n = 0};
    arguments a = {0};
    int64_t n_map = 0;
    weft_setup *setup = NULL;
    weft_memory *nodes = NULL; /* the space's */
    double sums[2 * BLOCKS_MOST];
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_quadrature_make(element->cell, WEFT_SCHEME_DEFAULT, degree, &rule, error));
    TRY(send_rule(space, &rule, &a, &n_map, error));
    TRY(weft_connectivity_interleaved(weft_space_cells(space), lanes, &nodes, error));
    const int64_t sizes[] = {mesh->dimension,
                             element->n_nodes,
                             rule.n,
                             lanes,
                             first,
                             u ? weft_space_components(space) : 0,
                             n_map};
    TRY(weft_setup_numbers(setup, sizes, sizeof sizes / sizeof *sizes, &a.sizes, error));
    TRY(weft_memory_make(device, sizeof sums, &a.sums, error));
    weft_memory *const list[] = {a.sizes,        nodes,    weft_space_coordinates(space),
                                 a.table,        a.slopes, a.weights,
                                 u ? u : a.sums, a.sums};
    TRY(weft_setup_launch(setup, &kernel, list, 8, error));
    TRY(weft_memory_read(a.sums, 0, sums, 2 * (size_t)kernel.n_blocks * sizeof *sums, error));
    out[0] = weft_sum(sums, kernel.n_blocks); /* integrals, then measures */
    out[1] = weft_sum(sums + kernel.n_blocks, kernel.n_blocks);
done:
    weft_quadrature_free(&rule);
    arguments_clear(&a);
    weft_setup_free(&setup);
    return status;
}
