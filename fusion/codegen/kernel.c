/* Writes the kernels of a plan: for each its arguments, then for every block of elements the loads,
 * calls in order, stores and accumulating stores (Filipovic et al. 2015, algorithm 1). */
#include "core/base/fault.h"
#include "core/weft_escape.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/codegen/private.h"

#include <stdio.h>
#include <string.h>

/* Larger results use streaming stores: about one core's share of the last-level cache. */
#define WEFT_STREAM_BYTES 4194304

/* The text of one kind of kernels; head and elements are for GPUs. */
typedef struct kernel_text {
    const char *head; /* start of the declaration; NULL: `write` writes its own */
    /* for write_map_kernel: opens the loop over the thread's elements */
    void (*elements)(const source_writer *, const weft_plan_kernel *);
    weft_status (*write)(const source_writer *, const weft_plan_kernel *, weft_error *);
} kernel_text;

static const kernel_text texts[WEFT_KERNEL_KINDS];

/* Is a result stored to its list's double buffer, as other thread blocks still read the list? */
static bool goes_to_double_buffer(const source_writer *w, const weft_plan_kernel *kernel,
                                  int stored) {
    const weft_value *value = &w->graph->values[stored];
    return kernel->prologue >= 0 && value->producer == kernel->prologue && value->storage >= 0;
}

static bool is_written(const source_writer *w, const weft_plan_kernel *kernel, int value) {
    for (int i = 0; i < kernel->n_stores; ++i)
        if (weft_value_storage(w->graph, kernel->stores[i]) == value &&
            goes_to_double_buffer(w, kernel, kernel->stores[i]))
            return false;
    bool written = weft_kernel_writes(w->graph, kernel, value);
    for (int i = 1; i <= kernel->n_members; ++i)
        written |= weft_kernel_writes(w->graph, kernel - i, value);
    return written;
}

/* "const scalar *restrict p_x" */
static void write_argument(const source_writer *w, const weft_plan_kernel *kernel,
                           const weft_argument *argument) {
    switch (argument->kind) {
    case ARGUMENT_VALUE:
        weft_text_add(
            w->out, "%s%s *restrict p_%s", is_written(w, kernel, argument->index) ? "" : "const ",
            weft_value_is_narrow(w->options, &w->graph->values[argument->index]) ? "float"
                                                                                 : "scalar",
            weft_source_variable(w, argument->index, -1) + 2);
        break;
    case ARGUMENT_CONNECTIVITY:
        weft_text_add(w->out, "const int32_t *restrict m_%s",
                      w->graph->connectivities[argument->index].name);
        break;
    case ARGUMENT_POSITIONS:
        weft_text_add(w->out, "const uint32_t *restrict %s",
                      weft_source_positions(w, argument->index, argument->part));
        break;
    case ARGUMENT_PARTIALS:
        weft_text_add(w->out, "scalar *restrict partials_%s",
                      weft_source_variable(w, argument->index, -1) + 2);
        break;
    case ARGUMENT_COLOUR:
        weft_text_add(w->out, "const uint32_t *restrict order");
        break;
    case ARGUMENT_OWNED:
        weft_text_add(w->out, "const unsigned char *restrict owned");
        break;
    case ARGUMENT_TEAM:
        weft_text_add(w->out, "int64_t *restrict team");
        break;
    case ARGUMENT_MEMBERS:
        weft_text_add(w->out, "const int64_t *restrict members");
        break;
    case ARGUMENT_SIZES:
        weft_text_add(w->out, "const int64_t *restrict sizes");
        break;
    case ARGUMENT_PATCH:
        weft_text_add(w->out, "%s", weft_patch_arguments[argument->part]);
        break;
    case ARGUMENT_CELL_PATCH:
        weft_source_cell_patch_argument(w, argument);
        break;
    case ARGUMENT_PRODUCT: {
        const weft_product_argument *one =
            &w->graph->calls[kernel->product].product_kernel->arguments[argument->part];
        weft_text_add(w->out, "%srestrict %s", one->type, one->name);
        break;
    }
    case ARGUMENT_DOUBLE_BUFFER:
        weft_text_add(w->out, "scalar *restrict next_%s",
                      weft_source_variable(w, argument->index, -1) + 2);
        break;
    case ARGUMENT_PATCH_MATRIX:
        weft_text_add(w->out, "%s", weft_patch_matrix_arguments[argument->part]);
        break;
    case ARGUMENT_GATHER:
        weft_text_add(w->out, argument->part == 0 ? "const int64_t *restrict start"
                                                  : "const uint32_t *restrict position");
        break;
    }
}

