/* Explains both plans of a segment: kernels and their traffic, values kept on chip, and for each
 * pair of calls why it is fused or not. */
#include "core/weft_core.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/explain/private.h"
#include "fusion/graph/graph.h"
#include "fusion/graph/print.h"
#include "fusion/library/function.h"
#include "fusion/library/library.h"
#include "fusion/library/native.h"
#include "fusion/plan/cover.h"
#include "fusion/plan/fusions.h"
#include "fusion/plan/implementation.h"
#include "fusion/plan/implementations.h"
#include "fusion/plan/plan.h"
#include "fusion/plan/print.h"
#include "fusion/plan/scatter.h"
#include "fusion/plan/segment.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"

#include <stdio.h>
#include <string.h>

enum { QUESTIONS_MOST = 24 };

static const char *const plan_names[2] = {"fused", "unfused"};

typedef struct amounts {
    int kernels;
    double loaded, stored, flops, seconds;
} amounts;

static double kernel_seconds(const explanation *e, const weft_plan_kernel *kernel) {
    const weft_limits *limits = &e->segment->limits;
    const double bytes = kernel->bytes_loaded + kernel->bytes_stored;
    const double transfer = limits->bandwidth > 0 ? bytes / limits->bandwidth : 0.0;
    const double compute = limits->flops > 0 ? kernel->flops / limits->flops : 0.0;
    return transfer > compute ? transfer : compute;
}

/* Totals of a plan's kernels over one index set, per element. */
static amounts sum_kernels(const explanation *e, const weft_plan *plan, int index_set) {
    amounts sum = {0};
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_plan_kernel *kernel = &plan->kernels[i];
        if (kernel->index_set != index_set)
            continue;
        ++sum.kernels;
        sum.loaded += kernel->bytes_loaded;
        sum.stored += kernel->bytes_stored;
        sum.flops += kernel->flops;
        sum.seconds += kernel_seconds(e, kernel);
    }
    return sum;
}

static void explain_row(const explanation *e, const char *what, double unfused, double fused) {
    weft_text_add(e->out, "  %-24s%14.4g%14.4g", what, unfused, fused);
    if (fused > 0)
        weft_text_add(e->out, "%14.2f", unfused / fused);
    weft_text_add(e->out, "\n");
}

static void explain_totals(const explanation *e) {
    for (int set = 0; set < e->graph->n_index_sets; ++set) {
        const amounts fused = sum_kernels(e, e->plans[WEFT_PLAN_FUSED], set);
        const amounts unfused = sum_kernels(e, e->plans[WEFT_PLAN_UNFUSED], set);
        if (fused.kernels == 0 && unfused.kernels == 0)
            continue;
        weft_text_add(e->out, "\nOver %s, per element\n", e->graph->index_sets[set].name);
        weft_text_add(e->out, "  %-24s%14s%14s%14s\n", "", "unfused", "fused", "ratio");
        weft_text_add(e->out, "  %-24s%14d%14d\n", "kernels", unfused.kernels, fused.kernels);
        explain_row(e, "bytes loaded", unfused.loaded, fused.loaded);
        explain_row(e, "bytes stored", unfused.stored, fused.stored);
        explain_row(e, "floating-point ops", unfused.flops, fused.flops);
        explain_row(e, "predicted time, ns", 1e9 * unfused.seconds, 1e9 * fused.seconds);
    }
}

static int longest_name(const explanation *e, const weft_plan *plan, bool index_sets) {
    size_t longest = 6;
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_plan_kernel *kernel = &plan->kernels[i];
        const size_t length =
            strlen(index_sets ? weft_index_set_name(e->graph, kernel->index_set) : kernel->name);
        longest = length > longest ? length : longest;
    }
    return (int)longest;
}

