#include "shrink.h"

#include <stdlib.h>
#include <string.h>

/* Take a statement away, with all that then has no value. */
static void remove_statement(random_script *s, int number) {
    const random_statement gone = s->statements[number];
    memmove(&s->statements[number], &s->statements[number + 1],
            (size_t)(s->n_statements - number - 1) * sizeof *s->statements);
    --s->n_statements;
    for (int i = s->n_inputs; i < s->n_lists; ++i)
        s->lists[i].maker -= s->lists[i].maker > number;
    if (gone.list < 0 || s->lists[gone.list].maker != number)
        return;
    s->lists[gone.list].returned = false;
    for (int i = s->n_statements - 1; i >= 0; --i)
        if (i < s->n_statements && (s->statements[i].list == gone.list ||
                                    random_statement_reads(s, &s->statements[i], gone.list))) {
            if (s->statements[i].kind == RANDOM_REPEAT)
                continue; /* refused by the compiler: this step is taken back */
            remove_statement(s, i);
        }
}

static void remove_loop(random_script *s, int number) {
    int end = random_loop_end(s, number);
    while (end >= number)
        remove_statement(s, end--);
}

static bool accept(random_script *s, random_script **tried, shrink_fails *fails, void *user) {
    bool better = false;
    random_script_return_rest(*tried);
    if (random_script_is_exact(*tried) && (*tried)->n_statements > 0)
        better = fails(user, *tried);
    if (better) {
        random_script *made = random_script_copy(*tried);
        random_script_clear(s);
        *s = *made;
        free(made);
    }
    random_script_free(tried);
    return better;
}

static bool try_without(random_script *s, int number, shrink_fails *fails, void *user) {
    random_script *tried = random_script_copy(s);
    if (s->statements[number].kind == RANDOM_END) {
        random_script_free(&tried);
        return false;
    }
    if (s->statements[number].kind == RANDOM_REPEAT)
        remove_loop(tried, number);
    else
        remove_statement(tried, number);
    return accept(s, &tried, fails, user);
}

/* An operation becomes one of its operands, where that has its shape. */
static bool try_operand(random_script *s, int node, int child, shrink_fails *fails, void *user) {
    const random_node *one = &s->nodes[node];
    if (one->children[child] < 0)
        return false;
    const random_node *other = &s->nodes[one->children[child]];
    if (!random_shape_equal(&one->shape, &other->shape) || one->set != other->set)
        return false;
    random_script *tried = random_script_copy(s);
    tried->nodes[node] = *other;
    return accept(s, &tried, fails, user);
}

static bool is_used(const random_script *s, int node, int wanted) {
    bool used = node == wanted;
    for (int i = 0; i < 4 && !used; ++i)
        used = s->nodes[node].children[i] >= 0 && is_used(s, s->nodes[node].children[i], wanted);
    return used;
}

static bool is_in_script(const random_script *s, int node) {
    for (int i = 0; i < s->n_statements; ++i)
        if ((s->statements[i].root >= 0 && is_used(s, s->statements[i].root, node)) ||
            (s->statements[i].second >= 0 && is_used(s, s->statements[i].second, node)))
            return true;
    return false;
}

void shrink(random_script *s, shrink_fails *fails, void *user) {
    bool again = true;
    while (again) {
        again = false;
        for (int i = s->n_statements - 1; i >= 0; --i)
            if (i < s->n_statements)
                again |= try_without(s, i, fails, user);
        for (int node = 0; node < s->n_nodes; ++node)
            for (int child = 0; child < 4 && is_in_script(s, node); ++child)
                again |= try_operand(s, node, child, fails, user);
    }
}