/* "positions_A"; "positions1_A" of another connectivity than the matrix's first. */
const char *weft_source_positions(const source_writer *w, int matrix, int connectivity) {
    const weft_value *value = &w->graph->values[matrix];
    const char *name =
        connectivity == value->connectivity
            ? weft_arena_print(w->arena, "positions_%s", value->name)
            : weft_arena_print(w->arena, "positions%d_%s", connectivity, value->name);
    w->out->failed |= !name;
    return name ? name : "";
}

void weft_source_argument_name(const source_writer *w, const weft_argument *argument) {
    if (argument->kind == ARGUMENT_CONNECTIVITY)
        weft_text_add(w->out, "m_%s", w->graph->connectivities[argument->index].name);
    else if (argument->kind == ARGUMENT_PARTIALS)
        weft_text_add(w->out, "partials_%s", weft_source_variable(w, argument->index, -1) + 2);
    else if (argument->kind == ARGUMENT_POSITIONS)
        weft_text_add(w->out, "%s", weft_source_positions(w, argument->index, argument->part));
    else
        weft_text_add(w->out, "p_%s", weft_source_variable(w, argument->index, -1) + 2);
}

/* Uniform values are loaded once, before the loop over blocks; other values in every block. */
void weft_source_load_statement(const source_writer *w, const weft_operand *load) {
    const char *lane = w->backend->is_threaded ? " + lane" : "";
    const weft_value *value = &w->graph->values[load->value];
    const int count = weft_shape_count(&value->shape);
    const char *v = weft_source_variable(w, load->value, load->connectivity);
    const char *p = weft_source_variable(w, weft_value_storage(w->graph, load->value), -1) + 2;
    if (load->connectivity >= 0) {
        const weft_graph_connectivity *connectivity = &w->graph->connectivities[load->connectivity];
        weft_text_add(
            w->out, "        load_indirect(%s, p_%s, m_%s + block * (%d * LANES)%s, %d, %d);\n", v,
            p, connectivity->name, connectivity->width, lane, connectivity->width, count);
    } else if (value->index_set < 0)
        weft_text_add(w->out, "    load_uniform(%s, p_%s, %d);\n", v, p, count);
    else if (w->graph->index_sets[value->index_set].plain)
        weft_text_add(w->out, "        load_plain(%s, p_%s, %d, block * LANES%s, n_elements);\n", v,
                      p, count, lane);
    else
        weft_text_add(w->out, "        load_block(%s, p_%s + block * (%d * LANES)%s, %d);\n", v, p,
                      count, lane, count);
}

/* Does a GPU read a uniform value where it is? So many numbers are not kept in registers, and their copy would be one in memory for
 * each thread. */
static bool is_left_in_memory(const source_writer *w, const weft_operand *load) {
    enum { REGISTERS_MOST = 256 };
    const weft_value *value = &w->graph->values[load->value];
    for (int i = 0; i < w->graph->n_values; ++i)
        if (w->graph->values[i].storage == load->value) /* it changes */
            return false;
    return w->backend->is_threaded && value->index_set < 0 &&
           weft_shape_count(&value->shape) > REGISTERS_MOST;
}

