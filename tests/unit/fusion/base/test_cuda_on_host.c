/* labels: quick */
/* CUDA text on the host: a missing barrier is seen in one order of threads or another, and with the
 * barrier every order gives the same numbers. */
#include "cuda_emulation.h"

enum { N = 64 };

/* y[i] = x[partner of i] through shared memory. */
#define TEXT(barrier, partner)                                                                     \
    "extern \"C\" __global__ void swap(int64_t n, double *x, double *y) {\n"                       \
    "    extern __shared__ __align__(128) unsigned char shared[];\n"                               \
    "    double *const s = (double *)shared;\n"                                                    \
    "    const int i = (int)threadIdx.x;\n"                                                        \
    "    s[i] = x[i];\n"                                                                           \
    "    " barrier "\n"                                                                            \
    "    y[i] = s[" partner "];\n"                                                                 \
    "}\n"

/* Is each y[i] = x[partner[i]] in this order? */
static bool is_right(const char *text, const int *partner, int order) {
    void *object = NULL;
    emulate_function *ignored = NULL;
    weft_emulate_wide *emulate = NULL;
    double x[N], y[N];
    void *arguments[WEFT_EMULATED_ARGUMENTS] = {x, y};
    bool right = true;
    emulation_compile(text, &object, &ignored);
    void *found = dlsym(object, "emulate_wide"), *kernel = dlsym(object, "swap");
    assert_true(found != NULL && kernel != NULL);
    memcpy(&emulate, &found, sizeof found);
    for (int i = 0; i < N; ++i)
        x[i] = i;
    emulate(kernel, N, arguments, 1, N, sizeof x, order);
    for (int i = 0; i < N; ++i)
        right = right && y[i] == partner[i];
    dlclose(object);
    return right;
}

static void test_orders(void **state) {
    static const char *const without[] = {TEXT("", "i < 63 ? i + 1 : 63"),
                                          TEXT("", "i > 0 ? i - 1 : 0"), TEXT("", "i ^ 32")};
    static const char *const with[] = {TEXT("__syncthreads();", "i < 63 ? i + 1 : 63"),
                                       TEXT("__syncthreads();", "i > 0 ? i - 1 : 0"),
                                       TEXT("__syncthreads();", "i ^ 32")};
    /* in order a thread does not see those after it; in reverse those before it; from both ends,
     * 0, 63, 1, 62, ..., thread i < 32 sees those up to i, and those from 64 - i */
    static const bool seen[][3] = {{true, false, true}, {false, true, true}, {true, true, true}};
    (void)state;
    for (int k = 0; k < 3; ++k) {
        int partner[N];
        for (int i = 0; i < N; ++i)
            partner[i] = k == 0 ? (i < 63 ? i + 1 : 63) : k == 1 ? (i > 0 ? i - 1 : 0) : i ^ 32;
        for (int order = 0; order < WEFT_EMULATED_ORDERS; ++order) {
            assert_true(is_right(with[k], partner, order));
            assert_true(is_right(without[k], partner, order) == !seen[k][order]);
        }
    }
}

/* A GPU gives a thread 512 kB of local memory; element matrices of 192 x 192 are there, 295 kB each. */
static void test_local_memory(void **state) {
    static const char text[] =
        "extern \"C\" __global__ void swap(int64_t n, double *x, double *y) {\n"
        "    double kept[64000];\n"
        "    for (int k = 0; k < 64000; k += 500)\n"
        "        kept[k] = x[threadIdx.x] + k * n;\n"
        "    __syncthreads();\n"
        "    y[threadIdx.x] = kept[63500] - 63500 * n + kept[0] - x[threadIdx.x];\n"
        "}\n";
    int partner[N];
    (void)state;
    for (int i = 0; i < N; ++i)
        partner[i] = i;
    for (int order = 0; order < WEFT_EMULATED_ORDERS; ++order)
        assert_true(is_right(text, partner, order));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_local_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
