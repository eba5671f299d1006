/* Finds the cell that contains a point by a scan over all cells, rejecting by bounding boxes: about
 * 12 ms per point for 2 million tetrahedra. */
#include "fem/mesh/mesh.h"

#include <math.h>

/* A point this far outside, in barycentric coordinates, still counts as on the boundary. */
static const double tolerance = 1e-10;

static bool is_apart(int d, const double *x, const int32_t *nodes, const double *point) {
    for (int k = 0; k < d; ++k) {
        double least = x[(int64_t)nodes[0] * d + k], greatest = least;
        for (int i = 1; i <= d; ++i) {
            double value = x[(int64_t)nodes[i] * d + k];
            least = value < least ? value : least;
            greatest = value > greatest ? value : greatest;
        }
        double slack = (greatest - least) * tolerance;
        if (!(point[k] >= least - slack && point[k] <= greatest + slack))
            return true;
    }
    return false;
}

/* Barycentric coordinates: the volume with vertex i moved to the point, over the cell's volume. */
static double barycentric_of(int d, const double *x, const int32_t *nodes, const double *point,
                             double *out) {
    double vertices[5 * 3] = {0}, least = INFINITY;
    int32_t corners[4] = {0, 1, 2, 3};
    for (int i = 0; i <= d; ++i)
        for (int k = 0; k < d; ++k)
            vertices[i * d + k] = x[(int64_t)nodes[i] * d + k];
    for (int k = 0; k < d; ++k)
        vertices[(d + 1) * d + k] = point[k];
    double whole = weft_cell_volume(d, vertices, corners);
    for (int i = 0; i <= d; ++i) {
        corners[i] = d + 1;
        out[i] = weft_cell_volume(d, vertices, corners) / whole;
        corners[i] = i;
        least = out[i] < least ? out[i] : least;
    }
    return least;
}

void weft_mesh_locate(const weft_mesh *mesh, const double *point, int64_t *cell,
                      double *barycentric) {
    int d = mesh->dimension;
    double best = -tolerance, now[4];
    *cell = -1;
    for (int k = 0; k <= d; ++k)
        barycentric[k] = 0;
    for (int64_t c = 0; c < mesh->n_cells && best < 0; ++c) {
        const int32_t *nodes = mesh->cells + c * (d + 1);
        if (is_apart(d, mesh->x, nodes, point))
            continue;
        double least = barycentric_of(d, mesh->x, nodes, point, now);
        if (!(least > best || (*cell < 0 && least >= best)))
            continue;
        best = least;
        *cell = c;
        for (int k = 0; k <= d; ++k)
            barycentric[k] = now[k];
    }
}
