/* Bounds the largest eigenvalue of D^-1 A by the Lanczos coefficients of conjugate gradients. */
#include "core/comm/exact.h"
#include "fem/base/memory.h"
#include "fem/multigrid/multigrid.h"
#include "fem/precondition/ranks.h"
#include "fem/sparse/lists.h"
#include "fusion/setup/setup.h"

#include "core/base/fault.h"
#include "core/weft_core.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 12 };
static const double MARGIN = 1.05, SMALL = 1e-20;
/* Of an entry of D^-1/2 A D^-1/2 w, w in (-1, 1). Rounding of floats is 1e-6 of it, and coordinates of cells far smaller than their
 * distance from the origin more. */
static const double FAR = 0.01;

/* The largest eigenvalue of the Lanczos matrix, from r.d r before and after the steps, and p.A p of
 * each. */
static double largest(int n, const double *rz, const double *pq) {
    double alpha[STEPS], beta[STEPS] = {0}, residual;
    for (int i = 0; i < n; ++i) {
        alpha[i] = pq[i + 1] / rz[i];
        if (i > 0) {
            const double before = pq[i] / rz[i - 1], ratio = rz[i] / rz[i - 1];
            alpha[i] += ratio * before;
            beta[i - 1] = sqrt(ratio) * before;
        }
    }
    return weft_ritz_value(alpha, beta, n, &residual);
}

/* ---- the steps ---- */

typedef struct lanczos {
    bool single, stores_product;
    weft_lists *lists; /* with single precision, as d */
    weft_memory *d, *r, *p, *q, *steps, *limit, *rz, *pq, *rz_history, *pq_history;
    weft_program *program; /* of the kept steps; NULL: not bound yet */
    weft_operator_in_script in_script;
} lanczos;

static const char *const names[] = {"r", "p", "d", "q", "steps", "rz", "pq", "limit"};
enum { NAMES = sizeof names / sizeof names[0] };

static void lanczos_clear(lanczos *run) {
    for (int i = 0; run->program && i < NAMES; ++i)
        (void)weft_program_bind(run->program, names[i], NULL, NULL);
    if (run->program) {
        (void)weft_program_record_history(run->program, "rz", NULL, 0, NULL);
        (void)weft_program_record_history(run->program, "pq", NULL, 0, NULL);
    }
    weft_operator_in_script_free(&run->in_script);
    weft_memory **memories[] = {&run->d,          &run->q,         &run->r,  &run->p,
                                &run->steps,      &run->limit,     &run->rz, &run->pq,
                                &run->rz_history, &run->pq_history};
    weft_lists_free(&run->lists);
    for (size_t i = 0; i < sizeof memories / sizeof *memories; ++i)
        weft_memory_free(memories[i]);
}

/* `start`, below, on the device; sums have another order. */
static weft_status start_on_device(lanczos *run, weft_device *device, weft_memory *d, int64_t n,
                                   double *rz, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { THREADS = 256 }; /* as in kernels/setup */
    const size_t n_blocks = (size_t)((n + THREADS - 1) / THREADS);
    double *sums = malloc((n_blocks + 1) * sizeof *sums);
    weft_memory *memory = NULL;
    weft_setup *setup = NULL;
    if (!sums)
        TRY(weft_out_of_memory(error, "a bound of eigenvalues"));
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_memory_make(device, (n_blocks + 1) * sizeof *sums, &memory, error));
    const weft_setup_kernel kernel = {"values", "noise", n, (int64_t)n_blocks, 0};
    TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){d, run->r, run->p, memory}, 4, error));
    TRY(weft_memory_read(memory, 0, sums, n_blocks * sizeof *sums, error));
    *rz = weft_sum(sums, (int64_t)n_blocks);
done:
    free(sums);
    weft_memory_free(&memory);
    weft_setup_free(&setup);
    return status;
}

