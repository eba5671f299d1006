/* Opens the device and the function library of a run. */
#include "apps/common/run.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>

/* Let freed arrays be used again: set-up makes and frees many large ones, and pages that the
 * kernel hands out are cleared first, which took a third of the processor time of runs with multigrid. */
static void keep_freed_memory(void) {
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, -1); /* never */
}

/* The library of functions, which is made while the device opens. */
typedef struct library_start {
    pthread_t thread;
    bool has_thread;
    weft_library *library;
    weft_status status;
    weft_error error;
} library_start;

static void *make_library(void *user) {
    library_start *start = user;
    start->status = weft_fem_library_make(&start->library, &start->error);
    return NULL;
}

static weft_status library_wait(library_start *start, weft_library **out, weft_error *error) {
    if (start->has_thread)
        pthread_join(start->thread, NULL);
    else
        (void)make_library(start);
    *out = start->library;
    if (start->status != WEFT_OK && error)
        *error = start->error;
    return start->status;
}

const char *app_run_device_reason(const app_run *run) {
    return run->host_preferred ? run->device_reason : NULL;
}

/* Open the host if the run prefers that to a GPU. A host that cannot be opened is left to
 * weft_device_open, which reports that if it needs it. */
static void open_host(app_run *run, const weft_device_options *options) {
    weft_device *host = NULL;
    if (weft_device_open("host", options, &host, NULL) != WEFT_OK)
        return;
    run->host_preferred =
        app_prefers_host(weft_device_limits(host), run->options, &run->work, run->device_reason);
    weft_log(options->monitor, WEFT_LOG_INFO, "device auto: %s: %s",
             run->host_preferred ? "the host" : "a GPU if there is one", run->device_reason);
    if (run->host_preferred) {
        run->device = host;
        host = NULL;
    }
    weft_device_free(&host);
}

weft_status app_device_open(app_run *run, weft_error *error) {
    weft_status status = WEFT_OK, made = WEFT_OK;
    const weft_monitor *monitor = run->monitor;
    const weft_device_options options = weft_device_options_default(monitor);
    const char *name = run->device_name[0] ? run->device_name : run->options->device;
    library_start start = {0};
    keep_freed_memory();
    start.has_thread = pthread_create(&start.thread, NULL, make_library, &start) == 0;
    (void)snprintf(run->device_reason, sizeof run->device_reason, "as requested");
    if (weft_device_is_automatic(name))
        open_host(run, &options);
    if (!run->device)
        status = weft_device_open(name, &options, &run->device, error);
    made = library_wait(&start, &run->library, status == WEFT_OK ? error : NULL);
    TRY(status);
    TRY(made);
    run->context = (weft_context){.device = run->device,
                                  .library = run->library,
                                  .plan = run->options->plan,
                                  .monitor = monitor};
done:
    return status;
}
