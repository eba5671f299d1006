/* Eliminates the bubbles of a matrix cell by cell. */
#include "fem/precondition/condense.h"
#include "fem/base/invert.h"

#include <stdlib.h>
#include <string.h>

enum { LOCAL_MAX = 96 }; /* bubbles of a cell */
/* A pivot relative to the largest entry below which the bubbles of a cell count as singular. */
static const double SINGULAR = 1e-12;

typedef struct elimination {
    weft_device *device;
    const weft_preconditioner_problem *problem;
    const bool *is_local;
    int64_t first[WEFT_CONDENSE_SPACES_MAX]; /* dof of each space */
    unsigned char *kept;                     /* [n_rows] not a bubble; 2: constrained */
} elimination;

/* The bubbles of one cell. */
typedef struct local_block {
    int n;
    int64_t rows[LOCAL_MAX];
    double inverse[LOCAL_MAX * LOCAL_MAX]; /* of A_bb */
} local_block;

void weft_condensation_clear(weft_condensation *c) {
    weft_csr_clear(&c->matrix);
    weft_csr_clear(&c->down);
    weft_csr_clear(&c->up);
    *c = (weft_condensation){0};
}

/* ---- one cell ---------------------------------------------------------------------------- */

/* The free bubbles of a cell; false if they are too many. */
static bool list_rows(const elimination *e, int64_t cell, local_block *block) {
    block->n = 0;
    for (int s = 0; s < e->problem->n_spaces; ++s) {
        const weft_space *space = e->problem->spaces[s];
        const int width = weft_space_element(space)->n_nodes, c = weft_space_components(space);
        for (int k = 0; e->is_local[s] && k < width * c; ++k) {
            const int64_t node = weft_space_cell_nodes(space)[cell * width + k / c];
            if (block->n == LOCAL_MAX)
                return false;
            block->rows[block->n++] = e->first[s] + node * c + k % c;
        }
    }
    return true;
}

static int find_local(const local_block *block, int64_t row) {
    for (int i = 0; i < block->n; ++i)
        if (block->rows[i] == row)
            return i;
    return -1;
}

/* A_bb^-1 of a cell; false: it cannot be eliminated, or its bubbles are seen by another cell. */
static bool open_cell(const elimination *e, const weft_csr *A, int64_t cell, local_block *block) {
    double entries[LOCAL_MAX * LOCAL_MAX] = {0};
    if (!list_rows(e, cell, block))
        return false;
    for (int i = 0; i < block->n; ++i)
        for (int64_t k = A->row_start[block->rows[i]]; k < A->row_start[block->rows[i] + 1]; ++k) {
            const int j = e->kept[A->columns[k]] ? -1 : find_local(block, A->columns[k]);
            if (j >= 0)
                entries[i * block->n + j] = A->values[k];
            else if (!e->kept[A->columns[k]] && A->values[k] != 0)
                return false;
        }
    return weft_invert(block->n, entries, block->inverse, SINGULAR);
}

/* ---- all cells --------------------------------------------------------------------------- */

/* The row of bubble i: inverse, or the identity, and - A_bb^-1 A_br in the columns of A's row, which are the
 * same for all bubbles of a cell. */
static int64_t put_row(const elimination *e, const weft_csr *A, const local_block *block, int i,
                       bool with_inverse, weft_csr *out, int64_t at) {
    const int64_t row = block->rows[i];
    for (int64_t k = A->row_start[row]; k < A->row_start[row + 1]; ++k) {
        const int32_t column = A->columns[k];
        const int own = e->kept[column] ? -1 : find_local(block, column);
        double value = 0;
        if (own >= 0)
            value = with_inverse ? block->inverse[i * block->n + own] : own == i;
        for (int j = 0; j < block->n && e->kept[column] == 1; ++j) {
            const int64_t place = weft_csr_find(A, block->rows[j], column);
            if (place >= 0)
                value -= block->inverse[i * block->n + j] * A->values[place];
        }
        out->columns[at] = column;
        out->values[at++] = value;
    }
    return at;
}

