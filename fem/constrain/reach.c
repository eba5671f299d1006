/* Finds the cells that ranks need so that constraints relate nothing that they do not have. */
#include "core/base/fault.h"
#include "fem/constrain/private.h"
#include "fem/constrain/ranks.h"
#include "fem/mesh/mesh.h"

#include <stdlib.h>

static weft_status no_memory(weft_error *error) {
    return weft_out_of_memory(error, "constraints on several ranks");
}

/* The cells round the dofs that rows are about. */
typedef struct reach {
    const weft_constraints *constraints;
    const weft_mesh *mesh;
    const int64_t *starts;
    int n_ranks;
    int32_t *owners; /* [n_dofs] */
    int32_t *index;  /* [n_dofs] into first; -1: no row is about it */
    int64_t n;
    int64_t *first; /* [n + 1] */
    int32_t *cells;
    weft_part_cells found;
} reach;

static void clear(reach *r) {
    free(r->owners);
    free(r->index);
    free(r->first);
    free(r->cells);
    free(r->found.list);
}

/* ---- where dofs are -------------------------------------------------------------------------- */

static weft_status find_owners(reach *r, weft_error *error) {
    weft_status status = WEFT_OK;
    int32_t *owners = NULL;
    for (int f = 0; f < r->constraints->fields.n; ++f) {
        const weft_constraint_field *field = &r->constraints->fields.list[f];
        const int c = weft_space_components(field->space);
        TRY(weft_space_owners_by(field->space, r->starts, r->n_ranks, &owners, error));
        for (int64_t i = 0; i < weft_space_dofs(field->space); ++i)
            r->owners[field->first_dof + i] = owners[i / c];
        free(owners);
        owners = NULL;
    }
done:
    return status;
}

static void mark(reach *r, const constraint_row *row) {
    for (int k = 0; k < row->n; ++k)
        if (row->dofs[k] < r->constraints->n_dofs)
            r->index[row->dofs[k]] = 0;
}

/* Number the dofs that rows are about. */
static void number(reach *r) {
    const weft_constraints *constraints = r->constraints;
    for (int64_t i = 0; i < constraints->n_dofs; ++i)
        r->index[i] = -1;
    for (int i = 0; i < constraints->n_rows; ++i) {
        r->index[constraints->rows[i].dof] = 0;
        mark(r, &constraints->rows[i]);
    }
    for (int i = 0; i < constraints->n_checks; ++i)
        mark(r, &constraints->checks[i]);
    for (int64_t i = 0; i < constraints->n_dofs; ++i)
        if (r->index[i] >= 0)
            r->index[i] = (int32_t)r->n++;
}

/* Count the cells round each, or list them: first[i + 1] is where the next one of i goes. */
static void visit_cells(reach *r, bool lists) {
    for (int f = 0; f < r->constraints->fields.n; ++f) {
        const weft_constraint_field *field = &r->constraints->fields.list[f];
        const int width = weft_space_element(field->space)->n_nodes,
                  c = weft_space_components(field->space);
        const int32_t *nodes = weft_space_cell_nodes(field->space);
        for (int64_t e = 0; e < r->mesh->n_cells * width * c; ++e) {
            const int32_t at = r->index[constraint_dof(field, nodes[e / c], (int)(e % c))];
            if (at < 0)
                continue;
            if (lists)
                r->cells[r->first[at + 1]] = (int32_t)(e / c / width);
            ++r->first[at + 1];
        }
    }
}

static weft_status list_cells(reach *r, weft_error *error) {
    r->first = calloc((size_t)r->n + 2, sizeof *r->first);
    if (!r->first)
        return no_memory(error);
    visit_cells(r, false);
    for (int64_t i = 0; i < r->n; ++i)
        r->first[i + 1] += r->first[i];
    r->cells = malloc((size_t)r->first[r->n] * sizeof *r->cells + 1);
    if (!r->cells)
        return no_memory(error);
    for (int64_t i = r->n; i > 0; --i)
        r->first[i] = r->first[i - 1];
    r->first[0] = 0;
    visit_cells(r, true); /* then first[i + 1] is the end of i */
    return WEFT_OK;
}

static weft_status start(reach *r, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)r->constraints->n_dofs;
    r->owners = malloc(n * sizeof *r->owners + 1);
    r->index = malloc(n * sizeof *r->index + 1);
    if (!r->owners || !r->index)
        TRY(no_memory(error));
    TRY(find_owners(r, error));
    number(r);
    TRY(list_cells(r, error));
done:
    return status;
}

/* ---- what is found --------------------------------------------------------------------------- */

static int owner_of_corner(const reach *r, int32_t cell, int corner) {
    const int v = weft_mesh_cell_vertices(r->mesh);
    return weft_part_owner_of(r->starts, r->n_ranks, r->mesh->cells[(int64_t)cell * v + corner]);
}

