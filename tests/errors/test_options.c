/* labels: quick */
/* Options of another version of the library, or without a size, are refused by every function that takes them, before
 * it reads another member; and defaults write exactly the bytes that the caller has. */
#include "core/weft_tuning.h"
#include "fem/weft_fem.h"
#include "forms/weft_bind.h"
#include "fusion/tune/tune.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64 };

/* Options of any type, whose other members must not be read: their bytes are no pointers. */
typedef union any_options {
    size_t size;
    weft_device_options device;
    weft_compile_options compile;
    weft_calibration_options calibration;
    weft_search_options search;
    weft_mesh_options mesh;
    weft_hierarchy_options hierarchy;
    weft_series_options series;
    weft_cg_options cg;
    weft_ufl_options ufl;
    weft_problem_options problem;
    weft_newton_options newton;
    weft_bind_options binding;
    unsigned char bytes[512];
} any_options;

static weft_device *device;
static weft_library *library;
static weft_solver *solver;
static weft_memory *vector;
static weft_problem *problem;
static const weft_fragment fragment = {"script",
                                       "index cells;\ninput x[cells];\ny = 2*x;\nreturn y;\n"};

static weft_status open_device(const any_options *options, weft_error *error) {
    weft_device *out = NULL;
    return weft_device_open("null", &options->device, &out, error);
}

static weft_status open_tuning(const any_options *options, weft_error *error) {
    weft_tuning *out = NULL;
    return weft_tuning_open(&options->device, &out, error);
}

static weft_status compile(const any_options *options, weft_error *error) {
    weft_compilation *out = NULL;
    return weft_compile(library, weft_device_limits(device), &fragment, 1, &options->compile, &out,
                        error);
}

static weft_status hash_script(const any_options *options, weft_error *error) {
    char out[33];
    return weft_script_hash(library, &fragment, 1, &options->compile, out, error);
}

static weft_status list_primitives(const any_options *options, weft_error *error) {
    weft_cost_primitive_set set = {0};
    return weft_cost_primitive_set_script(&set, library, weft_device_limits(device), &fragment, 1,
                                          &options->compile, error);
}

static weft_status calibrate(const any_options *options, weft_error *error) {
    weft_cost_primitive_set set = {0};
    weft_calibration_result out;
    return weft_calibrate(device, library, &set, NULL, &options->calibration, &out, error);
}

static weft_status search_with(const weft_compile_options *compiled, const weft_search_options *how,
                               weft_error *error) {
    weft_search_result out;
    weft_arena *arena = NULL;
    assert_int_equal(weft_arena_make(&arena, NULL), WEFT_OK);
    const weft_status status = weft_search_covers(
        device, &(weft_search_script){library, &fragment, 1, compiled}, how, arena, &out, error);
    weft_arena_free(&arena);
    return status;
}

static weft_status search(const any_options *options, weft_error *error) {
    const weft_compile_options compiled = weft_compile_options_default();
    return search_with(&compiled, &options->search, error);
}

static weft_status search_compiled(const any_options *options, weft_error *error) {
    const weft_search_options how = weft_search_options_default();
    return search_with(&options->compile, &how, error);
}

static weft_status read_mesh(const any_options *options, weft_error *error) {
    weft_mesh *out = NULL;
    return weft_mesh_read_with("square:2", &options->mesh, NULL, &out, error);
}

static weft_status make_hierarchy(const any_options *options, weft_error *error) {
    weft_mesh *coarse = NULL;
    weft_hierarchy *out = NULL;
    assert_int_equal(weft_mesh_make_square(2, &coarse, NULL), WEFT_OK);
    const weft_status status =
        weft_hierarchy_make(device, &coarse, &options->hierarchy, NULL, &out, error);
    assert_null(coarse); /* taken over on errors too */
    return status;
}

static weft_status check_series(const any_options *options, weft_error *error) {
    return weft_series_check("u.pvd", &options->series, error);
}

static weft_status make_series(const any_options *options, weft_error *error) {
    weft_series *out = NULL;
    return weft_series_make("u.pvd", NULL, &options->series, NULL, &out, error);
}

static weft_status solve(const any_options *options, weft_error *error) {
    weft_cg_result result = {0};
    return weft_solver_solve(solver, vector, vector, &options->cg, &result, error);
}

static weft_status make_transient(const any_options *options, weft_error *error) {
    weft_transient *out = NULL;
    weft_transient_problem settings = {0};
    settings.solver = options->cg;
    return weft_transient_make(NULL, &settings, &out, error);
}

