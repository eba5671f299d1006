/** What the files of fem/constrain share. */
#pragma once

#include "fem/constrain/constrain.h"
#include "fem/constrain/ranks.h"
#include "fem/form/form.h"
#include "fem/form/vectors.h"
#include "fem/multigrid/multigrid.h"
#include "fem/weft_function.h"

/** One dependent dof: u_dof = sum_i factors_i u_(dofs_i) + constant. Numbers of dofs from n_dofs on are
 *  those of prescribed values that formulas give. Of a check, which has no dependent dof: the sum is 0. */
typedef struct constraint_row {
    int32_t dof;
    int n;
    int32_t *dofs;
    double *factors, constant;
    int source;   /* of dependent dofs: into weft_constraints.sources; -1: a pin of a free mode */
    char *origin; /* of checks */
} constraint_row;

/** The constraints of one origin. Where an equation was expressed by dofs that others determine, what these
 *  constraints supply cannot be separated: they are joined. */
typedef struct constraint_source {
    char *origin;
    int joined;    /* with this one, of a lower number; itself: with none */
    bool supplies; /* something in all: forces of symmetry planes, sources of values at points */
} constraint_source;

/** A formula of values at points. */
typedef struct point_formula {
    char *text, *origin;
    double *points; /* [n][dimension] */
    int64_t n;
    weft_memory *memory; /* the points on the device, once compiled */
} point_formula;

/** A value at a point: one of those of a formula. */
typedef struct point_value {
    int formula;
    int64_t point;
    double now;
} point_value;

/** Values at points by formulas in x, y, z and t (fem/constrain/values.c). Start from the borrowed
 *  members. */
typedef struct point_values {
    weft_context *context;
    const weft_space *space;
    const weft_bc *bc; /* has the time */
    point_formula *formulas;
    int n_formulas;
    point_value *values;
    int n_values;
    weft_compiled evaluation;
} point_values;
/** Add the value at a point, which gets the number n_values.
 *  text  a formula; copied, as is origin */
weft_status point_values_add(point_values *values, const double *point, const char *text,
                             const char *origin, weft_error *error);
/** Evaluate all formulas at the time of the conditions.
 *  Errors  WEFT_ERROR_INPUT: a value is not finite */
weft_status point_values_evaluate(point_values *values, weft_error *error);
void point_values_clear(point_values *values);

/** A sparse vector whose entries change: the host's copy and the device's. Writes single numbers if few
 *  entries changed. */
weft_status point_entries_write(weft_memory *to, const double *values, int64_t n,
                                const int32_t *changed, int n_changed, weft_error *error);

/** The functions that u consists of: one, or those of a mixed space. */
typedef struct constraint_fields {
    weft_constraint_field *list; /* [n] */
    int n, n_values;             /* components of all */
    int64_t n_dofs;
} constraint_fields;
/** out  constraint_fields_clear */
weft_status constraint_fields_make(const weft_constraint_field *list, int n, constraint_fields *out,
                                   weft_error *error);
void constraint_fields_clear(constraint_fields *fields);

/** What a load adds to a dof: shape times a value, or a constant. */
typedef struct load_entry {
    int32_t dof;
    double shape, constant;
    int value; /* -1: the constant */
} load_entry;

struct weft_point_loads {
    constraint_fields fields;
    point_values values;
    load_entry *entries;
    int n_entries;
    double *sums; /* [n_dofs], and on the device; NULL before the first use */
    weft_memory *memory;
    weft_vector_programs vectors;
};

const weft_constraint_field *constraint_field_of(const constraint_fields *fields, int32_t dof);
/** The component, of those of all fields, that a dof is a value of. */
int constraint_value_of(const constraint_fields *fields, int32_t dof);
int32_t constraint_dof(const weft_constraint_field *field, int32_t node, int component);
/** Whether the field's own terms have the component, and not those of an enrichment alone. */
bool constraint_field_has(const weft_constraint_field *field, int value);
/** Whether cells share the nodes on facets. Those of enrichments, as bubbles, are inside cells. */
bool constraint_field_is_shared(const weft_constraint_field *field);
/** weft_bc_parts for the nodes of the space.
 *  out  [nodes] */
weft_status constraint_parts(const weft_space *space, const weft_bc *bc, int32_t *out, int64_t *n,
                             weft_error *error);
/** y = M v, M_ij = int phi_i phi_j for each component; [n_dofs] both. */
weft_status constraint_mass_apply(const weft_space *space, const double *v, double *y,
                                  weft_error *error);

struct weft_constraints {
    weft_context *context;
    constraint_fields fields;
    const weft_space *space; /* of the first field */
    const weft_bc *bc;
    int64_t n_dofs;  /* of all */
    int32_t *row_of; /* [n_dofs] the row of a dependent dof; -1: independent; -2: Dirichlet */
    double *given;   /* [n_dofs] of Dirichlet */
    double largest;  /* of their absolute values */
    constraint_row *rows;
    int n_rows, capacity;
    constraint_source *sources;
    int n_sources;
    bool is_resolved;       /* rows refer to independent and known dofs and values only */
    constraint_row *checks; /* equations between Dirichlet dofs and values that depend on time */
    int n_checks;
    point_values values;
    /* of a rank's part: */
    weft_layout *layout;             /* NULL: the mesh is whole */
    weft_constraints *whole;         /* on the first rank, borrowed; else NULL */
    const weft_space *const *spaces; /* on the part */
    const weft_space *const *whole_spaces;
    int64_t n_all;       /* rows of the whole */
    bool has_constant;   /* one of them has */
    bool has_checks;     /* the whole has */
    unsigned char *lost; /* [n_dofs] 1: a dependent dof whose row the rank does not have */
};

