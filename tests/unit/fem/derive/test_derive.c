/* labels: quick */
/* Derived quantities of linear functions on meshes with moved inner nodes, where gradients, strains
 * and stresses are exact, and integrals of polynomials up to the degree of the rule: against numbers
 * from calculus, on the host, on an emulated GPU, and planned on the null device. Tolerance 1e-12 for
 * sums of some hundred terms of size one; 1e-10 for the consistent projection, whose solver stops at
 * 1e-12. */
#include "core/weft_core.h"
#include "emulated_gpu.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-12;

typedef struct setting {
    weft_device *device;
    weft_library *library;
    weft_context context;
    weft_mesh *mesh;
    weft_space *space;
    weft_bound_form form;
    weft_memory *u, *a;
    double *u_values, *a_values;
    int d, c;
} setting;

static void check(weft_status status, const weft_error *error) {
    char text[2000];
    if (status == WEFT_OK)
        return;
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

/* u_k = 1 + k + sum_l (k + 1 + 2 l) x_l */
static double slope(int k, int l) {
    return k + 1 + 2 * l;
}

static double linear(int k, int d, const double *x) {
    double value = 1 + k;
    for (int l = 0; l < d; ++l)
        value += slope(k, l) * x[l];
    return value;
}

/* Move the nodes inside by a tenth of a cell. */
static void move_nodes(weft_mesh *mesh, int64_t n) {
    const int d = mesh->dimension;
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        bool inside = true;
        for (int l = 0; l < d; ++l)
            inside &= mesh->x[i * d + l] > 1e-9 && mesh->x[i * d + l] < 1 - 1e-9;
        for (int l = 0; l < d && inside; ++l)
            mesh->x[i * d + l] += 0.1 / (double)n * sin(7.0 * (double)i + l);
    }
}

static const char scalar_text[] = "parameter d = 2;\n"
                                  "index cells, nodes;\n"
                                  "connectivity dofs : cells -> nodes[d + 1];\n"
                                  "input x : real[d] over nodes;\n"
                                  "input a : real over cells;\n"
                                  "expression conductivity(x, y, z, t) = 5 - t;\n"
                                  "k = 2;\n"
                                  "K = k*dshape_dot_dshape(tform_dshape(jacobian(x[dofs])), "
                                  "jacobian(x[dofs]));\n";

static double centre(const weft_mesh *mesh, int64_t cell, int axis) {
    const int d = mesh->dimension;
    double sum = 0;
    for (int v = 0; v <= d; ++v)
        sum += mesh->x[(int64_t)mesh->cells[cell * (d + 1) + v] * d + axis];
    return sum / (d + 1);
}

static void make_inputs(setting *s) {
    weft_error error = {0};
    const int64_t nodes = s->mesh->n_nodes, cells = s->mesh->n_cells;
    const int lanes = weft_device_limits(s->device)->lanes_double;
    check(weft_vector_make(s->device, nodes * s->c, &s->u_values, &s->u, &error), &error);
    for (int64_t i = 0; i < nodes; ++i)
        for (int k = 0; k < s->c; ++k)
            s->u_values[i * s->c + k] = linear(k, s->d, &s->mesh->x[i * s->d]);
    check(weft_vector_push(s->u, s->u_values, nodes * s->c, &error), &error);
    check(weft_vector_make(s->device, (cells + lanes - 1) / lanes * lanes, &s->a_values, &s->a,
                           &error),
          &error);
    for (int64_t i = 0; i < cells; ++i) /* of one component: in the order of the cells */
        s->a_values[i] = centre(s->mesh, i, 0);
    check(weft_vector_push(s->a, s->a_values, cells, &error), &error);
}

static setting setting_make(const char *device, bool emulated, int d, int c) {
    setting s = {.d = d, .c = c};
    weft_error error = {0};
    const int64_t n = d == 2 ? 4 : 2;
    check(weft_device_open(device, NULL, &s.device, &error), &error);
    if (emulated)
        emulated_gpu_make(s.device);
    check(weft_fem_library_make(&s.library, &error), &error);
    s.context = (weft_context){.device = s.device, .library = s.library, .plan = WEFT_PLAN_FUSED};
    check(d == 2 ? weft_mesh_make_square(n, &s.mesh, &error)
                 : weft_mesh_make_cube(n, &s.mesh, &error),
          &error);
    move_nodes(s.mesh, n);
    check(weft_space_make(s.device, s.mesh, WEFT_ELEMENT_P1, c, &s.space, &error), &error);
    make_inputs(&s);
    return s;
}

