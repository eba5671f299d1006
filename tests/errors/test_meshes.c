/* labels: quick */
/* Bad meshes and bad places for results: each is refused with a status that ends programs with exit
 * code 2, and with one message that names the file, the place in it, and what to do. The files are
 * in tests/errors/data: good.msh with one thing wrong each, named for it. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct bad_mesh {
    const char *name, *text;
} bad_mesh;

static void check(const bad_mesh *bad) {
    weft_mesh *mesh = NULL;
    weft_error error = {0};
    char text[4096];
    weft_status status = weft_mesh_read(bad->name, 0, NULL, &mesh, &error);
    weft_error_text(&error, text, sizeof text);
    assert_string_equal(text, bad->text);
    assert_int_equal(weft_status_exit_code(status), 2);
    assert_int_equal(status, error.status);
    assert_null(mesh);
}

#define DAMAGED "\nhint: the file is damaged: write it again"
#define MISSING                                                                                    \
    ": No such file or directory\n"                                                                \
    "hint: check the name, the folder it is looked for in, and who may read it"
#define TYPES                                                                                      \
    "\nhint: Weft reads triangles (type 2), quadrangles (3), tetrahedra (4) and hexahedra (5), "   \
    "with lines (1) and points (15); write the file again"
#define RECOMBINE                                                                                  \
    ", and a mesh has cells of one type\n"                                                         \
    "hint: for triangles or tetrahedra, take Recombine out of the .geo file (Recombine Surface, "  \
    "Recombine in Extrude, Mesh.RecombineAll); for quadrangles or hexahedra alone, use "           \
    "Transfinite surfaces and volumes or Mesh.SubdivisionAlgorithm = 1 (2: hexahedra); and mesh "  \
    "again"

static const bad_mesh files[] = {
    {"missing.msh", "error: cannot read missing.msh" MISSING},
    {"missing.geo", "error: cannot read missing.geo" MISSING},
    {"missing.vtkhdf", "error: cannot read missing.vtkhdf" MISSING},
    {"empty.msh", "error: empty.msh is empty\n"
                  "hint: write it again: whatever wrote it stopped before its first byte"},
    {"text.vtkhdf", "error: text.vtkhdf: this HDF5 file is incomplete: file signature not found\n"
                    "hint: write the file again: it is damaged or cut short"}};

static const bad_mesh msh_files[] = {
    {"unknown_type.msh",
     "unknown_type.msh:18: error: element 2 has type 77, which is not an element type\n"
     "    2 77 2 1 1 1 3 4" TYPES},
    {"unknown_type_4.msh",
     "unknown_type_4.msh:16: error: elements of type 99: there is no such element type\n"
     "    2 1 99 1" TYPES},
    {"quadrangle.msh",
     "quadrangle.msh: error: it has 1 triangles (type 2), 1 quadrangles (type 3)" RECOMBINE},
    {"nan.msh", "error: nan.msh: 1 node has a coordinate that is not finite (first: node 2 "
                "at nan 0)\n"
                "hint: the file is damaged, or the geometry divides by zero: write it again"},
    {"flat.msh", "error: flat.msh: 1 cell has no area (first: cell 2, nodes 1 3 3, near 0 0)\n"
                 "hint: its points are one, or lie on a line: merge points that coincide in the "
                 "geometry (Coherence; in the .geo file) and mesh again"},
    {"doubled.msh", "error: doubled.msh: 1 cell has the nodes of another (first: cell 2, nodes 3 1 "
                    "2, near 1 1; as cell 1)\n"
                    "hint: put each surface into one Physical Surface only (MSH 2 saves a cell "
                    "once for each), and see that no two lie on each other"},
    {"space.msh", "space.msh: error: it has triangles and no tetrahedra, and they leave the plane "
                  "z = 0, by 0.5 where 1e-06 counts as 0\n"
                  "hint: for a body, add its volume: Surface Loop(1) = {...}; Volume(1) = {1}; and "
                  "Physical Volume(\"domain\") = {1}; a flat mesh goes into the plane z = 0"},
    {"no_node.msh", "no_node.msh: error: element 2 has the node 9, which is not among the nodes\n"
                    "hint: the file is damaged, or a part of a larger one: write it again"},
    {"no_point.msh", "no_point.msh:11: error: this is not a point\n    2 1,0 0 0" DAMAGED},
    {"short_element.msh",
     "short_element.msh:18: error: this element has too few or too many numbers\n"
     "    2 2 2 1 1 1 3" DAMAGED},
    {"too_few_nodes.msh", "too_few_nodes.msh:14: error: $Nodes ends before all that it announces\n"
                          "    $EndNodes" DAMAGED},
    {"not_closed.msh",
     "not_closed.msh:15: error: $EndNodes was expected before this\n    $Elements" DAMAGED},
    {"no_elements.msh", "no_elements.msh:14: error: the file has no $Elements\n"
                        "hint: it was cut short, or holds a geometry without its mesh: mesh it and "
                        "write it again"},
    {"no_format.msh", "no_format.msh: error: this is not an MSH file: it does not start with "
                      "$MeshFormat\n"
                      "hint: Weft reads MSH 2 and 4.1 as text and binary, and MSH 1 (which starts "
                      "with $NOD) and 4.0 as text; a geometry is named .geo"},
    {"long_point.msh", "long_point.msh:22: error: this is not a point\n"
                       "    11 0.6479062500000000 0.3749999999997427 166666669405 "
                       "0.6437499999999021 0" DAMAGED},
    {"negative_node.msh", "negative_node.msh:32: error: $Elements names node or element -1, and "
                          "numbers are from 1 to 2^31 - 1" DAMAGED},
    {"like_nodes.msh", "like_nodes.msh:4: error: there is no section of this name\n"
                       "    $NodesX" DAMAGED},
    {"negative_part.bdf", "negative_part.bdf: error: a part of it has a negative number, and "
                          "cannot be a group\n"
                          "hint: give every part a number from 0 on"},
    {"shifted.vtk", "shifted.vtk:5: error: a line end was expected behind the counts of "
                    "CELLS" DAMAGED},
    {"msh3.msh", "msh3.msh: error: this is MSH 3, and Weft reads MSH 1, 2, 4.0 and 4.1\n"
                 "hint: write it again: gmsh msh3.msh -save -format msh41 -o new.msh"}};

static const bad_mesh geo_files[] = {
    {"syntax.geo", "syntax.geo:3: error: Gmsh: syntax error (;)\n    Line(1) = {1, 2;\n"
                   "hint: open the file in Gmsh to see the geometry, and repair it there"},
    {"no_point.geo", "no_point.geo: error: Gmsh: Unknown control point 7 in GEO curve 1\n"
                     "hint: open the file in Gmsh to see the geometry, and repair it there"},
    {"curves.geo", "curves.geo: error: the geometry has no surface and no volume\n"
                   "hint: close its curves: Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};"},
    {"order3.geo",
     "order3.geo: error: it has 2 triangles of higher order (type 21), and Weft takes "
     "triangles of 3 or 6 nodes or quadrangles of 4 or 9 nodes\n"
     "hint: set Mesh.ElementOrder = 1; or 2; in the .geo file and mesh again"}};

static bool has_gmsh(void) {
    const char *program = getenv("WEFT_GMSH");
    return program && access(program, X_OK) == 0;
}

#define need_gmsh()                                                                                \
    if (!has_gmsh())                                                                               \
    skip_test("weft-gmsh is not built (libgmsh-dev is missing)")

static void test_files(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i)
        check(&files[i]);
    char *folder = test_folder_make(), *path = test_path(folder, "folder.msh"), text[1200];
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(text, sizeof text,
             "error: cannot read %s: Is a directory\n"
             "hint: check the name, the folder it is looked for in, and who may read it",
             path);
    check(&(bad_mesh){path, text});
    free(path);
    test_folder_remove(&folder);
}

static void test_msh_files(void **state) {
    (void)state;
    need_gmsh();
    for (size_t i = 0; i < sizeof msh_files / sizeof *msh_files; ++i)
        check(&msh_files[i]);
}

static void test_geo_files(void **state) {
    (void)state;
    need_gmsh();
    for (size_t i = 0; i < sizeof geo_files / sizeof *geo_files; ++i)
        check(&geo_files[i]);
    weft_mesh *mesh = NULL; /* how many quadrangles there are is Gmsh's affair */
    weft_error error = {0};
    assert_int_equal(weft_mesh_read("recombine.geo", 0, NULL, &mesh, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "quadrangles (type 3)"));
    assert_non_null(strstr(error.hint, "take Recombine out of the .geo file"));
}

