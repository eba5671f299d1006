/* labels: quick */
/* Constraints against solutions that linear elements represent exactly, on rotated meshes, and against
 * a dense elimination: tolerance 1e-9, for solvers that stop at 1e-12 of the load. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-9;

typedef struct setting {
    weft_device *device;
    weft_library *library;
    weft_context context;
    weft_mesh *mesh;
    weft_space *space;
    weft_bc *bc;
    weft_bound_form form;
    weft_operator *op;
    weft_memory *u, *b;
    double *u_values, *b_values;
    int64_t n;
} setting;

static void check(weft_status status, const weft_error *error) {
    char text[2000];
    if (status == WEFT_OK)
        return;
    weft_error_text(error, text, sizeof text);
    fail_msg("%s", text);
}

/* Turn x by the angle in the plane of the first two axes, and then by it in that of x and z. */
static void rotate(int d, double angle, double *x) {
    const double c = cos(angle), s = sin(angle), x0 = x[0];
    x[0] = c * x0 - s * x[1];
    x[1] = s * x0 + c * x[1];
    if (d == 2)
        return;
    const double x1 = x[0];
    x[0] = c * x1 - s * x[2];
    x[2] = s * x1 + c * x[2];
}

static void open_setting(setting *s, int d, double angle, int c, const weft_condition *conditions,
                         int n_conditions) {
    weft_error error = {0};
    *s = (setting){0};
    check(weft_device_open("host:2", NULL, &s->device, &error), &error);
    check(weft_fem_library_make(&s->library, &error), &error);
    s->context =
        (weft_context){.device = s->device, .library = s->library, .plan = WEFT_PLAN_FUSED};
    check(d == 2 ? weft_mesh_make_square(5, &s->mesh, &error)
                 : weft_mesh_make_cube(3, &s->mesh, &error),
          &error);
    for (int64_t i = 0; i < s->mesh->n_nodes; ++i)
        rotate(d, angle, &s->mesh->x[i * d]);
    check(weft_space_make(s->device, s->mesh, WEFT_ELEMENT_P1, c, &s->space, &error), &error);
    s->n = weft_space_dofs(s->space);
    check(weft_bc_make(&s->context, s->space, conditions, n_conditions, &s->bc, &error), &error);
    check(weft_form_ship(s->space, c > 1 ? "elasticity.weft" : "poisson.weft",
                         weft_space_cells(s->space), &s->form, &error),
          &error);
    s->form.form.components = c;
    if (c > 1)
        weft_form_bind_expression(&s->form, "poisson", "0.25", "poisson");
    check(weft_bc_operator_make(s->bc, WEFT_ASSEMBLY_CSR, &s->form.form, &s->op, &error), &error);
    check(weft_vector_make(s->device, s->n, &s->u_values, &s->u, &error), &error);
    check(weft_vector_make(s->device, s->n, &s->b_values, &s->b, &error), &error);
    check(weft_bc_load_make(s->bc, NULL, NULL, WEFT_LOAD_DEGREE, s->b, s->b_values, &error),
          &error);
    weft_bc_set(s->bc, 1, s->u_values);
}

static void close_setting(setting *s) {
    weft_operator_free(&s->op);
    weft_bc_free(&s->bc);
    weft_memory_free(&s->u);
    weft_memory_free(&s->b);
    free(s->u_values);
    free(s->b_values);
    weft_space_free(&s->space);
    weft_mesh_free(&s->mesh);
    weft_library_free(&s->library);
    weft_device_free(&s->device);
}