/* The form points into the setting, which must not be moved any more. */
static void make_form(setting *s) {
    weft_error error = {0};
    if (s->c > 1) {
        check(weft_form_ship(s->space, "elasticity.weft", weft_space_cells(s->space), &s->form,
                             &error),
              &error);
        weft_form_bind_expression(&s->form, "poisson", "0.25", "poisson");
        s->form.form.components = s->c;
        return;
    }
    weft_form_start("test.weft", scalar_text, weft_space_cells(s->space), &s->form);
    weft_form_bind_input(&s->form, "x", weft_space_coordinates(s->space));
    weft_form_bind_input(&s->form, "a", s->a);
    weft_form_bind_parameter(&s->form, "d", s->d);
}

static void setting_free(setting *s) {
    weft_memory_free(&s->u);
    weft_memory_free(&s->a);
    free(s->u_values);
    free(s->a_values);
    weft_space_free(&s->space);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_device_free(&s->device);
}

static weft_derive *derive_make(setting *s, weft_projection projection,
                                const weft_derived_quantity *quantities, int n) {
    static const weft_derive_alias alias = {"kappa", "k"};
    weft_derive *derive = NULL;
    weft_error error = {0};
    make_form(s);
    const weft_derive_problem problem = {.space = s->space,
                                         .cells = &s->form.form,
                                         .u = s->u,
                                         .aliases = &alias,
                                         .n_aliases = s->c == 1,
                                         .in_time = true,
                                         .projection = projection};
    check(weft_derive_make(&s->context, &problem, quantities, n, &derive, &error), &error);
    check(weft_derive_run(derive, 3, &error), &error);
    return derive;
}

#define FIELD(name, text)                                                                          \
    { WEFT_DERIVE_FIELD, name, NULL, text, "--derive " name }
#define INTEGRAL(name, group, text)                                                                \
    { WEFT_DERIVE_INTEGRAL, name, group, text, "--integral " name }
#define EXTREMA(name, group, text)                                                                 \
    { WEFT_DERIVE_EXTREMA, name, group, text, "--extrema " name }

static void expect(double found, double wanted, double tolerance) {
    if (!(fabs(found - wanted) <= tolerance * fmax(1, fabs(wanted))))
        fail_msg("%.17g, expected %.17g", found, wanted);
}

/* ---- scalars --------------------------------------------------------------------------------- */

static const weft_derived_quantity scalar_quantities[] = {
    FIELD("flux", "-kappa*grad(u)"),
    FIELD("one", "1"),
    FIELD("rate", "flux[0] + conductivity*t"),
    INTEGRAL("heat", "left", "dot(flux, normal)"),
    INTEGRAL("heat", "right", "dot(flux, normal)"),
    INTEGRAL("heat", "boundary", "dot(flux, normal)"),
    INTEGRAL("quartic", NULL, "x^4"),
    INTEGRAL("quartic", "bottom", "x^4"),
    INTEGRAL("outside", "right", "a"),
    INTEGRAL("normals", "right", "normal*u"),
    EXTREMA("u", NULL, "u - x"),
    EXTREMA("product", "right", "u*y"),
};
enum { N_SCALAR = sizeof scalar_quantities / sizeof *scalar_quantities };

/* The sum over facets x = 1 of the measure times the centre's x of their cell. */
static double outside(const setting *s) {
    const int d = s->d;
    double sum = 0;
    for (int64_t c = 0; c < s->mesh->n_cells; ++c) {
        int on = 0;
        for (int v = 0; v <= d; ++v)
            on += s->mesh->x[(int64_t)s->mesh->cells[c * (d + 1) + v] * d] > 1 - 1e-9;
        /* all facets of a side of the unmoved mesh are equal */
        if (on == d)
            sum += centre(s->mesh, c, 0) * (d == 2 ? 1.0 / 4 : 1.0 / 8);
    }
    return sum;
}

