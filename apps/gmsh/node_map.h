/** Numbers for nodes: Gmsh's tags -> 0, 1, ... */
#pragma once

#include "core/weft_core.h"

/** Start with {0}. */
typedef struct node_map {
    int64_t n;    /* nodes that are numbered */
    size_t *tags; /* [n_tags], as Gmsh gives them; freed by gmshFree */
    size_t n_tags, greatest;
    size_t *sorted;  /* [n_tags]: tags ascending, if they are too sparse for a table; or NULL */
    int32_t *number; /* [n_slots]: number of a tag's slot, from 0; -1: none */
    size_t n_slots;
} node_map;

/** Make the table of the tags, which are set and fewer than 2^31; no node has a number. False: no memory. */
bool node_map_make(node_map *nodes);
void node_map_clear(node_map *nodes);
/** Note that nodes are used. Tags of no node are ignored. */
void node_map_mark(node_map *nodes, const size_t *tags, size_t n);
/** Number the nodes in Gmsh's order, and move their coordinates together.
 *  used    only those of node_map_mark
 *  x       [n_tags][3] -> [n][3] */
void node_map_number(node_map *nodes, bool used, double *x);
/** -1: the node has no number, or there is none with this tag. */
int32_t node_map_find(const node_map *nodes, size_t tag);
