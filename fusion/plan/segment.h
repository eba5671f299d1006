/** A segment: a script without loops, operators and uniform updates, and what each stage makes of it. In: script,
 *  library, limits and options. Out: graph .. plan. */
#pragma once

#include "fusion/plan/plan.h"

typedef struct weft_segment {
    weft_arena *arena; /* of the compilation */
    const weft_library *library;
    weft_limits limits;
    weft_compile_options options;
    int number; /* in its compilation, from 0; -1: the script is this segment and nothing else */
    int loop;   /* that it stands in, or -1 */
    weft_script *script;
    weft_graph *graph;
    weft_fusions *fusions;
    weft_implementations *implementations;
    weft_cover *cover;
    bool cover_recalled; /* it is that of options.cover */
    weft_plan *plan;
} weft_segment;

/** The stages graph .. plan of a segment that has all before them.
 *  Errors  those of each stage; WEFT_ERROR_INPUT: options.forced_plan does not fit it */
weft_status weft_segment_plan(weft_segment *segment, weft_error *error);
/** The cover that was taken as a line of text, by which options.cover asks for it. */
weft_status weft_segment_write_cover(const weft_segment *segment, weft_text *out,
                                     weft_error *error);
void weft_fusions_print(const weft_segment *c, weft_text *out);
void weft_implementations_print(const weft_segment *c, weft_text *out);
