/* labels: quick */
/* The text of patches for what is shipped, in two and three dimensions, compiled by NVRTC for an
 * H200: nothing spills (but a formula in three dimensions, a little), and the other rows cost
 * nothing. And when patches are not taken. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    weft_device *device;
    weft_library *library;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    weft_error error = {0};
    assert_int_equal(weft_device_open("null:h200", NULL, &f->device, &error), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&f->library, &error), WEFT_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    weft_library_free(&f->library);
    weft_device_free(&f->device);
    free(f);
    return 0;
}

static weft_compilation *compiled(const fixture *f, const weft_limits *limits, const char *form,
                                  const char *tail, int d, bool single) {
    weft_compilation *compilation = NULL;
    weft_error error = {0};
    const weft_parameter dimension = {"d", d};
    const weft_expression source = {"diffusivity", "1 + exp(x*y)", "test"};
    const bool has_formula = strstr(form, "diffusivity(") != NULL;
    const weft_compile_options options = {.size = sizeof options,
                                          .scatter = WEFT_SCATTER_PATCHES,
                                          .single = single,
                                          .expressions = &source,
                                          .n_expressions = has_formula,
                                          .parameters = &dimension,
                                          .n_parameters = 1};
    const weft_fragment fragments[] = {{"form", form}, {"tail", tail}};
    if (weft_compile(f->library, limits ? limits : weft_device_limits(f->device), fragments, 2,
                     &options, &compilation, &error) != WEFT_OK)
        fail_msg("%s (%s)", error.message, error.source_line);
    return compilation;
}

static int count_patch_kernels(const weft_compilation *compilation) {
    int n = 0;
    for (int i = 0; i < weft_compilation_kernels(compilation); ++i) {
        weft_kernel_info info;
        weft_compilation_kernel(compilation, i, &info);
        n += info.patches;
    }
    return n;
}

static const char by_cell[] = "parameter d = 2;\nindex cells, nodes;\n"
                              "connectivity dofs : cells -> nodes[d + 1];\n"
                              "input x : real[d] over nodes;\ninput k : real over cells;\n"
                              "input scale : real;\n"
                              "J = jacobian(x[dofs]);\n"
                              "K = smmul(dshape_dot_dshape(tform_dshape(J), J), k * scale);\n";

/* Registers of the one kernel; skips where there is no NVRTC. */
static int registers_of(const fixture *f, const char *form, const char *tail, int d, bool single) {
    weft_nvrtc nvrtc;
    weft_error error = {0};
    weft_cubin cubin = {0};
    weft_kernel_info info;
    weft_kernel_resources resources = {0};
    weft_compilation *compilation = compiled(f, NULL, form, tail, d, single);
    assert_int_equal(weft_compilation_kernels(compilation), 1);
    assert_int_equal(count_patch_kernels(compilation), 1);
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK) {
        weft_compilation_free(&compilation);
        skip_test(error.message);
    }
    if (weft_nvrtc_compile(&nvrtc, 90, "patches", weft_compilation_source(compilation), &cubin,
                           &error) != WEFT_OK)
        fail_msg("%s", error.message);
    weft_compilation_kernel(compilation, 0, &info);
    assert_true(weft_cubin_resources(&cubin, info.name, &resources));
    /* a call that divides, and no array; edge patches keep the sums of four rows beside a
     * formula */
    const bool has_formula = strstr(form, "diffusivity(") != NULL && d == 3;
    assert_in_range(resources.stack_bytes, 0, has_formula ? 256 : 16);
    assert_in_range(resources.spill_store_bytes, 0, has_formula ? 384 : 0);
    assert_in_range(resources.spill_load_bytes, 0, has_formula ? 512 : 0);
    weft_cubin_free(&cubin);
    weft_nvrtc_close(&nvrtc);
    weft_compilation_free(&compilation);
    return resources.registers;
}

/* Stars of vertices: six blocks of 128 threads on a multiprocessor, 80 registers a thread. Of
 * edges: two blocks of 256, 128 registers; three where the gradient comes first: 85. */
static void resources(void **state) {
    const fixture *f = *state;
    const char *product = weft_fem_script("product.weft");
    const char *diagonal = weft_fem_script("diagonal.weft");
    const char *poisson = weft_fem_script("poisson.weft");
    const char *diffusivity = weft_fem_script("poisson_diffusivity.weft");
    for (int d = 2; d <= 3; ++d) {
        const int most = d == 2 ? 80 : 128;
        assert_in_range(registers_of(f, poisson, product, d, false), 16, most);
        assert_in_range(registers_of(f, poisson, product, d, true), 16, most);
        assert_in_range(registers_of(f, poisson, diagonal, d, false), 16, 128);
        assert_in_range(registers_of(f, diffusivity, product, d, false), 16, 128);
        assert_in_range(registers_of(f, by_cell, product, d, false), 16, most);
        assert_in_range(
            registers_of(f, poisson, weft_fem_script("stiffness_product.weft"), d, false), 16,
            d == 2 ? most : 85);
        assert_in_range(
            registers_of(f, diffusivity, weft_fem_script("stiffness_product_mean.weft"), d, false),
            16, 128);
    }
}

/* Where patches are none, stores are what they are without: something else is stored. */
static void not_taken(void **state) {
    const fixture *f = *state;
    static const char form[] =
        "parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"
        "input x : real[d] over nodes;\nJ = jacobian(x[dofs]);\nreturn J;\n";
    char tail[400];
    snprintf(tail, sizeof tail, "K = shape_shape(J);\n%s", weft_fem_script("product.weft"));
    weft_compilation *compilation = compiled(f, NULL, form, tail, 2, false);
    assert_int_equal(count_patch_kernels(compilation), 0);
    assert_non_null(strstr(weft_compilation_source(compilation), "add_indirect(p_y"));
    weft_compilation_free(&compilation);
}

/* What depends on the numbers of a cell's vertices is left to patches of cells: local matrices as they are numbered,
 * and segments, in which the exchange of two vertices is odd. */
static void by_cells(void **state) {
    const fixture *f = *state;
    static const struct {
        const char *form, *head;
        int d;
    } cases[] = {
        {"parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"
         "input K : real[d + 1,d + 1] over cells;\n",
         "", 2},
        {"parameter d = 1;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\n"
         "input x : real[d] over nodes;\nJ = jacobian(x[dofs]);\n",
         "K = shape_shape(J);\n", 1}};
    char tail[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        snprintf(tail, sizeof tail, "%s%s", cases[i].head, weft_fem_script("product.weft"));
        weft_compilation *compilation = compiled(f, NULL, cases[i].form, tail, cases[i].d, false);
        assert_int_equal(count_patch_kernels(compilation), 1);
        assert_non_null(strstr(weft_compilation_source(compilation), "by patches of cells"));
        assert_null(strstr(weft_compilation_source(compilation), "add_indirect(p_y"));
        weft_compilation_free(&compilation);
    }
}

/* On the host stores are coloured, to the letter of the text. */
static void host(void **state) {
    const fixture *f = *state;
    weft_device *device = NULL;
    weft_error error = {0};
    assert_int_equal(weft_device_open("host:1", NULL, &device, &error), WEFT_OK);
    weft_compilation *compilation =
        compiled(f, weft_device_limits(device), weft_fem_script("poisson.weft"),
                 weft_fem_script("product.weft"), 2, false);
    assert_int_equal(count_patch_kernels(compilation), 0);
    weft_compilation_free(&compilation);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(resources), cmocka_unit_test(not_taken),
                                       cmocka_unit_test(by_cells), cmocka_unit_test(host)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
