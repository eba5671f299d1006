/* labels: gpu */
/* Device graphs on a GPU: loops that the device counts, loops in loops, zeroes and copies, large
 * shared memory, cooperative grids, and what is refused. All numbers are exact. */
#include "core/weft_core.h"
#include "gpu_support.h"

static const char source[] =
    "#define HERE (blockIdx.x * (long long)blockDim.x + threadIdx.x)\n"
    /* x += 1; count += 1; flag = count < n */
    "extern \"C\" __global__ void step(long long n, double *x, unsigned *count, unsigned *flag,\n"
    "                                const unsigned *most)\n"
    "{\n"
    "    if (HERE < n)\n"
    "        x[HERE] += 1;\n"
    "    if (HERE == 0) {\n"
    "        *count += 1;\n"
    "        *flag = *count < *most;\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void decide(long long n, const unsigned *count, unsigned *flag,\n"
    "                                  const unsigned *most)\n"
    "{\n"
    "    if (HERE == 0)\n"
    "        *flag = *count < *most;\n"
    "}\n"
    "extern \"C\" __global__ void add(long long n, double *to, const double *from)\n"
    "{\n"
    "    if (HERE < n)\n"
    "        to[HERE] += from[HERE];\n"
    "}\n"
    "extern \"C\" __global__ void mirror(long long n, double *y)\n"
    "{\n"
    "    extern __shared__ double shared[];\n"
    "    shared[threadIdx.x * 32] = y[HERE];\n"
    "    __syncthreads();\n"
    "    y[HERE] = shared[(blockDim.x - 1 - threadIdx.x) * 32];\n"
    "}\n"
    /* n rounds; in each, every block reads what its neighbour wrote in the round before */
    "extern \"C\" __global__ void ring(long long n, unsigned *values, unsigned *arrived)\n"
    "{\n"
    "    volatile unsigned *v = values, *a = arrived;\n"
    "    const unsigned blocks = gridDim.x, next = (blockIdx.x + 1) % blocks;\n"
    "    for (unsigned round = 0; round < n; ++round) {\n"
    "        unsigned *to = values + (round & 1 ? 0 : blocks);\n"
    "        if (threadIdx.x == 0) {\n"
    "            ((volatile unsigned *)to)[blockIdx.x] = v[(round & 1 ? blocks : 0) + next] + 1;\n"
    "            __threadfence();\n"
    "            atomicAdd(arrived, 1);\n"
    "            while (*a < (round + 1) * blocks)\n"
    "                ;\n"
    "            __threadfence();\n"
    "        }\n"
    "        __syncthreads();\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void fill(long long n, unsigned *out)\n"
    "{\n"
    "    for (long long i = HERE; i < n; i += (long long)gridDim.x * blockDim.x)\n"
    "        out[i] = gridDim.x;\n"
    "}\n";

enum { N = 5000, ITERATIONS = 1000 };

typedef struct fixture {
    weft_device *device;
    weft_module *module;
    weft_memory *x, *count, *flag, *most;
    weft_error error;
} fixture;

static fixture *fixture_make(void) {
    const uint32_t most = ITERATIONS;
    weft_device *device = gpu_open(NULL); /* which may skip the test */
    if (!weft_device_captures(device))
        skip_test("this driver does not record loops");
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->device = device;
    gpu_check(weft_module_make(f->device, "recording", source, &f->module, &f->error), &f->error);
    f->x = gpu_memory(f->device, NULL, N * sizeof(double));
    f->count = gpu_memory(f->device, NULL, sizeof most);
    f->flag = gpu_memory(f->device, NULL, sizeof most);
    f->most = gpu_memory(f->device, &most, sizeof most);
    return f;
}

static void fixture_free(fixture *f) {
    weft_memory_free(&f->x);
    weft_memory_free(&f->count);
    weft_memory_free(&f->flag);
    weft_memory_free(&f->most);
    weft_module_free(&f->module);
    assert_int_equal(weft_device_bytes(f->device), 0);
    weft_device_free(&f->device);
    free(f);
}

static void launch_step(fixture *f) {
    weft_memory *arguments[] = {f->x, f->count, f->flag, f->most};
    weft_launch launch = gpu_launch(f->module, "step", arguments, 4, N);
    gpu_check(weft_device_launch(f->device, &launch, &f->error), &f->error);
}

static void launch_decide(fixture *f) {
    weft_memory *arguments[] = {f->count, f->flag, f->most};
    weft_launch launch = gpu_launch(f->module, "decide", arguments, 3, 1);
    gpu_check(weft_device_launch(f->device, &launch, &f->error), &f->error);
}

