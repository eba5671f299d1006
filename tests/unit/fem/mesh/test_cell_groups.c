/* labels: quick */
/* Groups of cells keep their members, overlapping ones too, from Gmsh's files through ordering,
 * refinement, repetition, VTKHDF and back. A member is known by its centre, which no numbering
 * changes; where the members must lie is what the geometry says. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <stdio.h>
#include <unistd.h>

/* Two unit squares side by side; "all" overlaps both. */
static const char geometry[] =
    "Point(1) = {0, 0, 0, 0.3}; Point(2) = {1, 0, 0, 0.3}; Point(3) = {2, 0, 0, 0.3};\n"
    "Point(4) = {2, 1, 0, 0.3}; Point(5) = {1, 1, 0, 0.3}; Point(6) = {0, 1, 0, 0.3};\n"
    "Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5};\n"
    "Line(5) = {5, 6}; Line(6) = {6, 1}; Line(7) = {2, 5};\n"
    "Curve Loop(1) = {1, 7, 5, 6}; Plane Surface(1) = {1};\n"
    "Curve Loop(2) = {2, 3, 4, -7}; Plane Surface(2) = {2};\n"
    "Physical Surface(\"west\") = {1}; Physical Surface(\"east/side\") = {2};\n"
    "Physical Surface(\"all\") = {1, 2}; Physical Curve(\"left\") = {6};\n";

static double centre_of(const weft_mesh *mesh, int64_t cell) {
    const int width = mesh->dimension + 1;
    double x = 0;
    for (int k = 0; k < width; ++k)
        x += mesh->x[(int64_t)mesh->cells[cell * width + k] * mesh->dimension];
    return x / width;
}

static const weft_group *group_called(const weft_mesh *mesh, const char *name) {
    for (int g = 0; g < mesh->n_groups; ++g)
        if (strcmp(mesh->groups[g].name, name) == 0)
            return &mesh->groups[g];
    fail_msg("no group %s", name);
    return NULL;
}

/* Exactly the cells with a centre in low < x < high, ascending. */
static void check_members(const weft_mesh *mesh, const char *name, double low, double high) {
    const weft_group *group = group_called(mesh, name);
    int64_t n = 0;
    assert_int_equal(group->dimension, mesh->dimension);
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        const double x = centre_of(mesh, c);
        if (x < low || x > high)
            continue;
        assert_true(n < group->n_cells);
        assert_int_equal(mesh->group_cells[group->first_cell + n], c);
        ++n;
    }
    assert_true(n > 0);
    assert_int_equal(n, group->n_cells);
}

static void check_strip(const weft_mesh *mesh) {
    check_members(mesh, "west", 0, 1);
    check_members(mesh, "east/side", 1, 2);
    check_members(mesh, "all", 0, 2);
    assert_int_equal(group_called(mesh, "left")->n_cells, 0);
    assert_true(group_called(mesh, "left")->n_facets > 0);
}

static weft_mesh *read_mesh(const char *path) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    if (weft_mesh_read(path, 0, NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s: %s", path, error.message);
    return mesh;
}

static void check_file_round(const char *folder, const weft_mesh *mesh) {
    char *path = test_path(folder, "m.vtkhdf");
    assert_int_equal(weft_result_write(path, mesh, NULL, 0, NULL), WEFT_OK);
    weft_mesh *back = read_mesh(path);
    check_strip(back);
    weft_mesh_free(&back);
    free(path);
}

static void from_gmsh(void **state) {
    (void)state;
    if (access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) != 0)
        skip_test("weft-gmsh is not built (libgmsh-dev is missing)");
    char *folder = test_folder_make(), *geo = test_path(folder, "m.geo");
    char *msh = test_path(folder, "m.msh");
    test_text_write(geo, geometry);
    const char *const save[] = {WEFT_BINARY_DIR "/weft-gmsh", "--save", msh, geo, NULL};
    test_run run = test_program(save, NULL);
    assert_int_equal(run.exit_code, 0);
    test_run_free(&run);
    for (int i = 0; i < 2; ++i) {
        weft_mesh *mesh = read_mesh(i ? msh : geo), *fine = NULL;
        check_strip(mesh);
        check_file_round(folder, mesh);
        assert_int_equal(weft_mesh_refine(NULL, mesh, 2, NULL, &fine, NULL), WEFT_OK);
        check_strip(fine);
        assert_int_equal(weft_mesh_order(NULL, fine, WEFT_ORDERING_BISECTION, 16, NULL, NULL, NULL),
                         WEFT_OK);
        check_strip(fine);
        check_file_round(folder, fine);
        weft_mesh_free(&mesh);
        weft_mesh_free(&fine);
    }
    free(geo);
    free(msh);
    test_folder_remove(&folder);
}

