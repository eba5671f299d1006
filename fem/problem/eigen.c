/* Finds the eigenvalues of a problem with a mass: makes its two matrices, and what approximates the inverse of the first. */
#include "fem/eigen/eigen.h"
#include "core/base/options.h"
#include "fem/precondition/levels.h"
#include "fem/problem/output.h"
#include "fem/problem/problem.h"
#include "fem/time/rename.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS_MOST = 1000 };

struct weft_eigen {
    weft_eigen_report report;
    weft_eigenpairs pairs;
    double *errors;
};

void weft_eigen_free(weft_eigen **out) {
    weft_eigen *eigen = out ? *out : NULL;
    if (!eigen)
        return;
    weft_eigenpairs_clear(&eigen->pairs);
    free(eigen->errors);
    free(eigen);
    *out = NULL;
}

const weft_eigen_report *weft_eigen_reported(const weft_eigen *eigen) {
    return &eigen->report;
}

const char *weft_eigen_outcome_name(weft_eigen_outcome outcome) {
    static const char *const names[] = {"converged", "iteration limit reached", "breakdown",
                                        "not a number"};
    return names[outcome];
}

/* ---- what is refused ------------------------------------------------------------------------- */

static weft_status check_problem(const weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    if (problem->forms.is_nonlinear)
        TRY(weft_error_refuse(
            error, WEFT_ERROR_UNSUPPORTED,
            "eigenvalues are those of linear problems, and this one is not",
            "write its matrix as a bilinear form a, at the state that is looked at"));
    if (!problem->forms.is_pencil)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "the problem has no mass for eigenvalues",
                              "write m = inner(u, v)*dx in the form file, or M in the script, and "
                              "bind it with has_mass"));
    if (problem->fields.n > 1)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "eigenvalues of mixed functions are not computed",
                              "write the problem for one function, in a vector element"));
    if (problem->mesh->part || problem->context->comm)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "eigenvalues are not computed on several ranks",
                              "leave out --ranks, or mpirun"));
done:
    return status;
}

static weft_status check_options(const weft_eigen_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_options_check("weft_eigen_options", options->size, sizeof *options, error));
    if (options->n >= 1 && options->n <= WEFT_EIGEN_MOST &&
        (options->n_columns == 0 ||
         (options->n_columns > options->n && options->n_columns <= 2 * WEFT_EIGEN_MOST)))
        goto done;
    status = weft_error_set(error, WEFT_ERROR_USAGE, "%d eigenvalues are out of range", options->n);
    weft_error_hint(error, "ask for 1 to %d, and for more columns than values", WEFT_EIGEN_MOST);
done:
    return status;
}

/* After the conditions: prescribed values, the symmetry and the format of the matrix. */
static weft_status check_prepared(const weft_problem *problem, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = &problem->fields;
    const weft_linear *linear = &problem->system.linear;
    bool has_values = false;
    for (int64_t i = 0; i < fields->n_constrained; ++i)
        has_values |= problem->system.u_values[fields->constrained[i]] != 0;
    if (has_values)
        TRY(weft_error_refuse(error, WEFT_ERROR_INPUT,
                              "a condition prescribes values other than 0, which eigenvectors "
                              "cannot have",
                              "write --dirichlet GROUP=0"));
    if (!problem->system.is_symmetric) {
        status = weft_error_set(
            error, WEFT_ERROR_UNSUPPORTED,
            "the matrix is not symmetric (|K - K^T| is %.1e of |K|), and eigenvalues of such ones "
            "are not computed",
            problem->system.asymmetry);
        weft_error_hint(error, "look for a first derivative, as of convection, or a tensor that is "
                               "not symmetric");
        goto done;
    }
    if (linear->options->until_discretisation)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "eigenvalues are computed to a tolerance",
                              "leave out --until discretisation"));
    const int assembly = linear->options->assembly;
    if (assembly != WEFT_AUTO && !weft_assembly_about((weft_assembly)assembly)->stores_matrix)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "eigenvalues need an operator that stores its matrix",
                              "leave out --assembly, or take csr"));
done:
    return status;
}