static uint32_t word(fixture *f, const weft_memory *memory) {
    uint32_t value = 0;
    gpu_check(weft_memory_read(memory, 0, &value, sizeof value, &f->error), &f->error);
    return value;
}

static void all_are(fixture *f, const weft_memory *memory, double want) {
    static double x[N];
    size_t wrong = 0;
    gpu_check(weft_memory_read(memory, 0, x, sizeof x, &f->error), &f->error);
    for (int i = 0; i < N; ++i)
        wrong += x[i] > want || x[i] < want;
    assert_int_equal(wrong, 0);
}

/* The device counts to 1000; a flag of 0 gives no iteration; run again from zero, it counts
 * again. */
static void counts(void **state) {
    (void)state;
    fixture *f = fixture_make();
    weft_device_graph *loop = NULL, *whole = NULL;
    gpu_check(weft_device_graph_begin(f->device, &f->error), &f->error);
    gpu_check(weft_device_graph_while(f->device, f->flag, &f->error), &f->error);
    launch_step(f);
    gpu_check(weft_device_graph_end_while(f->device, &f->error), &f->error);
    gpu_check(weft_device_graph_end(f->device, &loop, &f->error), &f->error);
    int64_t launches = weft_device_launches(f->device);
    gpu_check(weft_device_graph_run(loop, &f->error), &f->error);
    assert_int_equal(weft_device_launches(f->device), launches + 1);
    assert_int_equal(word(f, f->count), 0);
    launch_step(f);
    gpu_check(weft_device_graph_run(loop, &f->error), &f->error);
    assert_int_equal(word(f, f->count), ITERATIONS);
    assert_int_equal(word(f, f->flag), 0);
    all_are(f, f->x, ITERATIONS);

    gpu_check(weft_device_graph_begin(f->device, &f->error), &f->error);
    gpu_check(weft_memory_zero(f->count, &f->error), &f->error);
    gpu_check(weft_memory_zero(f->x, &f->error), &f->error);
    launch_decide(f);
    gpu_check(weft_device_graph_while(f->device, f->flag, &f->error), &f->error);
    launch_step(f);
    gpu_check(weft_device_graph_end_while(f->device, &f->error), &f->error);
    launch_step(f);
    gpu_check(weft_device_graph_end(f->device, &whole, &f->error), &f->error);
    all_are(f, f->x, ITERATIONS); /* nothing was run */
    for (int i = 0; i < 3; ++i)
        gpu_check(weft_device_graph_run(whole, &f->error), &f->error);
    assert_int_equal(word(f, f->count), ITERATIONS + 1);
    all_are(f, f->x, ITERATIONS + 1);
    weft_device_graph_free(&whole);
    weft_device_graph_free(&loop);
    assert_null(loop);
    fixture_free(f);
}

/* 7 iterations, in each 11 iterations of 3 steps; a copy is taken between and added to a sum
 * behind: sum of 33 k for k = 1..7 is 924. */
static void nested(void **state) {
    (void)state;
    fixture *f = fixture_make();
    const uint32_t few = 7, inner = 11;
    weft_memory *outer_count = gpu_memory(f->device, NULL, 4),
                *outer_flag = gpu_memory(f->device, NULL, 4),
                *outer_most = gpu_memory(f->device, &few, 4),
                *unused = gpu_memory(f->device, NULL, 8),
                *kept = gpu_memory(f->device, NULL, N * sizeof(double)),
                *sum = gpu_memory(f->device, NULL, N * sizeof(double));
    weft_memory *outer[] = {unused, outer_count, outer_flag, outer_most}, *adding[] = {sum, kept};
    weft_launch next = gpu_launch(f->module, "step", outer, 4, 1),
                add = gpu_launch(f->module, "add", adding, 2, N);
    weft_device_graph *device_graph = NULL;
    gpu_check(weft_memory_write(f->most, 0, &(uint32_t){3 * inner}, 4, &f->error), &f->error);
    gpu_check(weft_memory_write(outer_flag, 0, &(uint32_t){5}, 4, &f->error), &f->error);
    gpu_check(weft_device_graph_begin(f->device, &f->error), &f->error);
    gpu_check(weft_device_graph_while(f->device, outer_flag, &f->error), &f->error);
    gpu_check(weft_memory_zero(f->count, &f->error), &f->error);
    launch_decide(f);
    gpu_check(weft_device_graph_while(f->device, f->flag, &f->error), &f->error);
    for (int i = 0; i < 3; ++i)
        launch_step(f);
    gpu_check(weft_device_graph_end_while(f->device, &f->error), &f->error);
    gpu_check(weft_memory_copy(kept, f->x, N * sizeof(double), &f->error), &f->error);
    gpu_check(weft_device_launch(f->device, &add, &f->error), &f->error);
    gpu_check(weft_device_launch(f->device, &next, &f->error), &f->error);
    gpu_check(weft_device_graph_end_while(f->device, &f->error), &f->error);
    gpu_check(weft_device_graph_end(f->device, &device_graph, &f->error), &f->error);
    gpu_check(weft_device_graph_run(device_graph, &f->error), &f->error);
    assert_int_equal(word(f, outer_count), few);
    assert_int_equal(word(f, f->count), 3 * inner);
    all_are(f, f->x, 3 * inner * few);
    all_are(f, sum, 924);
    weft_device_graph_free(&device_graph);
    weft_memory *mine[] = {outer_count, outer_flag, outer_most, unused, kept, sum};
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; ++i)
        weft_memory_free(&mine[i]);
    fixture_free(f);
}

