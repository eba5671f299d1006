/* Integrates a component of a function over the cells by a kernel of a GPU (kernels/setup/integrals.cu). */
#include "fem/base/memory.h"
#include "fem/element/element.h"
#include "fem/mesh/mesh.h"
#include "fem/space/private.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/setup/setup.h"

#include <stdlib.h>

/* BLOCK_CELLS: a thread block has as many at least */
enum { BLOCKS_MOST = 1024, BLOCK_CELLS = 1024, SIZES = 6 };

/* The functions of a Lagrange element of the map's degree interpolate the map. */
bool cells_integrate_on_device(const weft_space *space) {
    const weft_element *element = weft_space_element(space);
    return weft_setup_on_device(weft_space_device(space)) &&
           weft_family_about(element->family)->is_lattice &&
           element->degree >= (weft_space_mesh(space)->curve ? 2 : 1);
}

/* Where det J is constant, one point with the means of the functions. */
static void join_points(weft_quadrature *rule, int d, int width, double *table) {
    double all = 0;
    for (int p = 0; p < rule->n; ++p)
        all += rule->weights[p];
    for (int k = 0; k < width; ++k) {
        double mean = 0;
        for (int p = 0; p < rule->n; ++p)
            mean += rule->weights[p] * table[p * width + k] / all;
        table[k] = mean;
    }
    for (int a = 1; a <= d; ++a)
        for (int k = 0; k < width; ++k)
            table[a * width + k] = table[a * rule->n * width + k];
    rule->weights[0] = all;
    rule->n = 1;
}

typedef struct tables {
    weft_quadrature rule;
    double *table; /* [1 + d][points][width] */
    weft_memory *on_device, *weights;
} tables;

static void tables_clear(tables *t) {
    weft_quadrature_free(&t->rule);
    weft_memory_free(&t->on_device);
    weft_memory_free(&t->weights);
    free(t->table);
}

static weft_status tables_make(const weft_space *space, int degree, tables *t, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_space_device(space);
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    const size_t rows = (size_t)mesh->dimension + 1, width = (size_t)element->n_nodes;
    TRY(weft_quadrature_make(element->cell, WEFT_SCHEME_DEFAULT, degree, &t->rule, error));
    t->table = malloc(rows * (size_t)t->rule.n * width * sizeof *t->table);
    if (!t->table)
        TRY(weft_out_of_memory(error, "the integral of a function"));
    TRY(weft_element_tabulate(element, 1, t->rule.n, t->rule.points, t->table, error));
    if (weft_mesh_is_affine(mesh))
        join_points(&t->rule, mesh->dimension, element->n_nodes, t->table);
    TRY(weft_memory_place(device, t->table, rows * (size_t)t->rule.n * width, sizeof *t->table,
                          &t->on_device, error));
    TRY(weft_memory_place(device, t->rule.weights, (size_t)t->rule.n, sizeof *t->rule.weights,
                          &t->weights, error));
done:
    return status;
}

/* out  of the blocks' integrals and measures */
static void sum_blocks(double *sums, int64_t n, double out[2]) {
    double *integrals = sums + 2 * n;
    for (int k = 0; k < 2; ++k) {
        for (int64_t i = 0; i < n; ++i)
            integrals[i] = sums[2 * i + k];
        out[k] = weft_sum(integrals, n);
    }
}

weft_status cells_integrate(const weft_space *space, int degree, weft_memory *u, int64_t first,
                            double out[2], weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = weft_space_device(space);
    const weft_mesh *mesh = weft_space_mesh(space);
    const int lanes = weft_device_limits(device)->lanes_double;
    const int64_t blocks = (mesh->n_cells + BLOCK_CELLS - 1) / BLOCK_CELLS;
    const weft_setup_kernel kernel = {.file = "integrals",
                                      .name = "cell_integrals",
                                      .n = mesh->n_cells,
                                      .n_blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST};
    tables t = {.table = NULL};
    weft_setup *setup = NULL;
    weft_memory *sizes = NULL, *sums = NULL, *nodes = NULL; /* nodes: the space's */
    double values[3 * BLOCKS_MOST];
    TRY(weft_setup_make(device, &setup, error));
    TRY(tables_make(space, degree, &t, error));
    TRY(weft_connectivity_interleaved(weft_space_cells(space), lanes, &nodes, error));
    const int64_t numbers[SIZES] = {mesh->dimension, weft_space_element(space)->n_nodes,
                                    t.rule.n,        lanes,
                                    first,           u ? weft_space_components(space) : 0};
    TRY(weft_setup_numbers(setup, numbers, SIZES, &sizes, error));
    TRY(weft_memory_make(device, 2 * BLOCKS_MOST * sizeof *values, &sums, error));
    weft_memory *const arguments[] = {
        sizes, nodes, weft_space_coordinates(space), t.on_device, t.weights, u ? u : sums, sums};
    TRY(weft_setup_launch(setup, &kernel, arguments, 7, error));
    TRY(weft_memory_read(sums, 0, values, 2 * (size_t)kernel.n_blocks * sizeof *values, error));
    sum_blocks(values, kernel.n_blocks, out);
done:
    tables_clear(&t);
    weft_memory_free(&sizes);
    weft_memory_free(&sums);
    weft_setup_free(&setup);
    return status;
}
