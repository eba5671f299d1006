/* Cells whose vertices ascend: two cells then see the edges and faces that they share alike, and functions with continuous
 * tangential or normal components need neither signs nor permutations. Determinants of their maps have either sign.
 *
 * Decision  docs/decisions/0079-vector-elements-read-sorted-cells.md
 * Source  Rognes, Kirby and Logg 2009, SIAM J. Sci. Comput. 31, 4130 */
#include "fem/mesh/sorted.h"
#include "core/base/fault.h"

#include <stdlib.h>
#include <string.h>

static void sort(int n, int32_t *vertices) {
    for (int i = 1; i < n; ++i)
        for (int k = i; k > 0 && vertices[k] < vertices[k - 1]; --k) {
            const int32_t swapped = vertices[k];
            vertices[k] = vertices[k - 1];
            vertices[k - 1] = swapped;
        }
}

static weft_status check(const weft_mesh *mesh, weft_error *error) {
    const char *where = NULL, *hint = NULL;
    if (!weft_mesh_cell(mesh)->simplex) {
        where = "on other cells than simplices";
        hint = "use a mesh of triangles or tetrahedra";
    }
    if (mesh->curve) {
        where = "on curved cells";
        hint = "write the forms on a Mesh whose coordinate element has degree 1, or make a mesh of "
               "degree 1";
    }
    if (mesh->part) {
        where = "on several ranks";
        hint = "leave out --ranks";
    }
    if (!where)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "functions with continuous tangential or normal components are not computed %s",
                   where);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status weft_mesh_sort(const weft_mesh *mesh, weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int v = weft_mesh_cell_vertices(mesh);
    weft_mesh *made = NULL;
    TRY(check(mesh, error));
    made = malloc(sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a mesh"));
    *made = *mesh;
    made->cells = weft_array_make((size_t)(mesh->n_cells * v), sizeof *made->cells);
    if (!made->cells)
        TRY(weft_out_of_memory(error, "a mesh"));
    memcpy(made->cells, mesh->cells, (size_t)(mesh->n_cells * v) * sizeof *made->cells);
    for (int64_t c = 0; c < mesh->n_cells && !weft_fault("cells_unsorted"); ++c)
        sort(v, made->cells + c * v);
    made->is_sorted = true;
    *out = made;
    made = NULL;
done:
    weft_mesh_sorted_free(&made);
    return status;
}

void weft_mesh_sorted_free(weft_mesh **mesh) {
    if (!mesh || !*mesh)
        return;
    free((*mesh)->cells);
    free(*mesh);
    *mesh = NULL;
}
