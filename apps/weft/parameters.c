/* weft tune: searches the tuned parameters of functions for their fastest values. */
#include "apps/common/fem.h"
#include "apps/weft/tool.h"
#include "fusion/tune/tuned.h"

#include <stdlib.h>
#include <string.h>

static const app_option table[] = {
    {"sizes", "NAME=N,...",
     "Sizes and parameters of a function that is named: those of its signature, as in n=8,m=3",
     APP_BY(weft_tool_text, weft_tool_options, sizes)},
    {"size", "N", "Number of elements of index sets (default 1000000)",
     APP_INTEGER(weft_tool_options, elements, 1, 2000000000)},
    {"time-limit", "SECONDS", "Time for each call (default 60); the last stage is not cut",
     APP_NUMBER(weft_tool_options, seconds, 0.001, 1e6)},
    {"device", "NAME", "The device to tune for", .read = weft_tool_device},
    {"precision", "NAME", "Type of real: single or double (default)", .read = weft_tool_precision},
    {"kernels", "DIR",
     "Add the functions of DIR/**/*.kernel.c; they replace shipped functions of the same name",
     APP_BY(weft_tool_text, weft_tool_options, kernels)},
    {"define", "NAME=EXPR", "Body of an expression of the script; repeatable",
     .read = weft_tool_expression},
    {"param", "NAME=INT", "Value of a parameter of the script; repeatable",
     .read = weft_tool_parameter},
    APP_DEGREES(weft_tool_options, ufl.degrees),
    {0}};

static const char doc[] =
    "Search the tuned parameters of functions for their fastest values, and store them."
    "\v"
    "FUNCTION is the name of a function with '//@ tune' lines, FILE.kernel.c a file of such "
    "functions, which must be below --kernels, and SCRIPT.weft a script whose calls of such "
    "functions are tuned, each alone, with lists of its own. All settings that the functions' "
    "'where' lines allow are compiled and timed, the best quarter again, and the best twelve "
    "beside one another. The fastest is stored in the tuning database, unless a rank test does "
    "not tell it from the default, for the device, the precision, the sizes of the call and a "
    "class of numbers of elements. Compilations of calls that leave the parameters open use it. "
    "Another text of the function has other values.\n"
    "\n"
    "Examples:\n"
    "  weft tune smooth --kernels my-kernels --sizes n=8\n"
    "  weft tune my-kernels/smooth.kernel.c --kernels my-kernels --sizes n=8\n"
    "  weft tune my.weft --kernels my-kernels --size 4000000 --precision single";

/* ---- what is tuned ------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static weft_status refuse_function(const weft_library *library, const char *name,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = weft_library_size(library);
    size_t n_names = 0;
    bool exists = false;
    const char **names = calloc(n + 1, sizeof *names);
    if (!names)
        return weft_out_of_memory(error, NULL);
    for (size_t i = 0; i < n; ++i) {
        weft_function_info info;
        weft_library_info(library, i, &info);
        exists |= strcmp(info.name, name) == 0;
        if (weft_is_tuned(library, info.name))
            names[n_names++] = info.name;
    }
    if (exists) {
        weft_error_set(error, WEFT_ERROR_USAGE, "the function %s has no tuned parameters", name);
        weft_error_hint(error, "they are declared by lines such as //@ tune width = 1, 2, 4, 8");
        status = WEFT_ERROR_USAGE;
    } else
        status = weft_tool_refuse("function with tuned parameters", name, names, n_names, error);
    free(names);
    return status;
}

/* ---- the search ---------------------------------------------------------------------------- */

typedef struct tuning_run {
    const weft_tool_options *options;
    const weft_library *library;
    weft_device *device;
    weft_tuning *tuning;
    weft_arena *arena;
    int n; /* calls that were tuned */
} tuning_run;

static void print_result(const weft_tune_result *r) {
    char best[32], standard[32];
    const bool is_standard = strcmp(r->setting, r->standard) == 0;
    printf("%s\n  %d settings, %d allowed, %d timed, %d as fast as the fastest\n", r->call,
           r->n_settings, r->n_allowed, r->n_timed, r->n_tied);
    if (is_standard)
        printf("  %s  %s, the default\n", r->setting, app_print_seconds(r->seconds, best));
    else
        printf("  %s  %s, %.2f times the speed of the default %s, %s\n", r->setting,
               app_print_seconds(r->seconds, best), r->standard_seconds / r->seconds, r->standard,
               app_print_seconds(r->standard_seconds, standard));
}

