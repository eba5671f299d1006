/* labels: quick */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "operator_fixture.h"
#include "test_support.h"

#include <stdio.h>

/* Polynomials within the exactness of the rules, on distorted meshes that fill the unit square or
 * cube: what is left is rounding in sums of some thousands of terms. */
static const double tolerance = 1e-12;

static weft_form form_make(const fixture *f, const char *script, weft_form_input *inputs,
                           int n_inputs, const weft_expression *expression,
                           const weft_parameter *dimension) {
    weft_form form = {.name = script,
                      .text = weft_fem_script(script),
                      .dofs = f->cells,
                      .inputs = inputs,
                      .n_inputs = n_inputs,
                      .expressions = expression,
                      .n_expressions = expression ? 1 : 0,
                      .parameters = dimension,
                      .n_parameters = dimension ? 1 : 0};
    assert_non_null(form.text);
    return form;
}

static void run(fixture *f, const weft_form *form, const char *const *names,
                weft_memory *const *outputs, int n, const char *set, int64_t size) {
    weft_error error = {0};
    weft_status status = weft_form_run(&f->context, form,
                                       &(weft_form_outputs){names, outputs, n, set, size}, &error);
    if (status != WEFT_OK)
        print_error("%s: %s\n", form->name, error.message);
    assert_int_equal(status, WEFT_OK);
}

/* sum over nodes of b_i times coordinate c, or of b_i where c < 0 */
static double moment(const fixture *f, const weft_memory *b, int c) {
    const double *values = weft_memory_host(b);
    double sum = 0;
    for (int64_t i = 0; i < f->n; ++i)
        sum += values[i] * (c < 0 ? 1 : f->mesh->x[i * f->d + c]);
    return sum;
}

static weft_memory *cell_list(const fixture *f) {
    weft_memory *list = NULL;
    assert_int_equal(
        weft_memory_make(f->device, ((size_t)f->mesh->n_cells + 32) * sizeof(double), &list, NULL),
        WEFT_OK);
    return list;
}

static double cell_sum(const fixture *f, const weft_memory *list) {
    return weft_sum(weft_memory_host(list), f->mesh->n_cells);
}

static void nodal_values(fixture *f, const char *text, weft_memory *out) {
    weft_form_input inputs[] = {{"x", f->x}};
    weft_parameter d = {"d", f->d};
    weft_expression value = {"value", text, "test"};
    weft_form form = form_make(f, "nodal", inputs, 1, &value, &d);
    form.dofs = NULL;
    const char *const names[] = {"u"};
    run(f, &form, names, &out, 1, "nodes", f->n);
}

static void check_nodal(fixture *f) {
    weft_memory *u = fixture_vector(f);
    nodal_values(f, "1 + x*y", u);
    const double *values = weft_memory_host(u);
    for (int64_t i = 0; i < f->n; ++i)
        assert_double_near(values[i], 1 + f->mesh->x[i * f->d] * f->mesh->x[i * f->d + 1], 1e-14,
                           0);
    nodal_values(f, "3", u);
    for (int64_t i = 0; i < f->n; ++i)
        assert_double_near(values[i], 3, 0, 0);
    weft_memory_free(&u);
}

/* x fills the first arguments of a formula, the time the last one, and z is left out in the plane.
 */