void weft_source_load(const source_writer *w, const weft_operand *load) {
    if (is_left_in_memory(w, load)) {
        weft_text_add(w->out, "    const real *const %s = p_%s;\n",
                      weft_source_variable(w, load->value, load->connectivity),
                      weft_source_variable(w, weft_value_storage(w->graph, load->value), -1) + 2);
        return;
    }
    weft_text_add(w->out, "%sreal %s[%d];\n",
                  w->graph->values[load->value].index_set < 0 ? "    " : "        ",
                  weft_source_variable(w, load->value, load->connectivity),
                  weft_shape_count(&load->shape));
    weft_source_load_statement(w, load);
}

void weft_source_load_uniforms(const source_writer *w, const weft_operand *loads, int n) {
    for (int i = 0; i < n; ++i)
        if (w->graph->values[loads[i].value].index_set < 0)
            weft_source_load(w, &loads[i]);
}

void weft_source_store(const source_writer *w, const weft_plan_kernel *kernel, int stored) {
    const char *lane = w->backend->is_threaded ? " + lane" : "";
    const weft_value *value = &w->graph->values[stored];
    const int count = weft_shape_count(&value->shape);
    const char *v = weft_source_variable(w, stored, -1);
    const char *to = goes_to_double_buffer(w, kernel, stored) ? "next" : "p";
    const char *p = weft_source_variable(w, weft_value_storage(w->graph, stored), -1) + 2;
    if (weft_source_is_plain(w, value))
        weft_text_add(w->out, "        store_plain(%s_%s, %s, %d, block * LANES%s, n_elements);\n",
                      to, p, v, count, lane);
    else
        weft_text_add(w->out, "        store_block(%s_%s + block * (%d * LANES)%s, %s, %d, %s);\n",
                      to, p, count, lane, v, count,
                      value->storage >= 0 || w->backend->is_threaded ? "0" : "stream");
}

/* "FILE:LINE", inside a comment. */
void weft_source_place(const source_writer *w, const weft_location *place) {
    weft_text_add_comment(w->out, place->source->name);
    weft_text_add(w->out, ":%d", place->line);
}

void weft_source_scatter(const source_writer *w, const weft_plan_kernel *kernel,
                         const weft_accumulation *a) {
    const char *alone = kernel->kind == KERNEL_CELL_COLOURS ? "_alone" : "";
    const bool threaded = w->backend->is_threaded;
    const char *lane = threaded ? " + lane" : "", *lanes = threaded ? "1" : "lanes";
    const char *v = weft_source_variable(w, a->source, -1);
    const char *target = weft_source_variable(w, a->target, -1) + 2;
    const weft_graph_connectivity *connectivity = &w->graph->connectivities[a->connectivity];
    const int width = connectivity->width;
    weft_text_add(w->out, "        /* ");
    weft_source_place(w, &a->place);
    weft_text_add(w->out, "  %s[%s%s%s] += ... */\n", w->graph->values[a->target].name,
                  connectivity->name, a->matrix ? "," : "", a->matrix ? connectivity->name : "");
    if (a->matrix)
        weft_text_add(w->out,
                      "        add_matrix%s(p_%s, %s + block * (%d * LANES)%s, %s, %d, %s);\n",
                      alone, target, weft_source_positions(w, a->target, a->connectivity),
                      width * width, lane, v, width * width, lanes);
    else
        weft_text_add(
            w->out,
            "        add_indirect%s(p_%s, m_%s + block * (%d * LANES)%s, %s, %d, %d, %s);\n", alone,
            target, connectivity->name, width, lane, v, width,
            weft_shape_count(&w->graph->values[a->target].shape), lanes);
}

void weft_source_arguments(const source_writer *w, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_arguments; ++i) {
        weft_text_add(w->out, ",\n    ");
        write_argument(w, kernel, &kernel->arguments[i]);
    }
}

