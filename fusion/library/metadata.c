/* Reads the `//@` lines of kernel files, with one reader per keyword. */
#include "fusion/library/private.h"

#include <ctype.h>
#include <string.h>

#define WEFT_NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

weft_status weft_meta_tokens(kernel_reader *reader, const meta_line *meta) {
    return weft_kernel_tokens_make(reader, meta->rest, (size_t)(meta->end - meta->rest),
                                   meta->rest_place, NULL);
}

static weft_status meta_text(kernel_reader *reader, const meta_line *meta, const char **out) {
    *out = weft_arena_copy(reader->arena, meta->rest, (size_t)(meta->end - meta->rest));
    return *out ? WEFT_OK : weft_reader_memory(reader);
}

weft_status weft_expect_end(kernel_reader *reader) {
    if (reader->token->kind == TOKEN_END)
        return WEFT_OK;
    return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, reader->token->place,
                         "the line should end here, found '%s'", reader->token->text);
}

/* Is the next token a comma before the second index set of `over i, j`, not before an argument? */
static bool has_second(const kernel_reader *reader) {
    return weft_reader_is(reader, ",") && reader->token[1].kind == TOKEN_NAME &&
           strcmp(reader->token[2].text, ":") != 0;
}

/* over := "over" name [ "," name ]: the index sets of nested functions, in the order of the first
 * argument over both */
static weft_status read_over(kernel_reader *reader, weft_formal *formal) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    for (bool more = true; more; more = has_second(reader) && weft_reader_accept(reader, ",")) {
        const weft_token *token = reader->token;
        const char *name = NULL;
        int index = 0;
        TRY(weft_reader_new_name(reader, "an index set's name", &name));
        while (index < 2 && function->index_sets[index] &&
               strcmp(function->index_sets[index], name) != 0)
            ++index;
        if (index == 2)
            TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, token->place,
                              "a third index set '%s': functions have one or two", name));
        if ((formal->over & 1 << index) != 0)
            TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place, "'%s' is used twice",
                              name));
        if (formal->over > 1 << index)
            TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                              "the order of the index sets is %s, %s everywhere",
                              function->index_sets[0], function->index_sets[1]));
        function->index_sets[index] = name;
        formal->over |= 1 << index;
    }
done:
    return status;
}

/* formal := name ":" "real" [ "[" term { "," term } "]" ] [ over ] */
static weft_status read_formal(kernel_reader *reader, const char *what, weft_formal *out) {
    weft_status status = WEFT_OK;
    const weft_token *token = reader->token;
    const char *name = NULL;
    TRY(weft_reader_new_name(reader, what, &name));
    if (weft_reader_is_taken(reader, name))
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place, "'%s' is used twice",
                          name));
    *out = (weft_formal){.name = name, .place = token->place};
    TRY(weft_reader_expect(reader, ":", "and the type after the name"));
    TRY(weft_reader_expect(reader, "real", "as the type (real, real[n] or real[m,n])"));
    if (weft_reader_accept(reader, "[")) {
        do {
            if (out->rank == WEFT_RANK_MAX)
                TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, reader->token->place,
                                  "more than four sizes"));
            TRY(weft_reader_integer_term(reader, "a size", &out->sizes[out->rank++]));
        } while (weft_reader_accept(reader, ","));
        TRY(weft_reader_expect(reader, "]", "after the sizes"));
    }
    if (weft_reader_accept(reader, "over"))
        TRY(read_over(reader, out));
done:
    return status;
}

/* One index set in a signature names the number of the element, which bodies of reductions read. */
static void take_element(weft_function *function) {
    if (!function->index_sets[0] || function->index_sets[1] || function->result.over)
        return;
    function->element = function->index_sets[0];
    function->index_sets[0] = NULL;
    for (int i = 0; i < function->n_arguments; ++i)
        function->arguments[i].over = 0;
}

/* function := name "(" formal { "," formal } ")" "->" formal */
weft_status weft_reader_signature(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    reader->mode = READ_SIGNATURE;
    TRY(weft_meta_tokens(reader, meta));
    TRY(weft_reader_new_name(reader, "a function's name", &function->info.name));
    TRY(weft_reader_expect(reader, "(", "after the function's name"));
    if (!weft_reader_is(reader, ")"))
        do {
            if (function->n_arguments == WEFT_ARGUMENTS_MAX)
                TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, reader->token->place,
                                  "more than %d arguments", WEFT_ARGUMENTS_MAX));
            weft_formal formal;
            TRY(read_formal(reader, "an argument's name", &formal));
            function->arguments[function->n_arguments++] = formal;
        } while (weft_reader_accept(reader, ","));
    TRY(weft_reader_expect(reader, ")", "after the arguments"));
    TRY(weft_reader_expect(reader, "->", "and the result"));
    weft_formal result;
    TRY(read_formal(reader, "the result's name", &result));
    function->result = result;
    TRY(weft_expect_end(reader));
    take_element(function);
    TRY(meta_text(reader, meta, &function->info.signature));
