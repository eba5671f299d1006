/** Terms: expressions of the metadata and bodies of kernel files, as fusion/library/terms.c reads
 *  them, and their values. */
#pragma once

#include "fusion/script/script.h"

typedef enum weft_term_kind {
    TERM_INTEGER,
    TERM_NUMBER,
    TERM_SIZE,     /* index: a size or parameter of the function */
    TERM_THREAD,   /* t */
    TERM_ELEMENT,  /* the number of the element: data */
    TERM_LOCAL,    /* index: a local of the body; children: subscripts */
    TERM_ARGUMENT, /* index: an argument; children: subscripts */
    TERM_RESULT,
    TERM_TABLE,
    TERM_NEGATE,
    TERM_NOT,
    TERM_BINARY,
    TERM_INTRINSIC /* index: into weft_intrinsics */
} weft_term_kind;

typedef enum weft_term_type {
    TYPE_INT, /* sizes, thread and loop indices */
    TYPE_REAL,
    TYPE_CONDITION, /* comparison of ints */
    TYPE_MASK       /* comparison of reals: only inside select */
} weft_term_type;

typedef enum weft_binary {
    BINARY_OR,
    BINARY_AND,
    BINARY_EQUAL,
    BINARY_UNEQUAL,
    BINARY_LESS,
    BINARY_LESS_EQUAL,
    BINARY_GREATER,
    BINARY_GREATER_EQUAL,
    BINARY_ADD,
    BINARY_SUBTRACT,
    BINARY_MULTIPLY,
    BINARY_DIVIDE,
    BINARY_MODULO
} weft_binary;

typedef struct weft_term weft_term;
struct weft_term {
    weft_term_kind kind;
    weft_term_type type;
    weft_location place;
    int64_t integer;
    double number;
    int index;
    weft_binary binary;
    weft_term *children[WEFT_RANK_MAX];
    int n_children;
};

/* ---- evaluation (fusion/library/evaluate.c) */

/** *out = a op b. Returns NULL, or the reason why not. */
const char *weft_term_binary(weft_binary binary, int64_t a, int64_t b, int64_t *out);
/** Evaluate an integer term in sizes.
 *  bound    [n_names] the names that have a value; NULL: all
 *  Returns  NULL, or the reason why not ("a division by zero") */
const char *weft_term_evaluate(const weft_term *term, const int *values, const bool *bound,
                               int64_t *out);
/** The same in doubles, for flops, which may also say select(n <= 3, few, many). */
double weft_term_estimate(const weft_term *term, const int *values);
/** For a term `name` or `name + integer`: the index of the name, *added = integer; else -1. */
int weft_term_linear(const weft_term *term, int64_t *added);
/** Does the term contain an integer division? */
bool weft_term_divides(const weft_term *term);
