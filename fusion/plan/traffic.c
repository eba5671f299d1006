/* Lists the on-chip data of a fusion's kernel and counts its memory traffic. */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/plan/implementations.h"
#include "fusion/plan/scatter.h"

#include <math.h>

bool weft_fusion_contains(const weft_fusion *fusion, int call) {
    for (int i = 0; i < fusion->n_calls; ++i)
        if (fusion->calls[i] == call)
            return true;
    return false;
}

bool weft_value_is_live_out(const weft_graph *graph, const weft_fusion *fusion, int value) {
    int member = 0;
    if (graph->values[value].returned || graph->values[value].storage >= 0)
        return true;
    for (int i = 0; i < graph->n_calls; ++i) {
        if (member < fusion->n_calls && fusion->calls[member] == i) {
            ++member; /* fusion->calls ascend */
            continue;
        }
        for (int k = 0; k < graph->calls[i].n_operands; ++k)
            if (graph->calls[i].operands[k].value == value &&
                (graph->calls[i].operands[k].connectivity < 0 || !weft_fault("dropped_store")))
                return true;
    }
    return false;
}

weft_status weft_onchip_list(weft_arena *arena, const weft_graph *graph, weft_implementation *made,
                             weft_error *error) {
    size_t most = 0;
    const weft_fusion *fusion = made->fusion;
    for (int i = 0; i < fusion->n_calls; ++i)
        most += (size_t)graph->calls[fusion->calls[i]].n_operands + 1;
    made->onchip = weft_arena_alloc(arena, most, sizeof *made->onchip);
    made->placement = weft_arena_alloc(arena, most, sizeof *made->placement);
    made->produced_here = weft_arena_alloc(arena, most, sizeof *made->produced_here);
    made->live_out = weft_arena_alloc(arena, most, sizeof *made->live_out);
    made->slots = weft_arena_alloc(arena, (size_t)fusion->n_calls, sizeof *made->slots);
    int *slot = weft_arena_alloc(arena, most, sizeof *slot);
    if (!made->onchip || !made->placement || !made->produced_here || !made->live_out ||
        !made->slots || !slot)
        return weft_no_memory(error);
    for (int i = 0; i < fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[made->order[i]];
        made->slots[i] = slot;
        for (int k = 0; k <= call->n_operands; ++k) {
            weft_operand operand = {.value = call->result, .connectivity = -1};
            int m = 0;
            if (k < call->n_operands) {
                operand.value = call->operands[k].value;
                operand.connectivity = call->operands[k].connectivity;
            }
            while (m < made->n_onchip && (made->onchip[m].value != operand.value ||
                                          made->onchip[m].connectivity != operand.connectivity))
                ++m;
            *slot++ = m;
            if (m < made->n_onchip)
                continue;
            operand.shape = weft_operand_whole(graph, &operand);
            made->onchip[made->n_onchip++] = operand; /* PLACE_REGISTER */
        }
    }
    for (int m = 0; m < made->n_onchip; ++m) {
        const int producer = graph->values[made->onchip[m].value].producer;
        made->produced_here[m] = producer >= 0 && made->onchip[m].connectivity < 0 &&
                                 weft_fusion_contains(fusion, producer);
        made->live_out[m] = weft_value_is_live_out(graph, fusion, made->onchip[m].value);
    }
    return WEFT_OK;
}

int64_t weft_nested_size(int64_t elements) {
    return elements > 0 ? (int64_t)ceil(sqrt((double)elements)) : 4096;
}

static const double ELEMENTS = 1e6;
/* What planning assumes of index sets declared with `up to`. */
static const double FEW = 32;

double weft_traffic_share(const weft_graph *graph, const weft_compile_options *options,
                          const weft_fusion *fusion, int index_set) {
    if (!weft_index_set_is_factor(graph, index_set, fusion->index_set))
        return 1;
    const weft_index_set *product = &graph->index_sets[fusion->index_set];
    const int other = product->first == index_set ? product->second : product->first;
    return 1 / weft_elements_assumed(graph, options, other);
}

double weft_elements_assumed(const weft_graph *graph, const weft_compile_options *options,
                             int index_set) {
    const double all = options->elements > 0 ? (double)options->elements : ELEMENTS;
    const weft_index_set *set = &graph->index_sets[index_set >= 0 ? index_set : 0];
    if (weft_index_set_is_product(graph, index_set)) {
        const double n = weft_elements_assumed(graph, options, set->first),
                     m = weft_elements_assumed(graph, options, set->second);
        return set->pairs.triangle == TRIANGLE_NONE ? n * m : n * (n + 1) / 2;
    }
    if (index_set >= 0 && set->few)
        return FEW;
    for (int i = 0; i < graph->n_index_sets; ++i)
        if (weft_index_set_is_factor(graph, index_set, i) && !weft_index_set_has_few_rows(graph, i))
            return (double)weft_nested_size(options->elements);
    return all;
}

