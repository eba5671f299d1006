/* labels: quick */
/* csr on a device with a GPU's limits, which computes nothing: what is made and launched; and the
 * kernels' text compiles, where NVRTC is. Numbers are in tests/gpu/test_csr.c. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fem/operator/operator.h"
#include "fem/sparse/sell.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "nvrtc_support.h"
#include "operator_fixture.h"
#include "test_support.h"

#include <stdio.h>

static void fail_with(const weft_error *error) {
    char text[4096];
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

static void operator_is_made_and_launched(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        fixture f = fixture_make("null:h200", d, 5, WEFT_PLAN_FUSED);
        weft_form_input inputs[] = {{"x", f.x}, {"when", f.when}};
        weft_parameter dimension = {"d", d};
        weft_expression alpha = {"alpha", "1", "test"};
        weft_form forms[2] = {{.name = "poisson",
                               .text = weft_fem_script("poisson"),
                               .dofs = f.cells,
                               .inputs = inputs,
                               .n_inputs = 1,
                               .parameters = &dimension,
                               .n_parameters = 1},
                              {.name = "robin",
                               .text = weft_fem_script("robin"),
                               .dofs = f.facets,
                               .inputs = inputs,
                               .n_inputs = 2,
                               .expressions = &alpha,
                               .n_expressions = 1,
                               .parameters = &dimension,
                               .n_parameters = 1}};
        weft_operator *op = NULL;
        weft_error error = {0};
        weft_memory *v = fixture_vector(&f), *y = fixture_vector(&f), *values = NULL;
        if (weft_operator_make(&f.context, WEFT_ASSEMBLY_CSR, forms, 2, &op, &error) != WEFT_OK)
            fail_with(&error);
        /* a launch for each form, in the first assembly, too: nothing is tried out */
        int64_t before = weft_device_launches(f.device);
        assert_int_equal(weft_operator_assemble(op, &error), WEFT_OK);
        assert_int_equal(weft_device_launches(f.device), before + 2);
        before = weft_device_launches(f.device);
        assert_int_equal(weft_operator_assemble(op, &error), WEFT_OK);
        assert_int_equal(weft_device_launches(f.device), before + 2);
        assert_int_equal(weft_operator_apply(op, v, y, &error), WEFT_OK);
        assert_int_equal(weft_operator_diagonal(op, y, &error), WEFT_OK);
        assert_int_equal(weft_device_launches(f.device), before + 4);
        const weft_product_arguments *rows = op->table->rows(op);
        assert_string_equal(rows->product_kernel, "sell");
        assert_int_equal(rows->n_arguments, 6);
        assert_int_equal(rows->n_rows, f.n);
        assert_int_equal(rows->shared_bytes, 512 * (int)sizeof(double));
        assert_null(weft_operator_values(op));
        assert_non_null(weft_operator_pattern(op));
        assert_int_equal(weft_operator_matrix(op, &values, &error), WEFT_OK);
        assert_int_equal(weft_device_launches(f.device), before + 5);
        assert_int_equal(weft_memory_bytes(values),
                         (size_t)weft_operator_pattern(op)->n_entries * sizeof(double));
        weft_operator_free(&op);
        assert_int_equal(weft_operator_make(&f.context, WEFT_ASSEMBLY_LMA, forms, 1, &op, &error),
                         WEFT_OK);
        assert_int_equal(weft_operator_matrix(op, &values, &error), WEFT_ERROR_USAGE);
        weft_operator_free(&op);
        weft_memory_free(&v);
        weft_memory_free(&y);
        fixture_free(&f);
    }
}

static void on_the_host_the_values_are_the_matrix(void **state) {
    (void)state;
    fixture f = fixture_make("host:1", 2, 4, WEFT_PLAN_FUSED);
    weft_form_input inputs[] = {{"x", f.x}};
    weft_parameter dimension = {"d", 2};
    weft_form form = {.name = "poisson",
                      .text = weft_fem_script("poisson"),
                      .dofs = f.cells,
                      .inputs = inputs,
                      .n_inputs = 1,
                      .parameters = &dimension,
                      .n_parameters = 1};
    weft_operator *op = NULL;
    weft_memory *values = NULL;
    assert_int_equal(weft_operator_make(&f.context, WEFT_ASSEMBLY_CSR, &form, 1, &op, NULL),
                     WEFT_OK);
    assert_int_equal(weft_operator_matrix(op, &values, NULL), WEFT_OK);
    assert_ptr_equal(values, weft_operator_values(op));
    weft_operator_free(&op);
    fixture_free(&f);
}

