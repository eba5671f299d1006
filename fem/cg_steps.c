#include "cg_internal.h"

#include <math.h>
#include <stdlib.h>

/* ---- passes over chunks -------------------------------------------------------------------- */

typedef struct weft_pass {
    weft_cg *cg;
    double *vector; /* of sum and shift */
} weft_pass;

static int64_t chunk_size(const weft_cg *cg, int64_t i) {
    int64_t rest = cg->n - i * WEFT_CHUNK;
    return rest < WEFT_CHUNK ? rest : WEFT_CHUNK;
}

static void pass_update(void *user, int64_t i) {
    weft_cg *cg = ((weft_pass *)user)->cg;
    double sums[2];
    cg->wide->update(&cg->v, cg->scalar, i * WEFT_CHUNK, chunk_size(cg, i), sums);
    cg->sums[i] = sums[0];
    cg->sums[cg->n_chunks + i] = sums[1];
}

static void pass_norms(void *user, int64_t i) {
    weft_cg *cg = ((weft_pass *)user)->cg;
    int64_t first = i * WEFT_CHUNK;
    double sums[2];
    cg->wide->norms(cg->v.r + first, cg->v.d + first, chunk_size(cg, i), sums);
    cg->sums[i] = sums[0];
    cg->sums[cg->n_chunks + i] = sums[1];
}

static void pass_direction(void *user, int64_t i) {
    weft_cg *cg = ((weft_pass *)user)->cg;
    cg->wide->direction(&cg->v, cg->scalar, i * WEFT_CHUNK, chunk_size(cg, i));
}

static void pass_dot(void *user, int64_t i) {
    weft_cg *cg = ((weft_pass *)user)->cg;
    int64_t first = i * WEFT_CHUNK;
    cg->sums[i] = cg->wide->dot(cg->v.p + first, cg->v.q + first, chunk_size(cg, i));
}

static void pass_difference(void *user, int64_t i) {
    weft_cg *cg = ((weft_pass *)user)->cg;
    int64_t first = i * WEFT_CHUNK, last = first + chunk_size(cg, i);
    for (int64_t j = first; j < last; ++j)
        cg->v.r[j] = cg->b[j] - cg->v.q[j];
}

static void pass_sum(void *user, int64_t i) {
    weft_pass *pass = user;
    pass->cg->sums[i] = pass->cg->wide->sum(pass->vector + i * WEFT_CHUNK, chunk_size(pass->cg, i));
}

static void pass_shift(void *user, int64_t i) {
    weft_pass *pass = user;
    int64_t first = i * WEFT_CHUNK, last = first + chunk_size(pass->cg, i);
    for (int64_t j = first; j < last; ++j)
        pass->vector[j] -= pass->cg->scalar;
}

static weft_status run(weft_cg *cg, weft_task task, double *vector, weft_error *error) {
    weft_pass pass = {cg, vector};
    return weft_device_for(cg->device, cg->n_chunks, task, &pass, error);
}

static void sums_take(weft_cg *cg) {
    cg->rr = weft_sum(cg->sums, cg->n_chunks);
    cg->rz = weft_sum(cg->sums + cg->n_chunks, cg->n_chunks);
}

static void mask(const weft_cg *cg, double *vector) {
    for (int64_t k = 0; k < cg->options->n_constrained; ++k)
        vector[cg->options->constrained[k]] = 0;
}

/* ---- steps
 * --------------------------------------------------------------------------------------- */

weft_status weft_cg_subtract_mean(weft_cg *cg, double *vector, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(run(cg, pass_sum, vector, error));
    cg->scalar = weft_sum(cg->sums, cg->n_chunks) / (double)cg->n;
    TRY(run(cg, pass_shift, vector, error));
done:
    return status;
}

/* r = b - q, as the reduced or projected system sees it */
static weft_status difference(weft_cg *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(run(cg, pass_difference, NULL, error));
    mask(cg, cg->v.r);
    if (cg->options->project_mean)
        TRY(weft_cg_subtract_mean(cg, cg->v.r, error));
    TRY(run(cg, pass_norms, NULL, error));
    sums_take(cg);
done:
    return status;
}

weft_status weft_cg_residual(weft_cg *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_operator_apply(cg->op, cg->x_memory, cg->q_memory, error));
    TRY(difference(cg, error));
done:
    return status;
}

weft_status weft_cg_norm(weft_cg *cg, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cg_options *options = cg->options;
    for (int64_t i = 0; i < cg->n; ++i)
        cg->v.p[i] = 0;
    for (int64_t k = 0; k < options->n_constrained; ++k)
        cg->v.p[options->constrained[k]] = cg->v.x[options->constrained[k]];
    TRY(weft_operator_apply(cg->op, cg->p_memory, cg->q_memory, error));
    mask(cg, cg->v.p);
    TRY(difference(cg, error));
    cg->norm = sqrt(cg->rr);
done:
    return status;
}

static double largest(const double *vector, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i)
        if (!isfinite(vector[i]))
            return INFINITY;
        else if (fabs(vector[i]) > most)
            most = fabs(vector[i]);
    return most;
}

