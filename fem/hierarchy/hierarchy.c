/* Makes hierarchies of meshes: refines all levels in the numbering of weft_mesh_refine, then orders
 * each level and carries the lists of parents and children over to the new numbers. */
#include "fem/mesh/mesh.h"

#include <stdlib.h>

enum { SHARES = 256 };

/* Two levels that are being connected. Numbers are NULL where an order is kept. */
typedef struct connection {
    weft_hierarchy_level *level;
    const int32_t *parents;  /* in the old numbers of both levels */
    weft_renumbering old_of; /* of the level: new -> old */
    weft_renumbering new_of; /* of the coarser level: old -> new */
    int n_children;
} connection;

typedef struct inversion {
    const int32_t *from;
    int32_t *to;
    int64_t n;
} inversion;

static int32_t look_up(const int32_t *numbers, int64_t i) {
    return numbers ? numbers[i] : (int32_t)i;
}

static void put_parents(void *user, int64_t share) {
    const connection *c = user;
    const int64_t n = c->level->mesh->n_nodes;
    for (int64_t i = n * share / SHARES; i < n * (share + 1) / SHARES; ++i)
        for (int end = 0; end < 2; ++end)
            c->level->parents[2 * i + end] =
                c->new_of.nodes[c->parents[2 * (int64_t)c->old_of.nodes[i] + end]];
}

/* In the old numbers, child k of a cell is number n_children * cell + k. */
static void put_children(void *user, int64_t share) {
    const connection *c = user;
    const int64_t n = c->level->mesh->n_cells;
    for (int64_t i = n * share / SHARES; i < n * (share + 1) / SHARES; ++i) {
        const int32_t old = look_up(c->old_of.cells, i);
        const int64_t parent = look_up(c->new_of.cells, old / c->n_children);
        c->level->children[parent * c->n_children + old % c->n_children] = (int32_t)i;
    }
}

static void put_inverse(void *user, int64_t share) {
    const inversion *v = user;
    for (int64_t i = v->n * share / SHARES; i < v->n * (share + 1) / SHARES; ++i)
        v->to[v->from[i]] = (int32_t)i;
}

static void renumbering_clear(weft_renumbering *numbers) {
    free(numbers->nodes);
    free(numbers->cells);
    *numbers = (weft_renumbering){0};
}

static weft_status invert(weft_device *device, const int32_t *from, int64_t n, int32_t **to,
                          weft_error *error) {
    *to = weft_array_make_unset((uint64_t)n * sizeof **to);
    if (!*to)
        return weft_out_of_memory(error, "the numbering of a hierarchy");
    return weft_device_for(device, SHARES, put_inverse, &(inversion){from, *to, n}, error);
}

/* Renumber the parents of a level and make its children. */
static weft_status connect(weft_device *device, connection *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hierarchy_level *level = c->level;
    int32_t *parents = level->parents;
    level->children = weft_array_make_unset((uint64_t)level->mesh->n_cells * sizeof *parents);
    if (!level->children)
        TRY(weft_out_of_memory(error, "the children of a hierarchy"));
    TRY(weft_device_for(device, SHARES, put_children, c, error));
    if (!c->old_of.nodes)
        goto done;
    level->parents = weft_array_make_unset((uint64_t)level->mesh->n_nodes * 2 * sizeof *parents);
    c->parents = parents;
    if (level->parents)
        status = weft_device_for(device, SHARES, put_parents, c, error);
    else
        status = weft_out_of_memory(error, "the parents of a hierarchy");
    free(parents);
done:
    return status;
}

/* Order the levels if requested, and connect them. */
static weft_status connect_levels(weft_device *device, weft_hierarchy *hierarchy,
                                  const weft_hierarchy_options *options,
                                  const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    connection c = {0};
    for (int l = 0; l < hierarchy->n_levels; ++l) {
        c.level = &hierarchy->levels[l];
        weft_mesh *mesh = c.level->mesh;
        c.n_children = 1 << mesh->dimension;
        const double start = weft_clock();
        if (options->ordered)
            TRY(weft_mesh_order(device, mesh, options->ordering, options->part_nodes, monitor,
                                &c.old_of, error));
        hierarchy->order_seconds += weft_clock() - start;
        if (l > 0)
            TRY(connect(device, &c, error));
        renumbering_clear(&c.new_of);
        if (options->ordered && l + 1 < hierarchy->n_levels) {
            TRY(invert(device, c.old_of.nodes, mesh->n_nodes, &c.new_of.nodes, error));
            TRY(invert(device, c.old_of.cells, mesh->n_cells, &c.new_of.cells, error));
        }
        renumbering_clear(&c.old_of);
    }
done:
    renumbering_clear(&c.old_of);
    renumbering_clear(&c.new_of);
    return status;
}

weft_status weft_hierarchy_make(weft_device *device, weft_mesh **coarse,
                                const weft_hierarchy_options *options, const weft_monitor *monitor,
                                weft_hierarchy **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_hierarchy *made = calloc(1, sizeof *made);
    if (options->times != 0)
        TRY(weft_mesh_refine_check(*coarse, options->times, error));
    if (made)
        made->levels = calloc((size_t)options->times + 1, sizeof *made->levels);
    if (!made || !made->levels)
        TRY(weft_out_of_memory(error, "a hierarchy of meshes"));
    made->n_levels = options->times + 1;
    made->levels[0].mesh = *coarse;
    *coarse = NULL;
    TRY(weft_mesh_refine_levels(device, made, monitor, error));
    TRY(connect_levels(device, made, options, monitor, error));
    *out = made;
    made = NULL;
done:
    weft_mesh_free(coarse);
    weft_hierarchy_free(&made);
    return status;
}

void weft_hierarchy_free(weft_hierarchy **hierarchy) {
    weft_hierarchy *freed = *hierarchy;
    if (!freed)
        return;
    for (int l = 0; l < freed->n_levels; ++l) {
        weft_mesh_free(&freed->levels[l].mesh);
        free(freed->levels[l].parents);
        free(freed->levels[l].children);
    }
    free(freed->levels);
    free(freed);
    *hierarchy = NULL;
}

static size_t mesh_bytes(const weft_mesh *mesh) {
    const size_t d = (size_t)mesh->dimension;
    size_t numbers = (size_t)mesh->n_cells * (d + 1) + (size_t)mesh->n_facets * d;
    for (int g = 0; g < mesh->n_groups; ++g)
        numbers += (size_t)(mesh->groups[g].n_facets + mesh->groups[g].n_cells);
    return (size_t)mesh->n_nodes * d * sizeof *mesh->x + numbers * sizeof *mesh->cells +
           (size_t)mesh->n_groups * sizeof *mesh->groups;
}

size_t weft_hierarchy_bytes(const weft_hierarchy *hierarchy) {
    size_t bytes = 0;
    for (int l = 0; l < hierarchy->n_levels; ++l) {
        const weft_hierarchy_level *level = &hierarchy->levels[l];
        const weft_mesh *mesh = level->mesh;
        if (l + 1 < hierarchy->n_levels)
            bytes += mesh_bytes(mesh);
        if (l > 0)
            bytes += (size_t)(2 * mesh->n_nodes + mesh->n_cells) * sizeof *level->parents;
    }
    return bytes;
}
