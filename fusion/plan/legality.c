/* Decides which calls may share a kernel, and which kernels may permute the entries of a cell.
 *
 * A kernel contains no global barrier, ranges over one index set, is convex (contains every path
 * between two of its calls), and obeys the rules for operator products. Candidates, fuse blocks of
 * a script, saved plans and explanations all use these functions.
 *
 * Decision  docs/decisions/0008-legality-is-one-file.md */
#include "fusion/plan/legality.h"
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/nested.h"

bool weft_call_accumulates(const weft_graph *graph, int call) {
    for (int i = 0; i < graph->n_accumulations; ++i)
        if (graph->accumulations[i].call == call)
            return true;
    return false;
}

static bool loads_through_map(const weft_call *call) {
    for (int i = 0; i < call->n_operands; ++i)
        if (call->operands[i].connectivity >= 0)
            return true;
    return false;
}

/* Can a product inline this call into its loads (as its prologue), as far as the two calls alone
 * decide? */
static bool may_be_prologue(const weft_graph *graph, int call, int rows) {
    const weft_call *made = &graph->calls[call];
    const weft_value *result = &graph->values[made->result];
    return made->arithmetic && !made->reduction && result->shape.rank == 0 &&
           made->index_set == graph->calls[rows].index_set &&
           (result->storage < 0 || graph->is_loop_body) && !loads_through_map(made) &&
           !weft_call_accumulates(graph, call);
}

/* ---- nested map and reduce: calls over a product of two index sets ---- */

/* May a reader of a reduction's result share its kernel, which holds a slice of the matrix that
 * completes the result? It is over the same product, or over the index set of the result. */
static bool reads_in_slice(const weft_graph *graph, const weft_call *producer,
                           const weft_call *reader) {
    const bool few_rows = weft_product_holds_columns(graph, producer->index_set);
    return !weft_reduction_is_open(producer) &&
           producer->reduction->over != (few_rows           ? REDUCE_SECOND
                                         : graph->rows_only ? REDUCE_FIRST
                                                            : REDUCE_ALL) &&
           (reader->index_set == producer->index_set ||
            reader->index_set == graph->values[producer->result].index_set);
}

/* Does a call over one index set read what the set of calls computes? */
static bool reads_set(const weft_graph *graph, const uint64_t *set, const weft_call *call) {
    for (int k = 0; k < call->n_operands; ++k) {
        const int producer = graph->values[call->operands[k].value].producer;
        if (producer >= 0 && weft_set_has(set, producer))
            return true;
    }
    return false;
}

/* Is there an order of the phases? Only what is overwritten can prevent one. */
static bool has_phases(const weft_graph *graph, const uint64_t *set, int product) {
    int calls[WEFT_CALLS_MAX], phase[WEFT_CALLS_MAX];
    weft_fusion fusion = {.calls = calls, .index_set = product};
    bool overwrites = false;
    for (int i = 0; i < graph->n_calls; ++i)
        if (weft_set_has(set, i)) {
            calls[fusion.n_calls++] = i;
            overwrites |= graph->values[graph->calls[i].result].storage >= 0;
        }
    return !overwrites || weft_nested_phases(graph, &fusion, phase) > 0;
}

/* The rules of calls over a product of two index sets. A kernel holds slices of the matrix: whole
 * rows or whole columns. What one reduction completes in a slice may be used in the same slice, so
 * all such uses need the same kind of slice. Calls over one index set share the kernel only where
 * they use such a result, since their operations would otherwise be repeated. */
static bool nested_fits(const weft_graph *graph, const uint64_t *set) {
    int product = -1;
    bool has_single = false;
    for (int i = 0; i < graph->n_calls; ++i)
        if (weft_set_has(set, i)) {
            if (weft_index_set_is_product(graph, graph->calls[i].index_set))
                product = graph->calls[i].index_set;
            else
                has_single = true;
        }
    if (product < 0)
        return true;
    const weft_slice slice = weft_set_slice(graph, set);
    const bool few_rows = weft_product_holds_columns(graph, product);
    if (slice == SLICE_NONE || (has_single && slice == SLICE_ANY) ||
        (slice == SLICE_COLUMNS && graph->rows_only && !few_rows) ||
        (slice == SLICE_ROWS && few_rows))
        return false;
    const weft_index_set *factors = &graph->index_sets[product];
    const int of_slice = slice == SLICE_ROWS ? factors->first : factors->second;
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_call *call = &graph->calls[i];
        if (!weft_set_has(set, i) || call->index_set == product)
            continue;
        if (call->index_set != of_slice || call->reduction || loads_through_map(call) ||
            weft_call_accumulates(graph, i) || !reads_set(graph, set, call))
            return false;
    }
    return has_phases(graph, set, product);
}

