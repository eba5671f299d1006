/* Loads a plan saved as JSON by weft_plan_json, perhaps edited, as the cover of a graph.
 *
 * Only the calls of each kernel, their variants, its block shape, whether a gather evaluates its call, and which kernels
 * share a launch are read; the rest of the plan follows from them. The kernels become the only candidates, with one
 * chosen implementation each. A plan that does not fit is rejected.
 *
 * Decision  docs/decisions/0010-directives-are-binding.md */
#include "fusion/plan/saved_plan.h"
#include "core/base/number.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/graph/print.h"
#include "fusion/plan/block_shapes.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/legality.h"
#include "fusion/plan/scatter.h"

#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NOWHERE = -1 };

typedef struct forcing {
    weft_segment *c;
    const weft_graph *graph;
    const char **names; /* [n_calls] names of the results, as printed in plans */
    int *kernel;        /* [n_calls] the kernel of each call, or NOWHERE */
    int *variant;       /* [n_calls] -1: the planner chooses */
    weft_fuse *blocks;  /* [n_calls] by kernel */
    bool has_blocks;    /* use the plan's block shapes: it was made for a GPU of as many lanes */
    int *group;         /* [n_calls] by kernel: the launch that it shares, from 1; 0: none */
    bool *folds;        /* [n_calls] by kernel: its call is evaluated by the gather that reads it */
    weft_combination *combinations; /* [n_groups] */
    int n_groups;
    int n_kernels;
    weft_error *error;
} forcing;

static weft_status refuse(const forcing *f, const char *hint, const char *format, ...)
    WEFT_PRINTF(3, 4);

static weft_status refuse(const forcing *f, const char *hint, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    weft_print_list(message, sizeof message, format, arguments);
    va_end(arguments);
    weft_error_set(f->error, WEFT_ERROR_INPUT, "the plan does not fit this script: %s", message);
    weft_error_hint(f->error, "%s", hint);
    return WEFT_ERROR_INPUT;
}

static weft_status names_make(forcing *f) {
    const size_t n = (size_t)f->graph->n_calls;
    weft_arena *arena = f->c->arena;
    f->names = weft_arena_alloc(arena, n + 1, sizeof *f->names);
    f->kernel = weft_arena_alloc(arena, n + 1, sizeof *f->kernel);
    f->variant = weft_arena_alloc(arena, n + 1, sizeof *f->variant);
    f->blocks = weft_arena_alloc(arena, n + 1, sizeof *f->blocks);
    f->group = weft_arena_alloc(arena, n + 1, sizeof *f->group);
    f->folds = weft_arena_alloc(arena, n + 1, sizeof *f->folds);
    f->combinations = weft_arena_alloc(arena, n + 1, sizeof *f->combinations);
    if (!f->names || !f->kernel || !f->variant || !f->blocks || !f->group || !f->folds ||
        !f->combinations)
        return weft_no_memory(f->error);
    for (int i = 0; i < f->graph->n_calls; ++i) {
        weft_text text = {0};
        weft_print_distinct_name(f->graph, f->graph->calls[i].result, &text); /* as saved */
        f->names[i] = text.failed ? NULL : weft_arena_copy(arena, text.data, text.length);
        weft_text_free(&text);
        if (!f->names[i])
            return weft_no_memory(f->error);
        f->kernel[i] = NOWHERE;
        f->variant[i] = -1;
    }
    return WEFT_OK;
}

static int find_call(const forcing *f, const char *name) {
    for (int i = 0; name && i < f->graph->n_calls; ++i)
        if (strcmp(f->names[i], name) == 0)
            return i;
    return NOWHERE;
}

/* ---- reading ---- */

static weft_status read_call(forcing *f, const json_t *one) {
    const char *name = json_string_value(json_object_get(one, "result"));
    const json_t *variant = json_object_get(one, "variant");
    const int call = find_call(f, name);
    if (!name)
        return refuse(f, "each entry of \"calls\" is an object with the name of its result",
                      "a call of kernel %d has no \"result\"", f->n_kernels);
    if (call == NOWHERE) {
        const char *near = weft_nearest_name(name, f->names, (size_t)f->graph->n_calls);
        return refuse(f, near ? near : "weft compile SCRIPT --print plan shows its calls",
                      "kernel %d has a call '%s', which this script does not make", f->n_kernels,
                      name);
    }
    if (f->kernel[call] != NOWHERE)
        return refuse(f, "take it out of one of them", "'%s' is in kernel %d and in kernel %d",
                      name, f->kernel[call], f->n_kernels);
    f->kernel[call] = f->n_kernels;
    if (!variant)
        return WEFT_OK;
    const int n =
        f->graph->calls[call].specialisation ? f->graph->calls[call].specialisation->n_variants : 1;
    if (!json_is_integer(variant) || json_integer_value(variant) < 0 ||
        json_integer_value(variant) >= n)
        return refuse(f, "weft explain lists the variants of each call",
                      "the variant of '%s' is a number from 0 to %d", name, n - 1);
    f->variant[call] = (int)json_integer_value(variant);
    return WEFT_OK;
}

