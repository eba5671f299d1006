/* Launches groups of kernels (horizontal fusion): the sizes of the members, and the launch's grid. */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/runtime/private.h"

/* Blocks that member m would have in a launch of its own. */
static int64_t blocks_of(const weft_program_segment *p, const weft_plan_kernel *member) {
    const int64_t each = (int64_t)member->threads * member->implementation->serial_iterations;
    return (p->sizes[member->index_set] + each - 1) / each;
}

weft_status weft_program_group_prepare(weft_program_segment *p, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan_kernel *kernel = &p->segment->plan->kernels[number];
    const weft_plan_kernel *members = kernel - kernel->n_members;
    const int n = kernel->n_members;
    int64_t sizes[2 * WEFT_GROUP_MEMBERS], first = 0;
    for (int m = 0; m < n; ++m) {
        sizes[m] = p->sizes[members[weft_fault("member_size") ? 0 : m].index_set];
        sizes[n + m] = first + weft_fault("member_offset");
        first += blocks_of(p, &members[m]);
    }
    const size_t bytes = 2 * (size_t)n * sizeof *sizes;
    if (!p->members[number])
        TRY(weft_memory_make(p->device, bytes, &p->members[number], error));
    TRY(weft_memory_write(p->members[number], 0, sizes, bytes, error));
done:
    return status;
}

weft_status weft_program_group_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                    weft_launch *launch, weft_error *error) {
    const weft_plan_kernel *members = kernel - kernel->n_members;
    (void)error;
    launch->n_elements = 0;
    launch->n_blocks = 0;
    launch->block_threads = kernel->threads;
    for (int m = 0; m < kernel->n_members; ++m) {
        const int64_t n = blocks_of(p, &members[m]), size = p->sizes[members[m].index_set];
        launch->n_elements = size > launch->n_elements ? size : launch->n_elements;
        launch->n_blocks = kernel->combination == INTER_BLOCK ? launch->n_blocks + n
                           : n > launch->n_blocks             ? n
                                                              : launch->n_blocks;
    }
    return WEFT_OK;
}
