/* weft test: runs every variant of functions against its reference on devices. */
#include "apps/weft/tool.h"
#include "fem/weft_fem.h"

#include <stdlib.h>
#include <string.h>

static const app_option table[] = {
    {"device", "NAME",
     "Run on this device; repeatable (default: host, emulated, and cuda if it is usable)",
     .read = weft_tool_device},
    {"seed", "NUMBER", "Seed of the random arguments (default 1)",
     APP_INTEGER(weft_tool_options, seed, 0, 1000000000)},
    {0}};

static const char doc[] =
    "Check the functions of DIR/**/*.kernel.c against their reference implementations."
    "\v"
    "Each function runs with every granularity (each of its bodies), in double and in float, with "
    "small sizes that it allows, for 1, lanes - 1, lanes, lanes + 1 and 1003 elements, functions "
    "of matrices for up to 67 x 67. The device 'emulated' runs a GPU's code on the host, with the "
    "threads between two barriers in several orders. Each function must agree with its 'threads 1' "
    "body as plain C in double precision, which is generated independently of the devices' code, "
    "and with the '//@ example' lines of the author. Errors are relative to the largest component "
    "of a result, or to 0.1 if that is larger.\n"
    "\n"
    "Examples:\n"
    "  weft test .\n"
    "  weft test my-kernels --device host --device cuda";

enum { DEVICES_MOST = 8 };

typedef struct tester {
    const char *directory;
    weft_library *library;
    weft_device *host;
    weft_device *devices[DEVICES_MOST], *emulated;
    const char *names[DEVICES_MOST];
    int n_devices;
    uint32_t seed;
    int n_functions, n_runs, n_wrong;
    int widths[3]; /* of the columns: functions, granularities, devices */
} tester;

/* Emulation needs g++: without it the other devices are tested. */
static weft_status open_emulated(tester *t, const weft_device_options *options, bool required,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error reason = {0};
    weft_module *probe = NULL;
    weft_device *device = NULL;
    TRY(weft_tool_emulated_open(options, &device, error));
    if (weft_module_make(device, "emulation", "", &probe, &reason) == WEFT_OK) {
        t->names[t->n_devices] = "emulated";
        t->emulated = t->devices[t->n_devices++] = device;
        device = NULL;
    } else if (required) {
        if (error)
            *error = reason;
        status = reason.status;
    } else {
        printf("not emulated: %s\n", reason.message);
    }
done:
    weft_module_free(&probe);
    weft_device_free(&device);
    return status;
}

static weft_status open_devices(tester *t, const weft_tool_options *options,
                                const weft_device_options *device_options, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error reason = {0};
    for (int i = 0; i < options->n_devices; ++i) {
        if (strncmp(options->devices[i], "null", 4) == 0) {
            status =
                weft_error_set(error, WEFT_ERROR_USAGE,
                               "the device %s computes nothing, so nothing can be tested on it",
                               options->devices[i]);
            weft_error_hint(error, "weft devices lists the others");
            goto done;
        }
        if (strcmp(options->devices[i], "emulated") == 0) {
            TRY(open_emulated(t, device_options, true, error));
            continue;
        }
        t->names[i] = options->devices[i];
        TRY(weft_device_open(t->names[i], device_options, &t->devices[i], error));
        t->n_devices = i + 1;
    }
    if (options->n_devices > 0)
        goto done;
    t->names[0] = "host";
    TRY(weft_device_open("host", device_options, &t->devices[0], error));
    t->n_devices = 1;
    TRY(open_emulated(t, device_options, false, error));
    if (weft_device_open("cuda", device_options, &t->devices[t->n_devices], &reason) == WEFT_OK)
        t->names[t->n_devices++] = "cuda";
    else
        printf("not on cuda: %s\n", reason.message);
done:
    return status;
}

/* Is this file below the directory, i.e. does its name begin with the directory's path? */
static bool is_below(const char *file, const char *directory) {
    size_t n = strlen(directory);
    return strncmp(file, directory, n) == 0 && file[n] == '/';
}

static void widen(int *width, const char *text) {
    const int length = (int)strlen(text);
    *width = length > *width ? length : *width;
}

static void set_widths(tester *t) {
    for (size_t i = 0; i < weft_library_size(t->library); ++i) {
        weft_function_info info;
        weft_library_info(t->library, i, &info);
        if (!is_below(info.file, t->directory))
            continue;
        widen(&t->widths[0], info.name);
        for (int variant = 0; variant < info.n_variants; ++variant)
            widen(&t->widths[1], info.granularities[variant]);
    }
    for (int i = 0; i < t->n_devices; ++i)
        widen(&t->widths[2], t->names[i]);
}

static void print_outcome(const tester *t, const weft_tool_cross_check *test_case, int variant,
                          const char *device, const weft_tool_outcome outcomes[2]) {
    const bool wrong = outcomes[0].failure.data || outcomes[1].failure.data;
    printf("%-5s  %-*s  threads %-*s  %-*s  double %.1e (%.0e)  float %.1e (%.0e)\n",
           wrong ? "WRONG" : "ok", t->widths[0], test_case->info.name, t->widths[1],
           test_case->info.granularities[variant], t->widths[2], device, outcomes[0].worst,
           outcomes[0].tolerance, outcomes[1].worst, outcomes[1].tolerance);
    for (int single = 0; single < 2; ++single)
        if (outcomes[single].failure.data)
            printf("    %s", outcomes[single].failure.data);
}

