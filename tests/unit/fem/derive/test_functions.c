/* labels: full */
/* Quantities derived from functions in any elements on distorted and curved cells of every type, whose
 * vertices stand in several orders. A linear function has its gradient in each cell and at each node; its
 * integral over the boundary with the normal is that of its gradient over the mesh (Gauss), and the volume of
 * the mesh is known by hand (curved_support.h has the map).
 * Tolerance: 1e-10, sums of some hundred terms of size 1. */
#include "curved_support.h"

#include <math.h>
#include <stdlib.h>

static const double NEAR = 1e-10;
static const char *const names[] = {"interval:4", "square:3", "quads:3", "cube:2", "hexes:2"};
enum { N_MESHES = 5, QUANTITIES = 6 };

/* int det F' */
static const double volumes[3] = {1.2, 1 + 1.0 / 8 - 1.0 / 30, (1 + 1.0 / 8 - 1.0 / 30) * 1.1};
static const double slopes[3] = {1, 2, -3};

static double linear(int d, const double *x) {
    double sum = 1;
    for (int a = 0; a < d; ++a)
        sum += slopes[a] * x[a];
    return sum;
}

static void check_fields(const weft_derive *derive, const weft_space *space) {
    const weft_field *fields = NULL;
    const int d = weft_space_mesh(space)->dimension;
    assert_int_equal(weft_derive_fields(derive, &fields), 2);
    assert_int_equal(fields[0].n_components, d);
    const int64_t n =
        fields[0].on_cells ? weft_space_mesh(space)->n_cells : weft_space_nodes(space);
    for (int64_t i = 0; i < n; ++i)
        for (int a = 0; a < d; ++a)
            assert_double_near(fields[0].values[i * d + a], slopes[a], NEAR, NEAR);
    for (int64_t i = 0; i < n && !fields[1].on_cells; ++i)
        assert_double_near(fields[1].values[i], linear(d, weft_space_points(space) + i * d), NEAR,
                           NEAR);
}

static void check_values(const weft_derive *derive, int d, bool is_curved) {
    const weft_derived_value *values = NULL;
    assert_int_equal(weft_derive_values(derive, &values), 4);
    const double volume = values[0].integral[0];
    if (is_curved)
        assert_double_near(volume, volumes[d - 1], NEAR, NEAR);
    for (int a = 0; a < d; ++a)
        assert_double_near(values[1].integral[a], slopes[a] * volume, NEAR, NEAR);
    assert_double_near(values[2].integral[0], d * volume, NEAR, NEAR);
    /* the difference of u and its formula */
    assert_double_near(values[3].least, 0, 0, NEAR);
    assert_double_near(values[3].greatest, 0, 0, NEAR);
}

static void check_space(weft_context *context, const weft_mesh *mesh, weft_element_kind kind,
                        weft_projection projection) {
    static const char *const position[] = {"x*normal[0]", "x*normal[0]+y*normal[1]",
                                           "x*normal[0]+y*normal[1]+z*normal[2]"};
    static const char *const apart[] = {"u-1-x", "u-1-x-2*y", "u-1-x-2*y+3*z"};
    const int d = mesh->dimension;
    const weft_derived_quantity quantities[QUANTITIES] = {
        {WEFT_DERIVE_FIELD, "g", NULL, "grad(u)", "--derive g"},
        {WEFT_DERIVE_FIELD, "h", NULL, "2*u - u", "--derive h"},
        {WEFT_DERIVE_INTEGRAL, "volume", NULL, "0*u + 1", "--integral volume"},
        {WEFT_DERIVE_INTEGRAL, "flux", "boundary", "u*normal", "--integral flux"},
        {WEFT_DERIVE_INTEGRAL, "position", "boundary", position[d - 1], "--integral position"},
        {WEFT_DERIVE_EXTREMA, "apart", "boundary", apart[d - 1], "--extrema apart"}};
    weft_space *space = NULL;
    weft_derive *derive = NULL;
    weft_memory *memory = NULL;
    weft_error error = {0};
    double *u = NULL;
    assert_int_equal(weft_space_make(context->device, mesh, kind, 1, &space, NULL), WEFT_OK);
    const int64_t n = weft_space_nodes(space);
    assert_int_equal(weft_vector_make(context->device, n, &u, &memory, NULL), WEFT_OK);
    for (int64_t i = 0; i < n; ++i)
        u[i] = linear(d, weft_space_points(space) + i * d);
    assert_int_equal(weft_vector_push(memory, u, n, NULL), WEFT_OK);
    const weft_derive_function function = {.name = "u", .space = space, .values = memory};
    const weft_derive_problem problem = {
        .space = space, .functions = &function, .n_functions = 1, .projection = projection};
    if (weft_derive_make(context, &problem, quantities, QUANTITIES, &derive, &error) != WEFT_OK ||
        weft_derive_run(derive, 0, &error) != WEFT_OK ||
        weft_derive_run(derive, 0, &error) != WEFT_OK)
        fail_msg("%s: %s", mesh->source, error.message);
    check_fields(derive, space);
    check_values(derive, d, mesh->curve != NULL);
    weft_derive_free(&derive);
    weft_memory_free(&memory);
    free(u);
    weft_space_free(&space);
}

static void test_functions(void **state) {
    (void)state;
    weft_library *library = NULL;
    weft_context context = {.plan = WEFT_PLAN_FUSED};
    assert_int_equal(weft_device_open("host:2", NULL, &context.device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    context.library = library;
    for (int m = 0; m < N_MESHES; ++m)
        for (int degree = 1; degree <= 2; ++degree) {
            weft_mesh *mesh = curved_mesh(context.device, names[m], degree);
            check_space(&context, mesh, (weft_element_kind){WEFT_LAGRANGE, degree},
                        WEFT_PROJECT_NONE);
            check_space(&context, mesh, (weft_element_kind){WEFT_LAGRANGE, degree + 1},
                        WEFT_PROJECT_LUMPED);
            check_space(&context, mesh, (weft_element_kind){WEFT_DISCONTINUOUS, degree},
                        WEFT_PROJECT_LUMPED);
            check_space(&context, mesh, (weft_element_kind){WEFT_LAGRANGE, degree},
                        WEFT_PROJECT_CONSISTENT);
            weft_mesh_free(&mesh);
        }
    weft_library_free(&library);
    weft_device_free(&context.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
