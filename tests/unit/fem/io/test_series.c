/* labels: quick */
/* Time series: what is gone on with, what is refused and kept, and that both formats hold the same
 * steps. Temporaries of killed runs go, those of others stay; locked files are called locked. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const endings[] = {"s.pvd", "s.vtkhdf"};

/* A run that writes the times first .. last, each with its own values. */
typedef struct writing {
    const char *problem;
    int first, last;
    bool resume, overwrite;
} writing;

static weft_status write_series(const char *path, const weft_mesh *mesh, writing how,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_series *series = NULL;
    double *values = calloc((size_t)mesh->n_nodes, sizeof *values);
    const weft_field field = {.name = "T", .n_components = 1};
    const weft_series_options options = {.size = sizeof options,
                                         .fields = &field,
                                         .n_fields = 1,
                                         .problem = how.problem,
                                         .at_start = true,
                                         .n_steps = how.last - how.first,
                                         .start = how.first,
                                         .end = how.last,
                                         .resume = how.resume,
                                         .overwrite = how.overwrite};
    assert_non_null(values);
    TRY(weft_series_make(path, mesh, &options, NULL, &series, error));
    for (int t = how.first; t <= how.last; ++t) {
        for (int64_t i = 0; i < mesh->n_nodes; ++i)
            values[i] = 100 * t + (double)i;
        TRY(weft_series_add(series, t, &(const double *){values}, error));
    }
    TRY(weft_series_close(&series, error));
done:
    (void)weft_series_close(&series, NULL);
    free(values);
    return status;
}

/* The first array of a .vtu file, from its base64, in place; its length. */
static size_t decode(char *bytes, size_t length) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char start[] = "format=\"binary\">";
    const char *from = memmem(bytes, length, start, sizeof start - 1), *digit;
    size_t n = 0;
    unsigned bits = 0;
    int n_bits = 0;
    if (!from)
        return 0;
    from += sizeof start - 1 + strspn(from + sizeof start - 1, "\n ");
    for (; *from && (digit = strchr(digits, *from)) != NULL; ++from) {
        bits = bits << 6 | (unsigned)(digit - digits);
        n_bits += 6;
        if (n_bits < 8)
            continue;
        n_bits -= 8;
        bytes[n++] = (char)(bits >> n_bits & 255);
    }
    return n;
}

/* The .vtu file of a step has the bytes of its values, in base64; the .vtkhdf file those of all
 * steps, one after the other or not. */
static bool holds(const char *path, const weft_mesh *mesh, int t) {
    size_t length = 0;
    bool found = false;
    char *bytes = test_file_read(path, &length);
    double *values = calloc((size_t)mesh->n_nodes, sizeof *values);
    if (bytes && strstr(path, ".vtu"))
        length = decode(bytes, length);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        values[i] = 100 * t + (double)i;
    found = bytes && memmem(bytes, length, values, (size_t)mesh->n_nodes * sizeof *values);
    free(bytes);
    free(values);
    return found;
}

static void check_steps(const char *folder, const char *name, const weft_mesh *mesh, int n) {
    char *path = test_path(folder, name);
    for (int t = 0; t < n; ++t) {
        char step[64];
        snprintf(step, sizeof step, "s_steps/%06d.vtu", t);
        char *vtu = test_path(folder, step);
        if (!holds(strstr(name, ".pvd") ? vtu : path, mesh, t))
            fail_msg("%s: step %d is not there", name, t);
        free(vtu);
    }
    if (strstr(name, ".pvd")) {
        char *index = test_file_read(path, NULL), entry[80];
        snprintf(entry, sizeof entry, "timestep=\"%d\" part=\"0\" file=\"s_steps/%06d.vtu\"", n - 1,
                 n - 1);
        assert_non_null(strstr(index, entry));
        snprintf(entry, sizeof entry, "timestep=\"%d\"", n);
        assert_null(strstr(index, entry));
        free(index);
    }
    free(path);
}

static void goes_on(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        char *folder = test_folder_make(), *path = test_path(folder, endings[i]);
        weft_mesh *mesh = make_mesh(2, 3);
        const writing all[] = {{"p", 0, 4, false, false},
                               {"p", 4, 9, true, false},     /* more room is needed */
                               {"p", 6, 9, true, false},     /* three steps come again */
                               {"p", 9, 2000, true, false}}; /* beyond a piece of 512 numbers */
        for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
            weft_error error = {0};
            if (k == 3 && i == 0)
                continue; /* 2000 files take long */
            if (write_series(path, mesh, all[k], &error) != WEFT_OK)
                fail_msg("%s, %zu: %s", endings[i], k, error.message);
            check_steps(folder, endings[i], mesh, all[k].last + 1 < 20 ? all[k].last + 1 : 20);
        }
        weft_mesh_free(&mesh);
        free(path);
        test_folder_remove(&folder);
    }
}

