/* Parses statements. */
#include "forms/read/private.h"

#include <stdio.h>
#include <string.h>

static const char *const reserved[] = {
    "and",  "as",     "assert", "async",  "await",  "break",   "class",    "continue", "def",
    "del",  "elif",   "else",   "except", "False",  "finally", "for",      "from",     "global",
    "if",   "import", "in",     "is",     "lambda", "None",    "nonlocal", "not",      "or",
    "pass", "raise",  "return", "True",   "try",    "while",   "with",     "yield"};

/* Statements of Python that form files do not have. */
static const char *const refused[] = {"class", "while", "with",   "try",    "yield",   "async",
                                      "await", "raise", "assert", "global", "nonlocal"};

/* Modules of programs: a file that imports one of them is not a form file. */
static const char *const programs[] = {
    "dolfinx",    "dolfin",         "fenics",      "firedrake", "numpy",
    "scipy",      "mpi4py",         "petsc4py",    "slepc4py",  "gmsh",
    "matplotlib", "pyvista",        "mshr",        "meshio",    "os",
    "sys",        "time",           "pathlib",     "argparse",  "sympy",
    "h5py",       "adios4dolfinx",  "dolfinx_mpc", "pyadjoint", "numba",
    "jax",        "dolfin_adjoint", "cffi",        "ctypes",    "subprocess",
    "ffcx"};

const ufl_token *ufl_token_now(const ufl_parser *parser) {
    return &parser->tokens[parser->at];
}

bool ufl_token_is(const ufl_token *token, const char *word) {
    return (token->kind == UFL_TOKEN_NAME || token->kind == UFL_TOKEN_SYMBOL) &&
           token->length == strlen(word) && memcmp(token->start, word, token->length) == 0;
}

bool ufl_at(const ufl_parser *parser, const char *word) {
    return ufl_token_is(ufl_token_now(parser), word);
}

bool ufl_accept(ufl_parser *parser, const char *word) {
    bool is = ufl_at(parser, word);
    parser->at += is;
    return is;
}

void *ufl_unexpected(ufl_parser *parser, const char *wanted) {
    static const char *const words[] = {[UFL_TOKEN_NEWLINE] = "the end of the line",
                                        [UFL_TOKEN_END] = "the end of the file",
                                        [UFL_TOKEN_INDENT] = "an indented line",
                                        [UFL_TOKEN_DEDENT] = "the end of the block"};
    const ufl_token *token = ufl_token_now(parser);
    parser->context->place = token->place;
    if (token->kind >= UFL_TOKEN_NEWLINE)
        return ufl_fail(parser->context, WEFT_ERROR_SYNTAX, "expected %s, found %s", wanted,
                        words[token->kind]);
    return ufl_fail(parser->context, WEFT_ERROR_SYNTAX, "expected %s, found '%.*s'", wanted,
                    token->length > 40 ? 40 : (int)token->length, token->start);
}

bool ufl_expect(ufl_parser *parser, const char *word, const char *where) {
    if (ufl_accept(parser, word))
        return true;
    char wanted[160];
    snprintf(wanted, sizeof wanted, "'%s' %s", word, where);
    ufl_unexpected(parser, wanted);
    return false;
}

bool ufl_is_reserved(const ufl_token *token) {
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; ++i)
        if (ufl_token_is(token, reserved[i]))
            return true;
    return false;
}

const char *ufl_expect_name(ufl_parser *parser, const char *what) {
    const ufl_token *token = ufl_token_now(parser);
    if (token->kind != UFL_TOKEN_NAME || ufl_is_reserved(token))
        return ufl_unexpected(parser, what);
    ++parser->at;
    return ufl_copy(parser->context, token->start, token->length);
}

bool ufl_enter(ufl_parser *parser) {
    if (++parser->nesting <= UFL_NESTING_MAX)
        return true;
    parser->context->place = ufl_token_now(parser)->place;
    ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED,
             "brackets, blocks and operators are nested more than %d deep", UFL_NESTING_MAX);
    return false;
}

