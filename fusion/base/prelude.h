/** Preludes of generated code. In: a template of kernels/prelude/, values. Out: text.
 *
 *      //@ text                        a comment, which is omitted
 *      typedef @scalar@ scalar;        replaced by the value called `scalar`
 *      //@ each name; neutral          the lines up to `//@ end`, for each row of the table, with
 *      //@ add; 0                      the columns of the row as values
 *      //@ multiply; 1
 *      real start_@name@(void) { return @neutral@; }
 *      //@ end
 *
 *  Decision  docs/decisions/0018-bodies-are-parsed-and-printed.md */
#pragma once

#include "core/weft_core.h"

typedef struct weft_prelude_value {
    const char *name;
    const char *text; /* if a template line is only the name: whole lines, or "" */
} weft_prelude_value;

/** Add the prelude of this file name ("cuda.h").
 *  values  terminated by an entry without a name */
void weft_prelude_write(const char *file, const weft_prelude_value *values, weft_text *out);
