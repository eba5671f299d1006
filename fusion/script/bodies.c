/* Gives expressions their bodies: an option's text, and formulas by group, which become arithmetic on
 * inputs that the runtime fills. */
#include "fusion/script/private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FORMULAS_BY_GROUP_MAX = 32 }; /* each is evaluated for every element */

/* ---- reading an option's text ---- */

/* For a formula that is only a condition, such as x > 0.5, hint at the form with select. */
static void hint_bare_condition(script_parser *parser, const char *text) {
    weft_node *condition = NULL;
    weft_error *error = parser->error;
    if (weft_script_at(parser, "="))
        weft_error_hint(
            error,
            "real numbers are not compared for equality; conditions are select(a < b, x, y)");
    if (!weft_script_at_comparison(parser) || strlen(text) > 60)
        return;
    parser->error = NULL;
    parser->position = 0;
    if (weft_script_parse_condition(parser, &condition) == WEFT_OK &&
        weft_script_token(parser)->kind == TOKEN_END)
        weft_error_hint(error, "write select(%s, 1, 0): 1 where it holds, else 0", text);
    parser->error = error;
}

/* A single formula. */
static weft_status read_formula(script_parser *parser, weft_script_expression *expression,
                                const char *origin, const char *text, weft_node **out) {
    weft_status status = WEFT_OK;
    char *masked = NULL;
    weft_source *source = weft_arena_alloc(parser->arena, 1, sizeof *source);
    if (!source)
        TRY(weft_script_no_memory(parser->error));
    if (text) {
        *source = (weft_source){origin, text};
        TRY(weft_script_mask_references(parser, expression, source, &masked));
    }
    TRY(weft_script_start_text(parser, source, origin, masked));
    if (text)
        source->text = weft_arena_copy(parser->arena, text, strlen(text)); /* for messages */
    if (text && !source->text)
        TRY(weft_script_no_memory(parser->error));
    TRY(weft_script_parse_expression(parser, out));
    if (weft_script_token(parser)->kind != TOKEN_END) {
        status = weft_script_unexpected(parser, "an operator or the end of the expression");
        hint_bare_condition(parser, text);
        goto done;
    }
    TRY(weft_script_check_body(expression, *out, parser->error));
done:
    return status;
}

static weft_status add_body(script_parser *parser, weft_script_expression *expression,
                            const char *group, weft_node *body) {
    weft_status status = WEFT_OK;
    int n_bodies = expression->n_bodies;
    SCRIPT_APPEND(parser, expression->groups, n_bodies, group);
    SCRIPT_APPEND(parser, expression->bodies, expression->n_bodies, body);
done:
    return status;
}

weft_status weft_script_add_body(script_parser *parser, weft_script_expression *expression,
                                 const char *group, weft_node *body) {
    for (int i = 0; i < expression->n_bodies; ++i) {
        const char *other = expression->groups[i];
        if (other && group ? strcmp(other, group) != 0 : other != group)
            continue;
        if (!group)
            return weft_error_at(parser->error, WEFT_ERROR_TYPE, body->place,
                                 "'%s' has two formulas without a group", expression->name);
        return weft_error_at(parser->error, WEFT_ERROR_TYPE, body->place,
                             "'%s' has two formulas for the group '%s'", expression->name, group);
    }
    return add_body(parser, expression, group, body);
}

static weft_status read_piece(script_parser *parser, const char *origin,
                              const weft_formula_piece *piece, weft_script_expression *expression) {
    weft_status status = WEFT_OK;
    weft_node *body = NULL;
    const char *text = weft_arena_copy(parser->arena, piece->text, piece->length);
    const char *group = NULL;
    if (!text)
        TRY(weft_script_no_memory(parser->error));
    if (piece->group[0] != '\0') {
        group = weft_arena_copy(parser->arena, piece->group, strlen(piece->group));
        origin = weft_arena_print(parser->arena, "%s @%s", origin, piece->group);
        if (!group || !origin)
            TRY(weft_script_no_memory(parser->error));
    }
    TRY(read_formula(parser, expression, origin, text, &body));
    TRY(weft_script_add_body(parser, expression, group, body));
done:
    return status;
}

weft_status weft_script_read_body(script_parser *parser, const weft_expression *bound,
                                  weft_script_expression *expression) {
    weft_status status = WEFT_OK;
    weft_formula_piece piece;
    const char *origin = bound->origin ? bound->origin : bound->name;
    const char *at = bound->text;
    expression->n_bodies = expression->n_references = 0;
    expression->origin = origin;
    if (!weft_formula_by_group(bound->text)) {
        TRY(read_formula(parser, expression, origin, bound->text, &expression->body));
        TRY(add_body(parser, expression, NULL, expression->body));
        goto done;
    }
    while (at && *at) {
        TRY(weft_formula_next(&at, &piece, origin, parser->error));
        TRY(read_piece(parser, origin, &piece, expression));
    }
done:
    return status;
}

