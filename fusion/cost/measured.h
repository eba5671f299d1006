/** Costs that were measured. In: the tuning database. Out: a source of costs. */
#ifndef WEFT_MEASURED_H
#define WEFT_MEASURED_H

#include "core/weft_tuning.h"
#include "fusion/weft_compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The source of costs that has measured: psi by interpolation between measured points (linear in
 *  the logarithms), inside of their range alone. Where a point or a primitive is outside it knows
 *  nothing, and the analytic source is asked. */
typedef struct weft_measured_costs weft_measured_costs;
/** All that the database has of a device. tuning and limits are borrowed for the call. */
weft_status weft_measured_costs_make(weft_tuning *tuning, const char *device,
                                     const weft_limits *limits, weft_measured_costs **out,
                                     weft_error *error);
void weft_measured_costs_free(weft_measured_costs **costs);
/** How many primitives it knows. */
int weft_measured_costs_size(const weft_measured_costs *costs);
/** With the terms that `weft calibrate --validate` has found to help. It must outlive the source's
 * uses.
 */
weft_cost_source weft_measured_costs_source(weft_measured_costs *costs);

#ifdef __cplusplus
}
#endif
#endif
