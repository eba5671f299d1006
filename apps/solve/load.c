/* Makes the right-hand side from the script's vector and the fluxes of conditions. */
#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/solve/solve.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weft_status make_fluxes(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_vector_make(run->base.device, run->n_dofs, &run->flux, &run->flux_memory, error));
    TRY(weft_vector_push(run->flux_memory, run->flux, run->n_dofs, error));
    TRY(weft_bc_load_make(run->base.problem->bc, NULL, NULL, WEFT_LOAD_DEGREE, run->flux_memory,
                          run->flux, error));
    if (run->options->nonlinear && run->base.problem->point_loads) {
        TRY(weft_point_loads_apply(run->base.problem->point_loads, run->flux_memory, error));
        TRY(weft_vector_pull(run->flux_memory, run->flux, run->n_dofs, error));
    }
done:
    return status;
}

/* Compile the script of a part that returns its vector; Newton's method runs it repeatedly. */
static weft_status make_program(solve *run, solve_part *part, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    weft_bound_form form;
    solve_form_of(run, part, &form);
    weft_text_add(&text, "return %s;\n", run->script.vector);
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragments[] = {{form.form.name, form.form.text}, {"--vector", text.data}};
    const weft_compile_options options = {.plan = run->base.context.plan,
                                          .expressions = form.expressions,
                                          .n_expressions = form.form.n_expressions,
                                          .parameters = form.parameters,
                                          .n_parameters = form.form.n_parameters};
    double start = weft_clock();
    TRY(weft_compile(run->base.library, weft_device_limits(run->base.device), fragments, 2,
                     &options, &part->vector_compilation, error));
    run->base.context.plan_seconds += weft_clock() - start;
    start = weft_clock();
    TRY(weft_program_make(run->base.device, part->vector_compilation, &part->vector_program,
                          error));
    run->base.context.compile_seconds += weft_clock() - start;
    run->base.context.n_kernels += weft_compilation_kernels(part->vector_compilation);
    TRY(weft_program_bind_connectivity(part->vector_program, "dofs", form.form.dofs, error));
    for (int i = 0; i < form.form.n_connectivities; ++i)
        TRY(weft_program_bind_connectivity(part->vector_program, form.connectivities[i].name,
                                           form.connectivities[i].connectivity, error));
    for (int i = 0; i < form.form.n_inputs; ++i)
        TRY(weft_program_bind(part->vector_program, form.inputs[i].name, form.inputs[i].memory,
                              error));
    TRY(weft_data_bind(run->base.data, part->vector_compilation, part->vector_program,
                       &(weft_data_sites){.elements = form.form.dofs,
                                          .points = form.form.points,
                                          .n = form.form.points != NULL},
                       error));
    TRY(weft_program_bind(part->vector_program, run->script.vector, run->base.problem->b, error));
done:
    weft_text_free(&text);
    return status;
}

/* Without a vector, and with nothing else that makes u differ from zero. u has its prescribed values. */
void solve_load_advise(const solve *run) {
    const bool is_form = run->script.ufl != NULL;
    bool is_zero = !run->script.vector && !run->base.is_null && !run->options->nonlinear &&
                   !app_has_constraints(run->base.options);
    for (int64_t i = 0; is_zero && i < run->n_dofs; ++i)
        is_zero = run->base.problem->u_values[i] == 0 && run->base.problem->b_values[i] == 0;
    if (is_zero && run->options->script)
        weft_log(&run->base.messages->monitor, WEFT_LOG_WARNING,
                 "%s has no %s, and no condition has a value other than 0, so that u = 0 is the "
                 "solution: write %s for a load",
                 run->options->script, is_form ? "form L" : "vector b",
                 is_form ? "L = f*v*dx" : "b[dofs] += ...;");
}

weft_status solve_load_make(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    bool has_flux = false;
    for (int i = 0; i < run->base.pieces.n; ++i)
        has_flux |= run->base.pieces.list[i].kind != WEFT_DIRICHLET;
    has_flux |= run->options->nonlinear && run->base.problem->point_loads;
    if (has_flux)
        TRY(make_fluxes(run, error));
    for (int i = 0; i < run->script.n_parts; ++i)
        if (run->script.parts[i].has_vector)
            TRY(make_program(run, &run->script.parts[i], error));
    if (!run->options->nonlinear || run->base.is_null)
        TRY(solve_vector_make(run, 1, error));
done:
    return status;
}

void solve_load_release(solve *run) {
    const bool gathers = weft_assembly_about(run->base.problem->linear.choice.assembly)->scatter ==
                         WEFT_SCATTER_GATHERED;
    if (run->options->nonlinear)
        return;
    for (int i = 0; i < run->script.n_parts; ++i) {
        solve_part *part = &run->script.parts[i];
        weft_program_free(&part->vector_program);
        if (part->dofs && !gathers)
            weft_connectivity_release_transposed(part->dofs[0].connectivity);
    }
    if (!gathers)
        weft_connectivity_release_transposed(weft_space_cells(run->base.problem->space));
}

