/* Reads energy, power and clock by NVML, which is loaded at run time. */
#include "gemm/meter.h"
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

struct weft_meter {
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

weft_meter *weft_meter_open(const weft_device *device) {
    const int index = index_of(weft_cuda_ordinal(device));
    if (index < 0)
        return NULL;
    weft_meter *meter = calloc(1, sizeof *meter);
    bool complete = meter != NULL;
    if (complete)
        meter->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    complete = complete && meter->library;
#define FIND(name, parameters)                                                                     \
    if (complete) {                                                                                \
        void *symbol = dlsym(meter->library, #name);                                               \
        memcpy(&meter->name, &symbol, sizeof symbol);                                              \
        complete = symbol != NULL;                                                                 \
    }
    NVML_FUNCTIONS(FIND)
#undef FIND
    if (complete && meter->nvmlInit_v2() == 0) {
        if (meter->nvmlDeviceGetHandleByIndex_v2((unsigned)index, &meter->device) == 0)
            return meter;
        (void)meter->nvmlShutdown();
    }
    free(meter);
    return NULL;
}

void weft_meter_close(weft_meter **meter) {
    if (!meter || !*meter)
        return;
    (void)(*meter)->nvmlShutdown();
    free(*meter);
    *meter = NULL;
}

weft_meter_reading weft_meter_read(const weft_meter *meter) {
    weft_meter_reading reading = {0};
    unsigned long long energy = 0, reasons = 0;
    unsigned power = 0, clock = 0;
    if (!meter)
        return reading;
    if (meter->nvmlDeviceGetTotalEnergyConsumption(meter->device, &energy) == 0)
        reading.joules = (double)energy * 1e-3;
    if (meter->nvmlDeviceGetPowerUsage(meter->device, &power) == 0)
        reading.watts = power * 1e-3;
    if (meter->nvmlDeviceGetClockInfo(meter->device, NVML_CLOCK_SM, &clock) == 0)
        reading.megahertz = clock;
    if (meter->nvmlDeviceGetCurrentClocksThrottleReasons(meter->device, &reasons) == 0)
        reading.throttle = reasons;
    return reading;
}