static bool touches(const reach *r, int32_t cell, int rank) {
    bool found = false;
    for (int k = 0; k < weft_mesh_cell_vertices(r->mesh) && !found; ++k)
        found = owner_of_corner(r, cell, k) == rank;
    return found;
}

/* A rank has one of the cells round a dof. */
static weft_status add_presence(reach *r, int rank, int32_t dof, weft_error *error) {
    const int32_t at = r->index[dof];
    if (r->owners[dof] == rank)
        return WEFT_OK;
    for (int64_t e = r->first[at]; e < r->first[at + 1]; ++e)
        if (touches(r, r->cells[e], rank))
            return WEFT_OK;
    return weft_part_cells_add(&r->found, rank, r->cells[r->first[at]], error);
}

/* A rank has what a row refers to. */
static weft_status add_row(reach *r, int rank, const constraint_row *row, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < row->n; ++k)
        if (row->dofs[k] < r->constraints->n_dofs)
            TRY(add_presence(r, rank, row->dofs[k], error));
done:
    return status;
}

/* ... what all rows of the dofs of a cell do. */
static weft_status add_rows_of(reach *r, int rank, int32_t cell, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int f = 0; f < r->constraints->fields.n; ++f) {
        const weft_constraint_field *field = &r->constraints->fields.list[f];
        const int width = weft_space_element(field->space)->n_nodes,
                  c = weft_space_components(field->space);
        const int32_t *nodes = weft_space_cell_nodes(field->space) + (int64_t)cell * width;
        for (int k = 0; k < width * c; ++k) {
            const int32_t row = r->constraints->row_of[constraint_dof(field, nodes[k / c], k % c)];
            if (row >= 0)
                TRY(add_row(r, rank, &r->constraints->rows[row], error));
        }
    }
done:
    return status;
}

/* The cells round a dependent dof are with the owners of the dofs that express it, with all that their rows refer to; ranks that have
 * such a cell anyway have the latter. */
static weft_status visit_row(reach *r, const constraint_row *row, weft_error *error) {
    weft_status status = WEFT_OK;
    const int32_t at = r->index[row->dof];
    for (int64_t e = r->first[at]; e < r->first[at + 1]; ++e) {
        const int32_t cell = r->cells[e];
        for (int k = 0; k < weft_mesh_cell_vertices(r->mesh); ++k)
            TRY(add_row(r, owner_of_corner(r, cell, k), row, error));
        for (int k = 0; k < row->n; ++k) {
            const int32_t dof = row->dofs[k];
            if (dof >= r->constraints->n_dofs || touches(r, cell, r->owners[dof]))
                continue;
            if (!weft_fault("cell_not_reached"))
                TRY(weft_part_cells_add(&r->found, r->owners[dof], cell, error));
            TRY(add_rows_of(r, r->owners[dof], cell, error));
        }
    }
done:
    return status;
}

/* Equations between prescribed values are checked by the owner of the first. */
static weft_status visit_check(reach *r, const constraint_row *row, weft_error *error) {
    const int32_t first = constraint_check_dof(r->constraints, row);
    return first < 0 ? WEFT_OK : add_row(r, r->owners[first], row, error);
}

/* The cells behind facets, with what the rows of their dofs refer to. */
static weft_status add_behind(reach *r, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_part_cell *list = NULL;
    TRY(weft_part_cells_behind(NULL, r->mesh, r->starts, r->n_ranks, &r->found, error));
    const int64_t n = r->found.n;
    list = malloc((size_t)n * sizeof *list + 1);
    if (!list)
        TRY(no_memory(error));
    for (int64_t i = 0; i < n; ++i)
        list[i] = r->found.list[i];
    for (int64_t i = 0; i < n; ++i)
        TRY(add_rows_of(r, list[i].rank, list[i].cell, error));
    weft_part_cells_sort(&r->found);
done:
    free(list);
    return status;
}

weft_status weft_constraints_reach(weft_constraints *whole, const int64_t *starts, int n_ranks,
                                   bool behind, weft_part_cells *out, weft_error *error) {
    weft_status status = WEFT_OK;
    reach r = {.constraints = whole,
               .mesh = weft_space_mesh(whole->space),
               .starts = starts,
               .n_ranks = n_ranks};
    TRY(constraints_resolve(whole, error));
    TRY(start(&r, error));
    for (int i = 0; i < whole->n_rows; ++i)
        TRY(visit_row(&r, &whole->rows[i], error));
    for (int i = 0; i < whole->n_checks; ++i)
        TRY(visit_check(&r, &whole->checks[i], error));
    weft_part_cells_sort(&r.found);
    if (behind)
        TRY(add_behind(&r, error));
    *out = r.found;
    r.found = (weft_part_cells){NULL};
done:
    clear(&r);
    return status;
}
