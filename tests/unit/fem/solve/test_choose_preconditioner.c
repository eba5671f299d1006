/* labels: quick */
/* Which preconditioner `auto` takes, by constants and by figures of the tuning database. */
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "test_support.h"

#include <string.h>

static const weft_limits host = {.kind = WEFT_DEVICE_HOST,
                                 .name = "host",
                                 .lanes_double = 8,
                                 .threads = 2,
                                 .memory_bytes = (size_t)24 << 30,
                                 .bandwidth = 12e9,
                                 .launch_seconds = 1e-7};

static weft_assembly_problem problem(int dimension, int64_t n_nodes) {
    weft_assembly_problem out = {.dimension = dimension,
                                 .width = dimension + 1,
                                 .n_nodes = n_nodes,
                                 .n_cells = dimension == 2 ? 2 * n_nodes : 6 * n_nodes,
                                 .symmetric = true};
    out.applications = weft_cg_iterations_expected(&out, 1e-8);
    return out;
}

static const char *chosen(const weft_assembly_problem *p, bool has_levels,
                          const weft_preconditioner_speeds *speeds) {
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    const int n = weft_preconditioner_costs(&host, p, has_levels, speeds, costs);
    assert_in_range(n, 1, WEFT_COSTS_MAX);
    for (int i = 1; i < n; ++i)
        assert_true(costs[i - 1].seconds <= costs[i].seconds);
    return costs[0].name;
}

/* Jacobi's iterations grow with the nodes per side, those of multigrid do not. */
static void size_and_levels_decide(void **state) {
    (void)state;
    const weft_assembly_problem small = problem(2, 1000), large = problem(2, 1000000);
    assert_string_equal("jacobi", chosen(&small, true, NULL));
    assert_string_equal("multigrid", chosen(&large, true, NULL));
    assert_string_equal("aggregation", chosen(&large, false, NULL));
}

/* The symmetric part preconditions what has little convection; nothing is known without a measurement. */
static void convection_decides(void **state) {
    (void)state;
    weft_assembly_problem large = problem(2, 1000000);
    large.symmetric = false;
    assert_string_equal("jacobi", chosen(&large, true, NULL));
    large.asymmetry = 1e-3;
    assert_string_equal("multigrid", chosen(&large, true, NULL));
    assert_string_equal("aggregation", chosen(&large, false, NULL));
    large.asymmetry = 0.7;
    assert_string_equal("jacobi", chosen(&large, true, NULL));
}

/* Elastic bodies held at a side, whose iterations were counted with both preconditioners (CG to 1e-8): a cycle and its product are
 * eight products, and a Galerkin product with the functions of rigid bodies is about 70 in the plane and 150 in space, by a
 * count of its multiplications: entries x functions x entries of a row of the prolongation, thrice. Where fewer products are needed, they are taken. */
static void bodies_held_at_a_side(void **state) {
    (void)state;
    static const struct {
        int dimension, side, jacobi, aggregation, galerkin;
    } counted[] = {{3, 8, 173, 15, 150}, {3, 16, 352, 17, 150}, {3, 32, 700, 19, 150},
                   {2, 16, 186, 15, 70}, {2, 64, 768, 17, 70},  {2, 200, 2400, 19, 70}};
    for (size_t i = 0; i < sizeof counted / sizeof *counted; ++i) {
        const int d = counted[i].dimension, side = counted[i].side;
        int64_t nodes = 1, boxes = 1;
        for (int k = 0; k < d; ++k) {
            nodes *= side + 1;
            boxes *= side;
        }
        weft_assembly_problem p = {.dimension = d,
                                   .width = d + 1,
                                   .n_nodes = nodes,
                                   .n_cells = (d == 2 ? 2 : 6) * boxes,
                                   .components = d,
                                   .is_elastic = true,
                                   .symmetric = true};
        p.applications = weft_cg_iterations_expected(&p, 1e-8);
        assert_double_near(p.applications / counted[i].jacobi, 1, 0, 0.2);
        const int cycles = 8 * counted[i].aggregation + counted[i].galerkin;
        if (side >= 16 && cycles < 0.8 * counted[i].jacobi && nodes > 10000)
            assert_string_equal("aggregation", chosen(&p, false, NULL));
        if (cycles > 1.25 * counted[i].jacobi)
            assert_string_equal("jacobi", chosen(&p, false, NULL));
    }
}

