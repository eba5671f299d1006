/* Elements of vector functions on simplices whose functionals are moments on edges, faces and cells.
 *
 * Source  Nedelec 1980 and 1986; Raviart and Thomas 1977; Brezzi, Douglas and Marini 1985; scaled and ordered as in
 *         Basix 0.11 with Legendre variants */
#include "fem/element/moments.h"
#include "core/base/fault.h"
#include "fem/element/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- functionals ------------------------------------------------------------------------------ */

static int functions_of(const weft_cell *entity, const weft_moments *moments) {
    int least = 0, most = 0;
    if (moments->kind == WEFT_MOMENT_NONE || moments->degree < 0)
        return 0;
    if (moments->kind != WEFT_MOMENT_FAMILY)
        return weft_orthonormal_count(entity, moments->degree) *
               (moments->kind == WEFT_MOMENT_AXES ? entity->dimension : 1);
    return weft_family_degrees(moments->family, entity->type, &least, &most) &&
                   moments->degree >= least
               ? weft_family_functions(moments->family, entity->type, moments->degree)
               : 0;
}

static const weft_cell *entity_of(const weft_cell *cell, int dimension) {
    return weft_cell_of(weft_cell_entity_type(cell, dimension));
}

void weft_moments_count(const weft_cell *cell, int degree, weft_moments_rule *rule, int nodes[4]) {
    for (int dimension = 1; dimension <= cell->dimension; ++dimension) {
        const weft_moments moments = rule(cell, degree, dimension);
        nodes[dimension] = functions_of(entity_of(cell, dimension), &moments);
    }
}

/* What vectors are multiplied with on entities of one dimension: values [points][functions][dimension] along the axes of
 * the entity, times the weights of the rule; one component along the tangent or the normal. */
typedef struct moment_table {
    weft_moments moments;
    const weft_cell *entity;
    weft_quadrature rule;
    int n, n_components;
    double *values;
} moment_table;

static void table_free(moment_table *table) {
    weft_quadrature_free(&table->rule);
    free(table->values);
}

/* Basix numbers orthonormal polynomials with the powers in reverse order.
 *  numbers  [polynomials up to the degree] of each in Basix */
static void number_polynomials(int d, int degree, int *numbers) {
    for (int p = 0; p <= degree; ++p)
        for (int q = 0; q <= (d > 1 ? degree - p : 0); ++q)
            for (int r = 0; r <= (d > 2 ? degree - p - q : 0); ++r) {
                const int powers[3] = {p, q, r}, reversed[3] = {d > 2   ? r
                                                                : d > 1 ? q
                                                                        : p,
                                                                d > 2 ? q : p, p};
                numbers[weft_derivative_index(d, powers)] = weft_derivative_index(d, reversed);
            }
}

static weft_status fill_polynomials(moment_table *table, weft_error *error) {
    const bool by_axes = table->moments.kind == WEFT_MOMENT_AXES;
    const int d = table->entity->dimension, size = table->n_components,
              n = weft_orthonormal_count(table->entity, table->moments.degree);
    double *row = malloc((size_t)n * sizeof *row);
    int *numbers = malloc((size_t)n * sizeof *numbers);
    if (!row || !numbers) {
        free(row);
        free(numbers);
        return weft_out_of_memory(error, "the functionals of an element");
    }
    number_polynomials(d, table->moments.degree, numbers);
    for (int q = 0; q < table->rule.n; ++q) {
        weft_orthonormal_tabulate(table->entity, table->moments.degree, false, 0,
                                  table->rule.points + q * d, row);
        for (int i = 0; i < n; ++i)
            for (int a = 0; a < (by_axes ? d : 1); ++a)
                table->values[(q * table->n + (by_axes ? numbers[i] * d + a : numbers[i])) * size +
                              a] = row[i] * table->rule.weights[q];
    }
    free(row);
    free(numbers);
    return WEFT_OK;
}

static weft_status fill_functions(moment_table *table, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_element *functions = NULL;
    TRY(weft_element_make(table->moments.family, table->entity->type, table->moments.degree,
                          &functions, error));
    TRY(weft_element_tabulate(functions, 0, table->rule.n, table->rule.points, table->values,
                              error));
    for (int q = 0; q < table->rule.n; ++q)
        for (int i = 0; i < table->n * table->n_components; ++i)
            table->values[q * table->n * table->n_components + i] *= table->rule.weights[q];
done:
    weft_element_free(&functions);
    return status;
}