/* The same on several ranks: noise of the numbers in the whole, and a sum without rounding. */
static weft_status start_on_ranks(lanczos *run, weft_device *device, weft_layout *layout,
                                  weft_memory *d, double *rz, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_rank_rows rows = {0};
    weft_exact_sum sum = weft_exact_zero();
    double *inverse = NULL;
    TRY(weft_rank_rows_make(device, layout, &rows, error));
    const size_t bytes = (size_t)rows.n * sizeof *inverse;
    inverse = malloc(2 * bytes + 1);
    if (!inverse)
        TRY(weft_out_of_memory(error, "a bound of eigenvalues"));
    double *r = inverse + rows.n;
    TRY(weft_memory_read(d, 0, inverse, bytes, error));
    for (int64_t i = 0; i < rows.n; ++i) {
        r[i] = inverse[i] > 0 ? weft_random_entry(rows.numbers[i]) / sqrt(inverse[i]) : 0;
        inverse[i] *= r[i];
        if (weft_layout_owned(layout)[i])
            weft_exact_add(&sum, r[i] * inverse[i]);
    }
    TRY(weft_memory_write(run->r, 0, r, bytes, error));
    TRY(weft_memory_write(run->p, 0, inverse, bytes, error));
    TRY(weft_comm_join_sums(rows.comm, &sum, 1, error));
    *rz = weft_exact_value(&sum);
done:
    free(inverse);
    weft_rank_rows_clear(&rows);
    return status;
}

/* Set r to noise at free dofs, p = d r, and *rz = r.p. */
static weft_status start(lanczos *run, weft_memory *d, int64_t n, double *rz, weft_error *error) {
    weft_status status = WEFT_OK;
    enum { PIECE = 1 << 16 };
    double *inverse = malloc(2 * PIECE * sizeof *inverse), *values = inverse + PIECE;
    if (!inverse)
        TRY(weft_out_of_memory(error, "a bound of eigenvalues"));
    *rz = 0;
    for (int64_t first = 0; first < n; first += PIECE) {
        const int64_t count = n - first < PIECE ? n - first : PIECE;
        const size_t offset = (size_t)first * sizeof *values;
        const size_t bytes = (size_t)count * sizeof *values;
        TRY(weft_memory_read(d, offset, inverse, bytes, error));
        for (int64_t i = 0; i < count; ++i)
            values[i] = inverse[i] > 0 ? weft_random_entry(first + i) / sqrt(inverse[i]) : 0;
        TRY(weft_memory_write(run->r, offset, values, bytes, error));
        for (int64_t i = 0; i < count; ++i) {
            inverse[i] *= values[i];
            values[i] *= inverse[i];
        }
        TRY(weft_memory_write(run->p, offset, inverse, bytes, error));
        *rz += weft_sum(values, count);
    }
done:
    free(inverse);
    return status;
}

static weft_status set(const lanczos *run, weft_device *device, double value, weft_memory **out,
                       weft_error *error) {
    const float narrow = (float)value;
    return run->single ? weft_memory_place(device, &narrow, 1, sizeof narrow, out, error)
                       : weft_memory_place(device, &value, 1, sizeof value, out, error);
}

static weft_status make_memories(lanczos *run, weft_device *device, const weft_operator *op,
                                 weft_memory *d, double *rz, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_operator_dofs(op);
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &run->r, error));
    TRY(weft_memory_make(device, (size_t)n * sizeof(double), &run->p, error));
    const size_t real_bytes = run->single ? sizeof(float) : sizeof(double);
    if (run->stores_product)
        TRY(weft_memory_make(device, (size_t)n * real_bytes, &run->q, error));
    TRY(weft_memory_make(device, (STEPS + 1) * real_bytes, &run->rz_history, error));
    TRY(weft_memory_make(device, (STEPS + 1) * real_bytes, &run->pq_history, error));
    TRY(op->layout                     ? start_on_ranks(run, device, op->layout, d, rz, error)
        : weft_setup_on_device(device) ? start_on_device(run, device, d, n, rz, error)
                                       : start(run, d, n, rz, error));
    TRY(set(run, device, STEPS, &run->steps, error));
    TRY(set(run, device, SMALL * *rz, &run->limit, error));
    TRY(set(run, device, *rz, &run->rz, error));
    TRY(set(run, device, 1, &run->pq, error));
done:
    return status;
}

/* ---- single precision ---- */

