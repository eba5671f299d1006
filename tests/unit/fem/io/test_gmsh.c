/* labels: quick */
/* .geo and .msh files through weft-gmsh, against what the geometry says: areas and volumes, lengths
 * of groups. Sums of a few thousand terms: 1e-12. Files of 16 digits give coordinates to 1e-14. */
#include "core/weft_core.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char square_text[] =
    "DefineConstant[h = 0.5];\n"
    "Point(1) = {0, 0, 0, h / 5}; Point(2) = {1, 0, 0, h}; Point(3) = {1, 1, 0, h};\n"
    "Point(4) = {0, 1, 0, h}; Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4};\n"
    "Line(4) = {4, 1}; Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};\n"
    "Physical Curve(\"bottom\") = {1}; Physical Curve(\"left wall\") = {4};\n"
    "Physical Curve(9) = {2, -3}; Physical Surface(\"domain\") = {1};\n";

/* No constant, no physical group, and sizes that --size must override. */
static const char plain_text[] =
    "// DefineConstant[h = 1];\n"
    "Point(1) = {0, 0, 0, 0.4}; Point(2) = {1, 0, 0, 0.01}; Point(3) = {1, 1, 0, 0.4};\n"
    "Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 1};\n"
    "Curve Loop(1) = {1, 2, 3}; Plane Surface(1) = {1};\n";

static const char cube_text[] = "SetFactory(\"OpenCASCADE\");\n"
                                "Box(1) = {0, 0, 0, 1, 1, 1};\n"
                                "Physical Surface(\"left\") = {1};\n"
                                "Physical Surface(\"right\") = {2};\n"
                                "Physical Volume(\"domain\") = {1};\n"
                                "MeshSize{:} = 0.3;\n";

typedef struct place {
    char *folder, *path;
} place;

static place write_file(const char *name, const char *text) {
    place out = {test_folder_make(), NULL};
    out.path = test_path(out.folder, name);
    test_text_write(out.path, text);
    return out;
}

static void free_place(place *from) {
    free(from->path);
    test_folder_remove(&from->folder);
}

static weft_mesh *read_mesh(const char *path, double size) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    if (weft_mesh_read(path, size, NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s: %s", path, error.message);
    return mesh;
}

static double volume_of(const weft_mesh *mesh) {
    double sum = 0;
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        double volume =
            weft_cell_volume(mesh->dimension, mesh->x, mesh->cells + c * (mesh->dimension + 1));
        assert_true(volume > 0);
        sum += volume;
    }
    return sum;
}

/* Length or area of a group. */
static double measure_of(const weft_mesh *mesh, const char *name) {
    int group = -2;
    int32_t *facets = NULL;
    int64_t n = 0;
    double sum = 0;
    assert_int_equal(weft_mesh_group(mesh, name, &group, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_group_facets(mesh, group, &facets, &n, NULL), WEFT_OK);
    for (int64_t i = 0; i < n; ++i) {
        double normal[3];
        facet_normal(mesh, facets + i * mesh->dimension, normal);
        sum += sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    }
    free(facets);
    return sum;
}

static void edge_lengths(const weft_mesh *mesh, double *least, double *mean, double *greatest) {
    int d = mesh->dimension;
    double sum = 0, n = 0;
    *least = INFINITY;
    *greatest = 0;
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int i = 0; i < d; ++i)
            for (int j = i + 1; j <= d; ++j) {
                double square = 0;
                for (int k = 0; k < d; ++k) {
                    double u = mesh->x[mesh->cells[c * (d + 1) + i] * d + k] -
                               mesh->x[mesh->cells[c * (d + 1) + j] * d + k];
                    square += u * u;
                }
                *least = fmin(*least, sqrt(square));
                *greatest = fmax(*greatest, sqrt(square));
                sum += sqrt(square);
                n += 1;
            }
    *mean = sum / n;
}

