/* labels: quick */
/* Register spills that the GPU's compiler reports correct the choice of kernels. Four products and
 * sums of 8x8 doubles by one thread need 256 numbers at once, and a thread has 255 registers of four
 * bytes. NVRTC compiles for an H200 without a GPU. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fake_cuda.h"
#include "fusion/control/program.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "library_state.h"
#include "test_support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char script[] = "index N;\ninput A, B, C, D : real[8,8] over N;\n"
                             "P = mmul(A, B);\nQ = mmul(P, C);\nR = madd(Q, D);\n"
                             "S = mmul(R, A);\nreturn S;\n";

typedef struct compiled {
    weft_device *device;
    weft_compilation *compilation;
} compiled;

/* The same products before a loop and in it: two segments, both of which are planned again. */
static const char loop[] =
    "index N;\ninput A, B, C, D : real[8,8] over N;\ninput left : real;\n"
    "P = mmul(A, B);\nQ = mmul(P, C);\nR = madd(Q, D);\nS = mmul(R, A);\n"
    "repeat at most 3 while (left > 0) {\n    T = mmul(A, B);\n    U = mmul(T, C);\n"
    "    V = madd(U, D);\n    W = mmul(V, A);\n    update S = madd(S, W);\n"
    "    update left = left - 1;\n}\nreturn S;\n";

static compiled open_script(const weft_library *library, const char *device_name, const char *text,
                            const weft_compile_options *options) {
    compiled c = {0};
    const weft_fragment fragment = {"spills.weft", text};
    assert_int_equal(weft_device_open(device_name, NULL, &c.device, NULL), WEFT_OK);
    assert_int_equal(weft_compile(library, weft_device_limits(c.device), &fragment, 1, options,
                                  &c.compilation, NULL),
                     WEFT_OK);
    return c;
}

static void close_script(compiled *c) {
    weft_compilation_free(&c->compilation);
    weft_device_free(&c->device);
}

/* Bytes that the kernels of the chosen plan store to memory as they run out of registers. */
static int spills(const compiled *c) {
    weft_module *module = NULL;
    int sum = 0;
    assert_int_equal(weft_module_make(c->device, "spills", weft_compilation_source(c->compilation),
                                      &module, NULL),
                     WEFT_OK);
    for (int i = 0; i < weft_compilation_kernels(c->compilation); ++i) {
        weft_kernel_info info;
        weft_kernel_resources used;
        weft_compilation_kernel(c->compilation, i, &info);
        assert_int_equal(weft_module_kernel_resources(module, info.name, &used, NULL), WEFT_OK);
        sum += used.spill_store_bytes;
    }
    weft_module_free(&module);
    return sum;
}

static void spilling_plan_is_rejected(void **state) {
    const weft_compile_options options = {.size = sizeof options};
    compiled c = open_script(*state, "null:h200", script, &options);
    weft_error error = {0};
    weft_text text = {0};
    const weft_status status = weft_compilation_correct(c.compilation, c.device, &error);
    if (status == WEFT_ERROR_COMPILER && strstr(error.message, "not found") != NULL) {
        close_script(&c);
        printf("skipped: NVRTC is missing\n");
        skip();
    }
    assert_int_equal(status, WEFT_OK);
    assert_int_equal(spills(&c), 0);
    assert_int_equal(weft_compilation_why(c.compilation, "P", "Q", &text, NULL), WEFT_OK);
    assert_non_null(strstr(text.data, "rejected: 4 calls with 1 thread per element, which spill "));
    weft_text_free(&text);
    close_script(&c);
}

/* Kernels of different segments have different names also where the choice was corrected. */
static void names_stay_distinct(void **state) {
    const weft_compile_options options = {.size = sizeof options};
    compiled c = open_script(*state, "null:h200", loop, &options);
    weft_error error = {0};
    const weft_status status = weft_compilation_correct(c.compilation, c.device, &error);
    if (status == WEFT_ERROR_COMPILER && strstr(error.message, "not found") != NULL) {
        close_script(&c);
        printf("skipped: NVRTC is missing\n");
        skip();
    }
    assert_int_equal(status, WEFT_OK);
    assert_true(c.compilation->control->n_segments > 1);
    for (int i = 0; i < weft_compilation_kernels(c.compilation); ++i)
        for (int k = 0; k < i; ++k) {
            weft_kernel_info one, other;
            weft_compilation_kernel(c.compilation, i, &one);
            weft_compilation_kernel(c.compilation, k, &other);
            if (strcmp(one.name, other.name) == 0)
                fail_msg("two kernels are called %s", one.name);
        }
    assert_int_equal(spills(&c), 0);
    close_script(&c);
}

/* A cover that was chosen by its rank stays, and so does everything on the host. */
static void choices_stay(void **state) {
    const weft_compile_options second = {.size = sizeof second, .alternative = 1};
    weft_error error = {0};
    for (int host = 0; host < 2; ++host) {
        compiled c =
            open_script(*state, host ? "host:1" : "null:h200", script, host ? NULL : &second);
        const weft_cover *cover = weft_compilation_only(c.compilation)->cover;
        const weft_status status = weft_compilation_correct(c.compilation, c.device, &error);
        assert_true(status == WEFT_OK || status == WEFT_ERROR_COMPILER);
        assert_ptr_equal(weft_compilation_only(c.compilation)->cover, cover);
        close_script(&c);
    }
}

/* A program loads the module that its correction has compiled no second time (fake_cuda.c counts). */
static void module_is_loaded_once(void **state) {
    static const char small[] = "index N;\ninput a : real over N;\nb = 2*a;\nreturn b;\n";
    const weft_fragment fragment = {"small.weft", small};
    const weft_device_options options = {.size = sizeof options, .cache = WEFT_CACHE_OFF};
    weft_device *device = NULL;
    weft_compilation *compilation = NULL;
    weft_program *programs[2] = {NULL, NULL};
    weft_nvrtc nvrtc;
    weft_error error = {0};
    void *library = dlopen(WEFT_BINARY_DIR "/tests/fake_cuda/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    assert_non_null(library);
    fake_cuda *control = dlsym(library, "fake");
    *control = (fake_cuda){.version = 13000};
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
    weft_nvrtc_close(&nvrtc);
    assert_int_equal(weft_device_open("cuda", &options, &device, NULL), WEFT_OK);
    assert_int_equal(
        weft_compile(*state, weft_device_limits(device), &fragment, 1, NULL, &compilation, NULL),
        WEFT_OK);
    assert_int_equal(weft_compilation_correct(compilation, device, NULL), WEFT_OK);
    for (int i = 0; i < 2; ++i)
        assert_int_equal(weft_program_make(device, compilation, &programs[i], NULL), WEFT_OK);
    assert_int_equal(control->n_loads, 1);
    for (int i = 0; i < 2; ++i)
        weft_program_free(&programs[i]);
    weft_compilation_free(&compilation);
    assert_int_equal(control->n_modules, 0);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spilling_plan_is_rejected), cmocka_unit_test(names_stay_distinct),
        cmocka_unit_test(choices_stay), cmocka_unit_test(module_is_loaded_once)};
    return cmocka_run_group_tests(tests, library_open, library_close);
}
