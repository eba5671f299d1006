/* Divides the levels of multigrid that have many rows among ranks. */
#include "fem/precondition/cycle.h"
#include "fem/precondition/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A level of at most this many rows, and those below, are computed by each rank: an exchange would take longer than its rows.
 * Nothing but the time depends on it. */
enum { REPLICATED_MOST = 5000 };

/* A level of the whole while it is divided. */
typedef struct dividing {
    weft_cycle_source *source;
    int64_t n;
    int32_t *owners, *place; /* [n] the rank of each row; where it is in this rank's list, or -1 */
    unsigned char *needed, *solution; /* [n] interpolated from: rows in the list, the own ones */
    unsigned char *residual;          /* [n] restricted to own rows of the coarser level */
    weft_csr P;                       /* the source's, without empty rows; or {0} */
} dividing;

typedef struct division {
    weft_device *device;
    const weft_rank_rows *rows; /* of the finest level */
    const weft_preconditioner_problem *problem;
    int rank, n_divided; /* levels */
    dividing *levels;    /* [n_divided + 1] */
} division;

static weft_status no_memory(weft_error *error) {
    return weft_out_of_memory(error, "the levels of multigrid on several ranks");
}

void weft_level_part_free(weft_level_part **out) {
    weft_level_part *part = out ? *out : NULL;
    if (!part)
        return;
    weft_layout_free(&part->product);
    weft_layout_free(&part->residual);
    weft_layout_free(&part->solution);
    weft_layout_free(&part->all);
    weft_csr_clear(&part->A);
    weft_csr_clear(&part->P);
    free(part->numbers);
    free(part->own);
    free(part->a);
    free(part);
    *out = NULL;
}

static void dividing_clear(dividing *level) {
    free(level->owners);
    free(level->place);
    free(level->needed);
    free(level->solution);
    free(level->residual);
    weft_csr_clear(&level->P);
}

static weft_status dividing_make(dividing *level, weft_cycle_source *source, weft_error *error) {
    level->source = source;
    level->n = source->A->n_rows;
    const size_t n = (size_t)level->n + 1;
    level->owners = calloc(n, sizeof *level->owners);
    level->place = malloc(n * sizeof *level->place);
    level->needed = calloc(n, 1);
    level->solution = calloc(n, 1);
    level->residual = calloc(n, 1);
    return level->owners && level->place && level->needed && level->solution && level->residual
               ? WEFT_OK
               : no_memory(error);
}

/* ---- transfers ------------------------------------------------------------------------------- */

/* A row without entries gets a zero, in a column that follows from its number in the whole: lists that are gathered, and with them
 * the order of sums, then do not depend on the parts (transfer_of_matrix). */
static weft_status fill_rows(dividing *level, weft_error *error) {
    const weft_csr *P = level->source->P;
    int64_t n = P ? P->row_start[P->n_rows] : 0, n_empty = 0;
    for (int64_t i = 0; P && i < P->n_rows; ++i)
        n_empty += P->row_start[i] == P->row_start[i + 1];
    if (n_empty == 0)
        return WEFT_OK;
    const weft_status status =
        weft_csr_allocate(P->n_rows, P->n_columns, n + n_empty, &level->P, error);
    n = 0;
    for (int64_t i = 0; status == WEFT_OK && i < P->n_rows; ++i) {
        const int64_t first = P->row_start[i], count = P->row_start[i + 1] - first;
        if (count > 0) {
            memcpy(level->P.columns + n, P->columns + first, (size_t)count * sizeof *P->columns);
            memcpy(level->P.values + n, P->values + first, (size_t)count * sizeof *P->values);
        } else {
            level->P.columns[n] = (int32_t)(i * P->n_columns / P->n_rows);
            level->P.values[n] = 0;
        }
        level->P.row_start[i + 1] = n += count > 0 ? count : 1;
    }
    return status;
}

static const weft_csr *prolongation(const dividing *level) {
    return level->P.row_start ? &level->P : level->source->P;
}

