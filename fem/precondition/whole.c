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
    free(rows->own);
    free(rows->numbers);
    free(rows->starts);
    free(rows->order);
    *rows = (weft_rank_rows){0};
}

static weft_status find_own(const unsigned char *owned, weft_rank_rows *rows, weft_error *error) {
    rows->own = malloc((size_t)rows->n * sizeof *rows->own + 1);
    if (!rows->own)
        return no_memory(error);
    for (int64_t k = 0; k < rows->n; ++k)
        if (owned[k])
            rows->own[rows->n_own++] = (int32_t)k;
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
static weft_status tell_numbers(weft_device *device, weft_layout *layout, weft_rank_rows *rows,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_memory *list = NULL;
    double *numbers = calloc((size_t)rows->n + 1, sizeof *numbers);
    if (!numbers)
        TRY(no_memory(error));
    for (int64_t k = 0; k < rows->n_own; ++k)
        numbers[rows->own[k]] = (double)(rows->starts[weft_comm_rank(rows->comm)] + k);
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

/* The numbers of all ranks' own rows. */
static weft_status find_order(weft_rank_rows *rows, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t *own = malloc((size_t)rows->n_own * sizeof *own + 1);
    rows->order = malloc((size_t)rows->n_whole * sizeof *rows->order + 1);
    if (!own || !rows->order)
        TRY(no_memory(error));
    for (int64_t k = 0; k < rows->n_own; ++k)
        own[k] = rows->numbers[rows->own[k]];
    TRY(weft_rank_gather(rows->comm, own, sizeof *own, rows->starts, rows->order, error));
done:
    free(own);
    return status;
}

static bool is_ascending(const weft_rank_rows *rows) {
    for (int64_t i = 0; i < rows->n_whole; ++i)
        if (rows->order[i] != i)
            return false;
    return true;
}

weft_status weft_rank_rows_make(weft_device *device, weft_layout *layout, weft_rank_rows *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int32_t *numbers = weft_layout_numbers(layout);
    *out = (weft_rank_rows){.comm = weft_layout_comm(layout),
                            .team = weft_layout_team(layout),
                            .n = weft_layout_dofs(layout)};
    TRY(find_own(weft_layout_owned(layout), out, error));
    TRY(find_starts(out, error));
    out->numbers = malloc((size_t)out->n * sizeof *out->numbers + 1);
    if (!out->numbers)
        TRY(no_memory(error));
    if (!numbers) {
        status = tell_numbers(device, layout, out, error);
        goto done;
    }
    memcpy(out->numbers, numbers, (size_t)out->n * sizeof *numbers);
    TRY(find_order(out, error));
    if (is_ascending(out)) {
        free(out->order);
        out->order = NULL;
    }
done:
    return status;
}

weft_status weft_rank_collect(const weft_rank_rows *rows, const void *list, size_t size, void *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    char *own = malloc((size_t)rows->n_own * size + 1);
    char *gathered = rows->order ? malloc((size_t)rows->n_whole * size + 1) : out;
    if (!own || !gathered)
        TRY(no_memory(error));
    for (int64_t k = 0; k < rows->n_own; ++k)
        memcpy(own + (size_t)k * size, (const char *)list + (size_t)rows->own[k] * size, size);
    TRY(weft_rank_gather(rows->comm, own, size, rows->starts, gathered, error));
    for (int64_t i = 0; rows->order && i < rows->n_whole; ++i)
        memcpy((char *)out + (size_t)rows->order[i] * size, gathered + (size_t)i * size, size);
done:
    free(own);
    if (gathered != out)
        free(gathered);
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
    out->own = malloc((size_t)out->n_own * sizeof *out->own + 1);
    if (!out->own)
        TRY(no_memory(error));
    int64_t first = 0;
    while (first < out->n && out->numbers[first] < out->starts[rank])
        ++first;
    for (int64_t k = 0; k < out->n_own; ++k)
        out->own[k] = (int32_t)(first + k);
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
    int64_t *starts; /* [ranks + 1] entries of each rank */
    int32_t *columns;
    double *values;
} own_rows;

static weft_status list_own(const weft_rank_rows *rows, const weft_csr *part,
                            const int32_t *columns, own_rows *own, weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(rows->comm);
    int64_t n = 0;
    for (int64_t k = 0; k < rows->n_own; ++k)
        n += part->row_start[rows->own[k] + 1] - part->row_start[rows->own[k]];
    own->columns = malloc((size_t)n * sizeof *own->columns + 1);
    own->values = malloc((size_t)n * sizeof *own->values + 1);
    own->starts = calloc((size_t)size + 1, sizeof *own->starts);
    if (!own->columns || !own->values || !own->starts)
        TRY(no_memory(error));
    TRY(weft_comm_gather(rows->comm, &n, sizeof n, own->starts + 1, error));
    for (int r = 0; r < size; ++r)
        own->starts[r + 1] += own->starts[r];
    n = 0;
    for (int64_t k = 0; k < rows->n_own; ++k)
        for (int64_t e = part->row_start[rows->own[k]]; e < part->row_start[rows->own[k] + 1];
             ++e) {
            own->columns[n] = columns[part->columns[e]];
            own->values[n++] = part->values[e];
        }
done:
    return status;
}

/* The start of each row of the whole, from the lengths of own ones. */
static weft_status find_row_starts(const weft_rank_rows *rows, const weft_csr *part, weft_csr *made,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t *lengths = malloc((size_t)rows->n * sizeof *lengths + 1);
    if (!lengths)
        TRY(no_memory(error));
    for (int64_t k = 0; k < rows->n; ++k)
        lengths[k] = part->row_start[k + 1] - part->row_start[k];
    TRY(weft_rank_collect(rows, lengths, sizeof *lengths, made->row_start + 1, error));
    for (int64_t i = 0; i < made->n_rows; ++i)
        made->row_start[i + 1] += made->row_start[i];
done:
    free(lengths);
    return status;
}

/* Move the entries of rows in the order of ranks to their places. */
static weft_status order_rows(const weft_rank_rows *rows, weft_csr *made, weft_error *error) {
    weft_csr given = {.columns = made->columns, .values = made->values};
    const size_t n = (size_t)made->row_start[made->n_rows];
    int64_t at = 0;
    made->columns = weft_array_make_unset(n * sizeof *made->columns);
    made->values = weft_array_make_unset(n * sizeof *made->values);
    const bool has_memory = made->columns && made->values;
    for (int64_t i = 0; i < made->n_rows && has_memory; ++i) {
        const int64_t to = made->row_start[rows->order[i]];
        const int64_t length = made->row_start[rows->order[i] + 1] - to;
        memcpy(made->columns + to, given.columns + at, (size_t)length * sizeof *made->columns);
        memcpy(made->values + to, given.values + at, (size_t)length * sizeof *made->values);
        at += length;
    }
    weft_csr_clear(&given);
    return has_memory ? WEFT_OK : no_memory(error);
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
    TRY(find_row_starts(rows, part, &made, error));
    TRY(weft_rank_gather(comm, own.columns, sizeof *own.columns, own.starts, made.columns, error));
    TRY(weft_rank_gather(comm, own.values, sizeof *own.values, own.starts, made.values, error));
    if (rows->order)
        TRY(order_rows(rows, &made, error));
    *out = made;
    made = (weft_csr){0};
done:
    weft_csr_clear(&made);
    free(own.columns);
    free(own.values);
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
    TRY(weft_rank_collect(rows, own, 1, all, error));
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

/* Coordinates of nodes, each of which has so many rows. */
static weft_status collect_points(const weft_rank_rows *rows, int components, int dimension,
                                  const double *x, double **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)dimension * sizeof *x;
    char *own = malloc((size_t)rows->n * bytes + 1);
    char *all = malloc((size_t)rows->n_whole * bytes + 1);
    *out = malloc((size_t)(rows->n_whole / components) * bytes + 1);
    if (!own || !all || !*out)
        TRY(no_memory(error));
    for (int64_t k = 0; k < rows->n; ++k)
        memcpy(own + (size_t)k * bytes, x + k / components * dimension, bytes);
    TRY(weft_rank_collect(rows, own, bytes, all, error));
    for (int64_t i = 0; i < rows->n_whole; i += components)
        memcpy(*out + i / components * dimension, all + (size_t)i * bytes, bytes);
done:
    free(own);
    free(all);
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
        TRY(collect_points(&out->rows, weft_space_components(space),
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
    TRY(collect_points(&nodes, components, mesh->dimension, mesh->x, &coarse->x, error));
done:
    free(constrained);
    weft_csr_clear(&part);
    weft_rank_rows_clear(&nodes);
    return status;
}
