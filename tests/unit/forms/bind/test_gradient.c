/* labels: quick */
/* Gradients of functionals of the solution. Expected: central differences of J, solved for each value of the control, whose
 * error is that of h^2 = 1e-6 times third derivatives, and the solver's tolerance, 1e-12, over h; an optimality system with a known
 * solution. */
#include "forms/weft_gradient.h"
#include "setting.h"

#include <stdio.h>

static const double H = 1e-3, TOLERANCE = 1e-12;
enum { INPUTS = 4, CONDITIONS = 6 };

typedef struct input {
    const char *name, *value,
        *direction; /* direction NULL: no control. Formulas, one for each component */
} input;

typedef struct example {
    const char *name, *text, *functional;
    weft_cell_type cell;
    int n; /* of the mesh */
    bool nonlinear;
    input inputs[INPUTS];
    struct {
        const char *group, *value, *direction;
        int component;
    } conditions[CONDITIONS];
} example;

static weft_mesh *mesh_of(weft_cell_type cell, int n) {
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    check(cell == WEFT_TRIANGLE      ? weft_mesh_make_square(n, &mesh, &error)
          : cell == WEFT_TETRAHEDRON ? weft_mesh_make_cube(n, &mesh, &error)
                                     : weft_mesh_make_boxes(cell, n, &mesh, &error),
          &error);
    return mesh;
}

/* A problem of an example, whose control is moved. */
typedef struct solved {
    setting s;
    weft_problem_value values[INPUTS];
    char texts[INPUTS + CONDITIONS][400];
    weft_bind_options bind;
    weft_problem_options options;
} solved;

/* "a + h*(b), ..." of the components of two lists. */
static void moved(const char *value, const char *direction, double h, char out[400]) {
    char a[200], b[200], *next_a = a, *next_b = b;
    size_t at = 0;
    snprintf(a, sizeof a, "%s", value);
    snprintf(b, sizeof b, "%s", direction);
    out[0] = 0;
    while (next_a) {
        char *one = next_a, *other = next_b;
        next_a = strchr(one, ';');
        next_b = strchr(other, ';');
        if (next_a)
            *next_a++ = 0;
        if (next_b)
            *next_b++ = 0;
        at += (size_t)snprintf(out + at, 400 - at, "%s%s + %.17g*(%s)", at ? ", " : "", one, h,
                               other);
    }
}

/* which: the input that is moved, or INPUTS: the conditions */
static void open_example(solved *p, const example *e, int which, double h) {
    weft_error error = {0};
    weft_problem_report report;
    int n = 0;
    open_setting(&p->s, mesh_of(e->cell, e->n), e->text);
    for (int i = 0; i < INPUTS && e->inputs[i].name; ++i) {
        const input *one = &e->inputs[i];
        moved(one->value, which == i ? one->direction : one->value, which == i ? h : 0,
              p->texts[i]);
        p->values[n++] = (weft_problem_value){.name = one->name, .source.text = p->texts[i]};
    }
    p->bind = weft_bind_options_default();
    p->bind.values = p->values;
    p->bind.n_values = n;
    p->options = weft_problem_options_default();
    p->options.tolerance = TOLERANCE;
    for (int i = 0; i < CONDITIONS && e->conditions[i].group; ++i) {
        const char *direction = e->conditions[i].direction;
        char *text = p->texts[INPUTS + i];
        snprintf(text, 400, "%s", e->conditions[i].value);
        if (which == INPUTS && direction)
            moved(e->conditions[i].value, direction, h, text);
        fix(&p->s, e->conditions[i].group, e->conditions[i].component, text);
    }
    check(weft_ufl_bind(p->s.ufl, p->s.mesh, p->s.library, &p->bind, p->s.problem, &error), &error);
    if (!e->nonlinear) {
        check(weft_problem_solve(p->s.problem, &p->options, &report, &error), &error);
        assert_int_equal(report.result->outcome, WEFT_CG_CONVERGED);
        return;
    }
    weft_newton_options newton = weft_newton_options_default();
    newton.tolerance = 1e-11;
    check(weft_problem_solve_nonlinear(p->s.problem, &p->options, &newton, &report, &error),
          &error);
    assert_true(report.newton->converged);
}

static void open_gradient(solved *p, const example *e, weft_gradient **out) {
    weft_error error = {0};
    weft_gradient_options options = weft_gradient_options_default();
    options.functional = e->functional;
    options.bind = &p->bind;
    options.solve = &p->options;
    check(weft_gradient_make(p->s.problem, &options, out, &error), &error);
    assert_int_equal(weft_gradient_report(*out)->result->outcome, WEFT_CG_CONVERGED);
}

static double value_of(const example *e, int which, double h) {
    solved p;
    weft_gradient *gradient = NULL;
    open_example(&p, e, which, h);
    open_gradient(&p, e, &gradient);
    const double value = weft_gradient_value(gradient);
    weft_gradient_free(&gradient);
    close_setting(&p.s);
    return value;
}

