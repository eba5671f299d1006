/* labels: quick */
/* Formulas by group of cells: the exact solution of a wall of two materials has no residual, on the
 * host, as CUDA text and with any assembly; values at nodes; every message. The tolerance is 100 times
 * the rounding of the sums, 1e-16 times |k u| = 50. */
#include "emulated_gpu.h"
#include "wall_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROUNDING = 1e-12;

typedef struct setting {
    weft_context context;
    weft_library *library;
    weft_mesh *mesh;
    weft_space *space;
} setting;

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static setting setting_make(weft_mesh *mesh, bool emulated) {
    setting s = {.mesh = mesh};
    weft_error error = {0};
    const char *forced = getenv("WEFT_TEST_DEVICE");
    check(
        weft_device_open(forced && !emulated ? forced : "host:2", NULL, &s.context.device, &error),
        &error);
    if (emulated)
        emulated_gpu_make(s.context.device);
    check(weft_fem_library_make(&s.library, &error), &error);
    s.context.library = s.library;
    check(weft_data_make(s.context.device, mesh, &s.context.data, &error), &error);
    check(weft_space_make(s.context.device, mesh, WEFT_ELEMENT_P1, 1, &s.space, &error), &error);
    return s;
}

static void setting_free(setting *s) {
    weft_space_free(&s->space);
    weft_data_free(&s->context.data);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_device_free(&s->context.device);
}

/* k = 50 | 0.02 between u(0) = 1 and u(1) = 0: the flux q = 1/(1/100 + 25), u linear in each half.
 * At x = 1/2 the fluxes of both sides cancel, as inside; at x = 0 they sum to q, at x = 1 to -q. */
static double exact(double x) {
    const double q = 1 / (0.5 / 50 + 0.5 / 0.02);
    return x < 0.5 ? 1 - q * x / 50 : q * (1 - x) / 0.02;
}

static void check_residual(setting *s, const double *r) {
    const int d = s->mesh->dimension;
    const double q = 1 / (0.5 / 50 + 0.5 / 0.02);
    double left = 0, right = 0;
    for (int64_t i = 0; i < s->mesh->n_nodes; ++i) {
        const double x = s->mesh->x[i * d];
        if (x < 1e-9)
            left += r[i];
        else if (x > 1 - 1e-9)
            right += r[i];
        else
            assert_double_near(r[i], 0, 0, ROUNDING);
    }
    assert_double_near(left, q, 0, ROUNDING);
    assert_double_near(right, -q, 0, ROUNDING);
}

static void flux(int d, bool emulated, weft_assembly assembly, const char *k) {
    setting s = setting_make(wall_mesh(d, 4, false, false), emulated);
    weft_error error = {0};
    weft_memory *u_memory = NULL, *r_memory = NULL;
    double *u = NULL, *r = NULL;
    weft_bound_form form;
    weft_operator *op = NULL;
    const int64_t n = s.mesh->n_nodes;
    check(weft_vector_make(s.context.device, n, &u, &u_memory, &error), &error);
    check(weft_vector_make(s.context.device, n, &r, &r_memory, &error), &error);
    for (int64_t i = 0; i < n; ++i)
        u[i] = exact(s.mesh->x[i * d]);
    check(weft_vector_push(u_memory, u, n, &error), &error);
    check(weft_form_ship(s.space, "poisson_diffusivity.weft", weft_space_cells(s.space), &form,
                         &error),
          &error);
    weft_form_bind_expression(&form, "diffusivity", k, "--diffusivity");
    check(weft_operator_make(&s.context, assembly, &form.form, 1, &op, &error), &error);
    check(weft_operator_assemble(op, &error), &error);
    check(weft_operator_apply(op, u_memory, r_memory, &error), &error);
    check(weft_vector_pull(r_memory, r, n, &error), &error);
    check_residual(&s, r);
    weft_operator_free(&op);
    weft_memory_free(&u_memory);
    weft_memory_free(&r_memory);
    free(u);
    free(r);
    setting_free(&s);
}

/* numbers; formulas, of which one has a number; a formula for everything else */
static void test_wall(void **state) {
    static const char *const texts[] = {"@steel=50; @air=0.02", "@steel=50; @air=0.02 + 0*x",
                                        "@\"air\" = 1/50 + 0*y; 5*10 + 0*x"};
    (void)state;
    for (int i = 0; i < 3; ++i)
        for (int d = 2; d <= 3; ++d) {
            flux(d, false, WEFT_ASSEMBLY_CSR, texts[i]);
            flux(d, false, WEFT_ASSEMBLY_MATRIX_FREE, texts[i]);
        }
    flux(3, true, WEFT_ASSEMBLY_LMA, texts[0]);
    flux(2, true, WEFT_ASSEMBLY_LMA, texts[1]);
}