/* The identity with the rows of bubbles by put_row; {0} if the bubbles cannot be eliminated. */
static weft_status make_rows(const elimination *e, const weft_csr *A, bool with_inverse,
                             weft_csr *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n_entries = 0, at = 0;
    const int64_t n_cells = weft_space_mesh(e->problem->spaces[0])->n_cells;
    local_block *block = malloc(sizeof *block);
    weft_csr made = {0};
    for (int64_t i = 0; i < A->n_rows; ++i)
        n_entries += e->kept[i] ? 1 : A->row_start[i + 1] - A->row_start[i];
    TRY(weft_csr_allocate(A->n_rows, A->n_rows, n_entries, &made, error));
    if (!block)
        TRY(weft_out_of_memory(error, "static condensation"));
    for (int64_t i = 0; i < A->n_rows; ++i) {
        made.row_start[i] = at;
        at += e->kept[i] ? 1 : A->row_start[i + 1] - A->row_start[i];
        if (e->kept[i]) {
            made.columns[made.row_start[i]] = (int32_t)i;
            made.values[made.row_start[i]] = 1;
        }
    }
    made.row_start[A->n_rows] = at;
    for (int64_t cell = 0; cell < n_cells; ++cell) {
        if (!open_cell(e, A, cell, block))
            goto done;
        for (int i = 0; i < block->n; ++i)
            put_row(e, A, block, i, with_inverse, &made, made.row_start[block->rows[i]]);
    }
    *out = made;
    made = (weft_csr){0};
done:
    free(block);
    weft_csr_clear(&made);
    return status;
}

/* S, the rows and columns of A' = down A that stay, with the identity for the others. */
static weft_status drop_bubbles(const elimination *e, const weft_csr *product, weft_csr *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n = 0;
    weft_csr made = {0};
    TRY(weft_csr_allocate(product->n_rows, product->n_rows, product->row_start[product->n_rows],
                          &made, error));
    for (int64_t i = 0; i < product->n_rows; ++i) {
        for (int64_t k = product->row_start[i]; k < product->row_start[i + 1]; ++k) {
            const int32_t j = product->columns[k];
            if (e->kept[i] ? !e->kept[j] : j != i)
                continue;
            made.columns[n] = j;
            made.values[n++] = e->kept[i] ? product->values[k] : 1;
        }
        made.row_start[i + 1] = n;
    }
    *out = made;
    made = (weft_csr){0};
done:
    weft_csr_clear(&made);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------- */

static bool find_spaces(const weft_preconditioner_problem *problem, weft_condensation *out) {
    int n = 0;
    for (int s = 0; s < problem->n_spaces; ++s) {
        out->is_local[s] = weft_space_element(problem->spaces[s])->span_vanishes;
        n += out->is_local[s];
    }
    return n > 0 && n < problem->n_spaces;
}

/* is_free  no bubble is constrained */
static weft_status mark_rows(elimination *e, int64_t n_rows, bool *is_free, weft_error *error) {
    int64_t first = 0;
    e->kept = calloc((size_t)n_rows + 1, 1);
    if (!e->kept)
        return weft_out_of_memory(error, "static condensation");
    for (int s = 0; s < e->problem->n_spaces; ++s) {
        const int64_t n = weft_space_dofs(e->problem->spaces[s]);
        e->first[s] = first;
        memset(e->kept + first, !e->is_local[s], (size_t)n);
        first += n;
    }
    *is_free = true;
    for (int64_t i = 0; i < e->problem->n_constrained; ++i) {
        unsigned char *kept = &e->kept[e->problem->constrained[i]];
        *is_free &= *kept != 0;
        *kept = *kept ? 2 : 0;
    }
    return WEFT_OK;
}

weft_status weft_condense(weft_device *device, const weft_csr *A,
                          const weft_preconditioner_problem *problem, weft_condensation *out,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_csr T = {0}, columns = {0}, product = {0};
    elimination e = {.device = device, .problem = problem, .is_local = out->is_local};
    *out = (weft_condensation){0};
    bool is_free = false;
    if (!find_spaces(problem, out))
        goto done;
    TRY(mark_rows(&e, A->n_rows, &is_free, error));
    if (!is_free)
        goto done;
    TRY(make_rows(&e, A, true, &out->up, error));
    TRY(weft_csr_transpose(device, A, &T, error));
    TRY(make_rows(&e, &T, false, &columns, error));
    out->is_any = out->up.row_start && columns.row_start;
    if (!out->is_any)
        goto done;
    TRY(weft_csr_transpose(device, &columns, &out->down, error));
    TRY(weft_csr_multiply(device, &out->down, A, &product, error));
    TRY(drop_bubbles(&e, &product, &out->matrix, error));
done:
    if (status != WEFT_OK || !out->is_any)
        weft_condensation_clear(out);
    free(e.kept);
    weft_csr_clear(&T);
    weft_csr_clear(&columns);
    weft_csr_clear(&product);
    return status;
}
