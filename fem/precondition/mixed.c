/* Collects a matrix over several spaces on each rank, and takes this rank's share of what was found by it. */
#include "fem/precondition/mixed.h"
#include "core/base/fault.h"

#include <stdlib.h>
#include <string.h>

static weft_status no_memory(weft_error *error) {
    return weft_out_of_memory(error, "a preconditioner on several ranks");
}

void weft_mixed_clear_matrix(weft_mixed *mixed) {
    weft_csr_clear(&mixed->A);
    free(mixed->constrained);
    mixed->constrained = NULL;
    mixed->problem = (weft_preconditioner_problem){0};
}

void weft_mixed_clear(weft_mixed *mixed) {
    weft_mixed_clear_matrix(mixed);
    for (int s = 0; s < mixed->n; ++s) {
        weft_rank_rows_clear(&mixed->rows[s]);
        weft_layout_free(&mixed->layouts[s]);
    }
    *mixed = (weft_mixed){0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

static weft_status find_rows(weft_device *device, const weft_preconditioner_problem *problem,
                             weft_mixed *mixed, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int s = 0; s < problem->n_spaces; ++s) {
        ++mixed->n;
        TRY(weft_layout_make(&problem->spaces[s], 1, &mixed->layouts[s], error));
        TRY(weft_rank_rows_make(device, mixed->layouts[s], &mixed->rows[s], error));
        mixed->first[s + 1] = mixed->first[s] + mixed->rows[s].n_whole;
    }
    if (mixed->first[mixed->n] > INT32_MAX)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "blocks of more than 2^31 - 1 rows are not divided among ranks",
                              "use --preconditioner jacobi"));
done:
    return status;
}

