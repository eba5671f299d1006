/** The list of stages. In: script text, library, options, limits. Out: weft_compilation. */
#pragma once

#include "fusion/control/program.h"
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

/** The key under which options->plans keeps the plan of a compilation.
 *  out     "": it keeps none
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_kept_key(const weft_library *library, const weft_limits *limits,
                          const weft_fragment *fragments, int n_fragments,
                          const weft_compile_options *options, char out[33], weft_error *error);
/** Compile with a kept plan in place of the planner's search.
 *  like    library, limits, options and key; borrowed for the call
 *  kept    borrowed, must outlive *out
 *  out     NULL: the plan does not fit this script
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_compile_kept(const weft_compilation *like, const weft_kept_plan *kept,
                              const weft_fragment *fragments, int n_fragments,
                              weft_compilation **out, weft_error *error);
/** Load a plan. out  in the arena; *out NULL: there is none. Errors  WEFT_ERROR_MEMORY */
weft_status weft_kept_find(const weft_device *device, const char key[33], weft_arena *arena,
                           weft_kept_plan **out, weft_error *error);
