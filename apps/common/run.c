/* The steps shared by all apps that solve on a mesh, from opening the device to the report. */
#include "apps/common/run.h"
#include "fem/mesh/mesh.h"
#include "fem/space/space.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void app_run_clear(app_run *run) {
    free(run->statement);
    weft_derive_free(&run->derive);
    app_balance_clear(&run->balance);
    weft_linear_clear(&run->linear);
    app_run_constraints_clear(run);
    weft_operator_free(&run->op);
    for (int i = 0; i < run->n_fields; ++i) {
        weft_bc_free(&run->fields[i].bc);
        weft_space_free(&run->fields[i].space);
    }
    if (run->n_fields == 0)
        weft_space_free(&run->space);
    free(run->own_constrained);
    app_pieces_free(&run->pieces);
    app_probes_clear(&run->points);
    weft_data_free(&run->data);
    weft_memory_free(&run->u);
    weft_memory_free(&run->b);
    free(run->u_values);
    free(run->b_values);
    free(run->probes);
    app_places_clear(&run->probe_places);
    free(run->more_forms);
    app_mesh_free(&run->mesh, &run->mesh_made);
    weft_library_free(&run->library);
    weft_context_tune_free(&run->context);
    weft_device_free(&run->device);
}

weft_status app_run_open(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->seconds.started == 0)
        run->seconds.started = weft_clock();
    run->linear.options = &run->options->solver;
    run->linear.choice = weft_problem_choice_start(&run->options->solver);
    TRY(app_device_open(run, error));
    run->linear.context = &run->context;
    run->is_null = weft_device_limits(run->device)->records_only;
    weft_setup_precompile(run->device);
done:
    return status;
}

weft_status app_run_files_check(const app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (run->options->output && !run->is_null)
        TRY(weft_result_check(run->options->output, error));
    if (run->options->output && !run->is_null)
        TRY(app_file_claim(run->options->output, error));
    if (run->options->json)
        TRY(app_file_check(run->options->json, error));
done:
    return status;
}

weft_status app_run_mesh_make(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    app_mesh_options options = run->options->mesh;
    TRY(app_run_choose_levels(run, &options, error));
    TRY(app_mesh_make(run->device, &options, &run->messages->monitor, &run->mesh, &run->mesh_made,
                      error));
    if (!run->takes_any_cells)
        TRY(weft_mesh_need_simplices(run->mesh, "this program", error));
    run->seconds.mesh = run->mesh_made.seconds;
    run->seconds.order = run->mesh_made.order_seconds;
    if (run->mesh->points.n_pairs > 0 && !app_has_periodic(run->options))
        weft_log(&run->messages->monitor, WEFT_LOG_WARNING,
                 "%s declares periodic sides: the mesh matches there, but the solution is not "
                 "periodic without --periodic mesh (of poisson and solve)",
                 run->mesh->source);
    TRY(weft_data_make(run->device, run->mesh, &run->data, error));
    run->context.data = run->data;
done:
    return status;
}

bool app_run_is_linear(const app_run *run) {
    const weft_cell_type cell = weft_mesh_cell(run->mesh)->type;
    const weft_element *element = run->space ? weft_space_element(run->space) : NULL;
    return run->n_fields <= 1 && (!element || weft_element_is_on_vertices(element)) &&
           (cell == WEFT_TRIANGLE || cell == WEFT_TETRAHEDRON) && !run->mesh->curve;
}

weft_status app_run_operator_make(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *op = NULL;
    const weft_form *robin = NULL;
    const int n_robin = weft_bc_forms(run->bc, &robin), n = 1 + run->n_more_forms + n_robin;
    weft_form *forms = calloc((size_t)n, sizeof *forms);
    if (!forms)
        return weft_out_of_memory(error, NULL);
    forms[0] = run->form.form;
    for (int i = 1; i < n; ++i)
        forms[i] =
            i <= run->n_more_forms ? run->more_forms[i - 1] : robin[i - 1 - run->n_more_forms];
    TRY(weft_operator_make(&run->context, run->linear.choice.assembly, forms, n, &op, error));
    TRY(weft_operator_assemble(op, error));
    run->op = op;
    op = NULL;
done:
    weft_operator_free(&op);
    free(forms);
    return status;
}

