/* labels: quick */
/* Inputs of a problem against what their formulas say, at nodes, at centres of cells, as numbers, by group, in time and
 * under a load factor; lists; every refusal. Values are compared to 1e-13: sums of a few numbers of size 1. */
#include "fem/problem/problem.h"
#include "fem/weft_fem.h"
#include "wall_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROUNDING = 1e-13;

static void assert_close(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g, expected %.17g", a, b);
}

typedef struct setting {
    weft_context context;
    weft_library *library;
    weft_mesh *mesh;
    weft_problem *problem;
} setting;

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static void open_setting(setting *s, weft_mesh *mesh) {
    weft_error error = {0};
    *s = (setting){.context.plan = WEFT_PLAN_FUSED, .mesh = mesh};
    check(weft_device_open("host:1", NULL, &s->context.device, &error), &error);
    check(weft_fem_library_make(&s->library, &error), &error);
    s->context.library = s->library;
    check(weft_data_make(s->context.device, mesh, &s->context.data, &error), &error);
    check(weft_problem_make(&s->context, mesh, WEFT_ELEMENT_P1, 1, &s->problem, &error), &error);
}

static void close_setting(setting *s) {
    weft_problem_free(&s->problem);
    weft_data_free(&s->context.data);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_device_free(&s->context.device);
}

static weft_name_info describe(const char *name, const char *over, int components) {
    return (weft_name_info){.name = name,
                            .kind = WEFT_NAME_INPUT,
                            .over = over,
                            .rank = components > 1,
                            .sizes = {components}};
}

static const weft_input *add(setting *s, const weft_name_info *info, const char *text,
                             bool in_time) {
    weft_error error = {0};
    const weft_input_source source = {.text = text, .origin = "the test", .in_time = in_time};
    check(weft_inputs_add(&s->problem->inputs, info, &source, &error), &error);
    const weft_input *input = &s->problem->inputs.list[s->problem->inputs.n - 1];
    assert_ptr_equal(weft_inputs_find(&s->problem->inputs, info->name), input->memory);
    check(weft_vector_pull(input->memory, input->values,
                           weft_inputs_size_of(&s->problem->inputs, info), &error),
          &error);
    return input;
}

/* x and 2 y + 3, at the nodes. */
static void over_nodes(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    check(weft_mesh_make_square(5, &mesh, &error), &error);
    open_setting(&s, mesh);
    const weft_name_info info = describe("w", "nodes", 2);
    const double *values = add(&s, &info, "x, 2*y + 3", false)->values;
    const double *x = weft_space_points(s.problem->fields.space);
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        assert_close(values[2 * i], x[2 * i], ROUNDING);
        assert_close(values[2 * i + 1], 2 * x[2 * i + 1] + 3, ROUNDING);
    }
    close_setting(&s);
}

/* The centres of cells, in blocks whose spare lanes repeat the last cell; two materials. */
static void over_cells(void **state) {
    (void)state;
    setting s;
    open_setting(&s, wall_mesh(2, 6, false, false));
    const weft_mesh *mesh = s.mesh;
    const int64_t lanes = weft_device_limits(s.context.device)->lanes_double;
    const weft_name_info vector = describe("w", "cells", 2), number = describe("k", "cells", 1);
    const double *values = add(&s, &vector, "x, 7", false)->values;
    const double *k = add(&s, &number, "50; @air=0.02", false)->values;
    const int64_t n_places = weft_inputs_size_of(&s.problem->inputs, &number);
    assert_true(n_places >= mesh->n_cells && n_places % lanes == 0);
    for (int64_t i = 0; i < n_places; ++i) {
        const int64_t c = i < mesh->n_cells ? i : mesh->n_cells - 1;
        double centre = 0;
        for (int v = 0; v < 3; ++v)
            centre += mesh->x[2 * mesh->cells[3 * c + v]] / 3;
        const double *block = values + i / lanes * 2 * lanes + i % lanes;
        assert_close(block[0], centre, ROUNDING);
        assert_true(block[lanes] == 7);
        assert_true(k[i] == (centre < 0.5 ? 50 : 0.02));
    }
    close_setting(&s);
}

/* Also of a number; the values of a list are read where they are. */
static void in_time(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    check(weft_mesh_make_square(3, &mesh, &error), &error);
    open_setting(&s, mesh);
    const weft_name_info field = describe("f", "nodes", 1), number = describe("k", NULL, 1);
    double *x = NULL, k = 0;
    weft_memory *f = add(&s, &field, "x*t + y", true)->memory;
    weft_memory *rate = add(&s, &number, "exp(t)", true)->memory;
    const weft_transient_inputs moving = weft_inputs_moving(&s.problem->inputs);
    assert_int_equal(moving.n, 2);
    assert_ptr_equal(moving.memories[1], rate);
    check(moving.set(moving.user, 3, &error), &error);
    x = weft_array_make((size_t)mesh->n_nodes, sizeof *x);
    assert_non_null(x);
    check(weft_memory_read(f, 0, x, (size_t)mesh->n_nodes * sizeof *x, &error), &error);
    check(weft_memory_read(rate, 0, &k, sizeof k, &error), &error);
    assert_close(k, exp(3), 1e-10);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        assert_close(x[i], 3 * mesh->x[2 * i] + mesh->x[2 * i + 1], ROUNDING);
    free(x);
    close_setting(&s);
}

