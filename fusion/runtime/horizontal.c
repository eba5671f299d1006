/* Launches groups of kernels (horizontal fusion): the sizes of the members, and the launch's grid. */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/runtime/private.h"

/* The launch that a member would have of its own; the grids of members do not fail. */
static weft_launch launch_of(const weft_program_segment *p, const weft_plan_kernel *member) {
    weft_launch own = {0};
    (void)weft_program_grid(p, member, &own, NULL);
    return own;
}

/* Blocks of a member. A map has the threads of its group; `parts`: of the launch in which final reductions join parts of
 * many partial results. */
static int64_t blocks_of(const weft_program_segment *p, const weft_plan_kernel *member,
                         bool parts) {
    if (member->kind == KERNEL_FINAL_REDUCTION)
        return parts ? weft_program_join_blocks(p, member) : 1;
    if (member->kind != KERNEL_MAP)
        return launch_of(p, member).n_blocks;
    const int64_t each = (int64_t)member->threads * member->implementation->serial_iterations;
    return (p->sizes[member->index_set] + each - 1) / each;
}

/* Elements of each member, the first block of each and all blocks. Returns the latter. */
static int64_t list_sizes(const weft_program_segment *p, const weft_plan_kernel *group, bool parts,
                          int64_t *sizes) {
    const weft_plan_kernel *members = group - group->n_members;
    const int n = group->n_members;
    int64_t first = 0;
    for (int m = 0; m < n; ++m) {
        sizes[m] = p->sizes[members[weft_fault("member_size") ? 0 : m].index_set];
        sizes[n + m] = first + weft_fault("member_offset");
        first += blocks_of(p, &members[m], parts);
    }
    sizes[2 * n] = first;
    return first;
}

weft_status weft_program_group_prepare(weft_program_segment *p, int number, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan_kernel *kernel = &p->segment->plan->kernels[number];
    const int n = 2 * kernel->n_members + 1;
    int64_t sizes[2 * (2 * WEFT_GROUP_MEMBERS + 1)];
    list_sizes(p, kernel, false, sizes);
    list_sizes(p, kernel, true, sizes + n);
    const size_t bytes = 2 * (size_t)n * sizeof *sizes;
    if (!p->members[number])
        TRY(weft_memory_make(p->device, bytes, &p->members[number], error));
    TRY(weft_memory_write(p->members[number], 0, sizes, bytes, error));
done:
    return status;
}

static bool has_finals(const weft_plan_kernel *group) {
    return (group - 1)->kind == KERNEL_FINAL_REDUCTION;
}

weft_status weft_program_group_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                    weft_launch *launch, weft_error *error) {
    const weft_plan_kernel *members = kernel - kernel->n_members;
    (void)error;
    launch->n_elements = 0;
    launch->n_blocks = 0;
    launch->block_threads = kernel->threads;
    for (int m = 0; m < kernel->n_members; ++m) {
        const int64_t n = blocks_of(p, &members[m], false), size = p->sizes[members[m].index_set];
        const int shared = launch_of(p, &members[m]).shared_bytes;
        launch->n_elements = size > launch->n_elements ? size : launch->n_elements;
        launch->n_blocks = kernel->combination == INTER_BLOCK ? launch->n_blocks + n
                           : n > launch->n_blocks             ? n
                                                              : launch->n_blocks;
        launch->shared_bytes = shared > launch->shared_bytes ? shared : launch->shared_bytes;
    }
    if (has_finals(kernel)) {
        launch->n_elements = 0; /* which of the sizes the members have */
        launch->waits = !p->segment->plan->predicated;
    }
    return WEFT_OK;
}

weft_status weft_program_group_launch(weft_program_segment *p, const weft_plan_kernel *kernel,
                                      const weft_launch *launch, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t sizes[2 * WEFT_GROUP_MEMBERS + 1];
    weft_launch parts = *launch;
    parts.n_blocks = has_finals(kernel) ? list_sizes(p, kernel, true, sizes) : 0;
    parts.n_elements = 1;
    if (parts.n_blocks > 0)
        TRY(weft_device_launch(p->device, &parts, error));
    if (launch->n_blocks > 0)
        TRY(weft_device_launch(p->device, launch, error));
done:
    return status;
}
