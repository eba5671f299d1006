#include "apps/common/fem.h"
#include "apps/common/support.h"
#include "apps/poisson/poisson.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Disjoint sets of nodes (Tarjan 1975): parents point to lower numbers, paths are halved on the
 * way. */
static int32_t find_root(int32_t *parent, int32_t node) {
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

static void join(int32_t *parent, int32_t a, int32_t b) {
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

static void join_cells(const weft_mesh *mesh, int32_t *parent) {
    int width = mesh->dimension + 1;
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        parent[i] = (int32_t)i;
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int v = 1; v < width; ++v)
            join(parent, mesh->cells[c * width], mesh->cells[c * width + v]);
}

/* Robin with ALPHA = 0 is Neumann, and fixes nothing. */
static bool fixes(const app_condition *condition) {
    double alpha = NAN;
    return condition->kind == APP_ROBIN && !(app_constant(condition->alpha, &alpha) && alpha == 0);
}

/* Mark the parts in which a Dirichlet node or a Robin facet fixes u. */
static void mark_fixed(const poisson *run, int32_t *parent, char *fixed) {
    int d = run->mesh->dimension;
    for (int64_t i = 0; i < run->n_constrained; ++i)
        fixed[find_root(parent, run->constrained[i])] = 1;
    for (int i = 0; i < run->options->run.conditions.n; ++i)
        if (fixes(&run->options->run.conditions.list[i]))
            for (int64_t f = 0; f < run->parts[i].n_facets; ++f)
                fixed[find_root(parent, run->parts[i].facets[f * d])] = 1;
}

static weft_status refuse_part(const weft_mesh *mesh, int64_t n_parts, int64_t node,
                               weft_error *error) {
    const int d = mesh->dimension;
    char point[64];
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the mesh falls into %" PRId64
                   " parts that do not touch, and nothing fixes u on that of %s",
                   n_parts, app_print_point(&mesh->x[node * d], d, point));
    weft_error_place(error, mesh->source, NULL, 0, 0);
    weft_error_hint(
        error,
        "add --dirichlet or --robin for a group of that part, or join the parts in the mesh: in "
        "a .geo file, shared points and curves, or Coherence");
    return WEFT_ERROR_INPUT;
}

weft_status poisson_parts_check(poisson *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = run->mesh;
    int64_t n_parts = 0, n_loose = 0, loose = 0;
    int32_t *parent = weft_array_make((size_t)mesh->n_nodes, sizeof *parent);
    char *fixed = weft_array_make((size_t)mesh->n_nodes, 1);
    if (!parent || !fixed) {
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        goto done;
    }
    join_cells(mesh, parent);
    mark_fixed(run, parent, fixed);
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        if (parent[i] != i)
            continue;
        ++n_parts;
        if (!fixed[i]) {
            ++n_loose;
            loose = i;
        }
    }
    if (n_loose > 0 && n_parts > 1)
        TRY(refuse_part(mesh, n_parts, loose, error));
    run->pure_neumann = n_loose > 0;
done:
    free(parent);
    free(fixed);
    return status;
}