/* The cells with x below 1/2 in one group, those from 1/4 on in another; listed backwards, some of
 * them twice. */
static weft_mesh *grouped_mesh(int dimension, int64_t n) {
    weft_mesh *from = make_mesh(dimension, n), *mesh = NULL;
    weft_mesh_data data = take_apart(from);
    const int64_t n_cells = from->n_cells;
    free(data.groups);
    data.groups = weft_array_make(2, sizeof *data.groups);
    data.group_cells = weft_array_make((size_t)(4 * n_cells), sizeof *data.group_cells);
    data.n_groups = 2;
    for (int g = 0; g < 2; ++g) {
        weft_group *group = &data.groups[g];
        strcpy(group->name, g ? "upper" : "lower");
        group->dimension = dimension;
        group->first_cell = data.n_group_cells;
        for (int64_t c = n_cells - 1; c >= 0; --c)
            for (int twice = 0; twice <= (c % 3 == 0); ++twice)
                if (g ? centre_of(from, c) > 0.25 : centre_of(from, c) < 0.5)
                    data.group_cells[data.n_group_cells++] = (int32_t)c;
        group->n_cells = data.n_group_cells - group->first_cell;
    }
    weft_mesh_free(&from);
    assert_int_equal(weft_mesh_make(&data, "grouped", NULL, &mesh, NULL), WEFT_OK);
    return mesh;
}

static void check_halves(const weft_mesh *mesh) {
    check_members(mesh, "lower", 0, 0.5);
    check_members(mesh, "upper", 0.25, 1);
}

static void by_hand(void **state) {
    (void)state;
    for (int dimension = 2; dimension <= 3; ++dimension) {
        weft_mesh *mesh = grouped_mesh(dimension, 4), *fine = NULL, *tiled = NULL;
        check_halves(mesh);
        assert_int_equal(weft_mesh_refine(NULL, mesh, 1, NULL, &fine, NULL), WEFT_OK);
        check_halves(fine);
        assert_int_equal(weft_mesh_order(NULL, fine, WEFT_ORDERING_BISECTION, 8, NULL, NULL, NULL),
                         WEFT_OK);
        check_halves(fine);
        const int64_t twice[3] = {1, 2, 1};
        assert_int_equal(weft_mesh_tile(NULL, mesh, twice, &tiled, NULL), WEFT_OK);
        check_halves(tiled);
        weft_mesh_free(&mesh);
        weft_mesh_free(&fine);
        weft_mesh_free(&tiled);
    }
}

static void wrong_numbers(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        weft_mesh *from = make_mesh(2, 2), *mesh = NULL;
        weft_mesh_data data = take_apart(from);
        weft_mesh_free(&from);
        data.group_cells = weft_array_make(1, sizeof *data.group_cells);
        data.n_group_cells = 1;
        data.group_cells[0] = i ? 8 : 0;
        data.groups[0] = (weft_group){.name = "g", .dimension = 2, .n_cells = i ? 1 : 2};
        assert_error(weft_mesh_make(&data, "m", NULL, &mesh, error),
                     i ? WEFT_ERROR_INPUT : WEFT_ERROR_USAGE,
                     i ? "error: m: a group names cell 9, and there are 8"
                       : "error: m: group `g` reaches past the cells that are there");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_gmsh), cmocka_unit_test(by_hand),
                                       cmocka_unit_test(wrong_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
