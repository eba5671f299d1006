/* labels: quick */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "operator_fixture.h"
#include "test_support.h"

/* Products on a mesh of many chunks are the same to the last bit for any number of threads. */
static void check_threads(int d, int64_t cells_a_side, weft_assembly assembly) {
    double *first = NULL;
    const char *const devices[] = {"host:1", "host:2", "host:3", "host:4"};
    for (int t = 0; t < 4; ++t) {
        fixture f = fixture_make(devices[t], d, cells_a_side, WEFT_PLAN_FUSED);
        weft_form_input inputs[] = {{"x", f.x}};
        weft_parameter dimension = {"d", d};
        weft_form form = {.name = "poisson",
                          .text = weft_fem_script("poisson"),
                          .dofs = f.cells,
                          .inputs = inputs,
                          .n_inputs = 1,
                          .parameters = &dimension,
                          .n_parameters = 1};
        weft_operator *op = NULL;
        weft_memory *v = fixture_vector(&f), *y = fixture_vector(&f),
                    *diagonal = fixture_vector(&f);
        double *values = weft_memory_host(v);
        uint64_t state = 3;
        for (int64_t i = 0; i < f.n; ++i)
            values[i] = fixture_random(&state);
        size_t bytes = (size_t)f.n * sizeof(double);
        assert_int_equal(weft_operator_make(&f.context, assembly, &form, 1, &op, NULL), WEFT_OK);
        assert_int_equal(weft_operator_assemble(op, NULL), WEFT_OK);
        assert_int_equal(weft_operator_apply(op, v, y, NULL), WEFT_OK);
        assert_int_equal(weft_operator_diagonal(op, diagonal, NULL), WEFT_OK);
        if (!first) {
            first = malloc(2 * bytes);
            memcpy(first, weft_memory_host(y), bytes);
            memcpy(first + f.n, weft_memory_host(diagonal), bytes);
        }
        assert_memory_equal(first, weft_memory_host(y), bytes);
        assert_memory_equal(first + f.n, weft_memory_host(diagonal), bytes);
        weft_operator_free(&op);
        weft_memory_free(&v);
        weft_memory_free(&y);
        weft_memory_free(&diagonal);
        fixture_free(&f);
    }
    free(first);
}

static void lma(void **state) {
    (void)state;
    check_threads(2, 80, WEFT_ASSEMBLY_LMA);
    check_threads(3, 14, WEFT_ASSEMBLY_LMA);
}

static void lma_gather(void **state) {
    (void)state;
    check_threads(2, 80, WEFT_ASSEMBLY_LMA_GATHER);
    check_threads(3, 14, WEFT_ASSEMBLY_LMA_GATHER);
}

static void csr(void **state) {
    (void)state;
    check_threads(2, 80, WEFT_ASSEMBLY_CSR);
    check_threads(3, 14, WEFT_ASSEMBLY_CSR);
}

static void matrix_free(void **state) {
    (void)state;
    check_threads(2, 80, WEFT_ASSEMBLY_MATRIX_FREE);
    check_threads(3, 14, WEFT_ASSEMBLY_MATRIX_FREE);
}

static void names_and_refusals(void **state) {
    (void)state;
    weft_error error;
    weft_assembly assembly;
    assert_int_equal(weft_assembly_count(), WEFT_ASSEMBLY_SYMMETRIC + 1);
    for (int i = 0; i < weft_assembly_count(); ++i) {
        assert_int_equal(weft_assembly_find(weft_assembly_name((weft_assembly)i), &assembly, NULL),
                         WEFT_OK);
        assert_int_equal(assembly, i);
    }
    assert_int_equal(weft_assembly_find("symmetric", &assembly, NULL), WEFT_OK); /* an alias */
    assert_int_equal(assembly, WEFT_ASSEMBLY_SYMMETRIC);
    assert_int_equal(weft_assembly_find("crs", &assembly, &error), WEFT_ERROR_USAGE);
    assert_string_equal(error.hint, "did you mean 'csr'? assemblies are lma, lma-gather, csr, "
                                    "matrix-free or edge");
    fixture f = fixture_make("host:1", 2, 3, WEFT_PLAN_FUSED);
    weft_form_input inputs[] = {{"x", f.x}};
    weft_form form = {.name = "poisson",
                      .text = weft_fem_script("poisson"),
                      .dofs = f.cells,
                      .inputs = inputs,
                      .n_inputs = 1};
    weft_operator *op = NULL;
    weft_memory *small = NULL, *y = fixture_vector(&f);
    assert_int_equal(weft_memory_make(f.device, 8, &small, NULL), WEFT_OK);
    assert_int_equal(weft_operator_make(&f.context, WEFT_ASSEMBLY_LMA, &form, 0, &op, &error),
                     WEFT_ERROR_USAGE);
    assert_int_equal(weft_operator_make(&f.context, WEFT_ASSEMBLY_LMA, &form, 1, &op, NULL),
                     WEFT_OK);
    assert_int_equal(weft_operator_apply(op, small, y, &error), WEFT_ERROR_SHAPE);
    assert_non_null(weft_operator_local(op, 0));
    assert_null(weft_operator_local(op, 1));
    assert_null(weft_operator_pattern(op));
    assert_null(weft_operator_values(op));
    weft_operator_free(&op);
    weft_memory_free(&small);
    weft_memory_free(&y);
    fixture_free(&f);
    assert_null(weft_fem_script("poiss"));
    assert_non_null(weft_fem_script("poisson.weft"));
}