/* degree  of the element */
static weft_status table_make(const weft_cell *cell, int degree, int dimension,
                              weft_moments_rule *rule, moment_table *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (moment_table){.moments = rule(cell, degree, dimension),
                          .entity = entity_of(cell, dimension)};
    out->n = functions_of(out->entity, &out->moments);
    if (out->n == 0)
        goto done;
    const bool is_one =
        out->moments.kind == WEFT_MOMENT_TANGENT || out->moments.kind == WEFT_MOMENT_NORMAL;
    out->n_components = is_one ? 1 : dimension;
    TRY(weft_quadrature_make(out->entity->type, WEFT_SCHEME_DEFAULT, degree + out->moments.degree,
                             &out->rule, error));
    out->values = calloc((size_t)(out->rule.n * out->n * out->n_components), sizeof *out->values);
    if (!out->values)
        TRY(weft_out_of_memory(error, "the functionals of an element"));
    TRY((out->moments.kind == WEFT_MOMENT_FAMILY ? fill_functions : fill_polynomials)(out, error));
done:
    return status;
}

/* The directions of the components, [3][3] by axis of the cell: the axes of the entity, its tangent or its normal. */
static void set_directions(const weft_cell *cell, weft_moment kind, const int *vertices,
                           int dimension, double out[3][3]) {
    const double *x0 = cell->vertices[vertices[0]];
    for (int a = 0; a < dimension; ++a)
        for (int k = 0; k < cell->dimension; ++k)
            out[a][k] = cell->vertices[vertices[a + 1]][k] - x0[k];
    if (kind != WEFT_MOMENT_NORMAL)
        return;
    const double t[2][3] = {{out[0][0], out[0][1], out[0][2]}, {out[1][0], out[1][1], out[1][2]}};
    if (cell->dimension == 2) {
        out[0][0] = -t[0][1];
        out[0][1] = t[0][0];
    } else
        for (int k = 0; k < 3; ++k)
            out[0][k] =
                t[0][(k + 1) % 3] * t[1][(k + 2) % 3] - t[0][(k + 2) % 3] * t[1][(k + 1) % 3];
}

/* Append the functionals on one entity. */
static void put_entity(const weft_cell *cell, const moment_table *table, int entity, int *point,
                       int *term, int *node, weft_functionals *f) {
    const int d = cell->dimension, dimension = table->entity->dimension, size = table->n_components;
    int vertices[8];
    double directions[3][3] = {{0}};
    weft_cell_entity(cell, dimension, entity, vertices);
    for (int q = 0; q < table->rule.n; ++q)
        for (int k = 0; k < d; ++k) {
            double x = cell->vertices[vertices[0]][k];
            for (int a = 0; a < dimension; ++a)
                x += table->rule.points[q * dimension + a] *
                     (cell->vertices[vertices[a + 1]][k] - cell->vertices[vertices[0]][k]);
            f->points[(*point + q) * d + k] = x;
        }
    set_directions(cell, table->moments.kind, vertices, dimension, directions);
    const double sign = dimension == 1 && entity == 1 && weft_fault("tangent_reversed") ? -1 : 1;
    for (int i = 0; i < table->n; ++i) {
        for (int q = 0; q < table->rule.n; ++q, ++*term) {
            f->point[*term] = *point + q;
            for (int a = 0; a < size; ++a)
                for (int k = 0; k < d; ++k)
                    f->weights[*term * d + k] +=
                        sign * table->values[(q * table->n + i) * size + a] * directions[a][k];
        }
        f->first[++*node] = *term;
    }
    *point += table->rule.n;
}

static weft_status make_functionals(weft_element *e, weft_moments_rule *rule, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(e->cell);
    moment_table tables[4] = {{.n = 0}};
    int n_points = 0, n_terms = 0, point = 0, term = 0, node = 0;
    for (int dimension = 1; dimension <= cell->dimension; ++dimension) {
        TRY(table_make(cell, e->degree, dimension, rule, &tables[dimension], error));
        n_points += cell->n_entities[dimension] * tables[dimension].rule.n;
        n_terms += cell->n_entities[dimension] * tables[dimension].rule.n * tables[dimension].n;
    }
    TRY(weft_element_make_functionals(e, n_points, n_terms, error));
    for (int dimension = 1; dimension <= cell->dimension; ++dimension)
        for (int i = 0; i < cell->n_entities[dimension] && tables[dimension].n > 0; ++i)
            put_entity(cell, &tables[dimension], i, &point, &term, &node, &e->functionals);
done:
    for (int dimension = 0; dimension < 4; ++dimension)
        table_free(&tables[dimension]);
    return status;
}

/* ---- functions -------------------------------------------------------------------------------- */

