/* Writes an expression of x as formulas, one for each component, in the language of inputs. */
#include "core/base/number.h"
#include "forms/interpret/private.h"

#include <stdio.h>
#include <string.h>

enum {
    FORMULA_MAX = 32768, /* characters: shared operands are written where each is used */
    BOUND_MAX = 64       /* free indices inside each other */
};

typedef struct formula_writer {
    ufl_interpreter *interpreter;
    const ufl_space *space;
    struct {
        int index, value;
    } bound[BOUND_MAX]; /* values of free indices */
    int n_bound;
    size_t start; /* of the formulas in out */
    weft_text *out;
} formula_writer;

/* Operators in increasing order of binding: an operand of a lower level gets parentheses. */
enum { ANY, SUM, PRODUCT, ATOM };

static bool write_node(formula_writer *w, const ufl_node *node, const int *component, int level);

/* ---- errors ------------------------------------------------------------------------------ */

static const char *variable_of(const ufl_names *names, const ufl_node *terminal) {
    const ufl_scope *scope = ((const ufl_interpreter *)names->user)->globals;
    for (size_t i = 0; i < (size_t)1 << scope->bits; ++i)
        if (scope->names[i] && scope->values[i].kind == UFL_K_NODE &&
            scope->values[i].node == terminal)
            return scope->names[i];
    return NULL;
}

static bool refuse(const formula_writer *w, const ufl_node *node) {
    const ufl_names names = {variable_of, w->interpreter};
    weft_text text = {0};
    ufl_expression_text(node, &names, 60, &text);
    ufl_wrong(w->interpreter, WEFT_ERROR_UNSUPPORTED,
              "the value of a Function is a formula of x and numbers, and this one contains %s",
              text.data && !text.failed ? text.data : "something else");
    ufl_hint(w->interpreter->context,
             "write it in the integrand, or write f = Coefficient(V) and give the values of f by "
             "--input f=FORMULA");
    weft_text_free(&text);
    return false;
}

/* ---- indices ----------------------------------------------------------------------------- */

static int value_of(const formula_writer *w, int index) {
    for (int i = w->n_bound - 1; index < 0 && i >= 0; --i)
        if (w->bound[i].index == index)
            return w->bound[i].value;
    return index;
}

static bool bind(formula_writer *w, int index, int value) {
    if (w->n_bound == BOUND_MAX) {
        ufl_wrong(w->interpreter, WEFT_ERROR_UNSUPPORTED,
                  "the value of a Function has more than %d indices inside each other", BOUND_MAX);
        return false;
    }
    w->bound[w->n_bound].index = index;
    w->bound[w->n_bound++].value = value;
    return true;
}

/* Index notation. */
static bool write_tensor(formula_writer *w, const ufl_node *node, const int *component, int level) {
    const ufl_node *a = ufl_operand(node, 0);
    const int n_bound = w->n_bound;
    int at[UFL_RANK_MAX];
    bool fine = true;
    switch (node->type) {
    case UFL_INDEXED:
        for (int i = 0; i < node->n_indices; ++i)
            at[i] = value_of(w, node->indices[i]);
        return write_node(w, a, at, level);
    case UFL_LIST_TENSOR:
        return write_node(w, ufl_operand(node, component[0]), component + 1, level);
    case UFL_COMPONENT_TENSOR:
        for (int i = 0; fine && i < node->n_indices; ++i)
            fine = bind(w, node->indices[i], component[i]);
        fine = fine && write_node(w, a, NULL, level);
        break;
    default: /* UFL_INDEX_SUM */
        weft_text_add(w->out, "%s", level > SUM ? "(" : "");
        int size = 0;
        for (int i = 0; i < a->n_free; ++i)
            if (UFL_FREE(a->free[i].number) == node->indices[0])
                size = a->free[i].dimension;
        for (int k = 0; fine && k < size; ++k) {
            weft_text_add(w->out, "%s", k > 0 ? " + " : "");
            fine = bind(w, node->indices[0], k) && write_node(w, a, component, SUM);
            w->n_bound = n_bound;
        }
        weft_text_add(w->out, "%s", level > SUM ? ")" : "");
    }
    w->n_bound = n_bound;
    return fine;
}

