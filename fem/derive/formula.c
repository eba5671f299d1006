/* Rewrites formulas of derived quantities in names of the script: u becomes its value at a point,
 * grad(u) the gradient of the cell. */
#include "fem/base/text.h"
#include "fem/derive/tabulated.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const operators[] = {"grad", "strain", "stress"};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

static bool starts_name(char c) {
    return isalpha((unsigned char)c) || c == '_';
}

static bool continues_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static size_t blanks(const char *text) {
    return strspn(text, " \t\r\n");
}

/* The length of a number: 2, 2.5, .5, 1e-3. */
static size_t number_length(const char *text) {
    size_t n = strspn(text, "0123456789.");
    if (text[n] == 'e' || text[n] == 'E') {
        size_t sign = text[n + 1] == '+' || text[n + 1] == '-';
        if (isdigit((unsigned char)text[n + 1 + sign]))
            n += 1 + sign + strspn(text + n + 1 + sign, "0123456789");
    }
    return n;
}

/* A formula that is being rewritten. */
typedef struct rewriter {
    const derive_place *place;
    const weft_derived_quantity *quantity;
    int point, depth; /* depth of brackets */
    const char *at;   /* in the formula */
    weft_text *out;
    size_t start;  /* of the formula in out */
    int column;    /* of the error to be translated, from 0 in the rewritten formula; -1: none */
    int original;  /* the column in the formula that it comes from */
    bool varies;   /* something has other values at other points, */
    bool is_sided; /* or in the other cell of a facet */
} rewriter;

static const char *solution_of(const derive_place *place) {
    const char *name = place->scope->problem->solution;
    return name ? name : "u";
}

static weft_status refuse(const rewriter *r, const char *at, weft_status status, const char *hint,
                          weft_error *error, const char *format, const char *word) {
    weft_error_set(error, status, format, word);
    weft_error_location(error, r->quantity->origin, r->quantity->text, 1,
                        (int)(at - r->quantity->text) + 1);
    weft_error_hint(error, "%s", hint);
    return status;
}

/* Append a replacement of n bytes of the formula. */
static void put(rewriter *r, const char *text, size_t n) {
    const size_t first = r->out->length - r->start;
    weft_text_add(r->out, "%s", text);
    const size_t last = r->out->length - r->start;
    if (r->column >= (int)first && r->column < (int)last)
        r->original = (int)(r->at - r->quantity->text);
    r->at += n;
}

static void copy(rewriter *r, size_t n) {
    const size_t first = r->out->length - r->start;
    const int within = r->column - (int)first;
    if (r->column >= 0 && within >= 0 && within < (int)n)
        r->original = (int)(r->at - r->quantity->text) + within;
    for (size_t i = 0; i < n; ++i) {
        const char c = r->at[i];
        weft_text_add(r->out, "%c", c == '\n' || c == '\r' || c == '\t' ? ' ' : c);
    }
    r->at += n;
}

