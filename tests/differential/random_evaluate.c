/* What a random script means, by 64-bit integers; and how large its numbers can get. */
#include "random_script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t random_members(const random_script *s, int set) {
    return set < 0 ? 1 : s->sets[set].n;
}

/* Members outside of a triangle: those across the diagonal, or 0. */
static void complete(const random_script *s, int list, int64_t *values) {
    const random_set *set = &s->sets[s->product];
    const int count = random_shape_count(&s->lists[list].shape);
    const int64_t n = set->pairs.triangle == TRIANGLE_NONE ? 0 : s->sets[set->second].n;
    for (int64_t i = 0; i < n * n; ++i)
        for (int c = 0; c < count && !random_is_stored(s, s->product, i); ++c)
            values[i * count + c] =
                set->pairs.symmetric ? values[(i % n * n + i / n) * count + c] : 0;
}

/* Does a reduction combine member i? */
static bool is_combined(const random_script *s, int set, int64_t i) {
    return set < 0 || s->sets[set].pairs.symmetric || random_is_stored(s, set, i);
}

int64_t *random_input(const random_script *s, int list) {
    uint64_t state = s->seed * 1000003u + (uint64_t)list * 101u + 17u;
    const int64_t n =
        random_members(s, s->lists[list].set) * random_shape_count(&s->lists[list].shape);
    int64_t *values = random_alloc((size_t)n + 1, sizeof *values);
    for (int64_t i = 0; i < n; ++i)
        values[i] = random_below(&state, 7) - 3;
    if (s->lists[list].set >= 0 && s->lists[list].set == s->product)
        complete(s, list, values);
    return values;
}

/* ---- values ---- */

typedef struct evaluation {
    const random_script *script;
    int set; /* whose members are numbered */
    random_values *values;
} evaluation;

static int64_t value_of(const evaluation *e, int index, int64_t i, int c);

/* Component c of an operand of a call or of elementwise arithmetic; scalars go with everything. */
static int64_t stretched(const evaluation *e, int index, int64_t i, int c) {
    return value_of(e, index, i, e->script->nodes[index].shape.rank == 0 ? 0 : c);
}

/* The member of a list's set that goes with member i of the set that is evaluated. */
static int64_t member_of(const evaluation *e, int set, int64_t i) {
    const random_set *here = e->set >= 0 ? &e->script->sets[e->set] : NULL;
    if (set < 0)
        return 0;
    if (set == e->set || here == NULL || !here->product)
        return i;
    const int64_t n = e->script->sets[here->second].n;
    return set == here->first ? i / n : i % n;
}

static int64_t value_of_list(const evaluation *e, const random_node *node, int64_t i, int c) {
    const random_script *s = e->script;
    const random_list *list = &s->lists[node->list];
    const int count = random_shape_count(&list->shape);
    const int64_t *values = e->values->values[node->list];
    random_shape seen = list->shape;
    int offset = 0;
    if (node->map >= 0)
        seen = (random_shape){list->shape.rank + 1,
                              {s->connectivities[node->map].width, list->shape.sizes[0]}};
    for (int k = 0; k < node->n_subscripts; ++k) {
        const int below = seen.rank - k == 2 ? seen.sizes[1] : 1;
        offset += node->subscripts[k] * below;
    }
    c += offset;
    if (node->map < 0)
        return values[member_of(e, list->set, i) * count + c];
    const random_map *map = &s->connectivities[node->map];
    return values[(int64_t)map->indices[i * map->width + c / count] * count + c % count];
}

static int64_t value_of_product(const evaluation *e, const random_node *node, int64_t i, int c) {
    const random_node *a = &e->script->nodes[node->children[0]];
    const int columns = node->function == RANDOM_MMUL ? node->shape.sizes[1] : 1;
    const int inner = node->function == RANDOM_DOT ? a->shape.sizes[0] : a->shape.sizes[1];
    int64_t sum = 0;
    for (int l = 0; l < inner; ++l)
        sum += value_of(e, node->children[0], i, c / columns * inner + l) *
               value_of(e, node->children[1], i, l * columns + c % columns);
    return sum;
}

/* Where element (r, c), r <= c, of a symmetric matrix of n rows stands row by row. */
static int upper_place(int n, int r, int c) {
    return r * n - r * (r - 1) / 2 + c - r;
}