static void explain_kernels(const explanation *e, weft_plan_kind kind) {
    const weft_plan *plan = e->plans[kind];
    const weft_limits *limits = &e->segment->limits;
    const int names = longest_name(e, plan, false), sets = longest_name(e, plan, true);
    weft_text_add(e->out, "\nKernels of the %s plan, per element\n", plan_names[kind]);
    weft_text_add(e->out, "  %-*s  %-*s %9s %9s %7s %9s  %s\n", names, "kernel", sets, "over",
                  "B loaded", "B stored", "flop", "ns", "limited by");
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_plan_kernel *kernel = &plan->kernels[i];
        const double seconds = kernel_seconds(e, kernel);
        const bool computing = limits->flops > 0 && kernel->flops / limits->flops >= seconds;
        weft_text_add(e->out, "  %-*s  %-*s %9.5g %9.5g %7.5g %9.3g  %s\n", names, kernel->name,
                      sets, weft_index_set_name(e->graph, kernel->index_set), kernel->bytes_loaded,
                      kernel->bytes_stored, kernel->flops, 1e9 * seconds,
                      seconds <= 0 ? "launch"
                      : computing  ? "compute"
                                   : "memory");
    }
}

/* Kernels of the fused plan that share a launch. */
static void explain_groups(const explanation *e) {
    const weft_plan *plan = e->plans[WEFT_PLAN_FUSED];
    if (plan->n_groups > 0)
        weft_text_add(e->out,
                      "\nLaunches of several kernels, which are independent; unless asked for, "
                      "their work takes less time than a launch\n");
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_plan_kernel *kernel = &plan->kernels[i];
        if (kernel->kind != KERNEL_GROUP || !(kernel - 1)->implementation)
            continue;
        weft_text_add(e->out, "  %s: kernels %d to %d, ", kernel->name, i - kernel->n_members,
                      i - 1);
        weft_plan_print_group(kernel, e->out);
        if (kernel->together > 0) {
            const weft_location place = e->graph->togethers[kernel->together - 1].place;
            weft_text_add(e->out, " (asked for at %s:%d:%d)", place.source->name, place.line,
                          place.column);
        }
        weft_text_add(e->out, "\n");
    }
}

/* ---- on chip ---- */

static bool is_stored(const weft_plan_kernel *kernel, int value) {
    for (int i = 0; i < kernel->n_stores; ++i)
        if (kernel->stores[i] == value)
            return true;
    return false;
}

/* The block shape of a GPU kernel, and whether a directive asked for it. */
static void explain_block(const explanation *e, const weft_implementation *one) {
    const weft_graph *graph = e->graph;
    if (!e->plans[WEFT_PLAN_FUSED]->is_simt)
        return;
    weft_text_add(e->out, "    block: %d elements, %d thread%s each, %d iteration%s",
                  one->elements_per_block,
                  one->threads_per_element > 0 ? one->threads_per_element : 1,
                  one->threads_per_element > 1 ? "s" : "", one->serial_iterations,
                  one->serial_iterations == 1 ? "" : "s");
    if (one->serial_iterations > 1 && one->threads_per_element == 0)
        weft_text_add(e->out, " with stride %d", one->stride);
    for (int i = 0; i < graph->n_fuses && !e->segment->options.forced_plan; ++i) {
        const weft_fuse *fuse = &graph->fuses[i];
        bool asks = false;
        for (int k = 0; k < FUSE_CHOICES; ++k)
            asks |= fuse->choices[k] != 0;
        for (int k = 0; k < one->fusion->n_calls; ++k)
            if (asks && graph->calls[one->order[k]].fuse == i + 1) {
                weft_text_add(e->out, " (asked for at %s:%d:%d)", fuse->place.source->name,
                              fuse->place.line, fuse->place.column);
                break;
            }
    }
    weft_text_add(e->out, "\n");
}

