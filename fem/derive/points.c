/* Points of a cell or facet: centre, quadrature, vertices, by their P1 shape functions. */
#include "fem/derive/private.h"
#include "fem/element/tables.h"

#include <stdlib.h>

enum { DEGREE = 4 }; /* of quadrature, as WEFT_LOAD_DEGREE */

/* Shape functions of the simplex of dimension k at xi; those beyond are 0. */
static void set_shape(int k, const double *xi, double shape[4]) {
    shape[0] = 1;
    for (int i = 0; i < k; ++i) {
        shape[i + 1] = xi[i];
        shape[0] -= xi[i];
    }
}

weft_status derive_points_make(int dimension, derive_elements elements, derive_points *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const int k = elements == DERIVE_CELLS ? dimension : dimension - 1;
    const double factorial = k == 3 ? 6 : k;
    double *xi = NULL, *weights = NULL, centre[3];
    weft_arena *arena = NULL;
    derive_points made = {.n_vertices = k + 1};
    TRY(weft_arena_make(&arena, error));
    TRY(weft_simplex_quadrature(arena, k, DEGREE, &made.n_quadrature, &xi, &weights, error));
    made.n = 1 + made.n_quadrature + made.n_vertices;
    made.shape = calloc((size_t)made.n, sizeof *made.shape);
    made.weights = calloc((size_t)made.n, sizeof *made.weights);
    if (!made.shape || !made.weights)
        TRY(weft_out_of_memory(error, "points of derived quantities"));
    for (int i = 0; i < k; ++i)
        centre[i] = 1.0 / (k + 1);
    set_shape(k, centre, made.shape[0]);
    for (int p = 0; p < made.n_quadrature; ++p) {
        set_shape(k, xi + p * k, made.shape[1 + p]);
        made.weights[1 + p] = factorial * weights[p];
    }
    for (int v = 0; v < made.n_vertices; ++v)
        made.shape[1 + made.n_quadrature + v][v] = 1;
    *out = made;
    made = (derive_points){0};
done:
    derive_points_free(&made);
    weft_arena_free(&arena);
    return status;
}

void derive_points_free(derive_points *points) {
    free(points->shape);
    free(points->weights);
    *points = (derive_points){0};
}

void derive_points_of(const derive_points *points, weft_derive_kind kind, int *first, int *n) {
    *first = kind == WEFT_DERIVE_FIELD      ? 0
             : kind == WEFT_DERIVE_INTEGRAL ? 1
                                            : 1 + points->n_quadrature;
    *n = kind == WEFT_DERIVE_FIELD      ? 1
         : kind == WEFT_DERIVE_INTEGRAL ? points->n_quadrature
                                        : points->n_vertices;
}
