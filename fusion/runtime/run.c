/* Running a segment: every launch of its plan. */
#include "core/base/fault.h"
#include "core/weft_core.h"
#include "fusion/base/target.h"
#include "fusion/codegen/codegen.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/plan.h"
#include "fusion/plan/segment.h"
#include "fusion/runtime/private.h"
#include "fusion/runtime/runtime.h"
#include "fusion/weft_program.h"

#include <stdio.h>

enum { NAME_LENGTH = 256 };

static weft_memory *datum_memory(const weft_program_segment *p, int datum) {
    const int buffer = p->segment->plan->buffer_of[datum];
    return buffer >= 0 ? p->buffers[buffer] : p->data[datum];
}

static weft_status launch_argument(weft_program_segment *p, const weft_argument *argument,
                                   weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    weft_memory *parts[2] = {NULL, NULL};
    switch (argument->kind) {
    case ARGUMENT_DATUM:
        *out = datum_memory(p, argument->index);
        break;
    case ARGUMENT_PARTIALS:
        *out = p->partials[argument->index];
        break;
    case ARGUMENT_ROWS:
    case ARGUMENT_TWIN:
        status = weft_program_rows_argument(p, argument, out, error);
        break;
    case ARGUMENT_POSITIONS:
        *out = p->positions[argument->index];
        break;
    case ARGUMENT_STAR_MATRIX:
        status = weft_program_matrix_argument(p, argument, out, error);
        break;
    case ARGUMENT_MAP:
    case ARGUMENT_COLOUR:
    case ARGUMENT_STAR:
    case ARGUMENT_GATHER:
        if (p->maps[argument->index] == NULL) {
            status = weft_error_set(error, WEFT_ERROR_USAGE, "connectivity '%s' is not bound",
                                    p->segment->graph->maps[argument->index].name);
            break;
        }
        if (argument->kind == ARGUMENT_STAR) {
            status = weft_program_star_argument(p, argument, out, error);
            break;
        }
        if (argument->kind == ARGUMENT_COLOUR) {
            status = weft_program_colours_argument(p, argument, out, error);
            break;
        }
        if (argument->kind == ARGUMENT_MAP) {
            status =
                weft_connectivity_interleaved(p->maps[argument->index], plan->lanes, out, error);
            break;
        }
        TRY(weft_connectivity_transposed(p->maps[argument->index], plan->lanes, &parts[0],
                                         &parts[1], error));
        *out = parts[argument->part];
        break;
    }
done:
    return status;
}

/* Every block in one range. */
typedef struct serial_schedule {
    weft_schedule schedule;
    int64_t start[2], range[1][2];
} serial_schedule;

/* The order that keeps accumulating stores apart. Stores through several maps run serially. */
static weft_status launch_schedule(weft_program_segment *p, const weft_plan_kernel *kernel,
                                   serial_schedule *serial, const weft_schedule **out,
                                   weft_error *error) {
    const weft_graph *graph = p->segment->graph;
    const int lanes = p->segment->plan->lanes;
    int map = -1;
    bool several = false;
    for (int i = 0; i < kernel->n_scatters; ++i) {
        const int m = graph->accumulations[kernel->scatters[i]].map;
        several |= map >= 0 && m != map;
        map = m;
    }
    *out = NULL;
    if (p->segment->plan->is_simt) /* atomic there */
        return WEFT_OK;
    *out = p->chunks[kernel - p->segment->plan->kernels];
    if (map < 0 || *out != NULL)
        return WEFT_OK;
    if (!several && p->maps[map] != NULL)
        return weft_connectivity_schedule(p->maps[map], lanes, out, error);
    *serial = (serial_schedule){.start = {0, 1},
                                .range = {{0, weft_program_blocks(p, kernel->index_set)}}};
    serial->schedule =
        (weft_schedule){.n_colours = 1, .colour_start = serial->start, .ranges = serial->range};
    *out = &serial->schedule;
    return WEFT_OK;
}

