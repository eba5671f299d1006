/** What holds a problem's u besides conditions, and loads at points.
 *
 *      In: constraints and loads, in any order. Out: a problem whose solves and steps have them.
 *
 *  docs/constraints.md describes their meaning, fem/weft_constraint.h the method. With a constraint the rest of the
 *  boundary is free: there is no flux where no condition is. Loads at points change no condition. */
#ifndef WEFT_PROBLEM_CONSTRAINTS_H
#define WEFT_PROBLEM_CONSTRAINTS_H

#include "fem/weft_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_constraint_kind {
    /* the continuous parts of u are equal at the same places of two groups of facets, or, without groups, at nodes that
     * the mesh file declares to be images of each other */
    WEFT_CONSTRAINT_PERIODIC,
    WEFT_CONSTRAINT_TIE, /* a component is equal at all nodes of a group of facets or points */
    WEFT_CONSTRAINT_SYMMETRY, /* the normal component is 0 on a group of facets: a symmetry plane, a sliding support */
    WEFT_CONSTRAINT_POINT /* a component has a value at a point, which need not be a node */
} weft_constraint_kind;

/** Of `component`: the same for each component of u. */
enum { WEFT_ALL_COMPONENTS = -1 };

/** One constraint. Strings are borrowed. Start from {sizeof(weft_constraint), KIND}. */
typedef struct weft_constraint {
    size_t size; /* sizeof(weft_constraint) */
    weft_constraint_kind kind;
    const char *group; /* of facets; of WEFT_CONSTRAINT_POINT of points, or NULL: `point` */
    const char *other; /* of WEFT_CONSTRAINT_PERIODIC: the group of the other side */
    double point[3];   /* the coordinates of the mesh's dimensions are read */
    int component; /* of ties and points, among those of all functions of u, or WEFT_ALL_COMPONENTS */
    const char *value; /* of points: a number, or a formula in x, y, z and t */
    const char
        *origin; /* names the constraint in messages and reactions; NULL: its kind and group */
} weft_constraint;

/** A concentrated source or force. Strings are borrowed. */
typedef struct weft_point_load {
    size_t size;       /* sizeof(weft_point_load) */
    const char *group; /* of points, each of which has the load; NULL: `point` */
    double point[3];
    int component;
    const char *value;
    const char *origin;
} weft_point_load;

/** Add a constraint, which solves and steps from now on satisfy.
 *  constraint  copied; its strings are borrowed and must outlive the problem
 *  Errors      WEFT_ERROR_USAGE: a group or a value is missing; WEFT_ERROR_MEMORY. Solves then have those of
 *              fem/weft_constraint.h, with the origin, and WEFT_ERROR_UNSUPPORTED: periodic sides of a form with integrals
 *              over facets between cells */
weft_status weft_problem_constraint(weft_problem *problem, const weft_constraint *constraint,
                                    weft_error *error);
/** Add a load at a point, as weft_problem_constraint. */
weft_status weft_problem_point_load(weft_problem *problem, const weft_point_load *load,
                                    weft_error *error);
/** After a solve.
 *  Returns  the number of dofs that constraints express by others */
int64_t weft_problem_dependent(const weft_problem *problem);
/** After a linear solve: motions that nothing fixes, such as translations and rotations of a body that floats. u is without
 *  them.
 *  held     set to the number of those that weak terms alone hold, as soft springs; may be NULL
 *  Returns  their number */
int weft_problem_free_modes(const weft_problem *problem, int *held);

#ifdef __cplusplus
}
#endif
#endif
