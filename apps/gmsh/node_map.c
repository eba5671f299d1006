/* Numbers nodes by their tags, through a table or, where tags are sparse, a sorted list. */
#include "apps/gmsh/node_map.h"

#include <gmshc.h>
#include <stdlib.h>
#include <string.h>

static int compare_tags(const void *a, const void *b) {
    size_t p = *(const size_t *)a, q = *(const size_t *)b;
    return (p > q) - (p < q);
}

/* Where the number of a tag stands; n_slots: it is not a node's. */
static size_t slot_of(const node_map *nodes, size_t tag) {
    if (!nodes->sorted)
        return tag < nodes->n_slots ? tag : nodes->n_slots;
    const size_t *found = bsearch(&tag, nodes->sorted, nodes->n_tags, sizeof tag, compare_tags);
    return found ? (size_t)(found - nodes->sorted) : nodes->n_slots;
}

bool node_map_make(node_map *nodes) {
    for (size_t i = 0; i < nodes->n_tags; ++i)
        if (nodes->tags[i] > nodes->greatest)
            nodes->greatest = nodes->tags[i];
    bool dense = nodes->greatest / 16 <= nodes->n_tags + 65536;
    nodes->n_slots = dense ? nodes->greatest + 1 : nodes->n_tags;
    nodes->number = malloc((nodes->n_slots + 1) * sizeof *nodes->number);
    if (!nodes->number)
        return false;
    memset(nodes->number, 0xFF, nodes->n_slots * sizeof *nodes->number);
    if (dense)
        return true;
    nodes->sorted = malloc((nodes->n_tags + 1) * sizeof *nodes->sorted);
    if (!nodes->sorted)
        return false;
    memcpy(nodes->sorted, nodes->tags, nodes->n_tags * sizeof *nodes->sorted);
    qsort(nodes->sorted, nodes->n_tags, sizeof *nodes->sorted, compare_tags);
    return true;
}

void node_map_clear(node_map *nodes) {
    gmshFree(nodes->tags);
    free(nodes->number);
    free(nodes->sorted);
    *nodes = (node_map){0};
}

void node_map_mark(node_map *nodes, const size_t *tags, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        const size_t slot = slot_of(nodes, tags[i]);
        if (slot < nodes->n_slots)
            nodes->number[slot] = 0;
    }
}

void node_map_number(node_map *nodes, bool used, double *x) {
    for (size_t i = 0; i < nodes->n_tags; ++i) {
        const size_t slot = slot_of(nodes, nodes->tags[i]);
        if (used && nodes->number[slot] < 0)
            continue;
        memmove(x + 3 * nodes->n, x + 3 * i, 3 * sizeof *x);
        nodes->number[slot] = (int32_t)nodes->n++;
    }
}

int32_t node_map_find(const node_map *nodes, size_t tag) {
    const size_t slot = slot_of(nodes, tag);
    return slot < nodes->n_slots ? nodes->number[slot] : -1;
}
