/* A distorted mesh, a context, and P1 matrices assembled densely by hand, for the tests of
 * operators. */
#ifndef OPERATOR_FIXTURE_H
#define OPERATOR_FIXTURE_H

#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    weft_device *device;
    weft_library *library;
    weft_context context;
    weft_mesh *mesh;
    int d;
    int64_t n;
    weft_memory *x, *when; /* when: the time of conditions, 0 */
    weft_connectivity *cells, *facets;
    int32_t *facet_nodes;
    int64_t n_facets;
} fixture;

/* Reproducible numbers in [0, 1). */
static inline double fixture_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Moves inner nodes by up to a fifth of the spacing, which leaves every cell upright. */
static inline void fixture_distort(weft_mesh *mesh, int64_t cells_a_side) {
    uint64_t state = 12345;
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        double *x = mesh->x + i * mesh->dimension;
        for (int c = 0; c < mesh->dimension; ++c) {
            double move = 0.2 * (fixture_random(&state) - 0.5) / (double)cells_a_side;
            if (x[c] > 1e-9 && x[c] < 1 - 1e-9)
                x[c] += move;
        }
    }
}

static inline fixture fixture_make(const char *device, int d, int64_t cells_a_side,
                                   weft_plan_kind plan) {
    fixture f = {.d = d};
    weft_error error;
    weft_device_options options = weft_device_options_default(NULL);
    assert_int_equal(weft_device_open(device, &options, &f.device, &error), WEFT_OK);
    assert_int_equal(weft_fem_library_make(&f.library, &error), WEFT_OK);
    f.context = (weft_context){.device = f.device, .library = f.library, .plan = plan};
    if (d == 2)
        assert_int_equal(weft_mesh_make_square(cells_a_side, &f.mesh, &error), WEFT_OK);
    else
        assert_int_equal(weft_mesh_make_cube(cells_a_side, &f.mesh, &error), WEFT_OK);
    fixture_distort(f.mesh, cells_a_side);
    f.n = f.mesh->n_nodes;
    assert_int_equal(
        weft_memory_wrap(f.device, f.mesh->x, (size_t)(f.n * d) * sizeof(double), &f.x, &error),
        WEFT_OK);
    assert_int_equal(weft_memory_make(f.device, sizeof(double), &f.when, &error), WEFT_OK);
    assert_int_equal(weft_connectivity_make(f.device, f.mesh->cells, f.mesh->n_cells, d + 1, f.n,
                                            &f.cells, &error),
                     WEFT_OK);
    int group = 0;
    assert_int_equal(weft_mesh_group(f.mesh, "left", &group, &error), WEFT_OK);
    assert_int_equal(weft_mesh_group_facets(f.mesh, group, &f.facet_nodes, &f.n_facets, &error),
                     WEFT_OK);
    assert_int_equal(
        weft_connectivity_make(f.device, f.facet_nodes, f.n_facets, d, f.n, &f.facets, &error),
        WEFT_OK);
    return f;
}

static inline void fixture_free(fixture *f) {
    weft_connectivity_free(&f->cells);
    weft_connectivity_free(&f->facets);
    free(f->facet_nodes);
    weft_memory_free(&f->x);
    weft_memory_free(&f->when);
    weft_mesh_free(&f->mesh);
    weft_library_free(&f->library);
    weft_device_free(&f->device);
}

static inline weft_memory *fixture_vector(const fixture *f) {
    weft_memory *vector = NULL;
    assert_int_equal(weft_memory_make(f->device, (size_t)f->n * sizeof(double), &vector, NULL),
                     WEFT_OK);
    return vector;
}

/* Gradients of barycentric coordinates, g[i][c], and the volume, by cofactors of the edge vectors.
 */