/* Constraints are about the dofs of one space. */
static weft_status check_constraints(const app_run *run, weft_error *error) {
    if (run->options->constraints.n == 0 || run->n_fields == 1)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "constraints and point loads are not for mixed functions");
    weft_error_location(error, run->options->constraints.list[0].origin, NULL, 0, 0);
    weft_error_hint(error, "leave them out, or write them into the form, with ds or a multiplier");
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status app_run_space_make(app_run *run, int components, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(app_probes_find(&run->options->probes, run->mesh, &run->points, error));
    TRY(app_run_lines_check(run, error));
    if (!run->space)
        TRY(weft_space_make_with(run->device, run->mesh, &run->mesh_made.copies, WEFT_ELEMENT_P1,
                                 components, &run->space, error));
    weft_mesh_copies_free(&run->mesh_made.copies); /* where no space is of degree 1 */
    app_run_fields_count(run);
    TRY(check_constraints(run, error));
    TRY(app_pieces_make(&run->options->conditions, run->mesh, run->n_values, &run->pieces, error));
    if (run->pieces.n == 0 && run->n_fields == 1 &&
        (run->is_natural || app_has_constraints(run->options))) /* not u = 0 on the boundary */
        run->pieces.list[run->pieces.n++] = (weft_condition){
            .kind = WEFT_NEUMANN, .group = "boundary", .value = "0", .origin = "--neumann"};
    TRY(app_run_conditions_make(run, error));
done:
    return status;
}

weft_status app_run_vectors_make(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = run->n_dofs;
    TRY(weft_vector_make(run->device, n, &run->u_values, &run->u, error));
    TRY(weft_vector_make(run->device, n, &run->b_values, &run->b, error));
    app_run_describe(run);
done:
    return status;
}

void app_run_describe(app_run *run) {
    weft_linear *linear = &run->linear;
    linear->mesh = run->mesh;
    linear->hierarchy = run->mesh_made.hierarchy;
    linear->spaces = run->spaces;
    linear->n_spaces = run->n_fields;
    linear->is_p1 = run->mesh && app_run_is_linear(run);
}

void app_run_solve_ahead(app_run *run) {
    run->linear.solves_once = true;
    const bool has_preconditioner = run->linear.choice.preconditioner >= 0;
    const weft_preconditioner_info *info =
        has_preconditioner ? weft_preconditioner_about(run->linear.choice.preconditioner) : NULL;
    const bool on_gpu = weft_device_limits(run->device)->execution == WEFT_EXECUTION_SIMT;
    const weft_solver_plan plan = {.method = run->linear.choice.method,
                                   .has_preconditioner = has_preconditioner,
                                   .stays_single = on_gpu && info && info->needs_matrix,
                                   .has_constrained = run->n_constrained > 0,
                                   .starts_full = has_preconditioner &&
                                                  weft_linear_full_cycles(&run->linear) > 0};
    weft_solver_ahead(&run->context, run->op, &plan);
}

/* Where the matrix is all that a solve reads. */
static void evict_cells(app_run *run) {
    if (run->space && app_run_is_linear(run) &&
        weft_assembly_about(run->linear.choice.assembly)->stores_matrix)
        weft_space_evict(run->space);
}

