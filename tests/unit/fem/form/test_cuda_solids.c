/* labels: full */
/* The scripts that solve ships compile for a GPU, by NVRTC to a CUBIN for sm_90, where there is no
 * GPU: their vectors, local matrices, products, diagonals and Addto, in the plane and in space, in
 * both plans; those with components with the blocks' scripts behind them. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "nvrtc_support.h"

#include <stdio.h>
#include <string.h>

typedef struct shipped {
    const char *script, *vector;
    bool blocks;
} shipped;

static const shipped scripts[] = {
    {"diffusion.weft", "return b;", false},   {"helmholtz.weft", "return b;", false},
    {"anisotropic.weft", "return b;", false}, {"elasticity.weft", "return b;", true},
    {"kirchhoff.weft", "return r, W;", true},
};

typedef struct suffix {
    const char *scalar, *blocks;
    int n_parameters; /* of the blocks' */
    const char *parameters[2];
} suffix;

static const suffix suffixes[] = {
    {NULL, NULL, 0, {NULL}},
    {"stored.weft", "stored.weft", 0, {NULL}},
    {"product.weft", "product_blocks.weft", 1, {"block_components"}},
    {"diagonal.weft", "diagonal_blocks.weft", 2, {"block_components", "block_nodes"}},
    {"matrix.weft", "matrix_blocks.weft", 1, {"block_rows"}},
    {"asymmetry.weft", "asymmetry.weft", 0, {NULL}},
};

static int value_of(const char *parameter, int d) {
    return strcmp(parameter, "block_components") == 0 ? d
           : strcmp(parameter, "block_nodes") == 0    ? d + 1
                                                      : d * (d + 1);
}

static void compile(const weft_nvrtc *nvrtc, const weft_library *library, const weft_limits *limits,
                    const shipped *s, const suffix *t, int d, weft_plan_kind plan,
                    weft_scatter scatter) {
    weft_error error = {0};
    weft_compilation *compilation = NULL;
    const char *name = t->scalar ? (s->blocks ? t->blocks : t->scalar) : "vector";
    const bool acts = s->blocks && strcmp(name, "product_blocks.weft") == 0;
    const char *tail_text = acts        ? "y[dofs] += Kv;\nreturn y;\n"
                            : t->scalar ? weft_fem_script(name)
                                        : s->vector;
    const weft_fragment fragments[] = {{s->script, weft_fem_script(s->script)}, {name, tail_text}};
    weft_parameter parameters[3] = {{"d", d}};
    int n = 1;
    for (int i = 0; s->blocks && !acts && i < t->n_parameters; ++i, ++n)
        parameters[n] = (weft_parameter){t->parameters[i], value_of(t->parameters[i], d)};
    const weft_compile_options options = {.size = sizeof options,
                                          .plan = plan,
                                          .scatter = scatter,
                                          .parameters = parameters,
                                          .n_parameters = n};
    if (weft_compile(library, limits, fragments, 2, &options, &compilation, &error) != WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fail_msg("%s", text);
    }
    nvrtc_expect_compiles(nvrtc, s->script, weft_compilation_source(compilation));
    weft_compilation_free(&compilation);
}

static void every_script(void **state) {
    (void)state;
    weft_nvrtc nvrtc;
    weft_library *library = NULL;
    weft_device *device = NULL;
    nvrtc_open_or_skip(&nvrtc);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_device_open("null:h200", NULL, &device, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; ++i)
        for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; ++k)
            for (int d = 2; d <= 3; ++d) {
                compile(&nvrtc, library, weft_device_limits(device), &scripts[i], &suffixes[k], d,
                        WEFT_PLAN_FUSED, WEFT_SCATTER_IN_PLACE);
                if (k == 2) /* gathered, and in pieces */
                    compile(&nvrtc, library, weft_device_limits(device), &scripts[i], &suffixes[k],
                            d, WEFT_PLAN_UNFUSED, WEFT_SCATTER_GATHERED);
            }
    weft_device_free(&device);
    weft_library_free(&library);
    weft_nvrtc_close(&nvrtc);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_script)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
