/* Functions over pairs of a row and a column: those of kernels/blas, and random ones. */
#include "core/weft_core.h"
#include "random_maker.h"

#include <stdio.h>

static const random_function_over library[RANDOM_LIBRARY] = {
    {"gemv", '+', RANDOM_FIRST, {RANDOM_BOTH, RANDOM_SECOND}, 2, 1, {{1, 0, 1}}},
    {"gemtv", '+', RANDOM_SECOND, {RANDOM_BOTH, RANDOM_FIRST}, 2, 1, {{1, 0, 1}}},
    {"ger",
     0,
     RANDOM_BOTH,
     {RANDOM_BOTH, RANDOM_FIRST, RANDOM_SECOND},
     3,
     2,
     {{1, 0, -1}, {1, 1, 2}}},
    {"axpy",
     0,
     RANDOM_HERE,
     {RANDOM_HERE, RANDOM_HERE, RANDOM_HERE},
     3,
     2,
     {{1, 0, 1}, {1, 2, -1}}},
    {"axpby",
     0,
     RANDOM_HERE,
     {RANDOM_HERE, RANDOM_HERE, RANDOM_HERE, RANDOM_HERE},
     4,
     2,
     {{1, 0, 1}, {1, 2, 3}}},
};

bool random_is_stored(const random_script *s, int set, int64_t i) {
    if (set < 0 || s->sets[set].pairs.triangle == TRIANGLE_NONE)
        return true;
    const int64_t n = s->sets[s->sets[set].second].n, row = i / n, column = i % n;
    return s->sets[set].pairs.triangle == TRIANGLE_LOWER ? column <= row : column >= row;
}

/* A map of symmetric matrices has no argument over rows or columns. */
bool random_function_fits(const random_script *s, const random_function_over *f) {
    for (int i = 0; i < f->n_arguments && s->sets[s->product].pairs.symmetric && f->op == '\0'; ++i)
        if (f->arguments[i] == RANDOM_FIRST || f->arguments[i] == RANDOM_SECOND)
            return false;
    return true;
}

int random_set_join(const random_script *s, int a, int b) {
    if (a == b || b == UNIFORM_SET)
        return a;
    if (a == UNIFORM_SET)
        return b;
    if (s->product < 0)
        return NO_SET;
    const random_set *product = &s->sets[s->product];
    if (product->pairs.triangle != TRIANGLE_NONE && a != s->product && b != s->product)
        return NO_SET; /* only a list over all pairs is one of a row's and a column's values */
    if (product->pairs.symmetric)
        return NO_SET;
    const bool known = (a == s->product || a == product->first || a == product->second) &&
                       (b == s->product || b == product->first || b == product->second);
    return known ? s->product : NO_SET;
}

int random_set_over(const random_script *s, random_over over, int here) {
    switch (over) {
    case RANDOM_BOTH:
        return s->product;
    case RANDOM_FIRST:
        return s->sets[s->product].first;
    case RANDOM_SECOND:
        return s->sets[s->product].second;
    case RANDOM_NEITHER:
        return UNIFORM_SET;
    case RANDOM_HERE:
        break;
    }
    return here;
}

/* Smallest and greatest values of nothing are not numbers. */
static char random_op(maker *m) {
    static const char ops[] = {'+', '+', '<', '>'};
    return ops[random_maker_below(m, random_members(m->script, m->script->product) > 0 ? 4 : 2)];
}

static void function_make(maker *m, int number, random_function_over *out) {
    static const random_over results[] = {RANDOM_BOTH, RANDOM_FIRST, RANDOM_FIRST, RANDOM_SECOND,
                                          RANDOM_SECOND};
    *out = (random_function_over){.result = results[random_maker_below(m, 5)]};
    snprintf(out->name, sizeof out->name, "f%llu_%d", (unsigned long long)m->script->seed, number);
    out->op = out->result == RANDOM_BOTH ? '\0' : random_op(m);
    out->n_arguments = 1 + random_maker_below(m, RANDOM_ARGUMENTS);
    for (int i = 1; i < out->n_arguments; ++i)
        out->arguments[i] = (random_over)random_maker_below(m, RANDOM_NEITHER + 1);
    for (int i = 0; i < out->n_arguments || out->n_terms == 0; ++out->n_terms) { /* all are used */
        const bool is_last = out->n_terms == RANDOM_TERMS - 1;
        const int second = is_last || random_maker_below(m, 2) == 0 ? i + 1 : -1;
        out->terms[out->n_terms] =
            (random_term){1 + random_maker_below(m, 2), i, second < out->n_arguments ? second : -1};
        i += second >= 0 ? 2 : 1;
    }
}

void random_functions_make(maker *m) {
    random_script *s = m->script;
    const int n = random_maker_below(m, RANDOM_GENERATED + 1);
    for (int i = 0; i < RANDOM_LIBRARY; ++i)
        s->functions[s->n_functions++] = library[i];
    for (int i = 0; i < n; ++i)
        function_make(m, i, &s->functions[s->n_functions++]);
}

static void print_function(const random_function_over *f, weft_text *out) {
    static const char *const overs[] = {" over i, j", " over i", " over j", "", ""};
    weft_text_add(out, "//@ function  %s(", f->name);
    for (int i = 0; i < f->n_arguments; ++i)
        weft_text_add(out, "%sx%d: real%s", i > 0 ? ", " : "", i, overs[f->arguments[i]]);
    weft_text_add(out, ") -> y: real%s\n//@ kind      %s\n//@ flops     1\n", overs[f->result],
                  f->op == '+'   ? "reduce +"
                  : f->op == '<' ? "reduce min"
                  : f->op == '>' ? "reduce max"
                                 : "map");
    weft_text_add(out, "//@ source    random\n//@ threads   1\ny = ");
    for (int k = 0; k < f->n_terms; ++k) {
        weft_text_add(out, "%s%d * x%d", k > 0 ? " + " : "", f->terms[k].factor, f->terms[k].a);
        if (f->terms[k].b >= 0)
            weft_text_add(out, " * x%d", f->terms[k].b);
    }
    weft_text_add(out, ";\n\n");
}

bool random_script_has_own(const random_script *s) {
    bool has = false;
    for (int i = 0; i < s->n_statements; ++i)
        has |= s->statements[i].kind == RANDOM_REDUCE && s->statements[i].op == 'l';
    return has;
}

/* The last value that is not 0: an operator that does not commute, and keeps whole numbers small. */
static const char last_nonzero[] = "//@ function  last_of_two(a: real, b: real) -> c: real\n"
                                   "//@ kind      map\n//@ flops     2\n//@ source    random\n"
                                   "//@ identity\nc = 0;\n"
                                   "//@ threads   1\nc = select(b != 0, b, a);\n\n"
                                   "//@ function  last_nonzero(x: real) -> c: real\n"
                                   "//@ kind      reduce last_of_two\n//@ flops     0\n"
                                   "//@ source    random\n//@ threads   1\nc = x;\n\n";

void random_script_print_functions(const random_script *s, weft_text *out) {
    if (random_script_has_own(s))
        weft_text_add(out, "%s", last_nonzero);
    for (int i = RANDOM_LIBRARY; i < s->n_functions; ++i)
        print_function(&s->functions[i], out);
}
