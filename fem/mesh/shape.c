/* Measures how flat cells are, and how slender the whole is, from a sample. */
#include "fem/mesh/mesh.h"

#include <math.h>

enum { CELLS_MOST = 1000, NODES_MOST = 10000 };

/* |A^-1|^2, in the Frobenius norm, and |det A|, of d rows and columns. */
static double inverse_square(int d, double A[3][3], double *volume) {
    double sum = 0, det = 0;
    if (d == 1)
        sum = 1;
    if (d == 2)
        for (int i = 0; i < 4; ++i)
            sum += A[i / 2][i % 2] * A[i / 2][i % 2];
    for (int i = 0; d == 3 && i < 9; ++i) {
        const int a = i / 3, b = i % 3, a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3,
                  b2 = (b + 2) % 3;
        const double minor = A[a1][b1] * A[a2][b2] - A[a1][b2] * A[a2][b1];
        sum += minor * minor;
    }
    det = weft_determinant(d, A);
    *volume = fabs(det);
    return sum / (det * det);
}

/* The shape of a box with these edges, from |A^-1|^2 and |det A|: the root mean square of the inverse lengths times their
 * geometric mean, 1 for a cube. */
static double shape_of(int d, double inverse, double volume) {
    return sqrt(inverse / d) * pow(volume, 1.0 / d);
}

/* The edges from a vertex of a simplex; of other cells the mean ones along each axis. */
static void edges_of(const weft_mesh *mesh, int64_t c, int origin, double A[3][3]) {
    const int d = mesh->dimension, v = weft_mesh_cell_vertices(mesh);
    const int32_t *nodes = mesh->cells + c * v;
    for (int a = 0; a < d; ++a)
        for (int k = 0; k < d; ++k) {
            double sum = 0;
            if (v == d + 1)
                sum = mesh->x[(int64_t)nodes[(origin + 1 + a) % v] * d + k] -
                      mesh->x[(int64_t)nodes[origin] * d + k];
            for (int i = 0; v > d + 1 && i < v; ++i)
                sum += ((i >> a & 1) ? 2.0 : -2.0) / v * mesh->x[(int64_t)nodes[i] * d + k];
            A[a][k] = sum;
        }
}

/* Of a simplex by half the sum of its squared gradients of barycentric coordinates, which the mean over corners gives: that of
 * a box cut into simplices is the box's. */
static double cell_shape(const weft_mesh *mesh, int64_t c) {
    const int d = mesh->dimension, v = weft_mesh_cell_vertices(mesh), corners = v == d + 1 ? v : 1;
    double sum = 0, A[3][3], volume = 0;
    for (int i = 0; i < corners; ++i) {
        edges_of(mesh, c, i, A);
        sum += inverse_square(d, A, &volume) / corners;
    }
    return shape_of(d, v == d + 1 ? sum * (d + 1) / (2 * d) : sum, volume);
}

/* By the covariance of nodes, whose inverse is A^-1 of the lengths squared. */
static double domain_shape(const weft_mesh *mesh) {
    const int d = mesh->dimension;
    const int64_t step = mesh->n_nodes / NODES_MOST + 1;
    double centre[3] = {0}, A[3][3] = {{0}}, n = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i += step, ++n)
        for (int a = 0; a < d; ++a)
            centre[a] += mesh->x[i * d + a];
    for (int64_t i = 0; i < mesh->n_nodes; i += step)
        for (int ab = 0; ab < d * d; ++ab)
            A[ab / d][ab % d] += (mesh->x[i * d + ab / d] - centre[ab / d] / n) *
                                 (mesh->x[i * d + ab % d] - centre[ab % d] / n) / n;
    /* tr A^-1 is the sum of minors of the diagonal over det A */
    const double det = fabs(weft_determinant(d, A));
    double minors = d == 1 ? 1 : d == 2 ? A[0][0] + A[1][1] : 0;
    for (int a = 0; d == 3 && a < 3; ++a) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        minors += A[b][b] * A[c][c] - A[b][c] * A[c][b];
    }
    return shape_of(d, minors / det, sqrt(det));
}

weft_mesh_shape weft_mesh_shape_of(const weft_mesh *mesh) {
    const int64_t step = mesh->n_cells / CELLS_MOST + 1;
    double sum = 0, n = 0;
    for (int64_t c = 0; c < mesh->n_cells; c += step) {
        const double shape = cell_shape(mesh, c);
        sum += isfinite(shape) ? shape : 0;
        n += isfinite(shape) ? 1 : 0;
    }
    const double domain = domain_shape(mesh);
    return (weft_mesh_shape){n > 0 ? sum / n : 1, isfinite(domain) ? domain : 1};
}