ufl_syntax *ufl_syntax_make(ufl_parser *parser, ufl_syntax_kind kind, ufl_place place) {
    ufl_syntax *node = ufl_alloc(parser->context, 1, sizeof *node);
    if (node) {
        node->kind = kind;
        node->place = place;
    }
    return node;
}

bool ufl_syntax_add(ufl_parser *parser, ufl_syntax *node, ufl_syntax *item) {
    if (!item)
        return false;
    node->items =
        ufl_grow(parser->context, node->items, (size_t)node->n_items, sizeof *node->items);
    if (!node->items)
        return false;
    node->items[node->n_items++] = item;
    return true;
}

static ufl_syntax *parse_block(ufl_parser *parser, const char *where);

/* ---- import ---- */

static bool is_program(const char *module) {
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i) {
        size_t n = strlen(programs[i]);
        if (strncmp(module, programs[i], n) == 0 && (module[n] == '\0' || module[n] == '.'))
            return true;
    }
    return false;
}

/* The name of a module; one of a program is an error at once, for nothing else would make sense. */
static const char *parse_module(ufl_parser *parser) {
    ufl_place place = ufl_token_now(parser)->place;
    const char *name = ufl_expect_name(parser, "the name of a module");
    while (name && ufl_accept(parser, ".")) {
        const char *part = ufl_expect_name(parser, "the name of a module");
        name = part ? ufl_print(parser->context, "%s.%s", name, part) : NULL;
    }
    if (name && is_program(name)) {
        parser->context->place = place;
        ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED,
                 "this is a program, not a form file: line %d imports %s", place.line, name);
        return ufl_hint(parser->context, "give the forms alone, in a file of their own");
    }
    return name;
}

static ufl_syntax *parse_import(ufl_parser *parser, ufl_place place) {
    ufl_syntax *block = ufl_syntax_make(parser, UFL_BLOCK, place);
    do {
        ufl_syntax *node = ufl_syntax_make(parser, UFL_IMPORT, ufl_token_now(parser)->place);
        if (!block || !node || !ufl_syntax_add(parser, block, node))
            return NULL;
        node->text = parse_module(parser);
        if (!node->text)
            return NULL;
        if (ufl_accept(parser, "as")) {
            node->name = ufl_expect_name(parser, "a name after 'as'");
            if (!node->name)
                return NULL;
        }
    } while (ufl_accept(parser, ","));
    return block;
}

static ufl_syntax *parse_from(ufl_parser *parser, ufl_place place) {
    ufl_syntax *node = ufl_syntax_make(parser, UFL_FROM, place);
    if (!node)
        return NULL;
    node->text = parse_module(parser);
    if (!node->text || !ufl_expect(parser, "import", "after the module"))
        return NULL;
    if (ufl_accept(parser, "*"))
        return node;
    bool bracket = ufl_accept(parser, "(");
    do {
        if (bracket && ufl_at(parser, ")"))
            break;
        ufl_syntax *item = ufl_syntax_make(parser, UFL_NAME, ufl_token_now(parser)->place);
        if (!item || !ufl_syntax_add(parser, node, item))
            return NULL;
        item->text = item->name = ufl_expect_name(parser, "a name to import");
        if (item->text && ufl_accept(parser, "as"))
            item->name = ufl_expect_name(parser, "a name after 'as'");
        if (!item->text || !item->name)
            return NULL;
    } while (ufl_accept(parser, ","));
    return !bracket || ufl_expect(parser, ")", "after the imported names") ? node : NULL;
}

/* ---- compound statements ---- */

