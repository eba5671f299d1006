/* Native bodies in generated code: their functions before a kernel, and calls of them. All threads of a block take part in the call
 * of a body of several threads, so that it may wait for others; each has its part of the result in registers, which
 * are copied to shared memory where other threads read them. */
#include "fusion/library/native.h"
#include "core/base/fault.h"
#include "fusion/codegen/private.h"

static const char *name_of(const source_writer *w, const weft_call *call) {
    const char *name = weft_arena_print(w->arena, "native_%s_%d", w->kernel, call->id);
    w->out->failed |= !name;
    return name ? name : "native";
}

/* Has each thread its part of the result alone, in the order of its components? */
static bool result_is_own(const weft_call *call, int variant) {
    return weft_specialisation_is_joint(call->specialisation, variant) &&
           weft_specialisation_thread_count(call->specialisation, variant, -1) > 0;
}

static bool operand_is_own(const weft_implementation *one, int position, int operand) {
    const int m = one->slots[position][operand];
    const bool copied = !one->produced_here[m] && weft_shape_count(&one->onchip[m].shape) == 1;
    return one->threads_per_element > 0 && one->placement[m] == PLACE_OWN_REGISTER && !copied;
}

static void write_function(const source_writer *w, const weft_implementation *one, int position) {
    const weft_call *call = &w->graph->calls[one->order[position]];
    const int variant = one->variants[position], n = call->n_operands;
    bool own[WEFT_ARGUMENTS_MAX + 1];
    int offsets[WEFT_ARGUMENTS_MAX + 1];
    for (int k = 0; k < n; ++k) {
        own[k] = weft_specialisation_is_joint(call->specialisation, variant) &&
                 operand_is_own(one, position, k);
        offsets[k] = own[k] ? 0 : call->operands[k].offset;
    }
    own[n] = result_is_own(call, variant);
    const weft_native_style style = {.name = name_of(w, call),
                                     .own = own,
                                     .offsets = offsets,
                                     .stored_own = operand_is_own(one, position, n)};
    weft_native_print(call->specialisation, variant, &style, w->out);
}

void weft_source_natives(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_implementation *one = kernel->implementation;
    for (int i = 0; one && !one->is_dense && i < one->fusion->n_calls; ++i) {
        const weft_call *call = &w->graph->calls[one->order[i]];
        if (call->specialisation &&
            weft_specialisation_language(call->specialisation, one->variants[i]) != LANGUAGE_PLAIN)
            write_function(w, one, i);
    }
}

/* ---- a call ---------------------------------------------------------------------------------- */

static void write_arguments(const source_writer *w, const weft_call *call) {
    for (int i = 0; i < call->n_operands; ++i) {
        const weft_operand *operand = &call->operands[i];
        const char *v = weft_source_variable(w, operand->value, operand->connectivity);
        if (operand->shape.rank == 0)
            weft_text_add(w->out, "%s[%d], ", v, operand->offset);
        else
            weft_text_add(w->out, "%s, ", v);
    }
}

/* The components of thread t from its array into the list of all. */
static void copy_result(const source_writer *w, const weft_call *call, int variant) {
    const weft_specialisation *specialisation = call->specialisation;
    const char *v = weft_source_variable(w, call->result, -1);
    const int n = weft_shape_count(&specialisation->result);
    const int own = weft_specialisation_thread_count(specialisation, variant, -1);
    for (int k = 0; k < own; ++k) {
        weft_text_add(w->out, "            %s[", v);
        weft_specialisation_component(specialisation, variant, -1, k, "t", w->out);
        weft_text_add(w->out, "] = result_[%d];\n", k);
    }
    for (int first = 0, last = 0; own == 0 && first < n; first = last) {
        const int writer = weft_specialisation_writer(specialisation, variant, first);
        while (last < n && weft_specialisation_writer(specialisation, variant, last) == writer)
            ++last;
        weft_text_add(w->out,
                      "            if (t == %d)\n"
                      "                UNROLL for (int c = %d; c < %d; ++c)\n"
                      "                    %s[c] = result_[c];\n",
                      weft_fault("native_part_ignored") ? 0 : writer, first, last, v);
    }
}

/* All threads call it; the element's shared memory begins with what bodies ask for. */
static void write_joint_call(const source_writer *w, const weft_call *call, int variant,
                             const source_threads *in) {
    const int own = weft_specialisation_thread_count(call->specialisation, variant, -1);
    const bool in_place = in->own && in->own[call->n_operands];
    weft_text_add(w->out, "        {\n            const int t = warp;\n");
    if (!in_place)
        weft_text_add(w->out, "            real result_[%d];\n",
                      own > 0 ? own : weft_shape_count(&call->specialisation->result));
    weft_text_add(w->out, "            %s(", name_of(w, call));
    write_arguments(w, call);
    weft_text_add(w->out, "%s, t, scratch);\n",
                  in_place ? weft_source_variable(w, call->result, -1) : "result_");
    if (!in_place)
        copy_result(w, call, variant);
    weft_text_add(w->out, "        }\n");
}

bool weft_source_native_move(const source_writer *w, const weft_call *call, int variant,
                             int operand) {
    const weft_specialisation *specialisation = call->specialisation;
    if (!specialisation || !weft_specialisation_moves(specialisation, variant, operand))
        return false;
    const int number = operand < 0 ? call->result : call->operands[operand].value;
    const weft_value *value = &w->graph->values[number];
    const char *p = weft_source_variable(w, weft_value_storage(w->graph, number), -1) + 2;
    const int count = weft_shape_count(&value->shape);
    const bool plain = w->graph->index_sets[value->index_set].plain;
    weft_text_add(w->out, "        %s_move%d<%s>(%s, p_%s + %s%d%s, warp);\n", name_of(w, call),
                  operand + 1, plain ? "1" : "LANES", weft_source_variable(w, number, -1), p,
                  plain ? "element * " : "block * (", count, plain ? "" : " * LANES) + lane");
    return true;
}

void weft_source_native_call(const source_writer *w, const weft_call *call, int variant,
                             const source_threads *in) {
    if (weft_specialisation_is_joint(call->specialisation, variant)) {
        write_joint_call(w, call, variant, in);
        return;
    }
    const char *v = weft_source_variable(w, call->result, -1);
    weft_text_add(w->out, "        %s(", name_of(w, call));
    write_arguments(w, call);
    weft_text_add(w->out, call->specialisation->result.rank == 0 ? "&%s[0]);\n" : "%s);\n", v);
}
