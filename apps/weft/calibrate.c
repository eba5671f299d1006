#include "apps/common/support.h"
#include "apps/weft/tool.h"
#include "core/weft_core.h"
#include "core/weft_tuning.h"
#include "fusion/tune/tune.h"
#include "fusion/weft_library.h"

#include <stdlib.h>
#include <string.h>

static const struct argp_option table[] = {
    {"device", TOOL_DEVICE, "NAME", 0, "The device to measure; may be given several times", 0},
    {"seconds", TOOL_SECONDS, "N", 0, "Stop after N seconds a device (300)", 0},
    {"again", TOOL_AGAIN, NULL, 0, "Measure what is known anew", 0},
    {"single", TOOL_SINGLE, NULL, 0, "Single precision alone", 0},
    {"check", TOOL_CHECK, NULL, 0,
     "Run the best covers of scripts and print predicted against measured time", 0},
    {"tune", TOOL_TUNE, "N", 0,
     "--check: the N best covers of each script (the 10 best and 20 others)", 0},
    {"n", TOOL_INSTANCES, "N", 0, "--check: instances (as many as fill four times the last cache)",
     0},
    {"json", TOOL_JSON, "FILE", 0, "--check: write every cover and its times", 0},
    {"draw", TOOL_DRAW, "FILE", 0,
     "Draw what --check --json FILE has written: predicted and measured performance of the covers",
     0},
    {"out", TOOL_OUT, "DIR", 0, "--draw: the folder for data, scripts for gnuplot and pictures", 0},
    {"kernels", TOOL_KERNELS, "DIR", 0, "Add or replace functions from this directory", 0},
    {0}};

static const char doc[] =
    "Measure how long a device takes for loads, computes and stores, for the compiler's choices."
    "\v"
    "Every routine of the kernel library, or of the functions that are named, is run alone in a "
    "generated kernel, over ranges of instances a block, serial iterations and shared memory. "
    "Coarse "
    "points of all routines come first. What is measured is kept in the tuning database (weft "
    "tuning "
    "list) as it comes: stop at any time, and the next run goes on from there. On a device that "
    "nothing else uses, please.\n"
    "\n"
    "--check runs the ten best covers of the scripts that are named, or of some that are kept for "
    "it, and 20 others, "
    "and "
    "prints for each how many, the best time, that of the cover predicted best over it, the mean "
    "error "
    "of the predictions, the rank correlation (Spearman), the best one's place among the "
    "predictions, and the best time without fusions over that of the cover predicted best. Terms "
    "that lower the error are used from then on.\n"
    "\n"
    "--draw writes for each script of such a file its covers, with their ranks, predicted and "
    "measured seconds, and scripts for gnuplot of two figures: figure4, the covers sorted by "
    "measured performance with the predicted beside it, and figure5, the measured performance in "
    "the order of the predictions with a polynomial of degree five fitted to it. Where gnuplot is "
    "installed they are drawn.\n"
    "\n"
    "Examples:\n"
    "  weft calibrate --device host\n"
    "  weft calibrate --device cuda:0 --seconds 120\n"
    "  weft calibrate --device host --seconds 5 mmul jacobian\n"
    "  weft calibrate --check --device host\n"
    "  weft calibrate --check --json covers.json listing_1\n"
    "  weft calibrate --draw covers.json --out figures";

/* The functions that are named, or all, in double and in single precision. */
static weft_status collect(const weft_tool_options *options, const weft_library *library,
                           const weft_limits *limits, weft_routine_set *set, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *const *functions = options->n_arguments > 0 ? options->arguments : NULL;
    for (int i = 0; i < options->n_arguments; ++i) {
        weft_function_info info = {0};
        const size_t n = weft_library_size(library);
        const char **names = weft_arena_alloc(set->arena, n, sizeof *names);
        bool known = false;
        if (!names)
            return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
        for (size_t k = 0; k < n; ++k) {
            weft_library_info(library, k, &info);
            names[k] = info.name;
            known = known || strcmp(info.name, options->arguments[i]) == 0;
        }
        if (!known)
            return weft_tool_refuse("function", options->arguments[i], names, n, error);
    }
    for (int single = options->single; single < 2; ++single) {
        if (!functions)
            TRY(weft_tool_check_routines(library, limits, single, set, error));
        TRY(weft_routine_set_library(set, library, limits, single, functions, options->n_arguments,
                                     error));
    }
done:
    return status;
}

static void report(const weft_limits *limits, const weft_routine_set *set,
                   const weft_calibration_result *result) {
    printf("%s: %d routines, %lld points: %lld measured in %.1f s, %lld known before", limits->name,
           set->n, (long long)result->n_points, (long long)result->n_measured, result->seconds,
           (long long)result->n_known);
    if (result->n_unsupported > 0)
        printf(", %d routines cannot be measured alone", result->n_unsupported);
    if (result->n_left > 0)
        printf(", %lld left", (long long)result->n_left);
    printf("\n");
}

static weft_status calibrate_device(const weft_tool_options *options, const char *name,
                                    app_messages *messages, const weft_library *library,
                                    weft_tuning *tuning, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    weft_arena *arena = NULL;
    const weft_device_options how = weft_device_options_default(&messages->monitor);
    const weft_calibration_options with = {.seconds = options->seconds, .again = options->again};
    weft_calibration_result result;
    TRY(weft_arena_make(&arena, error));
    weft_routine_set set = {.arena = arena};
    TRY(weft_device_open(name, &how, &device, error));
    if (options->check) {
        status = weft_tool_check(options, library, device, tuning, error);
        goto done;
    }
    TRY(collect(options, library, weft_device_limits(device), &set, error));
    TRY(weft_calibrate(device, library, &set, tuning, &with, &result, error));
    app_messages_clear(messages);
    report(weft_device_limits(device), &set, &result);
done:
    app_messages_clear(messages);
    weft_device_free(&device);
    weft_arena_free(&arena);
    return status;
}

weft_status weft_tool_calibrate(int argc, char **argv, app_messages *messages, int *code,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    weft_tuning *tuning = NULL;
    weft_tool_options options = {.n_arguments_max = 8};
    (void)code;
    TRY(weft_tool_read(table, "[FUNCTION...]", doc, argc, argv, &options, error));
    if (options.draw || options.out) {
        TRY(weft_tool_draw(&options, &messages->monitor, error));
        goto done;
    }
    if (options.check)
        TRY(weft_tool_check_read(&options, error));
    TRY(weft_tool_library_make(&options, &library, error));
    const weft_device_options how = weft_device_options_default(&messages->monitor);
    TRY(weft_tuning_open(&how, &tuning, error));
    for (int i = 0; i < options.n_devices || i == 0; ++i)
        TRY(calibrate_device(&options, options.n_devices > 0 ? options.devices[i] : options.device,
                             messages, library, tuning, error));
    printf("tuning database %s\n",
           weft_tuning_path(tuning)[0] ? weft_tuning_path(tuning) : "in memory: nothing is kept");
done:
    weft_tuning_close(&tuning);
    weft_library_free(&library);
    weft_tool_clear(&options);
    return status;
}
