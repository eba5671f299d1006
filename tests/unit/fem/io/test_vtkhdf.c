/* labels: quick */
/* Result files: what is written comes back bit for bit, a file is whole or not there, and a damaged
 * one gives an error, never a crash. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int count_entries(const char *path) {
    int n = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

static void compare(const weft_mesh *a, const weft_mesh *b) {
    size_t d = (size_t)a->dimension;
    assert_int_equal(a->dimension, b->dimension);
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_cells, b->n_cells);
    assert_int_equal(a->n_facets, b->n_facets);
    assert_int_equal(a->n_boundary_facets, b->n_boundary_facets);
    assert_int_equal(a->n_groups, b->n_groups);
    assert_memory_equal(a->x, b->x, (size_t)a->n_nodes * d * sizeof *a->x);
    assert_memory_equal(a->cells, b->cells, (size_t)a->n_cells * (d + 1) * sizeof *a->cells);
    for (int g = 0; g < a->n_groups; ++g) {
        const weft_group *p = &a->groups[g], *q = &b->groups[g];
        assert_string_equal(p->name, q->name);
        assert_int_equal(p->dimension, q->dimension);
        assert_int_equal(p->n_facets, q->n_facets);
        for (int64_t i = 0; i < p->n_facets; ++i)
            assert_memory_equal(a->facets + (size_t)a->group_facets[p->first_facet + i] * d,
                                b->facets + (size_t)b->group_facets[q->first_facet + i] * d,
                                d * sizeof(int32_t));
    }
}

/* With a group of cells and a facet inside, as Gmsh gives them. */
static weft_mesh *rich_mesh(int dimension, int64_t n) {
    weft_mesh *from = make_mesh(dimension, n), *mesh = NULL;
    weft_mesh_data data = take_apart(from);
    weft_mesh_free(&from);
    data.groups[1].dimension = dimension;
    memset(data.groups[1].name, 'x', sizeof data.groups[1].name - 1); /* as long as there is room */
    data.group_facet_nodes[0] = data.cells[0]; /* an edge or a face of the first cell, inside */
    data.group_facet_nodes[1] = data.cells[dimension];
    if (dimension == 3)
        data.group_facet_nodes[2] = data.cells[1];
    strcpy(data.groups[0].name, "une paroi, \xc3\xa9tanche");
    assert_int_equal(weft_mesh_make(&data, "rich", NULL, &mesh, NULL), WEFT_OK);
    return mesh;
}

static void check_round_trip(int dimension, int64_t n) {
    char *folder = test_folder_make(), *path = test_path(folder, "r.vtkhdf");
    weft_mesh *mesh = rich_mesh(dimension, n), *back = NULL;
    size_t n_values = (size_t)(3 * mesh->n_nodes + mesh->n_cells);
    double *values = weft_array_make(n_values, sizeof *values);
    const weft_field fields[2] = {
        {.name = "u", .n_components = 3, .values = values},
        {.name = "u", .on_cells = true, .n_components = 1, .values = values}};
    assert_non_null(values);
    for (int64_t i = 0; i < mesh->n_nodes * mesh->dimension; ++i)
        mesh->x[i] = mesh->x[i] / 3 + 1e-17 * (double)i;
    assert_int_equal(weft_result_check(path, NULL), WEFT_OK);
    assert_int_equal(count_entries(folder), 0);
    for (int i = 0; i < 2; ++i) { /* the second replaces the first */
        assert_int_equal(weft_result_write(path, mesh, fields, 2, NULL), WEFT_OK);
        assert_int_equal(count_entries(folder), 1);
    }
    assert_int_equal(weft_mesh_read(path, 0, NULL, &back, NULL), WEFT_OK);
    assert_string_equal(back->source, path);
    compare(mesh, back);
    weft_mesh_free(&mesh);
    weft_mesh_free(&back);
    free(values);
    free(path);
    test_folder_remove(&folder);
}

static void test_round_trip(void **state) {
    (void)state;
    check_round_trip(2, 2);
    check_round_trip(2, 100); /* more than a piece of 16384 rows */
    check_round_trip(3, 2);
    check_round_trip(3, 16);
}

static void test_no_groups(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "r.vtkhdf");
    weft_mesh *mesh = make_mesh(2, 3), *back = NULL;
    mesh->n_groups = 0;
    assert_int_equal(weft_result_write(path, mesh, NULL, 0, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_read(path, 0, NULL, &back, NULL), WEFT_OK);
    compare(mesh, back);
    weft_mesh_free(&mesh);
    weft_mesh_free(&back);
    free(path);
    test_folder_remove(&folder);
}

/* A link stays a link, a mode follows the umask. */
static void test_links_and_modes(void **state) {
    struct stat info;
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "r.vtkhdf");
    char *link = test_path(folder, "link.vtkhdf");
    weft_mesh *mesh = make_mesh(2, 1);
    mode_t old = umask(027);
    assert_int_equal(weft_result_write(path, mesh, NULL, 0, NULL), WEFT_OK);
    umask(old);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(symlink("r.vtkhdf", link), 0);
    assert_int_equal(weft_result_write(link, mesh, NULL, 0, NULL), WEFT_OK);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(count_entries(folder), 2);
    weft_mesh_free(&mesh);
    free(path);
    free(link);
    test_folder_remove(&folder);
}

