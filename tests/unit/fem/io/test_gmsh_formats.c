/* labels: quick */
/* Files of other programs, read through Gmsh: the unit square and cube, which Weft makes itself, in
 * each format as its own manual has it, written here without Gmsh. Numbers are written with 17
 * digits, so sums agree to 1e-12. A file that was cut is refused. */
#include "core/weft_core.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*mesh_writer)(FILE *file, const weft_mesh *mesh);

typedef struct format {
    const char *ending; /* of the file */
    mesh_writer write;
    bool groups; /* the sides are groups 1 and up: in order of the mesh's */
    bool cut;    /* found when the last line is missing */
} format;

static double coordinate(const weft_mesh *mesh, int64_t node, int axis) {
    return axis < mesh->dimension ? mesh->x[node * mesh->dimension + axis] : 0;
}

/* nodes from 1, each by the pattern */
static void write_nodes(FILE *file, const int32_t *nodes, int n, const char *pattern) {
    for (int i = 0; i < n; ++i) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        fprintf(file, pattern, nodes[i] + 1);
#pragma GCC diagnostic pop
    }
}

static const int32_t *side_facet(const weft_mesh *mesh, const weft_group *group, int64_t i) {
    return mesh->facets + (int64_t)mesh->group_facets[group->first_facet + i] * mesh->dimension;
}

static int64_t count_sides(const weft_mesh *mesh) {
    int64_t n = 0;
    for (int g = 0; g < mesh->n_groups; ++g)
        n += mesh->groups[g].n_facets;
    return n;
}

/* MSH 1: Gmsh reference manual, "MSH file format version 1" */
static void write_msh_1(FILE *file, const weft_mesh *mesh) {
    const int d = mesh->dimension;
    int64_t number = 0;
    fprintf(file, "$NOD\n%lld\n", (long long)mesh->n_nodes);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        fprintf(file, "%lld %.17g %.17g %.17g\n", (long long)i + 1, coordinate(mesh, i, 0),
                coordinate(mesh, i, 1), coordinate(mesh, i, 2));
    fprintf(file, "$ENDNOD\n$ELM\n%lld\n", (long long)(mesh->n_cells + count_sides(mesh)));
    for (int g = 0; g < mesh->n_groups; ++g)
        for (int64_t i = 0; i < mesh->groups[g].n_facets; ++i) {
            fprintf(file, "%lld %d %d %d %d", (long long)++number, d - 1, g + 1, g + 1, d);
            write_nodes(file, side_facet(mesh, &mesh->groups[g], i), d, " %d");
            fprintf(file, "\n");
        }
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        fprintf(file, "%lld %d 99 99 %d", (long long)++number, d == 2 ? 2 : 4, d + 1);
        write_nodes(file, mesh->cells + c * (d + 1), d + 1, " %d");
        fprintf(file, "\n");
    }
    fprintf(file, "$ENDELM\n");
}

/* MSH 4.0: the block of a side or of the cells stands as tag, dimension, type, count. */
static void write_msh_4(FILE *file, const weft_mesh *mesh) {
    const int d = mesh->dimension, n = mesh->n_groups;
    int64_t number = 0;
    fprintf(file, "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Entities\n0 %d %d %d\n", d == 2 ? n : 0,
            d == 2 ? 1 : n, d - 2);
    for (int g = 0; g < n; ++g)
        fprintf(file, "%d 0 0 0 1 1 1 1 %d 0\n", g + 1, g + 1);
    fprintf(file, "1 0 0 0 1 1 1 1 99 0\n$EndEntities\n$Nodes\n1 %lld\n1 %d 0 %lld\n",
            (long long)mesh->n_nodes, d, (long long)mesh->n_nodes);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        fprintf(file, "%lld %.17g %.17g %.17g\n", (long long)i + 1, coordinate(mesh, i, 0),
                coordinate(mesh, i, 1), coordinate(mesh, i, 2));
    fprintf(file, "$EndNodes\n$Elements\n%d %lld\n", n + 1,
            (long long)(mesh->n_cells + count_sides(mesh)));
    for (int g = 0; g < n; ++g) {
        fprintf(file, "%d %d %d %lld\n", g + 1, d - 1, d - 1, (long long)mesh->groups[g].n_facets);
        for (int64_t i = 0; i < mesh->groups[g].n_facets; ++i) {
            fprintf(file, "%lld", (long long)++number);
            write_nodes(file, side_facet(mesh, &mesh->groups[g], i), d, " %d");
            fprintf(file, "\n");
        }
    }
    fprintf(file, "1 %d %d %lld\n", d, d == 2 ? 2 : 4, (long long)mesh->n_cells);
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        fprintf(file, "%lld", (long long)++number);
        write_nodes(file, mesh->cells + c * (d + 1), d + 1, " %d");
        fprintf(file, "\n");
    }
    fprintf(file, "$EndElements\n");
}