done:
    return status;
}

/* A parameter of this name, which may be new. */
static weft_status find_parameter(kernel_reader *reader, weft_name **out) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    const weft_token *token = reader->token;
    const char *name = NULL;
    TRY(weft_reader_new_name(reader, "a parameter's name", &name));
    int index = weft_function_name_index(function, name);
    if (index < 0 && weft_reader_is_taken(reader, name))
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place, "'%s' is used twice",
                          name));
    if (index < 0 && function->n_names == WEFT_FUNCTION_NAMES_MAX)
        TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, token->place,
                          "more than 32 sizes and parameters"));
    if (index < 0) {
        index = function->n_names++;
        function->names[index] = (weft_name){.name = name};
    }
    *out = &function->names[index];
done:
    return status;
}

/* integer := ["-"] number */
static weft_status read_integer(kernel_reader *reader, int *out) {
    const bool negative = weft_reader_accept(reader, "-");
    if (reader->token->kind != TOKEN_NUMBER || !reader->token->integer ||
        reader->token->number > 1e9)
        return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, reader->token->place,
                             "expected the parameter's value, an integer");
    *out = (int)reader->token->number * (negative ? -1 : 1);
    ++reader->token;
    return WEFT_OK;
}

/* parameter := name ["=" integer] */
weft_status weft_reader_parameter(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_name *parameter = NULL;
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    const weft_token *token = reader->token;
    TRY(find_parameter(reader, &parameter));
    if (parameter->is_parameter)
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place, "'%s' is used twice",
                          parameter->name));
    parameter->is_parameter = true;
    if (weft_reader_accept(reader, "=")) {
        TRY(read_integer(reader, &parameter->value));
        parameter->has_value = true;
    }
    TRY(weft_expect_end(reader));
done:
    return status;
}

enum { CHOICES_MAX = 64 };

/* choices := item { "," item },  item := integer ["to" integer ["by" integer]] */
static weft_status read_choices(kernel_reader *reader, int *choices, int *n) {
    weft_status status = WEFT_OK;
    do {
        const weft_token *token = reader->token;
        int first = 0, last = 0, step = 1;
        TRY(read_integer(reader, &first));
        last = first;
        if (weft_reader_accept(reader, "to")) {
            TRY(read_integer(reader, &last));
            if (weft_reader_accept(reader, "by"))
                TRY(read_integer(reader, &step));
        }
        if (step < 1 || last < first)
            TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                              "a range ascends, in steps of at least 1"));
        for (int64_t value = first; value <= last; value += step) {
            bool is_new = true;
            for (int i = 0; i < *n; ++i)
                is_new &= choices[i] != value;
            if (is_new && *n == CHOICES_MAX)
                TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, token->place,
                                  "more than %d values of a parameter", CHOICES_MAX));
            if (is_new)
                choices[(*n)++] = (int)value;
        }
    } while (weft_reader_accept(reader, ","));
done:
    return status;
}

static bool has_name(const weft_term *term, int index) {
    bool found = term && term->kind == TERM_SIZE && term->index == index;
    for (int i = 0; term && !found && i < term->n_children; ++i)
        found = has_name(term->children[i], index);
    return found;
}

/* Tuned parameters are not in the shapes of the signature. */
static bool is_in_shapes(const weft_function *function, int index) {
    bool found = false;
    for (int i = 0; i <= function->n_arguments; ++i) {
        const weft_formal *formal =
            i < function->n_arguments ? &function->arguments[i] : &function->result;
        for (int k = 0; k < formal->rank; ++k)
            found |= has_name(formal->sizes[k], index);
    }
    return found;
}

