/* Prints fusions, implementations, cover and plan as text. */
#include "fusion/graph/print.h"
#include "fusion/library/native.h"
#include "fusion/plan/print.h"

#include <string.h>

enum { NUMBER_COLUMN_MAX = 80 };

/* ---- statistics of the planner's search, summed over segments ---- */

static void add_reason(weft_planner_counts *counts, const char *reason) {
    int at = 0;
    while (at < counts->n_reasons && strcmp(counts->reasons[at], reason) != 0)
        ++at;
    if (at == WEFT_PRUNE_REASONS)
        --at; /* the table is full: count it with the last reason */
    else if (at == counts->n_reasons)
        counts->reasons[counts->n_reasons++] = reason;
    ++counts->by_reason[at];
}

void weft_planner_counts_add(const weft_segment *c, weft_planner_counts *counts) {
    const weft_fusion_counts *sets = &c->fusions->counts;
    const weft_implementations *all = c->implementations;
    counts->calls += c->graph->n_calls;
    counts->candidates += c->fusions->n;
    counts->connected += sets->connected;
    counts->not_convex += sets->not_convex;
    counts->unfit += sets->unfit;
    if (counts->max_calls < c->fusions->max_calls)
        counts->max_calls = c->fusions->max_calls;
    counts->shrunk |= c->fusions->shrunk;
    counts->made += all->considered;
    counts->dominated += all->dominated;
    counts->slower += all->slower;
    counts->too_large += all->too_large;
    counts->too_many_threads += all->too_many_threads;
    counts->not_as_directed += all->not_as_directed;
    counts->untried += all->untried;
    for (int i = 0; i < all->n; ++i)
        if (all->list[i].reason)
            add_reason(counts, all->list[i].reason);
        else
            ++counts->kept;
}

void weft_fusion_counts_print(const weft_planner_counts *counts, weft_text *out) {
    weft_text_add(out, "%lld connected set%s of 2 to %d calls with no barrier inside%s; ",
                  (long long)counts->connected, counts->connected == 1 ? "" : "s",
                  counts->max_calls, counts->shrunk ? " (more calls make too many)" : "");
    weft_text_add(out, "left out: %lld that a path leaves and comes back to",
                  (long long)counts->not_convex);
    if (counts->unfit > 0)
        weft_text_add(out, ", %lld against the rules of slices and operators",
                      (long long)counts->unfit);
    weft_text_add(out, "\n");
}

static void print_one(int64_t n, const char *link, const char *why, bool *any, weft_text *out) {
    if (n == 0)
        return;
    weft_text_add(out, "%s%lld %s%s", *any ? ", " : "; ", (long long)n, link, why);
    *any = true;
}

void weft_implementation_counts_print(const weft_planner_counts *counts, weft_text *out) {
    bool any = false;
    weft_text_add(out, "implementations: %lld made, %lld kept", (long long)counts->made,
                  (long long)counts->kept);
    print_one(counts->dominated, "", "dominated", &any, out);
    print_one(counts->slower, "", "slower than 16 others of their calls", &any, out);
    print_one(counts->too_large, "", "too much shared memory", &any, out);
    print_one(counts->too_many_threads, "", "too many threads", &any, out);
    print_one(counts->not_as_directed, "", "not the block that the script asks for", &any, out);
    for (int i = 0; i < counts->n_reasons; ++i)
        print_one(counts->by_reason[i], "since ", counts->reasons[i], &any, out);
    if (counts->untried > 0)
        weft_text_add(out, "; %lld choices of variants not tried", (long long)counts->untried);
    weft_text_add(out, "\n");
}

void weft_planner_counts_explain(const weft_planner_counts *counts, weft_text *out) {
    weft_text_add(out, "\nLooked at\n  fusions: %lld of a call alone; ", (long long)counts->calls);
    weft_fusion_counts_print(counts, out);
    weft_text_add(out, "  ");
    weft_implementation_counts_print(counts, out);
}

static void print_calls(const weft_graph *graph, const int *calls, int n, weft_text *out) {
    for (int i = 0; i < n; ++i) {
        weft_text_add(out, i > 0 ? ", " : "");
        weft_print_name(graph, graph->calls[calls[i]].result, out);
    }
}

