/* labels: quick */
/* The assembly edge: against csr, whose sums are the same terms in another order (1e-12 of the
 * largest leaves room for cancellation); symmetric forms alone; on a device with a GPU's limits. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fem/form/form.h"
#include "fem/operator/operator.h"
#include "fem/sparse/symmetric.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"
#include "nvrtc_support.h"
#include "operator_fixture.h"
#include "symmetric_support.h"
#include "test_support.h"

#include <stdio.h>

static const double tolerance = 1e-12;

static void fail_with(const weft_error *error) {
    char text[4096];
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

static weft_form form_of(const fixture *f, const char *text, const weft_form_input *x,
                         const weft_parameter *dimension) {
    return (weft_form){.name = "form",
                       .text = text,
                       .dofs = f->cells,
                       .inputs = x,
                       .n_inputs = 1,
                       .parameters = dimension,
                       .n_parameters = 1};
}

static weft_operator *operator_of(fixture *f, weft_assembly assembly, const char *text) {
    weft_form_input x = {"x", f->x};
    weft_parameter dimension = {"d", f->d};
    weft_form form = form_of(f, text, &x, &dimension);
    weft_operator *op = NULL;
    weft_error error = {0};
    if (weft_operator_make(&f->context, assembly, &form, 1, &op, &error) != WEFT_OK ||
        weft_operator_assemble(op, &error) != WEFT_OK)
        fail_with(&error);
    return op;
}

static void poisson_as_with_csr(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        fixture f = fixture_make("host:2", d, d == 2 ? 60 : 14, WEFT_PLAN_FUSED);
        weft_operator *edge = operator_of(&f, WEFT_ASSEMBLY_SYMMETRIC, weft_fem_script("poisson"));
        weft_operator *csr = operator_of(&f, WEFT_ASSEMBLY_CSR, weft_fem_script("poisson"));
        weft_memory *v = fixture_vector(&f), *y = fixture_vector(&f), *z = fixture_vector(&f);
        double *a = weft_memory_host(y), *b = weft_memory_host(z), most = 0;
        for (int64_t i = 0; i < f.n; ++i)
            ((double *)weft_memory_host(v))[i] = sin(3.0 * (double)i);
        assert_int_equal(weft_operator_apply(edge, v, y, NULL), WEFT_OK);
        assert_int_equal(weft_operator_apply(csr, v, z, NULL), WEFT_OK);
        for (int64_t i = 0; i < f.n; ++i)
            most = fmax(most, fabs(b[i]));
        for (int64_t i = 0; i < f.n; ++i)
            assert_double_near(a[i], b[i], 0, tolerance * most);
        weft_operator_free(&edge);
        weft_operator_free(&csr);
        weft_memory_free(&v);
        weft_memory_free(&y);
        weft_memory_free(&z);
        fixture_free(&f);
    }
}

/* With d = diag(S) the matrix (S d) d^T is symmetric only where S d is a multiple of d. */
static void forms_that_are_not_symmetric_are_refused(void **state) {
    (void)state;
    static const char text[] =
        "index cells, nodes;\nparameter d = 2;\n"
        "connectivity dofs : cells -> nodes[d + 1];\n"
        "input x : real[d] over nodes;\n"
        "J = jacobian(x[dofs]);\nS = dshape_dot_dshape(tform_dshape(J), J);\n"
        "K = mmul(S, outer(diagonal(S), diagonal(S)));\n";
    fixture f = fixture_make("host:1", 2, 5, WEFT_PLAN_FUSED);
    weft_form_input x = {"x", f.x};
    weft_parameter dimension = {"d", 2};
    weft_form form = form_of(&f, text, &x, &dimension);
    weft_operator *op = NULL;
    weft_error error = {0};
    if (weft_operator_make(&f.context, WEFT_ASSEMBLY_SYMMETRIC, &form, 1, &op, &error) != WEFT_OK)
        fail_with(&error);
    for (int iteration = 0; iteration < 2; ++iteration)
        assert_int_equal(weft_operator_assemble(op, &error), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "the form form is not symmetric"));
    assert_non_null(strstr(error.hint, "csr"));
    weft_operator_free(&op);
    fixture_free(&f);
}

static void couplings_that_the_pattern_lacks(void **state) {
    (void)state;
    fixture f = fixture_make("host:1", 2, 6, WEFT_PLAN_FUSED);
    static const int32_t far[] = {0, 40, 41};
    weft_connectivity *other = NULL;
    weft_pattern *pattern = NULL;
    weft_symmetric *edge = NULL;
    weft_memory *positions = NULL;
    const weft_symmetric_options options = {.few_discards = true};
    weft_error error = {0};
    assert_int_equal(weft_connectivity_make(f.device, far, 1, 3, f.n, &other, &error), WEFT_OK);
    assert_int_equal(weft_pattern_make(f.device, f.cells, 8, &pattern, NULL, &error), WEFT_OK);
    assert_int_equal(weft_symmetric_make(f.device, pattern, &options, &edge, &error), WEFT_OK);
    assert_int_equal(
        weft_symmetric_positions(f.device, edge, pattern, other, 8, &positions, &error),
        WEFT_ERROR_SHAPE);
    weft_connectivity_free(&other);
    assert_int_equal(weft_connectivity_make(f.device, far, 1, 3, f.n + 1, &other, &error), WEFT_OK);
    assert_int_equal(
        weft_symmetric_positions(f.device, edge, pattern, other, 8, &positions, &error),
        WEFT_ERROR_SHAPE);
    assert_null(positions);
    weft_symmetric_free(&edge);
    weft_pattern_free(&pattern);
    weft_connectivity_free(&other);
    fixture_free(&f);
}

