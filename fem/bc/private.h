/** What the files of fem/bc share. */
#pragma once

#include "fem/bc/bc.h"
#include "fem/weft_fem.h"

/** A condition and where it stands. */
typedef struct weft_bc_piece {
    weft_condition condition; /* origin is never NULL */
    int32_t *nodes;           /* [n_nodes] of Dirichlet */
    int64_t n_nodes;
    int group;  /* of Neumann and Robin, in the mesh; -1: the whole boundary */
    int facets; /* of them, into weft_bc.facets */
} weft_bc_piece;

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
};

/** Start a shipped form over a condition's facets, for its component where there are several; the
 *  script for several is NAME_component.weft. */
weft_status weft_bc_form(const weft_bc *bc, const weft_bc_piece *piece, const char *script,
                         const char *script_component, weft_bound_form *out, weft_error *error);
