/* labels: quick */
/* The automatic choice of the device by the predicted time on the host. Counts are those of grids. Limits are made up here:
 * what is checked are the bound between the two devices, what lies on which side of it by orders of magnitude, and in which direction
 * it moves; docs/measurements.md has the times. */
#include "apps/common/run.h"
#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "fake_cuda.h"
#include "test_support.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LIMIT_SECONDS = 0.15; /* half of the start of a GPU */

static const weft_limits one_thread = {.kind = WEFT_DEVICE_HOST,
                                       .execution = WEFT_EXECUTION_SIMD,
                                       .language = "host",
                                       .lanes_double = 4,
                                       .lanes_float = 8,
                                       .threads = 1,
                                       .multiprocessors = 1,
                                       .memory_bytes = (size_t)64 << 30,
                                       .bandwidth = 12e9,
                                       .flops = 20e9,
                                       .launch_seconds = 1e-7};
static const app_work stationary = {.is_known = true};

static app_run_options options_of(const char *mesh) {
    app_run_options options = app_run_options_default();
    options.mesh.name = mesh;
    return options;
}

static bool prefers(const weft_limits *host, const app_run_options *options, const app_work *work) {
    char reason[APP_REASON_MAX] = "";
    const bool out = app_prefers_host(host, options, work, reason);
    assert_true(strlen(reason) > 10);
    return out;
}

static void sizes(void **state) {
    static const struct {
        const char *name;
        int refine, dimension;
        int64_t n_nodes, n_cells; /* 0 nodes: not known */
    } cases[] = {{"square:64", 0, 2, 4225, 8192},
                 {"square:16", 2, 2, 4225, 8192},
                 {"cube:4", 0, 3, 125, 384},
                 {"cube:1", 2, 3, 125, 384},
                 {"interval:10", 0, 1, 11, 10},
                 {"quads:3", 0, 2, 16, 18},
                 {"hexes:2", 1, 3, 125, 384},
                 {"square:1", 0, 2, 4, 2},
                 {"square:0", 0, 0, 0, 0},
                 {"square:", 0, 0, 0, 0},
                 {"square:-4", 0, 0, 0, 0},
                 {"square:+4", 0, 0, 0, 0},
                 {"square:4x", 0, 0, 0, 0},
                 {"square", 0, 0, 0, 0},
                 {"squares:4", 0, 0, 0, 0},
                 {"", 0, 0, 0, 0},
                 {"no_such.msh", 0, 0, 0, 0},
                 {WEFT_SOURCE_DIR "/meshes/unit_square.geo", 0, 0, 0, 0},
                 {"/", 0, 0, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const app_mesh_options options = {.name = cases[i].name, .refine = cases[i].refine};
        app_mesh_size size = {0};
        assert_int_equal(app_mesh_size_of(&options, &size), cases[i].n_nodes > 0);
        assert_int_equal(size.n_nodes, cases[i].n_nodes);
        assert_int_equal(size.n_cells, cases[i].n_cells);
        assert_int_equal(size.dimension, cases[i].dimension);
        assert_false(size.is_bound);
    }
}

/* A grid of n x n squares in the format .mesh, with as short numbers as there are. */
static void write_grid(const char *path, int n) {
    weft_text text = {0};
    weft_text_add(&text, "MeshVersionFormatted 1\nDimension 2\nVertices\n%d\n", (n + 1) * (n + 1));
    for (int i = 0; i <= n; ++i)
        for (int k = 0; k <= n; ++k)
            weft_text_add(&text, "%d %d 0\n", k, i);
    weft_text_add(&text, "Triangles\n%d\n", 2 * n * n);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) {
            const int a = i * (n + 1) + k + 1, c = a + n + 1;
            weft_text_add(&text, "%d %d %d 0\n%d %d %d 0\n", a, a + 1, c + 1, a, c + 1, c);
        }
    weft_text_add(&text, "End\n");
    assert_false(text.failed);
    test_text_write(path, text.data);
    weft_text_free(&text);
}

/* The bound of a file is one, also where the text is as short as it can be; such files are never refined here. */
static void files(void **state) {
    static const int sides[] = {2, 9, 30, 100};
    char *folder = test_folder_make(), *path = test_path(folder, "grid.mesh");
    (void)state;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; ++i) {
        app_mesh_options options = {.name = path};
        app_mesh_size size = {0};
        write_grid(path, sides[i]);
        assert_true(app_mesh_size_of(&options, &size));
        assert_true(size.is_bound);
        assert_int_equal(size.dimension, 0);
        assert_true(size.n_nodes >= (int64_t)(sides[i] + 1) * (sides[i] + 1));
        options.refine = 1;
        assert_false(app_mesh_size_of(&options, &size));
        const app_run_options run = options_of(path);
        assert_true(prefers(&one_thread, &run, &stationary) || sides[i] > 30);
    }
    free(path);
    test_folder_remove(&folder);
}

