/** The text of a problem: what a run that continues from a checkpoint must share with the one that wrote it, as options of
 *  the program solve.
 *
 *      In: what is given by name, conditions, constraints, choices. Out: a text. */
#pragma once

#include "fem/problem/declared.h"
#include "fem/problem/fields.h"
#include "fem/weft_problem.h"

/** Kept for the text. Initialise with {0}. */
typedef struct weft_stated {
    weft_text given;           /* inputs, expressions, parameters, measures */
    char *initial;             /* malloc'd; NULL: u starts from 0 */
    weft_problem_choice first; /* before the first step */
} weft_stated;
void weft_stated_clear(weft_stated *stated);

/** Something that is given by name. */
typedef struct weft_stated_value {
    const char *name, *text;
} weft_stated_value;
/** Add values of an option to what is given, by the order of their names.
 *  values  [n], sorted here */
void weft_stated_add(weft_stated *stated, const char *option, weft_stated_value *values, int n);
/** Keep what u is at the start: formulas, or, if `text` is NULL, n values.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_stated_start(weft_stated *stated, const char *text, const double *values,
                              int64_t n, weft_error *error);
/** The text of an array: "values HASH".
 *  out  [48] */
void weft_stated_hash(const void *values, size_t bytes, char *out);

/** What the text is about: parts of a problem that is integrated. */
typedef struct weft_stated_parts {
    const weft_stated *stated;
    const struct weft_problem_forms *forms;
    const char *previous; /* of a scheme in the forms; NULL: there is none */
    const weft_fields *fields;
    const weft_declared *declared;
    const weft_transient_problem *settings;
    double tolerance; /* of linear solvers */
} weft_stated_parts;
/** Append the text.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_stated_write(const weft_stated_parts *parts, weft_text *out, weft_error *error);