/* Pin what is free, reduce, solve, expand. Returns the number of free modes. */
static int solve(setting *s, weft_constraints *constraints) {
    weft_error error = {0};
    weft_free_modes modes = {0};
    weft_reduction *reduction = NULL;
    weft_cg_result result = {0};
    check(weft_free_modes_find(constraints, s->op, NULL, 0, &modes, &error), &error);
    check(weft_constraints_pin(constraints, &modes, s->b_values, &error), &error);
    check(weft_vector_push(s->b, s->b_values, s->n, &error), &error);
    check(weft_vector_push(s->u, s->u_values, s->n, &error), &error);
    check(weft_reduction_make(constraints, &reduction, &error), &error);
    for (int round = 0; round < 2; ++round) /* the second update has a pattern already */
        check(weft_reduction_update(reduction, s->op, &error), &error);
    check(weft_reduction_fill(reduction, 1, s->u, &error), &error);
    const weft_system whole = {.op = s->op, .b = s->b, .u = s->u};
    const weft_system system = weft_reduction_system(reduction, &whole);
    check(weft_reduction_enter(reduction, &whole, &error), &error);
    const weft_cg_options options = {.size = sizeof options,
                                     .jacobi = true,
                                     .tolerance = 1e-12,
                                     .max_iterations = 1000,
                                     .constrained = system.constrained,
                                     .n_constrained = system.n_constrained};
    check(weft_cg_solve(&s->context, system.op, system.b, system.u, &options, &result, &error),
          &error);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    check(weft_reduction_leave(reduction, &whole, &error), &error);
    check(weft_vector_pull(s->u, s->u_values, s->n, &error), &error);
    check(weft_free_modes_remove(&modes, s->n, s->u_values, &error), &error);
    const int n = modes.n;
    free(result.history);
    weft_reduction_free(&reduction);
    weft_free_modes_clear(&modes);
    return n;
}

static void expect(double found, double wanted) {
    if (!(fabs(found - wanted) <= TOLERANCE))
        fail_msg("%.17g, expected %.17g", found, wanted);
}

/* ---- symmetry planes ------------------------------------------------------------------------- */

/* A bar that is pulled along its own axis, rotated: u = T e T^T x with e = (1, -1/4, -1/4), in the
 * plane (15/16, -5/16), sliding on planes through the origin. */
static void sliding_on_rotated_planes(void **state) {
    (void)state;
    static const char *const planes[] = {"left", "bottom", "front"};
    for (int d = 2; d <= 3; ++d)
        for (int rotated = 0; rotated < 2; ++rotated) {
            const double angle = rotated ? 0.6 : 0;
            double axis[3] = {1, 0, 0};
            char texts[3][40];
            weft_condition conditions[3];
            weft_error error = {0};
            setting s;
            weft_constraints *constraints = NULL;
            rotate(d, angle, axis);
            for (int k = 0; k < d; ++k) {
                snprintf(texts[k], sizeof texts[k], "%.17g", axis[k]);
                conditions[k] = (weft_condition){WEFT_NEUMANN, "right", texts[k], NULL, NULL, k};
            }
            open_setting(&s, d, angle, d, conditions, d);
            check(weft_constraints_make(&s.context, s.space, s.bc, &constraints, &error), &error);
            for (int k = 0; k < d; ++k)
                check(weft_constraints_slide(constraints, planes[k], planes[k], &error), &error);
            assert_int_equal(solve(&s, constraints), 0);
            for (int64_t i = 0; i < s.mesh->n_nodes; ++i) {
                const double *x = &s.mesh->x[i * d];
                double along = 0;
                for (int k = 0; k < d; ++k)
                    along += x[k] * axis[k];
                for (int k = 0; k < d; ++k) {
                    const double own = d == 2 ? -5.0 / 16 : -0.25, pull = d == 2 ? 15.0 / 16 : 1;
                    expect(s.u_values[i * d + k], own * x[k] + (pull - own) * along * axis[k]);
                }
            }
            weft_constraints_free(&constraints);
            close_setting(&s);
        }
}

/* ---- floating bodies ------------------------------------------------------------------------- */

/* The same bar without support, pulled on both sides: symmetric about its centre. */
static void floating_bars(void **state) {
    (void)state;
    for (int d = 2; d <= 3; ++d) {
        const weft_condition conditions[] = {{WEFT_NEUMANN, "left", "-1", NULL, NULL, 0},
                                             {WEFT_NEUMANN, "right", "1", NULL, NULL, 0}};
        weft_error error = {0};
        setting s;
        weft_constraints *constraints = NULL;
        open_setting(&s, d, 0, d, conditions, 2);
        check(weft_constraints_make(&s.context, s.space, s.bc, &constraints, &error), &error);
        assert_int_equal(solve(&s, constraints), d == 2 ? 3 : 6);
        for (int64_t i = 0; i < s.mesh->n_nodes * d; ++i) {
            const double pull = d == 2 ? 15.0 / 16 : 1, own = d == 2 ? -5.0 / 16 : -0.25;
            expect(s.u_values[i], (i % d == 0 ? pull : own) * (s.mesh->x[i] - 0.5));
        }
        weft_constraints_free(&constraints);
        close_setting(&s);
    }
}

