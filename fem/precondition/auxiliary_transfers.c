/* Transfers from auxiliary spaces: one reference matrix for all cells, or with the Jacobian of each cell for vectors along
 * axes. Rows are written once, by the first cell that has them.
 *
 * Source  Hiptmair and Xu 2007, SIAM J. Numer. Anal. 45, 2483; Kolev and Vassilevski 2009 and 2012 */
#include "fem/base/marks.h"
#include "fem/precondition/auxiliary.h"
#include "fem/space/vectors.h"

#include "core/base/fault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NOTHING =
    1e-10; /* of the largest entry of a row: rounding of sums over tables */

/* ---- reference matrices ----------------------------------------------------------------------- */

/* The image of function j at a point of the reference cell.
 *  table  [1 + d][n][size] */
static void kernel_at(int d, int n, int size, bool is_curl, const double *table, int j,
                      double *out) {
    const double *slopes = table + n * size;
    if (size == 1) {
        for (int k = 0; k < d; ++k)
            out[k] = is_curl ? (k == 0 ? 1 : -1) * slopes[(1 - k) * n + j] : slopes[k * n + j];
        return;
    }
    for (int k = 0; k < 3; ++k) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        out[k] = slopes[(a * n + j) * 3 + b] - slopes[(b * n + j) * 3 + a];
    }
}

/* The functionals of the kernel's functions, [n_nodes of to][n_nodes of from]. */
static weft_status kernel_table(const weft_element *from, const weft_element *to, double *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_functionals *f = &to->functionals;
    const int d = weft_cell_of(to->cell)->dimension, n = from->n_nodes, size = from->value_size;
    const bool is_curl = to->map == WEFT_MAP_CONTRAVARIANT;
    double *table = malloc((size_t)((1 + d) * n * size) * sizeof *table);
    double *values = malloc((size_t)(n * f->n_points * d) * sizeof *values);
    double *dofs = malloc((size_t)to->n_nodes * sizeof *dofs);
    if (!table || !values || !dofs)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    for (int p = 0; p < f->n_points; ++p) {
        TRY(weft_element_tabulate(from, 1, 1, f->points + p * d, table, error));
        for (int j = 0; j < n; ++j)
            kernel_at(d, n, size, is_curl, table, j, values + (j * f->n_points + p) * d);
    }
    for (int j = 0; j < n; ++j) {
        weft_element_apply(to, values + j * f->n_points * d, dofs);
        for (int i = 0; i < to->n_nodes; ++i)
            out[i * n + j] = weft_fault("gradient_reversed") && j == 0 ? -dofs[i] : dofs[i];
    }
done:
    free(table);
    free(values);
    free(dofs);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* The transfer's matrix of a cell, [n_nodes of to][n_nodes of from]: the same, or made for an axis. */
typedef struct cell_matrix {
    const weft_space *to, *from;
    double *table;
    int axis;       /* -1: the table is that of all cells */
    double *shape;  /* [n_points][n_nodes of from] at the points of the functionals */
    double *values; /* [n_points][d] scratch */
} cell_matrix;

static void cell_matrix_free(cell_matrix *m) {
    free(m->table);
    free(m->shape);
    free(m->values);
}

static weft_status cell_matrix_make(const weft_space *to, const weft_space *from,
                                    weft_auxiliary_map map, int axis, cell_matrix *out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *a = weft_space_element(to), *b = weft_space_element(from);
    const size_t n_points = (size_t)a->functionals.n_points;
    *out = (cell_matrix){.to = to, .from = from, .axis = axis};
    out->table = calloc((size_t)(a->n_nodes * b->n_nodes), sizeof *out->table);
    out->shape = calloc(n_points * (size_t)b->n_nodes, sizeof *out->shape);
    out->values = calloc(n_points * 3 + (size_t)a->n_nodes, sizeof *out->values);
    if (!out->table || !out->shape || !out->values)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    if (map == WEFT_AUXILIARY_KERNEL)
        TRY(kernel_table(b, a, out->table, error));
    else if (map == WEFT_AUXILIARY_LOWEST)
        TRY(weft_element_interpolate(b, a, out->table, error));
    else
        TRY(weft_element_tabulate(b, 0, (int)n_points, a->functionals.points, out->shape, error));
done:
    return status;
}

/* The table of a cell for an axis. */
static void set_table(cell_matrix *m, int64_t cell) {
    const weft_element *a = weft_space_element(m->to);
    const int n = weft_space_element(m->from)->n_nodes, n_points = a->functionals.n_points,
              d = weft_cell_of(a->cell)->dimension;
    const double unit[3] = {m->axis == 0, m->axis == 1, m->axis == 2};
    double pulled[3], *dofs = m->values + 3 * n_points;
    weft_mapping mapping;
    if (m->axis < 0)
        return;
    weft_mapping_make(weft_space_mesh(m->to), a->map, cell, &mapping);
    weft_mapping_pull(&mapping, unit, pulled);
    for (int j = 0; j < n; ++j) {
        for (int k = 0; k < n_points * d; ++k)
            m->values[k] = pulled[k % d] * m->shape[k / d * n + j];
        weft_element_apply(a, m->values, dofs);
        for (int i = 0; i < a->n_nodes; ++i)
            m->table[i * n + j] = dofs[i];
    }
}

typedef struct row_entry {
    int32_t column;
    double value;
} row_entry;

static int by_column(const void *a, const void *b) {
    const int32_t x = ((const row_entry *)a)->column, y = ((const row_entry *)b)->column;
    return (x > y) - (x < y);
}

/* The entries of a row of a cell's matrix. Returns their number. */
static int take_row(const cell_matrix *m, int64_t cell, int i, row_entry *out) {
    const int n = weft_space_element(m->from)->n_nodes;
    const int32_t *columns = weft_space_cell_nodes(m->from) + cell * n;
    int n_taken = 0;
    double largest = 0;
    for (int j = 0; j < n; ++j)
        largest = fmax(largest, fabs(m->table[i * n + j]));
    for (int j = 0; j < n; ++j)
        if (fabs(m->table[i * n + j]) > NOTHING * largest)
            out[n_taken++] = (row_entry){columns[j], m->table[i * n + j]};
    qsort(out, (size_t)n_taken, sizeof *out, by_column);
    return n_taken;
}

/* Rows of dofs that are done already are not made again; those of constrained dofs are. */
static weft_status make_rows(cell_matrix *m, const unsigned char *is_constrained, weft_csr *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(m->to);
    const int64_t n_rows = weft_space_nodes(m->to);
    const int width = weft_space_element(m->to)->n_nodes,
              most = weft_space_element(m->from)->n_nodes;
    const int32_t *rows = weft_space_cell_nodes(m->to);
    int64_t *owner = malloc(((size_t)n_rows + 1) * sizeof *owner), n_entries = 0;
    row_entry *row = malloc((size_t)most * sizeof *row);
    if (!owner || !row)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    for (int64_t i = 0; i < n_rows; ++i)
        owner[i] = -1;
    for (int64_t i = mesh->n_cells * width - 1; i >= 0; --i)
        owner[rows[i]] = i;
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1) {
            for (int64_t i = 0; i < n_rows; ++i)
                out->row_start[i + 1] += out->row_start[i];
            n_entries = out->row_start[n_rows];
            out->columns = weft_array_make((size_t)n_entries, sizeof *out->columns);
            out->values = weft_array_make((size_t)n_entries, sizeof *out->values);
            if (!out->columns || !out->values)
                TRY(weft_out_of_memory(error, "a preconditioner"));
        } else {
            *out = (weft_csr){.n_rows = n_rows, .n_columns = weft_space_nodes(m->from)};
            out->row_start = weft_array_make((size_t)n_rows + 1, sizeof *out->row_start);
            if (!out->row_start)
                TRY(weft_out_of_memory(error, "a preconditioner"));
        }
        for (int64_t cell = 0; cell < mesh->n_cells; ++cell) {
            bool is_set = false;
            for (int i = 0; i < width; ++i) {
                const int64_t at = cell * width + i;
                const int32_t dof = rows[at];
                if (owner[dof] != at || is_constrained[dof])
                    continue;
                if (!is_set)
                    set_table(m, cell);
                is_set = true;
                const int n = take_row(m, cell, i, row);
                if (pass == 0)
                    out->row_start[dof + 1] = n;
                for (int k = 0; k < n && pass == 1; ++k) {
                    out->columns[out->row_start[dof] + k] = row[k].column;
                    out->values[out->row_start[dof] + k] = row[k].value;
                }
            }
        }
    }
