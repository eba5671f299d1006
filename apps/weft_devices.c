#include "weft_tool.h"

static const struct argp_option table[] = {{0}};

static const char doc[] =
    "List the devices that --device takes, with their limits."
    "\v"
    "Bandwidth and operations are nominal values that the analytic costs use, not measurements.\n"
    "\n"
    "Examples:\n"
    "  weft devices\n"
    "  poisson --mesh square:64 --device host:4";

static const struct {
    const char *name, *meaning;
} devices[] = {{"host", "every processor of this machine; host:THREADS for fewer"},
               {"null", "plans and records, computes nothing"},
               {"null:h200", "the same with an H200's limits"}};

weft_status weft_tool_devices(int argc, char **argv, app_messages *messages, int *code,
                              weft_error *error)
{
    weft_status status = WEFT_OK;
    weft_tool_options options = {0};
    weft_device *device = NULL;
    weft_device_options device_options = weft_device_options_default(&messages->monitor);
    (void)code;
    TRY(weft_tool_read(table, "", doc, argc, argv, &options, error));
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; ++i) {
        TRY(weft_device_open(devices[i].name, &device_options, &device, error));
        const weft_limits *limits = weft_device_limits(device);
        char registers[32], onchip[32], memory[32], bandwidth[32];
        printf("%-10s %s\n", devices[i].name, limits->name);
        printf("           %s\n", devices[i].meaning);
        printf("           lanes %d double, %d float; threads %d; registers %s; on chip %s; memory "
               "%s\n",
               limits->lanes_double, limits->lanes_float, limits->threads,
               app_print_bytes((double)limits->register_bytes, registers),
               app_print_bytes((double)limits->onchip_bytes, onchip),
               app_print_bytes((double)limits->memory_bytes, memory));
        printf("           %s/s; %.3g Gflop/s; a launch takes %.3g us\n",
               app_print_bytes(limits->bandwidth, bandwidth), limits->flops * 1e-9,
               limits->launch_seconds * 1e6);
        weft_device_free(&device);
    }
done:
    weft_device_free(&device);
    weft_tool_clear(&options);
    return status;
}