bool ufl_parse_parameters(ufl_parser *parser, ufl_syntax *node, const char *end) {
    while (!ufl_at(parser, end)) {
        ufl_place place = ufl_token_now(parser)->place;
        ufl_syntax *parameter = ufl_syntax_make(parser, UFL_PARAMETER, place);
        if (!parameter || !ufl_syntax_add(parser, node, parameter))
            return false;
        if (ufl_at(parser, "*") || ufl_at(parser, "**") || ufl_at(parser, "/")) {
            parser->context->place = place;
            ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED,
                     "parameters with '*' are not supported in form files");
            return false;
        }
        parameter->text = ufl_expect_name(parser, "the name of a parameter");
        if (!parameter->text)
            return false;
        if (strcmp(end, ")") == 0 && ufl_accept(parser, ":") && !ufl_parse_expression(parser))
            return false; /* an annotation has no effect */
        if (ufl_accept(parser, "=") &&
            !ufl_syntax_add(parser, parameter, ufl_parse_expression(parser)))
            return false;
        if (!ufl_accept(parser, ",") && !ufl_at(parser, end)) {
            ufl_unexpected(parser, "',' or the end of the parameters");
            return false;
        }
    }
    return true;
}

static ufl_syntax *parse_def(ufl_parser *parser, ufl_place place) {
    ufl_syntax *node = ufl_syntax_make(parser, UFL_DEF, place);
    ufl_syntax *list = ufl_syntax_make(parser, UFL_TUPLE, place);
    if (!node || !list)
        return NULL;
    node->text = ufl_expect_name(parser, "the name of a function");
    if (!node->text || !ufl_expect(parser, "(", "after the name of the function") ||
        !ufl_parse_parameters(parser, list, ")"))
        return NULL;
    ++parser->at;
    if (ufl_accept(parser, "->") && !ufl_parse_expression(parser))
        return NULL;
    int loops = parser->loops;
    parser->loops = 0;
    ++parser->functions;
    bool made = ufl_syntax_add(parser, node, parse_block(parser, "after the parameters"));
    --parser->functions;
    parser->loops = loops;
    for (int i = 0; made && i < list->n_items; ++i)
        made = ufl_syntax_add(parser, node, list->items[i]);
    return made ? node : NULL;
}

static ufl_syntax *parse_for(ufl_parser *parser, ufl_place place) {
    ufl_syntax *node = ufl_syntax_make(parser, UFL_FOR, place);
    if (!node || !ufl_syntax_add(parser, node, ufl_parse_targets(parser)) ||
        !ufl_expect(parser, "in", "after the names of the loop") ||
        !ufl_syntax_add(parser, node, ufl_parse_expression_list(parser)))
        return NULL;
    ++parser->loops;
    bool made = ufl_syntax_add(parser, node, parse_block(parser, "after the sequence of the loop"));
    --parser->loops;
    return made ? node : NULL;
}

static ufl_syntax *parse_if(ufl_parser *parser, ufl_place place) {
    ufl_syntax *node = ufl_syntax_make(parser, UFL_IF, place);
    if (!node || !ufl_syntax_add(parser, node, ufl_parse_expression(parser)) ||
        !ufl_syntax_add(parser, node, parse_block(parser, "after the condition")))
        return NULL;
    ufl_place next = ufl_token_now(parser)->place;
    if (ufl_accept(parser, "elif")) {
        if (!ufl_enter(parser))
            return NULL;
        bool made = ufl_syntax_add(parser, node, parse_if(parser, next));
        --parser->nesting;
        return made ? node : NULL;
    }
    if (ufl_accept(parser, "else"))
        return ufl_syntax_add(parser, node, parse_block(parser, "after else")) ? node : NULL;
    return node;
}

/* ---- simple statements ---- */

static bool is_target(const ufl_syntax *node) {
    if (node->kind == UFL_TUPLE || node->kind == UFL_LIST) {
        for (int i = 0; i < node->n_items; ++i)
            if (!is_target(node->items[i]))
                return false;
        return node->n_items > 0;
    }
    return node->kind == UFL_NAME || node->kind == UFL_SUBSCRIPT;
}

static bool check_target(ufl_parser *parser, const ufl_syntax *node) {
    if (is_target(node))
        return true;
    parser->context->place = node->place;
    if (node->kind == UFL_ATTRIBUTE)
        ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED,
                 "assignment to an attribute is not supported in form files");
    else
        ufl_fail(parser->context, WEFT_ERROR_SYNTAX, "expected a name to assign to");
    return false;
}

