/* Opens the device and the function library of a run. */
#include "apps/common/fem.h"

#include <malloc.h>
#include <pthread.h>

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

weft_status app_device_open(const char *name, weft_plan_kind plan, const weft_monitor *monitor,
                            weft_device **device, weft_library **library, weft_context *context,
                            weft_error *error) {
    weft_device_options options = weft_device_options_default(monitor);
    library_start start = {0};
    keep_freed_memory();
    start.has_thread = pthread_create(&start.thread, NULL, make_library, &start) == 0;
    weft_status status = weft_device_open(name, &options, device, error);
    const weft_status made = library_wait(&start, library, status == WEFT_OK ? error : NULL);
    TRY(status);
    TRY(made);
    *context =
        (weft_context){.device = *device, .library = *library, .plan = plan, .monitor = monitor};
done:
    return status;
}
