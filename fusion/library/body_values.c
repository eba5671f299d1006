/* Checks that a body reads only what has a value. It follows the order of execution, as far as it
 * is known from unrolled loops and known ints; doubtful cases are accepted. */
#include "fusion/base/intrinsics.h"
#include "fusion/library/body.h"

#include <stdio.h>
#include <string.h>

/* The component of a place, -1 if its subscripts are not known. */
static int64_t component_of(const body_writer *w, const weft_term *place) {
    const weft_shape *result = &w->specialisation->result;
    int64_t component = 0, i = 0, size = 0;
    for (int k = 0; k < place->n_children; ++k) {
        if (place->kind == TERM_RESULT)
            size = result->sizes[k];
        else if (!weft_body_integer(w, w->variant->body.locals[place->index].extents[k], &size))
            return -1;
        if (!weft_body_integer(w, place->children[k], &i))
            return -1;
        component = component * size + i;
    }
    return component < BODY_COMPONENTS_MAX ? component : -1;
}

static body_value *value_of(body_writer *w, const weft_term *place) {
    if (place->kind == TERM_RESULT)
        return &w->result_value;
    if (place->kind == TERM_LOCAL && w->variant->body.locals[place->index].real)
        return &w->locals[place->index].value;
    return NULL;
}

static bool has_value(const body_value *value, int64_t component) {
    if (component < 0)
        return value->any;
    return value->all || (value->bits[component / 64] >> (component % 64) & 1);
}

void weft_body_value_forget(body_writer *w, int local, bool assigned) {
    w->locals[local].value = (body_value){.any = assigned, .all = assigned};
}

void weft_body_value_set(body_writer *w, const weft_term *place) {
    body_value *value = value_of(w, place);
    if (!value)
        return;
    int64_t component = component_of(w, place);
    value->any = true;
    if (component < 0)
        value->all = true;
    else
        value->bits[component / 64] |= (uint64_t)1 << (component % 64);
}

static weft_status read_place(body_writer *w, const weft_term *place, weft_error *error) {
    const body_value *value = value_of(w, place);
    if (!value || w->n_doubts > 0 || has_value(value, component_of(w, place)))
        return WEFT_OK;
    const char *name = place->kind == TERM_RESULT ? w->specialisation->function->result.name
                                                  : w->variant->body.locals[place->index].name;
    char advice[256];
    snprintf(advice, sizeof advice,
             "a sum starts at zero: write %.80s = 0 first, or real s = 0 for a local", name);
    return weft_specialisation_refuse(w->specialisation, place->place, advice, error,
                                      "'%s' is read here and has no value yet", name);
}

weft_status weft_body_value_read(body_writer *w, const weft_term *term) {
    weft_status status = WEFT_OK;
    int64_t holds = 0;
    if (term->kind == TERM_INTRINSIC && (weft_intrinsics[term->index].flags & INTRINSIC_MASK) &&
        term->children[0]->type == TYPE_CONDITION &&
        weft_body_integer(w, term->children[0], &holds)) {
        status = weft_body_value_read(w, term->children[holds ? 1 : 2]);
        goto done;
    }
    for (int k = 0; k < term->n_children; ++k)
        TRY(weft_body_value_read(w, term->children[k]));
    status = read_place(w, term, w->error);
done:
    return status;
}

weft_status weft_body_value_finish(body_writer *w, bool whole) {
    const body_value *value = &w->result_value;
    int n = weft_shape_count(&w->specialisation->result);
    for (int i = 0; whole && i < n && i < BODY_COMPONENTS_MAX; ++i) {
        if (has_value(value, i))
            continue;
        const weft_function *function = w->specialisation->function;
        return weft_specialisation_refuse(
            w->specialisation, (weft_location){function->source, w->variant->line, 1},
            "the body below must assign all of them", w->error,
            "component %d of the result '%s', of %d, gets no value", i, function->result.name, n);
    }
    return WEFT_OK;
}
