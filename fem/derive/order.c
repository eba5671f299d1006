/* Orders quantities, so that formulas may name fields that are given later. */
#include "fem/derive/private.h"

#include <string.h>

/* What is found of a quantity. */
typedef struct sorter {
    const weft_derived_quantity *quantities;
    int n, n_out;
    derive_order *out;
    weft_error *error;
} sorter;

static bool is_field(const sorter *s, int i) {
    return s->quantities[i].kind == WEFT_DERIVE_FIELD;
}

static bool is_placed(const sorter *s, int i) {
    for (int k = 0; k < s->n_out; ++k)
        if (s->out[k].given == i)
            return true;
    return false;
}

static weft_status refuse_circle(const sorter *s, int i, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "'%s' depends on itself", s->quantities[i].name);
    weft_error_location(error, s->quantities[i].origin, s->quantities[i].text, 1, 1);
    weft_error_hint(error, "its formula names fields whose formulas lead back to it");
    return WEFT_ERROR_USAGE;
}

/* Place a field behind those that its formula names.
 * depth  of the formulas that lead here: more than there are fields means that they go round */
static weft_status place(sorter *s, int i, int depth) {
    weft_status status = WEFT_OK;
    if (is_placed(s, i))
        goto done;
    if (depth > s->n)
        TRY(refuse_circle(s, i, s->error));
    for (int k = 0; k < s->n; ++k)
        if (k != i && is_field(s, k) && strcmp(s->quantities[k].name, s->quantities[i].name) != 0 &&
            weft_has_word(s->quantities[i].text, s->quantities[k].name))
            TRY(place(s, k, depth + 1));
    if (!is_placed(s, i))
        s->out[s->n_out++].given = i;
done:
    return status;
}

weft_status derive_order_find(const weft_derived_quantity *quantities, int n, derive_order *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    sorter s = {.quantities = quantities, .n = n, .out = out, .error = error};
    for (int i = 0; i < n; ++i)
        if (is_field(&s, i))
            TRY(place(&s, i, 0));
    for (int i = 0; i < n; ++i)
        if (!is_field(&s, i))
            out[s.n_out++].given = i;
    for (int i = 0; i < n; ++i) {
        out[i].rank = 0;
        for (int k = 0; k < out[i].given; ++k)
            out[i].rank += is_field(&s, k) == is_field(&s, out[i].given);
    }
done:
    return status;
}
