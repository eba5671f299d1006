/* Measures how slender a body is, and warns where linear elements are too stiff in bending: with few cells through its
 * thickness. */
#include "fem/mesh/mesh.h"
#include "fem/problem/advice.h"
#include "fem/space/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A body whose length is that many times its thickness bends, as a rule. With n cells through its thickness linear ones bend by about
 * n^2 / (n^2 + 3) of the right one. */
static const double SLENDER = 5, FEW = 6;

/* Sums over cells: of volumes, and of places and their products by them. */
typedef struct moments {
    double volume, centre[3], squares[3][3];
} moments;

/* The moments of a chunk of cells are about a point of the mesh, so that a body far from the origin keeps its digits. */
enum { CHUNKS = 256 };
typedef struct chunks {
    const weft_mesh *mesh;
    const double *origin;
    moments of[CHUNKS];
} chunks;

static void add_up_chunk(void *user, int64_t chunk) {
    chunks *in = user;
    const weft_mesh *mesh = in->mesh;
    moments *m = &in->of[chunk];
    const int d = mesh->dimension, v = weft_mesh_cell_vertices(mesh);
    const int64_t end = mesh->n_cells * (chunk + 1) / CHUNKS;
    for (int64_t c = mesh->n_cells * chunk / CHUNKS; c < end; ++c) {
        const int32_t *nodes = mesh->cells + c * v;
        const double volume = v == d + 1 ? fabs(weft_cell_volume(d, mesh->x, nodes)) : 1;
        double at[3] = {0};
        for (int i = 0; i < v * d; ++i)
            at[i % d] += (mesh->x[(int64_t)nodes[i / d] * d + i % d] - in->origin[i % d]) / v;
        m->volume += volume;
        for (int a = 0; a < d; ++a)
            m->centre[a] += volume * at[a];
        for (int ab = 0; ab < d * d; ++ab)
            m->squares[ab / d][ab % d] += volume * at[ab / d] * at[ab % d];
    }
}

static void add_up(weft_device *device, const weft_mesh *mesh, moments *out) {
    const int d = mesh->dimension;
    chunks *all = calloc(1, sizeof *all);
    if (!all)
        return;
    all->mesh = mesh;
    all->origin = mesh->x + (int64_t)mesh->cells[0] * d;
    if (weft_device_for(device, CHUNKS, add_up_chunk, all, NULL) == WEFT_OK)
        for (int i = 0; i < CHUNKS; ++i) {
            out->volume += all->of[i].volume;
            for (int a = 0; a < d; ++a)
                out->centre[a] += all->of[i].centre[a];
            for (int ab = 0; ab < d * d; ++ab)
                out->squares[ab / d][ab % d] += all->of[i].squares[ab / d][ab % d];
        }
    for (int ab = 0; ab < d * d && out->volume > 0; ++ab)
        out->squares[ab / d][ab % d] -= out->centre[ab / d] * out->centre[ab % d] / out->volume;
    free(all);
}

/* The least and the greatest eigenvalue of the covariance, by Jacobi's rotations. */
static void extremes(moments *m, int d, double *least, double *most) {
    double(*A)[3] = m->squares;
    for (int sweep = 0; sweep < 20; ++sweep)
        for (int p = 0; p < d; ++p)
            for (int q = p + 1; q < d; ++q) {
                const double t = 0.5 * atan2(2 * A[p][q], A[p][p] - A[q][q]);
                const double c = cos(t), s = sin(t);
                for (int side = 0; side < 2; ++side)
                    for (int i = 0; i < d; ++i) {
                        double *u = side ? &A[p][i] : &A[i][p], *w = side ? &A[q][i] : &A[i][q];
                        const double rotated = c * *u + s * *w;
                        *w = c * *w - s * *u;
                        *u = rotated;
                    }
            }
    *least = INFINITY;
    *most = 0;
    for (int a = 0; a < d; ++a) {
        *least = fmin(*least, A[a][a] / m->volume);
        *most = fmax(*most, A[a][a] / m->volume);
    }
}

/* Length and thickness between the centres of cells. */
static void measure(weft_device *device, const weft_mesh *mesh, double *length, double *thickness,
                    double *volume) {
    moments m = {0};
    double least = 0, most = 0;
    add_up(device, mesh, &m);
    extremes(&m, mesh->dimension, &least, &most);
    *length = sqrt(12 * most);
    *thickness = sqrt(12 * fmax(least, 0));
    *volume = m.volume;
}

/* Whether u is a displacement, as far as its components tell. */
static bool can_bend(const weft_solution *u) {
    const int d = u->mesh->dimension;
    return d > 1 && u->mesh->n_cells > 0 && u->n_fields == 1 &&
           weft_space_components(u->fields[0].space) == d;
}

double weft_slenderness(const weft_solution *u) {
    double length = 0, thickness = 0, volume = 0;
    if (!can_bend(u))
        return 1;
    measure(u->context->device, u->mesh, &length, &thickness, &volume);
    const double cell = length / pow((double)u->mesh->n_cells, 1.0 / u->mesh->dimension);
    return length /
           fmax(thickness, 1e-3 * cell); /* one layer of cells has its centres near the middle */
}

void weft_warn_slender(const weft_solution *u) {
    const int d = u->mesh->dimension;
    double length = 0, thickness = 0, volume = 0;
    if (!can_bend(u) || !weft_space_is_barycentric(u->fields[0].space))
        return;
    measure(u->context->device, u->mesh, &length, &thickness, &volume);
    const double cell = pow(volume / (double)u->mesh->n_cells * (d == 2 ? 2 : 6), 1.0 / d);
    thickness += 0.5 * cell; /* the centres lie inside */
    const double n = thickness / cell;
    if (!(length > SLENDER * thickness && n < FEW))
        return;
    weft_log(
        u->context->monitor, WEFT_LOG_WARNING,
        "the body is slender (%.0f times as long as thick), with about %.0f linear cells through "
        "its thickness: these are too stiff in bending (locking), and if it bends, displacements "
        "are about %.0f %% of the right ones; refine, or solve elasticity.ufl --degree 2",
        length / thickness, fmax(n, 1), 100 * n * n / (n * n + 3));
}
