/* Finds the smallest eigenvalues of a pencil. */
#include "fem/eigen/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of a block, of which those beyond the wanted ones let the others converge. */
static int count_columns(const weft_eigen_settings *settings) {
    return settings->n_columns > settings->n ? settings->n_columns
                                             : settings->n + 2 + settings->n / 8;
}

size_t weft_eigen_bytes_on_device(int64_t rows, double entries, int n) {
    enum {
        BLOCKS = 9,
        VECTORS = 3
    }; /* X, W, P and their products; the diagonal, a column and its image */
    const int width = columns_width(count_columns(&(weft_eigen_settings){.n = n}));
    const double matrix =
        entries * (sizeof(double) + sizeof(int32_t)) + (double)rows * (double)sizeof(int64_t);
    return (size_t)((double)rows * (BLOCKS * width + VECTORS) * sizeof(double) + 2 * matrix);
}

static weft_status solve_whole(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    it->values = calloc((size_t)it->m + 1, sizeof *it->values);
    it->residuals = calloc((size_t)it->m + 1, sizeof *it->residuals);
    it->active = calloc((size_t)it->m + 1, sizeof *it->active);
    if (!it->values || !it->residuals || !it->active)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    TRY(basis_make(it->pencil, it->m, &it->x, error));
    TRY(pencil_whole(it->pencil, it->d, it->m, it->values, &it->x, error));
    it->m = it->x.v.m;
    if (it->m < it->settings->n)
        TRY(pairs_refuse_number(it->settings->n, it->m, error));
    it->pairs->outcome = WEFT_EIGEN_CONVERGED;
done:
    return status;
}

static weft_status make_diagonal(const weft_pencil *pencil, const weft_eigen_settings *settings,
                                 double **out, weft_error *error) {
    const int64_t n_free = pencil->K.n_rows - pencil->n_dropped - pencil->n_null;
    if (settings->n > n_free)
        return pairs_refuse_number(settings->n, n_free, error);
    *out = calloc((size_t)pencil->K.n_rows + 1, sizeof **out);
    return *out ? WEFT_OK : weft_out_of_memory(error, "eigenvalues");
}

/* Of pencils with few rows all vectors are found at once. */
static bool is_whole(const weft_pencil *pencil, const weft_eigen_settings *settings) {
    const int64_t n_free = pencil->K.n_rows - pencil->n_dropped - pencil->n_null;
    return n_free <= WEFT_EIGEN_DENSE || n_free < 5 * (int64_t)count_columns(settings);
}

/* The same pencil, with blocks on its device where that pays. */
static weft_status place(const weft_pencil *pencil, const weft_eigen_settings *settings,
                         const double *d, weft_pencil *out, weft_error *error) {
    *out = *pencil;
    if (is_whole(pencil, settings) || !columns_device_pays(pencil))
        return WEFT_OK;
    return columns_device_make(pencil, d, &out->blocks, error);
}

static weft_status compute(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    it->m = count_columns(it->settings);
    TRY(pairs_check_mass(it->pencil, it->d, error));
    TRY(is_whole(it->pencil, it->settings) ? solve_whole(it, error) : iteration_run(it, error));
    it->pairs->n_columns = it->m;
done:
    return status;
}

weft_status weft_eigen_smallest(const weft_pencil *pencil, const weft_eigen_settings *settings,
                                weft_eigenpairs *out, weft_error *error) {
    weft_status status = WEFT_OK;
    basis null = {.v = {0}};
    double *d = NULL;
    weft_pencil placed = {.blocks = NULL};
    iteration it = {.pencil = &placed, .settings = settings, .null = &null, .pairs = out};
    TRY(make_diagonal(pencil, settings, &d, error));
    it.d = d;
    TRY(pencil_diagonal(pencil, d, error));
    TRY(place(pencil, settings, d, &placed, error));
    TRY(pairs_place_null(&placed, &null, error));
    TRY(compute(&it, error));
    TRY(pairs_describe(&it, error));
done:
    iteration_free(&it);
    basis_free(&null);
    columns_device_free(&placed.blocks);
    free(d);
    return status;
}

/* ---- the largest ----------------------------------------------------------------------------- */

static weft_status refuse_massless(const weft_pencil *swapped, double *d, weft_error *error) {
    const weft_status status = pencil_diagonal(swapped, d, error);
    if (status == WEFT_ERROR_INPUT)
        weft_error_refuse(error, status,
                          "some unknowns have no mass, so that the largest values are infinite",
                          "ask for the smallest, or for those near a shift");
    return status;
}

/* The n columns of x in the reverse order, of length 1 in M, with l = 1/mu. */
static weft_status reverse(iteration *it, const weft_pencil *pencil, weft_error *error) {
    weft_status status = WEFT_OK;
    const int n = it->settings->n, m = it->x.v.m;
    double *C = calloc((size_t)m * (size_t)n + (size_t)n, sizeof *C), *values = C + m * n;
    if (!C)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    it->pairs->next_is_first = n < m && it->residuals[n] < PAIRS_KNOWN && it->values[n] > 0;
    if (it->pairs->next_is_first)
        it->pairs->next = 1 / it->values[n];
    for (int k = 0; k < n; ++k) {
        const double mu = it->values[n - 1 - k];
        values[k] = 1 / mu;
        C[(n - 1 - k) * n + k] = mu > 0 ? 1 / sqrt(mu) : 1; /* x.K x is 1, and x.M x = mu */
    }
    const columns_term term = {&it->x.v, C};
    TRY(columns_combine(it->pencil, &term, 1, n, &it->x.v, error));
    memcpy(it->values, values, (size_t)n * sizeof *values);
    it->pencil = pencil;
    it->m = n;
done:
    free(C);
    return status;
}

weft_status weft_eigen_largest(const weft_pencil *pencil, const weft_eigen_settings *settings,
                               weft_eigenpairs *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const basis null = {.v = {0}};
    double *d = NULL;
    const weft_pencil swapped = {.device = pencil->device,
                                 .monitor = pencil->monitor,
                                 .K = pencil->M,
                                 .M = pencil->K,
                                 .dropped = pencil->dropped,
                                 .n_dropped = pencil->n_dropped,
                                 .rows_on_device = pencil->rows_on_device};
    weft_pencil placed = {.blocks = NULL}, own = *pencil;
    iteration it = {.pencil = &placed, .settings = settings, .null = &null, .pairs = out};
    TRY(make_diagonal(pencil, settings, &d, error));
    it.d = d;
    TRY(refuse_massless(&swapped, d, error));
    TRY(place(&swapped, settings, d, &placed, error));
    TRY(compute(&it, error));
    own.blocks = placed.blocks;
    TRY(reverse(&it, &own, error));
    TRY(pencil_diagonal(pencil, d, error));
    if (own.blocks)
        TRY(columns_device_set_diagonal(own.blocks, d, error));
    TRY(pairs_describe(&it, error));
done:
    iteration_free(&it);
    columns_device_free(&placed.blocks);
    free(d);
    return status;
}
