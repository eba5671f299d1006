/** Shared by the files of this folder. A program has one weft_program_segment per segment of its
 *  compilation; launches read their arguments from it. */
#pragma once

#include "fusion/runtime/runtime.h"

/** fusion/runtime/product.c: bound operators of product kernels, and double buffers. */
weft_status weft_program_product_allocate(weft_program_segment *p, weft_error *error);
void weft_program_product_free(weft_program_segment *p);
weft_status weft_program_product_prepare(weft_program_segment *p, weft_error *error);
weft_status weft_program_product_argument(const weft_program_segment *p,
                                          const weft_argument *argument, weft_memory **out,
                                          weft_error *error);
/** Set grid, block and shared memory of a KERNEL_PRODUCT. */
weft_status weft_program_product_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                      weft_launch *launch, weft_error *error);
/** After a launch: exchange the memories of lists whose next value went to their double buffer. */
void weft_program_product_swap(weft_program_segment *p, const weft_plan_kernel *kernel);
/** After a loop: copy lists whose value is in their double buffer back to the bound memory. */
weft_status weft_program_product_restore_buffers(weft_program_segment *p, weft_error *error);

/* fusion/runtime/segment.c: a segment's tables. A program forwards each binding to the segments
 * that have the name. */
weft_status weft_program_segment_make(weft_device *device, const weft_segment *segment,
                                      weft_module *module, weft_program_segment **out,
                                      weft_error *error);
void weft_program_segment_free(weft_program_segment **segment);
/** The value that the caller knows by this name, or -1. */
int weft_program_value(const weft_graph *graph, const char *name);
void weft_program_segment_size(weft_program_segment *p, const char *index_set, int64_t n);
/** What ranks have of an index set; nothing where the segment has none of this name. */
void weft_program_segment_share(weft_program_segment *p, const char *index_set,
                                const weft_share *share);
void weft_program_segment_bind(weft_program_segment *p, const char *name, weft_memory *memory);
/** Errors  WEFT_ERROR_SHAPE: the width is not that of the script */
weft_status weft_program_segment_connectivity(weft_program_segment *p, const char *name,
                                              weft_connectivity *connectivity, weft_error *error);
/** Bind the positions of a matrix for accumulations through a connectivity; the place of these in p->positions. */
void weft_program_segment_positions(weft_program_segment *p, int matrix, int connectivity,
                                    weft_memory *positions);
size_t weft_program_positions_place(const weft_program_segment *p, int matrix, int connectivity);
/** Bind a matrix by positions or by rows. Returns false if the segment assembles no such matrix. */
bool weft_program_segment_matrix(weft_program_segment *p, const char *name, weft_memory *positions,
                                 const weft_matrix_rows *rows);
/** Bind the arguments of a product kernel.
 *  found   set to true if the segment applies this operator, else unchanged
 *  Errors  WEFT_ERROR_USAGE: arguments of another product kernel */
weft_status weft_program_segment_rows(weft_program_segment *p, const char *name,
                                      const weft_product_arguments *rows, bool *found,
                                      weft_error *error);

/* fusion/runtime/program.c */
/** Allocate memory for every name that a step reads or writes, and bind it in all segments. */
weft_status weft_program_prepare_all(weft_program *program, weft_error *error);

/* fusion/runtime/loop.c: run a step; loops run on the host. */
weft_status weft_program_step(weft_program *program, const weft_control_step *step,
                              weft_error *error);

/* fusion/runtime/clock.c. With a clock of NULL both do nothing. */
weft_status weft_operator_clock_start(weft_operator_clock *clock, weft_error *error);
/** Wait for the device, and add the time since the start to an operator. */
weft_status weft_operator_clock_stop(weft_operator_clock *clock, const char *name,
                                     weft_error *error);
void weft_operator_clock_free(weft_operator_clock **clock);

/* fusion/runtime/shared_buffers.c */
/** A buffer of p->shared that differs from the others of the segment; borrowed.
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE */
weft_status weft_program_shared_buffer(const weft_program_segment *p, size_t needed,
                                       weft_memory **out, weft_error *error);
/** The same for a list of the program that no caller reads; of `needed` bytes. */
weft_status weft_program_shared_name(const weft_program *p, size_t needed, weft_memory **out,
                                     weft_error *error);

/* fusion/runtime/prepare.c */
weft_status weft_program_prepare(weft_program_segment *p, weft_error *error);
/** Check that the sizes of all connectivities and index sets agree.  Errors  WEFT_ERROR_SHAPE */
weft_status weft_program_check_connectivities(const weft_program_segment *p, weft_error *error);
/** Is a value an argument of a kernel? */
bool weft_program_uses(const weft_plan *plan, int value);
/** Number of blocks of an index set, and of reduction tiles, each with one partial result. */
int64_t weft_program_blocks(const weft_program_segment *p, int index_set);
int64_t weft_program_reduction_tiles(const weft_program_segment *p, int index_set);

/** Set p->segment to the second plan, with a line in the log, where the patches of the first do not fit the mesh. */
weft_status weft_program_patches_choose(weft_program_segment *p, weft_error *error);

/* fusion/runtime/nested.c: kernels over a product of two index sets. */

/** Set p->segment to the plan whose kernels fit the sizes.
 *  Errors  WEFT_ERROR_UNSUPPORTED: there is none, because the script forces a fusion */
weft_status weft_program_nested_choose(weft_program_segment *p, weft_error *error);
/** Memory for the partial results and sizes of a KERNEL_NESTED, its schedule on the host, and on a
 *  GPU with clusters its kernel for these sizes. */
