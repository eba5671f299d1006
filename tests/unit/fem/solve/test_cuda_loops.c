/* labels: full */
/* Loops as a GPU runs them, captured with a WHILE node each and some iterations too many, on an
 * emulated one (emulated_gpu.h): what products, their zeroing and everything else in a loop do
 * after its end is nothing. Solutions are those of the host, to the solver's tolerance. */
#include "core/weft_core.h"
#include "emulated_gpu.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "operator_fixture.h"
#include "test_support.h"

#define TOLERANCE 1e-7
#define APART 1e-5 /* against the largest value: the tolerance times what the matrices magnify */

typedef struct solve_case {
    int d;
    int64_t cells_a_side;
    weft_assembly assembly;
    const char *counted; /* of the product's kernel's name */
    weft_method method;
} solve_case;

typedef struct solved {
    double *x;
    int iterations;
    int64_t n_wanted, n_idle;
} solved;

static void check(weft_status status, const weft_error *error) {
    if (status != WEFT_OK)
        fail_msg("%s", error->message);
}

typedef struct form_parts {
    weft_parameter dimension;
    weft_form_input input;
} form_parts;

/* parts must live as long. */
static weft_operator *poisson(fixture *f, weft_assembly assembly, form_parts *parts) {
    weft_operator *op = NULL;
    weft_error error = {0};
    *parts = (form_parts){{"d", f->d}, {"x", f->x}};
    const weft_form form = {.name = "poisson.weft",
                            .text = weft_fem_script("poisson.weft"),
                            .dofs = f->cells,
                            .inputs = &parts->input,
                            .n_inputs = 1,
                            .parameters = &parts->dimension,
                            .n_parameters = 1,
                            .product = "stiffness_product.weft"};
    check(weft_operator_make(&f->context, assembly, &form, 1, &op, &error), &error);
    check(weft_operator_assemble(op, &error), &error);
    return op;
}

/* K u = (1, 1, ...), u = 0 where x = 0. */
static solved solve(const solve_case *c, bool gpu_runs) {
    fixture f = fixture_make("host:1", c->d, c->cells_a_side, WEFT_PLAN_FUSED);
    emulated_gpu *gpu = gpu_runs ? emulated_gpu_make(f.device) : NULL;
    const size_t bytes = (size_t)f.n * sizeof(double);
    solved s = {.x = calloc((size_t)f.n, sizeof(double))};
    int32_t *constrained = calloc((size_t)f.n, sizeof *constrained);
    weft_error error = {0};
    weft_cg_result result = {0};
    weft_cg_options options = {.size = sizeof options,
                               .method = c->method,
                               .jacobi = true,
                               .tolerance = TOLERANCE,
                               .max_iterations = 500,
                               .constrained = constrained};
    assert_true(s.x && constrained);
    if (gpu) {
        gpu->list_bytes = bytes;
        gpu->counted = c->counted;
    }
    form_parts parts;
    weft_operator *op = poisson(&f, c->assembly, &parts);
    weft_memory *b = fixture_vector(&f), *x = fixture_vector(&f);
    for (int32_t i = 0; i < f.n; ++i) {
        ((double *)weft_memory_host(b))[i] = 1;
        if (f.mesh->x[c->d * i] < 1e-9)
            constrained[options.n_constrained++] = i;
    }
    check(weft_cg_solve(&f.context, op, b, x, &options, &result, &error), &error);
    assert_int_equal(result.outcome, WEFT_CG_CONVERGED);
    memcpy(s.x, weft_memory_host(x), bytes);
    s.iterations = result.iterations;
    s.n_wanted = gpu ? gpu->n_wanted : 0;
    s.n_idle = gpu ? gpu->n_idle : 0;
    free(result.history);
    free(constrained);
    weft_memory_free(&b);
    weft_memory_free(&x);
    weft_operator_free(&op);
    fixture_free(&f);
    return s;
}

static void same(const double *expected, const double *found, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i)
        most = fmax(most, fabs(expected[i]));
    for (int64_t i = 0; i < n; ++i)
        if (!(fabs(found[i] - expected[i]) <= APART * most))
            fail_msg("value %lld: %.17g, not %.17g", (long long)i, found[i], expected[i]);
}

/* An iteration of the device graph is ten iterations: the last one's products are wanted as often
 * as there were iterations, the rest of the ten is not. */
