/** All that a compilation makes, in one arena. In: script text, options, limits. Out: weft_compilation. */
#pragma once

#include "fusion/plan/cover.h"

/** The same script by another cover of its implementations: only plan and source are made again,
 *  everything else is base's, which outlives it. Of a script that is one segment. */
weft_status weft_compile_cover(const weft_compilation *base, weft_cover *cover,
                               weft_compilation **out, weft_error *error);
