/** What the files of fem/bc share. */
#pragma once

#include "fem/bc/bc.h"
#include "fem/form/form.h"
#include "fem/weft_fem.h"

/** A condition and where it stands. */
typedef struct weft_bc_piece {
    weft_condition condition; /* origin is never NULL */
    int32_t *nodes;           /* [n_nodes] of Dirichlet */
    int64_t n_nodes;
    int group;  /* of Neumann and Robin, in the mesh; -1: the whole boundary */
    int facets; /* of them, into weft_bc.facets; -1: not needed */
} weft_bc_piece;

/** The facets of a group, and what forms over them read. */
typedef struct weft_bc_facets {
    int group, component; /* component: -1 for all; dofs of mixed spaces are those of one */
    int64_t n;
    int width;               /* nodes of a facet: of the functions that do not vanish on it */
    int32_t *nodes;          /* [n][width] of the space */
    weft_connectivity *dofs; /* facets -> nodes; of mixed spaces to the dofs of u */

    /* unless functions are barycentric (fem/bc/facets.c) */
    int32_t *indices;  /* of dofs, where they are not the nodes */
    int32_t *vertices; /* [n][vertices of a facet] */
    weft_connectivity *to_vertices;
    int map_degree, map_nodes; /* of the map from the reference cell; its nodes on a facet */
    weft_memory *X;            /* [n][map_nodes][d], interleaved */
} weft_bc_facets;

/** The dofs of a Dirichlet condition whose value depends on t, and what their coordinates are. */
typedef struct weft_bc_mover {
    int piece;
    const weft_space *space;
    int32_t *dofs;
    weft_connectivity *at; /* these dofs -> dofs of the space */
    double *x;             /* [n][dimension] */
    weft_memory *points;   /* x on the device */
    int64_t n;
} weft_bc_mover;

/** Programs that evaluate conditions at a time (fem/bc/time.c). */
typedef struct weft_bc_steps {
    bool is_made;
    weft_bc_mover *movers; /* [n_movers] */
    int n_movers;
    weft_memory *moving; /* [n_dofs] 1 at dofs of movers, else 0 */
    weft_compiled values;
    weft_compiled *fluxes; /* [n_fluxes] */
    int n_fluxes;
} weft_bc_steps;

struct weft_bc {
    weft_context *context;
    const weft_space *space;
    bool is_null; /* the device computes nothing */
    weft_bc_piece *pieces;
    int n_pieces;
    weft_bc_place place;
    bool is_barycentric;    /* functions of one space, whose facet integrals have closed formulas */
    weft_bc_facets *facets; /* [n_facets], one for each group */
    int n_facets;
    weft_bound_form *bound; /* [n_forms] of Robin conditions */
    weft_form *forms;       /* [n_forms], followed by those of `joined` */
    int n_forms, n_all_forms;
    weft_bc **joined; /* [n_joined] of the other functions of a mixed space */
    int n_joined;
    int32_t *constrained;
    double *given; /* [n_constrained] */
    int64_t n_constrained;
    weft_memory *when; /* the time t of formulas, one double */
    weft_bc_steps steps;
};

/** Find the facets of a group, and what forms over them need.
 *  Errors  WEFT_ERROR_UNSUPPORTED (functions that have no values on facets, or two), WEFT_ERROR_MEMORY */
weft_status weft_bc_facets_make(const weft_bc *bc, int group, int component, weft_bc_facets *out,
                                weft_error *error);
void weft_bc_facets_free(weft_bc_facets *facets);
/** Start the shipped form of a load, or of a matrix, over a condition's facets, for its component where there are
 *  several.
 *  degree  of the quadrature for linear functions; others have a higher one */
weft_status weft_bc_form(const weft_bc *bc, const weft_bc_piece *piece, bool is_load, int degree,
                         weft_bound_form *out, weft_error *error);

/** The length of vectors: the dofs of the space, or of all functions of a mixed space. */
int64_t weft_bc_dofs(const weft_bc *bc);
bool weft_bc_has_flux(const weft_condition *condition);
/** The load of a Neumann or Robin condition, added to b. */
weft_status weft_bc_flux_form(const weft_bc *bc, const weft_bc_piece *piece, int degree,
                              weft_memory *b, weft_bound_form *out, weft_error *error);
/** Add a load to b [n_dofs] over n elements, and refuse values that are not finite.
 *  values  b on the host */
weft_status weft_bc_add_load(const weft_bc *bc, const weft_bound_form *form, int64_t n,
                             weft_memory *b, double *values, weft_error *error);
void weft_bc_steps_free(weft_bc *bc);