done:
    free(owner);
    free(row);
    return status;
}

/* ---- constrained dofs -------------------------------------------------------------------------- */

/* Are all dofs in the interior of an entity of a cell constrained? false: there are none */
static bool is_fixed(const weft_element *e, const int32_t *nodes, int dimension, int entity,
                     const unsigned char *is_constrained) {
    const int first = weft_element_first_node(e, dimension, entity), n = e->entity_nodes[dimension];
    bool fixed = n > 0;
    for (int i = 0; i < n && fixed; ++i)
        fixed = is_constrained[nodes[first + i]];
    return fixed;
}

/* Dofs of the auxiliary space on the closure of entities with constrained dofs. */
static weft_status find_constrained(const weft_space *space, const unsigned char *is_constrained,
                                    weft_auxiliary *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *e = weft_space_element(space), *other = weft_space_element(out->space);
    const weft_cell *cell = weft_cell_of(e->cell);
    const int64_t n = weft_space_nodes(out->space), n_cells = weft_space_mesh(space)->n_cells;
    unsigned char *marks = calloc((size_t)n + 1, 1);
    int *closure = malloc((size_t)other->n_nodes * sizeof *closure);
    out->constrained = malloc(((size_t)n + 1) * sizeof *out->constrained);
    if (!marks || !closure || !out->constrained)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    for (int64_t c = 0; c < n_cells; ++c)
        for (int dimension = 1; dimension < cell->dimension; ++dimension)
            for (int entity = 0; entity < cell->n_entities[dimension]; ++entity) {
                if (!is_fixed(e, weft_space_cell_nodes(space) + c * e->n_nodes, dimension, entity,
                              is_constrained))
                    continue;
                const int on = weft_element_entity_closure(other, dimension, entity, closure);
                for (int k = 0; k < on; ++k)
                    marks[weft_space_cell_nodes(out->space)[c * other->n_nodes + closure[k]]] = 1;
            }
    out->n_constrained = weft_marks_count(marks, n);
    weft_marks_list(marks, n, out->constrained);
done:
    free(marks);
    free(closure);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------- */

void weft_auxiliary_clear(weft_auxiliary *a) {
    if (a->owns_space)
        weft_space_free(&a->space);
    weft_csr_clear(&a->P);
    free(a->constrained);
    *a = (weft_auxiliary){.space = NULL};
}

/* Has it all polynomials of its degree? */
static bool is_second_kind(const weft_element *e) {
    const int d = weft_cell_of(e->cell)->dimension;
    return e->n_nodes == d * weft_derivative_count(d, e->degree);
}

/* The space whose gradients or curls are the kernel. */
static weft_element_kind kernel_of(const weft_element *e) {
    const bool is_curl = e->map == WEFT_MAP_CONTRAVARIANT && e->cell == WEFT_TETRAHEDRON;
    return (weft_element_kind){is_curl ? WEFT_NEDELEC : WEFT_LAGRANGE,
                               e->degree + is_second_kind(e)};
}

static weft_status add(const weft_space *space, const unsigned char *is_constrained,
                       weft_auxiliary_map map, int axis, weft_auxiliary *out, weft_error *error) {
    weft_status status = WEFT_OK;
    cell_matrix matrix = {.table = NULL};
    out->map = map;
    TRY(cell_matrix_make(space, out->space, map, map == WEFT_AUXILIARY_AXIS ? axis : -1, &matrix,
                         error));
    TRY(make_rows(&matrix, is_constrained, &out->P, error));
    if (map != WEFT_AUXILIARY_AXIS) /* whose nodes on the boundary help */
        TRY(find_constrained(space, is_constrained, out, error));
done:
    cell_matrix_free(&matrix);
    return status;
}

static weft_status add_kernel(const weft_space *space, const unsigned char *is_constrained,
                              weft_auxiliary *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (weft_auxiliary){.owns_space = true};
    TRY(weft_space_make(weft_space_device(space), weft_space_mesh(space),
                        kernel_of(weft_space_element(space)), 1, &out->space, error));
    TRY(add(space, is_constrained, WEFT_AUXILIARY_KERNEL, -1, out, error));
done:
    return status;
}

weft_status weft_auxiliary_kernel(const weft_space *space, const int32_t *constrained,
                                  int64_t n_constrained, weft_auxiliary *out, weft_error *error) {
    weft_status status = WEFT_OK;
    unsigned char *is_constrained =
        weft_marks_of(constrained, n_constrained, weft_space_nodes(space));
    if (!is_constrained)
        TRY(weft_out_of_memory(error, "a null space"));
    TRY(add_kernel(space, is_constrained, out, error));
done:
    free(is_constrained);
    return status;
}

weft_status weft_auxiliary_make(const weft_space *space, const int32_t *constrained,
                                int64_t n_constrained, weft_auxiliary *out, int *n,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *e = weft_space_element(space);
    const bool is_lowest = e->degree == 1 && !is_second_kind(e);
    const weft_element_kind kind = is_lowest ? WEFT_ELEMENT_P1
                                   : e->map == WEFT_MAP_COVARIANT
                                       ? (weft_element_kind){WEFT_NEDELEC, 1}
                                       : (weft_element_kind){WEFT_RAVIART_THOMAS, 1};
    unsigned char *is_constrained =
        weft_marks_of(constrained, n_constrained, weft_space_nodes(space));
    *n = 0;
    if (!is_constrained)
        TRY(weft_out_of_memory(error, "a preconditioner"));
    if (!weft_element_is_shared(e))
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "auxiliary spaces are for functions that cells share",
                              "use --preconditioner jacobi or lu"));
    *n = 1;
    TRY(add_kernel(space, is_constrained, &out[0], error));
    for (int k = 0; k < (is_lowest ? mesh->dimension : 1); ++k) {
        weft_auxiliary *one = &out[(*n)++];
        *one = (weft_auxiliary){.owns_space = k == 0, .space = k > 0 ? out[1].space : NULL};
        if (k == 0)
            TRY(weft_space_make(weft_space_device(space), mesh, kind, 1, &one->space, error));
        TRY(add(space, is_constrained, is_lowest ? WEFT_AUXILIARY_AXIS : WEFT_AUXILIARY_LOWEST, k,
                one, error));
    }
done:
    free(is_constrained);
    return status;
}
