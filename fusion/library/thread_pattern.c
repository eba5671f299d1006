/* Proves that the threads of a body keep to the thread pattern, by running its subscripts.
 *
 * Subscripts, bounds and conditions are integers in sizes, t and loop variables, so that every
 * access of every thread is known when sizes are. A thread reads only the components of arguments
 * that its pattern names, and reads of the result only what it wrote itself, or what another thread wrote
 * before the last barrier and does not write before the next one; each component of the
 * result is written by exactly one thread. Barriers between calls rely on this
 * (fusion/plan/placement.c).
 *
 * A subscript that is the pattern's own term, or that is where the pattern has ':' and does not
 * depend on t, needs no proof. Statements without other subscripts are not run.
 *
 * Decision  docs/decisions/0012-thread-patterns-are-proved.md */
#include "core/base/fault.h"
#include "core/base/number.h"
#include "fusion/base/array.h"
#include "fusion/base/intrinsics.h"
#include "fusion/library/body.h"

#include <stdio.h>

enum { STEPS_MAX = 1 << 24, ALL = -1, NONE = -1, PHASES_MAX = 1024, PHASE_WORDS = PHASES_MAX / 64 };

typedef struct prover {
    body_writer w; /* evaluates integers; w.thread is the current thread */
    const weft_variant *variant;
    int number; /* of the variant */
    int threads;
    int *writers; /* [components of the result] the thread that writes it, or NONE */
    bool *open;   /* [n_statements] the statement must be run */
    const weft_term **definitions; /* [n_locals] of ints that are not loop variables */
    bool *varies;                  /* [n_locals] ints that depend on t */
    int n_written;                 /* components that the current thread writes */
    /* Bodies with barriers run twice. phase: number of barriers before the current statement. */
    int phase;
    bool is_second; /* writers and phases are known, reads are checked */
    int *
        early; /* [components of the result] a thread that reads it when nobody has written it, or NONE */
    uint64_t (*phases)
        [PHASE_WORDS]; /* [components of the result] in which they are written; NULL: no barriers */
    /* the current thread's part of each argument and, last, of the result: a subscript or ALL */
    int64_t part[WEFT_ARGUMENTS_MAX + 1][WEFT_RANK_MAX];
    int64_t strides[WEFT_ARGUMENTS_MAX + 1][WEFT_RANK_MAX]; /* 0: the subscript alone */
    int steps;
} prover;

typedef struct component_text {
    char text[160];
} component_text;

/* "A(1,:)", "s" */
static component_text component_of(const char *name, const int64_t *subscripts, int rank) {
    component_text out;
    size_t n = (size_t)snprintf(out.text, sizeof out.text, "%.80s", name);
    for (int k = 0; k < rank; ++k)
        if (subscripts[k] == ALL)
            n += (size_t)snprintf(out.text + n, sizeof out.text - n, "%s:", k ? "," : "(");
        else
            n += (size_t)snprintf(out.text + n, sizeof out.text - n, "%s%d", k ? "," : "(",
                                  (int)subscripts[k]);
    if (rank > 0)
        snprintf(out.text + n, sizeof out.text - n, ")");
    return out;
}

static weft_status refuse(prover *p, weft_location place, const char *format, ...)
    WEFT_PRINTF(3, 4);

static weft_status refuse(prover *p, weft_location place, const char *format, ...) {
    char message[600];
    va_list arguments;
    va_start(arguments, format);
    weft_print_list(message, sizeof message, format, arguments);
    va_end(arguments);
    return weft_specialisation_refuse(p->w.specialisation, place, NULL, p->w.error, "%s", message);
}

/* The line of the pattern. */
static weft_location line_of(const prover *p) {
    return (weft_location){p->w.specialisation->function->source, p->variant->line, 1};
}

/* ---- what must be run ------------------------------------------------------------------------ */

static bool depends_on_thread(const prover *p, const weft_term *term) {
    bool found = term->kind == TERM_THREAD || (term->kind == TERM_LOCAL && p->varies[term->index]);
    for (int k = 0; k < term->n_children && !found; ++k)
        found = depends_on_thread(p, term->children[k]);
    return found;
}

