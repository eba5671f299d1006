/* The functionals of elements: their terms, their points, and their values for functions. */
#include "fem/element/family.h"

#include <stdlib.h>

weft_status weft_element_make_functionals(weft_element *e, int n_points, int n_terms,
                                          weft_error *error) {
    const size_t d = (size_t)weft_cell_of(e->cell)->dimension;
    weft_functionals *f = &e->functionals;
    f->n_points = n_points;
    f->points = calloc((size_t)n_points * d + 1, sizeof *f->points);
    f->first = calloc((size_t)e->n_nodes + 1, sizeof *f->first);
    f->point = calloc((size_t)n_terms + 1, sizeof *f->point);
    f->weights = calloc((size_t)(n_terms * e->value_size) + 1, sizeof *f->weights);
    return f->points && f->first && f->point && f->weights
               ? WEFT_OK
               : weft_out_of_memory(error, "the nodes of an element");
}

weft_status weft_element_make_values(weft_element *e, weft_error *error) {
    const weft_status status = weft_element_make_functionals(e, e->n_nodes, e->n_nodes, error);
    for (int i = 0; i < e->n_nodes && status == WEFT_OK; ++i) {
        e->functionals.first[i + 1] = i + 1;
        e->functionals.point[i] = i;
        e->functionals.weights[i] = 1;
    }
    return status;
}

weft_status weft_element_place_nodes(weft_element *e, weft_error *error) {
    const weft_functionals *f = &e->functionals;
    const int d = weft_cell_of(e->cell)->dimension;
    e->points = calloc((size_t)(e->n_nodes * d) + 1, sizeof *e->points);
    if (!e->points)
        return weft_out_of_memory(error, "the nodes of an element");
    e->is_pointwise = e->value_size == 1 && f->n_points == e->n_nodes;
    for (int i = 0; i < e->n_nodes; ++i) {
        const int n = f->first[i + 1] - f->first[i];
        for (int k = 0; k < n * d; ++k)
            e->points[i * d + k % d] += f->points[f->point[f->first[i] + k / d] * d + k % d] / n;
        e->is_pointwise =
            e->is_pointwise && n == 1 && f->point[f->first[i]] == i && f->weights[f->first[i]] == 1;
    }
    return WEFT_OK;
}

void weft_element_apply(const weft_element *element, const double *values, double *out) {
    const weft_functionals *f = &element->functionals;
    const int size = element->value_size;
    for (int i = 0; i < element->n_nodes; ++i) {
        out[i] = 0;
        for (int t = f->first[i]; t < f->first[i + 1]; ++t)
            for (int k = 0; k < size; ++k)
                out[i] += f->weights[t * size + k] * values[f->point[t] * size + k];
    }
}

weft_status weft_element_interpolate(const weft_element *from, const weft_element *to,
                                     double *table, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_functionals *f = &to->functionals;
    const int n = from->n_nodes, size = from->value_size;
    double *values = malloc(((size_t)f->n_points * (size_t)(n * size) + 1) * sizeof *values);
    if (size != to->value_size)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "interpolation of %d components in %d", size,
                           to->value_size));
    if (!values)
        TRY(weft_out_of_memory(error, "a table of an element"));
    TRY(weft_element_tabulate(from, 0, f->n_points, f->points, values, error));
    for (int i = 0; i < to->n_nodes; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int t = f->first[i]; t < f->first[i + 1]; ++t)
                for (int k = 0; k < size; ++k)
                    sum += f->weights[t * size + k] * values[(f->point[t] * n + j) * size + k];
            table[i * n + j] = sum;
        }
done:
    free(values);
    return status;
}
