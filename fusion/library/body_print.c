/* Prints expressions of bodies as generated code. */
#include "core/base/number.h"
#include "fusion/base/intrinsics.h"
#include "fusion/library/body.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const symbols[] = {" || ", " && ", " == ", " != ", " < ", " <= ", " > ",
                                      " >= ", " + ",  " - ",  " * ",  " / ", " % "};
static const int levels[] = {1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 6};
enum { LEVEL_UNARY = 7 };

static void add(body_writer *w, const char *text) {
    weft_text_add_bytes(w->out, text, strlen(text));
}

static void print_integer(body_writer *w, const weft_term *term, int level) {
    int64_t value;
    if (weft_body_integer(w, term, &value)) {
        weft_text_add(w->out, value < 0 && level > 0 ? "(%lld)" : "%lld", (long long)value);
        return;
    }
    switch (term->kind) {
    case TERM_THREAD:
        add(w, w->style->thread);
        break;
    case TERM_LOCAL:
        add(w, w->variant->body.locals[term->index].name);
        break;
    case TERM_NEGATE:
    case TERM_NOT:
        add(w, term->kind == TERM_NOT ? "!" : "-");
        print_integer(w, term->children[0], LEVEL_UNARY);
        break;
    case TERM_BINARY: {
        int own = levels[term->binary];
        bool open = own < level || (level == 2 && own == 1);
        add(w, open ? "(" : "");
        print_integer(w, term->children[0], own);
        add(w, symbols[term->binary]);
        print_integer(w, term->children[1], own + 1);
        add(w, open ? ")" : "");
        break;
    }
    default:
        break;
    }
}

void weft_body_print_integer(body_writer *w, const weft_term *term) {
    print_integer(w, term, 0);
}

/* (i - t) / 32: which of the subscripts t::32 it is */
static void print_number_of_step(body_writer *w, const weft_term *subscript, const weft_term *from,
                                 const weft_term *step) {
    add(w, "(");
    print_integer(w, subscript, 5);
    add(w, " - ");
    print_integer(w, from, 6);
    add(w, ") / ");
    print_integer(w, step, LEVEL_UNARY);
}

/* base[i * 3 + l + 4]: known parts of the subscript are added up. own: the pattern of an operand
 * that holds the thread's own components alone; its subscripts in t select nothing then. */
static void print_component(body_writer *w, const char *base, int64_t offset, const weft_term *term,
                            const weft_shape *shape, const weft_pattern *own) {
    int64_t stride = 1, value;
    int64_t strides[WEFT_RANK_MAX];
    for (int k = shape->rank - 1; k >= 0; --k) {
        strides[k] = stride;
        if (own && own->steps[k] && weft_body_integer(w, own->steps[k], &value))
            stride *= shape->sizes[k] / value;
        else
            stride *= !own || !own->subscripts[k] ? shape->sizes[k] : 1;
    }
    bool first = true;
    weft_text_add(w->out, "%s[", base);
    for (int k = 0; k < shape->rank; ++k) {
        if (own && own->subscripts[k] && !own->steps[k])
            continue;
        if (own && own->steps[k]) {
            add(w, first ? "" : " + ");
            first = false;
            print_number_of_step(w, term->children[k], own->subscripts[k], own->steps[k]);
            if (strides[k] != 1)
                weft_text_add(w->out, " * %lld", (long long)strides[k]);
            continue;
        }
        if (weft_body_integer(w, term->children[k], &value)) {
            offset += value * strides[k];
            continue;
        }
        add(w, first ? "" : " + ");
        first = false;
        print_integer(w, term->children[k], strides[k] == 1 ? 5 : 6);
        if (strides[k] != 1)
            weft_text_add(w->out, " * %lld", (long long)strides[k]);
    }
    if (first)
        weft_text_add(w->out, "%lld]", (long long)offset);
    else if (offset != 0)
        weft_text_add(w->out, " %c %lld]", offset < 0 ? '-' : '+',
                      (long long)(offset < 0 ? -offset : offset));
    else
        add(w, "]");
}