int weft_source_block_threads(const weft_plan *plan, const weft_plan_kernel *kernel) {
    const weft_implementation *one = kernel->implementation;
    if (kernel->kind == KERNEL_GROUP)
        return kernel->threads;
    return kernel->kind != KERNEL_MAP || (one->elements_per_block == plan->target.block_threads &&
                                          one->serial_iterations == 1)
               ? 0
               : one->elements_per_block;
}

/* Host kernels take a range of blocks of elements; GPU kernels take one thread per element. */
void weft_source_head(const source_writer *w, const weft_plan_kernel *kernel) {
    const bool threaded = w->backend->is_threaded;
    const int threads = weft_source_block_threads(w->plan, kernel);
    if (kernel->is_member)
        weft_text_add(w->out, "INLINE void %s(int64_t n_elements", kernel->name);
    else if (!threaded)
        weft_text_add(w->out,
                      "void %s(void *const *arguments, int64_t n_elements, int64_t first_block, "
                      "int64_t last_block)\n{\n",
                      kernel->name);
    else if (threads > 0)
        weft_text_add(w->out, "BLOCK_KERNEL(%d) %s(int64_t n_elements", threads, kernel->name);
    else
        weft_text_add(w->out, "%s %s(int64_t n_elements", texts[kernel->kind].head, kernel->name);
    for (int i = 0; i < kernel->n_arguments; ++i) {
        weft_text_add(w->out, threaded ? ",\n    " : "    ");
        write_argument(w, kernel, &kernel->arguments[i]);
        if (!threaded)
            weft_text_add(w->out, " = arguments[%d];\n", i);
    }
    if (kernel->is_member)
        weft_text_add(w->out, WEFT_MEMBER_ARGUMENTS ")\n{\n");
    else if (threaded)
        weft_text_add(w->out, "%s)\n{\n%s", w->plan->predicated ? WEFT_PREDICATE_ARGUMENT : "",
                      !w->plan->predicated ? ""
                      : kernel->kind == KERNEL_PRODUCT || weft_source_prefetches(w, kernel)
                          ? WEFT_PREDICATE_EARLY
                          : WEFT_PREDICATE);
}

/* The thread's own element. */
void weft_source_thread(const source_writer *w, const char *indent, const char *specialisation) {
    weft_text_add(w->out, "%sconst int64_t element = %s;\n", indent, specialisation);
    weft_source_lane(w, indent);
}

void weft_source_lane(const source_writer *w, const char *indent) {
    weft_text_add(w->out,
                  "%sconst int64_t block = element / LANES;\n"
                  "%sconst int lane = (int)(element %% LANES);\n",
                  indent, indent);
}

const char *weft_source_block(const weft_plan_kernel *kernel) {
    return kernel->is_member ? "number" : "blockIdx.x";
}

static void write_loads(const source_writer *w, const weft_plan_kernel *kernel) {
    for (int i = 0; i < kernel->n_loads; ++i)
        if (w->graph->values[kernel->loads[i].value].index_set >= 0)
            weft_source_load(w, &kernel->loads[i]);
}

/* A thread processes several elements of its block's reduction tile. */
static void write_chunk(const source_writer *w, const weft_plan_kernel *kernel) {
    if (kernel->coarsening > 1)
        weft_source_tiles(w, kernel);
    else
        weft_text_add(w->out,
                      "    UNROLL for (int k = 0; k < TILE / THREADS; ++k) {\n"
                      "        const int64_t element = %s * (int64_t)TILE + k * THREADS + "
                      "threadIdx.x;\n",
                      weft_source_block(kernel));
    weft_source_lane(w, "        ");
    weft_text_add(w->out, "        if (element >= n_elements)\n            continue;\n");
}

/* The loop has more than one iteration only in a launch of a single thread. */
static void write_colour(const source_writer *w, const weft_plan_kernel *kernel) {
    (void)kernel;
    weft_text_add(w->out,
                  "    for (int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; k < "
                  "n_elements; k += gridDim.x * (int64_t)blockDim.x) {\n");
    weft_source_thread(w, "        ", "order[k]");
}