/* Read the block shape of kernel n_kernels. */
static weft_status read_block(forcing *f, const json_t *kernel) {
    static const char *const keys[FUSE_CHOICES] = {"elements", "threads", "iterations", "stride"};
    const weft_target *target = &f->c->limits.target;
    const int most_threads = target->block_threads_most;
    const int most[FUSE_CHOICES] = {most_threads, most_threads, WEFT_BLOCK_ITERATIONS,
                                    most_threads};
    static const char hint[] = "leave \"block\" out, and the planner chooses";
    const json_t *block = json_object_get(kernel, "block");
    if (!f->has_blocks || !block || json_is_null(block))
        return WEFT_OK;
    for (int k = 0; k < FUSE_CHOICES; ++k) {
        const json_t *choice = json_object_get(block, keys[k]);
        if (!choice && k == FUSE_BLOCK)
            choice = json_object_get(block, "instances"); /* the key of older plans */
        const json_int_t number = json_integer_value(choice);
        if (!choice)
            continue;
        if (!json_is_integer(choice) || number < 1 || number > most[k] ||
            (k == FUSE_BLOCK && !weft_block_elements_are_possible(target, (int)number, true)))
            return refuse(f, hint, "the %s of kernel %d's block are a number from 1 to %d%s",
                          keys[k], f->n_kernels, most[k],
                          k == FUSE_BLOCK ? ", a power of two or a multiple of a warp's threads"
                                          : "");
        f->blocks[f->n_kernels].choices[k] = (int)number;
    }
    return WEFT_OK;
}

/* The number of a kernel by its name, of those with calls; NOWHERE: there is none. */
static int find_kernel(const json_t *kernels, const char *name) {
    for (size_t i = 0, number = 0; name && i < json_array_size(kernels); ++i) {
        const json_t *one = json_array_get(kernels, i);
        const char *own = json_string_value(json_object_get(one, "name"));
        if (json_array_size(json_object_get(one, "calls")) == 0)
            continue;
        if (own && strcmp(own, name) == 0)
            return (int)number;
        ++number;
    }
    return NOWHERE;
}

/* Read the kernels that share a launch, and how. */
static weft_status read_group(forcing *f, const json_t *kernels, const json_t *group) {
    static const char hint[] = "take the group out, and its kernels have launches of their own";
    const char *name = json_string_value(json_object_get(group, "combination"));
    const json_t *members = json_object_get(group, "members");
    weft_combination how = INTER_BLOCK;
    while (name && how < WEFT_COMBINATIONS && strcmp(weft_combination_name(how), name) != 0)
        ++how;
    if (!name || how == WEFT_COMBINATIONS)
        return refuse(f, hint, "a group has no \"combination\" such as \"inter-block\"");
    if (f->n_groups == f->graph->n_calls)
        return refuse(f, hint, "it has more groups than calls");
    f->combinations[f->n_groups++] = how;
    for (size_t i = 0; i < json_array_size(members); ++i) {
        const char *member = json_string_value(json_array_get(members, i));
        const int kernel = find_kernel(kernels, member);
        if (kernel == NOWHERE || f->group[kernel] > 0)
            return refuse(f, hint, "a group has the member '%s', which is %s", member ? member : "",
                          kernel == NOWHERE ? "no kernel with calls" : "in another group");
        f->group[kernel] = f->n_groups;
    }
    return WEFT_OK;
}

