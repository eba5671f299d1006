/** Function spaces. In: a mesh, an element, components. Out: dofs of cells and facets, forms and
 *  functions of the space. The interface is public: fem/weft_space.h. */
#pragma once

#include "fem/mesh/copies.h"
#include "fem/weft_function.h"

/** weft_space_make.
 *  copies  NULL, or the mesh's on the device, which a space of degree 1 takes over */
weft_status weft_space_make_with(weft_device *device, const weft_mesh *mesh,
                                 weft_mesh_copies *copies, weft_element_kind kind, int components,
                                 weft_space **out, weft_error *error);
/** What weft_space_cell_nodes and weft_space_points return, where a device may have made it alone.
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE; *out is NULL */
weft_status weft_space_read_cells(const weft_space *space, const int32_t **out, weft_error *error);
weft_status weft_space_read_points(const weft_space *space, const double **out, weft_error *error);
/** The nodes of some cells alone.
 *  cells  [n]
 *  out    [n][nodes of the element], caller's
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_space_read_rows(const weft_space *space, const int32_t *cells, int64_t n,
                                 int32_t *out, weft_error *error);
/** Are the functions the barycentric coordinates of straight triangles or tetrahedra, and so the nodes those of the
 *  mesh? The shipped scripts without tables (fem/scripts) are for these. */
bool weft_space_is_barycentric(const weft_space *space);
/** The Lagrange element whose functions include those of these spaces: of the highest degree, and discontinuous unless
 *  all of them are continuous. */
weft_element_kind weft_space_lattice(const weft_space *const *spaces, int n);
/** Entities of a mesh. */
typedef struct weft_entities_of {
    weft_entities_kind kind;
    int group; /* as weft_entity_dofs_make */
    const int *
        facets; /* [2] the numbers of facets in the cells on their sides, which are not reoriented; -1 or NULL: any */
} weft_entities_of;
/** weft_entity_dofs_make of some of the facets. */
weft_status weft_entity_dofs_make_of(const weft_space *const *spaces, int n, bool flat,
                                     const weft_entities_of *of, weft_entity_dofs *out,
                                     weft_error *error);
/** A function of a space on the host and, perhaps, on the space's device. */
typedef struct weft_space_values {
    const double *values; /* [nodes][components]; NULL: 1 */
    weft_memory *memory;  /* NULL, or has the same from entry `first` on */
    int64_t first;
} weft_space_values;
/** weft_space_integral on the device, where it has kernels for the space, and the function.
 *  Errors  WEFT_ERROR_MEMORY, _COMPILER, _DEVICE */
weft_status weft_space_integral_of(const weft_space *space, const weft_space_values *u,
                                   int component, double *out, weft_error *error);
/** What a function is compared with: a formula in x, y, z and t, and the time t. */
typedef struct weft_exact {
    const char *text, *origin; /* origin names the formula in messages */
    double t;
} weft_exact;
/** weft_space_measure_errors at a time. */
weft_status weft_space_errors_of(weft_context *context, const weft_space *space, const double *u,
                                 int component, const weft_exact *exact, double squares[2],
                                 weft_error *error);
typedef struct weft_timed_formula {
    const char *text, *origin; /* origin names the formula in messages */
    weft_memory *when;         /* one number, the time t; NULL: the formula has none */
} weft_timed_formula;
/** weft_space_evaluate at a time. */
weft_status weft_space_evaluate_timed(weft_context *context, const weft_space *space,
                                      const weft_timed_formula *formula, weft_memory *memory,
                                      double *values, weft_error *error);
