/* Makes the matrices of a problem whose eigenvalues are wanted, and inverses of the first, by its preconditioner or by factors. */
#include "fem/problem/pencil.h"
#include "fem/base/marks.h"
#include "fem/precondition/levels.h"
#include "fem/time/rename.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the matrices ---------------------------------------------------------------------------- */

void weft_problem_pencil_clear(weft_problem_pencil *p) {
    weft_external_free(&p->factors);
    weft_csr_clear(&p->shifted);
    weft_reduction_free(&p->reduction);
    weft_operator_free(&p->mass);
    for (int i = 0; p->texts && i < p->problem->forms.n_parts; ++i)
        weft_text_free(&p->texts[i]);
    free(p->texts);
    free(p->bound);
    free(p->own[0]);
    free(p->own[1]);
    free(p->null);
    free(p->held);
    free(p->copy);
    weft_memory_free(&p->r);
    weft_memory_free(&p->z);
    weft_memory_free(&p->zero);
}

static weft_status refuse_mass(const weft_problem_pencil *p, double asymmetry, weft_error *error) {
    const weft_problem_forms *forms = &p->problem->forms;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "the mass matrix '%s' is not symmetric: |M - M^T| is %.1e of |M|",
                   forms->mass_name ? forms->mass_name : forms->mass, asymmetry);
    weft_error_location(error, forms->file, NULL, 0, 0);
    weft_error_hint(error, "eigenvalues need a symmetric one, such as rho*inner(u, v)*dx");
    return WEFT_ERROR_UNSUPPORTED;
}

/* The form of a part whose local matrix is the mass. */
static weft_status make_mass_form(weft_problem_pencil *p, int i, weft_form *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem *problem = p->problem;
    const char *name = problem->forms.mass;
    double asymmetry = 0;
    weft_time_rename(&p->texts[i], problem->forms.parts[i].bound.form.text);
    weft_text_add(&p->texts[i], "\nK = 1*%s;\n",
                  strcmp(name, "K") == 0 ? weft_time_own_matrix : name);
    if (p->texts[i].failed)
        TRY(weft_out_of_memory(error, "a mass"));
    weft_time_copy_form(&problem->forms.parts[i].bound.form, p->texts[i].data, &p->bound[i]);
    *out = p->bound[i].form;
    TRY(weft_form_asymmetry(problem->context, out, &asymmetry, error));
    if (!(asymmetry <= WEFT_SYMMETRIC))
        TRY(refuse_mass(p, asymmetry, error));
done:
    return status;
}

static weft_status make_mass(weft_problem_pencil *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem *problem = p->problem;
    const size_t n_parts = (size_t)problem->forms.n_parts;
    weft_form *forms = calloc(n_parts + 1, sizeof *forms);
    int n = 0;
    p->bound = calloc(n_parts + 1, sizeof *p->bound);
    p->texts = calloc(n_parts + 1, sizeof *p->texts);
    if (!forms || !p->bound || !p->texts)
        TRY(weft_out_of_memory(error, "a mass"));
    for (int i = 0; i < problem->forms.n_parts; ++i)
        if (problem->forms.parts[i].has_mass)
            TRY(make_mass_form(p, i, &forms[n++], error));
    TRY(weft_operator_make(problem->context, WEFT_ASSEMBLY_CSR, forms, n, &p->mass, error));
    TRY(weft_operator_assemble(p->mass, error));
done:
    free(forms);
    return status;
}

/* C^T K C and C^T M C, where there are dependent dofs. */
static weft_status reduce(weft_problem_pencil *p, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_assembled *system = &p->problem->system;
    TRY(weft_problem_reduce(p->problem, error));
    if (!system->reduction)
        goto done;
    TRY(weft_reduction_update(system->reduction, system->op, error));
    TRY(weft_reduction_make(system->constraints, &p->reduction, error));
    TRY(weft_reduction_update(p->reduction, p->mass, error));
done:
    return status;
}

static weft_system reduced(const weft_problem_pencil *p) {
    const weft_system whole = weft_problem_system(p->problem);
    return weft_reduction_system(p->problem->system.reduction, &whole);
}

