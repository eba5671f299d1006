/* labels: quick */
/* Bad input to poisson: exit 2, one message on stderr that names the place and says what to do,
 * nothing on stdout, no output file, and an output file that was there before is untouched. */
#include "bad_run.h"

#include <unistd.h>

typedef struct poisson_case {
    bad_case bad;
    bool gmsh; /* needs weft-gmsh */
} poisson_case;

static const poisson_case usage_cases[] = {
    {{"no mesh", {NULL}, {"no mesh is given", "hint: add --mesh"}}, false},
    {{"unknown option",
      {"--mehs", "square:2"},
      {"unknown option '--mehs'", "did you mean '--mesh'"}},
     false},
    {{"missing value", {"--mesh"}, {"option '--mesh' needs a value", "write --mesh MESH"}}, false},
    {{"empty value", {"--mesh", ""}, {"'--mesh' needs a value that is not empty"}}, false},
    {{"argument", {"square:2"}, {"unexpected argument 'square:2'", "--mesh square:2"}}, false},
    {{"number", {"--mesh=square:2", "--tolerance=1e-x"}, {"--tolerance:1:2", "    1e-x\n     ^"}},
     false},
    {{"number's end", {"--mesh=square:2", "--size=0.1mm"}, {"--size:1:4", "0.1mm", "   ^"}}, false},
    {{"range", {"--mesh=square:2", "--tolerance=2"}, {"--tolerance:1:1", "between 0 and 1"}},
     false},
    {{"fraction",
      {"--mesh=square:2", "--max-iterations=1.5"},
      {"--max-iterations:1:1", "whole number"}},
     false},
    {{"negative",
      {"--mesh=square:2", "--max-iterations=-1"},
      {"--max-iterations:1:1", "out of range"}},
     false},
    {{"assembly",
      {"--mesh=square:2", "--assembly=matrixfree"},
      {"--assembly:1:1", "did you mean 'matrix-free'"}},
     false},
    {{"plan",
      {"--mesh=square:2", "--plan=fuse"},
      {"--plan:1:1", "did you mean 'fused'", "fused or unfused"}},
     false},
    {{"preconditioner", {"--mesh=square:2", "--preconditioner=ilu"}, {"none, jacobi"}}, false},
    {{"device", {"--mesh=square:2", "--device=hots"}, {"hots", "host", "null"}}, false},
    {{"threads", {"--mesh=square:2", "--device=host:0"}, {"host:0"}}, false},
    {{"condition", {"--mesh=square:2", "--dirichlet=left"}, {"--dirichlet:1:5", "GROUP=EXPR"}},
     false},
    {{"condition's value",
      {"--mesh=square:2", "--neumann", "left="},
      {"--neumann:1:6", "GROUP=EXPR"}},
     false},
    {{"robin", {"--mesh=square:2", "--robin", "left=1"}, {"--robin:1:2", "GROUP=ALPHA,EXPR"}},
     false},
    {{"probe",
      {"--mesh=square:2", "--probe=0.5"},
      {"--probe 0.5: error: this point has 1 coordinate, the mesh has 2 dimensions",
       "--probe X,Y"}},
     false},
    {{"probe's dimension",
      {"--mesh=square:2", "--probe=0,0,0"},
      {"--probe 0,0,0: error: this point has 3 coordinates", "3 coordinates", "X,Y"}},
     false},
    {{"probe's dimension",
      {"--mesh=cube:2", "--probe=0,0"},
      {"--probe 0,0: error: this point has 2 coordinates", "X,Y,Z"}},
     false},
};

static const poisson_case expression_cases[] = {
    {{"syntax", {"--mesh=square:2", "--source", "1 + * x"}, {"--source:1:5", "1 + * x", "    ^"}},
     false},
    {{"unknown name", {"--mesh=square:2", "--source", "2*xx"}, {"--source:1:3", "2*xx", "  ^"}},
     false},
    /* no name that the user has not given, as that of the expression in the script */
    {{"unknown name, as it is said",
      {"--mesh=square:2", "--source", "X"},
      {"'X' is unknown here: this is a formula in x, y", "did you mean 'x'?"}},
     false},
    {{"function without brackets",
      {"--mesh=square:2", "--source", "2*sin"},
      {"--source:1:3", "write sin(...)"}},
     false},
    {{"unknown function",
      {"--mesh=square:2", "--exact", "sine(x)"},
      {"--exact:1:1", "sine(x)", "sin"}},
     false},
    {{"open bracket", {"--mesh=square:2", "--diffusivity", "(1+x"}, {"--diffusivity:1:5", "(1+x"}},
     false},
    {{"arguments", {"--mesh=square:2", "--source", "max(x)"}, {"--source:1:", "max"}}, false},
    {{"in a condition",
      {"--mesh=square:2", "--dirichlet", "left=x y"},
      {"--dirichlet left:1:3", "x y"}},
     false},
    {{"in a flux", {"--mesh=square:2", "--neumann", "left=)"}, {"--neumann left:1:1"}}, false},
    {{"in alpha", {"--mesh=square:2", "--robin", "left=1+,2"}, {"--robin left:1:3"}}, false},
    {{"in robin", {"--mesh=square:2", "--robin", "left=1,2 3"}, {"--robin left:1:"}}, false},
    {{"second line", {"--mesh=square:2", "--source", "x +\n y ++"}, {"--source:2:", " y ++"}},
     false},
    /* reported before the mesh is looked for */
    {{"before the mesh", {"--mesh=@/none.msh", "--source", "1 +"}, {"--source:1:"}}, false},
    {{"value not finite",
      {"--mesh=square:2", "--dirichlet", "left=1/x"},
      {"--dirichlet left", "finite", "hint:"}},
     false},
    {{"source not finite",
      {"--mesh=square:2", "--source", "log(x-2)"},
      {"--source", "finite", "hint:"}},
     false},
};

