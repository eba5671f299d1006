/** What the files of fem/constrain share. */
#pragma once

#include "fem/constrain/constrain.h"
#include "fem/weft_function.h"
#include "fem/multigrid/multigrid.h"

/** One dependent dof: u_dof = sum_i factors_i u_(dofs_i) + constant. */
typedef struct constraint_row {
    int32_t dof;
    int n;
    int32_t *dofs;
    double *factors, constant;
} constraint_row;

struct weft_constraints {
    weft_context *context;
    const weft_space *space;
    const weft_bc *bc;
    int64_t n_dofs;
    int32_t *row_of; /* [n_dofs] the row of a dependent dof; -1: independent; -2: Dirichlet */
    double *given;   /* [n_dofs] of Dirichlet */
    constraint_row *rows;
    int n_rows, n_room;
    bool is_resolved; /* rows refer to independent dofs only */
};

/** Terms of an equation; dofs may repeat until they are merged. Start from {0}; free members. */
typedef struct constraint_terms {
    int32_t *dofs;
    double *factors, constant;
    double size; /* sum of what the constant is made of, without signs */
    int n, room;
} constraint_terms;
weft_status constraint_terms_add(constraint_terms *terms, int32_t dof, double factor,
                                 weft_error *error);
void constraint_terms_free(constraint_terms *terms);
/** Replace dependent and known dofs by what they are expressed by, and merge. */
weft_status constraint_terms_expand(const weft_constraints *constraints, constraint_terms *terms,
                                    weft_error *error);
/** Let every row refer to independent dofs only. */
weft_status constraints_resolve(weft_constraints *constraints, weft_error *error);
