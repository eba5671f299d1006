/** The plan of a script as text that a device keeps on disk, and a compilation made of it.
 *
 *  In:  a compilation, or a text
 *  Out: the text, or a plan that replaces the planner's search
 *
 *  The plans are those of weft_plan_json (docs/compiler.md, JSON). Beside them the text has what makes a later compilation
 *  sure that they are its own: a hash of the graph of each segment. The graphs are made of the script each time, and what
 *  is made of them and the plans must print the same plans.
 *
 *  Decision  docs/decisions/0072-plans-are-kept-on-disk.md */
#pragma once

#include "fusion/control/program.h"

typedef struct weft_kept_segment {
    const char *graph; /* its hash */
    const char *plan;  /* JSON */
    size_t length;     /* of plan */
} weft_kept_segment;

struct weft_kept_plan {
    weft_kept_segment *segments;
    int n_segments;
    weft_control_choice *choices; /* [n_loops] */
    int n_loops;
    const char *body; /* of the source, without its prelude */
    bool has_saving;
    weft_saving saving;
};

/** Append the text of a compilation.
 *  saving  NULL: it has not been computed
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_kept_plan_write(const weft_compilation *compilation, const weft_saving *saving,
                                 weft_text *out, weft_error *error);
/** Read a text.
 *  out     in the arena; *out NULL: it is not such a text
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_kept_plan_read(weft_arena *arena, const char *text, size_t size,
                                weft_kept_plan **out, weft_error *error);
/** Did the kept plan yield itself: the same graphs, and the same plans from them? If not, nothing of the compilation may be
 *  used.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_kept_plan_fits(const weft_compilation *compilation, const weft_kept_plan *kept,
                                bool *fits, weft_error *error);
