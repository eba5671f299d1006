/* labels: full */
/* What holds a body softly holds it: springs and films far below the stiffness of what they touch, or of parts that
 * do not touch, and below its rounding. A body of modulus E on springs k under a load k moves by 1. */
#include "solve_run.h"

/* Squares [0, 1] and [3, 4], each of two triangles; the ends of the second are left2 and right2. */
static const char two_parts[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n1 1 \"left\"\n1 2 \"left2\"\n1 3 "
    "\"right2\"\n"
    "2 4 \"A\"\n2 5 \"B\"\n$EndPhysicalNames\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 3 0 "
    "0\n"
    "6 4 0 0\n7 4 1 0\n8 3 1 0\n$EndNodes\n$Elements\n7\n1 1 2 1 1 1 4\n2 1 2 2 2 5 8\n3 1 2 3 3 6 "
    "7\n"
    "4 2 2 4 4 1 2 3\n5 2 2 4 4 1 3 4\n6 2 2 5 5 5 6 7\n7 2 2 5 5 5 7 8\n$EndElements\n";

static double moved(const json_t *root, size_t i, size_t k) {
    return solve_item(root, "probes", i, "u", k);
}

/* A bar of length and modulus 1 on springs of 1, pulled by 0.1, beside a part of any modulus. */
static void another_part_does_not_matter(void **state) {
    (void)state;
    static const char *const moduli[] = {"young@A=1", "young@A=1e9", "young@A=1e13"};
    char *folder = test_folder_make(), *mesh = test_path(folder, "two.msh");
    test_text_write(mesh, two_parts);
    for (int i = 0; i < 3; ++i) {
        json_t *root = SOLVE(0, "elasticity.weft", "--mesh", mesh, "--define", moduli[i],
                             "--define", "young@B=1", "--define", "poisson=0", "--dirichlet",
                             "left=0,0", "--robin", "left2=1,0,0", "--neumann", "left2=-0.1,0",
                             "--neumann", "right2=0.1,0", "--probe", "3,0.5", "--probe", "4,0.5");
        assert_double_near(moved(root, 0, 0), 0, 0, 1e-9);
        assert_double_near(moved(root, 1, 0), 0.1, 0, 1e-8);
        json_decref(root);
    }
    free(mesh);
    test_folder_remove(&folder);
}

static const char *const springs[] = {"1e9", "1e3", "1", "1e-6"};

static void a_stiff_body_on_soft_springs(void **state) {
    (void)state;
    for (int i = 0; i < 4; ++i)
        for (int d = 2; d <= 3; ++d) {
            char robin[64], load[64];
            const double k = atof(springs[i]);
            snprintf(robin, sizeof robin, "left=%s,0,0%s", springs[i], d == 3 ? ",0" : "");
            snprintf(load, sizeof load, "right=%s,0%s", springs[i], d == 3 ? ",0" : "");
            json_t *root =
                SOLVE(0, "elasticity.weft", "--mesh", d == 3 ? "cube:2" : "square:4", "--define",
                      "young=2e11", "--define", "poisson=0", "--robin", robin, "--neumann", load,
                      "--reactions", "--probe", d == 3 ? "0,0.5,0.5" : "0,0.5", "--probe",
                      d == 3 ? "1,0.5,0.5" : "1,0.5");
            assert_double_near(moved(root, 0, 0), 1, 0, 1e-6);
            assert_double_near(moved(root, 1, 0), 1 + k / 2e11, 0, 1e-6);
            assert_double_near(moved(root, 1, 1), 0, 0, 1e-6);
            const json_t *balance = json_object_get(root, "balance");
            assert_non_null(balance);
            for (int c = 0; c < d; ++c) /* of k; the springs carry the load */
                assert_true(fabs(json_number_value(json_array_get(balance, (size_t)c))) < 1e-6 * k);
            /* sigma^2 / (2 E): four digits of the difference are left where the springs see 1 and it 0.01 */
            assert_double_near(app_number(root, "energy"), k * k / 4e11, 1e-3, 0);
            json_decref(root);
        }
}

/* Loads that balance stretch the body by 5e-12, and its left end stays. */
static void a_stretched_body_on_soft_springs(void **state) {
    (void)state;
    for (int i = 1; i < 3; ++i) {
        char robin[64];
        snprintf(robin, sizeof robin, "left=%s,0,0", springs[i]);
        json_t *root = SOLVE(0, "elasticity.weft", "--mesh", "square:8", "--define", "young=2e11",
                             "--define", "poisson=0", "--robin", robin, "--neumann", "left=-1,0",
                             "--neumann", "right=1,0", "--probe", "0,0.5", "--probe", "1,0.5");
        assert_double_near(moved(root, 0, 0), 0, 0, 1e-15); /* rounding of the loads over 1 */
        assert_double_near(moved(root, 1, 0), 5e-12, 1e-3, 0);
        json_decref(root);
    }
}

static void a_film_on_a_good_conductor(void **state) {
    (void)state;
    for (int i = 0; i < 4; ++i) {
        char robin[64], flux[64];
        const double k = atof(springs[i]);
        snprintf(robin, sizeof robin, "left=%s,%s*3", springs[i], springs[i]);
        snprintf(flux, sizeof flux, "right=%s", springs[i]);
        for (int script = 0; script < 2; ++script) {
            json_t *root = script
                               ? SOLVE(0, "diffusion.weft", "--mesh", "square:6", "--define",
                                       "diffusivity=2e11", "--define", "source=0", "--robin", robin,
                                       "--neumann", flux, "--probe", "0,0.5", "--probe", "1,0.5")
                               : POISSON(0, "--mesh", "square:6", "--diffusivity", "2e11",
                                         "--source", "0", "--robin", robin, "--neumann", flux,
                                         "--probe", "0,0.5", "--probe", "1,0.5");
            assert_double_near(moved(root, 0, 0), 4, 0, 1e-5);
            assert_double_near(moved(root, 1, 0), 4 + k / 2e11, 0, 1e-5);
            if (i > 0)
                assert_double_near(app_number(root, "energy"), k * k / 4e11, 1e-3, 0);
            json_decref(root);
        }
    }
}

static const char form[] =
    "element = %s(\"Lagrange\", triangle, %d)\nu, v = TrialFunction(element), "
    "TestFunction(element)\n"
    "E = Constant(triangle); k = Constant(triangle)\n"
    "a = E*inner(grad(u), grad(v))*dx + k*inner(u, v)*ds(1)\nL = k*%s*ds(2)\n";

static void refuse(const char *path, const char *k, const char *neumann) {
    const char *const command[] = {WEFT_BINARY_DIR "/solve",
                                   path,
                                   "--mesh",
                                   "square:6",
                                   "--input",
                                   "E=2e11",
                                   "--input",
                                   k,
                                   "--measure",
                                   "ds(1)=left",
                                   "--measure",
                                   "ds(2)=right",
                                   "--neumann",
                                   neumann,
                                   NULL};
    test_run run = test_program(command, NULL);
    assert_int_equal(2, run.exit_code);
    assert_non_null(strstr(run.error, "fewer than five digits of u would be right"));
    test_run_free(&run);
}

/* The same in form files, in elements of degrees 1 and 2. */
static void springs_of_form_files(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "spring.ufl");
    for (int i = 0; i < 16; ++i) {
        const int degree = 1 + (i / 2) % 2, vector = i % 2, spring = i / 4;
        char text[600], k[32];
        const char *const neumann = vector ? "boundary=0,0" : "boundary=0";
        snprintf(text, sizeof text, form, vector ? "VectorElement" : "FiniteElement", degree,
                 vector ? "v[0]" : "v");
        test_text_write(path, text);
        snprintf(k, sizeof k, "k=%s", springs[spring]);
        json_t *root = SOLVE(0, path, "--mesh", "square:6", "--input", "E=2e11", "--input", k,
                             "--measure", "ds(1)=left", "--measure", "ds(2)=right", "--neumann",
                             neumann, "--probe", "0,0.5", "--probe", "1,0.5");
        assert_double_near(moved(root, 0, 0), 1, 0, 1e-5);
        assert_double_near(moved(root, 1, 0), 1 + atof(springs[spring]) / 2e11, 0, 1e-5);
        json_decref(root);
    }
    free(path);
    test_folder_remove(&folder);
}

/* Motions are computed apart where the matrix is symmetric; of others, what double precision cannot tell is refused. */
static void springs_with_convection(void **state) {
    (void)state;
    char *folder = test_folder_make(), *path = test_path(folder, "spring.ufl"), text[600];
    for (int degree = 1; degree < 3; ++degree) {
        snprintf(text, sizeof text, form, "FiniteElement", degree, "v");
        strcat(text, "a += E*u.dx(0)*v*dx\n");
        test_text_write(path, text);
        refuse(path, "k=1", "boundary=0");
    }
    free(path);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_part_does_not_matter),
        cmocka_unit_test(a_stiff_body_on_soft_springs),
        cmocka_unit_test(a_stretched_body_on_soft_springs),
        cmocka_unit_test(a_film_on_a_good_conductor),
        cmocka_unit_test(springs_of_form_files),
        cmocka_unit_test(springs_with_convection),
    };
    return test_exit_code(cmocka_run_group_tests(tests, NULL, NULL), sizeof tests / sizeof *tests);
}
