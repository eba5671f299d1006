/* Integrals of a function and its errors, by quadrature in each cell of any type. */
#include "fem/form/form.h"
#include "fem/mesh/map.h"
#include "fem/space/private.h"
#include "fem/weft_function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Formulas are evaluated at this many points at a time, at least those of one cell. */
enum { CHUNK_POINTS = 1 << 17, STENCIL = 4 };
/* d/dx of a formula by central differences of fourth order, with steps of the cell's size / 256. */
static const double steps[STENCIL] = {1, -1, 2, -2};
static const double weights[STENCIL] = {8.0 / 12, -8.0 / 12, -1.0 / 12, 1.0 / 12};

typedef struct measuring {
    const weft_space *space;
    const double *u;
    int component, components, d, n_points, width;
    int shifts; /* points for each point of the rule: 1, and the stencil's along each axis */
    weft_quadrature rule;
    weft_cell_map map;
    double *corner_table; /* [1 + d][points][map.n_nodes] */
    double *table;        /* [1 + d][points][width] */
    /* of the formula; NULL without one */
    weft_compiled compiled;
    weft_memory *x_memory, *value_memory;
    double *x, *values; /* [chunk][points][shifts][d], [chunk][points][shifts] */
    int64_t chunk;      /* cells at a time */
    double *sums[2];    /* [n_cells] */
} measuring;

static void clear(measuring *m) {
    weft_compiled_free(&m->compiled);
    weft_memory_free(&m->x_memory);
    weft_memory_free(&m->value_memory);
    weft_quadrature_free(&m->rule);
    weft_cell_map_clear(&m->map);
    free(m->corner_table);
    free(m->table);
    free(m->x);
    free(m->values);
    free(m->sums[0]);
    free(m->sums[1]);
}

static weft_status tabulate(const weft_element *element, const weft_quadrature *rule, double **out,
                            weft_error *error) {
    const int n = weft_derivative_count(rule->dimension, 1);
    *out = malloc((size_t)n * (size_t)rule->n * (size_t)element->n_nodes * sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, "errors of a function");
    return weft_element_tabulate(element, 1, rule->n, rule->points, *out, error);
}

static weft_status make(measuring *m, int degree, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(m->space);
    const weft_element *element = weft_space_element(m->space);
    m->d = mesh->dimension;
    m->components = weft_space_components(m->space);
    m->width = element->n_nodes;
    TRY(weft_quadrature_make(element->cell, WEFT_SCHEME_DEFAULT, degree, &m->rule, error));
    m->n_points = m->rule.n;
    TRY(weft_cell_map_make(mesh, &m->map, error));
    TRY(tabulate(m->map.element, &m->rule, &m->corner_table, error));
    TRY(tabulate(element, &m->rule, &m->table, error));
    for (int i = 0; i < 2; ++i) {
        m->sums[i] = weft_array_make((size_t)mesh->n_cells, sizeof *m->sums[i]);
        if (!m->sums[i])
            TRY(weft_out_of_memory(error, "errors of a function"));
    }
done:
    return status;
}

/* ---- one cell ---------------------------------------------------------------------------- */

/* sum_k f_k table(row, point, k), row 0: the value, 1 + axis: a derivative by reference coordinates */
static double combine(const double *table, int n_points, int n, int row, int point, const double *f,
                      int stride) {
    const double *at = table + ((int64_t)row * n_points + point) * n;
    double sum = 0;
    for (int k = 0; k < n; ++k)
        sum += at[k] * f[k * stride];
    return sum;
}

/* J's inverse; returns |det J|. */
static double jacobian(const measuring *m, const double *corners, int point, double inverse[9]) {
    const int n = m->map.n_nodes;
    return weft_cell_map_inverse(&m->map, m->corner_table + (int64_t)point * n,
                                 (int64_t)m->n_points * n, corners, inverse);
}

static double step_of(const measuring *m, double det) {
    return pow(det, 1.0 / m->d) / 256;
}

static void place_points(measuring *m, int64_t cell, double *x) {
    double corners[WEFT_CELL_MAP_NUMBERS], inverse[9];
    weft_cell_map_nodes(&m->map, cell, corners);
    for (int p = 0; p < m->n_points; ++p) {
        const double h = m->shifts > 1 ? step_of(m, jacobian(m, corners, p, inverse)) : 0;
        for (int s = 0; s < m->shifts; ++s, x += m->d)
            for (int i = 0; i < m->d; ++i) {
                x[i] =
                    combine(m->corner_table, m->n_points, m->map.n_nodes, 0, p, corners + i, m->d);
                if (s > 0 && (s - 1) / STENCIL == i)
                    x[i] += h * steps[(s - 1) % STENCIL];
            }
    }
}