/* Kernels without calls (most gathers, final reductions) follow from the others and are skipped. */
static weft_status read_kernels(forcing *f, const json_t *plan) {
    weft_status status = WEFT_OK;
    const json_t *kernels = json_object_get(plan, "kernels");
    const json_t *lanes = json_object_get(plan, "lanes");
    const weft_limits *limits = &f->c->limits;
    f->has_blocks =
        weft_target_is_simt(limits) &&
        (!lanes || json_integer_value(lanes) == weft_target_lanes(limits, f->c->options.single));
    for (size_t i = 0; i < json_array_size(kernels); ++i) {
        const json_t *calls = json_object_get(json_array_get(kernels, i), "calls");
        if (json_array_size(calls) == 0)
            continue;
        for (size_t k = 0; k < json_array_size(calls); ++k)
            TRY(read_call(f, json_array_get(calls, k)));
        TRY(read_block(f, json_array_get(kernels, i)));
        f->folds[f->n_kernels] =
            json_is_object(json_object_get(json_array_get(kernels, i), "gather"));
        ++f->n_kernels;
    }
    for (int i = 0; i < f->graph->n_calls; ++i)
        if (f->kernel[i] == NOWHERE)
            TRY(refuse(f, "add {\"result\": \"...\"} to the calls of a kernel",
                       "no kernel has the call '%s'", f->names[i]));
    for (size_t i = 0; i < json_array_size(kernels); ++i) {
        const json_t *group = json_object_get(json_array_get(kernels, i), "group");
        if (json_is_object(group))
            TRY(read_group(f, kernels, group));
    }
done:
    return status;
}

static bool is_plan(const json_t *one) {
    const char *format = json_string_value(json_object_get(one, "format"));
    return format && strcmp(format, "weft-plan-1") == 0;
}

/* The number of calls of a plan that are in this graph, minus the number of those that are not. */
static int count_known(const forcing *f, const json_t *plan) {
    const json_t *kernels = json_object_get(plan, "kernels");
    int n = 0;
    for (size_t i = 0; i < json_array_size(kernels); ++i) {
        const json_t *calls = json_object_get(json_array_get(kernels, i), "calls");
        for (size_t k = 0; k < json_array_size(calls); ++k)
            n += find_call(f, json_string_value(
                                  json_object_get(json_array_get(calls, k), "result"))) != NOWHERE
                     ? 1
                     : -1;
    }
    return n;
}

/* A program with loops has a list of plans, one per segment. The plan of this segment has its
 * number or, if the plans are not numbered, the most of its names. */
static const json_t *find_plan(const forcing *f, const json_t *root) {
    const json_t *best = NULL;
    int most = INT_MIN;
    if (is_plan(root))
        return root;
    for (size_t i = 0; i < json_array_size(root); ++i) {
        const json_t *one = json_array_get(root, i);
        const json_t *segment = json_object_get(one, "segment");
        if (f->c->number >= 0 && json_is_integer(segment)) {
            if (json_integer_value(segment) == f->c->number && is_plan(one))
                return one;
            continue;
        }
        const int known = is_plan(one) ? count_known(f, one) : INT_MIN;
        if (known > most) {
            most = known;
            best = one;
        }
    }
    return best;
}

static weft_status parse(const forcing *f, const char *text, json_t **root) {
    json_error_t reason;
    *root = json_loads(text, JSON_REJECT_DUPLICATES, &reason);
    return *root ? WEFT_OK
                 : refuse(f, "weft compile SCRIPT --print plan --format json writes one",
                          "it is not JSON, line %d, column %d: %s", reason.line, reason.column,
                          reason.text);
}

static weft_status read_way(const forcing *f, const json_t *plan, const char *member,
                            weft_scatter missing, weft_scatter *out) {
    const json_t *way = json_object_get(plan, member);
    const char *name = json_string_value(way);
    *out = name ? weft_scatter_named(name) : missing;
    if (way && (!name || *out == WEFT_SCATTER_AUTO))
        return refuse(f, "weft compile --help lists the names of --scatter",
                      "\"%s\" is not a way to keep additions apart", member);
    return WEFT_OK;
}

/* How additions are kept apart, where that is left to the plan: in place, if it does not say. */
static weft_status read_scatter(const forcing *f, const json_t *plan) {
    weft_status status = WEFT_OK;
    if (f->c->options.scatter != WEFT_SCATTER_AUTO)
        goto done;
    TRY(read_way(f, plan, "scatter", WEFT_SCATTER_IN_PLACE, &f->c->options.scatter));
    TRY(read_way(f, plan, "retreat", WEFT_SCATTER_AUTO, &f->c->retreat));
done:
    return status;
}