/* tune := name "=" choices: the values of a parameter that do not change the result */
weft_status weft_reader_tune(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_name *parameter = NULL;
    int choices[CHOICES_MAX], n = 0, n_tuned = 1;
    bool has_default = false;
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    const weft_token *token = reader->token;
    TRY(find_parameter(reader, &parameter));
    for (int i = 0; i < reader->function->n_names; ++i)
        n_tuned += reader->function->names[i].n_choices > 0;
    if (is_in_shapes(reader->function, (int)(parameter - reader->function->names)))
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                          "'%s' is in the shapes of the signature, which a search must not change",
                          parameter->name));
    if (parameter->n_choices > 0)
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place, "'%s' is tuned twice",
                          parameter->name));
    if (n_tuned > WEFT_TUNED_MAX)
        TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, token->place,
                          "more than %d tuned parameters", WEFT_TUNED_MAX));
    TRY(weft_reader_expect(reader, "=", "and the values, as in width = 1, 2, 4 or 1 to 8"));
    TRY(read_choices(reader, choices, &n));
    TRY(weft_expect_end(reader));
    for (int i = 0; i < n; ++i)
        has_default |= choices[i] == parameter->value;
    if (parameter->has_value && !has_default)
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                          "the default of '%s', %d, is not among its values", parameter->name,
                          parameter->value));
    if (!parameter->has_value)
        parameter->value = choices[0];
    parameter->is_parameter = parameter->has_value = true;
    int *kept = weft_arena_alloc(reader->arena, (size_t)n, sizeof *kept);
    if (!kept)
        TRY(weft_reader_memory(reader));
    memcpy(kept, choices, (size_t)n * sizeof *kept);
    parameter->choices = kept;
    parameter->n_choices = n;
done:
    return status;
}

/* table := formal "=" name "(" term { "," term } ")" */
weft_status weft_reader_table(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    weft_formal_table table = {0};
    if (function->n_tables == WEFT_TABLES_MAX)
        TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, meta->place, "more than %d tables",
                          WEFT_TABLES_MAX));
    reader->mode = READ_SIGNATURE;
    TRY(weft_meta_tokens(reader, meta));
    TRY(read_formal(reader, "a table's name", &table.formal));
    TRY(weft_reader_expect(reader, "=", "and what makes the table"));
    TRY(weft_reader_new_name(reader, "a table maker's name", &table.maker));
    TRY(weft_reader_expect(reader, "(", "after the table maker's name"));
    reader->mode = READ_FORMULA;
    if (!weft_reader_is(reader, ")"))
        do {
            if (table.n_arguments == WEFT_RANK_MAX)
                TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, reader->token->place,
                                  "more than four arguments of a table"));
            TRY(weft_reader_integer_term(reader, "a table's argument",
                                         &table.arguments[table.n_arguments]));
            ++table.n_arguments;
        } while (weft_reader_accept(reader, ","));
    TRY(weft_reader_expect(reader, ")", "after the table's arguments"));
    TRY(weft_expect_end(reader));
    function->tables[function->n_tables++] = table;
done:
    return status;
}

weft_status weft_reader_where(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    if (function->n_wheres == WEFT_WHERES_MAX)
        TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, meta->place,
                          "more than %d where lines", WEFT_WHERES_MAX));
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    weft_term *term = NULL;
    TRY(weft_reader_term(reader, &term));
    TRY(weft_expect_end(reader));
    if (term->type != TYPE_CONDITION)
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, term->place,
                          "a where line is a comparison of sizes, such as n == d + 1"));
    TRY(meta_text(reader, meta, &function->where_texts[function->n_wheres]));
    function->wheres[function->n_wheres++] = term;
done:
    return status;
}

/* kind reduce OPERATOR: an operation, or the name of a function that is an operator. */
static weft_status read_reduction(kernel_reader *reader, const meta_line *meta, const char *rest) {
    static const struct {
        const char *name;
        weft_reduction reduction;
    } operators[] = {
        {"+", {.op = '+'}}, {"*", {.op = '*'}}, {"min", {.op = '<'}}, {"max", {.op = '>'}}};
    while (*rest == ' ')
        ++rest;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i)
        if (strcmp(rest, operators[i].name) == 0) {
            reader->function->reduction = operators[i].reduction;
            return WEFT_OK;
        }
    size_t length = strspn(rest, WEFT_NAME_LETTERS);
    if (length == 0 || rest[length] != '\0' || isdigit((unsigned char)rest[0]))
        return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->rest_place,
                             "unknown operator '%s' of a reduction: expected +, *, min, max or the "
                             "name of a function with an '//@ identity'",
                             rest);
    reader->function->reduction =
        (weft_reduction){.op = 'f', .combine = rest, .place = meta->rest_place};
    return WEFT_OK;
}

