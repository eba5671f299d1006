/* labels: quick */
/* Constraints, rerun with their n-th allocation failing. The operator is made before, for kernels are
 * compiled by child processes. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

typedef struct setting {
    weft_context context;
    weft_mesh *mesh;
    weft_space *space, *vectors; /* of degrees 1 and 2 */
    weft_bc *bc, *vectors_bc;
    weft_bound_form form;
    weft_operator *op;
    double *b;
    weft_memory *x, *load, *v;
} setting;

static weft_status add(weft_constraints *constraints, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double point[] = {0.3, 0.4};
    TRY(weft_constraints_match(constraints, "left", "right", "--periodic", error));
    TRY(weft_constraints_slide(constraints, "bottom", "--symmetry", error));
    TRY(weft_constraints_tie(constraints, "top", 1, "--tie", error));
    TRY(weft_constraints_point(constraints, point, 1, "0", "--point-value", error));
done:
    return status;
}

/* A value and a load that depend on time; what is linear is solved elsewhere. */
static weft_status use_in_time(void *user, weft_error *error) {
    setting *s = user;
    weft_status status = WEFT_OK;
    static const double point[] = {0.3, 0.4};
    const weft_system whole = {.op = s->op, .b = s->load, .u = s->x};
    weft_constraints *constraints = NULL;
    weft_reduction *reduction = NULL;
    weft_point_loads *loads = NULL;
    TRY(weft_constraints_make(&s->context, s->space, s->bc, &constraints, error));
    TRY(weft_constraints_tie(constraints, "top", 1, "--tie", error));
    TRY(weft_constraints_point(constraints, point, 0, "1 + t", "--point-value", error));
    TRY(weft_constraints_point(constraints, point, 0, "1 + x*t - 0.3*t + t", "--other", error));
    TRY(weft_point_loads_make(&s->context, s->space, s->bc, &loads, error));
    TRY(weft_point_loads_add(loads, point, 1, "t", "--point-load", error));
    TRY(weft_point_loads_add(loads, point, 0, "2", "--point-load", error));
    TRY(weft_reduction_make(constraints, &reduction, error));
    TRY(weft_reduction_update(reduction, s->op, error));
    TRY(weft_memory_zero(s->x, error));
    TRY(weft_memory_zero(s->load, error));
    TRY(weft_point_loads_apply(loads, s->load, error));
    TRY(weft_reduction_project(reduction, s->load, s->x, error));
    TRY(weft_reduction_enter(reduction, &whole, error));
    TRY(weft_reduction_leave(reduction, &whole, error));
    TRY(weft_reduction_keep(reduction, s->x, s->v, error));
done:
    weft_reduction_free(&reduction);
    weft_constraints_free(&constraints);
    weft_point_loads_free(&loads);
    return status;
}

static weft_status use(void *user, weft_error *error) {
    setting *s = user;
    weft_status status = WEFT_OK;
    weft_constraints *constraints = NULL;
    weft_free_modes modes = {0};
    weft_constraint_forces forces = {0};
    weft_reduction *reduction = NULL;
    memset(s->b, 0, 18 * sizeof *s->b);
    TRY(weft_constraints_make(&s->context, s->space, s->bc, &constraints, error));
    TRY(add(constraints, error));
    TRY(weft_free_modes_find(constraints, s->op, NULL, 0, &modes, error));
    assert_int_equal(modes.n, 1); /* along x */
    TRY(weft_constraints_pin(constraints, &modes, s->b, error));
    TRY(weft_reduction_make(constraints, &reduction, error));
    TRY(weft_reduction_update(reduction, s->op, error));
    TRY(weft_reduction_update(reduction, s->op, error));
    TRY(weft_constraints_restrict(constraints, s->b, &forces, error));
    assert_int_equal(forces.n, 4); /* all share dofs with the periodic sides */
    assert_string_equal(forces.origins[3], "--point-value");
    assert_int_equal(forces.first[3], 0);
done:
    weft_constraint_forces_clear(&forces);
    weft_reduction_free(&reduction);
    weft_free_modes_clear(&modes);
    weft_constraints_free(&constraints);
    return status;
}

