/* labels: quick */
/* Fields of files and tables in formulas. Linear fields are exact on any mesh, to 1e-11 (products of
 * coefficients of size 10 with coordinates, 1e-16 each, and the inverse of small cells); the error of
 * others falls by the square of the size. Tables: values by hand, from cubic Hermite interpolation. */
#include "emulated_gpu.h"
#include "wall_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double EXACT = 1e-11;

typedef struct setting {
    weft_context context;
    weft_library *library;
    weft_mesh *mesh;
    weft_space *space;
    char *folder;
} setting;

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s (%s)", error->message, error->hint);
}

static setting setting_make(weft_mesh *mesh, bool emulated) {
    setting s = {.mesh = mesh, .folder = test_folder_make()};
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
    test_folder_remove(&s->folder);
}

/* u at the nodes of a mesh of n cells a side, times (1, 2) in a field of two components; c in cells. */
static void write_file(const setting *s, const char *name, int d, int64_t n,
                       double (*u)(const double *)) {
    weft_mesh *mesh = make_mesh(d, n);
    weft_error error = {0};
    double *nodal = calloc((size_t)mesh->n_nodes * 2, sizeof *nodal);
    double *cells = calloc((size_t)mesh->n_cells, sizeof *cells);
    char *path = test_path(s->folder, name);
    assert_true(nodal && cells);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        for (int k = 0; k < 2; ++k)
            nodal[2 * i + k] = (k + 1) * u(mesh->x + i * d);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int v = 0; v <= d; ++v)
            cells[c] += u(mesh->x + (int64_t)mesh->cells[c * (d + 1) + v] * d) / (d + 1);
    const weft_field fields[] = {
        {.name = "u", .n_components = 2, .values = nodal},
        {.name = "c", .on_cells = true, .n_components = 1, .values = cells}};
    check(weft_result_write(path, mesh, fields, 2, &error), &error);
    weft_mesh_free(&mesh);
    free(nodal);
    free(cells);
    free(path);
}

/* Evaluate a text, in which each @ is the folder; at nodes, or at the centres of cells. */
static weft_status evaluate(setting *s, bool on_cells, const char *text, double *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "u";
    const int64_t n = on_cells ? s->mesh->n_cells : s->mesh->n_nodes;
    double *values = NULL;
    weft_memory *memory = NULL;
    weft_bound_form form;
    weft_text whole = {0};
    for (const char *c = text; *c; ++c)
        weft_text_add(&whole, *c == '@' ? "%s" : "%.1s", *c == '@' ? s->folder : c);
    TRY(weft_vector_make(s->context.device, n + 64, &values, &memory, error));
    TRY(weft_form_ship(s->space, on_cells ? "centres.weft" : "nodal.weft",
                       on_cells ? weft_space_cells(s->space) : NULL, &form, error));
    weft_form_bind_expression(&form, "value", whole.data, "--f");
    TRY(weft_form_run(&s->context, &form.form,
                      &(weft_form_outputs){&output, &memory, 1, on_cells ? "cells" : "nodes", n},
                      error));
    TRY(weft_vector_pull(memory, values, n, error));
    memcpy(out, values, (size_t)n * sizeof *out);
done:
    weft_memory_free(&memory);
    weft_text_free(&whole);
    free(values);
    return status;
}

static double linear(const double *x) {
    return 3 + 2 * x[0] - 5 * x[1];
}

static double curved(const double *x) {
    return sin(3 * x[0]) * cos(2 * x[1]);
}

/* Largest difference from factor*u at nodes or centres. */
static double distance(setting *s, bool on_cells, const char *text, double factor,
                       double (*u)(const double *)) {
    const int d = s->mesh->dimension;
    const int64_t n = on_cells ? s->mesh->n_cells : s->mesh->n_nodes;
    double *out = calloc((size_t)n, sizeof *out), most = 0;
    weft_error error = {0};
    assert_non_null(out);
    check(evaluate(s, on_cells, text, out, &error), &error);
    for (int64_t i = 0; i < n; ++i) {
        double x[3] = {0};
        for (int v = 0; v <= d && on_cells; ++v)
            for (int k = 0; k < d; ++k)
                x[k] += s->mesh->x[(int64_t)s->mesh->cells[i * (d + 1) + v] * d + k] / (d + 1);
        most = fmax(most, fabs(out[i] - factor * u(on_cells ? x : s->mesh->x + i * d)));
    }
    free(out);
    return most;
}

static void test_linear(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d)
        for (int emulated = 0; emulated < (d == 2 ? 2 : 1); ++emulated) {
            setting s = setting_make(make_mesh(d, 5), emulated == 1);
            write_file(&s, "f.vtkhdf", d, 3, linear);
            assert_true(distance(&s, false, "field(@/f.vtkhdf)", 1, linear) < EXACT);
            assert_true(distance(&s, true, "field(@/f.vtkhdf, u)", 1, linear) < EXACT);
            assert_true(distance(&s, true, "2 + field(\"@/f.vtkhdf\", u, 1) - 2", 2, linear) <
                        EXACT);
            assert_true(distance(&s, false, "field(@/f.vtkhdf, u, 1, clamp)", 2, linear) < EXACT);
            setting_free(&s);
        }
}