static const poisson_case mesh_cases[] = {
    {{"built in", {"--mesh=square:0"}, {"square:0", "hint:"}}, false},
    {{"built in", {"--mesh=cube:x"}, {"cube:x", "hint:"}}, false},
    {{"built in", {"--mesh=sqare:4"}, {"sqare:4", "hint:"}}, false},
    {{"missing .vtkhdf", {"--mesh=@/none.vtkhdf"}, {"none.vtkhdf", "hint:"}}, false},
    {{"not HDF5", {"--mesh=@/text.vtkhdf"}, {"text.vtkhdf", "hint:"}}, false},
    {{"missing .msh", {"--mesh=@/none.msh"}, {"none.msh", "hint:"}}, false},
    {{"missing .geo", {"--mesh=@/none.geo"}, {"none.geo", "hint:"}}, false},
    {{"unknown ending", {"--mesh=@/mesh.stl"}, {"mesh.stl", "hint:"}}, false},
    {{"folder", {"--mesh=@"}, {"hint:"}}, false},
    {{"truncated .msh", {"--mesh=@/truncated.msh"}, {"truncated.msh", "hint:"}}, true},
    {{"empty .msh", {"--mesh=@/empty.msh"}, {"empty.msh", "hint:"}}, true},
    {{"unknown element type", {"--mesh=@/unknown.msh"}, {"unknown.msh", "hint:"}}, true},
    {{"quadrilateral", {"--mesh=@/quad.msh"}, {"quad.msh", "hint:"}}, true},
    {{"NaN coordinate", {"--mesh=@/nan.msh"}, {"nan.msh", "hint:"}}, true},
    {{"zero volume", {"--mesh=@/flat.msh"}, {"flat.msh", "hint:"}}, true},
    {{"error in .geo", {"--mesh=@/error.geo"}, {"error.geo", "hint:"}}, true},
    {{"size without end",
      {"--mesh=@/square.geo", "--size=1e-12"},
      {"square.geo", "--size 1e-12 is too small", "2 across", "hint:"}},
     true},
};

static const poisson_case problem_cases[] = {
    {{"group",
      {"--mesh=square:2", "--dirichlet=lefft=1"},
      {"lefft", "left, right, bottom, top", "did you mean"}},
     false},
    {{"group", {"--mesh=square:2", "--neumann=inlet=1"}, {"inlet", "left, right, bottom, top"}},
     false},
    {{"group", {"--mesh=square:2", "--robin=inlet=1,1"}, {"inlet", "left, right, bottom, top"}},
     false},
    {{"pure Neumann",
      {"--mesh=square:4", "--source=1", "--neumann=left=0"},
      {"--neumann", "source", "1", "hint:"}},
     false},
    {{"pure Neumann",
      {"--mesh=square:4", "--source=1", "--neumann=left=-1.001"},
      {"source", "-1.001", "hint:"}},
     false},
    {{"Robin that is Neumann",
      {"--mesh=square:4", "--source=1", "--robin=left=0,3"},
      {"sum to zero", "3 (--neumann, --robin)", "hint:"}},
     false},
    {{"loose part",
      {"--mesh=@/two.msh", "--dirichlet=first=0"},
      {"two.msh", "2 parts that do not touch", "hint: add --dirichlet"}},
     true},
    {{"output folder", {"--mesh=square:2", "--output=@/none/u.vtkhdf"}, {"none/u.vtkhdf", "hint:"}},
     false},
    {{"output is a folder", {"--mesh=square:2", "--output=@"}, {"hint:"}}, false},
    {{"json folder", {"--mesh=square:2", "--json=@/none/u.json"}, {"none/u.json", "hint:"}}, false},
};

