/** One way of compiling and running a random script, against what it means. */
#ifndef CROSS_CHECK_H
#define CROSS_CHECK_H

#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "random_script.h"

typedef struct cross_check_way {
    const char *device; /* batch, optimised, emulated, or a device of Weft's */
    weft_plan_kind plan;
    weft_scatter scatter;
    weft_rematerialise rematerialise; /* of what a loop reads and could recompute */
    random_directives directives;     /* as far as the compiler takes them */
    bool alone;                       /* the planner looks at no fusion of several calls */
    int64_t elements;   /* that the planner expects of a set: with few, kernels share launches */
    uint64_t best;      /* not 0: one of the best covers, this one modulo their number */
    uint64_t partition; /* not 0: calls are fused by these random numbers */
    uint64_t variants;  /* not 0: and so are the variants of functions */
    bool backwards;
    bool few_blocks;     /* emulated: of one multiprocessor at most */
    bool product_kernel; /* the script's operator is a product kernel, else a function of ours */
    bool brings_dot;     /* and this gives dot products too */
} cross_check_way;
/** The ways that a script is tried on a device, in out [CROSS_CHECK_WAYS]; how many. */
enum { CROSS_CHECK_WAYS = 6 };
int cross_check_ways(const random_script *script, const char *device, cross_check_way *out);
void cross_check_way_print(const cross_check_way *way, weft_text *out);

/** Free with cross_check_free. */
typedef struct cross_check {
    const random_script *script; /* borrowed */
    cross_check_way way;
    weft_device *device; /* borrowed */
    char *text;
    bool directed; /* the text has directives */
    weft_compilation *compilation;
    weft_program *program;
    weft_memory *memory[RANDOM_LISTS]; /* of inputs */
    weft_connectivity *connectivities[RANDOM_MAPS];
    weft_memory *rows[3]; /* of the operator */
    weft_memory *matrix, *positions;
    int64_t n_matrix;
    weft_product_arguments product_kernel;
} cross_check;

/** Compile and make the program; the device compiles its kernels now or when they are launched. */
weft_status cross_check_make(weft_library *library, weft_device *device,
                             const random_script *script, const cross_check_way *way,
                             cross_check *out, weft_error *error);
/** Run it twice, and compare what it leaves with values: what it returns, the inputs that it
 *  changes and those that it does not. Errors WEFT_ERROR_INTERNAL: says where it differs */
weft_status cross_check_run(cross_check *cross_check, const random_values *values,
                            weft_error *error);
void cross_check_free(cross_check *cross_check);

/** fusion/plan/partition.c: cover a compilation's calls otherwise than the planner did, as state
 *  says: by any legal sets of calls, in any legal order, or by one of the best covers that the
 *  planner knows. */
weft_status partition_make(weft_compilation *compilation, uint64_t state, bool best,
                           weft_error *error);

/** reload.c: print the plan of a compilation, compile the script with that plan forced, and compare
 *  plan and source.
 *  Errors  WEFT_ERROR_INTERNAL: they differ; those of weft_compile: the plan is refused */
weft_status reload_check(const weft_library *library, const weft_fragment *script,
                         const weft_compilation *planned, weft_error *error);

#endif
