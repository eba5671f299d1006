/** Random scripts of whole numbers so small that all arithmetic is exact. */
#ifndef RANDOM_SCRIPT_H
#define RANDOM_SCRIPT_H

#include "program_support.h"

enum { RANDOM_VALENCE = 64, RANDOM_MEMBERS = 400, VALUES = 128 };
enum { CELLS, NODES, NOWHERE };

typedef struct random_value {
    char name[16];
    int set; /* CELLS, NODES, NOWHERE: uniform */
    weft_shape shape;
    double bound; /* of its components' absolute values */
    bool target;  /* may still be accumulated into */
    bool used;
    bool input;  /* may be updated, once */
    bool hidden; /* cannot be returned: uniform arithmetic */
    bool part;   /* of another list: not to be loaded through a connectivity */
} random_value;

typedef struct generator {
    uint64_t state;
    weft_text text;
    random_value values[VALUES];
    int n;
    double limit;
} generator;

/* An operand as written. */
typedef struct random_operand {
    char text[64];
    weft_shape shape;
    double bound;
    int value;
} random_operand;

static inline bool is_shape(const weft_shape *shape, int rank, int a, int b) {
    return shape->rank == rank && (rank < 1 || shape->sizes[0] == a) &&
           (rank < 2 || shape->sizes[1] == b);
}

static inline random_value *value_add(generator *g, const char *prefix, int set,
                                      const weft_shape *shape, double bound) {
    random_value *made = &g->values[g->n];
    *made = (random_value){.set = set, .shape = *shape, .bound = bound};
    snprintf(made->name, sizeof made->name, "%s%d", prefix, g->n);
    ++g->n;
    return made;
}

/* Some value seen over `set`: direct, through a connectivity, and maybe a part of it. */
static inline bool operand_pick(generator *g, int set, random_operand *out) {
    const int v = random_below(&g->state, g->n);
    const random_value *value = &g->values[v];
    *out = (random_operand){.shape = value->shape, .bound = value->bound, .value = v};
    int length = snprintf(out->text, sizeof out->text, "%s", value->name);
    if (value->set != set && value->set != NOWHERE) {
        if (set != CELLS || value->set != NODES || value->shape.rank > 1 || value->part)
            return false;
        const bool dofs = random_below(&g->state, 3) > 0;
        length += snprintf(out->text + length, sizeof out->text - (size_t)length, "[%s]",
                           dofs ? "dofs" : "sides");
        out->shape.rank = value->shape.rank + 1;
        out->shape.sizes[1] = value->shape.sizes[0];
        out->shape.sizes[0] = dofs ? 3 : 2;
    }
    while (out->shape.rank > 0 && random_below(&g->state, 4) == 0) {
        length += snprintf(out->text + length, sizeof out->text - (size_t)length, "[%d]",
                           random_below(&g->state, out->shape.sizes[0]));
        --out->shape.rank;
        out->shape.sizes[0] = out->shape.sizes[1];
        out->shape.sizes[1] = 0;
    }
    if (out->shape.rank == 0)
        out->shape.sizes[0] = 0;
    return true;
}

static inline void operand_use(generator *g, const random_operand *o) {
    g->values[o->value].used = true;
    g->values[o->value].target = false;
}

/* A random expression; false: it did not fit (shapes, bounds), and nothing was used. */
static inline bool arithmetic(generator *g, int set, random_operand *out, weft_text *text) {
    random_operand list[4];
    const int n = 1 + random_below(&g->state, 4);
    weft_shape shape = {0};
    double bound = 0;
    bool any_over = false;
    for (int i = 0; i < n; ++i) {
        if (!operand_pick(g, set, &list[i]))
            return false;
        if (shape.rank > 0 && list[i].shape.rank > 0 &&
            !is_shape(&list[i].shape, shape.rank, shape.sizes[0], shape.sizes[1]))
            return false;
        if (list[i].shape.rank > 0)
            shape = list[i].shape;
        any_over |= g->values[list[i].value].set != NOWHERE;
    }
    if (!any_over)
        return false;
    /* a part alone would be another name for it, and parts are not loaded through connectivities */
    bound = n == 1 ? 2 * list[0].bound : list[0].bound;
    weft_text_add(text, n == 1 ? "2*%s" : "%s", list[0].text);
    for (int i = 1; i < n; ++i) {
        static const char *const forms[] = {"(%s) + %s",        "(%s) - %s",   "(%s)*%s",
                                            "min(%s, %s)",      "max(%s, %s)", "-(%s) + 2*%s",
                                            "abs(%s) - (%s)^2", "(%s)^2 - %s"};
        const int form = random_below(&g->state, 8);
        const double b = list[i].bound;
        weft_text longer = {0};
        bound = form == 2   ? bound * b
                : form == 5 ? bound + 2 * b
                : form == 6 ? bound + b * b
                : form == 7 ? bound * bound + b
                            : bound + b;
        weft_text_add(&longer, forms[form], text->data, list[i].text);
        weft_text_free(text);
        *text = longer;
    }
    if (bound > g->limit)
        return false;
    for (int i = 0; i < n; ++i)
        operand_use(g, &list[i]);
    *out = (random_operand){.shape = shape, .bound = bound};
    return true;
}