/* Is a subscript the pattern's term, perhaps by way of ints? */
static bool is_same(const prover *p, const weft_term *term, const weft_term *pattern) {
    while (term->kind == TERM_LOCAL && p->definitions[term->index])
        term = p->definitions[term->index];
    bool same = term->kind == pattern->kind && term->index == pattern->index &&
                term->integer == pattern->integer && term->binary == pattern->binary &&
                term->n_children == pattern->n_children && term->kind != TERM_LOCAL;
    for (int k = 0; k < term->n_children && same; ++k)
        same = is_same(p, term->children[k], pattern->children[k]);
    return same;
}

static bool term_is_open(const prover *p, const weft_term *term) {
    bool open = term->kind == TERM_RESULT;
    const bool indexed = term->kind == TERM_ARGUMENT || term->kind == TERM_TABLE ||
                         (term->kind == TERM_LOCAL && term->n_children > 0);
    for (int k = 0; k < term->n_children && !open; ++k) {
        const weft_term *pattern =
            term->kind == TERM_ARGUMENT ? p->variant->arguments[term->index].subscripts[k] : NULL;
        if (!indexed)
            open = term_is_open(p, term->children[k]);
        else
            open = pattern ? !is_same(p, term->children[k], pattern)
                           : depends_on_thread(p, term->children[k]);
    }
    return open;
}

/* Find the statements that must be run, and the ints that depend on t. */
static bool mark(prover *p, const weft_statement *first) {
    bool any = false;
    for (const weft_statement *s = first; s; s = s->next) {
        bool open = false, nested = false;
        const bool is_int = (s->kind == STATEMENT_DECLARE || s->kind == STATEMENT_FOR) &&
                            !p->variant->body.locals[s->local].real;
        if (is_int) {
            p->definitions[s->local] = s->kind == STATEMENT_DECLARE ? s->value : NULL;
            p->varies[s->local] = depends_on_thread(p, s->value) ||
                                  (s->kind == STATEMENT_FOR && depends_on_thread(p, s->condition));
        } else {
            open = (s->target && term_is_open(p, s->target)) ||
                   (s->value && term_is_open(p, s->value)) || s->kind == STATEMENT_BARRIER;
        }
        nested = mark(p, s->body);
        nested = mark(p, s->otherwise) || nested;
        p->open[s->number] = open || nested;
        any = any || open || nested;
    }
    return any;
}

/* ---- running --------------------------------------------------------------------------------- */

static weft_status integer_of(prover *p, const weft_term *term, int64_t *out) {
    if (weft_body_integer(&p->w, term, out))
        return WEFT_OK;
    refuse(p, term->place, "this has no value in thread %d of %d", (int)p->w.thread, p->threads);
    weft_error_hint(p->w.error, "it divides by zero, or leaves the range of 32 bits");
    return WEFT_ERROR_TYPE;
}

/* The subscripts of an access; *component: row by row. */
static weft_status locate(prover *p, const weft_term *term, const weft_shape *shape,
                          int64_t subscripts[WEFT_RANK_MAX], int64_t *component) {
    weft_status status = WEFT_OK;
    *component = 0;
    for (int k = 0; k < shape->rank; ++k) {
        const weft_term *child = term->children[k];
        TRY(integer_of(p, child, &subscripts[k]));
        if (subscripts[k] < 0 || subscripts[k] >= shape->sizes[k])
            TRY(refuse(p, child->place,
                       "this subscript is %lld in thread %d of %d, outside the size %d",
                       (long long)subscripts[k], (int)p->w.thread, p->threads, shape->sizes[k]));
        *component = *component * shape->sizes[k] + subscripts[k];
    }
done:
    return status;
}

