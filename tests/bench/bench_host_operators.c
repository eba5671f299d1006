/* Products, assembly into CSR, set-up of the pattern, and conjugate gradients. */
#include "bench_host.h"
#include "bench_host_rivals.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <stdlib.h>
#include <string.h>

typedef struct apply_run {
    weft_operator *op;
    weft_memory *v, *y;
} apply_run;

typedef struct csr_run {
    const weft_pattern *pattern;
    const double *values, *v;
    double *y;
} csr_run;

static weft_status run_apply(void *user, weft_error *error) {
    apply_run *r = user;
    return weft_operator_apply(r->op, r->v, r->y, error);
}

static weft_status run_assemble(void *user, weft_error *error) {
    return weft_operator_assemble(((apply_run *)user)->op, error);
}

static weft_status run_csr_rival(void *user, weft_error *error) {
    csr_run *r = user;
    (void)error;
    rival_csr_product(r->pattern->row_start, r->pattern->columns, r->values, r->pattern->n_rows,
                      r->v, r->y);
    return WEFT_OK;
}

static weft_status run_pattern(void *user, weft_error *error) {
    bench_case *c = user;
    weft_pattern *pattern = NULL;
    weft_status status = weft_pattern_make(c->context.device, c->dofs,
                                           weft_device_limits(c->context.device)->lanes_double,
                                           &pattern, NULL, error);
    weft_pattern_free(&pattern);
    return status;
}

static weft_status run_pattern_and_positions(void *user, weft_error *error) {
    bench_case *c = user;
    weft_pattern *pattern = NULL;
    weft_memory *positions = NULL;
    weft_status status = weft_pattern_make(c->context.device, c->dofs,
                                           weft_device_limits(c->context.device)->lanes_double,
                                           &pattern, &positions, error);
    weft_pattern_free(&pattern);
    weft_memory_free(&positions);
    return status;
}

static weft_status cg_seconds(bench_case *c, weft_operator *op, weft_memory *b, weft_memory *x,
                              double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_result result = {0};
    weft_solver *solver = NULL;
    static const int32_t pinned[1] = {0}; /* the stiffness matrix alone is singular */
    const weft_cg_options options = {.size = sizeof options,
                                     .jacobi = true,
                                     .tolerance = 0.0,
                                     .max_iterations = 60,
                                     .constrained = pinned,
                                     .n_constrained = 1};
    double best = 1e300;
    TRY(weft_solver_make(&c->context, op, &solver, error));
    for (int i = 0; i < 5; ++i) {
        TRY(weft_memory_zero(x, error));
        const double start = weft_clock();
        TRY(weft_solver_solve(solver, b, x, &options, &result, error));
        const double seconds =
            (weft_clock() - start) / (result.iterations > 0 ? result.iterations : 1);
        best = seconds < best ? seconds : best;
        free(result.history);
        result.history = NULL;
    }
    *out = best;
done:
    weft_solver_free(&solver);
    return status;
}

static weft_status products(bench_case *c, apply_run *csr, weft_error *error) {
    weft_status status = WEFT_OK;
    const double nodes = (double)c->mesh->n_nodes;
    apply_run lma = *csr, gather = *csr, recomputed = *csr;
    csr_run rival = {.pattern = weft_operator_pattern(csr->op),
                     .values = weft_memory_host(weft_operator_values(csr->op)),
                     .v = weft_memory_host(csr->v),
                     .y = weft_memory_host(csr->y)};
    double ours = 0.0, theirs = 0.0, lma_seconds = 0.0;
    lma.op = gather.op = recomputed.op = NULL;
    TRY(weft_operator_make(&c->context, WEFT_ASSEMBLY_LMA, &c->form, 1, &lma.op, error));
    TRY(weft_operator_make(&c->context, WEFT_ASSEMBLY_LMA_GATHER, &c->form, 1, &gather.op, error));
    TRY(weft_operator_make(&c->context, WEFT_ASSEMBLY_MATRIX_FREE, &c->form, 1, &recomputed.op,
                           error));
    TRY(weft_operator_assemble(lma.op, error));
    TRY(weft_operator_assemble(gather.op, error));
    TRY(weft_operator_assemble(recomputed.op, error));
    TRY(bench_pair(run_apply, csr, &ours, run_csr_rival, &rival, &theirs, error));
    bench_line(c->name, "csr product, against a plain -O3 loop", nodes / ours * 1e-6, "MDoF/s",
               theirs / ours, 1.0);
    TRY(bench_pair(run_apply, &recomputed, &ours, run_apply, &lma, &lma_seconds, error));
    bench_line(c->name, "lma product", nodes / lma_seconds * 1e-6, "MDoF/s", 0.0, 0.0);
    bench_line(c->name, "matrix-free product, against lma", nodes / ours * 1e-6, "MDoF/s",
               lma_seconds / ours, 0.0);
    TRY(bench_pair(run_apply, &gather, &ours, run_apply, &lma, &lma_seconds, error));
    bench_line(c->name, "lma-gather product, against lma", nodes / ours * 1e-6, "MDoF/s",
               lma_seconds / ours, 0.0);
done:
    weft_operator_free(&lma.op);
    weft_operator_free(&gather.op);
    weft_operator_free(&recomputed.op);
    return status;
}

weft_status bench_operators(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)c->mesh->n_nodes * sizeof(double);
    apply_run csr = {0};
    weft_memory *b = NULL, *x = NULL;
    double product = 0.0, set_up = 0.0, assemble = 0.0, iteration = 0.0;
    TRY(weft_memory_make(c->context.device, bytes, &csr.v, error));
    TRY(weft_memory_make(c->context.device, bytes, &csr.y, error));
    TRY(weft_memory_make(c->context.device, bytes, &b, error));
    TRY(weft_memory_make(c->context.device, bytes, &x, error));
    for (int64_t i = 0; i < c->mesh->n_nodes; ++i) {
        ((double *)weft_memory_host(csr.v))[i] = (double)(i * 7919 % 1000) / 1000.0 - 0.5;
        ((double *)weft_memory_host(b))[i] = (double)(i * 104729 % 1000) / 1000.0 - 0.5;
    }
    TRY(weft_operator_make(&c->context, WEFT_ASSEMBLY_CSR, &c->form, 1, &csr.op, error));
    TRY(weft_operator_assemble(csr.op, error));
    TRY(products(c, &csr, error));
    TRY(bench_pair(run_apply, &csr, &product, run_pattern, c, &set_up, error));
    bench_line(c->name, "csr pattern: in products, 20 at most", set_up * 1e3, "ms",
               20.0 * product / set_up, 1.0);
    TRY(bench_pair(run_apply, &csr, &product, run_pattern_and_positions, c, &set_up, error));
    bench_line(c->name, "csr pattern with every cell's positions, the same", set_up * 1e3, "ms",
               20.0 * product / set_up, 0.0);
    TRY(bench_pair(run_assemble, &csr, &assemble, NULL, NULL, NULL, error));
    bench_line(c->name, "Addto into csr", (double)c->mesh->n_cells / assemble * 1e-6, "Mcells/s",
               0.0, 0.0);
    TRY(cg_seconds(c, csr.op, b, x, &iteration, error));
    bench_line(c->name, "Jacobi-CG iteration, csr", iteration * 1e3, "ms", 0.0, 0.0);
    c->addto_seconds = assemble;
    c->iteration_seconds = iteration;
done:
    weft_operator_free(&csr.op);
    weft_memory_free(&csr.v);
    weft_memory_free(&csr.y);
    weft_memory_free(&b);
    weft_memory_free(&x);
    return status;
}
