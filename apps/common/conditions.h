/** Boundary conditions and probes of the command line, and lists of expressions, one for each
 *  component. */
#pragma once

#include "apps/common/support.h"
#include "fem/weft_fem.h"

/** One --dirichlet, --neumann or --robin. */
typedef struct app_condition {
    weft_condition_kind kind;
    char *group, *value, *alpha; /* malloc'd; alpha of Robin only */
    char origin[300];            /* "--dirichlet left", for messages */
} app_condition;

typedef struct app_conditions {
    app_condition *list;
    int n;
} app_conditions;

/** Read GROUP=EXPR, or GROUP=ALPHA,EXPR for Robin, and append it. */
weft_status app_condition_read(app_conditions *conditions, weft_condition_kind kind,
                               const char *text, weft_error *error);
void app_conditions_clear(app_conditions *conditions);

typedef struct app_probe {
    const char *text; /* as given; borrowed from argv */
    double point[3];
    int n; /* coordinates given */
} app_probe;

typedef struct app_probes {
    app_probe *list;
    int n;
} app_probes;

weft_status app_probe_read(app_probes *probes, const char *text, weft_error *error);
void app_probes_clear(app_probes *probes);
/** Errors  WEFT_ERROR_USAGE: one has more or fewer coordinates than the mesh */
weft_status app_probes_check(const app_probes *probes, int dimension, weft_error *error);
/** Values [n][components] at the probes, of nodal values [nodes][components]; NaN outside; out is
 * the caller's. */
void app_probes_measure(const app_probes *probes, const weft_mesh *mesh, const double *values,
                        int components, double *out);

/** Find the group that a condition names; an error names the option. */
weft_status app_condition_group(const weft_mesh *mesh, const app_condition *condition,
                                weft_error *error);
/** Conditions component by component, for weft_bc_make. Start from {0}. */
typedef struct app_pieces {
    weft_condition *list;
    int n;
    char **texts; /* [n_texts], what the list borrows */
    int n_texts;
} app_pieces;
/** Errors  WEFT_ERROR_USAGE (a list of expressions of another length), WEFT_ERROR_INPUT (no such
 *          group), WEFT_ERROR_MEMORY; free in any case */
weft_status app_pieces_make(const app_conditions *conditions, const weft_mesh *mesh,
                            int components, app_pieces *out, weft_error *error);
void app_pieces_free(app_pieces *pieces);

/** Split at the commas outside parentheses, blanks round the pieces removed; *out [*n] is malloc'd,
 * and so is each. An empty piece is WEFT_ERROR_USAGE. */
weft_status app_split_list(const char *option, const char *text, char ***out, int *n,
                           weft_error *error);
void app_free_list(char ***list, int n);
/** The same with one piece for each component.  Errors  WEFT_ERROR_USAGE: more or fewer */
weft_status app_split_components(const char *option, const char *text, int components, char ***out,
                                 weft_error *error);
