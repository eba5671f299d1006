/* Reads formulas of the command line, which may be given for groups, and splits lists of them. */
#include "apps/common/fem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 256 * 1024 }; /* as scripts */

/* "@"GROUP"=", as weft_formula_next reads it */
static void add_group(weft_text *out, const char *group) {
    if (!group[0])
        return;
    weft_text_add(out, "@\"");
    for (const char *c = group; *c; ++c)
        weft_text_add(out, *c == '"' ? "\"\"" : "%c", *c);
    weft_text_add(out, "\"=");
}

static void add_piece(weft_text *out, const weft_formula_piece *piece, const char *text,
                      size_t length) {
    if (out->length > 0)
        weft_text_add(out, "; ");
    add_group(out, piece->group);
    weft_text_add_bytes(out, text, length);
}

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
            add_piece(&joined, &piece, piece.text, piece.length);
    }
    for (const char *at = text; *at;) {
        TRY(weft_formula_next(&at, &piece, option, error));
        add_piece(&joined, &piece, piece.text, piece.length);
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
    add_group(&whole, group);
    weft_text_add(&whole, "%s", text);
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

/* ---- lists ----------------------------------------------------------------------------------- */

void app_free_list(char ***list, int n) {
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

static weft_status refuse_empty(const char *option, const char *text, const char *at,
                                weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "an expression is missing here");
    weft_error_location(error, option, text, 1, (int)(at - text) + 1);
    weft_error_hint(error, "put an expression for each component, with commas between them");
    return WEFT_ERROR_USAGE;
}

static weft_status refuse_other_count(const char *option, const char *text,
                                      const weft_formula_piece *piece, int n, int wanted,
                                      weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "%d expression%s given for the group `%s`, and %d before it", n,
                   n == 1 ? " is" : "s are", piece->group, wanted);
    weft_error_location(error, option, text, 1, (int)(piece->text - text) + 1);
    weft_error_hint(error, "put an expression for each component, with commas between them");
    return WEFT_ERROR_USAGE;
}

/* Add the expressions of one group to the lists of all components. */
static weft_status split_piece(const char *option, const char *text,
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
            return refuse_empty(option, text, start, error);
        if (*n == 0 || count < *n)
            add_piece(&lists[count], piece, start, (size_t)(stop - start));
        if (next == end)
            break;
        start = next + 1;
    }
    ++count;
    if (*n > 0 && count != *n)
        return refuse_other_count(option, text, piece, count, *n, error);
    *n = count;
    return WEFT_OK;
}

weft_status app_split_list(const char *option, const char *text, char ***out, int *n,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    weft_formula_piece piece = {.text = text, .length = strlen(text)};
    int count = 0;
    size_t room = 1;
    for (const char *c = text; *c; ++c)
        room += *c == ',';
    weft_text *lists = calloc(room, sizeof *lists);
    char **list = calloc(room, sizeof *list);
    if (!lists || !list)
        TRY(weft_out_of_memory(error, NULL));
    if (!weft_formula_by_group(text))
        TRY(split_piece(option, text, &piece, lists, &count, error));
    else
        for (const char *at = text; *at;) {
            TRY(weft_formula_next(&at, &piece, option, error));
            TRY(split_piece(option, text, &piece, lists, &count, error));
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
    for (size_t i = 0; lists && i < room; ++i)
        weft_text_free(&lists[i]);
    free(lists);
    app_free_list(&list, count);
    return status;
}

static weft_status refuse_count(const char *option, const char *text, int n, int wanted,
                                weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "%d expression%s given, but the solution has %d component%s", n,
                   n == 1 ? " is" : "s are", wanted, wanted == 1 ? "" : "s");
    weft_error_location(error, option, text, 1, 1);
    weft_error_hint(
        error,
        wanted == 1
            ? "write one expression"
            : "write one for each, with commas between them; `free` leaves a component as it is");
    return WEFT_ERROR_USAGE;
}

weft_status app_split_components(const char *option, const char *text, int components, char ***out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    char **list = NULL;
    int n = 0;
    TRY(app_split_list(option, text, &list, &n, error));
    if (n != components)
        TRY(refuse_count(option, text, n, components, error));
    *out = list;
    list = NULL;
done:
    app_free_list(&list, n);
    return status;
}