/* The coarser rows that a row is interpolated from. */
static int64_t transferred(const dividing *level, int64_t row, const int32_t **columns) {
    const int32_t *parents = level->source->parents;
    const weft_csr *P = prolongation(level);
    if (parents) {
        *columns = parents + 2 * row;
        return (*columns)[0] == (*columns)[1] ? 1 : 2;
    }
    *columns = P->columns + P->row_start[row];
    return P->row_start[row + 1] - P->row_start[row];
}

/* A coarser row belongs to the rank of the row that has the most of it, the first of several. */
static weft_status choose_owners(const dividing *level, dividing *coarser, weft_error *error) {
    const weft_csr *P = prolongation(level);
    const bool is_mean = level->source->parents;
    double *most = calloc((size_t)coarser->n + 1, sizeof *most);
    if (!most)
        return no_memory(error);
    for (int64_t i = 0; i < level->n; ++i) {
        const int32_t *columns = NULL;
        const int64_t n = transferred(level, i, &columns);
        for (int64_t k = 0; k < n; ++k) {
            const double weight = is_mean ? 1.0 / (double)n : fabs(P->values[P->row_start[i] + k]);
            if (weight > most[columns[k]]) {
                most[columns[k]] = weight;
                coarser->owners[columns[k]] = level->owners[i];
            }
        }
    }
    free(most);
    return WEFT_OK;
}

/* ---- the list of a rank ---------------------------------------------------------------------- */

static void mark_columns(const dividing *level, int rank, unsigned char *marks) {
    const weft_csr *A = level->source->A;
    for (int64_t i = 0; i < level->n; ++i)
        for (int64_t k = A->row_start[i]; level->owners[i] == rank && k < A->row_start[i + 1]; ++k)
            marks[A->columns[k]] = 1;
}

static void mark_restricted(const dividing *level, const dividing *coarser, int rank) {
    for (int64_t i = 0; i < level->n; ++i) {
        const int32_t *columns = NULL;
        const int64_t n = transferred(level, i, &columns);
        for (int64_t k = 0; k < n; ++k)
            level->residual[i] |= coarser->owners[columns[k]] == rank;
    }
}

/* What the list needs of the coarser level. */
static void mark_interpolated(const dividing *level, dividing *coarser, int rank) {
    for (int64_t i = 0; i < level->n; ++i) {
        const int32_t *columns = NULL;
        const int64_t n = level->place[i] < 0 ? 0 : transferred(level, i, &columns);
        for (int64_t k = 0; k < n; ++k) {
            coarser->needed[columns[k]] = 1;
            coarser->solution[columns[k]] |= level->owners[i] == rank;
        }
    }
}

static weft_status list_rows(const dividing *level, const unsigned char *columns, int rank,
                             weft_level_part *part, weft_error *error) {
    for (int64_t i = 0; i < level->n; ++i) {
        const bool is_there =
            level->owners[i] == rank || columns[i] || level->needed[i] || level->residual[i];
        level->place[i] = is_there ? (int32_t)part->n++ : -1;
    }
    part->numbers = malloc((size_t)part->n * sizeof *part->numbers + 1);
    if (!part->numbers)
        return no_memory(error);
    for (int64_t i = 0; i < level->n; ++i)
        if (level->place[i] >= 0)
            part->numbers[level->place[i]] = (int32_t)i;
    return WEFT_OK;
}

/* ---- what is exchanged ----------------------------------------------------------------------- */

/* wanted  [n of the whole]; NULL: all */
static weft_status make_layout(const division *d, const dividing *level,
                               const weft_level_part *part, const unsigned char *wanted,
                               weft_layout **out, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t *owners = malloc((size_t)part->n * sizeof *owners + 1);
    unsigned char *marks = malloc((size_t)part->n + 1);
    if (!owners || !marks)
        TRY(no_memory(error));
    for (int64_t k = 0; k < part->n; ++k) {
        owners[k] = level->owners[part->numbers[k]];
        marks[k] = wanted ? wanted[part->numbers[k]] : 1;
    }
    const weft_layout_rows rows = {.comm = d->rows->comm,
                                   .team = d->rows->team,
                                   .n = part->n,
                                   .numbers = part->numbers,
                                   .owners = owners,
                                   .wanted = marks};
    TRY(weft_layout_of_rows(d->device, &rows, out, error));
done:
    free(owners);
    free(marks);
    return status;
}