static void refuse(const char *path, const weft_mesh *mesh, writing how, weft_status wanted,
                   const char *words) {
    weft_error error = {0};
    const weft_status status = write_series(path, mesh, how, &error);
    if (status != wanted || !strstr(error.message, words) || !error.hint[0])
        fail_msg("%s: status %s, \"%s\", expected \"%s\"", path, weft_status_name(status),
                 error.message, words);
}

/* Nothing that is refused is changed; with overwrite nothing is refused. */
static void is_kept(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        char *folder = test_folder_make(), *path = test_path(folder, endings[i]);
        weft_mesh *mesh = make_mesh(2, 3), *other = make_mesh(2, 4);
        test_text_write(path, "somebody's");
        refuse(path, mesh, (writing){"p", 0, 2, false, false}, WEFT_ERROR_USAGE, "is kept");
        refuse(path, mesh, (writing){"p", 0, 2, true, false}, WEFT_ERROR_INPUT, "not a series");
        char *text = test_file_read(path, NULL);
        assert_string_equal(text, "somebody's");
        free(text);
        assert_int_equal(write_series(path, mesh, (writing){"p", 0, 7, false, true}, NULL),
                         WEFT_OK);
        refuse(path, mesh, (writing){"p", 0, 2, false, false}, WEFT_ERROR_USAGE, "is kept");
        refuse(path, other, (writing){"p", 7, 9, true, false}, WEFT_ERROR_INPUT, "another mesh");
        refuse(path, mesh, (writing){"q", 7, 9, true, false}, WEFT_ERROR_INPUT, "other options");
        refuse(path, mesh, (writing){"p", 3, 5, true, false}, WEFT_ERROR_INPUT, "ends at t = 5");
        check_steps(folder, endings[i], mesh, 8);
        assert_int_equal(write_series(path, mesh, (writing){"p", 3, 5, true, true}, NULL), WEFT_OK);
        check_steps(folder, endings[i], mesh, 6);
        assert_int_equal(write_series(path, mesh, (writing){"q", 0, 1, true, true}, NULL), WEFT_OK);
        check_steps(folder, endings[i], mesh, 2);
        weft_mesh_free(&mesh);
        weft_mesh_free(&other);
        free(path);
        test_folder_remove(&folder);
    }
}

/* Steps whose index is gone may be the only copy. */
static void lost_index(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "s.pvd");
    weft_mesh *mesh = make_mesh(2, 3);
    assert_int_equal(write_series(path, mesh, (writing){"p", 0, 2, false, false}, NULL), WEFT_OK);
    unlink(path);
    refuse(path, mesh, (writing){"p", 0, 2, false, false}, WEFT_ERROR_USAGE, "index");
    weft_mesh_free(&mesh);
    free(path);
    test_folder_remove(&folder);
}

/* Another process has it open: HDF5's lock, held by this process through another file. */
static void locked(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "s.vtkhdf");
    weft_mesh *mesh = make_mesh(2, 3), *back = NULL;
    weft_error error = {0};
    assert_int_equal(write_series(path, mesh, (writing){"p", 0, 2, false, false}, NULL), WEFT_OK);
    const int file = open(path, O_RDONLY);
    assert_int_equal(flock(file, LOCK_SH), 0);
    refuse(path, mesh, (writing){"p", 2, 4, true, false}, WEFT_ERROR_IO, "is locked");
    assert_int_equal(weft_mesh_read(path, 0, NULL, &back, NULL), WEFT_OK);
    weft_mesh_free(&back);
    assert_int_equal(flock(file, LOCK_EX), 0);
    assert_int_equal(weft_mesh_read(path, 0, NULL, &back, &error), WEFT_ERROR_IO);
    assert_non_null(strstr(error.message, "is locked: another process has it open"));
    assert_non_null(strstr(error.hint, "close it there"));
    close(file);
    weft_mesh_free(&mesh);
    free(path);
    test_folder_remove(&folder);
}

/* Steps of a vector and of a number at nodes, and of a pair on cells. */
enum { SEVERAL = 3 };
static const weft_field several[SEVERAL] = {{.name = "v", .n_components = 3},
                                            {.name = "w", .n_components = 1},
                                            {.name = "c", .on_cells = true, .n_components = 2}};