static weft_status read_text(forcing *f, const char *text) {
    weft_status status = WEFT_OK;
    json_t *root = NULL;
    TRY(parse(f, text, &root));
    const json_t *plan = find_plan(f, root);
    if (!plan)
        TRY(refuse(f, "weft compile SCRIPT --print plan --format json writes one",
                   "it has no \"format\": \"weft-plan-1\""));
    TRY(read_scatter(f, plan));
    TRY(read_kernels(f, plan));
done:
    json_decref(root);
    return status;
}

weft_status weft_plan_force_loops(const char *text, int n_loops, bool *recomputed, bool *found,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const forcing f = {.error = error};
    json_t *root = NULL;
    *found = false;
    TRY(parse(&f, text, &root));
    for (size_t i = 0; i < json_array_size(root); ++i) {
        const json_t *one = json_array_get(root, i);
        const char *format = json_string_value(json_object_get(one, "format"));
        const json_t *loops = json_object_get(one, "recomputed");
        if (!format || strcmp(format, "weft-loops-1") != 0)
            continue;
        *found = true;
        memset(recomputed, 0, (size_t)n_loops * sizeof *recomputed);
        for (size_t k = 0; k < json_array_size(loops); ++k) {
            const json_t *loop = json_array_get(loops, k);
            const json_int_t number = json_integer_value(loop);
            if (!json_is_integer(loop) || number < 0 || number >= n_loops)
                TRY(refuse(&f, "leave the entry \"weft-loops-1\" out, and the planner chooses",
                           "\"recomputed\" lists loops by number, from 0 to %d", n_loops - 1));
            recomputed[number] = true;
        }
    }
done:
    json_decref(root);
    return status;
}

/* ---- checking ---- */

static void set_of(const forcing *f, int kernel, uint64_t *set) {
    memset(set, 0, WEFT_CALLS_MAX / 8);
    for (int i = 0; i < f->graph->n_calls; ++i)
        if (f->kernel[i] == kernel)
            weft_set_add(set, i);
}

static weft_status refuse_pair(const forcing *f, int kernel, int a, int b) {
    int through = -1;
    const weft_not_fused_reason reason =
        weft_why_not_fused(f->graph, f->c->fusions, a, b, &through);
    return refuse(f, "weft explain says for every pair of calls why they share a kernel or not",
                  "kernel %d has '%s' and '%s', %s%s%s", kernel, f->names[a], f->names[b],
                  reason == NOT_FUSED_INDEX_SET ? "which are over different index sets"
                  : through >= 0                ? "but '"
                                                : "but there is a global barrier between them",
                  reason != NOT_FUSED_INDEX_SET && through >= 0 ? f->graph->values[through].name
                                                                : "",
                  reason != NOT_FUSED_INDEX_SET && through >= 0
                      ? "' must be complete before it is read: a global barrier"
                      : "");
}

static weft_status check_kernel(const forcing *f, int kernel) {
    const weft_dependence *r = f->c->fusions->dependence;
    uint64_t set[WEFT_CALLS_MAX / 64];
    int a = -1, b = -1, outside = -1;
    set_of(f, kernel, set);
    switch (weft_set_split(f->graph, r, set, &a, &b, &outside)) {
    case NOT_FUSED_INDEX_SET:
    case NOT_FUSED_BARRIER:
        return refuse_pair(f, kernel, a, b);
    case NOT_FUSED_PATH:
        return refuse(
            f, "put it into that kernel too, or cut the kernel there",
            "what kernel %d computes depends on itself by way of '%s', which is in kernel %d",
            kernel, f->names[outside], f->kernel[outside]);
    case NOT_FUSED_PRODUCT:
        return refuse(f, "docs/compiler.md, Fusions, has the rules of operators",
                      "kernel %d has an operator's product with calls that it cannot take in",
                      kernel);
    case NOT_FUSED_SLICES:
        return refuse(f, "docs/compiler.md, Fusions, has the rules of calls over two index sets",
                      "kernel %d: no slice of the matrix, rows or columns, serves all its calls",
                      kernel);
    default:
        break;
    }
    for (int i = 0; i < f->graph->n_calls; ++i)
        for (int k = 0; k < f->graph->n_calls; ++k)
            if (f->kernel[i] == kernel && f->kernel[k] < kernel &&
                weft_set_has(weft_dependence_reachable(r, i), k))
                return refuse(f, "exchange them", "kernel %d has '%s' and needs '%s' of kernel %d",
                              f->kernel[k], f->names[k], f->names[i], kernel);
    return WEFT_OK;
}

