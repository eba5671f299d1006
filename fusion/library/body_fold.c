/* Folds constants in a body while its code is written: known ints, constant reals, and the check of
 * known subscripts. */
#include "fusion/base/intrinsics.h"
#include "fusion/library/body.h"

#include <math.h>

bool weft_body_integer(const body_writer *w, const weft_term *term, int64_t *out) {
    int64_t a, b;
    switch (term->kind) {
    case TERM_INTEGER:
        *out = term->integer;
        return true;
    case TERM_SIZE:
        *out = w->specialisation->values[term->index];
        return true;
    case TERM_THREAD:
        *out = w->thread;
        return w->thread_known;
    case TERM_LOCAL:
        if (term->type != TYPE_INT || !w->locals || !w->locals[term->index].known)
            return false;
        *out = w->locals[term->index].integer;
        return true;
    case TERM_NEGATE:
    case TERM_NOT:
        if (!weft_body_integer(w, term->children[0], &a))
            return false;
        *out = term->kind == TERM_NOT ? !a : -a;
        return true;
    case TERM_BINARY:
        if (term->type == TYPE_REAL || term->type == TYPE_MASK)
            return false;
        /* one operand may decide alone, as in n == 2 && i < k for another n */
        if (term->binary == BINARY_AND || term->binary == BINARY_OR) {
            int64_t decides = term->binary == BINARY_OR;
            if ((weft_body_integer(w, term->children[0], &a) && !!a == decides) ||
                (weft_body_integer(w, term->children[1], &a) && !!a == decides)) {
                *out = decides;
                return true;
            }
        }
        return weft_body_integer(w, term->children[0], &a) &&
               weft_body_integer(w, term->children[1], &b) &&
               !weft_term_binary(term->binary, a, b, out);
    default:
        return false;
    }
}

/* The offset of a table entry or of an operand's component; false if a subscript is not known. */
static bool known_offset(const body_writer *w, const weft_term *term, const weft_shape *shape,
                         int64_t *out) {
    int64_t offset = 0, i;
    for (int k = 0; k < term->n_children; ++k) {
        if (!weft_body_integer(w, term->children[k], &i) || i < 0 || i >= shape->sizes[k])
            return false;
        offset = offset * shape->sizes[k] + i;
    }
    *out = offset;
    return true;
}

bool weft_body_constant(const body_writer *w, const weft_term *term, double *out) {
    double a, b;
    int64_t i;
    if (term->type == TYPE_INT) {
        bool known = weft_body_integer(w, term, &i);
        *out = known ? (double)i : 0;
        return known;
    }
    switch (term->kind) {
    case TERM_NUMBER:
        *out = term->number;
        return true;
    case TERM_TABLE:
        if (!known_offset(w, term, &w->specialisation->table_shapes[term->index], &i))
            return false;
        *out = w->specialisation->tables[term->index][i];
        return true;
    case TERM_NEGATE:
        if (!weft_body_constant(w, term->children[0], &a))
            return false;
        *out = -a;
        return true;
    case TERM_BINARY:
        if (term->type != TYPE_REAL || !weft_body_constant(w, term->children[0], &a) ||
            !weft_body_constant(w, term->children[1], &b))
            return false;
        *out = term->binary == BINARY_ADD        ? a + b
               : term->binary == BINARY_SUBTRACT ? a - b
               : term->binary == BINARY_MULTIPLY ? a * b
                                                 : a / b;
        return isfinite(*out);
    case TERM_INTRINSIC: /* select on sizes */
        return (weft_intrinsics[term->index].flags & INTRINSIC_MASK) &&
               term->children[0]->type == TYPE_CONDITION &&
               weft_body_integer(w, term->children[0], &i) &&
               weft_body_constant(w, term->children[i ? 1 : 2], out);
    default:
        return false;
    }
}

static const weft_shape *term_shape(const body_writer *w, const weft_term *term,
                                    weft_shape *local_shape, const char **name) {
    const weft_function *function = w->specialisation->function;
    switch (term->kind) {
    case TERM_ARGUMENT:
        *name = function->arguments[term->index].name;
        return &w->specialisation->arguments[term->index];
    case TERM_RESULT:
        *name = function->result.name;
        return &w->specialisation->result;
    case TERM_TABLE:
        *name = function->tables[term->index].formal.name;
        return &w->specialisation->table_shapes[term->index];
    case TERM_LOCAL: {
        const weft_local *local = &w->variant->body.locals[term->index];
        *name = local->name;
        local_shape->rank = local->rank;
        for (int i = 0; i < local->rank; ++i) {
            int64_t size = 0;
            weft_body_integer(w, local->extents[i], &size);
            local_shape->sizes[i] = (int)size;
        }
        return local_shape;
    }
    default:
        return NULL;
    }
}

weft_status weft_body_check(body_writer *w, const weft_term *term) {
    weft_status status = WEFT_OK;
    weft_shape local_shape = {0};
    const char *name = NULL;
    for (int k = 0; k < term->n_children; ++k)
        TRY(weft_body_check(w, term->children[k]));
    const weft_shape *shape = term_shape(w, term, &local_shape, &name);
    for (int k = 0; shape && k < shape->rank; ++k) {
        int64_t i = 0;
        if (weft_body_integer(w, term->children[k], &i) && (i < 0 || i >= shape->sizes[k]))
            TRY(weft_specialisation_refuse(w->specialisation, term->place, NULL, w->error,
                                           "subscript %d of %s is %lld here, outside its size %d",
                                           k + 1, name, (long long)i, shape->sizes[k]));
    }
    int64_t ignored;
    if (term->kind == TERM_BINARY &&
        (term->binary == BINARY_DIVIDE || term->binary == BINARY_MODULO) &&
        term->type == TYPE_INT && weft_body_integer(w, term->children[1], &ignored) && ignored == 0)
        status = weft_specialisation_refuse(w->specialisation, term->place, NULL, w->error,
                                            "an integer division by zero");
done:
    return status;
}