static void explain_onchip(const explanation *e) {
    const weft_plan *plan = e->plans[WEFT_PLAN_FUSED];
    const weft_limits *limits = &e->segment->limits;
    weft_text_add(e->out, "\nOn chip in the fused plan\n");
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_plan_kernel *kernel = &plan->kernels[i];
        const weft_implementation *one = kernel->implementation;
        int kept = 0;
        if (!one)
            continue;
        if (one->threads_per_element > 0)
            weft_text_add(e->out,
                          "  %s: %d components in shared memory, at most %d in registers; "
                          "%.6g B of shared memory for a block of %d, which has %zu B\n",
                          kernel->name, one->shared_components, one->register_components,
                          e->real_bytes * one->shared_components * one->elements_per_block,
                          one->elements_per_block, limits->onchip_bytes);
        else
            weft_text_add(e->out,
                          "  %s: at most %d components at once; %.6g B for a block of %d, "
                          "registers hold %zu B\n",
                          kernel->name, one->onchip_peak,
                          e->real_bytes * one->onchip_peak * one->elements_per_block,
                          one->elements_per_block, limits->register_bytes);
        explain_block(e, one);
        weft_text_add(e->out, "    kept there: ");
        for (int k = 0; k < one->fusion->n_calls; ++k) {
            const int result = e->graph->calls[one->order[k]].result;
            if (is_stored(kernel, result))
                continue;
            weft_text_add(e->out, kept++ > 0 ? ", " : "");
            weft_print_name(e->graph, result, e->out);
            weft_text_add(e->out, " ");
            weft_shape_print(&e->graph->values[result].shape, e->out);
        }
        weft_text_add(e->out, kept > 0 ? "\n" : "nothing but what is stored\n");
    }
}

/* ---- variants ---- */

/* The kernel of the fused plan that computes a call, and the call's position in it; NULL: there is none. */
static const weft_implementation *computing(const explanation *e, int call, int *position) {
    const weft_plan *plan = e->plans[WEFT_PLAN_FUSED];
    for (int i = 0; i < plan->n_kernels; ++i) {
        const weft_implementation *one = plan->kernels[i].implementation;
        for (*position = 0; one && *position < one->fusion->n_calls; ++*position)
            if (one->order[*position] == call)
                return one;
    }
    return NULL;
}

static int chosen_variant(const explanation *e, int call) {
    int position = 0;
    const weft_implementation *one = computing(e, call, &position);
    return one ? one->variants[position] : 0;
}

/* Why the kernel of a call does not have one of its native bodies. */
static weft_status explain_native(const explanation *e, const weft_call *call, int variant,
                                  weft_error *error) {
    const weft_specialisation *function = call->specialisation;
    const weft_language language = weft_specialisation_language(function, variant);
    int position = 0;
    const weft_implementation *one = computing(e, call->id, &position);
    const char *why = NULL;
    if (!one || language == LANGUAGE_PLAIN || one->variants[position] == variant)
        return WEFT_OK;
    weft_implementation other = *one;
    other.variants = weft_arena_alloc(e->scratch, (size_t)one->fusion->n_calls, sizeof(int));
    if (!other.variants)
        return weft_no_memory(error);
    for (int k = 0; k < one->fusion->n_calls; ++k)
        other.variants[k] = k == position ? variant : one->variants[k];
    if (language != weft_language_of(&e->segment->limits))
        why = "this device runs the plain body";
    else if (weft_specialisation_scratch(function, variant, (size_t)e->real_bytes) >
             e->segment->limits.onchip_bytes)
        why = "an element's shared memory is more than a block can have";
    else if (call->variant >= 0)
        why = "the script asks for another variant";
    else
        why = weft_why_not_native(e->graph, &other);
    if (!why && weft_specialisation_is_joint(function, variant) && one->threads_per_element == 0)
        why = "its kernel has one thread per element, which is predicted to be faster, or is all "
              "that "
              "reductions, products, patches and cell colours can have";
    weft_text_add(e->out, "    not %s: %s\n", function->function->info.granularities[variant],
                  why ? why : "others are predicted to be faster");
    return WEFT_OK;
}

