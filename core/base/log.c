/* Passes messages and progress to the user's monitor. */
#include "core/weft_core.h"

#include <stdio.h>

void weft_log(const weft_monitor *monitor, weft_log_level level, const char *format, ...) {
    if (!monitor || !monitor->log)
        return;
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length >= 0)
        monitor->log(monitor->user, level, message);
}

void weft_progress(const weft_monitor *monitor, const char *phase, double done, double total) {
    if (monitor && monitor->progress)
        monitor->progress(monitor->user, phase, done, total);
}
