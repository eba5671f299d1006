/** Running compilations. In: memory and connectivities, bound by name. Out: results. */
#ifndef WEFT_PROGRAM_H
#define WEFT_PROGRAM_H

#include "fusion/weft_compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A connectivity between index sets, such as the dofs of cells. Programs share it; it caches the
 *  derived data that they need (interleaved copy, colourings, transpose), each computed at first
 *  use. */
typedef struct weft_connectivity weft_connectivity;
/** Make a connectivity.
 *  indices  borrowed, must outlive it; [n_from][width], each in [0, n_to)
 *  out      caller's; weft_connectivity_free
 *  Errors   WEFT_ERROR_SHAPE (index out of range, n_to >= 2^31), WEFT_ERROR_MEMORY */
weft_status weft_connectivity_make(weft_device *device, const int32_t *indices, int64_t n_from,
                                   int width, int64_t n_to, weft_connectivity **out,
                                   weft_error *error);
void weft_connectivity_free(weft_connectivity **connectivity);
/** Free the transpose, which is computed again where a program needs it. */
void weft_connectivity_release_transposed(weft_connectivity *connectivity);
/** Free the interleaved copy, too, which is then made of the indices again; where they are on the device alone, they
 *  are read first. */
void weft_connectivity_release(weft_connectivity *connectivity);
/** In how many parts, one after another, something is made of a connectivity with this number of indices if it
 *  takes memory for each of them: 1, or WEFT_CONNECTIVITY_RANGES on a device that runs elements as
 *  threads and holds data, where 12 bytes per index are more than a sixteenth of its memory. */
enum { WEFT_CONNECTIVITY_RANGES = 16 };
int weft_connectivity_ranges(const weft_limits *limits, size_t n_indices);
int64_t weft_connectivity_from(const weft_connectivity *connectivity);
int64_t weft_connectivity_to(const weft_connectivity *connectivity);
int weft_connectivity_width(const weft_connectivity *connectivity);
/** The indices, [from][width]; NULL: they are on the device alone, until weft_connectivity_read. */
const int32_t *weft_connectivity_indices(const weft_connectivity *connectivity);
/** Copy the indices to the host, if they are on the device alone.
 *  Errors  WEFT_ERROR_MEMORY, _DEVICE */
weft_status weft_connectivity_read(const weft_connectivity *connectivity, weft_error *error);

/** Interleave [n][components] into [block][component][lane], and the inverse. Spare lanes repeat
 *  the last element; interleaved arrays hold ceil(n / lanes) * lanes * components values. */
void weft_interleave(const double *plain, int64_t n, int components, int lanes, double *out);
void weft_deinterleave(const double *interleaved, int64_t n, int components, int lanes,
                       double *out);

/* ---- programs */

typedef struct weft_program weft_program;

/** Make a program: compile the module of a compilation for a device, or load it from the cache.
 *  compilation, device  borrowed, must outlive it
 *  out                  caller's; weft_program_free */
weft_status weft_program_make(weft_device *device, const weft_compilation *compilation,
                              weft_program **out, weft_error *error);
void weft_program_free(weft_program **program);
/** Set the size of an index set. Bound connectivities set the sizes of theirs. */
weft_status weft_program_size(weft_program *program, const char *index_set, int64_t n,
                              weft_error *error);
/** Bind a list: an input, or a result that is to be written to the caller's memory.
 *  memory  borrowed
 *  Layout  interleaved index set  [block][component][lane]
 *          plain index set        [element][component]
 *          uniform                [component]
 *          of double, or of float when compiled single
 *  Errors  WEFT_ERROR_USAGE (no such name: lists those that exist) */
weft_status weft_program_bind(weft_program *program, const char *name, weft_memory *memory,
                              weft_error *error);
/** The same for memory that may be longer than the list, which is its beginning. weft_program_bind refuses inputs that are
 *  longer, which are lists of something else (WEFT_ERROR_SHAPE when the program runs). */
weft_status weft_program_bind_beginning(weft_program *program, const char *name,
                                        weft_memory *memory, weft_error *error);
