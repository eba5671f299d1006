/** What fusion/tune/calibrate.c, which decides what is measured when, and fusion/tune/measure.c, which measures on
 *  a device, share. */
#pragma once

#include "fusion/tune/tune.h"

/** weft_calibrate without a device: options->measure is there. device: its identity. */
weft_status weft_calibrate_run(const weft_limits *limits, const char *device,
                               const weft_product_kernel_set *primitives, weft_tuning *tuning,
                               const weft_calibration_options *options,
                               weft_calibration_result *out, weft_error *error);
