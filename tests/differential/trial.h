/** One way of compiling and running a random script, against what it means. */
#ifndef TRIAL_H
#define TRIAL_H

#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"
#include "random_script.h"


typedef struct trial_way {
    const char *device; /* batch, optimised, emulated, or a device of Weft's */
    weft_plan_kind plan;
    weft_scatter scatter;
    weft_store store;   /* of what a loop reads and could recompute */
    bool alone;         /* the planner looks at no fusion of several calls */
    uint64_t best;      /* not 0: one of the best covers, by these random numbers */
    uint64_t partition; /* not 0: calls are fused by these random numbers */
    uint64_t variants;  /* not 0: and so are the variants of functions */
    bool backwards;
    bool few_blocks; /* emulated: of one multiprocessor at most */
    bool routine;    /* the script's operator is a rows routine, else a function of ours */
    bool brings_dot; /* and this gives dot products too */
} trial_way;
/** The ways that a script is tried on a device, in out [TRIAL_WAYS]; how many. */
enum { TRIAL_WAYS = 4 };
int trial_ways(const random_script *script, const char *device, trial_way *out);
void trial_way_print(const trial_way *way, weft_text *out);

/** Free with trial_free. */
typedef struct trial {
    const random_script *script; /* borrowed */
    trial_way way;
    weft_device *device; /* borrowed */
    char *text;
    weft_compilation *compilation;
    weft_program *program;
    weft_memory *memory[RANDOM_LISTS]; /* of inputs */
    weft_connectivity *maps[RANDOM_MAPS];
    weft_memory *rows[3]; /* of the operator */
    weft_memory *matrix, *positions;
    int64_t n_matrix;
    weft_rows routine;
} trial;

/** Compile and make the program; the device compiles its kernels now or when they are launched. */
weft_status trial_make(weft_library *library, weft_device *device, const random_script *script,
                       const trial_way *way, trial *out, weft_error *error);
/** Run it twice, and compare what it leaves with values: what it returns, the inputs that it
 *  changes and those that it does not. Errors WEFT_ERROR_INTERNAL: says where it differs */
weft_status trial_run(trial *trial, const random_values *values, weft_error *error);
void trial_free(trial *trial);

/** fusion/plan/partition.c: cover a compilation's calls otherwise than the planner did, as state says: by any
 *  legal sets of calls, in any legal order, or by one of the best covers that the planner knows. */
weft_status partition_make(weft_compilation *compilation, uint64_t state, bool best,
                           weft_error *error);

/** reload.c: print the plan of a compilation, compile the script with that plan forced, and compare
 *  plan and source.
 *  Errors  WEFT_ERROR_INTERNAL: they differ; those of weft_compile: the plan is refused */
weft_status reload_check(const weft_library *library, const weft_fragment *script,
                         const weft_compilation *planned, weft_error *error);

#endif