/* ---- conditions: formulas have select(a < b, v, w) and `and` ------------------------------- */

/* select(left SYMBOL right, ...), also of both directions for == */
static bool write_comparison(formula_writer *w, const ufl_node *node) {
    static const char *const symbols[] = {[UFL_EQ] = "<=", [UFL_LE] = "<=", [UFL_GE] = ">=",
                                          [UFL_LT] = "<",  [UFL_GT] = ">",  [UFL_NE] = "<="};
    const ufl_node *a = ufl_operand(node, 0), *b = ufl_operand(node, 1);
    if (!write_node(w, a, NULL, SUM))
        return false;
    weft_text_add(w->out, " %s ", symbols[node->detail]);
    if (!write_node(w, b, NULL, SUM) || (node->detail != UFL_EQ && node->detail != UFL_NE))
        return w->interpreter->context->status == WEFT_OK;
    weft_text_add(w->out, " and ");
    if (!write_node(w, b, NULL, SUM))
        return false;
    weft_text_add(w->out, " <= ");
    return write_node(w, a, NULL, SUM);
}

/* a and b ? yes : no is a ? (b ? yes : no) : no; a or b ? yes : no is a ? yes : (b ? yes : no). */
static bool write_select(formula_writer *w, const ufl_node *condition, const ufl_node *yes,
                         const ufl_node *no, const int *component) {
    const bool is_and = condition->type == UFL_AND, swaps = condition->detail == UFL_NE;
    if (condition->type == UFL_NOT)
        return write_select(w, ufl_operand(condition, 0), no, yes, component);
    if (condition->type != UFL_COMPARE) {
        const ufl_node *inner =
            ufl_conditional(w->interpreter->graph, ufl_operand(condition, 1), yes, no);
        return inner && write_select(w, ufl_operand(condition, 0), is_and ? inner : yes,
                                     is_and ? no : inner, component);
    }
    weft_text_add(w->out, "select(");
    if (!write_comparison(w, condition))
        return false;
    weft_text_add(w->out, ", ");
    if (!write_node(w, swaps ? no : yes, component, ANY))
        return false;
    weft_text_add(w->out, ", ");
    if (!write_node(w, swaps ? yes : no, component, ANY))
        return false;
    weft_text_add(w->out, ")");
    return true;
}

/* ---- algebra ----------------------------------------------------------------------------- */

static bool write_number(const formula_writer *w, double number, int level) {
    char digits[32];
    weft_number_print(number, 1, digits);
    const bool bracketed = number < 0 && level > ANY;
    weft_text_add(w->out, bracketed ? "(%s)" : "%s", digits);
    return true;
}

static bool write_infix(formula_writer *w, const ufl_node *node, const int *component,
                        const char *symbol, int own, int level) {
    const bool is_power = node->type == UFL_POWER, is_quotient = node->type == UFL_DIVISION;
    const int left = is_power ? ATOM : own, right = is_power || is_quotient ? ATOM : own;
    weft_text_add(w->out, "%s", own < level ? "(" : "");
    if (!write_node(w, ufl_operand(node, 0), component, left))
        return false;
    weft_text_add(w->out, "%s", symbol);
    if (!write_node(w, ufl_operand(node, 1), node->type == UFL_SUM ? component : NULL, right))
        return false;
    weft_text_add(w->out, "%s", own < level ? ")" : "");
    return true;
}

static bool write_call(formula_writer *w, const ufl_node *node, const int *component,
                       const char *name) {
    weft_text_add(w->out, "%s(", name);
    for (int i = 0; i < node->n_operands; ++i) {
        weft_text_add(w->out, "%s", i > 0 ? ", " : "");
        if (!write_node(w, ufl_operand(node, i), component, ANY))
            return false;
    }
    weft_text_add(w->out, ")");
    return true;
}