weft_status weft_program_bind_connectivity(weft_program *program, const char *name,
                                           weft_connectivity *connectivity, weft_error *error);
/** Bind the target of `A[dofs,dofs] += K`. Memories are borrowed.
 *  values     [n_values]
 *  positions  index into values of each entry (i, j) of each cell, uint32_t,
 *             [block][i * width + j][lane], interleaved by weft_program_lanes */
weft_status weft_program_bind_matrix(weft_program *program, const char *name, weft_memory *values,
                                     weft_memory *positions, weft_error *error);
/** The positions for statements that add through this connectivity, for a matrix that is added to through several:
 *  weft_program_bind_matrix binds those of the first statement.
 *  Errors  WEFT_ERROR_USAGE (no such matrix or connectivity) */
weft_status weft_program_bind_matrix_positions(weft_program *program, const char *name,
                                               const char *connectivity, weft_memory *positions,
                                               weft_error *error);
/** The arguments of a product kernel. */
typedef struct weft_product_arguments {
    const char *product_kernel; /* its name, as in the compile options */
    /* borrowed, in the order of the product kernel's `argument` lines */
    weft_memory *const *arguments;
    int n_arguments;
    int64_t n_rows;
    int shared_bytes; /* dynamic shared memory per thread block */
} weft_product_arguments;
/** Bind an operator that was compiled as a product kernel. rows and its memories are borrowed.
 *  Errors  WEFT_ERROR_USAGE (no such operator, another product kernel, another number of
 *          arguments) */
weft_status weft_program_bind_product(weft_program *program, const char *name,
                                      const weft_product_arguments *rows, weft_error *error);
/** y = A v, for an opaque operator of the script.
 *  v, y    in the layout of weft_program_bind
 *  vy      one double, the dot product of v and y to be computed; NULL: not wanted
 *  active  in loops, on devices with threads: the flag of weft_program_predicate. Launches may test
 *          it to skip the work of iterations after the last one; else NULL */
typedef struct weft_program_product {
    weft_memory *v, *y, *vy, *active;
} weft_program_product;
/** Callback of an opaque operator. On a device that captures (weft_device_captures) it may only
 *  launch, zero and copy. */
typedef weft_status (*weft_program_apply)(void *user, const weft_program_product *product,
                                          weft_error *error);
/** Bind the callback of an opaque operator. user is borrowed.
 *  Errors  WEFT_ERROR_USAGE (no such operator: lists those that exist) */
weft_status weft_program_bind_operator(weft_program *program, const char *name,
                                       weft_program_apply apply, void *user, weft_error *error);
/** Run loops from the host, which reads their conditions, where the device could capture them: for callbacks that do more than
 *  launch, zero and copy. */
void weft_program_loop_on_host(weft_program *program, bool on_host);
/** Time the script's operators in later runs: each application, and each kernel that contains a product, by a timer of the
 *  device, which the host then waits for. Loops that a device captures as graphs are not timed (weft_device_captures), nor
 *  is the null device: this then does nothing. */
weft_status weft_program_time_operators(weft_program *program, weft_error *error);
/** Seconds of an operator since; returns how often it was applied, 0 if it is not timed. */
int64_t weft_program_operator_time(const weft_program *program, const char *name, double *seconds);
/** Record the history of a uniform value in the last of the script's outermost loops. At most four
 *  histories at a time.
 *  memory    borrowed; [capacity] reals: entry 0 is the value before the first iteration, entry i
 *            the value after iteration i; later ones are dropped. NULL: stop recording
 *  Errors    WEFT_ERROR_USAGE, WEFT_ERROR_SHAPE */
weft_status weft_program_record_history(weft_program *program, const char *name,
                                        weft_memory *memory, int64_t capacity, weft_error *error);