/* The candidate number i of the completion at x: `p` are the orthonormal polynomials of the highest degree but one. */
static void complete_at(int d, weft_completion completion, int i, const double *x, const double *p,
                        double *out) {
    if (completion == WEFT_COMPLETE_RADIAL) {
        for (int k = 0; k < d; ++k)
            out[k] = x[k] * p[i];
    } else if (d == 2) {
        out[0] = x[1] * p[i];
        out[1] = -x[0] * p[i];
    } else {
        const int axis = i % 3;
        out[axis] = 0;
        out[(axis + 1) % 3] = x[(axis + 2) % 3] * p[i / 3];
        out[(axis + 2) % 3] = -x[(axis + 1) % 3] * p[i / 3];
    }
}

/* Coefficients of the candidates in the orthonormal basis, [n][d][m]. */
static weft_status project_completion(const weft_element *e, weft_completion completion, int n,
                                      int m, double *out, weft_error *error) {
    const weft_cell *cell = weft_cell_of(e->cell);
    const int d = cell->dimension, k = e->degree;
    weft_quadrature rule = {0};
    double *row = malloc((size_t)m * sizeof *row);
    weft_status status =
        row ? weft_quadrature_make(e->cell, WEFT_SCHEME_DEFAULT, 2 * k, &rule, error)
            : weft_out_of_memory(error, "the functions of an element");
    for (int q = 0; q < rule.n; ++q) {
        const double *x = rule.points + q * d;
        weft_orthonormal_tabulate(cell, k, false, 0, x, row);
        for (int i = 0; i < n; ++i) {
            double value[3];
            complete_at(d, completion, i, x, row + weft_orthonormal_count(cell, k - 2), value);
            for (int c = 0; c < d; ++c)
                for (int j = 0; j < m; ++j)
                    out[(i * d + c) * m + j] += rule.weights[q] * value[c] * row[j];
        }
    }
    weft_quadrature_free(&rule);
    free(row);
    return status;
}

/* Subtract from a row its parts along n orthonormal rows, twice. Returns the norm of the rest over that before. */
static double make_orthogonal(int width, int n, const double *rows, double *row) {
    double before = 0, after = 0;
    for (int j = 0; j < width; ++j)
        before += row[j] * row[j];
    for (int k = 0; k < 2 * n; ++k) {
        double product = 0;
        for (int j = 0; j < width; ++j)
            product += rows[k % n * width + j] * row[j];
        for (int j = 0; j < width; ++j)
            row[j] -= product * rows[k % n * width + j];
    }
    for (int j = 0; j < width; ++j)
        after += row[j] * row[j];
    return before > 0 ? sqrt(after / before) : 0;
}

/* An orthonormal basis of the functions, [n_nodes][d][m]. */
static weft_status make_span(const weft_element *e, weft_completion completion, int m, double *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(e->cell);
    const int d = cell->dimension, width = d * m,
              lower = weft_orthonormal_count(cell, e->degree - 1),
              top = lower - weft_orthonormal_count(cell, e->degree - 2),
              n_all = completion == WEFT_COMPLETE_NONE ? m : lower,
              n_candidates = completion == WEFT_COMPLETE_ROTATED && d == 3 ? 3 * top : top;
    int n = 0;
    double *candidates = calloc((size_t)(n_candidates * width), sizeof *candidates);
    if (!candidates)
        TRY(weft_out_of_memory(error, "the functions of an element"));
    for (int c = 0; c < d; ++c)
        for (int j = 0; j < n_all; ++j, ++n)
            out[n * width + c * m + j] = 1;
    if (completion != WEFT_COMPLETE_NONE)
        TRY(project_completion(e, completion, n_candidates, m, candidates, error));
    for (int i = 0; i < n_candidates && n < e->n_nodes; ++i) {
        double *row = candidates + i * width, square = 0;
        if (make_orthogonal(width, n, out, row) < 1e-6) /* others are 1e-3 and more */
            continue;
        for (int j = 0; j < width; ++j)
            square += row[j] * row[j];
        for (int j = 0; j < width; ++j)
            out[n * width + j] = row[j] / sqrt(square);
        ++n;
    }
    if (n != e->n_nodes)
        TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "an element has %d functions, not %d", n,
                           e->n_nodes));
done:
    free(candidates);
    return status;
}

weft_status weft_moments_make(weft_element *e, weft_moments_rule *rule, weft_completion completion,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_cell_of(e->cell);
    const int m = weft_orthonormal_count(cell, e->degree);
    double *span = calloc((size_t)(e->n_nodes * cell->dimension * m), sizeof *span);
    if (!span)
        TRY(weft_out_of_memory(error, "the functions of an element"));
    e->span_degree = e->degree;
    TRY(make_functionals(e, rule, error));
    TRY(make_span(e, completion, m, span, error));
    TRY(weft_element_make_functions_in(e, span, error));
done:
    free(span);
    return status;
}