static weft_status read_matrices(weft_problem_pencil *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_system system = reduced(p);
    const weft_preconditioner_problem K = {.op = system.op};
    const weft_preconditioner_problem M = {
        .op = p->reduction ? weft_reduction_operator(p->reduction) : p->mass};
    TRY(weft_matrix_on_host(&K, &p->pencil.K, &p->own[0], error));
    TRY(weft_matrix_on_host(&M, &p->pencil.M, &p->own[1], error));
    p->pencil.dropped = system.constrained;
    p->pencil.n_dropped = system.n_constrained;
done:
    return status;
}

/* ---- what nothing holds ---------------------------------------------------------------------- */

/* The constant of a scalar, or modes; 0 in dofs that are left out. */
static weft_status find_null(weft_problem_pencil *p, weft_error *error) {
    const weft_assembled *system = &p->problem->system;
    const int64_t n = p->pencil.K.n_rows;
    const int n_null = system->linear.project_mean ? 1 : system->modes.n;
    p->null = calloc((size_t)n_null * (size_t)n + 1, sizeof *p->null);
    if (!p->null)
        return weft_out_of_memory(error, "free modes");
    for (int64_t i = 0; i < n * n_null; ++i)
        p->null[i] = system->linear.project_mean ? 1 : system->modes.modes[i];
    for (int k = 0; k < n_null; ++k)
        for (int64_t i = 0; i < p->pencil.n_dropped; ++i)
            p->null[k * n + p->pencil.dropped[i]] = 0;
    p->pencil.null = p->null;
    p->pencil.n_null = n_null;
    return WEFT_OK;
}

/* Dofs that pin the null vectors, besides those that are left out: the largest entries in an elimination. */
static weft_status pin(weft_problem_pencil *p, int n_pins, weft_error *error) {
    const int64_t n = p->pencil.K.n_rows;
    double *left = malloc((size_t)n_pins * (size_t)n * sizeof *left + 1);
    unsigned char *is_held = weft_marks_of(p->pencil.dropped, p->pencil.n_dropped, n);
    p->held = malloc((size_t)(p->pencil.n_dropped + n_pins) * sizeof *p->held + 1);
    if (!left || !is_held || !p->held) {
        free(left);
        free(is_held);
        return weft_out_of_memory(error, "free modes");
    }
    memcpy(left, p->null, (size_t)n_pins * (size_t)n * sizeof *left);
    for (int k = 0; k < n_pins; ++k) {
        int64_t at = 0;
        double *row = left + k * n;
        for (int64_t i = 0; i < n; ++i)
            at = fabs(row[i]) > fabs(row[at]) ? i : at;
        for (int other = k + 1; other < n_pins; ++other) {
            const double factor = left[other * n + at] / row[at];
            for (int64_t i = 0; i < n; ++i)
                left[other * n + i] -= factor * row[i];
        }
        is_held[at] = 1;
    }
    p->n_held = weft_marks_count(is_held, n);
    weft_marks_list(is_held, n, p->held);
    free(left);
    free(is_held);
    return WEFT_OK;
}

/* ---- the approximate inverse ----------------------------------------------------------------- */

/* Jacobi's preconditioner, which a solve of little work takes, needs ten times the iterations, each of them on all of the vectors. */
static weft_status suit_preconditioner(weft_linear *linear, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_choice *choice = &linear->choice;
    if (linear->options->preconditioner != WEFT_AUTO || choice->preconditioner >= 0)
        goto done;
    TRY(weft_preconditioner_find("aggregation", &choice->preconditioner, error));
    (void)snprintf(choice->preconditioner_reason, sizeof choice->preconditioner_reason,
                   "eigenvalues want more than the diagonal");
done:
    return status;
}

