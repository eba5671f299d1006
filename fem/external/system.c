/* Numbers the free dofs of a matrix, and copies their rows. */
#include "fem/external/private.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Is the dof, not below those asked for before, constrained? */
static bool is_constrained(const weft_external_matrix *matrix, int64_t dof, int64_t *next) {
    while (*next < matrix->n_constrained && matrix->constrained[*next] < dof)
        ++*next;
    return *next < matrix->n_constrained && matrix->constrained[*next] == dof;
}

static bool is_pinned(const weft_external_matrix *matrix, int64_t dof) {
    for (int i = 0; i < matrix->n_pinned; ++i)
        if (matrix->pinned[i] == dof)
            return true;
    return false;
}

/* Is A 1 zero up to rounding? */
static bool has_constants(const weft_external_matrix *matrix) {
    static const double rounding = 1e-10;
    const weft_pattern *pattern = matrix->pattern;
    for (int64_t i = 0; i < pattern->n_rows; ++i) {
        double sum = 0, size = 0;
        for (int64_t e = pattern->row_start[i]; e < pattern->row_start[i + 1]; ++e) {
            sum += matrix->values[e];
            size += fabs(matrix->values[e]);
        }
        if (!(fabs(sum) <= rounding * size))
            return false;
    }
    return true;
}

/* Set the rows: dofs of nodes with a free dof.
 * rows  [n_dofs] row of a dof, -1: none or coupled to nothing */
static weft_status number(const weft_external_matrix *matrix, weft_external_system *system,
                          int32_t *rows, weft_error *error) {
    const int64_t n_dofs = matrix->pattern->n_rows;
    const int components = system->components;
    int64_t next = 0, n_free = 0;
    for (int64_t dof = 0; dof < n_dofs; dof += components) {
        int64_t n_free_here = 0;
        for (int c = 0; c < components; ++c) {
            bool is_free = !is_constrained(matrix, dof + c, &next);
            system->dofs[system->n + c] = (int32_t)(dof + c);
            system->is_free[system->n + c] = is_free;
            system->is_alone[system->n + c] =
                !is_free || (system->pins && is_pinned(matrix, dof + c)) ||
                (system->pins && system->is_singular && n_free + n_free_here == 0);
            rows[dof + c] = system->is_alone[system->n + c] ? -1 : system->n + c;
            n_free_here += is_free;
        }
        if (n_free_here)
            system->n += components;
        n_free += n_free_here;
    }
    if (n_free == 0)
        return weft_error_set(error, WEFT_ERROR_INPUT, "the matrix has no free dof");
    return WEFT_OK;
}

/* Set columns and the starts of rows. */
static weft_status copy_pattern(const weft_pattern *pattern, const int32_t *rows,
                                weft_external_system *system, weft_error *error) {
    int64_t at = 0;
    for (int i = 0; i < system->n; ++i) {
        int64_t dof = system->dofs[i];
        if (system->is_alone[i])
            system->columns[at++] = i;
        for (int64_t e = pattern->row_start[dof];
             !system->is_alone[i] && e < pattern->row_start[dof + 1]; ++e)
            if (rows[pattern->columns[e]] >= 0)
                system->columns[at++] = rows[pattern->columns[e]];
        if (at > INT_MAX)
            return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                  "the matrix has more than %d entries, which the libraries' "
                                  "32-bit indices do not reach",
                                  INT_MAX);
        system->row_start[i + 1] = (int)at;
    }
    return WEFT_OK;
}

static weft_status fill_row(weft_external_system *system, int row, const weft_pattern *pattern,
                            const double *values, weft_error *error) {
    const int64_t dof = system->dofs[row];
    int at = system->row_start[row];
    double diagonal = 0;
    for (int64_t e = pattern->row_start[dof]; e < pattern->row_start[dof + 1]; ++e) {
        if (at == system->row_start[row + 1])
            break;
        if (system->dofs[system->columns[at]] != pattern->columns[e])
            continue;
        if (!isfinite(values[e]))
            return weft_error_set(
                error, WEFT_ERROR_INPUT,
                "the matrix has an entry that is not finite: row %lld, column %lld: %g",
                (long long)dof, (long long)pattern->columns[e], values[e]);
        if (pattern->columns[e] == dof)
            diagonal = values[e];
        system->values[at++] = values[e];
    }
    if (system->is_alone[row])
        system->values[system->row_start[row]] = diagonal > 0 ? diagonal : 1;
    else if (!(diagonal > 0) && !system->is_indefinite)
        return weft_error_set(
            error, WEFT_ERROR_INPUT,
            "the matrix is not positive definite: its diagonal entry of row %lld is %g",
            (long long)dof, diagonal);
    return WEFT_OK;
}