/* The derivative in the direction, whose values at the nodes are formulas: of (a; b) the component k is the k-th, or the only one
 * that is not zero. */
static double along(solved *p, const weft_gradient_of *of, const char *direction, int only) {
    weft_error error = {0};
    const weft_space *const *spaces = NULL;
    const int n_spaces = weft_problem_spaces(of->problem, &spaces);
    char text[200], *next = text;
    double sum = 0;
    int64_t first = 0;
    int component = 0;
    snprintf(text, sizeof text, "%s", direction);
    for (int f = 0; f < (n_spaces ? n_spaces : 1); ++f) {
        const weft_space *space = n_spaces ? spaces[f] : weft_problem_space(of->problem);
        const int components = weft_space_components(space);
        const int64_t nodes = weft_space_nodes(space);
        for (int k = 0; k < components; ++k, ++component) {
            if (only >= 0 && component != only)
                continue;
            double *values = NULL;
            weft_memory *memory = NULL;
            char *one = next;
            next = one ? strchr(one, ';') : NULL;
            if (next)
                *next++ = 0;
            check(weft_vector_make(p->s.context.device, nodes, &values, &memory, &error), &error);
            check(
                weft_space_evaluate(&p->s.context, space, one, "direction", memory, values, &error),
                &error);
            for (int64_t i = 0; i < nodes; ++i)
                sum += of->derivative[first + i * components + k] * values[i];
            weft_memory_free(&memory);
            free(values);
        }
        first += nodes * components;
    }
    assert_int_equal(first, of->n);
    return sum;
}

static double along_numbers(const weft_gradient_of *of, const char *direction) {
    double sum = 0;
    for (int k = 0; k < of->n_numbers; ++k) {
        sum += of->numbers[k] * strtod(direction, NULL);
        direction = strchr(direction, ';') ? strchr(direction, ';') + 1 : direction;
    }
    return sum;
}

static void check_control(const example *e, int which) {
    weft_error error = {0};
    solved p;
    weft_gradient *gradient = NULL;
    weft_gradient_of of;
    double made = 0;
    const double expected = (value_of(e, which, H) - value_of(e, which, -H)) / (2 * H);
    open_example(&p, e, which, 0);
    open_gradient(&p, e, &gradient);
    check(
        weft_gradient_control(gradient, which < INPUTS ? e->inputs[which].name : NULL, &of, &error),
        &error);
    if (of.n_numbers > 0)
        made = along_numbers(&of, e->inputs[which].direction);
    else if (which < INPUTS)
        made = along(&p, &of, e->inputs[which].direction, -1);
    for (int i = 0; i < CONDITIONS && e->conditions[i].group && which == INPUTS; ++i)
        if (e->conditions[i].direction) /* 0 where nothing is prescribed */
            made = along(&p, &of, e->conditions[i].direction, e->conditions[i].component);
    if (!(fabs(made - expected) < 1e-5 * fabs(expected) && fabs(expected) > 1e-9))
        fail_msg("%s, %s: %.10g, expected %.10g", e->name,
                 which < INPUTS ? e->inputs[which].name : "conditions", made, expected);
    weft_gradient_free(&gradient);
    close_setting(&p.s);
}

#define SCALAR(cell, degree)                                                                       \
    "V = FiniteElement('Lagrange', " cell ", " degree ")\n"                                        \
    "u, v = TrialFunction(V), TestFunction(V)\n"                                                   \
    "unknown = Coefficient(V)\n"
#define VECTOR(cell, degree)                                                                       \
    "V = VectorElement('Lagrange', " cell ", " degree ")\n"                                        \
    "u, v = TrialFunction(V), TestFunction(V)\n"                                                   \
    "unknown = Coefficient(V)\n"