static void refused(fixture *f, weft_status status, weft_status want, const char *word_of_it) {
    assert_int_equal(status, want);
    if (!strstr(f->error.message, word_of_it))
        fail_msg("no \"%s\" in: %s", word_of_it, f->error.message);
}

static void mistakes(void **state) {
    (void)state;
    fixture *f = fixture_make();
    weft_memory *other = NULL;
    weft_device_graph *device_graph = NULL;
    uint32_t value = 0;
    const weft_status usage = WEFT_ERROR_USAGE;
    refused(f, weft_device_graph_end(f->device, &device_graph, &f->error), usage, "without");
    refused(f, weft_device_graph_while(f->device, f->flag, &f->error), usage, "without");
    gpu_check(weft_device_graph_begin(f->device, &f->error), &f->error);
    refused(f, weft_device_graph_begin(f->device, &f->error), usage, "already");
    refused(f, weft_device_graph_end_while(f->device, &f->error), usage, "without");
    refused(f, weft_memory_make(f->device, 8, &other, &f->error), usage, "making");
    refused(f, weft_memory_read(f->flag, 0, &value, 4, &f->error), usage, "reading");
    refused(f, weft_memory_write(f->flag, 0, &value, 4, &f->error), usage, "writing");
    refused(f, weft_device_wait(f->device, &f->error), usage, "waiting");
    launch_step(f);
    gpu_check(weft_device_graph_end(f->device, &device_graph, &f->error), &f->error);
    gpu_check(weft_device_graph_run(device_graph, &f->error), &f->error);
    assert_int_equal(word(f, f->count), 1);
    /* what it uses is gone: it is not run */
    weft_memory_free(&f->x);
    refused(f, weft_device_graph_run(device_graph, &f->error), usage, "freed");
    weft_device_graph_free(&device_graph);
    f->x = gpu_memory(f->device, NULL, N * sizeof(double));
    /* freed meanwhile: the end says so, and the device works on */
    gpu_check(weft_device_graph_begin(f->device, &f->error), &f->error);
    launch_step(f);
    weft_memory_free(&f->x);
    refused(f, weft_device_graph_end(f->device, &device_graph, &f->error), usage, "freed");
    assert_null(device_graph);
    f->x = gpu_memory(f->device, NULL, N * sizeof(double));
    gpu_check(weft_device_graph_begin(f->device, &f->error), &f->error);
    gpu_check(weft_device_graph_while(f->device, f->flag, &f->error), &f->error);
    refused(f, weft_device_graph_end(f->device, &device_graph, &f->error), usage, "1 loop is");
    launch_step(f);
    assert_int_equal(word(f, f->count), 2);
    fixture_free(f);
}

