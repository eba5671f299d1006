/** Shared by the files of this folder: the writer, and the text fragments of each kernel kind. */
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
    const weft_compile_options *options;
    bool single;
    const char *kernel; /* name of the current one */
    int unroll;         /* see weft_body_style */
    bool is_nested;     /* a kernel that walks over rows i and columns j */
    bool hoists; /* costly uniform subexpressions are computed before the loop over elements */
    weft_text *out;
} source_writer;

/** Last argument and first statement of predicated kernels (weft_plan). */
#define WEFT_PREDICATE_ARGUMENT ",\n    const uint32_t *restrict active"
#define WEFT_PREDICATE "    if (*active == 0)\n        return;\n"
/** The same with the load of the flag first and its test after other loads. */
#define WEFT_PREDICATE_EARLY "    const uint32_t going = *active;\n"
#define WEFT_PREDICATE_LATE "    if (going == 0)\n        return;\n"

/** Last arguments of a member of a group: its block and number of blocks, thread and threads per block. */
#define WEFT_MEMBER_ARGUMENTS                                                                      \
    ",\n    int64_t number,\n    int64_t blocks,\n    int thread,\n    int threads"

/** A kernel with more statements is written again with fewer of its loops unrolled; one that runs once on the host, too. */
enum { WEFT_KERNEL_STATEMENTS_MAX = 1000, WEFT_KERNEL_STATEMENTS_ONCE = 200 };

/** Add the kernels of a segment, without the prelude.  Errors  WEFT_ERROR_MEMORY */
weft_status weft_source_kernels(const weft_segment *segment, weft_text *out, weft_error *error);
/** Name of the register array of a value that is loaded through a connectivity, or directly (-1).
 *  Unique in the graph; starts with "v_". */
const char *weft_source_variable(const source_writer *w, int value, int connectivity);
/* fusion/codegen/kernel.c */
/** A kernel's name and arguments, up to the opening brace and the test of `active`. */
void weft_source_head(const source_writer *w, const weft_plan_kernel *kernel);
/** The name of an argument of a member of a group. */
void weft_source_argument_name(const source_writer *w, const weft_argument *argument);
/** Declarations and loads of the uniform values among n loads. */
void weft_source_load_uniforms(const source_writer *w, const weft_operand *loads, int n);
/** Declaration and load of a value; the load alone. */
void weft_source_load(const source_writer *w, const weft_operand *load);
void weft_source_load_statement(const source_writer *w, const weft_operand *load);
/** An accumulating store; the store of a result. */
void weft_source_scatter(const source_writer *w, const weft_plan_kernel *kernel,
                         const weft_accumulation *a);
void weft_source_store(const source_writer *w, const weft_plan_kernel *kernel, int stored);
/** fusion/codegen/stored.c: is the result of the call at a position of the order written where it is stored, instead of into an array? The
 *  declaration that replaces the array. */
bool weft_source_is_written_in_place(const source_writer *w, const weft_plan_kernel *kernel,
                                     int position);
void weft_source_declare_in_place(const source_writer *w, const weft_call *call);
/** Declarations of element, block and lane; specialisation: C text of the element's number. */
void weft_source_thread(const source_writer *w, const char *indent, const char *specialisation);
/** Are the components of an element of the value next to each other? Those of uniform values are. */
static inline bool weft_source_is_plain(const source_writer *w, const weft_value *value) {
    return value->index_set < 0 || w->graph->index_sets[value->index_set].plain;
}
/** Those of block and lane. */
void weft_source_lane(const source_writer *w, const char *indent);
/** The number of a thread block of the kernel: C text. */
const char *weft_source_block(const weft_plan_kernel *kernel);
/** fusion/codegen/nested.c: a kernel over a product of two index sets; the kernel that combines the
 *  parts of one of its open results. */
void weft_source_nested_prelude(const weft_backend *backend, weft_text *out);
weft_status weft_source_nested(const source_writer *w, const weft_plan_kernel *kernel,
                               weft_error *error);
weft_status weft_source_nested_final(const source_writer *w, const weft_plan_kernel *kernel,
                                     weft_error *error);
/* fusion/codegen/combine.c */
/** "add", "multiply", "min", "max" or that of an operator of the library: in the names of the functions for a reduction. */
const char *weft_source_join_name(const source_writer *w, const weft_call *call);
/** Those functions for the operators of the library that segments use; nested: also for kernels over
 *  two index sets. */
