/* Runs the compilation stages of a segment. */
#include "fusion/plan/segment.h"
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/plan/directives.h"
#include "fusion/plan/implementations.h"
#include "fusion/plan/saved_plan.h"
#include "fusion/plan/scatter.h"

#include <stdio.h>
#include <string.h>

/* Choose the cover given by options.cover (the best known from a search) if it is valid, else the
 * one of rank options.alternative, 0 being the best. */
static weft_status choose_cover(weft_segment *c, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cover **list = NULL;
    const int most = c->options.alternative + 1;
    const weft_cover_problem problem = {c->arena,           c->graph,        c->fusions,
                                        c->implementations, c->options.plan, false};
    int n = 0;
    if (c->options.cover)
        TRY(weft_segment_read_cover(c, c->options.cover, &c->cover, error));
    c->cover_recalled = c->cover != NULL;
    if (c->cover)
        goto done;
    if (most <= 1) {
        status = weft_cover_make(&problem, &c->cover, error);
        goto done;
    }
    TRY(weft_covers_make(&problem, most, &list, &n, error));
    if (n == 0)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "no choice of kernels covers every call once"));
    c->cover = list[n - 1];
done:
    return status;
}

/* The stages after the fusions. */
static weft_status plan_fusions(weft_segment *s, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_implementations_make(s->arena, s->graph, s->fusions, &s->limits, &s->options,
                                  &s->implementations, error));
    TRY(weft_directives_prune(s, error));
    if (s->options.forced_plan)
        TRY(weft_plan_force(s, s->options.forced_plan, error));
    else
        TRY(choose_cover(s, error));
    TRY(weft_segment_plan_cover(s, error));
done:
    return status;
}

/* The stages after the graph. */
static weft_status plan_graph(weft_segment *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *arena = s->arena;
    if (s->is_kept) {
        TRY(weft_fusions_begin(arena, s->graph, &s->fusions, error));
        TRY(weft_plan_force(s, s->options.forced_plan, error));
        status = weft_segment_plan_cover(s, error);
        goto done;
    }
    TRY(weft_fusions_make(arena, s->graph, &s->options, &s->fusions, error));
    TRY(weft_directives_add(s, error));
    TRY(plan_fusions(s, error));
done:
    return status;
}

static bool holds_columns(const weft_plan *plan) {
    for (int i = 0; i < plan->n_kernels; ++i)
        if (plan->kernels[i].kind == KERNEL_NESTED && plan->kernels[i].slice == SLICE_COLUMNS)
            return true;
    return false;
}

static weft_status prefix_names(const weft_segment *s, const char *prefix, weft_error *error) {
    for (int i = 0; i < s->plan->n_kernels; ++i) {
        weft_plan_kernel *kernel = &s->plan->kernels[i];
        kernel->name = weft_arena_print(s->arena, "%s%s", prefix, kernel->name);
        if (!kernel->name)
            return weft_no_memory(error);
    }
    return WEFT_OK;
}

/* The fusions of a cover alone. */
static weft_status fusions_of_cover(const weft_segment *s, weft_fusions **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_fusions *some = NULL;
    TRY(WEFT_ALLOC(s->arena, some, 1, error));
    *some = *s->fusions;
    some->n = s->cover->n;
    TRY(WEFT_ALLOC(s->arena, some->list, (size_t)some->n + 1, error));
    for (int i = 0; i < some->n; ++i)
        some->list[i] = *s->cover->list[i]->fusion;
    *out = some;
done:
    return status;
}

/* The plan for sizes at which no kernel can hold columns, or for meshes that patches do not fit. */
static weft_status plan_otherwise(weft_segment *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_segment *other = NULL;
    weft_error refused = {0};
    TRY(WEFT_ALLOC(s->arena, other, 1, error));
    *other = *s;
    other->options.forced_plan = NULL;
    other->is_kept = false;
    other->options.cover = NULL;
    other->options.alternative = 0;
    other->cover = NULL;
    other->retreat = WEFT_SCATTER_AUTO;
    if (s->retreat != WEFT_SCATTER_AUTO) {
        other->options.scatter = s->retreat;
        TRY(fusions_of_cover(s, &other->fusions, error));
    }
    const bool rows_only = s->graph->rows_only, few_rows = s->graph->few_rows;
    s->graph->rows_only = true;
    s->graph->few_rows = false;
    status = s->retreat != WEFT_SCATTER_AUTO ? plan_fusions(other, &refused)
                                             : plan_graph(other, &refused);
    s->graph->rows_only = rows_only;
    s->graph->few_rows = few_rows;
    if (status == WEFT_ERROR_MEMORY)
        TRY(weft_no_memory(error));
    if (status != WEFT_OK) { /* a fuse block of the script needs columns */
        status = WEFT_OK;
        goto done;
    }
    TRY(prefix_names(other, s->retreat != WEFT_SCATTER_AUTO ? "any_" : "rows_", error));
    s->otherwise = other;
done:
    return status;
}