static void test_wrong_fields(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "r.vtkhdf");
    weft_mesh *mesh = make_mesh(2, 1);
    const double values[8] = {0};
    const weft_field slash = {.name = "a/b", .n_components = 1, .values = values},
                     empty = {.name = "", .n_components = 1, .values = values};
    const weft_field twice[2] = {{.name = "u", .n_components = 1, .values = values},
                                 {.name = "u", .n_components = 2, .values = values}};
    assert_error(weft_result_write(path, mesh, &slash, 1, error), WEFT_ERROR_USAGE,
                 "error: field 0 (`a/b`) needs a name without /, components and values");
    assert_error(weft_result_write(path, mesh, &empty, 1, error), WEFT_ERROR_USAGE,
                 "error: field 0 (``) needs a name without /, components and values");
    assert_error(weft_result_write(path, mesh, twice, 2, error), WEFT_ERROR_USAGE,
                 "error: two fields are called `u`");
    assert_int_equal(count_entries(folder), 0);
    weft_mesh_free(&mesh);
    free(path);
    test_folder_remove(&folder);
}

/* The disk full in the middle: no partial file, and an older one stays. */
static void test_full_disk(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "r.vtkhdf");
    weft_mesh *small = make_mesh(2, 1), *large = make_mesh(2, 200), *back = NULL;
    assert_int_equal(weft_result_write(path, small, NULL, 0, NULL), WEFT_OK);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {100000, 100000};
        weft_error error = {0};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        weft_status status = weft_result_write(path, large, NULL, 0, &error);
        _exit(status == WEFT_ERROR_IO && strstr(error.message, path) ? 0 : 1);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_int_equal(count_entries(folder), 1);
    assert_int_equal(weft_mesh_read(path, 0, NULL, &back, NULL), WEFT_OK);
    compare(small, back);
    weft_mesh_free(&small);
    weft_mesh_free(&large);
    weft_mesh_free(&back);
    free(path);
    test_folder_remove(&folder);
}

/* Read what is there in a child: 0 read, 1 refused with a message that names the file, else a
 * crash. */
static int read_in_child(const char *path) {
    pid_t child = fork();
    if (child == 0) {
        weft_mesh *mesh = NULL;
        weft_error error = {0};
        alarm(20);
        weft_status status = weft_mesh_read(path, 0, NULL, &mesh, &error);
        weft_mesh_free(&mesh);
        if (status == WEFT_OK)
            _exit(0);
        _exit(weft_status_exit_code(status) == 2 && strstr(error.message, path) ? 1 : 2);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 1000 + WTERMSIG(how);
}

static void test_damaged(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "r.vtkhdf");
    weft_mesh *mesh = rich_mesh(2, 2);
    double values[9] = {0};
    const weft_field field = {.name = "u", .n_components = 1, .values = values};
    assert_int_equal(weft_result_write(path, mesh, &field, 1, NULL), WEFT_OK);
    size_t length;
    char *bytes = test_file_read(path, &length);
    assert_non_null(bytes);
    for (size_t cut = 1; cut < length; cut += length / 40) {
        test_file_write(path, bytes, cut);
        assert_int_equal(read_in_child(path), 1);
    }
    uint64_t seed = 2026;
    for (int i = 0; i < 150; ++i) {
        size_t at = random_next(&seed) % length;
        char kept = bytes[at];
        bytes[at] = (char)(kept ^ (1 + (int)(random_next(&seed) % 255)));
        test_file_write(path, bytes, length);
        assert_in_range(read_in_child(path), 0, 1);
        bytes[at] = kept;
    }
    free(bytes);
    weft_mesh_free(&mesh);
    free(path);
    test_folder_remove(&folder);
}

/* A file for test_vtk_reader.sh: u = x + 2 y + 4 z and v = (x, y, z) on nodes, numbers on cells. */
static int write_for_vtk(const char *name, const char *path) {
    weft_mesh *mesh = NULL;
    weft_error error;
    if (weft_mesh_read(name, 0, NULL, &mesh, &error) != WEFT_OK)
        return 1;
    int d = mesh->dimension;
    double *u = weft_array_make((size_t)mesh->n_nodes, sizeof *u);
    double *v = weft_array_make((size_t)mesh->n_nodes, 3 * sizeof *v);
    double *number = weft_array_make((size_t)mesh->n_cells, sizeof *number);
    if (!u || !v || !number)
        return 1;
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        for (int k = 0; k < d; ++k) {
            v[3 * i + k] = mesh->x[i * d + k];
            u[i] += (1 << k) * mesh->x[i * d + k];
        }
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        number[c] = (double)c;
    const weft_field fields[3] = {
        {.name = "u", .n_components = 1, .values = u},
        {.name = "v", .n_components = 3, .values = v},
        {.name = "number", .on_cells = true, .n_components = 1, .values = number}};
    weft_status status = weft_result_write(path, mesh, fields, 3, &error);
    free(u);
    free(v);
    free(number);
    weft_mesh_free(&mesh);
    return status != WEFT_OK;
}

int main(int n_arguments, char **arguments) {
    if (n_arguments == 3)
        return write_for_vtk(arguments[1], arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_no_groups),
        cmocka_unit_test(test_links_and_modes), cmocka_unit_test(test_wrong_fields),
        cmocka_unit_test(test_full_disk),       cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