weft_status weft_source_combines(weft_arena *arena, const weft_backend *backend,
                                 const weft_segment *const *segments, int n, bool nested,
                                 weft_text *out, weft_error *error);
/** fusion/codegen/multi_thread.c: a kernel with calls of several threads per element. */
weft_status weft_source_threads(const source_writer *w, const weft_plan_kernel *kernel,
                                weft_error *error);
/** "p_K[...]": the memory of component `c` of a value; that which component `c` of a contribution
 *  is added to. In scope: element, block, lane. */
void weft_source_component(const source_writer *w, const weft_operand *operand);
void weft_source_target(const source_writer *w, const weft_accumulation *a);
/** fusion/codegen/dense.c: a kernel of products of small matrices; the text before the first. */
weft_status weft_source_dense(const source_writer *w, const weft_plan_kernel *kernel,
                              weft_error *error);
void weft_source_dense_prelude(const weft_limits *limits, bool single, weft_text *out);
/* fusion/codegen/reduction.c: reductions on a GPU, one tile per thread block; several elements per
 * thread. */
/** Open the loop over the elements of a thread that has several tiles. */
void weft_source_tiles(const source_writer *w, const weft_plan_kernel *kernel);
/** Does each thread process several elements of a reduction tile? */
bool weft_source_chunked(const source_writer *w, const weft_plan_kernel *kernel);
/** Are the loads of all elements of a thread issued before the first call? */
bool weft_source_prefetches(const source_writer *w, const weft_plan_kernel *kernel);
/** Write these loads.
 *  elements  opens the loop over the thread's elements */
void weft_source_write_prefetch(const source_writer *w, const weft_plan_kernel *kernel,
                                void (*elements)(const source_writer *, const weft_plan_kernel *));
/** Bind the usual names of loaded values to those of the k-th element. */
void weft_source_write_loaded(const source_writer *w, const weft_plan_kernel *kernel);
/** fusion/codegen/gather.c: a kernel that sums, for each target, the stored contributions. */
weft_status weft_source_gather(const source_writer *w, const weft_plan_kernel *kernel,
                               weft_error *error);
/** fusion/codegen/horizontal.c: a kernel that calls the members of a group. */
weft_status weft_source_group(const source_writer *w, const weft_plan_kernel *kernel,
                              weft_error *error);
/** fusion/codegen/product.c: a kernel that starts with a product kernel. */
weft_status weft_source_product(const source_writer *w, const weft_plan_kernel *kernel,
                                weft_error *error);
/* fusion/codegen/reduction.c */
/** Before the elements: accumulators with the neutral element; GPU: shared memory of the tile. */
void weft_source_reductions_start(const source_writer *w, const weft_plan_kernel *kernel);
void weft_source_reductions_declare(const source_writer *w, const weft_plan_kernel *kernel);
/** GPU, after the elements: the partial results of the block's tile. */
void weft_source_reduction_tile(const source_writer *w, const weft_plan_kernel *kernel);
/** In the loop over elements: the contribution of one. */
void weft_source_reductions_each(const source_writer *w, const weft_plan_kernel *kernel);
/** At the end of the kernel; host: store the partial results. */
void weft_source_reductions_end(const source_writer *w, const weft_plan_kernel *kernel);
/** The body of the kernel that joins the partial results. */
void weft_source_final_reduction(const source_writer *w, const weft_plan_kernel *kernel);
/** GPU: the final reduction inside the kernel that ends a loop's iteration, with its arguments in
 *  the order of kernel->reductions. */
void weft_source_joined_arguments(weft_text *out, const weft_plan_kernel *kernel);
void weft_source_joined(const source_writer *w, const weft_graph *graph,
                        const weft_plan_kernel *kernel);
/** fusion/codegen/arithmetic.c: declare the costly subexpressions that are the same for all elements; for a writer that hoists,
 *  after the loads of uniform data. */
