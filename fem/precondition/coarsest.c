/* The coarsest level of the V-cycle: a product with the inverse of its matrix, or, of many rows, with its sparse factors. */
#include "fem/precondition/cycle.h"

#include "core/weft_core.h"
#include "fem/external/external.h"

#include <math.h>
#include <stdlib.h>

/* Factor the dense A = L L^T in place, [n][n]; rows with a pivot that is lost in rounding become
 * rows of the identity, with no couplings: those of constrained and of unsupported dofs. */
static void factor(double *A, int64_t n, unsigned char *is_void) {
    static const double LOST = 1e-13;
    for (int64_t j = 0; j < n; ++j) {
        double *row = A + j * n;
        const double before = row[j];
        for (int64_t k = 0; k < j; ++k) {
            double sum = row[k];
            const double *other = A + k * n;
            for (int64_t i = 0; i < k; ++i)
                sum -= row[i] * other[i];
            row[k] = is_void[k] ? 0 : sum / other[k];
        }
        double pivot = before;
        for (int64_t k = 0; k < j; ++k)
            pivot -= row[k] * row[k];
        is_void[j] = !(pivot > LOST * before);
        row[j] = is_void[j] ? 1 : sqrt(pivot);
        for (int64_t k = 0; is_void[j] && k < j; ++k)
            row[k] = 0;
    }
}

/* Column c of the inverse, by L and L^T. */
static void solve_column(const double *L, int64_t n, const unsigned char *is_void, int64_t c,
                         double *x) {
    for (int64_t i = 0; i < n; ++i)
        x[i] = i == c && !is_void[c];
    for (int64_t i = c; i < n; ++i) {
        double sum = x[i];
        for (int64_t k = c; k < i; ++k)
            sum -= L[i * n + k] * x[k];
        x[i] = is_void[i] ? 0 : sum / L[i * n + i];
    }
    for (int64_t i = n; i-- > 0;) {
        x[i] = is_void[i] ? 0 : x[i] / L[i * n + i];
        for (int64_t k = 0; k < i; ++k)
            x[k] -= L[i * n + k] * x[i];
    }
}

typedef struct inversion {
    const double *L;
    const unsigned char *is_void;
    double *out;
    int64_t n;
} inversion;

static void invert_column(void *user, int64_t column) {
    const inversion *run = user;
    solve_column(run->L, run->n, run->is_void, column, run->out + column * run->n);
}

/* The inverse of a matrix on its range: a multiple of 1 1^T is added where constants are a null
 * space, which leaves the inverse on the others as it is. */
static weft_status invert(weft_device *device, const weft_csr *A, const double *a, bool is_singular,
                          double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = A->n_rows;
    double *L = calloc((size_t)(n * n) + 1, sizeof *L), trace = 0;
    unsigned char *is_void = calloc((size_t)n + 1, 1);
    if (!L || !is_void)
        TRY(weft_out_of_memory(error, "the coarsest level of multigrid"));
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = A->row_start[i]; k < A->row_start[i + 1]; ++k) {
            const int64_t j = A->columns[k];
            L[i * n + j] = a[i] > 0 && a[j] > 0 ? A->values[k] : 0;
            trace += i == j ? L[i * n + j] : 0;
        }
    for (int64_t i = 0; is_singular && i < n * n; ++i)
        L[i] += trace / ((double)n * (double)n);
    factor(L, n, is_void);
    inversion run = {L, is_void, out, n};
    TRY(weft_device_for(device, n, invert_column, &run, error));
done:
    free(L);
    free(is_void);
    return status;
}

/* z = A^-1 b with an inverse, otherwise z = D^-1 b, which is the list b. */
static weft_status make_program(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"multigrid_coarsest.weft",
                                    cycle->coarsest_inverse ? "index rows, columns;\n"
                                                              "input A : real over rows, columns;\n"
                                                              "input b : real over columns;\n"
                                                              "z = gemv(A, b);\n"
                                                              "return z;\n"
                                                            : "index rows plain;\n"
                                                              "input b : real over rows;\n"
                                                              "z = 1*b;\n"
                                                              "return z;\n"};
    const weft_cycle_level *level = &cycle->levels[cycle->n_levels - 1];
    const weft_compile_options options = {
        .size = sizeof options, .single = cycle->single, .replicated = true, .elements = level->n};
    TRY(weft_compiled_make(cycle->context, &fragment, 1, &options, &cycle->coarsest, error));
    weft_program *program = cycle->coarsest.program;
    TRY(weft_program_size(program, "rows", level->n, error));
    if (cycle->coarsest_inverse) {
        TRY(weft_program_size(program, "columns", level->n, error));
        TRY(weft_program_bind(program, "A", cycle->coarsest_inverse, error));
    }
    TRY(weft_program_bind(program, "b", level->b, error));
    TRY(weft_program_bind(program, "z", level->z, error));
done:
    return status;
}

/* ---- factors ---- */

/* Coarsening ends with more rows than are inverted where it finds no strong couplings, as in the mass matrix of discontinuous
 * functions. An inverse takes 1.5e-9 n^3 seconds, and n^2 floats. Without a library, many rows are left to the diagonal, close to which
 * such a matrix is. */
enum { FACTORISED_LEAST = 500, INVERTED_MOST = 2000 };

struct weft_coarsest_factors {
    weft_external *solver;
    weft_pattern pattern; /* its arrays are those of the matrix while the solver is made */
    int32_t *constrained;
    double *a, *r, *z; /* [n] */
};

