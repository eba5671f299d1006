/* The statements of one call: an elementary function's body, or elementwise arithmetic. */
#include "core/base/fault.h"
#include "core/base/number.h"
#include "fusion/codegen/private.h"

#include <math.h>
#include <stdio.h>
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
        const bool clashes = loaded == NULL || name_taken(w->graph, loaded, -1) ||
                             name_taken(w->graph, name, value) || strstr(name, "_at_") != NULL ||
                             strstr(map_name, "_at_") != NULL;
        variable = clashes ? weft_arena_print(w->arena, "v_%d_%d_%s", value, connectivity, name)
                           : weft_arena_print(w->arena, "v_%s", loaded);
    }
    if (variable == NULL)
        w->out->failed = true; /* reported at the end, like text that runs out of memory */
    return variable != NULL ? variable : "v_out_of_memory";
}

/* Operator precedence, to write only the parentheses that are needed. */
static int strength(const weft_arithmetic *node) {
    switch (node->op) {
    case ARITHMETIC_ADD:
    case ARITHMETIC_SUBTRACT:
        return 1;
    case ARITHMETIC_MULTIPLY:
    case ARITHMETIC_DIVIDE:
        return 2;
    case ARITHMETIC_NEGATE:
        return 3;
    case ARITHMETIC_NUMBER:
        return node->number < 0 || signbit(node->number) ? 3 : 4;
    default:
        return 4;
    }
}

static void arithmetic_write(const source_writer *w, const weft_call *call, int index);

/* ---- hoisting: costly subexpressions that are the same for all elements ---- */

/* Does it contain divisions, powers or functions? *reads: does it read an operand? */
static bool is_costly(const weft_call *call, int index, bool *reads) {
    const weft_arithmetic *node = &call->arithmetic[index];
    int children[4];
    const int n = weft_arithmetic_children(node, children);
    bool costly = node->op == ARITHMETIC_DIVIDE || node->op == ARITHMETIC_POWER ||
                  node->op == ARITHMETIC_INTRINSIC;
    *reads |= node->op == ARITHMETIC_OPERAND;
    for (int i = 0; i < n; ++i)
        costly |= is_costly(call, children[i], reads);
    return costly;
}

static bool is_hoisted(const source_writer *w, const weft_call *call, int index) {
    bool reads = false;
    return w->hoists && weft_arithmetic_is_uniform(w->graph, call, index) &&
           is_costly(call, index, &reads) && reads;
}

/* Declare the outermost hoisted subexpressions below a node. */
static void hoist(const source_writer *w, const weft_call *call, int index) {
    const weft_arithmetic *node = &call->arithmetic[index];
    int children[4];
    const int n = weft_arithmetic_children(node, children);
    source_writer plain = *w;
    plain.hoists = false;
    if (is_hoisted(w, call, index)) {
        weft_text_add(w->out, "    const real u_%d_%d = SPLAT(", call->id, index);
        arithmetic_write(&plain, call, index);
        weft_text_add(w->out, ");\n");
        return;
    }
    for (int i = 0; i < n; ++i)
        hoist(w, call, children[i]);
}

void weft_source_uniforms(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_fusion *fusion = kernel->implementation->fusion;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const weft_call *call = &w->graph->calls[fusion->calls[i]];
        if (call->n_arithmetic > 0)
            hoist(w, call, call->n_arithmetic - 1);
    }
}

static void child_write(const source_writer *w, const weft_call *call, int child, int needed) {
    const bool parentheses =
        strength(&call->arithmetic[child]) < needed && !is_hoisted(w, call, child);
    weft_text_add(w->out, parentheses ? "(" : "");
    arithmetic_write(w, call, child);
    weft_text_add(w->out, parentheses ? ")" : "");
}

static void number_write(const source_writer *w, double number) {
    char text[40];
    weft_print(text, sizeof text, "%.17g", number);
    if (isnan(number))
        snprintf(text, sizeof text, "__builtin_nan(\"\")");
    else if (isinf(number))
        snprintf(text, sizeof text, "%s__builtin_inf()", number < 0 ? "-" : "");
    else if (strpbrk(text, ".e") == NULL)
        strcat(text, ".0");
    weft_text_add(w->out, w->single ? "(scalar)%s" : "%s", text);
}

static void operand_write(const source_writer *w, const weft_operand *operand) {
    const char *variable = weft_source_variable(w, operand->value, operand->connectivity);
    if (operand->shape.rank == 0)
        weft_text_add(w->out, "%s[%d]", variable, operand->offset);
    else if (operand->offset == 0 || (operand->connectivity >= 0 && weft_fault("offset_lost")))
        weft_text_add(w->out, "%s[c]", variable);
    else
        weft_text_add(w->out, "%s[%d + c]", variable, operand->offset);
}