/* ---- making ---- */

static weft_status fusions_make(const forcing *f, weft_fusions *out) {
    weft_status status = WEFT_OK;
    *out = *f->c->fusions;
    out->n = 0;
    out->list = NULL;
    for (int i = 0; i < f->n_kernels; ++i) {
        uint64_t set[WEFT_CALLS_MAX / 64];
        set_of(f, i, set);
        TRY(weft_fusions_add(f->c->arena, f->graph, out, set, f->error));
    }
done:
    return status;
}

/* Does an implementation have the variants that the plan requests? */
static bool has_variants(const forcing *f, const weft_implementation *one) {
    for (int i = 0; i < one->fusion->n_calls; ++i)
        if (f->variant[one->order[i]] >= 0 && one->variants[i] != f->variant[one->order[i]])
            return false;
    return true;
}

/* A copy of the graph with the directives of the plan in place of the script's. */
static weft_status graph_forced(const forcing *f, weft_graph *out) {
    weft_call *calls = weft_arena_alloc(f->c->arena, (size_t)f->graph->n_calls + 1, sizeof *calls);
    if (!calls)
        return weft_no_memory(f->error);
    *out = *f->graph;
    out->calls = calls;
    out->fuses = f->blocks;
    out->n_fuses = f->n_kernels;
    for (int i = 0; i < f->graph->n_calls; ++i) {
        calls[i] = f->graph->calls[i];
        calls[i].fuse = f->kernel[i] + 1;
        if (f->variant[i] >= 0)
            calls[i].variant = f->variant[i];
    }
    return WEFT_OK;
}

/* Choose for each kernel the best implementation with the requested variants. */
static weft_status cover_make(const forcing *f, weft_cover *cover) {
    const weft_implementations *all = f->c->implementations;
    cover->list =
        weft_arena_alloc(f->c->arena, (size_t)f->n_kernels + 1, sizeof(weft_implementation *));
    if (!cover->list)
        return weft_no_memory(f->error);
    for (int i = 0; i < all->n; ++i) {
        const weft_implementation *one = &all->list[i];
        const int kernel = f->kernel[one->fusion->calls[0]];
        if (!cover->list[kernel] && !one->reason && has_variants(f, one))
            cover->list[kernel] = one;
    }
    cover->group = f->group;
    cover->folds = f->folds;
    cover->combinations = f->combinations;
    for (cover->n = 0; cover->n < f->n_kernels; ++cover->n) {
        if (!cover->list[cover->n])
            return refuse(f, "leave \"block\" or \"variant\" out, and the planner chooses",
                          "no implementation of kernel %d has these variants and this block",
                          cover->n);
        cover->seconds += cover->list[cover->n]->cost;
    }
    return WEFT_OK;
}

/* The thread patterns of what a kept plan runs: placement asks for them. */
static weft_status prove_patterns(const forcing *f) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < f->graph->n_calls; ++i) {
        const weft_specialisation *used = f->graph->calls[i].specialisation;
        for (int v = 0; used && v < used->n_variants; ++v)
            if (f->variant[i] < 0 || f->variant[i] == v)
                TRY(weft_thread_pattern_prove(f->c->arena, used, v, f->error));
    }
done:
    return status;
}

weft_status weft_plan_force(weft_segment *c, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    forcing f = {.c = c, .graph = c->graph, .error = error};
    weft_fusions *fusions = weft_arena_alloc(c->arena, 1, sizeof *fusions);
    weft_cover *cover = weft_arena_alloc(c->arena, 1, sizeof *cover);
    weft_compile_options options = c->options;
    weft_graph graph;
    if (!fusions || !cover)
        TRY(weft_no_memory(error));
    TRY(names_make(&f));
    TRY(read_text(&f, text));
    if (c->is_kept)
        TRY(prove_patterns(&f));
    for (int i = 0; i < f.n_kernels; ++i)
        TRY(check_kernel(&f, i));
    TRY(fusions_make(&f, fusions));
    TRY(graph_forced(&f, &graph));
    options.scatter = c->options.scatter;
    options.n_variants = 0;
    options.plan = WEFT_PLAN_FUSED; /* the plan's block shapes always apply */
    TRY(weft_implementations_make(c->arena, &graph, fusions, &c->limits, &options,
                                  &c->implementations, error));
    TRY(cover_make(&f, cover));
    c->cover = cover;
done:
    return status;
}