static void on_a_gpu(void **state) {
    (void)state;
    fixture f = fixture_make("null:h200", 3, 9, WEFT_PLAN_FUSED);
    weft_operator *op = operator_of(&f, WEFT_ASSEMBLY_SYMMETRIC, weft_fem_script("poisson"));
    weft_memory *v = fixture_vector(&f), *y = fixture_vector(&f);
    const int64_t before = weft_device_launches(f.device);
    assert_int_equal(weft_operator_apply(op, v, y, NULL), WEFT_OK);
    assert_int_equal(weft_operator_diagonal(op, y, NULL), WEFT_OK);
    assert_int_equal(weft_device_launches(f.device), before + 2);
    const weft_product_arguments *rows = op->table->rows(op);
    assert_non_null(rows);
    assert_string_equal(rows->product_kernel, "edge");
    assert_int_equal(rows->n_arguments, 4);
    assert_int_equal(rows->n_rows, f.n);
    /* v and y of a patch, its diagonal and at least 7 rounds of 10 bytes a row */
    assert_true(rows->shared_bytes > 512 * (8 + 8 + 8 + 70) && rows->shared_bytes < 227 << 10);
    weft_operator_free(&op);
    weft_memory_free(&v);
    weft_memory_free(&y);
    fixture_free(&f);
}

static void rounds_fit_into_shared_memory(void **state) {
    (void)state;
    assert_int_equal(weft_symmetric_rounds_within(0), 0);
    assert_int_equal(weft_symmetric_rounds_within(227 << 10), WEFT_SYMMETRIC_MOST_ROUNDS);
    for (int n = 1; n < 20; ++n) { /* 5120 bytes a round beside what every patch has */
        const size_t bytes = 16 + (513 + 1280 + 1 + 1024) * 8 + (size_t)n * 5120;
        assert_int_equal(weft_symmetric_rounds_within(bytes), n);
        assert_int_equal(weft_symmetric_rounds_within(bytes - 1), n - 1);
    }
}

static void kernels_compile(void **state) {
    (void)state;
    weft_nvrtc nvrtc;
    weft_error error = {0};
    weft_text text = {0};
    nvrtc_open_or_skip(&nvrtc);
    const weft_limits limits = {.multiprocessors = 132};
    assert_int_equal(weft_symmetric_source(&limits, &text, &error), WEFT_OK);
    nvrtc_expect_compiles(&nvrtc, "edge", text.data);
    weft_text_free(&text);
    weft_nvrtc_close(&nvrtc);
}

static void expect_resident(const char *source, int n) {
    char line[64];
    snprintf(line, sizeof line, "#define ROWS_RESIDENT %d ", n);
    if (!strstr(source, line))
        fail_msg("no line %sin\n%s", line, source);
}

/* Three blocks per multiprocessor of whatever device, as a kernel of its own and in a script. */
static void resident_blocks_are_of_the_device(void **state) {
    (void)state;
    static const int multiprocessors[] = {1, 20, 132};
    const weft_fragment fragment = {"product", "index nodes plain;\noperator A over nodes;\n"
                                               "input v : real over nodes;\n"
                                               "y = apply(A, v);\nreturn y;\n"};
    const weft_operator_choice choice = {.name = "A", .product_kernel = "edge"};
    const weft_compile_options options = {
        .size = sizeof options, .operators = &choice, .n_operators = 1};
    weft_device *device = NULL;
    weft_library *library = NULL;
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    weft_limits limits = *weft_device_limits(device);
    assert_int_equal(limits.multiprocessors, 132);
    for (int i = 0; i < 3; ++i) {
        weft_text text = {0};
        weft_compilation *compilation = NULL;
        limits.multiprocessors = multiprocessors[i];
        assert_int_equal(weft_symmetric_source(&limits, &text, NULL), WEFT_OK);
        expect_resident(text.data, 3 * multiprocessors[i]);
        assert_int_equal(weft_compile(library, &limits, &fragment, 1, &options, &compilation, NULL),
                         WEFT_OK);
        expect_resident(weft_compilation_source(compilation), 3 * multiprocessors[i]);
        weft_compilation_free(&compilation);
        weft_text_free(&text);
    }
    weft_library_free(&library);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_as_with_csr),
        cmocka_unit_test(forms_that_are_not_symmetric_are_refused),
        cmocka_unit_test(couplings_that_the_pattern_lacks),
        cmocka_unit_test(on_a_gpu),
        cmocka_unit_test(rounds_fit_into_shared_memory),
        cmocka_unit_test(kernels_compile),
        cmocka_unit_test(resident_blocks_are_of_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