static inline bool statement_arithmetic(generator *g) {
    const int set = random_below(&g->state, 3) == 0 ? NODES : CELLS;
    random_operand made;
    weft_text text = {0};
    const bool fits = arithmetic(g, set, &made, &text);
    if (fits) {
        const random_value *value = value_add(g, "v", set, &made.shape, made.bound);
        weft_text_add(&g->text, "%s = %s;\n", value->name, text.data);
    }
    weft_text_free(&text);
    return fits;
}

static inline bool statement_function(generator *g) {
    static const char *const names[] = {"mmul", "mvmul", "madd", "smmul"};
    const int f = random_below(&g->state, 4);
    const int set = random_below(&g->state, 4) == 0 ? NODES : CELLS;
    random_operand a, b;
    if (!operand_pick(g, set, &a) || !operand_pick(g, set, &b) || a.shape.rank != 2 ||
        (g->values[a.value].set == NOWHERE && g->values[b.value].set == NOWHERE))
        return false;
    const int m = a.shape.sizes[0], k = a.shape.sizes[1];
    weft_shape shape = a.shape;
    double bound = a.bound + b.bound;
    if (f == 0) {
        if (b.shape.rank != 2 || b.shape.sizes[0] != k)
            return false;
        shape = (weft_shape){.rank = 2, .sizes = {m, b.shape.sizes[1]}};
        bound = k * a.bound * b.bound;
    } else if (f == 1) {
        if (!is_shape(&b.shape, 1, k, 0))
            return false;
        shape = (weft_shape){.rank = 1, .sizes = {m}};
        bound = k * a.bound * b.bound;
    } else if (f == 2) {
        if (!is_shape(&b.shape, 2, m, k))
            return false;
    } else {
        if (b.shape.rank != 0)
            return false;
        bound = a.bound * b.bound;
    }
    if (bound > g->limit)
        return false;
    operand_use(g, &a);
    operand_use(g, &b);
    const random_value *value = value_add(g, "f", set, &shape, bound);
    weft_text_add(&g->text, "%s = %s(%s, %s);\n", value->name, names[f], a.text, b.text);
    return true;
}

static inline bool statement_accumulate(generator *g) {
    random_operand source;
    if (!operand_pick(g, CELLS, &source) || source.shape.rank < 1 ||
        g->values[source.value].set == NOWHERE)
        return false;
    const int width = source.shape.sizes[0];
    if (width != 2 && width != 3)
        return false;
    const weft_shape shape = {.rank = source.shape.rank - 1,
                              .sizes = {source.shape.rank > 1 ? source.shape.sizes[1] : 0}};
    double bound = RANDOM_VALENCE * source.bound;
    random_value *target = NULL;
    for (int i = 0; i < g->n && random_below(&g->state, 2) == 0; ++i)
        if (g->values[i].target && i != source.value && g->values[i].set == NODES &&
            is_shape(&g->values[i].shape, shape.rank, shape.sizes[0], 0))
            target = &g->values[i];
    if (target != NULL)
        bound += target->bound;
    if (bound > g->limit)
        return false;
    operand_use(g, &source);
    if (target == NULL) {
        target = value_add(g, "b", NODES, &shape, bound);
        target->target = true;
    }
    target->bound = bound;
    weft_text_add(&g->text, "%s[%s] += %s;\n", target->name, width == 3 ? "dofs" : "sides",
                  source.text);
    return true;
}

/* The next value of an input, in its own memory. */
static inline bool statement_update(generator *g) {
    const int i = random_below(&g->state, g->n);
    random_value *input = &g->values[i];
    random_operand made;
    weft_text text = {0};
    bool fits = input->input && input->set != NOWHERE && arithmetic(g, input->set, &made, &text);
    /* read before it was accumulated into: the accumulation is then gone */
    fits = fits &&
           is_shape(&made.shape, input->shape.rank, input->shape.sizes[0], input->shape.sizes[1]);
    if (fits) {
        weft_text_add(&g->text, "update %s = %s;\n", input->name, text.data);
        input->bound = made.bound;
        input->input = input->target = false;
    }
    weft_text_free(&text);
    return fits;
}

