/* Kernels whose accumulating stores go by colours of cells: a launch a colour, so that each is
 * complete before the next begins. */
#include "core/weft_core.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/plan/plan.h"
#include "fusion/runtime/private.h"
#include "fusion/runtime/runtime.h"
#include "fusion/weft_program.h"

weft_status weft_program_colours_argument(const weft_program_segment *p,
                                          const weft_argument *argument, weft_memory **out,
                                          weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell_colours *colours = NULL;
    TRY(weft_connectivity_colours(p->maps[argument->index], &colours, error));
    *out = colours->n_colours > 0 ? colours->order[0] : NULL;
done:
    return status;
}

weft_status weft_program_colours_launch(weft_program_segment *p, const weft_plan_kernel *kernel,
                                        const weft_launch *whole, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell_colours *colours = NULL;
    int place = 0;
    while (kernel->arguments[place].kind != ARGUMENT_COLOUR)
        ++place;
    TRY(weft_connectivity_colours(p->maps[kernel->arguments[place].index], &colours, error));
    for (int i = 0; i < colours->n_colours; ++i) {
        weft_launch launch = *whole;
        launch.n_instances = colours->start[i + 1] - colours->start[i];
        if (colours->is_serial_last && i == colours->n_colours - 1)
            launch.n_blocks = launch.block_threads = 1;
        p->arguments[place] = colours->order[i];
        TRY(weft_device_launch(p->device, &launch, error));
    }
done:
    return status;
}
