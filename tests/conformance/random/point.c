/* Tables and geometry of the point at which integrals are evaluated. */
#include "point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const naive_table *naive_table_of(naive_point *at, const ufl_element *scalar, int side) {
    for (int i = 0; i < at->n_tables; ++i)
        if (at->tables[i].scalar == scalar && at->tables[i].side == side)
            return &at->tables[i];
    weft_element *element = NULL;
    const int d = at->cell->mesh->tdim;
    if (at->n_tables == TABLES || weft_element_make(scalar->family, ufl_weft_cell(scalar->cell),
                                                    scalar->degree, &element, NULL) != WEFT_OK)
        return NULL;
    naive_table *table = &at->tables[at->n_tables++];
    *table = (naive_table){.scalar = scalar, .side = side, .n = element->n_nodes};
    table->values = calloc((size_t)(weft_derivative_count(d, 2) * at->n_points * table->n),
                           sizeof *table->values);
    if (!table->values || weft_element_tabulate(element, 2, at->n_points, at->points[side],
                                                table->values, NULL) != WEFT_OK)
        at->failed = true;
    weft_element_free(&element);
    return table;
}
static double dot3(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Gauss-Jordan elimination; returns the determinant. */
static double invert(int n, double J[3][3], double out[3][3]) {
    double work[3][6] = {{0}}, det = 1;
    for (int i = 0; i < n; ++i) {
        memcpy(work[i], J[i], sizeof J[i]);
        work[i][3 + i] = 1;
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k; i < n; ++i)
            pivot = fabs(work[i][k]) > fabs(work[pivot][k]) ? i : pivot;
        det *= pivot == k ? work[pivot][k] : -work[pivot][k];
        for (int j = 0; j < 6; ++j) {
            const double swapped = work[k][j];
            work[k][j] = work[pivot][j];
            work[pivot][j] = swapped;
        }
        for (int j = 5; j >= 0; --j)
            work[k][j] /= work[k][k];
        for (int i = 0; i < n; ++i)
            for (int j = 5; i != k && j >= 0; --j)
                work[i][j] -= work[i][k] * work[k][j];
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            out[i][j] = work[i][3 + j];
    return det;
}

/* Jacobian, its derivatives and the point, of a side at point p. */
double naive_place(naive_point *at, int side) {
    const int d = at->cell->mesh->tdim;
    const naive_table *table = naive_table_of(at, at->cell->mesh->coordinates->sub[0], side);
    double x[3] = {0};
    memset(at->J[side], 0, sizeof at->J[side]);
    memset(at->bend[side], 0, sizeof at->bend[side]);
    for (int v = 0; table && v < table->n; ++v)
        for (int a = 0; a < d; ++a) {
            const double from = at->cell->x[side][v][a];
            int powers[3] = {0};
            x[a] += from * table->values[at->p * table->n + v];
            for (int i = 0; i < d; ++i) {
                ++powers[i];
                at->J[side][a][i] +=
                    from * table->values[(weft_derivative_index(d, powers) * at->n_points + at->p) *
                                             table->n +
                                         v];
                for (int j = 0; j < d; ++j) {
                    ++powers[j];
                    at->bend[side][a][i][j] +=
                        from *
                        table->values[(weft_derivative_index(d, powers) * at->n_points + at->p) *
                                          table->n +
                                      v];
                    --powers[j];
                }
                --powers[i];
            }
        }
    if (side == 0)
        memcpy(at->x, x, sizeof x);
    return invert(d, at->J[side], at->inverse[side]);
}

/* Tangents of a facet span it; the normal is orthogonal to them and points away from the cell's other vertices. */
double naive_facet_frame(naive_point *at, int side) {
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(at->cell->mesh->cell));
    const int d = cell->dimension;
    double tangents[2][3] = {{0}}, *n = at->normal[side], outward = 0;
    int v[8];
    const int count = weft_cell_entity(cell, d - 1, at->cell->facets[side], v);
    for (int k = 0; k < d - 1; ++k)
        for (int a = 0; a < d; ++a)
            for (int i = 0; i < d; ++i)
                tangents[k][a] +=
                    at->J[side][a][i] * (cell->vertices[v[k + 1]][i] - cell->vertices[v[0]][i]);
    for (int a = 0; a < 3; ++a)
        n[a] = d == 1   ? a == 0
               : d == 2 ? (a == 0   ? tangents[0][1]
                           : a == 1 ? -tangents[0][0]
                                    : 0)
                        : tangents[0][(a + 1) % 3] * tangents[1][(a + 2) % 3] -
                              tangents[0][(a + 2) % 3] * tangents[1][(a + 1) % 3];
    const double length = sqrt(dot3(n, n));
    for (int a = 0; a < d; ++a)
        for (int i = 0; i < cell->n_entities[0]; ++i) {
            bool on = false;
            for (int k = 0; k < count; ++k)
                on = on || v[k] == i;
            outward += on ? 0 : n[a] * (at->cell->x[side][v[0]][a] - at->cell->x[side][i][a]);
        }
    for (int a = 0; a < 3; ++a)
        n[a] /= outward < 0 ? -length : length;
    return length;
}

bool naive_points_make(naive_point *at, int degree) {
    const weft_cell *cell = weft_cell_of(ufl_weft_cell(at->cell->mesh->cell));
    const int d = cell->dimension;
    weft_quadrature rule = {0};
    if (ufl_rule_make(at->cell->type, at->cell->mesh, UFL_RULE_DEFAULT, degree, &rule, NULL) !=
        WEFT_OK)
        return false;
    at->n_points = rule.n;
    at->weights = rule.weights;
    rule.weights = NULL;
    for (int side = 0; side < at->cell->n_sides; ++side) {
        int v[8];
        at->points[side] = calloc((size_t)(rule.n * d), sizeof(double));
        if (at->cell->type != UFL_CELL)
            weft_cell_entity(cell, d - 1, at->cell->facets[side], v);
        for (int p = 0; at->points[side] && p < rule.n; ++p)
            for (int i = 0; i < d; ++i) {
                double *X = &at->points[side][p * d + i];
                *X = at->cell->type == UFL_CELL ? rule.points[p * d + i] : cell->vertices[v[0]][i];
                for (int k = 0; at->cell->type != UFL_CELL && k < d - 1; ++k)
                    *X += rule.points[p * (d - 1) + k] *
                          (cell->vertices[v[k + 1]][i] - cell->vertices[v[0]][i]);
            }
    }
    weft_quadrature_free(&rule);
    return true;
}

void naive_point_free(naive_point *at) {
    if (!at)
        return;
    for (int i = 0; i < at->n_tables; ++i)
        free(at->tables[i].values);
    for (int side = 0; side < 2; ++side)
        free(at->points[side]);
    free(at->weights);
    free(at);
}