weft_status weft_reader_kind(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    TRY(meta_text(reader, meta, &reader->function->info.kind));
    const char *kind = reader->function->info.kind;
    weft_function *function = reader->function;
    function->is_reduction = strncmp(kind, "reduce", 6) == 0 && (kind[6] == ' ' || kind[6] == '\0');
    if (function->is_reduction)
        status = read_reduction(reader, meta, kind + 6);
    else if (strcmp(kind, "map") != 0)
        status = weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->rest_place,
                               "unknown kind '%s': expected map, or reduce with an operator", kind);
done:
    return status;
}

weft_status weft_reader_source(kernel_reader *reader, const meta_line *meta) {
    const char *text = NULL;
    weft_function_info *info = &reader->function->info;
    weft_status status = WEFT_OK;
    TRY(meta_text(reader, meta, &text));
    info->source =
        info->source ? weft_arena_print(reader->arena, "%s; %s", info->source, text) : text;
    if (!info->source)
        status = weft_reader_memory(reader);
done:
    return status;
}

weft_status weft_reader_flops(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    weft_term *flops = NULL;
    TRY(weft_reader_term(reader, &flops));
    if (flops->type != TYPE_INT && flops->type != TYPE_REAL)
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, flops->place,
                          "flops are a number, not a comparison"));
    reader->function->flops = flops;
    TRY(weft_expect_end(reader));
    TRY(meta_text(reader, meta, &reader->function->info.flops));
done:
    return status;
}

/* The step of t::32, behind its first colon. */
static weft_status read_step(kernel_reader *reader, weft_term **out) {
    weft_status status = WEFT_OK;
    TRY(weft_reader_expect(reader, ":", "and the step, as in t::32"));
    reader->mode = READ_FORMULA;
    TRY(weft_reader_integer_term(reader, "a step", out));
    reader->mode = READ_PATTERN;
done:
    return status;
}

/* pattern := name [ "(" subscript { "," subscript } ")" ]
 * subscript := ":" | term in t and sizes [ ":" ":" term in sizes ] */
static weft_status read_pattern(kernel_reader *reader, weft_variant *variant) {
    weft_status status = WEFT_OK;
    const weft_function *function = reader->function;
    const weft_token *token = reader->token;
    const weft_formal *formal = NULL;
    weft_pattern *pattern = NULL;
    for (int i = 0; i < function->n_arguments; ++i)
        if (strcmp(function->arguments[i].name, token->text) == 0) {
            formal = &function->arguments[i];
            pattern = &variant->arguments[i];
        }
    if (strcmp(function->result.name, token->text) == 0) {
        formal = &function->result;
        pattern = &variant->result;
    }
    if (token->kind != TOKEN_NAME || !formal)
        TRY(weft_error_at(
            reader->error, WEFT_ERROR_TYPE, token->place,
            "expected an argument or the result with its subscripts, as in A(t,:), found %s",
            weft_reader_found(reader)));
    ++reader->token;
    int n = 0;
    if (weft_reader_accept(reader, "(")) {
        do {
            weft_term *term = NULL, *step = NULL;
            if (!weft_reader_accept(reader, ":"))
                TRY(weft_reader_integer_term(reader, "a subscript", &term));
            if (term && weft_reader_accept(reader, ":"))
                TRY(read_step(reader, &step));
            if (n < WEFT_RANK_MAX) {
                pattern->subscripts[n] = term;
                pattern->steps[n] = step;
            }
            ++n;
        } while (weft_reader_accept(reader, ","));
        TRY(weft_reader_expect(reader, ")", "after the subscripts"));
    }
    if (n != formal->rank)
        status =
            weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                          "'%s' has %d subscripts, %d are given", formal->name, formal->rank, n);
done:
    return status;
}

/* threads := term { pattern } */
weft_status weft_reader_threads(kernel_reader *reader, const meta_line *meta, weft_variant **out) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    weft_variant *variant = weft_arena_alloc(reader->arena, 1, sizeof *variant);
    if (!variant)
        TRY(weft_reader_memory(reader));
    if (function->n_variants == WEFT_VARIANTS_MAX)
        TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, meta->place,
                          "more than %d variants", WEFT_VARIANTS_MAX));
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    TRY(weft_reader_integer_term(reader, "the number of threads", &variant->threads));
    const char *end = meta->rest + (reader->token->place.column - meta->rest_place.column);
    while (end > meta->rest && isspace((unsigned char)end[-1]))
        --end;
    variant->threads_text = weft_arena_copy(reader->arena, meta->rest, (size_t)(end - meta->rest));
    if (!variant->threads_text)
        TRY(weft_reader_memory(reader));
    variant->line = meta->place.line;
    reader->mode = READ_PATTERN;
    while (reader->token->kind != TOKEN_END)
        TRY(read_pattern(reader, variant));
    function->variants[function->n_variants++] = variant;
    *out = variant;