static void check_square(const weft_mesh *mesh) {
    assert_int_equal(mesh->dimension, 2);
    assert_double_near(volume_of(mesh), 1, 1e-12, 0);
    assert_int_equal(mesh->n_groups, 4);
    assert_double_near(measure_of(mesh, "bottom"), 1, 1e-12, 0);
    assert_double_near(measure_of(mesh, "left wall"), 1, 1e-12, 0);
    assert_double_near(measure_of(mesh, "9"), 2, 1e-12, 0);
    assert_double_near(measure_of(mesh, "boundary"), 4, 1e-12, 0);
    assert_int_equal(mesh->groups[3].dimension, 2);
    assert_string_equal(mesh->groups[3].name, "domain");
    check_boundary(mesh);
}

static void check_cube(const weft_mesh *mesh) {
    assert_int_equal(mesh->dimension, 3);
    assert_double_near(volume_of(mesh), 1, 1e-12, 0);
    assert_int_equal(mesh->n_groups, 3);
    assert_double_near(measure_of(mesh, "left"), 1, 1e-12, 0);
    assert_double_near(measure_of(mesh, "right"), 1, 1e-12, 0);
    assert_double_near(measure_of(mesh, "boundary"), 6, 1e-12, 0);
    check_boundary(mesh);
}

static void test_geo(void **state) {
    (void)state;
    place square = write_file("a square.geo", square_text), cube = write_file("c.geo", cube_text);
    weft_mesh *mesh = read_mesh(square.path, 0);
    check_square(mesh);
    assert_string_equal(mesh->source, square.path);
    weft_mesh_free(&mesh);
    mesh = read_mesh(cube.path, 0);
    check_cube(mesh);
    weft_mesh_free(&mesh);
    free_place(&square);
    free_place(&cube);
}

/* With a constant, the file's grading stays: its least edge is a fifth of its greatest or so. */
static void test_size(void **state) {
    double least, mean, greatest;
    (void)state;
    place graded = write_file("g.geo", square_text), plain = write_file("p.geo", plain_text);
    place cube = write_file("c.geo", cube_text);
    weft_mesh *mesh = read_mesh(graded.path, 0.1);
    edge_lengths(mesh, &least, &mean, &greatest);
    assert_true(greatest > 0.08 && greatest < 0.16 && least < 0.035);
    weft_mesh_free(&mesh);
    mesh = read_mesh(plain.path, 0.1);
    edge_lengths(mesh, &least, &mean, &greatest);
    assert_true(mean > 0.07 && mean < 0.13 && least > 0.04 && greatest < 0.2);
    weft_mesh_free(&mesh);
    mesh = read_mesh(cube.path, 0.15);
    edge_lengths(mesh, &least, &mean, &greatest);
    assert_true(mean > 0.1 && mean < 0.25 && least > 0.05 && greatest < 0.4);
    weft_mesh_free(&mesh);
    weft_error error;
    assert_int_equal(weft_mesh_read(plain.path, NAN, NULL, &mesh, &error), WEFT_ERROR_USAGE);
    free_place(&graded);
    free_place(&plain);
    free_place(&cube);
}