/* The sizes and parameters of the test cases, before anything is run with them; examples have their own. */
static void print_sizes(const tester *t, const weft_tool_cross_check *test_case) {
    const weft_test_cases *cases = &test_case->test_cases;
    int n = 0;
    for (int i = 0; i < cases->n; ++i) {
        const weft_test_case *one = &cases->list[i];
        if (one->line > 0 || one->sizes[0] == '\0')
            continue;
        if (n++ == 0)
            printf("sizes  %-*s  %s", t->widths[0], test_case->info.name, one->sizes);
        else
            printf("; %s", one->sizes);
    }
    if (n > 0)
        printf("\n");
}

static weft_status test_variant(tester *t, const weft_tool_cross_check *test_case, int device,
                                int variant, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tool_outcome outcomes[2] = {{.worst = 0}, {.worst = 0}};
    for (int single = 0; single < 2; ++single)
        TRY(weft_tool_try(test_case, t->devices[device], variant, single == 1, &outcomes[single],
                          error));
    print_outcome(t, test_case, variant, t->names[device], outcomes);
    ++t->n_runs;
    t->n_wrong += outcomes[0].failure.data || outcomes[1].failure.data;
done:
    weft_text_free(&outcomes[0].failure);
    weft_text_free(&outcomes[1].failure);
    return status;
}

/* The laws of a reduction's operator, without which devices may disagree; other functions have none. */
static weft_status test_laws(tester *t, const weft_tool_cross_check *test_case, bool *hold,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text failure = {0};
    const weft_test_case *first = &test_case->test_cases.list[0];
    if (!first->combine)
        goto done;
    TRY(weft_tool_laws(test_case, &failure, error));
    if (failure.length > 0)
        printf("WRONG  %-*s  %s", t->widths[0], test_case->info.name, failure.data);
    else
        printf("ok     %-*s  %s is associative%s, with an identity\n", t->widths[0],
               test_case->info.name, first->combine, first->commutative ? " and commutative" : "");
    t->n_wrong += failure.length > 0;
    *hold = failure.length == 0;
done:
    weft_text_free(&failure);
    return status;
}

/* Native bodies are run by devices of their language. */
static bool runs_on(const tester *t, const weft_function_info *info, int variant, int device) {
    const char *language = info->languages[variant];
    const bool is_cuda = weft_device_limits(t->devices[device])->kind == WEFT_DEVICE_CUDA;
    return strcmp(language, "plain") == 0 || strcmp(language, is_cuda ? "cuda" : "c") == 0;
}

static weft_status test_function(tester *t, size_t i, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = NULL;
    bool is_lawful = true;
    weft_tool_cross_check test_case = {
        .library = t->library, .host = t->host, .seed = t->seed, .emulated = t->emulated};
    weft_library_info(t->library, i, &test_case.info);
    if (!is_below(test_case.info.file, t->directory))
        goto done;
    ++t->n_functions;
    TRY(weft_arena_make(&arena, error));
    TRY(weft_test_cases_make(t->library, i, arena, &test_case.test_cases, error));
    print_sizes(t, &test_case);
    TRY(weft_module_make(t->host, "reference", test_case.test_cases.source, &test_case.references,
                         error));
    TRY(test_laws(t, &test_case, &is_lawful, error));
    for (int device = 0; device < t->n_devices && is_lawful; ++device)
        for (int variant = 0; variant < test_case.info.n_variants; ++variant)
            if (runs_on(t, &test_case.info, variant, device))
                TRY(test_variant(t, &test_case, device, variant, error));
done:
    weft_module_free(&test_case.references);
    weft_arena_free(&arena);
    return status;
}

static weft_status test_all(tester *t, const weft_tool_options *options,
                            const weft_device_options *device_options, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_fem_library_make(&t->library, error));
    TRY(weft_library_add_directory(t->library, t->directory, error));
    TRY(weft_device_open("host:1", device_options, &t->host, error));
    TRY(open_devices(t, options, device_options, error));
    set_widths(t);
    for (size_t i = 0; i < weft_library_size(t->library); ++i)
        TRY(test_function(t, i, error));
    printf("%d function%s, %d granularit%s run, %d wrong\n", t->n_functions,
           t->n_functions == 1 ? "" : "s", t->n_runs, t->n_runs == 1 ? "y" : "ies", t->n_wrong);
done:
    for (int i = 0; i < DEVICES_MOST; ++i)
        weft_device_free(&t->devices[i]);
    weft_device_free(&t->host);
    weft_library_free(&t->library);
    return status;
}

weft_status weft_tool_test(int argc, char **argv, const weft_monitor *monitor, int *code,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tool_options options = {.n_arguments_max = 1};
    tester t = {.n_devices = 0};
    weft_device_options device_options = weft_device_options_default(monitor);
    TRY(weft_tool_read(table, NULL, "DIR", doc, argc, argv, &options, error));
    if (options.n_arguments == 0)
        TRY(weft_error_refuse(error, WEFT_ERROR_USAGE, "no directory is given",
                              "write weft test DIR, for example weft test ."));
    t.directory = options.arguments[0];
    t.seed = (uint32_t)options.seed;
    TRY(test_all(&t, &options, &device_options, error));
    *code = t.n_wrong > 0;
done:
    weft_tool_clear(&options);
    return status;
}