/* Is this component in the current thread's part of the operand? */
static weft_status check_part(prover *p, const weft_term *term, int operand, const char *name,
                              const int64_t *subscripts) {
    const int64_t *part = p->part[operand];
    const bool reads = term->kind == TERM_ARGUMENT;
    for (int k = 0; k < term->n_children; ++k) {
        const int64_t stride = p->strides[operand][k];
        if (part[k] == ALL || part[k] == subscripts[k] || weft_fault("part_ignored") ||
            (stride > 0 && subscripts[k] > part[k] && (subscripts[k] - part[k]) % stride == 0))
            continue;
        refuse(p, term->children[k]->place,
               "thread %d of %d %s %s, but its part of %s is %s by line %d", (int)p->w.thread,
               p->threads, reads ? "reads" : "writes",
               component_of(name, subscripts, term->n_children).text, name,
               component_of(name, part, term->n_children).text, p->variant->line);
        if (reads)
            weft_error_hint(p->w.error,
                            "where a thread reads more of %s than one component, line %d needs ':' "
                            "in place of the subscript",
                            name, p->variant->line);
        return WEFT_ERROR_TYPE;
    }
    return WEFT_OK;
}

/* The component was written before the last barrier, and is not written before the next one; or the thread wrote it
 * itself. */
static weft_status check_phases(prover *p, const weft_term *term, int64_t component,
                                const int64_t *subscripts) {
    const char *name = p->w.specialisation->function->result.name;
    const uint64_t *written = p->phases[component];
    const uint64_t now = (uint64_t)1 << (p->phase % 64);
    const int thread = (int)p->w.thread;
    bool before = (written[p->phase / 64] & (now - 1)) != 0;
    if (!p->is_second && p->writers[component] == NONE)
        p->early[component] = thread;
    if (p->is_second && p->writers[component] == thread && p->early[component] == thread)
        return refuse(p, term->place, "thread %d of %d reads %s before it writes it", thread,
                      p->threads, component_of(name, subscripts, term->n_children).text);
    if (!p->is_second || p->writers[component] == thread || weft_fault("phase_ignored"))
        return WEFT_OK;
    for (int k = 0; k < p->phase / 64; ++k)
        before |= written[k] != 0;
    const bool written_now = (written[p->phase / 64] & now) != 0;
    if (before && !written_now)
        return WEFT_OK;
    refuse(p, term->place, "thread %d of %d reads %s, which thread %d %s", thread, p->threads,
           component_of(name, subscripts, term->n_children).text, p->writers[component],
           written_now ? "writes between the same barriers"
                       : "has not written before the last barrier");
    weft_error_hint(p->w.error, "threads run at the same time between two barriers");
    return WEFT_ERROR_TYPE;
}

static weft_status check_result(prover *p, const weft_term *term, bool writes) {
    weft_status status = WEFT_OK;
    const char *name = p->w.specialisation->function->result.name;
    const int thread = (int)p->w.thread;
    int64_t subscripts[WEFT_RANK_MAX], component = 0;
    TRY(locate(p, term, &p->w.specialisation->result, subscripts, &component));
    int *writer = &p->writers[component];
    if (!writes && p->phases) {
        status = check_phases(p, term, component, subscripts);
        goto done;
    }
    if (!writes && *writer != thread && !weft_fault("result_shared")) {
        refuse(p, term->place, "thread %d of %d reads %s, which it has not written", thread,
               p->threads, component_of(name, subscripts, term->n_children).text);
        weft_error_hint(p->w.error,
                        "threads run at the same time, without a barrier inside a body: a thread "
                        "reads only those components of the result that it wrote before");
        TRY(WEFT_ERROR_TYPE);
    }
    if (!writes)
        goto done;
    TRY(check_part(p, term, p->w.specialisation->n_arguments, name, subscripts));
    if (*writer != NONE && *writer != thread && !weft_fault("two_writers")) {
        refuse(p, term->place, "the threads %d and %d of %d both write %s", *writer, thread,
               p->threads, component_of(name, subscripts, term->n_children).text);
        weft_error_hint(p->w.error, "each component of the result is written by one thread");
        TRY(WEFT_ERROR_TYPE);
    }
    p->n_written += *writer != thread && !p->is_second;
    *writer = thread;
    if (p->phases)
        p->phases[component][p->phase / 64] |= (uint64_t)1 << (p->phase % 64);
done:
    return status;
}

