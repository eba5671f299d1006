/* How a body uses its result. */
#include "fusion/library/function.h"
#include "fusion/library/library.h"

static bool reads_result(const weft_term *term) {
    if (!term)
        return false;
    if (term->kind == TERM_RESULT)
        return true;
    for (int i = 0; i < term->n_children; ++i)
        if (reads_result(term->children[i]))
            return true;
    return false;
}

static bool only_assigns(const weft_statement *first) {
    for (const weft_statement *s = first; s; s = s->next) {
        if (reads_result(s->value) || reads_result(s->condition))
            return false;
        if (s->kind == STATEMENT_ASSIGN && s->op != '=' && s->target->kind == TERM_RESULT)
            return false;
        if (!only_assigns(s->body) || !only_assigns(s->otherwise))
            return false;
    }
    return true;
}

bool weft_function_only_assigns(const weft_function *function, int variant) {
    return !function->variants[variant]->native &&
           only_assigns(function->variants[variant]->body.first);
}
