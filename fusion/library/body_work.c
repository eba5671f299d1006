/* Counts what the threads of a body do, by walking its statements with the threads of the first warp together: operations,
 * and accesses to its operands. A loop is walked once, with its first index, and counted as often as it is repeated, unless
 * it is short and what is inside is executed more or less often for other indices. Where the threads of the warp take
 * different branches, the warp takes each of them; where other threads take one in other iterations, in each of these. */
#include "fusion/base/array.h"
#include "fusion/library/body.h"
#include "fusion/library/work.h"

#include <string.h>

enum {
    WALKED_ITERATIONS = 64,
    INTRINSIC_OPERATIONS = 8,
    DIVISION_OPERATIONS = 8 /* of ints, by a number that is not a power of two */
};

typedef uint64_t lanes; /* a bit for each thread of the warp */

typedef struct counter {
    body_writer w; /* evaluates integers; w.thread is the current thread, w.locals its ints */
    weft_body_work *work;
    const weft_term **terms; /* [work->n_accesses] */
    double *times;           /* [n_statements] how often the warp executes each */
    body_local *locals[WEFT_BODY_WARP];
    bool *arrays_seen; /* [n_locals] */
} counter;

static void be(counter *c, int thread) {
    c->w.thread = thread;
    c->w.locals = c->locals[thread];
}

static bool has(lanes active, int thread) {
    return active >> thread & 1;
}

static bool is_constant(const weft_term *term) {
    bool constant =
        term->kind == TERM_INTEGER || term->kind == TERM_SIZE || term->kind == TERM_NUMBER;
    if (term->kind == TERM_BINARY || term->kind == TERM_NEGATE || term->kind == TERM_NOT) {
        constant = true;
        for (int k = 0; k < term->n_children; ++k)
            constant = constant && is_constant(term->children[k]);
    }
    return constant;
}

static double division(const counter *c, const weft_term *divisor) {
    int64_t n = 0;
    const bool power = weft_body_integer(&c->w, divisor, &n) && n > 0 && (n & (n - 1)) == 0;
    return power ? 1 : DIVISION_OPERATIONS;
}

static bool is_product(const weft_term *term) {
    return term && term->kind == TERM_BINARY && term->type == TYPE_REAL &&
           term->binary == BINARY_MULTIPLY;
}

/* Does a sum take one instruction with a product in it? */
static bool is_fused(const weft_term *term) {
    return term->kind == TERM_BINARY && term->type == TYPE_REAL &&
           (term->binary == BINARY_ADD || term->binary == BINARY_SUBTRACT) &&
           (is_product(term->children[0]) || is_product(term->children[1]));
}

/* Operations of evaluating a term, without the accesses to operands: of reals, or those of ints and conditions, which
 * subscripts need. */
static double operations(const counter *c, const weft_term *term, bool reals) {
    double sum = 0;
    if (!term || is_constant(term))
        return 0;
    if (term->kind == TERM_INTRINSIC)
        sum = INTRINSIC_OPERATIONS;
    else if (term->kind == TERM_BINARY || term->kind == TERM_NEGATE)
        sum = !is_fused(term);
    if (term->kind == TERM_BINARY && term->type == TYPE_INT &&
        (term->binary == BINARY_DIVIDE || term->binary == BINARY_MODULO))
        sum = division(c, term->children[1]);
    if ((term->type == TYPE_REAL || term->type == TYPE_MASK) != reals)
        sum = 0;
    for (int k = 0; k < term->n_children; ++k)
        sum += operations(c, term->children[k], reals);
    return sum;
}

/* Operations of all executions of a statement. Compilers unroll loops and keep subscripts' constant parts, so that these are
 * computed once. */
