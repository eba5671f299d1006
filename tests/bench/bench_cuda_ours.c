/* Weft's operators on one mesh, in double, through the public interface. */
#include "apps/common/support.h"
#include "bench_cuda.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 10, SOLVES_MOST = 7 };

typedef struct operator_run {
    bench_case *c;
    weft_operator *op;
    const char *name;
    bench_kind kind;
    bool shuffled;
    int place; /* in the options */
} operator_run;

static weft_status run_apply(void *user, weft_error *error) {
    operator_run *r = user;
    return weft_operator_apply(r->op, r->c->device_v, r->c->device_y, error);
}

static weft_status run_assemble(void *user, weft_error *error) {
    operator_run *r = user;
    return weft_operator_assemble(r->op, error);
}

/* Seconds that count; on the null device there are none. */
static double counted(const bench_case *c, double seconds) {
    return c->run->counts ? seconds : 0;
}

static weft_status timed(bench_case *c, bench_task task, void *user, double *seconds,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    weft_timer *timer = NULL;
    TRY(weft_timer_make(c->device, &timer, error));
    TRY(bench_measure(bench_timer_timing_loop(timer), task, user, c->run->options->repeats, seconds,
                      error));
    *seconds = counted(c, *seconds);
done:
    weft_timer_free(&timer);
    return status;
}

static weft_status compare(operator_run *r, bench_row *row, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_case *c = r->c;
    const int64_t n = c->mesh->n_nodes;
    double *y = NULL;
    if (!c->run->counts)
        return WEFT_OK;
    y = malloc((size_t)n * sizeof *y);
    if (!y)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    /* what is not written shows */
    for (int64_t i = 0; i < n; ++i)
        y[i] = NAN;
    TRY(weft_memory_write(c->device_y, 0, y, (size_t)n * sizeof *y, error));
    TRY(run_apply(r, error));
    TRY(weft_memory_read(c->device_y, 0, y, (size_t)n * sizeof *y, error));
    row->difference = bench_difference(y, c->y, n);
    row->wrong = !(row->difference <= 1e-12);
done:
    free(y);
    return status;
}

static weft_status apply(operator_run *r, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_case *c = r->c;
    bench_row row = bench_row_make(c, r->shuffled ? "apply, shuffled" : "apply", r->name, false);
    TRY(compare(r, &row, error));
    TRY(timed(c, run_apply, r, &row.seconds, error));
    row.bytes = bench_bytes_apply(&c->sizes, r->kind);
    if (row.seconds > 0)
        row.rate = c->sizes.nodes / row.seconds * 1e-9;
    row.rival_seconds = r->shuffled ? c->apply_seconds[r->place] : c->product_seconds[0];
    if (row.rival_seconds > 0)
        snprintf(row.rival, sizeof row.rival, "%s", r->shuffled ? "ordered" : "cuSPARSE");
    if (!r->shuffled)
        c->apply_seconds[r->place] = row.seconds;
    bench_rows_add(&c->run->rows, &row);
done:
    return status;
}

