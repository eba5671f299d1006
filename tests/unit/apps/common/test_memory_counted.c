/* labels: full */
/* The device memory that a solve with multigrid takes at most, counted on an emulated GPU, against the
 * estimate, within 10 %: load, matrix, levels, conjugate gradients and the errors of the solution. With little memory
 * the cells are gone through in ranges and evicted for the solve: then at most three quarters of what it takes
 * otherwise, and the same solution, bit by bit. So is that by aggregation, which reads the nodes' coordinates on
 * the GPU. */
#include "apps/common/fem.h"
#include "preconditioner_support.h"

typedef struct measured {
    size_t peak, estimated;
    double integral, squares[2];
    double *u; /* [n] free() */
    int64_t n;
} measured;

static size_t estimate_of(const multigrid_case *c, const char *kind) {
    const weft_mesh *mesh = weft_space_mesh(c->space);
    weft_memory_estimate estimate = {0};
    weft_problem_memory what = {.problem = {.dimension = 3,
                                            .width = 4,
                                            .n_nodes = mesh->n_nodes,
                                            .n_cells = mesh->n_cells,
                                            .symmetric = true,
                                            .applications = 10},
                                .n_vectors = 3, /* and the diffusivity */
                                .method = WEFT_METHOD_CG,
                                .solves_once = true,
                                .ranges_load = true};
    weft_error error = {0};
    check(weft_preconditioner_find(kind, &what.preconditioner, &error), &error);
    weft_problem_memory_estimate(weft_device_limits(c->device), &what, WEFT_ASSEMBLY_CSR,
                                 &estimate);
    return estimate.bytes;
}

/* As the applications do it: the load before the operator. */
static void solve(multigrid_case *c, const char *kind) {
    weft_error error = {0};
    weft_cg_options options = {.size = sizeof options,
                               .tolerance = 1e-8,
                               .max_iterations = 50,
                               .constrained = c->problem.constrained,
                               .n_constrained = c->problem.n_constrained};
    weft_cg_result result = {0};
    weft_operator_free(&c->op);
    check(weft_bc_load_make(c->bc, "1 + x", "test", 2, c->r, c->r_values, &error), &error);
    weft_connectivity_release_transposed(weft_space_cells(c->space));
    check(weft_bc_operator_make(c->bc, WEFT_ASSEMBLY_CSR, &c->form.form, &c->op, &error), &error);
    c->problem.op = c->op;
    weft_operator_release_assembly(c->op);
    weft_space_evict(c->space);
    check(multigrid_try(c, kind, &error), &error);
    options.preconditioner = c->preconditioner;
    check(weft_cg_solve(&c->context, c->op, c->r, c->z, &options, &result, &error), &error);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    free(result.history);
}

/* n cells a side of the coarsest mesh, which is refined that many times */
static measured measure(const char *kind, int n, int times, size_t memory_bytes) {
    const case_options options = {.d = 3,
                                  .n = n,
                                  .times = times,
                                  .components = 1,
                                  .device = "host:1", /* of the emulation: kernels one by one */
                                  .is_emulated = true,
                                  .memory_bytes = memory_bytes};
    multigrid_case c;
    weft_error error = {0};
    measured out = {0};
    multigrid_case_open(&c, &options, WEFT_ASSEMBLY_CSR);
    solve(&c, kind);
    check(weft_space_errors(&c.context, c.space, c.z, "x", "test", out.squares, &error), &error);
    out.peak = weft_device_bytes_peak(c.device);
    out.estimated = estimate_of(&c, kind);
    out.n = c.n;
    out.u = malloc((size_t)c.n * sizeof *out.u);
    assert_non_null(out.u);
    check(weft_memory_read(c.z, 0, out.u, (size_t)c.n * sizeof *out.u, &error), &error);
    check(weft_space_integral(c.space, out.u, 0, &out.integral, &error), &error);
    multigrid_case_free(&c);
    return out;
}

static void check_estimate(const char *what, const measured *m, double most) {
    const double ratio = (double)m->estimated / (double)m->peak;
    print_message("%s: %.1f bytes per node, %.1f predicted\n", what, (double)m->peak / (double)m->n,
                  (double)m->estimated / (double)m->n);
    if (ratio < 0.9 || ratio > most)
        fail_msg("%s: %zu bytes were predicted, %zu counted", what, m->estimated, m->peak);
}

static void compare_and_free(measured *little, measured *plenty, double most) {
    check_estimate("plenty of memory", plenty, most);
    check_estimate("little memory", little, most);
    assert_memory_equal(little->u, plenty->u, (size_t)plenty->n * sizeof *plenty->u);
    assert_memory_equal(&little->integral, &plenty->integral, sizeof little->integral);
    assert_memory_equal(little->squares, plenty->squares, sizeof little->squares);
    free(plenty->u);
    free(little->u);
}

/* 24 cells a side: 15625 nodes, 82944 tetrahedra */
static void peaks(void **state) {
    measured plenty = measure("multigrid", 6, 2, 0);
    measured little = measure("multigrid", 6, 2, (size_t)26e6);
    (void)state;
    assert_true(4 * little.peak < 3 * plenty.peak);
    compare_and_free(&little, &plenty, 1.1);
}

/* 18 cells a side: 6859 nodes, enough for a GPU to aggregate them, but so few that sizes of levels are not as estimated */
static void aggregated(void **state) {
    measured plenty = measure("aggregation", 18, 0, 0);
    measured little = measure("aggregation", 18, 0, (size_t)20e6);
    (void)state;
    compare_and_free(&little, &plenty, 1.3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(peaks), cmocka_unit_test(aggregated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