/* A thread processes one element, or several: with a factor F and a stride s, thread t of the block b
 * has the elements (b F + k) blockDim + t (block coarsening) or, for s < blockDim, those at t / s * s F
 * + t % s + k s in its block's (thread coarsening; Dey 2020). */
static void write_own(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_implementation *one = kernel->implementation;
    const int n = one->serial_iterations;
    const bool member = kernel->is_member;
    const int all = member ? kernel->threads : one->elements_per_block;
    const int stride = all % one->stride == 0 ? one->stride : all;
    const char *threads = member ? "threads" : "blockDim.x",
               *thread = member ? "thread" : "threadIdx.x", *block = weft_source_block(kernel);
    char own[160];
    if (n > 1)
        weft_text_add(w->out, "    %sfor (int k = 0; k < %d; ++k) {\n",
                      weft_source_prefetches(w, kernel) ? "UNROLL " : "", n);
    if (n > 1 && stride < all)
        snprintf(own, sizeof own, "%s * (int64_t)%d * %s + %s / %d * %d + %s %% %d + k * %d", block,
                 n, threads, thread, stride, stride * n, thread, stride,
                 stride - weft_fault("stride_off"));
    else if (n > 1)
        snprintf(own, sizeof own, "(%s * (int64_t)%d + k) * %s + %s", block, n, threads, thread);
    else
        snprintf(own, sizeof own, "%s * (int64_t)%s + %s", block, threads, thread);
    weft_source_thread(w, n > 1 ? "        " : "    ", own);
    if (n > 1)
        weft_text_add(w->out, "        if (element >= n_elements)\n            continue;\n");
    else
        weft_text_add(w->out, "    if (element %s n_elements) {\n",
                      weft_fault("thread_too_many") ? "<=" : "<");
}

/* The loop over the blocks of a range, on the host. */
static void write_blocks(const source_writer *w, const weft_plan_kernel *kernel) {
    weft_text_add(w->out, "    for (int64_t block = first_block; block < last_block; ++block) {\n");
    if (weft_fault("lanes_unmasked"))
        weft_text_add(w->out, "        const int lanes = LANES;\n");
    else if (kernel->n_scatters > 0 || kernel->n_reductions > 0)
        weft_text_add(w->out, "        const int lanes = n_elements - block * LANES < LANES ? "
                              "(int)(n_elements - block * LANES) : LANES;\n");
    if (w->options->distributed && kernel->n_reductions > 0)
        weft_text_add(w->out,
                      "        const mask counted = counted_lanes(owned, block * LANES, lanes);\n");
}

/* May a kernel use streaming stores? Its results must be stored as whole vectors and must not
 * overwrite a list that was just read. */
static bool may_stream(const source_writer *w, const weft_plan_kernel *kernel) {
    if (w->backend->is_threaded)
        return false;
    for (int i = 0; i < kernel->n_stores; ++i) {
        const weft_value *value = &w->graph->values[kernel->stores[i]];
        if (!weft_source_is_plain(w, value) && value->storage < 0)
            return true;
    }
    return false;
}

static void write_stores(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_implementation *one = kernel->implementation;
    for (int i = 0; i < kernel->n_stores; ++i) {
        bool there = false;
        for (int k = 0; k < one->fusion->n_calls; ++k) {
            const weft_call *call = &w->graph->calls[one->order[k]];
            there |=
                call->result == kernel->stores[i] && weft_source_is_written_in_place(w, kernel, k);
        }
        if (!there)
            weft_source_store(w, kernel, kernel->stores[i]);
    }
}