/* UNV: datasets 2411 (nodes) and 2412 (elements): 11 rod, 91 thin shell, 111 solid */
static void write_unv_element(FILE *file, int64_t number, int type, int part, const int32_t *nodes,
                              int n) {
    fprintf(file, "%10lld%10d%10d%10d%10d%10d\n", (long long)number, type, part, part, 7, n);
    if (type == 11)
        fprintf(file, "%10d%10d%10d\n", 0, 1, 1);
    write_nodes(file, nodes, n, "%10d");
    fprintf(file, "\n");
}

static void write_unv(FILE *file, const weft_mesh *mesh) {
    const int d = mesh->dimension;
    int64_t number = 0;
    fprintf(file, "    -1\n  2411\n");
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        fprintf(file, "%10lld%10d%10d%10d\n%25.16E%25.16E%25.16E\n", (long long)i + 1, 1, 1, 11,
                coordinate(mesh, i, 0), coordinate(mesh, i, 1), coordinate(mesh, i, 2));
    fprintf(file, "    -1\n    -1\n  2412\n");
    for (int g = 0; g < mesh->n_groups; ++g)
        for (int64_t i = 0; i < mesh->groups[g].n_facets; ++i)
            write_unv_element(file, ++number, d == 2 ? 11 : 91, g + 1,
                              side_facet(mesh, &mesh->groups[g], i), d);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        write_unv_element(file, ++number, d == 2 ? 91 : 111, 99, mesh->cells + c * (d + 1), d + 1);
    fprintf(file, "    -1\n");
}

/* Nastran bulk data in free fields; the second number is that of the property */
static void write_nastran(FILE *file, const weft_mesh *mesh) {
    const int d = mesh->dimension;
    int64_t number = 0;
    fprintf(file, "$ a comment\nBEGIN BULK\n");
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        fprintf(file, "GRID,%lld,,%.6f,%.6f,%.6f\n", (long long)i + 1, coordinate(mesh, i, 0),
                coordinate(mesh, i, 1), coordinate(mesh, i, 2));
    for (int g = 0; g < mesh->n_groups; ++g)
        for (int64_t i = 0; i < mesh->groups[g].n_facets; ++i) {
            fprintf(file, "%s,%lld,%d", d == 2 ? "CROD" : "CTRIA3", (long long)++number, g + 1);
            write_nodes(file, side_facet(mesh, &mesh->groups[g], i), d, ",%d");
            fprintf(file, "\n");
        }
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        fprintf(file, "%s,%lld,99", d == 2 ? "CTRIA3" : "CTETRA", (long long)++number);
        write_nodes(file, mesh->cells + c * (d + 1), d + 1, ",%d");
        fprintf(file, "\n");
    }
    fprintf(file, "ENDDATA\n");
}

/* Medit: the last number of a line is a reference */
static void write_medit(FILE *file, const weft_mesh *mesh) {
    const int d = mesh->dimension;
    fprintf(file, "MeshVersionFormatted 2\nDimension\n3\nVertices\n%lld\n",
            (long long)mesh->n_nodes);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        fprintf(file, "%.17g %.17g %.17g 0\n", coordinate(mesh, i, 0), coordinate(mesh, i, 1),
                coordinate(mesh, i, 2));
    fprintf(file, "%s\n%lld\n", d == 2 ? "Edges" : "Triangles", (long long)count_sides(mesh));
    for (int g = 0; g < mesh->n_groups; ++g)
        for (int64_t i = 0; i < mesh->groups[g].n_facets; ++i) {
            write_nodes(file, side_facet(mesh, &mesh->groups[g], i), d, "%d ");
            fprintf(file, "%d\n", g + 1);
        }
    fprintf(file, "%s\n%lld\n", d == 2 ? "Triangles" : "Tetrahedra", (long long)mesh->n_cells);
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        write_nodes(file, mesh->cells + c * (d + 1), d + 1, "%d ");
        fprintf(file, "99\n");
    }
    fprintf(file, "End\n");
}

/* legacy VTK: nodes from 0, types 5 and 10 */
static void write_vtk(FILE *file, const weft_mesh *mesh) {
    const int d = mesh->dimension;
    fprintf(file, "# vtk DataFile Version 2.0\nsquare or cube\nASCII\nDATASET UNSTRUCTURED_GRID\n");
    fprintf(file, "POINTS %lld double\n", (long long)mesh->n_nodes);
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        fprintf(file, "%.17g %.17g %.17g\n", coordinate(mesh, i, 0), coordinate(mesh, i, 1),
                coordinate(mesh, i, 2));
    fprintf(file, "CELLS %lld %lld\n", (long long)mesh->n_cells,
            (long long)mesh->n_cells * (d + 2));
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        fprintf(file, "%d", d + 1);
        for (int k = 0; k <= d; ++k)
            fprintf(file, " %d", mesh->cells[c * (d + 1) + k]);
        fprintf(file, "\n");
    }
    fprintf(file, "CELL_TYPES %lld\n", (long long)mesh->n_cells);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        fprintf(file, "%d\n", d == 2 ? 5 : 10);
}