/* A mixed function, of degrees 2 and 1, on a mesh whose left and right sides are declared to be periodic. */
static weft_status use_mixed(void *user, weft_error *error) {
    setting *s = user;
    weft_status status = WEFT_OK;
    static const double point[] = {0.3, 0.4};
    double u[18 * 4] = {0};
    weft_constraints *constraints = NULL;
    weft_point_loads *loads = NULL;
    const weft_constraint_field fields[] = {{.space = s->vectors, .bc = s->vectors_bc},
                                            {.space = s->space,
                                             .bc = s->bc,
                                             .first_dof = weft_space_dofs(s->vectors),
                                             .first_value = 2}};
    TRY(weft_constraints_make_in(&s->context, fields, 2, &constraints, error));
    TRY(weft_constraints_images(constraints, "--periodic mesh", error));
    TRY(weft_constraints_slide(constraints, "bottom", "--symmetry", error));
    TRY(weft_constraints_point(constraints, point, 2, "3", "--point-value", error));
    assert_int_equal(weft_constraints_count(constraints), 5 * 2 + 3 * 2 + 4 + 2 + 1);
    TRY(weft_constraints_fill(constraints, true, u, error));
    TRY(weft_point_loads_make_in(&s->context, fields, 2, &loads, error));
    TRY(weft_point_loads_add(loads, point, 3, "2", "--point-load", error));
done:
    weft_constraints_free(&constraints);
    weft_point_loads_free(&loads);
    return status;
}

/* Of the vertices of square:2. */
static void declare_periodic(weft_mesh *mesh) {
    mesh->points.pairs = weft_array_make(9, sizeof *mesh->points.pairs);
    assert_non_null(mesh->points.pairs);
    mesh->points.n_pairs = 3;
    for (int i = 0; i < 3; ++i) {
        mesh->points.pairs[3 * i + 1] = 3 * i;
        mesh->points.pairs[3 * i + 2] = 3 * i + 2;
    }
}

static void test_all(void **state) {
    (void)state;
    static const weft_condition none = {WEFT_NEUMANN, "left", "0", NULL, NULL, 0};
    setting s = {0};
    weft_library *library = NULL;
    assert_int_equal(weft_device_open("host:1", NULL, &s.context.device, NULL), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&library, NULL), WEFT_OK);
    assert_int_equal(weft_mesh_make_square(2, &s.mesh, NULL), WEFT_OK);
    declare_periodic(s.mesh);
    s.context.library = library;
    s.context.plan = WEFT_PLAN_FUSED;
    assert_int_equal(weft_space_make(s.context.device, s.mesh, WEFT_ELEMENT_P1, 2, &s.space, NULL),
                     WEFT_OK);
    assert_int_equal(weft_space_make(s.context.device, s.mesh,
                                     (weft_element_kind){WEFT_LAGRANGE, 2}, 2, &s.vectors, NULL),
                     WEFT_OK);
    assert_int_equal(weft_bc_make(&s.context, s.space, &none, 1, &s.bc, NULL), WEFT_OK);
    assert_int_equal(weft_bc_make(&s.context, s.vectors, &none, 1, &s.vectors_bc, NULL), WEFT_OK);
    assert_int_equal(
        weft_form_ship(s.space, "elasticity.weft", weft_space_cells(s.space), &s.form, NULL),
        WEFT_OK);
    s.form.form.components = 2;
    assert_int_equal(weft_bc_operator_make(s.bc, WEFT_ASSEMBLY_CSR, &s.form.form, &s.op, NULL),
                     WEFT_OK);
    s.b = weft_array_make(18, sizeof *s.b);
    assert_non_null(s.b);
    weft_memory **const vectors[] = {&s.x, &s.load, &s.v};
    for (int i = 0; i < 3; ++i)
        assert_int_equal(weft_memory_make(s.context.device, 18 * sizeof(double), vectors[i], NULL),
                         WEFT_OK);
    test_every_allocation("constraints", use, &s);
    test_every_allocation("constraints in time", use_in_time, &s);
    test_every_allocation("constraints of mixed functions", use_mixed, &s);
    for (int i = 0; i < 3; ++i)
        weft_memory_free(vectors[i]);
    free(s.b);
    weft_operator_free(&s.op);
    weft_bc_free(&s.bc);
    weft_bc_free(&s.vectors_bc);
    weft_space_free(&s.space);
    weft_space_free(&s.vectors);
    weft_mesh_free(&s.mesh);
    weft_library_free(&library);
    weft_device_free(&s.context.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