/* ---- arithmetic on inputs ---- */

/* The number of coordinates: the parameter d, or one less than the nodes of a cell. */
static weft_status count_coordinates(script_parser *parser, int *out) {
    const weft_script *script = parser->script;
    const int d = WEFT_FIND_NAME(script->parameters, script->n_parameters, "d");
    if (d >= 0) {
        *out = script->parameters[d].value;
        return WEFT_OK;
    }
    const weft_status status =
        weft_script_integer(script, script->connectivities[0].width, out, parser->error);
    --*out;
    return status;
}

bool weft_script_at_points(const weft_script *script, const weft_script_expression *expression) {
    return expression->over || script->n_connectivities == 0;
}

static weft_status refuse_no_place(script_parser *parser, weft_location place) {
    weft_error_at(parser->error, WEFT_ERROR_TYPE, place,
                  "a single number is needed here, and formulas by group and fields of files have "
                  "one for each place");
    weft_error_hint(parser->error, "give a number, or a formula of numbers and tables");
    return WEFT_ERROR_TYPE;
}

weft_status weft_script_data_input(script_parser *parser, const weft_script_expression *expression,
                                   const char *suffix, bool is_affine, weft_location place,
                                   const char **name, int *n) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    const bool on_cells = !weft_script_at_points(script, expression);
    weft_script_input input = {.place = place, .over_place = place};
    weft_token token = {.kind = TOKEN_NAME, .place = place};
    if (script->n_indices == 0)
        TRY(refuse_no_place(parser, place));
    *n = 0;
    input.over = expression->over ? expression->over
                 : on_cells       ? script->connectivities[0].from
                                  : script->indices[0].name;
    input.name = weft_arena_print(parser->arena, "%s__%s", expression->name, suffix);
    if (!input.name)
        TRY(weft_script_no_memory(parser->error));
    if (is_affine && on_cells) {
        TRY(count_coordinates(parser, n));
        *n += 1;
        input.rank = 1;
        TRY(weft_script_node_make(parser, NODE_NUMBER, place, &input.sizes[0]));
        input.sizes[0]->number = *n;
        input.sizes[0]->integer = true;
    }
    token.text = input.name;
    TRY(weft_script_declare(parser, &token, SCRIPT_INPUT));
    SCRIPT_APPEND(parser, script->inputs, script->n_inputs, input);
    *name = input.name;
done:
    return status;
}

weft_status weft_script_add_data(script_parser *parser, const weft_script_expression *expression,
                                 const weft_data_info *info) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    weft_data_info data = *info;
    data.expression = expression->name;
    data.origin = expression->origin;
    data.over = script->inputs[script->n_inputs - 1].over;
    data.is_plain =
        script->indices[WEFT_FIND_NAME(script->indices, script->n_indices, data.over)].plain;
    data.at_points = weft_script_at_points(script, expression);
    SCRIPT_APPEND(parser, script->data, script->n_data, data);
done:
    return status;
}

static weft_status make_name(script_parser *parser, const char *name, weft_location place,
                             weft_node **out) {
    const weft_status status = weft_script_node_make(parser, NODE_NAME, place, out);
    if (status == WEFT_OK)
        (*out)->name = name;
    return status;
}

/* select(name < limit, below, above) */
static weft_status make_select(script_parser *parser, const char *name, double limit,
                               weft_node *below, weft_node *above, weft_node **out) {
    weft_status status = WEFT_OK;
    const weft_location place = below->place;
    weft_node *call = NULL, *condition = NULL, *left = NULL, *right = NULL;
    TRY(make_name(parser, name, place, &left));
    TRY(weft_script_node_make(parser, NODE_NUMBER, place, &right));
    right->number = limit;
    TRY(weft_script_node_make(parser, NODE_BINARY, place, &condition));
    condition->op = COMPARE_LESS;
    TRY(weft_script_node_add(parser, condition, left));
    TRY(weft_script_node_add(parser, condition, right));
    TRY(weft_script_node_make(parser, NODE_CALL, place, &call));
    call->name = "select";
    TRY(weft_script_node_add(parser, call, condition));
    TRY(weft_script_node_add(parser, call, below));
    TRY(weft_script_node_add(parser, call, above));
    *out = call;
done:
    return status;
}

