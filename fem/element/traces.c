/* Tables of the functions of an element on the base facet of its cell, on which the last reference coordinate is 0. */
#include "fem/element/traces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Functions that vanish on a facet are zero there up to rounding, and those of nodes on it are 1 somewhere. */
static const double VANISHES = 1e-6;

/* The points of the facet's rule, in the cell. */
typedef struct facet_rule {
    int n, d;
    double *points; /* [n][d] */
    double *weights;
} facet_rule;

static void clear_rule(facet_rule *rule) {
    free(rule->points);
    free(rule->weights);
}

static weft_status make_rule(int cell, int degree, facet_rule *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_quadrature rule = {0};
    if (cell < WEFT_INTERVAL || cell >= WEFT_CELL_TYPES)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "%d is not a type of cells with facets", cell));
    const weft_cell *reference = weft_cell_of((weft_cell_type)cell);
    const int d = reference->dimension;
    TRY(weft_quadrature_make(reference->facet, WEFT_SCHEME_DEFAULT, degree, &rule, error));
    out->n = rule.n;
    out->d = d;
    out->points = calloc((size_t)(rule.n * d), sizeof *out->points);
    out->weights = calloc((size_t)rule.n, sizeof *out->weights);
    if (!out->points || !out->weights)
        TRY(weft_out_of_memory(error, "a quadrature rule"));
    for (int p = 0; p < rule.n; ++p)
        for (int a = 0; a < d - 1; ++a)
            out->points[p * d + a] = rule.points[p * (d - 1) + a];
    memcpy(out->weights, rule.weights, (size_t)rule.n * sizeof *out->weights);
done:
    weft_quadrature_free(&rule);
    return status;
}

/* [1 + d, or 1][points][functions]; caller's; free() */
static weft_status tabulate(const weft_element *element, int order, const facet_rule *rule,
                            double **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int rows = weft_derivative_count(rule->d, order);
    double *values = calloc((size_t)(rows * rule->n * element->n_nodes), sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "a table of functions on facets"));
    TRY(weft_element_tabulate(element, order, rule->n, rule->points, values, error));
    *out = values;
    values = NULL;
done:
    free(values);
    return status;
}

weft_status weft_trace_functions(const weft_element *element, int *functions, int *n,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    facet_rule rule = {0};
    double *values = NULL;
    *n = 0;
    TRY(make_rule(element->cell, 2 * element->degree + 1, &rule, error));
    TRY(tabulate(element, 0, &rule, &values, error));
    for (int i = 0; i < element->n_nodes; ++i) {
        double greatest = 0;
        for (int p = 0; p < rule.n; ++p)
            greatest = fmax(greatest, fabs(values[p * element->n_nodes + i]));
        if (greatest > VANISHES)
            functions[(*n)++] = i;
    }
done:
    clear_rule(&rule);
    free(values);
    return status;
}

/* ---- tables ------------------------------------------------------------------------------ */

typedef struct trace {
    weft_element *element;
    facet_rule rule;
    int *functions; /* [n] */
    int n;
} trace;

static void clear_trace(trace *t) {
    weft_element_free(&t->element);
    clear_rule(&t->rule);
    free(t->functions);
}

static weft_status make_trace(weft_family family, int cell, int k, int degree, trace *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make_rule(cell, degree, &out->rule, error));
    TRY(weft_element_make(family, (weft_cell_type)cell, k, &out->element, error));
    out->functions = calloc((size_t)out->element->n_nodes, sizeof *out->functions);
    if (!out->functions)
        TRY(weft_out_of_memory(error, "a table of functions on facets"));
    TRY(weft_trace_functions(out->element, out->functions, &out->n, error));
done:
    return status;
}

/* Values, or slopes along the facet, at the points of the facet's rule. */
static weft_status make_table(const trace *t, bool slopes, weft_arena *arena, weft_table *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int q = t->rule.n, width = t->element->n_nodes;
    const int first = slopes, rows = slopes && t->rule.d > 1 ? t->rule.d - 1 : 1;
    double *values = NULL;
    *out = slopes ? (weft_table){.rank = 3, .sizes = {rows, t->n, q}}
                  : (weft_table){.rank = 2, .sizes = {t->n, q}};
    out->values = weft_arena_alloc(arena, (size_t)(rows * t->n * q), sizeof *out->values);
    if (!out->values)
        TRY(weft_out_of_memory(error, "a table of functions on facets"));
    TRY(tabulate(t->element, slopes, &t->rule, &values, error));
    for (int r = 0; r < rows; ++r)
        for (int i = 0; i < t->n; ++i)
            for (int p = 0; p < q; ++p)
                out->values[(r * t->n + i) * q + p] =
                    values[((first + r) * q + p) * width + t->functions[i]];
done:
    free(values);
    return status;
}

static weft_status make_weights(void *user, const int *arguments, int n_arguments,
                                weft_arena *arena, weft_table *out, weft_error *error) {
    (void)user;
    (void)n_arguments;
    weft_status status = WEFT_OK;
    facet_rule rule = {0};
    TRY(make_rule(arguments[0], arguments[1], &rule, error));
    *out = (weft_table){.rank = 1, .sizes = {rule.n}};
    out->values = weft_arena_alloc(arena, (size_t)rule.n, sizeof *out->values);
    if (!out->values)
        TRY(weft_out_of_memory(error, "a quadrature rule"));
    memcpy(out->values, rule.weights, (size_t)rule.n * sizeof *out->values);
done:
    clear_rule(&rule);
    return status;
}

static weft_status make_shape(void *user, const int *arguments, int n_arguments, weft_arena *arena,
                              weft_table *out, weft_error *error) {
    (void)user;
    (void)n_arguments;
    weft_status status = WEFT_OK;
    trace t = {0};
    TRY(make_trace((weft_family)arguments[1], arguments[0], arguments[2], arguments[3], &t, error));
    TRY(make_table(&t, false, arena, out, error));
done:
    clear_trace(&t);
    return status;
}

static weft_status make_slopes(void *user, const int *arguments, int n_arguments, weft_arena *arena,
                               weft_table *out, weft_error *error) {
    (void)user;
    (void)n_arguments;
    weft_status status = WEFT_OK;
    trace t = {0};
    TRY(make_trace(WEFT_LAGRANGE, arguments[0], arguments[1], arguments[2], &t, error));
    TRY(make_table(&t, true, arena, out, error));
done:
    clear_trace(&t);
    return status;
}

weft_status weft_traces_register(weft_library *library, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_library_add_table(library, "trace_weights", 2, make_weights, NULL, error));
    TRY(weft_library_add_table(library, "trace_shape", 4, make_shape, NULL, error));
    TRY(weft_library_add_table(library, "trace_slopes", 3, make_slopes, NULL, error));
done:
    return status;
}
