/* Reads references to files in formulas, table(FILE, x) and field(FILE, NAME), and puts arithmetic on
 * inputs in the place of fields.
 *
 *  File names are not words of the language, so a copy of the formula with a number in the place of each
 *  name is parsed. All other columns stay. */
#include "fusion/script/private.h"
#include "fusion/script/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const functions[] = {"table", "table_slope", "field"};
enum { N_FUNCTIONS = 3, FIELD = 2 };

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Is this "table(", "table_slope(" or "field("? *inside: what follows the parenthesis. */
static int function_at(const char *text, const char *at, const char **inside) {
    if (at > text && is_word(at[-1]))
        return -1;
    for (int i = 0; i < N_FUNCTIONS; ++i) {
        const size_t n = strlen(functions[i]);
        if (strncmp(at, functions[i], n) != 0 || is_word(at[n]))
            continue;
        *inside = at + n + strspn(at + n, " \t");
        if (**inside != '(')
            return -1;
        ++*inside;
        return i;
    }
    return -1;
}

static weft_status refuse(script_parser *parser, const weft_source *source, const char *at,
                          const char *message) {
    const weft_location place = {source, 1, (int)(at - source->text) + 1};
    weft_error_at(parser->error, WEFT_ERROR_SYNTAX, place, "%s", message);
    weft_error_hint(parser->error, "write table(FILE.csv, x) or field(FILE.vtkhdf, NAME); a file "
                                   "name with blanks, commas or brackets in quotes");
    return WEFT_ERROR_SYNTAX;
}

/* The next word, in quotes or up to a comma or bracket; *at: what follows it and its blanks. */
static weft_status read_word(script_parser *parser, const weft_source *source, const char **at,
                             const char **out) {
    const char *start = *at + strspn(*at, " \t"), *end = NULL, *after = NULL;
    if (*start == '"') {
        ++start;
        end = strchr(start, '"');
        if (!end)
            return refuse(parser, source, start - 1, "this quote is not closed");
        after = end + 1;
    } else {
        end = start + strcspn(start, ",()\"\n");
        after = end;
        while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
            --end;
    }
    after += strspn(after, " \t");
    if (end == start)
        return refuse(parser, source, start, "a name is missing here");
    if (*after != ',' && *after != ')')
        return refuse(parser, source, after, "expected ',' or ')'");
    *out = weft_arena_copy(parser->arena, start, (size_t)(end - start));
    *at = after;
    return *out ? WEFT_OK : weft_script_no_memory(parser->error);
}

/* field(FILE [, NAME] [, COMPONENT] [, clamp]) */
static weft_status read_field(script_parser *parser, const weft_source *source, const char **at,
                              script_reference *out) {
    weft_status status = WEFT_OK;
    const char *word = NULL, *start = NULL;
    while (**at == ',') {
        ++*at;
        start = *at;
        TRY(read_word(parser, source, at, &word));
        if (strcmp(word, "clamp") == 0)
            out->clamped = true;
        else if (word[strspn(word, "0123456789")] == '\0' && strlen(word) < 3 && out->field)
            out->component = atoi(word);
        else if (!out->field)
            out->field = word;
        else
            TRY(refuse(parser, source, start, "expected clamp or the number of a component"));
    }
done:
    return status;
}

/* Overwrite [from, to) of the copy by a number. */
static weft_status put_number(script_parser *parser, const weft_source *source, char *copy,
                              const char *from, const char *to, int number) {
    char digits[12];
    const int n = snprintf(digits, sizeof digits, "%d", number);
    char *at = copy + (from - source->text);
    if (n > to - from)
        return refuse(parser, source, from, "more than ten names of one letter");
    memset(at, ' ', (size_t)(to - from));
    memcpy(at, digits, (size_t)n);
    return WEFT_OK;
}

static weft_status read_reference(script_parser *parser, weft_script_expression *expression,
                                  const weft_source *source, int function, const char *inside,
                                  char *copy) {
    weft_status status = WEFT_OK;
    script_reference made = {.is_field = function == FIELD};
    const char *at = inside;
    TRY(read_word(parser, source, &at, &made.path));
    if (made.is_field) {
        TRY(read_field(parser, source, &at, &made));
    } else {
        if (*at != ',')
            TRY(refuse(parser, source, at, "expected ',' and the argument of the table"));
        const weft_location place = {source, 1, (int)(inside - source->text) + 1};
        TRY(weft_script_table_read(parser->arena, made.path, place, &made.table, parser->error));
    }
    TRY(put_number(parser, source, copy, inside, at, expression->n_references));
    SCRIPT_APPEND(parser, expression->references, expression->n_references, made);
done:
    return status;
}

