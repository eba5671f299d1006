/** What the forms of a problem read: inputs by name, each of which stands over the entries of an index set.
 *
 *      In: formulas, also by group, in time and with fields of files, or lists. Out: values on the device. */
#pragma once

#include "fem/problem/fields.h"
#include "fem/weft_transient.h"
#include "fusion/weft_compile.h"

/** An index set of forms besides "cells", whose entries are nodes of a space, or dofs of several. */
typedef struct weft_problem_set {
    const char *name;                    /* borrowed */
    weft_space *spaces[WEFT_FIELDS_MAX]; /* [n] */
    int first_values[WEFT_FIELDS_MAX];   /* of the components of each among those of a function */
    int n;
    /* entries are dofs: those of the first space, node by node, then those of the second... */
    bool is_flat;
} weft_problem_set;

/** An input with its values. Over cells these are block-interleaved, and spare lanes repeat the last cell; elsewhere each
 *  entry has its components together. */
typedef struct weft_input {
    weft_name_info info; /* borrowed from a compilation */
    const char *shown;   /* the name in messages */
    weft_memory *memory; /* the values */
    double *values;      /* what it wraps; NULL: it is borrowed */
    double *whole;       /* at full load, of an input called load that was scaled; else NULL */
    struct weft_moving_input *moving; /* its formulas depend on t; else NULL */
} weft_input;

typedef struct weft_inputs {
    const weft_fields *fields; /* of the problem; borrowed */
    /* [n_sets], malloc'd; those of u come first. 0: "nodes" are those of its first space */
    weft_problem_set *sets;
    int n_sets;
    int geometry;     /* the set whose coordinates are the input x */
    weft_input *list; /* [n], malloc'd */
    int n;
    weft_memory **moving; /* [n_moving] values of those that depend on t, malloc'd */
    int n_moving;
    weft_memory *load; /* the load factor, which an input `load` without values is; NULL: not yet */
    double load_factor;
} weft_inputs;

/** Add an input and compute its values, at t = 0.
 *  info    borrowed with its strings, as are those of source
 *  Errors  WEFT_ERROR_USAGE: more or fewer formulas than components; a number that depends on place; a list of another
 *          length. WEFT_ERROR_INPUT: it stands over another index set; a value is not finite.
 *          WEFT_ERROR_UNSUPPORTED: what cannot depend on t. Those of weft_space_evaluate */
weft_status weft_inputs_add(weft_inputs *inputs, const weft_name_info *info,
                            const weft_input_source *source, weft_error *error);
/** Compute the values of an input without adding it.
 *  values  [weft_inputs_size_of] */
weft_status weft_inputs_fill(weft_inputs *inputs, const weft_name_info *info,
                             const weft_input_source *source, double *values, weft_error *error);
/** Compute the values of u from formulas.
 *  values  [n_dofs] */
weft_status weft_inputs_fill_fields(weft_inputs *inputs, const weft_input_source *source,
                                    double *values, weft_error *error);
/** Refuse a list of the source that does not have the length of an input.
 *  Errors  WEFT_ERROR_USAGE */
weft_status weft_inputs_check_length(const weft_inputs *inputs, const weft_name_info *info,
                                     const weft_input_source *source, weft_error *error);
/** Values of an input, with the spare lanes of the last block of cells. */
int64_t weft_inputs_size_of(const weft_inputs *inputs, const weft_name_info *info);
/** Components at each entry. */
int weft_input_components(const weft_name_info *info);
/** The space over whose nodes an input stands; NULL: none. */
const weft_space *weft_input_space(const weft_inputs *inputs, const weft_name_info *info);
/** The memory of an input; NULL: it has not been added. */
weft_memory *weft_inputs_find(const weft_inputs *inputs, const char *name);
/** The set of this name; NULL: none. */
const weft_problem_set *weft_inputs_set_of(const weft_inputs *inputs, const char *name);
/** Is there an input called `load`? */
bool weft_inputs_have_load(const weft_inputs *inputs);
/** Set the load factor, and the inputs called `load` to so many times their values. */
weft_status weft_inputs_scale_loads(weft_inputs *inputs, double factor, weft_error *error);
/** The inputs that depend on t, for the problem in time. */
weft_transient_inputs weft_inputs_moving(weft_inputs *inputs);
void weft_inputs_clear(weft_inputs *inputs);

/* ---- inside (moving.c) ----------------------------------------------------------------------- */

/** The functions that are constant in each cell; inputs over cells have their values. */
weft_status weft_constants_make(const weft_fields *fields, weft_space **out, weft_error *error);

/** Refuse a formula of a number that has coordinates or groups. */
weft_status weft_input_check_uniform(const weft_input_source *source, const char *text,
                                     weft_error *error);
/** The formulas of an input, one for each component.
 *  out  [components], to be freed by weft_formula_list_free */
weft_status weft_input_split(const weft_input_source *source, int components, char ***out,
                             weft_error *error);
/** Compile the formulas of an input that depends on t.
 *  memory  its values, which weft_moving_input_set computes
 *  out     weft_moving_input_free */
weft_status weft_moving_input_make(weft_inputs *inputs, const weft_name_info *info,
                                   const weft_input_source *source, weft_memory *memory,
                                   struct weft_moving_input **out, weft_error *error);
weft_status weft_moving_input_set(struct weft_moving_input *input, double t, weft_error *error);
void weft_moving_input_free(struct weft_moving_input **input);