/** Iterations of the last outermost loop in the last run; -1 without one. Waits for the device. */
weft_status weft_program_iterations(const weft_program *program, int64_t *out, weft_error *error);
/** Layout of a matrix whose rows are assembled by their owners (WEFT_SCATTER_PATCHES on CUDA,
 *  kernels with weft_kernel_info.patches). Slices of 32 rows, 16 slices per block of 512 rows. All
 *  memories are borrowed.
 *
 *  values      [512 * blocks] the diagonal by rows, then the off-diagonal entries of each slice,
 *              [k][lane]
 *  start       [slices + 1] uint32_t, first entry of a slice in values
 *  rows        [blocks][512] uint16_t, the row, numbered in its block, of each lane of each slice
 *  words       [slice][k][lane] uint64_t, one word per cell incident to a row; bit 63: none. Local
 *              vertex 0 is the row's node; for each other vertex v = 1, 2, 3:
 *                bits 21 (v-1) .. 21 (v-1) + 12    the vertex's number in the block, or 512 + its
 *                                                  index in the halo
 *                bits 21 (v-1) + 13 .. 21 v - 1    the k of its entry in the slice
 *              (0, 1, 2, 3) is an even permutation of the cell's vertices (any for two vertices)
 *  word_start  [slices + 1] uint32_t, first word of a slice
 *  halo        int32_t, nodes of other blocks, block after block
 *  halo_start  [blocks + 1] int64_t
 *  first       [1] int64_t, the first of the n_blocks blocks whose rows a run assembles; words and
 *              word_start are read for their slices alone
 *  cells       int32_t, the cell of each word; NULL: no list over cells is read */
typedef struct weft_matrix_rows {
    weft_memory *start, *rows, *word_start, *words, *halo_start, *halo, *first, *cells;
    int64_t n_rows;      /* of the matrix */
    int64_t n_blocks;    /* that are assembled */
    int most_local;      /* maximum over blocks: own and halo nodes */
    int64_t most_values; /* maximum over blocks: off-diagonal entries */
} weft_matrix_rows;
/** Bind the target of `A[dofs,dofs] += K` that is assembled by rows; replaces
 *  weft_program_bind_matrix. rows is copied, its memories are borrowed. */
weft_status weft_program_bind_matrix_rows(weft_program *program, const char *name,
                                          weft_memory *values, const weft_matrix_rows *rows,
                                          weft_error *error);
/** Memory for intermediate values, shared by programs that run one after another. */
typedef struct weft_shared_buffers weft_shared_buffers;
/** out  caller's; weft_shared_buffers_free, after the programs */
weft_status weft_shared_buffers_make(weft_shared_buffers **out, weft_error *error);
void weft_shared_buffers_free(weft_shared_buffers **shared);
/** Let a program that has not run yet take its intermediate values' memory from there; borrowed. */
void weft_program_share_buffers(weft_program *program, weft_shared_buffers *shared);
int weft_program_lanes(const weft_program *program);
/** Make the patches of the bound connectivities through which kernels accumulate, which the first run does
 *  otherwise.
 *  Errors  WEFT_ERROR_UNSUPPORTED: this mesh has no such patches, e.g. because the nodes in and
 *          round a patch do not fit in shared memory; _MEMORY, _DEVICE */
weft_status weft_program_patches_make(weft_program *program, weft_error *error);
/** Run the whole program once. The first run allocates results that are not bound. Accumulated
 *  lists that are not inputs start from zero in every run.
 *  Errors  WEFT_ERROR_USAGE (names the unbound input), WEFT_ERROR_SHAPE (memory too small: how
 *          small), _MEMORY, _DEVICE */
weft_status weft_program_run(weft_program *program, weft_error *error);
/** CUDA, scripts compiled `predicated`: kernels return without effect while *active == 0.
 *  active  borrowed, one uint32_t; NULL: kernels are always active */
void weft_program_predicate(weft_program *program, weft_memory *active);
/** The memory of a returned list, after a run. Borrowed; NULL if there is no such name. */
/** Does a run read or write this name, and not leave out what nothing depends on? */
bool weft_program_needs(const weft_program *program, const char *name);
weft_memory *weft_program_result(const weft_program *program, const char *name);

#ifdef __cplusplus
}
#endif
#endif
