/* Explains for pairs of calls why they are fused or not, with the bytes that fusion saves. */
#include "fusion/explain/private.h"
#include "fusion/graph/print.h"
#include "fusion/plan/implementations.h"
#include "fusion/plan/legality.h"

enum { PAIRS_OF_CALLS_MAX = 64, REASON_COLUMN = 34 };

static double operand_bytes(const explanation *e, const weft_operand *operand) {
    const weft_shape whole = weft_operand_whole(e->graph, operand);
    return e->graph->values[operand->value].index_set == UNIFORM
               ? 0
               : e->real_bytes * weft_shape_count(&whole);
}

/* Does operand k of a call repeat an earlier one's load? */
static bool is_repeated(const weft_call *call, int k) {
    for (int i = 0; i < k; ++i)
        if (call->operands[i].value == call->operands[k].value &&
            call->operands[i].connectivity == call->operands[k].connectivity)
            return true;
    return false;
}

static bool loads(const weft_call *call, const weft_operand *operand) {
    for (int i = 0; i < call->n_operands; ++i)
        if (call->operands[i].value == operand->value &&
            call->operands[i].connectivity == operand->connectivity)
            return true;
    return false;
}

/* Bytes per element that one kernel for both calls saves, compared with one kernel each. */
static double spared_bytes(const explanation *e, const weft_call *a, const weft_call *b) {
    double spared = 0;
    if (weft_traffic_saved(e->scratch, e->graph, &e->segment->options, a->id, b->id, &spared,
                           NULL) != WEFT_OK)
        e->out->failed = true;
    return spared;
}

static bool accumulates_into(const weft_graph *graph, const weft_call *call, int target) {
    for (int i = 0; i < graph->n_accumulations; ++i)
        if (graph->accumulations[i].call == call->id && graph->accumulations[i].target == target)
            return true;
    return false;
}

/* Bytes that b reads from the results of a, per element of b. */
static double passed_bytes(const explanation *e, const weft_call *a, const weft_call *b) {
    double passed = 0;
    for (int k = 0; k < b->n_operands; ++k)
        if (!is_repeated(b, k) && (b->operands[k].value == a->result ||
                                   accumulates_into(e->graph, a, b->operands[k].value)))
            passed += operand_bytes(e, &b->operands[k]);
    return passed;
}

static void explain_passing(const explanation *e, const weft_call *a, const weft_call *b) {
    const double passed = passed_bytes(e, a, b);
    weft_text_add(e->out, "; ");
    if (passed > 0) {
        weft_print_number(passed, e->out);
        weft_text_add(e->out, " B pass between them through memory");
    } else
        weft_text_add(e->out, "0 B pass between them");
}

static void explain_barrier(const explanation *e, const weft_call *a, const weft_call *b,
                            int through) {
    const weft_graph *graph = e->graph;
    weft_text_add(e->out, "not fused: ");
    if (through < 0) {
        const int *level = e->segment->fusions->level;
        const int between = level[b->id] - level[a->id];
        weft_text_add(e->out, "%d global barrier%s between them", between < 0 ? -between : between,
                      between == 1 || between == -1 ? "" : "s");
    } else {
        weft_text_add(e->out, "'");
        weft_print_name(graph, through, e->out);
        const int producer = graph->values[through].producer;
        weft_text_add(e->out, producer >= 0 && !graph->calls[producer].reduction
                                  ? "' must be complete before it is loaded through a connectivity"
                                  : "' must be complete before it is read: a global barrier");
    }
    explain_passing(e, a, b);
}

/* Do two calls share a kernel of the fused plan? */
static bool share_a_kernel(const explanation *e, int a, int b) {
    const weft_cover *cover = e->covers[WEFT_PLAN_FUSED];
    for (int i = 0; i < cover->n; ++i)
        if (weft_fusion_contains(cover->list[i]->fusion, a))
            return weft_fusion_contains(cover->list[i]->fusion, b);
    return false;
}

/* Why every implementation with both calls was pruned; NULL: one was not. *any: does one exist? */
static const char *pruned_together(const explanation *e, int a, int b, bool *any) {
    const weft_implementations *all = e->segment->implementations;
    const char *why = NULL;
    *any = false;
    for (int i = 0; i < all->n; ++i) {
        if (!weft_fusion_contains(all->list[i].fusion, a) ||
            !weft_fusion_contains(all->list[i].fusion, b))
            continue;
        *any = true;
        if (!all->list[i].reason)
            return NULL;
        why = all->list[i].reason;
    }
    return why;
}

