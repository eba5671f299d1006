/** The list of stages. In: script text, library, options, limits. Out: weft_compilation. */
#pragma once

#include "fusion/plan/cover.h"

/** Compile the same script with another cover of its implementations. Only plan and source are made
 *  again; everything else is shared with base.
 *  base   a script that is one segment; borrowed, must outlive *out
 *  cover  of base's implementations
 *  out    caller's; weft_compilation_free */
weft_status weft_compile_cover(const weft_compilation *base, weft_cover *cover,
                               weft_compilation **out, weft_error *error);

/** Check that every variant which the options choose belongs to a function that the script calls.
 *  Errors  WEFT_ERROR_USAGE with the nearest name */
weft_status weft_check_variants(const weft_compilation *compilation, weft_error *error);
