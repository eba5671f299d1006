/** All that a compilation makes, in one arena. In: script text, options, limits. Out: weft_compilation. */
#ifndef FUSION_COMPILE_COMPILE_H
#define FUSION_COMPILE_COMPILE_H

#include "core/weft_core.h"
#include "fusion/plan/cover.h"
#include "fusion/weft_compile.h"

/** Set cover and cover_recalled from what comes before (fusion/compile/cover_choose.c). */
weft_status weft_cover_choose(weft_compilation *c, weft_error *error);

/** The same script by another cover of its implementations: only plan and source are made anew,
 *  everything else is base's, which outlives it. Of a script without loops. */
weft_status weft_compile_cover(const weft_compilation *base, weft_cover *cover,
                               weft_compilation **out, weft_error *error);

#endif
