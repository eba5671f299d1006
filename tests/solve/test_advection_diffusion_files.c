/* labels: quick */
/* Restarts: from a checkpoint, or after being killed at any moment, the end is the same bit by bit;
 * a file cut short at any length is refused. Time series: read back with HDF5, step by step. */
#include "ad_run.h"

#if __has_include(<hdf5.h>)
#include <hdf5.h>
#else
#include <hdf5/serial/hdf5.h>
#endif
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const problem[] = {"--mesh",
                                      "square:20",
                                      "--velocity",
                                      "0.5-y+0.1*t,x-0.5",
                                      "--initial",
                                      "exp(-((x-0.3)^2+(y-0.4)^2)/0.02)",
                                      "--diffusivity",
                                      "1e-3*(1+t)",
                                      "--dt",
                                      "0.02",
                                      "--splitting",
                                      "strang",
                                      "--dirichlet",
                                      "left=0.2*sin(3*t)",
                                      "--dirichlet",
                                      "right=0",
                                      "--output-every",
                                      "6",
                                      "--checkpoint-every",
                                      "5",
                                      "--device",
                                      "host:2"}; /* the field has 441 values */
enum { OPTIONS = sizeof problem / sizeof problem[0] };

static json_t *run_to(const char *steps, const char *output, const char *checkpoint,
                      const char *restart) {
    const char *arguments[APP_ARGUMENTS_MAX];
    int n = 0;
    for (; n < OPTIONS; ++n)
        arguments[n] = problem[n];
    arguments[n++] = "--steps";
    arguments[n++] = steps;
    arguments[n++] = "--output";
    arguments[n++] = output;
    arguments[n++] = "--checkpoint";
    arguments[n++] = checkpoint;
    if (restart) {
        arguments[n++] = "--restart";
        arguments[n++] = restart;
    }
    arguments[n] = NULL;
    return app_solve("advection_diffusion", 0, arguments);
}

/* ---- reading ---- */

typedef struct series {
    int64_t n_steps;
    double *times, *values;
    size_t n_values;
} series;

static double *read_doubles(hid_t file, const char *name, size_t *n) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    assert_true(set >= 0 && space >= 0);
    *n = (size_t)H5Sget_simple_extent_npoints(space);
    double *values = malloc(*n * sizeof *values + 1);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    return values;
}

static series series_read(const char *path) {
    series s = {0};
    size_t n_times = 0;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t steps = H5Gopen2(file, "VTKHDF/Steps", H5P_DEFAULT);
    hid_t count = H5Aopen(steps, "NSteps", H5P_DEFAULT);
    assert_true(H5Aread(count, H5T_NATIVE_INT64, &s.n_steps) >= 0);
    s.times = read_doubles(file, "VTKHDF/Steps/Values", &n_times);
    s.values = read_doubles(file, "VTKHDF/PointData/T", &s.n_values);
    assert_int_equal(n_times, s.n_steps); /* else VTK 9.7 writes past its array */
    H5Aclose(count);
    H5Gclose(steps);
    H5Fclose(file);
    return s;
}

static void series_free(series *s) {
    free(s->times);
    free(s->values);
}

static void assert_same_series(const char *a, const char *b) {
    series one = series_read(a), other = series_read(b);
    assert_int_equal(one.n_steps, other.n_steps);
    assert_int_equal(one.n_values, other.n_values);
    assert_memory_equal(one.times, other.times, (size_t)one.n_steps * sizeof(double));
    assert_memory_equal(one.values, other.values, one.n_values * sizeof(double));
    series_free(&one);
    series_free(&other);
}

