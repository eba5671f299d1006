/** All that a compilation makes, in one arena. In: script text, options, limits. Out: weft_compilation. */
#ifndef FUSION_COMPILE_COMPILE_H
#define FUSION_COMPILE_COMPILE_H

#include "core/weft_core.h"
#include "fusion/plan/cover.h"
#include "fusion/weft_compile.h"

/** The same script by another cover of its implementations: only plan and source are made anew,
 *  everything else is base's, which outlives it. Of a script that is one segment. */
weft_status weft_compile_cover(const weft_compilation *base, weft_cover *cover,
                               weft_compilation **out, weft_error *error);

#endif
