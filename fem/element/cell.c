/* The reference cells: vertices, edges and faces in the numbering of Basix. */
#include "fem/weft_element.h"

#include <string.h>

static const double simplex_vertices[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const double cube_vertices[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                           {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
static const signed char interval_edges[1][2] = {{0, 1}};
static const signed char triangle_edges[3][2] = {{1, 2}, {0, 2}, {0, 1}};
static const signed char triangle_faces[1][4] = {{0, 1, 2, -1}};
static const signed char tetrahedron_edges[6][2] = {{2, 3}, {1, 3}, {1, 2}, {0, 3}, {0, 2}, {0, 1}};
static const signed char tetrahedron_faces[4][4] = {
    {1, 2, 3, -1}, {0, 2, 3, -1}, {0, 1, 3, -1}, {0, 1, 2, -1}};
static const signed char quadrilateral_edges[4][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
static const signed char quadrilateral_faces[1][4] = {{0, 1, 2, 3}};
static const signed char hexahedron_edges[12][2] = {{0, 1}, {0, 2}, {0, 4}, {1, 3}, {1, 5}, {2, 3},
                                                    {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}, {6, 7}};
static const signed char hexahedron_faces[6][4] = {{0, 1, 2, 3}, {0, 1, 4, 5}, {0, 2, 4, 6},
                                                   {1, 3, 5, 7}, {2, 3, 6, 7}, {4, 5, 6, 7}};

static const weft_cell cells[WEFT_CELL_TYPES] = {
    {.name = "point",
     .plural = "points",
     .type = WEFT_POINT,
     .facet = WEFT_POINT,
     .simplex = true,
     .n_entities = {1, 0, 0, 0},
     .measure = 1,
     .vertices = simplex_vertices},
    {.name = "interval",
     .plural = "intervals",
     .type = WEFT_INTERVAL,
     .facet = WEFT_POINT,
     .dimension = 1,
     .simplex = true,
     .n_entities = {2, 1, 0, 0},
     .base = 0,
     .measure = 1,
     .vertices = simplex_vertices,
     .edges = interval_edges},
    {.name = "triangle",
     .plural = "triangles",
     .type = WEFT_TRIANGLE,
     .facet = WEFT_INTERVAL,
     .dimension = 2,
     .simplex = true,
     .n_entities = {3, 3, 1, 0},
     .base = 2,
     .measure = 1.0 / 2,
     .vertices = simplex_vertices,
     .edges = triangle_edges,
     .faces = triangle_faces},
    {.name = "tetrahedron",
     .plural = "tetrahedra",
     .type = WEFT_TETRAHEDRON,
     .facet = WEFT_TRIANGLE,
     .dimension = 3,
     .simplex = true,
     .n_entities = {4, 6, 4, 1},
     .base = 3,
     .measure = 1.0 / 6,
     .vertices = simplex_vertices,
     .edges = tetrahedron_edges,
     .faces = tetrahedron_faces},
    {.name = "quadrilateral",
     .plural = "quadrilaterals",
     .type = WEFT_QUADRILATERAL,
     .facet = WEFT_INTERVAL,
     .dimension = 2,
     .simplex = false,
     .n_entities = {4, 4, 1, 0},
     .base = 0,
     .measure = 1,
     .vertices = cube_vertices,
     .edges = quadrilateral_edges,
     .faces = quadrilateral_faces},
    {.name = "hexahedron",
     .plural = "hexahedra",
     .type = WEFT_HEXAHEDRON,
     .facet = WEFT_QUADRILATERAL,
     .dimension = 3,
     .simplex = false,
     .n_entities = {8, 12, 6, 1},
     .base = 0,
     .measure = 1,
     .vertices = cube_vertices,
     .edges = hexahedron_edges,
     .faces = hexahedron_faces},
};

const weft_cell *weft_cell_of(weft_cell_type type) {
    return &cells[type];
}

const weft_cell *weft_cell_by_name(const char *name) {
    for (int i = 0; i < WEFT_CELL_TYPES; ++i)
        if (strcmp(cells[i].name, name) == 0)
            return &cells[i];
    return NULL;
}

int weft_cell_entity(const weft_cell *cell, int dimension, int entity, int vertices[8]) {
    int n = 0;
    if (dimension == 0) {
        vertices[n++] = entity;
    } else if (dimension == cell->dimension) {
        for (; n < cell->n_entities[0]; ++n)
            vertices[n] = n;
    } else if (dimension == 1) {
        for (; n < 2; ++n)
            vertices[n] = cell->edges[entity][n];
    } else {
        for (; n < 4 && cell->faces[entity][n] >= 0; ++n)
            vertices[n] = cell->faces[entity][n];
    }
    return n;
}

weft_cell_type weft_cell_entity_type(const weft_cell *cell, int dimension) {
    if (dimension == cell->dimension)
        return cell->type;
    if (dimension == cell->dimension - 1)
        return cell->facet;
    return dimension == 1 ? WEFT_INTERVAL : WEFT_POINT;
}

void weft_cell_centre(const weft_cell *cell, double *out) {
    for (int axis = 0; axis < cell->dimension; ++axis)
        out[axis] = cell->simplex ? 1.0 / (cell->dimension + 1) : 0.5;
}
