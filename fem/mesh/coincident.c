/* Finds nodes at one place that are not one node: parts that touch there are not joined. */
#include "fem/mesh/mesh.h"
#include "fem/weft_function.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes this near to each other, relative to the extent of the mesh, are at one place. */
static const double NEAR = 1e-9;
/* With more nodes on the boundary nothing is looked for: sorting them would take seconds. */
enum { NODES_MOST = 10000000 };

/* A node and its place, in steps of the distance that counts. */
typedef struct place {
    int64_t steps[3];
    int32_t node;
} place;

static int compare_places(const void *a, const void *b) {
    const place *p = a, *q = b;
    for (int k = 0; k < 3; ++k)
        if (p->steps[k] != q->steps[k])
            return p->steps[k] < q->steps[k] ? -1 : 1;
    return p->node < q->node ? -1 : p->node > q->node;
}

static bool is_same(const place *p, const place *q) {
    return memcmp(p->steps, q->steps, sizeof p->steps) == 0;
}

/* The least and the largest coordinate of a box around the mesh. */
static void find_box(const weft_mesh *mesh, double least[3], double *extent) {
    const int d = mesh->dimension;
    double greatest[3] = {0};
    memcpy(least, mesh->x, (size_t)d * sizeof *least);
    memcpy(greatest, mesh->x, (size_t)d * sizeof *greatest);
    for (int64_t i = d; i < mesh->n_nodes * d; ++i) {
        least[i % d] = fmin(least[i % d], mesh->x[i]);
        greatest[i % d] = fmax(greatest[i % d], mesh->x[i]);
    }
    *extent = 0;
    for (int k = 0; k < d; ++k)
        *extent = fmax(*extent, greatest[k] - least[k]);
}

static int64_t list_places(const weft_mesh *mesh, const unsigned char *marks, place *out) {
    const int d = mesh->dimension;
    double least[3], extent;
    int64_t n = 0;
    find_box(mesh, least, &extent);
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        if (!marks[i])
            continue;
        place *at = &out[n++];
        *at = (place){.node = (int32_t)i};
        for (int k = 0; k < d; ++k)
            at->steps[k] = llround((mesh->x[i * d + k] - least[k]) / (NEAR * extent));
    }
    return n;
}

weft_status weft_mesh_find_coincident(weft_mesh *mesh, const weft_monitor *monitor,
                                      weft_error *error) {
    const int64_t n_indices = mesh->n_boundary_facets * weft_mesh_facet_vertices(mesh);
    int64_t n_marked = 0, n_same = 0, first = -1;
    char text[64];
    unsigned char *marks = weft_array_make((size_t)mesh->n_nodes, 1);
    if (!marks)
        return weft_out_of_memory(error, "a mesh");
    for (int64_t i = 0; i < n_indices; ++i) {
        n_marked += !marks[mesh->facets[i]];
        marks[mesh->facets[i]] = 1;
    }
    place *places = n_marked > NODES_MOST ? NULL : malloc(((size_t)n_marked + 1) * sizeof *places);
    if (n_marked <= NODES_MOST && !places) {
        free(marks);
        return weft_out_of_memory(error, "a mesh");
    }
    const int64_t n = places ? list_places(mesh, marks, places) : 0;
    if (n > 1)
        qsort(places, (size_t)n, sizeof *places, compare_places);
    for (int64_t i = 1; i < n; ++i)
        if (is_same(&places[i - 1], &places[i])) {
            ++n_same;
            first = first < 0 ? places[i].node : first;
        }
    mesh->n_coincident = n_same;
    if (n_same > 0 && monitor)
        weft_log(monitor, WEFT_LOG_WARNING,
                 "%s: %" PRId64
                 " pair%s of nodes on the boundary coincide%s, the first at %s: parts "
                 "that touch there are not joined. Unless it is a crack, join them: Coherence; in "
                 "the .geo file, or Coherence Mesh; for a mesh",
                 mesh->source, n_same, n_same == 1 ? "" : "s", n_same == 1 ? "s" : "",
                 weft_point_text(mesh->x + first * mesh->dimension, mesh->dimension, text));
    free(places);
    free(marks);
    return WEFT_OK;
}