void weft_fusions_print(const weft_segment *c, weft_text *out) {
    const weft_graph *graph = c->graph;
    const weft_fusions *fusions = c->fusions;
    weft_planner_counts counts = {0};
    weft_planner_counts_add(c, &counts);
    weft_fusion_counts_print(&counts, out);
    for (int i = 0; i < fusions->n; ++i) {
        const weft_fusion *fusion = &fusions->list[i];
        weft_text_add(out, "fusion %d: %d call%s over %s, after %d barrier%s: ", i, fusion->n_calls,
                      fusion->n_calls == 1 ? "" : "s",
                      weft_index_set_name(graph, fusion->index_set), fusion->level,
                      fusion->level == 1 ? "" : "s");
        print_calls(graph, fusion->calls, fusion->n_calls, out);
        weft_text_add(out, "\n");
    }
}

/* "    per element: 76 B loaded, 96 B stored, 87 flop" */
static void print_amounts(double loaded, double stored, double flops, weft_text *out) {
    weft_text_add(out, "per element: ");
    weft_print_number(loaded, out);
    weft_text_add(out, " B loaded, ");
    weft_print_number(stored, out);
    weft_text_add(out, " B stored, ");
    weft_print_number(flops, out);
    weft_text_add(out, " flop");
}

static void print_onchip(const weft_graph *graph, const weft_implementation *one, weft_text *out) {
    static const char *const places[] = {"register", "shared", "register per thread"};
    if (one->threads_per_element > 0)
        weft_text_add(out, "    on chip, %d components in shared memory, at most %d in registers:",
                      one->shared_components, one->register_components);
    else
        weft_text_add(out, "    on chip, at most %d components at once:", one->onchip_peak);
    for (int i = 0; i < one->n_onchip; ++i) {
        weft_text_add(out, i > 0 ? ", " : " ");
        weft_print_operand(graph, &one->onchip[i], out);
        if (one->placement[i] != PLACE_REGISTER)
            weft_text_add(out, " (%s)", places[one->placement[i]]);
    }
    weft_text_add(out, "\n");
}

static int threads_of(const weft_call *call, int variant) {
    return call->specialisation ? call->specialisation->threads[variant] : 1;
}

static weft_language language_of(const weft_call *call, int variant) {
    return call->specialisation ? weft_specialisation_language(call->specialisation, variant)
                                : LANGUAGE_PLAIN;
}

/* " in cuda", of a native body */
static void print_language(const weft_call *call, int variant, weft_text *out) {
    const weft_language language = language_of(call, variant);
    if (language != LANGUAGE_PLAIN)
        weft_text_add(out, " in %s", weft_language_names[language]);
}

static void print_implementation(const weft_graph *graph, const weft_implementation *one,
                                 weft_text *out) {
    weft_text_add(out, "    order:");
    for (int i = 0; i < one->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[one->order[i]];
        weft_text_add(out, i > 0 ? ", " : " ");
        weft_print_name(graph, call->result, out);
        if (call->specialisation && call->specialisation->n_variants > 1) {
            weft_text_add(out, " (variant %d, %d thread%s", one->variants[i],
                          threads_of(call, one->variants[i]),
                          threads_of(call, one->variants[i]) == 1 ? "" : "s");
            print_language(call, one->variants[i], out);
            weft_text_add(out, ")");
        }
    }
    weft_text_add(out, "\n");
    print_onchip(graph, one, out);
    weft_text_add(out, "    %d elements per block, ", one->elements_per_block);
    if (one->threads_per_element > 0)
        weft_text_add(out, "%d threads per element, ", one->threads_per_element);
    if (one->serial_iterations > 1)
        weft_text_add(out, "%d iterations, ", one->serial_iterations);
    if (one->stride != one->elements_per_block)
        weft_text_add(out, "stride %d, ", one->stride);
    print_amounts(one->bytes_loaded, one->bytes_stored, one->flops, out);
    weft_text_add(out, ", %.3g ns\n", 1e9 * one->seconds);
    if (one->spilled_bytes > 0)
        weft_text_add(out, "    spills %d B per thread, as compiled\n", one->spilled_bytes);
    if (one->reason)
        weft_text_add(out, "    pruned: %s\n", one->reason);
}

