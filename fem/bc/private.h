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
    int facets; /* of them, into weft_bc.facets */
} weft_bc_piece;

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
    weft_space_facets *facets; /* [n_facets], one for each group */
    int *groups;               /* [n_facets] */
    int n_facets;
    weft_bound_form *bound; /* [n_forms] of Robin conditions */
    weft_form *forms;
    int n_forms;
    int32_t *constrained;
    double *given; /* [n_constrained] */
    int64_t n_constrained;
    weft_memory *when; /* the time t of formulas, one double */
    weft_bc_steps steps;
};

/** Start a shipped form over a condition's facets, for its component where there are several; the
 *  script for several is NAME_component.weft. */
weft_status weft_bc_form(const weft_bc *bc, const weft_bc_piece *piece, const char *script,
                         const char *script_component, weft_bound_form *out, weft_error *error);

bool weft_bc_has_flux(const weft_condition *condition);
/** The load of a Neumann or Robin condition, added to b. */
weft_status weft_bc_flux_form(const weft_bc *bc, const weft_bc_piece *piece, int degree,
                              weft_memory *b, weft_bound_form *out, weft_error *error);
/** Add a load to b [n_dofs] over n elements, and refuse what is not finite.
 *  values  b on the host */
weft_status weft_bc_add_load(const weft_bc *bc, const weft_bound_form *form, int64_t n,
                             weft_memory *b, double *values, weft_error *error);
void weft_bc_steps_free(weft_bc *bc);
