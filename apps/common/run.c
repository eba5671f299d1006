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
    weft_problem_free(&run->problem);
    app_pieces_free(&run->pieces);
    app_probes_clear(&run->points);
    weft_data_free(&run->data);
    free(run->probes);
    weft_probes_free(&run->probe_places);
    weft_problem_balance_clear(&run->balance);
    app_mesh_free(&run->mesh, &run->mesh_made);
    weft_library_free(&run->library);
    weft_context_tune_free(&run->context);
    weft_device_free(&run->device);
}

weft_status app_run_start(app_run *run, weft_error *error) {
    run->seconds.started = weft_clock();
    return weft_problem_start(&run->context, &run->options->solver, &run->problem, error);
}

weft_status app_run_open(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!run->problem)
        TRY(app_run_start(run, error));
    TRY(app_device_open(run, error));
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
    run->seconds.start =
        weft_context_clock(&run->context) - run->seconds.started - run->seconds.plan;
    TRY(app_run_choose_levels(run, &options, error));
    TRY(app_mesh_make(run->device, &options, run->monitor, &run->mesh, &run->mesh_made, error));
    if (!run->takes_any_cells)
        TRY(weft_mesh_need_simplices(run->mesh, "this program", error));
    weft_problem_set_mesh(run->problem, run->mesh);
    weft_problem_set_hierarchy(run->problem, run->mesh_made.hierarchy);
    run->seconds.mesh = run->mesh_made.seconds;
    run->seconds.order = run->mesh_made.order_seconds;
    if (run->mesh->points.n_pairs > 0 && !app_has_periodic(run->options))
        weft_log(run->monitor, WEFT_LOG_WARNING,
                 "%s declares periodic sides: the mesh matches there, but the solution is not "
                 "periodic without --periodic mesh (of poisson and solve)",
                 run->mesh->source);
    TRY(weft_data_make(run->device, run->mesh, &run->data, error));
    run->context.data = run->data;
done:
    return status;
}

weft_status app_run_space_make(app_run *run, int components, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem *problem = run->problem;
    if (!run->mesh->part) { /* of the whole mesh */
        TRY(app_probes_find(&run->options->probes, run->mesh, &run->points, error));
        TRY(app_run_lines_check(run, error));
    }
    if (!problem->fields.space)
        TRY(weft_space_make_with(run->device, run->mesh, &run->mesh_made.copies, WEFT_ELEMENT_P1,
                                 components, &problem->fields.space, error));
    weft_mesh_copies_free(&run->mesh_made.copies); /* where no space is of degree 1 */
    weft_problem_count_fields(problem);
    TRY(app_pieces_make(&run->options->conditions, run->mesh, problem->fields.n_values,
                        &run->pieces, error));
    for (int i = 0; i < run->pieces.n; ++i)
        TRY(weft_problem_condition(problem, &run->pieces.list[i], error));
    TRY(weft_fields_conditions_make(&problem->fields, error));
done:
    return status;
}

void app_run_set_errors(app_run *run, double l2_squared, double h1_squared) {
    run->l2_error = sqrt(l2_squared);
    run->h1_error = sqrt(h1_squared);
    if (!isfinite(l2_squared) || !isfinite(h1_squared))
        weft_log(run->monitor, WEFT_LOG_WARNING,
                 "--exact is not finite everywhere in the mesh, so no errors are printed");
}

static weft_status locate_probes(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const app_probes *probes = &run->points;
    const size_t d = (size_t)run->mesh->dimension, n = (size_t)probes->n;
    double *points = calloc(n * d + 1, sizeof *points);
    run->probes = calloc(n * (size_t)run->problem->fields.n_values + 1, sizeof *run->probes);
    if (!points || !run->probes)
        TRY(weft_out_of_memory(error, NULL));
    for (size_t i = 0; i < n; ++i)
        memcpy(points + i * d, probes->list[i].place.point, d * sizeof *points);
    TRY(weft_probes_make(&run->context, run->mesh, points, probes->n, &run->probe_places, error));
done:
    free(points);
    return status;
}

weft_status app_run_measure_probes(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!run->probe_places)
        TRY(locate_probes(run, error));
    TRY(weft_problem_evaluate(run->problem, run->probe_places, run->probes, error));
done:
    return status;
}

void app_run_finish(app_run *run) {
    if (run->problem->system.linear.choice.bytes > 0)
        weft_problem_memory_compare(run->device, run->problem->system.linear.choice.bytes,
                                    run->monitor);
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
    app_probes_print(&run->points, weft_fields_name(&run->problem->fields), run->probes,
                     run->problem->fields.n_values);
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
    app_messages_clear(run->monitor);
    TRY(app_json_write(run->options->json, root, error));
done:
    json_decref(root);
    return status;
}