static weft_status tune(tuning_run *run, const weft_fragment *fragments, int n_fragments,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_tool_options *options = run->options;
    weft_compile_options how = weft_compile_options_default();
    weft_tune_options with = weft_tune_options_default();
    weft_tune_result *results = NULL;
    int n = 0;
    how.expressions = options->expressions;
    how.n_expressions = options->n_expressions;
    how.parameters = options->parameters;
    how.n_parameters = options->n_parameters;
    with.seconds = options->seconds;
    with.elements = options->elements;
    with.single = options->single;
    with.tuning = run->tuning;
    const weft_search_script script = {run->library, fragments, n_fragments, &how};
    TRY(weft_tune_script(run->device, &script, &with, run->arena, &results, &n, error));
    app_messages_clear(weft_device_monitor(run->device));
    for (int i = 0; i < n; ++i)
        print_result(&results[i]);
    run->n += n;
done:
    return status;
}

static weft_status tune_function(tuning_run *run, const char *name, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    if (!weft_is_tuned(run->library, name))
        TRY(refuse_function(run->library, name, error));
    TRY(weft_tune_text(run->library, name, run->options->sizes, &text, error));
    TRY(tune(run, &(weft_fragment){name, text.data}, 1, error));
done:
    weft_text_free(&text);
    return status;
}

/* The functions of a kernel file that the library has. */
static weft_status tune_file(tuning_run *run, const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < weft_library_size(run->library); ++i) {
        weft_function_info info;
        weft_library_info(run->library, i, &info);
        if (strcmp(base_of(info.file), base_of(path)) == 0 &&
            weft_is_tuned(run->library, info.name))
            TRY(tune_function(run, info.name, error));
    }
    if (run->n == 0) {
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "no function of the library from %s has tuned parameters", path);
        weft_error_hint(error, "give the folder of the file by --kernels");
        status = WEFT_ERROR_USAGE;
    }
done:
    return status;
}

static weft_status tune_script(tuning_run *run, weft_library *library, const char *name,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tool_scripts scripts = {.n = 0};
    TRY(weft_tool_scripts_read(&name, 1, &run->options->ufl, &scripts, error));
    TRY(weft_tool_scripts_add(&scripts, library, error));
    TRY(tune(run, scripts.fragments, scripts.n, error));
    if (run->n == 0)
        printf("%s calls no function with tuned parameters\n", name);
done:
    weft_tool_scripts_clear(&scripts);
    return status;
}

static weft_status tune_argument(tuning_run *run, weft_library *library, const char *name,
                                 weft_error *error) {
    if (ends_with(name, ".kernel.c"))
        return tune_file(run, name, error);
    if (ends_with(name, ".weft") || ends_with(name, ".ufl") || ends_with(name, ".py"))
        return tune_script(run, library, name, error);
    return tune_function(run, name, error);
}

weft_status weft_tool_tune_parameters(int argc, char **argv, const weft_monitor *monitor, int *code,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    weft_library *library = NULL;
    weft_tool_options options = {.n_arguments_max = 1};
    const weft_device_options how = weft_device_options_default(monitor);
    tuning_run run = {.options = &options};
    (void)code;
    TRY(weft_tool_read(table, NULL, "FUNCTION|FILE.kernel.c|SCRIPT.weft", doc, argc, argv, &options,
                       error));
    if (options.n_arguments == 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "nothing to tune is given",
                              "write weft tune FUNCTION, FILE.kernel.c or SCRIPT.weft"));
    TRY(weft_arena_make(&run.arena, error));
    TRY(weft_tool_library_make(&options, &library, error));
    run.library = library;
    TRY(weft_device_open(options.device, &how, &run.device, error));
    TRY(weft_tuning_open(&how, &run.tuning, error));
    TRY(tune_argument(&run, library, options.arguments[0], error));
    if (run.n > 0)
        printf("tuning database %s\n", weft_tuning_path(run.tuning)[0]
                                           ? weft_tuning_path(run.tuning)
                                           : "in memory: nothing is kept");
done:
    app_messages_clear(monitor);
    weft_tuning_close(&run.tuning);
    weft_device_free(&run.device);
    weft_library_free(&library);
    weft_arena_free(&run.arena);
    weft_tool_clear(&options);
    return status;
}