static const example examples[] = {
    {"source",
     SCALAR("triangle", "1") "f, d = Coefficient(V), Coefficient(V)\n"
                             "a, L = inner(grad(u), grad(v))*dx, f*v*dx\n"
                             "J = 0.5*(unknown - d)**2*dx + 0.1*f**2*dx\n",
     "J",
     WEFT_TRIANGLE,
     4,
     false,
     {{"f", "1 + x", "sin(3*x) + y"}, {"d", "x*y", "1 + y"}},
     {{"boundary", "x*x", "cos(y) + x", 0}}},
    {"conductivity",
     SCALAR(
         "triangle",
         "2") "Q = FiniteElement('Lagrange', triangle, 1)\nW = FiniteElement('DG', triangle, 0)\n"
              "k, w, c = Coefficient(Q), Coefficient(W), Constant(triangle)\n"
              "a, L = exp(k)*w*inner(grad(u), grad(v))*dx + c**3*u*v*ds(2), c*v*dx\n"
              "J = unknown**2*k*ds + inner(grad(unknown), grad(unknown))*w*dx\n",
     "J",
     WEFT_TRIANGLE,
     4,
     false,
     {{"k", "x", "1 + x*y"}, {"w", "1 + x", "y"}, {"c", "1.5", "1"}},
     {{"left", "1", "1 + y", 0}}},
    {"diffusion that depends on u",
     SCALAR("triangle", "1") "f, c = Coefficient(V), Constant(triangle)\n"
                             "F = (c + unknown**2)*inner(grad(unknown), grad(v))*dx - f*v*dx\n"
                             "M = unknown*dx(degree=2) + unknown**4*dx\n",
     "M",
     WEFT_TRIANGLE,
     4,
     true,
     {{"f", "1 + x", "exp(x)"}, {"c", "1", "1"}},
     {{"boundary", "x", "1 + y", 0}}},
    {"advection",
     SCALAR("quadrilateral",
            "2") "B = VectorElement('Lagrange', quadrilateral, 1)\nb, e = Coefficient(B), "
                 "Constant(quadrilateral)\n"
                 "a, L = e*inner(grad(u), grad(v))*dx + dot(b, grad(u))*v*dx, v*dx\n"
                 "J = unknown**2*dx\n",
     "J",
     WEFT_QUADRILATERAL,
     3,
     false,
     {{"b", "1; y", "y; x + 1"}, {"e", "0.5", "1"}},
     {{"boundary", "0", "x", 0}}},
    {"elasticity",
     VECTOR("tetrahedron", "1") "g, m = VectorConstant(tetrahedron), "
                                "Coefficient(FiniteElement('Lagrange', tetrahedron, 1))\n"
                                "e = lambda w: sym(grad(w))\n"
                                "a, L = 2*m*inner(e(u), e(v))*dx + div(u)*div(v)*dx, dot(g, v)*dx\n"
                                "J = dot(unknown, unknown)*ds(2)\n",
     "J",
     WEFT_TETRAHEDRON,
     2,
     false,
     {{"g", "1; 0; 2", "1; 2; 3"}, {"m", "1 + x", "y + z"}},
     {{"left", "0", "y", 0}, {"left", "x", NULL, 1}, {"left", "0", NULL, 2}}},
    {"discontinuous",
     SCALAR("triangle",
            "1") "V = FiniteElement('DG', triangle, 1)\nu, v = TrialFunction(V), TestFunction(V)\n"
                 "unknown = Coefficient(V)\nf, c = Coefficient(V), Constant(triangle)\nn = "
                 "FacetNormal(triangle)\n"
                 "a = inner(grad(u), grad(v))*dx - inner(avg(grad(u)), jump(v, n))*dS "
                 "- inner(jump(u, n), avg(grad(v)))*dS + 40*c*c*inner(jump(u, n), jump(v, n))*dS "
                 "- dot(grad(u), v*n)*ds - dot(u*n, grad(v))*ds + 40*c*u*v*ds\n"
                 "L = f*v*dx\nJ = unknown**2*dx + c*jump(unknown)**2*dS\n",
     "J",
     WEFT_TRIANGLE,
     4,
     false,
     {{"f", "1 + x", "y"}, {"c", "1", "1"}},
     {{NULL}}},
    {"flow",
     "V = VectorElement('Lagrange', triangle, 2)*FiniteElement('Lagrange', triangle, 1)\n"
     "(u, p), (v, q) = TrialFunctions(V), TestFunctions(V)\nunknown = Coefficient(V)\nw, r = "
     "split(unknown)\n"
     "m, f = Coefficient(FiniteElement('Lagrange', triangle, 1)), VectorConstant(triangle)\n"
     "a, L = m*inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx, dot(f, v)*dx\n"
     "J = inner(grad(w), grad(w))*dx + r**2*dx\n",
     "J",
     WEFT_TRIANGLE,
     3,
     false,
     {{"m", "1 + x", "y"}, {"f", "1; 2", "1; 3"}},
     {{"left", "y*(1 - y)", NULL, 0},
      {"left", "0", NULL, 1},
      {"top", "0", NULL, 0},
      {"top", "0", NULL, 1},
      {"bottom", "0", NULL, 0},
      {"bottom", "0", NULL, 1}}},
    {"in space",
     SCALAR("hexahedron", "2") "k = Coefficient(FiniteElement('Lagrange', hexahedron, 2))\n"
                               "a, L = k*inner(grad(u), grad(v))*dx, v*dx\nJ = unknown*dx\n",
     "J",
     WEFT_HEXAHEDRON,
     2,
     false,
     {{"k", "1 + x*y", "z"}},
     {{"boundary", "0", "x", 0}}},
};

static void test_against_differences(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; ++i) {
        bool moves = false;
        for (int k = 0; k < INPUTS && examples[i].inputs[k].name; ++k)
            check_control(&examples[i], k);
        for (int k = 0; k < CONDITIONS && examples[i].conditions[k].group; ++k)
            moves |= examples[i].conditions[k].direction != NULL;
        if (moves)
            check_control(&examples[i], INPUTS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_differences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