/** The first dof of an equation between prescribed values; -1: it has none. */
int32_t constraint_check_dof(const weft_constraints *constraints, const constraint_row *row);

/** Name the origin of an error, unless it has a place. */
weft_status constraint_locate(const char *origin, weft_status status, weft_error *error);
/** All components of a field at a node are those at its partner. */
weft_status constraint_match_nodes(weft_constraints *constraints,
                                   const weft_constraint_field *field, int32_t node,
                                   int32_t partner, const char *origin, weft_error *error);

/** Differences of prescribed values that are rounding: relative to their own size, and to that of the largest, as of
 *  formulas that are 0 at one of two places. */
#define CONSTRAINT_ROUNDING 1e-10
#define CONSTRAINT_ROUNDING_OF_LARGEST 1e-14

/** Terms of an equation; dofs may repeat until they are merged. Start from {0}; free members. */
typedef struct constraint_terms {
    int32_t *dofs;
    double *factors, constant;
    double size; /* sum of what the constant is made of, without signs */
    int n, capacity;
} constraint_terms;
weft_status constraint_terms_add(constraint_terms *terms, int32_t dof, double factor,
                                 weft_error *error);
/** The value of a component at a point, as a sum over dofs. */
weft_status constraint_point_terms(const constraint_fields *fields, int value, const double *point,
                                   const char *origin, constraint_terms *terms, weft_error *error);
void constraint_terms_free(constraint_terms *terms);
/** Replace dependent dofs by the terms that express them, and merge.
 *  source  of the equation: it is joined with those of these dofs */
weft_status constraint_terms_expand(weft_constraints *constraints, constraint_terms *terms,
                                    int source, weft_error *error);
/** The number of an origin among the sources. (fem/constrain/forces.c)
 *  Errors  WEFT_ERROR_MEMORY */
weft_status constraint_source_of(weft_constraints *constraints, const char *origin, int *out,
                                 weft_error *error);
/** Constraints of this origin supply something in all, unlike ties. */
void constraint_source_supplies(weft_constraints *constraints, const char *origin);
void constraint_sources_join(weft_constraints *constraints, int a, int b);
/** Let every row refer to independent dofs only. */
weft_status constraints_resolve(weft_constraints *constraints, weft_error *error);
/** Add sum_i terms_i + terms->constant = 0; the terms are expanded here.
 *  dof  a dof, for messages */
weft_status constraints_add_terms(weft_constraints *constraints, constraint_terms *terms,
                                  int32_t dof, const char *origin, weft_error *error);
/** Refuse an equation that others contradict by `apart`.
 *  t  the time, if that is not 0 */
weft_status constraints_refuse(const weft_constraints *constraints, int32_t dof, double apart,
                               double t, const char *origin, weft_error *error);
/** Is a number that of a value of a Dirichlet dof or of a formula? */
bool constraint_is_known(const weft_constraints *constraints, int32_t number);

/** Change the independent dofs of u such that sum weights (C u + g - u)^2 is least.
 *  weights, u  [n_dofs]
 *  filled      [n_dofs] C u + g of the given u */
weft_status constraints_project(const weft_constraints *constraints, const double *weights,
                                const double *filled, double *u, weft_error *error);

/** C^T A C of the values of A on the host, many times (fem/constrain/galerkin.c). */
typedef struct constraint_product constraint_product;
/** Make it from a pattern; the result has a row of the identity for each dependent dof.
 *  pattern  of A; copied from
 *  out      caller's; constraint_product_free */
weft_status constraint_product_make(weft_constraints *constraints, const weft_pattern *pattern,
                                    const weft_csr *map, constraint_product **out,
                                    weft_error *error);
void constraint_product_free(constraint_product **product);
/** A copy of the pattern of C^T A C. */
weft_status constraint_product_pattern(const constraint_product *product, weft_pattern **out,
                                       weft_error *error);
/** out = the values of C^T A C, in the order of its pattern.
 *  device  for its threads
 *  values  [entries of A] */
weft_status constraint_product_values(const constraint_product *product, weft_device *device,
                                      const double *values, double *out, weft_error *error);

/** Modes that may be free, and what the operator's terms pull at them. */
typedef struct mode_candidates {
    int64_t n_dofs;
    int n;
    double *modes; /* [n][n_dofs] */
    double *pulls; /* [n][n_dofs] A times them, of the forms that see them alone; 0: none does */
} mode_candidates;
enum { CANDIDATES_MAX = 48 }; /* of 8 bodies in space, 16 in the plane */
/** Keep those that A maps to zero, and those that it holds weakly.
 *  alone  [n_alone] the forms of A that are to be judged each by itself; see weft_free_modes_find */
weft_status mode_candidates_judge(weft_constraints *constraints, weft_operator *op,
                                  const weft_form *alone, int n_alone, mode_candidates *found,
                                  weft_error *error);
/** Replace them by `kept` combinations, column k of V [n][n]. */
weft_status mode_candidates_combine(mode_candidates *found, const double *V, int kept,
                                    weft_error *error);
/** Move those that A holds to `held`, and leave the others. */
weft_status mode_candidates_split(mode_candidates *found, weft_held_modes *held, weft_error *error);
void mode_candidates_clear(mode_candidates *found);
double constraint_product_of(const double *a, const double *b, int64_t n);
