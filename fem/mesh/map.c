/* Maps the reference cell to the cells of a mesh, and back. */
#include "fem/mesh/map.h"
#include "fem/mesh/mesh.h"
#include "fem/weft_locate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 40 };
/* Change of reference coordinates at which Newton's method ends; it converges quadratically. */
static const double CONVERGED = 1e-12;
/* Quadratic functions exceed the extent of their values at the nodes by half of it at most: their Lebesgue
 * constant is at most 2 on all cells. */
static const double CURVED_MARGIN = 0.5;

weft_status weft_cell_map_make(const weft_mesh *mesh, weft_cell_map *out, weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (weft_cell_map){.mesh = mesh, .d = mesh->dimension};
    TRY(weft_element_make(WEFT_LAGRANGE, weft_mesh_cell(mesh)->type, mesh->curve ? 2 : 1,
                          &out->element, error));
    out->n_nodes = out->element->n_nodes;
done:
    return status;
}

void weft_cell_map_clear(weft_cell_map *map) {
    weft_element_free(&map->element);
}

void weft_cell_map_nodes(const weft_cell_map *map, int64_t cell,
                         double nodes[WEFT_CELL_MAP_NUMBERS]) {
    const weft_mesh *mesh = map->mesh;
    const size_t bytes = (size_t)map->d * sizeof *nodes;
    for (int k = 0; k < map->n_nodes; ++k)
        memcpy(nodes + k * map->d,
               mesh->curve ? mesh->curve + (cell * map->n_nodes + k) * map->d
                           : mesh->x + (int64_t)mesh->cells[cell * map->n_nodes + k] * map->d,
               bytes);
}

double weft_cell_map_inverse(const weft_cell_map *map, const double *table, int64_t stride,
                             const double *nodes, double inverse[9]) {
    double J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, C[9], det = 0;
    for (int i = 0; i < map->d; ++i)
        for (int a = 0; a < map->d; ++a) {
            J[3 * i + a] = 0;
            for (int k = 0; k < map->n_nodes; ++k)
                J[3 * i + a] += table[(1 + a) * stride + k] * nodes[k * map->d + i];
        }
    for (int i = 0; i < 3; ++i)
        for (int a = 0; a < 3; ++a) {
            const int j = (i + 1) % 3, k = (i + 2) % 3, b = (a + 1) % 3, c = (a + 2) % 3;
            C[3 * i + a] = J[3 * j + b] * J[3 * k + c] - J[3 * j + c] * J[3 * k + b];
        }
    for (int a = 0; a < 3; ++a)
        det += J[a] * C[a];
    for (int i = 0; i < 3; ++i)
        for (int a = 0; a < 3; ++a)
            inverse[3 * a + i] = C[3 * i + a] / det;
    return fabs(det);
}

/* ---- the inverse ----------------------------------------------------------------------------- */

static double margin_of(const weft_cell *cell, const double *xi) {
    double least = INFINITY, rest = 1;
    for (int a = 0; a < cell->dimension; ++a) {
        least = fmin(least, xi[a]);
        rest -= xi[a];
        if (!cell->simplex)
            least = fmin(least, 1 - xi[a]);
    }
    return cell->simplex ? fmin(least, rest) : least;
}

/* One step of Newton's method for x(xi) = point, of at most the size of the cell; returns its length. */
static double step(const weft_cell_map *map, const double *nodes, const double *point,
                   double xi[3]) {
    double table[4 * 27], inverse[9], residual[3] = {0}, change[3] = {0}, most = 0;
    if (weft_element_tabulate(map->element, 1, 1, xi, table, NULL) != WEFT_OK ||
        !(weft_cell_map_inverse(map, table, map->n_nodes, nodes, inverse) > 0))
        return NAN;
    for (int i = 0; i < map->d; ++i) {
        residual[i] = point[i];
        for (int k = 0; k < map->n_nodes; ++k)
            residual[i] -= table[k] * nodes[k * map->d + i];
    }
    for (int a = 0; a < map->d; ++a) {
        for (int i = 0; i < map->d; ++i)
            change[a] += inverse[3 * a + i] * residual[i];
        most = fmax(most, fabs(change[a]));
    }
    for (int a = 0; a < map->d; ++a)
        xi[a] = fmin(2, fmax(-1, xi[a] + change[a] / fmax(1, most)));
    return most;
}

double weft_cell_map_invert(const weft_cell_map *map, int64_t cell, const double *point,
                            double xi[3]) {
    const weft_cell *type = weft_mesh_cell(map->mesh);
    double nodes[WEFT_CELL_MAP_NUMBERS], length = INFINITY;
    weft_cell_map_nodes(map, cell, nodes);
    for (int a = 0; a < 3; ++a)
        xi[a] = type->simplex ? 1.0 / (map->d + 1) : 0.5;
    for (int k = 0; k < ITERATIONS && length > CONVERGED; ++k)
        length = step(map, nodes, point, xi);
    return length <= CONVERGED ? margin_of(type, xi) : -INFINITY;
}

/* ---- location -------------------------------------------------------------------------------- */

static double coordinates(const void *user, int64_t cell, const double *point, double *out) {
    return weft_cell_map_invert(user, cell, point, out);
}

/* Barycentric coordinates 1 .. d are those of the reference simplex. */
static weft_status locate_simplices(weft_device *device, const weft_mesh *mesh,
                                    const double *points, int64_t n, int64_t *cells, double *xi,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    double *barycentric = weft_array_make((size_t)n, (size_t)(d + 1) * sizeof *barycentric);
    if (!barycentric)
        TRY(weft_out_of_memory(error, "the cells of points"));
    TRY(weft_mesh_locate_points(device, mesh, points, n, cells, barycentric, error));
    for (int64_t i = 0; i < n; ++i)
        memcpy(xi + i * d, barycentric + i * (d + 1) + 1, (size_t)d * sizeof *xi);
done:
    free(barycentric);
    return status;
}

weft_status weft_mesh_locate_cells(weft_device *device, const weft_mesh *mesh, const double *points,
                                   int64_t n, int64_t *cells, double *xi, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    weft_locator *locator = NULL;
    weft_cell_map map = {0};
    int32_t *order = NULL;
    if (n == 0)
        goto done;
    if (weft_mesh_is_affine(mesh) && d > 1) {
        status = locate_simplices(device, mesh, points, n, cells, xi, error);
        goto done;
    }
    TRY(weft_cell_map_make(mesh, &map, error));
    weft_locator_cells tree = {.dimension = d,
                               .n_cells = mesh->n_cells,
                               .x = mesh->x,
                               .cells = mesh->cells,
                               .n_nodes = map.n_nodes,
                               .coordinates = coordinates,
                               .user = &map};
    if (mesh->curve) { /* each cell has its nodes in a list of its own */
        const int64_t all = mesh->n_cells * map.n_nodes;
        order = weft_array_make((size_t)all, sizeof *order);
        if (!order || all > INT32_MAX)
            TRY(weft_out_of_memory(error, "the cells of points"));
        for (int64_t i = 0; i < all; ++i)
            order[i] = (int32_t)i;
        tree.x = mesh->curve;
        tree.cells = order;
        tree.margin = CURVED_MARGIN;
    }
    TRY(weft_locator_make(device, &tree, &locator, error));
    TRY(weft_locator_find(locator, points, n, false, cells, xi, error));
done:
    weft_locator_free(&locator);
    weft_cell_map_clear(&map);
    free(order);
    return status;
}