static void check_scalar(const setting *s, const weft_derive *derive) {
    const int d = s->d;
    const weft_field *fields = NULL;
    const weft_derived_value *v = NULL;
    assert_int_equal(weft_derive_fields(derive, &fields), 3);
    assert_int_equal(fields[0].n_components, d);
    for (int64_t i = 0; i < s->mesh->n_cells; ++i) {
        for (int l = 0; l < d; ++l)
            expect(fields[0].values[i * d + l], -2 * slope(0, l), TOLERANCE);
        expect(fields[1].values[i], 1, TOLERANCE);
        expect(fields[2].values[i], -2 * slope(0, 0) + 6, TOLERANCE);
    }
    assert_int_equal(weft_derive_values(derive, &v), N_SCALAR - 3);
    expect(v[0].integral[0], 2 * slope(0, 0), TOLERANCE);
    expect(v[1].integral[0], -2 * slope(0, 0), TOLERANCE);
    expect(v[2].integral[0], 0, 10 * TOLERANCE);
    expect(v[3].integral[0], 0.2, TOLERANCE);
    /* bottom is y = 0 in the plane, z = 0 in space */
    expect(v[4].integral[0], 0.2, TOLERANCE);
    expect(v[5].integral[0], outside(s), TOLERANCE);
    /* the mean of u on x = 1: at its centre */
    double middle[3] = {1, 0.5, 0.5}, corner[3] = {1, 1, 1};
    assert_int_equal(v[6].n_components, d);
    expect(v[6].integral[0], linear(0, d, middle), TOLERANCE);
    expect(v[6].integral[1], 0, TOLERANCE);
    /* the slope along x is 1, so u - x depends on y, z only: from 1 at 0 to a corner */
    expect(v[7].least, 1, TOLERANCE);
    expect(v[7].greatest, linear(0, d, corner) - 1, TOLERANCE);
    expect(v[7].greatest_at[1], 1, TOLERANCE);
    expect(v[8].greatest, linear(0, d, corner), TOLERANCE);
    for (int l = 0; l < d; ++l)
        expect(v[8].greatest_at[l], 1, TOLERANCE);
    expect(v[8].least, 0, TOLERANCE);
    expect(v[8].least_at[1], 0, TOLERANCE);
}

static void scalars(void **state) {
    (void)state;
    for (int emulated = 0; emulated < 2; ++emulated)
        for (int d = 2; d <= 3; ++d) {
            setting s = setting_make("host:2", emulated, d, 1);
            weft_derive *derive = derive_make(&s, WEFT_PROJECT_NONE, scalar_quantities, N_SCALAR);
            check_scalar(&s, derive);
            weft_derive_free(&derive);
            setting_free(&s);
        }
}

/* ---- displacements --------------------------------------------------------------------------- */

static const weft_derived_quantity solid_quantities[] = {
    FIELD("e", "strain(u)"),
    FIELD("s", "stress(u)"),
    FIELD("mises", "von_mises(s)"),
    FIELD("principal", "principal_values(strain(u))"),
    INTEGRAL("force", "right", "traction(s, normal)"),
};

/* E = 1, nu = 1/4: lambda = mu = 0.4. */
static void check_solid(const setting *s, const weft_derive *derive) {
    const int d = s->d;
    double e[3][3] = {{0}}, sigma[3][3] = {{0}}, trace = 0, square = 0, norm = 0;
    const weft_field *f = NULL;
    const weft_derived_value *v = NULL;
    for (int k = 0; k < d; ++k)
        for (int l = 0; l < d; ++l) {
            e[k][l] = (slope(k, l) + slope(l, k)) / 2;
            trace += k == l ? e[k][l] : 0;
            norm += e[k][l] * e[k][l];
        }
    for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
            sigma[k][l] = 0.8 * e[k][l] + (k == l ? 0.4 * trace : 0);
    const double mean = (sigma[0][0] + sigma[1][1] + sigma[2][2]) / 3;
    for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
            square += pow(sigma[k][l] - (k == l ? mean : 0), 2);
    assert_int_equal(weft_derive_fields(derive, &f), 4);
    assert_int_equal(f[1].n_components, 9);
    for (int64_t i = 0; i < s->mesh->n_cells; ++i) {
        double sum = 0, squares = 0;
        for (int k = 0; k < d * d; ++k)
            expect(f[0].values[i * d * d + k], e[k / d][k % d], TOLERANCE);
        for (int k = 0; k < 9; ++k)
            expect(f[1].values[i * 9 + k], sigma[k / 3][k % 3], TOLERANCE);
        expect(f[2].values[i], sqrt(1.5 * square), TOLERANCE);
        for (int k = 0; k < d; ++k) { /* trace and norm are those of the principal values */
            sum += f[3].values[i * d + k];
            squares += pow(f[3].values[i * d + k], 2);
            assert_true(k == 0 || f[3].values[i * d + k] <= f[3].values[i * d + k - 1]);
        }
        expect(sum, trace, TOLERANCE);
        expect(squares, norm, TOLERANCE);
    }
    assert_int_equal(weft_derive_values(derive, &v), 1);
    for (int k = 0; k < d; ++k)
        expect(v[0].integral[k], sigma[k][0], TOLERANCE);
}

