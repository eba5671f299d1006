/* Finds the eigenvalues of a problem with a mass: refuses what has none that are computed, chooses the method, and reports. */
#include "core/base/options.h"
#include "fem/problem/output.h"
#include "fem/problem/participation.h"
#include "fem/problem/pencil.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS_MOST = 1000 };

struct weft_eigen {
    weft_eigen_report report;
    weft_eigenpairs pairs;
    weft_participation participation;
    double *errors;
};

void weft_eigen_free(weft_eigen **out) {
    weft_eigen *eigen = out ? *out : NULL;
    if (!eigen)
        return;
    weft_eigenpairs_clear(&eigen->pairs);
    weft_participation_clear(&eigen->participation);
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
    const bool is_known = options->which >= WEFT_EIGEN_SMALLEST &&
                          options->which <= WEFT_EIGEN_BUCKLING && isfinite(options->shift);
    if (is_known && options->n >= 1 && options->n <= WEFT_EIGEN_MOST &&
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

/* ---- the result ------------------------------------------------------------------------------ */

/* Let the largest component be 1, and participation factors those of such vectors. */
static void scale(weft_eigenpairs *pairs, weft_participation *of, int64_t n_dofs) {
    for (int k = 0; k < pairs->n; ++k) {
        double *u = pairs->vectors + k * n_dofs, most = 0;
        for (int64_t i = 0; i < n_dofs; ++i)
            most = fmax(most, fabs(u[i]));
        for (int64_t i = 0; i < n_dofs && most > 0; ++i)
            u[i] /= most;
        for (int d = 0; d < of->n_directions; ++d)
            of->factors[k * of->n_directions + d] *= most;
    }
}

static weft_status describe(const weft_problem_pencil *p, const weft_eigen_options *options,
                            weft_eigen *eigen, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem *problem = p->problem;
    weft_eigenpairs *pairs = &eigen->pairs;
    const int n = pairs->n;
    eigen->errors = calloc((size_t)n + 1, sizeof *eigen->errors);
    if (!eigen->errors)
        TRY(weft_out_of_memory(error, "eigenvalues"));
    TRY(weft_participation_find(p, pairs, &eigen->participation, error));
    if (options->length == WEFT_EIGEN_COMPONENT || p->pencil.is_buckling)
        scale(pairs, &eigen->participation, problem->fields.n_dofs);
    for (int k = 0; k < n; ++k)
        eigen->errors[k] = weft_pencil_size_of(&p->pencil, pairs->values[k]) *
                           fmax(10 * pairs->residuals[k] * pairs->residuals[k], DBL_EPSILON);
    weft_eigen_report *report = &eigen->report;
    report->outcome = pairs->outcome;
    report->n = n;
    report->values = pairs->values;
    report->residuals = pairs->residuals;
    report->errors = eigen->errors;
    report->clusters = pairs->cluster;
    report->next = pairs->next;
    report->cut = pairs->cut;
    report->n_dofs = problem->fields.n_dofs;
    report->vectors = pairs->vectors;
    report->iterations = pairs->iterations;
    report->n_columns = pairs->n_columns;
    report->applications = pairs->applications;
    report->n_directions = eigen->participation.n_directions;
    report->participations = eigen->participation.factors;
    report->effective_masses = eigen->participation.masses;
    report->total_masses = eigen->participation.total;
    report->choice = &problem->system.linear.choice;
done:
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool is_factorization(int kind) {
    return kind >= 0 && (strcmp(weft_preconditioner_about(kind)->name, "lu") == 0 ||
                         strcmp(weft_preconditioner_about(kind)->name, "cholmod") == 0);
}

/* In the plane factors take less time than blocks of vectors do. The smallest values are those nearest to 0 where a Cholesky factorization
 * has shown that none is negative. */
static bool takes_factors(const weft_problem *problem, const weft_eigen_options *options,
                          weft_eigen_report *report) {
    const weft_linear *linear = &problem->system.linear;
    const int components = weft_space_components(problem->fields.space);
    const bool can = weft_problem_has_cholesky(problem->context);
    weft_factorization_cost cost;
    const char *reason = "";
    bool takes = false;
    if (options->which == WEFT_EIGEN_NEAR || options->which == WEFT_EIGEN_BUCKLING)
        return true;
    if (options->which == WEFT_EIGEN_LARGEST)
        return false;
    if (is_factorization(linear->options->preconditioner)) {
        takes = can;
        reason = can ? "a factorization is what was asked for"
                     : "CHOLMOD is not found: the factors precondition";
    } else if (linear->options->preconditioner == WEFT_AUTO && problem->mesh->dimension < 3) {
        takes = can && weft_linear_may_factorise(linear, problem->fields.n_dofs / components,
                                                 components, &cost);
        reason = takes ? "automatic: in the plane factors are fast"
                       : "automatic: no factorization of so many unknowns, or no library for one";
    } else if (linear->options->preconditioner == WEFT_AUTO) {
        reason = "automatic: in space factors are slow";
    }
    (void)snprintf(report->reason, sizeof report->reason, "%s", reason);
    return takes;
}

static weft_status run(weft_problem_pencil *p, const weft_eigen_options *options,
                       const weft_eigen_settings *settings, weft_eigen *eigen, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = p->problem->context;
    const bool by_factors = takes_factors(p->problem, options, &eigen->report);
    const double shift = options->which == WEFT_EIGEN_NEAR ? options->shift : 0;
    eigen->report.method = by_factors ? "Lanczos" : "LOBPCG";
    p->pencil.is_buckling = options->which == WEFT_EIGEN_BUCKLING;
    if (p->pencil.is_buckling && p->pencil.n_null > 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_INPUT,
                              "nothing holds u, and loads at which it buckles need a positive "
                              "definite matrix",
                              "fix it, by --dirichlet GROUP=0, or --symmetry"));
    if (by_factors)
        TRY(weft_problem_pencil_factorise(p, shift, options->which != WEFT_EIGEN_NEAR, error));
    else if (options->which == WEFT_EIGEN_SMALLEST)
        TRY(weft_problem_pencil_precondition(p, error));
    const double start = weft_context_clock(context);
    TRY(by_factors ? weft_eigen_near(&p->pencil, settings, &eigen->pairs, error)
        : options->which == WEFT_EIGEN_LARGEST
            ? weft_eigen_largest(&p->pencil, settings, &eigen->pairs, error)
            : weft_eigen_smallest(&p->pencil, settings, &eigen->pairs, error));
    TRY(weft_problem_pencil_expand(p, &eigen->pairs, error));
    eigen->report.n_rigid = p->pencil.n_null;
    eigen->report.seconds = weft_context_clock(context) - start;
    eigen->report.factor_seconds = p->seconds;
    if (by_factors)
        (void)snprintf(eigen->report.factors, sizeof eigen->report.factors, "%s",
                       weft_external_description(p->factors));
done:
    return status;
}

static weft_status find(weft_problem_pencil *p, const weft_eigen_options *options,
                        weft_eigen *eigen, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_options *solve = p->problem->system.linear.options;
    const weft_eigen_settings settings = {
        .n = options->n,
        .n_columns = options->n_columns,
        .tolerance = solve->tolerance,
        .max_iterations = solve->max_iterations >= 0 ? solve->max_iterations : ITERATIONS_MOST};
    TRY(weft_problem_pencil_make(p, error));
    TRY(run(p, options, &settings, eigen, error));
    TRY(describe(p, options, eigen, error));
done:
    return status;
}

weft_status weft_problem_find_eigenvalues(weft_problem *problem, const weft_eigen_options *options,
                                          weft_eigen **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_pencil p = {.problem = problem};
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
    weft_problem_pencil_clear(&p);
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