static weft_status check_reads(prover *p, const weft_term *term) {
    weft_status status = WEFT_OK;
    const weft_specialisation *s = p->w.specialisation;
    int64_t subscripts[WEFT_RANK_MAX], ignored = 0;
    if (term->kind == TERM_INTRINSIC && (weft_intrinsics[term->index].flags & INTRINSIC_MASK) &&
        term->children[0]->type == TYPE_CONDITION) {
        TRY(integer_of(p, term->children[0], &ignored));
        status = check_reads(p, term->children[ignored ? 1 : 2]);
        goto done;
    }
    if (term->kind == TERM_ARGUMENT) {
        TRY(locate(p, term, &s->arguments[term->index], subscripts, &ignored));
        TRY(check_part(p, term, term->index, s->function->arguments[term->index].name, subscripts));
    } else if (term->kind == TERM_TABLE) {
        TRY(locate(p, term, &s->table_shapes[term->index], subscripts, &ignored));
    } else if (term->kind == TERM_RESULT) {
        TRY(check_result(p, term, false));
    } else if (term->kind == TERM_LOCAL) {
        TRY(weft_body_check(&p->w, term));
    } else {
        for (int k = 0; k < term->n_children; ++k)
            TRY(check_reads(p, term->children[k]));
    }
done:
    return status;
}

static bool has_barrier(const weft_statement *first) {
    for (const weft_statement *s = first; s; s = s->next)
        if (s->kind == STATEMENT_BARRIER || has_barrier(s->body) || has_barrier(s->otherwise))
            return true;
    return false;
}

static weft_status run(prover *p, const weft_statement *first);

static weft_status run_loop(prover *p, const weft_statement *loop) {
    weft_status status = WEFT_OK;
    int64_t i = 0, bound = 0, holds = 0;
    TRY(integer_of(p, loop->value, &i));
    TRY(integer_of(p, loop->condition, &bound));
    for (weft_term_binary(loop->compare, i, bound, &holds); holds;
         weft_term_binary(loop->compare, i, bound, &holds)) {
        p->w.locals[loop->local].known = true;
        p->w.locals[loop->local].integer = i;
        TRY(run(p, loop->body));
        i += loop->step;
    }
done:
    return status;
}

static weft_status run_statement(prover *p, const weft_statement *s) {
    weft_status status = WEFT_OK;
    int64_t holds = 0;
    switch (s->kind) {
    case STATEMENT_BLOCK:
        status = run(p, s->body);
        break;
    case STATEMENT_FOR:
        status = run_loop(p, s);
        break;
    case STATEMENT_IF:
        TRY(integer_of(p, s->condition, &holds));
        status = run(p, holds ? s->body : s->otherwise);
        break;
    case STATEMENT_DECLARE:
        status = check_reads(p, s->value);
        break;
    case STATEMENT_BARRIER:
        if (++p->phase >= PHASES_MAX)
            TRY(refuse(p, s->place, "the threads of this body meet more than %d barriers",
                       PHASES_MAX - 1));
        break;
    case STATEMENT_ASSIGN:
        TRY(check_reads(p, s->value));
        if (s->op != '=' || s->target->kind == TERM_LOCAL)
            TRY(check_reads(p, s->target));
        if (s->target->kind == TERM_RESULT)
            TRY(check_result(p, s->target, true));
        break;
    }
done:
    return status;
}

/* Run the current thread's statements. */
static weft_status run(prover *p, const weft_statement *first) {
    weft_status status = WEFT_OK;
    for (const weft_statement *s = first; s; s = s->next) {
        if (++p->steps > STEPS_MAX)
            TRY(refuse(p, line_of(p),
                       "the %d threads of this body have too many accesses to check them",
                       p->threads));
        if (s->kind == STATEMENT_DECLARE && !p->variant->body.locals[s->local].real)
            p->w.locals[s->local].known =
                weft_body_integer(&p->w, s->value, &p->w.locals[s->local].integer);
        else if (p->open[s->number])
            TRY(run_statement(p, s));
    }
done:
    return status;
}

