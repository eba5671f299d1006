/* Registers the tables of quadrature rules and shape functions for kernel files. */
#include "fem/element/tables.h"
#include "fem/element/traces.h"

#include <string.h>

weft_status weft_simplex_quadrature(weft_arena *arena, int d, int degree, int *q, double **points,
                                    double **weights, weft_error *error) {
    static const weft_cell_type simplices[] = {WEFT_INTERVAL, WEFT_TRIANGLE, WEFT_TETRAHEDRON};
    weft_status status = WEFT_OK;
    weft_quadrature rule = {0};
    if (d < 1 || d > 3)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "quadrature exists on simplices of dimension 1, 2 and 3, not %d", d));
    TRY(weft_quadrature_make(simplices[d - 1], WEFT_SCHEME_DEFAULT, degree, &rule, error));
    const size_t n = (size_t)rule.n, size = n * (size_t)d;
    double *all_points = weft_arena_alloc(arena, size, sizeof *all_points);
    double *all_weights = weft_arena_alloc(arena, n, sizeof *all_weights);
    if (!all_points || !all_weights)
        TRY(weft_out_of_memory(error, "a quadrature rule"));
    memcpy(all_points, rule.points, size * sizeof *all_points);
    memcpy(all_weights, rule.weights, n * sizeof *all_weights);
    *q = rule.n;
    *points = all_points;
    *weights = all_weights;
done:
    weft_quadrature_free(&rule);
    return status;
}

static weft_status make_weights(void *user, const int *arguments, int n_arguments,
                                weft_arena *arena, weft_table *out, weft_error *error) {
    (void)user;
    (void)n_arguments;
    double *points = NULL;
    out->rank = 1;
    return weft_simplex_quadrature(arena, arguments[0], arguments[1], &out->sizes[0], &points,
                                   &out->values, error);
}

static weft_status make_points(void *user, const int *arguments, int n_arguments, weft_arena *arena,
                               weft_table *out, weft_error *error) {
    (void)user;
    (void)n_arguments;
    double *weights = NULL;
    out->rank = 2;
    out->sizes[1] = arguments[0];
    return weft_simplex_quadrature(arena, arguments[0], arguments[1], &out->sizes[0], &out->values,
                                   &weights, error);
}

static weft_status make_shape(void *user, const int *arguments, int n_arguments, weft_arena *arena,
                              weft_table *out, weft_error *error) {
    (void)user;
    (void)n_arguments;
    weft_status status = WEFT_OK;
    double *points = NULL, *weights = NULL;
    int d = arguments[0], q = 0;
    TRY(weft_simplex_quadrature(arena, d, arguments[1], &q, &points, &weights, error));
    double *shape = weft_arena_alloc(arena, (size_t)(d + 1) * (size_t)q, sizeof *shape);
    if (!shape)
        TRY(weft_out_of_memory(error, "a table of shape functions"));
    for (int p = 0; p < q; ++p) {
        double sum = 0;
        for (int i = 0; i < d; ++i) {
            shape[(i + 1) * q + p] = points[p * d + i];
            sum += points[p * d + i];
        }
        shape[p] = 1 - sum;
    }
    *out = (weft_table){.rank = 2, .sizes = {d + 1, q}, .values = shape};
done:
    return status;
}

weft_status weft_tables_register(weft_library *library, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_library_add_table(library, "simplex_weights", 2, make_weights, NULL, error));
    TRY(weft_library_add_table(library, "simplex_points", 2, make_points, NULL, error));
    TRY(weft_library_add_table(library, "simplex_shape", 2, make_shape, NULL, error));
    TRY(weft_traces_register(library, error));
done:
    return status;
}