/* Where null vectors are pinned, the inverse is that of K but for these. */
static weft_status precondition(void *user, const double *r, double *z, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_pencil *p = user;
    weft_linear *linear = &p->problem->system.linear;
    const int64_t n = p->problem->fields.n_dofs;
    if (!linear->preconditioner) { /* none is what was asked for */
        memcpy(z, r, (size_t)n * sizeof *z);
        goto done;
    }
    if (p->n_held > p->pencil.n_dropped) { /* in others it is 0 */
        memcpy(p->copy, r, (size_t)n * sizeof *p->copy);
        for (int64_t k = 0; k < p->n_held; ++k)
            p->copy[p->held[k]] = 0;
        r = p->copy;
    }
    TRY(weft_memory_write(p->r, 0, r, (size_t)n * sizeof *r, error));
    TRY(weft_preconditioner_apply(linear->preconditioner, p->r, p->z, error));
    TRY(weft_memory_read(p->z, 0, z, (size_t)n * sizeof *z, error));
done:
    return status;
}

/* The same without copies to the host. Residuals are 0 in dropped rows, so that those are left which pin null vectors. */
static weft_status precondition_on_device(void *user, weft_memory *r, weft_memory *z,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_pencil *p = user;
    weft_linear *linear = &p->problem->system.linear;
    for (int64_t k = 0, next = 0; k < p->n_held && p->n_held > p->pencil.n_dropped; ++k)
        if (next < p->pencil.n_dropped && p->pencil.dropped[next] == p->held[k])
            ++next;
        else
            TRY(weft_memory_copy_part(r, (size_t)p->held[k] * sizeof(double), p->zero, 0,
                                      sizeof(double), error));
    TRY(linear->preconditioner ? weft_preconditioner_apply(linear->preconditioner, r, z, error)
                               : weft_memory_copy(z, r, weft_memory_bytes(z), error));
done:
    return status;
}

weft_status weft_problem_pencil_precondition(weft_problem_pencil *p, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = p->problem;
    weft_linear *linear = &problem->system.linear;
    weft_system system = reduced(p);
    const int n_pins = linear->project_mean ? 0 : p->pencil.n_null;
    const size_t bytes = (size_t)problem->fields.n_dofs * sizeof(double);
    TRY(suit_preconditioner(linear, error));
    TRY(pin(p, n_pins, error));
    system.constrained = p->held;
    system.n_constrained = p->n_held;
    linear->solves_once = true;
    TRY(weft_linear_precondition(linear, &system, error));
    if (!linear->preconditioner && linear->choice.preconditioner == WEFT_JACOBI)
        goto done;
    p->copy = malloc(bytes + 1);
    if (!p->copy)
        TRY(weft_out_of_memory(error, "eigenvalues"));
    TRY(weft_memory_make(problem->context->device, bytes, &p->r, error));
    TRY(weft_memory_make(problem->context->device, bytes, &p->z, error));
    TRY(weft_memory_make(problem->context->device, sizeof(double), &p->zero, error));
    p->pencil.user = p;
    p->pencil.precondition = precondition;
    p->pencil.precondition_on_device = precondition_on_device;
done:
    return status;
}

/* ---- factors --------------------------------------------------------------------------------- */

static bool is_on_gpu(const weft_problem_pencil *p) {
    return weft_device_limits(p->problem->context->device)->execution == WEFT_EXECUTION_SIMT;
}

bool weft_problem_has_cholesky(const weft_context *context) {
    return weft_device_limits(context->device)->execution != WEFT_EXECUTION_SIMT &&
           weft_external_is_found(WEFT_EXTERNAL_CHOLMOD);
}

/* CHOLMOD for what has to be definite, otherwise the first library of those that take any symmetric matrix. */
static bool find_library(const weft_problem_pencil *p, bool is_definite, weft_external_kind *out) {
    bool found = false;
    *out = WEFT_EXTERNAL_CHOLMOD;
    if (is_definite)
        return weft_problem_has_cholesky(p->problem->context);
    for (int i = 0; i < weft_external_count() && !found && !is_on_gpu(p); ++i) {
        const weft_external_info *info = weft_external_about((weft_external_kind)i);
        *out = (weft_external_kind)i;
        found = info->takes_indefinite && !info->on_gpu && weft_external_is_found(*out);
    }
    return found;
}

