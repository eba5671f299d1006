/* Finds the app and the devices, and lists the cases of a study. */
#include "apps/scaling/scaling.h"
#include "core/base/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static weft_status find_app(const scaling_options *options, scaling_cases *out, weft_error *error) {
    const char *name = scaling_app_at(options->app)->name;
    if (!weft_find_own_program(name, out->program, sizeof out->program)) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "the program %s is not there", name);
        weft_error_hint(error, "it is searched next to scaling and in PATH");
        return WEFT_ERROR_UNSUPPORTED;
    }
    return scaling_file_hash(out->program, out->program_hash, error);
}

static weft_status add_device(const char *name, scaling_cases *out, weft_error *error) {
    for (int i = 0; i < out->devices.n; ++i)
        if (strcmp(out->devices.items[i], name) == 0) {
            weft_error_set(error, WEFT_ERROR_USAGE, "the device %.40s is given twice", name);
            weft_error_hint(error, "--device host with --threads N means the device host:N");
            return WEFT_ERROR_USAGE;
        }
    return scaling_list_append(&out->devices, name, error);
}

/* What `auto` stands for in all runs of a study, whatever their sizes: the device that weft_device_open takes. An app that
 * is given `auto` would take the host for small meshes. */
static weft_status resolve_automatic(const weft_monitor *monitor, const char **name,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    const weft_device_options plain = weft_device_options_default(monitor);
    const bool is_automatic = weft_device_is_automatic(*name);
    if (!is_automatic && strcmp(*name, "auto") == 0)
        *name = getenv("WEFT_DEVICE");
    if (!is_automatic)
        goto done;
    TRY(weft_device_open(*name, &plain, &device, error));
    *name = weft_device_limits(device)->execution == WEFT_EXECUTION_SIMT ? "cuda" : "host";
done:
    weft_device_free(&device);
    return status;
}

/* --device host with --threads 1,2 is host:1, host:2 */
static weft_status list_devices(const scaling_options *options, const weft_monitor *monitor,
                                scaling_cases *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char name[40];
    bool any = false;
    for (int i = 0; i < options->devices.n; ++i) {
        const char *device = options->devices.items[i];
        TRY(resolve_automatic(monitor, &device, error));
        const bool spread = options->threads.n > 0 && strcmp(device, "host") == 0;
        if (strncmp(device, "null", 4) == 0) {
            status =
                weft_error_set(error, WEFT_ERROR_USAGE,
                               "the device %.40s computes nothing, so nothing is timed", device);
            weft_error_hint(error, "give host, host:THREADS, host:THREADS:SET or cuda");
            goto done;
        }
        any = any || spread;
        if (!spread)
            TRY(add_device(device, out, error));
        for (int k = 0; spread && k < options->threads.n; ++k) {
            snprintf(name, sizeof name, "host:%.30s", options->threads.items[k]);
            TRY(add_device(name, out, error));
        }
    }
    if (options->threads.n > 0 && !any) {
        status = weft_error_set(error, WEFT_ERROR_USAGE,
                                "--threads needs the device host, without a number of threads");
        weft_error_hint(error, "leave --device away, or name host in it");
    }
done:
    return status;
}

/* Open each device once, so that a missing one is reported before the runs. */
static weft_status open_devices(const weft_monitor *monitor, scaling_cases *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device *device = NULL;
    const weft_device_options plain = weft_device_options_default(monitor);
    out->device_names = calloc((size_t)out->devices.n, sizeof *out->device_names);
    if (!out->device_names)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < out->devices.n; ++i) {
        TRY(weft_device_open(out->devices.items[i], &plain, &device, error));
        const weft_limits *limits = weft_device_limits(device);
        snprintf(out->device_names[i], sizeof *out->device_names, "%s", limits->name);
        weft_device_free(&device);
    }
    TRY(weft_device_open("host", &plain, &device, error));
    snprintf(out->machine, sizeof out->machine, "%s", weft_device_limits(device)->name);
done:
    weft_device_free(&device);
    return status;
}

static weft_status name_case(scaling_case *item, weft_error *error) {
    const int written = item->preconditioner ? asprintf(&item->system, "%s with %s", item->assembly,
                                                        item->preconditioner)
                                             : asprintf(&item->system, "%s", item->assembly);
    if (written < 0) {
        item->system = NULL;
        return weft_out_of_memory(error, NULL);
    }
    if (asprintf(&item->name, "%s | %s | %s", item->level->name, item->system, item->device) < 0) {
        item->name = NULL;
        return weft_out_of_memory(error, NULL);
    }
    return WEFT_OK;
}

static weft_status list_cases(const scaling_options *options, scaling_cases *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const scaling_list *assemblies = &options->assemblies, *with = &options->preconditioners;
    const int n_with = with->n > 0 ? with->n : 1, n_systems = assemblies->n * n_with;
    out->cases = calloc((size_t)(out->n_levels * out->devices.n * n_systems), sizeof *out->cases);
    if (!out->cases)
        TRY(weft_out_of_memory(error, NULL));
    for (int l = 0; l < out->n_levels; ++l)
        for (int k = 0; k < out->devices.n; ++k)
            for (int i = 0; i < n_systems; ++i) {
                scaling_case *item = &out->cases[out->n_cases++];
                *item =
                    (scaling_case){.level = &out->levels[l],
                                   .assembly = assemblies->items[i / n_with],
                                   .preconditioner = with->n > 0 ? with->items[i % n_with] : NULL,
                                   .device = out->devices.items[k]};
                TRY(name_case(item, error));
            }
done:
    return status;
}

/* The user's arguments, preceded by the default problem if they define none. */
static weft_status list_arguments(const scaling_options *options, scaling_cases *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const scaling_app *app = scaling_app_at(options->app);
    bool *own = &out->own_problem;
    for (int i = 0; i < options->n_arguments; ++i)
        for (const char *const *name = app->problem_options; *name; ++name) {
            size_t length = strlen(*name);
            *own =
                *own || (strncmp(options->arguments[i], *name, length) == 0 &&
                         (!options->arguments[i][length] || options->arguments[i][length] == '='));
        }
    for (const char *const *text = app->default_arguments; !*own && *text; ++text)
        TRY(scaling_list_append(&out->arguments, *text, error));
    /* assemblies are compared by the same iterations, unless the user wants others */
    for (const char *const *text = app->default_solver; text && *text; ++text)
        TRY(scaling_list_append(&out->arguments, *text, error));
    for (int i = 0; i < options->n_arguments; ++i)
        TRY(scaling_list_append(&out->arguments, options->arguments[i], error));
done:
    return status;
}

weft_status scaling_cases_make(const scaling_options *options, const weft_monitor *monitor,
                               scaling_cases *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(find_app(options, out, error));
    TRY(scaling_levels_make(options, out, error));
    TRY(list_devices(options, monitor, out, error));
    TRY(open_devices(monitor, out, error));
    TRY(list_cases(options, out, error));
    TRY(list_arguments(options, out, error));
    TRY(scaling_steps_check(options, out, error));
done:
    return status;
}

void scaling_cases_clear(scaling_cases *cases) {
    for (int i = 0; i < cases->n_cases; ++i) {
        free(cases->cases[i].system);
        free(cases->cases[i].name);
    }
    for (int i = 0; i < cases->n_levels; ++i) {
        free(cases->levels[i].name);
        free(cases->levels[i].mesh);
        free(cases->levels[i].file);
    }
    free(cases->cases);
    free(cases->levels);
    free(cases->device_names);
    scaling_list_clear(&cases->devices);
    scaling_list_clear(&cases->arguments);
    *cases = (scaling_cases){0};
}
