/** Energy, power and clock of a GPU, from NVIDIA's management library where it is installed. */
#pragma once

#include "core/weft_core.h"

typedef struct weft_meter weft_meter;
/** Open the meter of a device.
 *  Returns  NULL if it has none (no GPU, no libnvidia-ml.so.1, or no permission) */
weft_meter *weft_meter_open(const weft_device *device);
void weft_meter_close(weft_meter **meter);

typedef struct weft_meter_reading {
    double joules;     /* since some time in the past; 0: not counted */
    double watts;      /* now */
    double megahertz;  /* of the multiprocessors, now */
    uint64_t throttle; /* reasons, as in nvmlClocksThrottleReasons; 4: the power limit */
} weft_meter_reading;
/** Read the meter; NULL gives zeros. */
weft_meter_reading weft_meter_read(const weft_meter *meter);
