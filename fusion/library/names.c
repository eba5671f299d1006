/* Reads names in terms: data with subscripts, sizes, the thread index, intrinsics. */
#include "fusion/base/array.h"
#include "fusion/base/intrinsics.h"
#include "fusion/library/private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static weft_status type_error(kernel_reader *reader, const weft_term *term, const char *text) {
    return weft_error_at(reader->error, WEFT_ERROR_TYPE, term->place, "%s", text);
}

/* subscripts := open term { "," term } ")"   or for arrays  "[" term "]" { "[" term "]" } */
static weft_status read_subscripts(kernel_reader *reader, weft_term *term, const char *name,
                                   int rank) {
    weft_status status = WEFT_OK;
    bool brackets = weft_reader_is(reader, "[");
    const weft_token *at = reader->token;
    if (weft_reader_accept(reader, "(") || weft_reader_accept(reader, "[")) {
        for (;;) {
            weft_term *child = NULL;
            TRY(weft_reader_integer_term(reader, "a subscript", &child));
            if (term->n_children == WEFT_RANK_MAX)
                TRY(type_error(reader, child, "more than four subscripts"));
            term->children[term->n_children++] = child;
            if (brackets) {
                TRY(weft_reader_expect(reader, "]", "after the subscript"));
                if (!weft_reader_accept(reader, "["))
                    break;
            } else if (!weft_reader_accept(reader, ",")) {
                TRY(weft_reader_expect(reader, ")", "after the subscripts"));
                break;
            }
        }
    }
    if (term->n_children != rank) {
        status = weft_error_at(
            reader->error, WEFT_ERROR_TYPE, at->place, "'%s' has %d subscript%s, %d %s given", name,
            rank, rank == 1 ? "" : "s", term->n_children, term->n_children == 1 ? "is" : "are");
        if (rank == 0)
            weft_error_hint(reader->error, "a scalar is used by its plain name");
    }
done:
    return status;
}

/* Find a local that is visible here, an argument, a table or the result.
 *  found  its kind, type and index are set */
static bool find_data(const kernel_reader *reader, const char *name, weft_term *found, int *rank) {
    const weft_function *function = reader->function;
    const int argument = WEFT_FIND_NAME(function->arguments, function->n_arguments, name);
    int table = 0;
    while (table < function->n_tables && strcmp(function->tables[table].formal.name, name) != 0)
        ++table;
    *found = (weft_term){.type = TYPE_REAL};
    for (int i = reader->n_scope - 1; i >= 0; --i) {
        const weft_local *local = &reader->locals[reader->scope[i]];
        if (strcmp(local->name, name) != 0)
            continue;
        found->kind = TERM_LOCAL;
        found->type = local->real ? TYPE_REAL : TYPE_INT;
        found->index = reader->scope[i];
        *rank = local->rank;
        return true;
    }
    if (function->element && strcmp(function->element, name) == 0) {
        found->kind = TERM_ELEMENT;
        *rank = 0;
    } else if (argument >= 0 && !reader->in_identity) {
        found->kind = TERM_ARGUMENT;
        found->index = argument;
        *rank = function->arguments[argument].rank;
    } else if (table < function->n_tables) {
        found->kind = TERM_TABLE;
        found->index = table;
        *rank = function->tables[table].formal.rank;
    } else {
        found->kind = TERM_RESULT;
        *rank = function->result.rank;
        return function->result.name && strcmp(function->result.name, name) == 0;
    }
    return true;
}

bool weft_reader_is_taken(const kernel_reader *reader, const char *name) {
    weft_term found;
    int rank = 0;
    return weft_function_name_index(reader->function, name) >= 0 ||
           find_data(reader, name, &found, &rank);
}

static weft_status unknown_name(kernel_reader *reader) {
    const weft_function *function = reader->function;
    const size_t most = (size_t)(WEFT_FUNCTION_NAMES_MAX + reader->n_scope + WEFT_ARGUMENTS_MAX +
                                 WEFT_TABLES_MAX + WEFT_INTRINSICS_MAX);
    const char **names = weft_arena_alloc(reader->arena, most, sizeof *names);
    size_t n = 0;
    if (!names)
        return weft_reader_memory(reader);
    for (int i = 0; i < function->n_names; ++i)
        names[n++] = function->names[i].name;
    if (reader->mode == READ_BODY) {
        for (int i = 0; i < reader->n_scope; ++i)
            names[n++] = reader->locals[reader->scope[i]].name;
        for (int i = 0; i < function->n_arguments && !reader->in_identity; ++i)
            names[n++] = function->arguments[i].name;
        for (int i = 0; i < function->n_tables; ++i)
            names[n++] = function->tables[i].formal.name;
        for (int i = 0; i < weft_intrinsics_count; ++i)
            names[n++] = weft_intrinsics[i].name;
        names[n++] = function->result.name;
    }
    const weft_token *token = reader->token;
    const char *instead = weft_formula_instead(token->text);
    const char *near = !instead ? weft_nearest_name(token->text, names, n) : NULL;
    weft_status status = weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                                       "'%s' is not known here", token->text);
    if (near)
        weft_error_hint(reader->error, "did you mean '%s'?", near);
    else if (reader->mode == READ_BODY && instead && *instead &&
             !strchr(instead, '^')) /* an operator of scripts only */
        weft_error_hint(reader->error, "write %s instead", instead);
    else if (reader->mode == READ_BODY && reader->in_identity)
        weft_error_hint(reader->error,
                        "an identity depends on sizes and constants alone; infinity is one");
    else if (reader->mode == READ_BODY)
        weft_error_hint(reader->error,
                        "a body may use its locals, the arguments and result, sizes, parameters, "
                        "tables, t and the intrinsics (sqrt, exp, select, ...)");
    else
        weft_error_hint(
            reader->error,
            "sizes come from the signature, from '//@ parameter' and '//@ table' lines above");
    return status;
}

