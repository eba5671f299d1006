/** Preludes: what stands before generated code, files of kernels/prelude/ with values filled in.
 *
 *      //@ text                        a comment, which is left out
 *      typedef @scalar@ scalar;        the value called `scalar`
 *      //@ each name; neutral          for each row of the table, up to `//@ end`: the lines between,
 *      //@ add; 0                      with the columns of the row as values
 *      //@ multiply; 1
 *      real start_@name@(void) { return @neutral@; }
 *      //@ end */
#pragma once

#include "core/weft_core.h"

typedef struct weft_prelude_value {
    const char *name;
    const char *text; /* whole lines, or none, where a line has nothing but the name */
} weft_prelude_value;

/** Add the prelude file of this name ("cuda.h").
 *  values  ends with one without a name */
void weft_prelude_write(const char *file, const weft_prelude_value *values, weft_text *out);
