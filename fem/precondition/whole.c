/* Collects the matrix, the constrained dofs and the nodes of all ranks on each of them. */
#include "fem/mesh/part.h"
#include "fem/precondition/levels.h"
#include "fem/precondition/ranks.h"

#include <stdlib.h>
#include <string.h>

static weft_status no_memory(weft_error *error) {
    return weft_out_of_memory(error, "multigrid on several ranks");
}

/* ---- rows ------------------------------------------------------------------------------------ */

void weft_rank_rows_clear(weft_rank_rows *rows) {
    free(rows->starts);
    free(rows->numbers);
    *rows = (weft_rank_rows){0};
}

/* Own rows have consecutive numbers in the whole: elements are numbered in the order of their vertices. */
static weft_status find_own(const unsigned char *owned, weft_rank_rows *rows, weft_error *error) {
    int64_t k = 0;
    while (k < rows->n && !owned[k])
        ++k;
    rows->first = k;
    while (k < rows->n && owned[k])
        ++k;
    rows->n_own = k - rows->first;
    for (; k < rows->n; ++k)
        if (owned[k])
            return weft_error_set(error, WEFT_ERROR_INTERNAL,
                                  "the rows of a rank are not consecutive");
    return WEFT_OK;
}

static weft_status find_starts(weft_rank_rows *rows, weft_error *error) {
    const int size = weft_comm_size(rows->comm);
    rows->starts = calloc((size_t)size + 1, sizeof *rows->starts);
    if (!rows->starts)
        return no_memory(error);
    const weft_status status =
        weft_comm_gather(rows->comm, &rows->n_own, sizeof rows->n_own, rows->starts + 1, error);
    for (int r = 0; r < size; ++r)
        rows->starts[r + 1] += rows->starts[r];
    rows->n_whole = rows->starts[size];
    return status;
}

/* Owners tell the numbers of the rows that others have as copies. */
static weft_status find_numbers(weft_device *device, weft_layout *layout, weft_rank_rows *rows,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *list = NULL;
    rows->numbers = malloc((size_t)rows->n * sizeof *rows->numbers + 1);
    double *numbers = calloc((size_t)rows->n + 1, sizeof *numbers);
    if (!rows->numbers || !numbers)
        TRY(no_memory(error));
    for (int64_t k = 0; k < rows->n_own; ++k)
        numbers[rows->first + k] = (double)(rows->starts[weft_comm_rank(rows->comm)] + k);
    TRY(weft_memory_make(device, (size_t)rows->n * sizeof *numbers, &list, error));
    TRY(weft_memory_write(list, 0, numbers, (size_t)rows->n * sizeof *numbers, error));
    TRY(weft_layout_update(layout, list, error));
    TRY(weft_memory_read(list, 0, numbers, (size_t)rows->n * sizeof *numbers, error));
    for (int64_t k = 0; k < rows->n; ++k)
        rows->numbers[k] = (int32_t)numbers[k];
done:
    weft_memory_free(&list);
    free(numbers);
    return status;
}

weft_status weft_rank_rows_make(weft_device *device, weft_layout *layout, weft_rank_rows *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (weft_rank_rows){.comm = weft_layout_comm(layout),
                            .team = weft_layout_team(layout),
                            .n = weft_layout_dofs(layout)};
    TRY(find_own(weft_layout_owned(layout), out, error));
    TRY(find_starts(out, error));
    TRY(find_numbers(device, layout, out, error));
done:
    return status;
}

weft_status weft_rank_dofs(const weft_operator *op, int64_t *out, weft_error *error) {
    const unsigned char *owned = op->layout ? weft_layout_owned(op->layout) : NULL;
    *out = owned ? 0 : weft_operator_dofs(op);
    for (int64_t i = 0; owned && i < weft_operator_dofs(op); ++i)
        *out += owned[i];
    return owned ? weft_comm_sum(weft_layout_comm(op->layout), out, error) : WEFT_OK;
}