done:
    return status;
}

/* Mark the names that get a value from a formal's sizes. */
static void bind_names(const weft_formal *formal, bool *bound) {
    int64_t added;
    for (int i = 0; i < formal->rank; ++i) {
        int index = weft_term_linear(formal->sizes[i], &added);
        if (index >= 0)
            bound[index] = true;
    }
}

static const weft_term *unbound_name(const weft_term *term, const bool *bound) {
    if (term->kind == TERM_SIZE)
        return bound[term->index] ? NULL : term;
    const weft_term *found = NULL;
    for (int i = 0; i < term->n_children && !found; ++i)
        found = unbound_name(term->children[i], bound);
    return found;
}

static weft_status check_bound(kernel_reader *reader, const weft_term *term, const bool *bound) {
    const weft_term *name = unbound_name(term, bound);
    if (!name)
        return WEFT_OK;
    weft_status status = weft_error_at(reader->error, WEFT_ERROR_TYPE, name->place,
                                       "nothing gives the size '%s' a value",
                                       reader->function->names[name->index].name);
    weft_error_hint(
        reader->error,
        "a size gets its value where it stands alone, or as name + integer, in the type "
        "of an argument or of a table above, or from a '//@ parameter' line");
    return status;
}

/* Check that every size follows from the arguments, parameters and tables, in that order. */
weft_status weft_reader_check_names(kernel_reader *reader) {
    weft_status status = WEFT_OK;
    const weft_function *function = reader->function;
    bool bound[WEFT_FUNCTION_NAMES_MAX] = {false};
    for (int i = 0; i < function->n_names; ++i)
        bound[i] = function->names[i].is_parameter;
    for (int i = 0; i < function->n_arguments; ++i)
        bind_names(&function->arguments[i], bound);
    for (int i = 0; i < function->n_arguments; ++i)
        for (int j = 0; j < function->arguments[i].rank; ++j)
            TRY(check_bound(reader, function->arguments[i].sizes[j], bound));
    for (int i = 0; i < function->n_tables; ++i) {
        const weft_formal_table *table = &function->tables[i];
        for (int j = 0; j < table->n_arguments; ++j)
            TRY(check_bound(reader, table->arguments[j], bound));
        bind_names(&table->formal, bound);
        for (int j = 0; j < table->formal.rank; ++j)
            TRY(check_bound(reader, table->formal.sizes[j], bound));
    }
    for (int j = 0; j < function->result.rank; ++j)
        TRY(check_bound(reader, function->result.sizes[j], bound));
done:
    return status;
}

/* "//@ shift X": the function is invariant when the same number is added to all components of X, or
 * the same row to all of its rows, so that a caller may pass differences. */
weft_status weft_reader_shift(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    const weft_token *token = reader->token;
    for (int i = 0; token->kind == TOKEN_NAME && i < function->n_arguments; ++i)
        if (strcmp(token->text, function->arguments[i].name) == 0) {
            function->arguments[i].shifts = true;
            ++reader->token;
            TRY(weft_expect_end(reader));
            goto done;
        }
    status = weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                           "a shift line names an argument of the function");
done:
    return status;
}

/* "//@ commutative": the order of the two values of an operator does not matter. */
weft_status weft_reader_commutative(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    TRY(weft_expect_end(reader));
    reader->function->is_commutative = true;
    reader->function->commutative_place = meta->place;
done:
    return status;
}

/* One thread computes the whole result in a body of its own, where others wait for each other in theirs. */
weft_status weft_reader_check_barriers(kernel_reader *reader) {
    const weft_function *function = reader->function;
    const weft_variant *plain = function->variants[weft_function_plain_variant(function)];
    for (int v = 0; v < function->n_variants; ++v)
        if (function->variants[v]->body.has_barriers && plain->body.has_barriers) {
            weft_error_at(reader->error, WEFT_ERROR_TYPE,
                          weft_reader_line(reader, function->variants[v]->line),
                          "the threads of this body of '%s' wait for each other, and there is no "
                          "body without a barrier",
                          function->info.name);
            weft_error_hint(reader->error, "write one below a line '//@ threads 1'");
            return WEFT_ERROR_TYPE;
        }
    return WEFT_OK;
}

