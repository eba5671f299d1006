/* labels: full
 * Quantities on an interface between two materials, whose facets have cells of either material first: the side is named, a
 * formula that depends on it is refused otherwise, and the heat through the interface is that through the wall, 1-D by hand. In
 * poisson and in forms on triangles, quadrilaterals and hexahedra. Also: options in any order.
 * Tolerance: 1e-8 of fluxes of 2, for systems that are solved to 1e-13. */
#include "solve_run.h"

/* The least to compile. */
#define DEVICE "--device", "host:1:sse2"
#define SOLVER "--tolerance", "1e-13", DEVICE

enum { COLUMNS = 4, ROWS = 3 };
static const double NEAR = 1e-8, heat = 25 / (0.5 / 0.6 + 0.5 / 0.04);
static char *folder, mesh[4096], file[4096];

static int setup(void **state) {
    (void)state;
    folder = test_folder_make();
    snprintf(mesh, sizeof mesh, "%s/wall.msh", folder);
    snprintf(file, sizeof file, "%s/forms.ufl", folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    test_folder_remove(&folder);
    return 0;
}

static int node(int i, int j, int k) {
    return 1 + i + (COLUMNS + 1) * (j + (ROWS + 1) * k);
}

/* An element of MSH 2.2: its number, type, two tags and nodes. */
static void put_element(FILE *stream, int *n, int type, int group, int n_nodes, const int *nodes) {
    fprintf(stream, "%d %d 2 %d %d", ++*n, type, group, group);
    for (int i = 0; i < n_nodes; ++i)
        fprintf(stream, " %d", nodes[i]);
    fputc('\n', stream);
}

/* The cells of square or cube i, j. */
static void put_cells(FILE *stream, int *n, int d, bool splits, int i, int j) {
    const int group = i < COLUMNS / 2 ? 1 : 2;
    const int at[8] = {node(i, j, 0), node(i + 1, j, 0), node(i + 1, j + 1, 0), node(i, j + 1, 0),
                       node(i, j, 1), node(i + 1, j, 1), node(i + 1, j + 1, 1), node(i, j + 1, 1)};
    if (!splits) {
        put_element(stream, n, d == 2 ? 3 : 5, group, d == 2 ? 4 : 8, at);
        return;
    }
    put_element(stream, n, 2, group, 3, (const int[3]){at[0], at[1], at[2]});
    put_element(stream, n, 2, group, 3, (const int[3]){at[0], at[2], at[3]});
}

/* The unit square or cube, whose cells are numbered to and fro. */
static void make_mesh(int d, bool splits) {
    const int layers = d == 3 ? 2 : 1, n_cells = COLUMNS * ROWS * (splits ? 2 : 1);
    FILE *stream = fopen(mesh, "w");
    int n = 0;
    assert_non_null(stream);
    fprintf(
        stream,
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n%d 1 \"brick\"\n%d 2 \"wool\"\n"
        "%d 3 \"inside\"\n%d 4 \"outside\"\n%d 5 \"mid\"\n$EndPhysicalNames\n$Nodes\n%d\n",
        d, d, d - 1, d - 1, d - 1, (COLUMNS + 1) * (ROWS + 1) * layers);
    for (int k = 0; k < layers; ++k)
        for (int j = 0; j <= ROWS; ++j)
            for (int i = 0; i <= COLUMNS; ++i)
                fprintf(stream, "%d %.17g %.17g %d\n", node(i, j, k), (double)i / COLUMNS,
                        (double)j / ROWS, k);
    fprintf(stream, "$EndNodes\n$Elements\n%d\n", 3 * ROWS + n_cells);
    for (int side = 0; side < 3; ++side)
        for (int j = 0; j < ROWS; ++j) {
            const int i = side * COLUMNS / 2, group = side == 0 ? 3 : side == 2 ? 4 : 5;
            const int at[4] = {node(i, j, 0), node(i, j + 1, 0), node(i, j + 1, 1), node(i, j, 1)};
            put_element(stream, &n, d == 2 ? 1 : 3, group, d == 2 ? 2 : 4, at);
        }
    for (int j = 0; j < ROWS; ++j)
        for (int i = 0; i < COLUMNS; ++i)
            put_cells(stream, &n, d, splits, j % 2 ? COLUMNS - 1 - i : i, j);
    fputs("$EndElements\n", stream);
    assert_int_equal(fclose(stream), 0);
}

static void check(const json_t *root, size_t i, double wanted) {
    expect(solve_item(root, "derived", i, "integral", 0), wanted, NEAR);
}

#define WALL "--mesh", mesh, "--dirichlet", "inside=20", "--dirichlet", "outside=-5"
#define POISSON_WALL                                                                               \
    WALL, "--source", "0", "--diffusivity", "@brick=0.6", "--diffusivity", "@wool=0.04", SOLVER

/* --integral stands before the --derive that it names; sums over the sides of a material are zero. */
static void sides(void **state) {
    (void)state;
    make_mesh(2, true);
    json_t *root = POISSON(
        0, POISSON_WALL, "--integral", "q@mid|brick = dot(flux, normal)", "--integral",
        "q@mid|wool = dot(flux, normal)", "--integral", "q@outside = dot(flux, normal)",
        "--integral", "q@boundary|brick = dot(flux, normal)", "--integral", "k@mid|wool = kappa",
        "--integral", "n@mid|brick = normal", "--integral", "one@mid = 1", "--integral",
        "u@mid = u", "--integral", "one@brick = 1", "--extrema", "g@mid|wool = slope", "--derive",
        "slope = norm2(flux)/kappa", "--derive", "flux = -kappa*grad(u)");
    check(root, 0, heat);
    check(root, 1, -heat);
    check(root, 2, heat);
    check(root, 3, -heat);
    check(root, 4, 0.04);
    check(root, 5, 1);
    check(root, 6, 1);
    check(root, 7, 20 - heat * 0.5 / 0.6);
    check(root, 8, 0.5);
    expect(solve_item(root, "derived", 9, "least", 0), heat / 0.04, 1e-6);
    json_decref(root);
}

/* A command that must fail with a message. */
static void check_refusal(const char *program, const char *const *arguments, const char *expected) {
    char path[4096];
    const char *command[APP_ARGUMENTS_MAX] = {path};
    snprintf(path, sizeof path, "%s/%s", WEFT_BINARY_DIR, program);
    for (int i = 0; arguments[i]; ++i)
        command[i + 1] = arguments[i];
    test_run run = test_program(command, NULL);
    if (run.exit_code != 2 || !strstr(run.error, expected))
        fail_msg("exit %d, expected '%s' in:\n%s", run.exit_code, expected, run.error);
    test_run_free(&run);
}

#define REFUSED(program, expected, ...)                                                            \
    check_refusal(program, (const char *const[]){__VA_ARGS__, NULL}, expected)

static void refusals(void **state) {
    (void)state;
    static const char named[] = "name the side by its cells: q@mid|brick or q@mid|wool";
    make_mesh(2, true);
    REFUSED("poisson", named, POISSON_WALL, "--integral", "q@mid = dot(grad(u), normal)");
    REFUSED("poisson", named, POISSON_WALL, "--integral", "q@mid = kappa");
    REFUSED("poisson", named, POISSON_WALL, "--integral", "q@mid = norm2(grad(u))");
    REFUSED("poisson", "no facet of 'outside' has a cell of 'brick' on a side", POISSON_WALL,
            "--integral", "q@outside|brick = 1");
    REFUSED("poisson", "group `inside` of", POISSON_WALL, "--integral", "q@mid|inside = 1");
}

/* The coefficient jumps; functions that are continuous have one value. */
static void forms(void **state) {
    (void)state;
    static const char *const shapes[] = {"triangle", "quadrilateral", "hexahedron"};
    for (int i = 0; i < 3; ++i) {
        make_mesh(i == 2 ? 3 : 2, i == 0);
        FILE *stream = fopen(file, "w");
        assert_non_null(stream);
        fprintf(stream,
                "V = FiniteElement('P', %s, %d)\n"
                "u, v, f = TrialFunction(V), TestFunction(V), Constant(%s)\n"
                "k = Coefficient(FiniteElement('DG', %s, 0))\n"
                "a, L = k*inner(grad(u), grad(v))*dx, f*v*dx\n",
                shapes[i], i == 0 ? 2 : 1, shapes[i], shapes[i]);
        assert_int_equal(fclose(stream), 0);
        json_t *root =
            SOLVE(0, file, WALL, "--input", "f=0", "--input", "k@brick=0.6", "--input",
                  "k@wool=0.04", SOLVER, "--integral", "q@mid|brick = dot(flux, normal)",
                  "--integral", "q@mid|wool = dot(-k*grad(u), normal)", "--integral",
                  "k@mid|brick = k", "--integral", "u@mid = u", "--derive", "flux = -k*grad(u)");
        check(root, 0, heat);
        check(root, 1, -heat);
        check(root, 2, 0.6);
        check(root, 3, 20 - heat * 0.5 / 0.6);
        json_decref(root);
        REFUSED("solve", "q@mid|brick or q@mid|wool", file, WALL, "--input", "f=0", "--input",
                "k=1", SOLVER, "--integral", "q@mid = k");
    }
}

/* Fields are written in the order in which they are given, whatever they name; not in a circle. */
static void order(void **state) {
    (void)state;
    json_t *root =
        POISSON(0, "--mesh", "square:2", "--integral", "I = b", "--derive", "b = 2*a", "--derive",
                "a = x + c", "--extrema", "E = c", "--derive", "c = 1", DEVICE);
    check(root, 0, 3);
    expect(solve_item(root, "derived", 1, "least", 0), 1, 0);
    json_decref(root);
    REFUSED("poisson", "depends on itself", "--mesh", "square:2", "--derive", "b = 2*a", "--derive",
            "a = x + b", DEVICE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sides), cmocka_unit_test(refusals),
                                       cmocka_unit_test(forms), cmocka_unit_test(order)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