static bool is_little(const weft_limits *host, const char *shape, int n, const app_work *work) {
    char name[64];
    snprintf(name, sizeof name, "%s:%d", shape, n);
    const app_run_options options = options_of(name);
    return prefers(host, &options, work);
}

/* The largest N of shape:N for which the host is taken; all smaller ones are little work, too. */
static int largest(const weft_limits *host, const char *shape, const app_work *work) {
    int n = 1;
    while (n < 20000 && is_little(host, shape, n, work))
        ++n;
    return n - 1;
}

/* The choice changes once, where the predicted time passes the limit. */
static void bound(void **state) {
    static const char *const shapes[] = {"square", "cube", "quads", "hexes"};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        const int n = largest(&one_thread, shapes[i], &stationary);
        assert_true(i % 2 == 0 ? n >= 64 && n <= 1024 : n >= 16 && n <= 128);
        for (int k = 0; k < 2; ++k) {
            char name[64];
            snprintf(name, sizeof name, "%s:%d", shapes[i], n + k);
            const app_run_options options = options_of(name);
            app_mesh_size size;
            assert_true(app_mesh_size_of(&options.mesh, &size));
            const double seconds = app_host_seconds(&one_thread, &options, &stationary, &size);
            assert_true(k == 0 ? seconds <= LIMIT_SECONDS : seconds > LIMIT_SECONDS);
        }
        for (int more = n + 1; more < 40000; more *= 2)
            assert_false(is_little(&one_thread, shapes[i], more, &stationary));
    }
}

/* More work of any kind moves the bound down, more threads move it up. */
static void directions(void **state) {
    static const app_work heavier[] = {
        {.is_known = true, .solves = 20},
        {.is_known = true, .components = 3},
        {.is_known = true, .degree = 2},
        {.is_known = true, .weight = 2},
        {.is_known = true, .is_general = true},
        {.is_known = true, .products = 10000},
        {.is_known = true, .solves = 20, .products = 5, .reassembles = true}};
    weft_limits threads = one_thread;
    (void)state;
    threads.threads = 16;
    threads.bandwidth = 192e9;
    for (int d = 2; d < 4; ++d) {
        const char *shape = d == 2 ? "square" : "cube";
        const int n = largest(&one_thread, shape, &stationary);
        for (size_t i = 0; i < sizeof heavier / sizeof *heavier; ++i)
            /* multigrid, which is predicted to pay in the plane, has its own number of products */
            assert_true(largest(&one_thread, shape, &heavier[i]) < n + (heavier[i].products > 5));
        assert_true(largest(&threads, shape, &stationary) > n);
    }
    /* each solve with a new matrix takes longer than all with one */
    app_work steps = {.is_known = true, .solves = 50, .products = 5};
    const int once = largest(&one_thread, "square", &steps);
    steps.reassembles = true;
    assert_true(largest(&one_thread, "square", &steps) < once);
}

static void options_that_matter(void **state) {
    (void)state;
    const app_run_options plain = options_of("cube:32");
    app_run_options other = plain;
    app_mesh_size size;
    assert_true(app_mesh_size_of(&plain.mesh, &size));
    const double seconds = app_host_seconds(&one_thread, &plain, &stationary, &size);
    other.solver.assembly = WEFT_ASSEMBLY_MATRIX_FREE;
    assert_true(app_host_seconds(&one_thread, &other, &stationary, &size) > seconds);
    other = plain;
    other.solver.max_iterations = 3;
    assert_true(app_host_seconds(&one_thread, &other, &stationary, &size) < seconds);
    other = plain;
    other.solver.preconditioner = WEFT_JACOBI; /* Jacobi's, though multigrid is there */
    assert_true(app_host_seconds(&one_thread, &other, &stationary, &size) >= seconds);
    assert_int_equal(weft_preconditioner_find("chebyshev", &other.solver.preconditioner, NULL),
                     WEFT_OK);
    assert_true(isfinite(app_host_seconds(&one_thread, &other, &stationary, &size)));
    other = options_of("square:8");
    other.solver.until_discretisation = true;
    assert_true(prefers(&one_thread, &other, &stationary));
    other = options_of("square:8");
    other.solver.tune = 2; /* how long that takes is not known */
    assert_false(prefers(&one_thread, &other, &stationary));
    other.solver.tune = 0;
    assert_true(prefers(&one_thread, &other, &stationary));
    assert_false(prefers(&one_thread, &other, &(app_work){0}));
}

