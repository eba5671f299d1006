/* Writes the body of a specialised function: loops unrolled, known branches taken. */
#include "core/base/fault.h"
#include "fusion/library/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Names of the prelude that generated bodies use, besides the style's splat macro:
 *
 *   real                      type of data: a vector of lanes on the host
 *   scalar                    type of one component of a real
 *   TABLE(numbers)            a pointer to a large array of constants
 *   weft_NAME(x)              intrinsics of one argument: abs, cos, exp, reciprocal, sqrt, ...
 *   weft_NAME(x, y)           intrinsics of two arguments: max, min, pow, ...
 *   weft_powi(x, n)           x to an integer power
 *   weft_element              the number of the element, which the caller declares
 *   weft_infinity             the constant infinity
 *   weft_select(mask, a, b)   per lane a where the mask (a comparison of reals) holds, else b */

static weft_status write_list(body_writer *w, const weft_statement *first);

static void indent(body_writer *w) {
    for (int i = 0; i < w->depth; ++i)
        weft_text_add(w->out, "%s", i ? "    " : w->style->indent);
}

static void write_line(body_writer *w, const char *text) {
    indent(w);
    weft_text_add_bytes(w->out, text, strlen(text));
}

static bool compare(weft_binary binary, int64_t a, int64_t b) {
    int64_t holds = 0;
    weft_term_binary(binary, a, b, &holds);
    return holds != 0;
}

/* ---- size of unrolled loops ------------------------------------------------------------------ */

static int count_list(body_writer *w, const weft_statement *first, int limit);

static bool loop_known(const body_writer *w, const weft_statement *loop, int64_t *from,
                       int64_t *bound) {
    return weft_body_integer(w, loop->value, from) && weft_body_integer(w, loop->condition, bound);
}

static int count_loop(body_writer *w, const weft_statement *loop, int limit) {
    int64_t i = 0, bound = 0;
    int count = 0;
    if (!loop_known(w, loop, &i, &bound))
        return limit;
    w->locals[loop->local].known = true;
    for (; compare(loop->compare, i, bound) && count < limit; i += loop->step) {
        w->locals[loop->local].integer = i;
        int one = count_list(w, loop->body, limit - count);
        count += one > 0 ? one : 1;
    }
    w->locals[loop->local].known = false;
    return count;
}

/* Number of statements after unrolling, up to the limit. */
static int count_list(body_writer *w, const weft_statement *first, int limit) {
    int count = 0;
    int64_t value = 0;
    for (const weft_statement *s = first; s && count < limit; s = s->next) {
        int left = limit - count;
        switch (s->kind) {
        case STATEMENT_BLOCK:
            count += count_list(w, s->body, left);
            break;
        case STATEMENT_FOR:
            count += count_loop(w, s, left);
            break;
        case STATEMENT_IF:
            if (weft_body_integer(w, s->condition, &value))
                count += count_list(w, value ? s->body : s->otherwise, left);
            else
                count += 1 + count_list(w, s->body, left) + count_list(w, s->otherwise, left);
            break;
        case STATEMENT_DECLARE:
            if (!w->variant->body.locals[s->local].real) {
                w->locals[s->local].known = weft_body_integer(w, s->value, &value);
                w->locals[s->local].integer = value;
            } else {
                ++count;
            }
            break;
        case STATEMENT_ASSIGN:
        case STATEMENT_BARRIER:
            ++count;
            break;
        }
    }
    return count < limit ? count : limit;
}

/* Are the subscripts of a place numbers? */
static bool place_known(body_writer *w, const weft_term *place) {
    int64_t value = 0;
    for (int k = 0; k < place->n_children; ++k)
        if (!weft_body_integer(w, place->children[k], &value))
            return false;
    return true;
}

/* Is every target in a list addressed by the counter of a loop that is not unrolled? */
static bool targets_vary(body_writer *w, const weft_statement *first) {
    for (const weft_statement *s = first; s; s = s->next) {
        const bool varies = s->kind == STATEMENT_BLOCK    ? targets_vary(w, s->body)
                            : s->kind == STATEMENT_ASSIGN ? !place_known(w, s->target)
                                                          : false;
        if (!varies)
            return false;
    }
    return true;
}

