/* Compresses tables of functions at quadrature points: columns of the tables that an integral uses, functions of a
 * low degree at many points, are combinations of a few orthonormal ones,
 *
 *     d_k phi_i(p) = sum_a U(p,a) G_k(a,i),   a < rank
 *
 * found by elimination with the largest remaining column as pivot. Sums over points of products then become sums
 * over pairs of a and b, whatever the rule and the factors at its points. */
#include "forms/lower/emit.h"

#include <math.h>
#include <string.h>

#define RANK_ZERO                                                                                  \
    1e-12 /* columns this much shorter than the longest are combinations of the others */
#define ENTRY_ZERO 1e-15 /* entries of G, relative to the largest: rounding */

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* The columns in use as rows of n numbers. */
static double *used_columns(const ufl_emitter *e, const ufl_element_table *table, const bool *used,
                            int n_derivatives, int *n) {
    const int q = e->n_points, functions = table->n_functions;
    double *out = ufl_alloc(e->l->context, (size_t)(n_derivatives * functions * q), sizeof *out);
    *n = 0;
    for (int k = 0; out && k < n_derivatives; ++k)
        for (int i = 0; used[k] && i < functions; ++i) {
            for (int p = 0; p < q; ++p)
                out[*n * q + p] = table->values[(k * q + p) * functions + i];
            ++*n;
        }
    return out;
}

static void subtract(double *from, const double *unit, int n) {
    const double part = dot(from, unit, n);
    for (int p = 0; p < n; ++p)
        from[p] -= part * unit[p];
}

/* Move orthonormal columns to the front, until the rest is rounding. Returns their number, which is 1 where all columns are
 * 0, as derivatives of constants. */
static int orthonormalise(double *columns, int n, int q) {
    double longest = 0;
    for (int rank = 0; rank < n && rank < q; ++rank) {
        int pivot = rank;
        double most = 0;
        for (int i = rank; i < n; ++i) {
            const double length = sqrt(dot(columns + i * q, columns + i * q, q));
            pivot = length > most ? i : pivot;
            most = length > most ? length : most;
        }
        if (most == 0 && rank == 0) {
            columns[0] = 1;
            return 1;
        }
        longest = rank == 0 ? most : longest;
        if (most <= RANK_ZERO * longest)
            return rank;
        for (int p = 0; p < q; ++p) {
            const double kept = columns[rank * q + p];
            columns[rank * q + p] = columns[pivot * q + p];
            columns[pivot * q + p] = kept;
        }
        for (int i = 0; i < rank; ++i) /* again: rounding of the first time */
            subtract(columns + rank * q, columns + i * q, q);
        const double length = sqrt(dot(columns + rank * q, columns + rank * q, q));
        for (int p = 0; p < q; ++p)
            columns[rank * q + p] /= length;
        for (int i = rank + 1; i < n; ++i)
            subtract(columns + i * q, columns + rank * q, q);
    }
    return n < q ? n : q;
}

static bool write_tables(const ufl_emitter *e, const ufl_element_table *table, const bool *used,
                         int n_derivatives, const double *units, ufl_compressed *out) {
    const int q = e->n_points, functions = table->n_functions, rank = out->rank;
    double largest = 0, *column = ufl_alloc(e->l->context, (size_t)q, sizeof *column);
    const size_t n = (size_t)(n_derivatives * rank * functions);
    out->at_points = ufl_alloc(e->l->context, (size_t)(q * rank), sizeof *out->at_points);
    out->functions = ufl_alloc(e->l->context, n, sizeof *out->functions);
    if (!column || !out->at_points || !out->functions)
        return false;
    for (int a = 0; a < rank; ++a)
        for (int p = 0; p < q; ++p)
            out->at_points[p * rank + a] = units[a * q + p];
    for (int k = 0; k < n_derivatives; ++k)
        for (int i = 0; used[k] && i < functions; ++i) {
            for (int p = 0; p < q; ++p)
                column[p] = table->values[(k * q + p) * functions + i];
            for (int a = 0; a < rank; ++a) {
                double *entry = &out->functions[(k * rank + a) * functions + i];
                *entry = dot(column, units + a * q, q);
                largest = fmax(largest, fabs(*entry));
            }
        }
    for (size_t i = 0; i < n; ++i)
        out->functions[i] = fabs(out->functions[i]) > ENTRY_ZERO * largest ? out->functions[i] : 0;
    return true;
}

bool ufl_compress(ufl_emitter *e, const ufl_element_table *table, const bool *used,
                  ufl_compressed *out) {
    const int n_derivatives = weft_derivative_count(e->l->mesh->tdim, table->order);
    int n = 0;
    double *columns = used_columns(e, table, used, n_derivatives, &n);
    if (!columns)
        return false;
    out->rank = orthonormalise(columns, n, e->n_points);
    return write_tables(e, table, used, n_derivatives, columns, out);
}