/* grad(u), strain(u), stress(u), and grad of a nodal input; n is the length with the brackets. */
static weft_status rewrite_operator(rewriter *r, const char *name, weft_error *error) {
    const derive_scope *scope = r->place->scope;
    const char *argument = r->at + strlen(name);
    const char *solution = solution_of(r->place);
    char word[128] = "", text[300];
    weft_name_info info;
    argument += blanks(argument) + 1;
    argument += blanks(argument);
    size_t length = 0;
    while (continues_name(argument[length]) && length + 1 < sizeof word)
        ++length;
    snprintf(word, sizeof word, "%.*s", (int)length, argument);
    const char *end = argument + length + blanks(argument + length);
    const bool is_solution = strcmp(word, solution) == 0;
    const bool is_nodal = strcmp(name, "grad") == 0 && derive_scope_find(scope, word, &info) &&
                          derive_scope_is_input(scope, &info, "nodes") && info.rank == 0;
    const bool is_function = strcmp(name, "grad") == 0 && derive_scope_function(scope, word) >= 0;
    if (*end != ')' || !(is_solution || is_nodal || is_function)) {
        snprintf(text, sizeof text, "write %s(%s); gradients of a product are written out", name,
                 solution);
        return refuse(r, argument, WEFT_ERROR_TYPE, text, error,
                      "%s is of the solution or a nodal input alone", name);
    }
    r->varies |= scope->tabulated != NULL;
    r->is_sided = true;
    if (strcmp(name, "grad") != 0 &&
        (scope->components != scope->dimension || scope->dimension == 1))
        return refuse(r, r->at, WEFT_ERROR_TYPE,
                      "it is defined for displacements, with as many components as dimensions",
                      error, "the solution has no %s", name);
    if (strcmp(name, "stress") == 0 && !scope->has_elasticity)
        return refuse(r, r->at, WEFT_ERROR_INPUT,
                      "compute them in the script, as elasticity.weft does, or write the stress by "
                      "hooke_stress(strain(u), LAMBDA, MU)",
                      error, "%s(u) needs values lambda and mu of the script", name);
    if (is_solution)
        snprintf(text, sizeof text, "derived_%s", name);
    else if (is_function)
        snprintf(text, sizeof text, "derived_g_%.127s", word);
    else
        snprintf(text, sizeof text, "gradient(derived_G, %.127s[dofs])", word);
    put(r, text, (size_t)(end + 1 - r->at));
    return WEFT_OK;
}

static const derive_quantity *find_field(const derive_place *place, const char *name) {
    for (int i = 0; i < place->n_quantities; ++i)
        if (place->quantities[i].given.kind == WEFT_DERIVE_FIELD &&
            strcmp(place->quantities[i].given.name, name) == 0)
            return &place->quantities[i];
    return NULL;
}

/* May a name of the form have different values in two cells at a point of both? Lists of functions that are not
 * continuous, values of cells, formulas by group and fields of files. */
static bool is_sided_name(const derive_scope *scope, const char *name) {
    const int list = derive_scope_function(scope, name);
    weft_name_info info;
    if (list >= 0)
        return derive_tabulated_jumps(scope->tabulated, list);
    if (!derive_scope_find(scope, name, &info))
        return false;
    for (int i = 0; info.kind == WEFT_NAME_EXPRESSION && i < scope->form->n_expressions; ++i)
        if (strcmp(scope->form->expressions[i].name, name) == 0)
            return weft_formula_by_group(scope->form->expressions[i].text) ||
                   weft_has_word(scope->form->expressions[i].text, "field");
    return info.kind != WEFT_NAME_EXPRESSION && info.over && strcmp(info.over, "cells") == 0;
}

/* The same for a text in such names. */
static bool is_sided_text(const derive_scope *scope, const char *text) {
    char name[128];
    while (*text) {
        size_t n = starts_name(*text) ? 1 : 0;
        while (n > 0 && continues_name(text[n]))
            ++n;
        snprintf(name, sizeof name, "%.*s", (int)n, text);
        if (n > 0 && is_sided_name(scope, name))
            return true;
        text += n > 0 ? n : 1;
    }
    return false;
}

/* The text for a name of the form at a point; false: the name itself. */
static bool form_name(rewriter *r, const char *name, char *out, size_t size) {
    const weft_derive_problem *problem = r->place->scope->problem;
    weft_name_info info;
    for (int i = 0; i < problem->n_aliases; ++i)
        if (strcmp(problem->aliases[i].name, name) == 0) {
            snprintf(out, size, "(%s)", problem->aliases[i].text);
            r->is_sided |= is_sided_text(r->place->scope, problem->aliases[i].text);
            return true;
        }
    r->is_sided |= is_sided_name(r->place->scope, name);
    if (derive_scope_function(r->place->scope, name) >= 0) {
        snprintf(out, size, "derived_n_%.127s_%d", name, r->point);
        r->varies = true;
        return true;
    }
    if (!derive_scope_find(r->place->scope, name, &info))
        return false;
    if (info.kind == WEFT_NAME_EXPRESSION)
        snprintf(out, size,
                 problem->in_time ? "%.127s(derived_x_%d, derived_t)" : "%.127s(derived_x_%d)",
                 name, r->point);
    else if (derive_scope_is_input(r->place->scope, &info, "nodes"))
        snprintf(out, size, "derived_n_%.127s_%d", name, r->point);
    else
        return false;
    r->varies = true;
    return true;
}

