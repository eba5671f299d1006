/* Sums the values of elements to integrals, and finds extrema and their places. */
#include "fem/derive/tabulated.h"

#include <math.h>
#include <stdlib.h>

/* The number, in the lists, of element i of a quantity. */
static int64_t element_of(const weft_derive *derive, const derive_quantity *quantity, int64_t i) {
    const weft_mesh *mesh = weft_space_mesh(derive->problem.space);
    if (quantity->elements == DERIVE_CELLS && !quantity->is_whole)
        return mesh->group_cells[quantity->first + i];
    return quantity->first + i;
}

/* Sum component k over the elements; in place of the first entries of the list. */
static double sum_component(const weft_derive *derive, const derive_quantity *quantity, int k) {
    const int c = quantity->n_components;
    const double *list = quantity->lists[0];
    double *values = quantity->lists[1];
    for (int64_t i = 0; i < quantity->n; ++i)
        values[i] = list[element_of(derive, quantity, i) * c + k];
    return weft_sum(values, quantity->n);
}

static void set_place(const weft_derive *derive, const derive_quantity *quantity, int64_t element,
                      int vertex, double out[3]) {
    if (derive->tabulated) {
        derive_tabulated_place(derive, quantity->elements, DERIVE_LATTICE, element, vertex, out);
        return;
    }
    const weft_mesh *mesh = weft_space_mesh(derive->problem.space);
    const int d = mesh->dimension;
    const int32_t *nodes = quantity->elements == DERIVE_CELLS
                               ? mesh->cells + element * (d + 1)
                               : derive->parts[DERIVE_FACETS].cell_nodes + element * (d + 1);
    for (int k = 0; k < d; ++k)
        out[k] = mesh->x[(int64_t)nodes[vertex] * d + k];
}

static void find_extrema(const weft_derive *derive, const derive_quantity *quantity,
                         weft_derived_value *out) {
    out->least = INFINITY;
    out->greatest = -INFINITY;
    for (int64_t i = 0; i < quantity->n; ++i)
        for (int v = 0; v < quantity->n_lists; ++v) {
            const int64_t element = element_of(derive, quantity, i);
            const double value = quantity->lists[v][element];
            if (isnan(value)) {
                out->least = out->greatest = NAN;
                return;
            }
            if (value < out->least) {
                out->least = value;
                set_place(derive, quantity, element, v, out->least_at);
            }
            if (value > out->greatest) {
                out->greatest = value;
                set_place(derive, quantity, element, v, out->greatest_at);
            }
        }
}

void derive_value_compute(const weft_derive *derive, const derive_quantity *quantity,
                          weft_derived_value *out) {
    *out = (weft_derived_value){.name = quantity->given.name,
                                .group = quantity->given.group,
                                .kind = quantity->given.kind,
                                .n_components = quantity->n_components,
                                .least = NAN,
                                .greatest = NAN};
    if (quantity->given.kind == WEFT_DERIVE_EXTREMA) {
        find_extrema(derive, quantity, out);
        return;
    }
    for (int k = 0; k < quantity->n_components; ++k)
        out->integral[k] = sum_component(derive, quantity, k);
}