static int compare_doubles(const void *a, const void *b) {
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Sorted, and so without regard to numbering: volumes of cells, or a coordinate of nodes. */
static double *sorted_values(const weft_mesh *mesh, int axis, int64_t *n) {
    int d = mesh->dimension;
    *n = axis < 0 ? mesh->n_cells : mesh->n_nodes;
    double *out = malloc((size_t)*n * sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < *n; ++i)
        out[i] = axis < 0 ? weft_cell_volume(d, mesh->x, mesh->cells + i * (d + 1))
                          : mesh->x[i * d + axis];
    qsort(out, (size_t)*n, sizeof *out, compare_doubles);
    return out;
}

/* The same mesh, numbered in another way perhaps. */
static void compare(const weft_mesh *a, const weft_mesh *b) {
    assert_int_equal(a->n_facets, b->n_facets);
    assert_int_equal(a->n_groups, b->n_groups);
    for (int g = 0; g < a->n_groups; ++g) {
        assert_string_equal(a->groups[g].name, b->groups[g].name);
        assert_int_equal(a->groups[g].n_facets, b->groups[g].n_facets);
    }
    for (int axis = -1; axis < a->dimension; ++axis) {
        int64_t n, m;
        double *p = sorted_values(a, axis, &n), *q = sorted_values(b, axis, &m);
        assert_int_equal(n, m);
        for (int64_t i = 0; i < n; ++i)
            assert_double_near(p[i], q[i], 0, 1e-14);
        free(p);
        free(q);
    }
}

/* All four kinds of .msh file, as Gmsh itself writes them. */
static void check_formats(const char *text, void (*check)(const weft_mesh *)) {
    place geo = write_file("m.geo", text);
    char *saved = test_path(geo.folder, "m.msh");
    weft_mesh *first = NULL;
    for (int kind = 0; kind < 4; ++kind) {
        const char *arguments[] = {getenv("WEFT_GMSH"),
                                   "--save",
                                   saved,
                                   "--msh",
                                   kind / 2 ? "4.1" : "2.2",
                                   geo.path,
                                   kind % 2 ? "--binary" : NULL,
                                   NULL};
        test_run run = test_program(arguments, NULL);
        if (run.exit_code != 0)
            fail_msg("%s", run.error);
        test_run_free(&run);
        weft_mesh *mesh = read_mesh(saved, 0);
        check(mesh);
        if (first)
            compare(first, mesh);
        if (first)
            weft_mesh_free(&mesh);
        else
            first = mesh;
    }
    weft_mesh_free(&first);
    free(saved);
    free_place(&geo);
}

static void test_msh(void **state) {
    (void)state;
    check_formats(square_text, check_square);
    check_formats(cube_text, check_cube);
}

typedef struct counted {
    int n;
    double last;
} counted;

/* "meshing", or "meshing, 3 s" where that long has passed */
static void count_progress(void *user, const char *phase, double done, double total) {
    counted *seen = user;
    if (strncmp(phase, "reading", 7) == 0)
        return;
    assert_memory_equal(phase, "meshing", 7);
    assert_true(total == 2 && done >= seen->last);
    seen->last = done;
    ++seen->n;
}

/* Structured .geo files: quadrangles and hexahedra alone, with groups, in Weft's order of vertices (the
 * determinant is positive at each, or the mesh would be refused); lines on the x axis. */
static void test_boxes(void **state) {
    (void)state;
    static const char square[] =
        "Point(1) = {0, 0, 0}; Extrude {2, 0, 0} { Point{1}; Layers{4}; }\n"
        "Extrude {0, 1, 0} { Curve{1}; Layers{3}; Recombine; }\n"
        "Physical Curve(\"bottom\") = {1}; Physical Surface(\"all\") = {5};\n";
    static const char cube[] =
        "Point(1) = {0, 0, 0}; Extrude {2, 0, 0} { Point{1}; Layers{4}; }\n"
        "Extrude {0, 1, 0} { Curve{1}; Layers{3}; Recombine; }\n"
        "Extrude {0, 0, 1} { Surface{5}; Layers{2}; Recombine; }\n"
        "Physical Surface(\"floor\") = {5}; Physical Volume(\"all\") = {1};\n";
    static const char line[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n"
                               "2 2 0 0\n3 1 0 0\n$EndNodes\n$Elements\n3\n1 15 2 7 1 1\n"
                               "2 1 2 1 1 1 3\n3 1 2 1 1 2 3\n$EndElements\n";
    const struct {
        const char *name, *text;
        weft_cell_type cell;
        int64_t n_cells, n_boundary, n_group;
    } meshes[] = {{"square.geo", square, WEFT_QUADRILATERAL, 12, 14, 4},
                  {"cube.geo", cube, WEFT_HEXAHEDRON, 24, 52, 12},
                  {"line.msh", line, WEFT_INTERVAL, 2, 2, 1}};
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; ++i) {
        place from = write_file(meshes[i].name, meshes[i].text);
        weft_mesh *mesh = read_mesh(from.path, 0);
        assert_int_equal(weft_mesh_cell(mesh)->type, meshes[i].cell);
        assert_int_equal(mesh->n_cells, meshes[i].n_cells);
        assert_int_equal(mesh->n_boundary_facets, meshes[i].n_boundary);
        assert_int_equal(mesh->n_ignored_facets, 0);
        bool found = false;
        for (int g = 0; g < mesh->n_groups; ++g)
            found |= mesh->groups[g].dimension == mesh->dimension - 1 &&
                     mesh->groups[g].n_facets == meshes[i].n_group;
        assert_true(found);
        weft_mesh_free(&mesh);
        free_place(&from);
    }
}

/* int det J over all cells, from the places of the nodes of degree 2. */
static double curved_volume(const weft_mesh *mesh) {
    const int d = mesh->dimension;
    weft_element *e = NULL;
    weft_quadrature rule;
    double sum = 0;
    const weft_cell_type cell = weft_mesh_cell(mesh)->type;
    assert_int_equal(weft_element_make(WEFT_LAGRANGE, cell, 2, &e, NULL), WEFT_OK);
    assert_int_equal(weft_quadrature_make(cell, WEFT_SCHEME_DEFAULT, 6, &rule, NULL), WEFT_OK);
    const int n = e->n_nodes;
    double *table = malloc((size_t)((d + 1) * rule.n * n) * sizeof *table);
    assert_int_equal(weft_element_tabulate(e, 1, rule.n, rule.points, table, NULL), WEFT_OK);
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int q = 0; q < rule.n; ++q) {
            double jacobian[3][3] = {{0}};
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < d; ++k)
                    for (int a = 0; a < d; ++a)
                        jacobian[k][a] += table[((a + 1) * rule.n + q) * n + i] *
                                          mesh->curve[(c * n + i) * d + k];
            sum += rule.weights[q] * weft_determinant(d, jacobian);
        }
    free(table);
    weft_quadrature_free(&rule);
    weft_element_free(&e);
    return sum;
}