/* The lists of two checkpoints. */
static void assert_same_state(const char *a, const char *b) {
    static const char *const names[] = {"T", "g", "k", "e", "D1", "D2", "D3", "D4"};
    hid_t one = H5Fopen(a, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t other = H5Fopen(b, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(one >= 0 && other >= 0);
    for (int i = 0; i < 8; ++i) {
        char name[64];
        size_t n = 0, m = 0;
        snprintf(name, sizeof name, "VTKHDF/PointData/%s", names[i]);
        double *x = read_doubles(one, name, &n), *y = read_doubles(other, name, &m);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, n * sizeof *x);
        free(x);
        free(y);
    }
    H5Fclose(one);
    H5Fclose(other);
}

/* ---- tests ---- */

static void restart_ends_the_same(void **state) {
    (void)state;
    char *folder = test_folder_make();
    char *a = test_path(folder, "a.vtkhdf"), *b = test_path(folder, "b.vtkhdf");
    char *ca = test_path(folder, "ca.vtkhdf"), *cb = test_path(folder, "cb.vtkhdf");
    json_t *whole = run_to("40", a, ca, NULL);
    json_decref(run_to("15", b, cb, NULL));
    json_t *rest = run_to("40", b, cb, cb);
    assert_int_equal((int)app_number(rest, "first_step"), 15);
    assert_int_equal((int)app_number(rest, "steps"), 40);
    assert_true(json_equal(ad_entry(whole, -1), ad_entry(rest, -1)));
    assert_same_state(ca, cb);
    /* and of the series: nothing before the restart is lost, and step 15 has come in between */
    series of_whole = series_read(a), of_rest = series_read(b);
    assert_int_equal(of_whole.n_steps, 8); /* 0, 6, .. 36, 40 */
    assert_int_equal(of_rest.n_steps, 9);
    for (int i = 0, k = 0; i < 9; ++i) {
        if (i == 3) {
            assert_true(of_rest.times[i] == 15 * 0.02);
            continue;
        }
        assert_true(of_rest.times[i] == of_whole.times[k]);
        assert_memory_equal(of_rest.values + i * 441, of_whole.values + k * 441,
                            441 * sizeof(double));
        ++k;
    }
    series_free(&of_whole);
    series_free(&of_rest);
    json_decref(whole);
    json_decref(rest);
    free(a);
    free(b);
    free(ca);
    free(cb);
    test_folder_remove(&folder);
}

static pid_t start(const char *const *arguments) {
    const pid_t child = fork();
    if (child == 0) {
        execv(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

/* Killed again and again, each time a little later, each time restarted where there is a
 * checkpoint. */
static void killed_at_any_moment(void **state) {
    (void)state;
    char *folder = test_folder_make();
    char *a = test_path(folder, "a.vtkhdf"), *b = test_path(folder, "b.vtkhdf");
    char *ca = test_path(folder, "ca.vtkhdf"), *cb = test_path(folder, "cb.vtkhdf");
    const char *arguments[APP_ARGUMENTS_MAX + 1] = {WEFT_BINARY_DIR "/advection_diffusion"};
    int n = 1, kills = 0;
    for (int i = 0; i < OPTIONS; ++i)
        arguments[n++] = problem[i];
    const char *const more[] = {"--steps", "600", "--quiet", "--output", b, "--checkpoint", cb};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; ++i)
        arguments[n++] = more[i];
    json_t *whole = run_to("600", a, ca, NULL);
    for (useconds_t stagnation_window = 20000;; stagnation_window += stagnation_window / 3) {
        struct stat info;
        int ended = 0;
        const bool go_on = stat(cb, &info) == 0;
        arguments[n] = go_on ? "--restart" : "--overwrite"; /* of a run before its first state */
        arguments[n + 1] = go_on ? cb : NULL;
        arguments[n + 2] = NULL;
        const pid_t child = start(arguments);
        usleep(stagnation_window);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &ended, 0), child);
        if (WIFEXITED(ended)) {
            assert_int_equal(WEXITSTATUS(ended), 0);
            break;
        }
        ++kills;
    }
    print_message("killed %d times\n", kills);
    assert_true(kills > 0);
    assert_same_state(ca, cb);
    assert_same_series(a, b);
    json_decref(whole);
    free(a);
    free(b);
    free(ca);
    free(cb);
    test_folder_remove(&folder);
}

/* Every length of the last kilobytes and the first, and some two hundred between. */
static void cut_short(void **state) {
    (void)state;
    char *folder = test_folder_make();
    char *a = test_path(folder, "a.vtkhdf"), *good = test_path(folder, "good.vtkhdf");
    char *cut = test_path(folder, "cut.vtkhdf");
    size_t length = 0;
    json_decref(run_to("1", a, good, NULL));
    char *bytes = test_file_read(good, &length);
    const char *const command[] = {WEFT_BINARY_DIR "/advection_diffusion",
                                   "--mesh",
                                   "square:20",
                                   "--diffusivity",
                                   "1",
                                   "--dt",
                                   "1",
                                   "--steps",
                                   "1",
                                   "--quiet",
                                   "--restart",
                                   cut,
                                   NULL};
    assert_true(length > 4000);
    for (size_t i = 0; i < length; i += i < 96 || i + 96 > length ? 24 : length / 37) {
        test_file_write(cut, bytes, i);
        test_run run = test_program(command, NULL);
        if (run.exit_code != 2 || !strstr(run.error, "cut.vtkhdf") || !strstr(run.error, "hint:"))
            fail_msg("%zu of %zu bytes: exit %d, %s", i, length, run.exit_code, run.error);
        test_run_free(&run);
    }
    free(bytes);
    free(a);
    free(good);
    free(cut);
    test_folder_remove(&folder);
}

/* The times and fields of a series are those of the run; a run that stops leaves the steps up to
 * it. */
static void series_of_steps(void **state) {
    (void)state;
    char *folder = test_folder_make();
    char *path = test_path(folder, "s.vtkhdf");
    json_t *run = AD(0, "--mesh", "square:10", "--diffusivity", "0.1", "--initial", "x*y", "--dt",
                     "0.1", "--steps", "7", "--output-every", "3", "--output", path, "--probe",
                     "0,0", "--probe", "1,1");
    series s = series_read(path);
    static const double times[] = {0, 0.3, 0.6, 0.7};
    assert_int_equal(s.n_steps, 4);
    assert_int_equal(s.n_values, 4 * 121);
    unlink(path);
    for (int i = 0; i < 4; ++i) {
        const json_t *probes = json_object_get(ad_entry(run, i), "probes");
        assert_double_near(times[i], s.times[i], 1e-13, 0);
        assert_true(s.values[i * 121] == json_number_value(json_array_get(probes, 0)));
        assert_true(s.values[i * 121 + 120] == json_number_value(json_array_get(probes, 1)));
    }
    series_free(&s);
    json_decref(run);
    run = AD(1, "--mesh", "square:10", "--velocity", "1,0", "--initial", "sin(30*x*y)", "--dt",
             "0.5", "--steps", "400", "--output-every", "1", "--output", path);
    s = series_read(path);
    assert_int_equal(s.n_steps, (int64_t)app_number(run, "steps"));
    assert_true(s.n_steps > 1 && (int64_t)s.n_values >= s.n_steps * 121);
    series_free(&s);
    json_decref(run);
    free(path);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restart_ends_the_same), cmocka_unit_test(killed_at_any_moment),
        cmocka_unit_test(cut_short), cmocka_unit_test(series_of_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