static int64_t size_of(const weft_mesh *mesh, int field) {
    return (several[field].on_cells ? mesh->n_cells : mesh->n_nodes) * several[field].n_components;
}

static double value_of(int field, int t, int64_t i) {
    return 1000 * field + 100 * t + (double)i + 0.5;
}

static weft_status write_several(const char *path, const weft_mesh *mesh, int n_fields, int first,
                                 int last, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_series *series = NULL;
    double *values[SEVERAL] = {NULL};
    const weft_series_options options = {.size = sizeof options,
                                         .fields = several,
                                         .n_fields = n_fields,
                                         .problem = "p",
                                         .at_start = true,
                                         .n_steps = last - first,
                                         .start = first,
                                         .end = last,
                                         .resume = first > 0};
    TRY(weft_series_make(path, mesh, &options, NULL, &series, error));
    for (int k = 0; k < n_fields; ++k)
        values[k] = calloc((size_t)size_of(mesh, k), sizeof **values);
    for (int t = first; t <= last; ++t) {
        for (int k = 0; k < n_fields; ++k)
            for (int64_t i = 0; i < size_of(mesh, k); ++i)
                values[k][i] = value_of(k, t, i);
        TRY(weft_series_add(series, t, (const double *const *)values, error));
    }
    TRY(weft_series_close(&series, error));
done:
    (void)weft_series_close(&series, NULL);
    for (int k = 0; k < SEVERAL; ++k)
        free(values[k]);
    return status;
}

static void has_several(const char *path, const weft_mesh *mesh, int n) {
    size_t length = 0;
    char *bytes = test_file_read(path, &length);
    assert_non_null(bytes);
    for (int t = 0; t < n; ++t)
        for (int k = 0; k < SEVERAL; ++k) {
            double *values = calloc((size_t)size_of(mesh, k), sizeof *values);
            for (int64_t i = 0; i < size_of(mesh, k); ++i)
                values[i] = value_of(k, t, i);
            if (!memmem(bytes, length, values, (size_t)size_of(mesh, k) * sizeof *values))
                fail_msg("step %d of %s is not there", t, several[k].name);
            free(values);
        }
    free(bytes);
}

/* Each field has its values in each step, after the file has been given more room too; a series of other
 * fields is refused. */
static void several_fields(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        char *folder = test_folder_make(), *path = test_path(folder, endings[i]);
        weft_mesh *mesh = make_mesh(2, 3);
        weft_error error = {0};
        assert_int_equal(write_several(path, mesh, SEVERAL, 0, 3, &error), WEFT_OK);
        assert_int_equal(write_several(path, mesh, SEVERAL, 3, 8, &error), WEFT_OK);
        if (!strstr(path, ".pvd"))
            has_several(path, mesh, 9);
        assert_int_equal(write_several(path, mesh, 2, 8, 9, &error), WEFT_ERROR_INPUT);
        assert_non_null(strstr(error.message, "other options"));
        weft_mesh_free(&mesh);
        free(path);
        test_folder_remove(&folder);
    }
}

static pid_t dead_process(void) {
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

static char *leave(const char *folder, const char *name, long pid, const char *rest) {
    char full[128];
    snprintf(full, sizeof full, "%s.%ld%s", name, pid, rest);
    char *path = test_path(folder, full);
    test_text_write(path, "half");
    return path;
}

/* A temporary goes where its process is gone and nobody has locked it. */
static void left_over(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "r.vtkhdf");
    const long dead = dead_process();
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *gone = leave(folder, "r.vtkhdf", dead, "-1f.tmp");
    char *kept[] = {leave(folder, "r.vtkhdf", getpid(), "-1f.tmp"),
                    leave(folder, "other.vtkhdf", dead, "-1f.tmp"),
                    leave(folder, "r.vtkhdf", dead, "-1f.tmp2"),
                    leave(folder, "r.vtkhdf", dead, "-2f.tmp")};
    const int file = open(kept[3], O_RDWR);
    assert_int_equal(fcntl(file, F_OFD_SETLK, &lock), 0);
    assert_int_equal(weft_result_check(path, NULL), WEFT_OK);
    assert_int_not_equal(access(gone, F_OK), 0);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
        assert_int_equal(access(kept[i], F_OK), 0);
        free(kept[i]);
    }
    close(file);
    free(gone);
    free(path);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on), cmocka_unit_test(is_kept),   cmocka_unit_test(lost_index),
        cmocka_unit_test(locked),  cmocka_unit_test(left_over), cmocka_unit_test(several_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
