/* labels: quick */
/* What is generated for a GPU compiles, by NVRTC to a CUBIN for sm_90, where there is no GPU: the
 * shipped scripts in both plans, scatters and precisions, in the plane and in space. Every
 * elementary function at every granularity is compiled for the GPU by the kernel tests run with
 * WEFT_TEST_DEVICE=cuda on one. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const scripts[][3] = {
    {"poisson.weft", "stored.weft", NULL},  {"poisson_diffusivity.weft", "stored.weft", NULL},
    {"poisson.weft", "product.weft", NULL}, {"poisson.weft", "matrix.weft", NULL},
    {"local.weft", "product.weft", NULL},   {"local.weft", "diagonal.weft", NULL},
    {"robin.weft", "stored.weft", NULL},
};

static void fail_with(const weft_error *error) {
    char text[4096];
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

static void compile_one(const weft_nvrtc *nvrtc, const weft_library *library,
                        const weft_limits *limits, const char *const *names,
                        const weft_compile_options *options) {
    weft_error error = {0};
    weft_compilation *compilation = NULL;
    weft_fragment fragments[3];
    weft_cubin cubin = {0};
    int n = 0;
    for (; names[n]; ++n) {
        fragments[n] = (weft_fragment){names[n], weft_fem_script(names[n])};
        assert_non_null(fragments[n].text);
    }
    if (weft_compile(library, limits, fragments, n, options, &compilation, &error) != WEFT_OK)
        fail_with(&error);
    if (weft_nvrtc_compile(nvrtc, 90, names[0], weft_compilation_source(compilation), &cubin,
                           &error) != WEFT_OK)
        fail_with(&error);
    assert_true(cubin.size > 1000);
    assert_memory_equal(cubin.bytes, "\177ELF", 4);
    weft_cubin_free(&cubin);
    weft_compilation_free(&compilation);
}

static void shipped_scripts(void **state) {
    static const weft_scatter scatters[] = {WEFT_SCATTER_IN_PLACE, WEFT_SCATTER_GATHERED,
                                            WEFT_SCATTER_CELL_COLOURS};
    const weft_nvrtc *nvrtc = *state;
    weft_error error = {0};
    weft_library *library = NULL;
    weft_device *device = NULL;
    if (weft_fem_library_make(&library, &error) != WEFT_OK ||
        weft_device_open("null:h200", NULL, &device, &error) != WEFT_OK)
        fail_with(&error);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; ++i)
        for (int variant = 0; variant < 24; ++variant) {
            const bool local = strcmp(scripts[i][0], "local.weft") == 0;
            const int dimension = variant & 1 ? 3 : 2;
            const weft_parameter d = {local ? "width" : "d", local ? dimension + 1 : dimension};
            const weft_compile_options options = {.size = sizeof options,
                                                  .plan = variant & 2 ? WEFT_PLAN_UNFUSED
                                                                      : WEFT_PLAN_FUSED,
                                                  .scatter = scatters[variant / 8],
                                                  .single = variant & 4,
                                                  .parameters = &d,
                                                  .n_parameters = 1};
            compile_one(nvrtc, library, weft_device_limits(device), scripts[i], &options);
        }
    weft_device_free(&device);
    weft_library_free(&library);
}

int main(void) {
    weft_nvrtc nvrtc;
    weft_error error = {0};
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(shipped_scripts, &nvrtc),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    weft_nvrtc_close(&nvrtc);
    return failed;
}
