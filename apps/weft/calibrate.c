/* weft calibrate: measures the cost primitives of devices and stores them in the tuning database.
 * */
#include "apps/weft/tool.h"

#include <stdlib.h>
#include <string.h>

static const app_option table[] = {
    {"device", "NAME", "The device to measure; may be given several times",
     .read = weft_tool_device},
    {"time-limit", "SECONDS", "Stop after this time per device (default 300)", .former = "seconds",
     APP_NUMBER(weft_tool_options, seconds, 0.001, 1e6)},
    {"remeasure", NULL, "Repeat measurements that are already stored", .former = "again",
     APP_FLAG(weft_tool_options, again, true)},
    {"precision", "NAME", "Only single or only double (default: both)",
     .read = weft_tool_precision},
    {"single", NULL, NULL, .read = weft_tool_precision},
    {"validate", NULL, "Run plans of scripts, and print their predicted and measured times",
     .former = "check", APP_FLAG(weft_tool_options, check, true)},
    {"tune", "N",
     "With --validate: run the N best plans of each script (default: the 10 best and 20 others)",
     APP_INTEGER(weft_tool_options, tune, 1, 1000)},
    {"size", "N",
     "With --validate: number of elements (default: data of four times the last-level cache)",
     .former = "n", APP_INTEGER(weft_tool_options, elements, 1, 2000000000)},
    {"json", "FILE", "With --validate: write every plan and its times",
     APP_BY(weft_tool_text, weft_tool_options, json)},
    {"plot", "FILE",
     "Plot the predicted and measured performance that --validate --json FILE wrote",
     .former = "draw", APP_BY(weft_tool_text, weft_tool_options, draw)},
    {"out", "DIR", "With --plot: directory of data, gnuplot scripts and figures",
     APP_BY(weft_tool_text, weft_tool_options, out)},
    {"kernels", "DIR",
     "Add the functions of DIR/**/*.kernel.c; they replace shipped functions of the same name",
     APP_BY(weft_tool_text, weft_tool_options, kernels)},
    {0}};

static const char doc[] =
    "Measure loads, computation and stores of functions on a device, to predict run times."
    "\v"
    "Each load, computation and store of the functions of the library, or of the named functions, "
    "is timed alone in a generated kernel, for several block sizes, numbers of serial iterations "
    "and amounts of shared memory; a coarse grid of these first. Each measurement is stored in the "
    "tuning database at once (weft tuning list), so an interrupted calibration resumes where it "
    "stopped. Nothing else should use the device meanwhile.\n"
    "\n"
    "--validate runs the ten best plans and 20 others of each of the named scripts, or of a "
    "built-in set of scripts. For each script it prints: the number of plans, the best time, the "
    "time of the plan that was predicted to be best divided by it, the mean error of the "
    "predictions, their rank correlation (Spearman), the rank that was predicted for the best "
    "plan, and the best time without fusion divided by that of the plan that was predicted to be "
    "best. Correction terms that reduce the error are used in later predictions.\n"
    "\n"
    "--plot writes, for each script of such a file, a table of its plans with ranks, predicted and "
    "measured seconds, and gnuplot scripts of two figures. figure4 shows the plans sorted by "
    "measured performance, with the predicted one; figure5 the measured performance in the order "
    "of the predictions, with a fitted polynomial of degree five. gnuplot draws them where it is "
    "installed.\n"
    "\n"
    "Examples:\n"
    "  weft calibrate --device host\n"
    "  weft calibrate --device cuda:0 --time-limit 120\n"
    "  weft calibrate --device host --time-limit 5 mmul jacobian\n"
    "  weft calibrate --validate --device host\n"
    "  weft calibrate --validate --json covers.json listing_1\n"
    "  weft calibrate --plot covers.json --out figures";

