/* labels: quick */
/* Probes for cuda run on the host, thread by thread (cuda_on_host.h): each element is done once,
 * whatever the block, the iterations and what is left over; stores write what is said; what is
 * loaded comes to the sum. */
#include "core/weft_core.h"
#include "cuda_emulation.h"
#include "fusion/base/target.h"
#include "fusion/cost/cost.h"
#include "fusion/tune/benchmark.h"
#include "fusion/weft_library.h"
#include "tuning_support.h"

enum { COMPONENTS = 5, MOST = 400, LANES = 32 };

typedef struct fixture {
    weft_device *device;
    weft_library *library;
    void *object;
    emulate_function *emulate;
    weft_benchmark benchmark;
    double data[MOST * 16], seed[4], sink[1];
    int32_t connectivity[MOST * 16];
} fixture;

static fixture *fixture_make(const weft_cost_primitive *primitive) {
    fixture *f = calloc(1, sizeof *f);
    weft_error error = {0};
    weft_text text = {0};
    assert_non_null(f);
    f->seed[0] = -1;
    f->seed[2] = 0.5;
    tuning_ok(weft_device_open("null:h200", NULL, &f->device, &error), &error);
    tuning_ok(weft_library_make(&f->library, &error), &error);
    weft_benchmark_prelude(weft_device_limits(f->device), false, &text);
    tuning_ok(weft_benchmark_print(f->library, weft_device_limits(f->device), primitive, 0, &text,
                                   &f->benchmark, &error),
              &error);
    emulation_compile(text.data, &f->object, &f->emulate);
    weft_text_free(&text);
    return f;
}

static void fixture_free(fixture *f) {
    dlclose(f->object);
    weft_library_free(&f->library);
    weft_device_free(&f->device);
    free(f);
}

static void run(fixture *f, const char *kernel, int n, unsigned threads, unsigned blocks,
                int backwards) {
    void *arguments[24] = {f->data, f->connectivity, f->seed, f->sink};
    void *found = dlsym(f->object, kernel);
    assert_non_null(found);
    f->sink[0] = 0;
    f->emulate(found, n, arguments, blocks, threads, (unsigned)f->benchmark.shared, backwards);
}

static weft_cost_primitive product_kernel_of(const char *name, weft_cost_kind kind,
                                             weft_access_kind form, bool shared) {
    return (weft_cost_primitive){.name = name,
                                 .kind = kind,
                                 .form = form,
                                 .components = COMPONENTS,
                                 .real_bytes = 8,
                                 .shared = shared};
}

/* All values of n elements, and none behind them. Registers: seed * (c + 1); shared memory is
 * filled with seed * (1 + (c c + 3 c) % 17). */
static void check_stored(const fixture *f, int n, bool plain, bool shared) {
    int written = 0;
    for (int i = 0; i < n; ++i)
        for (int c = 0; c < COMPONENTS; ++c) {
            const int at =
                plain ? i * COMPONENTS + c : (i / LANES * COMPONENTS + c) * LANES + i % LANES;
            assert_double_near(f->data[at], 0.5 * (shared ? 1 + (c * c + 3 * c) % 17 : c + 1), 0,
                               0);
        }
    for (int i = 0; i < MOST * 16; ++i)
        written += f->data[i] > 0;
    assert_int_equal(written, n * COMPONENTS);
}

static void stores(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; ++shared)
        for (int plain = 0; plain < 2; ++plain) {
            const weft_cost_primitive primitive = product_kernel_of(
                "store", WEFT_COST_STORE, plain ? WEFT_COST_AOS : WEFT_COST_BLOCK, shared);
            fixture *f = fixture_make(&primitive);
            /* two blocks, several iterations each, the last not full */
            for (int backwards = 0; backwards < 2; ++backwards) {
                memset(f->data, 0, sizeof f->data);
                run(f, shared ? "probe_0_3" : "probe_0", 300, shared ? 96 : 64, 2, backwards);
                check_stored(f, 300, plain, shared);
            }
            memset(f->data, 0, sizeof f->data);
            run(f, shared ? "probe_0_2" : "probe_0", 33, shared ? 64 : 32, 2, 0);
            check_stored(f, 33, plain, shared);
            fixture_free(f);
        }
}

static void loads(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; ++shared)
        for (int form = WEFT_COST_BLOCK; form <= WEFT_COST_INDIRECT; ++form) {
            weft_cost_primitive primitive =
                product_kernel_of("load", WEFT_COST_LOAD, (weft_access_kind)form, shared);
            if (form == WEFT_COST_INDIRECT) {
                primitive.width = 3;
                primitive.components = 2;
            }
            fixture *f = fixture_make(&primitive);
            for (int i = 0; i < MOST * 16; ++i) {
                f->data[i] = 1;
                f->connectivity[i] = i % 70;
            }
            /* 256 elements by two blocks of 32: four iterations, all values or, in shared memory, one
             */
            f->seed[0] = shared ? 4 : 4 * (form == WEFT_COST_INDIRECT ? 6 : COMPONENTS);
            run(f, shared ? "probe_0_5" : "probe_0", 256, shared ? 160 : 32, 2, 0);
            assert_double_near(f->sink[0], f->seed[0], 0, 0);
            f->seed[0] += 1;
            run(f, shared ? "probe_0_5" : "probe_0", 256, shared ? 160 : 32, 2, 1);
            assert_double_near(f->sink[0], 0, 0, 0);
            fixture_free(f);
        }
}

/* Every element adds to two of 30 targets. */
static void accumulations(void **state) {
    (void)state;
    enum { N = 200, TARGETS = 30 };
    for (int shared = 0; shared < 2; ++shared) {
        weft_cost_primitive primitive =
            product_kernel_of("add", WEFT_COST_STORE, WEFT_COST_ADD, shared);
        double expected[TARGETS] = {0};
        primitive.width = 2;
        primitive.components = 1;
        fixture *f = fixture_make(&primitive);
        for (int i = 0; i < N; ++i)
            for (int a = 0; a < 2; ++a) {
                f->connectivity[(i / LANES * 2 + a) * LANES + i % LANES] =
                    (7 * i + 3 * a) % TARGETS;
                /* registers: 1/2 and 1; shared memory: 1/2 and 5/2 */
                expected[(7 * i + 3 * a) % TARGETS] += a == 0 ? 0.5 : shared ? 2.5 : 1;
            }
        run(f, shared ? "probe_0_2" : "probe_0", N, shared ? 64 : 32, 3, shared);
        for (int t = 0; t < TARGETS; ++t)
            assert_double_near(f->data[t], expected[t], 0, 0);
        fixture_free(f);
    }
}

/* A compute in shared memory reaches its barriers, whatever the trip count. */
static void computes(void **state) {
    (void)state;
    const weft_cost_primitive primitive = {.name = "compute mmul 9 m=3,k=3,n=3 double shared",
                                           .kind = WEFT_COST_COMPUTE,
                                           .function = "mmul",
                                           .variant = 2,
                                           .threads = 9,
                                           .flops = 45,
                                           .real_bytes = 8,
                                           .shared = true};
    fixture *f = fixture_make(&primitive);
    assert_int_equal(f->benchmark.shared, 27 * LANES * 8);
    run(f, "probe_0_9", 100, 9 * 32, 2, 0);
    run(f, "probe_0_32", 100, 32 * 32, 3, 1);
    assert_double_near(f->sink[0], 0, 0, 0);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores),
        cmocka_unit_test(loads),
        cmocka_unit_test(accumulations),
        cmocka_unit_test(computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
