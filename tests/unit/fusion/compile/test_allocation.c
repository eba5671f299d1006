/* labels: quick */
/* Compiling, printing, explaining and preparing a program with their n-th allocation failing. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <stdlib.h>

static const char script[] = "index cells, nodes;\n"
                             "connectivity dofs : cells -> nodes[3];\n"
                             "parameter q = -2;\n"
                             "input x : real[2] over nodes;\n"
                             "input f : real over nodes;\n"
                             "input alpha : real;\n"
                             "input v : real[2];\n"
                             "expression source(x, y) = 1;\n"
                             "J = jacobian(x[dofs]);\n"
                             "G = tform_dshape(J);\n"
                             "K = dshape_dot_dshape(G, J);\n"
                             "s = source(x[dofs][0])*q + alpha;\n"
                             "b[dofs] += shape_load(s*f[dofs], J);\n"
                             "A[dofs,dofs] += K;\n"
                             "u = sqrt(b) + 1;\n"
                             "y = f;\n"
                             "w = 2*v;\n"
                             "update f = f + w[1]*dot(u, f);\n"
                             "z = y*f;\n"
                             "return K, A, u, z;\n";

typedef struct compile_case {
    weft_library *library;
    weft_compile_options options;
} compile_case;

static weft_status compile(const compile_case *with, weft_compilation **out, weft_error *error) {
    const weft_limits limits = {
        .lanes_double = 8, .lanes_float = 16, .bandwidth = 1e9, .flops = 1e9};
    const weft_fragment fragment = {"script.weft", script};
    return weft_compile(with->library, &limits, &fragment, 1, &with->options, out, error);
}

static weft_status use_compile(void *user, weft_error *error) {
    weft_compilation *compilation = NULL;
    const weft_status status = compile(user, &compilation, error);
    if (status != WEFT_OK)
        assert_null(compilation);
    weft_compilation_free(&compilation);
    assert_null(compilation);
    return status;
}

static weft_status use_library(void *user, weft_error *error) {
    weft_library *library = NULL;
    (void)user;
    const weft_status status = weft_library_make(&library, error);
    if (status != WEFT_OK)
        assert_null(library);
    weft_library_free(&library);
    return status;
}

/* A text that cannot grow is an error, and never half a text called whole. */
static weft_status use_prints(void *user, weft_error *error) {
    static const char *const prints[][2] = {
        {"tokens", "text"},          {"script", "text"},  {"graph", "text"}, {"graph", "dot"},
        {"graph", "json"},           {"fusions", "text"}, {"cover", "text"}, {"plan", "text"},
        {"implementations", "text"}, {"plan", "dot"},     {"plan", "json"},  {"source", "text"}};
    weft_status status = WEFT_OK;
    const weft_compilation *compilation = user;
    weft_text text = {0};
    for (size_t i = 0; i < sizeof prints / sizeof prints[0]; ++i) {
        weft_text_free(&text);
        TRY(weft_compilation_print(compilation, prints[i][0], prints[i][1], &text, error));
        if (text.length == 0)
            status = weft_error_set(error, WEFT_ERROR_INTERNAL, "nothing of %s", prints[i][0]);
    }
done:
    weft_text_free(&text);
    return status;
}

static weft_status use_explain(void *user, weft_error *error) {
    weft_text text = {0};
    const weft_status status = weft_compilation_explain(user, &text, error);
    weft_text_free(&text);
    return status;
}

static weft_status use_program(void *user, weft_error *error) {
    static const int32_t indices[6] = {0, 1, 2, 1, 2, 3};
    weft_status status = WEFT_OK;
    const weft_compilation *compilation = user;
    weft_device *device = NULL;
    weft_program *program = NULL;
    weft_connectivity *dofs = NULL;
    /* x, f, alpha, v */
    enum { N = 4 };
    static const size_t bytes[N] = {64, 32, 8, 16};
    weft_memory *memories[N] = {NULL}, *values = NULL;
    TRY(weft_device_open("null", NULL, &device, error));
    TRY(weft_memory_make(device, 4096, &values, error));
    for (int i = 0; i < N; ++i)
        TRY(weft_memory_make(device, bytes[i], &memories[i], error));
    TRY(weft_program_make(device, compilation, &program, error));
    TRY(weft_connectivity_make(device, indices, 2, 3, 4, &dofs, error));
    TRY(weft_program_bind_connectivity(program, "dofs", dofs, error));
    TRY(weft_program_bind(program, "x", memories[0], error));
    TRY(weft_program_bind(program, "f", memories[1], error));
    TRY(weft_program_bind(program, "alpha", memories[2], error));
    TRY(weft_program_bind(program, "v", memories[3], error));
    TRY(weft_program_bind_matrix(program, "A", values, values, error));
    TRY(weft_program_run(program, error));
    TRY(weft_program_run(program, error));
done:
    weft_program_free(&program);
    weft_connectivity_free(&dofs);
    for (int i = 0; i < N; ++i)
        weft_memory_free(&memories[i]);
    weft_memory_free(&values);
    weft_device_free(&device);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    compile_case with = {0};
    const weft_expression source = {"source", "sin(x) + 2*y", "--source"};
    const weft_parameter parameter = {"q", 3};
    const weft_variant_choice variant = {"jacobian", 1};
    weft_error error = {0};
    assert_int_equal(weft_library_make(&with.library, &error), WEFT_OK);
    test_every_allocation("library", use_library, NULL);
    for (int mode = 0; mode < 4; ++mode) {
        weft_compilation *compilation = NULL;
        with.options = (weft_compile_options){.size = sizeof(weft_compile_options),
                                              .plan = (weft_plan_kind)(mode % 2),
                                              .scatter = (weft_scatter)(mode / 2)};
        if (mode > 0) {
            with.options.expressions = &source;
            with.options.n_expressions = 1;
            with.options.parameters = &parameter;
            with.options.n_parameters = 1;
            with.options.variants = &variant;
            with.options.n_variants = 1;
        }
        test_every_allocation("compile", use_compile, &with);
        assert_int_equal(compile(&with, &compilation, &error), WEFT_OK);
        test_every_allocation("print", use_prints, compilation);
        test_every_allocation("explain", use_explain, compilation);
        test_every_allocation("program", use_program, compilation);
        weft_compilation_free(&compilation);
    }
    weft_library_free(&with.library);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