/* From meshes of 8 and 16 cells a side: a quarter of the error; the mesh's own nodes and cells: none. */
static void test_order(void **state) {
    (void)state;
    setting s = setting_make(make_mesh(2, 37), false);
    write_file(&s, "coarse.vtkhdf", 2, 8, curved);
    write_file(&s, "fine.vtkhdf", 2, 16, curved);
    write_file(&s, "same.vtkhdf", 2, 37, curved);
    for (int on_cells = 0; on_cells < 2; ++on_cells) {
        const double coarse = distance(&s, on_cells, "field(@/coarse.vtkhdf)", 1, curved);
        const double fine = distance(&s, on_cells, "field(@/fine.vtkhdf)", 1, curved);
        assert_double_near(log2(coarse / fine), 2, 0, 0.15);
    }
    assert_true(distance(&s, false, "field(@/same.vtkhdf)", 1, curved) < EXACT);
    const double first = distance(&s, true, "field(@/coarse.vtkhdf, c)", 1, curved);
    const double second = distance(&s, true, "field(@/fine.vtkhdf, c)", 1, curved);
    assert_double_near(log2(first / second), 1, 0, 0.3); /* constant in cells */
    setting_free(&s);
}

/* A field over a group, and fluxes with a field, whose integral over x = 1 is that of 5 - 5 y. */
static void test_places(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        setting s = setting_make(wall_mesh(d, 4, false, false), false);
        weft_error error = {0};
        weft_bc *bc = NULL;
        weft_memory *memory = NULL;
        double *b = NULL, sum = 0;
        char *text = NULL;
        write_file(&s, "f.vtkhdf", d, 3, linear);
        assert_true(asprintf(&text, "field(%s/f.vtkhdf)", s.folder) > 0);
        const weft_condition conditions[] = {
            {.kind = WEFT_NEUMANN, .group = "right", .value = text},
            {.kind = WEFT_DIRICHLET, .group = "left", .value = text}};
        check(weft_bc_make(&s.context, s.space, conditions, 2, &bc, &error), &error);
        check(weft_vector_make(s.context.device, s.mesh->n_nodes, &b, &memory, &error), &error);
        check(weft_bc_load_make(bc, NULL, NULL, WEFT_LOAD_DEGREE, memory, b, &error), &error);
        for (int64_t i = 0; i < s.mesh->n_nodes; ++i)
            sum += b[i];
        assert_double_near(sum, 2.5, 0, EXACT);
        memset(b, 0, (size_t)s.mesh->n_nodes * sizeof *b);
        weft_bc_set(bc, 1, b);
        for (int64_t i = 0; i < s.mesh->n_nodes; ++i)
            if (s.mesh->x[i * d] < 1e-9)
                assert_double_near(b[i], linear(s.mesh->x + i * d), 0, EXACT);
        weft_memory_free(&memory);
        weft_bc_free(&bc);
        free(b);
        free(text);
        setting_free(&s);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static double first_value(setting *s, const char *text) {
    double *out = calloc((size_t)s->mesh->n_nodes, sizeof *out);
    weft_error error = {0};
    assert_non_null(out);
    check(evaluate(s, false, text, out, &error), &error);
    const double value = out[s->mesh->n_nodes - 1];
    free(out);
    return value;
}

static void write_table(const setting *s, const char *name, const char *text) {
    char *path = test_path(s->folder, name);
    test_text_write(path, text);
    free(path);
}

/* (0,0), (1,1), (2,1): y' = 3/2, 0, 0. In [0, 1] y(t) = 3/2 (t - 2 t^2 + t^3) + 3 t^2 - 2 t^3. */
static void test_table(void **state) {
    (void)state;
    for (int emulated = 0; emulated < 2; ++emulated) {
        setting s = setting_make(make_mesh(2, 3), emulated == 1);
        write_table(&s, "t.csv", "# a comment\nT; k\n0 ; 0\r\n1;1\n\n2,1\n");
        write_table(&s, "line.csv", "-1 2\n0\t4\n3 10\n4 12\n");
        assert_double_near(first_value(&s, "table(@/t.csv, 0.5*x)"), 0.6875, 1e-14, 0);
        assert_double_near(first_value(&s, "table(@/t.csv, x/4)"),
                           1.5 * (0.25 - 0.125 + 1.0 / 64) + 3.0 / 16 - 2.0 / 64, 1e-14, 0);
        assert_double_near(first_value(&s, "table(@/t.csv, 1 + x/2)"), 1, 1e-14, 0);
        assert_double_near(first_value(&s, "table(@/t.csv, -x) + table(@/t.csv, 7*x)"), 1, 1e-14,
                           0);
        assert_double_near(first_value(&s, "table_slope(@/t.csv, x/2)"),
                           1.5 * (1 - 2 + 0.75) + 3 - 1.5, 1e-14, 0);
        assert_double_near(first_value(&s, "table_slope(@/t.csv, -x) + table_slope(@/t.csv, 5)"), 0,
                           0, 1e-14);
        /* straight lines stay straight; functions of tables and tables of functions */
        assert_double_near(first_value(&s, "table(@/line.csv, 3.7*x) + exp(0)"), 12.4, 1e-14, 0);
        assert_double_near(first_value(&s, "table(\"@/line.csv\", table(@/line.csv, x/2 - 2))"), 8,
                           1e-14, 0);
        setting_free(&s);
    }
}

/* Monotone between monotone values, with equal ones and a jump, and through each of them. */
static void test_monotone(void **state) {
    static const double x[] = {0, 1, 1.1, 3, 3.5, 5}, y[] = {0, 0.1, 5, 5, 5.2, 40};
    (void)state;
    setting s = setting_make(make_mesh(2, 400), false);
    weft_text text = {0};
    double *out = calloc((size_t)s.mesh->n_nodes, sizeof *out);
    weft_error error = {0};
    assert_non_null(out);
    for (int i = 0; i < 6; ++i)
        weft_text_add(&text, "%g,%g\n", x[i], y[i]);
    write_table(&s, "m.csv", text.data);
    check(evaluate(&s, false, "table(@/m.csv, 5*x)", out, &error), &error);
    for (int64_t i = 0; i <= 400; ++i) { /* the first row of nodes */
        const double at = 5 * s.mesh->x[2 * i];
        if (i > 0)
            assert_true(s.mesh->x[2 * i + 1] < 1e-9 && out[i] >= out[i - 1] - 1e-12);
        for (int k = 0; k < 6; ++k)
            if (fabs(at - x[k]) < 1e-12)
                assert_double_near(out[i], y[k], 1e-12, 1e-12);
    }
    weft_text_free(&text);
    free(out);
    setting_free(&s);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void test_messages(void **state) {
    static const struct {
        const char *text, *parts[3];
    } cases[] = {
        {"field(@/none.vtkhdf)", {"cannot read ", "none.vtkhdf: No such file"}},
        {"field(@/f.vtkhdf, v)", {"f.vtkhdf has no field `v`", "its fields are: u, c"}},
        {"field(@/f.vtkhdf, u, 2)", {"has 2 components", "there is no component 2"}},
        {"field(@/space.vtkhdf)", {"has 3 dimensions, and square:4 has 2"}},
        {"field(@/small.vtkhdf)", {" of 25 points are outside the mesh of ", "clamp"}},
        {"field(@/f.vtkhdf, u, clmp)", {"expected clamp or the number of a component"}},
        {"field(@/f.vtkhdf", {"expected ',' or ')'"}},
        {"field()", {"a name is missing here"}},
        {"x + field", {"'field' is unknown here"}},
        {"table(@/none.csv, x)", {"cannot read ", "none.csv: No such file"}},
        {"table(@/bad.csv, x)", {"bad.csv:2:1: error: expected two numbers", "\"1, x\""}},
        {"table(@/down.csv, x)", {"down.csv:3:1: error: x must be larger than in the line before"}},
        {"table(@/one.csv, x)", {"has 1 row, and a table has at least 2"}},
        {"table(@/t.csv)", {"expected ',' and the argument of the table"}},
        {"table(@/t.csv, q)", {"'q' is unknown here"}},
        {"table(\"@/t.csv, x)", {"this quote is not closed"}},
        {"table(@, x)", {"is not a table: it is not a file of at most 1 MB"}},
        {"table(2, x)", {"cannot read 2: No such file"}}};
    (void)state;
    setting s = setting_make(make_mesh(2, 4), false);
    double out[64];
    write_file(&s, "f.vtkhdf", 2, 3, linear);
    write_file(&s, "space.vtkhdf", 3, 2, linear);
    write_table(&s, "t.csv", "0,1\n1,2\n");
    write_table(&s, "bad.csv", "0,1\n1, x\n");
    write_table(&s, "down.csv", "0,1\n1,2\n1,3\n");
    write_table(&s, "one.csv", "x,y\n0,1\n");
    weft_mesh *mesh = make_mesh(2, 2);
    for (int64_t i = 0; i < mesh->n_nodes * 2; ++i)
        mesh->x[i] /= 2;
    double *u = calloc((size_t)mesh->n_nodes, sizeof *u);
    const weft_field field = {.name = "u", .n_components = 1, .values = u};
    char *path = test_path(s.folder, "small.vtkhdf");
    assert_int_equal(weft_result_write(path, mesh, &field, 1, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        weft_error error = {0};
        char text[4096];
        assert_int_not_equal(evaluate(&s, false, cases[i].text, out, &error), WEFT_OK);
        weft_error_text(&error, text, sizeof text);
        for (int k = 0; k < 3 && cases[i].parts[k]; ++k)
            if (!strstr(text, cases[i].parts[k]))
                fail_msg("%s: %s\nmissing: %s", cases[i].text, text, cases[i].parts[k]);
    }
    free(path);
    free(u);
    weft_mesh_free(&mesh);
    setting_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),   cmocka_unit_test(test_order),
        cmocka_unit_test(test_places),   cmocka_unit_test(test_table),
        cmocka_unit_test(test_monotone), cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