static void factors_free(weft_coarsest_factors **factors) {
    weft_coarsest_factors *f = *factors;
    if (!f)
        return;
    weft_external_free(&f->solver);
    free(f->constrained);
    free(f->a);
    free(f->r);
    free(f->z);
    free(f);
    *factors = NULL;
}

static bool find_library(const weft_cycle *cycle, weft_external_kind *out) {
    for (int i = 0; i < weft_external_count() && !weft_context_is_on_gpu(cycle->context); ++i) {
        const weft_external_info *info = weft_external_about((weft_external_kind)i);
        *out = (weft_external_kind)i;
        if (info->takes_indefinite && !info->on_gpu && weft_external_is_found(*out))
            return true;
    }
    return false;
}

/* Rows that are not positive are left out. */
static weft_status make_factors(weft_coarsest_factors *f, weft_external_kind kind,
                                const weft_csr *A, const double *a, bool is_singular,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)A->n_rows;
    int64_t n_constrained = 0;
    f->constrained = weft_array_make(n, sizeof *f->constrained);
    f->a = weft_array_make(n, sizeof *f->a);
    f->r = weft_array_make(n, sizeof *f->r);
    f->z = weft_array_make(n, sizeof *f->z);
    if (!f->constrained || !f->a || !f->r || !f->z)
        TRY(weft_out_of_memory(error, "the coarsest level of multigrid"));
    for (size_t i = 0; i < n; ++i) {
        f->a[i] = a[i] > 0 ? a[i] : 0;
        if (!(a[i] > 0))
            f->constrained[n_constrained++] = (int32_t)i;
    }
    f->pattern = (weft_pattern){A->n_rows, A->row_start[A->n_rows], A->row_start, A->columns};
    const weft_external_matrix matrix = {.pattern = &f->pattern,
                                         .values = A->values,
                                         .constrained = f->constrained,
                                         .n_constrained = n_constrained,
                                         .is_general = true,
                                         .is_singular = is_singular};
    TRY(weft_external_make(kind, &matrix, NULL, &f->solver, error));
    f->pattern.row_start = NULL;
    f->pattern.columns = NULL;
done:
    return status;
}

/* Factors, where a library takes the matrix. */
static weft_status factorise(weft_cycle *cycle, const weft_csr *A, const double *a,
                             bool is_singular, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_external_kind kind = WEFT_EXTERNAL_UMFPACK;
    weft_coarsest_factors *made = NULL;
    weft_error why = {0};
    if (!find_library(cycle, &kind))
        goto done;
    made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "the coarsest level of multigrid"));
    status = make_factors(made, kind, A, a, is_singular, &why);
    if (status == WEFT_OK) {
        cycle->factors = made;
        made = NULL;
    }
    status = WEFT_OK; /* otherwise it is inverted */
done:
    factors_free(&made);
    return status;
}

static weft_status make_inverse(weft_cycle *cycle, const weft_csr *A, const double *a,
                                bool is_singular, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = A->n_rows;
    double *inverse = calloc((size_t)(n * n) + 1, sizeof *inverse);
    if (!inverse)
        TRY(weft_out_of_memory(error, "the coarsest level of multigrid"));
    TRY(invert(cycle->context->device, A, a, is_singular, inverse, error));
    for (int64_t i = 0; i < n * n; ++i)
        inverse[i] *= a[i % n];
    TRY(weft_cycle_place(cycle, inverse, n * n, &cycle->coarsest_inverse, error));
    TRY(make_program(cycle, error));
done:
    free(inverse);
    return status;
}

weft_status weft_cycle_coarsest(weft_cycle *cycle, const weft_csr *A, const double *a,
                                bool is_singular, weft_error *error) {
    weft_status status = WEFT_OK;
    if (A->n_rows > FACTORISED_LEAST)
        TRY(factorise(cycle, A, a, is_singular, error));
    if (!cycle->factors)
        TRY(A->n_rows <= INVERTED_MOST ? make_inverse(cycle, A, a, is_singular, error)
                                       : make_program(cycle, error));
done:
    return status;
}

const char *weft_cycle_coarsest_name(const weft_cycle *cycle) {
    return cycle->factors ? "lu" : cycle->coarsest_inverse ? "its inverse" : "its diagonal";
}

/* b is D^-1 b, in the cycle's precision. */
weft_status weft_cycle_coarsest_run(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cycle_level *level = &cycle->levels[cycle->n_levels - 1];
    weft_coarsest_factors *f = cycle->factors;
    if (!f) {
        status = weft_program_run(cycle->coarsest.program, error);
        goto done;
    }
    const void *b = weft_memory_host(level->b);
    void *z = weft_memory_host(level->z);
    for (int64_t i = 0; i < level->n; ++i)
        f->r[i] =
            f->a[i] * (cycle->single ? (double)((const float *)b)[i] : ((const double *)b)[i]);
    TRY(weft_external_apply(f->solver, f->r, f->z, error));
    for (int64_t i = 0; i < level->n; ++i)
        if (cycle->single)
            ((float *)z)[i] = (float)f->z[i];
        else
            ((double *)z)[i] = f->z[i];
done:
    return status;
}

void weft_cycle_coarsest_free(weft_cycle *cycle) {
    weft_compiled_free(&cycle->coarsest);
    weft_memory_free(&cycle->coarsest_inverse);
    factors_free(&cycle->factors);
}