/* ---- the matrices ---------------------------------------------------------------------------- */

/* The operators of a pencil, and what is made of them. Start from {0}; parts_clear. */
typedef struct parts {
    weft_problem *problem;
    weft_bound_form *bound; /* [parts of the problem] of the mass, malloc'd */
    weft_text *texts;
    weft_operator *mass;
    weft_reduction *reduction; /* of the mass; NULL: nothing is dependent */
    double *own[2];            /* values of matrices that are kept on a GPU */
    double *null;              /* [n_null][n_dofs] */
    int32_t *held; /* [n_held] ascending dofs that are left out, and those that pin null vectors */
    int64_t n_held;
    double *copy; /* [n_dofs] */
    weft_memory *r, *z;
} parts;

static void parts_clear(parts *p) {
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
}

static weft_status refuse_mass(const weft_problem *problem, double asymmetry, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "the mass matrix '%s' is not symmetric: |M - M^T| is %.1e of |M|",
                   problem->forms.mass_name ? problem->forms.mass_name : problem->forms.mass,
                   asymmetry);
    weft_error_location(error, problem->forms.file, NULL, 0, 0);
    weft_error_hint(error, "eigenvalues need a symmetric one, such as rho*inner(u, v)*dx");
    return WEFT_ERROR_UNSUPPORTED;
}

/* The form of a part whose local matrix is the mass. */
static weft_status make_mass_form(parts *p, int i, weft_form *out, weft_error *error) {
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
    p->bound[i].form.is_symmetric = false; /* which is said of the matrix */
    *out = p->bound[i].form;
    TRY(weft_form_asymmetry(problem->context, out, &asymmetry, error));
    if (!(asymmetry <= WEFT_SYMMETRIC))
        TRY(refuse_mass(problem, asymmetry, error));
done:
    return status;
}