weft_status app_run_solve(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_options options;
    weft_system whole, system;
    const double start = app_clock(&run->context);
    run->linear.solves_once = true;
    TRY(app_run_constrain(run, error));
    whole = app_run_system(run);
    system = weft_reduction_system(run->reduction, &whole);
    weft_operator_settle(system.op);
    evict_cells(run);
    TRY(weft_linear_solve(&run->linear, &whole, run->reduction, run->u_values, &options, error));
    run->seconds.precondition = run->linear.precondition_seconds;
    run->seconds.solve = app_clock(&run->context) - start - run->seconds.precondition;
    if (run->space)
        TRY(weft_space_restore(run->space, error));
    app_cg_advise(run, system.op);
    TRY(app_run_release(run, error));
    TRY(app_run_hold(run, &options, error));
    TRY(app_run_store_speeds(run, error));
done:
    return status;
}

weft_status app_run_remove_mean(app_run *run, double integral, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = run->n_dofs;
    double measure = 0;
    if (app_run_is_linear(run))
        measure = weft_mesh_measure(run->mesh);
    else
        TRY(weft_space_integral(run->space, NULL, 0, &measure, error));
    const double mean = integral / measure;
    for (int64_t i = 0; i < n; ++i)
        run->u_values[i] -= mean;
    TRY(weft_vector_push(run->u, run->u_values, n, error));
done:
    return status;
}

void app_run_set_errors(app_run *run, double l2_squared, double h1_squared) {
    run->l2_error = sqrt(l2_squared);
    run->h1_error = sqrt(h1_squared);
    if (!isfinite(l2_squared) || !isfinite(h1_squared))
        weft_log(&run->messages->monitor, WEFT_LOG_WARNING,
                 "--exact is not finite everywhere in the mesh, so no errors are printed");
}

static weft_status locate_probes(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_probes *probes = &run->points;
    const size_t d = (size_t)run->mesh->dimension, n = (size_t)probes->n;
    double *points = calloc(n * d + 1, sizeof *points);
    run->probes = calloc(n * (size_t)run->n_values + 1, sizeof *run->probes);
    if (!points || !run->probes)
        TRY(weft_out_of_memory(error, NULL));
    for (size_t i = 0; i < n; ++i)
        memcpy(points + i * d, probes->list[i].place.point, d * sizeof *points);
    TRY(app_places_make(run->device, run->mesh, points, probes->n, &run->probe_places, error));
done:
    free(points);
    return status;
}

weft_status app_run_measure_probes(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!run->probes)
        TRY(locate_probes(run, error));
    TRY(app_places_evaluate(&run->probe_places, run, run->probes, error));
done:
    return status;
}

void app_run_finish(app_run *run) {
    if (run->linear.choice.bytes > 0)
        weft_problem_memory_compare(run->device, run->linear.choice.bytes, &run->messages->monitor);
    run->seconds.plan += run->context.plan_seconds;
    run->seconds.compile = run->context.compile_seconds;
}

void app_run_print_errors(const app_run *run, const char *exact) {
    if (exact)
        printf("error       L2 %.6e, H1 seminorm %.6e\n", app_strip_nan_sign(run->l2_error),
               app_strip_nan_sign(run->h1_error));
}

weft_status app_run_print_end(const app_run *run, bool is_solved, weft_error *error) {
    const app_run_options *options = run->options;
    char bytes[32];
    app_probes_print(&run->points, "u", run->probes, run->n_values);
    app_seconds_print(&run->seconds);
    printf("memory      %s at most\n", app_print_bytes((double)weft_memory_peak(), bytes));
    if (options->output && (is_solved || options->keep_unconverged))
        printf("output      %s\n", options->output);
    return app_stdout_check(error);
}

void app_run_print_null(const app_run *run, const char *up_to, const char *more) {
    char bytes[32];
    printf("\n%" PRId64 " launches recorded %s, %s of device memory\n",
           weft_device_launches(run->device), up_to,
           app_print_bytes((double)weft_device_bytes_peak(run->device), bytes));
    printf("nothing was computed: the device null only plans%s\n", more);
}

weft_status app_run_write_json(const app_run *run, json_t *root, bool fine, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!fine)
        TRY(weft_out_of_memory(error, NULL));
    app_messages_clear(run->messages);
    TRY(app_json_write(run->options->json, root, error));
done:
    json_decref(root);
    return status;
}