static weft_status invert(void *user, const double *r, double *z, weft_error *error) {
    weft_problem_pencil *p = user;
    return weft_external_apply(p->factors, r, z, error);
}

static weft_status refuse_factors(const weft_problem_pencil *p, bool is_definite,
                                  weft_error *error) {
    const bool on_gpu = is_on_gpu(p);
    if (is_definite && !on_gpu)
        return weft_error_refuse(
            error, WEFT_ERROR_UNSUPPORTED,
            "buckling needs a Cholesky factorization, and CHOLMOD is not found",
            "install libcholmod3 (Debian)");
    return weft_error_refuse(
        error, WEFT_ERROR_UNSUPPORTED,
        on_gpu ? "eigenvalues by a factorization are computed on the host"
               : "eigenvalues near a shift need a factorization, and neither UMFPACK nor MUMPS is "
                 "found",
        on_gpu ? "take --device host, or the smallest values by --preconditioner aggregation"
               : "install libumfpack5 (Debian), or libmumps-seq-5.5");
}

weft_status weft_problem_pencil_factorise(weft_problem_pencil *p, double shift, bool is_definite,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = p->problem->fields.space;
    const double start = weft_context_clock(p->problem->context);
    const int n_pins = shift == 0 ? p->pencil.n_null : 0;
    weft_external_kind library = WEFT_EXTERNAL_CHOLMOD;
    p->pencil.shift = shift;
    if (!find_library(p, is_definite, &library))
        TRY(refuse_factors(p, is_definite, error));
    TRY(pin(p, n_pins, error));
    TRY(weft_pencil_shifted(&p->pencil, &p->shifted, error));
    p->pattern = (weft_pattern){p->shifted.n_rows, p->shifted.row_start[p->shifted.n_rows],
                                p->shifted.row_start, p->shifted.columns};
    const weft_external_matrix matrix = {.pattern = &p->pattern,
                                         .values = p->shifted.values,
                                         .constrained = p->held,
                                         .n_constrained = p->n_held,
                                         .components = weft_space_components(space),
                                         .dimension = p->problem->mesh->dimension,
                                         .coordinates = weft_space_points(space),
                                         .device = p->problem->context->device};
    status = weft_external_make(library, &matrix, NULL, &p->factors, error);
    if (status == WEFT_ERROR_INPUT && p->pencil.is_buckling)
        weft_error_hint(error, "look at the sign of the form a, and at what holds u");
    else if (status == WEFT_ERROR_INPUT && is_definite)
        weft_error_hint(error,
                        "values of a matrix that has negative ones, or a null space as that of "
                        "curl curl, are found near a shift, by --near");
    TRY(status);
    p->pencil.invert = invert;
    p->pencil.user = p;
    p->seconds = weft_context_clock(p->problem->context) - start;
done:
    return status;
}

/* ---- dependent dofs -------------------------------------------------------------------------- */

weft_status weft_problem_pencil_expand(weft_problem_pencil *p, weft_eigenpairs *pairs,
                                       weft_error *error) {
    weft_status status = WEFT_OK;
    weft_assembled *system = &p->problem->system;
    const size_t bytes = (size_t)p->problem->fields.n_dofs * sizeof(double);
    for (int k = 0; k < pairs->n && system->reduction; ++k) {
        double *u = pairs->vectors + k * p->problem->fields.n_dofs;
        TRY(weft_memory_write(system->u, 0, u, bytes, error));
        TRY(weft_reduction_fill(system->reduction, 0, system->u, error));
        TRY(weft_memory_read(system->u, 0, u, bytes, error));
    }
done:
    return status;
}

weft_status weft_problem_pencil_make(weft_problem_pencil *p, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = p->problem;
    p->pencil.device = problem->context->device;
    p->pencil.monitor = problem->context->monitor;
    TRY(weft_problem_operator_make(problem, error));
    TRY(weft_problem_check_fixed(problem, error));
    TRY(make_mass(p, error));
    TRY(reduce(p, error));
    TRY(read_matrices(p, error));
    TRY(find_null(p, error));
done:
    return status;
}