/* See body_writer. */
static uint64_t slices_of(const body_writer *w, const weft_term *table) {
    int64_t slice = 0;
    if (!weft_body_integer(w, table->children[0], &slice))
        return UINT64_MAX;
    return UINT64_C(1) << (slice < 63 ? slice : 63);
}

void weft_body_print_place(body_writer *w, const weft_term *term) {
    const weft_specialisation *specialisation = w->specialisation;
    switch (term->kind) {
    case TERM_ARGUMENT: {
        const weft_accessor *argument = &w->arguments[term->index];
        print_component(w, argument->base, argument->offset, term,
                        &specialisation->arguments[term->index],
                        argument->own ? &w->variant->arguments[term->index] : NULL);
        break;
    }
    case TERM_RESULT:
        print_component(w, w->result->base, w->result->offset, term, &specialisation->result,
                        w->result->own ? &w->variant->result : NULL);
        break;
    case TERM_TABLE:
        w->slices[term->index] |= slices_of(w, term);
        print_component(w, specialisation->table_names[term->index], 0, term,
                        &specialisation->table_shapes[term->index], NULL);
        break;
    case TERM_ELEMENT:
        add(w, "weft_element");
        break;
    case TERM_LOCAL:
        add(w, w->variant->body.locals[term->index].name);
        for (int k = 0; k < term->n_children; ++k) {
            add(w, "[");
            print_integer(w, term->children[k], 0);
            add(w, "]");
        }
        break;
    default:
        break;
    }
}

/* Does the value depend on data, so that it has the type `real`? */
static bool is_data(const body_writer *w, const weft_term *term) {
    double ignored;
    if (weft_body_constant(w, term, &ignored))
        return false;
    if (term->kind == TERM_ARGUMENT || term->kind == TERM_RESULT || term->kind == TERM_INTRINSIC ||
        term->kind == TERM_ELEMENT || (term->kind == TERM_LOCAL && term->type == TYPE_REAL))
        return true;
    if (term->kind == TERM_TABLE || term->type == TYPE_INT)
        return false;
    bool found = false;
    for (int k = 0; k < term->n_children; ++k)
        found = found || is_data(w, term->children[k]);
    return found;
}

/* A literal that is exact in float mixes with vectors of either precision. Others are cast, and so
 * are negative ones, which are expressions to the compiler. */
static void print_literal(body_writer *w, double value) {
    bool exact = (double)(float)value == value;
    bool whole = exact && value == rint(value) && fabs(value) < 1e6;
    char number[40];
    if (isinf(value)) {
        add(w, value < 0 ? "(-weft_infinity)" : "weft_infinity");
        return;
    }
    weft_number_print(value, 15, number);
    if (whole && !w->style->splat) {
        weft_text_add(w->out, value < 0 ? "(%.0f)" : "%.0f", value);
        return;
    }
    const char *point = strpbrk(number, ".e") ? "" : ".0";
    const char *cast = exact && !signbit(value) && w->style->splat ? "" : "(scalar)";
    weft_text_add(w->out, "%s%s%s", cast, number, point);
}

static void print_mixed(body_writer *w, const weft_term *term, int level);

static void print_intrinsic(body_writer *w, const weft_term *term) {
    double exponent;
    if (strcmp(weft_intrinsics[term->index].name, "pow") == 0 &&
        weft_body_constant(w, term->children[1], &exponent) && exponent == rint(exponent) &&
        fabs(exponent) <= 64) {
        add(w, "weft_powi(");
        weft_body_print_real(w, term->children[0]);
        weft_text_add(w->out, ", %.0f)", exponent);
        return;
    }
    weft_text_add(w->out, "weft_%s(", weft_intrinsics[term->index].name);
    for (int k = 0; k < term->n_children; ++k) {
        add(w, k ? ", " : "");
        if (term->children[k]->type == TYPE_MASK)
            print_mixed(w, term->children[k], 0);
        else
            weft_body_print_real(w, term->children[k]);
    }
    add(w, ")");
}

