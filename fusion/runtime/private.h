/** What the files of this folder share: a program has a weft_program_segment for each segment of its
 *  compilation, whose launches work on that. */
#pragma once

#include "fusion/runtime/runtime.h"

/** fusion/runtime/product.c: tables, and what kernels with product kernels and joined reductions
 *  need besides. */
weft_status weft_program_product_allocate(weft_program_segment *p, weft_error *error);
void weft_program_product_free(weft_program_segment *p);
weft_status weft_program_product_prepare(weft_program_segment *p, weft_error *error);
weft_status weft_program_product_argument(const weft_program_segment *p,
                                          const weft_argument *argument, weft_memory **out,
                                          weft_error *error);
/** Grid, block and shared memory of a KERNEL_PRODUCT. */
weft_status weft_program_product_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                      weft_launch *launch, weft_error *error);
/** After a launch: lists whose next value went to their double buffer are there now. */
void weft_program_product_swap(weft_program_segment *p, const weft_plan_kernel *kernel);
/** After a loop: bring lists that are in their double buffers back to the memory that is bound. */
weft_status weft_program_product_restore_buffers(weft_program_segment *p, weft_error *error);

/* fusion/runtime/segment.c: a segment's tables. What a program binds reaches those segments that
 * know its name. */
weft_status weft_program_segment_make(weft_device *device, const weft_segment *segment,
                                      weft_module *module, weft_program_segment **out,
                                      weft_error *error);
void weft_program_segment_free(weft_program_segment **segment);
/** The graph's value that has this name outside, or -1. */
int weft_program_value(const weft_graph *graph, const char *name);
void weft_program_segment_size(weft_program_segment *p, const char *index_set, int64_t n);
void weft_program_segment_bind(weft_program_segment *p, const char *name, weft_memory *memory);
/** Errors WEFT_ERROR_SHAPE: another width than the script says */
weft_status weft_program_segment_connectivity(weft_program_segment *p, const char *name,
                                              weft_connectivity *connectivity, weft_error *error);
/** Where the entries of a matrix go: positions, or rows. False: it makes none of this name. */
bool weft_program_segment_matrix(weft_program_segment *p, const char *name, weft_memory *positions,
                                 const weft_matrix_rows *rows);
/** *found is set where the segment applies this operator. Errors WEFT_ERROR_USAGE: rows of another
 *  product kernel */
weft_status weft_program_segment_rows(weft_program_segment *p, const char *name,
                                      const weft_product_arguments *rows, bool *found,
                                      weft_error *error);

/* fusion/runtime/program.c */
/** Memory for every name that a step reads or writes, bound to every segment that has it. */
weft_status weft_program_prepare_all(weft_program *program, weft_error *error);

/* fusion/runtime/loop.c: step by step, loops on the host. */
weft_status weft_program_step(weft_program *program, const weft_control_step *step,
                              weft_error *error);

/* fusion/runtime/prepare.c */
weft_status weft_program_prepare(weft_program_segment *p, weft_error *error);
/** Connectivities and sizes that were given one by one must fit together. Errors WEFT_ERROR_SHAPE */
weft_status weft_program_check_connectivities(const weft_program_segment *p, weft_error *error);
/** Is a value an argument of a kernel? */
bool weft_program_uses(const weft_plan *plan, int value);
/** Blocks of lanes of an index set; chunks of them, each a partial result of a reduction. */
int64_t weft_program_blocks(const weft_program_segment *p, int index_set);
int64_t weft_program_reduction_tiles(const weft_program_segment *p, int index_set);

/* fusion/runtime/run.c */
weft_status weft_program_segment_run(weft_program_segment *p, weft_error *error);
/** What a segment's launches would make when first needed. */
weft_status weft_program_warm_up(weft_program_segment *p, weft_error *error);
/** The arguments of a kernel, into out [n_arguments]. */
weft_status weft_program_kernel_arguments(weft_program_segment *p, const weft_plan_kernel *kernel,
                                          weft_memory **out, weft_error *error);
/** Set elements, lanes, grid, block and shared memory of a kernel's launch, as its kind wants. */
weft_status weft_program_grid(const weft_program_segment *program, const weft_plan_kernel *kernel,
                              weft_launch *launch, weft_error *error);

/* fusion/runtime/graph.c: loops as graphs of the device. */

/** On devices with threads: what says whether a loop goes on, for the kernels in it. */
weft_status weft_program_graph_prepare(weft_program *program, weft_error *error);
void weft_program_graph_free(weft_program *program);
/** Drop device graphs: what was bound has changed. */
void weft_program_forget(weft_program *program);
bool weft_program_threaded(const weft_program *program);
/** What says whether a loop goes on; NULL: nothing does. */
weft_memory *weft_program_graph_flag(const weft_program *program, int loop);
/** Let the kernels of a loop that the host runs do their work. */
weft_status weft_program_graph_activate(const weft_program *program, int loop, weft_error *error);
/** An outermost loop by its device graph, made when there is none. */
weft_status weft_program_graph_run(weft_program *program, const weft_control_step *loop,
                                   int64_t *iterations, weft_error *error);

/* fusion/runtime/scatter.c: accumulating stores by colours of cells and by patches. */

/** The cells of the first colour; NULL where there is no cell. */
weft_status weft_program_colours_argument(const weft_program_segment *p,
                                          const weft_argument *argument, weft_memory **out,
                                          weft_error *error);
/** Launch a kernel once a colour. whole: its launch for all cells, with the program's arguments. */
weft_status weft_program_colours_launch(weft_program_segment *p, const weft_plan_kernel *kernel,
                                        const weft_launch *whole, weft_error *error);
/** Does a kernel make this matrix row by row, so that no positions are needed? */
bool weft_program_makes_rows(const weft_program_segment *p, int matrix);
/** An argument of a kernel by patches: of a vector, of a matrix. */
weft_status weft_program_patch_argument(const weft_program_segment *p,
                                        const weft_argument *argument, weft_memory **out,
                                        weft_error *error);
weft_status weft_program_matrix_argument(const weft_program_segment *p,
                                         const weft_argument *argument, weft_memory **out,
                                         weft_error *error);
/** A block per patch, whose staged data must fit in its shared memory: of a vector, of a matrix.
 *  Errors  WEFT_ERROR_UNSUPPORTED: they do not fit; what making patches gives */
weft_status weft_program_patch_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                    weft_launch *launch, weft_error *error);
weft_status weft_program_matrix_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                     weft_launch *launch, weft_error *error);