bool weft_operand_needs_barrier(const weft_graph *graph, const weft_call *reader,
                                const weft_operand *operand) {
    const int producer = graph->values[operand->value].producer;
    if (operand->connectivity >= 0 && !weft_fault("barrier_skipped"))
        return true;
    if (producer < 0)
        return false;
    if (graph->calls[producer].reduction && !weft_fault("sum_unfinished"))
        return !reads_in_slice(graph, &graph->calls[producer], reader);
    return reader->product_kernel && graph->values[operand->value].index_set != UNIFORM &&
           !may_be_prologue(graph, producer, reader->id);
}

/* Is an operand of the prologue produced in the same kernel, or updated there while other blocks
 * may still read it? */
static bool folds_unfinished(const weft_graph *graph, const uint64_t *set, int prologue) {
    const weft_call *made = &graph->calls[prologue];
    for (int k = 0; k < made->n_operands; ++k) {
        const int value = made->operands[k].value;
        const int producer = graph->values[value].producer;
        if (producer >= 0 && weft_set_has(set, producer))
            return true;
        for (int i = 0; i < graph->n_calls; ++i)
            if (i != prologue && weft_set_has(set, i) &&
                graph->values[graph->calls[i].result].storage == value)
                return true;
    }
    return false;
}

weft_not_fused_reason weft_fusion_misfit(const weft_graph *graph, const uint64_t *set) {
    int rows = -1, n_rows = 0;
    bool has_others = false, reduces = false;
    for (int i = 0; i < graph->n_calls; ++i)
        if (weft_set_has(set, i)) {
            has_others |= weft_call_accumulates(graph, i) || loads_through_map(&graph->calls[i]);
            reduces |= graph->calls[i].reduction != NULL;
            if (graph->calls[i].product_kernel) {
                rows = i;
                ++n_rows;
            }
        }
    if (!nested_fits(graph, set))
        return NOT_FUSED_SLICES;
    if (rows < 0)
        return FUSIBLE;
    const int prologue = graph->values[graph->calls[rows].operands[0].value].producer;
    const bool is_tile = graph->calls[rows].product_kernel->rows % WEFT_PRODUCT_TILE == 0;
    const bool fits =
        n_rows == 1 && !has_others && (is_tile || !reduces) &&
        (prologue < 0 || !weft_set_has(set, prologue) || !folds_unfinished(graph, set, prologue));
    return fits ? FUSIBLE : NOT_FUSED_PRODUCT;
}

/* A call outside the set on a path from *a to *b, both in the set; -1: none. */
static int find_outside(const weft_dependence *r, const uint64_t *set, int *a, int *b) {
    for (int i = 0; i < r->n; ++i) {
        int before = -1;
        for (int k = 0; k < r->n && !weft_set_has(set, i); ++k)
            if (weft_set_has(set, k) && weft_set_has(weft_dependence_reachable(r, k), i))
                before = k;
        for (int k = 0; k < r->n && before >= 0; ++k)
            if (weft_set_has(set, k) && weft_set_has(weft_dependence_reachable(r, i), k)) {
                *a = before;
                *b = k;
                return i;
            }
    }
    return -1;
}

weft_not_fused_reason weft_set_split(const weft_graph *graph, const weft_dependence *r,
                                     const uint64_t *set, int *a, int *b, int *outside) {
    for (int i = 0; i < graph->n_calls; ++i)
        for (int k = 0; k < i; ++k)
            if (weft_set_has(set, i) && weft_set_has(set, k) &&
                weft_set_has(weft_dependence_unfusible(r, k), i)) {
                *a = k;
                *b = i;
                return weft_index_sets_nest(graph, graph->calls[i].index_set,
                                            graph->calls[k].index_set)
                           ? NOT_FUSED_BARRIER
                           : NOT_FUSED_INDEX_SET;
            }
    if (!weft_dependence_convex(r, set)) {
        *outside = find_outside(r, set, a, b);
        return NOT_FUSED_PATH;
    }
    return weft_fusion_misfit(graph, set);
}

/* ---- the order of a cell's entries ---- */

weft_status weft_may_permute(weft_arena *arena, const weft_graph *graph, const weft_cell_sum *sum,
                             weft_permutations permutations, const char **why, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph_connectivity *connectivity =
        &graph->connectivities[sum->accumulation->connectivity];
    bool commutes = false;
    *why = NULL;
    if (!connectivity->is_ordered || weft_fault("ordered_permuted"))
        TRY(weft_cell_sum_commutes(graph, sum, permutations, &commutes, error));
    if (commutes)
        goto done;
    *why = weft_arena_print(arena,
                            connectivity->is_ordered
                                ? "'%s' is ordered"
                                : "its values depend on the order of the entries of '%s'",
                            connectivity->name);
    if (!*why)
        status = weft_no_memory(error);
done:
    return status;
}