weft_status weft_script_mask_references(script_parser *parser, weft_script_expression *expression,
                                        const weft_source *source, char **out) {
    weft_status status = WEFT_OK;
    const char *inside = NULL;
    *out = weft_arena_copy(parser->arena, source->text, strlen(source->text));
    if (!*out)
        TRY(weft_script_no_memory(parser->error));
    for (const char *at = source->text; *at; ++at) {
        const int function = function_at(source->text, at, &inside);
        if (function < 0)
            continue;
        TRY(read_reference(parser, expression, source, function, inside, *out));
        at = inside;
    }
done:
    return status;
}

bool weft_script_is_reference(const weft_script_expression *expression, const weft_node *node) {
    int function = 0;
    while (function < N_FUNCTIONS && strcmp(functions[function], node->name) != 0)
        ++function;
    if (function == N_FUNCTIONS || node->n_children != (function == FIELD ? 1 : 2) ||
        node->n_keys > 0 || node->children[0]->kind != NODE_NUMBER || !node->children[0]->integer)
        return false;
    const int i = (int)node->children[0]->number;
    return i < expression->n_references &&
           expression->references[i].is_field == (function == FIELD);
}

/* ---- arithmetic in the place of fields ------------------------------------------------------- */

static const char *const coordinates[] = {"x", "y", "z"};

/* input[k], or the input itself */
static weft_status make_component(script_parser *parser, const char *input, int k, bool is_list,
                                  weft_location place, weft_node **out) {
    weft_status status = WEFT_OK;
    weft_node *name = NULL, *index = NULL;
    TRY(weft_script_node_make(parser, NODE_NAME, place, &name));
    name->name = input;
    *out = name;
    if (!is_list)
        goto done;
    TRY(weft_script_node_make(parser, NODE_NUMBER, place, &index));
    index->number = k;
    index->integer = true;
    TRY(weft_script_node_make(parser, NODE_SUBSCRIPT, place, out));
    TRY(weft_script_node_add(parser, *out, name));
    TRY(weft_script_node_add(parser, *out, index));
done:
    return status;
}

static weft_status make_binary(script_parser *parser, char op, weft_node *a, weft_node *b,
                               weft_node **out) {
    weft_status status = WEFT_OK;
    TRY(weft_script_node_make(parser, NODE_BINARY, a->place, out));
    (*out)->op = op;
    TRY(weft_script_node_add(parser, *out, a));
    TRY(weft_script_node_add(parser, *out, b));
done:
    return status;
}

/* input[0] + input[1]*x + input[2]*y ..., affine in each cell; x, y and z are arguments */
static weft_status make_affine(script_parser *parser, const char *input, int n, weft_location place,
                               weft_node **out) {
    weft_status status = WEFT_OK;
    TRY(make_component(parser, input, 0, n > 0, place, out));
    for (int k = 1; k < n; ++k) {
        weft_node *factor = NULL, *x = NULL, *product = NULL;
        TRY(make_component(parser, input, k, true, place, &factor));
        TRY(make_component(parser, coordinates[k - 1], 0, false, place, &x));
        TRY(make_binary(parser, '*', factor, x, &product));
        TRY(make_binary(parser, '+', *out, product, out));
    }
done:
    return status;
}

static weft_status declare_field(script_parser *parser, const weft_script_expression *expression,
                                 int i, weft_location place, script_reference *reference) {
    weft_status status = WEFT_OK;
    char suffix[24];
    (void)snprintf(suffix, sizeof suffix, "field%d", i);
    TRY(weft_script_data_input(parser, expression, suffix, true, place, &reference->input,
                               &reference->n));
    for (int k = 1; k < reference->n; ++k)
        if (weft_name_index(expression->arguments, expression->n_arguments, sizeof(char *),
                            coordinates[k - 1]) < 0)
            TRY(weft_error_at(parser->error, WEFT_ERROR_TYPE, place,
                              "a field needs coordinates, and '%s' has no argument '%s'",
                              expression->name, coordinates[k - 1]));
    TRY(weft_script_add_data(parser, expression,
                             &(weft_data_info){.input = reference->input,
                                               .path = reference->path,
                                               .field = reference->field,
                                               .component = reference->component,
                                               .clamped = reference->clamped}));
done:
    return status;
}

weft_status weft_script_write_references(script_parser *parser,
                                         const weft_script_expression *expression,
                                         weft_node **node) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < (*node)->n_children; ++i)
        TRY(weft_script_write_references(parser, expression, &(*node)->children[i]));
    if ((*node)->kind != NODE_CALL || !weft_script_is_reference(expression, *node))
        goto done;
    const int i = (int)(*node)->children[0]->number;
    script_reference *reference = &expression->references[i];
    (*node)->table = reference->table;
    if (!reference->is_field)
        goto done;
    if (!reference->input)
        TRY(declare_field(parser, expression, i, (*node)->place, reference));
    TRY(make_affine(parser, reference->input, reference->n, (*node)->place, node));
done:
    return status;
}
