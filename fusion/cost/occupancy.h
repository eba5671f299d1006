/** Occupancy: how many threads of a kernel are resident at once, and what its warps take to issue their instructions. */
#pragma once

#include "fusion/cost/cost.h"

/** Resident threads per multiprocessor at an operating point, as limited by threads, blocks,
 *  on-chip memory, registers and available elements (fusion/cost/analytic.c). */
double weft_cost_resident(const weft_limits *limits, const weft_operating_point *point);

/** The device's bytes per second and number of multiprocessors, with values for devices that do not say. */
double weft_cost_bandwidth(const weft_limits *limits);
double weft_cost_multiprocessors(const weft_limits *limits);

/** Loads of a thread that are on the way to memory together, at most: to registers, and those that are copied to
 *  shared memory. */
enum { WEFT_LOADS_IN_FLIGHT = 16, WEFT_LOADS_COPIED = 5 };

/** What the warps of a block do. */
typedef struct weft_warp_work {
    double instructions; /* of all warps */
    double wavefronts;   /* accesses to shared memory, with those that bank conflicts add */
    double waits;        /* of a warp, for its loads from memory */
} weft_warp_work;

/** Seconds per element that multiprocessors take to execute the work of blocks at an operating point, besides moving
 *  data to and from memory (fusion/cost/analytic.c). */
double weft_cost_issue(const weft_limits *limits, const weft_operating_point *point,
                       const weft_warp_work *work);
/** The same at least, of so many instructions of warps per element. */
double weft_cost_issue_least(const weft_limits *limits, double instructions);
