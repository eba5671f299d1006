/* labels: full */
/* Predicted iterations of CG with Jacobi's preconditioner beside those of a solve, for elements of all cells, degrees 1 to 3,
 * scalars, vectors and elasticity, with one side held or all.
 * Tolerance: a factor of 2, as the prediction promises for even coefficients, which does not know the conditions. Of a body it
 * takes one side to be held: a quarter more or less there, and 4.5 times as many as where all are. */
#include "solve_run.h"

typedef struct sample {
    const char *cell, *mesh;
    int degree, components; /* 0 components: a scalar */
    bool is_elastic;
    const char *held;
    double factor;
} sample;

static const sample samples[] = {
    {"interval", "interval:60", 1, 0, false, "boundary", 2},
    {"triangle", "square:24", 1, 0, false, "boundary", 2},
    {"triangle", "square:24", 1, 0, false, "left", 2},
    {"triangle", "square:8", 3, 0, false, "left", 2},
    {"quadrilateral", "quads:12", 2, 0, false, "boundary", 2},
    {"quadrilateral", "quads:12", 2, 0, false, "left", 2},
    {"tetrahedron", "cube:8", 1, 0, false, "boundary", 2},
    {"triangle", "square:24", 1, 2, false, "boundary", 2},
    {"triangle", "square:24", 1, 2, true, "left", 1.25},
    {"tetrahedron", "cube:8", 1, 3, true, "left", 1.25},
    {"tetrahedron", "cube:8", 1, 3, true, "boundary", 4.5},
    {"hexahedron", "hexes:8", 1, 3, true, "left", 1.25},
};

static void write_form(const sample *s, const char *path) {
    char text[1500], shape[32] = "";
    const int d = strstr(s->mesh, "cube") || strstr(s->mesh, "hexes") ? 3
                  : strstr(s->mesh, "interval")                       ? 1
                                                                      : 2;
    if (s->components > 0)
        snprintf(shape, sizeof shape, ", shape=(%d,)", s->components);
    snprintf(text, sizeof text,
             "from ufl import *\n"
             "from basix.ufl import element\n"
             "domain = Mesh(element('Lagrange', '%s', 1, shape=(%d,)))\n"
             "V = FunctionSpace(domain, element('Lagrange', '%s', %d%s))\n"
             "u, v, x = TrialFunction(V), TestFunction(V), SpatialCoordinate(domain)\n"
             "a = %s*dx\n"
             "L = (1 + 3*x[0]**2 + sin(5*x[%d] + 1))*v%s*dx\n",
             s->cell, d, s->cell, s->degree, shape,
             s->is_elastic ? "(0.5769*div(u)*div(v) + 0.7692*inner(sym(grad(u)), sym(grad(v))))"
                           : "inner(grad(u), grad(v))",
             d - 1, s->components == 0 ? "" : "[1]");
    test_text_write(path, text);
}

static void predicted(void **state) {
    char *folder = test_folder_make(), *form = test_path(folder, "form.py");
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        const sample *s = &samples[i];
        char condition[40];
        snprintf(condition, sizeof condition, "%s=0%s", s->held,
                 s->components == 3   ? ",0,0"
                 : s->components == 2 ? ",0"
                                      : "");
        write_form(s, form);
        json_t *root = SOLVE(0, form, "--mesh", s->mesh, "--dirichlet", condition, "--method=cg",
                             "--preconditioner=jacobi", "--tolerance=1e-8");
        const double ratio =
            app_number(root, "iterations") / app_number(root, "expected_iterations");
        if (!(ratio < s->factor && ratio > 1 / s->factor))
            fail_msg("%s of degree %d on %s, %d components, %s held: %g times as many iterations",
                     s->cell, s->degree, s->mesh, s->components, s->held, ratio);
        json_decref(root);
    }
    free(form);
    test_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(predicted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