/* Bytes per element of values loaded and stored. */
static void count_data(const weft_graph *graph, const weft_compile_options *options,
                       weft_implementation *made) {
    const double real_bytes = options->single ? sizeof(float) : sizeof(double);
    for (int m = 0; m < made->n_onchip; ++m) {
        const weft_operand *operand = &made->onchip[m];
        const weft_value *value = &graph->values[operand->value];
        const bool produced_here = made->produced_here[m];
        const double bytes = (weft_value_is_narrow(options, value) ? sizeof(float) : real_bytes) *
                             weft_shape_count(&operand->shape) *
                             weft_traffic_share(graph, options, made->fusion, value->index_set);
        bool live_out = value->index_set >= 0 && made->live_out[m];
        for (int i = 0; i < graph->n_accumulations; ++i)
            live_out |= graph->accumulations[i].source == operand->value &&
                        weft_scatter_gathers(options, &graph->accumulations[i]);
        if (!produced_here && value->index_set >= 0)
            made->bytes_loaded += bytes;
        if (produced_here && live_out)
            made->bytes_stored += bytes;
    }
}

/* Bytes per element of connectivities, each counted once, and of accumulation targets, which are
 * read and written. */
static void count_maps(const weft_graph *graph, const weft_compile_options *options,
                       weft_implementation *made, double real_bytes) {
    for (int connectivity = 0; connectivity < graph->n_connectivities; ++connectivity) {
        bool used = false;
        for (int m = 0; m < made->n_onchip; ++m)
            used |= made->onchip[m].connectivity == connectivity;
        for (int i = 0; i < graph->n_accumulations; ++i) {
            const weft_accumulation *a = &graph->accumulations[i];
            if (a->connectivity != connectivity || !weft_fusion_contains(made->fusion, a->call) ||
                weft_scatter_gathers(options, a))
                continue;
            const int count = weft_shape_count(&graph->values[a->source].shape);
            made->bytes_loaded += real_bytes * count + (a->matrix ? 4.0 * count : 0.0);
            made->bytes_stored += real_bytes * count;
            used |= !a->matrix;
        }
        if (used)
            made->bytes_loaded += 4.0 * graph->connectivities[connectivity].width;
    }
}

void weft_traffic_count(const weft_graph *graph, const weft_compile_options *options,
                        weft_implementation *made) {
    const double real_bytes = options->single ? sizeof(float) : sizeof(double);
    count_data(graph, options, made);
    count_maps(graph, options, made, real_bytes);
    for (int i = 0; i < made->fusion->n_calls; ++i)
        made->flops += graph->calls[made->fusion->calls[i]].flops;
}

/* Bytes that a kernel of the calls of a fusion, in their order, moves per element. */
static weft_status bytes_of(weft_arena *arena, const weft_graph *graph,
                            const weft_compile_options *options, weft_fusion fusion, double *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_implementation made = {.fusion = &fusion, .order = fusion.calls};
    TRY(weft_onchip_list(arena, graph, &made, error));
    weft_traffic_count(graph, options, &made);
    *out = made.bytes_loaded + made.bytes_stored;
done:
    return status;
}

weft_status weft_traffic_saved(weft_arena *arena, const weft_graph *graph,
                               const weft_compile_options *options, int a, int b, double *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    int calls[2] = {a, b};
    double together = 0, first = 0, second = 0;
    const int sets[2] = {graph->calls[a].index_set, graph->calls[b].index_set};
    const bool b_finer = weft_index_set_is_factor(graph, sets[0], sets[1]);
    const int set = sets[b_finer];
    *out = 0;
    if (sets[0] != sets[1] && !b_finer && !weft_index_set_is_factor(graph, sets[1], sets[0]))
        goto done;
    TRY(bytes_of(arena, graph, options, (weft_fusion){calls, 2, set, 0, false}, &together, error));
    TRY(bytes_of(arena, graph, options, (weft_fusion){calls, 1, set, 0, false}, &first, error));
    TRY(bytes_of(arena, graph, options, (weft_fusion){calls + 1, 1, set, 0, false}, &second,
                 error));
    *out = first + second - together;
done:
    return status;
}

void weft_traffic_of_gather(const weft_graph *graph, const weft_accumulation *accumulation,
                            bool is_folded, double real_bytes, bool adds, double *loaded,
                            double *stored) {
    const int width = graph->connectivities[accumulation->connectivity].width;
    const weft_call *call = &graph->calls[accumulation->call];
    double contribution = *stored =
        real_bytes * weft_shape_count(&graph->values[accumulation->target].shape);
    /* the start of the target's list; positions and contributions */
    *loaded = sizeof(int64_t) + (adds ? *stored : 0);
    if (is_folded) {
        contribution = 0;
        for (int i = 0; i < call->n_operands; ++i)
            if (graph->values[call->operands[i].value].index_set >= 0)
                *(call->operands[i].connectivity < 0 ? &contribution : loaded) += real_bytes;
    }
    *loaded += width * (sizeof(uint32_t) + contribution);
}