static const format formats[] = {
    {"1.msh", write_msh_1, true, true},  {"4.msh", write_msh_4, true, true},
    {".unv", write_unv, true, true},     {".bdf", write_nastran, true, true},
    {".nas", write_nastran, true, true}, {".mesh", write_medit, true, false},
    {".vtk", write_vtk, false, true},
};

static void check_sides(const weft_mesh *made, const weft_mesh *read) {
    for (int g = 0; g < made->n_groups; ++g) {
        char name[16];
        int group = -1;
        weft_error error = {0};
        snprintf(name, sizeof name, "%d", g + 1);
        if (weft_mesh_group(read, name, &group, &error) != WEFT_OK)
            fail_msg("%s", error.message);
        assert_int_equal(read->groups[group].n_facets, made->groups[g].n_facets);
        /* the left side is at x = 0, and so on: sums of coordinates tell them apart */
        for (int axis = 0; axis < made->dimension; ++axis) {
            double sums[2] = {0, 0};
            for (int64_t i = 0; i < made->groups[g].n_facets; ++i)
                for (int k = 0; k < made->dimension; ++k) {
                    sums[0] += coordinate(made, side_facet(made, &made->groups[g], i)[k], axis);
                    sums[1] += coordinate(read, side_facet(read, &read->groups[group], i)[k], axis);
                }
            assert_double_near(sums[0], sums[1], 1e-12, 1e-12);
        }
    }
}

static void check_same(const weft_mesh *made, const weft_mesh *read, bool groups) {
    const int d = made->dimension;
    double volume = 0, moment = 0, made_moment = 0;
    assert_int_equal(read->dimension, d);
    assert_int_equal(read->n_cells, made->n_cells);
    assert_int_equal(read->n_nodes, made->n_nodes);
    assert_int_equal(read->n_boundary_facets, made->n_boundary_facets);
    for (int64_t c = 0; c < read->n_cells; ++c) {
        volume += weft_cell_volume(d, read->x, read->cells + c * (d + 1));
        for (int k = 0; k <= d; ++k) {
            moment += pow(coordinate(read, read->cells[c * (d + 1) + k], 0), 2);
            made_moment += pow(coordinate(made, made->cells[c * (d + 1) + k], 0), 2);
        }
    }
    assert_double_near(volume, 1, 1e-12, 0);
    assert_double_near(moment, made_moment, 1e-12, 0);
    if (groups)
        check_sides(made, read);
}

/* Without its last line, which ends the mesh in it. */
static void check_cut(const char *path) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    size_t length;
    char *text = test_file_read(path, &length);
    --length;
    while (length > 0 && text[length - 1] != '\n')
        --length;
    test_file_write(path, text, length);
    free(text);
    weft_status status = weft_mesh_read(path, 0, NULL, &mesh, &error);
    if (status != WEFT_ERROR_INPUT)
        fail_msg("%s without its last line: %s", path, weft_status_name(status));
}

static void check_format(const format *by, const weft_mesh *made, const char *folder) {
    weft_mesh *read = NULL;
    weft_error error = {0};
    char name[40];
    snprintf(name, sizeof name, "mesh%s", by->ending);
    char *path = test_path(folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    by->write(file, made);
    assert_int_equal(fclose(file), 0);
    if (weft_mesh_read(path, 0, NULL, &read, &error) != WEFT_OK)
        fail_msg("%s: %s", path, error.message);
    check_same(made, read, by->groups);
    weft_mesh_free(&read);
    if (by->cut)
        check_cut(path);
    free(path);
}

static void check_formats(const char *name) {
    weft_mesh *made = NULL;
    const char *program = getenv("WEFT_GMSH");
    if (!program || access(program, X_OK) != 0)
        skip_test("weft-gmsh is not built (libgmsh-dev is missing)");
    char *folder = test_folder_make();
    assert_int_equal(weft_mesh_read(name, 0, NULL, &made, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i)
        check_format(&formats[i], made, folder);
    weft_mesh_free(&made);
    test_folder_remove(&folder);
}

static void test_plane(void **state) {
    (void)state;
    check_formats("square:2");
}

static void test_space(void **state) {
    (void)state;
    check_formats("cube:2");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plane), cmocka_unit_test(test_space)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
