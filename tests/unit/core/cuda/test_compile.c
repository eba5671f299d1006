/* labels: quick */
/* NVRTC alone: source to CUBIN for an H200 where there is no GPU, the figures that are read from it
 * against what ptxas prints, and what a wrong source, a cut file and a missing driver say. */
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "extern \"C\" __global__ void __launch_bounds__(128)\n"
    "axpy(long long n, double *y, const double *x)\n"
    "{\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        y[i] += 2 * x[i];\n"
    "}\n"
    "extern \"C\" __global__ void mirror(long long n, double *y)\n"
    "{\n"
    "    __shared__ double s[256];\n"
    "    s[threadIdx.x] = y[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    y[threadIdx.x] = s[255 - threadIdx.x];\n"
    "}\n"
    "extern \"C\" __global__ void table(long long n, double *y)\n"
    "{\n"
    "    double s[64];\n"
    "    for (int i = 0; i < 64; ++i)\n"
    "        s[i] = y[i];\n"
    "    double r = 0;\n"
    "    for (int i = 0; i < 64; ++i)\n"
    "        r += s[(int)y[i] & 63];\n"
    "    y[threadIdx.x] = r;\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(1024, 2) spill(long long n, double *y)\n"
    "{\n"
    "    double s[64], r = 0;\n"
    "    #pragma unroll\n"
    "    for (int i = 0; i < 64; ++i)\n"
    "        s[i] = y[i * n];\n"
    "    #pragma unroll\n"
    "    for (int i = 0; i < 64; ++i)\n"
    "        r += exp(s[i] * r) * s[63 - i];\n"
    "    #pragma unroll\n"
    "    for (int i = 0; i < 64; ++i)\n"
    "        y[i * n] = s[i] * r;\n"
    "}\n";

typedef struct fixture {
    weft_nvrtc nvrtc;
    bool missing;
    char why[1024];
} fixture;

static int open_nvrtc(void **state) {
    fixture *f = calloc(1, sizeof *f);
    weft_error error;
    f->missing = weft_nvrtc_open(&f->nvrtc, &error) != WEFT_OK;
    if (f->missing)
        memcpy(f->why, error.message, sizeof f->why);
    *state = f;
    return 0;
}

static int close_nvrtc(void **state) {
    fixture *f = *state;
    weft_nvrtc_close(&f->nvrtc);
    free(f);
    return 0;
}

static const weft_nvrtc *nvrtc_of(void **state) {
    fixture *f = *state;
    if (f->missing)
        skip_test(f->why);
    return &f->nvrtc;
}

