/** Energy, power and clock of a GPU, from NVIDIA's management library where it is installed. */
#pragma once

#include "core/weft_core.h"

typedef struct weft_power_monitor weft_power_monitor;
/** Open the monitor of a device.
 *  Returns  NULL if it has none (no GPU, no libnvidia-ml.so.1, or no permission) */
weft_power_monitor *weft_power_monitor_open(const weft_device *device);
void weft_power_monitor_close(weft_power_monitor **monitor);

typedef struct weft_power_reading {
    double joules;     /* since some time in the past; 0: not counted */
    double watts;      /* now */
    double megahertz;  /* of the multiprocessors, now */
    uint64_t throttle; /* reasons, as in nvmlClocksThrottleReasons; 4: the power limit */
} weft_power_reading;
/** Read the monitor; NULL gives zeros. */
weft_power_reading weft_power_monitor_read(const weft_power_monitor *monitor);