/* The number in the whole of each row of this rank's list. */
static int32_t *number_rows(const weft_mixed *mixed) {
    int64_t n = 0;
    for (int s = 0; s < mixed->n; ++s)
        n += mixed->rows[s].n;
    int32_t *numbers = malloc((size_t)n * sizeof *numbers + 1);
    n = 0;
    for (int s = 0; s < mixed->n && numbers; ++s)
        for (int64_t k = 0; k < mixed->rows[s].n; ++k)
            numbers[n++] = (int32_t)(mixed->first[s] + mixed->rows[s].numbers[k]);
    return numbers;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* Append the rows of a space. */
static weft_status append(weft_csr *A, const weft_csr *rows, weft_error *error) {
    const int64_t n = A->row_start ? A->row_start[A->n_rows] : 0,
                  more = rows->row_start[rows->n_rows];
    weft_csr made = {0};
    const weft_status status =
        weft_csr_allocate(A->n_rows + rows->n_rows, rows->n_columns, n + more, &made, error);
    if (status != WEFT_OK)
        return status;
    for (int64_t i = 0; i < A->n_rows; ++i)
        made.row_start[i + 1] = A->row_start[i + 1];
    for (int64_t i = 0; i < rows->n_rows; ++i)
        made.row_start[A->n_rows + i + 1] = n + rows->row_start[i + 1];
    if (n > 0) {
        memcpy(made.columns, A->columns, (size_t)n * sizeof *made.columns);
        memcpy(made.values, A->values, (size_t)n * sizeof *made.values);
    }
    memcpy(made.columns + n, rows->columns, (size_t)more * sizeof *made.columns);
    memcpy(made.values + n, rows->values, (size_t)more * sizeof *made.values);
    weft_csr_clear(A);
    *A = made;
    return WEFT_OK;
}

static weft_status collect_matrix(const weft_csr *part, weft_mixed *mixed, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr rows = {0};
    int32_t *numbers = number_rows(mixed);
    int64_t first = 0;
    if (!numbers)
        TRY(no_memory(error));
    for (int s = 0; s < mixed->n; ++s) {
        const weft_csr own = {.n_rows = mixed->rows[s].n,
                              .n_columns = part->n_columns,
                              .row_start = part->row_start + first,
                              .columns = part->columns,
                              .values = part->values};
        TRY(weft_whole_matrix(&mixed->rows[s], &own, numbers, mixed->first[mixed->n], &rows,
                              error));
        TRY(append(&mixed->A, &rows, error));
        weft_csr_clear(&rows);
        first += own.n_rows;
    }
done:
    weft_csr_clear(&rows);
    free(numbers);
    return status;
}

/* ---- constrained dofs ------------------------------------------------------------------------ */

/* Those of one space, whose rows are from first on in this rank's list. */
static weft_status collect_constrained(const weft_preconditioner_problem *problem, int space,
                                       int64_t first, weft_mixed *mixed, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_rank_rows *rows = &mixed->rows[space];
    int32_t *own = malloc((size_t)problem->n_constrained * sizeof *own + 1), *all = NULL;
    int64_t n = 0, n_all = 0, before = mixed->problem.n_constrained;
    if (!own)
        TRY(no_memory(error));
    for (int64_t i = 0; i < problem->n_constrained; ++i)
        if (problem->constrained[i] >= first && problem->constrained[i] < first + rows->n)
            own[n++] = (int32_t)(problem->constrained[i] - first);
    TRY(weft_rank_entries(rows, own, n, &all, &n_all, error));
    int32_t *list = realloc(mixed->constrained, (size_t)(before + n_all) * sizeof *list + 1);
    if (!list)
        TRY(no_memory(error));
    mixed->constrained = list;
    for (int64_t i = 0; i < n_all; ++i)
        list[before + i] = (int32_t)(mixed->first[space] + all[i]);
    mixed->problem.constrained = list;
    mixed->problem.n_constrained = before + n_all;
done:
    free(own);
    free(all);
    return status;
}

weft_status weft_mixed_make(weft_device *device, const weft_csr *part,
                            const weft_preconditioner_problem *problem, weft_mixed *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t first = 0;
    *out = (weft_mixed){.problem = *problem};
    out->problem.constrained = NULL;
    out->problem.n_constrained = 0;
    TRY(find_rows(device, problem, out, error));
    TRY(collect_matrix(part, out, error));
    for (int s = 0; s < out->n; ++s) {
        TRY(collect_constrained(problem, s, first, out, error));
        first += out->rows[s].n;
    }
done:
    return status;
}

/* ---- what this rank has ---------------------------------------------------------------------- */

weft_status weft_mixed_take_values(const weft_mixed *mixed, int space, double **values,
                                   weft_error *error) {
    const weft_rank_rows *rows = &mixed->rows[space];
    if (!*values)
        return WEFT_OK;
    double *own = malloc((size_t)rows->n * sizeof *own + 1);
    if (!own)
        return no_memory(error);
    for (int64_t k = 0; k < rows->n; ++k)
        own[k] = (*values)[weft_fault("block_of_first_rows") ? k : rows->numbers[k]];
    free(*values);
    *values = own;
    return WEFT_OK;
}

/* The place of each row of the whole in this rank's list; -1: it is not there. */
static int32_t *find_places(const weft_rank_rows *rows) {
    int32_t *places = malloc((size_t)rows->n_whole * sizeof *places + 1);
    if (!places)
        return NULL;
    memset(places, 0xFF, (size_t)rows->n_whole * sizeof *places);
    for (int64_t k = 0; k < rows->n; ++k)
        places[rows->numbers[k]] = (int32_t)k;
    return places;
}

static int64_t length_of(const weft_csr *matrix, int64_t row) {
    return matrix->row_start[row + 1] - matrix->row_start[row];
}

weft_status weft_mixed_take_rows(const weft_mixed *mixed, int space, weft_csr *matrix,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_rank_rows *rows = &mixed->rows[space];
    weft_csr made = {0};
    int32_t *places = NULL;
    int64_t n = 0;
    if (!matrix->row_start)
        goto done;
    places = find_places(rows);
    if (!places)
        TRY(no_memory(error));
    for (int64_t k = 0; k < rows->n_own; ++k)
        n += length_of(matrix, rows->numbers[rows->own[k]]);
    TRY(weft_csr_allocate(rows->n, rows->n, n, &made, error));
    n = 0;
    for (int64_t k = 0, own = 0; k < rows->n; made.row_start[++k] = n) {
        if (own == rows->n_own || rows->own[own] != k)
            continue;
        ++own;
        const int64_t first = matrix->row_start[rows->numbers[k]];
        for (int64_t e = first; e < first + length_of(matrix, rows->numbers[k]); ++e) {
            made.columns[n] = places[matrix->columns[e]];
            made.values[n++] = matrix->values[e];
        }
    }
    weft_csr_clear(matrix);
    *matrix = made;
    made = (weft_csr){0};
done:
    weft_csr_clear(&made);
    free(places);
    return status;
}