/* Is the formula a number, perhaps with a sign? */
static bool is_number(const weft_node *node, double *value) {
    if (node->kind == NODE_NEGATE && is_number(node->children[0], value)) {
        *value = -*value;
        return true;
    }
    if (node->kind == NODE_NUMBER)
        *value = node->number;
    return node->kind == NODE_NUMBER;
}

static bool is_equal(const weft_node *a, const weft_node *b) {
    if (a->kind != b->kind || a->op != b->op || a->n_children != b->n_children ||
        (a->kind == NODE_NUMBER && a->number != b->number) || !a->name != !b->name ||
        (a->name && strcmp(a->name, b->name) != 0))
        return false;
    for (int i = 0; i < a->n_children; ++i)
        if (!is_equal(a->children[i], b->children[i]))
            return false;
    return true;
}

/* The different formulas of an expression. Formula 0 is the input with the numbers if there are
 * any. */
typedef struct selection {
    weft_node *formulas[FORMULAS_BY_GROUP_MAX];
    int n;
    double *values;  /* [n_bodies] numbers of the groups; 0: the group has a formula */
    double *choices; /* [n_bodies] index of the group's formula */
    bool has_numbers;
} selection;

static weft_status choose(script_parser *parser, const weft_script_expression *expression,
                          selection *s) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)expression->n_bodies;
    TRY(WEFT_ALLOC(parser->arena, s->values, n, parser->error));
    TRY(WEFT_ALLOC(parser->arena, s->choices, n, parser->error));
    for (int i = 0; i < expression->n_bodies; ++i)
        s->has_numbers |= is_number(expression->bodies[i], &s->values[i]);
    s->n = s->has_numbers;
    for (int i = 0; i < expression->n_bodies; ++i) {
        weft_node *body = expression->bodies[i];
        int k = s->has_numbers;
        if (is_number(body, &s->values[i]))
            continue;
        while (k < s->n && !is_equal(s->formulas[k], body))
            ++k;
        if (k == FORMULAS_BY_GROUP_MAX) {
            weft_error_at(parser->error, WEFT_ERROR_UNSUPPORTED, body->place,
                          "'%s' has more than %d different formulas by group", expression->name,
                          FORMULAS_BY_GROUP_MAX - 1);
            weft_error_hint(parser->error, "any number of groups may have numbers; every formula "
                                           "is evaluated for each cell");
            TRY(WEFT_ERROR_UNSUPPORTED);
        }
        if (k == s->n)
            s->formulas[s->n++] = body;
        s->choices[i] = k;
    }
done:
    return status;
}

static weft_status add_groups(script_parser *parser, const weft_script_expression *expression,
                              const char *input, const double *values) {
    return weft_script_add_data(parser, expression,
                                &(weft_data_info){.input = input,
                                                  .n = expression->n_bodies,
                                                  .groups = expression->groups,
                                                  .values = values});
}

/* select(group < 0.5, f0, select(group < 1.5, f1, f2)) */
static weft_status body_by_group(script_parser *parser, weft_script_expression *expression) {
    weft_status status = WEFT_OK;
    const weft_location place = expression->bodies[0]->place;
    selection s = {.n = 0};
    const char *name = NULL;
    int unused = 0;
    TRY(choose(parser, expression, &s));
    if (s.has_numbers) {
        TRY(weft_script_data_input(parser, expression, "value", false, place, &name, &unused));
        TRY(add_groups(parser, expression, name, s.values));
        TRY(make_name(parser, name, place, &s.formulas[0]));
    }
    if (s.n > 1 || !s.has_numbers) { /* with one formula only to check that every group has it */
        TRY(weft_script_data_input(parser, expression, "group", false, place, &name, &unused));
        TRY(add_groups(parser, expression, name, s.choices));
    }
    expression->body = s.formulas[s.n - 1];
    for (int k = s.n - 2; k >= 0; --k)
        TRY(make_select(parser, name, k + 0.5, s.formulas[k], expression->body, &expression->body));
done:
    return status;
}

weft_status weft_script_write_bodies(script_parser *parser) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < parser->script->n_expressions; ++i) {
        weft_script_expression *expression = &parser->script->expressions[i];
        for (int k = 0; k < expression->n_bodies; ++k)
            TRY(weft_script_write_references(parser, expression, &expression->bodies[k]));
        if (expression->n_bodies > 0)
            expression->body = expression->bodies[0];
        if (expression->n_bodies > 1 || (expression->n_bodies == 1 && expression->groups[0]))
            TRY(body_by_group(parser, expression));
    }
done:
    return status;
}