/* A set-up that one solve is not worth is worth it for many. */
static void many_solves_share_a_set_up(void **state) {
    (void)state;
    weft_assembly_problem p = problem(2, 5000);
    assert_string_equal("jacobi", chosen(&p, false, NULL));
    p.solves = 100;
    p.applications *= p.solves;
    assert_string_equal("aggregation", chosen(&p, false, NULL));
}

/* Few iterations, as with a limit on them, are not worth a set-up. */
static void few_iterations_want_none(void **state) {
    (void)state;
    weft_assembly_problem large = problem(2, 1000000);
    large.applications = 5;
    assert_string_equal("jacobi", chosen(&large, true, NULL));
}

/* A figure of one kind, dimension and device changes what is predicted for these, nothing else. */
static void stored_speeds_change_the_choice(void **state) {
    (void)state;
    const weft_device_options options = {.size = sizeof options, .cache = WEFT_CACHE_OFF};
    const weft_assembly_problem plane = problem(2, 1000000), space = problem(3, 1000000);
    const weft_preconditioner_speed slow = {.set_up = 1e-6, .iteration = {1, 2}};
    weft_preconditioner_speeds none, stored, other;
    weft_preconditioner_cost costs[WEFT_COSTS_MAX];
    weft_tuning *tuning = NULL;
    weft_error error = {0};
    int multigrid = 0, chebyshev = 0;
    assert_int_equal(weft_preconditioner_find("multigrid", &multigrid, &error), WEFT_OK);
    assert_int_equal(weft_preconditioner_find("chebyshev", &chebyshev, &error), WEFT_OK);
    assert_int_equal(weft_tuning_open(&options, &tuning, &error), WEFT_OK);
    assert_int_equal(weft_preconditioner_speeds_write(tuning, "this", multigrid, 2, &slow, &error),
                     WEFT_OK);
    assert_int_equal(weft_preconditioner_speeds_write(tuning, "this", chebyshev, 2, &slow, &error),
                     WEFT_OK);
    assert_int_equal(weft_preconditioner_speeds_write(tuning, "this", -1, 2, &slow, &error),
                     WEFT_OK);
    assert_int_equal(weft_preconditioner_speeds_read(NULL, "", &none, &error), WEFT_OK);
    assert_int_equal(weft_preconditioner_speeds_read(tuning, "this", &stored, &error), WEFT_OK);
    assert_int_equal(weft_preconditioner_speeds_read(tuning, "that", &other, &error), WEFT_OK);
    assert_int_equal(none.n_measured, 0);
    assert_int_equal(other.n_measured, 0);
    assert_int_equal(stored.n_measured, 2); /* set-up and the iteration in 2D */
    assert_string_equal("multigrid", chosen(&plane, true, &none));
    assert_string_equal("aggregation", chosen(&plane, true, &stored));
    const int n = weft_preconditioner_costs(&host, &plane, true, &stored, costs);
    assert_string_equal("multigrid", costs[n - 1].name);
    /* 10^6 rows: 1 s for each of the iterations per 1e-6 s, 1 s of set-up */
    assert_true(costs[n - 1].seconds >= 1e6 * costs[n - 1].iterations + 1);
    assert_true(costs[n - 1].seconds < 1e6 * costs[n - 1].iterations + 10);
    const int n_space = weft_preconditioner_costs(&host, &space, true, &stored, costs);
    for (int i = 0; i < n_space; ++i)
        assert_true(costs[i].seconds < 60);
    weft_tuning_close(&tuning);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(size_and_levels_decide),
                                       cmocka_unit_test(convection_decides),
                                       cmocka_unit_test(bodies_held_at_a_side),
                                       cmocka_unit_test(many_solves_share_a_set_up),
                                       cmocka_unit_test(few_iterations_want_none),
                                       cmocka_unit_test(stored_speeds_change_the_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