/* Squares of the errors, or the integral, in one cell. exact [points][shifts], or NULL */
static void measure_cell(measuring *m, int64_t cell, const double *exact) {
    double corners[WEFT_CELL_MAP_NUMBERS], inverse[9], f[13 * 13 * 13];
    const int32_t *nodes = weft_space_cell_nodes(m->space) + cell * m->width;
    weft_cell_map_nodes(&m->map, cell, corners);
    for (int k = 0; k < m->width; ++k)
        f[k] = m->u ? m->u[(int64_t)nodes[k] * m->components + m->component] : 1;
    for (int p = 0; p < m->n_points; ++p) {
        const double det = jacobian(m, corners, p, inverse), w = m->rule.weights[p] * det;
        const double u = combine(m->table, m->n_points, m->width, 0, p, f, 1);
        if (!exact) {
            m->sums[0][cell] += w * u;
            continue;
        }
        const double *e = exact + p * m->shifts;
        double gradient[3] = {0, 0, 0};
        m->sums[0][cell] += w * (u - e[0]) * (u - e[0]);
        for (int a = 0; a < m->d; ++a)
            gradient[a] = combine(m->table, m->n_points, m->width, 1 + a, p, f, 1);
        for (int i = 0; i < m->d; ++i) {
            double apart = 0;
            for (int a = 0; a < m->d; ++a)
                apart += inverse[3 * a + i] * gradient[a];
            for (int s = 0; s < STENCIL; ++s)
                apart -= weights[s] * e[1 + i * STENCIL + s] / step_of(m, det);
            m->sums[1][cell] += w * apart * apart;
        }
    }
}

/* ---- formulas ---------------------------------------------------------------------------- */

static weft_status compile(measuring *m, weft_context *context, const char *text,
                           const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_cells = weft_space_mesh(m->space)->n_cells;
    m->shifts = 1 + STENCIL * m->d;
    m->chunk = CHUNK_POINTS / (m->n_points * m->shifts) + 1;
    m->chunk = m->chunk < n_cells ? m->chunk : n_cells;
    const int64_t n = m->chunk * m->n_points * m->shifts;
    weft_bound_form form;
    weft_form_start("nodal.weft", weft_fem_script("nodal.weft"), NULL, &form);
    weft_form_bind_parameter(&form, "d", m->d);
    weft_form_bind_expression(&form, "value", text, origin ? origin : "exact");
    TRY(weft_vector_make(context->device, n * m->d, &m->x, &m->x_memory, error));
    TRY(weft_vector_make(context->device, n, &m->values, &m->value_memory, error));
    const weft_fragment fragments[] = {{form.form.name, form.form.text}, {"errors", "return u;\n"}};
    const weft_compile_options options = weft_form_options(&form.form);
    TRY(weft_compiled_make(context, fragments, 2, &options, &m->compiled, error));
    if (weft_compilation_data_inputs(m->compiled.compilation) > 0) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "errors against formulas by group are for elements of degree 1");
        weft_error_location(error, origin, text, 1, 1);
        TRY(WEFT_ERROR_UNSUPPORTED);
    }
    TRY(weft_program_bind(m->compiled.program, "x", m->x_memory, error));
    TRY(weft_program_bind(m->compiled.program, "u", m->value_memory, error));
    TRY(weft_program_size(m->compiled.program, "nodes", n, error));
done:
    return status;
}

static weft_status measure_errors(measuring *m, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_cells = weft_space_mesh(m->space)->n_cells, per_cell = m->n_points * m->shifts;
    for (int64_t first = 0; first < n_cells; first += m->chunk) {
        const int64_t n = first + m->chunk < n_cells ? m->chunk : n_cells - first;
        for (int64_t c = 0; c < n; ++c)
            place_points(m, first + c, m->x + c * per_cell * m->d);
        TRY(weft_vector_push(m->x_memory, m->x, m->chunk * per_cell * m->d, error));
        TRY(weft_program_run(m->compiled.program, error));
        TRY(weft_vector_pull(m->value_memory, m->values, m->chunk * per_cell, error));
        for (int64_t c = 0; c < n; ++c)
            measure_cell(m, first + c, m->values + c * per_cell);
    }
done:
    return status;
}

weft_status weft_space_measure_errors(weft_context *context, const weft_space *space,
                                      const double *u, int component, const char *exact,
                                      const char *origin, double squares[2], weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_cells = weft_space_mesh(space)->n_cells;
    measuring m = {.space = space, .u = u, .component = component};
    TRY(make(&m, 2 * weft_space_element(space)->degree + 3, error));
    TRY(compile(&m, context, exact, origin, error));
    TRY(measure_errors(&m, error));
    for (int i = 0; i < 2; ++i)
        squares[i] = weft_sum(m.sums[i], n_cells);
done:
    clear(&m);
    return status;
}

weft_status weft_space_integral(const weft_space *space, const double *u, int component,
                                double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    measuring m = {.space = space, .u = u, .component = component};
    TRY(make(&m, weft_space_element(space)->degree + (mesh->curve ? 4 : mesh->dimension), error));
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        measure_cell(&m, c, NULL);
    *out = weft_sum(m.sums[0], mesh->n_cells);
done:
    clear(&m);
    return status;
}