weft_status weft_program_kernel_arguments(weft_program_segment *p, const weft_plan_kernel *kernel,
                                          weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < kernel->n_arguments; ++i)
        TRY(launch_argument(p, &kernel->arguments[i], &out[i], error));
done:
    return status;
}

static weft_memory *go_of(const weft_program_segment *p) {
    return p->go != NULL ? p->go : p->always;
}

/* What accumulating stores start from. Where the kernel does nothing this must not either. */
static weft_status zero(const weft_program_segment *p, const weft_plan_kernel *kernel, int datum,
                        weft_error *error) {
    weft_memory *list = datum_memory(p, datum);
    const size_t real_bytes = p->segment->options.single ? sizeof(float) : sizeof(double);
    weft_memory *arguments[2] = {list, go_of(p)};
    char name[NAME_LENGTH];
    if (!p->segment->plan->guarded)
        return weft_memory_zero(list, error);
    snprintf(name, sizeof name, "%s" WEFT_CLEAR_SUFFIX, kernel->name);
    const weft_launch launch = {.module = p->module,
                                .kernel = name,
                                .arguments = arguments,
                                .n_arguments = 2,
                                .n_instances = (int64_t)(weft_memory_bytes(list) / real_bytes),
                                .lanes = p->segment->plan->lanes};
    return launch.n_instances > 0 ? weft_device_launch(p->device, &launch, error) : WEFT_OK;
}

static weft_status launch_kernel(weft_program_segment *p, const weft_plan_kernel *kernel,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    serial_schedule serial;
    weft_launch launch = {.module = p->module,
                          .kernel = kernel->name,
                          .arguments = p->arguments,
                          .n_arguments = kernel->n_arguments,
                          .n_instances = p->sizes[kernel->index_set],
                          .lanes = p->segment->plan->lanes};
    for (int i = 0; i < kernel->n_zero && !weft_planted("missed_clear"); ++i)
        TRY(zero(p, kernel, kernel->zero[i], error));
    TRY(weft_program_kernel_arguments(p, kernel, p->arguments, error));
    if (p->segment->plan->guarded)
        p->arguments[launch.n_arguments++] = go_of(p);
    if (kernel->cell_colours)
        return weft_program_colours_launch(p, kernel, &launch, error);
    if (kernel->stars)
        TRY(weft_program_stars_launch(p, kernel, &launch, error));
    else
        TRY(launch_schedule(p, kernel, &serial, &launch.schedule, error));
    if (kernel->finishes) { /* one thread, told the number of partial results and one more */
        launch.n_instances =
            weft_program_chunks(p, kernel->index_set) + !weft_planted("last_chunk_lost");
        launch.lanes = (int)launch.n_instances;
    }
    weft_program_rows_launch(p, kernel, &launch);
    if (launch.n_instances > 0 || launch.n_blocks > 0)
        TRY(weft_device_launch(p->device, &launch, error));
    weft_program_rows_swap(p, kernel);
done:
    return status;
}

weft_status weft_program_touch(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    TRY(weft_program_prepare(p, error));
    for (int k = 0; k < plan->n_kernels; ++k) {
        weft_launch launch = {0};
        TRY(weft_program_kernel_arguments(p, &plan->kernels[k], p->arguments, error));
        if (plan->kernels[k].stars)
            TRY(weft_program_stars_launch(p, &plan->kernels[k], &launch, error));
    }
done:
    return status;
}

weft_status weft_program_launch_kernel(weft_program *program, int kernel, weft_error *error) {
    weft_program_segment *p = program->segments[0];
    return launch_kernel(p, &p->segment->plan->kernels[kernel], error);
}

weft_status weft_program_segment_run(weft_program_segment *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = p->segment->plan;
    TRY(weft_program_prepare(p, error));
    for (int i = 0; i < plan->n_kernels - p->leaves_join; ++i)
        TRY(launch_kernel(p, &plan->kernels[i], error));
done:
    return status;
}