/* Compare each entry left of the diagonal with its mirror image. As rows and columns ascend, that is
 * the first entry right of the diagonal of its row that was not compared yet.
 * next  [n] scratch: that entry, of each row */
static weft_status check_symmetry(const weft_external_system *system, int *next,
                                  weft_error *error) {
    static const double rounding = 1e-10;
    const int *start = system->row_start, *columns = system->columns;
    const double *values = system->values;
    int row = -1, column = -1;
    for (int i = 0; i < system->n && row < 0; ++i) {
        double greatest = 0;
        for (int e = start[i]; e < start[i + 1]; ++e)
            greatest = fmax(greatest, fabs(values[e]));
        int e = start[i];
        for (; columns[e] < i; ++e) {
            const int j = columns[e], mirror = next[j]++;
            if (mirror >= start[j + 1] || columns[mirror] != i ||
                fabs(values[e] - values[mirror]) > rounding * greatest) {
                row = i;
                column = j;
            }
        }
        next[i] = e + 1; /* every row has a diagonal entry */
    }
    for (int i = 0; i < system->n && row < 0; ++i)
        if (next[i] != start[i + 1]) {
            row = i;
            column = columns[next[i]];
        }
    return row < 0 ? WEFT_OK
                   : weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                    "the matrix is not symmetric: row %d, column %d",
                                    system->dofs[row], system->dofs[column]);
}

weft_status weft_external_system_fill(weft_external_system *system, const weft_pattern *pattern,
                                      const double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    int *scratch = weft_array_make((size_t)system->n, sizeof *scratch);
    if (!scratch)
        TRY(weft_out_of_memory(error, "a check of symmetry"));
    for (int row = 0; row < system->n; ++row)
        TRY(fill_row(system, row, pattern, values, error));
    if (!system->is_general)
        TRY(check_symmetry(system, scratch, error));
done:
    free(scratch);
    return status;
}

static weft_status copy_coordinates(const weft_external_matrix *matrix,
                                    weft_external_system *system, weft_error *error) {
    const int d = matrix->dimension, c = system->components;
    if (!matrix->coordinates || d < 1)
        return WEFT_OK;
    system->coordinates = weft_array_make((size_t)(system->n / c * d), sizeof(double));
    if (!system->coordinates)
        return weft_out_of_memory(error, "coordinates of free nodes");
    for (int i = 0; i < system->n / c; ++i)
        for (int k = 0; k < d; ++k)
            system->coordinates[i * d + k] = matrix->coordinates[system->dofs[i * c] / c * d + k];
    return WEFT_OK;
}

weft_status weft_external_system_make(const weft_external_matrix *matrix,
                                      const weft_external_info *library, weft_external_system *out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_pattern *pattern = matrix->pattern;
    const size_t n = (size_t)pattern->n_rows;
    weft_external_system system = {.components = matrix->components ? matrix->components : 1,
                                   .dimension = matrix->dimension,
                                   .pins = library->is_direct,
                                   .is_singular = matrix->is_singular,
                                   .is_general = library->takes_indefinite ||
                                                 (matrix->is_general && library->takes_general),
                                   .is_indefinite = library->takes_indefinite,
                                   .is_symmetric = !matrix->is_general};
    if (library->is_direct && matrix->is_singular) /* else something weak holds them */
        system.is_singular = has_constants(matrix);
    int32_t *rows = weft_array_make(n, sizeof *rows);
    system.row_start = weft_array_make(n + 1, sizeof *system.row_start);
    const size_t n_entries = (size_t)pattern->n_entries + (system.components > 1 ? n : 0);
    system.columns = weft_array_make(n_entries, sizeof *system.columns);
    system.values = weft_array_make(n_entries, sizeof *system.values);
    system.dofs = weft_array_make(n, sizeof *system.dofs);
    system.is_free = weft_array_make(n, sizeof *system.is_free);
    system.is_alone = weft_array_make(n, sizeof *system.is_alone);
    if (!rows || !system.row_start || !system.columns || !system.values || !system.dofs ||
        !system.is_free || !system.is_alone) {
        status = weft_out_of_memory(error, "a copy of the matrix");
        goto done;
    }
    TRY(number(matrix, &system, rows, error));
    TRY(copy_pattern(pattern, rows, &system, error));
    TRY(weft_external_system_fill(&system, pattern, matrix->values, error));
    TRY(copy_coordinates(matrix, &system, error));
    *out = system;
    system = (weft_external_system){0};
done:
    weft_external_system_free(&system);
    free(rows);
    return status;
}

void weft_external_system_free(weft_external_system *system) {
    free(system->row_start);
    free(system->columns);
    free(system->values);
    free(system->dofs);
    free(system->is_free);
    free(system->is_alone);
    free(system->coordinates);
    *system = (weft_external_system){0};
}
