/* Passes messages and progress to the user's monitor. */
#include "core/weft_escape.h"

#include <sys/syscall.h>
#include <unistd.h>

void weft_log(const weft_monitor *monitor, weft_log_level level, const char *format, ...) {
    if (!monitor || !monitor->log)
        return;
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = weft_message_print(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    monitor->log(monitor->user, level, message);
}

void weft_progress(const weft_monitor *monitor, const char *phase, double done, double total) {
    if (monitor && monitor->progress)
        monitor->progress(monitor->user, phase, done, total);
}

weft_status weft_cancelled(const weft_monitor *monitor, weft_error *error) {
    const int thread =
        monitor && monitor->cancelled ? __atomic_load_n(monitor->cancelled, __ATOMIC_RELAXED) : 0;
    if (thread == 0 || thread != (int)syscall(SYS_gettid))
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_CANCELLED, "the call was cancelled");
}
