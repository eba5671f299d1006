/** Shared by the files of this folder: the parser, the names declared so far, limits.
 *
 *      tokens.c           text to tokens
 *      script.c           fragments, options, integer expressions
 *      bodies.c           formulas of expressions: an option's text, formulas by group
 *      pieces.c           the formulas of a text
 *      references.c       files in formulas: tables and fields
 *      table.c            tables from CSV files
 *      statements.c       statements
 *      loops.c            loops and operators
 *      directives.c       split, fuse, together, using variant
 *      procedures.c       procedures, their calls, included files
 *      operators.c        inlines operators whose script is known
 *      expressions.c      expressions, conditions
 *      names.c            names, reserved words
 *      check.c            checks of a complete script
 *      print.c            script to text
 *      outline.c          names of a script that is not compiled */
#pragma once

#include "fusion/base/array.h"
#include "fusion/script/script.h"

enum {
    WEFT_NAME_MAX = 63,     /* characters of a name */
    WEFT_NODES_MAX = 65536, /* nodes of all expressions of one script */
    WEFT_NESTING_MAX = 200, /* nested parentheses, signs and powers */
    WEFT_LOOPS_MAX = 64,    /* loops of one script */
    WEFT_INCLUDES_MAX = 64, /* files that one script includes */
    WEFT_KEYS_MAX = 12,     /* parameters in one call */
    WEFT_DEPTH_MAX = 8,     /* nested loops */
    WEFT_HEIGHT_MAX = 2000  /* of a syntax tree: a + b + c + ... has one level per operator */
};

typedef enum script_name_kind {
    SCRIPT_INDEX,
    SCRIPT_CONNECTIVITY,
    SCRIPT_INPUT,
    SCRIPT_PARAMETER,
    SCRIPT_EXPRESSION,
    SCRIPT_OPERATOR,
    SCRIPT_PROCEDURE,
    SCRIPT_ASSIGNED,
    SCRIPT_ACCUMULATED
} script_name_kind;

typedef struct script_name {
    const char *name;
    script_name_kind kind;
    weft_location place; /* of the first occurrence */
    int loop;            /* loop in which it was assigned, or -1 */
} script_name;

typedef struct script_procedure script_procedure;

typedef struct script_parser {
    weft_arena *arena;
    weft_script *script;
    script_name *names;
    int n_names;
    const weft_token *tokens; /* of the current text */
    int position;
    int nesting, n_nodes;
    int fuse, together; /* current fuse block and together block, from 1, or 0 */
    int loop, depth;    /* current loop, or -1, and its depth (1: outermost) */
    script_procedure *procedures;
    int n_calls, call_depth; /* of procedures: so far; that are being expanded */
    int sources_most;        /* texts that script->sources has room for */
    weft_error *error;
} script_parser;

/** fusion/script/procedures.c: does a definition of a procedure start here, or the inclusion of a file? Read it. */
bool weft_script_at_procedure_word(const script_parser *parser);
weft_status weft_script_parse_procedure_word(script_parser *parser);
/** The procedure of this name; NULL: there is none. */
script_procedure *weft_script_procedure(const script_parser *parser, const char *name);
/** Parse the statements of the procedure whose call starts here. */
weft_status weft_script_parse_call(script_parser *parser);
/** fusion/script/directives.c */
weft_status weft_script_parse_split(script_parser *parser);
weft_status weft_script_parse_fuse(script_parser *parser);
weft_status weft_script_parse_together(script_parser *parser);
/** Parse what follows 'using' at the end of a statement. */
weft_status weft_script_parse_using(script_parser *parser, weft_script_statement *statement);
/** " using variant 2", or nothing. */
void weft_script_print_using(const weft_script_statement *statement, weft_text *out);
/** Print the directives that end before a statement (or after the last); that start before one. */
void weft_script_print_directives_end(const weft_script *script, int statement, weft_text *out);
void weft_script_print_directives_start(const weft_script *script, int statement, weft_text *out);

weft_status weft_script_no_memory(weft_error *error);
/** Read texts into parser->script, which must be empty. */
weft_status weft_script_read_texts(script_parser *parser, const weft_fragment *fragments, int n);

/** Copy a text to `source`, and start to parse it. */
weft_status weft_script_start_text(script_parser *parser, weft_source *source, const char *name,
                                   const char *text);
/** Replace the formulas of an expression by an option's text. */
weft_status weft_script_read_body(script_parser *parser, const weft_expression *bound,
                                  weft_script_expression *expression);
/** Add the formula of a group; NULL: of all others.
 *  Errors  WEFT_ERROR_TYPE: the group has one */
weft_status weft_script_add_body(script_parser *parser, weft_script_expression *expression,
                                 const char *group, weft_node *body);
/** A file in a formula: its number is in the text that is parsed. */
typedef struct script_reference {
    const char *path, *field; /* field NULL: the default */
    bool is_field, clamped;
    int component;
    const struct weft_script_table *table;
    const char *input; /* of a field, once it is declared */
    int n;             /* its components; 0: a number */
} script_reference;
/** Copy a formula with a number in place of each file name, and read the tables
 *  (fusion/script/references.c). */
weft_status weft_script_mask_references(script_parser *parser, weft_script_expression *expression,
                                        const weft_source *source, char **out);
/** Is this call a reference, with its number? */
bool weft_script_is_reference(const weft_script_expression *expression, const weft_node *node);
/** Set the tables of a formula, and replace its fields by arithmetic on inputs. */
weft_status weft_script_write_references(script_parser *parser,
                                         const weft_script_expression *expression,
                                         weft_node **node);
/** Has each element of an index set one point, at which the expression is evaluated? Else its elements
 *  are cells with any points. */