static weft_status evaluate(setting *s, const char *script, const char *text, double *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const bool on_cells = strcmp(script, "centres.weft") == 0;
    const char *output = "u";
    const int64_t n = on_cells ? s->mesh->n_cells : s->mesh->n_nodes;
    double *values = NULL;
    weft_memory *memory = NULL;
    weft_bound_form form;
    TRY(weft_vector_make(s->context.device, n + 64, &values, &memory, error));
    TRY(weft_form_ship(s->space, script, on_cells ? weft_space_cells(s->space) : NULL, &form,
                       error));
    weft_form_bind_expression(&form, "value", text, "--k");
    TRY(weft_form_run(&s->context, &form.form,
                      &(weft_form_outputs){&output, &memory, 1, on_cells ? "cells" : "nodes", n},
                      error));
    TRY(weft_vector_pull(memory, values, n, error));
    memcpy(out, values, (size_t)n * sizeof *out);
done:
    weft_memory_free(&memory);
    free(values);
    return status;
}

/* At nodes the last group of the text holds, of cells or of facets. */
static void test_nodes(void **state) {
    (void)state;
    setting s = setting_make(wall_mesh(2, 4, false, false), false);
    weft_error error = {0};
    double *u = calloc((size_t)s.mesh->n_nodes, sizeof *u);
    assert_non_null(u);
    check(evaluate(&s, "nodal.weft", "@steel=1; @air=2 + y; @left=7", u, &error), &error);
    for (int64_t i = 0; i < s.mesh->n_nodes; ++i) {
        const double x = s.mesh->x[2 * i], y = s.mesh->x[2 * i + 1];
        assert_double_near(u[i], x < 1e-9 ? 7 : x < 0.499 ? 1 : 2 + y, 1e-14, 0);
    }
    check(evaluate(&s, "nodal.weft", "-3; @right=x*5", u, &error), &error);
    for (int64_t i = 0; i < s.mesh->n_nodes; ++i)
        assert_double_near(u[i], s.mesh->x[2 * i] > 0.999 ? 5 : -3, 1e-14, 0);
    free(u);
    setting_free(&s);
}

/* 60 groups of cells with a number each, two of them with the same formula */
static void test_many(void **state) {
    (void)state;
    enum { N = 60 };
    weft_mesh *square = make_mesh(2, N), *mesh = NULL;
    weft_mesh_data data = take_apart(square);
    weft_text text = {0};
    weft_error error = {0};
    free(data.groups);
    free(data.group_facet_nodes);
    data.n_groups = N;
    data.n_group_facets = 0;
    data.group_facet_nodes = NULL;
    data.groups = calloc(N, sizeof *data.groups);
    data.group_cells = weft_array_make((size_t)square->n_cells, sizeof *data.group_cells);
    assert_true(data.groups && data.group_cells);
    for (int g = 0; g < N; ++g) {
        data.groups[g] = (weft_group){.dimension = 2, .first_cell = data.n_group_cells};
        snprintf(data.groups[g].name, sizeof data.groups[g].name, "slice %d", g);
        for (int64_t c = 0; c < square->n_cells; ++c) {
            const int32_t *nodes = square->cells + 3 * c;
            double x = 0;
            for (int v = 0; v < 3; ++v)
                x += square->x[2 * nodes[v]] / 3;
            if ((int)(x * N) == g)
                data.group_cells[data.n_group_cells++] = (int32_t)c;
        }
        data.groups[g].n_cells = data.n_group_cells - data.groups[g].first_cell;
        if (g < 2)
            weft_text_add(&text, "%s@\"slice %d\"=10*y", g ? ";" : "", g);
        else
            weft_text_add(&text, ";@\"slice %d\"=%d.5", g, g);
    }
    check(weft_mesh_make(&data, "slices", NULL, &mesh, &error), &error);
    weft_mesh_free(&square);
    setting s = setting_make(mesh, false);
    double *u = calloc((size_t)mesh->n_cells, sizeof *u);
    assert_true(u && !text.failed);
    check(evaluate(&s, "centres.weft", text.data, u, &error), &error);
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        double x = 0, y = 0;
        for (int v = 0; v < 3; ++v) {
            x += mesh->x[2 * mesh->cells[3 * c + v]] / 3;
            y += mesh->x[2 * mesh->cells[3 * c + v] + 1] / 3;
        }
        const int g = (int)(x * N);
        assert_double_near(u[c], g < 2 ? 10 * y : g + 0.5, 1e-13, 0);
    }
    weft_text_free(&text);
    free(u);
    setting_free(&s);
}

