/* Collects functions of the parts of all ranks as functions of the whole mesh, on the first rank, and spreads them to the parts. */
#include "core/base/fault.h"
#include "fem/mesh/part.h"
#include "fem/space/layout.h"
#include "fem/space/space.h"

#include <stdlib.h>

static weft_status no_memory(weft_error *error) {
    return weft_out_of_memory(error, "what ranks exchange");
}

/* Functions on a part and on the whole, where the rank has that, and the numbers of the part's cells in the whole. */
typedef struct functions {
    weft_comm *comm;
    const weft_space *const *spaces, *const *whole; /* [n_spaces] */
    int n_spaces;
    const int32_t *cells;
    int64_t n_cells;
} functions;

static functions functions_of(const weft_space *const *spaces, int n_spaces,
                              const weft_space *const *whole) {
    const weft_mesh *mesh = weft_space_mesh(spaces[0]);
    return (functions){mesh->part->comm, spaces, whole, n_spaces, mesh->part->cells, mesh->n_cells};
}

static int64_t values_per_cell(const functions *f) {
    int64_t n = 0;
    for (int s = 0; s < f->n_spaces; ++s)
        n += (int64_t)weft_space_element(f->spaces[s])->n_nodes *
             weft_space_components(f->spaces[s]);
    return n;
}

typedef enum direction { TO_CELLS, TO_DOFS } direction;

/* Copy between the dofs of cells, space after space, and a function. The dofs of a cell of a part are those of the same cell of
 * the whole, in the same order.
 * cells  [n_cells]; NULL: the first ones */
static weft_status copy(const weft_space *const *spaces, int n_spaces, const int32_t *cells,
                        int64_t n_cells, direction which, double *list, double *values,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t first = 0;
    for (int s = 0; s < n_spaces; first += weft_space_dofs(spaces[s++])) {
        const int width = weft_space_element(spaces[s])->n_nodes,
                  c = weft_space_components(spaces[s]);
        const int32_t *nodes = NULL;
        TRY(weft_space_read_cells(spaces[s], &nodes, error));
        for (int64_t i = 0; i < n_cells * width; ++i) {
            const int64_t cell = cells ? cells[i / width] : i / width;
            double *at = values + first + (int64_t)nodes[cell * width + i % width] * c;
            for (int j = 0; j < c; ++j, ++list)
                *(which == TO_CELLS ? list : at + j) = *(which == TO_CELLS ? at + j : list);
        }
    }
done:
    return status;
}

/* The part of another rank, on the first one. */
typedef struct other_part {
    int64_t n_cells;
    int32_t *cells; /* malloc'd */
    double *list;
} other_part;

static void clear(other_part *part) {
    free(part->cells);
    free(part->list);
    *part = (other_part){0};
}

/* Its cells come to the first rank. */
static weft_status receive_cells(const functions *f, int rank, int64_t n_cells, other_part *out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    clear(out);
    out->n_cells = n_cells;
    out->cells = malloc((size_t)n_cells * sizeof *out->cells + 1);
    out->list = malloc((size_t)(n_cells * values_per_cell(f)) * sizeof *out->list + 1);
    if (!out->cells || !out->list)
        TRY(no_memory(error));
    const weft_message numbers = {rank, out->cells, (size_t)n_cells * sizeof *out->cells};
    TRY(weft_comm_exchange(f->comm, NULL, 0, &numbers, 1, error));
done:
    return status;
}

/* All ranks take part in the messages of each. */
static weft_status send_cells(const functions *f, bool is_mine, weft_error *error) {
    const weft_message numbers = {0, (void *)(uintptr_t)f->cells,
                                  (size_t)f->n_cells * sizeof(int32_t)};
    return weft_comm_exchange(f->comm, &numbers, is_mine, NULL, 0, error);
}

/* The list of a rank's cells goes to the first rank, or comes from it.
 * rank  the other one; < 0: only others exchange something */
static weft_status pass_list(const functions *f, int rank, bool sends, double *list,
                             int64_t n_cells, weft_error *error) {
    const weft_message one = {rank, list, (size_t)(n_cells * values_per_cell(f)) * sizeof *list};
    const bool is_mine = rank >= 0;
    return weft_comm_exchange(f->comm, &one, is_mine && sends, &one, is_mine && !sends, error);
}

/* Exchange the list of this rank's part with the whole on the first rank. */
static weft_status pass(const functions *f, direction which, double *list, double *values,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(f->comm), rank = weft_comm_rank(f->comm);
    const bool to_first = which == TO_DOFS;
    other_part part = {0};
    int64_t *n_cells = calloc((size_t)size, sizeof *n_cells);
    if (!n_cells)
        TRY(no_memory(error));
    TRY(weft_comm_gather(f->comm, &f->n_cells, sizeof f->n_cells, n_cells, error));
    if (rank == 0)
        TRY(copy(f->whole, f->n_spaces, f->cells, f->n_cells, which, list, values, error));
    for (int r = 1; r < size; ++r) {
        if (rank > 0) {
            TRY(send_cells(f, r == rank, error));
            TRY(pass_list(f, r == rank ? 0 : -1, to_first, list, f->n_cells, error));
            continue;
        }
        TRY(receive_cells(f, r, n_cells[r], &part, error));
        if (!to_first)
            TRY(copy(f->whole, f->n_spaces, part.cells, part.n_cells, which, part.list, values,
                     error));
        TRY(pass_list(f, r, !to_first, part.list, part.n_cells, error));
        if (to_first)
            TRY(copy(f->whole, f->n_spaces, part.cells, part.n_cells, which, part.list, values,
                     error));
    }
done:
    clear(&part);
    free(n_cells);
    return status;
}

static weft_status list_make(const functions *f, double **out, weft_error *error) {
    *out = malloc((size_t)(f->n_cells * values_per_cell(f)) * sizeof **out + 1);
    return *out ? WEFT_OK : no_memory(error);
}

weft_status weft_layout_collect(const weft_space *const *spaces, int n_spaces, const double *values,
                                const weft_space *const *whole, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const functions f = functions_of(spaces, n_spaces, whole);
    double *list = NULL;
    TRY(list_make(&f, &list, error));
    TRY(copy(spaces, n_spaces, NULL, f.n_cells, TO_CELLS, list, (double *)(uintptr_t)values,
             error));
    TRY(pass(&f, TO_DOFS, list, out, error));
done:
    free(list);
    return status;
}

weft_status weft_layout_spread(const weft_space *const *spaces, int n_spaces,
                               const weft_space *const *whole, const double *values, double *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const functions f = functions_of(spaces, n_spaces, whole);
    double *list = NULL;
    TRY(list_make(&f, &list, error));
    TRY(pass(&f, TO_CELLS, list, (double *)(uintptr_t)values, error));
    if (weft_comm_rank(f.comm) == 0 || !weft_fault("list_not_spread"))
        TRY(copy(spaces, n_spaces, NULL, f.n_cells, TO_DOFS, list, out, error));
done:
    free(list);
    return status;
}
