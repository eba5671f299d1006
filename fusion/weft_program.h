/** Running a compilation on a device: memory and connectivities bound by name in, results out. */
#ifndef WEFT_PROGRAM_H
#define WEFT_PROGRAM_H

#include "fusion/weft_compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A connectivity between index sets, such as cell dofs. Made once, shared by programs; keeps what
 *  they need of it (interleaved copy, schedules by colour, transpose), each made when first asked
 *  for. */
typedef struct weft_connectivity weft_connectivity;
/** indices  borrowed, must outlive it: [n_from][width], each in [0, n_to)
 *  Errors WEFT_ERROR_SHAPE (index out of range, n_to >= 2^31), WEFT_ERROR_MEMORY */
weft_status weft_connectivity_make(weft_device *device, const int32_t *indices, int64_t n_from,
                                   int width, int64_t n_to, weft_connectivity **out,
                                   weft_error *error);
void weft_connectivity_free(weft_connectivity **connectivity);
int64_t weft_connectivity_from(const weft_connectivity *connectivity);
int64_t weft_connectivity_to(const weft_connectivity *connectivity);
int weft_connectivity_width(const weft_connectivity *connectivity);
const int32_t *weft_connectivity_indices(const weft_connectivity *connectivity);

/** Interleave [n][components] into [block][component][lane] and back; spare lanes repeat the last
 *  element. `out` holds ceil(n / lanes) * lanes * components values. */
void weft_interleave(const double *plain, int64_t n, int components, int lanes, double *out);
void weft_deinterleave(const double *interleaved, int64_t n, int components, int lanes,
                       double *out);

/* ---- programs */

typedef struct weft_program weft_program;

/** Make a compilation runnable on a device: compiles or finds its module. compilation and device
 * are borrowed and must outlive it. */
weft_status weft_program_make(weft_device *device, const weft_compilation *compilation,
                              weft_program **out, weft_error *error);
void weft_program_free(weft_program **program);
/** The size of an index set. Those of connectivities are known from them. */
weft_status weft_program_size(weft_program *program, const char *index_set, int64_t n,
                              weft_error *error);
/** Bind a list: an input, or a result that is to be written to the caller's memory. Borrowed.
 *  Layout  interleaved index set: [block][component][lane]; plain: [instance][component]; uniform:
 *          [component]. Elements are double (float when compiled single).
 *  Errors  WEFT_ERROR_USAGE (no such name: lists those that exist) */
weft_status weft_program_bind(weft_program *program, const char *name, weft_memory *memory,
                              weft_error *error);
weft_status weft_program_bind_connectivity(weft_program *program, const char *name,
                                           weft_connectivity *connectivity, weft_error *error);
/** Bind the target of `A[dofs,dofs] += K`: values [n_values], and for the connectivity's cells the
 * interleaved positions [block][i * width + j][lane], uint32_t, for the lanes of
 * weft_program_lanes. */
weft_status weft_program_bind_matrix(weft_program *program, const char *name, weft_memory *values,
                                     weft_memory *positions, weft_error *error);
/** What a product kernel works on. */
typedef struct weft_product_arguments {
    const char *product_kernel;    /* its name: that of the compile options */
    weft_memory *const *arguments; /* borrowed, in the order of the product kernel's `argument`
                                      lines */
    int n_arguments;
    int64_t n_rows;
    int shared_bytes; /* dynamic shared memory of a block */
} weft_product_arguments;
/** Bind an operator whose choice was a product kernel. Borrowed.
 *  Errors  WEFT_ERROR_USAGE (no such operator, another product kernel, another number of
 *          arguments) */
weft_status weft_program_bind_product(weft_program *program, const char *name,
                                      const weft_product_arguments *rows, weft_error *error);
/** y = A v for an opaque operator of the script: v and y as lists are bound. vy: where the dot
 * product of v and y is wanted too, one double; else NULL. go: in a loop, on a device with threads,
 * what weft_program_predicate takes: launches may ask it, so that iterations after the end cost
 * little. */