/* The files they were made from are right; what can be mended is, and counted. */
static void test_good_and_repaired(void **state) {
    weft_mesh *mesh = NULL;
    (void)state;
    need_gmsh();
    assert_int_equal(weft_mesh_read("good.msh", 0, NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_cells, 2);
    assert_int_equal(mesh->n_flipped_cells, 0);
    assert_int_equal(mesh->n_dropped_nodes, 0);
    weft_mesh_free(&mesh);
    assert_int_equal(weft_mesh_read("mended.msh", 0, NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_nodes, 4);
    assert_int_equal(mesh->n_cells, 2);
    assert_int_equal(mesh->n_flipped_cells, 1);
    assert_int_equal(mesh->n_dropped_nodes, 1);
    weft_mesh_free(&mesh);
    assert_int_equal(weft_mesh_read("sparse.msh", 0, NULL, &mesh, NULL), WEFT_OK);
    assert_int_equal(mesh->n_nodes, 4); /* numbered 1 2 3 40000000 */
    assert_int_equal(mesh->n_cells, 2);
    assert_int_equal(mesh->n_dropped_nodes, 0);
    weft_mesh_free(&mesh);
}

/* Cut at any length, each kind of file is refused, and by what the cut took: never half a mesh. */
static void check_cut(const char *version, const char *binary, const char *folder) {
    char *whole = test_path(folder, "whole.msh"), *cut = test_path(folder, "cut.msh");
    const char *arguments[] = {getenv("WEFT_GMSH"), "--save", whole, "--msh", version,
                               "good.msh",          binary,   NULL};
    test_run run = test_program(arguments, NULL);
    assert_int_equal(run.exit_code, 0);
    test_run_free(&run);
    size_t length;
    char *bytes = test_file_read(whole, &length);
    assert_non_null(bytes);
    int n_named = 0, n_cut = 0;
    for (size_t n = 1; n < length - 1; n += length / 12, ++n_cut) {
        weft_mesh *mesh = NULL;
        weft_error error = {0};
        test_file_write(cut, bytes, n);
        assert_int_equal(weft_mesh_read(cut, 0, NULL, &mesh, &error), WEFT_ERROR_INPUT);
        assert_string_equal(error.file, cut);
        assert_non_null(strstr(error.hint, "write"));
        n_named += strstr(error.message, "the file ends ") != NULL;
    }
    assert_true(n_named >= n_cut - 2); /* between two sections it may only lack the next one */
    free(bytes);
    free(whole);
    free(cut);
}

static void test_cut_files(void **state) {
    (void)state;
    need_gmsh();
    char *folder = test_folder_make();
    check_cut("2.2", NULL, folder);
    check_cut("2.2", "--binary", folder);
    check_cut("4.1", NULL, folder);
    check_cut("4.1", "--binary", folder);
    test_folder_remove(&folder);
}

/* weft-gmsh itself: missing, crashing, stopping, sending nonsense. */
static void check_program(const char *script, const char *text_format) {
    char *folder = test_folder_make(), *path = test_path(folder, "weft-gmsh"), text[2000];
    const char *given = getenv("WEFT_GMSH");
    char *kept = given ? strdup(given) : NULL;
    if (script) {
        test_text_write(path, script);
        assert_int_equal(chmod(path, 0755), 0);
    }
    assert_int_equal(setenv("WEFT_GMSH", path, 1), 0);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, text_format, path);
#pragma GCC diagnostic pop
    check(&(bad_mesh){"good.msh", text});
    if (kept)
        setenv("WEFT_GMSH", kept, 1);
    else
        unsetenv("WEFT_GMSH");
    free(kept);
    free(path);
    test_folder_remove(&folder);
}

static void test_program_fails(void **state) {
    (void)state;
    check_program(NULL, "error: good.msh: WEFT_GMSH is `%s`, which is not a program\n"
                        "hint: set it to the program weft-gmsh, or unset it");
    check_program("#!/bin/sh\nkill -SEGV $$\n",
                  "error: Gmsh crashed (signal 11) on good.msh\n"
                  "hint: open the file in Gmsh to see why; another Mesh.Algorithm (2D: 5 or 6) or "
                  "Mesh.Algorithm3D (1 or 10) may work");
    check_program("#!/bin/sh\nprintf WEFTMESH\nkill -ABRT $$\n",
                  "error: Gmsh crashed (signal 6) on good.msh\n"
                  "hint: open the file in Gmsh to see why; another Mesh.Algorithm (2D: 5 or 6) or "
                  "Mesh.Algorithm3D (1 or 10) may work");
    check_program("#!/bin/sh\nkill -KILL $$\n", "error: Gmsh was killed (signal 9) on good.msh\n"
                                                "hint: memory may have run out: try a larger "
                                                "--size");
    check_program(
        "#!/bin/sh\nexit 127\n",
        "error: good.msh: %s ended with exit code 127 and sent no mesh\n"
        "hint: a library of Gmsh is missing: install libgmsh-dev, or with the Python package "
        "pip install 'weft[gmsh]'; .vtkhdf files, "
        "square:N and cube:N work without it");
    check_program("#!/bin/sh\nexit 0\n",
                  "error: good.msh: %s ended with exit code 0 and sent no mesh\n"
                  "hint: run `weft-gmsh good.msh > mesh.stream` to see why");
    check_program(
        "#!/bin/sh\nexec yes\n",
        "error: good.msh: what weft-gmsh sent is damaged: it does not start as it should\n"
        "hint: weft-gmsh must be the one that came with this Weft");
}

/* Found nowhere: beside this program, in its folders, in PATH. */
static void test_program_missing(void **state) {
    (void)state;
    const char *given = getenv("WEFT_GMSH"), *path = getenv("PATH");
    char *kept = given ? strdup(given) : NULL, *kept_path = strdup(path ? path : "");
    unsetenv("WEFT_GMSH");
    setenv("PATH", "/nonexistent::/also/not", 1);
    check(&(bad_mesh){"good.msh",
                      "error: good.msh: this format needs the program weft-gmsh, which is not "
                      "there\n"
                      "hint: install libgmsh-dev and build Weft again, or set WEFT_GMSH to the "
                      "program; .vtkhdf files, square:N and cube:N work without it"});
    setenv("PATH", kept_path, 1);
    if (kept)
        setenv("WEFT_GMSH", kept, 1);
    free(kept);
    free(kept_path);
}

static void check_output(const weft_mesh *mesh, const char *path, const char *text) {
    char found[2000];
    for (int i = 0; i < 2; ++i) {
        weft_error error = {0};
        weft_status status =
            i ? weft_result_write(path, mesh, NULL, 0, &error) : weft_result_check(path, &error);
        assert_int_equal(status, WEFT_ERROR_IO);
        weft_error_text(&error, found, sizeof found);
        assert_string_equal(found, text);
    }
}

static void test_unwritable(void **state) {
    (void)state;
    weft_mesh *mesh = NULL;
    assert_int_equal(weft_mesh_make_square(1, &mesh, NULL), WEFT_OK);
    check_output(mesh, "nowhere/r.vtkhdf",
                 "error: cannot write nowhere/r.vtkhdf: No such file or directory\n"
                 "hint: make its folder first, or give another one");
    check_output(mesh, "good.msh/r.vtkhdf",
                 "error: cannot write good.msh/r.vtkhdf: Not a directory\n"
                 "hint: make its folder first, or give another one");
    check_output(mesh, ".",
                 "error: cannot write .: Is a directory\n"
                 "hint: it is a folder: name a file in it");
    check_output(mesh, "",
                 "error: cannot write : No such file or directory\n"
                 "hint: make its folder first, or give another one");
    check_output(mesh, "/dev/null",
                 "error: cannot write /dev/null: Invalid argument\n"
                 "hint: give another folder, one that you may write to");
    if (geteuid() != 0) {
        char *folder = test_folder_make(), *path = test_path(folder, "r.vtkhdf"), text[1200];
        assert_int_equal(chmod(folder, 0555), 0);
        snprintf(text, sizeof text,
                 "error: cannot write %s: Permission denied\n"
                 "hint: give another folder, one that you may write to",
                 path);
        check_output(mesh, path, text);
        assert_int_equal(chmod(folder, 0755), 0);
        free(path);
        test_folder_remove(&folder);
    }
    weft_mesh_free(&mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),           cmocka_unit_test(test_msh_files),
        cmocka_unit_test(test_geo_files),       cmocka_unit_test(test_good_and_repaired),
        cmocka_unit_test(test_cut_files),       cmocka_unit_test(test_program_fails),
        cmocka_unit_test(test_program_missing), cmocka_unit_test(test_unwritable)};
    if (chdir(WEFT_SOURCE_DIR "/tests/errors/data") != 0) {
        perror(WEFT_SOURCE_DIR "/tests/errors/data");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
