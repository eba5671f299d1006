/* The statements of one call: an elementary function's body, or elementwise arithmetic (arithmetic.c). */
#include "fusion/codegen/private.h"
#include "fusion/library/native.h"

#include <string.h>

static bool name_taken(const weft_graph *graph, const char *name, int besides) {
    for (int i = 0; i < graph->n_values; ++i)
        if (i != besides && strcmp(graph->values[i].name, name) == 0)
            return true;
    return false;
}

/* Names of the language do not start with a digit, so "v_3_x" and "v_3_1_x" are unique. */
const char *weft_source_variable(const source_writer *w, int value, int connectivity) {
    const char *name = w->graph->values[value].name, *variable = NULL;
    if (connectivity < 0 && name_taken(w->graph, name, value))
        variable = weft_arena_print(w->arena, "v_%d_%s", value, name);
    else if (connectivity < 0)
        variable = weft_arena_print(w->arena, "v_%s", name);
    else {
        const char *map_name = w->graph->connectivities[connectivity].name;
        const char *loaded = weft_arena_print(w->arena, "%s_at_%s", name, map_name);
        const bool clashes = !loaded || name_taken(w->graph, loaded, -1) ||
                             name_taken(w->graph, name, value) || strstr(name, "_at_") ||
                             strstr(map_name, "_at_");
        variable = clashes ? weft_arena_print(w->arena, "v_%d_%d_%s", value, connectivity, name)
                           : weft_arena_print(w->arena, "v_%s", loaded);
    }
    if (!variable)
        w->out->failed = true; /* reported at the end, like text that runs out of memory */
    return variable ? variable : "v_out_of_memory";
}

/* The number of threads of the variant that one thread of the element computes. */
static int rounds(const weft_call *call, int variant, const source_threads *threads) {
    return (call->specialisation->threads[variant] + threads->width - 1) / threads->width;
}

/* Register arrays need constant subscripts: a loop of several rounds over them is unrolled. */
void weft_source_open_threads(const source_writer *w, const weft_call *call, int variant,
                              const source_threads *threads) {
    const int n = call->specialisation->threads[variant];
    bool unrolled = false;
    for (int i = 0; threads->own && i <= call->n_operands; ++i)
        unrolled |= threads->own[i];
    if (threads->width == 0)
        weft_text_add(w->out, "        for (int t = 0; t < %d; t += 1) {\n", n);
    else if (threads->width >= n)
        weft_text_add(w->out, "        if (warp < %d) {\n            const int t = warp;\n", n);
    else if (!unrolled)
        weft_text_add(w->out, "        for (int t = warp; t < %d; t += THREADS_PER_ELEMENT) {\n",
                      n);
    else
        weft_text_add(w->out,
                      "        UNROLL for (int round = 0; round < %d; ++round) {\n"
                      "            const int t = warp + round * THREADS_PER_ELEMENT;\n"
                      "            if (t >= %d)\n                continue;\n",
                      rounds(call, variant, threads), n);
}

const char *weft_source_own(const source_writer *w, const weft_call *call, int variant, int operand,
                            const source_threads *threads) {
    const char *variable = operand < 0 ? weft_source_variable(w, call->result, -1)
                                       : weft_source_variable(w, call->operands[operand].value,
                                                              call->operands[operand].connectivity);
    if (rounds(call, variant, threads) == 1)
        return variable;
    const char *part =
        weft_arena_print(w->arena, "(%s + round * %d)", variable,
                         weft_specialisation_thread_count(call->specialisation, variant, operand));
    w->out->failed |= !part;
    return part ? part : variable;
}

/* One thread runs no body whose threads wait for each other, but the plain one. */
static weft_status function_call(const source_writer *w, const weft_call *call, int variant,
                                 const source_threads *in, weft_error *error) {
    if (weft_specialisation_language(call->specialisation, variant) != LANGUAGE_PLAIN) {
        weft_source_native_call(w, call, variant, in);
        return WEFT_OK;
    }
    if (in->width == 0 && weft_specialisation_has_barriers(call->specialisation, variant))
        variant = weft_function_plain_variant(call->specialisation->function);
    weft_accessor arguments[WEFT_ARGUMENTS_MAX];
    weft_accessor result = {.base = weft_source_variable(w, call->result, -1)};
    const int threads = call->specialisation->threads[variant], n = call->n_operands;
    const weft_body_style style = {.splat = w->backend->splat,
                                   .thread = "t",
                                   .indent = threads > 1 ? "                " : "            ",
                                   .unroll = w->unroll,
                                   .keeps_loops = w->backend->is_threaded,
                                   .barrier = in->width > 0 ? "ELEMENT_BARRIER;\n" : NULL,
                                   .store = in->store};
    for (int i = 0; i < n; ++i) {
        arguments[i] = (weft_accessor){.base = weft_source_variable(w, call->operands[i].value,
                                                                    call->operands[i].connectivity),
                                       .offset = call->operands[i].offset};
        if (in->own && in->own[i])
            arguments[i] =
                (weft_accessor){.base = weft_source_own(w, call, variant, i, in), .own = true};
    }
    if (in->own && in->own[n])
        result = (weft_accessor){.base = weft_source_own(w, call, variant, -1, in), .own = true};
    if (threads > 1)
        weft_source_open_threads(w, call, variant, in);
    else
        weft_text_add(w->out, "        {\n");
    if (weft_function_counts(call->specialisation->function))
        weft_text_add(w->out, "            const real weft_element = %s;\n",
                      w->is_nested ? w->backend->element_of_pair : w->backend->element);
    weft_status status =
        weft_body_emit(call->specialisation, variant, arguments, &result, &style, w->out, error);
    weft_text_add(w->out, "        }\n");
    return status;
}

void weft_source_call_comment(const source_writer *w, const weft_call *call) {
    weft_text_add(w->out, "\n        /* ");
    weft_source_place(w, &call->place);
    weft_text_add(w->out, "  %s = %s(", w->graph->values[call->result].name, call->label);
    for (int i = 0; i < call->n_operands; ++i) {
        const weft_operand *operand = &call->operands[i];
        weft_text_add(w->out, "%s%s", i > 0 ? ", " : "", w->graph->values[operand->value].name);
        if (operand->connectivity >= 0)
            weft_text_add(w->out, "[%s]", w->graph->connectivities[operand->connectivity].name);
    }
    weft_text_add(w->out, ") */\n");
}

weft_status weft_source_call_statements(const source_writer *w, const weft_call *call, int variant,
                                        const source_threads *threads, weft_error *error) {
    if (call->specialisation)
        return function_call(w, call, variant, threads, error);
    weft_source_arithmetic(w, call, weft_source_variable(w, call->result, -1));
    return WEFT_OK;
}

void weft_source_declare_result(const source_writer *w, const weft_call *call) {
    weft_text_add(w->out, "        real %s[%d];\n", weft_source_variable(w, call->result, -1),
                  weft_shape_count(&w->graph->values[call->result].shape));
}

weft_status weft_source_call(const source_writer *w, const weft_call *call, int variant,
                             weft_error *error) {
    weft_source_call_comment(w, call);
    weft_source_declare_result(w, call);
    return weft_source_call_statements(w, call, variant, &(source_threads){.width = 0}, error);
}