/* ---- what a rank keeps ----------------------------------------------------------------------- */

/* The own rows; others are empty. */
static weft_status take_rows(const dividing *level, int rank, weft_level_part *part,
                             weft_error *error) {
    const weft_csr *A = level->source->A;
    int64_t n = 0;
    for (int64_t k = 0; k < part->n; ++k)
        if (level->owners[part->numbers[k]] == rank)
            n += A->row_start[part->numbers[k] + 1] - A->row_start[part->numbers[k]];
    const weft_status status = weft_csr_allocate(part->n, part->n, n, &part->A, error);
    n = 0;
    for (int64_t k = 0; k < part->n && status == WEFT_OK; ++k) {
        const int64_t row = part->numbers[k];
        for (int64_t e = A->row_start[row]; level->owners[row] == rank && e < A->row_start[row + 1];
             ++e) {
            part->A.columns[n] = level->place[A->columns[e]];
            part->A.values[n++] = A->values[e];
        }
        part->A.row_start[k + 1] = n;
    }
    return status;
}

static weft_status take_diagonal(const weft_csr *A, const weft_preconditioner_problem *problem,
                                 const dividing *level, int rank, weft_level_part *part,
                                 weft_error *error) {
    double *all = weft_level_diagonal(A, problem);
    part->a = malloc((size_t)part->n * sizeof *part->a + 1);
    for (int64_t k = 0; all && part->a && k < part->n; ++k)
        part->a[k] = level->owners[part->numbers[k]] == rank ? all[part->numbers[k]] : -1;
    free(all);
    return all && part->a ? WEFT_OK : no_memory(error);
}

static weft_status take_parents(const dividing *level, const dividing *coarser,
                                weft_level_part *part, weft_error *error) {
    weft_cycle_source *source = level->source;
    int32_t *parents = malloc(2 * (size_t)part->n * sizeof *parents + 1);
    if (!parents)
        return no_memory(error);
    for (int64_t k = 0; k < 2 * part->n; ++k)
        parents[k] = coarser->place[source->parents[2 * (int64_t)part->numbers[k / 2] + k % 2]];
    free(source->parents);
    source->parents = parents;
    return WEFT_OK;
}

static weft_status take_prolongation(const dividing *level, const dividing *coarser,
                                     int64_t n_columns, weft_level_part *part, weft_error *error) {
    const weft_csr *P = prolongation(level);
    int64_t n = 0;
    for (int64_t k = 0; k < part->n; ++k)
        n += P->row_start[part->numbers[k] + 1] - P->row_start[part->numbers[k]];
    const weft_status status = weft_csr_allocate(part->n, n_columns, n, &part->P, error);
    n = 0;
    for (int64_t k = 0; k < part->n && status == WEFT_OK; ++k) {
        const int64_t row = part->numbers[k];
        for (int64_t e = P->row_start[row]; e < P->row_start[row + 1]; ++e) {
            part->P.columns[n] = coarser->place[P->columns[e]];
            part->P.values[n++] = P->values[e];
        }
        part->P.row_start[k + 1] = n;
    }
    return status;
}

/* ---- the levels ------------------------------------------------------------------------------ */

/* The list of a level, and what is exchanged of it. */
static weft_status make_part(division *d, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    dividing *level = &d->levels[number], *coarser = level + 1;
    weft_level_part *part = level->source->part = calloc(1, sizeof *part);
    unsigned char *columns = calloc((size_t)level->n + 1, 1);
    if (!part || !columns)
        TRY(no_memory(error));
    part->n_whole = level->n;
    part->n_entries = level->source->A->row_start[level->n];
    TRY(choose_owners(level, coarser, error));
    mark_columns(level, d->rank, columns);
    mark_restricted(level, coarser, d->rank);
    TRY(list_rows(level, columns, d->rank, part, error));
    mark_interpolated(level, coarser, d->rank);
    TRY(make_layout(d, level, part, columns, &part->product, error));
    TRY(make_layout(d, level, part, level->residual, &part->residual, error));
    TRY(make_layout(d, level, part, level->solution, &part->solution, error));
done:
    free(columns);
    return status;
}