static ufl_syntax *parse_augmented(ufl_parser *parser, ufl_place place, ufl_syntax *target,
                                   const char *symbol) {
    ufl_syntax *node = ufl_syntax_make(parser, UFL_AUGMENT, place);
    if (!node || !check_target(parser, target) || !ufl_syntax_add(parser, node, target) ||
        !ufl_syntax_add(parser, node, ufl_parse_expression_list(parser)))
        return NULL;
    node->text = symbol;
    return node;
}

static ufl_syntax *parse_assignment(ufl_parser *parser, ufl_place place) {
    static const char *const augmented[] = {"+=", "-=", "*=", "/=", "//=", "%=", "**="};
    static const char *const symbols[] = {"+", "-", "*", "/", "//", "%", "**"};
    ufl_syntax *first = ufl_parse_expression_list(parser);
    if (!first)
        return NULL;
    for (size_t i = 0; i < sizeof augmented / sizeof augmented[0]; ++i)
        if (ufl_accept(parser, augmented[i]))
            return parse_augmented(parser, place, first, symbols[i]);
    if (ufl_accept(parser, ":")) { /* an annotation has no effect */
        if (!ufl_parse_expression(parser))
            return NULL;
        if (!ufl_at(parser, "="))
            return ufl_syntax_make(parser, UFL_PASS, place);
    }
    bool assigns = ufl_at(parser, "=");
    ufl_syntax *node = ufl_syntax_make(parser, assigns ? UFL_ASSIGN : UFL_EXPRESSION, place);
    if (!node || !ufl_syntax_add(parser, node, first))
        return NULL;
    while (ufl_accept(parser, "=")) {
        if (!check_target(parser, node->items[node->n_items - 1]) ||
            !ufl_syntax_add(parser, node, ufl_parse_expression_list(parser)))
            return NULL;
    }
    if (assigns) { /* the value first */
        ufl_syntax *value = node->items[node->n_items - 1];
        memmove(node->items + 1, node->items, (size_t)(node->n_items - 1) * sizeof *node->items);
        node->items[0] = value;
    }
    return node;
}

static void *outside(ufl_parser *parser, ufl_place place, const char *word, const char *where) {
    parser->context->place = place;
    return ufl_fail(parser->context, WEFT_ERROR_SYNTAX, "'%s' outside of a %s", word, where);
}

static ufl_syntax *parse_return(ufl_parser *parser, ufl_place place) {
    ufl_syntax *node = ufl_syntax_make(parser, UFL_RETURN, place);
    if (parser->functions == 0)
        return outside(parser, place, "return", "function");
    bool empty = ufl_token_now(parser)->kind == UFL_TOKEN_NEWLINE || ufl_at(parser, ";");
    if (!node || (!empty && !ufl_syntax_add(parser, node, ufl_parse_expression_list(parser))))
        return NULL;
    return node;
}

static ufl_syntax *parse_del(ufl_parser *parser, ufl_place place) {
    ufl_syntax *node = ufl_syntax_make(parser, UFL_DEL, place);
    ufl_syntax *targets = ufl_parse_expression_list(parser);
    if (!node || !targets || !check_target(parser, targets) ||
        !ufl_syntax_add(parser, node, targets))
        return NULL;
    return node;
}

static ufl_syntax *parse_simple(ufl_parser *parser) {
    ufl_place place = ufl_token_now(parser)->place;
    if (ufl_accept(parser, "import"))
        return parse_import(parser, place);
    if (ufl_accept(parser, "from"))
        return parse_from(parser, place);
    if (ufl_accept(parser, "return"))
        return parse_return(parser, place);
    if (ufl_accept(parser, "del"))
        return parse_del(parser, place);
    if (ufl_accept(parser, "pass"))
        return ufl_syntax_make(parser, UFL_PASS, place);
    bool is_break = ufl_at(parser, "break");
    if (is_break || ufl_at(parser, "continue")) {
        if (parser->loops == 0)
            return outside(parser, place, is_break ? "break" : "continue", "loop");
        ++parser->at;
        return ufl_syntax_make(parser, is_break ? UFL_BREAK : UFL_CONTINUE, place);
    }
    return parse_assignment(parser, place);
}

