/* Makes the prolongation from the linear functions of a mesh to a space of higher degree on it, the first step of multigrid for
 * that space. */
#include "fem/base/marks.h"
#include "fem/precondition/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights below it are zero. */
static const double ROUNDING = 1e-12;

bool weft_space_coarsens(const weft_space *space) {
    const weft_element *element = space ? weft_space_element(space) : NULL;
    return element && weft_element_has_vertices(element) && !weft_element_is_on_vertices(element);
}

/* What is needed of each node: the first cell that has it, and its number there. */
typedef struct node_place {
    int32_t cell, local;
} node_place;

static node_place *find_places(const weft_space *space) {
    const int width = weft_space_element(space)->n_nodes;
    const int32_t *nodes = weft_space_cell_nodes(space);
    node_place *places = weft_array_make((size_t)weft_space_nodes(space), sizeof *places);
    for (int64_t c = weft_space_mesh(space)->n_cells - 1; places && c >= 0; --c)
        for (int i = 0; i < width; ++i)
            places[nodes[c * width + i]] = (node_place){(int32_t)c, i};
    return places;
}

/* The dofs of the v linear functions in the element, [n_nodes][v]. */
static weft_status tabulate(const weft_element *element, double **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_element *linear = NULL;
    TRY(weft_element_make(WEFT_LAGRANGE, element->cell, 1, &linear, error));
    *out = malloc((size_t)(element->n_nodes * linear->n_nodes) * sizeof **out);
    if (!*out)
        TRY(weft_out_of_memory(error, "a prolongation"));
    TRY(weft_element_interpolate(linear, element, *out, error));
done:
    weft_element_free(&linear);
    return status;
}

/* Vertices with their weights at a node, in ascending order. Weights that are rounding are left out. */
static int weigh(const weft_mesh *mesh, const node_place *place, const double *table, int v,
                 int32_t *vertices, double *weights) {
    int n = 0;
    for (int k = 0; k < v; ++k) {
        const double weight = table[place->local * v + k];
        const int32_t vertex = mesh->cells[(int64_t)place->cell * v + k];
        int at = n;
        if (fabs(weight) < ROUNDING)
            continue;
        for (; at > 0 && vertices[at - 1] > vertex; --at) {
            vertices[at] = vertices[at - 1];
            weights[at] = weights[at - 1];
        }
        vertices[at] = vertex;
        weights[at] = weight;
        ++n;
    }
    return n;
}

/* Mark the dofs of vertices whose own dof in the space is constrained. */
static void mark_coarse(const weft_space *space, const unsigned char *fine, unsigned char *coarse) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_element *element = weft_space_element(space);
    const int c = weft_space_components(space), v = weft_mesh_cell_vertices(mesh);
    const int32_t *nodes = weft_space_cell_nodes(space);
    for (int64_t cell = 0; cell < mesh->n_cells; ++cell)
        for (int i = 0; i < v; ++i) {
            const int64_t node =
                nodes[cell * element->n_nodes + weft_element_first_node(element, 0, i)];
            for (int k = 0; k < c; ++k)
                coarse[(int64_t)mesh->cells[cell * v + i] * c + k] = fine[node * c + k];
        }
}

static void fill(const weft_space *space, const node_place *places, const double *table,
                 const unsigned char *fine, const unsigned char *coarse, weft_csr *P) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const int c = weft_space_components(space), v = weft_mesh_cell_vertices(mesh);
    int64_t n = 0;
    for (int64_t node = 0; node < weft_space_nodes(space); ++node) {
        int32_t vertices[8];
        double weights[8];
        const int n_weights = weigh(mesh, &places[node], table, v, vertices, weights);
        for (int k = 0; k < c; ++k) {
            P->row_start[node * c + k] = n;
            for (int i = 0; i < n_weights && !fine[node * c + k]; ++i) {
                const int64_t column = (int64_t)vertices[i] * c + k;
                if (coarse[column])
                    continue;
                P->columns[n] = (int32_t)column;
                P->values[n++] = weights[i];
            }
        }
    }
    P->row_start[P->n_rows] = n;
}

static int32_t *list_marked(const unsigned char *marks, int64_t n_all, int64_t *n) {
    *n = weft_marks_count(marks, n_all);
    int32_t *out = malloc(((size_t)*n + 1) * sizeof *out);
    if (out)
        weft_marks_list(marks, n_all, out);
    return out;
}

weft_status weft_degree_prolongation(const weft_space *space, const int32_t *constrained,
                                     int64_t n_constrained, weft_csr *P, int32_t **coarse,
                                     int64_t *n_coarse, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const int c = weft_space_components(space), v = weft_mesh_cell_vertices(mesh);
    weft_csr made = {.n_rows = weft_space_dofs(space), .n_columns = mesh->n_nodes * c};
    node_place *places = find_places(space);
    double *table = NULL;
    unsigned char *fine = weft_marks_of(constrained, n_constrained, made.n_rows);
    unsigned char *marks = calloc((size_t)made.n_columns + 1, 1);
    made.row_start = weft_array_make((size_t)made.n_rows + 1, sizeof *made.row_start);
    made.columns = weft_array_make((size_t)(made.n_rows * v), sizeof *made.columns);
    made.values = weft_array_make((size_t)(made.n_rows * v), sizeof *made.values);
    if (!places || !fine || !marks || !made.row_start || !made.columns || !made.values)
        TRY(weft_out_of_memory(error, "a prolongation"));
    mark_coarse(space, fine, marks);
    TRY(tabulate(weft_space_element(space), &table, error));
    fill(space, places, table, fine, marks, &made);
    *coarse = list_marked(marks, made.n_columns, n_coarse);
    if (!*coarse)
        TRY(weft_out_of_memory(error, "a prolongation"));
    *P = made;
    made = (weft_csr){0};
done:
    free(places);
    free(table);
    free(fine);
    free(marks);
    weft_csr_clear(&made);
    return status;
}
