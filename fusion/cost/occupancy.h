/** How many threads of a kernel are resident at once. */
#pragma once

#include "fusion/cost/cost.h"

/** fusion/cost/analytic.c: threads of a multiprocessor that run at once beside what a point takes of it. */
double weft_cost_resident(const weft_limits *limits, const weft_operating_point *point);
