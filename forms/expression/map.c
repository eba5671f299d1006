/* Tables from node to node, for transformations that visit each node once. */
#include "forms/expression/expression.h"

static size_t slot(const ufl_map *map, const ufl_node *key) {
    size_t mask = ((size_t)1 << map->bits) - 1;
    size_t at = (key->id * (size_t)2654435761u) & mask;
    while (map->keys[at] && map->keys[at] != key)
        at = (at + 1) & mask;
    return at;
}

const ufl_node *ufl_map_find(const ufl_map *map, const ufl_node *key) {
    return map->bits > 0 ? map->values[slot(map, key)] : NULL;
}

static bool grow(ufl_graph *graph, ufl_map *map) {
    ufl_map grown = {.n = map->n, .bits = map->bits > 0 ? map->bits + 1 : 6};
    size_t size = (size_t)1 << grown.bits;
    grown.keys = ufl_alloc(graph->context, size, sizeof *grown.keys);
    grown.values = ufl_alloc(graph->context, size, sizeof *grown.values);
    if (!grown.keys || !grown.values)
        return false;
    for (size_t i = 0; map->bits > 0 && i < (size_t)1 << map->bits; ++i)
        if (map->keys[i]) {
            size_t at = slot(&grown, map->keys[i]);
            grown.keys[at] = map->keys[i];
            grown.values[at] = map->values[i];
        }
    *map = grown;
    return true;
}

const ufl_node *ufl_map_put(ufl_graph *graph, ufl_map *map, const ufl_node *key,
                            const ufl_node *value) {
    if (!value)
        return NULL;
    if ((map->bits == 0 || 2 * (map->n + 1) > (size_t)1 << map->bits) && !grow(graph, map))
        return NULL;
    size_t at = slot(map, key);
    map->n += !map->keys[at];
    map->keys[at] = key;
    map->values[at] = value;
    return value;
}
