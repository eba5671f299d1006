/* labels: quick */
/* Built-in meshes whose solve does not fit on a device are refused before they are made: the hint names a mesh
 * that fits and fills most of the memory, and the next larger one is refused too. The H200 of the null device
 * has 141 GB. Counts of nodes and cells are those of grids. */
#include "apps/common/fem.h"
#include "core/weft_core.h"
#include "test_support.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double H200 = 141e9;

static app_run_options options_of(const char *mesh, int refine, const char *preconditioner) {
    app_run_options options = app_run_options_default();
    options.mesh.name = mesh;
    options.mesh.refine = refine;
    if (preconditioner)
        assert_int_equal(
            weft_preconditioner_find(preconditioner, &options.solver.preconditioner, NULL),
            WEFT_OK);
    return options;
}

static weft_device *open_device(const char *name) {
    weft_device *device = NULL;
    assert_int_equal(weft_device_open(name, NULL, &device, NULL), WEFT_OK);
    return device;
}

static weft_status forecast(weft_device *device, const char *mesh, int refine,
                            const char *preconditioner, weft_error *error) {
    const app_run_options options = options_of(mesh, refine, preconditioner);
    return app_memory_forecast(device, &options, error);
}

static void test_refused(void **state) {
    static const struct {
        const char *mesh, *shape;
        int refine, dimension, step; /* between the meshes that may be named */
        const char *preconditioner;
    } cases[] = {{"square:31623", "square", 0, 2, 1024, "multigrid"},
                 {"square:31622", "square", 0, 2, 1, "aggregation"},
                 {"square:124", "square", 8, 2, 1, "multigrid"},
                 {"cube:1000", "cube", 0, 3, 32, "multigrid"},
                 {"cube:25", "cube", 5, 3, 1, "multigrid"},
                 {"cube:1289", "cube", 0, 3, 1, NULL}};
    weft_device *device = open_device("null:h200");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        weft_error error = {0};
        char named[64];
        double per_node = 0;
        int64_t asked = 0, side = 0, fitting = 0;
        assert_int_equal(
            forecast(device, cases[i].mesh, cases[i].refine, cases[i].preconditioner, &error),
            WEFT_ERROR_MEMORY);
        assert_non_null(strstr(error.message, "NVIDIA H200"));
        assert_non_null(strstr(error.message, "the largest arrays: "));
        const char *side_at = strstr(error.hint, "--mesh ");
        assert_non_null(side_at);
        assert_int_equal(strncmp(side_at + 7, cases[i].shape, strlen(cases[i].shape)), 0);
        assert_int_equal(
            sscanf(error.hint, "%lf bytes per node, for %" SCNd64 " nodes", &per_node, &asked), 2);
        side_at = strchr(side_at, ':') + 1;
        assert_int_equal(
            sscanf(side_at, "%" SCNd64 " fits, with %" SCNd64 " nodes", &side, &fitting), 2);
        const double refined = ldexp((double)side, cases[i].refine) + 1;
        const double before =
            ldexp(strtod(strchr(cases[i].mesh, ':') + 1, NULL), cases[i].refine) + 1;
        assert_true(fitting == (int64_t)pow(refined, cases[i].dimension));
        assert_true(asked == (int64_t)pow(before, cases[i].dimension));
        assert_true(per_node * (double)asked > H200);
        assert_true(per_node * (double)fitting < 1.01 * H200); /* a rounded number of bytes */
        assert_true(per_node * (double)fitting > 0.7 * H200 || cases[i].refine > 0);
        snprintf(named, sizeof named, "%s:%" PRId64, cases[i].shape, side);
        assert_int_equal(forecast(device, named, cases[i].refine, cases[i].preconditioner, NULL),
                         WEFT_OK);
        snprintf(named, sizeof named, "%s:%" PRId64, cases[i].shape, side + cases[i].step);
        assert_int_equal(forecast(device, named, cases[i].refine, cases[i].preconditioner, NULL),
                         WEFT_ERROR_MEMORY);
    }
    weft_device_free(&device);
}

/* 10^9 nodes of triangles fit without a matrix, small meshes and files are not looked at. */
static void test_accepted(void **state) {
    static const struct {
        const char *mesh, *preconditioner;
    } cases[] = {{"square:31622", NULL},       {"square:10240", "multigrid"},
                 {"cube:464", "multigrid"},    {"square:4", "multigrid"},
                 {"ball.geo", "multigrid"},    {"square:", "multigrid"},
                 {"square:9x", "aggregation"}, {"cubes:100000", NULL}};
    weft_device *device = open_device("null:h200");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        assert_int_equal(forecast(device, cases[i].mesh, 0, cases[i].preconditioner, NULL),
                         WEFT_OK);
    weft_device_free(&device);
}

/* Meshes that no machine holds are refused at once: by the forecast where a mesh that fits would be
 * refined, else when they are made. (A search for the largest that fits took minutes for the first.) */
static void test_absurd(void **state) {
    static const char *const shapes[] = {"square", "cube", "interval", "quads", "hexes"};
    static const char *const sides[] = {"99999999999", "4611686018427387904",
                                        "99999999999999999999"};
    weft_device *device = open_device("null:h200");
    (void)state;
    alarm(10);
    assert_int_equal(forecast(device, "square:2147483647", 1, NULL, NULL), WEFT_ERROR_MEMORY);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i)
        for (size_t k = 0; k < sizeof sides / sizeof *sides; ++k) {
            char mesh[64];
            weft_mesh *made = NULL;
            weft_error error = {0};
            snprintf(mesh, sizeof mesh, "%s:%s", shapes[i], sides[k]);
            for (int refine = 0; refine <= 12; refine += 12)
                (void)forecast(device, mesh, refine, NULL, NULL);
            assert_int_equal(weft_mesh_read(mesh, 0, NULL, &made, &error), WEFT_ERROR_USAGE);
            assert_non_null(strstr(error.message, shapes[i]));
        }
    /* the largest that can be numbered is a question of memory, the next one is not */
    assert_int_equal(forecast(device, "square:46339", 0, "multigrid", NULL), WEFT_ERROR_MEMORY);
    assert_int_equal(forecast(device, "square:99999999", 0, "multigrid", NULL), WEFT_OK);
    alarm(0);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_absurd),
                                       cmocka_unit_test(test_accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