static int64_t value_of_symmetric(const evaluation *e, const random_node *node, int64_t i, int c) {
    const int n = node->shape.sizes[0];
    int64_t sum = 0;
    for (int k = 0; k < n; ++k)
        sum += value_of(e, node->children[0], i, upper_place(n, k < c ? k : c, k < c ? c : k)) *
               value_of(e, node->children[1], i, k);
    return sum;
}

static int64_t value_of_upper(const evaluation *e, const random_node *node, int64_t i, int c) {
    const int n = e->script->nodes[node->children[0]].shape.sizes[0];
    int row = 0;
    while (row + 1 < n && upper_place(n, row + 1, row + 1) <= c)
        ++row;
    return value_of(e, node->children[0], i, row * n + row + c - upper_place(n, row, row));
}

static int64_t value_of_call(const evaluation *e, const random_node *node, int64_t i, int c) {
    const int a = node->children[0], b = node->children[1];
    const random_shape *shape = &e->script->nodes[a].shape;
    int64_t sum = 0;
    switch (node->function) {
    case RANDOM_MMUL:
    case RANDOM_MVMUL:
    case RANDOM_DOT:
        return value_of_product(e, node, i, c);
    case RANDOM_MADD:
    case RANDOM_VADD:
        return value_of(e, a, i, c) + value_of(e, b, i, c);
    case RANDOM_MSUB:
    case RANDOM_VSUB:
        return value_of(e, a, i, c) - value_of(e, b, i, c);
    case RANDOM_SMMUL:
    case RANDOM_SVMUL:
        return value_of(e, a, i, c) * value_of(e, b, i, 0);
    case RANDOM_OUTER:
        return value_of(e, a, i, c / node->shape.sizes[1]) *
               value_of(e, b, i, c % node->shape.sizes[1]);
    case RANDOM_TRANSPOSE:
        return value_of(e, a, i, c % shape->sizes[0] * shape->sizes[1] + c / shape->sizes[0]);
    case RANDOM_TRACE:
        for (int k = 0; k < shape->sizes[0]; ++k)
            sum += value_of(e, a, i, k * shape->sizes[1] + k);
        return sum;
    case RANDOM_UPPER:
        return value_of_upper(e, node, i, c);
    case RANDOM_SYMMETRIC:
        return value_of_symmetric(e, node, i, c);
    case RANDOM_FUNCTIONS:
        break;
    }
    abort();
}

/* A nested function's terms for a member of the set that it is evaluated over. */
static int64_t value_of_terms(const evaluation *e, const random_node *node, int64_t i) {
    const random_function_over *f = &e->script->functions[node->number];
    int64_t arguments[RANDOM_ARGUMENTS], sum = 0;
    for (int k = 0; k < f->n_arguments; ++k) {
        evaluation of = *e;
        of.set = random_set_over(e->script, f->arguments[k], e->set);
        arguments[k] = value_of(&of, node->children[k], member_of(e, of.set, i), 0);
    }
    for (int k = 0; k < f->n_terms; ++k)
        sum += f->terms[k].factor * arguments[f->terms[k].a] *
               (f->terms[k].b >= 0 ? arguments[f->terms[k].b] : 1);
    return sum;
}

static int64_t join(char op, int64_t a, int64_t b) {
    return op == '+' ? a + b : (op == '<') == (a < b) ? a : b;
}

/* A row or a column of a reduction, or a map's value. */
static int64_t value_of_nested(const evaluation *e, const random_node *node, int64_t i) {
    const random_script *s = e->script;
    const random_function_over *f = &s->functions[node->number];
    if (f->op == '\0')
        return value_of_terms(e, node, i);
    const evaluation pairs = {s, s->product, e->values};
    const int64_t n = s->sets[s->sets[s->product].second].n;
    const bool is_row = f->result == RANDOM_FIRST;
    const int64_t count = is_row ? n : s->sets[s->sets[s->product].first].n;
    int64_t joined = 0;
    bool any = false;
    for (int64_t k = 0; k < count; ++k) {
        const int64_t pair = is_row ? i * n + k : k * n + i;
        if (!is_combined(s, s->product, pair))
            continue;
        const int64_t one = value_of_terms(&pairs, node, pair);
        joined = any ? join(f->op, joined, one) : one;
        any = true;
    }
    return joined;
}