static weft_status write_map_kernel(const source_writer *plain, const weft_plan_kernel *kernel,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    source_writer hoisting = *plain;
    const source_writer *w = &hoisting;
    hoisting.hoists = true;
    const weft_implementation *implementation = kernel->implementation;
    weft_source_head(w, kernel);
    const bool streams = may_stream(w, kernel);
    if (streams && w->options->distributed) /* the compiler may round otherwise in the other case */
        weft_text_add(w->out, "    const int stream = 1;\n");
    else if (streams)
        weft_text_add(w->out, "    const int stream = (double)n_elements * %.17g > %.17g;\n",
                      kernel->bytes_stored, (double)WEFT_STREAM_BYTES);
    weft_source_load_uniforms(w, kernel->loads, kernel->n_loads);
    const bool chunked = weft_source_chunked(w, kernel),
               prefetches = weft_source_prefetches(w, kernel);
    if (prefetches)
        weft_source_write_prefetch(w, kernel, texts[kernel->kind].elements);
    weft_source_uniforms(w, kernel);
    if (chunked)
        weft_source_reductions_declare(w, kernel);
    weft_source_reductions_start(w, kernel);
    (w->backend->is_threaded ? texts[kernel->kind].elements : write_blocks)(w, kernel);
    if (prefetches)
        weft_source_write_loaded(w, kernel);
    else
        write_loads(w, kernel);
    for (int i = 0; i < implementation->fusion->n_calls; ++i) {
        const weft_call *call = &w->graph->calls[implementation->order[i]];
        const int variant = implementation->variants[i];
        weft_source_call_comment(w, call);
        source_threads one = {.width = 0};
        if (!weft_source_is_written_in_place(w, kernel, i)) {
            weft_source_declare_result(w, call);
        } else {
            weft_source_declare_in_place(w, call);
            one.store = w->backend->is_threaded ? NULL : "store_component";
        }
        TRY(weft_source_call_statements(w, call, variant, &one, error));
    }
    weft_text_add(w->out, "\n");
    write_stores(w, kernel);
    for (int i = 0; i < kernel->n_scatters; ++i)
        weft_source_scatter(w, kernel, &w->graph->accumulations[kernel->scatters[i]]);
    weft_source_reductions_each(w, kernel);
    weft_text_add(w->out, "    }\n");
    if (chunked)
        weft_source_reduction_tile(w, kernel);
    weft_source_reductions_end(w, kernel);
    if (streams)
        weft_text_add(w->out, "    if (stream)\n        store_fence();\n");
    weft_text_add(w->out, "}\n\n");
done:
    return status;
}

static weft_status write_final_reduction(const source_writer *w, const weft_plan_kernel *kernel,
                                         weft_error *error) {
    (void)error;
    weft_source_head(w, kernel);
    weft_source_final_reduction(w, kernel);
    weft_text_add(w->out, "}\n\n");
    return WEFT_OK;
}

static const kernel_text texts[WEFT_KERNEL_KINDS] = {
    [KERNEL_MAP] = {"KERNEL", write_own, write_map_kernel},
    [KERNEL_REDUCTION] = {"KERNEL", write_chunk, write_map_kernel},
    [KERNEL_CELL_COLOURS] = {"KERNEL", write_colour, write_map_kernel},
    [KERNEL_MULTI_THREAD] = {"MULTI_THREAD_KERNEL", NULL, weft_source_threads},
    [KERNEL_DENSE] = {"MULTI_THREAD_KERNEL", NULL, weft_source_dense},
    [KERNEL_PRODUCT] = {"ROWS_KERNEL", NULL, weft_source_product},
    [KERNEL_VERTEX_PATCH] = {NULL, NULL, weft_source_patch_kernel},
    [KERNEL_EDGE_PATCH] = {NULL, NULL, weft_source_patch_kernel},
    [KERNEL_MATRIX_PATCH] = {NULL, NULL, weft_source_patch_matrix},
    [KERNEL_CELL_PATCH] = {NULL, NULL, weft_source_cell_patch},
    [KERNEL_CELL_BORDER] = {"KERNEL", NULL, weft_source_cell_border},
    [KERNEL_FINAL_REDUCTION] = {"FINISH", NULL, write_final_reduction},
    [KERNEL_GATHER] = {"KERNEL", NULL, weft_source_gather},
    [KERNEL_NESTED] = {"BLOCK_KERNEL(NESTED_THREADS)", NULL, weft_source_nested},
    [KERNEL_NESTED_FINAL] = {"BLOCK_KERNEL(NESTED_THREADS)", NULL, weft_source_nested_final},
    [KERNEL_GROUP] = {NULL, NULL, weft_source_group},
};