weft_status weft_program_nested_prepare(weft_program_segment *p, int number, weft_error *error);
weft_status weft_program_nested_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                     weft_launch *launch, weft_error *error);
weft_status weft_program_nested_final_grid(const weft_program_segment *p,
                                           const weft_plan_kernel *kernel, weft_launch *launch,
                                           weft_error *error);

/* fusion/runtime/horizontal.c: one launch of several kernels. */

/** The memory of the ARGUMENT_MEMBERS of a KERNEL_GROUP. */
weft_status weft_program_group_prepare(weft_program_segment *p, int number, weft_error *error);
weft_status weft_program_group_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                    weft_launch *launch, weft_error *error);
weft_status weft_program_group_launch(weft_program_segment *p, const weft_plan_kernel *kernel,
                                      const weft_launch *launch, weft_error *error);

/* fusion/runtime/run.c */
/** Blocks of the launch of a final reduction that joins parts of many partial results before; 0: there is none. */
int64_t weft_program_join_blocks(const weft_program_segment *p, const weft_plan_kernel *kernel);
weft_status weft_program_segment_run(weft_program_segment *p, weft_error *error);
/** Before a program runs on several ranks: lists that product kernels keep two of get other ranks' values. */
weft_status weft_program_segment_start_ranks(weft_program_segment *p, weft_error *error);
/** Make everything that a segment's launches would otherwise make at first use. */
weft_status weft_program_warm_up(weft_program_segment *p, weft_error *error);
/** The arguments of a kernel, into out [n_arguments]. */
weft_status weft_program_kernel_arguments(weft_program_segment *p, const weft_plan_kernel *kernel,
                                          weft_memory **out, weft_error *error);
/** Set elements, lanes, grid, block and shared memory of a launch, by the kernel's kind. */
weft_status weft_program_grid(const weft_program_segment *program, const weft_plan_kernel *kernel,
                              weft_launch *launch, weft_error *error);

/* fusion/runtime/graph.c: loops as CUDA graphs. */

/** On devices with threads: allocate the flags `active` and counters of all loops. */
weft_status weft_program_graph_prepare(weft_program *program, weft_error *error);
void weft_program_graph_free(weft_program *program);
/** Drop the captured graphs, because a binding has changed. */
void weft_program_forget(weft_program *program);
bool weft_program_threaded(const weft_program *program);
/** The flag `active` of a loop; NULL: it has none. */
weft_memory *weft_program_graph_flag(const weft_program *program, int loop);
/** Set `active` for a loop that the host runs. */
weft_status weft_program_graph_activate(const weft_program *program, int loop, weft_error *error);
/** Run an outermost loop by its captured graph; capture it at first use.
 *  iterations  number of iterations done */
weft_status weft_program_graph_run(weft_program *program, const weft_control_step *loop,
                                   int64_t *iterations, weft_error *error);

/* fusion/runtime/scatter.c: accumulating stores by colours of cells and by patches. */

/** The cells of the first colour; NULL if there are no cells. */
weft_status weft_program_colours_argument(const weft_program_segment *p,
                                          const weft_argument *argument, weft_memory **out,
                                          weft_error *error);
/** Launch a kernel once per colour.
 *  whole  its launch for all cells, with the program's arguments */
weft_status weft_program_colours_launch(weft_program_segment *p, const weft_plan_kernel *kernel,
                                        const weft_launch *whole, weft_error *error);
/** Make the partial results of a reduction, unless they have the size already: a program that is
 *  prepared again for other lists, perhaps while the device captures, keeps them. */
weft_status weft_program_partials(weft_program_segment *p, int value, size_t needed,
                                  weft_error *error);
/** Returns WEFT_ERROR_MEMORY. */
weft_status weft_program_no_memory(weft_error *error);
/** Make *memory where nothing is bound, or where what the program owns is too small.
 *  Errors  WEFT_ERROR_SHAPE: the bound memory has less than `needed` bytes; those of
 *          weft_memory_make */
weft_status weft_program_own(weft_device *device, const char *name, size_t needed,
                             weft_memory **memory, bool *own, weft_error *error);
/** An argument of a patch kernel for a vector; for a matrix. */
weft_status weft_program_patch_argument(const weft_program_segment *p,
                                        const weft_argument *argument, weft_memory **out,
                                        weft_error *error);
weft_status weft_program_matrix_argument(const weft_program_segment *p,
                                         const weft_argument *argument, weft_memory **out,
                                         weft_error *error);
/** An argument of a kernel over patches of cells or of their borders; memory for what the first leaves to the
 *  second; their launches.
 *  Errors  WEFT_ERROR_USAGE: a connectivity is not bound; WEFT_ERROR_UNSUPPORTED: the staged values
 *          do not fit in shared memory; errors of making patches */
weft_status weft_program_cell_patch_argument(const weft_program_segment *p,
                                             const weft_argument *argument, weft_memory **out,
                                             weft_error *error);
weft_status weft_program_cell_patch_prepare(weft_program_segment *p, int number, weft_error *error);
weft_status weft_program_cell_patch_grid(const weft_program_segment *p,
                                         const weft_plan_kernel *kernel, weft_launch *launch,
                                         weft_error *error);
weft_status weft_program_cell_border_grid(const weft_program_segment *p,
                                          const weft_plan_kernel *kernel, weft_launch *launch,
                                          weft_error *error);
/** Set the launch of a patch kernel for a vector; for a matrix. One thread block per patch.
 *  Errors  WEFT_ERROR_UNSUPPORTED: the staged values do not fit in shared memory; errors of making
 *          patches */
weft_status weft_program_patch_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                    weft_launch *launch, weft_error *error);
weft_status weft_program_matrix_grid(const weft_program_segment *p, const weft_plan_kernel *kernel,
                                     weft_launch *launch, weft_error *error);
