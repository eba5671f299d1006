/* Explains why two calls are fused or not, with the predicted times of the best cover that fuses
 * them and of the best that does not. */
#include "fusion/base/array.h"
#include "fusion/control/program.h"
#include "fusion/explain/private.h"
#include "fusion/graph/print.h"
#include "fusion/plan/implementations.h"

#include <string.h>

/* The call whose result, or whose accumulation target, has this name; -1: none. */
static weft_status find_call(const weft_graph *graph, const char *name, int *found,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    *found = -1;
    for (int i = 0; i < graph->n_calls && *found < 0 && status == WEFT_OK; ++i) {
        weft_text text = {0};
        weft_print_name(graph, graph->calls[i].result, &text);
        if (text.failed)
            status = weft_no_memory(error);
        else if (strcmp(text.data, name) == 0)
            *found = i;
        weft_text_free(&text);
    }
    for (int i = 0; i < graph->n_accumulations && *found < 0; ++i)
        if (strcmp(graph->values[graph->accumulations[i].target].name, name) == 0)
            *found = graph->accumulations[i].call;
    return status;
}

static weft_status no_such_call(const weft_control *control, const char *name, weft_error *error) {
    const char *names[WEFT_CALLS_MAX];
    size_t n = 0;
    for (int k = 0; k < control->n_segments; ++k) {
        const weft_graph *graph = control->segments[k]->graph;
        for (int i = 0; i < graph->n_calls && n < WEFT_CALLS_MAX; ++i)
            names[n++] = graph->values[graph->calls[i].result].name;
    }
    const char *near = weft_nearest_name(name, names, n);
    weft_error_set(error, WEFT_ERROR_USAGE, "no call makes '%s'", name);
    weft_error_hint(error, "%s%s%sweft compile SCRIPT --print graph shows the calls",
                    near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
    return WEFT_ERROR_USAGE;
}

weft_status weft_explain_best_with(const weft_segment *c, int a, int b, bool together, bool *found,
                                   double *seconds, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_implementations some = *c->implementations;
    weft_arena *scratch = NULL;
    weft_cover **covers = NULL;
    int n = 0;
    TRY(weft_arena_make(&scratch, error));
    TRY(WEFT_ALLOC(scratch, some.list, (size_t)some.n + 1, error));
    for (int i = 0; i < some.n; ++i) {
        some.list[i] = c->implementations->list[i];
        const bool has_a = weft_fusion_contains(some.list[i].fusion, a),
                   has_b = weft_fusion_contains(some.list[i].fusion, b);
        if (together ? has_a != has_b : has_a && has_b)
            some.list[i].reason = "asked otherwise";
    }
    const weft_cover_problem problem = {scratch, c->graph,        c->fusions,
                                        &some,   WEFT_PLAN_FUSED, false};
    TRY(weft_covers_make(&problem, 1, &covers, &n, error));
    *found = n > 0;
    *seconds = n > 0 ? covers[0]->seconds : 0;
done:
    weft_arena_free(&scratch);
    return status;
}

static void print_time(const char *what, bool found, double seconds, weft_text *out) {
    if (found)
        weft_text_add(out, "  best plan with them %-9s %10.4g us predicted\n", what, 1e6 * seconds);
    else
        weft_text_add(out, "  best plan with them %-9s       none\n", what);
}

static void print_kernels(const weft_segment *c, int a, int b, weft_text *out) {
    int kernel[2] = {-1, -1};
    for (int i = 0; i < c->plan->n_kernels; ++i) {
        const weft_implementation *one = c->plan->kernels[i].implementation;
        if (one && weft_fusion_contains(one->fusion, a))
            kernel[0] = i;
        if (one && weft_fusion_contains(one->fusion, b))
            kernel[1] = i;
    }
    if (kernel[0] < 0 || kernel[1] < 0)
        return;
    weft_text_add(
        out, kernel[0] == kernel[1] ? "  this plan has both in %s\n" : "  this plan has them in %s",
        c->plan->kernels[kernel[0]].name);
    if (kernel[0] != kernel[1])
        weft_text_add(out, " and %s\n", c->plan->kernels[kernel[1]].name);
}

/* The compiled candidates with both calls whose registers spill, and that were not chosen. */
static void print_spills(const weft_segment *c, int a, int b, weft_text *out) {
    for (int i = 0; i < c->implementations->n; ++i) {
        const weft_implementation *one = &c->implementations->list[i];
        bool chosen = false;
        for (int k = 0; k < c->cover->n; ++k)
            chosen |= c->cover->list[k] == one;
        if (one->spilled_bytes > 0 && !chosen && weft_fusion_contains(one->fusion, a) &&
            weft_fusion_contains(one->fusion, b))
            weft_text_add(
                out,
                "  rejected: %d calls with %d thread%s per element, which spill %d B per "
                "thread when compiled (%.3g ns per element predicted with them)\n",
                one->fusion->n_calls, one->threads_per_element > 0 ? one->threads_per_element : 1,
                one->threads_per_element > 1 ? "s" : "", one->spilled_bytes, 1e9 * one->seconds);
    }
}

static weft_status why(const weft_segment *c, int a, int b, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    int questions = 1;
    explanation e = {.segment = c, .graph = c->graph, .out = out, .questions = &questions};
    bool together = false, apart = false;
    double seconds[2] = {0, 0};
    e.real_bytes = c->options.single ? sizeof(float) : sizeof(double);
    TRY(weft_arena_make(&scratch, error));
    TRY(weft_explain_plans(&e, scratch, error));
    weft_print_name(c->graph, c->graph->calls[a].result, out);
    weft_text_add(out, ", ");
    weft_print_name(c->graph, c->graph->calls[b].result, out);
    weft_text_add(out, ": ");
    weft_explain_pair(&e, &c->graph->calls[a < b ? a : b], &c->graph->calls[a < b ? b : a]);
    if (!c->options.forced_plan) {
        TRY(weft_explain_best_with(c, a, b, true, &together, &seconds[0], error));
        TRY(weft_explain_best_with(c, a, b, false, &apart, &seconds[1], error));
        print_time("together", together, seconds[0], out);
        print_time("apart", apart, seconds[1], out);
    }
    print_kernels(c, a, b, out);
    print_spills(c, a, b, out);
done:
    weft_arena_free(&scratch);
    return status;
}

/* The segment of a program that contains a call; -1: none. */
static weft_status find_segment(const weft_control *control, const char *name, int *found,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    int call = -1;
    *found = -1;
    for (int i = 0; i < control->n_segments && *found < 0; ++i) {
        TRY(find_call(control->segments[i]->graph, name, &call, error));
        *found = call >= 0 ? i : -1;
    }
done:
    return status;
}

static weft_status why_any(const weft_control *control, const char *const names[2], weft_text *out,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    int segments[2], calls[2];
    for (int i = 0; i < 2; ++i)
        TRY(find_segment(control, names[i], &segments[i], error));
    if (segments[0] < 0 || segments[1] < 0)
        TRY(no_such_call(control, names[segments[0] >= 0], error));
    if (segments[0] != segments[1]) {
        weft_text_add(
            out,
            "%s, %s: not fused: segment %d and segment %d of the program are planned one by one\n",
            names[0], names[1], segments[0] + 1, segments[1] + 1);
        goto done;
    }
    const weft_segment *segment = control->segments[segments[0]];
    for (int i = 0; i < 2; ++i)
        TRY(find_call(segment->graph, names[i], &calls[i], error));
    if (calls[0] == calls[1])
        weft_text_add(out, "%s and %s are one call\n", names[0], names[1]);
    else
        TRY(why(segment, calls[0], calls[1], out, error));
done:
    return status;
}

weft_status weft_compilation_why(const weft_compilation *compilation, const char *first,
                                 const char *second, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *const names[2] = {first, second};
    TRY(why_any(compilation->control, names, out, error));
    if (out->failed)
        status = weft_no_memory(error);
done:
    return status;
}