static weft_status read_form(const any_options *options, weft_error *error) {
    weft_ufl *out = NULL;
    return weft_ufl_read_text("a.py", "", 0, &options->ufl, &out, error);
}

static weft_status read_repr(const any_options *options, weft_error *error) {
    weft_ufl *out = NULL;
    return weft_ufl_read_repr("", 0, &options->ufl, &out, error);
}

static weft_status start_problem(const any_options *options, weft_error *error) {
    weft_problem *out = NULL;
    return weft_problem_start(NULL, &options->problem, &out, error);
}

static weft_status solve_problem(const any_options *options, weft_error *error) {
    weft_problem_report report;
    return weft_problem_solve(problem, &options->problem, &report, error);
}

static weft_status solve_nonlinear(const any_options *options, weft_error *error) {
    const weft_newton_options newton = weft_newton_options_default();
    weft_problem_report report;
    return weft_problem_solve_nonlinear(problem, &options->problem, &newton, &report, error);
}

static weft_status iterate(const any_options *options, weft_error *error) {
    const weft_problem_options linear = weft_problem_options_default();
    weft_problem_report report;
    return weft_problem_solve_nonlinear(problem, &linear, &options->newton, &report, error);
}

static weft_status integrate(const any_options *options, weft_error *error) {
    const weft_transient_problem settings = {.dt = 1};
    weft_transient *out = NULL;
    return weft_problem_in_time(problem, &options->problem, &settings, &out, error);
}

static weft_status bind(const any_options *options, weft_error *error) {
    return weft_ufl_bind(NULL, NULL, library, &options->binding, problem, error);
}

static const struct {
    const char *type;
    size_t size;
    weft_status (*use)(const any_options *options, weft_error *error);
} uses[] = {{"weft_device_options", sizeof(weft_device_options), open_device},
            {"weft_device_options", sizeof(weft_device_options), open_tuning},
            {"weft_compile_options", sizeof(weft_compile_options), compile},
            {"weft_compile_options", sizeof(weft_compile_options), hash_script},
            {"weft_compile_options", sizeof(weft_compile_options), list_primitives},
            {"weft_compile_options", sizeof(weft_compile_options), search_compiled},
            {"weft_calibration_options", sizeof(weft_calibration_options), calibrate},
            {"weft_search_options", sizeof(weft_search_options), search},
            {"weft_mesh_options", sizeof(weft_mesh_options), read_mesh},
            {"weft_hierarchy_options", sizeof(weft_hierarchy_options), make_hierarchy},
            {"weft_series_options", sizeof(weft_series_options), check_series},
            {"weft_series_options", sizeof(weft_series_options), make_series},
            {"weft_cg_options", sizeof(weft_cg_options), solve},
            {"weft_cg_options", sizeof(weft_cg_options), make_transient},
            {"weft_ufl_options", sizeof(weft_ufl_options), read_form},
            {"weft_ufl_options", sizeof(weft_ufl_options), read_repr},
            {"weft_problem_options", sizeof(weft_problem_options), start_problem},
            {"weft_problem_options", sizeof(weft_problem_options), solve_problem},
            {"weft_problem_options", sizeof(weft_problem_options), solve_nonlinear},
            {"weft_newton_options", sizeof(weft_newton_options), iterate},
            {"weft_problem_options", sizeof(weft_problem_options), integrate},
            {"weft_bind_options", sizeof(weft_bind_options), bind}};

static void refuse(size_t use, size_t size, const char *expected) {
    any_options options;
    weft_error error = {0};
    memset(&options, 0xA5, sizeof options);
    options.size = size;
    const weft_status status = uses[use].use(&options, &error);
    if (status != WEFT_ERROR_USAGE || !strstr(error.message, expected) ||
        !strstr(error.message, uses[use].type))
        fail_msg("%s, use %zu, size %zu: status %d, %s", uses[use].type, use, size, (int)status,
                 error.message);
    assert_true(error.hint[0]);
}

static void other_sizes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; ++i) {
        refuse(i, 0, "without its size");
        refuse(i, uses[i].size - sizeof(void *), "made for another version of Weft");
        refuse(i, uses[i].size + sizeof(void *), "made for another version of Weft");
        refuse(i, SIZE_MAX, "made for another version of Weft");
    }
}

