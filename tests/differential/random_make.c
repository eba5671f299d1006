/* Makes random scripts. A statement that does not fit (shapes, sizes of numbers) is taken back. */
#include "random_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOPS = 2 /* one in another, at most */ };

uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int random_below(uint64_t *state, int n) {
    return (int)(random_next(state) % (uint64_t)n);
}

void *random_alloc(size_t n, size_t size) {
    void *made = calloc(n, size);
    if (made == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return made;
}

int random_shape_count(const random_shape *shape) {
    return (shape->rank > 0 ? shape->sizes[0] : 1) * (shape->rank > 1 ? shape->sizes[1] : 1);
}

bool random_shape_equal(const random_shape *a, const random_shape *b) {
    return a->rank == b->rank && (a->rank < 1 || a->sizes[0] == b->sizes[0]) &&
           (a->rank < 2 || a->sizes[1] == b->sizes[1]);
}

/* ---- statements ---- */

int random_list_add(maker *m, const char *prefix, int set, const random_shape *shape) {
    random_script *s = m->script;
    if (s->n_lists == RANDOM_LISTS)
        return -1;
    random_list *made = &s->lists[s->n_lists];
    *made = (random_list){.set = set, .shape = *shape, .maker = s->n_statements};
    snprintf(made->name, sizeof made->name, "%s%d", prefix, s->n_lists);
    return s->n_lists++;
}

/* What is read is complete. */
static void close_targets(maker *m, const random_statement *one) {
    for (int i = 0; i < m->script->n_lists; ++i)
        if ((one->root >= 0 && random_node_reads(m->script, one->root, i)) ||
            (one->second >= 0 && random_node_reads(m->script, one->second, i)))
            m->target[i] = false;
}

static bool statement_add(maker *m, const random_statement *one) {
    random_script *s = m->script;
    s->statements[s->n_statements++] = *one;
    if (!random_script_is_exact(s)) {
        --s->n_statements;
        return false;
    }
    close_targets(m, one);
    return true;
}

static bool make_assignment(maker *m, int set) {
    const random_script *s = m->script;
    random_statement one = {.kind = RANDOM_ASSIGN, .map = -1, .second = -1, .set = set};
    one.root = random_expression_add(
        m, set, random_maker_below(m, 8) == 0 ? 0 : 1 + random_maker_below(m, 3));
    if (one.root < 0)
        return false;
    const random_node *root = &s->nodes[one.root];
    const bool uniform = root->set == UNIFORM_SET;
    if (uniform && (root->kind == RANDOM_LIST || root->shape.rank > 0))
        return false;
    one.list = random_list_add(m,
                               uniform                     ? "u"
                               : root->kind == RANDOM_LIST ? "a"
                                                           : "v",
                               root->set, &root->shape);
    if (one.list < 0)
        return false;
    random_list *made = &m->script->lists[one.list];
    made->hidden = uniform;
    made->part = root->kind == RANDOM_LIST &&
                 (root->map >= 0 || root->n_subscripts > 0 || s->lists[root->list].part);
    return statement_add(m, &one);
}

static bool make_accumulation(maker *m) {
    random_script *s = m->script;
    if (s->n_connectivities == 0)
        return false;
    random_statement one = {
        .kind = RANDOM_ACCUMULATE, .second = -1, .map = random_maker_below(m, s->n_connectivities)};
    const random_map *map = &s->connectivities[one.map];
    one.set = map->from;
    one.root = random_expression_add(m, map->from, random_maker_below(m, 3));
    if (one.root < 0 || s->nodes[one.root].set != map->from || s->nodes[one.root].shape.rank < 1 ||
        s->nodes[one.root].shape.sizes[0] != map->width)
        return false;
    const random_shape *source = &s->nodes[one.root].shape;
    const random_shape shape = {source->rank - 1, {source->rank > 1 ? source->sizes[1] : 0, 0}};
    one.list = -1;
    for (int i = 0, n = 1; i < s->n_lists; ++i)
        if (m->target[i] && !m->gone[i] && s->lists[i].set == map->to &&
            (i < s->n_inputs || s->lists[i].maker > m->loop) &&
            random_shape_equal(&s->lists[i].shape, &shape) && !random_node_reads(s, one.root, i) &&
            random_maker_below(m, ++n) == 0)
            one.list = i;
    const bool is_new = one.list < 0;
    if (is_new)
        one.list = random_list_add(m, "b", map->to, &shape);
    if (one.list < 0 || !statement_add(m, &one))
        return false;
    m->target[one.list] = m->accumulated[one.list] = true;
    return true;
}

/* A script is a flow by what it has so far. */
static bool has_control(const random_script *s) {
    for (int i = 0; i < s->n_statements; ++i) {
        const random_statement *one = &s->statements[i];
        if (one->kind == RANDOM_REPEAT || one->kind == RANDOM_APPLY ||
            ((one->kind == RANDOM_UPDATE || one->update) && s->lists[one->list].set < 0))
            return true;
    }
    return false;
}

static bool may_update(const maker *m, int list) {
    const random_script *s = m->script;
    if (m->gone[list] || m->accumulated[list] || s->lists[list].part)
        return false;
    if (s->flows && m->loop >= 0)
        return s->lists[list].maker < m->loop;
    return list < s->n_inputs && (!m->updated[list] || has_control(s));
}

/* What other members of its set hold: list[map][i], nothing else. */
static int gather_add(maker *m, int list) {
    const random_script *s = m->script;
    for (int i = 0; i < s->n_connectivities; ++i) {
        const random_map *map = &s->connectivities[i];
        if (map->from != s->lists[list].set || map->to != s->lists[list].set ||
            s->lists[list].shape.rank > 1)
            continue;
        return random_node_add(m, &(random_node){.kind = RANDOM_LIST,
                                                 .shape = s->lists[list].shape,
                                                 .set = map->from,
                                                 .list = list,
                                                 .map = i,
                                                 .n_subscripts = 1,
                                                 .subscripts = {random_maker_below(m, map->width)},
                                                 .children = {-1, -1, -1, -1}});
    }
    return -1;
}

static bool make_update_of(maker *m, int list) {
    const random_script *s = m->script;
    const int set = s->lists[list].set;
    random_statement one = {
        .kind = RANDOM_UPDATE, .map = -1, .second = -1, .list = list, .set = set};
    if (!may_update(m, list) ||
        (set == UNIFORM_SET && (!s->flows || s->lists[list].shape.rank > 0)))
        return false;
    one.root = random_maker_below(m, 4) == 0
                   ? gather_add(m, list)
                   : random_expression_add(m, set, random_maker_below(m, 4));
    if (one.root < 0 || s->nodes[one.root].set != set ||
        !random_shape_equal(&s->nodes[one.root].shape, &s->lists[list].shape) ||
        !statement_add(m, &one))
        return false;
    m->updated[list] = true;
    m->target[list] = false;
    return true;
}

static bool make_update(maker *m) {
    return make_update_of(m, random_maker_below(m, m->script->n_lists));
}

static int operation_add(maker *m, random_kind kind, int a, int b) {
    const random_script *s = m->script;
    if (a < 0 || (b < 0 && kind != RANDOM_SQUARE && kind != RANDOM_NEGATE))
        return -1;
    random_node node = {.kind = kind, .list = -1, .map = -1, .children = {a, b, -1, -1}};
    node.shape = s->nodes[s->nodes[a].shape.rank > 0 || b < 0 ? a : b].shape;
    node.set = random_set_join(s, s->nodes[a].set, b >= 0 ? s->nodes[b].set : UNIFORM_SET);
    return random_node_add(m, &node);
}

/* Above 0 everywhere, or below: a reduction that joins a 0 too many shows. */
static int bounded_away(maker *m, int root, bool below) {
    const random_node one = {.kind = RANDOM_NUMBER,
                             .number = 1,
                             .list = -1,
                             .map = -1,
                             .set = UNIFORM_SET,
                             .children = {-1, -1, -1, -1}};
    const int square = operation_add(m, RANDOM_SQUARE, root, -1);
    const int sum = operation_add(m, RANDOM_ADD, square, random_node_add(m, &one));
    return below ? operation_add(m, RANDOM_NEGATE, sum, -1) : sum;
}

static bool make_reduction(maker *m, int set) {
    static const char ops[] = {'+', '.', '<', '>'}, blas[] = {'a', 'n', 'm'}, own[] = {'l', 'g'};
    static const random_shape scalar = {0}, pair = {1, {2}};
    random_script *s = m->script;
    random_statement one = {.kind = RANDOM_REDUCE, .map = -1, .second = -1, .set = set};
    const bool any = random_members(s, set) > 0;
    one.op = ops[random_maker_below(m, any ? 4 : 2)];
    if (s->product >= 0 && random_maker_below(m, 3) == 0)
        one.op = blas[random_maker_below(m, any ? 3 : 2)];
    if (random_maker_below(m, 3) == 0 && (any || set != s->product) &&
        (set != s->product || s->sets[set].pairs.triangle == TRIANGLE_NONE))
        one.op = set == s->product ? 'g' : own[random_maker_below(m, any ? 2 : 1)];
    one.root = random_expression_add(m, set, random_maker_below(m, 3));
    if (one.op == '.')
        one.second = random_expression_add(m, set, random_maker_below(m, 2));
    else if ((one.op == '<' || one.op == '>') && one.root >= 0 && random_maker_below(m, 2) == 0)
        one.root = bounded_away(m, one.root, one.op == '>');
    if (one.root < 0 || s->nodes[one.root].set != set || s->nodes[one.root].shape.rank > 0 ||
        (one.op == '.' && (one.second < 0 || s->nodes[one.second].shape.rank > 0 ||
                           s->nodes[one.second].set != set)))
        return false;
    const int list = random_maker_below(m, s->n_lists);
    one.update = s->flows && s->lists[list].set == UNIFORM_SET && may_update(m, list) &&
                 s->lists[list].shape.rank == 0 && one.op != 'g';
    one.list =
        one.update ? list : random_list_add(m, "r", UNIFORM_SET, one.op == 'g' ? &pair : &scalar);
    if (one.list < 0 || !statement_add(m, &one))
        return false;
    m->updated[one.list] = true;
    return true;
}

static bool make_apply(maker *m) {
    random_script *s = m->script;
    random_statement one = {.kind = RANDOM_APPLY, .map = -1, .second = -1, .set = NODES};
    one.root = random_expression_add(m, NODES, random_maker_below(m, 2));
    if (one.root < 0 || s->nodes[one.root].set != NODES || s->nodes[one.root].shape.rank > 0)
        return false;
    one.list = random_list_add(m, "q", NODES, &(random_shape){0});
    return one.list >= 0 && statement_add(m, &one);
}

static bool reads_maps(const random_script *s, int node) {
    bool reads = s->nodes[node].map >= 0;
    for (int i = 0; i < 4; ++i)
        reads |= s->nodes[node].children[i] >= 0 && reads_maps(s, s->nodes[node].children[i]);
    return reads;
}

/* update p = ...; q = apply(A, p); update r = r - q: a product kernel may compute the first
 * wherever it reads p. */
static bool make_prologue(maker *m) {
    random_script *s = m->script;
    random_statement one = {.kind = RANDOM_APPLY, .map = -1, .second = -1, .set = NODES};
    const int list = random_maker_below(m, s->n_lists), n = s->n_statements;
    if (s->lists[list].set != NODES || s->lists[list].shape.rank > 0 || !make_update_of(m, list))
        return false;
    if (reads_maps(s, s->statements[n].root)) {
        s->n_statements = n;
        return false;
    }
    random_node node = {
        .kind = RANDOM_LIST, .list = list, .map = -1, .set = NODES, .children = {-1, -1, -1, -1}};
    one.root = random_node_add(m, &node);
    one.list = one.root >= 0 ? random_list_add(m, "q", NODES, &(random_shape){0}) : -1;
    if (one.list < 0 || !statement_add(m, &one))
        return false;
    random_statement last = {
        .kind = RANDOM_UPDATE, .map = -1, .second = -1, .list = FIRST_OVER_NODES, .set = NODES};
    if (list == last.list || !may_update(m, last.list))
        return true;
    node.list = last.list;
    const int old = random_node_add(m, &node);
    node.list = one.list;
    last.root = operation_add(m, RANDOM_SUBTRACT, old, random_node_add(m, &node));
    m->updated[last.list] = last.root >= 0 && statement_add(m, &last);
    m->target[last.list] = false;
    return true;
}

static bool is_scalar(const maker *m, int node) {
    return node >= 0 && m->script->nodes[node].set == UNIFORM_SET &&
           m->script->nodes[node].shape.rank == 0;
}

static bool make_statement(maker *m);

/* repeat { a few statements, of which one at least is an update } */
static bool make_loop(maker *m) {
    random_script *s = m->script;
    const int outer = m->loop;
    if (!s->flows || m->depth == LOOPS || s->n_statements + 16 > RANDOM_STATEMENTS)
        return false;
    random_statement one = {
        .kind = RANDOM_REPEAT, .map = -1, .list = -1, .iterations = 1 + random_maker_below(m, 4)};
    one.root = random_expression_add(m, UNIFORM_SET, 1);
    one.second = random_expression_add(m, UNIFORM_SET, 1);
    if (!is_scalar(m, one.root) || !is_scalar(m, one.second) || !statement_add(m, &one))
        return false;
    m->loop = s->n_statements - 1;
    ++m->depth;
    const int wanted = 2 + random_maker_below(m, 5);
    bool updates = false;
    const bool is_prologue = s->op.row_start != NULL && random_maker_below(m, 3) > 0;
    for (int tries = 0; tries < 40 && is_prologue && s->n_statements == m->loop + 1; ++tries)
        make_prologue(m);
    const bool nests = m->depth < LOOPS && random_maker_below(m, 2) == 0;
    for (int tries = 0; tries < 3 && nests && !make_loop(m); ++tries)
        make_statement(m);
    for (int tries = 0; tries < 60 && s->n_statements < m->loop + 1 + wanted; ++tries)
        make_statement(m);
    for (int i = m->loop + 1; i < s->n_statements; ++i)
        updates |= s->statements[i].kind == RANDOM_UPDATE || s->statements[i].update;
    for (int tries = 0; tries < 200 && !updates; ++tries)
        updates = make_update(m);
    for (int i = 0; i < s->n_lists; ++i)
        m->gone[i] |= s->lists[i].maker >= m->loop;
    const int first = m->loop;
    m->loop = outer;
    --m->depth;
    if (!updates) { /* the lists that were made stay unused */
        s->n_statements = first;
        for (int i = 0; i < s->n_lists; ++i)
            m->gone[i] |= s->lists[i].maker >= first;
        return false;
    }
    s->statements[s->n_statements++] =
        (random_statement){.kind = RANDOM_END, .list = -1, .map = -1, .root = -1, .second = -1};
    return true;
}

/* Matrices and their rows and columns more often than anything else, where there are any. */
static int pick_set(maker *m) {
    const random_script *s = m->script;
    if (s->product >= 0 && random_maker_below(m, 5) > 0) {
        const random_set *product = &s->sets[s->product];
        const int sets[] = {s->product, s->product, product->first, product->second};
        return sets[random_maker_below(m, 4)];
    }
    return random_maker_below(m, 3) > 0 ? CELLS : random_maker_below(m, s->n_sets);
}

static bool make_statement(maker *m) {
    const random_script *s = m->script;
    const int set = pick_set(m);
    const int n_lists = s->n_lists, n_nodes = s->n_nodes;
    bool made = false;
    const int choice =
        s->flows && m->loop < 0 && random_maker_below(m, 8) == 0 ? 17 : random_maker_below(m, 18);
    if (s->op.row_start != NULL && random_maker_below(m, 5) == 0)
        made = make_apply(m);
    else if (choice < 9)
        made = make_assignment(m, choice == 8 && s->flows ? UNIFORM_SET : set);
    else if (choice < 12)
        made = make_accumulation(m);
    else if (choice < 15)
        made = make_update(m);
    else if (choice < 17)
        made = make_reduction(m, set);
    else
        return make_loop(m);
    if (!made) {
        m->script->n_lists = n_lists;
        m->script->n_nodes = n_nodes;
    }
    return made;
}

static int square_expression_add(maker *m, const random_map *map) {
    const random_script *s = m->script;
    random_node node = {.kind = RANDOM_CALL,
                        .function = RANDOM_OUTER,
                        .shape = {2, {map->width, map->width}},
                        .list = -1,
                        .map = -1,
                        .set = map->from,
                        .children = {-1, -1, -1, -1}};
    const int any = random_expression_add(m, map->from, 2);
    if (any >= 0 && s->nodes[any].set == map->from &&
        random_shape_equal(&s->nodes[any].shape, &node.shape))
        return any;
    for (int i = 0; i < 2; ++i) {
        const int child = random_expression_add(m, map->from, random_maker_below(m, 2));
        if (child < 0 || s->nodes[child].set != map->from || s->nodes[child].shape.rank != 1 ||
            s->nodes[child].shape.sizes[0] != map->width)
            return -1;
        node.children[i] = child;
    }
    return random_node_add(m, &node);
}

/* At the end, one or two statements that accumulate into a matrix. */
static void make_matrix(maker *m) {
    random_script *s = m->script;
    const int wanted = random_maker_below(m, 4) - 1;
    s->matrix_map = -1;
    for (int tries = 0, made = 0; tries < 100 && made < wanted; ++tries) {
        random_statement one = {.kind = RANDOM_ADDTO, .list = -1, .second = -1};
        const int n_nodes = s->n_nodes;
        one.map = s->matrix_map >= 0 ? s->matrix_map : random_maker_below(m, s->n_connectivities);
        one.set = s->connectivities[one.map].from;
        one.root = square_expression_add(m, &s->connectivities[one.map]);
        if (one.root >= 0 && s->n_statements < RANDOM_STATEMENTS && statement_add(m, &one)) {
            s->matrix_map = one.map;
            ++made;
        } else
            s->n_nodes = n_nodes;
    }
}

/* Does it compute what it may return? */
static bool has_result(const random_script *s) {
    bool has = s->flows;
    for (int i = s->n_inputs; i < s->n_lists; ++i)
        has |= !s->lists[i].hidden;
    return has;
}

random_script *random_script_make(uint64_t seed) {
    maker *m = random_alloc(1, sizeof *m);
    random_script *s = random_alloc(1, sizeof *s);
    *m = (maker){.script = s, .state = seed * 7919u, .loop = -1};
    s->seed = seed;
    s->single = random_maker_below(m, 4) == 0;
    s->flows = random_maker_below(m, 3) == 0;
    s->limit = s->single ? 0x1p23 : 0x1p52;
    const bool has_matrices = random_below(&(uint64_t){seed * 104729u + 3u}, 3) == 0;
    s->product = has_matrices ? 0 : -1; /* random_declare sets its number */
    random_declare(m);
    const int wanted = 2 + random_maker_below(m, random_maker_below(m, 3) == 0 ? 24 : 10);
    for (int tries = 0; tries < 400 && (s->n_statements < wanted || !has_result(s)); ++tries)
        make_statement(m);
    random_script_return_rest(s);
    for (int i = s->n_inputs; i < s->n_lists; ++i)
        if (!m->gone[i] && !(s->lists[i].hidden && !s->flows) && s->lists[i].maker >= 0 &&
            random_maker_below(m, 5) == 0)
            s->lists[i].returned = true;
    make_matrix(m);
    random_directives_make(s);
    free(m);
    return s;
}