static void test_messages(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"@steel=50",
         "--k: error: 'value' has no value in the group `air`\nhint: add a formula for "
         "it, @air=EXPR, or one without a group, for all others"},
        {"@stel=50",
         "--k: error: wall has no group `stel`; it has left, right, bottom, top, steel, "
         "air, lower\nhint: did you mean `steel`?"},
        {"1; @left=50", "--k: error: group `left` of wall has dimension 1, and cells have 2\nhint: "
                        "name a Physical Surface group"},
        {"@steel=1; @steel=2", "--k @steel:1:1: error: 'value' has two formulas for the group "
                               "'steel'\n    2\n    ^"},
        {"1; @air=3; 2", "--k:1:1: error: 'value' has two formulas without a group\n    2\n    ^"},
        {"@steel=1; @air=y+", "--k @air:1:3: error: expected a value, found the end of the text\n"
                              "    y+\n      ^"},
        {"@=1", "--k:1:2: error: expected the name of a group after '@'\n    @=1\n     ^\nhint: "
                "formulas by group are written @GROUP=FORMULA; a name with other characters than "
                "letters, digits and _ in quotes: @\"GROUP\"=FORMULA"},
        {"@steel", "--k:1:7: error: expected '=' after the name of the group\n    @steel\n        "
                   "  ^\nhint: formulas by group are written @GROUP=FORMULA; a name with other "
                   "characters than letters, digits and _ in quotes: @\"GROUP\"=FORMULA"},
        {"@\"steel=1", "--k:1:2: error: this quote is not closed\n    @\"steel=1\n     ^\nhint: "
                       "formulas by group are written @GROUP=FORMULA; a name with other characters "
                       "than letters, digits and _ in quotes: @\"GROUP\"=FORMULA"},
        {"@steel=",
         "--k:1:8: error: a formula is missing here\n    @steel=\n           ^\nhint: "
         "formulas by group are written @GROUP=FORMULA; a name with other characters than "
         "letters, digits and _ in quotes: @\"GROUP\"=FORMULA"}};
    (void)state;
    setting s = setting_make(wall_mesh(2, 2, true, false), false);
    double u[8];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        weft_error error = {0};
        char text[4096];
        assert_int_not_equal(evaluate(&s, "centres.weft", cases[i].text, u, &error), WEFT_OK);
        weft_error_text(&error, text, sizeof text);
        assert_string_equal(text, cases[i].message);
    }
    setting_free(&s);
}

/* Two groups with a common cell, and cells in no group. */
static void test_cells(void **state) {
    (void)state;
    double u[8];
    char text[4096];
    weft_error error = {0};
    setting s = setting_make(wall_mesh(2, 2, true, false), false);
    assert_int_equal(evaluate(&s, "centres.weft", "0; @steel=1; @lower=2", u, &error),
                     WEFT_ERROR_INPUT);
    weft_error_text(&error, text, sizeof text);
    assert_non_null(strstr(text, "--k: error: the groups `steel` and `lower` overlap: cell "));
    assert_non_null(strstr(text, " is in both, so 'value' has two values there"));
    setting_free(&s);
    s = setting_make(wall_mesh(2, 2, false, true), false);
    error = (weft_error){0};
    assert_int_equal(evaluate(&s, "centres.weft", "@steel=1", u, &error), WEFT_ERROR_INPUT);
    weft_error_text(&error, text, sizeof text);
    assert_non_null(strstr(text, "'value' has no value in cell "));
    assert_non_null(strstr(text, ", which is in no group\nhint: add a formula without a group"));
    /* without weft_context.data */
    weft_data *data = s.context.data;
    s.context.data = NULL;
    assert_int_equal(evaluate(&s, "centres.weft", "@steel=1", u, &error), WEFT_ERROR_USAGE);
    s.context.data = data;
    setting_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wall), cmocka_unit_test(test_nodes),
                                       cmocka_unit_test(test_many), cmocka_unit_test(test_messages),
                                       cmocka_unit_test(test_cells)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