static weft_cubin compiled(const weft_nvrtc *nvrtc) {
    weft_cubin cubin = {0};
    weft_error error;
    if (weft_nvrtc_compile(nvrtc, 90, "figures", source, &cubin, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    return cubin;
}

/* Shared memory and the array are as declared; what ptxas says of registers and spills is looked
 * for in its own words, which only the spills are read from. */
static void resources(void **state) {
    weft_cubin cubin = compiled(nvrtc_of(state));
    weft_kernel_resources f;
    const char *log = (const char *)cubin.bytes + cubin.size;
    char line[200];
    static const char *const kernels[] = {"axpy", "mirror", "table", "spill"};
    assert_memory_equal(cubin.bytes, "\177ELF", 4);
    for (int i = 0; i < 4; ++i) {
        assert_true(weft_cubin_resources(&cubin, kernels[i], &f));
        snprintf(line, sizeof line, "Function properties for %s\n", kernels[i]);
        const char *at = strstr(log, line);
        assert_non_null(at);
        at = strstr(at, "Used ");
        assert_int_equal(f.registers, atoi(at + 5));
        assert_int_equal(f.shared_bytes, i == 1 ? 256 * 8 : 0);
        if (i == 2)
            assert_int_equal(f.stack_bytes, 64 * 8);
        if (i < 2)
            assert_int_equal(f.stack_bytes, 0);
        if (i < 3)
            assert_int_equal(f.spill_store_bytes + f.spill_load_bytes, 0);
    }
    /* 64 doubles do not fit into the 32 registers that 2 blocks of 1024 threads leave each */
    assert_true(f.registers <= 32);
    assert_true(f.spill_store_bytes >= (64 - 16) * 8);
    assert_true(f.spill_load_bytes >= f.spill_store_bytes);
    assert_true(f.stack_bytes >= (64 - 16) * 8);
    assert_false(weft_cubin_resources(&cubin, "axp", &f));
    assert_false(weft_cubin_resources(&cubin, "", &f));
    weft_cubin_free(&cubin);
}

/* However it is cut or changed, it is read or refused, and nothing outside of it is touched (which
 * the address sanitizer sees). */
static void damaged_files(void **state) {
    weft_cubin cubin = compiled(nvrtc_of(state)), read = {0};
    weft_kernel_resources f;
    assert_true(weft_cubin_read(cubin.bytes, cubin.whole, &read));
    assert_int_equal(read.size, cubin.size);
    assert_false(weft_cubin_read(cubin.bytes, cubin.whole - 1, &read));
    for (size_t size = 0; size < cubin.size; size += 1 + size / 16) {
        unsigned char *part = malloc(size + 1);
        memcpy(part, cubin.bytes, size);
        assert_false(weft_cubin_read(part, size, &read));
        weft_cubin cut = {part, size, size};
        (void)weft_cubin_resources(&cut, "mirror", &f);
        free(part);
    }
    srand(1);
    for (int i = 0; i < 2000; ++i) {
        size_t at = (size_t)rand() % (i % 2 ? cubin.size : 64);
        unsigned char kept = cubin.bytes[at];
        cubin.bytes[at] = (unsigned char)rand();
        (void)weft_cubin_resources(&cubin, "spill", &f);
        cubin.bytes[at] = kept;
    }
    assert_true(weft_cubin_resources(&cubin, "spill", &f));
    weft_cubin_free(&cubin);
}

static void wrong_source(void **state) {
    const weft_nvrtc *nvrtc = nvrtc_of(state);
    weft_cubin cubin = {0};
    weft_error error;
    static const char wrong[] = "extern \"C\" __global__ void k(long long n, double *y)\n"
                                "{\n"
                                "    y[0] = undeclared_name;\n"
                                "}\n";
    assert_int_equal(weft_nvrtc_compile(nvrtc, 90, "wrong", wrong, &cubin, &error),
                     WEFT_ERROR_COMPILER);
    assert_null(cubin.bytes);
    assert_non_null(strstr(error.message, "undeclared_name"));
    assert_string_equal(error.file, "wrong.cu");
    assert_int_equal(error.line, 3);
    assert_non_null(strstr(error.source_line, "y[0] = undeclared_name;"));
    assert_non_null(strstr(error.hint, "WEFT_KEEP"));
    assert_int_equal(weft_nvrtc_compile(nvrtc, 1, "old", source, &cubin, &error),
                     WEFT_ERROR_COMPILER);
    assert_non_null(strstr(error.message, "arch"));
}

static void what_decides(void **state) {
    const weft_nvrtc *nvrtc = nvrtc_of(state);
    char a[512], b[512];
    weft_nvrtc_describe(nvrtc, 90, a, sizeof a);
    weft_nvrtc_describe(nvrtc, 80, b, sizeof b);
    assert_string_not_equal(a, b);
    assert_non_null(strstr(a, "sm_90"));
    assert_non_null(strstr(a, "fmad"));
    weft_nvrtc_describe(nvrtc, 90, a, 20); /* cut, not overrun */
    assert_true(strlen(a) < 20);
}

static void no_driver(void **state) {
    (void)state;
    weft_cuda_driver driver;
    weft_error error;
    assert_int_equal(weft_cuda_driver_open("libcuda-that-is-not.so.1", &driver, &error),
                     WEFT_ERROR_DEVICE);
    assert_non_null(strstr(error.message, "no CUDA driver (libcuda-that-is-not.so.1)"));
    assert_non_null(strstr(error.hint, "--device host"));
    assert_null(driver.library);
    /* a library, but no driver */
    assert_int_equal(weft_cuda_driver_open("libm.so.6", &driver, &error), WEFT_ERROR_DEVICE);
    assert_non_null(strstr(error.message, "too old"));
    assert_non_null(strstr(error.message, "cuGetProcAddress_v2"));
    assert_null(driver.library);
}

static int name_of(int code, const char **name) {
    *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return code == 700 ? 0 : 1;
}

static int text_of(int code, const char **text) {
    *text = code == 700 ? "an illegal memory access was encountered" : NULL;
    return code == 700 ? 0 : 1;
}

static void codes_of_the_driver(void **state) {
    (void)state;
    weft_cuda_driver driver = {.cuGetErrorName = name_of, .cuGetErrorString = text_of};
    weft_error error;
    assert_int_equal(weft_cuda_failed(&driver, 700, "reading an array", &error), WEFT_ERROR_DEVICE);
    assert_string_equal(error.message, "reading an array: CUDA_ERROR_ILLEGAL_ADDRESS, code 700 (an "
                                       "illegal memory access was encountered)");
    assert_non_null(strstr(error.hint, "compute-sanitizer"));
    assert_int_equal(weft_cuda_failed(&driver, 2, "x", &error), WEFT_ERROR_MEMORY);
    assert_non_null(strstr(error.hint, "matrix-free"));
    assert_int_equal(weft_cuda_failed(&driver, 12345, "x", &error), WEFT_ERROR_DEVICE);
    assert_non_null(strstr(error.message, "12345"));
    assert_non_null(strstr(error.hint, "report"));
    for (int code = 1; code < 1000; ++code) {
        weft_cuda_failed(&driver, code, "x", &error);
        assert_true(error.hint[0] != '\0');
    }
    weft_cuda_failed(&driver, 720, "x", &error);
    assert_non_null(strstr(error.hint, "weft_device_resident_blocks"));
    weft_cuda_failed(&driver, 901, "x", &error);
    assert_non_null(strstr(error.hint, "captured"));
    weft_cuda_failed(&driver, 804, "x", &error);
    assert_non_null(strstr(error.hint, "newer driver"));
    assert_true(weft_cuda_is_sticky(810));
    assert_false(weft_cuda_is_sticky(720));
    assert_false(weft_cuda_is_sticky(901));
    assert_true(weft_cuda_is_sticky(700));
    assert_true(weft_cuda_is_sticky(719));
    assert_false(weft_cuda_is_sticky(2));
    assert_false(weft_cuda_is_sticky(500));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resources),    cmocka_unit_test(damaged_files),
        cmocka_unit_test(wrong_source), cmocka_unit_test(what_decides),
        cmocka_unit_test(no_driver),    cmocka_unit_test(codes_of_the_driver),
    };
    return cmocka_run_group_tests(tests, open_nvrtc, close_nvrtc);
}