/* Collect the named functions, or all, in double and in single precision. */
static weft_status collect(const weft_tool_options *options, const weft_library *library,
                           const weft_limits *limits, weft_cost_primitive_set *set,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const char *const *functions = options->n_arguments > 0 ? options->arguments : NULL;
    for (int i = 0; i < options->n_arguments; ++i) {
        weft_function_info info = {0};
        weft_formula_info formula;
        const size_t n = weft_library_size(library);
        const char **names = weft_arena_alloc(set->arena, n, sizeof *names);
        bool known = weft_formula_describe(options->arguments[i], &formula);
        if (!names)
            TRY(weft_out_of_memory(error, NULL));
        for (size_t k = 0; k < n; ++k) {
            weft_library_info(library, k, &info);
            names[k] = info.name;
            known = known || strcmp(info.name, options->arguments[i]) == 0;
        }
        if (!known)
            TRY(weft_tool_refuse("function", options->arguments[i], names, n, error));
    }
    for (int single = options->single; single < 2 - options->only_double; ++single) {
        if (!functions)
            TRY(weft_tool_check_product_kernels(library, limits, single, set, error));
        TRY(weft_cost_primitive_set_library(set, library, limits, single, functions,
                                            options->n_arguments, error));
    }
done:
    return status;
}

static void report(const weft_limits *limits, const weft_cost_primitive_set *set,
                   const weft_calibration_result *result) {
    printf("%s: %d primitives, %lld points: %lld measured in %.1f s, %lld known before",
           limits->name, set->n, (long long)result->n_points, (long long)result->n_measured,
           result->seconds, (long long)result->n_known);
    if (result->n_unsupported > 0)
        printf(", %d primitives cannot be measured alone", result->n_unsupported);
    if (result->n_left > 0)
        printf(", %lld left", (long long)result->n_left);
    printf("\n");
}

static weft_status calibrate_device(const weft_tool_options *options, const char *name,
                                    const weft_monitor *monitor, const weft_library *library,
                                    weft_tuning *tuning, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    weft_arena *arena = NULL;
    const weft_device_options how = weft_device_options_default(monitor);
    const weft_calibration_options with = {
        .size = sizeof with, .seconds = options->seconds, .again = options->again};
    weft_calibration_result result;
    TRY(weft_arena_make(&arena, error));
    weft_cost_primitive_set set = {.arena = arena};
    TRY(weft_device_open(name, &how, &device, error));
    if (options->check) {
        status = weft_tool_check(options, library, device, tuning, error);
        goto done;
    }
    TRY(collect(options, library, weft_device_limits(device), &set, error));
    TRY(weft_calibrate(device, library, &set, tuning, &with, &result, error));
    app_messages_clear(monitor);
    report(weft_device_limits(device), &set, &result);
done:
    app_messages_clear(monitor);
    weft_device_free(&device);
    weft_arena_free(&arena);
    return status;
}

weft_status weft_tool_calibrate(int argc, char **argv, const weft_monitor *monitor, int *code,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    weft_tuning *tuning = NULL;
    weft_tool_options options = {.n_arguments_max = 8};
    (void)code;
    TRY(weft_tool_read(table, NULL, "[FUNCTION...]", doc, argc, argv, &options, error));
    if (options.draw || options.out) {
        TRY(weft_tool_draw(&options, monitor, error));
        goto done;
    }
    if (options.check)
        TRY(weft_tool_check_read(&options, error));
    TRY(weft_tool_library_make(&options, &library, error));
    const weft_device_options how = weft_device_options_default(monitor);
    TRY(weft_tuning_open(&how, &tuning, error));
    for (int i = 0; i < options.n_devices || i == 0; ++i)
        TRY(calibrate_device(&options, options.n_devices > 0 ? options.devices[i] : options.device,
                             monitor, library, tuning, error));
    printf("tuning database %s\n",
           weft_tuning_path(tuning)[0] ? weft_tuning_path(tuning) : "in memory: nothing is kept");
done:
    weft_tuning_close(&tuning);
    weft_library_free(&library);
    weft_tool_clear(&options);
    return status;
}