static weft_status make_mass(parts *p, weft_error *error) {
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
static weft_status reduce(parts *p, weft_error *error) {
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

static weft_system reduced(const weft_problem *problem) {
    const weft_system whole = weft_problem_system(problem);
    return weft_reduction_system(problem->system.reduction, &whole);
}

static weft_status read_matrices(parts *p, weft_pencil *pencil, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_system system = reduced(p->problem);
    const weft_preconditioner_problem K = {.op = system.op};
    const weft_preconditioner_problem M = {
        .op = p->reduction ? weft_reduction_operator(p->reduction) : p->mass};
    TRY(weft_matrix_on_host(&K, &pencil->K, &p->own[0], error));
    TRY(weft_matrix_on_host(&M, &pencil->M, &p->own[1], error));
    pencil->dropped = system.constrained;
    pencil->n_dropped = system.n_constrained;
done:
    return status;
}

/* ---- what nothing holds ---------------------------------------------------------------------- */

/* The constant of a scalar, or modes; 0 in dofs that are left out. */
static weft_status find_null(parts *p, weft_pencil *pencil, weft_error *error) {
    const weft_assembled *system = &p->problem->system;
    const int64_t n = pencil->K.n_rows;
    const int n_null = system->linear.project_mean ? 1 : system->modes.n;
    p->null = calloc((size_t)n_null * (size_t)n + 1, sizeof *p->null);
    if (!p->null)
        return weft_out_of_memory(error, "free modes");
    for (int64_t i = 0; i < n * n_null; ++i)
        p->null[i] = system->linear.project_mean ? 1 : system->modes.modes[i];
    for (int k = 0; k < n_null; ++k)
        for (int64_t i = 0; i < pencil->n_dropped; ++i)
            p->null[k * n + pencil->dropped[i]] = 0;
    pencil->null = p->null;
    pencil->n_null = n_null;
    return WEFT_OK;
}

static int compare(const void *a, const void *b) {
    const int32_t i = *(const int32_t *)a, k = *(const int32_t *)b;
    return (i > k) - (i < k);
}

/* Dofs that pin the null vectors, behind those that are left out: the largest entries in an elimination. */
static weft_status pin(parts *p, const weft_pencil *pencil, int n_pins, weft_error *error) {
    const int64_t n = pencil->K.n_rows;
    p->n_held = pencil->n_dropped + n_pins;
    double *left = malloc((size_t)n_pins * (size_t)n * sizeof *left + 1);
    p->held = malloc((size_t)p->n_held * sizeof *p->held + 1);
    if (!left || !p->held) {
        free(left);
        return weft_out_of_memory(error, "free modes");
    }
    memcpy(p->held, pencil->dropped, (size_t)pencil->n_dropped * sizeof *p->held);
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
        p->held[pencil->n_dropped + k] = (int32_t)at;
    }
    qsort(p->held, (size_t)p->n_held, sizeof *p->held, compare);
    free(left);
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
    parts *p = user;
    weft_linear *linear = &p->problem->system.linear;
    const int64_t n = p->problem->fields.n_dofs;
    if (!linear->preconditioner) { /* none is what was asked for */
        memcpy(z, r, (size_t)n * sizeof *z);
        goto done;
    }
    memcpy(p->copy, r, (size_t)n * sizeof *p->copy);
    for (int64_t k = 0; k < p->n_held; ++k)
        p->copy[p->held[k]] = 0;
    TRY(weft_memory_write(p->r, 0, p->copy, (size_t)n * sizeof *r, error));
    TRY(weft_preconditioner_apply(linear->preconditioner, p->r, p->z, error));
    TRY(weft_memory_read(p->z, 0, z, (size_t)n * sizeof *z, error));
done:
    return status;
}

static weft_status make_inverse(parts *p, weft_pencil *pencil, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = p->problem;
    weft_linear *linear = &problem->system.linear;
    weft_system system = reduced(problem);
    const int n_pins = linear->project_mean ? 0 : pencil->n_null;
    const size_t bytes = (size_t)problem->fields.n_dofs * sizeof(double);
    TRY(pin(p, pencil, n_pins, error));
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
    pencil->user = p;
    pencil->precondition = precondition;
done:
    return status;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Dependent dofs by the others. */
static weft_status expand(parts *p, weft_eigenpairs *pairs, weft_error *error) {
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

static void scale(weft_eigenpairs *pairs, int64_t n_dofs) {
    for (int k = 0; k < pairs->n; ++k) {
        double *u = pairs->vectors + k * n_dofs, most = 0;
        for (int64_t i = 0; i < n_dofs; ++i)
            most = fmax(most, fabs(u[i]));
        for (int64_t i = 0; i < n_dofs && most > 0; ++i)
            u[i] /= most;
    }
}

static weft_status describe(const weft_problem *problem, const weft_eigen_options *options,
                            weft_eigen *eigen, weft_error *error) {
    weft_eigenpairs *pairs = &eigen->pairs;
    const int n = pairs->n;
    const bool has_next = pairs->n_known > n;
    eigen->errors = calloc((size_t)n + 1, sizeof *eigen->errors);
    if (!eigen->errors)
        return weft_out_of_memory(error, "eigenvalues");
    if (options->length == WEFT_EIGEN_COMPONENT)
        scale(pairs, problem->fields.n_dofs);
    for (int k = 0; k < n; ++k)
        eigen->errors[k] = 10 * fabs(pairs->values[k]) * pairs->residuals[k] * pairs->residuals[k];
    weft_eigen_report *report = &eigen->report;
    report->outcome = pairs->outcome;
    report->n = n;
    report->values = pairs->values;
    report->residuals = pairs->residuals;
    report->errors = eigen->errors;
    report->clusters = pairs->cluster;
    report->next = has_next ? pairs->values[n] : NAN;
    report->is_cut = has_next && pairs->cluster[n] == pairs->cluster[n - 1];
    report->n_dofs = problem->fields.n_dofs;
    report->vectors = pairs->vectors;
    report->iterations = pairs->iterations;
    report->n_columns = pairs->n_columns;
    report->applications = pairs->applications;
    report->choice = &problem->system.linear.choice;
    return WEFT_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static weft_status find(parts *p, const weft_eigen_options *options, weft_eigen *eigen,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = p->problem;
    weft_linear *linear = &problem->system.linear;
    weft_pencil pencil = {.device = problem->context->device, .monitor = problem->context->monitor};
    const int limit = linear->options->max_iterations;
    const weft_eigen_settings settings = {.n = options->n,
                                          .n_columns = options->n_columns,
                                          .tolerance = linear->options->tolerance,
                                          .max_iterations = limit >= 0 ? limit : ITERATIONS_MOST};
    TRY(suit_preconditioner(linear, error));
    TRY(weft_problem_operator_make(problem, error));
    TRY(weft_problem_check_fixed(problem, error));
    TRY(make_mass(p, error));
    TRY(reduce(p, error));
    TRY(read_matrices(p, &pencil, error));
    TRY(find_null(p, &pencil, error));
    TRY(make_inverse(p, &pencil, error));
    const double start = weft_context_clock(problem->context);
    TRY(weft_eigen_smallest(&pencil, &settings, &eigen->pairs, error));
    TRY(expand(p, &eigen->pairs, error));
    eigen->report.n_rigid = pencil.n_null;
    eigen->report.seconds = weft_context_clock(problem->context) - start;
    TRY(describe(problem, options, eigen, error));
done:
    return status;
}

weft_status weft_problem_find_eigenvalues(weft_problem *problem, const weft_eigen_options *options,
                                          weft_eigen **out, weft_error *error) {
    weft_status status = WEFT_OK;
    parts p = {.problem = problem};
    weft_eigen *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "eigenvalues"));
    TRY(check_options(options, error));
    TRY(check_problem(problem, error));
    TRY(check_prepared(problem, error));
    TRY(find(&p, options, made, error));
    *out = made;
    made = NULL;
done:
    parts_clear(&p);
    weft_eigen_free(&made);
    return status;
}

weft_status weft_problem_eigenvalues(weft_problem *problem, const weft_problem_options *options,
                                     const weft_eigen_options *eigen, weft_eigen **out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_options_check("weft_problem_options", options->size, sizeof *options, error));
    TRY(check_options(eigen, error));
    TRY(check_problem(problem, error));
    TRY(weft_problem_start_solve(problem, options, eigen->n, error));
    TRY(weft_problem_find_eigenvalues(problem, eigen, out, error));
done:
    return status;
}

/* ---- eigenvectors ---------------------------------------------------------------------------- */

weft_status weft_problem_take_eigenvector(weft_problem *problem, const weft_eigen *eigen, int k,
                                          weft_error *error) {
    const weft_eigen_report *report = &eigen->report;
    if (k < 0 || k >= report->n || report->n_dofs != problem->fields.n_dofs ||
        !problem->system.u_values)
        return weft_error_refuse(error, WEFT_ERROR_USAGE, "the problem has no such eigenvector",
                                 "take one of those that were found, from 0");
    memcpy(problem->system.u_values, report->vectors + k * report->n_dofs,
           (size_t)report->n_dofs * sizeof *report->vectors);
    return weft_vector_push(problem->system.u, problem->system.u_values, report->n_dofs, error);
}

weft_status weft_problem_write_eigenvectors(weft_problem *problem, const weft_eigen *eigen,
                                            const char *path, const char *statement, bool overwrite,
                                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_series series = {.series = NULL};
    const int n = eigen->report.n;
    weft_series_options options = weft_series_options_default();
    options.problem = "";
    options.statement = statement;
    options.at_start = true;
    options.start = 1;
    options.end = n;
    options.n_steps = n > 1 ? n - 1 : 1;
    options.overwrite = overwrite;
    for (int k = 0; k < n; ++k) {
        TRY(weft_problem_take_eigenvector(problem, eigen, k, error));
        const weft_solution u = weft_problem_solution(problem);
        if (k == 0)
            TRY(weft_problem_series_make(&u, path, &options, &series, error));
        TRY(weft_problem_series_add(&u, &series, k + 1, error));
    }
    TRY(weft_problem_series_close(&series, error));
done:
    if (status != WEFT_OK)
        (void)weft_problem_series_close(&series, NULL);
    return status;
}
