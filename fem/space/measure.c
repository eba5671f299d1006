/* Integrals of a function and its errors, by quadrature in each cell of any type. */
#include "fem/base/memory.h"
#include "fem/base/share.h"
#include "fem/form/form.h"
#include "fem/mesh/map.h"
#include "fem/mesh/mesh.h"
#include "fem/space/private.h"
#include "fem/space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Formulas are evaluated at this many points at a time, at least those of one cell. */
enum { CHUNK_POINTS = 1 << 17, STENCIL = 4, CELLS = 4096, FUNCTIONS_MAX = 13 * 13 * 13 };
/* d/dx of a formula by central differences of fourth order, with steps of the cell's size / 256. */
static const double steps[STENCIL] = {1, -1, 2, -2};
static const double weights[STENCIL] = {8.0 / 12, -8.0 / 12, -1.0 / 12, 1.0 / 12};

/* What the formula reads by group, or of a field of a file: a number of each cell, or in blocks the coefficients of an
 * affine function there. */
typedef struct cell_data {
    double *cells; /* [n_cells], or [blocks][d + 1][lanes] */
    bool is_affine;
    weft_memory *memory;
    double *values; /* [chunk][points][shifts] */
} cell_data;

typedef struct measuring {
    const weft_space *space;
    const double *u;
    int component, components, d, n_points, width;
    int shifts; /* points for each point of the rule: 1, and the stencil's along each axis */
    weft_quadrature rule;
    weft_cell_map map;
    double *corner_table; /* [1 + d][points][map.n_nodes] */
    double *table;        /* [1 + d][points][width] */
    double *means;        /* [width] of the functions; NULL: maps are not affine */
    /* of the formula; NULL without one */
    weft_compiled compiled;
    weft_memory *x_memory, *value_memory, *when;
    double *x, *values; /* [chunk][points][shifts][d], [chunk][points][shifts] */
    int64_t chunk;      /* cells at a time */
    cell_data *data;
    int n_data;
    double *sums[2]; /* [n_cells] */
} measuring;

