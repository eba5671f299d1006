/* Integrals, errors and values of u, whose functions may be of any elements, with enrichments. */
#include "fem/problem/solution.h"
#include "fem/base/memory.h"
#include "fem/form/vectors.h"
#include "fem/space/space.h"
#include "fem/space/vectors.h"

#include <math.h>
#include <stdlib.h>

const weft_problem_field *weft_solution_field(const weft_solution *u, int value) {
    int i = 0;
    while (i + 1 < u->n_fields &&
           (u->fields[i].is_enrichment ||
            value >= u->fields[i].first_value + weft_space_values_of(u->fields[i].space)))
        ++i;
    return &u->fields[i];
}

/* Of an enriched function dofs are values at nodes, those of bubbles too: as a term a bubble has what the function before
 * lacks there. */
weft_status weft_solution_term(const weft_solution *u, int i, double **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_field *field = &u->fields[i];
    const int c = weft_space_components(field->space);
    const int64_t n = weft_space_dofs(field->space);
    const double *own = u->values + field->first_dof;
    double *values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, NULL));
    if (field->is_enrichment)
        TRY(weft_space_interpolate(u->fields[i - 1].space, u->values + u->fields[i - 1].first_dof,
                                   c, field->space, values, error));
    for (int64_t k = 0; k < n; ++k)
        values[k] = own[k] - values[k];
    *out = values;
    values = NULL;
done:
    free(values);
    return status;
}

/* The last of the field `first` and its enrichments. */
static int find_last(const weft_solution *u, int first) {
    int last = first;
    while (last + 1 < u->n_fields && u->fields[last + 1].is_enrichment)
        ++last;
    return last;
}

/* A component's function: its field, or with enrichments one in a Lagrange space that contains all of its terms. */
typedef struct whole_function {
    const weft_space *space;
    weft_space *own;      /* NULL: the field's */
    const double *values; /* [nodes][components] */
    double *sum;
} whole_function;

static void whole_clear(whole_function *whole) {
    weft_space_free(&whole->own);
    free(whole->sum);
}

static weft_status whole_make(const weft_solution *u, int k, whole_function *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_field *field = weft_solution_field(u, k);
    const int first = (int)(field - u->fields), last = find_last(u, first);
    const int c = weft_space_values_of(field->space);
    const weft_space *spaces[WEFT_VALUES_MAX];
    double *term = NULL;
    *out = (whole_function){.space = field->space, .values = u->values + field->first_dof};
    if (last == first && !weft_space_is_mapped(field->space))
        goto done;
    for (int i = first; i <= last; ++i)
        spaces[i - first] = u->fields[i].space;
    TRY(weft_space_make(u->context->device, u->mesh, weft_space_lattice(spaces, last - first + 1),
                        c, &out->own, error));
    out->sum = weft_array_make((size_t)weft_space_dofs(out->own), sizeof *out->sum);
    if (!out->sum)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = first; i <= last; ++i) {
        TRY(weft_solution_term(u, i, &term, error));
        TRY(weft_space_interpolate(u->fields[i].space, term, c, out->own, out->sum, error));
        free(term);
        term = NULL;
    }
    out->space = out->own;
    out->values = out->sum;
done:
    free(term);
    return status;
}

/* ---- integrals --------------------------------------------------------------------------- */

weft_status weft_solution_integral(const weft_solution *u, int k, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int first = (int)(weft_solution_field(u, k) - u->fields), last = find_last(u, first);
    double *term = NULL, sum = 0;
    whole_function whole = {.space = NULL};
    if (weft_space_is_mapped(u->fields[first].space)) {
        TRY(whole_make(u, k, &whole, error));
        TRY(weft_space_integral(whole.space, whole.values, k - u->fields[first].first_value, out,
                                error));
        goto done;
    }
    for (int i = first; i <= last; ++i) {
        const weft_problem_field *field = &u->fields[i];
        weft_space_values values = {u->values + field->first_dof, u->memory, field->first_dof};
        double part = 0;
        if (i > first) {
            TRY(weft_solution_term(u, i, &term, error));
            values = (weft_space_values){.values = term};
        }
        TRY(weft_space_integral_of(field->space, &values, k - u->fields[first].first_value, &part,
                                   error));
        free(term);
        term = NULL;
        sum += part;
    }
    *out = sum;
done:
    whole_clear(&whole);
    free(term);
    return status;
}

/* ---- errors ------------------------------------------------------------------------------ */

weft_status weft_solution_errors(const weft_solution *u, int k, const char *exact,
                                 const char *origin, double t, double squares[2],
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    whole_function whole = {.space = NULL};
    TRY(whole_make(u, k, &whole, error));
    TRY(weft_space_errors_of(u->context, whole.space, whole.values,
                             k - weft_solution_field(u, k)->first_value,
                             &(weft_exact){exact, origin, t}, squares, error));
done:
    whole_clear(&whole);
    return status;
}

/* ---- values and sums --------------------------------------------------------------------- */

weft_status weft_solution_evaluate(const weft_solution *u, const weft_cell_points *at, double *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    double *term = NULL;
    for (int64_t i = 0; i < at->n * u->n_values; ++i)
        out[i] = at->cells[i / u->n_values] < 0 ? NAN : 0;
    for (int i = 0; i < u->n_fields; ++i) {
        const weft_problem_field *field = &u->fields[i];
        if (field->is_enrichment)
            TRY(weft_solution_term(u, i, &term, error));
        TRY(weft_space_evaluate_at(field->space, term ? term : u->values + field->first_dof,
                                   weft_space_components(field->space), at, u->n_values,
                                   out + field->first_value, error));
        free(term);
        term = NULL;
    }
done:
    free(term);
    return status;
}

weft_status weft_solution_sum(const weft_solution *u, const double *vector,
                              double out[WEFT_VALUES_MAX], weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_field *last = &u->fields[u->n_fields - 1];
    const int64_t n_dofs = last->first_dof + weft_space_dofs(last->space);
    double *column = weft_array_make((size_t)n_dofs, sizeof *column);
    if (!column)
        TRY(weft_out_of_memory(error, "a balance"));
    for (int k = 0; k < WEFT_VALUES_MAX; ++k)
        out[k] = 0;
    for (int f = 0; f < u->n_fields; ++f) {
        const weft_problem_field *field = &u->fields[f];
        const int c = weft_space_components(field->space);
        const int64_t n = weft_space_nodes(field->space);
        for (int k = 0;
             k < weft_space_values_of(field->space) && weft_space_is_mapped(field->space); ++k) {
            TRY(weft_mapped_constant(field->space, k, column, error));
            for (int64_t i = 0; i < n; ++i)
                column[i] *= vector[field->first_dof + i];
            out[field->first_value + k] += weft_sum(column, n);
        }
        for (int k = 0; k < c && !weft_space_is_mapped(field->space);
             ++k) { /* dofs are values at nodes, also those of bubbles: 1 has 1 at all */
            for (int64_t i = 0; i < n; ++i)
                column[i] = vector[field->first_dof + i * c + k];
            out[field->first_value + k] += weft_sum(column, n);
        }
    }
done:
    free(column);
    return status;
}
