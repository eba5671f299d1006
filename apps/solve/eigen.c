/* Finds, prints and writes eigenvalues: --eigenvalues. */
#include "apps/solve/eigen.h"
#include "apps/solve/solve.h"
#include "fem/io/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const lengths[] = {"mass", "component", NULL};

static weft_status read_shift(const app_option *row, const char *option, const char *text, void *at,
                              weft_error *error) {
    solve_eigen_options *o = at;
    (void)row;
    o->near = text;
    return app_parse_number(option, text, -1e300, 1e300, &o->shift, error);
}

const app_option solve_eigen_option_table[] = {
    {.help = "Eigenvalues:"},
    {"eigenvalues", "N",
     "Find the N smallest eigenvalues of K u = l M u, with the functions u, of a symmetric matrix "
     "and a mass; loads are left out",
     APP_INTEGER(solve_eigen_options, n, 1, WEFT_EIGEN_MOST)},
    {"near", "SHIFT",
     "Those that are nearest to SHIFT instead, of any symmetric matrix, by a factorization",
     .read = read_shift},
    {"largest", NULL, "The largest instead, of matrices that are positive definite",
     APP_FLAG(solve_eigen_options, largest, true)},
    {"buckling", NULL,
     "Those nearest to 0, of both signs, where m is the form of stresses: factors of the loads at "
     "which a structure buckles",
     APP_FLAG(solve_eigen_options, buckling, true)},
    {"frequencies", NULL, "Print frequencies too, sqrt(l)/(2 pi), of a vibration",
     APP_FLAG(solve_eigen_options, frequencies, true)},
    {"participation", NULL,
     "Print participation factors and effective masses of the directions too, in which the ground "
     "could shake the structure",
     APP_FLAG(solve_eigen_options, participation, true)},
    {"normalise", "LENGTH",
     "What is 1 of an eigenvector: mass, u.M u (default), or component, the largest one",
     APP_CHOICE(solve_eigen_options, length, lengths)},
    {0}};

/* ---- checks ---------------------------------------------------------------------------------- */

static const char *contradiction(const solve_options *o) {
    return o->time.text                         ? "--time"
           : o->nonlinear                       ? "--nonlinear"
           : o->gradient                        ? "--gradient"
           : o->exact                           ? "--exact"
           : o->sum                             ? "--sum"
           : o->run.derived.n > 0               ? "--derive, --integral or --extrema"
           : o->run.derived.reactions           ? "--reactions"
           : o->run.probes.n > 0                ? "--probe"
           : o->run.lines.n > 0                 ? "--line"
           : o->run.ranks > 1                   ? "--ranks"
           : o->run.solver.until_discretisation ? "--until"
           : o->run.keep_unconverged            ? "--keep-unconverged"
                                                : NULL;
}

weft_status solve_eigen_options_check(const solve_options *options, weft_error *error) {
    const char *other = options->eigen.n > 0 ? contradiction(options) : NULL;
    const solve_eigen_options *eigen = &options->eigen;
    if ((eigen->near != NULL) + eigen->largest + eigen->buckling > 1)
        return weft_error_refuse(error, WEFT_ERROR_USAGE,
                                 "--near, --largest and --buckling exclude each other",
                                 "leave all but one of them out");
    if (eigen->buckling && (eigen->frequencies || eigen->participation))
        return weft_error_refuse(error, WEFT_ERROR_USAGE,
                                 "--frequencies and --participation are of vibrations, and "
                                 "--buckling finds factors of loads",
                                 "leave them out");
    if (!other)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s cannot be used with --eigenvalues", other);
    weft_error_location(error, other, NULL, 0, 0);
    weft_error_hint(error, "leave it out");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status solve_eigen_check(const solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = run->base.options->output;
    const weft_series_options series = {.size = sizeof series,
                                        .problem = "",
                                        .at_start = true,
                                        .start = 1,
                                        .end = run->options->eigen.n,
                                        .n_steps = run->options->eigen.n,
                                        .overwrite = true};
    if (run->base.is_null)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "eigenvalues are not planned on the device null",
                              "leave out --eigenvalues, for the plans of the matrix"));
    TRY(app_files_check(run->base.options, run->options->script, NULL, error));
    if (output)
        TRY(weft_series_check(output, &series, error));
done:
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

