/* Finds the value of a script whose functions of formulas make it worth storing.
 *
 * Decision  docs/decisions/0011-loop-invariants-are-planned-both-ways.md */
#include "fusion/base/array.h"
#include "fusion/base/intrinsics.h"
#include "fusion/control/program.h"

#include <string.h>

/* Operations of functions in a call; fewer are as cheap as the additions around them. */
static const double COSTLY_FLOPS = 10;

static bool is_costly(const weft_graph *graph, const weft_call *call) {
    const weft_shape *shape = &graph->values[call->result].shape;
    return call->n_arithmetic > 0 &&
           call->flops - weft_arithmetic_flops(call, shape, false) >= COSTLY_FLOPS;
}

/* Mark the calls that depend on the input of this name; calls are in topological order. */
static void mark_dependent(const weft_graph *graph, const char *input, bool *dependent) {
    for (int i = 0; i < graph->n_calls; ++i)
        for (int k = 0; k < graph->calls[i].n_operands; ++k) {
            const weft_value *v = &graph->values[graph->calls[i].operands[k].value];
            dependent[i] |= v->producer >= 0 ? dependent[v->producer] : strcmp(v->name, input) == 0;
        }
}

/* Is the result of a call computed from all costly calls that do not depend on the input?
 *  needed  scratch, [n_calls] */
static bool has_all(const weft_graph *graph, int call, const bool *dependent, bool *needed) {
    int n = 0;
    memset(needed, 0, (size_t)graph->n_calls * sizeof *needed);
    needed[call] = true;
    for (int i = graph->n_calls - 1; i >= 0; --i) {
        if (is_costly(graph, &graph->calls[i]) && !dependent[i]) {
            if (!needed[i])
                return false;
            ++n;
        }
        for (int k = 0; needed[i] && k < graph->calls[i].n_operands; ++k) {
            const int producer = graph->values[graph->calls[i].operands[k].value].producer;
            if (producer >= 0)
                needed[producer] = true;
        }
    }
    return n > 0;
}

weft_status weft_compilation_costly_value(const weft_compilation *compilation,
                                          const char *index_set, const char *changing, bool *found,
                                          weft_name_info *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = compilation->control->segments[0]->graph;
    const weft_value *best = NULL;
    bool *dependent = NULL, *needed = NULL;
    *found = false;
    if (compilation->control->n_segments != 1)
        goto done;
    TRY(WEFT_ALLOC(compilation->arena, dependent, (size_t)graph->n_calls + 1, error));
    TRY(WEFT_ALLOC(compilation->arena, needed, (size_t)graph->n_calls + 1, error));
    mark_dependent(graph, changing, dependent);
    for (int i = 0; i < graph->n_values; ++i) {
        const weft_value *v = &graph->values[i];
        if (v->producer >= 0 && v->named && v->index_set >= 0 &&
            strcmp(graph->index_sets[v->index_set].name, index_set) == 0 &&
            (!best || weft_shape_count(&v->shape) < weft_shape_count(&best->shape)) &&
            !dependent[v->producer] && has_all(graph, v->producer, dependent, needed))
            best = v;
    }
    *found = best != NULL;
    if (best) {
        *out = (weft_name_info){.name = best->name,
                                .kind = WEFT_NAME_VALUE,
                                .over = graph->index_sets[best->index_set].name,
                                .rank = best->shape.rank};
        memcpy(out->sizes, best->shape.sizes, sizeof out->sizes);
    }
done:
    return status;
}