/* Explain a pair that a candidate contains, but that the plan does not fuse. */
static void explain_candidate(const explanation *e, int a, int b) {
    bool any = false, found = false;
    double seconds = 0;
    const char *why = pruned_together(e, a, b, &any);
    if (e->segment->options.forced_plan || why || !any) {
        weft_text_add(e->out, "not fused: %s",
                      e->segment->options.forced_plan ? "the plan that is forced has them apart"
                      : why                           ? why
                            : "no block of a kernel with both is what the script asks for");
        return;
    }
    weft_text_add(e->out, "could be fused: candidate, not chosen");
    if (*e->questions <= 0)
        return;
    --*e->questions;
    if (weft_explain_best_with(e->segment, a, b, true, &found, &seconds, NULL) != WEFT_OK)
        e->out->failed = true;
    else if (found)
        weft_text_add(e->out, " (predicted %.4g us against %.4g)", 1e6 * seconds,
                      1e6 * e->covers[WEFT_PLAN_FUSED]->seconds);
    else
        weft_text_add(e->out, " (the other calls then have no kernels)");
}

void weft_explain_pair(const explanation *e, const weft_call *a, const weft_call *b) {
    const weft_graph *graph = e->graph;
    weft_text *out = e->out;
    const double spared = spared_bytes(e, a, b);
    int through = -1;
    switch (weft_why_not_fused(graph, e->segment->fusions, a->id, b->id, &through)) {
    case FUSIBLE:
        if (!share_a_kernel(e, a->id, b->id)) {
            explain_candidate(e, a->id, b->id);
            explain_passing(e, a, b);
            break;
        }
        weft_text_add(out, "fused: ");
        if (spared > 0) {
            weft_text_add(out, "spares ");
            weft_print_number(spared, out);
            weft_text_add(out, " B");
            if (loads(b, &(weft_operand){.value = a->result, .connectivity = -1})) {
                weft_text_add(out, ", '");
                weft_print_name(graph, a->result, out);
                weft_text_add(out, "' stays on chip");
            } else
                weft_text_add(out, ", loaded once for both");
        } else
            weft_text_add(out, "0 B of their own, by way of calls that share with both");
        break;
    case NOT_FUSED_INDEX_SET:
        weft_text_add(out, "not fused: one is over %s, the other over %s",
                      weft_index_set_name(graph, a->index_set),
                      weft_index_set_name(graph, b->index_set));
        explain_passing(e, a, b);
        break;
    case NOT_FUSED_BARRIER:
        explain_barrier(e, a, b, through);
        break;
    case NOT_FUSED_PATH:
        weft_text_add(out, "not fused: what lies between them is in another kernel");
        explain_passing(e, a, b);
        break;
    case NOT_FUSED_PRODUCT:
        weft_text_add(out, "not fused: the kernel of an operator's product does not take both");
        break;
    case NOT_FUSED_SLICES:
        weft_text_add(out, "not fused: no slice of the matrix, rows or columns, serves both");
        break;
    case NOT_FUSED_NOTHING:
        weft_text_add(out, "not fused: they share no data, 0 B would be spared");
        break;
    }
    weft_text_add(out, "\n");
}

/* With many calls, only the pairs that share data are explained. */
void weft_explain_pairs(const explanation *e) {
    const weft_graph *graph = e->graph;
    const bool all = graph->n_calls <= PAIRS_OF_CALLS_MAX;
    int left_out = 0;
    if (graph->n_calls < 2)
        return;
    weft_text_add(e->out, "\nPairs of calls, bytes per element\n");
    for (int i = 0; i < graph->n_calls; ++i)
        for (int k = i + 1; k < graph->n_calls; ++k) {
            const weft_call *a = &graph->calls[i], *b = &graph->calls[k];
            if (!all && spared_bytes(e, a, b) <= 0 && passed_bytes(e, a, b) <= 0) {
                ++left_out;
                continue;
            }
            const size_t start = e->out->length;
            weft_text_add(e->out, "  ");
            weft_print_name(graph, a->result, e->out);
            weft_text_add(e->out, ", ");
            weft_print_name(graph, b->result, e->out);
            weft_print_to_column(e->out, start, REASON_COLUMN);
            weft_explain_pair(e, a, b);
        }
    if (left_out > 0)
        weft_text_add(e->out, "  and %d pairs that share no data\n", left_out);
}