/* The targets of a predicated kernel are zeroed by a kernel that tests `active` too, so that the
 * values of the last iteration are kept. */
static void write_clear_kernel(const source_writer *w, const weft_plan_kernel *kernel) {
    weft_text_add(w->out,
                  "/* of what %s accumulates into */\n"
                  "KERNEL %s%s(int64_t n_elements,\n    scalar *restrict p_list%s)\n{\n%s"
                  "    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;\n"
                  "    if (i < n_elements)\n        p_list[i] = 0;\n}\n\n",
                  kernel->name, kernel->name, WEFT_CLEAR_SUFFIX, WEFT_PREDICATE_ARGUMENT,
                  WEFT_PREDICATE);
}

static weft_status write_kernel(const source_writer *w, const weft_plan_kernel *kernel,
                                weft_error *error) {
    if (w->plan->predicated && kernel->n_zero > 0)
        write_clear_kernel(w, kernel);
    return texts[kernel->kind].write(w, kernel, error);
}

static int count_statements(const char *text) {
    int n = 0;
    for (const char *c = text; (c = strchr(c, ';')); ++c)
        n += c[1] == '\n';
    return n;
}

/* Compile time grows faster than linearly with the length of straight-line code. A kernel that is
 * too long is written again with fewer of its loops unrolled. */
static weft_status write_bounded(const source_writer *writer, const weft_plan_kernel *kernel,
                                 weft_error *error) {
    static const int unrolls[] = {WEFT_UNROLL_MAX, 64, 16, 1};
    const size_t start = writer->out->length, n = sizeof unrolls / sizeof *unrolls;
    const int most = writer->options->runs_once && !writer->backend->is_threaded
                         ? WEFT_KERNEL_STATEMENTS_ONCE
                         : WEFT_KERNEL_STATEMENTS_MAX;
    source_writer w = *writer;
    w.kernel = kernel->name;
    for (size_t i = 0; i < n; ++i) {
        w.out->length = start;
        w.unroll = unrolls[i];
        weft_source_natives(&w, kernel);
        const weft_status status = write_kernel(&w, kernel, error);
        if (status != WEFT_OK || w.out->failed || count_statements(w.out->data + start) <= most)
            return status;
    }
    return WEFT_OK;
}

weft_status weft_source_kernels(const weft_segment *segment, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_plan *plan = segment->plan;
    const source_writer writer = {.arena = segment->arena,
                                  .graph = segment->graph,
                                  .plan = plan,
                                  .limits = &segment->limits,
                                  .backend = weft_source_backend(&segment->limits),
                                  .options = &segment->options,
                                  .single = segment->options.single,
                                  .out = out};
    for (int i = 0; i < plan->n_kernels; ++i)
        TRY(write_bounded(&writer, &plan->kernels[i], error));
    if (segment->otherwise) { /* a namespace for helpers that both plans have */
        weft_text_add(out, "namespace otherwise {\n");
        TRY(weft_source_kernels(segment->otherwise, out, error));
        weft_text_add(out, "}\n");
    }
    if (out->failed)
        status = weft_no_memory(error);
done:
    return status;
}

const weft_backend *weft_source_backend(const weft_limits *limits) {
    static const weft_backend *const backends[] = {&weft_backend_host, &weft_backend_cuda};
    const size_t n = sizeof backends / sizeof *backends;
    size_t i = 0;
    while (i + 1 < n &&
           (limits->language ? strcmp(limits->language, backends[i]->language) != 0
                             : weft_target_is_simt(limits) != backends[i]->is_threaded))
        ++i;
    return backends[i];
}