/* The dofs of linear functions. */
static weft_status rows_of_nodes(const weft_mesh *mesh, int components, weft_rank_rows *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_part *part = mesh->part;
    const int size = weft_comm_size(part->comm), rank = weft_comm_rank(part->comm);
    *out = (weft_rank_rows){.comm = part->comm,
                            .n = mesh->n_nodes * components,
                            .n_whole = part->n_global_nodes * components,
                            .n_own = (part->starts[rank + 1] - part->starts[rank]) * components,
                            .starts = calloc((size_t)size + 1, sizeof(int64_t)),
                            .numbers =
                                malloc((size_t)(mesh->n_nodes * components) * sizeof(int32_t) + 1)};
    if (!out->starts || !out->numbers)
        TRY(no_memory(error));
    for (int r = 0; r <= size; ++r)
        out->starts[r] = part->starts[r] * components;
    for (int64_t k = 0; k < out->n; ++k)
        out->numbers[k] = (int32_t)(part->nodes[k / components] * components + k % components);
    while (out->numbers[out->first] < out->starts[rank])
        ++out->first;
done:
    return status;
}

weft_status weft_rank_gather(weft_comm *comm, const void *mine, size_t size, const int64_t *starts,
                             void *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int ranks = weft_comm_size(comm), rank = weft_comm_rank(comm);
    weft_message *sent = calloc(2 * (size_t)ranks, sizeof *sent), *received = sent + ranks;
    const size_t bytes = (size_t)(starts[rank + 1] - starts[rank]) * size;
    char *all = out;
    int n = 0;
    if (!sent)
        TRY(no_memory(error));
    for (int r = 0; r < ranks; ++r) {
        char *to = all + (size_t)starts[r] * size;
        if (r == rank && bytes > 0)
            memcpy(to, mine, bytes);
        if (r == rank)
            continue;
        sent[n] = (weft_message){r, (void *)(uintptr_t)mine, bytes};
        received[n++] = (weft_message){r, to, (size_t)(starts[r + 1] - starts[r]) * size};
    }
    TRY(weft_comm_exchange(comm, sent, n, received, n, error));
done:
    free(sent);
    return status;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* What this rank sends of its own rows. */
typedef struct own_rows {
    int64_t *lengths, *starts; /* of each row; [ranks + 1] entries of each rank */
    int32_t *columns;
} own_rows;

static weft_status list_own(const weft_rank_rows *rows, const weft_csr *part,
                            const int32_t *columns, own_rows *own, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t first = part->row_start[rows->first];
    const int64_t n = part->row_start[rows->first + rows->n_own] - first;
    const int size = weft_comm_size(rows->comm);
    own->lengths = malloc((size_t)rows->n_own * sizeof *own->lengths + 1);
    own->columns = malloc((size_t)n * sizeof *own->columns + 1);
    own->starts = calloc((size_t)size + 1, sizeof *own->starts);
    if (!own->lengths || !own->columns || !own->starts)
        TRY(no_memory(error));
    for (int64_t k = 0; k < rows->n_own; ++k)
        own->lengths[k] = part->row_start[rows->first + k + 1] - part->row_start[rows->first + k];
    for (int64_t k = 0; k < n; ++k)
        own->columns[k] = columns[part->columns[first + k]];
    TRY(weft_comm_gather(rows->comm, &n, sizeof n, own->starts + 1, error));
    for (int r = 0; r < size; ++r)
        own->starts[r + 1] += own->starts[r];
done:
    return status;
}

weft_status weft_whole_matrix(const weft_rank_rows *rows, const weft_csr *part,
                              const int32_t *columns, int64_t n_columns, weft_csr *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    own_rows own = {0};
    weft_csr made = {0};
    weft_comm *comm = rows->comm;
    TRY(list_own(rows, part, columns, &own, error));
    const int64_t n = own.starts[weft_comm_size(comm)];
    made = (weft_csr){.n_rows = rows->n_whole,
                      .n_columns = n_columns,
                      .row_start = weft_array_make((size_t)rows->n_whole + 1, sizeof(int64_t)),
                      .columns = weft_array_make_unset((size_t)n * sizeof(int32_t)),
                      .values = weft_array_make_unset((size_t)n * sizeof(double))};
    if (!made.row_start || !made.columns || !made.values)
        TRY(no_memory(error));
    TRY(weft_rank_gather(comm, own.lengths, sizeof *own.lengths, rows->starts, made.row_start + 1,
                         error));
    for (int64_t i = 0; i < made.n_rows; ++i)
        made.row_start[i + 1] += made.row_start[i];
    TRY(weft_rank_gather(comm, own.columns, sizeof *own.columns, own.starts, made.columns, error));
    TRY(weft_rank_gather(comm, part->values + part->row_start[rows->first], sizeof *made.values,
                         own.starts, made.values, error));
    *out = made;
    made = (weft_csr){0};
done:
    weft_csr_clear(&made);
    free(own.lengths);
    free(own.columns);
    free(own.starts);
    return status;
}

/* ---- the problem ----------------------------------------------------------------------------- */

void weft_whole_clear(weft_whole *whole) {
    weft_rank_rows_clear(&whole->rows);
    free(whole->constrained);
    free(whole->x);
    *whole = (weft_whole){0};
}

weft_status weft_rank_entries(const weft_rank_rows *rows, const int32_t *list, int64_t n,
                              int32_t **out, int64_t *n_out, weft_error *error) {
    weft_status status = WEFT_OK;
    unsigned char *own = calloc((size_t)rows->n + 1, 1);
    unsigned char *all = calloc((size_t)rows->n_whole + 1, 1);
    if (!own || !all)
        TRY(no_memory(error));
    for (int64_t k = 0; k < n; ++k)
        own[list[k]] = 1;
    TRY(weft_rank_gather(rows->comm, own + rows->first, 1, rows->starts, all, error));
    *n_out = 0;
    for (int64_t i = 0; i < rows->n_whole; ++i)
        *n_out += all[i];
    *out = malloc((size_t)*n_out * sizeof **out + 1);
    if (!*out)
        TRY(no_memory(error));
    for (int64_t i = 0, k = 0; i < rows->n_whole; ++i)
        if (all[i])
            (*out)[k++] = (int32_t)i;
done:
    free(own);
    free(all);
    return status;
}

weft_status weft_rank_points(const weft_rank_rows *rows, int components, int dimension,
                             const double *x, double **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(rows->comm);
    const size_t d = (size_t)dimension;
    int64_t *starts = calloc((size_t)size + 1, sizeof *starts);
    if (!starts)
        TRY(no_memory(error));
    for (int r = 0; r <= size; ++r)
        starts[r] = rows->starts[r] / components;
    *out = malloc((size_t)starts[size] * d * sizeof *x + 1);
    if (!*out)
        TRY(no_memory(error));
    TRY(weft_rank_gather(rows->comm, x + (size_t)(rows->first / components) * d, d * sizeof *x,
                         starts, *out, error));
done:
    free(starts);
    return status;
}

weft_status weft_whole_make(weft_device *device, const weft_preconditioner_problem *problem,
                            weft_layout *layout, weft_whole *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = problem->space;
    const double *x = space ? weft_space_points(space) : NULL;
    *out = (weft_whole){.problem = *problem, .part = problem, .layout = layout};
    TRY(weft_rank_rows_make(device, layout, &out->rows, error));
    TRY(weft_rank_entries(&out->rows, problem->constrained, problem->n_constrained,
                          &out->constrained, &out->problem.n_constrained, error));
    out->problem.constrained = out->constrained;
    if (x)
        TRY(weft_rank_points(&out->rows, weft_space_components(space),
                             weft_space_mesh(space)->dimension, x, &out->x, error));
done:
    return status;
}

weft_status weft_whole_prolongation(const weft_whole *whole, weft_csr *P, weft_whole_nodes *coarse,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_preconditioner_problem *problem = whole->part;
    const weft_mesh *mesh = weft_space_mesh(problem->space);
    const int components = weft_space_components(problem->space);
    weft_rank_rows nodes = {0};
    weft_csr part = {0};
    int32_t *constrained = NULL;
    int64_t n_constrained = 0;
    TRY(weft_degree_prolongation(problem->space, problem->constrained, problem->n_constrained,
                                 &part, &constrained, &n_constrained, error));
    TRY(rows_of_nodes(mesh, components, &nodes, error));
    TRY(weft_whole_matrix(&whole->rows, &part, nodes.numbers, nodes.n_whole, P, error));
    TRY(weft_rank_entries(&nodes, constrained, n_constrained, &coarse->constrained,
                          &coarse->n_constrained, error));
    TRY(weft_rank_points(&nodes, components, mesh->dimension, mesh->x, &coarse->x, error));
done:
    free(constrained);
    weft_csr_clear(&part);
    weft_rank_rows_clear(&nodes);
    return status;
}