static int64_t value_of(const evaluation *e, int index, int64_t i, int c) {
    const random_node *node = &e->script->nodes[index];
    const int *child = node->children;
    if (node->kind == RANDOM_NUMBER)
        return node->number;
    if (node->kind == RANDOM_LIST)
        return value_of_list(e, node, i, c);
    if (node->kind == RANDOM_CALL)
        return value_of_call(e, node, i, c);
    if (node->kind == RANDOM_NESTED)
        return value_of_nested(e, node, i);
    const int64_t a = stretched(e, child[0], i, c);
    const int64_t b = child[1] >= 0 ? stretched(e, child[1], i, c) : 0;
    switch (node->kind) {
    case RANDOM_NEGATE:
        return -a;
    case RANDOM_ADD:
        return a + b;
    case RANDOM_SUBTRACT:
        return a - b;
    case RANDOM_MULTIPLY:
        return a * b;
    case RANDOM_MIN:
        return a < b ? a : b;
    case RANDOM_MAX:
        return a > b ? a : b;
    case RANDOM_ABS:
        return a < 0 ? -a : a;
    case RANDOM_SQUARE:
        return a * a;
    default:
        return stretched(e, a < b ? child[2] : child[3], i, c);
    }
}

/* Computed as a whole before it is put: `update x = ...` reads the old x. */
static int64_t *evaluate(const evaluation *of, int root, int set, const random_shape *shape) {
    const evaluation here = {of->script, set, of->values}, *e = &here;
    const int count = random_shape_count(shape);
    const int64_t n = random_members(e->script, set);
    int64_t *made = random_alloc((size_t)(n * count) + 1, sizeof *made);
    for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < count; ++c)
            made[i * count + c] = stretched(e, root, i, c);
    return made;
}

static void put(const evaluation *e, int list, int64_t *values) {
    free(e->values->values[list]);
    e->values->values[list] = values;
    e->values->changed[list] = true;
}

static void accumulate(const evaluation *e, const random_statement *one) {
    const random_map *map = &e->script->connectivities[one->map];
    const random_list *target = &e->script->lists[one->list];
    const int count = random_shape_count(&target->shape), row = map->width * count;
    int64_t *source = evaluate(e, one->root, map->from, &e->script->nodes[one->root].shape);
    int64_t *to = e->values->values[one->list];
    if (to == NULL) {
        to = random_alloc((size_t)(random_members(e->script, target->set) * count) + 1, sizeof *to);
        e->values->values[one->list] = to;
    }
    e->values->changed[one->list] = true;
    for (int64_t i = 0; i < random_members(e->script, map->from); ++i)
        for (int k = 0; k < row; ++k)
            to[(int64_t)map->indices[i * map->width + k / count] * count + k % count] +=
                source[i * row + k];
    free(source);
}

static void add_to_matrix(const evaluation *e, const random_statement *one) {
    const random_map *map = &e->script->connectivities[one->map];
    int64_t n = 0;
    uint32_t *positions = random_positions(e->script, &n);
    int64_t *source = evaluate(e, one->root, map->from, &e->script->nodes[one->root].shape);
    if (e->values->matrix == NULL)
        e->values->matrix = random_alloc((size_t)n + 1, sizeof *e->values->matrix);
    for (int64_t k = 0; k < random_members(e->script, map->from) * map->width * map->width; ++k)
        e->values->matrix[positions[k]] += source[k];
    free(positions);
    free(source);
}

static void reduce(const evaluation *of, const random_statement *one) {
    const evaluation here = {of->script, one->set, of->values}, *e = &here;
    int64_t *joined = random_alloc(2, sizeof *joined);
    const int64_t n = random_members(e->script, one->set);
    for (int64_t i = 0; i < n; ++i) {
        if (!is_combined(e->script, one->set, i))
            continue;
        int64_t a = value_of(e, one->root, i, 0);
        if (one->op == 'a' || one->op == 'm')
            a = a < 0 ? -a : a;
        if (one->op == '.')
            *joined += a * value_of(e, one->second, i, 0);
        else if (one->op == 'n')
            *joined += a * a;
        else if (one->op == '+' || one->op == 'a')
            *joined += a;
        else if (one->op == 'l')
            *joined = a != 0 ? a : *joined;
        else if (one->op == 'g' && (i == 0 || a > joined[0]))
            joined[0] = a, joined[1] = i;
        else if (one->op != 'g' && (i == 0 || (one->op == '<' ? a < *joined : a > *joined)))
            *joined = a;
    }
    put(e, one->list, joined);
}

