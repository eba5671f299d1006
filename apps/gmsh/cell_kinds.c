/* The table of the cells that a mesh can have, and the message where it has others. */
#include "apps/gmsh/cell_kinds.h"
#include "apps/gmsh/weft_gmsh.h"

#include <string.h>

static const cell_kind kinds[] = {
    {WEFT_TRIANGLE, 1, 2, 3, 1, 2, 2, {0, 1, 2}, "triangles of 3 or 6 nodes"},
    {WEFT_TETRAHEDRON, 1, 4, 4, 2, 3, 3, {0, 1, 2, 3}, "tetrahedra of 4 or 10 nodes"},
    {WEFT_INTERVAL, 1, 1, 2, 15, 1, 1, {0, 1}, "lines of 2 or 3 nodes"},
    {WEFT_QUADRILATERAL, 1, 3, 4, 1, 2, 2, {0, 1, 3, 2}, "quadrangles of 4 or 9 nodes"},
    {WEFT_HEXAHEDRON, 1, 5, 8, 3, 4, 4, {0, 1, 3, 2, 4, 5, 7, 6}, "hexahedra of 8 or 27 nodes"},
    {WEFT_TRIANGLE, 2, 9, 6, 8, 3, 2, {0, 1, 2, 4, 5, 3}, NULL},
    {WEFT_TETRAHEDRON, 2, 11, 10, 9, 6, 3, {0, 1, 2, 3, 8, 9, 5, 7, 6, 4}, NULL},
    {WEFT_INTERVAL, 2, 8, 3, 15, 1, 1, {0, 1, 2}, NULL},
    {WEFT_QUADRILATERAL, 2, 10, 9, 8, 3, 2, {0, 1, 3, 2, 4, 7, 5, 6, 8}, NULL},
    {WEFT_HEXAHEDRON,
     2,
     12,
     27,
     10,
     9,
     4,
     {0,  1,  3,  2,  4,  5,  7,  6,  8,  9,  10, 11, 12, 13,
      15, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26},
     NULL}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static weft_text list_types(const int64_t *counts) {
    weft_text list = {0};
    for (int type = 1; type < MSH_TYPES; ++type)
        if (counts[type] > 0)
            weft_text_add(&list, "%s%lld %s (type %d)", list.length ? ", " : "",
                          (long long)counts[type], msh_type_name(type), type);
    return list;
}

static weft_status refuse_types(const char *path, int dimension, const int64_t *counts, int n_kinds,
                                weft_error *error) {
    bool higher = true; /* only simplices, and some of higher order */
    weft_text list = list_types(counts), message = {0};
    for (int type = 1; type < MSH_TYPES; ++type)
        if (counts[type] > 0 && type != 2 && type != 4)
            higher &= type == 8 || type == 9 || type == 11 || (type >= 20 && type <= 31);
    weft_text_add(&message, "it has %s, and ", list.data ? list.data : "");
    if (n_kinds > 1)
        weft_text_add(&message, "a mesh has cells of one type");
    else
        weft_text_add(&message, "Weft takes %s or %s",
                      kinds[dimension == 3   ? 1
                            : dimension == 2 ? 0
                                             : 2]
                          .wanted,
                      dimension == 1 ? "cells of higher dimension"
                                     : kinds[dimension == 3 ? 4 : 3].wanted);
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s",
                   message.failed || list.failed ? "unsupported cells" : message.data);
    weft_error_location(error, path, NULL, 0, 0);
    weft_error_hint(error, "%s",
                    higher ? "set Mesh.ElementOrder = 1; or 2; in the .geo file and mesh again"
                           : "for triangles or tetrahedra, take Recombine out of the .geo file "
                             "(Recombine Surface, Recombine in Extrude, Mesh.RecombineAll); for "
                             "quadrangles or hexahedra alone, use Transfinite surfaces and volumes "
                             "or Mesh.SubdivisionAlgorithm = 1 (2: hexahedra); and mesh again");
    weft_text_free(&message);
    weft_text_free(&list);
    return WEFT_ERROR_UNSUPPORTED;
}

weft_status cell_kind_choose(const char *path, int dimension, const int64_t *counts,
                             const cell_kind **out, weft_error *error) {
    int n_kinds = 0;
    int64_t n_others = 0;
    *out = &kinds[dimension == 3 ? 1 : 0]; /* where there are no cells */
    for (int type = 1; type < MSH_TYPES; ++type)
        n_others += counts[type];
    for (int k = 0; k < N_KINDS; ++k)
        if (counts[kinds[k].type] > 0) {
            *out = &kinds[k];
            n_others -= counts[kinds[k].type];
            ++n_kinds;
        }
    return n_kinds > 1 || n_others > 0
               ? refuse_types(path, dimension, counts, n_others > 0 ? 0 : n_kinds, error)
               : WEFT_OK;
}

void cell_kind_order(const cell_kind *kind, size_t *tags, size_t n) {
    const int v = kind->n_nodes;
    for (size_t i = 0; i + (size_t)v <= n; i += (size_t)v) {
        size_t old[27];
        memcpy(old, tags + i, (size_t)v * sizeof *old);
        for (int k = 0; k < v; ++k)
            tags[i + (size_t)k] = old[kind->order[k]];
    }
}