/* ---- one body -------------------------------------------------------------------------------- */

/* The part of an operand that the pattern gives to the current thread. */
static weft_status take_part(prover *p, int operand, const weft_pattern *pattern,
                             const weft_shape *shape) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < shape->rank; ++k) {
        const weft_term *term = pattern->subscripts[k];
        int64_t *part = &p->part[operand][k], *stride = &p->strides[operand][k];
        *part = ALL;
        *stride = 0;
        if (!term)
            continue;
        TRY(integer_of(p, term, part));
        if (pattern->steps[k])
            TRY(integer_of(p, pattern->steps[k], stride));
        if (pattern->steps[k] && *stride < 1)
            TRY(refuse(p, pattern->steps[k]->place, "this step is %lld: steps are positive",
                       (long long)*stride));
        if (*part < 0 || (*part >= shape->sizes[k] && *stride == 0))
            TRY(refuse(p, term->place,
                       "this subscript is %lld in thread %d of %d, outside the size %d",
                       (long long)*part, (int)p->w.thread, p->threads, shape->sizes[k]));
    }
done:
    return status;
}

/* Does the current thread write its whole part of the result, if the pattern states one? */
static weft_status check_whole(prover *p) {
    const weft_specialisation *s = p->w.specialisation;
    const int n = weft_specialisation_thread_count(s, p->number, -1);
    if (n == 0 || p->n_written == n)
        return WEFT_OK;
    refuse(p, line_of(p), "thread %d of %d writes %d of the %d components of its part %s",
           (int)p->w.thread, p->threads, p->n_written, n,
           component_of(s->function->result.name, p->part[s->n_arguments], s->result.rank).text);
    weft_error_hint(p->w.error, "the pattern of the result states what each thread writes; without "
                                "a pattern of the result this is found out");
    return WEFT_ERROR_TYPE;
}

/* Is a component in the current thread's part of the result? Without a pattern thread 0 has it. */
static bool holds(const prover *p, int component) {
    const weft_shape *shape = &p->w.specialisation->result;
    const int64_t *part = p->part[p->w.specialisation->n_arguments],
                  *stride = p->strides[p->w.specialisation->n_arguments];
    bool stated = false;
    for (int k = shape->rank - 1; k >= 0; component /= shape->sizes[k--]) {
        const int64_t off = component % shape->sizes[k] - part[k];
        stated |= part[k] != ALL;
        if (part[k] != ALL && off != 0 && (stride[k] == 0 || off < 0 || off % stride[k] != 0))
            return false;
    }
    return stated || p->w.thread == 0;
}

/* A native body's text says nothing of its accesses: its pattern states which thread writes each component of
 * the result, which generated code makes true. */
static weft_status prove_native(prover *p) {
    weft_status status = WEFT_OK;
    const weft_specialisation *s = p->w.specialisation;
    const int n = weft_shape_count(&s->result);
    for (int t = 0; t < p->threads; ++t) {
        p->w.thread = t;
        for (int i = 0; i < s->n_arguments; ++i)
            TRY(take_part(p, i, &p->variant->arguments[i], &s->arguments[i]));
        TRY(take_part(p, s->n_arguments, &p->variant->result, &s->result));
        for (int c = 0; c < n; ++c) {
            if (!holds(p, c))
                continue;
            if (p->writers[c] != NONE && !weft_fault("two_writers"))
                TRY(refuse(p, line_of(p),
                           "the threads %d and %d of %d both have component %d of %s",
                           p->writers[c], t, p->threads, c, s->function->result.name));
            p->writers[c] = t;
        }
    }
done:
    return status;
}

