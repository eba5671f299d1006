/* The reference cells: names, dimensions and numbers of entities. */
#include "forms/element/element.h"

#include <string.h>

static const struct {
    const char *name;
    int dimension;
    bool simplex;
    int entities[4];
} cells[] = {
    [UFL_INTERVAL] = {"interval", 1, true, {2, 1, 0, 0}},
    [UFL_TRIANGLE] = {"triangle", 2, true, {3, 3, 1, 0}},
    [UFL_QUADRILATERAL] = {"quadrilateral", 2, false, {4, 4, 1, 0}},
    [UFL_TETRAHEDRON] = {"tetrahedron", 3, true, {4, 6, 4, 1}},
    [UFL_HEXAHEDRON] = {"hexahedron", 3, false, {8, 12, 6, 1}},
    [UFL_VERTEX] = {"vertex", 0, true, {1, 0, 0, 0}},
};
enum { N_CELLS = sizeof cells / sizeof cells[0] };

const char *ufl_cell_name(ufl_cell_type cell) {
    return cells[cell].name;
}

int ufl_cell_dimension(ufl_cell_type cell) {
    return cells[cell].dimension;
}

bool ufl_cell_is_simplex(ufl_cell_type cell) {
    return cells[cell].simplex;
}

int ufl_cell_entities(ufl_cell_type cell, int dimension) {
    return dimension < 0 || dimension > 3 ? 0 : cells[cell].entities[dimension];
}

bool ufl_cell_find(const char *name, ufl_cell_type *out) {
    for (int i = 0; i < N_CELLS; ++i)
        if (strcmp(cells[i].name, name) == 0) {
            *out = (ufl_cell_type)i;
            return true;
        }
    return false;
}

weft_cell_type ufl_weft_cell(ufl_cell_type cell) {
    static const weft_cell_type types[] = {
        [UFL_INTERVAL] = WEFT_INTERVAL,           [UFL_TRIANGLE] = WEFT_TRIANGLE,
        [UFL_QUADRILATERAL] = WEFT_QUADRILATERAL, [UFL_TETRAHEDRON] = WEFT_TETRAHEDRON,
        [UFL_HEXAHEDRON] = WEFT_HEXAHEDRON,       [UFL_VERTEX] = WEFT_POINT,
    };
    return types[cell];
}