/* intrinsic := name "(" term { "," term } ")" */
static weft_status read_intrinsic(kernel_reader *reader, const weft_intrinsic *intrinsic,
                                  weft_term **out) {
    weft_status status = WEFT_OK;
    weft_term *term = weft_reader_term_make(reader, TERM_INTRINSIC, TYPE_REAL);
    if (!term)
        TRY(weft_reader_memory(reader));
    term->index = (int)(intrinsic - weft_intrinsics);
    int given = 0;
    ++reader->token;
    TRY(weft_reader_expect(reader, "(", "after the intrinsic's name"));
    do {
        weft_term *child = NULL;
        TRY(weft_reader_term(reader, &child));
        if (++given > intrinsic->n_arguments)
            continue;
        if ((intrinsic->flags & INTRINSIC_MASK) && given == 1) {
            if (child->type != TYPE_MASK && child->type != TYPE_CONDITION)
                TRY(type_error(reader, child,
                               "select needs a comparison first: select(a < b, x, y)"));
        } else {
            TRY(weft_reader_check_real(reader, child, "this argument"));
        }
        term->children[term->n_children++] = child;
    } while (weft_reader_accept(reader, ","));
    if (given != intrinsic->n_arguments)
        status = weft_error_at(reader->error, WEFT_ERROR_TYPE, term->place,
                               "%s takes %d argument%s, %d %s given", intrinsic->name,
                               intrinsic->n_arguments, intrinsic->n_arguments == 1 ? "" : "s",
                               given, given == 1 ? "is" : "are");
    else
        status = weft_reader_expect(reader, ")", "after the arguments");
    *out = term;
done:
    return status;
}

/* A name in a term: data, size, t or intrinsic. */
weft_status weft_reader_name(kernel_reader *reader, weft_term **out) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    const char *name = reader->token->text;
    weft_term *term = NULL, found;
    int rank = 0, index;
    if (reader->mode >= READ_PATTERN && !reader->in_identity && strcmp(name, "t") == 0) {
        term = weft_reader_term_make(reader, TERM_THREAD, TYPE_INT);
    } else if (reader->mode == READ_BODY && strcmp(name, "infinity") == 0) {
        term = weft_reader_term_make(reader, TERM_NUMBER, TYPE_REAL);
        if (term)
            term->number = INFINITY;
    } else if (reader->mode == READ_BODY && find_data(reader, name, &found, &rank)) {
        term = weft_reader_term_make(reader, found.kind, found.type);
        if (!term)
            TRY(weft_reader_memory(reader));
        term->index = found.index;
        function->uses_element |= found.kind == TERM_ELEMENT;
        ++reader->token;
        *out = term;
        status = read_subscripts(reader, term, name, rank);
        goto done;
    } else if ((index = weft_function_name_index(function, name)) >= 0) {
        term = weft_reader_term_make(reader, TERM_SIZE, TYPE_INT);
        if (term)
            term->index = index;
    } else if (reader->mode == READ_SIGNATURE) {
        const char *fresh = NULL;
        term = weft_reader_term_make(reader, TERM_SIZE, TYPE_INT);
        if (!term)
            TRY(weft_reader_memory(reader));
        TRY(weft_reader_new_name(reader, "a size's name", &fresh));
        if (function->n_names == WEFT_FUNCTION_NAMES_MAX)
            TRY(type_error(reader, term, "more than 32 sizes in one function"));
        term->index = function->n_names;
        function->names[function->n_names++].name = fresh;
        *out = term;
        goto done;
    } else {
        const weft_intrinsic *intrinsic = weft_intrinsic_find(name);
        if (intrinsic && (reader->mode == READ_BODY ||
                          (reader->mode == READ_FORMULA && (intrinsic->flags & INTRINSIC_MASK)))) {
            status = read_intrinsic(reader, intrinsic, out);
            goto done;
        }
        TRY(unknown_name(reader));
    }
    if (!term)
        TRY(weft_reader_memory(reader));
    ++reader->token;
    *out = term;
done:
    return status;
}

weft_status weft_reader_target(kernel_reader *reader, weft_term **out) {
    weft_status status = WEFT_OK;
    const weft_token *token = reader->token;
    TRY(weft_reader_name(reader, out));
    const char *why = NULL;
    switch ((*out)->kind) {
    case TERM_RESULT:
        reader->result_set = true;
        break;
    case TERM_LOCAL:
        if ((*out)->type == TYPE_INT)
            why = "an int keeps its first value: declare another one, or use a for loop";
        break;
    case TERM_ARGUMENT:
        why = "is an argument, which is read only: assign to the result or to a local";
        break;
    case TERM_TABLE:
        why = "is a constant table";
        break;
    case TERM_ELEMENT:
        why = "is the number of the element, which is read only";
        break;
    default:
        why = "cannot be assigned to";
    }
    if (why)
        status = weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place, "'%s' %s", token->text,
                               why);
done:
    return status;
}

void weft_function_hint(const weft_function *function, weft_error *error) {
    char parameters[256] = "";
    for (int i = 0; i < function->n_names; ++i) {
        const weft_name *name = &function->names[i];
        size_t length = strlen(parameters);
        if (!name->is_parameter)
            continue;
        snprintf(parameters + length, sizeof parameters - length, "%s %s",
                 length ? "," : "; parameters", name->name);
        length = strlen(parameters);
        if (name->has_value)
            snprintf(parameters + length, sizeof parameters - length, " = %d", name->value);
    }
    weft_error_hint(error, "its signature is %s%s", function->info.signature, parameters);
}