bool weft_script_at_points(const weft_script *script, const weft_script_expression *expression);
/** Declare the input NAME__suffix over the index set of the expression; without one over the elements of
 *  the first connectivity, which are cells; else over the first index set.
 *  is_affine  over cells with a coefficient for 1 and for each coordinate; their number goes into *n,
 *             0 for a plain real */
weft_status weft_script_data_input(script_parser *parser, const weft_script_expression *expression,
                                   const char *suffix, bool is_affine, weft_location place,
                                   const char **name, int *n);
/** Add what the last input, which is an expression's, contains.
 *  info  without what the expression says */
weft_status weft_script_add_data(script_parser *parser, const weft_script_expression *expression,
                                 const weft_data_info *info);
/** Make the bodies of expressions with formulas by group: numbers become an input, formulas are
 *  selected by another. */
weft_status weft_script_write_bodies(script_parser *parser);

/** Append one element to an array of the script; uses `status` and the label `done`. */
#define SCRIPT_APPEND(parser, array, n, element)                                                   \
    do {                                                                                           \
        void *grown = weft_array_grow((parser)->arena, (array), (n), sizeof *(array));             \
        if (!grown) {                                                                              \
            status = weft_script_no_memory((parser)->error);                                       \
            goto done;                                                                             \
        }                                                                                          \
        (array) = grown;                                                                           \
        (array)[(n)++] = (element);                                                                \
    } while (0)

/* ---- reading tokens (fusion/script/expressions.c) ---- */

const weft_token *weft_script_token(const script_parser *parser);
bool weft_script_at(const script_parser *parser, const char *symbol_or_word);
/** Step over the symbol or word if it is there. */
bool weft_script_accept(script_parser *parser, const char *symbol_or_word);
/** Step over the symbol or word, or fail with "expected ';' after the statement, found 'return'".
 *  what  "after the statement" */
weft_status weft_script_expect(script_parser *parser, const char *symbol_or_word, const char *what);
/** Set a SYNTAX error "expected WANTED, found TOKEN" at the current token. */
weft_status weft_script_unexpected(const script_parser *parser, const char *wanted);
/** A name that is not a reserved word; what: for the message, "an index set". */
weft_status weft_script_expect_name(script_parser *parser, const char *what,
                                    const weft_token **out);
/** Parse an expression: `sum` of the grammar. */
weft_status weft_script_parse_expression(script_parser *parser, weft_node **out);
/** Parse a condition: comparisons joined by `and`. */
weft_status weft_script_parse_condition(script_parser *parser, weft_node **out);
/** Is this a conditional of another language, such as `if`? Its first argument is parsed as a
 *  condition, so that the error is about the name. */
bool weft_script_is_conditional(const char *name);
/** Is the current token < > <= or >= ? */
bool weft_script_at_comparison(const script_parser *parser);
/** Make a node without children. */
weft_status weft_script_node_make(script_parser *parser, weft_node_kind kind, weft_location place,
                                  weft_node **out);
/** Add a child to a node.
 *  Errors  WEFT_ERROR_UNSUPPORTED: the tree is too high */
weft_status weft_script_node_add(script_parser *parser, weft_node *node, weft_node *child);

/* ---- statements (fusion/script/statements.c) ---- */

/** All statements up to the end of the text. */
weft_status weft_script_parse_statements(script_parser *parser);
/** One statement. */
weft_status weft_script_parse_statement(script_parser *parser);

/* ---- loops and operators (fusion/script/loops.c, fusion/script/operators.c) ---- */

/** Parse what follows 'repeat' and 'operator'. */
weft_status weft_script_parse_repeat(script_parser *parser);
weft_status weft_script_parse_operator(script_parser *parser);
/** Check that each call of apply names an operator and has one list as argument. */
weft_status weft_script_check_applies(const script_parser *parser);
/** Make each apply a statement of its own, NAME = apply(A, LIST), and inline the operators that
 *  have a script in the options. */
weft_status weft_script_write_operators(script_parser *parser, const weft_compile_options *options);

/* ---- names (fusion/script/names.c) ---- */

const char *weft_script_kind_words(script_name_kind kind); /* "an index set" */
bool weft_script_reserved(const char *name);
script_name *weft_script_find(const script_parser *parser, const char *name);
/** Declare a new name.  Errors  WEFT_ERROR_TYPE: it exists already */
weft_status weft_script_declare(script_parser *parser, const weft_token *token,
                                script_name_kind kind);
/** Check that a name exists and has this kind.
 *  Errors  WEFT_ERROR_TYPE, with the nearest name of that kind */
weft_status weft_script_require(const script_parser *parser, const weft_token *token,
                                script_name_kind kind);
/** Hint "did you mean 'x'?" if one of n names is near, else "LEAD a, b, c" if lead is not NULL. */
void weft_script_suggest(weft_error *error, const char *name, const char *const *names, size_t n,
                         const char *lead);
/** The same for the names of a kind; SCRIPT_ASSIGNED: also accumulated ones. Returns false if the
 *  script has none. */
bool weft_script_suggest_kind(const script_parser *parser, const char *name, script_name_kind kind,
                              const char *lead);
/** Fail for an option that names what the script does not have.
 *  kind  a parameter, an expression or an operator */
weft_status weft_script_unknown_option(const script_parser *parser, const char *name,
                                       script_name_kind kind);
/** The words that start statements, for suggestions. */
const char *const *weft_script_statement_words(size_t *n);

/* ---- checks (fusion/script/check.c) ---- */

/** Check that the body of an expression has only its arguments, pi, numbers and intrinsics. */
weft_status weft_script_check_body(const weft_script_expression *expression, const weft_node *body,
                                   weft_error *error);
/** Check sizes, widths, parameters of functions, returned names. */
weft_status weft_script_check(const script_parser *parser);
