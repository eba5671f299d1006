/* Opens the device and the function library of a run. */
#include "apps/common/fem.h"

#include <malloc.h>

/* Let freed arrays be used again: set-up makes and frees many large ones, and pages that the
 * kernel hands out are cleared first, which took a third of the processor time of runs with multigrid. */
static void keep_freed_memory(void) {
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, -1); /* never */
}

weft_status app_device_open(const char *name, weft_plan_kind plan, const weft_monitor *monitor,
                            weft_device **device, weft_library **library, weft_context *context,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_options options = weft_device_options_default(monitor);
    keep_freed_memory();
    TRY(weft_device_open(name, &options, device, error));
    TRY(weft_fem_library_make(library, error));
    *context =
        (weft_context){.device = *device, .library = *library, .plan = plan, .monitor = monitor};
done:
    return status;
}
