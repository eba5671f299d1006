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
    {"point",
     "points",
     WEFT_POINT,
     WEFT_POINT,
     0,
     true,
     {1, 0, 0, 0},
     1,
     simplex_vertices,
     NULL,
     NULL},
    {"interval",
     "intervals",
     WEFT_INTERVAL,
     WEFT_POINT,
     1,
     true,
     {2, 1, 0, 0},
     1,
     simplex_vertices,
     interval_edges,
     NULL},
    {"triangle",
     "triangles",
     WEFT_TRIANGLE,
     WEFT_INTERVAL,
     2,
     true,
     {3, 3, 1, 0},
     1.0 / 2,
     simplex_vertices,
     triangle_edges,
     triangle_faces},
    {"tetrahedron",
     "tetrahedra",
     WEFT_TETRAHEDRON,
     WEFT_TRIANGLE,
     3,
     true,
     {4, 6, 4, 1},
     1.0 / 6,
     simplex_vertices,
     tetrahedron_edges,
     tetrahedron_faces},
    {"quadrilateral",
     "quadrilaterals",
     WEFT_QUADRILATERAL,
     WEFT_INTERVAL,
     2,
     false,
     {4, 4, 1, 0},
     1,
     cube_vertices,
     quadrilateral_edges,
     quadrilateral_faces},
    {"hexahedron",
     "hexahedra",
     WEFT_HEXAHEDRON,
     WEFT_QUADRILATERAL,
     3,
     false,
     {8, 12, 6, 1},
     1,
     cube_vertices,
     hexahedron_edges,
     hexahedron_faces},
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