static void message(void **state) {
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_mesh_options options = weft_mesh_options_default();
    char expected[200];
    (void)state;
    options.size = 8;
    assert_int_equal(weft_mesh_read_with("square:2", &options, NULL, &mesh, &error),
                     WEFT_ERROR_USAGE);
    snprintf(expected, sizeof expected,
             "made for another version of Weft: weft_mesh_options has 8 bytes, but %zu in Weft %s",
             sizeof options, weft_version());
    assert_string_equal(error.message, expected);
    options.size = sizeof options;
    assert_int_equal(weft_mesh_read_with("square:2", &options, NULL, &mesh, &error), WEFT_OK);
    weft_mesh_free(&mesh);
}

/* A program whose options are shorter or longer than the library's has them cleared as they are. */
static void clear(void **state) {
    struct {
        unsigned char options[GUARD], guard[GUARD];
    } memory;
    (void)state;
    for (size_t size = sizeof size; size <= GUARD; size += sizeof size) {
        size_t stored = 0;
        memset(&memory, 0xA5, sizeof memory);
        weft_options_clear(memory.options, size);
        memcpy(&stored, memory.options, sizeof stored);
        assert_int_equal(stored, size);
        for (size_t i = sizeof size; i < GUARD; ++i)
            assert_int_equal(memory.options[i], i < size ? 0 : 0xA5);
    }
    /* the environment is not written into options of another size either */
    any_options options;
    memset(&options, 0xA5, sizeof options);
    options.size = sizeof(weft_device_options) - sizeof(void *);
    weft_device_options_from_environment(&options.device);
    for (size_t i = sizeof options.size; i < sizeof options.bytes; ++i)
        assert_int_equal(options.bytes[i], 0xA5);
}

static void defaults(void **state) {
    (void)state;
    setenv("WEFT_CACHE", "read", 1);
    const weft_device_options of_device = weft_device_options_default(NULL);
    unsetenv("WEFT_CACHE");
    assert_int_equal(of_device.size, sizeof of_device);
    assert_int_equal(of_device.cache, WEFT_CACHE_READ);
    assert_int_equal(weft_compile_options_default().size, sizeof(weft_compile_options));
    assert_int_equal(weft_calibration_options_default().size, sizeof(weft_calibration_options));
    assert_int_equal(weft_search_options_default().size, sizeof(weft_search_options));
    assert_int_equal(weft_mesh_options_default().size, sizeof(weft_mesh_options));
    assert_int_equal(weft_hierarchy_options_default().size, sizeof(weft_hierarchy_options));
    assert_int_equal(weft_series_options_default().size, sizeof(weft_series_options));
    assert_int_equal(weft_cg_options_default().size, sizeof(weft_cg_options));
    assert_int_equal(weft_ufl_options_default().size, sizeof(weft_ufl_options));
    assert_int_equal(weft_problem_options_default().size, sizeof(weft_problem_options));
    assert_int_equal(weft_newton_options_default().size, sizeof(weft_newton_options));
    assert_int_equal(weft_newton_options_default().iterations, 50);
    assert_int_equal(weft_bind_options_default().size, sizeof(weft_bind_options));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_sizes), cmocka_unit_test(message),
                                       cmocka_unit_test(clear), cmocka_unit_test(defaults)};
    weft_context context = {.plan = WEFT_PLAN_FUSED};
    weft_mesh *mesh = NULL;
    weft_space *space = NULL;
    weft_bound_form cells;
    weft_operator *op = NULL;
    weft_error error = {0};
    weft_status status = WEFT_OK;
    TRY(weft_device_open("host:1", NULL, &device, &error));
    TRY(weft_fem_library_make(&library, &error));
    context.device = device;
    context.library = library;
    TRY(weft_mesh_make_square(2, &mesh, &error));
    TRY(weft_space_make(device, mesh, WEFT_ELEMENT_P1, 1, &space, &error));
    TRY(weft_form_ship(space, "poisson.weft", weft_space_cells(space), &cells, &error));
    TRY(weft_operator_make(&context, WEFT_ASSEMBLY_CSR, &cells.form, 1, &op, &error));
    TRY(weft_solver_make(&context, op, &solver, &error));
    TRY(weft_problem_make(&context, mesh, WEFT_ELEMENT_P1, 1, &problem, &error));
    TRY(weft_memory_make(device, 9 * sizeof(double), &vector, &error));
done:
    if (status != WEFT_OK)
        fprintf(stderr, "%s\n", error.message);
    int failures = status != WEFT_OK ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
    weft_memory_free(&vector);
    weft_problem_free(&problem);
    weft_solver_free(&solver);
    weft_operator_free(&op);
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_library_free(&library);
    weft_device_free(&device);
    return failures;
}
