/* Adds the scheduling directives of a script to its graph: variants of calls, and the block shapes
 * of fuse blocks. */
#include "fusion/base/array.h"
#include "fusion/graph/private.h"

#include <stdio.h>
#include <string.h>

weft_status weft_graph_fuses(weft_graph_builder *builder, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script *script = builder->script;
    weft_fuse *fuses = NULL;
    TRY(WEFT_ALLOC(builder->arena, fuses, (size_t)script->n_fuses + 1, error));
    for (int i = 0; i < script->n_fuses; ++i) {
        fuses[i].place = script->fuses[i].place;
        for (int k = 0; k < FUSE_CHOICES; ++k) {
            const weft_node *node = script->fuses[i].choices[k];
            if (!node)
                continue;
            TRY(weft_script_integer(script, node, &fuses[i].choices[k], error));
            fuses[i].places[k] = node->place;
        }
    }
    builder->graph->togethers = script->togethers;
    builder->graph->fuses = fuses;
    builder->graph->n_fuses = script->n_fuses;
done:
    return status;
}

/* The value that a statement has computed: the result of its outermost call, or a copy of it. */
static int made_by(const weft_graph_builder *builder, const weft_script_statement *statement) {
    const weft_graph *graph = builder->graph;
    if (statement->accumulate)
        return graph->accumulations[graph->n_accumulations - 1].source;
    const binding *b = weft_binding_find(builder, statement->name);
    return b && !b->lazy.arithmetic ? b->lazy.operand.value : -1;
}

static weft_call *outermost_call(const weft_graph_builder *builder,
                                 const weft_script_statement *statement) {
    weft_graph *graph = builder->graph;
    const bool called =
        statement->value->kind == NODE_CALL && weft_is_function(builder, statement->value->name);
    for (int value = called ? made_by(builder, statement) : -1; value >= 0;) {
        const int producer = graph->values[value].producer;
        weft_call *call = producer >= 0 ? &graph->calls[producer] : NULL;
        if (!call || call->specialisation)
            return call;
        value = call->n_operands == 1 ? call->operands[0].value : -1; /* a copy of it */
    }
    return NULL;
}

/* "0 (1 thread), 1 (3 threads) and 2 (9 threads)" */
static void print_variants(const weft_specialisation *specialisation, weft_text *out) {
    for (int i = 0; i < specialisation->n_variants; ++i)
        weft_text_add(out, "%s%d (%d thread%s)",
                      i == 0                                ? ""
                      : i == specialisation->n_variants - 1 ? " and "
                                                            : ", ",
                      i, specialisation->threads[i], specialisation->threads[i] == 1 ? "" : "s");
}

static weft_status no_such_variant(const weft_call *call, weft_location place, int variant,
                                   weft_error *error) {
    weft_text variants = {0};
    print_variants(call->specialisation, &variants);
    weft_error_at(error, WEFT_ERROR_TYPE, place, "'%s' has no variant %d here", call->label,
                  variant);
    weft_error_hint(error, "it has %s%s", call->specialisation->n_variants == 1 ? "only " : "",
                    variants.failed ? "others" : variants.data);
    weft_text_free(&variants);
    return WEFT_ERROR_TYPE;
}

weft_status weft_graph_variant(weft_graph_builder *builder, const weft_script_statement *statement,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_location place = statement->variant->place;
    int variant = 0;
    weft_call *call = outermost_call(builder, statement);
    TRY(weft_script_integer(builder->script, statement->variant, &variant, error));
    if (!call) {
        status = weft_error_at(error, WEFT_ERROR_TYPE, place,
                               "only the call of a function has variants, and '%s' is not a call",
                               statement->name);
        weft_error_hint(error, "give the call that is meant a statement of its own: "
                               "NAME = FUNCTION(...) using variant N;");
        goto done;
    }
    if (variant < 0 || variant >= call->specialisation->n_variants)
        TRY(no_such_variant(call, place, variant, error));
    if (call->variant >= 0 && call->variant != variant) {
        const weft_location first = call->variant_place;
        TRY(weft_error_at(
            error, WEFT_ERROR_TYPE, place,
            "this call is the same as an earlier one, which is to have variant %d (%s:%d:%d)",
            call->variant, first.source->name, first.line, first.column));
    }
    call->variant = variant;
    call->variant_place = place;
done:
    return status;
}
