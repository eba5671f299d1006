/* Checks at t = 0 the cell means of the coefficients, which the operators use: mu must be positive
 * definite, and u limits the time step (CFL). */
#include "fem/base/eigen.h"
#include "fem/time/private.h"
#include "fem/time/step_scheme.h"
#include "fem/weft_function.h"

#include <math.h>
#include <stdlib.h>

/* The problem, and the device on which it is checked. */
typedef struct checked {
    weft_context *context;
    const weft_advection_diffusion_problem *problem;
    const weft_mesh *mesh;
} checked;

typedef struct means {
    const weft_expression *formulas; /* [n] */
    int n;
    double *values[9]; /* [n_cells]; NULL: constant */
    double constants[9];
    weft_memory *memories[9];
} means;

static void means_clear(means *m) {
    for (int i = 0; i < 9; ++i) {
        weft_memory_free(&m->memories[i]);
        free(m->values[i]);
    }
    *m = (means){0};
}

static double mean_of(const means *m, int i, int64_t cell) {
    return m->values[i] ? m->values[i][cell] : m->constants[i];
}

/* c_i = quadrature_mean(e_i(P, when)) for each formula that is not a number. */
static weft_status evaluate(const checked *of, means *m, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const e[] = {"e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8"};
    static const char *const c[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"};
    const weft_space *space = of->problem->space;
    const char *outputs[9];
    weft_memory *memories[9];
    int n = 0;
    weft_text text = {0};
    weft_memory *when = NULL;
    weft_bound_form form;
    TRY(weft_memory_make(of->context->device, sizeof(double), &when, error));
    TRY(weft_form_ship(space, "cell_points.weft", weft_space_cells(space), &form, error));
    weft_form_bind_input(&form, "when", when);
    weft_text_add(&text, "%s", form.form.text);
    for (int i = 0; i < m->n; ++i) {
        if (!m->values[i])
            continue;
        weft_text_add(&text,
                      "expression %s(x, y, z, t) = 0;\n%s = quadrature_mean(%s(P, when), d = d, "
                      "degree = 2);\n",
                      e[i], c[i], e[i]);
        weft_form_bind_expression(&form, e[i], m->formulas[i].text, m->formulas[i].origin);
        outputs[n] = c[i];
        memories[n++] = m->memories[i];
    }
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    form.form.text = text.data;
    TRY(weft_form_run(of->context, &form.form,
                      &(weft_form_outputs){outputs, memories, n, "cells", of->mesh->n_cells},
                      error));
    for (int i = 0; i < m->n && !weft_device_limits(of->context->device)->records_only; ++i)
        if (m->values[i])
            TRY(weft_vector_pull(m->memories[i], m->values[i], of->mesh->n_cells, error));
done:
    weft_text_free(&text);
    weft_memory_free(&when);
    return status;
}

static weft_status means_make(const checked *of, const weft_expression *formulas, int n, means *m,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t lanes = weft_device_limits(of->context->device)->lanes_double;
    const int64_t n_padded = (of->mesh->n_cells + lanes - 1) / lanes * lanes;
    bool is_constant = true;
    m->formulas = formulas;
    m->n = n;
    for (int i = 0; i < m->n; ++i) {
        if (weft_formula_constant(formulas[i].text, &m->constants[i]))
            continue;
        is_constant = false;
        TRY(weft_vector_make(of->context->device, n_padded, &m->values[i], &m->memories[i], error));
    }
    if (!is_constant)
        TRY(evaluate(of, m, error));
done:
    return status;
}

static void centre_of(const weft_mesh *mesh, int64_t cell, double centre[3]) {
    const int d = mesh->dimension;
    for (int k = 0; k < 3; ++k)
        centre[k] = 0;
    for (int v = 0; v <= d; ++v)
        for (int k = 0; k < d; ++k)
            centre[k] += mesh->x[(int64_t)mesh->cells[cell * (d + 1) + v] * d + k] / (d + 1);
}

static const char *print_centre(const weft_mesh *mesh, int64_t cell, char out[64]) {
    double centre[3];
    centre_of(mesh, cell, centre);
    return weft_point_text(centre, mesh->dimension, out);
}

static weft_status check_finite(const weft_mesh *mesh, const means *m, weft_error *error) {
    char where[64];
    for (int i = 0; i < m->n; ++i)
        for (int64_t cell = 0; m->values[i] && cell < mesh->n_cells; ++cell) {
            if (isfinite(m->values[i][cell]))
                continue;
            weft_error_set(error, WEFT_ERROR_INPUT,
                           "this expression is not finite at or near %s at t = 0",
                           print_centre(mesh, cell, where));
            weft_error_location(error, m->formulas[i].origin, m->formulas[i].text, 1, 1);
            weft_error_hint(error, "change it so that it has a value there: 1/x has none at x = 0, "
                                   "log(x) none for x <= 0");
            return WEFT_ERROR_INPUT;
        }
    return WEFT_OK;
}

/* ---- mu -------------------------------------------------------------------------------------- */

/* Eigenvalues of a symmetric matrix, ascending. a is destroyed. */
static void find_eigenvalues(double a[3][3], int d, double out[3]) {
    weft_diagonalise(3, a[0], NULL);
    for (int i = 0; i < d; ++i) {
        int k = i;
        for (; k > 0 && out[k - 1] > a[i][i]; --k)
            out[k] = out[k - 1];
        out[k] = a[i][i];
    }
}

static weft_status refuse_tensor(const weft_mesh *mesh, const means *m, int64_t cell,
                                 const double *eigenvalues, weft_error *error) {
    const int d = mesh->dimension;
    char centre[64];
    weft_error_set(error, WEFT_ERROR_INPUT,
                   d == 3 ? "this tensor is not positive definite at %s: its eigenvalues there are "
                            "%g, %g, %g"
                          : "this tensor is not positive definite at %s: its eigenvalues there are "
                            "%g, %g",
                   print_centre(mesh, cell, centre), eigenvalues[0], eigenvalues[1],
                   eigenvalues[2]);
    weft_error_location(error, m->formulas[0].origin, NULL, 0, 0);
    weft_error_hint(error,
                    "heat would flow towards the warmer side: all eigenvalues must be above 0");
    return WEFT_ERROR_INPUT;
}

static weft_status refuse_entries(const weft_mesh *mesh, const means *m, int64_t cell, int i, int k,
                                  double a[3][3], weft_error *error) {
    char centre[64];
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "this tensor is not symmetric at %s: E%d%d is %g, E%d%d is %g",
                   print_centre(mesh, cell, centre), i + 1, k + 1, a[i][k], k + 1, i + 1, a[k][i]);
    weft_error_location(error, m->formulas[0].origin, NULL, 0, 0);
    weft_error_hint(error, "write the same expression at both places");
    return WEFT_ERROR_INPUT;
}