double weft_cg_scale_wanted(const weft_cg *cg) {
    static const double SMALL = 1e-120, LARGE = 1e120; /* squares, times a tolerance squared, fit */
    if (cg->norm > SMALL && cg->norm < LARGE)
        return 1;
    double most = largest(cg->v.r, cg->n);
    if (!isfinite(most)) /* the product has overflowed: go by what is given */
        most = fmax(largest(cg->b, cg->n), largest(cg->v.x, cg->n));
    if (!isfinite(most) || most <= 0)
        return 1;
    int exponent = 0;
    frexp(most, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
    return ldexp(1, -exponent); /* and its reciprocal: both are normal numbers */
}

void weft_cg_scale(weft_cg *cg, double factor) {
    for (int64_t i = 0; i < cg->n; ++i) {
        cg->b[i] *= factor;
        cg->v.x[i] *= factor;
    }
}

weft_status weft_cg_diagonal(weft_cg *cg, double *least, weft_error *error) {
    weft_status status = WEFT_OK;
    double *d = cg->v.d, smallest = INFINITY;
    const int32_t *constrained = cg->options->constrained;
    int64_t k = 0, n_constrained = cg->options->n_constrained;
    if (cg->options->jacobi)
        TRY(weft_operator_diagonal(cg->op, cg->d_memory, error));
    for (int64_t i = 0; i < cg->n; ++i) {
        double entry = cg->options->jacobi ? d[i] : 1;
        bool is_free = k >= n_constrained || constrained[k] != i;
        k += !is_free;
        if (is_free && !(entry >= smallest)) /* so that NaN stays */
            smallest = entry;
        d[i] = is_free ? 1 / entry : 0;
    }
    *least = smallest;
done:
    return status;
}

weft_status weft_cg_direction(weft_cg *cg, double beta, weft_error *error) {
    cg->scalar = beta;
    return run(cg, pass_direction, NULL, error);
}

weft_status weft_cg_product(weft_cg *cg, double *pq, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_pattern *pattern = weft_operator_pattern(cg->op);
    if (pattern) {
        const double *values = weft_memory_host(weft_operator_values(cg->op));
        TRY(weft_csr_product_dots(cg->device, pattern, values, cg->v.p, cg->v.q, cg->sums, error));
        mask(cg, cg->v.q);
    } else {
        TRY(weft_operator_apply(cg->op, cg->p_memory, cg->q_memory, error));
        mask(cg, cg->v.q);
        TRY(run(cg, pass_dot, NULL, error));
    }
    *pq = weft_sum(cg->sums, cg->n_chunks);
done:
    return status;
}

weft_status weft_cg_update(weft_cg *cg, double alpha, weft_error *error) {
    weft_status status = WEFT_OK;
    cg->scalar = alpha;
    TRY(run(cg, pass_update, NULL, error));
    sums_take(cg);
done:
    return status;
}

void weft_cg_clear(weft_cg *cg) {
    int64_t k = 0;
    for (int64_t i = 0; i < cg->n; ++i)
        if (k < cg->options->n_constrained && cg->options->constrained[k] == i)
            ++k;
        else
            cg->v.x[i] = 0;
}

/* ---- memory
 * ---------------------------------------------------------------------------------------- */

static weft_status check(const weft_cg *cg, weft_memory *b, weft_memory *x, weft_error *error) {
    const weft_cg_options *options = cg->options;
    size_t bytes = (size_t)cg->n * sizeof(double);
    if (weft_memory_bytes(b) < bytes || weft_memory_bytes(x) < bytes)
        return weft_error_set(error, WEFT_ERROR_SHAPE, "b and x must hold %lld doubles each",
                              (long long)cg->n);
    if (options->project_mean && options->n_constrained)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "a system with constrained dofs is not singular: do not project");
    for (int64_t k = 0; k < options->n_constrained; ++k)
        if (options->constrained[k] < 0 || options->constrained[k] >= cg->n ||
            (k && options->constrained[k] <= options->constrained[k - 1]))
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "constrained dofs must ascend and lie in [0, %lld)",
                                  (long long)cg->n);
    return WEFT_OK;
}

weft_status weft_cg_prepare(weft_cg *cg, weft_context *context, weft_operator *op, weft_memory *b,
                            weft_memory *x, const weft_cg_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n = weft_operator_dofs(op);
    *cg = (weft_cg){.device = context->device,
                    .op = op,
                    .options = options,
                    .n = n,
                    .n_chunks = (n + WEFT_CHUNK - 1) / WEFT_CHUNK,
                    .wide = weft_wide(weft_vectors_here()),
                    .x_memory = x};
    size_t bytes = (size_t)n * sizeof(double);
    TRY(check(cg, b, x, error));
    TRY(weft_memory_make(cg->device, bytes, &cg->r_memory, error));
    TRY(weft_memory_make(cg->device, bytes, &cg->p_memory, error));
    TRY(weft_memory_make(cg->device, bytes, &cg->q_memory, error));
    TRY(weft_memory_make(cg->device, bytes, &cg->d_memory, error));
    cg->sums = calloc(2 * (size_t)cg->n_chunks + 1, sizeof *cg->sums);
    if (!cg->sums) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for conjugate gradients");
        goto done;
    }
    cg->b = weft_memory_host(b);
    cg->v = (weft_cg_vectors){weft_memory_host(x), weft_memory_host(cg->r_memory),
                              weft_memory_host(cg->p_memory), weft_memory_host(cg->q_memory),
                              weft_memory_host(cg->d_memory)};
    if (n && (!cg->b || !cg->v.x || !cg->v.r)) {
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "this device holds no numbers that could be solved for");
        weft_error_hint(error, "use the device host");
    }
done:
    return status;
}

void weft_cg_release(weft_cg *cg) {
    weft_memory_free(&cg->r_memory);
    weft_memory_free(&cg->p_memory);
    weft_memory_free(&cg->q_memory);
    weft_memory_free(&cg->d_memory);
    free(cg->sums);
    cg->sums = NULL;
}
