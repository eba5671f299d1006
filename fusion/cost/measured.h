/** Measured costs.
 *  In:  the tuning database
 *  Out: a cost source */
#ifndef WEFT_MEASURED_H
#define WEFT_MEASURED_H

#include "core/weft_tuning.h"
#include "fusion/weft_compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Interpolates psi between measured points, linearly in the logarithms. Outside their range, and
 *  for primitives that were not measured, its lookup returns false and the planner uses the
 *  analytic source. */
typedef struct weft_measured_costs weft_measured_costs;
/** Read all measurements of a device from the database.
 *  tuning, limits  borrowed for the call
 *  device          identity of the device (weft_device_identity)
 *  out             caller's; weft_measured_costs_free
 *  Errors          those of the database; WEFT_ERROR_MEMORY */
weft_status weft_measured_costs_make(weft_tuning *tuning, const char *device,
                                     const weft_limits *limits, weft_measured_costs **out,
                                     weft_error *error);
void weft_measured_costs_free(weft_measured_costs **costs);
/** The number of measured primitives. */
int weft_measured_costs_size(const weft_measured_costs *costs);
/** The source, with the terms that `weft calibrate --validate` has fitted.
 *  costs  borrowed; must outlive the source */
weft_cost_source weft_measured_costs_source(weft_measured_costs *costs);

#ifdef __cplusplus
}
#endif
#endif
