/* Random expressions. */
#include "random_maker.h"

int random_maker_below(maker *m, int n) {
    return random_below(&m->state, n);
}

int random_node_add(maker *m, const random_node *node) {
    random_script *s = m->script;
    if (s->n_nodes == RANDOM_NODES)
        return -1;
    s->nodes[s->n_nodes] = *node;
    return s->n_nodes++;
}

static int number_add(maker *m) {
    return random_node_add(m, &(random_node){.kind = RANDOM_NUMBER,
                                             .number = 1 + random_maker_below(m, 3),
                                             .list = -1,
                                             .map = -1,
                                             .set = UNIFORM_SET,
                                             .children = {-1, -1, -1, -1}});
}

/* Some list as it is seen over `set`, or a part of it; -1: the one picked cannot be. */
static int operand_add(maker *m, int set) {
    random_script *s = m->script;
    const int l = random_maker_below(m, s->n_lists);
    const random_list *list = &s->lists[l];
    random_node node = {.kind = RANDOM_LIST,
                        .list = l,
                        .map = -1,
                        .shape = list->shape,
                        .set = list->set,
                        .children = {-1, -1, -1, -1}};
    if (m->gone[l])
        return -1;
    const int map = s->n_connectivities > 0 ? random_maker_below(m, s->n_connectivities) : -1;
    const bool through = map >= 0 && s->connectivities[map].from == set &&
                         s->connectivities[map].to == list->set && list->shape.rank < 2 &&
                         !list->part;
    const bool direct = list->set == UNIFORM_SET || random_set_join(s, list->set, set) == set;
    if (!direct && !through)
        return -1;
    if (through && (!direct || random_maker_below(m, 2) == 0)) {
        node.map = map;
        node.set = set;
        node.shape = (random_shape){list->shape.rank + 1,
                                    {s->connectivities[map].width, list->shape.sizes[0]}};
    }
    while (node.shape.rank > 0 && random_maker_below(m, 4) == 0) {
        node.subscripts[node.n_subscripts++] = random_maker_below(m, node.shape.sizes[0]);
        --node.shape.rank;
        node.shape.sizes[0] = node.shape.sizes[1];
        node.shape.sizes[1] = 0;
    }
    return random_node_add(m, &node);
}

/* The shape that a function makes of two others; false: it takes none such. */
static bool function_shape(random_function function, const random_shape *a, const random_shape *b,
                           random_shape *out) {
    *out = *a;
    switch (function) {
    case RANDOM_MMUL:
        *out = (random_shape){2, {a->sizes[0], b->sizes[1]}};
        return a->rank == 2 && b->rank == 2 && b->sizes[0] == a->sizes[1];
    case RANDOM_MVMUL:
        *out = (random_shape){1, {a->sizes[0], 0}};
        return a->rank == 2 && b->rank == 1 && b->sizes[0] == a->sizes[1];
    case RANDOM_MADD:
    case RANDOM_MSUB:
        return a->rank == 2 && random_shape_equal(a, b);
    case RANDOM_VADD:
    case RANDOM_VSUB:
        return a->rank == 1 && random_shape_equal(a, b);
    case RANDOM_SMMUL:
        return a->rank == 2 && b->rank == 0;
    case RANDOM_SVMUL:
        return a->rank == 1 && b->rank == 0;
    case RANDOM_OUTER:
        *out = (random_shape){2, {a->sizes[0], b->sizes[0]}};
        return a->rank == 1 && b->rank == 1;
    case RANDOM_TRANSPOSE:
        *out = (random_shape){2, {a->sizes[1], a->sizes[0]}};
        return a->rank == 2;
    case RANDOM_TRACE:
        *out = (random_shape){0};
        return a->rank == 2 && a->sizes[0] == a->sizes[1];
    case RANDOM_DOT:
        *out = (random_shape){0};
        return a->rank == 1 && random_shape_equal(a, b);
    case RANDOM_UPPER:
        *out = (random_shape){1, {a->sizes[0] * (a->sizes[0] + 1) / 2, 0}};
        return a->rank == 2 && a->sizes[0] == a->sizes[1] && a->sizes[0] <= 4;
    case RANDOM_SYMMETRIC:
        *out = *b;
        return a->rank == 1 && b->rank == 1 && a->sizes[0] == b->sizes[0] * (b->sizes[0] + 1) / 2;
    case RANDOM_FUNCTIONS:
        break;
    }
    return false;
}

