/** Forms made of others. In: a form whose local matrix is K. Out: one with another text. */
#pragma once

#include "fem/weft_space.h"

/** The name that K has in a text of weft_time_rename. */
extern const char weft_time_own_matrix[];
/** Append a text with K, and the v of actions, renamed, so that others can follow. */
void weft_time_rename(weft_text *out, const char *text);
/** A copy of a form with another text, which is borrowed, and memory for further inputs. Nothing is said of its symmetry. */
void weft_time_copy_form(const weft_form *from, const char *text, weft_bound_form *out);
/** The form with K multiplied by an input.
 *  text    caller's; weft_text_free, after the form
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_time_scale_form(const weft_form *from, weft_memory *factor, weft_text *text,
                                 weft_bound_form *out, weft_error *error);
