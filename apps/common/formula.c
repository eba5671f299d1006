/* Reads formulas of the command line, which may be given for groups. */
#include "apps/common/fem.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 256 * 1024 }; /* as scripts */

weft_status app_formula_add(const char *option, const char *text, char **formula,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text joined = {0};
    weft_formula_piece piece;
    const char *unused = NULL;
    TRY(app_parse_text(option, text, &unused, error));
    const bool replaces = text[strspn(text, " \t")] != '@';
    if (*formula && !replaces)
        weft_text_add_bytes(&joined, *formula, strlen(*formula));
    for (const char *at = *formula; at && *at && replaces;) {
        TRY(weft_formula_next(&at, &piece, option, error));
        if (piece.group[0])
            weft_formula_append(&joined, piece.group, piece.text, piece.length);
    }
    for (const char *at = text; *at;) {
        TRY(weft_formula_next(&at, &piece, option, error));
        weft_formula_append(&joined, piece.group, piece.text, piece.length);
    }
    if (joined.failed || !joined.data)
        TRY(weft_out_of_memory(error, NULL));
    if (joined.length > LONGEST)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "%s: the text is longer than %d KiB", option,
                           LONGEST / 1024));
    free(*formula);
    *formula = joined.data;
    joined = (weft_text){0};
done:
    weft_text_free(&joined);
    return status;
}

weft_status app_formula_add_group(const char *option, const char *group, const char *text,
                                  char **formula, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text whole = {0};
    weft_formula_append(&whole, group, text, strlen(text));
    if (whole.failed)
        TRY(weft_out_of_memory(error, NULL));
    TRY(app_formula_add(option, whole.data, formula, error));
done:
    weft_text_free(&whole);
    return status;
}

weft_status app_read_formula(const app_option *row, const char *option, const char *text, void *at,
                             weft_error *error) {
    (void)row;
    return app_formula_add(option, text, at, error);
}