/* Numbers at which counts would not fit into 64 bits, or time steps. */
static void too_large(void **state) {
    static const char *const names[] = {"square:100000000",
                                        "square:9223372036854775807",
                                        "square:99999999999999999999999999",
                                        "cube:9223372036854775808",
                                        "interval:2147483646",
                                        "hexes:1289",
                                        "square:46339"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        for (int refine = 0; refine <= 12; refine += 12) {
            app_run_options options = options_of(names[i]);
            options.mesh.refine = refine;
            app_mesh_size size;
            assert_true(app_mesh_size_of(&options.mesh, &size));
            assert_true(size.n_nodes > 0 && size.n_cells > 0);
            const app_work work = {.is_known = true, .degree = 2, .components = 3};
            assert_false(prefers(&one_thread, &options, &stationary));
            assert_false(prefers(&one_thread, &options, &work));
        }
    assert_false(is_little(&one_thread, "square", 2, &(app_work){.is_known = true, .solves = 2e9}));
}

/* Solvers of other libraries are on the host, whatever the size. */
static void needs_the_host(void **state) {
    static const char *const names[] = {"hypre", "petsc", "cholmod", "lu"};
    (void)state;
    for (size_t i = 0; i < 4; ++i) {
        char reason[APP_REASON_MAX];
        app_run_options options = options_of("square:46339");
        assert_int_equal(weft_preconditioner_find(names[i], &options.solver.preconditioner, NULL),
                         WEFT_OK);
        assert_true(app_prefers_host(&one_thread, &options, &(app_work){0}, reason));
        assert_non_null(strstr(reason, names[i]));
    }
}

/* ---- with a stand-in for NVIDIA's driver --------------------------------------------------------- */

static void hear(void *user, weft_log_level level, const char *message) {
    if (level <= WEFT_LOG_INFO && strncmp(message, "device auto: ", 13) == 0)
        snprintf(user, 400, "%s", message);
}

/* The device that a run opens; whether the driver was started for it. */
static weft_device_kind open_kind(const char *device, const char *mesh, fake_cuda *driver,
                                  bool *started) {
    weft_error error = {0};
    char heard[400] = "";
    app_run_options options = options_of(mesh);
    app_messages messages = {.monitor = {.log = hear, .user = heard}};
    app_run run = {.options = &options, .monitor = &messages.monitor, .work = stationary};
    options.device = device;
    enum { CALLS = 1000 };
    snprintf(driver->fail_name, sizeof driver->fail_name, "cuInit");
    driver->fail_skip = CALLS; /* counts the calls */
    if (app_device_open(&run, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    const weft_device_kind kind = weft_device_limits(run.device)->kind;
    *started = driver->fail_skip < CALLS;
    assert_int_equal(*started, kind == WEFT_DEVICE_CUDA);
    assert_int_equal(app_run_device_reason(&run) != NULL, heard[0] && kind == WEFT_DEVICE_HOST);
    if (run.host_preferred)
        assert_non_null(strstr(heard, run.device_reason));
    assert_non_null(run.library);
    assert_ptr_equal(run.context.device, run.device);
    app_run_clear(&run);
    return kind;
}

static void opened(void **state) {
    bool started = false;
    (void)state;
    void *library = dlopen(WEFT_BINARY_DIR "/tests/fake_cuda/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    assert_non_null(library);
    fake_cuda *driver = dlsym(library, "fake");
    *driver = (fake_cuda){.version = 13000};
    unsetenv("WEFT_DEVICE");
    assert_int_equal(open_kind("auto", "square:64", driver, &started), WEFT_DEVICE_HOST);
    assert_int_equal(open_kind(NULL, "square:64", driver, &started), WEFT_DEVICE_HOST);
    setenv("WEFT_DEVICE", "auto", 1);
    assert_int_equal(open_kind("auto", "square:64", driver, &started), WEFT_DEVICE_HOST);
    /* who names a device gets it */
    assert_int_equal(open_kind("cuda", "square:64", driver, &started), WEFT_DEVICE_CUDA);
    setenv("WEFT_DEVICE", "cuda", 1);
    assert_int_equal(open_kind("auto", "square:64", driver, &started), WEFT_DEVICE_CUDA);
    assert_int_equal(open_kind("host:1", "square:40000", driver, &started), WEFT_DEVICE_HOST);
    setenv("WEFT_DEVICE", "null:h200", 1);
    assert_int_equal(open_kind("auto", "square:64", driver, &started), WEFT_DEVICE_NULL);
    unsetenv("WEFT_DEVICE");
    weft_nvrtc nvrtc;
    weft_error error = {0};
    if (weft_nvrtc_open(&nvrtc, &error) != WEFT_OK)
        skip_test(error.message); /* a GPU without it is left for the host */
    weft_nvrtc_close(&nvrtc);
    assert_int_equal(open_kind("auto", "square:40000", driver, &started), WEFT_DEVICE_CUDA);
    assert_int_equal(open_kind("auto", "part.geo", driver, &started), WEFT_DEVICE_CUDA);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(files),
        cmocka_unit_test(bound),
        cmocka_unit_test(directions),
        cmocka_unit_test(options_that_matter),
        cmocka_unit_test(too_large),
        cmocka_unit_test(needs_the_host),
        cmocka_unit_test(opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