/* Another name for a list, a part or a load of it: it keeps the value of now. */
static inline bool statement_alias(generator *g) {
    const int set = random_below(&g->state, 2) == 0 ? NODES : CELLS;
    random_operand o;
    if (!operand_pick(g, set, &o) || g->values[o.value].set == NOWHERE)
        return false;
    operand_use(g, &o);
    random_value *value = value_add(g, "a", set, &o.shape, o.bound);
    value->part = strchr(o.text, '[') != NULL || g->values[o.value].part;
    weft_text_add(&g->text, "%s = %s;\n", value->name, o.text);
    return true;
}

static inline bool statement_reduce(generator *g) {
    static const char *const names[] = {"sum", "minimum", "maximum", "dot"};
    const int f = random_below(&g->state, 4);
    const int set = random_below(&g->state, 2) == 0 ? NODES : CELLS;
    const weft_shape scalar = {0};
    random_operand a, b;
    if (!operand_pick(g, set, &a) || !operand_pick(g, set, &b) || a.shape.rank != 0 ||
        b.shape.rank != 0 || g->values[a.value].set == NOWHERE)
        return false;
    const double bound = f == 0   ? RANDOM_MEMBERS * a.bound
                         : f == 3 ? RANDOM_MEMBERS * a.bound * b.bound
                                  : a.bound;
    if (bound > g->limit)
        return false;
    operand_use(g, &a);
    if (f == 3)
        operand_use(g, &b);
    const random_value *value = value_add(g, "r", NOWHERE, &scalar, bound);
    weft_text_add(&g->text, f == 3 ? "%s = %s(%s, %s);\n" : "%s = %s(%s);\n", value->name, names[f],
                  a.text, b.text);
    return true;
}

/* Arithmetic on uniforms alone, computed wherever it is used. */
static inline bool statement_uniform(generator *g) {
    const int i = random_below(&g->state, g->n);
    if (g->values[i].set != NOWHERE || 2 * g->values[i].bound + 1 > g->limit)
        return false;
    g->values[i].used = true;
    random_value *value =
        value_add(g, "u", NOWHERE, &g->values[i].shape, 2 * g->values[i].bound + 1);
    value->hidden = true;
    value->part = true;
    weft_text_add(&g->text, "%s = 1 - 2*%s;\n", value->name, g->values[i].name);
    return true;
}

static inline void declare(generator *g, const char *prefix, int set, int rank, int a, int b,
                           bool target) {
    static const char *const over[] = {" over cells", " over nodes", ""};
    const weft_shape shape = {.rank = rank, .sizes = {a, b}};
    random_value *value = value_add(g, prefix, set, &shape, 3);
    value->target = target;
    value->input = true;
    value->used = true; /* not returned */
    weft_text_add(&g->text, "input %s : ", value->name);
    weft_shape_print(&shape, &g->text);
    weft_text_add(&g->text, "%s;\n", over[set]);
}

/** A valid script, malloc'd: connectivities dofs (3) and sides (2) from cells to nodes, inputs i0,
 * i1,
 *  ... whose values lie in -3 .. 3. No value exceeds limit in size. */
static inline char *random_script(uint64_t seed, double limit) {
    generator *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->state = seed;
    g->limit = limit;
    weft_text_add(&g->text, "index cells, nodes;\n"
                            "connectivity dofs : cells -> nodes[3];\n"
                            "connectivity sides : cells -> nodes[2];\n");
    declare(g, "i", CELLS, 0, 0, 0, false);
    declare(g, "i", CELLS, 1, 3, 0, false);
    declare(g, "i", CELLS, 2, 3, 3, false);
    declare(g, "i", CELLS, 2, 2, 3, false);
    declare(g, "i", NODES, 0, 0, 0, true);
    declare(g, "i", NODES, 1, 2, 0, true);
    declare(g, "i", NODES, 1, 3, 0, false);
    declare(g, "i", NOWHERE, 0, 0, 0, false);
    declare(g, "i", NOWHERE, 1, 3, 0, false);
    const int inputs = g->n, wanted = inputs + 4 + random_below(&g->state, 20);
    for (int tries = 0; g->n < wanted && tries < 2000; ++tries) {
        const int kind = random_below(&g->state, 16);
        if (kind < 6)
            statement_arithmetic(g);
        else if (kind < 9)
            statement_function(g);
        else if (kind < 12)
            statement_accumulate(g);
        else if (kind == 12)
            statement_update(g);
        else if (kind == 13)
            statement_alias(g);
        else if (kind == 14)
            statement_reduce(g);
        else
            statement_uniform(g);
    }
    for (int i = inputs; i < g->n; ++i)
        if (!g->values[i].hidden && (!g->values[i].used || random_below(&g->state, 5) == 0))
            weft_text_add(&g->text, "return %s;\n", g->values[i].name);
    assert_false(g->text.failed);
    char *text = g->text.data;
    free(g);
    return text;
}

#endif
