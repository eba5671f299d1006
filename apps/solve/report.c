/* Writes the result file and prints the report. */
#include "apps/common/fem.h"
#include "apps/common/statement.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fem/space/vectors.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"

#include <inttypes.h>

bool solve_is_solved(const solve *run) {
    return run->options->time.text ? run->time.state.outcome == WEFT_TRANSIENT_DONE
           : run->options->nonlinear
               ? run->base.problem->newton.converged
               : run->base.problem->system.linear.cg.outcome == WEFT_CG_CONVERGED;
}

weft_status solve_output_write(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const double start = weft_clock();
    if (run->options->time.text || /* its series is written */
        !app_output_wanted(&run->options->run, solve_is_solved(run), run->base.monitor))
        goto done;
    TRY(weft_problem_write(run->base.problem, run->options->run.output, run->base.derive,
                           run->base.statement, error));
    run->base.seconds.output = weft_clock() - start;
done:
    return status;
}

static void print_newton(const solve *run) {
    const weft_problem_newton_report *newton = &run->base.problem->newton;
    printf("Newton      %s in %d load step%s\n",
           !solve_is_solved(run) ? "not converged"
           : newton->to_rounding ? "converged to rounding"
                                 : "converged",
           run->options->newton.load_steps, run->options->newton.load_steps == 1 ? "" : "s");
    puts("            norms of r over the free dofs, relative to its terms at the end: reactions, "
         "or\n"
         "            the lesser of loads and |diag K| |u|");
    printf("            step  iteration  relative residual  damping  method    iterations\n");
    for (int i = 0; i < newton->n; ++i) {
        const weft_problem_iteration *iteration = &newton->iterations[i];
        printf("            %4d  %9d  %17.6e  %7g  %-8s  %10d", iteration->step,
               iteration->iteration, app_strip_nan_sign(iteration->residual), iteration->damping,
               iteration->linear_iterations ? weft_method_about(iteration->method)->title : "-",
               iteration->linear_iterations);
        if (iteration->iteration == 0)
            printf("  relative to %.6e", app_strip_nan_sign(iteration->scale));
        putchar('\n');
    }
}

/* Of a mixed function the components are those of all its parts, which have nodes of their own. */
static void print_script(const solve *run) {
    const weft_fields *fields = &run->base.problem->fields;
    const bool is_mixed = fields->n > 1, is_mapped = weft_space_is_mapped(fields->space);
    const int n = is_mixed || is_mapped ? run->base.problem->fields.n_values : run->components;
    printf("script      %s: matrix %s, vector %s, %d component%s %s\n", run->options->script,
           run->base.problem->forms.matrix,
           run->base.problem->forms.vector ? run->base.problem->forms.vector : "none", n,
           n == 1 ? "" : "s",
           is_mixed    ? "in a mixed space"
           : is_mapped ? "of vectors"
                       : "per node");
}

static void print_head(const solve *run) {
    app_messages_clear(run->base.monitor);
    app_mesh_print(run->base.mesh, &run->base.mesh_made);
    app_run_print_statement(&run->base);
    if (run->options->script)
        print_script(run);
    if (run->script.ufl)
        printf("unknowns    %" PRId64 " in all, values prescribed by conditions included\n",
               run->base.problem->fields.n_dofs);
    solve_ranks_print(run);
    app_plan_print(&run->base.context, app_run_device_reason(&run->base),
                   run->base.problem->system.linear.choice.assembly, "");
}

/* Of a mixed function, the errors of each component. */
static void print_field_errors(const solve *run) {
    for (int k = 0;
         run->exact && run->base.problem->fields.n > 1 && k < run->base.problem->fields.n_values;
         ++k)
        printf("            component %d: L2 %.6e, H1 seminorm %.6e\n", k,
               app_strip_nan_sign(run->errors[0][k]), app_strip_nan_sign(run->errors[1][k]));
}

weft_status solve_report_print(const solve *run, weft_error *error) {
    const app_run_options *options = &run->options->run;
    if (app_is_silent(&run->options->run))
        return WEFT_OK;
    print_head(run);
    if (run->eigen) {
        solve_eigen_print(run);
        return app_run_print_end(&run->base, solve_is_solved(run), error);
    }
    if (run->options->time.text)
        solve_time_print(run);
    else if (run->options->nonlinear)
        print_newton(run);
    else
        app_cg_print(run->base.problem->system.linear.choice.method,
                     run->base.problem->system.linear.choice.method_reason,
                     &run->base.problem->system.linear.cg);
    app_run_print_preconditioner(&run->base);
    app_run_print_constraints(&run->base);
    if (options->verbosity == APP_VERBOSE)
        app_history_print(&run->base.problem->system.linear.cg);
    else if (run->program->prints_history)
        app_history_line_print(&run->base.problem->system.linear.cg);
    app_run_print_errors(&run->base, run->options->exact);
    print_field_errors(run);
    printf("integral %s", weft_fields_name(&run->base.problem->fields));
    app_values_print("", run->integral_u, run->base.problem->fields.n_values);
    putchar('\n');
    if (!run->options->nonlinear && !run->options->time.text)
        printf("energy      %.10g\n", app_strip_nan_sign(run->base.energy));
    if (run->options->sum)
        printf("sum         %s  %.10g\n", run->options->sum, app_strip_nan_sign(run->sum));
    solve_gradient_print(run);
    app_run_print_derived(&run->base);
    return app_run_print_end(&run->base, solve_is_solved(run), error);
}

weft_status solve_plan_print(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    for (int i = 0; i < run->base.problem->forms.n_parts; ++i) {
        const weft_compilation *compilation = run->base.problem->forms.parts[i].vector_compilation;
        if (!compilation)
            continue;
        weft_text_free(&text);
        TRY(weft_compilation_print(compilation, "plan", "text", &text, error));
        printf("\n%s of %s\n%s", run->base.problem->forms.vector, run->options->script,
               text.data ? text.data : "");
    }
done:
    weft_text_free(&text);
    return status;
}

weft_status solve_null_print(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!run->options->time.text)
        TRY(weft_operator_apply(run->base.problem->system.op, run->base.problem->system.u,
                                run->base.problem->system.b, error));
    TRY(solve_derive(run, error));
    if (app_is_silent(&run->options->run))
        goto done;
    print_head(run);
    TRY(run->program->plan_print(run, error));
    app_run_print_null(&run->base,
                       run->options->time.text ? "up to the first step"
                                               : "up to the first product of CG",
                       "; --verbose names every kernel");
done:
    return status;
}
