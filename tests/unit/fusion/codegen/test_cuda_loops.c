/* labels: quick */
/* What loops become for a GPU, compiled by NVRTC where there is no GPU: kernels that look at
 * `active` first, and the two kernels of one thread of each loop. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static const char NESTED[] = "index nodes plain;\n"
                             "input u, d : real over nodes;\n"
                             "input c : real[3];\n"
                             "input t, dt, end, rr, limit, trips : real;\n"
                             "repeat at most trips/2 while (t + dt <= end) {\n"
                             "    b = u/dt;\n"
                             "    update rr = 2*limit;\n"
                             "    repeat at most 50 while (rr > limit and rr < 1e300) {\n"
                             "        r = b - u*(1/dt + d) - c[1];\n"
                             "        update u = u + r/(1/dt + d);\n"
                             "        update rr = dot(r, r);\n"
                             "    }\n"
                             "    update t = t + dt;\n"
                             "    update dt = min(dt, select(rr > limit, dt/2, 2*dt));\n"
                             "}\n";

static char *source_with(const char *text, bool single, const weft_operator_choice *choices,
                         int n_choices) {
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    weft_compilation *compilation = NULL;
    const weft_device_options options = weft_device_options_default(NULL);
    const weft_compile_options compile = {
        .size = sizeof compile, .single = single, .operators = choices, .n_operators = n_choices};
    const weft_fragment fragment = {"loops.weft", text};
    char message[2048];
    weft_status status = WEFT_OK;
    char *source = NULL;
    TRY(weft_device_open("null:h200", &options, &device, &error));
    TRY(weft_library_make(&library, &error));
    TRY(weft_compile(library, weft_device_limits(device), &fragment, 1, &compile, &compilation,
                     &error));
    source = strdup(weft_compilation_source(compilation));
done:
    weft_compilation_free(&compilation);
    weft_library_free(&library);
    weft_device_free(&device);
    weft_error_text(&error, message, sizeof message);
    if (status != WEFT_OK)
        fail_msg("%s", message);
    return source;
}

static char *source_for(const char *text, bool single) {
    return source_with(text, single, NULL, 0);
}

static void loops_compile(void **state) {
    (void)state;
    weft_nvrtc nvrtc;
    weft_error error = {0};
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
    for (int single = 0; single < 2; ++single) {
        static const char *const kernels[] = {"loop_0_begin", "loop_0_iteration", "loop_1_begin",
                                              "loop_1_iteration"};
        char *source = source_for(NESTED, single != 0);
        weft_cubin cubin = {0};
        weft_kernel_resources resources;
        if (weft_nvrtc_compile(&nvrtc, 90, "loops", source, &cubin, &error) != WEFT_OK)
            fail_msg("%s\n%s", error.message, source);
        for (int i = 0; i < 4; ++i)
            assert_true(weft_cubin_resources(&cubin, kernels[i], &resources));
        weft_cubin_free(&cubin);
        free(source);
    }
    weft_nvrtc_close(&nvrtc);
}

/* Conjugate gradients: with a product kernel the product, what comes before it and what follows are
 * few kernels of one segment; with none the operator is the caller's, between two. Behind the loop
 * is another. */
static void conjugate_gradients_compile(void **state) {
    (void)state;
    static const char *const product_kernels[] = {NULL, "edge", "sell", "csr"};
    weft_nvrtc nvrtc;
    weft_error error = {0};
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
    for (int i = 0; i < 4; ++i) {
        const weft_operator_choice choice = {.name = "A", .product_kernel = product_kernels[i]};
        char *source = source_with(weft_fem_script("cg.weft"), false, &choice, 1);
        weft_cubin cubin = {0};
        if (weft_nvrtc_compile(&nvrtc, 90, "cg", source, &cubin, &error) != WEFT_OK)
            fail_msg("%s\n%s", error.message, source);
        assert_non_null(strstr(source, "loop_0_iteration"));
        assert_int_equal(strstr(source, "namespace segment_3") == NULL, product_kernels[i] != NULL);
        weft_cubin_free(&cubin);
        free(source);
    }
    weft_nvrtc_close(&nvrtc);
}

/* The other Krylov methods, with a product kernel and Jacobi's preconditioner, and with the caller's
 * operators. */