/* x^n with a literal integer n, |n| <= 64, is weft_powi; anything else is weft_pow. */
static void power_write(const source_writer *w, const weft_call *call,
                        const weft_arithmetic *node) {
    int n = 0;
    if (weft_arithmetic_integer_power(call, node, &n)) {
        weft_text_add(w->out, "weft_powi(");
        arithmetic_write(w, call, node->a);
        weft_text_add(w->out, ", %d)", n);
    } else {
        weft_text_add(w->out, "weft_pow(");
        arithmetic_write(w, call, node->a);
        weft_text_add(w->out, ", ");
        arithmetic_write(w, call, node->b);
        weft_text_add(w->out, ")");
    }
}

static void arithmetic_write(const source_writer *w, const weft_call *call, int index) {
    const weft_arithmetic *node = &call->arithmetic[index];
    if (is_hoisted(w, call, index)) {
        weft_text_add(w->out, "u_%d_%d", call->id, index);
        return;
    }
    switch (node->op) {
    case ARITHMETIC_NUMBER:
        number_write(w, node->number);
        break;
    case ARITHMETIC_OPERAND:
        operand_write(w, &call->operands[node->operand]);
        break;
    case ARITHMETIC_NEGATE:
        weft_text_add(w->out, "-");
        child_write(w, call, node->a, 4);
        break;
    case ARITHMETIC_ADD:
    case ARITHMETIC_SUBTRACT:
        child_write(w, call, node->a, 1);
        weft_text_add(w->out, node->op == ARITHMETIC_ADD ? " + " : " - ");
        child_write(w, call, node->b, 2);
        break;
    case ARITHMETIC_MULTIPLY:
    case ARITHMETIC_DIVIDE:
        child_write(w, call, node->a, 2);
        weft_text_add(w->out, node->op == ARITHMETIC_MULTIPLY ? " * " : " / ");
        child_write(w, call, node->b, 3);
        break;
    case ARITHMETIC_POWER:
        power_write(w, call, node);
        break;
    case ARITHMETIC_SELECT:
        weft_text_add(w->out, "weft_select(SPLAT(");
        arithmetic_write(w, call, node->a);
        weft_text_add(w->out, ") %s SPLAT(", node->name);
        arithmetic_write(w, call, node->b);
        weft_text_add(w->out, "), ");
        arithmetic_write(w, call, node->c);
        weft_text_add(w->out, ", ");
        arithmetic_write(w, call, node->d);
        weft_text_add(w->out, ")");
        break;
    case ARITHMETIC_INTRINSIC:
        weft_text_add(w->out, "weft_%s(", node->name);
        arithmetic_write(w, call, node->a);
        if (node->b >= 0) {
            weft_text_add(w->out, ", ");
            arithmetic_write(w, call, node->b);
        }
        weft_text_add(w->out, ")");
        break;
    }
}

void weft_source_arithmetic_value(const source_writer *w, const weft_call *call) {
    weft_text_add(w->out, "SPLAT(");
    arithmetic_write(w, call, call->n_arithmetic - 1);
    weft_text_add(w->out, ")");
}

void weft_source_arithmetic(const source_writer *w, const weft_call *call, const char *result) {
    const int count = weft_shape_count(&w->graph->values[call->result].shape);
    if (w->graph->values[call->result].shape.rank == 0)
        weft_text_add(w->out, "        %s[0] = ", result);
    else
        weft_text_add(w->out,
                      "        UNROLL for (int c = 0; c < %d; ++c)\n            %s[c] = ", count,
                      result);
    weft_source_arithmetic_value(w, call);
    weft_text_add(w->out, ";\n");
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
    for (int i = 0; threads->own != NULL && i <= call->n_operands; ++i)
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
    w->out->failed |= part == NULL;
    return part != NULL ? part : variable;
}

static weft_status function_call(const source_writer *w, const weft_call *call, int variant,
                                 const source_threads *in, weft_error *error) {
    weft_accessor arguments[WEFT_ARGUMENTS_MAX];
    weft_accessor result = {.base = weft_source_variable(w, call->result, -1)};
    const int threads = call->specialisation->threads[variant], n = call->n_operands;
    const weft_body_style style = {.splat = w->backend->splat,
                                   .thread = "t",
                                   .indent = threads > 1 ? "                " : "            ",
                                   .unroll = w->unroll,
                                   .store = in->store};
    for (int i = 0; i < n; ++i) {
        arguments[i] = (weft_accessor){.base = weft_source_variable(w, call->operands[i].value,
                                                                    call->operands[i].connectivity),
                                       .offset = call->operands[i].offset};
        if (in->own != NULL && in->own[i])
            arguments[i] =
                (weft_accessor){.base = weft_source_own(w, call, variant, i, in), .own = true};
    }
    if (in->own != NULL && in->own[n])
        result = (weft_accessor){.base = weft_source_own(w, call, variant, -1, in), .own = true};
    if (threads > 1)
        weft_source_open_threads(w, call, variant, in);
    else
        weft_text_add(w->out, "        {\n");
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
    if (call->specialisation != NULL)
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
