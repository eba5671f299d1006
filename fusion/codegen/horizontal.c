/* Writes the kernel that calls the members of a group (horizontal fusion; Dey 2020, types of kernel
 * fusion). A member is a function of its elements, arguments, block and thread. */
#include "fusion/codegen/private.h"

/* The call of member m. number, blocks, thread: C text */
static void write_call(const source_writer *w, const weft_plan_kernel *member, int m,
                       const char *number, const char *blocks, const char *thread, int first) {
    weft_text_add(w->out, "%s(members[%d]", member->name, m);
    for (int i = 0; i < member->n_arguments; ++i) {
        weft_text_add(w->out, ", ");
        weft_source_argument_name(w, &member->arguments[i]);
    }
    weft_text_add(w->out, ", %s, %s, %s", number, blocks, thread);
    if (first > 0)
        weft_text_add(w->out, " - %d", first);
    weft_text_add(w->out, ", %d);\n", member->threads);
}

/* Blocks of one member follow those of another; members[n + m] is the first one of member m. All threads of a block
 * enter a member that has barriers. */
static void write_inter_block(const source_writer *w, const weft_plan_kernel *members, int n) {
    if (members[0].kind == KERNEL_FINAL_REDUCTION)
        weft_text_add(w->out, "    members += n_elements * %d;\n", 2 * n + 1);
    weft_text_add(w->out,
                  "    int member = 0;\n"
                  "    UNROLL for (int m = 1; m < %d; ++m)\n"
                  "        member += blockIdx.x >= members[%d + m];\n"
                  "    const int64_t number = blockIdx.x - members[%d + member];\n"
                  "    const int64_t blocks = members[%d + member] - members[%d + member];\n"
                  "    switch (member) {\n",
                  n, n, n, n + 1, n);
    for (int m = 0; m < n; ++m) {
        weft_text_add(w->out, "    case %d:\n        ", m);
        if (members[m].kind == KERNEL_MAP)
            weft_text_add(w->out, "if (threadIdx.x < %d)\n            ", members[m].threads);
        write_call(w, &members[m], m, "number", "blocks", "threadIdx.x", 0);
        weft_text_add(w->out, "        break;\n");
    }
    weft_text_add(w->out, "    }\n");
}

/* Each member has some warps of every block. */
static void write_inner_block(const source_writer *w, const weft_plan_kernel *members, int n) {
    int first = 0;
    for (int m = 0; m < n; ++m) {
        weft_text_add(w->out, "    %sif (threadIdx.x < %d)\n        ", m > 0 ? "else " : "",
                      first + members[m].threads);
        write_call(w, &members[m], m, "blockIdx.x", "gridDim.x", "threadIdx.x", first);
        first += members[m].threads;
    }
}

/* Each thread has an element of every member; the function of a member tests that there is one. */
static void write_inner_thread(const source_writer *w, const weft_plan_kernel *members, int n) {
    for (int m = 0; m < n; ++m) {
        weft_text_add(w->out, "    if (threadIdx.x < %d)\n        ", members[m].threads);
        write_call(w, &members[m], m, "blockIdx.x", "gridDim.x", "threadIdx.x", 0);
    }
}

weft_status weft_source_group(const source_writer *w, const weft_plan_kernel *kernel,
                              weft_error *error) {
    static void (*const writers[WEFT_COMBINATIONS])(const source_writer *, const weft_plan_kernel *,
                                                    int) = {
        [INTER_BLOCK] = write_inter_block,
        [INNER_BLOCK] = write_inner_block,
        [INNER_THREAD] = write_inner_thread,
    };
    (void)error;
    weft_source_head(w, kernel);
    writers[kernel->combination](w, kernel - kernel->n_members, kernel->n_members);
    weft_text_add(w->out, "}\n\n");
    return WEFT_OK;
}