static weft_status assemble(operator_run *r, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_case *c = r->c;
    bench_row row =
        bench_row_make(c, r->kind == BENCH_KIND_LMA ? "assemble" : "Addto", r->name, false);
    TRY(timed(c, run_assemble, r, &row.seconds, error));
    row.bytes =
        r->kind == BENCH_KIND_LMA ? bench_bytes_local(&c->sizes) : bench_bytes_addto(&c->sizes);
    if (row.seconds > 0)
        row.rate = c->sizes.cells / row.seconds * 1e-9;
    bench_rows_add(&c->run->rows, &row);
done:
    return status;
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

/* Seconds of a solve of so many iterations, and how many there were; the residual after `FEW`. */
static weft_status solve(bench_case *c, weft_device *device, weft_solver *solver, weft_memory *b,
                         weft_memory *x, int n_iterations, double *seconds, int *done_iterations,
                         double *residual, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cg_result result = {0};
    const weft_cg_options options = {.size = sizeof options,
                                     .max_iterations = n_iterations,
                                     .constrained = c->boundary,
                                     .n_constrained = c->n_boundary};
    TRY(weft_memory_zero(x, error));
    TRY(weft_device_wait(device, error));
    const double start = weft_clock();
    TRY(weft_solver_solve(solver, b, x, &options, &result, error));
    TRY(weft_device_wait(device, error));
    *seconds = weft_clock() - start;
    *done_iterations = result.iterations;
    if (residual && result.history && result.iterations >= FEW)
        *residual = result.history[FEW];
done:
    free(result.history);
    return status;
}

/* The residual of the host's own conjugate gradients, where no rival has reported it. */
static weft_status expected_residual(bench_case *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *b = NULL, *x = NULL;
    weft_solver *solver = NULL;
    const size_t bytes = (size_t)c->mesh->n_nodes * sizeof(double);
    double seconds;
    int n;
    if (c->residual > 0 || !c->run->counts)
        return WEFT_OK;
    TRY(weft_memory_wrap(c->run->host, c->b, bytes, &b, error));
    TRY(weft_memory_make(c->run->host, bytes, &x, error));
    TRY(weft_solver_make(&c->host, c->matrix, &solver, error));
    TRY(solve(c, c->run->host, solver, b, x, FEW, &seconds, &n, &c->residual, error));
done:
    weft_solver_free(&solver);
    weft_memory_free(&b);
    weft_memory_free(&x);
    return status;
}

/* Set-up and the first residual cancel in the difference of a long solve and a short one. */
static weft_status iteration_seconds(operator_run *r, weft_memory *x, bench_row *row,
                                     double *residual, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_case *c = r->c;
    weft_solver *solver = NULL;
    double few = 0, many = 0, once[SOLVES_MOST];
    int n_few = 0, n_many = 0, most = 200;
    const int n = c->run->options->repeats < SOLVES_MOST ? c->run->options->repeats : SOLVES_MOST;
    TRY(weft_solver_make(&c->context, r->op, &solver, error));
    for (int i = 0; i < 2; ++i) /* the first compiles */
        TRY(solve(c, c->device, solver, c->device_b, x, most, &many, &n_many, residual, error));
    if (many < 0.01) /* more, so that the clock's noise is little of it */
        most = 1000;
    else if (many > 1)
        most = 60;
    for (int i = 0; i < n; ++i) {
        TRY(solve(c, c->device, solver, c->device_b, x, FEW, &few, &n_few, NULL, error));
        TRY(solve(c, c->device, solver, c->device_b, x, most, &many, &n_many, NULL, error));
        once[i] = n_many > n_few ? (many - few) / (n_many - n_few) : NAN;
    }
    row->seconds = bench_median(once, n);
    snprintf(row->note, sizeof row->note, "%d iterations", n_many);
done:
    weft_solver_free(&solver);
    return status;
}

static weft_status gradients(operator_run *r, weft_error *error) {
    weft_status status = WEFT_OK;
    bench_case *c = r->c;
    weft_memory *x = NULL;
    bench_row row = bench_row_make(c, "CG", r->name, false);
    double residual = NAN;
    TRY(expected_residual(c, error));
    TRY(weft_memory_make(c->device, (size_t)c->mesh->n_nodes * sizeof(double), &x, error));
    TRY(iteration_seconds(r, x, &row, &residual, error));
    row.bytes = bench_bytes_cg(&c->sizes, r->kind);
    if (row.seconds > 0)
        row.rate = c->sizes.nodes / row.seconds * 1e-9;
    row.rival_seconds = c->cg_seconds[0];
    if (row.rival_seconds > 0)
        snprintf(row.rival, sizeof row.rival, "A (D %.2fx)", c->cg_seconds[2] / row.seconds);
    if (c->run->counts) {
        row.difference = fabs(residual / c->residual - 1);
        row.wrong = !(row.difference <= 1e-9);
    }
    bench_rows_add(&c->run->rows, &row);
done:
    weft_memory_free(&x);
    return status;
}

/* ---- one operator ---------------------------------------------------------------------------- */

static void skip(operator_run *r, const char *why) {
    bench_row row =
        bench_row_make(r->c, r->shuffled ? "apply, shuffled" : "set-up", r->name, false);
    snprintf(row.note, sizeof row.note, "skipped: %.80s", why);
    bench_rows_add(&r->c->run->rows, &row);
}

/* An operator that is refused is skipped, with its reason; seconds of order, pattern and patches
 * without compiling. */
static weft_status make(operator_run *r, weft_assembly assembly, weft_error *error) {
    bench_case *c = r->c;
    weft_error refused = {0};
    const double compiling = c->context.compile_seconds + c->context.plan_seconds;
    const double start = weft_clock();
    weft_status status = weft_operator_make(&c->context, assembly, &c->form, 1, &r->op, &refused);
    if (status == WEFT_ERROR_UNSUPPORTED || status == WEFT_ERROR_MEMORY) {
        skip(r, refused.message);
        return WEFT_OK;
    }
    if (status != WEFT_OK) {
        *error = refused;
        return status;
    }
    bench_row row = bench_row_make(c, "set-up", r->name, false);
    row.seconds =
        counted(c, weft_clock() - start + c->order_seconds -
                       (c->context.compile_seconds + c->context.plan_seconds - compiling));
    snprintf(row.note, sizeof row.note, "ordering too");
    if (!r->shuffled)
        bench_rows_add(&c->run->rows, &row);
    return WEFT_OK;
}

static weft_status measure(bench_case *c, int place, bool shuffled, weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned works = c->run->options->works;
    const weft_assembly assembly = c->run->options->assemblies[place];
    const double room = (double)weft_device_limits(c->device)->memory_bytes;
    operator_run r = {
        .c = c, .name = weft_assembly_name(assembly), .shuffled = shuffled, .place = place};
    r.kind = bench_assembly_kind(r.name);
    const double needed = bench_bytes_device(&c->sizes, r.kind);
    if (needed > 0.95 * room) {
        char text[2][32], why[96];
        snprintf(why, sizeof why, "it takes about %s of %s", app_print_bytes(needed, text[0]),
                 app_print_bytes(room, text[1]));
        skip(&r, why);
        goto done;
    }
    TRY(make(&r, assembly, error));
    if (!r.op)
        goto done;
    TRY(weft_operator_assemble(r.op, error));
    if (!shuffled && works & (BENCH_ADDTO | BENCH_LOCAL) && r.kind != BENCH_KIND_FREE)
        TRY(assemble(&r, error));
    if (works & BENCH_APPLY)
        TRY(apply(&r, error));
    if (!shuffled && works & BENCH_CG && c->run->counts)
        TRY(gradients(&r, error));
done:
    weft_operator_free(&r.op);
    return status;
}

weft_status bench_operators(bench_case *c, bool shuffled, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < c->run->options->n_assemblies; ++i)
        TRY(measure(c, i, shuffled, error));
done:
    return status;
}
