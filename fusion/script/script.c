/* Reads fragments as one script, with the values and texts of the options, and checks it. */
#include "fusion/script/script.h"
#include "fusion/script/private.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

weft_status weft_script_no_memory(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory while reading a script");
}

weft_status weft_script_start_text(script_parser *parser, weft_source *source, const char *name,
                                   const char *text) {
    weft_status status = WEFT_OK;
    weft_token *tokens = NULL;
    int n = 0;
    if (!text)
        TRY(weft_error_set(parser->error, WEFT_ERROR_USAGE, "%s: there is no text", name));
    source->name = weft_arena_copy(parser->arena, name, strlen(name));
    source->text = weft_arena_copy(parser->arena, text, strlen(text));
    if (!source->name || !source->text)
        TRY(weft_script_no_memory(parser->error));
    TRY(weft_tokens_make(parser->arena, source, &tokens, &n, parser->error));
    parser->tokens = tokens;
    parser->position = 0;
done:
    return status;
}

weft_status weft_script_read_texts(script_parser *parser, const weft_fragment *fragments, int n) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    parser->sources_most =
        n + WEFT_INCLUDES_MAX; /* places point to them: they stay where they are */
    script->sources =
        weft_arena_alloc(parser->arena, (size_t)parser->sources_most, sizeof *script->sources);
    if (!script->sources)
        TRY(weft_script_no_memory(parser->error));
    script->n_sources = n; /* included ones follow */
    for (int i = 0; i < n; ++i) {
        TRY(weft_script_start_text(parser, &script->sources[i],
                                   fragments[i].name ? fragments[i].name : "script",
                                   fragments[i].text));
        TRY(weft_script_parse_statements(parser));
    }
done:
    return status;
}

weft_status weft_script_unknown_option(const script_parser *parser, const char *name,
                                       script_name_kind kind) {
    const char *what = strchr(weft_script_kind_words(kind), ' ') + 1; /* after the article */
    weft_error_set(parser->error, WEFT_ERROR_USAGE, "the script has no %s '%s'", what, name);
    if (!weft_script_suggest_kind(parser, name, kind, "it has"))
        weft_error_hint(parser->error, "this script has no %ss", what);
    return WEFT_ERROR_USAGE;
}

static weft_status bind_parameters(script_parser *parser, const weft_compile_options *options) {
    weft_script *script = parser->script;
    for (int i = 0; i < options->n_parameters; ++i) {
        const weft_parameter *bound = &options->parameters[i];
        const int known = WEFT_FIND_NAME(script->parameters, script->n_parameters, bound->name);
        if (known < 0)
            return weft_script_unknown_option(parser, bound->name, SCRIPT_PARAMETER);
        script->parameters[known].value = bound->value;
    }
    return WEFT_OK;
}

static weft_status bind_expressions(script_parser *parser, const weft_compile_options *options) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    for (int i = 0; i < options->n_expressions; ++i) {
        const weft_expression *bound = &options->expressions[i];
        const int known = WEFT_FIND_NAME(script->expressions, script->n_expressions, bound->name);
        if (known < 0)
            TRY(weft_script_unknown_option(parser, bound->name, SCRIPT_EXPRESSION));
        TRY(weft_script_read_body(parser, bound, &script->expressions[known]));
    }
done:
    return status;
}

static weft_status collect_names(script_parser *parser) {
    weft_status status = WEFT_OK;
    weft_script *script = parser->script;
    for (int i = 0; i < parser->n_names; ++i)
        SCRIPT_APPEND(parser, script->names, script->n_names, parser->names[i].name);
done:
    return status;
}

weft_status weft_script_make(weft_arena *arena, const weft_fragment *fragments, int n_fragments,
                             const weft_compile_options *options, weft_script **out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    script_parser parser = {.arena = arena, .loop = -1, .error = error};
    parser.script = weft_arena_alloc(arena, 1, sizeof *parser.script);
    if (!parser.script)
        TRY(weft_script_no_memory(error));
    TRY(weft_script_read_texts(&parser, fragments, n_fragments < 0 ? 0 : n_fragments));
    TRY(weft_script_check_applies(&parser));
    TRY(weft_script_write_operators(&parser, options));
    if (options) {
        parser.script->tuning = (weft_script_tuning){
            options->tuned, options->single, options->elements > 0 ? options->elements : 1000000};
        TRY(bind_parameters(&parser, options));
        TRY(bind_expressions(&parser, options));
    }
    TRY(weft_script_write_bodies(&parser));
    TRY(weft_script_check(&parser));
    TRY(collect_names(&parser));
    *out = parser.script;
done:
    return status;
}

/* ---- integer expressions ---- */

static weft_status integer_name(const weft_script *script, const weft_node *node, int *out,
                                weft_error *error) {
    const char *names[WEFT_NAMES_MAX];
    size_t n = 0;
    for (int i = 0; i < script->n_parameters; ++i) {
        if (strcmp(script->parameters[i].name, node->name) == 0) {
            *out = script->parameters[i].value;
            return WEFT_OK;
        }
        names[n++] = script->parameters[i].name;
    }
    weft_error_at(error, WEFT_ERROR_TYPE, node->place, "'%s' is not a parameter", node->name);
    weft_script_suggest(error, node->name, names, n, "the parameters are");
    if (n == 0)
        weft_error_hint(error, "declare it: parameter %s = 2;", node->name);
    return WEFT_ERROR_TYPE;
}

static weft_status integer_binary(const weft_node *node, int a, int b, int *out,
                                  weft_error *error) {
    bool overflow = false;
    switch (node->op) {
    case '+':
        overflow = __builtin_add_overflow(a, b, out);
        break;
    case '-':
        overflow = __builtin_sub_overflow(a, b, out);
        break;
    case '*':
        overflow = __builtin_mul_overflow(a, b, out);
        break;
    case '/':
        if (b == 0)
            return weft_error_at(error, WEFT_ERROR_SHAPE, node->place, "division by zero");
        overflow = a == INT_MIN && b == -1;
        *out = overflow ? 0 : a / b;
        break;
    default:
        return weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                             "'%c' is not for integers: sizes and parameters use + - * /",
                             node->op);
    }
    if (!overflow)
        return WEFT_OK;
    return weft_error_at(error, WEFT_ERROR_SHAPE, node->place, "this integer is too large");
}

weft_status weft_script_integer(const weft_script *script, const weft_node *node, int *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    int a = 0, b = 0;
    if (node->kind == NODE_NUMBER && node->integer) {
        if (node->number > INT_MAX)
            TRY(weft_error_at(error, WEFT_ERROR_SHAPE, node->place, "this integer is too large"));
        a = (int)node->number;
    } else if (node->kind == NODE_NAME) {
        TRY(integer_name(script, node, &a, error));
    } else if (node->kind == NODE_NEGATE) {
        TRY(weft_script_integer(script, node->children[0], &b, error));
        if (__builtin_sub_overflow(0, b, &a))
            TRY(weft_error_at(error, WEFT_ERROR_SHAPE, node->place, "this integer is too large"));
    } else if (node->kind == NODE_BINARY) {
        TRY(weft_script_integer(script, node->children[0], &a, error));
        TRY(weft_script_integer(script, node->children[1], &b, error));
        TRY(integer_binary(node, a, b, &a, error));
    } else {
        TRY(weft_error_at(error, WEFT_ERROR_TYPE, node->place,
                          "expected an integer: numbers without a point, parameters and + - * /"));
    }
    *out = a;
done:
    return status;
}
