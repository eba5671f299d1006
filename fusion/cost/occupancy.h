/** Occupancy: how many threads of a kernel are resident at once. */
#pragma once

#include "fusion/cost/cost.h"

/** Resident threads per multiprocessor at an operating point, as limited by threads, blocks,
 *  on-chip memory, registers and available elements (fusion/cost/analytic.c). */
double weft_cost_resident(const weft_limits *limits, const weft_operating_point *point);