static weft_status check_scalar(const weft_mesh *mesh, const means *m, weft_error *error) {
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        const double mu = mean_of(m, 0, cell);
        char centre[64];
        if (mu >= 0)
            continue;
        weft_error_set(error, WEFT_ERROR_INPUT, "the diffusivity is negative at %s: %g",
                       print_centre(mesh, cell, centre), mu);
        weft_error_location(error, m->formulas[0].origin, m->formulas[0].text, 1, 1);
        weft_error_hint(error,
                        "heat would flow towards the warmer side: give one that is not below 0");
        return WEFT_ERROR_INPUT;
    }
    return WEFT_OK;
}

static weft_status check_tensor(const weft_mesh *mesh, const means *m, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    bool is_constant = true;
    for (int i = 0; i < m->n; ++i)
        is_constant &= !m->values[i];
    for (int64_t cell = 0; cell < (is_constant ? 1 : mesh->n_cells); ++cell) {
        double a[3][3] = {{0}}, eigenvalues[3] = {0}, largest = 0;
        for (int i = 0; i < d * d; ++i) {
            a[i / d][i % d] = mean_of(m, i, cell);
            largest = fmax(largest, fabs(a[i / d][i % d]));
        }
        for (int i = 0; i < d; ++i)
            for (int k = 0; k < i; ++k)
                if (fabs(a[i][k] - a[k][i]) > 1e-12 * largest)
                    TRY(refuse_entries(mesh, m, cell, k, i, a, error));
        find_eigenvalues(a, d, eigenvalues);
        if (!(eigenvalues[0] > 1e-14 * largest))
            TRY(refuse_tensor(mesh, m, cell, eigenvalues, error));
    }
done:
    return status;
}

/* ---- the length of a time step --------------------------------------------------------------- */

