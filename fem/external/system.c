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
    for (int i = 0; i < system->n; ++i)
        system->own[i] = i;
    system->n_own = system->n;
    system->n_whole = system->n;
    return WEFT_OK;
}

/* ---- several ranks --------------------------------------------------------------------------- */

/* Choose the rows of this rank: dofs of its nodes with a free dof, and of its first node if there is none, as some solvers want
 * rows on every rank.
 * marks    [n_dofs] 2 for a free dof of such a node, 1 for another one, 0 for others
 * Returns  the number of free dofs */
static int64_t mark_own(const weft_external_matrix *matrix, int components, unsigned char *marks) {
    const unsigned char *owned = weft_layout_owned(matrix->layout);
    const int64_t n_dofs = matrix->pattern->n_rows;
    int64_t next = 0, n_free = 0, first = -1;
    for (int64_t dof = 0; dof < n_dofs; dof += components) {
        int64_t n_free_here = 0;
        for (int c = 0; c < components; ++c) {
            const bool is_free = !is_constrained(matrix, dof + c, &next) && owned[dof];
            marks[dof + c] = is_free ? 2 : 1;
            n_free_here += is_free;
        }
        for (int c = 0; c < components && !n_free_here; ++c)
            marks[dof + c] = 0;
        first = first < 0 && owned[dof] ? dof : first;
        n_free += n_free_here;
    }
    for (int c = 0; c < components && n_free == 0 && first >= 0; ++c)
        marks[first + c] = 1;
    return n_free;
}

/* The first row of this rank and the rows of all, from those that each has. */
static weft_status find_range(weft_external_system *system, int64_t n_free, weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(system->comm), rank = weft_comm_rank(system->comm);
    const int64_t mine[2] = {system->n_own, n_free};
    int64_t(*all)[2] = weft_array_make((size_t)size, sizeof *all), n_free_whole = 0;
    if (!all)
        TRY(weft_out_of_memory(error, "rows of ranks"));
    TRY(weft_comm_gather(system->comm, mine, sizeof mine, all, error));
    for (int r = 0; r < size; ++r) {
        system->first += r < rank ? all[r][0] : 0;
        system->n_whole += all[r][0];
        n_free_whole += all[r][1];
    }
    if (n_free_whole == 0)
        status = weft_error_set(error, WEFT_ERROR_INPUT, "the matrix has no free dof");
done:
    free(all);
    return status;
}

/* Owners tell the numbers of their free rows, plus 1, where others have copies; elsewhere 0. Doubles count that far. */
static weft_status tell_numbers(const weft_external_matrix *matrix,
                                const weft_external_system *system, const unsigned char *marks,
                                double *told, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)matrix->pattern->n_rows * sizeof *told;
    weft_memory *list = NULL;
    int64_t number = system->first;
    for (int64_t dof = 0; dof < matrix->pattern->n_rows; ++dof) {
        told[dof] = marks[dof] == 2 ? (double)(number + 1) : 0;
        number += marks[dof] > 0;
    }
    TRY(weft_memory_make(matrix->device, bytes, &list, error));
    TRY(weft_memory_write(list, 0, told, bytes, error));
    TRY(weft_layout_update(matrix->layout, list, error));
    TRY(weft_memory_read(list, 0, told, bytes, error));
done:
    weft_memory_free(&list);
    return status;
}