/* Inputs called load, by formulas and by a list, which stays as it is. */
static void load_factors(void **state) {
    (void)state;
    setting s;
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_memory *given = NULL;
    const double seven = 7;
    double value = 0;
    check(weft_mesh_make_square(2, &mesh, &error), &error);
    open_setting(&s, mesh);
    const weft_name_info info = describe("load", NULL, 1), other = describe("k", NULL, 1);
    check(weft_memory_make(s.context.device, sizeof seven, &given, &error), &error);
    check(weft_memory_write(given, 0, &seven, sizeof seven, &error), &error);
    const weft_input_source list = {.memory = given, .origin = "the test"};
    assert_false(weft_inputs_have_load(&s.problem->inputs));
    add(&s, &other, "1/40", false);
    check(weft_inputs_add(&s.problem->inputs, &info, &list, &error), &error);
    assert_true(weft_inputs_have_load(&s.problem->inputs));
    for (int i = 1; i < 4; ++i) {
        check(weft_inputs_scale_loads(&s.problem->inputs, 0.25 * i, &error), &error);
        check(weft_memory_read(weft_inputs_find(&s.problem->inputs, "load"), 0, &value,
                               sizeof value, &error),
              &error);
        assert_true(value == 1.75 * i);
        check(weft_memory_read(s.problem->inputs.load, 0, &value, sizeof value, &error), &error);
        assert_true(value == 0.25 * i);
    }
    check(weft_memory_read(given, 0, &value, sizeof value, &error), &error);
    assert_true(value == 7);
    check(weft_memory_read(weft_inputs_find(&s.problem->inputs, "k"), 0, &value, sizeof value,
                           &error),
          &error);
    assert_close(value, 0.025, ROUNDING);
    weft_memory_free(&given);
    close_setting(&s);
}

typedef struct refusal {
    const char *over;
    int components;
    const char *text;
    weft_status status;
    const char *message;
} refusal;

static void refusals(void **state) {
    (void)state;
    static const refusal list[] = {
        {NULL, 1, "x", WEFT_ERROR_USAGE,
         "this input is a single number, and this formula depends on the place"},
        {NULL, 1, "1; @air=2", WEFT_ERROR_USAGE,
         "this input is a single number, and this is a formula by group"},
        {NULL, 1, "1/0", WEFT_ERROR_USAGE,
         "this input is a single number, and this formula has no finite value"},
        {"nodes", 1, "1, 2", WEFT_ERROR_USAGE,
         "2 expressions are given, but this input has 1 component"},
        {"cells", 2, "1", WEFT_ERROR_USAGE,
         "1 expression is given, but this input has 2 components"},
        {"facets", 1, "1", WEFT_ERROR_INPUT, "the input 'w' is over 'facets'"},
        {"nodes", 1, "1,", WEFT_ERROR_USAGE, "an expression is missing here"},
        {"cells", 1, "1; @water=2", WEFT_ERROR_INPUT, NULL},
        {"cells", 1, "1/(x - x)", WEFT_ERROR_INPUT, NULL},
        {"nodes", 1, "log(x - 1)", WEFT_ERROR_INPUT, NULL},
        {"nodes", 1, "x + q", WEFT_ERROR_TYPE, NULL}};
    setting s;
    open_setting(&s, wall_mesh(2, 2, false, false));
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        weft_error error = {0};
        const weft_name_info info = describe("w", list[i].over, list[i].components);
        const weft_input_source source = {.text = list[i].text, .origin = "the test"};
        assert_int_equal(weft_inputs_add(&s.problem->inputs, &info, &source, &error),
                         list[i].status);
        assert_int_equal(s.problem->inputs.n, 0);
        if (list[i].message)
            assert_string_equal(error.message, list[i].message);
    }
    weft_error error = {0};
    weft_memory *other = NULL;
    const weft_name_info info = describe("w", "nodes", 1);
    check(weft_memory_make(s.context.device, 16, &other, &error), &error);
    const weft_input_source source = {.memory = other, .origin = "the test"};
    assert_int_equal(weft_inputs_add(&s.problem->inputs, &info, &source, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.message, "the list of the input 'w' does not have 9 values");
    weft_memory_free(&other);
    close_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(over_nodes), cmocka_unit_test(over_cells),
                                       cmocka_unit_test(in_time), cmocka_unit_test(load_factors),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
