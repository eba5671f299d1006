/* Makes the constrained problem C^T A C v = C^T (b - A g) on the host's threads. */
#include "fem/constrain/private.h"
#include "fem/operator/operator.h"

#include <stdlib.h>
#include <string.h>

void weft_constrained_clear(weft_constrained *constrained) {
    weft_operator_free(&constrained->op);
    free(constrained->constrained);
    *constrained = (weft_constrained){0};
}

/* C: the identity, with the rows of dependent dofs. */
static weft_status make_map(const weft_constraints *constraints, weft_csr *out, weft_error *error) {
    const int64_t n = constraints->n_dofs;
    int64_t n_entries = n - constraints->n_rows, k = 0;
    for (int i = 0; i < constraints->n_rows; ++i)
        n_entries += constraints->rows[i].n;
    *out = (weft_csr){.n_rows = n, .n_columns = n};
    out->row_start = weft_array_make_unset((uint64_t)(n + 1) * sizeof *out->row_start);
    out->columns = weft_array_make_unset((uint64_t)n_entries * sizeof *out->columns);
    out->values = weft_array_make_unset((uint64_t)n_entries * sizeof *out->values);
    if (!out->row_start || !out->columns || !out->values)
        return weft_out_of_memory(error, "constraints");
    for (int64_t i = 0; i < n; ++i) {
        const constraint_row *row =
            constraints->row_of[i] >= 0 ? &constraints->rows[constraints->row_of[i]] : NULL;
        out->row_start[i] = k;
        for (int e = 0; row && e < row->n; ++e) { /* ascending, as they were merged */
            out->columns[k] = row->dofs[e];
            out->values[k++] = row->factors[e];
        }
        if (!row) {
            out->columns[k] = (int32_t)i;
            out->values[k++] = 1;
        }
    }
    out->row_start[n] = k;
    return WEFT_OK;
}

/* The matrix with a row of the identity for each dependent dof; the pattern takes its arrays. */
static weft_status add_identity(const weft_constraints *constraints, const weft_csr *matrix,
                                weft_pattern **pattern, double **values, weft_error *error) {
    const int64_t n = matrix->n_rows;
    const int64_t n_entries = matrix->row_start[n] + constraints->n_rows;
    weft_pattern *made = calloc(1, sizeof *made);
    double *entries = weft_array_make((size_t)n_entries, sizeof *entries);
    int64_t k = 0;
    *pattern = made;
    *values = entries;
    if (!made || !entries)
        return weft_out_of_memory(error, "constraints");
    *made = (weft_pattern){.n_rows = n, .n_entries = n_entries};
    made->row_start = weft_array_make((size_t)n + 1, sizeof *made->row_start);
    made->columns = weft_array_make((size_t)n_entries, sizeof *made->columns);
    if (!made->row_start || !made->columns)
        return weft_out_of_memory(error, "constraints");
    for (int64_t i = 0; i < n; ++i) {
        const int64_t first = matrix->row_start[i], count = matrix->row_start[i + 1] - first;
        made->row_start[i] = k;
        memcpy(made->columns + k, matrix->columns + first, (size_t)count * sizeof *made->columns);
        memcpy(entries + k, matrix->values + first, (size_t)count * sizeof *entries);
        k += count;
        if (constraints->row_of[i] >= 0) { /* an empty row of C^T A C */
            made->columns[k] = (int32_t)i;
            entries[k++] = 1;
        }
    }
    made->row_start[n] = k;
    return WEFT_OK;
}

static weft_status list_constrained(const weft_constraints *constraints, weft_constrained *out,
                                    weft_error *error) {
    out->constrained = weft_array_make((size_t)constraints->n_dofs, sizeof *out->constrained);
    if (!out->constrained)
        return weft_out_of_memory(error, "constraints");
    for (int64_t i = 0; i < constraints->n_dofs; ++i)
        if (constraints->row_of[i] != -1)
            out->constrained[out->n++] = (int32_t)i;
    return WEFT_OK;
}

/* b - A g, then C^T of it. */
static weft_status reduce_load(const weft_constraints *constraints, const weft_pattern *pattern,
                               const double *values, double *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = constraints->n_dofs;
    bool has_constant = false;
    double *g = weft_array_make((size_t)n, sizeof *g), *y = weft_array_make((size_t)n, sizeof *y);
    if (!g || !y)
        TRY(weft_out_of_memory(error, "constraints"));
    for (int i = 0; i < constraints->n_rows; ++i) {
        g[constraints->rows[i].dof] = constraints->rows[i].constant;
        has_constant |= constraints->rows[i].constant != 0;
    }
    if (has_constant)
        TRY(weft_csr_product(constraints->context->device, pattern, values, g, y, error));
    for (int64_t i = 0; i < n; ++i)
        b[i] -= y[i];
    for (int i = 0; i < constraints->n_rows; ++i) {
        const constraint_row *row = &constraints->rows[i];
        for (int k = 0; k < row->n; ++k)
            b[row->dofs[k]] += row->factors[k] * b[row->dof];
        b[row->dof] = 0;
    }
done:
    free(g);
    free(y);
    return status;
}

/* The present values of the matrix, on the host. */
static weft_status fetch_values(weft_operator *op, double **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *values = NULL;
    TRY(weft_operator_matrix(op, &values, error));
    const size_t bytes = (size_t)weft_operator_pattern(op)->n_entries * sizeof(double);
    *out = weft_array_make_unset(bytes);
    if (!*out)
        TRY(weft_out_of_memory(error, "constraints"));
    TRY(weft_memory_read(values, 0, *out, bytes, error));
done:
    return status;
}

weft_status weft_constraints_reduce(weft_constraints *constraints, weft_operator *op, double *b,
                                    double *v, weft_constrained *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double *values = NULL, *reduced = NULL;
    weft_csr map = {0}, product = {0};
    weft_pattern *pattern = NULL;
    weft_constrained made = {0};
    TRY(constraints_resolve(constraints, error));
    TRY(fetch_values(op, &values, error));
    const weft_pattern *whole = weft_operator_pattern(op);
    const weft_csr A = {constraints->n_dofs, constraints->n_dofs, whole->row_start, whole->columns,
                        values};
    TRY(make_map(constraints, &map, error));
    TRY(weft_galerkin(constraints->context->device, &A, &map, &product, error));
    TRY(add_identity(constraints, &product, &pattern, &reduced, error));
    TRY(weft_operator_from_matrix(constraints->context, &pattern, reduced, 0, &made.op, error));
    TRY(list_constrained(constraints, &made, error));
    TRY(reduce_load(constraints, whole, values, b, error));
    for (int i = 0; i < constraints->n_rows; ++i)
        v[constraints->rows[i].dof] = 0;
    *out = made;
    made = (weft_constrained){0};
done:
    weft_constrained_clear(&made);
    weft_pattern_free(&pattern);
    weft_csr_clear(&map);
    weft_csr_clear(&product);
    free(values);
    free(reduced);
    return status;
}