static bool refuse(ufl_parser *parser, const char *what) {
    parser->context->place = ufl_token_now(parser)->place;
    ufl_fail(parser->context, WEFT_ERROR_UNSUPPORTED, "%s are not supported in form files", what);
    ufl_hint(parser->context, "a form file has assignments, def, for, if and import");
    return false;
}

/* Append the statement or statements of one line, or one compound statement. */
static bool parse_statement(ufl_parser *parser, ufl_syntax *block) {
    ufl_place place = ufl_token_now(parser)->place;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i)
        if (ufl_at(parser, refused[i])) {
            char what[64];
            snprintf(what, sizeof what, "'%s' statements", refused[i]);
            return refuse(parser, what);
        }
    if (ufl_at(parser, "@"))
        return refuse(parser, "decorators");
    if (ufl_accept(parser, "def"))
        return ufl_syntax_add(parser, block, parse_def(parser, place));
    if (ufl_accept(parser, "for"))
        return ufl_syntax_add(parser, block, parse_for(parser, place));
    if (ufl_accept(parser, "if"))
        return ufl_syntax_add(parser, block, parse_if(parser, place));
    do {
        if (ufl_token_now(parser)->kind == UFL_TOKEN_NEWLINE)
            break;
        if (!ufl_syntax_add(parser, block, parse_simple(parser)))
            return false;
    } while (ufl_accept(parser, ";"));
    if (ufl_token_now(parser)->kind != UFL_TOKEN_NEWLINE) {
        ufl_unexpected(parser, "an operator or the end of the line");
        return false;
    }
    ++parser->at;
    return true;
}

/* block: ':' simple statements | ':' NEWLINE INDENT statement+ DEDENT */
static ufl_syntax *parse_block(ufl_parser *parser, const char *where) {
    ufl_syntax *block = ufl_syntax_make(parser, UFL_BLOCK, ufl_token_now(parser)->place);
    if (!block || !ufl_expect(parser, ":", where) || !ufl_enter(parser))
        return NULL;
    if (ufl_token_now(parser)->kind != UFL_TOKEN_NEWLINE) {
        if (!parse_statement(parser, block))
            return NULL;
    } else {
        ++parser->at;
        if (ufl_token_now(parser)->kind != UFL_TOKEN_INDENT)
            return ufl_unexpected(parser, "an indented block");
        ++parser->at;
        while (ufl_token_now(parser)->kind != UFL_TOKEN_DEDENT)
            if (!parse_statement(parser, block))
                return NULL;
        ++parser->at;
    }
    --parser->nesting;
    return block;
}

const ufl_syntax *ufl_read(ufl_context *context, const char *text, size_t length) {
    ufl_parser parser = {.context = context};
    if (length > UFL_TEXT_MAX) {
        context->place = (ufl_place){0, 0};
        return ufl_fail(context, WEFT_ERROR_INPUT, "%s has %zu bytes: form files have at most %d",
                        context->file, length, UFL_TEXT_MAX);
    }
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    parser.tokens = ufl_tokenize(context, text, length, (ufl_place){1, 1}, 0);
    ufl_syntax *block =
        parser.tokens ? ufl_syntax_make(&parser, UFL_BLOCK, (ufl_place){1, 1}) : NULL;
    while (block && ufl_token_now(&parser)->kind != UFL_TOKEN_END) {
        if (ufl_token_now(&parser)->kind == UFL_TOKEN_INDENT)
            return ufl_unexpected(&parser, "a statement at the margin");
        if (!parse_statement(&parser, block))
            return NULL;
    }
    return block;
}

const ufl_syntax *ufl_read_expression(ufl_context *context, const char *text, size_t length,
                                      ufl_place place) {
    ufl_parser parser = {.context = context};
    parser.tokens = ufl_tokenize(context, text, length, place, 1);
    ufl_syntax *node = parser.tokens ? ufl_parse_expression_list(&parser) : NULL;
    if (node && ufl_token_now(&parser)->kind != UFL_TOKEN_END)
        return ufl_unexpected(&parser, "the end of the expression");
    return node;
}