static void apply(const evaluation *of, const random_statement *one) {
    const evaluation here = {of->script, NODES, of->values}, *e = &here;
    const random_operator *op = &e->script->op;
    const int64_t n = random_members(e->script, NODES);
    int64_t *made = random_alloc((size_t)n + 1, sizeof *made);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = op->row_start[i]; k < op->row_start[i + 1]; ++k)
            made[i] += (int64_t)op->entries[k] * value_of(e, one->root, op->columns[k], 0);
    put(e, one->list, made);
}

/* What an iteration makes ends with it. */
static void forget(const evaluation *e, int first, int last) {
    for (int i = 0; i < e->script->n_lists; ++i)
        if (e->script->lists[i].maker >= first && e->script->lists[i].maker < last) {
            free(e->values->values[i]);
            e->values->values[i] = NULL;
        }
}

static void run(const evaluation *e, int first, int last) {
    const random_script *s = e->script;
    for (int i = first; i < last; ++i) {
        const random_statement *one = &s->statements[i];
        if (one->kind == RANDOM_ACCUMULATE)
            accumulate(e, one);
        else if (one->kind == RANDOM_ADDTO)
            add_to_matrix(e, one);
        else if (one->kind == RANDOM_REDUCE)
            reduce(e, one);
        else if (one->kind == RANDOM_APPLY)
            apply(e, one);
        else if (one->kind == RANDOM_REPEAT) {
            const int end = random_loop_end(s, i);
            for (int iteration = 0; iteration < one->iterations &&
                                    value_of(e, one->root, 0, 0) < value_of(e, one->second, 0, 0);
                 ++iteration) {
                forget(e, i, end);
                run(e, i + 1, end);
            }
            i = end;
        } else
            put(e, one->list,
                evaluate(e, one->root, s->lists[one->list].set, &s->lists[one->list].shape));
    }
}

void random_values_make(const random_script *s, random_values *out) {
    const evaluation e = {s, UNIFORM_SET, out};
    *out = (random_values){0};
    for (int i = 0; i < s->n_inputs; ++i)
        out->values[i] = random_input(s, i);
    run(&e, 0, s->n_statements);
}

void random_values_free(random_values *values) {
    for (int i = 0; i < RANDOM_LISTS; ++i)
        free(values->values[i]);
    free(values->matrix);
    *values = (random_values){0};
}

/* ---- bounds ---- */

typedef struct bounds {
    const random_script *script;
    double list[RANDOM_LISTS], matrix, most;
} bounds;

static double bound_of(bounds *b, int index);

static double bound_of_call(bounds *b, const random_node *node) {
    const double x = bound_of(b, node->children[0]);
    const double y = node->children[1] >= 0 ? bound_of(b, node->children[1]) : 0;
    const random_shape *a = &b->script->nodes[node->children[0]].shape;
    switch (node->function) {
    case RANDOM_MMUL:
    case RANDOM_MVMUL:
        return a->sizes[1] * x * y;
    case RANDOM_DOT:
        return a->sizes[0] * x * y;
    case RANDOM_TRACE:
        return a->sizes[0] * x;
    case RANDOM_SMMUL:
    case RANDOM_SVMUL:
    case RANDOM_OUTER:
        return x * y;
    case RANDOM_TRANSPOSE:
    case RANDOM_UPPER:
        return x;
    case RANDOM_SYMMETRIC:
        return node->shape.sizes[0] * x * y;
    default:
        return x + y;
    }
}

static double bound_of_nested(bounds *b, const random_node *node) {
    const random_script *s = b->script;
    const random_function_over *f = &s->functions[node->number];
    const random_set *product = &s->sets[s->product];
    double bound = 0;
    for (int k = 0; k < f->n_terms; ++k)
        bound += f->terms[k].factor * bound_of(b, node->children[f->terms[k].a]) *
                 (f->terms[k].b >= 0 ? bound_of(b, node->children[f->terms[k].b]) : 1);
    return f->op != '+'
               ? bound
               : bound *
                     (double)s->sets[f->result == RANDOM_FIRST ? product->second : product->first]
                         .n;
}