/* A select whose condition is known or depends on indices only. */
static bool print_select(body_writer *w, const weft_term *term, int level) {
    const weft_term *condition = term->children[0];
    int64_t holds;
    if (condition->type != TYPE_CONDITION)
        return false;
    if (weft_body_integer(w, condition, &holds)) {
        if (level == 0)
            weft_body_print_real(w, term->children[holds ? 1 : 2]);
        else
            print_mixed(w, term->children[holds ? 1 : 2], level);
        return true;
    }
    add(w, "(");
    print_integer(w, condition, 1);
    /* Vector expressions lack may_alias, so that their type is not `real` to the compiler. Without vectors, whole numbers are
     * written as integers, whose quotients would be integers. */
    for (int k = 1; k <= 2; ++k) {
        weft_text_add(w->out, "%s%s", k == 1 ? " ? " : " : ",
                      w->style->splat ? "(real)(" : "(scalar)(");
        weft_body_print_real(w, term->children[k]);
        add(w, ")");
    }
    add(w, ")");
    return true;
}

/* Comparisons of vectors: masks are joined bitwise, and both sides are vectors. */
static void print_mask(body_writer *w, const weft_term *term) {
    if (term->kind == TERM_NOT) {
        add(w, w->style->splat ? "~(" : "!(");
        print_mixed(w, term->children[0], 0);
        add(w, ")");
        return;
    }
    bool joins = term->binary <= BINARY_AND;
    const char *symbol = symbols[term->binary];
    if (joins && w->style->splat)
        symbol = term->binary == BINARY_AND ? " & " : " | ";
    for (int k = 0; k < 2; ++k) {
        add(w, k ? symbol : "");
        add(w, "(");
        if (joins)
            print_mixed(w, term->children[k], 0);
        else
            weft_body_print_real(w, term->children[k]);
        add(w, ")");
    }
}

/* 1 * x and x * 1 are x. */
static const weft_term *unit_factor(const body_writer *w, const weft_term *term) {
    double value;
    if (term->kind != TERM_BINARY)
        return NULL;
    if (term->binary == BINARY_MULTIPLY && weft_body_constant(w, term->children[0], &value) &&
        value == 1)
        return term->children[1];
    if ((term->binary == BINARY_MULTIPLY || term->binary == BINARY_DIVIDE) &&
        weft_body_constant(w, term->children[1], &value) && value == 1)
        return term->children[0];
    return NULL;
}

static void print_mixed(body_writer *w, const weft_term *term, int level) {
    double value;
    const weft_term *only;
    if (weft_body_constant(w, term, &value)) {
        print_literal(w, value);
    } else if (term->type == TYPE_INT) {
        add(w, "(scalar)(");
        print_integer(w, term, 0);
        add(w, ")");
    } else if (term->type == TYPE_MASK) {
        print_mask(w, term);
    } else if ((only = unit_factor(w, term))) {
        print_mixed(w, only, level);
    } else if (term->kind == TERM_INTRINSIC) {
        if (!(weft_intrinsics[term->index].flags & INTRINSIC_MASK) ||
            !print_select(w, term, level ? level : 1))
            print_intrinsic(w, term);
    } else if (term->kind == TERM_BINARY || term->kind == TERM_NEGATE) {
        bool data = is_data(w, term);
        int own = term->kind == TERM_NEGATE ? LEVEL_UNARY : levels[term->binary];
        bool open = data && own < level;
        add(w, !data ? "(scalar)(" : open ? "(" : "");
        if (term->kind == TERM_NEGATE) {
            add(w, "-");
            print_mixed(w, term->children[0], LEVEL_UNARY + 1);
        } else {
            print_mixed(w, term->children[0], own);
            add(w, symbols[term->binary]);
            print_mixed(w, term->children[1], own + 1);
        }
        add(w, open || !data ? ")" : "");
    } else {
        weft_body_print_place(w, term);
    }
}

void weft_body_print_real(body_writer *w, const weft_term *term) {
    int64_t holds;
    while (term->kind == TERM_INTRINSIC && (weft_intrinsics[term->index].flags & INTRINSIC_MASK) &&
           term->children[0]->type == TYPE_CONDITION &&
           weft_body_integer(w, term->children[0], &holds))
        term = term->children[holds ? 1 : 2];
    bool splat = w->style->splat && !is_data(w, term);
    if (splat)
        weft_text_add(w->out, "%s(", w->style->splat);
    print_mixed(w, term, 0);
    if (splat)
        add(w, ")");
}