/* x, y, z; solution, normal, t; fields; names of the form. */
static weft_status rewrite_name(rewriter *r, const char *name, weft_error *error) {
    const derive_scope *scope = r->place->scope;
    const size_t n = strlen(name);
    const derive_quantity *field = find_field(r->place, name);
    char text[300] = "";
    const char *axis = n == 1 ? strchr("xyz", *name) : NULL;
    const bool is_solution = strcmp(name, solution_of(r->place)) == 0;
    r->varies |= axis || is_solution || (field && field->varies);
    r->is_sided |= (field && field->is_sided) || strcmp(name, "normal") == 0 ||
                   (is_solution && scope->tabulated && derive_tabulated_jumps(scope->tabulated, 0));
    if (axis && *name - 'x' < scope->dimension)
        snprintf(text, sizeof text, "derived_x_%d[%d]", r->point, *name - 'x');
    else if (axis)
        return refuse(r, r->at, WEFT_ERROR_TYPE, "leave z out: the mesh is in the plane", error,
                      "'%s' has no value here", name);
    else if (is_solution)
        snprintf(text, sizeof text, "derived_u_%d", r->point);
    else if (strcmp(name, "t") == 0 && scope->problem->in_time)
        snprintf(text, sizeof text, "derived_t");
    else if (strcmp(name, "normal") == 0 && r->place->elements == DERIVE_FACETS)
        snprintf(text, sizeof text, "derived_normal");
    else if (strcmp(name, "normal") == 0)
        return refuse(r, r->at, WEFT_ERROR_TYPE,
                      "give the quantity a group of facets: NAME@GROUP = ...", error,
                      "'%s' has a value on facets only", name);
    else if (field)
        snprintf(text, sizeof text, "derived_at_%.200s_%d", name, field->varies ? r->point : 0);
    else if (!form_name(r, name, text, sizeof text)) {
        copy(r, n);
        return WEFT_OK;
    }
    put(r, text, n);
    return WEFT_OK;
}

static weft_status rewrite_word(rewriter *r, weft_error *error) {
    char name[128];
    size_t n = 0;
    while (continues_name(r->at[n]))
        ++n;
    if (n >= sizeof name) {
        copy(r, n);
        return WEFT_OK;
    }
    memcpy(name, r->at, n);
    name[n] = '\0';
    const char *next = r->at + n + blanks(r->at + n);
    if (*next == '(') {
        for (int i = 0; i < N_OPERATORS; ++i)
            if (strcmp(name, operators[i]) == 0)
                return rewrite_operator(r, name, error);
        copy(r, n);
        return WEFT_OK;
    }
    if (r->depth > 0 && *next == '=' && next[1] != '=') {
        copy(r, n);
        return WEFT_OK;
    }
    return rewrite_name(r, name, error);
}

static weft_status check_character(const rewriter *r, weft_error *error) {
    const char c = *r->at, word[] = {c, '\0'};
    const bool is_comparison = c == '=' && r->at > r->quantity->text && strchr("<>", r->at[-1]);
    if (strchr(";#{}", c) || (c == '=' && r->depth == 0 && !is_comparison))
        return refuse(r, r->at, WEFT_ERROR_SYNTAX, "write one expression", error,
                      "unexpected '%s' in a formula", word);
    return WEFT_OK;
}