void weft_implementations_print(const weft_segment *c, weft_text *out) {
    const weft_graph *graph = c->graph;
    const weft_implementations *implementations = c->implementations;
    weft_planner_counts counts = {0};
    weft_planner_counts_add(c, &counts);
    weft_implementation_counts_print(&counts, out);
    for (int i = 0; i < implementations->n; ++i) {
        const weft_implementation *one = &implementations->list[i];
        weft_text_add(out, "implementation %d: %d call%s over %s\n", i, one->fusion->n_calls,
                      one->fusion->n_calls == 1 ? "" : "s",
                      weft_index_set_name(graph, one->fusion->index_set));
        print_implementation(graph, one, out);
    }
}

void weft_cover_print(const weft_graph *graph, const weft_cover *cover, weft_text *out) {
    weft_text_add(out, "cover: %d implementation%s, %.4g us predicted%s\n", cover->n,
                  cover->n == 1 ? "" : "s", 1e6 * cover->seconds,
                  cover->proved ? ", no other takes less" : "");
    for (int i = 0; i < cover->n; ++i) {
        const weft_fusion *fusion = cover->list[i]->fusion;
        weft_text_add(out, "    %d: over %s, after %d barrier%s, %.3g ns: ", i,
                      weft_index_set_name(graph, fusion->index_set), fusion->level,
                      fusion->level == 1 ? "" : "s", 1e9 * cover->list[i]->seconds);
        print_calls(graph, cover->list[i]->order, fusion->n_calls, out);
        weft_text_add(out, "\n");
    }
}

/* ---- plan ---- */

static void print_data(const weft_graph *graph, const char *what, const int *data, int n,
                       weft_text *out) {
    if (n == 0)
        return;
    weft_text_add(out, "    %-9s", what);
    for (int i = 0; i < n; ++i) {
        weft_text_add(out, i > 0 ? ", " : "");
        weft_print_name(graph, data[i], out);
        weft_text_add(out, " ");
        weft_shape_print(&graph->values[data[i]].shape, out);
    }
    weft_text_add(out, "\n");
}

static void print_kernel_call(const weft_graph *graph, const weft_plan_kernel *kernel, int i,
                              weft_text *out) {
    const weft_call *call = &graph->calls[kernel->implementation->order[i]];
    weft_text_add(out, "    %-9s", i == 0 ? "calls" : "");
    weft_print_name(graph, call->result, out);
    weft_text_add(out, " = ");
    weft_print_call(graph, call, out);
}

/* The column of the numbers: after the longest call shorter than NUMBER_COLUMN_MAX. */
static size_t number_column(const weft_graph *graph, const weft_plan_kernel *kernel,
                            weft_text *out) {
    weft_text line = {0};
    size_t longest = 0;
    for (int i = 0; i < kernel->implementation->fusion->n_calls; ++i) {
        const size_t before = line.length;
        print_kernel_call(graph, kernel, i, &line);
        const size_t length = line.length - before;
        if (length > longest && length < NUMBER_COLUMN_MAX)
            longest = length;
    }
    out->failed |= line.failed;
    weft_text_free(&line);
    return longest + 2;
}

static void print_kernel_calls(const weft_graph *graph, const weft_plan_kernel *kernel,
                               weft_text *out) {
    const weft_implementation *one = kernel->implementation;
    const size_t column = number_column(graph, kernel, out);
    for (int i = 0; i < one->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[one->order[i]];
        const int threads = threads_of(call, one->variants[i]);
        const size_t start = out->length;
        print_kernel_call(graph, kernel, i, out);
        weft_print_to_column(out, start, column);
        weft_print_number(call->flops, out);
        weft_text_add(out, " flop");
        if (threads > 1)
            weft_text_add(out, ", %d threads", threads);
        else if (language_of(call, one->variants[i]) != LANGUAGE_PLAIN)
            weft_text_add(out, ", 1 thread");
        print_language(call, one->variants[i], out);
        weft_text_add(out, "\n");
    }
}

static void print_loads(const weft_graph *graph, const weft_plan_kernel *kernel, weft_text *out) {
    for (int i = 0; i < kernel->n_loads; ++i) {
        weft_text_add(out, i == 0 ? "    %-9s" : ", ", "loads");
        weft_print_operand(graph, &kernel->loads[i], out);
        weft_text_add(out, " ");
        weft_shape_print(&kernel->loads[i].shape, out);
    }
    weft_text_add(out, kernel->n_loads > 0 ? "\n" : "");
}