void weft_source_uniforms(const source_writer *w, const weft_plan_kernel *kernel);
/* fusion/codegen/call.c */
/** fusion/codegen/kernel.c: the name of an ARGUMENT_POSITIONS */
const char *weft_source_positions(const source_writer *w, int matrix, int connectivity);
/** "FILE:LINE", in a form that is safe inside a comment (fusion/codegen/kernel.c). */
void weft_source_place(const source_writer *w, const weft_location *place);
/** "FILE:LINE  y = f(x)", as a comment. */
void weft_source_call_comment(const source_writer *w, const weft_call *call);
/** "real v_K[4];" */
void weft_source_declare_result(const source_writer *w, const weft_call *call);
/** The threads of an element that share the work of a call. */
typedef struct source_threads {
    /* thread `warp` of the element computes threads warp, warp + width, ... of the variant; 0:
     * one thread computes all */
    int width;
    /* [n_operands + 1] operands, and last the result, in PLACE_OWN_REGISTER; NULL: none */
    const bool *own;
    const char *store; /* weft_body_style.store */
} source_threads;
/** Open the loop over the variant's threads `t`; the caller closes it by a brace. */
void weft_source_open_threads(const source_writer *w, const weft_call *call, int variant,
                              const source_threads *threads);
/** The register array of an operand (-1: of the result) in PLACE_OWN_REGISTER, inside that loop. */
const char *weft_source_own(const source_writer *w, const weft_call *call, int variant, int operand,
                            const source_threads *threads);
/** The statements of one call whose result is declared already. */
weft_status weft_source_call_statements(const source_writer *w, const weft_call *call, int variant,
                                        const source_threads *threads, weft_error *error);
/** fusion/codegen/native.c: the functions of a kernel's native bodies, before it; a call of one. */
void weft_source_natives(const source_writer *w, const weft_plan_kernel *kernel);
/** The native body's own routine that loads an operand (-1: stores the result); false: there is none. */
bool weft_source_native_move(const source_writer *w, const weft_call *call, int variant,
                             int operand);
void weft_source_native_call(const source_writer *w, const weft_call *call, int variant,
                             const source_threads *in);
/** Comment, declaration of the result and statements of one call, all by one thread. */
weft_status weft_source_call(const source_writer *w, const weft_call *call, int variant,
                             weft_error *error);

/** The statements of a thread block that processes one patch.
 *  Result    own[k] and y[k * components + c] of row first_row + k * ROWS_THREADS + threadIdx.x
 *  In scope  first_row, n_rows, shared, LOAD(j), the prelude, values as p_NAME, and
 *                const int64_t *patch_halo_start;
 *                const int32_t *patch_halo, *patch_cells;
 *                const uint32_t *patch_rows;                  vertex patches
 *                const unsigned short *patch_order;           vertex patches
 *                const unsigned long long *patch_words;       vertex patches
 *                const uint32_t *edge_warps, *edge_words;     edge patches
 *            own, y and patch_cells only where they are used */
weft_status weft_source_patch_body(const source_writer *w, const weft_patch_computation *patch,
                                   weft_error *error);
/** A kernel with this body that stores or adds y (weft_plan_kernel.accumulates). */
weft_status weft_source_patch_kernel(const source_writer *w, const weft_plan_kernel *kernel,
                                     weft_error *error);
/** fusion/codegen/kernel.c: ",\n    TYPE NAME" for each argument; threaded backends. */
void weft_source_arguments(const source_writer *w, const weft_plan_kernel *kernel);
extern const char *const weft_patch_arguments[WEFT_PATCH_ARGUMENTS + WEFT_EDGE_PATCH_ARGUMENTS];
/** fusion/codegen/cell_patch.c: a kernel over patches of cells; that of their border nodes; "const TYPE
 *  *restrict NAME" of an ARGUMENT_CELL_PATCH. */
weft_status weft_source_cell_patch(const source_writer *w, const weft_plan_kernel *kernel,
                                   weft_error *error);
weft_status weft_source_cell_border(const source_writer *w, const weft_plan_kernel *kernel,
                                    weft_error *error);
void weft_source_cell_patch_argument(const source_writer *w, const weft_argument *argument);
/** fusion/codegen/patch_matrix.c: a kernel that assembles whole rows of a matrix; its arguments are
 *  the memories of weft_matrix_rows, in this order. */
weft_status weft_source_patch_matrix(const source_writer *w, const weft_plan_kernel *kernel,
                                     weft_error *error);
extern const char *const weft_patch_matrix_arguments[WEFT_PATCH_MATRIX_ARGUMENTS];
/** fusion/codegen/arithmetic.c: "TARGET SPLAT(...);": a statement with the value of elementwise arithmetic at
 *  component `c`, after declarations of what several of its nodes use. target  "sum += " */
void weft_source_assign(const source_writer *w, const weft_call *call, const char *target,
                        const char *indent);
/** "v_x[0] = ...;": assign elementwise arithmetic to the register array `result`. */
void weft_source_arithmetic(const source_writer *w, const weft_call *call, const char *result);
