/** The calibration loop of fusion/tune/calibrate.c, used by fusion/tune/measure.c, which measures
 *  on a device. */
#pragma once

#include "fusion/tune/tune.h"

/** weft_calibrate without a device.
 *  device   identity of the device in the database
 *  options  options->measure is not NULL
 *  Errors   those of measure and of the database; WEFT_ERROR_MEMORY. Times measured before an error
 *           are stored */
weft_status weft_calibrate_run(const weft_limits *limits, const char *device,
                               const weft_cost_primitive_set *primitives, weft_tuning *tuning,
                               const weft_calibration_options *options,
                               weft_calibration_result *out, weft_error *error);
