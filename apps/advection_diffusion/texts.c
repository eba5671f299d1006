/* Splits the formulas of an option into components and rows. */
#include "apps/advection_diffusion/advection_diffusion.h"
#include "apps/common/fem.h"
#include "core/weft_core.h"
#include "fusion/weft_compile.h"

#include <stdlib.h>
#include <string.h>

static weft_status refuse(const char *option, const char *text, size_t at, const char *message,
                          const char *hint, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s", message);
    weft_error_location(error, option, text, 1, (int)at + 1);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_USAGE;
}

static size_t part_length(const char *text) {
    int depth = 0;
    size_t n = 0;
    for (; text[n] && (depth > 0 || (text[n] != ',' && text[n] != ';')); ++n)
        depth += text[n] == '(' ? 1 : text[n] == ')' ? -1 : 0;
    return n;
}

/* Split one vector or tensor. */
static weft_status split(const char *option, const char *text, ad_formulas *made,
                         weft_error *error) {
    static const char hint[] = "write EXPR,EXPR for a vector and E11,E12;E21,E22 for a tensor";
    weft_status status = WEFT_OK;
    int n_row = 0, n_first = 0;
    for (const char *at = text;; ++at) {
        const size_t length = part_length(at), begin = (size_t)(at - text);
        if (strspn(at, " \t") >= length)
            TRY(refuse(option, text, begin, "an expression is missing here", hint, error));
        if (made->n == 9)
            TRY(refuse(option, text, begin, "there are more than nine expressions", hint, error));
        char *copy = strndup(at, length);
        if (!copy)
            TRY(weft_out_of_memory(error, NULL));
        made->list[made->n++] = (weft_expression){.text = copy, .origin = option};
        at += length;
        ++n_row;
        if (*at == ',')
            continue;
        n_first = made->n_rows++ == 0 ? n_row : n_first;
        if (n_row != n_first)
            TRY(refuse(option, text, begin, "this row and the first differ in length", hint,
                       error));
        n_row = 0;
        if (!*at)
            break;
    }
done:
    return status;
}

/* The text behind @GROUP=, and the group; text itself if there is none. */
static weft_status split_group(const char *option, const char *text, weft_formula_piece *piece,
                               const char **rest, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *at = text;
    piece->group[0] = '\0';
    *rest = text;
    if (text[strspn(text, " \t")] != '@')
        goto done;
    TRY(weft_formula_next(&at, piece, option, error)); /* up to the first row's end */
    *rest = piece->text;
done:
    return status;
}

weft_status ad_formulas_read(const char *option, const char *text, ad_formulas *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    ad_formulas made = {0};
    weft_formula_piece piece;
    const char *rest = NULL;
    TRY(split_group(option, text, &piece, &rest, error));
    TRY(split(option, rest, &made, error));
    if (out->n > 0 && piece.group[0] && (made.n != out->n || made.n_rows != out->n_rows))
        TRY(refuse(option, text, 0,
                   "this group has another number of components than the one before",
                   "give a number for all groups, or a vector or tensor for all", error));
    for (int i = 0; i < made.n && (out->n > 0 || piece.group[0]); ++i) {
        char *joined = out->n > 0 ? (char *)out->list[i].text : NULL;
        if (out->n > 0)
            out->list[i].text = NULL;
        status = app_formula_add_group(option, piece.group, made.list[i].text, &joined, error);
        free((char *)made.list[i].text);
        made.list[i].text = joined;
        TRY(status);
    }
    ad_formulas_clear(out);
    *out = made;
    made = (ad_formulas){0};
done:
    ad_formulas_clear(&made);
    return status;
}

void ad_formulas_clear(ad_formulas *formulas) {
    for (int i = 0; i < formulas->n; ++i)
        free((char *)formulas->list[i].text);
    *formulas = (ad_formulas){0};
}

bool ad_formulas_vanish(const ad_formulas *formulas) {
    double value = 0;
    for (int i = 0; i < formulas->n; ++i)
        if (!weft_formula_constant(formulas->list[i].text, &value) || value != 0)
            return false;
    return true;
}