static inline double reference_gradients(const double *x, const int32_t *nodes, int d,
                                         double g[4][3]) {
    double e[3][3], det;
    for (int j = 0; j < d; ++j)
        for (int c = 0; c < d; ++c)
            e[j][c] = x[nodes[j + 1] * d + c] - x[nodes[0] * d + c];
    if (d == 2) {
        det = e[0][0] * e[1][1] - e[0][1] * e[1][0];
        g[1][0] = e[1][1] / det;
        g[1][1] = -e[1][0] / det;
        g[2][0] = -e[0][1] / det;
        g[2][1] = e[0][0] / det;
    } else {
        double cross[3][3]; /* cross[j] = e[j+1] x e[j+2] */
        for (int j = 0; j < 3; ++j)
            for (int c = 0; c < 3; ++c)
                cross[j][c] = e[(j + 1) % 3][(c + 1) % 3] * e[(j + 2) % 3][(c + 2) % 3] -
                              e[(j + 1) % 3][(c + 2) % 3] * e[(j + 2) % 3][(c + 1) % 3];
        det = e[0][0] * cross[0][0] + e[0][1] * cross[0][1] + e[0][2] * cross[0][2];
        for (int j = 0; j < 3; ++j)
            for (int c = 0; c < 3; ++c)
                g[j + 1][c] = cross[j][c] / det;
    }
    for (int c = 0; c < d; ++c) {
        g[0][c] = 0;
        for (int i = 1; i <= d; ++i)
            g[0][c] -= g[i][c];
    }
    return fabs(det) / (d == 2 ? 2 : 6);
}

/* A += int k grad phi_i . grad phi_j, k = 1 + x + 2 y: its mean is its value at the centroid. */
static inline void reference_stiffness(const fixture *f, bool variable, double *A) {
    int d = f->d;
    for (int64_t cell = 0; cell < f->mesh->n_cells; ++cell) {
        const int32_t *nodes = f->mesh->cells + cell * (d + 1);
        double g[4][3], k = 1, volume = reference_gradients(f->mesh->x, nodes, d, g);
        for (int i = 0; variable && i <= d; ++i)
            k += (f->mesh->x[nodes[i] * d] + 2 * f->mesh->x[nodes[i] * d + 1]) / (d + 1);
        for (int i = 0; i <= d; ++i)
            for (int j = 0; j <= d; ++j) {
                double s = 0;
                for (int c = 0; c < d; ++c)
                    s += g[i][c] * g[j][c];
                A[nodes[i] * f->n + nodes[j]] += k * s * volume;
            }
    }
}

static inline double reference_facet(const fixture *f, const int32_t *nodes) {
    double e[2][3] = {{0}}, s = 0;
    for (int j = 0; j < f->d - 1; ++j)
        for (int c = 0; c < f->d; ++c)
            e[j][c] = f->mesh->x[nodes[j + 1] * f->d + c] - f->mesh->x[nodes[0] * f->d + c];
    if (f->d == 2)
        return hypot(e[0][0], e[0][1]);
    for (int c = 0; c < 3; ++c) {
        double z = e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3];
        s += z * z;
    }
    return sqrt(s) / 2;
}

/* A += int over facets a phi_i phi_j, a = 1 + y linear, by
 * int phi^a phi^b ... = |F| (d-1)! a! b! ... / (a + b + ... + d-1)! */
static inline void reference_robin(const fixture *f, double *A) {
    const double factorial[] = {1, 1, 2, 6, 24, 120};
    int d = f->d;
    for (int64_t facet = 0; facet < f->n_facets; ++facet) {
        const int32_t *nodes = f->facet_nodes + facet * d;
        double size = reference_facet(f, nodes);
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j)
                for (int l = 0; l < d; ++l) {
                    int powers[3] = {0};
                    powers[i]++;
                    powers[j]++;
                    powers[l]++;
                    double integral = size * factorial[d - 1] * factorial[powers[0]] *
                                      factorial[powers[1]] * factorial[powers[2]] /
                                      factorial[d + 2];
                    double alpha = 1 + f->mesh->x[nodes[l] * d + 1];
                    A[nodes[i] * f->n + nodes[j]] += alpha * integral;
                }
    }
}

#endif