static void print_reductions(const weft_graph *graph, const weft_plan_kernel *kernel,
                             const char *what, const char *how, weft_text *out) {
    for (int i = 0; i < kernel->n_reductions; ++i) {
        weft_text_add(out, i == 0 ? "    %-9s" : ", ", what);
        weft_print_name(graph, graph->calls[kernel->reductions[i]].result, out);
    }
    if (kernel->n_reductions > 0)
        weft_text_add(out, ", %s\n", how);
}

static void print_computing(const weft_graph *graph, const weft_plan *plan,
                            const weft_plan_kernel *kernel, weft_text *out) {
    print_data(graph, "zeroed", kernel->zero, kernel->n_zero, out);
    print_loads(graph, kernel, out);
    print_kernel_calls(graph, kernel, out);
    print_data(graph, "stores", kernel->stores, kernel->n_stores, out);
    for (int i = 0; i < kernel->n_scatters; ++i) {
        weft_text_add(out, "    %-9s", i == 0 ? "scatters" : "");
        weft_print_accumulation(graph, &graph->accumulations[kernel->scatters[i]], out);
        weft_text_add(out, ", %s\n", weft_plan_scatter_name(plan, kernel));
    }
    print_reductions(graph, kernel, "reduces", "a partial result a chunk", out);
    const weft_implementation *one = kernel->implementation;
    if (one->threads_per_element > 0)
        weft_text_add(out, "    on chip  %d components in shared memory, at most %d in registers\n",
                      one->shared_components, one->register_components);
    else
        weft_text_add(out, "    on chip  at most %d components at once\n", one->onchip_peak);
}

static void print_dense(const weft_graph *graph, const weft_plan *plan,
                        const weft_plan_kernel *kernel, weft_text *out) {
    const weft_implementation *one = kernel->implementation;
    print_computing(graph, plan, kernel, out);
    weft_text_add(out, "    products by warps: %d threads per element, %d elements per block\n",
                  one->threads_per_element, one->elements_per_block);
}

static void print_finish(const weft_graph *graph, const weft_plan *plan,
                         const weft_plan_kernel *kernel, weft_text *out) {
    (void)plan;
    print_reductions(graph, kernel, "joins", "pairwise", out);
}

static void print_gather(const weft_graph *graph, const weft_plan *plan,
                         const weft_plan_kernel *kernel, weft_text *out) {
    (void)plan;
    print_loads(graph, kernel, out);
    if (kernel->prologue >= 0)
        print_kernel_calls(graph, kernel, out);
    weft_text_add(out, "    %-9s", "gathers");
    weft_print_accumulation(graph, &graph->accumulations[kernel->gather], out);
    weft_text_add(out, ", %s\n", kernel->accumulates ? "added to what is there" : "written");
}

static void print_border(const weft_graph *graph, const weft_plan *plan,
                         const weft_plan_kernel *kernel, weft_text *out) {
    (void)plan;
    weft_text_add(out, "    %-9s", "adds up");
    weft_print_accumulation(graph, &graph->accumulations[kernel->gather], out);
    weft_text_add(out, " at the borders of patches\n");
}

static void print_combine(const weft_graph *graph, const weft_plan *plan,
                          const weft_plan_kernel *kernel, weft_text *out) {
    (void)plan;
    print_reductions(graph, kernel, "combines", "the parts in order", out);
}

void weft_plan_print_group(const weft_plan_kernel *kernel, weft_text *out) {
    weft_text_add(out, "%s, %d threads per block: %.3g us predicted, %.3g in %d launches",
                  weft_combination_name(kernel->combination), kernel->threads,
                  1e6 * kernel->seconds, 1e6 * (kernel->seconds + kernel->saved_seconds),
                  kernel->n_members);
}

static void print_group(const weft_graph *graph, const weft_plan *plan,
                        const weft_plan_kernel *kernel, weft_text *out) {
    (void)graph;
    (void)plan;
    for (int i = kernel->n_members; i > 0; --i)
        weft_text_add(out, i == kernel->n_members ? "    %-9s%s" : "%s%s",
                      i == kernel->n_members ? "launches" : ", ", (kernel - i)->name);
    if ((kernel - 1)->implementation) {
        weft_text_add(out, "\n    %-9s", "as");
        weft_plan_print_group(kernel, out);
    }
    weft_text_add(out, "\n");
}