static double statement_operations(const counter *c, const weft_statement *s) {
    const double times = c->times[s->number];
    const bool fused = s->kind == STATEMENT_ASSIGN && is_product(s->value);
    if (times == 0 || s->kind == STATEMENT_BLOCK || s->kind == STATEMENT_FOR ||
        s->kind == STATEMENT_BARRIER)
        return 0;
    if (s->kind == STATEMENT_IF)
        return times * operations(c, s->condition, false);
    double sum = times * operations(c, s->value, true) + operations(c, s->value, false);
    if (s->kind == STATEMENT_ASSIGN)
        sum += operations(c, s->target, false) + (s->op != '=' && !fused ? times : 0);
    return sum;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static const weft_shape *shape_of(const counter *c, const weft_term *term) {
    const weft_specialisation *s = c->w.specialisation;
    return term->kind == TERM_ARGUMENT ? &s->arguments[term->index] : &s->result;
}

/* The component that the current thread accesses, row by row; -1: unknown. */
static int component_of(const counter *c, const weft_term *term) {
    const weft_shape *shape = shape_of(c, term);
    int64_t component = 0, subscript = 0;
    for (int k = 0; k < term->n_children; ++k) {
        if (!weft_body_integer(&c->w, term->children[k], &subscript))
            return -1;
        component = component * shape->sizes[k] + subscript;
    }
    return component >= 0 && component < weft_shape_count(shape) ? (int)component : -1;
}

static weft_body_access *access_of(counter *c, const weft_term *term) {
    weft_body_work *work = c->work;
    int i = 0;
    while (i < work->n_accesses && c->terms[i] != term)
        ++i;
    if (i == WEFT_BODY_ACCESSES)
        return NULL;
    if (i == work->n_accesses) {
        weft_body_access *made = &work->accesses[work->n_accesses++];
        c->terms[i] = term;
        made->operand = term->kind == TERM_ARGUMENT ? term->index : -1;
        made->count = 0;
        for (int t = 0; t < WEFT_BODY_WARP; ++t)
            made->components[t] = -1;
    }
    return &work->accesses[i];
}

static void visit_accesses(counter *c, const weft_term *term, double times, lanes active) {
    if (!term)
        return;
    if (term->kind == TERM_ARGUMENT || term->kind == TERM_RESULT) {
        weft_body_access *one = access_of(c, term);
        if (!one)
            return;
        for (int t = 0; t < WEFT_BODY_WARP && one->count == 0; ++t)
            if (has(active, t)) {
                be(c, t);
                one->components[t] = component_of(c, term);
            }
        one->count += times;
        return;
    }
    for (int k = 0; k < term->n_children; ++k)
        visit_accesses(c, term->children[k], times, active);
}

/* ---- statements ------------------------------------------------------------------------------ */

/* The number of iterations of the current thread's loop, with its index at the first. */
static double enter_loop(counter *c, const weft_statement *loop) {
    int64_t first = 0, bound = 0, repeats = 0;
    body_local *index = &c->w.locals[loop->local];
    index->known = weft_body_integer(&c->w, loop->value, &first);
    index->integer = first;
    if (!index->known || !weft_body_integer(&c->w, loop->condition, &bound))
        return 1;
    weft_term_binary(loop->compare, first, bound, &repeats);
    if (!repeats || loop->step == 0)
        return 0;
    const double n = ((double)bound - (double)first) / (double)loop->step;
    return n < 1 ? 1 : n;
}

static void walk(counter *c, const weft_statement *first, double times, lanes active);

static bool uses(const weft_term *term, int local) {
    bool found = term && term->kind == TERM_LOCAL && term->index == local;
    for (int k = 0; term && k < term->n_children && !found; ++k)
        found = uses(term->children[k], local);
    return found;
}

/* Do loops and branches of a list depend on the index of a loop around them? */
static bool varies_with(const weft_statement *first, int local) {
    for (const weft_statement *s = first; s; s = s->next)
        if (((s->kind == STATEMENT_FOR || s->kind == STATEMENT_IF) &&
             (uses(s->condition, local) || uses(s->value, local))) ||
            varies_with(s->body, local) || varies_with(s->otherwise, local))
            return true;
    return false;
}

/* An iteration for the threads that have so many; their indices. */
static lanes enter_iteration(counter *c, const weft_statement *loop, const double *repeats,
                             const int64_t *firsts, int i, lanes active) {
    lanes inside = 0;
    for (int t = 0; t < WEFT_BODY_WARP; ++t)
        if (has(active, t) && repeats[t] > i) {
            /* an inner use of the counter may have cleared it */
            c->locals[t][loop->local].known = true;
            c->locals[t][loop->local].integer = firsts[t] + i * loop->step;
            inside |= (lanes)1 << t;
        }
    return inside;
}

static void walk_loop(counter *c, const weft_statement *loop, double times, lanes active) {
    double repeats[WEFT_BODY_WARP], most = 0;
    int64_t firsts[WEFT_BODY_WARP];
    lanes inside = 0;
    bool known = true;
    for (int t = 0; t < WEFT_BODY_WARP; ++t) {
        if (!has(active, t))
            continue;
        be(c, t);
        repeats[t] = enter_loop(c, loop);
        firsts[t] = c->w.locals[loop->local].integer;
        known = known && c->w.locals[loop->local].known;
        most = repeats[t] > most ? repeats[t] : most;
        inside |= repeats[t] > 0 ? (lanes)1 << t : 0;
    }
    if (!inside)
        return;
    if (!known || most > WALKED_ITERATIONS || !varies_with(loop->body, loop->local)) {
        walk(c, loop->body, times * most, inside);
        return;
    }
    for (int i = 0; i < (int)most; ++i)
        walk(c, loop->body, times, enter_iteration(c, loop, repeats, firsts, i, inside));
}

static void walk_branches(counter *c, const weft_statement *s, double times, lanes active) {
    lanes body = 0, otherwise = 0;
    for (int t = 0; t < WEFT_BODY_WARP; ++t) {
        int64_t holds = 0;
        if (!has(active, t))
            continue;
        be(c, t);
        const bool known = weft_body_integer(&c->w, s->condition, &holds);
        body |= !known || holds ? (lanes)1 << t : 0;
        otherwise |= !known || !holds ? (lanes)1 << t : 0;
    }
    walk(c, s->body, times, body);
    walk(c, s->otherwise, times, otherwise);
}

/* An int gets its value, and an array of reals is counted where it first appears. */
static void declare(counter *c, const weft_statement *s, lanes active) {
    const weft_local *local = &c->w.variant->body.locals[s->local];
    for (int t = 0; t < WEFT_BODY_WARP && !local->real; ++t)
        if (has(active, t)) {
            be(c, t);
            c->w.locals[s->local].known =
                s->value && weft_body_integer(&c->w, s->value, &c->w.locals[s->local].integer);
        }
    double components = local->rank > 0;
    for (int k = 0; k < local->rank; ++k) {
        int64_t extent = 0;
        components *= weft_body_integer(&c->w, local->extents[k], &extent) ? (double)extent : 0;
    }
    c->work->array_components += c->arrays_seen[s->local] ? 0 : components;
    c->arrays_seen[s->local] = true;
}

static void walk(counter *c, const weft_statement *first, double times, lanes active) {
    for (const weft_statement *s = active ? first : NULL; s; s = s->next) {
        c->times[s->number] += times;
        switch (s->kind) {
        case STATEMENT_BLOCK:
            walk(c, s->body, times, active);
            break;
        case STATEMENT_FOR:
            walk_loop(c, s, times, active);
            break;
        case STATEMENT_IF:
            walk_branches(c, s, times, active);
            break;
        case STATEMENT_BARRIER:
            c->work->barriers += times;
            break;
        case STATEMENT_DECLARE:
            declare(c, s, active);
            visit_accesses(c, s->value, times, active);
            break;
        case STATEMENT_ASSIGN:
            visit_accesses(c, s->value, times, active);
            visit_accesses(c, s->target, times, active);
            break;
        }
    }
}

static double sum_operations(const counter *c, const weft_statement *first) {
    double sum = 0;
    for (const weft_statement *s = first; s; s = s->next)
        sum += statement_operations(c, s) + sum_operations(c, s->body) +
               sum_operations(c, s->otherwise);
    return sum;
}

weft_status weft_body_work_count(weft_arena *arena, const weft_specialisation *specialisation,
                                 int variant, int threads, weft_body_work *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_variant *walked = specialisation->function->variants[variant];
    const weft_body *body = &walked->body;
    lanes all = 0;
    counter c = {.w = {.specialisation = specialisation,
                       .variant = walked,
                       .error = error,
                       .thread_known = true},
                 .work = out};
    *out = (weft_body_work){0};
    TRY(WEFT_ALLOC(arena, c.times, (size_t)body->n_statements + 1, error));
    TRY(WEFT_ALLOC(arena, c.arrays_seen, (size_t)body->n_locals + 1, error));
    TRY(WEFT_ALLOC(arena, c.terms, WEFT_BODY_ACCESSES, error));
    for (int t = 0; t < threads && t < specialisation->threads[variant]; ++t) {
        TRY(WEFT_ALLOC(arena, c.locals[t], (size_t)body->n_locals + 1, error));
        all |= (lanes)1 << t;
    }
    c.w.locals = c.locals[0];
    walk(&c, body->first, 1, all);
    out->operations = sum_operations(&c, body->first);
done:
    return status;
}
