/* Checks at t = 0 the cell means of the coefficients, which the operators use: mu must be positive
 * definite, and u limits the time step (CFL). */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdlib.h>

typedef struct means {
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
static weft_status evaluate(ad_run *run, const ad_formulas *formulas, means *m, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const e[] = {"e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8"};
    static const char *const c[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"};
    const char *outputs[9];
    weft_memory *memories[9];
    const double zero = 0;
    int n = 0;
    weft_text text = {0};
    weft_memory *when = NULL;
    weft_bound_form form;
    TRY(weft_memory_make(run->base.device, sizeof zero, &when, error));
    TRY(weft_form_ship(run->base.problem->space, "cell_points.weft",
                       weft_space_cells(run->base.problem->space), &form, error));
    weft_form_bind_input(&form, "when", when);
    weft_text_add(&text, "%s", form.form.text);
    for (int i = 0; i < formulas->n; ++i) {
        if (!m->values[i])
            continue;
        weft_text_add(&text,
                      "expression %s(x, y, z, t) = 0;\n%s = quadrature_mean(%s(P, when), d = d, "
                      "degree = 2);\n",
                      e[i], c[i], e[i]);
        weft_form_bind_expression(&form, e[i], formulas->list[i].text, formulas->list[i].origin);
        outputs[n] = c[i];
        memories[n++] = m->memories[i];
    }
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    form.form.text = text.data;
    TRY(weft_form_run(&run->base.context, &form.form,
                      &(weft_form_outputs){outputs, memories, n, "cells", run->base.mesh->n_cells},
                      error));
    for (int i = 0; i < formulas->n && !run->base.is_null; ++i)
        if (m->values[i])
            TRY(weft_vector_pull(m->memories[i], m->values[i], run->base.mesh->n_cells, error));
done:
    weft_text_free(&text);
    weft_memory_free(&when);
    return status;
}

static weft_status means_make(ad_run *run, const ad_formulas *formulas, means *m,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t lanes = weft_device_limits(run->base.device)->lanes_double;
    const int64_t room = (run->base.mesh->n_cells + lanes - 1) / lanes * lanes;
    bool is_constant = true;
    m->n = formulas->n;
    for (int i = 0; i < m->n; ++i) {
        if (weft_formula_constant(formulas->list[i].text, &m->constants[i]))
            continue;
        is_constant = false;
        TRY(weft_vector_make(run->base.device, room, &m->values[i], &m->memories[i], error));
    }
    if (!is_constant)
        TRY(evaluate(run, formulas, m, error));
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

static const char *print_centre(const ad_run *run, int64_t cell, char out[64]) {
    double centre[3];
    centre_of(run->base.mesh, cell, centre);
    return weft_point_text(centre, run->base.mesh->dimension, out);
}

static weft_status check_finite(const ad_run *run, const ad_formulas *formulas, const means *m,
                                weft_error *error) {
    for (int i = 0; i < m->n; ++i)
        for (int64_t cell = 0; m->values[i] && cell < run->base.mesh->n_cells; ++cell)
            if (!isfinite(m->values[i][cell])) {
                double centre[3];
                centre_of(run->base.mesh, cell, centre);
                return ad_refuse_value(formulas->list[i].origin, formulas->list[i].text, centre,
                                       run->base.mesh->dimension, 0, error);
            }
    return WEFT_OK;
}

/* ---- mu -------------------------------------------------------------------------------------- */

/* Eigenvalues of a symmetric matrix, ascending, by Jacobi's rotations (Golub and Van Loan 2013,
 * section 8.5). a is destroyed. */
static void find_eigenvalues(double a[3][3], int d, double out[3]) {
    for (int sweep = 0; sweep < 30; ++sweep)
        for (int p = 0; p < d; ++p)
            for (int q = p + 1; q < d; ++q) {
                if (a[p][q] == 0)
                    continue;
                const double tau = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = copysign(1, tau) / (fabs(tau) + hypot(1, tau));
                const double c = 1 / hypot(1, t), s = t * c;
                for (int k = 0; k < d; ++k) {
                    const double kp = a[k][p], kq = a[k][q];
                    a[k][p] = c * kp - s * kq;
                    a[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < d; ++k) {
                    const double pk = a[p][k], qk = a[q][k];
                    a[p][k] = c * pk - s * qk;
                    a[q][k] = s * pk + c * qk;
                }
            }
    for (int i = 0; i < d; ++i) {
        int k = i;
        for (; k > 0 && out[k - 1] > a[i][i]; --k)
            out[k] = out[k - 1];
        out[k] = a[i][i];
    }
}

static weft_status refuse_tensor(const ad_run *run, int64_t cell, const double *eigenvalues,
                                 weft_error *error) {
    const int d = run->base.mesh->dimension;
    char centre[64], third[32] = "";
    if (d == 3)
        snprintf(third, sizeof third, ", %g", eigenvalues[2]);
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "this tensor is not positive definite at %s: its eigenvalues there are %g, %g%s",
                   print_centre(run, cell, centre), eigenvalues[0], eigenvalues[1], third);
    weft_error_location(error, "--diffusivity", NULL, 0, 0);
    weft_error_hint(error,
                    "heat would flow towards the warmer side: all eigenvalues must be above 0");
    return WEFT_ERROR_INPUT;
}

static weft_status refuse_entries(const ad_run *run, int64_t cell, int i, int k, double a[3][3],
                                  weft_error *error) {
    char centre[64];
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "this tensor is not symmetric at %s: E%d%d is %g, E%d%d is %g",
                   print_centre(run, cell, centre), i + 1, k + 1, a[i][k], k + 1, i + 1, a[k][i]);
    weft_error_location(error, "--diffusivity", NULL, 0, 0);
    weft_error_hint(error, "write the same expression at both places");
    return WEFT_ERROR_INPUT;
}

static weft_status check_scalar(const ad_run *run, const means *m, weft_error *error) {
    for (int64_t cell = 0; cell < run->base.mesh->n_cells; ++cell) {
        const double mu = mean_of(m, 0, cell);
        char centre[64];
        if (mu >= 0)
            continue;
        weft_error_set(error, WEFT_ERROR_INPUT, "the diffusivity is negative at %s: %g",
                       print_centre(run, cell, centre), mu);
        weft_error_location(error, "--diffusivity", run->options->diffusivity.list[0].text, 1, 1);
        weft_error_hint(error,
                        "heat would flow towards the warmer side: give one that is not below 0");
        return WEFT_ERROR_INPUT;
    }
    return WEFT_OK;
}

static weft_status check_tensor(const ad_run *run, const means *m, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = run->base.mesh->dimension;
    bool is_constant = true;
    for (int i = 0; i < m->n; ++i)
        is_constant &= m->values[i] == NULL;
    for (int64_t cell = 0; cell < (is_constant ? 1 : run->base.mesh->n_cells); ++cell) {
        double a[3][3] = {{0}}, eigenvalues[3] = {0}, largest = 0;
        for (int i = 0; i < d * d; ++i) {
            a[i / d][i % d] = mean_of(m, i, cell);
            largest = fmax(largest, fabs(a[i / d][i % d]));
        }
        for (int i = 0; i < d; ++i)
            for (int k = 0; k < i; ++k)
                if (fabs(a[i][k] - a[k][i]) > 1e-12 * largest)
                    TRY(refuse_entries(run, cell, k, i, a, error));
        find_eigenvalues(a, d, eigenvalues);
        if (!(eigenvalues[0] > 1e-14 * largest))
            TRY(refuse_tensor(run, cell, eigenvalues, error));
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
 * limit of the Runge-Kutta method on the imaginary axis is sqrt(8)
 * (docs/advection-diffusion.md). */
static void measure_cfl(ad_run *run, const means *u) {
    const weft_mesh *mesh = run->base.mesh;
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
    run->cfl = run->options->dt * sqrt(most / 2);
    run->cfl_limit = sqrt(8 / ((d + 1) * (run->options->lumped ? 1.0 : d + 2.0) / 2));
    if (run->cfl > run->cfl_limit)
        weft_log(
            &run->base.messages->monitor, WEFT_LOG_WARNING,
            "the CFL number is %.3g, above %.3g, up to which the advection is stable: take --dt "
            "%.3g or less",
            run->cfl, run->cfl_limit, run->options->dt * run->cfl_limit / run->cfl * 0.99);
}

/* theta < 1/2: dt (1 - 2 theta) times the largest eigenvalue of M^-1 S must not exceed 2; that is
 * at most (d + 1)(d + 2), or with lumped mass d + 1, times sum_v grad phi_v.mu grad phi_v in some
 * cell. */
static void check_theta(const ad_run *run, const means *mu) {
    const weft_mesh *mesh = run->base.mesh;
    const int d = mesh->dimension;
    double most = 0;
    if (run->options->theta >= 0.5)
        return;
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
    most *= (d + 1) * (run->options->lumped ? 1.0 : d + 2.0) * (1 - 2 * run->options->theta) / 2;
    if (run->options->dt * most > 1)
        weft_log(
            &run->base.messages->monitor, WEFT_LOG_WARNING,
            "with --theta %g the diffusion is surely stable only up to --dt %.3g; from --theta "
            "0.5 on it always is",
            run->options->theta, 0.99 / most);
}

weft_status ad_coefficients_check(ad_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const ad_options *options = run->options;
    means u = {0}, mu = {0};
    if (!ad_formulas_vanish(&options->velocity)) {
        TRY(means_make(run, &options->velocity, &u, error));
        if (!run->base.is_null)
            TRY(check_finite(run, &options->velocity, &u, error));
        measure_cfl(run, &u);
    }
    if (!ad_formulas_vanish(&options->diffusivity)) {
        TRY(means_make(run, &options->diffusivity, &mu, error));
        if (run->base.is_null)
            goto done;
        TRY(check_finite(run, &options->diffusivity, &mu, error));
        TRY(mu.n == 1 ? check_scalar(run, &mu, error) : check_tensor(run, &mu, error));
        check_theta(run, &mu);
    }
done:
    means_clear(&u);
    means_clear(&mu);
    return status;
}