static double bound_of_arithmetic(bounds *b, const random_node *node) {
    const double x = bound_of(b, node->children[0]);
    const double y = node->children[1] >= 0 ? bound_of(b, node->children[1]) : 0;
    switch (node->kind) {
    case RANDOM_ADD:
    case RANDOM_SUBTRACT:
        return x + y;
    case RANDOM_MULTIPLY:
        return x * y;
    case RANDOM_SQUARE:
        return x * x;
    case RANDOM_SELECT:
        return fmax(bound_of(b, node->children[2]), bound_of(b, node->children[3]));
    default:
        return fmax(x, y);
    }
}

static double bound_of(bounds *b, int index) {
    const random_node *node = &b->script->nodes[index];
    double bound = 0;
    if (node->kind == RANDOM_NUMBER)
        bound = abs(node->number);
    else if (node->kind == RANDOM_LIST)
        bound = b->list[node->list];
    else if (node->kind == RANDOM_NESTED)
        bound = bound_of_nested(b, node);
    else
        bound = node->kind == RANDOM_CALL ? bound_of_call(b, node) : bound_of_arithmetic(b, node);
    b->most = fmax(b->most, bound);
    return bound;
}

static void bound_statement(bounds *b, const random_statement *one) {
    const random_script *s = b->script;
    if (one->kind == RANDOM_END)
        return;
    const double root = bound_of(b, one->root);
    const double second = one->second >= 0 ? bound_of(b, one->second) : 1;
    if (one->kind == RANDOM_REPEAT)
        return;
    if (one->kind == RANDOM_ADDTO) {
        b->matrix += s->connectivities[one->map].valence * root;
        b->most = fmax(b->most, b->matrix);
        return;
    }
    if (one->kind == RANDOM_ACCUMULATE)
        b->list[one->list] += s->connectivities[one->map].valence * root;
    else if (one->kind == RANDOM_APPLY)
        b->list[one->list] = s->op.row_bound * root;
    else if (one->kind == RANDOM_REDUCE)
        b->list[one->list] = one->op == '+' || one->op == 'a'
                                 ? (double)random_members(s, one->set) * root
                             : one->op == 'n' ? (double)random_members(s, one->set) * root * root
                             : one->op == '.' ? (double)random_members(s, one->set) * root * second
                             : one->op == 'g' ? fmax(root, (double)random_members(s, one->set))
                                              : root;
    else
        b->list[one->list] = root;
    b->most = fmax(b->most, b->list[one->list]);
}

static void bound_run(bounds *b, int first, int last);

/* A loop may end after any iteration: what it updates may be as large as it ever was. */
static void bound_loop(bounds *b, int start, int end) {
    const int iterations = b->script->statements[start].iterations;
    double most[RANDOM_LISTS];
    memcpy(most, b->list, sizeof most);
    for (int iteration = 0; iteration < iterations; ++iteration) {
        bound_run(b, start + 1, end);
        for (int i = 0; i < RANDOM_LISTS; ++i)
            most[i] = fmax(most[i], b->list[i]);
    }
    memcpy(b->list, most, sizeof most);
    bound_statement(b, &b->script->statements[start]); /* the condition sees what an iteration
                                                          leaves */
}

static void bound_run(bounds *b, int first, int last) {
    const random_script *s = b->script;
    for (int i = first; i < last && b->most <= s->limit; ++i) {
        const random_statement *one = &s->statements[i];
        if (one->kind == RANDOM_ACCUMULATE && s->lists[one->list].maker == i)
            b->list[one->list] = 0;
        bound_statement(b, one);
        if (one->kind == RANDOM_REPEAT) {
            const int end = random_loop_end(s, i);
            bound_loop(b, i, end < last ? end : last);
            i = end;
        }
    }
}

bool random_script_is_exact(const random_script *s) {
    bounds b = {.script = s};
    for (int i = 0; i < s->n_inputs; ++i)
        b.list[i] = 3;
    bound_run(&b, 0, s->n_statements);
    return b.most <= s->limit;
}