/* A group without facets adds nothing. */
static void empty_forms(void **state) {
    (void)state;
    for (int a = 0; a < 4; ++a) {
        fixture f = fixture_make("host:2", 2, 3, WEFT_PLAN_FUSED);
        weft_connectivity *none = NULL;
        assert_int_equal(weft_connectivity_make(f.device, f.facet_nodes, 0, 2, f.n, &none, NULL),
                         WEFT_OK);
        weft_form_input inputs[] = {{"x", f.x}, {"when", f.when}};
        weft_form forms[] = {{.name = "poisson",
                              .text = weft_fem_script("poisson"),
                              .dofs = f.cells,
                              .inputs = inputs,
                              .n_inputs = 1},
                             {.name = "robin",
                              .text = weft_fem_script("robin"),
                              .dofs = none,
                              .inputs = inputs,
                              .n_inputs = 2}};
        weft_operator *op = NULL;
        weft_memory *v = fixture_vector(&f), *y = fixture_vector(&f);
        double *values = weft_memory_host(v), *found = weft_memory_host(y);
        for (int64_t i = 0; i < f.n; ++i)
            values[i] = found[i] = 1;
        assert_int_equal(weft_operator_make(&f.context, (weft_assembly)a, forms, 2, &op, NULL),
                         WEFT_OK);
        assert_int_equal(weft_operator_assemble(op, NULL), WEFT_OK);
        assert_int_equal(weft_operator_apply(op, v, y, NULL), WEFT_OK);
        for (int64_t i = 0; i < f.n; ++i) /* constants have no gradient */
            assert_double_near(found[i], 0, 0, 1e-13);
        weft_operator_free(&op);
        weft_memory_free(&v);
        weft_memory_free(&y);
        weft_connectivity_free(&none);
        fixture_free(&f);
    }
}

/* The null device goes through all the motions, and says that it has nothing to solve with. */
static void null_device(void **state) {
    (void)state;
    for (int a = 0; a < 4; ++a) {
        fixture f = fixture_make("null", 2, 3, WEFT_PLAN_FUSED);
        weft_form_input inputs[] = {{"x", f.x}};
        weft_form form = {.name = "poisson",
                          .text = weft_fem_script("poisson"),
                          .dofs = f.cells,
                          .inputs = inputs,
                          .n_inputs = 1};
        weft_operator *op = NULL;
        weft_memory *v = fixture_vector(&f), *y = fixture_vector(&f);
        weft_cg_options options = {.size = sizeof options, .tolerance = 1e-8, .max_iterations = 3};
        weft_cg_result result = {0};
        weft_error error;
        assert_int_equal(weft_operator_make(&f.context, (weft_assembly)a, &form, 1, &op, &error),
                         WEFT_OK);
        assert_int_equal(weft_operator_assemble(op, &error), WEFT_OK);
        assert_int_equal(weft_operator_apply(op, v, y, &error), WEFT_OK);
        assert_int_equal(weft_operator_diagonal(op, y, &error), WEFT_OK);
        assert_true(weft_device_launches(f.device) > 0);
        assert_int_equal(weft_cg_solve(&f.context, op, v, y, &options, &result, &error),
                         WEFT_ERROR_UNSUPPORTED);
        assert_null(result.history);
        weft_operator_free(&op);
        weft_memory_free(&v);
        weft_memory_free(&y);
        fixture_free(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lma),
        cmocka_unit_test(lma_gather),
        cmocka_unit_test(csr),
        cmocka_unit_test(matrix_free),
        cmocka_unit_test(names_and_refusals),
        cmocka_unit_test(empty_forms),
        cmocka_unit_test(null_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