/* What holds some modes leaves the others. */
static void counts_of_modes(void **state) {
    (void)state;
    static const double point[] = {0, 0, 0}, other[] = {1, 0, 0};
    weft_error error = {0};
    setting s;
    const weft_condition none = {WEFT_NEUMANN, "left", "0", NULL, NULL, 0};
    for (int held = 0; held < 4; ++held) {
        static const int wanted[] = {3, 2, 1, 0};
        weft_constraints *constraints = NULL;
        weft_free_modes modes = {0};
        open_setting(&s, 2, 0, 2, &none, 1);
        check(weft_constraints_make(&s.context, s.space, s.bc, &constraints, &error), &error);
        for (int k = 0; k < held && k < 2; ++k)
            check(weft_constraints_point(constraints, point, k, "0", "point", &error), &error);
        if (held == 3)
            check(weft_constraints_point(constraints, other, 1, "0", "point", &error), &error);
        check(weft_free_modes_find(constraints, s.op, NULL, 0, &modes, &error), &error);
        assert_int_equal(modes.n, wanted[held]);
        weft_free_modes_clear(&modes);
        weft_constraints_free(&constraints);
        close_setting(&s);
    }
}

/* ---- equations ------------------------------------------------------------------------------- */

static uint64_t random_state = 12345;

static double random_number(void) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(random_state >> 11) / 4503599627370496.0 - 1;
}

/* Random equations among random dofs, of which many are shared and some follow from others: all of them
 * hold in the solution, whose residual has no part in the space that they leave. */
static void random_equations(void **state) {
    (void)state;
    enum { EQUATIONS = 12, TERMS = 4 };
    const weft_condition fixed = {WEFT_DIRICHLET, "left", "1 + y", NULL, NULL, 0};
    weft_error error = {0};
    for (int round = 0; round < 5; ++round) {
        int32_t dofs[EQUATIONS][TERMS];
        double factors[EQUATIONS][TERMS], values[EQUATIONS];
        weft_constraints *constraints = NULL;
        setting s;
        open_setting(&s, 2, 0, 1, &fixed, 1);
        check(weft_constraints_make(&s.context, s.space, s.bc, &constraints, &error), &error);
        for (int e = 0; e < EQUATIONS; ++e) {
            for (int k = 0; k < TERMS; ++k) {
                bool is_new = false;
                while (!is_new) { /* of 20 dofs, so that equations share them */
                    dofs[e][k] = (int32_t)(fabs(random_number()) * 20);
                    is_new = true;
                    for (int l = 0; l < k; ++l)
                        is_new &= dofs[e][l] != dofs[e][k];
                }
                factors[e][k] = random_number();
            }
            values[e] = random_number();
            check(weft_constraints_add(constraints, TERMS, dofs[e], factors[e], values[e], "random",
                                       &error),
                  &error);
        }
        const int64_t before = weft_constraints_count(constraints);
        for (int k = 0; k < TERMS; ++k) /* twice the first follows from it */
            factors[0][k] *= 2;
        values[0] *= 2;
        check(weft_constraints_add(constraints, TERMS, dofs[0], factors[0], values[0], "again",
                                   &error),
              &error);
        assert_int_equal(weft_constraints_count(constraints), before);
        values[1] += 1; /* and this contradicts the second */
        assert_int_equal(weft_constraints_add(constraints, TERMS, dofs[1], factors[1], values[1],
                                              "--other", &error),
                         WEFT_ERROR_INPUT);
        assert_non_null(strstr(error.message, "this contradicts other conditions at ("));
        assert_string_equal(error.file, "--other");
        values[1] -= 1;
        error = (weft_error){0};
        assert_int_equal(solve(&s, constraints), 0);
        for (int e = 0; e < EQUATIONS; ++e) {
            double sum = -values[e];
            for (int k = 0; k < TERMS; ++k)
                sum += factors[e][k] * s.u_values[dofs[e][k]];
            if (!(fabs(sum) < 1e-7)) /* small pivots enlarge values */
                fail_msg("equation %d of round %d: %g", e, round, sum);
        }
        weft_constraints_free(&constraints);
        close_setting(&s);
    }
}