/* "//@ unroll": loops of its bodies that stay are unrolled by the compiler, so that its arrays are in registers. */
weft_status weft_reader_unroll(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    TRY(weft_expect_end(reader));
    reader->function->is_unrolled = true;
done:
    return status;
}

/* "//@ identity": the body below is the value that changes no other, which an operator starts from. */
weft_status weft_reader_identity(kernel_reader *reader, const meta_line *meta, weft_variant **out) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    weft_variant *variant = weft_arena_alloc(reader->arena, 1, sizeof *variant);
    if (!variant)
        TRY(weft_reader_memory(reader));
    if (function->identity)
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place, "a second identity"));
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    TRY(weft_expect_end(reader));
    variant->line = meta->place.line;
    function->identity = variant;
    *out = variant;
done:
    return status;
}

/* An operator is a map of two values to one; their sizes are compared where it is used. */
weft_status weft_reader_check_combine(kernel_reader *reader) {
    const weft_function *function = reader->function;
    const weft_formal *arguments = function->arguments;
    if (!function->identity && !function->is_commutative)
        return WEFT_OK;
    if (!function->identity)
        return weft_error_at(reader->error, WEFT_ERROR_TYPE, function->commutative_place,
                             "'%s' has no '//@ identity', so it is not an operator of reductions",
                             function->info.name);
    if (function->is_reduction || function->index_sets[0] || function->n_arguments != 2 ||
        arguments[0].rank != function->result.rank || arguments[1].rank != function->result.rank)
        return weft_error_at(reader->error, WEFT_ERROR_TYPE,
                             weft_reader_line(reader, function->identity->line),
                             "only a map of two values to one of the same type has an identity");
    const weft_variant *plain = function->variants[weft_function_plain_variant(function)];
    if (plain->native || strcmp(plain->threads_text, "1") != 0)
        return weft_error_at(reader->error, WEFT_ERROR_TYPE,
                             weft_reader_line(reader, function->identity->line),
                             "an operator needs a body for one thread: a line '//@ threads 1'");
    return WEFT_OK;
}

/* "//@ product A*B": the result is the matrix product of the two arguments, in this order. */
weft_status weft_reader_product(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    const weft_formal *a = &function->arguments[0], *b = &function->arguments[1];
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    const weft_token *token = reader->token;
    if (function->n_arguments != 2 || a->rank != 2 || b->rank != 2 || function->result.rank != 2 ||
        strcmp(token[0].text, a->name) != 0 || strcmp(token[1].text, "*") != 0 ||
        strcmp(token[2].text, b->name) != 0)
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                          "a product line names the two matrices of a function that has no other "
                          "arguments, in their order, as in A*B"));
    reader->token += 3;
    TRY(weft_expect_end(reader));
    function->is_product = true;
done:
    return status;
}

bool weft_function_is_unrolled(const weft_function *function) {
    return function->is_unrolled;
}

bool weft_function_is_product(const weft_function *function) {
    return function->is_product;
}

int weft_function_over(const weft_function *function, int argument) {
    return argument < 0 ? function->result.over : function->arguments[argument].over;
}

/* The index sets of a nested function: every argument and the result say theirs, one argument has
 * both, and a reduction leaves at least one out. */
weft_status weft_reader_check_over(kernel_reader *reader) {
    weft_function *function = reader->function;
    const weft_formal *result = &function->result;
    bool has_both = false;
    if (function->element && !function->is_reduction)
        return weft_error_at(reader->error, WEFT_ERROR_TYPE, result->place,
                             "no argument of '%s' is over two index sets", function->info.name);
    if (!function->index_sets[0])
        return WEFT_OK;
    for (int i = 0; i < function->n_arguments; ++i)
        has_both |= function->arguments[i].over == 3;
    if (!has_both)
        return weft_error_at(reader->error, WEFT_ERROR_TYPE, result->place,
                             "no argument of '%s' is over two index sets", function->info.name);
    if (function->is_reduction ? result->over == 3 : result->over != 3)
        return weft_error_at(reader->error, WEFT_ERROR_TYPE, result->place,
                             function->is_reduction
                                 ? "the result '%s' of a reduction is over both index sets"
                                 : "the result '%s' of a map is not over both index sets",
                             result->name);
    function->reduction.over = result->over == 1   ? REDUCE_SECOND
                               : result->over == 2 ? REDUCE_FIRST
                                                   : REDUCE_ALL;
    return WEFT_OK;
}

bool weft_function_shifts(const weft_function *function, int argument) {
    return argument < function->n_arguments && function->arguments[argument].shifts;
}