/* The rows of this rank, and what their entries refer to. */
static weft_status number_on_ranks(const weft_external_matrix *matrix, weft_external_system *system,
                                   int32_t *rows, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n_dofs = (size_t)matrix->pattern->n_rows;
    unsigned char *marks = weft_array_make(n_dofs, sizeof *marks);
    double *told = weft_array_make(n_dofs, sizeof *told);
    system->numbers = weft_array_make(n_dofs, sizeof *system->numbers);
    system->is_copy = weft_array_make(n_dofs, sizeof *system->is_copy);
    if (!marks || !told || !system->numbers || !system->is_copy)
        TRY(weft_out_of_memory(error, "rows of ranks"));
    const int64_t n_free = mark_own(matrix, system->components, marks);
    for (size_t dof = 0; dof < n_dofs; ++dof)
        system->n_own += marks[dof] > 0;
    TRY(find_range(system, n_free, error));
    TRY(tell_numbers(matrix, system, marks, told, error));
    system->n_own = 0;
    for (size_t dof = 0; dof < n_dofs; ++dof) {
        const int row = system->n;
        rows[dof] = told[dof] > 0 ? row : -1;
        if (marks[dof] == 0 && told[dof] == 0)
            continue;
        system->dofs[row] = (int32_t)dof;
        system->is_copy[row] = marks[dof] == 0;
        system->is_free[row] = marks[dof] == 2;
        system->is_alone[row] = marks[dof] == 1;
        system->numbers[row] =
            system->is_copy[row] ? (int64_t)told[dof] - 1 : system->first + system->n_own;
        if (!system->is_copy[row])
            system->own[system->n_own++] = row;
        ++system->n;
    }
done:
    free(marks);
    free(told);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_copy(const weft_external_system *system, int row) {
    return system->is_copy && system->is_copy[row];
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
             !system->is_alone[i] && !is_copy(system, i) && e < pattern->row_start[dof + 1]; ++e)
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

/* The first entry from e on of a row in a column that has a row here. */
static int next_here(const weft_external_system *system, int e, int end) {
    while (e < end && is_copy(system, system->columns[e]))
        ++e;
    return e;
}

/* Compare each entry left of the diagonal with its mirror image. As rows and columns ascend, that is
 * the first entry right of the diagonal of its row that was not compared yet. On several ranks, of the block of own rows.
 * next  [n] scratch: that entry, of each row */
static weft_status check_symmetry(const weft_external_system *system, int *next,
                                  weft_error *error) {
    static const double rounding = 1e-10;
    const int *start = system->row_start, *columns = system->columns;
    const double *values = system->values;
    int row = -1, column = -1;
    for (int k = 0; k < system->n_own && row < 0; ++k) {
        const int i = system->own[k];
        double greatest = 0;
        for (int e = start[i]; e < start[i + 1]; ++e)
            greatest = fmax(greatest, fabs(values[e]));
        int e = next_here(system, start[i], start[i + 1]);
        for (; columns[e] < i; e = next_here(system, e + 1, start[i + 1])) {
            const int j = columns[e], mirror = next[j];
            next[j] = next_here(system, mirror + 1, start[j + 1]);
            if (mirror >= start[j + 1] || columns[mirror] != i ||
                fabs(values[e] - values[mirror]) > rounding * greatest) {
                row = i;
                column = j;
            }
        }
        next[i] = next_here(system, e + 1, start[i + 1]); /* every row has a diagonal entry */
    }
    for (int k = 0; k < system->n_own && row < 0; ++k)
        if (next[system->own[k]] != start[system->own[k] + 1]) {
            row = system->own[k];
            column = columns[next[row]];
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
    for (int k = 0; k < system->n_own; ++k)
        TRY(fill_row(system, system->own[k], pattern, values, error));
    if (!system->is_general)
        TRY(check_symmetry(system, scratch, error));
done:
    free(scratch);
    return weft_comm_agree(system->comm, status, error);
}

static weft_status copy_coordinates(const weft_external_matrix *matrix,
                                    weft_external_system *system, weft_error *error) {
    const int d = matrix->dimension, c = system->components;
    if (!matrix->coordinates || d < 1)
        return WEFT_OK;
    system->coordinates = weft_array_make((size_t)(system->n_own / c * d), sizeof(double));
    if (!system->coordinates)
        return weft_out_of_memory(error, "coordinates of free nodes");
    for (int i = 0; i < system->n_own / c; ++i)
        for (int k = 0; k < d; ++k)
            system->coordinates[i * d + k] =
                matrix->coordinates[system->dofs[system->own[i * c]] / c * d + k];
    return WEFT_OK;
}

weft_status weft_external_system_make(const weft_external_matrix *matrix,
                                      const weft_external_info *library, weft_external_system *out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_pattern *pattern = matrix->pattern;
    const size_t n = (size_t)pattern->n_rows;
    weft_external_system system = {
        .components = matrix->components ? matrix->components : 1,
        .dimension = matrix->dimension,
        .pins = library->is_direct,
        .is_singular = matrix->is_singular,
        .is_general = library->takes_indefinite || (matrix->is_general && library->takes_general),
        .is_indefinite = library->takes_indefinite,
        .is_symmetric = !matrix->is_general,
        .comm = matrix->layout ? weft_layout_comm(matrix->layout) : NULL};
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
    system.own = weft_array_make(n, sizeof *system.own);
    if (!rows || !system.row_start || !system.columns || !system.values || !system.dofs ||
        !system.is_free || !system.is_alone || !system.own) {
        status = weft_out_of_memory(error, "a copy of the matrix");
        goto done;
    }
    TRY((matrix->layout ? number_on_ranks : number)(matrix, &system, rows, error));
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
    free(system->own);
    free(system->is_copy);
    free(system->numbers);
    *system = (weft_external_system){0};
}
