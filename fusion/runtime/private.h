/** What fusion/runtime/program.c (making and binding), fusion/runtime/prepare.c and fusion/runtime/run.c (running) share. */
#ifndef PROGRAM_INTERNAL_H
#define PROGRAM_INTERNAL_H

#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/plan/plan.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_program.h"


/** fusion/runtime/product.c: tables, and what kernels with rows routines and joined reductions need besides.
 */
weft_status weft_program_rows_allocate(weft_program *p, weft_error *error);
void weft_program_rows_free(weft_program *p);
weft_status weft_program_rows_prepare(weft_program *p, weft_error *error);
weft_status weft_program_rows_argument(const weft_program *p, const weft_argument *argument,
                                       weft_memory **out, weft_error *error);
/** Grid, block and shared memory of a kernel on cuda. */
void weft_program_rows_launch(const weft_program *p, const weft_plan_kernel *kernel,
                              weft_launch *launch);
/** After a launch: lists whose next value went to their twin are there now. */
void weft_program_rows_swap(weft_program *p, const weft_plan_kernel *kernel);
/** After a loop: bring lists that are in their twins back to the memory that is bound. */
weft_status weft_program_rows_settle(weft_program *p, weft_error *error);

/** What weft_flow's names and loops are on a device. sizes of the program: those of its index sets.
 */
typedef struct weft_program_operator {
    weft_program_apply apply;
    void *user;
} weft_program_operator;

typedef struct weft_program_flow {
    weft_program **segments;          /* [n_segments] */
    weft_memory **memory;             /* [n_names] bound or own */
    bool *own;                        /* [n_names] */
    weft_program_operator *operators; /* [script->n_operators] */
    int recorded[WEFT_RECORDS_MAX];   /* names, or -1 */
    weft_memory *histories[WEFT_RECORDS_MAX];
    int64_t capacities[WEFT_RECORDS_MAX];
    int64_t turns;                 /* of the last of the outermost loops, in the last run */
    struct weft_loop_graph *graph; /* fusion/runtime/graph.c; NULL: none yet */
} weft_program_flow;

/** A program of its own module, or (module not NULL, borrowed) of another's. */
weft_status weft_program_make_with(weft_device *device, const weft_compilation *compilation,
                                   weft_module *module, weft_program **out, weft_error *error);
/** "there is no list 'u' in this script: it has x, y" */
weft_status weft_program_no_such(weft_error *error, const char *what, const char *name,
                                 const char *const *names, size_t n);
/** The graph's datum that has this name outside, or -1. */
int weft_program_datum(const weft_graph *graph, const char *name);

/* fusion/runtime/control.c: what the functions of weft_fusion.h do with a flow. */
weft_status weft_program_flow_make(weft_program *program, weft_error *error);
void weft_program_flow_free(weft_program *program);
weft_status weft_program_flow_size(weft_program *program, const char *index_set, int64_t n,
                                   weft_error *error);
weft_status weft_program_flow_bind(weft_program *program, const char *name, weft_memory *memory,
                                   weft_error *error);
weft_status weft_program_flow_bind_connectivity(weft_program *program, const char *name,
                                                weft_connectivity *connectivity, weft_error *error);
weft_status weft_program_flow_bind_matrix(weft_program *program, const char *name,
                                          weft_memory *values, weft_memory *positions,
                                          weft_error *error);
weft_status weft_program_flow_bind_rows(weft_program *program, const char *name,
                                        const weft_rows *rows, weft_error *error);
weft_memory *weft_program_flow_result(const weft_program *program, const char *name);
/** Memory for every name, bound to every segment that has it. */
weft_status weft_program_flow_prepare(weft_program *program, weft_error *error);

/* fusion/runtime/loop.c: step by step, loops on the host. */
weft_status weft_program_flow_run(weft_program *program, weft_error *error);
weft_status weft_program_flow_step(weft_program *program, const weft_flow_step *step,
                                   weft_error *error);

/* fusion/runtime/prepare.c */
weft_status weft_program_prepare(weft_program *program, weft_error *error);
/** Blocks of lanes of an index set; chunks of them, each a partial result of a reduction. */
int64_t weft_program_blocks(const weft_program *program, int index_set);
int64_t weft_program_chunks(const weft_program *program, int index_set);

/* fusion/runtime/run.c */
/** What a segment's launches would make when first needed. */
weft_status weft_program_touch(weft_program *program, weft_error *error);
/** The arguments of a kernel, into out [n_arguments]. */
weft_status weft_program_kernel_arguments(weft_program *program, const weft_plan_kernel *kernel,
                                          weft_memory **out, weft_error *error);

/* fusion/runtime/graph.c: loops as graphs of the device. */

/** On devices with threads: what says whether a loop goes on, for the kernels in it. */
weft_status weft_program_graph_prepare(weft_program *program, weft_error *error);
void weft_program_graph_free(weft_program *program);
/** Drop recordings: what was bound has changed. */
void weft_program_flow_forget(weft_program *program);
bool weft_program_flow_threaded(const weft_program *program);
/** What says whether a loop goes on; NULL: nothing does. */
weft_memory *weft_program_graph_flag(const weft_program *program, int loop);
/** Let the kernels of a loop that the host runs do their work. */
weft_status weft_program_graph_go(const weft_program *program, int loop, weft_error *error);
/** An outermost loop by its recording, made when there is none. */
weft_status weft_program_graph_run(weft_program *program, const weft_flow_step *loop,
                                   int64_t *turns, weft_error *error);

/* fusion/runtime/scatter_colours.c: accumulating stores by colours of cells. */

/** The cells of the first colour; NULL where there is no cell. */
weft_status weft_program_colours_argument(const weft_program *p, const weft_argument *argument,
                                          weft_memory **out, weft_error *error);
/** Launch a kernel once a colour. whole: its launch for all cells, with the program's arguments. */
weft_status weft_program_colours_launch(weft_program *p, const weft_plan_kernel *kernel,
                                        const weft_launch *whole, weft_error *error);

/* fusion/runtime/scatter_matrix.c */
/** Does a kernel make this matrix row by row, so that no positions are needed? */
bool weft_program_makes_rows(const weft_program *p, int matrix);
weft_status weft_program_matrix_argument(const weft_program *p, const weft_argument *argument,
                                         weft_memory **out, weft_error *error);
/** fusion/runtime/scatter_patches.c: an argument of a kernel that accumulates by stars; a block a patch, whose
 * staged data must fit in its shared memory. Errors  WEFT_ERROR_UNSUPPORTED: they do not; what
 * making stars gives */
weft_status weft_program_star_argument(const weft_program *p, const weft_argument *argument,
                                       weft_memory **out, weft_error *error);
weft_status weft_program_stars_launch(const weft_program *p, const weft_plan_kernel *kernel,
                                      weft_launch *launch, weft_error *error);
/** Errors WEFT_ERROR_UNSUPPORTED (more shared memory than a block has) */
weft_status weft_program_matrix_launch(const weft_program *p, const weft_plan_kernel *kernel,
                                       weft_launch *launch, weft_error *error);

#endif