/* Run the threads one after another. */
static weft_status run_threads(prover *p) {
    weft_status status = WEFT_OK;
    const weft_specialisation *s = p->w.specialisation;
    for (int t = 0; t < p->threads; ++t) {
        p->w.thread = t;
        for (int i = 0; i < s->n_arguments; ++i)
            TRY(take_part(p, i, &p->variant->arguments[i], &s->arguments[i]));
        TRY(take_part(p, s->n_arguments, &p->variant->result, &s->result));
        p->n_written = p->phase = 0;
        TRY(run(p, p->variant->body.first));
        if (!p->is_second)
            TRY(check_whole(p));
    }
done:
    return status;
}

/* Do all threads meet the barriers of a list together? Returns NULL, or the statement that only some may execute. */
static const weft_statement *find_divergence(const prover *p, const weft_statement *first) {
    const weft_statement *found = NULL;
    for (const weft_statement *s = first; s && !found; s = s->next) {
        const bool varies =
            (s->kind == STATEMENT_FOR || s->kind == STATEMENT_IF) &&
            (depends_on_thread(p, s->condition) || (s->value && depends_on_thread(p, s->value)));
        if (varies && (has_barrier(s->body) || has_barrier(s->otherwise)))
            found = s;
        else
            found = find_divergence(p, s->body);
        found = found ? found : find_divergence(p, s->otherwise);
    }
    return found;
}

static weft_status prove_variant(prover *p) {
    weft_status status = WEFT_OK;
    const weft_specialisation *s = p->w.specialisation;
    const int n = weft_shape_count(&s->result);
    if (p->variant->native)
        TRY(prove_native(p));
    mark(p, p->variant->body.first);
    const weft_statement *divergence =
        p->variant->body.has_barriers ? find_divergence(p, p->variant->body.first) : NULL;
    if (divergence) {
        refuse(p, divergence->place, "not all threads meet the barrier in this statement");
        weft_error_hint(p->w.error, "put the barrier behind it, where all threads come");
        TRY(WEFT_ERROR_TYPE);
    }
    if (!p->variant->native)
        TRY(run_threads(p));
    p->is_second = true;
    if (p->phases)
        TRY(run_threads(p));
    for (int component = 0; component < n; ++component) {
        int64_t subscripts[WEFT_RANK_MAX], rest = component;
        if (p->writers[component] != NONE)
            continue;
        for (int k = s->result.rank - 1; k >= 0; rest /= s->result.sizes[k--])
            subscripts[k] = rest % s->result.sizes[k];
        refuse(p, line_of(p), "none of the %d threads writes %s", p->threads,
               component_of(s->function->result.name, subscripts, s->result.rank).text);
        weft_error_hint(p->w.error,
                        "the threads of a body together write the whole result: is '%s' the right "
                        "number of threads?",
                        p->variant->threads_text);
        TRY(WEFT_ERROR_TYPE);
    }
done:
    return status;
}

weft_status weft_thread_pattern_prove(weft_arena *arena, const weft_specialisation *specialisation,
                                      int v, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)weft_shape_count(&specialisation->result);
    const weft_variant *variant = specialisation->function->variants[v];
    const size_t n_locals = (size_t)variant->body.n_locals + 1;
    prover p = {
        .w = {.specialisation = specialisation,
              .variant = variant,
              .error = error,
              .thread_known = true},
        .variant = variant,
        .number = v,
        .threads = specialisation->threads[v],
    };
    if (p.threads == 1 || specialisation->writers[v])
        goto done;
    TRY(WEFT_ALLOC(arena, p.w.locals, n_locals, error));
    TRY(WEFT_ALLOC(arena, p.definitions, n_locals, error));
    TRY(WEFT_ALLOC(arena, p.varies, n_locals, error));
    TRY(WEFT_ALLOC(arena, p.writers, n, error));
    TRY(WEFT_ALLOC(arena, p.open, (size_t)variant->body.n_statements, error));
    if (variant->body.has_barriers)
        TRY(WEFT_ALLOC(arena, p.phases, n, error));
    TRY(WEFT_ALLOC(arena, p.early, n, error));
    for (size_t i = 0; i < n; ++i)
        p.writers[i] = p.early[i] = NONE;
    TRY(prove_variant(&p));
    specialisation->writers[v] = p.writers;
done:
    return status;
}