static weft_status narrow(const lanczos *run, weft_memory *from, int64_t n, weft_memory **out,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_memory_make(weft_lists_device(run->lists), (size_t)n * sizeof(float), out, error));
    TRY(weft_lists_narrow(run->lists, n, from, *out, error));
done:
    return status;
}

/* The rows in which y, of doubles, and f, of floats, differ by too much. */
static weft_status count_far(weft_device *device, weft_memory *d, weft_memory *y, weft_memory *f,
                             int64_t n, double *count, weft_error *error) {
    enum { THREADS = 256 }; /* as in kernels/setup */
    weft_status status = WEFT_OK;
    const double *ds = weft_memory_host(d), *ys = weft_memory_host(y);
    const float *fs = weft_memory_host(f);
    const size_t n_blocks = (size_t)((n + THREADS - 1) / THREADS);
    double *sums = NULL;
    weft_memory *memory = NULL, *far = NULL;
    weft_setup *setup = NULL;
    *count = 0;
    if (!weft_setup_on_device(device)) {
        for (int64_t i = 0; ds && i < n; ++i)
            *count += ds[i] > 0 && !(fabs(ys[i] - (double)fs[i]) * sqrt(ds[i]) <= FAR);
        goto done;
    }
    sums = malloc((n_blocks + 1) * sizeof *sums);
    if (!sums)
        TRY(weft_out_of_memory(error, "a comparison of products"));
    TRY(weft_setup_make(device, &setup, error));
    TRY(weft_memory_make(device, (n_blocks + 1) * sizeof *sums, &memory, error));
    TRY(weft_memory_place(device, &FAR, 1, sizeof FAR, &far, error));
    const weft_setup_kernel kernel = {"values", "count_far", n, (int64_t)n_blocks, 0};
    TRY(weft_setup_launch(setup, &kernel, (weft_memory *[]){d, y, f, far, memory}, 5, error));
    TRY(weft_memory_read(memory, 0, sums, n_blocks * sizeof *sums, error));
    *count = weft_sum(sums, (int64_t)n_blocks);
done:
    free(sums);
    weft_memory_free(&memory);
    weft_memory_free(&far);
    weft_setup_free(&setup);
    return status;
}

/* Is the product of p the exact operator's? p is noise that the diagonal's root divides, so that each row counts. */
static weft_status compare(const lanczos *run, weft_memory *wide, weft_memory *d, weft_operator *op,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_operator *exact = op->exact;
    weft_device *device = op->context->device;
    const size_t n = (size_t)weft_operator_dofs(op), all = (size_t)weft_operator_dofs(exact);
    weft_memory *v = NULL, *y = NULL, *f = NULL;
    double count = 0;
    TRY(weft_memory_make(device, all * sizeof(double), &v, error));
    TRY(weft_memory_make(device, all * sizeof(double), &y, error));
    TRY(weft_memory_make(device, n * sizeof(float), &f, error));
    TRY(weft_memory_zero(v, error));
    TRY(weft_memory_copy_part(v, 0, wide, 0, n * sizeof(double), error));
    TRY(weft_operator_apply(exact, v, y, error));
    TRY(weft_operator_apply(op, run->p, f, error));
    TRY(count_far(device, d, y, f, (int64_t)n, &count, error));
    if (count > 0 && !weft_fault("far_ignored"))
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "in single precision %.0f rows of a product are far off", count));
done:
    weft_memory_free(&v);
    weft_memory_free(&y);
    weft_memory_free(&f);
    return status;
}

/* The lists of the steps as floats. */
static weft_status make_single(lanczos *run, weft_memory *d, weft_operator *op, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_operator_dofs(op);
    weft_memory *r = run->r, *p = run->p;
    run->r = run->p = NULL;
    TRY(weft_lists_make(op->context->device, &run->lists, error));
    TRY(narrow(run, d, n, &run->d, error));
    TRY(narrow(run, r, n, &run->r, error));
    TRY(narrow(run, p, n, &run->p, error));
    if (op->exact)
        TRY(compare(run, p, d, op, error));
done:
    weft_memory_free(&r);
    weft_memory_free(&p);
    return status;
}