/* ---- groups and points ----------------------------------------------------------------------- */

/* -u'' = 0 between u = 1 on the left and a tied right side with a flux of 1: u = 1 + x. */
static void ties_and_points(void **state) {
    (void)state;
    static const double middle[] = {0.37, 0.41};
    weft_error error = {0};
    for (int with_point = 0; with_point < 2; ++with_point) {
        const weft_condition conditions[] = {{WEFT_DIRICHLET, "left", "1", NULL, NULL, 0},
                                             {WEFT_NEUMANN, "right", "1", NULL, NULL, 0}};
        weft_constraints *constraints = NULL;
        setting s;
        open_setting(&s, 2, 0, 1, conditions, 2);
        check(weft_constraints_make(&s.context, s.space, s.bc, &constraints, &error), &error);
        check(weft_constraints_tie(constraints, "right", 0, "--tie right", &error), &error);
        assert_int_equal(weft_constraints_count(constraints), 5);
        if (with_point) /* what the solution has there changes nothing */
            check(weft_constraints_point(constraints, middle, 0, "1.37", "--point-value", &error),
                  &error);
        assert_int_equal(solve(&s, constraints), 0);
        for (int64_t i = 0; i < s.n; ++i)
            expect(s.u_values[i], 1 + s.mesh->x[2 * i]);
        weft_constraints_free(&constraints);
        close_setting(&s);
    }
}

/* Corners of a mesh that is periodic in all directions are one node. */
static void periodic_corners(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"left", "right"}, {"bottom", "top"}, {"front", "back"}};
    weft_error error = {0};
    for (int d = 2; d <= 3; ++d) {
        const weft_condition none = {WEFT_NEUMANN, "left", "0", NULL, NULL, 0};
        weft_constraints *constraints = NULL;
        setting s;
        open_setting(&s, d, 0.3, 1, &none, 1);
        check(weft_constraints_make(&s.context, s.space, s.bc, &constraints, &error), &error);
        for (int k = 0; k < d; ++k)
            check(
                weft_constraints_match(constraints, pairs[k][0], pairs[k][1], "--periodic", &error),
                &error);
        /* n^d nodes remain of (n + 1)^d */
        assert_int_equal(weft_constraints_count(constraints), d == 2 ? 36 - 25 : 64 - 27);
        assert_int_equal(solve(&s, constraints), 1);
        weft_constraints_free(&constraints);
        close_setting(&s);
    }
}

static void messages(void **state) {
    (void)state;
    static const double outside[] = {2, 0};
    const weft_condition none = {WEFT_NEUMANN, "left", "0", NULL, NULL, 0};
    weft_error error = {0};
    weft_constraints *constraints = NULL;
    setting s;
    open_setting(&s, 2, 0, 1, &none, 1);
    check(weft_constraints_make(&s.context, s.space, s.bc, &constraints, &error), &error);
    assert_int_equal(weft_constraints_point(constraints, outside, 0, "1", "--point-value", &error),
                     WEFT_ERROR_INPUT);
    assert_string_equal(error.message, "the point (2, 0) is outside the mesh");
    assert_int_equal(weft_constraints_slide(constraints, "left", "--symmetry left", &error),
                     WEFT_ERROR_INPUT);
    assert_string_equal(error.message,
                        "the solution has 1 component, and no normal component on `left`");
    assert_int_equal(weft_constraints_match(constraints, "left", "bottom", "--periodic", &error),
                     WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.message, "of `left` has no partner on `bottom`, where one should "
                                          "be at ("));
    assert_int_equal(weft_constraints_tie(constraints, "lft", 0, "--tie lft", &error),
                     WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.hint, "did you mean `left`?"));
    weft_constraints_free(&constraints);
    close_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_on_rotated_planes),
        cmocka_unit_test(floating_bars),
        cmocka_unit_test(counts_of_modes),
        cmocka_unit_test(random_equations),
        cmocka_unit_test(ties_and_points),
        cmocka_unit_test(periodic_corners),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
