/** All that a compilation makes, in one arena: every stage adds its part. */
#ifndef FUSION_PLAN_COMPILATION_H
#define FUSION_PLAN_COMPILATION_H

#include "core/weft_core.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/cover.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/plan.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"

struct weft_compilation {
    weft_arena *arena;
    const weft_library *library;
    weft_limits limits;
    weft_compile_options options; /* copied into the arena */
    weft_script *script;
    weft_graph *graph;
    weft_fusions *fusions;
    weft_implementations *implementations;
    weft_cover *cover;
    bool cover_recalled; /* it is that of options.cover */
    weft_plan *plan;
    int segment; /* of a script with loops, from 0; else -1 */
    const char *source;
    struct weft_flow
        *flow; /* a script with loops: the stages after the script are in its segments */
};

void weft_fusions_print(const weft_compilation *c, weft_text *out);
void weft_implementations_print(const weft_compilation *c, weft_text *out);

#endif
