/* Computes a body modulo a prime (fusion/base/residues.h): its statements in order, thread after
 * thread, as the proof of thread patterns runs subscripts (fusion/library/thread_pattern.c). */
#include "fusion/base/array.h"
#include "fusion/base/residues.h"
#include "fusion/library/body.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 1 << 22 };

typedef struct runner {
    body_writer w; /* evaluates integers; w.thread is the current thread */
    weft_arena *arena;
    weft_residues *field;
    const weft_residue *const *arguments;
    weft_residue *result;
    weft_residue **locals; /* [n_locals] components of the reals */
    int *counts;           /* [n_locals] how many */
    int64_t steps;
    bool failed; /* a subscript that is not known or out of range, memory, too many steps */
} runner;

static weft_residue fail(runner *r) {
    r->failed = true;
    return 0;
}

static int64_t integer_of(runner *r, const weft_term *term) {
    int64_t out = 0;
    if (!weft_body_integer(&r->w, term, &out))
        fail(r);
    return out;
}

/* The number of a component, row by row, of [sizes]. */
static int64_t offset_of(runner *r, const weft_term *term, int rank, const int *sizes) {
    int64_t offset = 0;
    for (int k = 0; k < rank; ++k) {
        const int64_t i = integer_of(r, term->children[k]);
        if (i < 0 || i >= sizes[k]) {
            fail(r);
            return 0;
        }
        offset = offset * sizes[k] + i;
    }
    return offset;
}

/* The place of a component of a local or of the result. */
static weft_residue *place_of(runner *r, const weft_term *term) {
    const weft_specialisation *s = r->w.specialisation;
    int sizes[WEFT_RANK_MAX] = {0};
    if (term->kind == TERM_RESULT)
        return &r->result[offset_of(r, term, s->result.rank, s->result.sizes)];
    const weft_local *local = &r->w.variant->body.locals[term->index];
    for (int k = 0; k < local->rank; ++k)
        sizes[k] = (int)integer_of(r, local->extents[k]);
    const int64_t offset = offset_of(r, term, local->rank, sizes);
    if (!r->locals[term->index] || offset >= r->counts[term->index]) {
        fail(r);
        return r->result;
    }
    return &r->locals[term->index][offset];
}

static weft_residue real_of(runner *r, const weft_term *term);

static weft_residue operate(char op, weft_residue a, weft_residue b) {
    return op == '+'   ? weft_residue_add(a, b)
           : op == '-' ? weft_residue_subtract(a, b)
           : op == '*' ? weft_residue_multiply(a, b)
           : op == '/' ? weft_residue_divide(a, b)
                       : b;
}

static weft_residue binary_of(runner *r, const weft_term *term) {
    const weft_residue a = real_of(r, term->children[0]), b = real_of(r, term->children[1]);
    switch (term->binary) {
    case BINARY_ADD:
        return weft_residue_add(a, b);
    case BINARY_SUBTRACT:
        return weft_residue_subtract(a, b);
    case BINARY_MULTIPLY:
        return weft_residue_multiply(a, b);
    case BINARY_DIVIDE:
        return weft_residue_divide(a, b);
    case BINARY_LESS:
        return weft_residue_less(r->field, a, b);
    case BINARY_GREATER:
        return weft_residue_less(r->field, b, a);
    case BINARY_LESS_EQUAL:
        return weft_residue_subtract(1, weft_residue_less(r->field, b, a));
    case BINARY_GREATER_EQUAL:
        return weft_residue_subtract(1, weft_residue_less(r->field, a, b));
    case BINARY_EQUAL:
        return weft_residue_equal(r->field, a, b);
    case BINARY_UNEQUAL:
        return weft_residue_subtract(1, weft_residue_equal(r->field, a, b));
    case BINARY_AND:
        return weft_residue_multiply(a, b);
    case BINARY_OR:
        return weft_residue_subtract(weft_residue_add(a, b), weft_residue_multiply(a, b));
    case BINARY_MODULO:
        break;
    }
    return fail(r);
}

static weft_residue intrinsic_of(runner *r, const weft_term *term) {
    const weft_intrinsic *intrinsic = &weft_intrinsics[term->index];
    const weft_term *first = term->children[0];
    weft_residue b = 0;
    if ((intrinsic->flags & INTRINSIC_MASK) && first->type == TYPE_CONDITION)
        return real_of(r, term->children[integer_of(r, first) ? 1 : 2]);
    const weft_residue a = real_of(r, first);
    if (term->n_children > 1)
        b = real_of(r, term->children[1]);
    return intrinsic->flags & INTRINSIC_MASK
               ? weft_residue_select(a, b, real_of(r, term->children[2]))
               : weft_residue_function(r->field, intrinsic, a, b);
}

