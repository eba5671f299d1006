/* Checks a script that has been read completely, and the bodies of its expressions. */
#include "fusion/base/intrinsics.h"
#include "fusion/script/private.h"

#include <stdio.h>
#include <string.h>

/* ---- bodies of expressions ---- */

static weft_status unknown_in_body(const weft_script_expression *expression, const weft_node *node,
                                   weft_error *error) {
    const char *allowed[WEFT_ARGUMENTS_MAX + 1];
    char list[WEFT_ARGUMENTS_MAX * (WEFT_NAME_MAX + 2) + 1] = "";
    size_t n = 0, length = 0;
    for (int i = 0; i < expression->n_arguments; ++i) {
        allowed[n++] = expression->arguments[i];
        int written = snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "",
                               expression->arguments[i]);
        length += (size_t)written;
    }
    allowed[n++] = "pi";
    weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                  "'%s' is unknown here: this is a formula in %s and pi", node->name, list);
    if (weft_formula_arguments(node->name) > 0)
        weft_error_hint(error, "it is a function: write %s(%s)", node->name,
                        weft_formula_arguments(node->name) == 3   ? "a < b, ..., ..."
                        : weft_formula_arguments(node->name) == 2 ? "..., ..."
                                                                  : "...");
    else
        weft_script_suggest(error, node->name, allowed, n, NULL);
    return WEFT_ERROR_TYPE;
}

/* Hint at select(...) with the same arguments, for calls such as if(x > 0.5, 1, 0). */
static void hint_select(const weft_node *node, weft_error *error) {
    weft_text text = {0};
    weft_node select = *node;
    select.name = "select";
    weft_node_print(&select, &text);
    if (node->n_children == 3 && !text.failed && text.length < 200)
        weft_error_hint(error, "write %s", text.data);
    else
        weft_error_hint(error, "write select(a < b, x, y): x where a < b, else y");
    weft_text_free(&text);
}

static weft_status unknown_function(const weft_node *node, weft_error *error) {
    const char *names[WEFT_INTRINSICS_MAX];
    const size_t n = weft_formula_names(names);
    const char *instead = weft_formula_instead(node->name);
    weft_error_at(error, WEFT_ERROR_TYPE, node->place, "there is no function '%s' for formulas",
                  node->name);
    if (weft_script_is_conditional(node->name))
        hint_select(node, error);
    else if (instead && *instead)
        weft_error_hint(error, "write %s instead", instead);
    else
        weft_script_suggest(error, instead ? "" : node->name, names, n, "the functions are");
    return WEFT_ERROR_TYPE;
}

static weft_status check_call_in_body(const weft_node *node, weft_error *error) {
    const int wanted = weft_formula_arguments(node->name);
    if (wanted == 0)
        return unknown_function(node, error);
    if (node->n_keys > 0)
        return weft_error_at(error, WEFT_ERROR_TYPE, node->key_values[0]->place,
                             "'%s' has no parameter '%s'", node->name, node->keys[0]);
    if (node->n_children != wanted)
        return weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                             "'%s' takes %d argument%s, and %d %s given", node->name, wanted,
                             wanted == 1 ? "" : "s", node->n_children,
                             node->n_children == 1 ? "is" : "are");
    return WEFT_OK;
}

/* The inputs of formulas by group, NAME__value and NAME__group: in the text of a script that was
 * printed. */
static bool is_data(const weft_script_expression *expression, const weft_node *node) {
    const size_t length = strlen(expression->name);
    return strncmp(node->name, expression->name, length) == 0 &&
           strncmp(node->name + length, "__", 2) == 0;
}

static weft_status check_body(const weft_script_expression *expression, const weft_node *node,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    if (node->kind == NODE_SUBSCRIPT && node->children[0]->kind == NODE_NAME &&
        is_data(expression, node->children[0]))
        goto done;
    if (node->kind == NODE_SUBSCRIPT)
        TRY(weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                          "a formula has no subscripts: its arguments are numbers"));
    if (node->kind == NODE_CALL && !weft_script_is_reference(expression, node))
        TRY(check_call_in_body(node, error));
    if (node->kind == NODE_NAME && strcmp(node->name, "pi") != 0 && !is_data(expression, node) &&
        weft_name_index(expression->arguments, expression->n_arguments, sizeof(char *),
                        node->name) < 0)
        TRY(unknown_in_body(expression, node, error));
    for (int i = 0; i < node->n_children; ++i)
        TRY(check_body(expression, node->children[i], error));
done:
    return status;
}