static void conjugate_gradients(void **state) {
    (void)state;
    static const solve_case cases[] = {
        {2, 12, WEFT_ASSEMBLY_MATRIX_FREE, "stiffness_product", WEFT_METHOD_CG},
        {3, 5, WEFT_ASSEMBLY_MATRIX_FREE, "stiffness_product", WEFT_METHOD_CG},
        {2, 6, WEFT_ASSEMBLY_LMA, "mvmul", WEFT_METHOD_CG},
        {2, 6, WEFT_ASSEMBLY_LMA_GATHER, "gather", WEFT_METHOD_CG}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        solved host = solve(&cases[i], false), gpu = solve(&cases[i], true);
        const int64_t n = (int64_t)pow((double)cases[i].cells_a_side + 1, cases[i].d);
        same(host.x, gpu.x, n);
        const bool zeroes = cases[i].assembly == WEFT_ASSEMBLY_LMA; /* by a kernel of like name */
        assert_int_equal(gpu.n_wanted, gpu.iterations * (1 + zeroes));
        assert_true(gpu.n_idle > 0);
        assert_int_equal((gpu.n_wanted + gpu.n_idle) % (10 * (1 + zeroes)), 0);
        free(host.x);
        free(gpu.x);
    }
}

/* GMRES starts again here; its last cycle ends early. */
static void other_methods(void **state) {
    (void)state;
    int64_t n_idle = 0; /* of all: a loop may end with the ten iterations of a graph */
    for (int method = WEFT_METHOD_MINRES; method < weft_method_count(); ++method) {
        const solve_case c = {2, 12, WEFT_ASSEMBLY_MATRIX_FREE, "stiffness_product",
                              (weft_method)method};
        solved host = solve(&c, false), gpu = solve(&c, true);
        same(host.x, gpu.x, 13 * 13);
        assert_int_equal(host.iterations, gpu.iterations);
        assert_true(gpu.n_wanted >= gpu.iterations);
        n_idle += gpu.n_idle;
        free(host.x);
        free(gpu.x);
    }
    assert_true(n_idle > 0);
}

/* ---- loops in loops -------------------------------------------------------------------------- */

typedef struct stepped {
    double *T;
    weft_step_state state;
} stepped;

static stepped steps(weft_assembly assembly, bool gpu_runs) {
    fixture f = fixture_make("host:1", 2, 9, WEFT_PLAN_FUSED);
    const weft_expression velocity[] = {{NULL, "0.5 - y", "u"}, {NULL, "x - 0.5", "u"}};
    const weft_expression diffusivity = {NULL, "0.01 + 0.01*x", "mu"};
    stepped s = {.T = calloc((size_t)f.n, sizeof(double))};
    double *initial = calloc((size_t)f.n, sizeof *initial);
    weft_advection_diffusion *ad = NULL;
    weft_space *space = NULL;
    weft_error error = {0};
    assert_true(s.T && initial);
    if (gpu_runs)
        emulated_gpu_make(f.device)->list_bytes = (size_t)f.n * sizeof(double);
    for (int64_t i = 0; i < f.n; ++i)
        initial[i] =
            exp(-20 * (pow(f.mesh->x[2 * i] - 0.5, 2) + pow(f.mesh->x[2 * i + 1] - 0.3, 2)));
    check(weft_space_make(f.device, f.mesh, WEFT_ELEMENT_P1, 1, &space, &error), &error);
    const weft_advection_diffusion_problem problem = {.space = space,
                                                      .velocity = velocity,
                                                      .n_velocity = 2,
                                                      .diffusivity = &diffusivity,
                                                      .n_diffusivity = 1,
                                                      .initial_values = initial,
                                                      .preconditioner = WEFT_JACOBI,
                                                      .dt = 0.02,
                                                      .theta = 0.5,
                                                      .splitting = WEFT_SPLITTING_STRANG,
                                                      .assembly = assembly,
                                                      .tolerance = TOLERANCE,
                                                      .max_iterations = 100};
    check(weft_advection_diffusion_make(&f.context, &problem, &ad, &error), &error);
    check(weft_advection_diffusion_run(ad, 2, &s.state, &error), &error);
    assert_int_equal(s.state.outcome, WEFT_STEP_DONE);
    memcpy(s.T, weft_memory_host(weft_advection_diffusion_field(ad)), (size_t)f.n * sizeof(double));
    free(initial);
    weft_advection_diffusion_free(&ad);
    weft_space_free(&space);
    fixture_free(&f);
    return s;
}

static void time_steps(void **state) {
    (void)state;
    stepped host = steps(WEFT_ASSEMBLY_CSR, false), gpu = steps(WEFT_ASSEMBLY_MATRIX_FREE, true);
    same(host.T, gpu.T, 100);
    assert_int_equal(host.state.step, gpu.state.step);
    assert_true(llabs((long long)(host.state.iterations - gpu.state.iterations)) <= 2);
    free(host.T);
    free(gpu.T);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conjugate_gradients),
                                       cmocka_unit_test(other_methods),
                                       cmocka_unit_test(time_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