weft_status weft_segment_plan_cover(weft_segment *s, weft_error *error) {
    weft_status status = WEFT_OK;
    char prefix[32];
    snprintf(prefix, sizeof prefix, "s%d_", s->number);
    TRY(weft_plan_make(s->arena, s->graph, s->cover, &s->limits, &s->options, &s->plan, error));
    if (s->number >= 0)
        TRY(prefix_names(s, prefix, error));
    if (s->n_ways > 0)
        (void)weft_scatter_seconds(s, NULL);
    for (int i = 0; s->n_ways > 0 && i < s->plan->n_kernels; ++i)
        if (s->plan->kernels[i].n_scatters > 0 && !s->plan->kernels[i].not_permuted)
            s->plan->kernels[i].not_permuted = s->not_permuted;
    s->plan->retreat = s->retreat;
    const bool retreats = s->retreat != WEFT_SCATTER_AUTO && weft_scatter_is_fragile(s->plan);
    if (retreats || !holds_columns(s->plan)) /* that of another cover */
        s->otherwise = NULL;
    if (!holds_columns(s->plan) && !retreats)
        goto done;
    if (!s->otherwise && !weft_fault("second_plan_lost")) /* without columns for any cover */
        TRY(plan_otherwise(s, error));
done:
    return status;
}

/* ---- how concurrent additions are kept apart ---- */

/* Has every kernel one thread per element, as patches and colours have? */
static bool has_single_threads(const weft_cover *cover) {
    for (int i = 0; i < cover->n; ++i)
        if (cover->list[i]->is_dense || cover->list[i]->threads_per_element > 0)
            return false;
    return true;
}

/* What another way takes for the fusions of the cover. Patches and colours have the same kernels, of one thread per element: those of
 * *same, unless NULL. A gather is priced by the kernels in place, and not planned. */
static weft_status price_way(const weft_segment *base, const weft_segment **same,
                             weft_segment *tried, weft_scatter_way *way, const char **not_permuted,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    *tried = way->scatter == WEFT_SCATTER_GATHERED || !*same ? *base : **same;
    tried->options.scatter = way->scatter;
    if (way->scatter == WEFT_SCATTER_GATHERED || way->scatter == WEFT_SCATTER_IN_PLACE) {
        way->seconds = weft_scatter_seconds(tried, &way->refused);
        goto done;
    }
    if (!*same && !has_single_threads(base->cover)) {
        TRY(fusions_of_cover(base, &tried->fusions, error));
        tried->cover = NULL;
        TRY(plan_fusions(tried, error));
    } else {
        TRY(weft_segment_plan_cover(tried, error));
    }
    way->seconds = weft_scatter_seconds(tried, &way->refused);
    if (way->refused && !*not_permuted)
        *not_permuted = weft_scatter_not_permuted(tried->plan);
    *same = tried;
done:
    return status;
}

/* A gather stores all contributions, for which it must gain as much. */
static const double GATHER_GAIN = 0.15;

static bool is_better(const weft_scatter_way *way, const weft_scatter_way *than) {
    const double worth = way->scatter == WEFT_SCATTER_GATHERED ? 1 - GATHER_GAIN : 1;
    return way->seconds < than->seconds * worth;
}

/* Plan with each way, and then all fusions with the one of least predicted time. */
static weft_status plan_ways(weft_segment *s, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_segment tried[WEFT_SCATTER_WAYS] = {{0}};
    const weft_segment *same = NULL;
    int best = 0, retreat = 0;
    if (s->options.forced_plan) { /* which says the way */
        status = plan_graph(s, error);
        goto done;
    }
    s->options.scatter = s->options.distributed && weft_target_is_simt(&s->limits)
                             ? WEFT_SCATTER_GATHERED
                             : WEFT_SCATTER_IN_PLACE;
    TRY(plan_graph(s, error));
    if (!weft_scatter_is_open(s) || s->options.distributed)
        goto done;
    const int n_ways = weft_scatter_list(s->ways);
    for (int i = 0; i < n_ways; ++i) {
        weft_scatter_way *way = &s->ways[i];
        weft_error why = {0};
        status = price_way(s, &same, &tried[i], way, &s->not_permuted, &why);
        if (status == WEFT_ERROR_MEMORY)
            TRY(weft_no_memory(error));
        if (status != WEFT_OK)
            way->refused = "the directives of the script do not allow it";
        status = WEFT_OK;
        if (way->refused)
            continue;
        best = is_better(way, &s->ways[best]) ? i : best;
        if (!weft_scatter_is_fragile(tried[i].plan) && is_better(way, &s->ways[retreat]))
            retreat = i;
    }
    s->n_ways = n_ways;
    s->retreat = best != retreat ? s->ways[retreat].scatter : WEFT_SCATTER_AUTO;
    s->options.scatter = s->ways[best].scatter;
    if (best != 0)
        s->cover = NULL;
    TRY(best == 0 ? weft_segment_plan_cover(s, error) : plan_fusions(s, error));
done:
    return status;
}

/* Ranks have whole columns of a matrix: sums along its rows are complete behind a kernel alone. */
static void divide_rows(weft_segment *s) {
    for (int i = 0; i < s->graph->n_calls && s->options.distributed; ++i) {
        weft_call *call = &s->graph->calls[i];
        call->is_divided = call->reduction && call->reduction->over == REDUCE_SECOND;
    }
}

weft_status weft_segment_plan(weft_segment *s, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_graph_make(s->arena, s->library, s->script, &s->graph, error));
    divide_rows(s);
    s->graph->rows_only = s->limits.cluster_blocks == 0 || s->loop >= 0;
    s->graph->few_rows = weft_target_is_simt(&s->limits);
    TRY(s->options.scatter == WEFT_SCATTER_AUTO ? plan_ways(s, error) : plan_graph(s, error));
done:
    return status;
}
