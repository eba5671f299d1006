/* Evaluates integer terms in sizes, and estimates flops. */
#include "fusion/library/function.h"

const char *weft_term_binary(weft_binary binary, int64_t a, int64_t b, int64_t *out) {
    /* in the order of weft_binary */
    const bool logical[] = {a || b, a && b, a == b, a != b, a<b, a <= b, a> b, a >= b};
    bool overflow = false;
    if (binary < BINARY_ADD)
        *out = logical[binary];
    else if (binary == BINARY_ADD)
        overflow = __builtin_add_overflow(a, b, out);
    else if (binary == BINARY_SUBTRACT)
        overflow = __builtin_sub_overflow(a, b, out);
    else if (binary == BINARY_MULTIPLY)
        overflow = __builtin_mul_overflow(a, b, out);
    else if (b == 0)
        return "a division by zero";
    else if (b == -1)
        *out = binary == BINARY_MODULO ? 0 : -a;
    else
        *out = binary == BINARY_MODULO ? a % b : a / b;
    return overflow || *out > INT32_MAX || *out < -(int64_t)INT32_MAX ? "an integer beyond 2^31"
                                                                      : NULL;
}

const char *weft_term_evaluate(const weft_term *term, const int *values, const bool *bound,
                               int64_t *out) {
    int64_t a = 0, b = 0;
    const char *wrong;
    switch (term->kind) {
    case TERM_INTEGER:
        *out = term->integer;
        return NULL;
    case TERM_SIZE:
        if (bound && !bound[term->index])
            return "a size that is not known";
        *out = values[term->index];
        return NULL;
    case TERM_NEGATE:
    case TERM_NOT:
        wrong = weft_term_evaluate(term->children[0], values, bound, &a);
        *out = term->kind == TERM_NOT ? !a : -a;
        return wrong;
    case TERM_BINARY:
        wrong = weft_term_evaluate(term->children[0], values, bound, &a);
        if (!wrong)
            wrong = weft_term_evaluate(term->children[1], values, bound, &b);
        return wrong ? wrong : weft_term_binary(term->binary, a, b, out);
    default:
        return "no integer expression";
    }
}

double weft_term_estimate(const weft_term *term, const int *values) {
    double a, b;
    int64_t holds = 0;
    switch (term->kind) {
    case TERM_INTEGER:
    case TERM_NUMBER:
        return term->number;
    case TERM_SIZE:
        return values[term->index];
    case TERM_NEGATE:
        return -weft_term_estimate(term->children[0], values);
    case TERM_INTRINSIC:
        if (weft_term_evaluate(term->children[0], values, NULL, &holds))
            return 0;
        return weft_term_estimate(term->children[holds ? 1 : 2], values);
    case TERM_BINARY:
        a = weft_term_estimate(term->children[0], values);
        b = weft_term_estimate(term->children[1], values);
        return term->binary == BINARY_ADD        ? a + b
               : term->binary == BINARY_SUBTRACT ? a - b
               : term->binary == BINARY_MULTIPLY ? a * b
               : term->binary == BINARY_DIVIDE   ? (b != 0 ? a / b : 0)
                                                 : 0;
    default:
        return 0;
    }
}

int weft_term_linear(const weft_term *term, int64_t *added) {
    *added = 0;
    if (term->kind == TERM_BINARY &&
        (term->binary == BINARY_ADD || term->binary == BINARY_SUBTRACT)) {
        const weft_term *a = term->children[0], *b = term->children[1];
        if (a->kind == TERM_SIZE && b->kind == TERM_INTEGER) {
            *added = term->binary == BINARY_ADD ? b->integer : -b->integer;
            return a->index;
        }
        if (a->kind == TERM_INTEGER && b->kind == TERM_SIZE && term->binary == BINARY_ADD) {
            *added = a->integer;
            return b->index;
        }
        return -1;
    }
    return term->kind == TERM_SIZE ? term->index : -1;
}

bool weft_term_divides(const weft_term *term) {
    if (term->kind != TERM_BINARY && term->kind != TERM_NEGATE)
        return false;
    if (term->kind == TERM_BINARY && term->binary == BINARY_DIVIDE)
        return true;
    bool found = false;
    for (int i = 0; i < term->n_children; ++i)
        found = found || weft_term_divides(term->children[i]);
    return found;
}
