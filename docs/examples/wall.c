/* wall MESH FORMS: heat flows through steel and air, until it is steady, by docs/examples/forms/Wall.ufl and multigrid. */
#include <stdio.h>
#include <weft_bind.h>
#include <weft_fem.h>

int main(int argc, char **argv) {
    weft_status status = argc == 3 ? WEFT_OK : WEFT_ERROR_USAGE;
    weft_error error = {.message = "usage: wall MESH FORMS"};
    weft_context context = {.plan = WEFT_PLAN_FUSED};
    weft_library *library = NULL;
    weft_mesh *mesh = NULL;
    weft_ufl *ufl = NULL;
    weft_problem *problem = NULL;
    weft_transient *transient = NULL;
    weft_transient_state state = {0};
    weft_series *series = NULL;
    double mean = 0;
    const double *u = NULL;
    weft_problem_options options = weft_problem_options_default();
    const weft_problem_value values[] = {{"k", {.text = "@steel=2; @air=1/2"}}};
    weft_bind_options how = {sizeof how, .values = values, .n_values = 1, .in_time = true};
    const weft_condition conditions[] = {{WEFT_DIRICHLET, .group = "left", .value = "1"},
                                         {WEFT_DIRICHLET, .group = "right", .value = "0"}};
    const weft_transient_problem time = {.scheme = WEFT_TIME_BDF2, .end = 20, .dt = 0.5};
    const weft_field field = {"u", .n_components = 1};
    weft_series_options out = {sizeof out, &field, 1, .problem = "", .n_steps = 40, .overwrite = 1};
    TRY(status); /* of the command line */
    TRY(weft_device_open("auto", NULL, &context.device, &error));
    TRY(weft_fem_library_make(&library, &error));
    context.library = library;
    TRY(weft_mesh_read(argv[1], 0, NULL, &mesh, &error));
    TRY(weft_data_make(context.device, mesh, &context.data, &error));
    TRY(weft_ufl_read(argv[2], NULL, &ufl, &error));
    TRY(weft_problem_start(&context, NULL, &problem, &error));
    TRY(weft_ufl_bind(ufl, mesh, library, &how, problem, &error));
    for (int i = 0; i < 2; ++i)
        TRY(weft_problem_condition(problem, &conditions[i], &error));
    TRY(weft_preconditioner_find("aggregation", &options.preconditioner, &error));
    TRY(weft_problem_in_time(problem, &options, &time, &transient, &error));
    TRY(weft_series_make("wall.vtkhdf", mesh, &out, NULL, &series, &error));
    while (state.t < time.end - 0.5 * time.dt && state.outcome == WEFT_TRANSIENT_DONE) {
        TRY(weft_transient_step(transient, time.dt, &state, &error));
        TRY(weft_problem_pull(problem, &u, &error));
        TRY(weft_series_add(series, state.t, &u, &error));
    }
    TRY(weft_series_close(&series, &error));
    TRY(weft_space_integral(weft_problem_space(problem), u, 0, &mean, &error));
    printf("t = %g, mean %.6f\n", state.t, mean);
done:
    if (status != WEFT_OK)
        fprintf(stderr, "error: %s\n", error.message);
    weft_transient_free(&transient);
    weft_problem_free(&problem);
    weft_data_free(&context.data);
    weft_ufl_free(&ufl);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    weft_device_free(&context.device);
    return weft_status_exit_code(status);
}