/* A disk and a ball of radius 1, a cylinder of height 1, with cells of second order: their volume is
 * right to 1 part in 1000, which cells with edges or faces in another order would spoil (or fold). */
static void test_curved(void **state) {
    (void)state;
    static const char disk[] =
        "Point(1) = {0, 0, 0, 0.4}; Point(2) = {1, 0, 0, 0.4}; Point(3) = {0, 1, 0, 0.4};\n"
        "Point(4) = {-1, 0, 0, 0.4}; Point(5) = {0, -1, 0, 0.4};\n"
        "Circle(1) = {2, 1, 3}; Circle(2) = {3, 1, 4}; Circle(3) = {4, 1, 5};\n"
        "Circle(4) = {5, 1, 2}; Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};\n"
        "Mesh.ElementOrder = 2;\n";
    static const char quads[] = "Mesh.SubdivisionAlgorithm = 1; Mesh.RecombineAll = 1;\n";
    static const char cylinder[] = "Extrude {0, 0, 1} { Surface{1}; Layers{2}; Recombine; }\n";
    static const char ball[] = "SetFactory(\"OpenCASCADE\"); Sphere(1) = {0, 0, 0, 1};\n"
                               "Mesh.MeshSizeMax = 0.5; Mesh.ElementOrder = 2;\n";
    const double pi = acos(-1);
    const struct {
        const char *texts[3];
        weft_cell_type cell;
        double volume;
    } shapes[] = {{{disk, "", ""}, WEFT_TRIANGLE, pi},
                  {{disk, quads, ""}, WEFT_QUADRILATERAL, pi},
                  {{disk, quads, cylinder}, WEFT_HEXAHEDRON, pi},
                  {{ball, "", ""}, WEFT_TETRAHEDRON, 4 * pi / 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s%s", shapes[i].texts[0], shapes[i].texts[1],
                 shapes[i].texts[2]);
        place from = write_file("curved.geo", text);
        weft_mesh *mesh = read_mesh(from.path, 0);
        assert_int_equal(weft_mesh_cell(mesh)->type, shapes[i].cell);
        assert_non_null(mesh->curve);
        assert_int_equal(mesh->n_dropped_nodes, 0);
        assert_double_near(curved_volume(mesh), shapes[i].volume, 1e-3, 0);
        weft_mesh_free(&mesh);
        free_place(&from);
    }
}