static weft_status read_history(const lanczos *run, const weft_memory *history, double *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    float narrow[STEPS + 1];
    if (!run->single) {
        status = weft_memory_read(history, 0, out, (STEPS + 1) * sizeof *out, error);
        goto done;
    }
    TRY(weft_memory_read(history, 0, narrow, sizeof narrow, error));
    for (int i = 0; i <= STEPS; ++i)
        out[i] = narrow[i];
done:
    return status;
}

void weft_eigenvalue_steps_clear(weft_eigenvalue_steps *steps) {
    weft_compiled_free(&steps->compiled);
}

static weft_status compile(weft_context *context, const weft_operator_in_script *in_script,
                           weft_eigenvalue_steps *steps, weft_error *error) {
    weft_status status = WEFT_OK;
    static const char *const file = "eigenvalue.weft";
    const weft_fragment fragment = {file, weft_fem_script(file)};
    const weft_operator_choice choice = weft_operator_in_script_choice(in_script, "A");
    const bool single = in_script->op->single;
    const weft_compile_options options = {
        .size = sizeof options, .operators = &choice, .n_operators = 1, .single = single};
    if (steps->compiled.program && steps->product_kernel == choice.product_kernel &&
        steps->brings_dot == choice.brings_dot)
        goto done;
    weft_eigenvalue_steps_clear(steps);
    TRY(weft_compiled_make(context, &fragment, 1, &options, &steps->compiled, error));
    steps->product_kernel = choice.product_kernel;
    steps->brings_dot = choice.brings_dot;
done:
    return status;
}

static weft_status bind(lanczos *run, weft_program *program, weft_operator *op, weft_memory *d,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    run->program = program;
    weft_memory *const memories[NAMES] = {
        run->r, run->p, run->single ? run->d : d, run->q, run->steps, run->rz, run->pq, run->limit};
    TRY(weft_program_size(program, "nodes", weft_operator_dofs(op), error));
    TRY(weft_program_share(program, "nodes", weft_layout_share(op->layout), error));
    for (int i = 0; i < NAMES; ++i)
        if (memories[i])
            TRY(weft_program_bind(program, names[i], memories[i], error));
    TRY(weft_operator_in_script_bind(&run->in_script, program, "A", error));
    TRY(weft_program_record_history(program, "rz", run->rz_history, STEPS + 1, error));
    TRY(weft_program_record_history(program, "pq", run->pq_history, STEPS + 1, error));
done:
    return status;
}

weft_status weft_eigenvalue_bound(weft_context *context, weft_eigenvalue_steps *steps,
                                  weft_operator *op, weft_memory *d, double *lambda,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    lanczos run = {.single = op->single, .stores_product = !weft_operator_rows(op)};
    double rz = 0, all_rz[STEPS + 1], all_pq[STEPS + 1];
    int64_t n = 0;
    *lambda = 1;
    TRY(make_memories(&run, context->device, op, d, &rz, error));
    if (!(rz > 0) || weft_device_limits(context->device)->records_only)
        goto done;
    if (op->single)
        TRY(make_single(&run, d, op, error));
    TRY(weft_operator_in_script_make(op, &run.in_script, error));
    TRY(compile(context, &run.in_script, steps, error));
    TRY(bind(&run, steps->compiled.program, op, d, error));
    TRY(weft_program_run(run.program, error));
    TRY(weft_program_iterations(run.program, &n, error));
    TRY(read_history(&run, run.rz_history, all_rz, error));
    TRY(read_history(&run, run.pq_history, all_pq, error));
    for (int64_t i = 1; i <= n; ++i) /* a singular operator ends at zero, not below */
        if (!(all_pq[i] > -SMALL * rz) || !isfinite(all_pq[i])) {
            weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "the operator is not positive definite (p.A p = %g), which its "
                           "preconditioner requires",
                           all_pq[i]);
            weft_error_hint(error, "try --preconditioner jacobi");
            status = WEFT_ERROR_UNSUPPORTED;
            goto done;
        }
    n -= n > 0 && !(all_pq[n] > 0);
    if (n > 0)
        *lambda = MARGIN * largest((int)n, all_rz, all_pq);
done:
    lanczos_clear(&run);
    return status;
}