/* grad phi_v [d + 1][d] of a cell: e_k = x_k - x_0 and the gradients of phi_1 .. phi_d are dual. */
static void find_gradients(const weft_mesh *mesh, int64_t cell, double g[4][3]) {
    const int d = mesh->dimension;
    const int32_t *nodes = &mesh->cells[cell * (d + 1)];
    double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < d; ++i)
        for (int k = 0; k < d; ++k)
            e[i][k] = mesh->x[(int64_t)nodes[i + 1] * d + k] - mesh->x[(int64_t)nodes[0] * d + k];
    double det = 0;
    for (int i = 0; i < 3; ++i) {
        const double *a = e[(i + 1) % 3], *b = e[(i + 2) % 3];
        for (int k = 0; k < 3; ++k)
            g[i + 1][k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    for (int k = 0; k < 3; ++k)
        det += e[0][k] * g[1][k];
    for (int k = 0; k < 3; ++k) {
        g[0][k] = 0;
        for (int v = 1; v <= d; ++v) {
            g[v][k] /= det;
            g[0][k] -= g[v][k];
        }
    }
}

/* dt times the largest of sqrt(sum_v (u.grad phi_v)^2 / 2) over the cells: |u| dt / h on a line.
 * The eigenvalues of M^-1 A, A with zero row sums, lie within those of the cells, whose A has rank
 * two: sqrt((d + 1)(d + 2)/2) times that, or with lumped mass sqrt((d + 1)/2) times. The stability
 * limit of the Runge-Kutta method on the imaginary axis is in its table (docs/advection-diffusion.md). */
static void measure_cfl(const checked *of, const means *u, weft_step_limits *out) {
    const weft_mesh *mesh = of->mesh;
    const int d = mesh->dimension;
    double most = 0;
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        double g[4][3], sum = 0;
        find_gradients(mesh, cell, g);
        for (int v = 0; v <= d; ++v) {
            double along = 0;
            for (int k = 0; k < d; ++k)
                along += mean_of(u, k, cell) * g[v][k];
            sum += along * along;
        }
        most = fmax(most, sum);
    }
    out->cfl = of->problem->dt * sqrt(most / 2);
    out->cfl_limit = sqrt(weft_runge_kutta_rows[of->problem->runge_kutta].stable /
                          ((d + 1) * (of->problem->lumped ? 1.0 : d + 2.0) / 2));
}

/* theta < 1/2: dt (1 - 2 theta) times the largest eigenvalue of M^-1 S must not exceed 2; that is
 * at most (d + 1)(d + 2), or with lumped mass d + 1, times sum_v grad phi_v.mu grad phi_v in some
 * cell. */
static double limit_of_theta(const checked *of, const means *mu) {
    const weft_mesh *mesh = of->mesh;
    const int d = mesh->dimension;
    double most = 0;
    if (of->problem->theta >= 0.5)
        return INFINITY;
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
        double g[4][3], sum = 0;
        find_gradients(mesh, cell, g);
        for (int v = 0; v <= d; ++v)
            for (int i = 0; i < d; ++i)
                for (int k = 0; k < d; ++k)
                    sum += mu->n > 1 ? g[v][i] * mean_of(mu, i * d + k, cell) * g[v][k]
                           : i == k  ? g[v][i] * mean_of(mu, 0, cell) * g[v][i]
                                     : 0;
        most = fmax(most, sum);
    }
    most *= (d + 1) * (of->problem->lumped ? 1.0 : d + 2.0) * (1 - 2 * of->problem->theta) / 2;
    return 1 / most;
}

weft_status weft_advection_diffusion_check(weft_context *context,
                                           const weft_advection_diffusion_problem *problem,
                                           weft_step_limits *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(problem->space);
    const checked of = {context, problem, mesh};
    const bool is_null = weft_device_limits(context->device)->records_only;
    means u = {0}, mu = {0};
    *out = (weft_step_limits){NAN, NAN, INFINITY};
    if (problem->n_velocity > 0) {
        TRY(means_make(&of, problem->velocity, problem->n_velocity, &u, error));
        if (!is_null)
            TRY(check_finite(mesh, &u, error));
        measure_cfl(&of, &u, out);
        TRY(weft_comm_maximum(context->comm, &out->cfl, error));
    }
    if (problem->n_diffusivity > 0) {
        TRY(means_make(&of, problem->diffusivity, problem->n_diffusivity, &mu, error));
        if (is_null)
            goto done;
        TRY(check_finite(mesh, &mu, error));
        TRY(mu.n == 1 ? check_scalar(mesh, &mu, error) : check_tensor(mesh, &mu, error));
        double rate = 1 / limit_of_theta(&of, &mu);
        TRY(weft_comm_maximum(context->comm, &rate, error));
        out->dt_diffusion = 1 / rate;
    }
done:
    means_clear(&u);
    means_clear(&mu);
    return status;
}

static bool use_time(const weft_expression *formulas, int n) {
    for (int i = 0; i < n; ++i)
        if (weft_has_word(formulas[i].text, "t"))
            return true;
    return false;
}

bool weft_advection_diffusion_moves(const weft_advection_diffusion_problem *problem) {
    bool moves = use_time(problem->velocity, problem->n_velocity) ||
                 use_time(problem->diffusivity, problem->n_diffusivity);
    for (int i = 0; i < problem->n_conditions; ++i)
        moves |= problem->conditions[i].kind == WEFT_ROBIN &&
                 weft_has_word(problem->conditions[i].alpha, "t");
    return moves;
}

bool weft_advection_diffusion_reassembles(const weft_advection_diffusion_problem *problem) {
    return problem->reassemble == WEFT_REASSEMBLE_EVERY_STEP ||
           (problem->reassemble == WEFT_REASSEMBLE_AUTO && weft_advection_diffusion_moves(problem));
}