/* "1*, m = 3, m*n = 9" */
static void explain_granularities(const explanation *e, const weft_call *call, int chosen) {
    const weft_function_info *info = &call->specialisation->function->info;
    for (int k = 0; k < call->specialisation->n_variants; ++k) {
        char threads[16];
        snprintf(threads, sizeof threads, "%d", call->specialisation->threads[k]);
        const weft_language language = weft_specialisation_language(call->specialisation, k);
        const size_t n = strcspn(info->granularities[k], " ");
        weft_text_add(e->out, "%s", k > 0 ? ", " : "");
        if (strlen(threads) != n || strncmp(info->granularities[k], threads, n) != 0)
            weft_text_add(e->out, "%s = ", info->granularities[k]);
        weft_text_add(e->out, "%s%s%s%s", threads, language == LANGUAGE_PLAIN ? "" : " in ",
                      language == LANGUAGE_PLAIN ? "" : weft_language_names[language],
                      k == chosen ? "*" : "");
    }
}

static weft_status explain_variants(const explanation *e, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text_add(e->out, "\nVariants, by threads per element (* chosen)\n");
    for (int i = 0; i < e->graph->n_calls; ++i) {
        const weft_call *call = &e->graph->calls[i];
        const size_t start = e->out->length;
        weft_text_add(e->out, "  ");
        weft_print_name(e->graph, call->result, e->out);
        weft_print_to_column(e->out, start, 24);
        weft_text_add(e->out, "%s", call->label);
        weft_print_to_column(e->out, start, 48);
        if (call->specialisation)
            explain_granularities(e, call, chosen_variant(e, i));
        else
            weft_text_add(e->out, "1*");
        if (call->variant >= 0 && call->variant == chosen_variant(e, i))
            weft_text_add(e->out, "  (asked for at %s:%d:%d)", call->variant_place.source->name,
                          call->variant_place.line, call->variant_place.column);
        weft_text_add(e->out, "\n");
        for (int v = 0; call->specialisation && v < call->specialisation->n_variants; ++v)
            TRY(explain_native(e, call, v, error));
    }
done:
    return status;
}

static void explain_setting(const weft_text *name, const weft_call_setting_of *setting,
                            weft_text *out) {
    weft_text_add(out, "  %-22s%-24s", name->data ? name->data : "", setting->text);
    if (setting->is_stored)
        weft_text_add(out, "found by weft tune: %.3g us, with the defaults %.3g us\n",
                      1e6 * setting->seconds, 1e6 * setting->standard_seconds);
    else
        weft_text_add(out, "not tuned for this call, device and size (weft tune)\n");
}

/* The values of tuned parameters, and where they are from. */
static void explain_settings(const explanation *e) {
    bool first = true;
    for (int i = 0; i < e->graph->n_calls; ++i) {
        const weft_call *call = &e->graph->calls[i];
        weft_text name = {0};
        if (!call->setting)
            continue;
        weft_text_add(e->out, "%s", first ? "\nTuned parameters\n" : "");
        weft_print_name(e->graph, call->result, &name);
        weft_text_add(&name, " = %s", call->label);
        explain_setting(&name, call->setting, e->out);
        weft_text_free(&name);
        first = false;
    }
}

/* ---- both plans ---- */

/* What keeping additions apart was predicted to take, way by way. */
static void explain_ways(const explanation *e) {
    const weft_segment *c = e->segment;
    for (int i = 0; i < c->n_ways; ++i) {
        const weft_scatter_way *way = &c->ways[i];
        weft_text_add(e->out, "%s%s ",
                      i == 0       ? "Additions: "
                      : i % 3 == 0 ? ",\n  "
                                   : ", ",
                      weft_scatter_name(way->scatter, true));
        if (way->refused)
            weft_text_add(e->out, "no (%s)", way->refused);
        else
            weft_text_add(e->out, "%.4g us", 1e6 * way->seconds);
    }
    weft_text_add(e->out, c->n_ways > 0 ? ", predicted.\n" : "");
}