static void print_nested(const weft_graph *graph, const weft_plan *plan,
                         const weft_plan_kernel *kernel, weft_text *out) {
    int phase[WEFT_CALLS_MAX];
    const int n = weft_nested_phases(graph, kernel->implementation->fusion, phase);
    (void)plan;
    print_loads(graph, kernel, out);
    print_kernel_calls(graph, kernel, out);
    print_data(graph, "stores", kernel->stores, kernel->n_stores, out);
    print_reductions(graph, kernel, "reduces", "a partial result per part", out);
    weft_text_add(out, "    %-9sone slice of %s after another, %d pass%s over each\n", "walks",
                  kernel->slice == SLICE_ROWS ? "rows" : "columns", n, n == 1 ? "" : "es");
}

/* How kernels of each kind are printed; scatter NULL: the device's default scatter. */
static const struct kernel_print {
    const char *scatter;
    void (*print)(const weft_graph *, const weft_plan *, const weft_plan_kernel *, weft_text *);
} prints[WEFT_KERNEL_KINDS] = {
    [KERNEL_MAP] = {NULL, print_computing},
    [KERNEL_REDUCTION] = {NULL, print_computing},
    [KERNEL_CELL_COLOURS] = {"cell-colored", print_computing},
    [KERNEL_MULTI_THREAD] = {NULL, print_computing},
    [KERNEL_DENSE] = {NULL, print_dense},
    [KERNEL_PRODUCT] = {NULL, print_computing},
    [KERNEL_VERTEX_PATCH] = {"vertex-patch", print_computing},
    [KERNEL_EDGE_PATCH] = {"edge-patch", print_computing},
    [KERNEL_MATRIX_PATCH] = {"vertex-patch", print_computing},
    [KERNEL_CELL_PATCH] = {"cell-patch", print_computing},
    [KERNEL_CELL_BORDER] = {"cell-patch", print_border},
    [KERNEL_FINAL_REDUCTION] = {NULL, print_finish},
    [KERNEL_GATHER] = {"gather", print_gather},
    [KERNEL_NESTED] = {NULL, print_nested},
    [KERNEL_NESTED_FINAL] = {NULL, print_combine},
    [KERNEL_GROUP] = {NULL, print_group},
};

const char *weft_plan_scatter_name(const weft_plan *plan, const weft_plan_kernel *kernel) {
    const char *name = prints[kernel->kind].scatter;
    if (name)
        return name;
    return kernel->n_scatters == 0 ? NULL : plan->is_simt ? "atomic" : "chunk-colored";
}

static void print_kernel(const weft_graph *graph, const weft_plan *plan, int number,
                         weft_text *out) {
    const weft_plan_kernel *kernel = &plan->kernels[number];
    weft_text_add(out, "kernel %d over %s: %s\n", number,
                  weft_index_set_name(graph, kernel->index_set), kernel->name);
    prints[kernel->kind].print(graph, plan, kernel, out);
    weft_text_add(out, "    ");
    print_amounts(kernel->bytes_loaded, kernel->bytes_stored, kernel->flops, out);
    weft_text_add(out, "\n");
}

static void print_buffer(const weft_graph *graph, const weft_plan *plan, int buffer,
                         weft_text *out) {
    const weft_plan_buffer *b = &plan->buffers[buffer];
    bool any = false;
    weft_text_add(out, "buffer %d over %s: %d component%s, kernels %d to %d, holds ", buffer,
                  weft_index_set_name(graph, b->index_set), b->components,
                  b->components == 1 ? "" : "s", b->first, b->last);
    for (int i = 0; i < graph->n_values; ++i) {
        if (plan->buffer_of[i] != buffer)
            continue;
        weft_text_add(out, any ? ", then " : "");
        weft_print_name(graph, i, out);
        any = true;
    }
    weft_text_add(out, "\n");
}

void weft_plan_print_text(const weft_graph *graph, const weft_plan *plan, weft_text *out) {
    const int n = plan->n_kernels - plan->n_groups, n_launches = weft_plan_launches(plan);
    weft_text_add(out, "plan: %d kernel%s", n, n == 1 ? "" : "s");
    if (plan->n_groups > 0)
        weft_text_add(out, " in %d launch%s", n_launches, n_launches == 1 ? "" : "es");
    weft_text_add(out, ", %d buffer%s, %d elements per block\n", plan->n_buffers,
                  plan->n_buffers == 1 ? "" : "s", plan->lanes);
    for (int i = 0; i < plan->n_kernels; ++i)
        print_kernel(graph, plan, i, out);
    for (int i = 0; i < plan->n_buffers; ++i)
        print_buffer(graph, plan, i, out);
}