static void other_methods_compile(void **state) {
    (void)state;
    static const char *const scripts[] = {"minres.weft", "gmres.weft", "bicgstab.weft"};
    const weft_fragment scaling = {"scaling.weft", weft_fem_script("scaling.weft")};
    weft_nvrtc nvrtc;
    weft_error error = {0};
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
    for (int i = 0; i < 6; ++i) {
        const weft_operator_choice own[] = {{.name = "A", .product_kernel = "csr"},
                                            {.name = "M", .fragments = &scaling, .n_fragments = 1}};
        const weft_operator_choice callers[] = {{.name = "A"}, {.name = "M"}};
        char *source =
            source_with(weft_fem_script(scripts[i / 2]), false, i % 2 ? callers : own, 2);
        weft_cubin cubin = {0};
        if (weft_nvrtc_compile(&nvrtc, 90, scripts[i / 2], source, &cubin, &error) != WEFT_OK)
            fail_msg("%s\n%s", error.message, source);
        assert_non_null(strstr(source, "loop_0_iteration"));
        weft_cubin_free(&cubin);
        free(source);
    }
    weft_nvrtc_close(&nvrtc);
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; ++at)
        ++n;
    return n;
}

/* Every kernel over a list in a loop is predicated, and none outside. */
static void kernels_in_loops_are_predicated(void **state) {
    (void)state;
    char *inside = source_for(NESTED, false);
    char *outside = source_for("index nodes plain; input x : real over nodes; input s : real;"
                               "update x = 2*x; update s = sum(x); update s = s/2;",
                               false);
    const int joined = count(inside, "finish_add(joined_0"); /* by the kernel that ends the
                                                                iteration */
    const int shaped = count(inside, "BLOCK_KERNEL(") - 1;   /* without the macro's definition */
    const int kernels = joined + shaped + count(inside, "KERNEL s") + count(inside, "FINISH s0_") +
                        count(inside, "FINISH s1_");
    assert_true(kernels >= 2 && joined == 1);
    assert_int_equal(count(inside, "    if (*active == 0)\n        return;\n") +
                         count(inside, "    if (going == 0)\n        return;\n"),
                     kernels);
    assert_int_equal(count(outside, "active"), 0);
    free(inside);
    free(outside);
}

/* What is applied in loops: products of every patch size, and stores in place, from zero. */
static void compile_predicated(const weft_nvrtc *nvrtc, const weft_library *library,
                               const weft_limits *limits, int d, weft_scatter scatter, int nodes) {
    const weft_parameter dimension = {"d", d};
    const weft_compile_options options = {.size = sizeof options,
                                          .scatter = scatter,
                                          .patch_nodes = nodes,
                                          .predicated = true,
                                          .parameters = &dimension,
                                          .n_parameters = 1};
    const weft_fragment fragments[] = {{"poisson", weft_fem_script("poisson.weft")},
                                       {"product", weft_fem_script("product.weft")}};
    weft_compilation *compilation = NULL;
    weft_cubin cubin = {0};
    weft_error error = {0};
    if (weft_compile(library, limits, fragments, 2, &options, &compilation, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    const char *source = weft_compilation_source(compilation);
    if (weft_nvrtc_compile(nvrtc, 90, "product", source, &cubin, &error) != WEFT_OK)
        fail_msg("%s\n%s", error.message, source);
    assert_int_equal(count(source, "_clear(int64_t"), scatter == WEFT_SCATTER_IN_PLACE);
    weft_cubin_free(&cubin);
    weft_compilation_free(&compilation);
}

static void predicated_products_compile(void **state) {
    (void)state;
    weft_nvrtc nvrtc;
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
    assert_int_equal(weft_device_open("null:h200", NULL, &device, &error), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, &error), WEFT_OK);
    const weft_limits *limits = weft_device_limits(device);
    for (int d = 2; d <= 3; ++d) {
        for (int nodes = 128; nodes <= 512; nodes *= 2)
            compile_predicated(&nvrtc, library, limits, d, WEFT_SCATTER_PATCHES, nodes);
        compile_predicated(&nvrtc, library, limits, d, WEFT_SCATTER_IN_PLACE, 0);
        compile_predicated(&nvrtc, library, limits, d, WEFT_SCATTER_GATHERED, 0);
    }
    compile_predicated(&nvrtc, library, limits, 3, WEFT_SCATTER_VERTEX_PATCHES, 128);
    weft_library_free(&library);
    weft_device_free(&device);
    weft_nvrtc_close(&nvrtc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_compile),
        cmocka_unit_test(conjugate_gradients_compile),
        cmocka_unit_test(other_methods_compile),
        cmocka_unit_test(kernels_in_loops_are_predicated),
        cmocka_unit_test(predicated_products_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
