/** MSH 1 and 2, which Gmsh reads with groups of entities: elements of one entity with several physical groups would be
 *  in all of them. So Weft reads these files, and gives Gmsh an entity for each set of groups, as MSH 4.1.
 *
 *      file in memory -> nodes, elements -> groups of each element -> MSH 4.1, binary */
#pragma once

#include "apps/gmsh/weft_gmsh.h"

typedef struct msh_old_element {
    int64_t number, physical, elementary, first; /* physical 0: none; nodes[first ..] */
    int type, part;                              /* part 0: none; INT32_MAX: this or greater */
} msh_old_element;

/** The nodes of an entity are images of those of another. */
typedef struct msh_old_link {
    int dimension;
    int64_t entity, master, first, n; /* pairs[2*first ..], n pairs */
} msh_old_link;

/** What a file holds. Start with {0}; msh_old_clear. */
typedef struct msh_old {
    int64_t n_nodes, *numbers; /* as the file numbers the nodes */
    double *x;                 /* [n_nodes][3] */
    int64_t n_elements, element_capacity;
    msh_old_element *elements;
    int64_t n_element_nodes, element_node_capacity, *nodes; /* of the elements */
    int64_t n_links, link_capacity;
    msh_old_link *links;
    int64_t n_pairs, pair_capacity, *pairs; /* node, its image */
    int64_t greatest_part;                  /* that an element names, its ghosts included */
} msh_old;
/** Read a file that msh_check has passed, from its start.
 *  file    mapped; version, binary and swapped are set
 *  Errors  WEFT_ERROR_INPUT, WEFT_ERROR_MEMORY */
weft_status msh_old_read(msh_file *file, msh_old *out);
void msh_old_clear(msh_old *old);
/** Read a file for which msh_foreign_is. Errors  WEFT_ERROR_INPUT, _UNSUPPORTED, _MEMORY */
weft_status msh_foreign_read(msh_file *file, msh_old *out);
/** Add an element with its nodes, as the file numbers them.
 *  Errors  WEFT_ERROR_INPUT (the number of its group is too large), WEFT_ERROR_MEMORY */
weft_status msh_old_add(msh_file *file, msh_old *old, msh_old_element element,
                        const int64_t *nodes);
/** Does Weft read the file itself: MSH 1 and 2, and those of msh_foreign_is? */
bool msh_old_is(const msh_file *file);
/** Read such a file, and write it as MSH 4.1 for Gmsh to `out`, a descriptor.
 *  counts  of the file's elements: those that are repeated, once for each group, are taken off
 *  Errors  WEFT_ERROR_INPUT, _UNSUPPORTED, _MEMORY, _IO */
weft_status msh_old_rewrite(msh_file *file, msh_counts *counts, int out);