static weft_status rewrite(rewriter *r, weft_error *error) {
    weft_status status = WEFT_OK;
    r->start = r->out->length;
    while (*r->at) {
        if (starts_name(*r->at)) {
            TRY(rewrite_word(r, error));
            continue;
        }
        if (isdigit((unsigned char)*r->at) || *r->at == '.') {
            copy(r, number_length(r->at));
            continue;
        }
        TRY(check_character(r, error));
        r->depth += *r->at == '(' || *r->at == '[' ? 1 : *r->at == ')' || *r->at == ']' ? -1 : 0;
        copy(r, 1);
    }
    if (r->out->failed)
        TRY(weft_out_of_memory(error, NULL));
done:
    return status;
}

weft_status derive_formula_write(const derive_place *place, const weft_derived_quantity *quantity,
                                 int point, weft_text *out, weft_error *error) {
    rewriter r = {.place = place,
                  .quantity = quantity,
                  .point = point,
                  .at = quantity->text,
                  .out = out,
                  .column = -1};
    return rewrite(&r, error);
}

void derive_formula_inspect(const derive_place *place, derive_quantity *quantity) {
    weft_text text = {0};
    rewriter r = {.place = place,
                  .quantity = &quantity->given,
                  .at = quantity->given.text,
                  .out = &text,
                  .column = -1};
    const bool is_rewritten = rewrite(&r, NULL) == WEFT_OK;
    weft_text_free(&text);
    quantity->varies = !is_rewritten || r.varies;
    quantity->is_sided = r.is_sided;
}

/* ---- errors in rewritten formulas ------------------------------------------------------------ */

/* The user's text for a word of the script that begins with derived_. */
static void original_name(const derive_place *place, const char *word, size_t n, char *out,
                          size_t size) {
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(n < 255 ? n : 255), word + strlen("derived_"));
    name[n - strlen("derived_") < 255 ? n - strlen("derived_") : 255] = '\0';
    const char *solution = solution_of(place);
    char *number = strrchr(name, '_');
    if (strncmp(name, "g_", 2) == 0) {
        snprintf(out, size, "grad(%s)", name + 2);
        return;
    }
    const bool is_point = number && number[1] && !number[1 + strspn(number + 1, "0123456789")];
    if (strcmp(name, "grad") == 0 || strcmp(name, "strain") == 0 || strcmp(name, "stress") == 0) {
        snprintf(out, size, "%s(%s)", name, solution);
        return;
    }
    if (is_point)
        *number = '\0';
    if (is_point && strcmp(name, "u") == 0)
        snprintf(out, size, "%s", solution);
    else if (strncmp(name, "at_", 3) == 0)
        snprintf(out, size, "%s", name + 3);
    else
        snprintf(out, size, "%s", strncmp(name, "n_", 2) == 0 ? name + 2 : name);
}

/* Replace the names of the script in a message. */
static void restore_names(const derive_place *place, char *message, size_t size) {
    weft_text made = {0};
    for (const char *at = message; *at;) {
        if (strncmp(at, "derived_", 8) != 0 || !starts_name(at[8])) {
            weft_text_add(&made, "%c", *at++);
            continue;
        }
        size_t n = 0;
        char word[300];
        while (continues_name(at[n]))
            ++n;
        original_name(place, at, n, word, sizeof word);
        at += n;
        if (strcmp(word, "x") == 0 && at[0] == '[' && strchr("012", at[1]) && at[2] == ']') {
            snprintf(word, sizeof word, "%c", 'x' + (at[1] - '0'));
            at += 3;
        }
        weft_text_add(&made, "%s", word);
    }
    if (!made.failed && made.data)
        weft_copy_cut(message, size, made.data);
    weft_text_free(&made);
}

enum { NAMES_MAX = 200 };

