/** Boundary conditions and probes. In: texts of the command line. Out: conditions for weft_bc_make,
 *  values at the probes. */
#pragma once

#include "apps/common/formula.h"
#include "apps/common/place.h"

/** One --dirichlet, --neumann or --robin. */
typedef struct app_condition {
    weft_condition_kind kind;
    char *group, *value, *alpha; /* malloc'd; alpha NULL unless Robin */
    char origin[300];            /* "--dirichlet left", for messages */
} app_condition;

typedef struct app_conditions {
    app_condition *list;
    int n;
} app_conditions;

/** Parse GROUP=EXPR, or GROUP=ALPHA,EXPR for Robin, and append the condition.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status app_condition_read(app_conditions *conditions, weft_condition_kind kind,
                               const char *text, weft_error *error);
void app_conditions_clear(app_conditions *conditions);

typedef struct app_probe {
    const char *text; /* as given; borrowed from argv */
    app_place place;
} app_probe;

typedef struct app_probes {
    app_probe *list;
    int n;
} app_probes;

weft_status app_probe_read(app_probes *probes, const char *text, weft_error *error);
void app_probes_clear(app_probes *probes);
/** The probes on a mesh: one for each point of a group.
 *  out     app_probes_clear; every place in it is a point
 *  Errors  as app_place_points; WEFT_ERROR_USAGE: two at the same point */
weft_status app_probes_find(const app_probes *probes, const weft_mesh *mesh, app_probes *out,
                            weft_error *error);
/** The cells of the probes, -1 outside, and their barycentric coordinates; [n] each. */
weft_status app_probes_locate(const app_probes *probes, weft_device *device, const weft_mesh *mesh,
                              int64_t *cells, double (*weights)[4], weft_error *error);

/** Conditions split into components, for weft_bc_make. Start from {0}. */
typedef struct app_pieces {
    weft_condition *list;
    int n;
    char **texts; /* [n_texts], borrowed by the list */
    int n_texts;
} app_pieces;
/** Split conditions into components.
 *  out     caller's, also on errors; app_pieces_free
 *  Errors  WEFT_ERROR_USAGE: the number of expressions is not the number of components;
 *          WEFT_ERROR_INPUT: no such group; WEFT_ERROR_MEMORY */
weft_status app_pieces_make(const app_conditions *conditions, const weft_mesh *mesh, int components,
                            app_pieces *out, weft_error *error);
void app_pieces_free(app_pieces *pieces);