/* The number of statements from which a loop stays one: less where no array could be held in registers for it. */
static int unroll_limit(body_writer *w, const weft_statement *loop) {
    const int most = w->style->unroll > 0 ? w->style->unroll : WEFT_UNROLL_MAX;
    int64_t i = 0, bound = 0;
    if (!loop_known(w, loop, &i, &bound))
        return most;
    w->locals[loop->local].known = true;
    w->locals[loop->local].integer = i;
    const bool varies = targets_vary(w, loop->body);
    w->locals[loop->local].known = false;
    return varies && most > WEFT_UNROLL_VARYING ? WEFT_UNROLL_VARYING : most;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Does a list contain a declaration that is emitted? Known ints are not. */
static bool declares(body_writer *w, const weft_statement *first) {
    for (const weft_statement *s = first; s; s = s->next) {
        if (s->kind != STATEMENT_DECLARE)
            continue;
        w->locals[s->local].known = !w->variant->body.locals[s->local].real &&
                                    weft_body_integer(w, s->value, &w->locals[s->local].integer);
        if (!w->locals[s->local].known)
            return true;
    }
    return false;
}

/* Write the statements of a block, or those inside its braces, one level deeper. */
static weft_status write_inside(body_writer *w, const weft_statement *first, bool deeper) {
    weft_status status = WEFT_OK;
    if (first && first->kind == STATEMENT_BLOCK && !first->next)
        first = first->body;
    w->depth += deeper;
    TRY(write_list(w, first));
    w->depth -= deeper;
done:
    return status;
}

/* Write the body of an unrolled iteration or a known branch in place, in braces if it declares. */
static weft_status write_inline(body_writer *w, const weft_statement *first) {
    weft_status status = WEFT_OK;
    const bool block = first && first->kind == STATEMENT_BLOCK && !first->next;
    const bool braces = declares(w, block ? first->body : first);
    if (braces)
        write_line(w, "{\n");
    TRY(write_inside(w, first, braces));
    if (braces)
        write_line(w, "}\n");
done:
    return status;
}

static weft_status write_loop(body_writer *w, const weft_statement *loop) {
    weft_status status = WEFT_OK;
    const char *name = w->variant->body.locals[loop->local].name;
    int64_t i = 0, bound = 0;
    TRY(weft_body_check(w, loop->value));
    TRY(weft_body_check(w, loop->condition));
    const int most = unroll_limit(w, loop);
    if (count_loop(w, loop, most) < most) {
        loop_known(w, loop, &i, &bound);
        for (; compare(loop->compare, i, bound); i += loop->step) {
            w->locals[loop->local].known =
                true; /* an inner use of the counter may have cleared it */
            w->locals[loop->local].integer = i;
            TRY(write_inline(w, loop->body));
        }
        w->locals[loop->local].known = false;
        goto done;
    }
    static const char *const compares[] = {"<", "<=", ">", ">="};
    if (w->keeps_loops || w->unrolls)
        weft_text_add(w->out, w->keeps_loops ? "#pragma unroll 1\n" : "#pragma unroll\n");
    indent(w);
    weft_text_add(w->out, "for (int %s = ", name);
    weft_body_print_integer(w, loop->value);
    weft_text_add(w->out, "; %s %s ", name, compares[loop->compare - BINARY_LESS]);
    weft_body_print_integer(w, loop->condition);
    if (loop->step == 1 || loop->step == -1)
        weft_text_add(w->out, "; %s%s) {\n", loop->step > 0 ? "++" : "--", name);
    else
        weft_text_add(w->out, "; %s %s %lld) {\n", name, loop->step > 0 ? "+=" : "-=",
                      (long long)(loop->step > 0 ? loop->step : -loop->step));
    bool sure = loop_known(w, loop, &i, &bound) && compare(loop->compare, i, bound);
    w->n_doubts += !sure;
    TRY(write_inside(w, loop->body, true));
    w->n_doubts -= !sure;
    write_line(w, "}\n");
done:
    return status;
}

static weft_status write_if(body_writer *w, const weft_statement *s) {
    weft_status status = WEFT_OK;
    int64_t holds = 0;
    TRY(weft_body_check(w, s->condition));
    if (weft_body_integer(w, s->condition, &holds)) {
        status = write_inline(w, holds ? s->body : s->otherwise);
        goto done;
    }
    write_line(w, "if (");
    weft_body_print_integer(w, s->condition);
    weft_text_add(w->out, ") {\n");
    ++w->n_doubts;
    TRY(write_inside(w, s->body, true));
    if (s->otherwise) {
        write_line(w, "} else {\n");
        TRY(write_inside(w, s->otherwise, true));
    }
    --w->n_doubts;
    write_line(w, "}\n");
done:
    return status;
}

static weft_status write_declaration(body_writer *w, const weft_statement *s) {
    weft_status status = WEFT_OK;
    const weft_local *local = &w->variant->body.locals[s->local];
    if (s->value)
        TRY(weft_body_check(w, s->value));
    if (!local->real) {
        int64_t value = 0;
        w->locals[s->local].known = weft_body_integer(w, s->value, &value);
        w->locals[s->local].integer = value;
        if (w->locals[s->local].known)
            goto done;
        indent(w);
        weft_text_add(w->out, "const int %s = ", local->name);
        weft_body_print_integer(w, s->value);
        weft_text_add(w->out, ";\n");
        goto done;
    }
    if (s->value)
        TRY(weft_body_value_read(w, s->value));
    weft_body_value_forget(w, s->local, s->value != NULL);
    indent(w);
    weft_text_add(w->out, "real %s", local->name);
    int64_t components = 1;
    for (int k = 0; k < local->rank; ++k) {
        int64_t size = 0;
        bool known = weft_body_integer(w, local->extents[k], &size);
        components *= size;
        if (!known || size < 1 || size > WEFT_ELEMENTS_MAX || components > WEFT_ELEMENTS_MAX)
            TRY(weft_specialisation_refuse(w->specialisation, s->place, NULL, w->error,
                                           "the array %s would have the size %lld", local->name,
                                           (long long)size));
        weft_text_add(w->out, "[%lld]", (long long)size);
    }
    if (s->value) {
        weft_text_add(w->out, " = ");
        weft_body_print_real(w, s->value);
    }
    weft_text_add(w->out, ";\n");
done:
    return status;
}

static weft_status write_assignment(body_writer *w, const weft_statement *s) {
    weft_status status = WEFT_OK;
    TRY(weft_body_check(w, s->target));
    TRY(weft_body_check(w, s->value));
    TRY(weft_body_value_read(w, s->value));
    if (s->op != '=')
        TRY(weft_body_value_read(w, s->target));
    weft_body_value_set(w, s->target);
    indent(w);
    const bool stored = w->style->store && s->op == '=' && s->target->kind == TERM_RESULT;
    if (stored)
        weft_text_add(w->out, "%s(&", w->style->store);
    weft_body_print_place(w, s->target);
    if (stored)
        weft_text_add(w->out, ", ");
    else if (s->op == '=')
        weft_text_add(w->out, " = ");
    else
        weft_text_add(w->out, " %c= ", s->op);
    weft_body_print_real(w, s->value);
    weft_text_add(w->out, stored ? ", stream);\n" : ";\n");
done:
    return status;
}

static weft_status write_list(body_writer *w, const weft_statement *first) {
    weft_status status = WEFT_OK;
    for (const weft_statement *s = first; s; s = s->next)
        switch (s->kind) {
        case STATEMENT_BLOCK:
            TRY(write_inline(w, s->body));
            break;
        case STATEMENT_FOR:
            TRY(write_loop(w, s));
            break;
        case STATEMENT_IF:
            TRY(write_if(w, s));
            break;
        case STATEMENT_DECLARE:
            TRY(write_declaration(w, s));
            break;
        case STATEMENT_ASSIGN:
            TRY(write_assignment(w, s));
            break;
        case STATEMENT_BARRIER:
            if (w->style->barrier && !weft_fault("barrier_lost"))
                write_line(w, w->style->barrier);
            break;
        }
done:
    return status;
}

/* Statements after unrolling all loops from which on a body is large: NVRTC unrolls loops of known length, and takes minutes
 * for a body of P3 elasticity on tetrahedra (150,000), but seconds for one whose loops stay. */
enum { LARGE_BODY = 50000 };

/* The same up to which the loops of a function with `//@ unroll` are unrolled: a factorisation of order 16 by one thread. */
enum { UNROLLED_BODY = 8192 };

/* Numbers of a table from which on it is wrapped in the prelude's TABLE. */
enum { LARGE_TABLE = 1000 };

/* Numbers that nothing reads are zero on the host, without text: a compiler reads a million digits in 0.1 s. */
static void write_numbers(const body_writer *w, int table, bool is_large, weft_text *out) {
    const weft_shape *shape = &w->specialisation->table_shapes[table];
    const int n = weft_shape_count(shape), slice = n / (int)shape->sizes[0];
    bool is_read = true, was_read = true;
    for (int k = 0, column = 0; k < n; ++k, was_read = is_read) {
        const int bit = k / slice < 63 ? k / slice : 63;
        is_read = w->style->keeps_loops || !is_large || w->slices[table] >> bit & 1;
        if (!is_read)
            continue;
        weft_text_add(out, "%s%s", column > 0 ? "," : "", column % 4 ? " " : "\n        ");
        ++column;
        if (!was_read)
            weft_text_add(out, "[%d] = ", k);
        /* decimal digits of a large table take 0.1 s */
        weft_text_add(out, is_large ? "%a" : "%.17g", w->specialisation->tables[table][k]);
    }
}

static void write_tables(const body_writer *w, weft_text *out) {
    const weft_specialisation *specialisation = w->specialisation;
    for (int i = 0; i < specialisation->n_tables; ++i) {
        if (!w->slices[i])
            continue;
        const int n = weft_shape_count(&specialisation->table_shapes[i]);
        const char *name = specialisation->table_names[i];
        const bool is_large = n >= LARGE_TABLE;
        weft_text_add(out, "%sstatic const scalar %s%s[%d] = {", w->style->indent, name,
                      is_large ? "_numbers" : "", n);
        write_numbers(w, i, is_large, out);
        weft_text_add(out, "};\n");
        if (is_large)
            weft_text_add(out, "%sconst scalar *%s = TABLE(%s_numbers);\n", w->style->indent, name,
                          name);
    }
}

weft_status weft_body_emit(const weft_specialisation *specialisation, int variant,
                           const weft_accessor *arguments, const weft_accessor *result,
                           const weft_body_style *style, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text body = {0};
    char *end = NULL;
    body_local *locals = NULL;
    const bool is_identity = variant == WEFT_IDENTITY && specialisation->function->identity;
    if (!is_identity && (variant < 0 || variant >= specialisation->n_variants))
        TRY(weft_error_set(
            error, WEFT_ERROR_USAGE, "%s has %d variants: there is none of number %d",
            specialisation->function->info.name, specialisation->n_variants, variant));
    const weft_variant *written = weft_function_variant(specialisation->function, variant);
    const int threads = is_identity ? 1 : specialisation->threads[variant];
    locals = calloc((size_t)written->body.n_locals + 1, sizeof *locals);
    if (!locals)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for the code of %s",
                           specialisation->function->info.name));
    body_writer w = {.locals = locals,
                     .specialisation = specialisation,
                     .variant = written,
                     .arguments = arguments,
                     .result = result,
                     .style = style,
                     .out = &body,
                     .error = error,
                     .depth = 1};
    w.thread = strtol(style->thread, &end, 10);
    w.thread_known = end != style->thread && *end == '\0';
    if (threads == 1) {
        w.thread_known = true;
        w.thread = 0;
    }
    w.keeps_loops = style->keeps_loops && w.thread_known &&
                    count_list(&w, written->body.first, LARGE_BODY) == LARGE_BODY;
    w.unrolls = specialisation->function->is_unrolled && style->keeps_loops &&
                count_list(&w, written->body.first, UNROLLED_BODY) < UNROLLED_BODY;
    TRY(write_list(&w, w.variant->body.first));
    TRY(weft_body_value_finish(&w, threads == 1));
    write_tables(&w, out);
    weft_text_add_bytes(out, body.data ? body.data : "", body.length);
    if (body.failed || out->failed)
        status = weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for the code of %s",
                                specialisation->function->info.name);
done:
    free(locals);
    weft_text_free(&body);
    return status;
}
