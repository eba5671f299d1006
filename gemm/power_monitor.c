/* Reads energy, power and clock by NVML, which is loaded at run time. */
#include "gemm/power_monitor.h"
#include "core/cuda/cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { NVML_CLOCK_SM = 1 };

#define NVML_FUNCTIONS(X)                                                                          \
    X(nvmlInit_v2, (void))                                                                         \
    X(nvmlShutdown, (void))                                                                        \
    X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **device))                              \
    X(nvmlDeviceGetTotalEnergyConsumption, (void *device, unsigned long long *millijoules))        \
    X(nvmlDeviceGetPowerUsage, (void *device, unsigned *milliwatts))                               \
    X(nvmlDeviceGetClockInfo, (void *device, int clock, unsigned *megahertz))                      \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons))
#define MEMBER(name, parameters) int(*name) parameters;

struct weft_power_monitor {
    NVML_FUNCTIONS(MEMBER)
    void *library, *device;
};

/* NVML counts all GPUs, CUDA those in CUDA_VISIBLE_DEVICES; -1: they are not named by numbers. */
static int index_of(int ordinal) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (ordinal < 0 || !visible || !visible[0])
        return ordinal;
    for (int i = 0;; ++i) {
        char *end = NULL;
        const long number = strtol(visible, &end, 10);
        if (end == visible || number < 0 || number > 1023)
            return -1;
        if (i == ordinal)
            return (int)number;
        if (*end != ',')
            return -1;
        visible = end + 1;
    }
}

weft_power_monitor *weft_power_monitor_open(const weft_device *device) {
    const int index = index_of(weft_cuda_ordinal(device));
    if (index < 0)
        return NULL;
    weft_power_monitor *monitor = calloc(1, sizeof *monitor);
    bool complete = monitor != NULL;
    if (complete)
        monitor->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    complete = complete && monitor->library;
#define FIND(name, parameters)                                                                     \
    if (complete) {                                                                                \
        void *symbol = dlsym(monitor->library, #name);                                             \
        memcpy(&monitor->name, &symbol, sizeof symbol);                                            \
        complete = symbol != NULL;                                                                 \
    }
    NVML_FUNCTIONS(FIND)
#undef FIND
    if (complete && monitor->nvmlInit_v2() == 0) {
        if (monitor->nvmlDeviceGetHandleByIndex_v2((unsigned)index, &monitor->device) == 0)
            return monitor;
        (void)monitor->nvmlShutdown();
    }
    free(monitor);
    return NULL;
}

void weft_power_monitor_close(weft_power_monitor **monitor) {
    if (!monitor || !*monitor)
        return;
    (void)(*monitor)->nvmlShutdown();
    free(*monitor);
    *monitor = NULL;
}

weft_power_reading weft_power_monitor_read(const weft_power_monitor *monitor) {
    weft_power_reading reading = {0};
    unsigned long long energy = 0, reasons = 0;
    unsigned power = 0, clock = 0;
    if (!monitor)
        return reading;
    if (monitor->nvmlDeviceGetTotalEnergyConsumption(monitor->device, &energy) == 0)
        reading.joules = (double)energy * 1e-3;
    if (monitor->nvmlDeviceGetPowerUsage(monitor->device, &power) == 0)
        reading.watts = power * 1e-3;
    if (monitor->nvmlDeviceGetClockInfo(monitor->device, NVML_CLOCK_SM, &clock) == 0)
        reading.megahertz = clock;
    if (monitor->nvmlDeviceGetCurrentClocksThrottleReasons(monitor->device, &reasons) == 0)
        reading.throttle = reasons;
    return reading;
}