static void positions_of_other_rows_are_refused(void **state) {
    (void)state;
    fixture f = fixture_make("null:h200", 2, 4, WEFT_PLAN_FUSED);
    weft_connectivity *other = NULL;
    weft_pattern *pattern = NULL;
    weft_sell_matrix *matrix = NULL;
    weft_memory *positions = NULL;
    weft_error error = {0};
    assert_int_equal(weft_connectivity_make(f.device, f.mesh->cells, 2, 3, f.n + 1, &other, &error),
                     WEFT_OK);
    assert_int_equal(weft_pattern_make(f.device, f.cells, 32, &pattern, NULL, &error), WEFT_OK);
    assert_int_equal(weft_sell_matrix_make(f.device, pattern, false, NULL, &matrix, &error),
                     WEFT_OK);
    assert_int_equal(weft_sell_positions(matrix, other, &positions, &error), WEFT_ERROR_SHAPE);
    assert_null(positions);
    weft_sell_matrix_free(&matrix);
    weft_pattern_free(&pattern);
    weft_connectivity_free(&other);
    fixture_free(&f);
}

static void remember(void *user, weft_log_level level, const char *message) {
    if (level == WEFT_LOG_WARNING)
        snprintf(user, 512, "%s", message);
}

/* Nodes numbered at random: blocks couple with too many others, so additions are atomic, and that
 * is said. */
static void far_nodes_fall_back(void **state) {
    (void)state;
    enum { NODES = 100000, CELLS = 60000 };
    char said[512] = "";
    fixture f = fixture_make("null:h200", 3, 2, WEFT_PLAN_FUSED);
    const weft_monitor monitor = {.log = remember, .user = said};
    weft_error error = {0};
    weft_connectivity *dofs = NULL;
    weft_operator *op = NULL;
    weft_memory *x = NULL;
    uint64_t seed = 77;
    int32_t *cells = weft_array_make(4 * CELLS, sizeof *cells);
    for (int c = 0; c < CELLS; ++c) {
        const int32_t first = (int32_t)(fixture_random(&seed) * 25000);
        for (int v = 0; v < 4; ++v)
            cells[4 * c + v] = v == 0 ? first % 512 : first + 25000 * v;
    }
    f.context.monitor = &monitor;
    assert_int_equal(weft_connectivity_make(f.device, cells, CELLS, 4, NODES, &dofs, &error),
                     WEFT_OK);
    assert_int_equal(weft_memory_make(f.device, 3 * NODES * sizeof(double), &x, &error), WEFT_OK);
    weft_form_input inputs[] = {{"x", x}};
    weft_parameter dimension = {"d", 3};
    weft_form form = {.name = "poisson",
                      .text = weft_fem_script("poisson"),
                      .dofs = dofs,
                      .inputs = inputs,
                      .n_inputs = 1,
                      .parameters = &dimension,
                      .n_parameters = 1};
    if (weft_operator_make(&f.context, WEFT_ASSEMBLY_CSR, &form, 1, &op, &error) != WEFT_OK)
        fail_with(&error);
    assert_non_null(strstr(said, "atomic"));
    const int64_t before = weft_device_launches(f.device);
    assert_int_equal(weft_operator_assemble(op, &error), WEFT_OK);
    assert_int_equal(weft_device_launches(f.device), before + 1);
    weft_operator_free(&op);
    weft_memory_free(&x);
    weft_connectivity_free(&dofs);
    free(cells);
    fixture_free(&f);
}

static void kernels_compile(void **state) {
    (void)state;
    weft_nvrtc nvrtc;
    weft_error error = {0};
    weft_text text = {0};
    nvrtc_open_or_skip(&nvrtc);
    assert_int_equal(weft_sell_source(&text, &error), WEFT_OK);
    nvrtc_expect_compiles(&nvrtc, "sell", text.data);
    weft_text_free(&text);
    weft_nvrtc_close(&nvrtc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operator_is_made_and_launched),
        cmocka_unit_test(on_the_host_the_values_are_the_matrix),
        cmocka_unit_test(positions_of_other_rows_are_refused),
        cmocka_unit_test(far_nodes_fall_back),
        cmocka_unit_test(kernels_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