static weft_cg_outcome outcome_of(weft_eigen_outcome outcome) {
    return outcome == WEFT_EIGEN_CONVERGED        ? WEFT_CG_CONVERGED
           : outcome == WEFT_EIGEN_MAX_ITERATIONS ? WEFT_CG_MAX_ITERATIONS
           : outcome == WEFT_EIGEN_NAN            ? WEFT_CG_NAN
                                                  : WEFT_CG_BREAKDOWN;
}

weft_status solve_eigen_compute(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_linear *linear = &run->base.problem->system.linear;
    weft_eigen_options options = weft_eigen_options_default();
    const double start = weft_context_clock(&run->base.context);
    options.n = run->options->eigen.n;
    options.which = run->options->eigen.near       ? WEFT_EIGEN_NEAR
                    : run->options->eigen.largest  ? WEFT_EIGEN_LARGEST
                    : run->options->eigen.buckling ? WEFT_EIGEN_BUCKLING
                                                   : WEFT_EIGEN_SMALLEST;
    options.shift = run->options->eigen.shift;
    options.length = (weft_eigen_length)run->options->eigen.length;
    TRY(weft_problem_find_eigenvalues(run->base.problem, &options, &run->eigen, error));
    const weft_eigen_report *report = weft_eigen_reported(run->eigen);
    linear->cg.outcome = outcome_of(report->outcome);
    linear->cg.iterations = report->iterations;
    linear->cg.residual = NAN;
    run->base.seconds.precondition = linear->precondition_seconds + report->factor_seconds;
    run->base.seconds.solve = report->seconds;
    run->base.seconds.assembly += weft_context_clock(&run->base.context) - start - report->seconds -
                                  run->base.seconds.precondition;
done:
    return status;
}

weft_status solve_eigen_write(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    if (!run->base.options->output || !solve_is_solved(run))
        goto done;
    TRY(weft_problem_write_eigenvectors(run->base.problem, run->eigen, run->base.options->output,
                                        run->base.statement, true, error));
    run->base.seconds.output = weft_clock() - start;
done:
    return status;
}

static double frequency(double value) {
    return sqrt(fmax(value, 0)) / (2 * acos(-1));
}

/* How many values are one with this one. */
static int multiplicity(const weft_eigen_report *report, int k) {
    int n = 0;
    for (int i = 0; i < report->n; ++i)
        n += report->clusters[i] == report->clusters[k];
    return n;
}

/* The factors and masses of each direction, and how much of the whole mass those of all vectors are. */
static void print_participation(const weft_eigen_report *report) {
    const int d = report->n_directions;
    if (d == 0)
        printf("            participation factors are not computed of vector elements\n");
    for (int i = 0; i < d; ++i)
        printf("%s  factor %d  effective mass %d", i == 0 ? "            number       " : "      ",
               i + 1, i + 1);
    for (int k = 0; k < report->n && d > 0; ++k) {
        printf("\n            %6d", k + 1);
        for (int i = 0; i < d; ++i)
            printf("  %16.8g %18.10g", report->participations[k * d + i],
                   report->effective_masses[k * d + i]);
    }
    for (int i = 0; i < d; ++i) {
        double sum = 0;
        for (int k = 0; k < report->n; ++k)
            sum += report->effective_masses[k * d + i];
        printf("%s direction %d: %.4g %% of %.10g in all", i == 0 ? "\n           " : ";", i + 1,
               report->total_masses[i] > 0 ? 100 * sum / report->total_masses[i] : 0,
               report->total_masses[i]);
    }
    printf(d > 0 ? "\n" : "");
}

