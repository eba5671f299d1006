/* labels: quick */
/* The scripts that Weft ships, put together as its programs do: each becomes one kernel, which
 * moves its inputs and results and nothing else. Per cell of d dimensions: x[dofs] d (d + 1)
 * numbers of 8 bytes, a nodal list d + 1, dofs d + 1 indices of 4 bytes, a local matrix (d + 1)^2.
 */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "test_support.h"

#include <string.h>

typedef struct shipped {
    const char *scripts[3]; /* names; with ';' a text of its own */
    const char *parameter;  /* that d or the width is bound to */
    int value;
    int unfused; /* kernels: one a call */
    double loaded, stored;
    const char *expression; /* that "x*y" is bound to; NULL: none */
} shipped;

static const shipped all[] = {
    /* jacobian, tform_dshape, dshape_dot_dshape, mvmul; in: x, dofs, v, y; out: y */
    {{"poisson.weft", "product.weft", NULL}, "d", 2, 4, 48 + 12 + 24 + 24, 24, NULL},
    {{"poisson.weft", "product.weft", NULL}, "d", 3, 4, 96 + 16 + 32 + 32, 32, NULL},
    {{"poisson.weft", "stored.weft", NULL}, "d", 2, 3, 48 + 12, 72, NULL},
    {{"poisson.weft", "stored.weft", NULL}, "d", 3, 3, 96 + 16, 128, NULL},
    /* entries read and written, and their positions */
    {{"poisson.weft", "matrix.weft", NULL}, "d", 2, 3, 48 + 12 + 72 + 36, 72, NULL},
    {{"poisson.weft", "matrix.weft", NULL}, "d", 3, 3, 96 + 16 + 128 + 64, 128, NULL},
    {{"poisson.weft", "diagonal.weft", NULL}, "d", 2, 4, 48 + 12 + 24, 24, NULL},
    {{"local.weft", "product.weft", NULL}, "width", 3, 1, 72 + 24 + 12 + 24, 24, NULL},
    {{"local.weft", "product.weft", NULL}, "width", 4, 1, 128 + 32 + 16 + 32, 32, NULL},
    /* points, formula, mean, jacobian, tform_dshape, dshape_dot_dshape, smmul; mvmul */
    {{"poisson_diffusivity.weft", "product.weft", NULL},
     "d",
     3,
     8,
     96 + 16 + 32 + 32,
     32,
     "diffusivity"},
    /* points, formula, jacobian, load */
    {{"load.weft", "return b;", NULL}, "d", 2, 4, 48 + 12 + 24, 24, "source"},
    {{"load.weft", "return b;", NULL}, "d", 3, 4, 96 + 16 + 32, 32, "source"},
    /* the default, 1, needs no points */
    {{"load.weft", "return b;", NULL}, "d", 3, 3, 96 + 16 + 32, 32, NULL},
    /* facets: one dimension less; added to what b has */
    {{"neumann.weft", "return b;", NULL}, "d", 3, 3, 72 + 12 + 24, 24, "flux"},
};

static weft_compilation *compile(const weft_library *library, const shipped *s,
                                 weft_plan_kind plan) {
    weft_fragment fragments[3];
    int n = 0;
    weft_compilation *made = NULL;
    weft_error error = {0};
    const weft_limits limits = {.lanes_double = 8, .lanes_float = 16};
    const weft_parameter parameter = {s->parameter, s->value};
    const weft_expression expression = {s->expression, "x*y", "expression"};
    const weft_compile_options options = {.size = sizeof options,
                                          .plan = plan,
                                          .parameters = &parameter,
                                          .n_parameters = 1,
                                          .expressions = &expression,
                                          .n_expressions = s->expression != NULL};
    for (; s->scripts[n] != NULL; ++n) {
        const bool own = strchr(s->scripts[n], ';') != NULL;
        fragments[n] =
            (weft_fragment){s->scripts[n], own ? s->scripts[n] : weft_fem_script(s->scripts[n])};
        if (fragments[n].text == NULL)
            fail_msg("there is no %s", s->scripts[n]);
    }
    if (weft_compile(library, &limits, fragments, n, &options, &made, &error) != WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fail_msg("%s", text);
    }
    return made;
}

static void shipped_scripts(void **state) {
    (void)state;
    weft_library *library = NULL;
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        const shipped *s = &all[i];
        weft_compilation *fused = compile(library, s, WEFT_PLAN_FUSED);
        weft_compilation *unfused = compile(library, s, WEFT_PLAN_UNFUSED);
        weft_kernel_info info;
        weft_compilation_kernel(fused, 0, &info);
        if (weft_compilation_kernels(fused) != 1 ||
            weft_compilation_kernels(unfused) != s->unfused || info.n_calls != s->unfused)
            fail_msg("%s %s: %d kernels, unfused %d", s->scripts[0], s->scripts[1],
                     weft_compilation_kernels(fused), weft_compilation_kernels(unfused));
        if (info.bytes_loaded < s->loaded || info.bytes_loaded > s->loaded ||
            info.bytes_stored < s->stored || info.bytes_stored > s->stored)
            fail_msg("%s %s, %s %d: %g bytes loaded, %g stored", s->scripts[0], s->scripts[1],
                     s->parameter, s->value, info.bytes_loaded, info.bytes_stored);
        weft_compilation_free(&fused);
        weft_compilation_free(&unfused);
    }
    weft_library_free(&library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shipped_scripts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
