/** What the generator (fusion/codegen/kernel.c, fusion/codegen/call.c) and the backends share. */
#pragma once

#include "fusion/codegen/codegen.h"
#include "fusion/plan/patches.h"
#include "fusion/plan/segment.h"

extern const weft_backend weft_backend_host, weft_backend_cuda;

typedef struct source_writer {
    weft_arena *arena;
    const weft_graph *graph;
    const weft_plan *plan;
    const weft_limits *limits; /* of the device */
    const weft_backend *backend;
    bool single;
    int unroll;  /* see weft_body_style */
    bool hoists; /* uniform values that cost something are named before the elements */
    weft_text *out;
} source_writer;

/** Last argument and first statement of kernels that are predicated (weft_plan). */
#define WEFT_PREDICATE_ARGUMENT ",\n    const uint32_t *restrict active"
#define WEFT_PREDICATE "    if (*active == 0)\n        return;\n"
/** The same where the answer is asked for first, and awaited behind other loads. */
#define WEFT_PREDICATE_EARLY "    const uint32_t going = *active;\n"
#define WEFT_PREDICATE_LATE "    if (going == 0)\n        return;\n"

/** Statements of a kernel beyond which fewer of its loops are unrolled. */
enum { WEFT_KERNEL_STATEMENTS_MAX = 1000 };

/** Add the kernels of a segment, without the prelude. Errors WEFT_ERROR_MEMORY. */
weft_status weft_source_kernels(const weft_segment *segment, weft_text *out, weft_error *error);
/** The register array that holds a value loaded directly (connectivity -1) or through a
 *  connectivity: unique in the graph. */
const char *weft_source_variable(const source_writer *w, int value, int connectivity);
/** fusion/codegen/kernel.c: a kernel's name and arguments; the load of one of them with its declaration or
 * without; the store of a result, an accumulating store, and the numbers of the thread's element.
 */
void weft_source_head(const source_writer *w, const weft_plan_kernel *kernel);
void weft_source_load(const source_writer *w, const weft_operand *load);
void weft_source_load_statement(const source_writer *w, const weft_operand *load);
void weft_source_scatter(const source_writer *w, const weft_plan_kernel *kernel,
                         const weft_accumulation *a);
void weft_source_store(const source_writer *w, const weft_plan_kernel *kernel, int stored);
void weft_source_thread(const source_writer *w, const char *indent, const char *specialisation);
/** fusion/codegen/multi_thread.c: a kernel with calls of several threads per element. */
weft_status weft_source_threads(const source_writer *w, const weft_plan_kernel *kernel,
                                weft_error *error);
/** fusion/codegen/reduction.c: does a thread block make one tile of its reductions, several
 *  elements a thread, of which the k-th is WEFT_TILE_ELEMENT? Are their loads issued first, all
 *  together? Then write them; then, for an element, the names under which it has them. */
#define WEFT_TILE_ELEMENT "blockIdx.x * (int64_t)TILE + k * THREADS + threadIdx.x"
bool weft_source_chunked(const source_writer *w, const weft_plan_kernel *kernel);
bool weft_source_loads_ahead(const source_writer *w, const weft_plan_kernel *kernel);
void weft_source_write_ahead(const source_writer *w, const weft_plan_kernel *kernel);
void weft_source_write_loaded(const source_writer *w, const weft_plan_kernel *kernel);
/** fusion/codegen/gather.c: a kernel by whose threads targets sum what was stored for them. */
weft_status weft_source_gather(const source_writer *w, const weft_plan_kernel *kernel,
                               weft_error *error);
/** fusion/codegen/product.c: a kernel that starts with a product kernel. */
weft_status weft_source_product(const source_writer *w, const weft_plan_kernel *kernel,
                                weft_error *error);
/** fusion/codegen/reduction.c: before the elements an accumulator for each reduction, in the loop
 *  over them what one contributes, after them a partial result; and the kernel that joins these. */
void weft_source_reductions_start(const source_writer *w, const weft_plan_kernel *kernel);
void weft_source_reductions_declare(const source_writer *w, const weft_plan_kernel *kernel);
void weft_source_reduction_tile(const source_writer *w, const weft_plan_kernel *kernel);
void weft_source_reductions_each(const source_writer *w, const weft_plan_kernel *kernel);
void weft_source_reductions_end(const source_writer *w, const weft_plan_kernel *kernel);
void weft_source_final_reduction(const source_writer *w, const weft_plan_kernel *kernel);
/** The same inside the kernel that ends a loop's iteration, on a GPU: arguments of that kernel's in
 * order. */
void weft_source_joined_arguments(weft_text *out, const weft_plan_kernel *kernel);
void weft_source_joined(weft_text *out, const weft_graph *graph, const weft_plan_kernel *kernel);
/** fusion/codegen/call.c: what is the same for all elements of a kernel, computed once; for a
 *  writer that hoists, behind the loads of uniform data. */
void weft_source_uniforms(const source_writer *w, const weft_plan_kernel *kernel);
/** fusion/codegen/call.c: a comment and the statements of one call, for one thread; in parts where its
 *  result stands declared already and threads [first, ...) go by `step` ("warp",
 *  "THREADS_PER_ELEMENT"). */
void weft_source_place(const source_writer *w, const weft_location *place);
void weft_source_call_comment(const source_writer *w, const weft_call *call);
weft_status weft_source_call_statements(const source_writer *w, const weft_call *call, int variant,
                                        const char *first, const char *step, weft_error *error);
weft_status weft_source_call(const source_writer *w, const weft_call *call, int variant,
                             weft_error *error);

/** The statements of a block: own[k] and y[k * components + c] of row first_row + k * ROWS_THREADS
 *  + threadIdx.x. In scope: first_row, n_rows, shared, LOAD(j), the prelude, the data as p_NAME,
 * and const int64_t *patch_halo_start; const int32_t *patch_halo, *patch_cells; const uint32_t
 * *patch_rows; const unsigned short *patch_order; const unsigned long long *patch_words; own, y and
 * patch_cells where they are used. For edge patches const uint32_t *edge_warps, *edge_words in
 * place of the last three. */
weft_status weft_source_patch_body(const source_writer *w, const weft_patch_computation *patch,
                                   weft_error *error);
/** A whole kernel of such a body that stores or adds (see weft_plan_kernel). */
weft_status weft_source_patch_kernel(const source_writer *w, const weft_plan_kernel *kernel,
                                     weft_error *error);
/** fusion/codegen/kernel.c: ",\n    TYPE NAME" for each argument, of a threaded backend. */
void weft_source_arguments(const source_writer *w, const weft_plan_kernel *kernel);
extern const char *const weft_patch_arguments[WEFT_PATCH_ARGUMENTS + WEFT_EDGE_PATCH_ARGUMENTS];
/** fusion/codegen/patch_matrix.c: the same for a matrix, from what weft_matrix_rows has, in this order. */
weft_status weft_source_patch_matrix(const source_writer *w, const weft_plan_kernel *kernel,
                                     weft_error *error);
extern const char *const weft_patch_matrix_arguments[WEFT_PATCH_MATRIX_ARGUMENTS];
/** "v_x[0] = ...;": elementwise arithmetic into a variable. */
void weft_source_arithmetic(const source_writer *w, const weft_call *call, const char *result);