static void check_nodal_time(fixture *f) {
    weft_memory *u = fixture_vector(f), *when = NULL;
    const double quarter = 0.25;
    assert_int_equal(weft_memory_make(f->device, sizeof quarter, &when, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(when, 0, &quarter, sizeof quarter, NULL), WEFT_OK);
    weft_form_input inputs[] = {{"x", f->x}, {"when", when}};
    weft_parameter d = {"d", f->d};
    weft_expression value = {"value", f->d == 2 ? "x + 8*t*y" : "x + 8*t*y + z", "test"};
    weft_form form = form_make(f, "nodal_time", inputs, 2, &value, &d);
    const char *const names[] = {"u"};
    form.dofs = NULL;
    run(f, &form, names, &u, 1, "nodes", f->n);
    const double *values = weft_memory_host(u);
    for (int64_t i = 0; i < f->n; ++i) {
        const double *x = &f->mesh->x[i * f->d];
        assert_double_near(values[i], x[0] + 2 * x[1] + (f->d == 3 ? x[2] : 0), 1e-14, 0);
    }
    weft_memory_free(&u);
    weft_memory_free(&when);
}

/* What local matrices K add up to against linear v and w: sum over cells of v.(K w) = a(w, v). */
static double form_value(fixture *f, weft_form form, const char *v, const char *w) {
    weft_memory *of_v = fixture_vector(f), *of_w = fixture_vector(f), *list = cell_list(f);
    const char *const names[] = {"E"};
    weft_form_input inputs[6];
    char text[4096];
    nodal_values(f, v, of_v);
    nodal_values(f, w, of_w);
    for (int i = 0; i < form.n_inputs; ++i)
        inputs[i] = form.inputs[i];
    inputs[form.n_inputs] = (weft_form_input){"v", of_v};
    inputs[form.n_inputs + 1] = (weft_form_input){"w", of_w};
    form.inputs = inputs;
    form.n_inputs += 2;
    snprintf(text, sizeof text,
             "%sinput v, w : real over nodes;\nE = dot(v[dofs], mvmul(K, w[dofs]));\n", form.text);
    form.text = text;
    run(f, &form, names, &list, 1, NULL, 0);
    const double sum = cell_sum(f, list);
    weft_memory_free(&of_v);
    weft_memory_free(&of_w);
    weft_memory_free(&list);
    return sum;
}

/* Integrals over the unit square or cube, of polynomials that the rule of degree 2 is exact for. */
static void check_transport(fixture *f) {
    weft_memory *when = NULL, *share = NULL;
    const double two = 2, half = 0.5;
    assert_int_equal(weft_memory_make(f->device, sizeof two, &when, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(f->device, sizeof half, &share, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(when, 0, &two, sizeof two, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(share, 0, &half, sizeof half, NULL), WEFT_OK);
    weft_form_input inputs[] = {{"x", f->x}, {"when", when}, {"share", share}};
    weft_parameter parameters[] = {{"d", f->d}, {"lumped", 0}};
    weft_form mass = form_make(f, "mass", inputs, 1, NULL, parameters);
    /* int x y = 1/4; lumped, of the constant 1: int x = 1/2 */
    assert_double_near(form_value(f, mass, "x", "y"), 0.25, tolerance, 0);
    weft_form lumped = form_make(f, "mass_lumped", inputs, 1, NULL, parameters);
    assert_double_near(form_value(f, lumped, "1", "x"), 0.5, tolerance, 0);
    /* int (1 + y) (t x, 3).grad(x + 2 y), t = 2: int (1 + y)(2 x + 6) = 3/2 * 7 */
    weft_expression velocity[] = {
        {"velocity_0", "t*x", "test"}, {"velocity_1", "3", "test"}, {"velocity_2", "y", "test"}};
    weft_form advection =
        form_make(f, f->d == 2 ? "advection_2" : "advection_3", inputs, 2, NULL, NULL);
    advection.expressions = velocity;
    advection.n_expressions = f->d;
    assert_double_near(form_value(f, advection, "1 + y", "x + 2*y"), 10.5, tolerance, 0);
    /* int x y + 1/2 int t (1 + x), t = 2, of grad x.grad(x + y) = 1: 1/4 + 1/3 + 3/2 */
    weft_expression mu = {"diffusivity_0", "t*(1 + x)", "test"};
    weft_form theta = form_make(f, "theta_scalar", inputs, 3, &mu, parameters);
    theta.n_parameters = 2;
    assert_double_near(form_value(f, theta, "x", "x + y"), 1.0 / 4 + 1.0 / 3 + 1.5, tolerance, 0);
    weft_memory_free(&when);
    weft_memory_free(&share);
}

/* int x (x + 3 y) + 1/2 int (1, 0, ..).mu.(1, 3, ..), mu = (2 1; 1 5) with 7 for z */
static void check_tensor(fixture *f) {
    weft_memory *when = NULL, *share = NULL;
    const double half = 0.5;
    assert_int_equal(weft_memory_make(f->device, sizeof half, &when, NULL), WEFT_OK);
    assert_int_equal(weft_memory_make(f->device, sizeof half, &share, NULL), WEFT_OK);
    assert_int_equal(weft_memory_write(share, 0, &half, sizeof half, NULL), WEFT_OK);
    weft_form_input inputs[] = {{"x", f->x}, {"when", when}, {"share", share}};
    weft_parameter parameters[] = {{"d", f->d}, {"lumped", 0}};
    weft_expression plane[] = {{"diffusivity_0", "2", "test"},
                               {"diffusivity_1", "1", "test"},
                               {"diffusivity_3", "4 + 2*x", "test"}};
    weft_expression space[] = {{"diffusivity_0", "2", "test"},
                               {"diffusivity_1", "1", "test"},
                               {"diffusivity_4", "4 + 2*x", "test"},
                               {"diffusivity_5", "3", "test"},
                               {"diffusivity_8", "7", "test"}};
    weft_form form =
        form_make(f, f->d == 2 ? "theta_tensor_2" : "theta_tensor_3", inputs, 3, NULL, parameters);
    form.n_parameters = 2;
    form.expressions = f->d == 2 ? plane : space;
    form.n_expressions = f->d == 2 ? 3 : 5;
    /* (1, 0).mu.(1, 3) = 2 + 3; (0, 1).mu.(0, 1) = 4 + 2 x; z with y: 3, z with z: 7 */
    assert_double_near(form_value(f, form, "x", "x + 3*y"), 1.0 / 3 + 0.75 + 2.5, tolerance, 0);
    assert_double_near(form_value(f, form, "y", "y"), 1.0 / 3 + 2.5, tolerance, 0);
    if (f->d == 3)
        assert_double_near(form_value(f, form, "z", "y + z"), 0.25 + 1.0 / 3 + 5, tolerance, 0);
    weft_memory_free(&when);
    weft_memory_free(&share);
}

/* int f phi_i adds up to int f, and with x_i to int f x, as sum phi_i = 1 and sum x_i phi_i = x. */
static void check_load(fixture *f) {
    weft_memory *b = fixture_vector(f);
    weft_form_input inputs[] = {{"x", f->x}};
    weft_parameter d = {"d", f->d};
    weft_expression source = {"source", "x^2 + 3*y^3", "test"};
    weft_form form = form_make(f, "load", inputs, 1, &source, &d);
    const char *const names[] = {"b"};
    run(f, &form, names, &b, 1, NULL, 0);
    assert_double_near(moment(f, b, -1), 1.0 / 3 + 3.0 / 4, tolerance, 0);
    assert_double_near(moment(f, b, 0), 1.0 / 4 + 3.0 / 8, tolerance, 0);
    run(f, &form, names, &b, 1, NULL, 0); /* starts from zero */
    assert_double_near(moment(f, b, -1), 1.0 / 3 + 3.0 / 4, tolerance, 0);
    weft_memory_free(&b);
}

/* On the side x = 0, to what is there: int y^3 = 1/4, int y^4 = 1/5. */
static void check_neumann(fixture *f) {
    weft_memory *b = fixture_vector(f);
    ((double *)weft_memory_host(b))[0] = 10; /* the node at the origin */
    weft_form_input inputs[] = {{"x", f->x}, {"b", b}};
    weft_parameter d = {"d", f->d};
    weft_expression flux = {"flux", "y^3 + x", "test"};
    weft_form form = form_make(f, "neumann", inputs, 2, &flux, &d);
    form.dofs = f->facets;
    const char *const names[] = {"b"};
    run(f, &form, names, &b, 1, NULL, 0);
    assert_double_near(moment(f, b, -1), 10.25, tolerance, 0);
    assert_double_near(moment(f, b, 1), 0.2, tolerance, 0);
    assert_double_near(moment(f, b, 0), 0, 0, tolerance);
    weft_memory_free(&b);
}

static void check_energy(fixture *f) {
    weft_memory *u = fixture_vector(f), *list = cell_list(f);
    weft_form_input inputs[] = {{"x", f->x}, {"u", u}};
    weft_parameter d = {"d", f->d};
    nodal_values(f, "1 + x + 2*y", u);
    weft_form form = form_make(f, "poisson", inputs, 2, NULL, &d);
    const char *energy[] = {"E"};
    char text[4096];
    snprintf(text, sizeof text, "%s%s", weft_fem_script("poisson"), weft_fem_script("energy"));
    form.text = text;
    run(f, &form, energy, &list, 1, NULL, 0);
    assert_double_near(cell_sum(f, list), 5, tolerance, 0); /* |grad u|^2 = 1 + 4 */
    weft_memory_free(&u);
    weft_memory_free(&list);
}

static void check_errors(fixture *f) {
    weft_memory *u = fixture_vector(f), *lists[] = {cell_list(f), cell_list(f)};
    weft_form_input inputs[] = {{"x", f->x}, {"u", u}};
    weft_expression exact = {"exact", "x^2 + y", "test"};
    weft_form form = form_make(f, f->d == 2 ? "errors_2" : "errors_3", inputs, 2, &exact, NULL);
    const char *const names[] = {"l2", "h1"};
    run(f, &form, names, lists, 2, NULL, 0); /* of u = 0 */
    assert_double_near(cell_sum(f, lists[0]), 1.0 / 5 + 1.0 / 3 + 1.0 / 3, tolerance, 0);
    /* |grad|^2 = 4 x^2 + 1; differences lose some digits: |f| 1e-13 / cell size */
    assert_double_near(cell_sum(f, lists[1]), 4.0 / 3 + 1, 1e-11, 0);
    const char *linear = f->d == 2 ? "1 + 2*x - 3*y" : "1 + 2*x - 3*y + z";
    exact.text = linear;
    nodal_values(f, linear, u);
    run(f, &form, names, lists, 2, NULL, 0);
    assert_double_near(sqrt(cell_sum(f, lists[0])), 0, 0, 1e-12);
    assert_double_near(sqrt(cell_sum(f, lists[1])), 0, 0, 1e-11);
    weft_memory_free(&u);
    weft_memory_free(&lists[0]);
    weft_memory_free(&lists[1]);
}

static void check_all(int d, weft_plan_kind plan) {
    fixture f = fixture_make("host:2", d, d == 2 ? 9 : 4, plan);
    check_nodal(&f);
    check_nodal_time(&f);
    check_transport(&f);
    check_tensor(&f);
    check_load(&f);
    check_neumann(&f);
    check_energy(&f);
    check_errors(&f);
    fixture_free(&f);
}

static void scripts_in_2d(void **state) {
    (void)state;
    check_all(2, WEFT_PLAN_FUSED);
}

static void scripts_in_3d(void **state) {
    (void)state;
    check_all(3, WEFT_PLAN_FUSED);
}

static void scripts_unfused(void **state) {
    (void)state;
    check_all(2, WEFT_PLAN_UNFUSED);
}

/* z means nothing on triangles: refused at the z, in the user's text. */
static void wrong_formulas_are_placed(void **state) {
    (void)state;
    fixture f = fixture_make("host:1", 2, 2, WEFT_PLAN_FUSED);
    weft_memory *b = fixture_vector(&f);
    weft_form_input inputs[] = {{"x", f.x}};
    weft_parameter d = {"d", 2};
    weft_expression source = {"source", "x + z", "--source"};
    weft_form form = form_make(&f, "load", inputs, 1, &source, &d);
    const char *const names[] = {"b"}, *const unknown[] = {"c"};
    weft_error error = {0};
    assert_int_equal(weft_form_run(&f.context, &form,
                                   &(weft_form_outputs){.names = names, .memories = &b, .n = 1},
                                   &error),
                     WEFT_ERROR_TYPE);
    assert_string_equal(error.file, "--source");
    assert_int_equal(error.column, 5);
    source.text = "x";
    assert_int_not_equal(
        weft_form_run(&f.context, &form,
                      &(weft_form_outputs){.names = unknown, .memories = &b, .n = 1}, &error),
        WEFT_OK);
    weft_memory_free(&b);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_in_2d),
        cmocka_unit_test(scripts_in_3d),
        cmocka_unit_test(scripts_unfused),
        cmocka_unit_test(wrong_formulas_are_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
