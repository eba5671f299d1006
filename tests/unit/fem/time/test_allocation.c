/* labels: full */
/* The time stepper, measures of a field, series and checkpoints, rerun with their n-th allocation
 * failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "operator_fixture.h"
#include "test_support.h"

typedef struct stepper_case {
    fixture *f;
    weft_assembly assembly;
    bool reassemble;
    const char *initial;
} stepper_case;

static weft_status use_stepper(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const stepper_case *with = user;
    fixture *f = with->f;
    weft_space *space = NULL;
    weft_advection_diffusion *ad = NULL;
    weft_field_measure *measure = NULL;
    weft_field_measures measures;
    weft_step_state state;
    const weft_expression velocity[] = {{NULL, "1", "u"}, {NULL, "x", "u"}};
    const weft_expression diffusivity[] = {{NULL, "0.1", "mu"}}, exact = {NULL, "x+t", "exact"};
    const weft_condition condition = {WEFT_DIRICHLET, "left", "x*t", NULL, "kept", 0};
    TRY(weft_space_make(f->device, f->mesh, WEFT_ELEMENT_P1, 1, &space, error));
    const weft_advection_diffusion_problem problem = {
        .space = space,
        .velocity = velocity,
        .n_velocity = 2,
        .diffusivity = diffusivity,
        .n_diffusivity = 1,
        .conditions = &condition,
        .n_conditions = 1,
        .initial = {NULL, with->initial, "initial"},
        .preconditioner = WEFT_JACOBI,
        .dt = 0.01,
        .theta = 0.5,
        .splitting = WEFT_SPLITTING_STRANG,
        .reassemble = with->reassemble ? WEFT_REASSEMBLE_EVERY_STEP : WEFT_REASSEMBLE_ONCE,
        .assembly = with->assembly,
        .tolerance = 1e-6,
        .max_iterations = 100};
    TRY(weft_advection_diffusion_make(&f->context, &problem, &ad, error));
    TRY(weft_advection_diffusion_run(ad, 1, &state, error));
    const weft_nodal_field field = {f->mesh, weft_space_cells(space), f->x,
                                    weft_advection_diffusion_field(ad)};
    TRY(weft_field_measure_make(&f->context, &field, &exact, &measure, error));
    TRY(weft_field_measure_run(measure, state.t, &measures, error));
done:
    weft_field_measure_free(&measure);
    weft_advection_diffusion_free(&ad);
    weft_space_free(&space);
    return status;
}

static void stepper(void **state) {
    (void)state;
    fixture f = fixture_make("host:1", 2, 2, WEFT_PLAN_FUSED);
    stepper_case with = {&f, WEFT_ASSEMBLY_CSR, false, "x*y"};
    test_every_allocation("stepper, csr", use_stepper, &with);
    with.assembly = WEFT_ASSEMBLY_LMA;
    with.reassemble = true;
    test_every_allocation("stepper, lma", use_stepper, &with);
    fixture_free(&f);
}

typedef struct file_case {
    const weft_mesh *mesh;
    const char *path;
    double *values;
    bool resume;
} file_case;

static weft_status use_series(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const file_case *with = user;
    weft_series *series = NULL;
    const weft_field field = {.name = "T", .n_components = 1};
    const weft_series_options options = {.size = sizeof options,
                                         .fields = &field,
                                         .n_fields = 1,
                                         .problem = "none",
                                         .at_start = true,
                                         .n_steps = 2,
                                         .end = 2,
                                         .resume = with->resume,
                                         .overwrite = true};
    TRY(weft_series_make(with->path, with->mesh, &options, NULL, &series, error));
    TRY(weft_series_add(series, 0, &(const double *){with->values}, error));
    TRY(weft_series_add(series, 1, &(const double *){with->values}, error));
    TRY(weft_series_close(&series, error));
done:
    (void)weft_series_close(&series, NULL);
    return status;
}

static weft_status use_checkpoint(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const file_case *with = user;
    static const char *const names[] = {"T"};
    double *const lists[] = {with->values};
    char *problem = NULL;
    weft_checkpoint checkpoint = {
        .problem = "none", .step = 3, .n_lists = 1, .names = names, .lists = lists};
    TRY(weft_checkpoint_write(with->path, with->mesh, &checkpoint, error));
    TRY(weft_checkpoint_read(with->path, with->mesh, &checkpoint, error));
    TRY(weft_checkpoint_problem(with->path, &problem, error));
    assert_string_equal(problem, "none");
done:
    free(problem);
    return status;
}

static void files(void **state) {
    (void)state;
    weft_mesh *mesh = NULL;
    char *folder = test_folder_make(), *path = test_path(folder, "x.vtkhdf");
    char *index = test_path(folder, "x.pvd");
    assert_int_equal(weft_mesh_make_square(2, &mesh, NULL), WEFT_OK);
    double values[9] = {0};
    file_case with = {mesh, path, values, false};
    for (int i = 0; i < 4; ++i) {
        with.path = i & 1 ? index : path;
        with.resume = i & 2;
        test_every_allocation("series", use_series, &with);
    }
    with.path = path;
    test_every_allocation("checkpoint", use_checkpoint, &with);
    weft_mesh_free(&mesh);
    free(path);
    free(index);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files), cmocka_unit_test(stepper)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
