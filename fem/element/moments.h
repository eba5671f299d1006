/* Elements of vector functions by moments. In: what is integrated on each kind of entity. Out: functionals and
 * functions of an element on a simplex. */
#pragma once

#include "fem/element/family.h"

typedef enum weft_moment {
    WEFT_MOMENT_NONE,
    WEFT_MOMENT_TANGENT, /* of the component along an edge, with orthonormal polynomials */
    WEFT_MOMENT_NORMAL, /* across a facet, as long as the facet is large, with orthonormal polynomials */
    WEFT_MOMENT_AXES,  /* along each axis of the entity, with orthonormal polynomials */
    WEFT_MOMENT_FAMILY /* with the functions of a family of the entity */
} weft_moment;

/** The functionals in the interior of an entity. */
typedef struct weft_moments {
    weft_moment kind;
    weft_family family; /* WEFT_MOMENT_FAMILY */
    int degree;         /* of the functions; none below 0, or the least of the family */
} weft_moments;

/** The functionals on entities of a dimension of a cell, of an element of some degree. */
typedef weft_moments weft_moments_rule(const weft_cell *cell, int degree, int dimension);
/** What polynomials of degree k - 1 are completed with, of degree k. */
typedef enum weft_completion {
    WEFT_COMPLETE_NONE,   /* nothing: all polynomials of degree k */
    WEFT_COMPLETE_RADIAL, /* x p */
    WEFT_COMPLETE_ROTATED /* x rotated by a right angle times p; x cross (p e_i) */
} weft_completion;

/** weft_family_row.count by a rule. */
void weft_moments_count(const weft_cell *cell, int degree, weft_moments_rule *rule, int nodes[4]);
/** weft_family_row.make by a rule. */
weft_status weft_moments_make(weft_element *element, weft_moments_rule *rule,
                              weft_completion completion, weft_error *error);