/* With --output before the case's own options, so that a later --output holds; a file that was
 * there stays. */
static void check_case(const char *folder, const bad_case *bad) {
    char *output = test_path(folder, "old.vtkhdf");
    unlink(output);
    for (int existing = 0; existing < 2; ++existing) {
        if (existing)
            test_text_write(output, "old");
        test_run run = bad_run("poisson", folder, "--output=@/old.vtkhdf", bad->arguments);
        bad_check(bad, 2, &run);
        test_run_free(&run);
        char *text = test_file_read(output, NULL);
        if (existing)
            assert_string_equal("old", text);
        else
            assert_null(text);
        free(text);
    }
    free(output);
}

/* MSH 2.2 with two triangles: nodes and elements as given. */
static void write_mesh(const char *folder, const char *name, const char *nodes,
                       const char *elements) {
    char *path = test_path(folder, name), *text = NULL;
    assert_true(
        asprintf(&text,
                 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n%s$EndNodes\n$Elements\n2\n%s",
                 nodes, elements) > 0);
    test_text_write(path, text);
    free(text);
    free(path);
}

static void write_file(const char *folder, const char *name, const char *text) {
    char *path = test_path(folder, name);
    test_text_write(path, text);
    free(path);
}

static int make_files(void **state) {
    static const char nodes[] = "1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n";
    char *folder = test_folder_make();
    write_file(folder, "text.vtkhdf", "no HDF5\n");
    write_file(folder, "mesh.stl", "solid\n");
    write_file(folder, "empty.msh", "");
    write_mesh(folder, "truncated.msh", nodes, "1 2 2 1 1 1 2 3\n");
    write_mesh(folder, "unknown.msh", nodes, "1 2 2 1 1 1 2 3\n2 977 2 1 1 1 3 4\n$EndElements\n");
    write_mesh(folder, "quad.msh", nodes, "1 2 2 1 1 1 2 3\n2 3 2 1 1 1 2 3 4\n$EndElements\n");
    write_mesh(folder, "nan.msh", "1 0 0 0\n2 nan 0 0\n3 1 1 0\n4 0 1 0\n",
               "1 2 2 1 1 1 2 3\n2 2 2 1 1 1 3 4\n$EndElements\n");
    write_mesh(folder, "flat.msh", "1 0 0 0\n2 1 0 0\n3 1 1 0\n4 2 2 0\n",
               "1 2 2 1 1 1 2 3\n2 2 2 1 1 1 3 4\n$EndElements\n");
    write_file(folder, "two.msh",
               "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n1 7 "
               "\"first\"\n$EndPhysicalNames\n"
               "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 5 0 0\n5 6 0 0\n6 6 1 0\n$EndNodes\n"
               "$Elements\n3\n1 1 2 7 1 1 2\n2 2 2 1 1 1 2 3\n3 2 2 1 1 4 5 6\n$EndElements\n");
    write_file(folder, "square.geo",
               "Point(1) = {0, 0, 0};\nPoint(2) = {2, 0, 0};\nPoint(3) = {0, 1, 0};\n"
               "Line(1) = {1, 2};\nLine(2) = {2, 3};\nLine(3) = {3, 1};\n"
               "Curve Loop(1) = {1, 2, 3};\nPlane Surface(1) = {1};\n");
    write_file(folder, "error.geo", "Point(1) = {0, 0, 0, 0.1};\nPoint(2) = {1, 0, 0;\n");
    *state = folder;
    return 0;
}

static int remove_files(void **state) {
    char *folder = *state;
    test_folder_remove(&folder);
    return 0;
}

static void check_cases(void **state, const poisson_case *cases, size_t n) {
    bool gmsh = access(WEFT_BINARY_DIR "/weft-gmsh", X_OK) == 0;
    size_t n_skipped = 0;
    for (size_t i = 0; i < n; ++i) {
        if (cases[i].gmsh && !gmsh)
            ++n_skipped;
        else
            check_case(*state, &cases[i].bad);
    }
    if (n_skipped > 0)
        skip_test("weft-gmsh is not part of this build; what needs no Gmsh has passed");
}

static void test_usage(void **state) {
    check_cases(state, usage_cases, sizeof usage_cases / sizeof usage_cases[0]);
}

static void test_expressions(void **state) {
    check_cases(state, expression_cases, sizeof expression_cases / sizeof expression_cases[0]);
}

static void test_meshes(void **state) {
    check_cases(state, mesh_cases, sizeof mesh_cases / sizeof mesh_cases[0]);
}

static void test_problems(void **state) {
    check_cases(state, problem_cases, sizeof problem_cases / sizeof problem_cases[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage), cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_meshes), cmocka_unit_test(test_problems)};
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