static int call_add(maker *m, int set, int depth) {
    random_script *s = m->script;
    const int a = random_expression_add(m, set, depth - 1);
    for (int tries = 0; a >= 0 && tries < 6; ++tries) {
        const random_function function = (random_function)random_maker_below(m, RANDOM_FUNCTIONS);
        const bool unary =
            function == RANDOM_TRANSPOSE || function == RANDOM_TRACE || function == RANDOM_UPPER;
        const int b = unary ? -1 : random_expression_add(m, set, depth - 1);
        if (!unary && b < 0)
            continue;
        random_node node = {.kind = RANDOM_CALL,
                            .function = function,
                            .list = -1,
                            .map = -1,
                            .children = {a, b, -1, -1}};
        const int other = b >= 0 ? s->nodes[b].set : UNIFORM_SET;
        node.set = random_set_join(s, s->nodes[a].set, other);
        /* functions of uniforms alone are not called, nor of lists over different sets */
        const bool one_set =
            other == UNIFORM_SET || s->nodes[a].set == UNIFORM_SET || s->nodes[a].set == other;
        if (node.set >= 0 && one_set &&
            function_shape(function, &s->nodes[a].shape, &s->nodes[b >= 0 ? b : a].shape,
                           &node.shape))
            return random_node_add(m, &node);
    }
    return -1;
}

/* Operands of equal shape, or scalar. */
static bool join_shape(const random_shape *a, random_shape *joined) {
    if (joined->rank == 0)
        *joined = *a;
    return a->rank == 0 || random_shape_equal(a, joined);
}

static int arithmetic_add(maker *m, int set, int depth) {
    static const random_kind kinds[] = {RANDOM_NEGATE,   RANDOM_ADD,   RANDOM_ADD, RANDOM_SUBTRACT,
                                        RANDOM_MULTIPLY, RANDOM_MIN,   RANDOM_MAX, RANDOM_ABS,
                                        RANDOM_SQUARE,   RANDOM_SELECT};
    random_script *s = m->script;
    random_node node = {.kind = kinds[random_maker_below(m, (int)(sizeof kinds / sizeof *kinds))],
                        .list = -1,
                        .map = -1,
                        .set = UNIFORM_SET,
                        .children = {-1, -1, -1, -1}};
    const int n =
        node.kind == RANDOM_SELECT                                                            ? 4
        : node.kind == RANDOM_NEGATE || node.kind == RANDOM_ABS || node.kind == RANDOM_SQUARE ? 1
                                                                                              : 2;
    for (int i = 0; i < n; ++i) {
        for (int tries = 0; tries < 6 && node.children[i] < 0; ++tries) {
            const int child = i > 0 && random_maker_below(m, 6) == 0
                                  ? number_add(m)
                                  : random_expression_add(m, set, depth - 1);
            if (child >= 0 && join_shape(&s->nodes[child].shape, &node.shape)) {
                node.children[i] = child;
                node.set = random_set_join(s, node.set, s->nodes[child].set);
            }
        }
        if (node.children[i] < 0)
            node.children[i] = number_add(m);
        if (node.children[i] < 0)
            return -1;
        /* the operands of a choice are joined in another order */
        if (node.kind == RANDOM_SELECT && s->product >= 0 &&
            s->sets[s->product].pairs.triangle != TRIANGLE_NONE &&
            (s->nodes[node.children[i]].set == s->sets[s->product].first ||
             s->nodes[node.children[i]].set == s->sets[s->product].second))
            return -1;
    }
    return s->product >= 0 && node.set == NO_SET ? -1 : random_node_add(m, &node);
}

/* A call of a function of matrices or of kernels/blas that has values over `set`. */
static int nested_add(maker *m, int set, int depth) {
    const random_script *s = m->script;
    const int number = random_maker_below(m, s->n_functions);
    const random_function_over *function = &s->functions[number];
    random_node node = {.kind = RANDOM_NESTED,
                        .number = number,
                        .list = -1,
                        .map = -1,
                        .set = set,
                        .children = {-1, -1, -1, -1}};
    if (random_set_over(s, function->result, set) != set || set == UNIFORM_SET ||
        !random_function_fits(s, function))
        return -1;
    for (int i = 0; i < function->n_arguments; ++i) {
        const int over = random_set_over(s, function->arguments[i], set);
        const int below = over == s->product ? depth - 1 : 0;
        int child = -1;
        for (int tries = 0; tries < 12 && child < 0; ++tries) {
            child = random_expression_add(m, over, below);
            const bool uniform = function->arguments[i] == RANDOM_HERE && i != 1;
            if (child >= 0 &&
                (s->nodes[child].shape.rank > 0 ||
                 (s->nodes[child].set != over && !(uniform && s->nodes[child].set < 0))))
                child = -1;
        }
        if (child < 0)
            return -1;
        node.children[i] = child;
    }
    return random_node_add(m, &node);
}

int random_expression_add(maker *m, int set, int depth) {
    if (depth > 0 && m->script->product >= 0 && random_maker_below(m, 3) == 0)
        return nested_add(m, set, depth);
    const int choice = depth <= 0 ? 0 : 1 + random_maker_below(m, 7);
    if (choice < 2)
        return operand_add(m, set);
    return choice < 5 ? arithmetic_add(m, set, depth) : call_add(m, set, depth);
}