typedef struct weft_program_product {
    weft_memory *v, *y, *vy, *active;
} weft_program_product;
/** May only launch, zero and copy on the device where that records (weft_device_captures). */
typedef weft_status (*weft_program_apply)(void *user, const weft_program_product *product,
                                          weft_error *error);
/** What an opaque operator does. user is borrowed.
 *  Errors WEFT_ERROR_USAGE (no such operator: lists those that exist) */
weft_status weft_program_bind_operator(weft_program *program, const char *name,
                                       weft_program_apply apply, void *user, weft_error *error);
/** Keep the history of a uniform value of a script with loops: entry 0 before the first iteration
 *  of the last of its outermost loops, entry i after turn i, as far as `capacity` reals go. memory
 *  NULL: no more. At most 4 at a time. Errors WEFT_ERROR_USAGE, WEFT_ERROR_SHAPE */
weft_status weft_program_record_history(weft_program *program, const char *name,
                                        weft_memory *memory, int64_t capacity, weft_error *error);
/** The iterations that this loop has done in the last run; -1 without one. Waits for the device. */
weft_status weft_program_iterations(const weft_program *program, int64_t *out, weft_error *error);
/** A matrix whose rows are made by their owners (WEFT_SCATTER_PATCHES on cuda, where
 *  weft_kernel_info says patches), in slices of 32 rows, 16 to a block of 512.
 *
 *  values      [512 * blocks] the diagonal by rows, then slice after slice its entries beside the
 *              diagonal, [k][lane]
 *  start       [slices + 1] uint32_t, where a slice begins in values
 *  rows        [blocks][512] uint16_t, the row in its block of each lane of each slice
 *  words       [slice][k][lane] uint64_t, the cells round a row: for each vertex v = 1, 2, 3 beside
 *              the row's own from bit 21 (v - 1) on 13 bits of the vertex' local number (in the
 *              block, or 512 + its place in the halo) and 8 bits of its entry's k; 2^63: none.
 *              (0, 1, 2, 3) is an even renumbering of the cell (of two vertices, any)
 *  word_start  [slices + 1] uint32_t, where a slice begins in words
 *  halo        int32_t, block after block; halo_start [blocks + 1] int64_t
 *  cells       int32_t numbers of the cells as words stand; NULL: no list over cells is read
 *  All are borrowed. */
typedef struct weft_matrix_rows {
    weft_memory *start, *rows, *word_start, *words, *halo_start, *halo, *cells;
    int64_t n_rows;
    int most_local;      /* local numbers of a block, at most */
    int64_t most_values; /* entries beside the diagonal of a block, at most */
} weft_matrix_rows;
/** Bind the target of `A[dofs,dofs] += K` that is made by rows; in place of _bind_matrix. */
weft_status weft_program_bind_matrix_rows(weft_program *program, const char *name,
                                          weft_memory *values, const weft_matrix_rows *rows,
                                          weft_error *error);
int weft_program_lanes(const weft_program *program);
/** Run every launch of the plan once. Results not bound are allocated on the first run. Accumulated
 * lists that are not inputs start from zero each time. Errors  WEFT_ERROR_USAGE (unbound input
 * named), WEFT_ERROR_SHAPE (memory too small: how small), _MEMORY, _DEVICE */
weft_status weft_program_run(weft_program *program, weft_error *error);
/** Of a script compiled `predicated`, on cuda: a launch that finds a 0 in the uint32_t `active`
 *  writes nothing. Borrowed; NULL: every launch works. */
void weft_program_predicate(weft_program *program, weft_memory *active);
/** The memory of a returned list, after a run. Borrowed; NULL when there is no such name. */
weft_memory *weft_program_result(const weft_program *program, const char *name);

#ifdef __cplusplus
}
#endif
#endif