weft_status weft_script_check_body(const weft_script_expression *expression, const weft_node *body,
                                   weft_error *error) {
    return check_body(expression, body, error);
}

/* ---- checks of the whole script ---- */

static weft_status check_size(const script_parser *parser, const weft_node *node,
                              int64_t *product) {
    weft_status status = WEFT_OK;
    int size = 0;
    TRY(weft_script_integer(parser->script, node, &size, parser->error));
    if (size < 1)
        TRY(weft_error_at(parser->error, WEFT_ERROR_SHAPE, node->place,
                          "this size is %d: sizes are at least 1", size));
    *product *= size;
    if (*product > WEFT_ELEMENTS_MAX)
        status = weft_error_at(parser->error, WEFT_ERROR_SHAPE, node->place,
                               "more than %d components", WEFT_ELEMENTS_MAX);
done:
    return status;
}

/* Parameters given in calls, such as degree = 2*p. */
static weft_status check_keys(const script_parser *parser, const weft_node *node) {
    weft_status status = WEFT_OK;
    int value = 0;
    for (int i = 0; i < node->n_keys; ++i)
        TRY(weft_script_integer(parser->script, node->key_values[i], &value, parser->error));
    for (int i = 0; i < node->n_children; ++i)
        TRY(check_keys(parser, node->children[i]));
done:
    return status;
}

static weft_status check_return(const script_parser *parser, const weft_script_return *result) {
    const script_name *found = weft_script_find(parser, result->name);
    bool list = found && (found->kind == SCRIPT_INPUT || found->kind == SCRIPT_ASSIGNED ||
                          found->kind == SCRIPT_ACCUMULATED);
    if (list && found->loop >= 0) {
        weft_error_at(parser->error, WEFT_ERROR_TYPE, result->place,
                      "'%s' is computed inside a loop and cannot be returned", result->name);
        weft_error_hint(parser->error, "make it before the loop and update it there");
        return WEFT_ERROR_TYPE;
    }
    if (list)
        return WEFT_OK;
    if (found)
        return weft_error_at(parser->error, WEFT_ERROR_TYPE, result->place,
                             "'%s' is %s and cannot be returned", result->name,
                             weft_script_kind_words(found->kind));
    weft_error_at(parser->error, WEFT_ERROR_TYPE, result->place,
                  "'%s' is returned but never computed", result->name);
    weft_script_suggest_kind(parser, result->name, SCRIPT_ASSIGNED,
                             "the results of this script are");
    return WEFT_ERROR_TYPE;
}

/* index basis up to j: a number that the script reads. */
static weft_status check_limit(const script_parser *parser, const weft_script_index *index) {
    const weft_script *script = parser->script;
    for (int i = 0; i < script->n_inputs; ++i)
        if (strcmp(script->inputs[i].name, index->up_to) == 0 && !script->inputs[i].over &&
            script->inputs[i].rank == 0)
            return WEFT_OK;
    weft_error_at(parser->error, WEFT_ERROR_TYPE, index->place,
                  "'%s' goes up to '%s', which is not a scalar input", index->name, index->up_to);
    weft_error_hint(parser->error, "declare it: input %s : real;", index->up_to);
    return WEFT_ERROR_TYPE;
}

weft_status weft_script_check(const script_parser *parser) {
    weft_status status = WEFT_OK;
    const weft_script *script = parser->script;
    for (int i = 0; i < script->n_indices; ++i)
        if (script->indices[i].up_to)
            TRY(check_limit(parser, &script->indices[i]));
    for (int i = 0; i < script->n_connectivities; ++i) {
        int64_t product = 1;
        TRY(check_size(parser, script->connectivities[i].width, &product));
    }
    for (int i = 0; i < script->n_inputs; ++i) {
        const weft_script_input *input = &script->inputs[i];
        if (i > 0 && input->sizes[0] == input[-1].sizes[0])
            continue; /* declared by the same statement, or both scalars */
        int64_t product = 1;
        for (int j = 0; j < input->rank; ++j)
            TRY(check_size(parser, input->sizes[j], &product));
    }
    for (int i = 0; i < script->n_statements; ++i)
        TRY(check_keys(parser, script->statements[i].value));
    for (int i = 0; i < script->n_loops; ++i) {
        TRY(check_keys(parser, script->loops[i].most));
        TRY(check_keys(parser, script->loops[i].condition));
    }
    for (int i = 0; i < script->n_returns; ++i)
        TRY(check_return(parser, &script->returns[i]));
done:
    return status;
}