static void test_progress(void **state) {
    counted seen = {0, 0};
    weft_monitor monitor = {.progress = count_progress, .user = &seen};
    weft_mesh *mesh = NULL;
    (void)state;
    place square = write_file("s.geo", square_text);
    assert_int_equal(weft_mesh_read(square.path, 0, &monitor, &mesh, NULL), WEFT_OK);
    assert_true(seen.n >= 3);
    assert_true(seen.last == 2);
    weft_mesh_free(&mesh);
    free_place(&square);
}

static int count_files(void) {
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        ++n;
    if (folder)
        closedir(folder);
    return n;
}

/* Neither descriptors nor children are left, whether it works or not. */
static void test_leaves_nothing(void **state) {
    (void)state;
    place good = write_file("good.geo", square_text), bad = write_file("bad.geo", "Point(1 = 2;");
    weft_mesh *mesh = read_mesh(good.path, 0);
    weft_mesh_free(&mesh);
    int n = count_files();
    for (int i = 0; i < 3; ++i) {
        mesh = read_mesh(good.path, 0);
        weft_mesh_free(&mesh);
        assert_int_equal(weft_mesh_read(bad.path, 0, NULL, &mesh, NULL), WEFT_ERROR_INPUT);
    }
    assert_int_equal(count_files(), n);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    free_place(&good);
    free_place(&bad);
}

static long child_of(pid_t parent) {
    char path[64];
    long child = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
    char *text = test_file_read(path, NULL);
    if (text)
        child = strtol(text, NULL, 10);
    free(text);
    return child;
}

/* No process of this number, or one that waits to be collected. */
static bool is_gone(long process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    char *text = test_file_read(path, NULL);
    bool gone = !text || !*text || strstr(text, ") Z") || strstr(text, ") X");
    free(text);
    return gone;
}

static bool runs_gmsh(long process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/maps", process);
    char *text = test_file_read(path, NULL);
    bool found = text && strstr(text, "libgmsh");
    free(text);
    return found;
}

static void test_dies_with_parent(void **state) {
    (void)state;
    place slow = write_file("slow.geo", plain_text);
    pid_t parent = fork();
    assert_true(parent >= 0);
    if (parent == 0) {
        weft_mesh *mesh = NULL;
        weft_mesh_read(slow.path, 0.0003, NULL, &mesh, NULL);
        _exit(0);
    }
    long child = 0;
    for (int i = 0; i < 1000 && !(child > 0 && runs_gmsh(child)); ++i) {
        usleep(10000);
        child = child_of(parent);
    }
    assert_true(child > 0);
    usleep(200000);
    assert_false(is_gone(child));
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    for (int i = 0; i < 500 && !is_gone(child); ++i)
        usleep(10000);
    assert_true(is_gone(child));
    free_place(&slow);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_geo),
                                       cmocka_unit_test(test_size),
                                       cmocka_unit_test(test_msh),
                                       cmocka_unit_test(test_curved),
                                       cmocka_unit_test(test_boxes),
                                       cmocka_unit_test(test_progress),
                                       cmocka_unit_test(test_leaves_nothing),
                                       cmocka_unit_test(test_dies_with_parent)};
    const char *program = getenv("WEFT_GMSH");
    if (!program || access(program, X_OK) != 0) {
        test_note_skip("weft-gmsh is not built (libgmsh-dev is missing)");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
