/* labels: full
 * solve with form files in elements of degrees 1 to 4 on every cell: orders k + 1 in L2 and k in H1 within 0.1 for a
 * known solution that is no polynomial, coefficients in other spaces, boundary terms, and what is refused. */
#include "solve_run.h"

#include <unistd.h>

#define SINE_2 "sin(pi*x)*sin(pi*y)"
#define SINE_3 "sin(pi*x)*sin(pi*y)*sin(pi*z)"

static char file[64];

static int write_forms(void **state) {
    (void)state;
    snprintf(file, sizeof file, "/tmp/weft-forms-%ld.ufl", (long)getpid());
    return 0;
}

static int remove_forms(void **state) {
    (void)state;
    return unlink(file) == 0 ? 0 : -1;
}

static void put(const char *text) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static const struct {
    const char *cell, *meshes[2];
    int degree;
    const char *source, *exact;
} cases[] = {
    {"interval", {"interval:4", "interval:8"}, 4, "f=pi^2*sin(pi*x)", "sin(pi*x)"},
    {"triangle", {"square:8", "square:16"}, 2, "f=2*pi^2*" SINE_2, SINE_2},
    {"quadrilateral", {"quads:4", "quads:8"}, 3, "f=2*pi^2*" SINE_2, SINE_2},
    {"tetrahedron", {"cube:4", "cube:8"}, 3, "f=3*pi^2*" SINE_3, SINE_3},
    {"hexahedron", {"hexes:4", "hexes:8"}, 2, "f=3*pi^2*" SINE_3, SINE_3},
};

static void orders(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        json_t *runs[2];
        snprintf(text, sizeof text,
                 "V = FiniteElement('P', %s, %d)\n"
                 "u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)\n"
                 "a, L = inner(grad(u), grad(v))*dx, f*v*dx\n",
                 cases[i].cell, cases[i].degree);
        put(text);
        for (int k = 0; k < 2; ++k)
            runs[k] = SOLVE(0, file, "--mesh", cases[i].meshes[k], "--input", cases[i].source,
                            "--exact", cases[i].exact, "--tolerance", "1e-11", "--device", "host:1");
        assert_double_near(poisson_order(runs[0], runs[1], "l2_error"), cases[i].degree + 1, 0.1,
                           0);
        assert_double_near(poisson_order(runs[0], runs[1], "h1_error"), cases[i].degree, 0.1, 0);
        json_decref(runs[0]);
        json_decref(runs[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
    };
    return cmocka_run_group_tests(tests, write_forms, remove_forms);
}