static weft_status check_finite(const solve *run, weft_error *error) {
    const int d = run->base.mesh->dimension;
    char point[64];
    for (int64_t i = 0; i < run->n_dofs && !run->options->nonlinear; ++i) {
        if (isfinite(run->base.problem->b_values[i]))
            continue;
        const weft_problem_field *field = weft_problem_field_of_dof(run->base.problem, i);
        const int64_t node = (i - field->first_dof) / weft_space_components(field->space);
        weft_error_set(error, WEFT_ERROR_INPUT, "the vector '%s' is not finite at the node %s",
                       run->script.vector ? run->script.vector : "b",
                       weft_point_text(&weft_space_points(field->space)[node * d], d, point));
        weft_error_location(error, run->options->script, NULL, 0, 0);
        weft_error_hint(error, "look at the formulas of --input and --define: 1/x has no value at "
                               "x = 0, log(x) none for x <= 0");
        return WEFT_ERROR_INPUT;
    }
    return WEFT_OK;
}

weft_status solve_vector_make(solve *run, double factor, weft_error *error) {
    weft_status status = WEFT_OK;
    double *sum = weft_array_make((size_t)run->n_dofs, sizeof *sum);
    if (!sum)
        return weft_out_of_memory(error, NULL);
    for (int i = 0; i < run->script.n_parts; ++i) {
        if (!run->script.parts[i].vector_program)
            continue;
        TRY(weft_program_run(run->script.parts[i].vector_program, error));
        if (run->base.is_null)
            continue;
        TRY(weft_vector_pull(run->base.problem->b, run->base.problem->b_values, run->n_dofs,
                             error));
        for (int64_t k = 0; k < run->n_dofs; ++k)
            sum[k] += run->base.problem->b_values[k];
        if (run->options->run.derived.reactions)
            TRY(weft_problem_sum(run->base.problem, run->base.problem->b_values,
                                 run->script.parts[i].vector_sums, error));
    }
    if (run->base.is_null)
        goto done;
    for (int64_t i = 0; i < run->n_dofs; ++i)
        run->base.problem->b_values[i] = sum[i] + (run->flux ? factor * run->flux[i] : 0);
    TRY(check_finite(run, error));
    TRY(weft_vector_push(run->base.problem->b, run->base.problem->b_values, run->n_dofs, error));
done:
    free(sum);
    return status;
}

/* b = b + factor x */
static weft_status add(solve *run, double factor, weft_memory *x, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_terms terms = {0};
    weft_terms_add(&terms, factor, x);
    if (terms.n == 0)
        return WEFT_OK;
    TRY(weft_vectors_sum(&run->vectors, &terms, run->more, error));
    TRY(weft_vectors_add(&run->vectors, run->base.problem->b, run->more, error));
done:
    return status;
}

/* The vectors of all parts. */
static weft_status run_parts(solve *run, weft_error *error) {
    weft_status status = WEFT_OK;
    bool is_first = true;
    for (int i = 0; i < run->script.n_parts; ++i) {
        weft_program *program = run->script.parts[i].vector_program;
        if (!program)
            continue;
        TRY(weft_program_bind(program, run->script.vector,
                              is_first ? run->base.problem->b : run->more, error));
        TRY(weft_program_run(program, error));
        if (!is_first)
            TRY(weft_vectors_add(&run->vectors, run->base.problem->b, run->more, error));
        is_first = false;
    }
done:
    return status;
}

weft_status solve_residual_make(solve *run, double factor, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!run->more)
        TRY(weft_memory_make(run->base.device, (size_t)run->n_dofs * sizeof(double), &run->more,
                             error));
    TRY(run_parts(run, error));
    if (run->flux)
        TRY(add(run, -factor, run->flux_memory, error));
    if (run->robin) {
        TRY(weft_operator_apply(run->robin, run->base.problem->u, run->more, error));
        TRY(weft_vectors_add(&run->vectors, run->base.problem->b, run->more, error));
    }
done:
    return status;
}

const char *solve_how_to_fix(const solve *run) {
    return run->script.ufl && run->options->run.conditions.n == 0
               ? "no condition is given, and a form file has none of its own: add --dirichlet "
                 "boundary=0 for u = 0 on the whole boundary"
               : "fix u somewhere by --dirichlet GROUP=EXPR or --robin GROUP=ALPHA,EXPR";
}

/* If no condition fixes the constant, check that b sums to zero, up to rounding and the quadrature
 * error of compatible data. */
weft_status solve_balance_check(solve *run, weft_error *error) {
    const weft_balance balance = weft_balance_of(run->base.problem->b_values, run->n_dofs);
    if (fabs(balance.sum) > balance.bound) {
        weft_error_set(
            error, WEFT_ERROR_INPUT,
            "nothing fixes the constant in u, so the vector must sum to zero, but its sum is %.10g",
            balance.sum);
        weft_error_hint(error, "%s, or subtract %.10g from the source", solve_how_to_fix(run),
                        balance.sum / weft_mesh_measure(run->base.mesh));
        return WEFT_ERROR_INPUT;
    }
    if (fabs(balance.sum) > balance.rounding)
        weft_log(&run->base.messages->monitor, WEFT_LOG_WARNING,
                 "nothing fixes the constant in u, and the vector's sum is %.3g, not zero: its "
                 "mean is taken off",
                 balance.sum);
    return WEFT_OK;
}