static bool write_terminal(formula_writer *w, const ufl_node *node, const int *component,
                           int level) {
    static const char *const axes[] = {"x", "y", "z"};
    switch (node->type) {
    case UFL_ZERO:
        return write_number(w, 0, level);
    case UFL_INT:
    case UFL_FLOAT:
        return write_number(w, ufl_number(node), level);
    case UFL_IDENTITY:
        return write_number(w, component[0] == component[1], level);
    case UFL_GEOMETRY:
        if (node->detail != UFL_SPATIAL_COORDINATE)
            return refuse(w, node);
        weft_text_add(w->out, "%s", axes[component[0]]);
        return true;
    case UFL_COEFFICIENT:
        for (int i = 0; i < w->interpreter->n_values; ++i)
            if (w->interpreter->values[i].function == node && node->space == w->space)
                return write_node(w, w->interpreter->values[i].value, component, level);
        return refuse(w, node);
    default:
        return refuse(w, node);
    }
}

static bool write_function(formula_writer *w, const ufl_node *node, const int *component) {
    switch (node->type) {
    case UFL_MATH:
        return write_call(w, node, NULL,
                          node->detail == UFL_LN ? "log"
                                                 : ufl_function_name((ufl_function)node->detail));
    case UFL_ABS:
        return write_call(w, node, component, "abs");
    case UFL_ATAN2:
        return write_call(w, node, NULL, "atan2");
    case UFL_MIN:
        return write_call(w, node, NULL, "min");
    case UFL_MAX:
        return write_call(w, node, NULL, "max");
    default:
        return refuse(w, node);
    }
}

static bool write_node(formula_writer *w, const ufl_node *node, const int *component, int level) {
    if (w->out->failed)
        return false;
    if (w->out->length - w->start > FORMULA_MAX) {
        ufl_wrong(w->interpreter, WEFT_ERROR_UNSUPPORTED,
                  "the value of a Function has more than %d characters as a formula", FORMULA_MAX);
        return false;
    }
    switch (node->type) {
    case UFL_INDEXED:
    case UFL_COMPONENT_TENSOR:
    case UFL_INDEX_SUM:
    case UFL_LIST_TENSOR:
        return write_tensor(w, node, component, level);
    case UFL_SUM:
        return write_infix(w, node, component, " + ", SUM, level);
    case UFL_PRODUCT:
        return write_infix(w, node, component, "*", PRODUCT, level);
    case UFL_DIVISION:
        return write_infix(w, node, component, "/", PRODUCT, level);
    case UFL_POWER:
        return write_infix(w, node, component, "^", PRODUCT, level);
    case UFL_CONDITIONAL:
        return write_select(w, ufl_operand(node, 0), ufl_operand(node, 1), ufl_operand(node, 2),
                            component);
    case UFL_VARIABLE:
        return write_node(w, ufl_operand(node, 0), component, level);
    default:
        return ufl_is_terminal(node) ? write_terminal(w, node, component, level)
                                     : write_function(w, node, component);
    }
}

const char *ufl_formula(ufl_interpreter *interpreter, const ufl_node *node,
                        const ufl_space *space) {
    weft_text text = {0};
    formula_writer w = {.interpreter = interpreter, .space = space, .out = &text};
    const char *made = NULL;
    int component[UFL_RANK_MAX] = {0}, size = 1;
    bool fine = true;
    for (int i = 0; i < node->rank; ++i)
        size *= node->shape[i];
    for (int k = 0; fine && k < size; ++k) {
        for (int i = node->rank - 1, rest = k; i >= 0; rest /= node->shape[i], --i)
            component[i] = rest % node->shape[i];
        weft_text_add(&text, "%s", k > 0 ? ", " : "");
        w.start = text.length;
        fine = write_node(&w, node, component, ANY);
    }
    if (text.failed && interpreter->context->status == WEFT_OK)
        interpreter->context->status = weft_out_of_memory(interpreter->context->error, NULL);
    if (fine && !text.failed)
        made = ufl_copy(interpreter->context, text.data, text.length);
    weft_text_free(&text);
    return made;
}
