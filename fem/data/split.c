/* Splits lists of formulas, which may be given for groups, into those of the components. */
#include "fem/data/data.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void weft_formula_append(weft_text *out, const char *group, const char *text, size_t length) {
    if (out->length > 0)
        weft_text_add(out, "; ");
    if (group[0]) {
        weft_text_add(out, "@\"");
        for (const char *c = group; *c; ++c)
            weft_text_add(out, *c == '"' ? "\"\"" : "%c", *c);
        weft_text_add(out, "\"=");
    }
    weft_text_add_bytes(out, text, length);
}

void weft_formula_list_free(char ***list, int n) {
    for (int i = 0; *list && i < n; ++i)
        free((*list)[i]);
    free(*list);
    *list = NULL;
}

/* The end of the expression at text: a comma outside parentheses, or `end`. */
static const char *expression_end(const char *text, const char *end) {
    int depth = 0;
    for (; text < end && !(*text == ',' && depth <= 0); ++text)
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    return text;
}

static weft_status refuse_empty(const char *origin, const char *text, const char *at,
                                weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "an expression is missing here");
    weft_error_location(error, origin, text, 1, (int)(at - text) + 1);
    weft_error_hint(error, "put an expression for each component, with commas between them");
    return WEFT_ERROR_USAGE;
}

static weft_status refuse_other_count(const char *origin, const char *text,
                                      const weft_formula_piece *piece, int n, int wanted,
                                      weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "%d expression%s given for the group `%s`, and %d before it", n,
                   n == 1 ? " is" : "s are", piece->group, wanted);
    weft_error_location(error, origin, text, 1, (int)(piece->text - text) + 1);
    weft_error_hint(error, "put an expression for each component, with commas between them");
    return WEFT_ERROR_USAGE;
}

/* Add the expressions of one group to the lists of all components. */
static weft_status split_piece(const char *origin, const char *text,
                               const weft_formula_piece *piece, weft_text *lists, int *n,
                               weft_error *error) {
    const char *start = piece->text, *end = piece->text + piece->length;
    int count = 0;
    for (;; ++count) {
        const char *stop = expression_end(start, end), *next = stop;
        while (start < stop && isspace((unsigned char)*start))
            ++start;
        while (stop > start && isspace((unsigned char)stop[-1]))
            --stop;
        if (start == stop)
            return refuse_empty(origin, text, start, error);
        if (*n == 0 || count < *n)
            weft_formula_append(&lists[count], piece->group, start, (size_t)(stop - start));
        if (next == end)
            break;
        start = next + 1;
    }
    ++count;
    if (*n > 0 && count != *n)
        return refuse_other_count(origin, text, piece, count, *n, error);
    *n = count;
    return WEFT_OK;
}

weft_status weft_formula_split(const char *origin, const char *text, char ***out, int *n,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_formula_piece piece = {.text = text, .length = strlen(text)};
    int count = 0;
    size_t capacity = 1;
    for (const char *c = text; *c; ++c)
        capacity += *c == ',';
    weft_text *lists = calloc(capacity, sizeof *lists);
    char **list = calloc(capacity, sizeof *list);
    if (!lists || !list)
        TRY(weft_out_of_memory(error, NULL));
    if (!weft_formula_by_group(text))
        TRY(split_piece(origin, text, &piece, lists, &count, error));
    else
        for (const char *at = text; *at;) {
            TRY(weft_formula_next(&at, &piece, origin, error));
            TRY(split_piece(origin, text, &piece, lists, &count, error));
        }
    for (int i = 0; i < count; ++i) {
        if (lists[i].failed)
            TRY(weft_out_of_memory(error, NULL));
        list[i] = lists[i].data;
        lists[i] = (weft_text){0};
    }
    *out = list;
    *n = count;
    list = NULL;
done:
    for (size_t i = 0; lists && i < capacity; ++i)
        weft_text_free(&lists[i]);
    free(lists);
    weft_formula_list_free(&list, count);
    return status;
}

static weft_status refuse_count(const char *origin, const char *text, int n, int wanted,
                                weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "%d expression%s given, but the solution has %d component%s", n,
                   n == 1 ? " is" : "s are", wanted, wanted == 1 ? "" : "s");
    weft_error_location(error, origin, text, 1, 1);
    weft_error_hint(
        error,
        wanted == 1
            ? "write one expression"
            : "write one for each, with commas between them; `free` leaves a component as it is");
    return WEFT_ERROR_USAGE;
}

weft_status weft_formula_components(const char *origin, const char *text, int components,
                                    char ***out, weft_error *error) {
    weft_status status = WEFT_OK;
    char **list = NULL;
    int n = 0;
    TRY(weft_formula_split(origin, text, &list, &n, error));
    if (n != components)
        TRY(refuse_count(origin, text, n, components, error));
    *out = list;
    list = NULL;
done:
    weft_formula_list_free(&list, n);
    return status;
}