static weft_residue real_of(runner *r, const weft_term *term) {
    const weft_specialisation *s = r->w.specialisation;
    const weft_shape *shape = NULL;
    if (++r->steps > STEPS_MAX || r->failed)
        return fail(r);
    if (term->type == TYPE_INT || term->type == TYPE_CONDITION)
        return weft_residue_integer(integer_of(r, term));
    switch (term->kind) {
    case TERM_NUMBER:
        return isinf(term->number) ? fail(r) : weft_residue_number(r->field, term->number);
    case TERM_LOCAL:
    case TERM_RESULT:
        return *place_of(r, term);
    case TERM_ARGUMENT:
        shape = &s->arguments[term->index];
        return r->arguments[term->index][offset_of(r, term, shape->rank, shape->sizes)];
    case TERM_TABLE:
        shape = &s->table_shapes[term->index];
        return weft_residue_number(
            r->field, s->tables[term->index][offset_of(r, term, shape->rank, shape->sizes)]);
    case TERM_NEGATE:
        return weft_residue_subtract(0, real_of(r, term->children[0]));
    case TERM_NOT:
        return weft_residue_subtract(1, real_of(r, term->children[0]));
    case TERM_BINARY:
        return binary_of(r, term);
    case TERM_INTRINSIC:
        return intrinsic_of(r, term);
    case TERM_INTEGER:
    case TERM_SIZE:
    case TERM_THREAD:
    case TERM_ELEMENT:
        break;
    }
    return fail(r);
}

static void run(runner *r, const weft_statement *first);

static void run_loop(runner *r, const weft_statement *loop) {
    int64_t i = integer_of(r, loop->value), holds = 0;
    const int64_t bound = integer_of(r, loop->condition);
    for (weft_term_binary(loop->compare, i, bound, &holds); holds && !r->failed;
         weft_term_binary(loop->compare, i, bound, &holds)) {
        r->w.locals[loop->local].known = true;
        r->w.locals[loop->local].integer = i;
        run(r, loop->body);
        i += loop->step;
    }
}

static void declare(runner *r, const weft_statement *s) {
    const weft_local *local = &r->w.variant->body.locals[s->local];
    int64_t count = 1;
    if (!local->real) {
        r->w.locals[s->local].known = true;
        r->w.locals[s->local].integer = integer_of(r, s->value);
        return;
    }
    for (int k = 0; k < local->rank; ++k)
        count *= integer_of(r, local->extents[k]);
    if (count < 1 || count > WEFT_ELEMENTS_MAX) {
        fail(r);
        return;
    }
    if (r->counts[s->local] < count)
        r->locals[s->local] =
            weft_arena_alloc(r->arena, (size_t)count, sizeof *r->locals[s->local]);
    if (!r->locals[s->local]) {
        fail(r);
        return;
    }
    r->counts[s->local] = (int)count;
    memset(r->locals[s->local], 0, (size_t)count * sizeof *r->locals[s->local]);
    if (s->value)
        r->locals[s->local][0] = real_of(r, s->value);
}

static void assign(runner *r, const weft_statement *s) {
    const weft_residue value = real_of(r, s->value);
    weft_residue *place = place_of(r, s->target);
    *place = operate(s->op, *place, value);
}

static void run(runner *r, const weft_statement *first) {
    for (const weft_statement *s = first; s && !r->failed; s = s->next) {
        if (++r->steps > STEPS_MAX)
            fail(r);
        else if (s->kind == STATEMENT_BLOCK)
            run(r, s->body);
        else if (s->kind == STATEMENT_FOR)
            run_loop(r, s);
        else if (s->kind == STATEMENT_IF)
            run(r, integer_of(r, s->condition) ? s->body : s->otherwise);
        else if (s->kind == STATEMENT_DECLARE)
            declare(r, s);
        else if (s->kind == STATEMENT_ASSIGN)
            assign(r, s);
    }
}

bool weft_specialisation_residues(const weft_specialisation *specialisation, weft_arena *arena,
                                  weft_residues *field, const weft_residue *const *arguments,
                                  weft_residue *result) {
    const weft_variant *variant = specialisation->function->variants[0];
    const size_t n_locals = (size_t)variant->body.n_locals + 1;
    runner r = {.w = {.specialisation = specialisation, .variant = variant, .thread_known = true},
                .arena = arena,
                .field = field,
                .arguments = arguments,
                .result = result,
                .locals = weft_arena_alloc(arena, n_locals, sizeof *r.locals),
                .counts = weft_arena_alloc(arena, n_locals, sizeof *r.counts)};
    r.w.locals = weft_arena_alloc(arena, n_locals, sizeof *r.w.locals);
    if (!r.locals || !r.counts || !r.w.locals)
        return false;
    for (int t = 0; t < specialisation->threads[0] && !r.failed; ++t) {
        r.w.thread = t;
        run(&r, variant->body.first);
    }
    return !r.failed && !weft_residues_failed(field);
}