/* What names a formula may use, for suggestions. */
static int known_names(const derive_place *place, const char *names[NAMES_MAX]) {
    static const char *const axes[] = {"x", "y", "z"};
    const derive_scope *scope = place->scope;
    weft_name_info info;
    int n = 0;
    names[n++] = solution_of(place);
    for (int k = 0; k < scope->dimension; ++k)
        names[n++] = axes[k];
    if (scope->problem->in_time)
        names[n++] = "t";
    if (place->elements == DERIVE_FACETS)
        names[n++] = "normal";
    for (int i = 0; i < scope->problem->n_aliases && n < NAMES_MAX; ++i)
        names[n++] = scope->problem->aliases[i].name;
    for (int i = 0; i < place->n_quantities && n < NAMES_MAX; ++i)
        if (place->quantities[i].given.kind == WEFT_DERIVE_FIELD)
            names[n++] = place->quantities[i].given.name;
    for (int i = 1; scope->tabulated && i < scope->tabulated->n_lists && n < NAMES_MAX; ++i)
        names[n++] = scope->tabulated->lists[i].name;
    for (int i = 0; i < scope->problem->n_constants && n < NAMES_MAX; ++i)
        names[n++] = scope->problem->constants[i].name;
    for (int i = 0; i < weft_compilation_names(scope->names) && n < NAMES_MAX; ++i) {
        weft_compilation_name(scope->names, i, &info);
        if (info.kind == WEFT_NAME_EXPRESSION || derive_scope_is_input(scope, &info, "nodes") ||
            derive_scope_is_input(scope, &info, "cells"))
            names[n++] = info.name;
    }
    return n;
}

/* "there is no function 'gard'", "'kapa' has no value here": a known name may be meant. */
static void suggest(const derive_place *place, const char *message, char *hint, size_t size) {
    static const char function[] = "there is no function '", value[] = "' has no value here";
    const char *names[NAMES_MAX], *quote = strchr(message, '\''), *near = NULL;
    const bool is_function = strncmp(message, function, sizeof function - 1) == 0;
    char name[128];
    if (!quote || !(is_function || (quote == message && strstr(message, value))))
        return;
    snprintf(name, sizeof name, "%s", quote + 1);
    name[strcspn(name, "'")] = '\0';
    const int n = is_function ? 0 : known_names(place, names);
    near = is_function ? weft_nearest_name(name, operators, N_OPERATORS)
                       : weft_nearest_name(name, names, (size_t)n);
    if (near)
        snprintf(hint, size, "did you mean '%s'?", near);
    if (near || is_function)
        return;
    size_t used = (size_t)snprintf(hint, size, "known here are");
    for (int i = 0; i < n && used + 100 < size; ++i)
        used += (size_t)snprintf(hint + used, size - used, "%s %.80s", i ? "," : "", names[i]);
}

/* The end of the script's statement is the end of the formula. */
static void restore_end(char *message, size_t size) {
    static const char script[] = "found ';'";
    char *at = strstr(message, script);
    if (at && (size_t)(at - message) + sizeof "found the end" < size && !at[sizeof script - 1])
        memcpy(at, "found the end", sizeof "found the end");
}

void derive_formula_correct(const derive_place *place, const weft_derived_quantity *quantity,
                            int point, int before, weft_error *error) {
    weft_text text = {0};
    if (!error || strcmp(error->file, quantity->origin) != 0)
        return;
    rewriter r = {.place = place,
                  .quantity = quantity,
                  .point = point,
                  .at = quantity->text,
                  .out = &text,
                  .column = error->column - 1 - before};
    char hint[sizeof error->hint];
    memcpy(hint, error->hint, sizeof hint);
    const int length = (int)strlen(quantity->text);
    r.original = length;
    if (rewrite(&r, NULL) == WEFT_OK) {
        restore_names(place, error->message, sizeof error->message);
        restore_names(place, hint, sizeof hint);
        suggest(place, error->message, hint, sizeof hint);
        restore_end(error->message, sizeof error->message);
        weft_error_location(error, quantity->origin, quantity->text, 1, r.original + 1);
        if (hint[0])
            weft_error_hint(error, "%s", hint);
    }
    weft_text_free(&text);
}
