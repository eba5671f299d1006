/** The functions that u consists of, one or those of a mixed space: their dofs and conditions.
 *
 *      In: a mesh, spaces and conditions. Out: constrained dofs, and what applies the conditions. */
#pragma once

#include "fem/problem/solution.h"

enum { WEFT_FIELDS_MAX = 16 };

/** Owns the spaces and conditions. */
typedef struct weft_fields {
    weft_context *context; /* borrowed, as is mesh */
    const weft_mesh *mesh;
    weft_condition *conditions; /* [n_conditions], malloc'd */
    int n_conditions;
    bool is_natural;      /* without a condition, the flux is zero on the boundary, not u */
    bool has_constraints; /* which take the place of u = 0, too */
    weft_problem_field list[WEFT_FIELDS_MAX];
    const weft_space *spaces[WEFT_FIELDS_MAX];
    int n, n_values; /* functions; components of u in all of them */
    int64_t n_dofs;
    const char *name;           /* of u in results and formulas, borrowed; NULL: "u" */
    weft_space *space;          /* of the first field */
    weft_bc *bc;                /* of the first field, with the conditions on all fluxes */
    const int32_t *constrained; /* dofs, ascending; borrowed from bc, or */
    int32_t *own_constrained;   /* of several fields; malloc'd */
    struct weft_layout *layout; /* of the dofs, where the mesh is the part of a rank; else NULL */
    int64_t n_constrained;
} weft_fields;

/** Make u one function of `space`, unless fields are there; set n, n_values and n_dofs. */
void weft_fields_count(weft_fields *fields);
static inline const char *weft_fields_name(const weft_fields *fields) {
    return fields->name ? fields->name : "u";
}
/** Is the flux zero, not u, where there is no condition at all? */
bool weft_fields_are_natural(const weft_fields *fields);
/** Make the boundary conditions of all fields from `conditions`.
 *  Errors  those of weft_bc_make */
weft_status weft_fields_conditions_make(weft_fields *fields, weft_error *error);
/** Set the dofs of Dirichlet conditions to factor times their values; u [n_dofs]. */
void weft_fields_set_conditions(const weft_fields *fields, double factor, double *u);
/** The field of a dof. */
const weft_problem_field *weft_fields_of_dof(const weft_fields *fields, int64_t dof);
/** values  [n_dofs], borrowed */
weft_solution weft_fields_solution(const weft_fields *fields, const double *values);