static void explain_head(const explanation *e) {
    const weft_segment *c = e->segment;
    const weft_plan *fused = e->plans[WEFT_PLAN_FUSED], *unfused = e->plans[WEFT_PLAN_UNFUSED];
    weft_text_add(e->out, "%d call%s: %d kernel%s unfused, %d fused. Compiled: %s.\n",
                  e->graph->n_calls, e->graph->n_calls == 1 ? "" : "s", unfused->n_kernels,
                  unfused->n_kernels == 1 ? "" : "s", fused->n_kernels - fused->n_groups,
                  plan_names[c->options.plan]);
    weft_text_add(e->out, "Device %s; blocks of %d, real is %s, scatter %s.\n", c->limits.name,
                  fused->lanes, c->options.single ? "float" : "double",
                  weft_scatter_name(c->options.scatter, fused->is_simt));
    explain_ways(e);
    weft_text_add(e->out, "Times from its limits: %.4g GB/s, %.4g Gflop/s.\n",
                  c->limits.bandwidth / 1e9, c->limits.flops / 1e9);
}

/* The unfused cover: one kernel per call, without directives and forced plans. */
static weft_status unfused_cover(const weft_segment *c, weft_arena *scratch, weft_cover **out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    weft_implementations *made = NULL;
    weft_compile_options options = c->options;
    weft_fusions alone = *c->fusions;
    alone.n = c->graph->n_calls; /* the first candidates are the single calls */
    options.plan = WEFT_PLAN_UNFUSED;
    TRY(weft_implementations_make(scratch, c->graph, &alone, &c->limits, &options, &made, error));
    TRY(weft_cover_make(&(weft_cover_problem){.arena = scratch,
                                              .graph = c->graph,
                                              .fusions = &alone,
                                              .implementations = made,
                                              .kind = WEFT_PLAN_UNFUSED},
                        out, error));
done:
    return status;
}

weft_status weft_explain_plans(explanation *e, weft_arena *scratch, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_segment *c = e->segment;
    e->scratch = scratch;
    for (int kind = 0; kind < 2; ++kind) {
        weft_compile_options options = c->options;
        weft_cover *cover = NULL;
        weft_plan *plan = NULL;
        if (kind == (int)c->options.plan) {
            e->covers[kind] = c->cover;
            e->plans[kind] = c->plan;
            continue;
        }
        if (kind == WEFT_PLAN_UNFUSED)
            TRY(unfused_cover(c, scratch, &cover, error));
        else
            TRY(weft_cover_make(&(weft_cover_problem){.arena = scratch,
                                                      .graph = c->graph,
                                                      .fusions = c->fusions,
                                                      .implementations = c->implementations,
                                                      .kind = WEFT_PLAN_FUSED},
                                &cover, error));
        options.plan = (weft_plan_kind)kind;
        TRY(weft_plan_make(scratch, c->graph, cover, &c->limits, &options, &plan, error));
        e->covers[kind] = cover;
        e->plans[kind] = plan;
    }
done:
    return status;
}

weft_status weft_explain_segment(const weft_segment *segment, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    weft_planner_counts counts = {0};
    int questions = QUESTIONS_MOST;
    explanation e = {
        .segment = segment, .graph = segment->graph, .out = out, .questions = &questions};
    e.real_bytes = segment->options.single ? sizeof(float) : sizeof(double);
    TRY(weft_arena_make(&scratch, error));
    TRY(weft_explain_plans(&e, scratch, error));
    weft_planner_counts_add(segment, &counts);
    explain_head(&e);
    weft_planner_counts_explain(&counts, out);
    explain_totals(&e);
    explain_kernels(&e, WEFT_PLAN_UNFUSED);
    explain_kernels(&e, WEFT_PLAN_FUSED);
    explain_groups(&e);
    weft_explain_pairs(&e);
    explain_onchip(&e);
    TRY(explain_variants(&e, error));
    explain_settings(&e);
done:
    weft_arena_free(&scratch);
    return status;
}