/* The first level that each rank computes has all rows. */
static weft_status make_last(division *d, weft_error *error) {
    weft_status status = WEFT_OK;
    const dividing *level = &d->levels[d->n_divided];
    weft_level_part *part = level->source->part = calloc(1, sizeof *part);
    if (!part)
        TRY(no_memory(error));
    part->n = part->n_whole = level->n;
    part->n_entries = level->source->A->row_start[level->n];
    part->numbers = malloc((size_t)part->n * sizeof *part->numbers + 1);
    if (!part->numbers)
        TRY(no_memory(error));
    for (int64_t i = 0; i < level->n; ++i)
        part->numbers[i] = level->place[i] = (int32_t)i;
    TRY(make_layout(d, level, part, NULL, &part->all, error));
done:
    return status;
}

/* The matrices of the whole are replaced by the rows of this rank. */
static weft_status take(division *d, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const dividing *level = &d->levels[number], *coarser = level + 1;
    weft_cycle_source *source = level->source;
    weft_level_part *part = source->part;
    TRY(take_diagonal(source->A, number == 0 ? d->problem : NULL, level, d->rank, part, error));
    TRY(take_rows(level, d->rank, part, error));
    if (source->takes)
        weft_csr_clear(source->A);
    source->A = &part->A;
    source->takes = true;
    part->width = source->parents ? 2 : weft_widest_row(source->P);
    TRY(source->parents ? take_parents(level, coarser, part, error)
                        : take_prolongation(level, coarser, coarser->source->part->n, part, error));
    if (source->P)
        source->P = &part->P;
done:
    return status;
}

/* The own rows of the finest level. */
static weft_status list_own(const division *d, weft_level_part *part, weft_error *error) {
    const weft_rank_rows *rows = d->rows;
    part->own = malloc((size_t)rows->n_own * sizeof *part->own + 1);
    if (!part->own)
        return no_memory(error);
    for (int64_t k = 0; k < rows->n_own; ++k)
        part->own[k] = d->levels[0].place[rows->numbers[rows->own[k]]];
    return WEFT_OK;
}

weft_status weft_levels_divide(weft_device *device, const weft_whole *whole,
                               weft_cycle_source *sources, int n_levels, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_rank_rows *rows = &whole->rows;
    division d = {.device = device,
                  .rows = rows,
                  .problem = &whole->problem,
                  .rank = weft_comm_rank(rows->comm)};
    while (d.n_divided + 1 < n_levels && sources[d.n_divided].A->n_rows > REPLICATED_MOST)
        ++d.n_divided;
    d.levels = calloc((size_t)d.n_divided + 1, sizeof *d.levels);
    if (!d.levels)
        TRY(no_memory(error));
    for (int i = 0; i <= d.n_divided; ++i)
        TRY(dividing_make(&d.levels[i], &sources[i], error));
    for (int r = 0; r < weft_comm_size(rows->comm); ++r)
        for (int64_t i = rows->starts[r]; i < rows->starts[r + 1]; ++i)
            d.levels[0].owners[rows->order ? rows->order[i] : i] = r;
    for (int i = 0; i < d.n_divided; ++i) {
        TRY(fill_rows(&d.levels[i], error));
        TRY(make_part(&d, i, error));
    }
    TRY(make_last(&d, error));
    for (int i = 0; i < d.n_divided; ++i)
        TRY(take(&d, i, error));
    TRY(list_own(&d, sources[0].part, error));
done:
    for (int i = 0; d.levels && i <= d.n_divided; ++i)
        dividing_clear(&d.levels[i]);
    free(d.levels);
    return status;
}
