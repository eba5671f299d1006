/* labels: quick */
/* VTKHDF files of other programs, written here with HDF5 itself: simplices are read, whatever the
 * number types are, and everything else is refused by name. */
#include "core/weft_core.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#if __has_include(<hdf5.h>)
#include <hdf5.h>
#else
#include <hdf5/serial/hdf5.h>
#endif

#include <stdio.h>

/* The square of two triangles; with spoilt parts, as a test wants them. */
typedef struct foreign {
    const char *kind; /* attribute Type, "": none */
    bool long_kind;   /* of variable length */
    int64_t n_points, n_cells, n_ids;
    int pieces;
    const float *points;
    const int *connectivity;
    const long long *offsets;
    const unsigned char *types;
} foreign;

static const float flat_points[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
static const int two_triangles[6] = {0, 1, 2, 0, 2, 3};
static const long long offsets_of_3[3] = {0, 3, 6};
static const unsigned char triangles[2] = {5, 5};
static const foreign good = {"UnstructuredGrid", false,        4,        2, 6, 1, flat_points,
                             two_triangles,      offsets_of_3, triangles};

static void write_set(hid_t group, const char *name, hid_t file_type, hid_t type, int64_t n,
                      hsize_t width, const void *values) {
    hsize_t extent[2] = {(hsize_t)n, width};
    hid_t space = H5Screate_simple(width ? 2 : 1, extent, NULL);
    hid_t set = H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void write_kind(hid_t group, const foreign *from) {
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    assert_true(H5Tset_size(type, from->long_kind ? H5T_VARIABLE : strlen(from->kind)) >= 0);
    hid_t attribute = H5Acreate2(group, "Type", type, space, H5P_DEFAULT, H5P_DEFAULT);
    const void *value = from->long_kind ? (const void *)&from->kind : from->kind;
    assert_true(H5Awrite(attribute, type, value) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

static void write_file(const char *path, const foreign *from) {
    int64_t points[2] = {from->n_points, 0}, cells[2] = {from->n_cells, 0},
            ids[2] = {from->n_ids, 0};
    hid_t i64 = H5T_NATIVE_INT64, real = H5T_NATIVE_FLOAT;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(group >= 0);
    if (from->kind[0])
        write_kind(group, from);
    write_set(group, "NumberOfPoints", H5T_STD_I32BE, i64, from->pieces, 0, points);
    write_set(group, "NumberOfCells", H5T_STD_I32BE, i64, from->pieces, 0, cells);
    write_set(group, "NumberOfConnectivityIds", H5T_STD_I32BE, i64, from->pieces, 0, ids);
    write_set(group, "Points", H5T_IEEE_F32BE, real, from->n_points, 3, from->points);
    write_set(group, "Connectivity", H5T_STD_I16LE, H5T_NATIVE_INT, from->n_ids, 0,
              from->connectivity);
    write_set(group, "Offsets", i64, H5T_NATIVE_LLONG, from->n_cells + 1, 0, from->offsets);
    write_set(group, "Types", H5T_STD_U8LE, H5T_NATIVE_UCHAR, from->n_cells, 0, from->types);
    H5Gclose(group);
    assert_true(H5Fclose(file) >= 0);
}

typedef struct place {
    char *folder, *path;
} place;

static place write_foreign(const foreign *from) {
    place out = {test_folder_make(), NULL};
    out.path = test_path(out.folder, "f.vtkhdf");
    write_file(out.path, from);
    return out;
}

static void free_place(place *from) {
    free(from->path);
    test_folder_remove(&from->folder);
}

static weft_mesh *read_foreign(const foreign *from) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    place at = write_foreign(from);
    if (weft_mesh_read(at.path, 0, NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    free_place(&at);
    return mesh;
}

/* The message is: error: PATH and then `after`. */
static void check_refused(const foreign *from, weft_status wanted, const char *after) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    char text[4096], found[4096];
    place at = write_foreign(from);
    snprintf(text, sizeof text, "error: %s%s", at.path, after);
    assert_int_equal(weft_mesh_read(at.path, 0, NULL, &mesh, &error), wanted);
    weft_error_text(&error, found, sizeof found);
    assert_string_equal(found, text);
    assert_null(mesh);
    free_place(&at);
}

static void test_good(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        foreign file = good;
        file.long_kind = i;
        weft_mesh *mesh = read_foreign(&file);
        assert_int_equal(mesh->dimension, 2);
        assert_int_equal(mesh->n_nodes, 4);
        assert_int_equal(mesh->n_cells, 2);
        assert_int_equal(mesh->n_boundary_facets, 4);
        assert_int_equal(mesh->n_groups, 0);
        assert_true(mesh->x[4] == 1 && mesh->x[5] == 1 && mesh->x[6] == 0 && mesh->x[7] == 1);
        assert_memory_equal(mesh->cells, two_triangles, sizeof two_triangles);
        weft_mesh_free(&mesh);
    }
}

/* Tetrahedra win over the triangles, lines and points among them; those are left out. */
static void test_mixed(void **state) {
    static const float points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int ids[10] = {0, 0, 1, 0, 2, 1, 0, 1, 2, 3};
    static const long long offsets[5] = {0, 1, 3, 6, 10};
    static const unsigned char types[4] = {1, 3, 5, 10};
    (void)state;
    foreign file = good;
    file.n_cells = 4;
    file.n_ids = 10;
    file.points = points;
    file.connectivity = ids;
    file.offsets = offsets;
    file.types = types;
    weft_mesh *mesh = read_foreign(&file);
    assert_int_equal(mesh->dimension, 3);
    assert_int_equal(mesh->n_cells, 1);
    assert_int_equal(mesh->n_boundary_facets, 4);
    assert_double_near(weft_cell_volume(3, mesh->x, mesh->cells), 1.0 / 6, 1e-14, 0);
    weft_mesh_free(&mesh);
    static const long long wrong[5] = {0, 1, 3, 6, 9}, far[5] = {0, 1, 3, 1 << 20, (1 << 20) + 4};
    file.offsets = wrong;
    check_refused(&file, WEFT_ERROR_INPUT,
                  ": offsets do not fit the cells\n"
                  "hint: write the file again: it is damaged or cut short");
    file.offsets = far;
    check_refused(&file, WEFT_ERROR_INPUT,
                  ": offsets do not fit the cells\n"
                  "hint: write the file again: it is damaged or cut short");
}

static void test_refused(void **state) {
    static const unsigned char quadrangle[2] = {9, 5};
    static const float bent[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0.25f, 0, 1, 0};
    (void)state;
    foreign file = good;
    file.kind = "PolyData";
    check_refused(&file, WEFT_ERROR_UNSUPPORTED,
                  ": it holds PolyData, and a mesh is UnstructuredGrid\n"
                  "hint: in ParaView, make it an unstructured grid of triangles or tetrahedra "
                  "(filter Tetrahedralize) and save it again");
    file.kind = "";
    check_refused(&file, WEFT_ERROR_INPUT,
                  ": VTKHDF has no attribute Type: can't locate attribute: 'Type'\n"
                  "hint: write the file again: it is damaged or cut short");
    file = good;
    file.types = quadrangle;
    check_refused(&file, WEFT_ERROR_UNSUPPORTED,
                  ": it has triangles and quadrilaterals, and a mesh has cells of one type\n"
                  "hint: in ParaView, apply the filter Tetrahedralize and save it again");
    file = good;
    file.pieces = 2;
    check_refused(&file, WEFT_ERROR_UNSUPPORTED,
                  ": it is in several pieces, or has none\nhint: write it as one piece");
    file = good;
    file.points = bent;
    check_refused(&file, WEFT_ERROR_UNSUPPORTED,
                  ": it has triangles and no tetrahedra, and they leave the plane z = 0\n"
                  "hint: a flat mesh goes into the plane z = 0; for a body, save its tetrahedra");
}

static void test_wrong_numbers(void **state) {
    static const int beyond[6] = {0, 1, 2, 0, 2, 4}, negative[6] = {-1, 1, 2, 0, 2, 3};
    (void)state;
    foreign file = good;
    file.connectivity = beyond;
    check_refused(&file, WEFT_ERROR_INPUT,
                  ": 1 cell has nodes that do not exist (first: cell 2, nodes 1 3 5; there are 4 "
                  "nodes)\nhint: the file is damaged or cut short: write it again");
    file.connectivity = negative;
    check_refused(&file, WEFT_ERROR_INPUT,
                  ": 1 cell has nodes that do not exist (first: cell 1, nodes 0 2 3; there are 4 "
                  "nodes)\nhint: the file is damaged or cut short: write it again");
    file = good;
    file.n_ids = 5; /* cells of three need six */
    check_refused(&file, WEFT_ERROR_INPUT,
                  ": offsets do not fit the cells\n"
                  "hint: write the file again: it is damaged or cut short");
}

static void test_no_group(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "f.vtkhdf"), text[2000];
    weft_mesh *mesh = NULL;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Fclose(file) >= 0);
    snprintf(text, sizeof text,
             "error: %s: this is an HDF5 file, and has no group VTKHDF\n"
             "hint: save it from ParaView as VTKHDF, or give the .msh or .geo file",
             path);
    assert_error(weft_mesh_read(path, 0, NULL, &mesh, error), WEFT_ERROR_UNSUPPORTED, text);
    free(path);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good), cmocka_unit_test(test_mixed), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_wrong_numbers), cmocka_unit_test(test_no_group)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
