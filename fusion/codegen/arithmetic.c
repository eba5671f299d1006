/* The text of elementwise arithmetic. Each node of it is written once: a node that several others use gets a name, and so
 * does what is costly and the same for all elements, which is computed before the loop over elements. */
#include "core/base/fault.h"
#include "core/base/number.h"
#include "fusion/codegen/private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Arithmetic that is written, and the names of its nodes: u_CALL_NODE of costly uniform ones, s_CALL_NODE of others. */
typedef struct formula {
    const source_writer *w;
    const weft_call *call;
    char *names; /* [n_arithmetic] 'u', 's'; 0: none */
} formula;

/* ---- names ---- */

/* Does a node contain divisions, powers or functions (costly), or operands (reads)? */
typedef struct contents {
    bool costly, reads;
} contents;

static void find_contents(const weft_call *call, contents *out) {
    for (int i = 0; i < call->n_arithmetic; ++i) {
        const weft_arithmetic *node = &call->arithmetic[i];
        int children[4];
        const int n = weft_arithmetic_children(node, children);
        out[i].costly = node->op == ARITHMETIC_DIVIDE || node->op == ARITHMETIC_POWER ||
                        node->op == ARITHMETIC_INTRINSIC;
        out[i].reads = node->op == ARITHMETIC_OPERAND;
        for (int k = 0; k < n; ++k) {
            out[i].costly |= out[children[k]].costly;
            out[i].reads |= out[children[k]].reads;
        }
    }
}

/* From the root down, since nodes use earlier nodes only: what is hoisted, what is below that, and what is used more
 * than once on each side. */
static void find_names(const formula *f, const contents *all, int *uses, bool *is_below) {
    const weft_call *call = f->call;
    uses[call->n_arithmetic - 1] = 1;
    for (int i = call->n_arithmetic - 1; i >= 0; --i) {
        const weft_arithmetic *node = &call->arithmetic[i];
        int children[4];
        const int n = weft_arithmetic_children(node, children);
        const bool hoists = f->w->hoists && node->is_uniform && all[i].costly && all[i].reads;
        if (uses[i] == 0)
            continue;
        if (hoists && !is_below[i])
            f->names[i] = 'u';
        else if (uses[i] > 1 && n > 0)
            f->names[i] = is_below[i] ? 'u' : 's';
        for (int k = 0; k < n; ++k) {
            ++uses[children[k]];
            is_below[children[k]] |= is_below[i] || f->names[i] == 'u';
        }
    }
}

/* A node that is used both below what is hoisted and elsewhere is computed before the loop, with what is hoisted. */
static formula formula_of(const source_writer *w, const weft_call *call) {
    const size_t n = (size_t)call->n_arithmetic;
    formula f = {.w = w, .call = call};
    contents *all = weft_arena_alloc(w->arena, n, sizeof *all);
    int *uses = weft_arena_alloc(w->arena, n, sizeof *uses);
    bool *is_below = weft_arena_alloc(w->arena, n, sizeof *is_below);
    f.names = weft_arena_alloc(w->arena, n, sizeof *f.names);
    if (!all || !uses || !is_below || !f.names) {
        w->out->failed = true;
        return (formula){.w = w};
    }
    find_contents(call, all);
    find_names(&f, all, uses, is_below);
    return f;
}

/* ---- text ---- */

