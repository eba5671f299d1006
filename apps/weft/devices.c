/* weft devices: prints the available devices and their limits. */
#include "apps/weft/tool.h"

static const char doc[] =
    "List the devices that --device takes, with their limits."
    "\v"
    "Bandwidth and operations per second are nominal values for predictions, not measurements.\n"
    "\n"
    "Examples:\n"
    "  weft devices\n"
    "  poisson --mesh square:64 --device host:4";

static const struct {
    const char *name, *meaning;
} devices[] = {
    {"host", "every processor; host:THREADS for fewer, host:THREADS:SET for sse2, avx2, avx512"},
    {"null", "plans and records, but computes nothing"},
    {"null:h200", "the same with the limits of an H200"}};

static void print_device(const char *name, const char *meaning, const weft_limits *limits) {
    char registers[32], onchip[32], memory[32], bandwidth[32];
    printf("%-10s %s\n", name, limits->name);
    printf("           %s\n", meaning);
    printf(
        "           lanes %d double, %d float; threads %d; registers %s; on chip %s; memory %s\n",
        limits->lanes_double, limits->lanes_float, limits->threads,
        app_print_bytes((double)limits->register_bytes, registers),
        app_print_bytes((double)limits->onchip_bytes, onchip),
        app_print_bytes((double)limits->memory_bytes, memory));
    printf("           %s/s; %.3g Gflop/s; a launch takes %.3g us; last cache %s",
           app_print_bytes(limits->bandwidth, bandwidth), limits->flops * 1e-9,
           limits->launch_seconds * 1e6, app_print_bytes((double)limits->l2_bytes, registers));
    if (limits->multiprocessors != limits->threads)
        printf("; %d multiprocessors", limits->multiprocessors);
    printf("\n");
}

/* Print every GPU, or the reason why there is none. */
static void print_gpus(const weft_device_options *options) {
    weft_error error;
    for (int i = 0;; ++i) {
        char name[32];
        weft_device *device = NULL;
        snprintf(name, sizeof name, "cuda:%d", i);
        if (weft_device_open(name, options, &device, &error) != WEFT_OK) {
            if (i == 0)
                printf("%-10s not usable here: %s\n", "cuda", error.message);
            else if (error.status != WEFT_ERROR_USAGE) /* other than an ordinal past the last GPU */
                printf("%-10s not usable: %s\n", name, error.message);
            if (i == 0 || error.status == WEFT_ERROR_USAGE)
                return;
            continue;
        }
        print_device(name, "a GPU; kernels are compiled by NVRTC", weft_device_limits(device));
        weft_device_free(&device);
    }
}

weft_status weft_tool_devices(int argc, char **argv, const weft_monitor *monitor, int *code,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tool_options options = {0};
    weft_device *device = NULL;
    weft_device_options device_options = weft_device_options_default(monitor);
    (void)code;
    TRY(weft_tool_read(NULL, NULL, "", doc, argc, argv, &options, error));
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; ++i) {
        TRY(weft_device_open(devices[i].name, &device_options, &device, error));
        print_device(devices[i].name, devices[i].meaning, weft_device_limits(device));
        weft_device_free(&device);
    }
    print_gpus(&device_options);
done:
    weft_device_free(&device);
    weft_tool_clear(&options);
    return status;
}
