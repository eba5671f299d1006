/* The coarsest level of the V-cycle: a product with the inverse of its matrix. */
#include "fem/precondition/cycle.h"

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

static weft_status make_program(weft_cycle *cycle, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fragment fragment = {"multigrid_coarsest.weft",
                                    "index rows, columns;\n"
                                    "input A : real over rows, columns;\n"
                                    "input b : real over columns;\n"
                                    "z = gemv(A, b);\n"
                                    "return z;\n"};
    const weft_cycle_level *level = &cycle->levels[cycle->n_levels - 1];
    const weft_compile_options options = {
        .size = sizeof options, .single = cycle->single, .elements = level->n};
    TRY(weft_compiled_make(cycle->context, &fragment, 1, &options, &cycle->coarsest, error));
    weft_program *program = cycle->coarsest.program;
    TRY(weft_program_size(program, "rows", level->n, error));
    TRY(weft_program_size(program, "columns", level->n, error));
    TRY(weft_program_bind(program, "A", cycle->coarsest_inverse, error));
    TRY(weft_program_bind(program, "b", level->b, error));
    TRY(weft_program_bind(program, "z", level->z, error));
done:
    return status;
}

weft_status weft_cycle_coarsest(weft_cycle *cycle, const weft_csr *A, const double *a,
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