static void displacements(void **state) {
    (void)state;
    for (int emulated = 0; emulated < 2; ++emulated)
        for (int d = 2; d <= 3; ++d) {
            setting s = setting_make("host:2", emulated, d, d);
            weft_derive *derive = derive_make(&s, WEFT_PROJECT_NONE, solid_quantities, 5);
            check_solid(&s, derive);
            weft_derive_free(&derive);
            setting_free(&s);
        }
}

/* ---- nodal fields ---------------------------------------------------------------------------- */

/* What is constant is reproduced by both projections, what is linear by the consistent one, whose
 * solver for small systems (tests/gpu/test_cg_persistent.c) cannot be emulated. */
static void projections(void **state) {
    (void)state;
    static const weft_derived_quantity quantities[] = {FIELD("g", "grad(u)"), FIELD("w", "u"),
                                                       FIELD("m", "outer(grad(u), grad(u))")};
    for (int emulated = 0; emulated < 2; ++emulated)
        for (int d = 2; d <= 3; ++d)
            for (int p = WEFT_PROJECT_LUMPED;
                 p <= (emulated ? WEFT_PROJECT_LUMPED : WEFT_PROJECT_CONSISTENT); ++p) {
                setting s = setting_make("host:2", emulated, d, 1);
                weft_derive *derive = derive_make(&s, (weft_projection)p, quantities, 3);
                const weft_field *f = NULL;
                assert_int_equal(weft_derive_fields(derive, &f), 3);
                assert_false(f[0].on_cells);
                for (int64_t i = 0; i < s.mesh->n_nodes; ++i) {
                    for (int l = 0; l < d; ++l)
                        expect(f[0].values[i * d + l], slope(0, l), 1e-10);
                    for (int k = 0; k < d * d; ++k)
                        expect(f[2].values[i * d * d + k], slope(0, k / d) * slope(0, k % d),
                               1e-10);
                    if (p == WEFT_PROJECT_CONSISTENT)
                        expect(f[1].values[i], s.u_values[i], 1e-10);
                }
                weft_derive_free(&derive);
                setting_free(&s);
            }
}

/* ---- devices --------------------------------------------------------------------------------- */

static void null_plans(void **state) {
    (void)state;
    setting s = setting_make("null:h200", false, 2, 1);
    weft_derive *derive = derive_make(&s, WEFT_PROJECT_NONE, scalar_quantities, N_SCALAR);
    /* one program over cells and one over facets, each one kernel */
    assert_int_equal(s.context.n_kernels, 2);
    weft_derive_free(&derive);
    setting_free(&s);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    double first[N_SCALAR];
    for (int threads = 1; threads <= 3; threads += 2) {
        char name[16];
        const weft_derived_value *v = NULL;
        snprintf(name, sizeof name, "host:%d", threads);
        setting s = setting_make(name, false, 3, 1);
        weft_derive *derive = derive_make(&s, WEFT_PROJECT_NONE, scalar_quantities, N_SCALAR);
        const int n = weft_derive_values(derive, &v);
        for (int i = 0; i < n; ++i) {
            if (threads > 1)
                assert_true(first[i] == v[i].integral[0]);
            first[i] = v[i].integral[0];
        }
        weft_derive_free(&derive);
        setting_free(&s);
    }
}

static void other_cells(void **state) {
    (void)state;
    weft_device *device = NULL;
    weft_mesh *mesh = NULL;
    weft_space *space = NULL;
    weft_derive *derive = NULL;
    weft_error error = {0};
    check(weft_device_open("host:1", NULL, &device, &error), &error);
    check(weft_mesh_make_boxes(WEFT_QUADRILATERAL, 2, &mesh, &error), &error);
    check(weft_space_make(device, mesh, WEFT_ELEMENT_P1, 1, &space, &error), &error);
    weft_context context = {.device = device};
    const weft_derive_problem problem = {.space = space};
    assert_int_equal(weft_derive_make(&context, &problem, NULL, 0, &derive, &error),
                     WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(error.message,
                        "derived quantities are of linear elements on triangles and tetrahedra");
    weft_space_free(&space);
    weft_mesh_free(&mesh);
    weft_device_free(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars),
        cmocka_unit_test(displacements),
        cmocka_unit_test(projections),
        cmocka_unit_test(null_plans),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(other_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