/* 96 KB of shared memory, more than a kernel gets unasked, and a grid that is given. */
static void captured_launches(void **state) {
    (void)state;
    fixture *f = fixture_make();
    enum { THREADS = 384, WORDS = 100000 };
    double y[THREADS];
    static uint32_t words[WORDS];
    for (int i = 0; i < THREADS; ++i)
        y[i] = i;
    weft_memory *memory = gpu_memory(f->device, y, sizeof y),
                *out = gpu_memory(f->device, NULL, sizeof words);
    weft_launch mirror = gpu_launch(f->module, "mirror", &memory, 1, THREADS),
                fill = gpu_launch(f->module, "fill", &out, 1, WORDS);
    mirror.block_threads = THREADS;
    mirror.shared_bytes = THREADS * 32 * 8;
    fill.n_blocks = 17;
    weft_device_graph *device_graph = NULL;
    gpu_check(weft_device_graph_begin(f->device, &f->error), &f->error);
    gpu_check(weft_device_launch(f->device, &mirror, &f->error), &f->error);
    gpu_check(weft_device_launch(f->device, &fill, &f->error), &f->error);
    gpu_check(weft_device_graph_end(f->device, &device_graph, &f->error), &f->error);
    gpu_check(weft_device_graph_run(device_graph, &f->error), &f->error);
    gpu_check(weft_memory_read(memory, 0, y, sizeof y, &f->error), &f->error);
    gpu_check(weft_memory_read(out, 0, words, sizeof words, &f->error), &f->error);
    for (int i = 0; i < THREADS; ++i)
        assert_double_near(y[i], THREADS - 1 - i, 0, 0);
    for (int i = 0; i < WORDS; ++i)
        assert_int_equal(words[i], 17);
    weft_device_graph_free(&device_graph);
    weft_memory_free(&memory);
    weft_memory_free(&out);
    fixture_free(f);
}

/* In round r every block holds r: each waits for all others 200 times. */
static void cooperative(void **state) {
    (void)state;
    fixture *f = fixture_make();
    enum { ROUNDS = 200, THREADS = 256 };
    int most = weft_device_resident_blocks(f->device, f->module, "ring", THREADS, 0);
    assert_true(most >= weft_device_limits(f->device)->multiprocessors);
    assert_int_equal(weft_device_resident_blocks(f->device, f->module, "nothing", THREADS, 0), 0);
    size_t bytes = (size_t)most * 2 * sizeof(uint32_t);
    uint32_t *values = malloc(bytes);
    weft_memory *ring = gpu_memory(f->device, NULL, bytes),
                *arrived = gpu_memory(f->device, NULL, 4), *arguments[] = {ring, arrived};
    weft_launch launch = gpu_launch(f->module, "ring", arguments, 2, ROUNDS);
    weft_device_graph *device_graph = NULL;
    launch.block_threads = THREADS;
    launch.cooperative = true;
    launch.n_blocks = most;
    gpu_check(weft_device_graph_begin(f->device, &f->error), &f->error);
    gpu_check(weft_memory_zero(arrived, &f->error), &f->error);
    gpu_check(weft_device_launch(f->device, &launch, &f->error), &f->error);
    gpu_check(weft_device_graph_end(f->device, &device_graph, &f->error), &f->error);
    for (int round = 0; round < 3; ++round) {
        gpu_check(weft_memory_zero(ring, &f->error), &f->error);
        gpu_check(weft_memory_zero(arrived, &f->error), &f->error);
        gpu_check(round == 0 ? weft_device_launch(f->device, &launch, &f->error)
                             : weft_device_graph_run(device_graph, &f->error),
                  &f->error);
        gpu_check(weft_memory_read(ring, 0, values, bytes, &f->error), &f->error);
        for (int i = 0; i < most; ++i)
            assert_int_equal(values[i], ROUNDS);
    }
    launch.n_blocks = most + 1;
    refused(f, weft_device_launch(f->device, &launch, &f->error), WEFT_ERROR_USAGE, "at once");
    weft_device_graph_free(&device_graph);
    weft_memory_free(&ring);
    weft_memory_free(&arrived);
    free(values);
    fixture_free(f);
}

static void timers(void **state) {
    (void)state;
    fixture *f = fixture_make();
    weft_timer *timer = NULL;
    double seconds = -1;
    gpu_check(weft_timer_make(f->device, &timer, &f->error), &f->error);
    refused(f, weft_timer_seconds(timer, &seconds, &f->error), WEFT_ERROR_USAGE, "not started");
    double start = weft_clock();
    gpu_check(weft_timer_start(timer, &f->error), &f->error);
    for (int i = 0; i < ITERATIONS; ++i)
        launch_step(f);
    gpu_check(weft_timer_stop(timer, &f->error), &f->error);
    gpu_check(weft_timer_seconds(timer, &seconds, &f->error), &f->error);
    assert_true(seconds > ITERATIONS * 0.5e-6 && seconds < weft_clock() - start);
    weft_timer_free(&timer);
    fixture_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),      cmocka_unit_test(nested),
        cmocka_unit_test(mistakes),    cmocka_unit_test(captured_launches),
        cmocka_unit_test(cooperative), cmocka_unit_test(timers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