void solve_eigen_print(const solve *run) {
    const weft_eigen_report *report = weft_eigen_reported(run->eigen);
    if (report->factors[0])
        printf("eigenvalues Lanczos, %s in %d rounds, %d solves\n",
               weft_eigen_outcome_name(report->outcome), report->iterations,
               (int)report->applications);
    else
        printf("eigenvalues LOBPCG, %s in %d iterations, %d vectors at once\n",
               weft_eigen_outcome_name(report->outcome), report->iterations, report->n_columns);
    if (report->reason[0])
        printf("            %s\n", report->reason);
    if (report->factors[0])
        printf("            factors of %s\n", report->factors);
    if (report->n_rigid > 0)
        printf("            %d motion%s that nothing holds, of value 0, %s left out\n",
               report->n_rigid, report->n_rigid == 1 ? "" : "s",
               report->n_rigid == 1 ? "is" : "are");
    printf("            number                 value%s   error of it  residual  multiplicity\n",
           run->options->eigen.frequencies ? "         frequency" : "");
    for (int k = 0; k < report->n; ++k) {
        printf("            %6d  %20.12g", k + 1, report->values[k]);
        if (run->options->eigen.frequencies)
            printf("  %16.10g", frequency(report->values[k]));
        printf("  %12.1e  %8.1e  %12d%s\n", report->errors[k], report->residuals[k],
               multiplicity(report, k), report->clusters[k] == report->cut ? " or more" : "");
    }
    if (run->options->eigen.participation)
        print_participation(report);
    if (!report->factors[0])
        app_run_print_preconditioner(&run->base);
}

/* Some frequencies at once, for what has one. */
static json_t *list_frequencies(const weft_eigen_report *report) {
    json_t *array = json_array();
    for (int k = 0; k < report->n; ++k)
        json_array_append_new(array, app_json_real(frequency(report->values[k])));
    return array;
}

static json_t *list_multiplicities(const weft_eigen_report *report) {
    json_t *array = json_array();
    for (int k = 0; k < report->n; ++k)
        json_array_append_new(array, json_integer(multiplicity(report, k)));
    return array;
}

/* [vectors][directions] */
static json_t *list_directions(const weft_eigen_report *report, const double *values) {
    json_t *array = json_array();
    for (int k = 0; k < report->n; ++k)
        json_array_append_new(
            array, app_json_list(values + k * report->n_directions, report->n_directions));
    return array;
}

bool solve_eigen_json(json_t *root, const solve *run) {
    if (!run->eigen)
        return true;
    const weft_eigen_report *report = weft_eigen_reported(run->eigen);
    return (report->factors[0] || app_run_json_preconditioner(root, &run->base)) &&
           app_json_set(root, "outcome", json_string(weft_eigen_outcome_name(report->outcome))) &&
           app_json_set(root, "method", json_string(report->factors[0] ? "lanczos" : "lobpcg")) &&
           app_json_set(root, "method_reason", json_string(report->reason)) &&
           app_json_set(root, "factors", app_json_text(report->factors)) &&
           app_json_set(root, "iterations", json_integer(report->iterations)) &&
           app_json_set(root, "columns", json_integer(report->n_columns)) &&
           app_json_set(root, "applications", json_integer(report->applications)) &&
           app_json_set(root, "rigid_modes", json_integer(report->n_rigid)) &&
           app_json_set(root, "eigenvalues", app_json_list(report->values, report->n)) &&
           app_json_set(root, "eigenvalue_residuals",
                        app_json_list(report->residuals, report->n)) &&
           app_json_set(root, "eigenvalue_errors", app_json_list(report->errors, report->n)) &&
           app_json_set(root, "eigenvalue_multiplicities", list_multiplicities(report)) &&
           app_json_set(root, "participation_factors",
                        list_directions(report, report->participations)) &&
           app_json_set(root, "effective_masses",
                        list_directions(report, report->effective_masses)) &&
           app_json_set(root, "total_masses",
                        app_json_list(report->total_masses, report->n_directions)) &&
           app_json_set(root, "next_eigenvalue", app_json_real(report->next)) &&
           app_json_set(root, "next_is_one_of_them", json_boolean(report->cut >= 0)) &&
           app_json_set(root, "frequencies",
                        run->options->eigen.frequencies ? list_frequencies(report) : json_null());
}

int solve_eigen_report(const solve *run) {
    const weft_eigen_report *report = weft_eigen_reported(run->eigen);
    if (report->outcome == WEFT_EIGEN_CONVERGED)
        return 0;
    double worst = 0;
    for (int k = 0; k < report->n; ++k)
        worst = fmax(worst, report->residuals[k]);
    fprintf(
        stderr,
        "%s: error: the eigenvalues have not converged: %s after %d iterations, with a residual of "
        "%.2e "
        "(tolerance %g)\n"
        "hint: raise --max-iterations, choose another --preconditioner, or a larger --tolerance\n",
        run->program->name, weft_eigen_outcome_name(report->outcome), report->iterations, worst,
        run->base.options->solver.tolerance);
    return 1;
}