/* Operator precedence, to write only the parentheses that are needed. */
static int strength(const formula *f, int index) {
    const weft_arithmetic *node = &f->call->arithmetic[index];
    switch (f->names[index] != 0 ? ARITHMETIC_OPERAND : node->op) {
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

static void node_write(const formula *f, int index);

/* A node by its name, if it has one. */
static void value_write(const formula *f, int index) {
    if (f->names[index] != 0)
        weft_text_add(f->w->out, "%c_%d_%d", f->names[index], f->call->id, index);
    else
        node_write(f, index);
}

static void child_write(const formula *f, int child, int needed) {
    const bool parentheses = strength(f, child) < needed;
    weft_text_add(f->w->out, parentheses ? "(" : "");
    value_write(f, child);
    weft_text_add(f->w->out, parentheses ? ")" : "");
}

static void number_write(const source_writer *w, double number) {
    char text[40];
    weft_print(text, sizeof text, "%.17g", number);
    if (isnan(number))
        snprintf(text, sizeof text, "__builtin_nan(\"\")");
    else if (isinf(number))
        snprintf(text, sizeof text, "%s__builtin_inf()", number < 0 ? "-" : "");
    else if (!strpbrk(text, ".e"))
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
static void power_write(const formula *f, const weft_arithmetic *node) {
    int n = 0;
    const bool is_integer = weft_arithmetic_integer_power(f->call, node, &n);
    weft_text_add(f->w->out, is_integer ? "weft_powi(" : "weft_pow(");
    value_write(f, node->a);
    weft_text_add(f->w->out, ", ");
    if (is_integer)
        weft_text_add(f->w->out, "%d", n);
    else
        value_write(f, node->b);
    weft_text_add(f->w->out, ")");
}

static void select_write(const formula *f, const weft_arithmetic *node) {
    weft_text_add(f->w->out, "weft_select(SPLAT(");
    value_write(f, node->a);
    weft_text_add(f->w->out, ") %s SPLAT(", node->name);
    value_write(f, node->b);
    weft_text_add(f->w->out, "), ");
    value_write(f, node->c);
    weft_text_add(f->w->out, ", ");
    value_write(f, node->d);
    weft_text_add(f->w->out, ")");
}

static void node_write(const formula *f, int index) {
    const weft_arithmetic *node = &f->call->arithmetic[index];
    weft_text *out = f->w->out;
    switch (node->op) {
    case ARITHMETIC_NUMBER:
        number_write(f->w, node->number);
        break;
    case ARITHMETIC_OPERAND:
        operand_write(f->w, &f->call->operands[node->operand]);
        break;
    case ARITHMETIC_NEGATE:
        weft_text_add(out, "-");
        child_write(f, node->a, 4);
        break;
    case ARITHMETIC_ADD:
    case ARITHMETIC_SUBTRACT:
        child_write(f, node->a, 1);
        weft_text_add(out, node->op == ARITHMETIC_ADD ? " + " : " - ");
        child_write(f, node->b, 2);
        break;
    case ARITHMETIC_MULTIPLY:
    case ARITHMETIC_DIVIDE:
        child_write(f, node->a, 2);
        weft_text_add(out, node->op == ARITHMETIC_MULTIPLY ? " * " : " / ");
        child_write(f, node->b, 3);
        break;
    case ARITHMETIC_POWER:
        power_write(f, node);
        break;
    case ARITHMETIC_SELECT:
        select_write(f, node);
        break;
    case ARITHMETIC_INTRINSIC:
        weft_text_add(out, "weft_%s(", node->name);
        value_write(f, node->a);
        if (node->b >= 0) {
            weft_text_add(out, ", ");
            value_write(f, node->b);
        }
        weft_text_add(out, ")");
        break;
    }
}

static void declare(const formula *f, char name, const char *indent) {
    for (int i = 0; i < f->call->n_arithmetic; ++i) {
        if (f->names[i] != name)
            continue;
        weft_text_add(f->w->out, "%sconst real %c_%d_%d = SPLAT(", indent, name, f->call->id, i);
        node_write(f, i);
        weft_text_add(f->w->out, ");\n");
    }
}

void weft_source_uniforms(const source_writer *w, const weft_plan_kernel *kernel) {
    const weft_fusion *fusion = kernel->implementation->fusion;
    for (int i = 0; i < fusion->n_calls; ++i) {
        const weft_call *call = &w->graph->calls[fusion->calls[i]];
        const formula f = call->n_arithmetic > 0 ? formula_of(w, call) : (formula){.w = w};
        if (f.call)
            declare(&f, 'u', "    ");
    }
}

static bool has_shared(const formula *f) {
    return memchr(f->names, 's', (size_t)f->call->n_arithmetic) != NULL;
}

void weft_source_assign(const source_writer *w, const weft_call *call, const char *target,
                        const char *indent) {
    const formula f = formula_of(w, call);
    if (!f.call)
        return;
    const bool shares = has_shared(&f);
    if (shares) {
        weft_text_add(w->out, "%s{\n", indent);
        declare(&f, 's', indent);
    }
    weft_text_add(w->out, "%s%sSPLAT(", indent, target);
    value_write(&f, call->n_arithmetic - 1);
    weft_text_add(w->out, ");\n");
    if (shares)
        weft_text_add(w->out, "%s}\n", indent);
}

void weft_source_arithmetic(const source_writer *w, const weft_call *call, const char *result) {
    const int count = weft_shape_count(&w->graph->values[call->result].shape);
    const bool is_scalar = w->graph->values[call->result].shape.rank == 0;
    const char *target = weft_arena_print(w->arena, is_scalar ? "%s[0] = " : "%s[c] = ", result);
    if (!target) {
        w->out->failed = true;
        return;
    }
    if (!is_scalar)
        weft_text_add(w->out, "        UNROLL for (int c = 0; c < %d; ++c)\n", count);
    weft_source_assign(w, call, target, is_scalar ? "        " : "            ");
}
