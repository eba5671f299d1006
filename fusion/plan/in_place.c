/* Which results are written where they are stored, and what is live on chip without them. */
#include "fusion/plan/in_place.h"
#include "fusion/library/library.h"
#include "fusion/plan/scatter.h"

enum { REGISTERS = 255 /* of 4 bytes, per thread */ };

/* Does the kernel store the value? */
static bool is_stored(const weft_graph *graph, const weft_compile_options *options,
                      const weft_implementation *made, int value) {
    for (int m = 0; m < made->n_onchip; ++m)
        if (made->onchip[m].value == value && made->produced_here[m] && made->live_out[m])
            return true;
    for (int i = 0; i < graph->n_accumulations; ++i) /* for the kernel that gathers */
        if (weft_scatter_gathers(options, &graph->accumulations[i]) &&
            graph->accumulations[i].source == value)
            return true;
    return false;
}

/* Does anything else in the kernel read the value? */
static bool is_read(const weft_graph *graph, const weft_compile_options *options,
                    const weft_implementation *made, const weft_call *producer) {
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &graph->calls[made->order[i]];
        for (int k = 0; k < call->n_operands; ++k)
            if (call->operands[k].value == producer->result)
                return true;
    }
    for (int i = 0; i < graph->n_accumulations; ++i) {
        const weft_accumulation *a = &graph->accumulations[i];
        const bool gathered = weft_scatter_gathers(options, a);
        for (int k = 0; !gathered && a->source == producer->result && k < made->fusion->n_calls;
             ++k)
            if (made->order[k] == a->call)
                return true;
    }
    return false;
}

static bool exceeds_registers(const weft_shape *shape, const weft_compile_options *options) {
    return weft_shape_count(shape) * (options->single ? 1 : 2) > REGISTERS;
}

bool weft_writable_in_place(const weft_graph *graph, const weft_compile_options *options,
                            const weft_implementation *made, int position) {
    const weft_call *call = &graph->calls[made->order[position]];
    return call->result >= 0 && call->specialisation && !call->reduction &&
           graph->values[call->result].storage < 0 &&
           is_stored(graph, options, made, call->result) && !is_read(graph, options, made, call) &&
           weft_function_only_assigns(call->specialisation->function, made->variants[position]);
}

bool weft_written_in_place(const weft_graph *graph, const weft_compile_options *options,
                           const weft_implementation *made, int position) {
    const weft_call *call = &graph->calls[made->order[position]];
    return call->result >= 0 && exceeds_registers(&graph->values[call->result].shape, options) &&
           weft_writable_in_place(graph, options, made, position);
}

/* Is the on-chip value m used by an operand or result of a call up to, and from, position `now`? */
static bool is_live(const weft_graph *graph, const weft_implementation *made, int m, int now) {
    bool before = false, after = false;
    for (int i = 0; i < made->fusion->n_calls; ++i)
        for (int k = 0; k <= graph->calls[made->order[i]].n_operands; ++k)
            if (made->slots[i][k] == m) {
                before |= i <= now;
                after |= i >= now;
            }
    return before && after;
}

/* The position of the call whose result m is; -1: none of this kernel. */
static int producer_of(const weft_graph *graph, const weft_implementation *made, int m) {
    for (int i = 0; made->produced_here[m] && i < made->fusion->n_calls; ++i)
        if (graph->calls[made->order[i]].result == made->onchip[m].value)
            return i;
    return -1;
}

static bool is_on_chip(const weft_graph *graph, const weft_compile_options *options,
                       const weft_implementation *made, int m) {
    const int position =
        exceeds_registers(&made->onchip[m].shape, options) ? producer_of(graph, made, m) : -1;
    return position < 0 || !weft_written_in_place(graph, options, made, position);
}

int weft_peak_not_in_place(const weft_graph *graph, const weft_compile_options *options,
                           const weft_implementation *made) {
    int peak = 0, n_in_place = 0;
    for (int m = 0; m < made->n_onchip; ++m)
        n_in_place += !is_on_chip(graph, options, made, m);
    if (n_in_place == 0)
        return made->onchip_peak;
    for (int now = 0; now < made->fusion->n_calls; ++now) {
        int live = 0;
        for (int m = 0; m < made->n_onchip; ++m)
            if (is_live(graph, made, m, now) && is_on_chip(graph, options, made, m))
                live += weft_shape_count(&made->onchip[m].shape);
        peak = live > peak ? live : peak;
    }
    return peak;
}

/* Can a gather evaluate the call for each contribution: arithmetic on whole lists of the elements, and on scalars of
 * the targets, which it reads through the connectivity of the accumulation? */
static bool is_foldable(const weft_graph *graph, const weft_call *call,
                        const weft_accumulation *a) {
    int n_lists = 0;
    for (int i = 0; i < call->n_operands; ++i) {
        const weft_operand *operand = &call->operands[i];
        const weft_value *value = &graph->values[operand->value];
        const bool is_owner = operand->connectivity == a->connectivity;
        const int width = is_owner ? graph->connectivities[a->connectivity].width : 1;
        n_lists += value->index_set >= 0 && !is_owner;
        if (operand->offset != 0 || (operand->connectivity >= 0 && !is_owner) ||
            (is_owner && weft_shape_count(&value->shape) != 1) ||
            weft_shape_count(&operand->shape) != width * weft_shape_count(&value->shape))
            return false;
    }
    return call->n_arithmetic > 0 && n_lists <= 2;
}

/* Is a fusion one call whose result only the gather of a scalar reads, which can evaluate it itself? That spares a kernel
 * and the contributions in memory. A call of an elementary function would be computed once for each target of its element, and
 * is not evaluated there. */
bool weft_gather_evaluates(const weft_graph *graph, const weft_compile_options *options,
                           bool on_gpu, const weft_fusion *fusion) {
    const weft_call *call = &graph->calls[fusion->calls[0]];
    bool found = false;
    if (!on_gpu || options->plan != WEFT_PLAN_FUSED || fusion->n_calls != 1 || call->result < 0 ||
        graph->values[call->result].storage >= 0 ||
        weft_value_is_live_out(graph, fusion, call->result))
        return false;
    for (int k = 0; k < graph->n_accumulations; ++k) {
        const weft_accumulation *a = &graph->accumulations[k];
        if (a->source != call->result)
            continue;
        if (found || a->call != call->id || !weft_scatter_gathers(options, a) ||
            weft_shape_count(&graph->values[a->target].shape) != 1 || !is_foldable(graph, call, a))
            return false;
        found = true;
    }
    return found;
}