static void clear(measuring *m) {
    for (int i = 0; i < m->n_data; ++i) {
        weft_memory_free(&m->data[i].memory);
        free(m->data[i].values);
        free(m->data[i].cells);
    }
    free(m->data);
    weft_compiled_free(&m->compiled);
    weft_memory_free(&m->x_memory);
    weft_memory_free(&m->value_memory);
    weft_memory_free(&m->when);
    weft_quadrature_free(&m->rule);
    weft_cell_map_clear(&m->map);
    free(m->corner_table);
    free(m->table);
    free(m->means);
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

static weft_status make(measuring *m, int degree, int n_sums, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(m->space);
    const weft_element *element = weft_space_element(m->space);
    m->d = mesh->dimension, m->width = element->n_nodes;
    m->components = weft_space_components(m->space);
    TRY(weft_quadrature_make(element->cell, WEFT_SCHEME_DEFAULT, degree, &m->rule, error));
    m->n_points = m->rule.n;
    TRY(weft_cell_map_make(mesh, &m->map, error));
    TRY(tabulate(m->map.element, &m->rule, &m->corner_table, error));
    TRY(tabulate(element, &m->rule, &m->table, error));
    for (int i = 0; i < n_sums; ++i) {
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

/* The points of cell first + i, that of number i in the chunk. */
static void place_points(measuring *m, int64_t first, int64_t i) {
    double *x = m->x + i * m->n_points * m->shifts * m->d;
    double corners[WEFT_CELL_MAP_NUMBERS], inverse[9];
    weft_cell_map_nodes(&m->map, first + i, corners);
    for (int p = 0; p < m->n_points; ++p) {
        const double h = step_of(m, jacobian(m, corners, p, inverse));
        for (int s = 0; s < m->shifts; ++s, x += m->d)
            for (int k = 0; k < m->d; ++k) {
                x[k] =
                    combine(m->corner_table, m->n_points, m->map.n_nodes, 0, p, corners + k, m->d);
                if (s > 0 && (s - 1) / STENCIL == k)
                    x[k] += h * steps[(s - 1) % STENCIL];
            }
    }
}

/* One component at the dofs of a cell; without u that of 1. */
static void gather(const measuring *m, int64_t cell, double *f) {
    const int32_t *nodes = m->u ? weft_space_cell_nodes(m->space) + cell * m->width : NULL;
    for (int k = 0; k < m->width; ++k)
        f[k] = m->u ? m->u[(int64_t)nodes[k] * m->components + m->component] : 1;
}

/* Squares of the errors. */
static void measure_cell(measuring *m, int64_t first, int64_t number) {
    const int64_t cell = first + number;
    const double *exact = m->values + number * m->n_points * m->shifts;
    double corners[WEFT_CELL_MAP_NUMBERS], inverse[9], f[FUNCTIONS_MAX];
    weft_cell_map_nodes(&m->map, cell, corners);
    gather(m, cell, f);
    for (int p = 0; p < m->n_points; ++p) {
        const double det = jacobian(m, corners, p, inverse), w = m->rule.weights[p] * det;
        const double u = combine(m->table, m->n_points, m->width, 0, p, f, 1);
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

static void integrate_cell(measuring *m, int64_t first, int64_t i) {
    const int64_t cell = first + i;
    double corners[WEFT_CELL_MAP_NUMBERS], inverse[9], f[FUNCTIONS_MAX], sum = 0;
    gather(m, cell, f);
    if (m->means) {
        for (int k = 0; k < m->width; ++k)
            sum += m->means[k] * f[k];
        m->sums[0][cell] = sum * fabs(weft_cell_volume(m->d, m->map.mesh->x,
                                                       m->map.mesh->cells + cell * (m->d + 1)));
        return;
    }
    weft_cell_map_nodes(&m->map, cell, corners);
    for (int p = 0; p < m->n_points; ++p)
        sum += m->rule.weights[p] * jacobian(m, corners, p, inverse) *
               combine(m->table, m->n_points, m->width, 0, p, f, 1);
    m->sums[0][cell] = sum;
}

/* ---- cells by several threads ------------------------------------------------------------ */

/* The cells first .. first + n - 1, and what is done with cell first + i. */
typedef struct cells {
    measuring *m;
    int64_t first, n;
    void (*run)(measuring *m, int64_t first, int64_t i);
} cells;

/* A weft_task. */
static void do_cells(void *user, int64_t chunk) {
    const cells *of = user;
    const int64_t end = (chunk + 1) * CELLS < of->n ? (chunk + 1) * CELLS : of->n;
    for (int64_t i = chunk * CELLS; i < end; ++i)
        of->run(of->m, of->first, i);
}

static weft_status for_cells(const cells *of, weft_error *error) {
    return weft_device_for(weft_space_device(of->m->space), (of->n + CELLS - 1) / CELLS, do_cells,
                           (void *)of, error);
}

/* ---- formulas ---------------------------------------------------------------------------- */

/* The value at the points of a cell, whose shifts may leave it: what holds in the cell holds there. */
static void place_data(measuring *m, int64_t first, int64_t i) {
    const int64_t n = (int64_t)m->n_points * m->shifts, cell = first + i;
    const int64_t lanes = weft_device_limits(weft_space_device(m->space))->lanes_double;
    const int64_t block = cell / lanes * lanes * (m->d + 1) + cell % lanes;
    for (int k = 0; k < m->n_data; ++k) {
        const cell_data *data = &m->data[k];
        for (int64_t p = i * n; p < (i + 1) * n; ++p) {
            data->values[p] = data->cells[data->is_affine ? block : cell];
            for (int a = 0; a < m->d && data->is_affine; ++a)
                data->values[p] += data->cells[block + (a + 1) * lanes] * m->x[p * m->d + a];
        }
    }
}

static weft_status make_data(measuring *m, weft_context *context, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = m->chunk * m->n_points * m->shifts;
    cell_data *data = &m->data[m->n_data++];
    weft_data_info info;
    weft_memory *of_cells = NULL;
    int components = 0;
    weft_compilation_data(m->compiled.compilation, number, &info);
    TRY(weft_data_cells(context->data, &info, &of_cells, &components, error));
    data->is_affine = components > 1;
    data->cells = malloc(weft_memory_bytes(of_cells));
    if (!data->cells)
        TRY(weft_out_of_memory(error, "errors of a function"));
    TRY(weft_memory_read(of_cells, 0, data->cells, weft_memory_bytes(of_cells), error));
    TRY(weft_vector_make(context->device, n, &data->values, &data->memory, error));
    TRY(weft_program_bind(m->compiled.program, info.input, data->memory, error));
done:
    return status;
}

static weft_status make_all_data(measuring *m, weft_context *context, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = weft_compilation_data_inputs(m->compiled.compilation);
    m->data = calloc((size_t)n + 1, sizeof *m->data);
    if (!m->data)
        TRY(weft_out_of_memory(error, "errors of a function"));
    for (int i = 0; i < n; ++i)
        TRY(make_data(m, context, i, error));
done:
    return status;
}

static weft_status compile(measuring *m, weft_context *context, const weft_exact *exact,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_cells = weft_space_mesh(m->space)->n_cells;
    m->shifts = 1 + STENCIL * m->d;
    m->chunk = CHUNK_POINTS / (m->n_points * m->shifts) + 1;
    m->chunk = m->chunk < n_cells ? m->chunk : n_cells;
    const int64_t n = m->chunk * m->n_points * m->shifts;
    weft_bound_form form;
    weft_form_start("nodal_time.weft", weft_fem_script("nodal_time.weft"), NULL, &form);
    weft_form_bind_parameter(&form, "d", m->d);
    weft_form_bind_expression(&form, "value", exact->text, exact->origin);
    TRY(weft_vector_make(context->device, n * m->d, &m->x, &m->x_memory, error));
    TRY(weft_vector_make(context->device, n, &m->values, &m->value_memory, error));
    TRY(weft_memory_make(context->device, sizeof exact->t, &m->when, error));
    TRY(weft_memory_write(m->when, 0, &exact->t, sizeof exact->t, error));
    const weft_fragment fragments[] = {{form.form.name, form.form.text}, {"errors", "return u;\n"}};
    const weft_compile_options options = weft_form_options(&form.form);
    TRY(weft_compiled_make(context, fragments, 2, &options, &m->compiled, error));
    TRY(make_all_data(m, context, error));
    TRY(weft_program_bind(m->compiled.program, "x", m->x_memory, error));
    TRY(weft_program_bind(m->compiled.program, "when", m->when, error));
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
        TRY(for_cells(&(cells){m, first, n, place_points}, error));
        TRY(weft_vector_push(m->x_memory, m->x, m->chunk * per_cell * m->d, error));
        TRY(for_cells(&(cells){m, first, n, place_data}, error));
        for (int i = 0; i < m->n_data; ++i)
            TRY(weft_vector_push(m->data[i].memory, m->data[i].values, m->chunk * per_cell, error));
        TRY(weft_program_run(m->compiled.program, error));
        TRY(weft_vector_pull(m->value_memory, m->values, m->chunk * per_cell, error));
        TRY(for_cells(&(cells){m, first, n, measure_cell}, error));
    }
done:
    return status;
}

/* ---- barycentric functions ------------------------------------------------------------------- */

/* By a script on the device, without tables and their points in memory. */
static weft_status measure_barycentric(weft_context *context, const measuring *m,
                                       const weft_exact *exact, double squares[2],
                                       weft_error *error) {
    static const char *const names[2] = {"l2", "h1"};
    weft_status status = WEFT_OK;
    const int d = weft_space_mesh(m->space)->dimension, c = weft_space_components(m->space);
    const int64_t n = weft_space_nodes(m->space);
    double *values = weft_array_make((size_t)n, sizeof *values);
    weft_memory *u = NULL, *when = NULL;
    weft_bound_form form;
    if (!values)
        TRY(weft_out_of_memory(error, "errors of a function"));
    for (int64_t i = 0; i < n; ++i)
        values[i] = m->u[i * c + m->component];
    TRY(weft_memory_place(context->device, values, (size_t)n, sizeof *values, &u, error));
    TRY(weft_memory_make(context->device, sizeof exact->t, &when, error));
    TRY(weft_memory_write(when, 0, &exact->t, sizeof exact->t, error));
    TRY(weft_form_ship(m->space, d == 2 ? "errors_2.weft" : "errors_3.weft",
                       weft_space_cells(m->space), &form, error));
    weft_form_bind_input(&form, "u", u);
    weft_form_bind_input(&form, "when", when);
    weft_form_bind_expression(&form, "exact", exact->text, exact->origin);
    TRY(weft_form_sum(context, &form, weft_space_mesh(m->space)->n_cells, names, 2, squares,
                      error));
done:
    weft_memory_free(&u);
    weft_memory_free(&when);
    free(values);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

weft_status weft_space_errors_of(weft_context *context, const weft_space *space, const double *u,
                                 int component, const weft_exact *exact, double squares[2],
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_cells = weft_space_mesh(space)->n_cells;
    measuring m = {.space = space, .u = u, .component = component};
    if (weft_space_is_barycentric(space)) {
        status = measure_barycentric(context, &m, exact, squares, error);
        goto done;
    }
    TRY(make(&m, 2 * weft_space_element(space)->degree + 3, 2, error));
    TRY(compile(&m, context, exact, error));
    TRY(measure_errors(&m, error));
    for (int i = 0; i < 2; ++i)
        squares[i] = weft_sum(m.sums[i], n_cells);
done:
    clear(&m);
    return status;
}

weft_status weft_space_errors(weft_context *context, const weft_space *space, weft_memory *u,
                              const char *exact, const char *origin, double squares[2],
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)weft_space_dofs(space);
    double *values = weft_array_make(n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "errors of a function"));
    TRY(weft_memory_read(u, 0, values, n * sizeof *values, error));
    TRY(weft_space_measure_errors(context, space, values, 0, exact, origin, squares, error));
done:
    free(values);
    return status;
}

weft_status weft_space_measure_errors(weft_context *context, const weft_space *space,
                                      const double *u, int component, const char *exact,
                                      const char *origin, double squares[2], weft_error *error) {
    return weft_space_errors_of(context, space, u, component,
                                &(weft_exact){exact, origin ? origin : "exact", 0}, squares, error);
}

/* The means of the functions, which are the same in all cells with affine maps. */
static weft_status make_means(measuring *m, weft_error *error) {
    m->means = calloc((size_t)m->width, sizeof *m->means);
    if (!m->means)
        return weft_out_of_memory(error, "the integral of a function");
    for (int p = 0; p < m->n_points; ++p)
        for (int k = 0; k < m->width; ++k)
            m->means[k] += m->rule.weights[p] * m->table[p * m->width + k] /
                           weft_mesh_cell(m->map.mesh)->measure;
    return WEFT_OK;
}

/* In affine maps det J is constant; in others its degree is added to that of the functions. */
static int degree_of_integrals(const weft_space *space) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const int of_map = weft_mesh_is_affine(mesh) ? 0 : mesh->curve ? 4 : mesh->dimension;
    return weft_space_element(space)->degree + of_map;
}

static weft_status integrate_on_host(const weft_space *space, const double *u, int component,
                                     double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    measuring m = {.space = space, .u = u, .component = component};
    TRY(make(&m, degree_of_integrals(space), 1, error));
    if (weft_mesh_is_affine(mesh))
        TRY(make_means(&m, error));
    TRY(for_cells(&(cells){&m, 0, mesh->n_cells, integrate_cell}, error));
    TRY(weft_share_sums(weft_connectivity_from_share(weft_space_cells(space)), m.sums[0],
                        mesh->n_cells, out, NULL, error));
done:
    clear(&m);
    return status;
}

weft_status weft_space_integral_of(const weft_space *space, const weft_space_values *u,
                                   int component, double *out, weft_error *error) {
    double both[2] = {0, 0};
    if ((u->values && !u->memory) || !cells_integrate_on_device(space))
        return integrate_on_host(space, u->values, component, out, error);
    const weft_status status = cells_integrate(space, degree_of_integrals(space), u->memory,
                                               u->first + component, both, error);
    *out = u->values ? both[0] : both[1];
    return status;
}

weft_status weft_space_integral(const weft_space *space, const double *u, int component,
                                double *out, weft_error *error) {
    return weft_space_integral_of(space, &(weft_space_values){.values = u}, component, out, error);
}
