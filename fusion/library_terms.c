#include "library_internal.h"

#include <string.h>

const weft_intrinsic weft_intrinsics[] = {
    {"abs", "weft_abs", 1, false},   {"cos", "weft_cos", 1, false},       {"exp", "weft_exp", 1, false},
    {"log", "weft_log", 1, false},   {"max", "weft_max", 2, false},       {"min", "weft_min", 2, false},
    {"pow", "weft_pow", 2, false},   {"select", "weft_select", 3, true},  {"sin", "weft_sin", 1, false},
    {"sqrt", "weft_sqrt", 1, false}, {"tan", "weft_tan", 1, false},       {"tanh", "weft_tanh", 1, false},
};
const int weft_intrinsics_count = (int)(sizeof weft_intrinsics / sizeof *weft_intrinsics);

weft_term *reader_term_make(kernel_reader *reader, weft_term_kind kind, weft_term_type type)
{
    weft_term *term = weft_arena_alloc(reader->arena, 1, sizeof *term);
    if (term) {
        term->kind = kind;
        term->type = type;
        term->line = reader->token->line;
        term->column = reader->token->column;
    }
    return term;
}

static weft_status type_error(kernel_reader *reader, const weft_term *term, const char *text)
{
    return reader_error(reader, WEFT_ERROR_TYPE, term->line, term->column, "%s", text);
}

weft_status reader_check_real(kernel_reader *reader, const weft_term *term, const char *what)
{
    if (term->type == TYPE_CONDITION || term->type == TYPE_MASK)
        return reader_error(reader, WEFT_ERROR_TYPE, term->line, term->column,
                            "%s is a comparison, and should be a value: use select(condition, a, b)", what);
    if (term->type == TYPE_INT && weft_term_divides(term)) {
        weft_status status = type_error(reader, term, "this divides integers, which cuts off the fraction");
        weft_error_hint(reader->error, "write 1.0 / (d + 1) for a real quotient, or put the integer quotient "
                                       "into an int first");
        return status;
    }
    return WEFT_OK;
}

/* subscripts := open term { "," term } ")"   or for arrays  "[" term "]" { "[" term "]" } */
static weft_status read_subscripts(kernel_reader *reader, weft_term *term, const char *name, int rank)
{
    weft_status status = WEFT_OK;
    bool brackets = reader_is(reader, "[");
    const kernel_token *at = reader->token;
    if (reader_accept(reader, "(") || reader_accept(reader, "[")) {
        for (;;) {
            weft_term *child = NULL;
            TRY(reader_integer_term(reader, "a subscript", &child));
            if (term->n_children == WEFT_RANK_MAX) {
                status = type_error(reader, child, "more than four subscripts");
                goto done;
            }
            term->children[term->n_children++] = child;
            if (brackets) {
                TRY(reader_expect(reader, "]", "after the subscript"));
                if (!reader_accept(reader, "["))
                    break;
            } else if (!reader_accept(reader, ",")) {
                TRY(reader_expect(reader, ")", "after the subscripts"));
                break;
            }
        }
    }
    if (term->n_children != rank) {
        status = reader_error(reader, WEFT_ERROR_TYPE, at->line, at->column,
                              "'%s' has %d subscript%s, %d %s given", name, rank, rank == 1 ? "" : "s",
                              term->n_children, term->n_children == 1 ? "is" : "are");
        if (rank == 0)
            weft_error_hint(reader->error, "a scalar is used by its plain name");
    }
done:
    return status;
}

/* Locals, accessors and tables; NULL where the name is none of them. */
static weft_term *find_data(kernel_reader *reader, const char *name, int *rank)
{
    const weft_function *function = reader->function;
    weft_term term = {.kind = TERM_SIZE};
    for (int i = reader->n_scope - 1; i >= 0 && term.kind == TERM_SIZE; --i) {
        const weft_local *local = &reader->locals[reader->scope[i]];
        if (strcmp(local->name, name) == 0) {
            term = (weft_term){.kind = TERM_LOCAL, .type = local->real ? TYPE_REAL : TYPE_INT};
            term.index = reader->scope[i];
            *rank = local->rank;
        }
    }
    for (int i = 0; i < function->n_arguments; ++i)
        if (strcmp(function->arguments[i].name, name) == 0) {
            term = (weft_term){.kind = TERM_ARGUMENT, .type = TYPE_REAL, .index = i};
            *rank = function->arguments[i].rank;
        }
    for (int i = 0; i < function->n_tables; ++i)
        if (strcmp(function->tables[i].formal.name, name) == 0) {
            term = (weft_term){.kind = TERM_TABLE, .type = TYPE_REAL, .index = i};
            *rank = function->tables[i].formal.rank;
        }
    if (strcmp(function->result.name, name) == 0) {
        term = (weft_term){.kind = TERM_RESULT, .type = TYPE_REAL};
        *rank = function->result.rank;
    }
    if (term.kind == TERM_SIZE)
        return NULL;
    weft_term *out = reader_term_make(reader, term.kind, term.type);
    if (out)
        out->index = term.index;
    return out;
}

static bool is_data(kernel_reader *reader, const char *name)
{
    const weft_function *function = reader->function;
    bool found = strcmp(function->result.name, name) == 0;
    for (int i = 0; i < reader->n_scope; ++i)
        found = found || strcmp(reader->locals[reader->scope[i]].name, name) == 0;
    for (int i = 0; i < function->n_arguments; ++i)
        found = found || strcmp(function->arguments[i].name, name) == 0;
    for (int i = 0; i < function->n_tables; ++i)
        found = found || strcmp(function->tables[i].formal.name, name) == 0;
    return found;
}

static weft_status unknown_name(kernel_reader *reader)
{
    const weft_function *function = reader->function;
    const char *names[WEFT_NAMES_MAX + WEFT_LOCALS_MAX + WEFT_ARGUMENTS_MAX + WEFT_TABLES_MAX + 64];
    size_t n = 0;
    for (int i = 0; i < function->n_names; ++i)
        names[n++] = function->names[i].name;
    if (reader->mode == READ_BODY) {
        for (int i = 0; i < reader->n_scope; ++i)
            names[n++] = reader->locals[reader->scope[i]].name;
        for (int i = 0; i < function->n_arguments; ++i)
            names[n++] = function->arguments[i].name;
        for (int i = 0; i < function->n_tables; ++i)
            names[n++] = function->tables[i].formal.name;
        for (int i = 0; i < weft_intrinsics_count; ++i)
            names[n++] = weft_intrinsics[i].name;
        names[n++] = function->result.name;
    }
    const kernel_token *token = reader->token;
    const char *near = weft_nearest_name(token->text, names, n);
    weft_status status = reader_error(reader, WEFT_ERROR_TYPE, token->line, token->column, "'%s' is not known here",
                                      token->text);
    if (near)
        weft_error_hint(reader->error, "did you mean '%s'?", near);
    else if (reader->mode == READ_BODY)
        weft_error_hint(reader->error, "a body may use its locals, the arguments and result, sizes, parameters, "
                                       "tables, t and the intrinsics (sqrt, exp, select, ...)");
    else
        weft_error_hint(reader->error, "sizes come from the signature, from '//@ parameter' and '//@ table' lines "
                                       "above");
    return status;
}

/* intrinsic := name "(" term { "," term } ")" */
static weft_status read_intrinsic(kernel_reader *reader, int index, weft_term **out)
{
    weft_status status = WEFT_OK;
    const weft_intrinsic *intrinsic = &weft_intrinsics[index];
    weft_term *term = reader_term_make(reader, TERM_INTRINSIC, TYPE_REAL);
    if (!term)
        return reader_memory(reader);
    term->index = index;
    int given = 0;
    ++reader->token;
    TRY(reader_expect(reader, "(", "after the intrinsic's name"));
    do {
        weft_term *child = NULL;
        TRY(reader_term(reader, &child));
        if (++given > intrinsic->n_arguments)
            continue;
        if (intrinsic->mask && given == 1) {
            if (child->type != TYPE_MASK && child->type != TYPE_CONDITION) {
                status = type_error(reader, child, "select needs a comparison first: select(a < b, x, y)");
                goto done;
            }
        } else {
            TRY(reader_check_real(reader, child, "this argument"));
        }
        term->children[term->n_children++] = child;
    } while (reader_accept(reader, ","));
    if (given != intrinsic->n_arguments)
        status = reader_error(reader, WEFT_ERROR_TYPE, term->line, term->column, "%s takes %d argument%s, %d %s given",
                              intrinsic->name, intrinsic->n_arguments, intrinsic->n_arguments == 1 ? "" : "s", given,
                              given == 1 ? "is" : "are");
    else
        status = reader_expect(reader, ")", "after the arguments");
    *out = term;
done:
    return status;
}

/* A name in a term: data, size, t or intrinsic. */
static weft_status read_name(kernel_reader *reader, weft_term **out)
{
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    const char *name = reader->token->text;
    weft_term *term = NULL;
    int rank = 0, index;
    if (reader->mode >= READ_PATTERN && strcmp(name, "t") == 0) {
        term = reader_term_make(reader, TERM_THREAD, TYPE_INT);
    } else if (reader->mode == READ_BODY && is_data(reader, name)) {
        term = find_data(reader, name, &rank);
        if (!term)
            return reader_memory(reader);
        ++reader->token;
        *out = term;
        return read_subscripts(reader, term, name, rank);
    } else if ((index = weft_function_name_index(function, name)) >= 0) {
        term = reader_term_make(reader, TERM_SIZE, TYPE_INT);
        if (term)
            term->index = index;
    } else if (reader->mode == READ_SIGNATURE) {
        const char *fresh = NULL;
        term = reader_term_make(reader, TERM_SIZE, TYPE_INT);
        if (!term)
            return reader_memory(reader);
        TRY(reader_new_name(reader, "a size's name", &fresh));
        if (function->n_names == WEFT_NAMES_MAX)
            return type_error(reader, term, "more than 32 sizes in one function");
        term->index = function->n_names;
        function->names[function->n_names++].name = fresh;
        *out = term;
        return WEFT_OK;
    } else {
        for (int i = 0; reader->mode == READ_BODY && i < weft_intrinsics_count; ++i)
            if (strcmp(name, weft_intrinsics[i].name) == 0)
                return read_intrinsic(reader, i, out);
        return unknown_name(reader);
    }
    if (!term)
        return reader_memory(reader);
    ++reader->token;
    *out = term;
done:
    return status;
}

/* primary := number | name... | "(" term ")" | "-" primary | "+" primary | "!" primary */
static weft_status read_primary(kernel_reader *reader, weft_term **out)
{
    weft_status status = WEFT_OK;
    const kernel_token *token = reader->token;
    weft_term *term = NULL;
    if (token->kind == KERNEL_NAME)
        return read_name(reader, out);
    if (token->kind == KERNEL_NUMBER) {
        term = reader_term_make(reader, token->integer ? TERM_INTEGER : TERM_NUMBER,
                                token->integer ? TYPE_INT : TYPE_REAL);
        if (!term)
            return reader_memory(reader);
        if (token->integer && token->number > 1e9)
            return reader_error(reader, WEFT_ERROR_TYPE, token->line, token->column,
                                "integers go up to 1000000000: write a larger real as 1e10");
        term->number = token->number;
        term->integer = token->integer ? (int64_t)token->number : 0;
        ++reader->token;
        *out = term;
        return WEFT_OK;
    }
    if (reader_accept(reader, "(")) {
        if (reader_is(reader, "int") || reader_is(reader, "real") || reader_is(reader, "double") ||
            reader_is(reader, "float"))
            return reader_error(reader, WEFT_ERROR_SYNTAX, reader->token->line, reader->token->column,
                                "no casts: integers become reals where they meet one");
        TRY(reader_term(reader, out));
        return reader_expect(reader, ")", "to close the parenthesis");
    }
    bool negate = reader_is(reader, "-"), invert = reader_is(reader, "!");
    if (negate || invert || reader_is(reader, "+")) {
        term = reader_term_make(reader, invert ? TERM_NOT : TERM_NEGATE, TYPE_INT);
        if (!term)
            return reader_memory(reader);
        ++reader->token;
        if (++reader->depth > WEFT_NESTING_MAX)
            return type_error(reader, term, "nested too deeply");
        weft_term *child = NULL;
        TRY(read_primary(reader, &child));
        --reader->depth;
        bool logical = child->type == TYPE_CONDITION || child->type == TYPE_MASK;
        if (logical != invert)
            return type_error(reader, term, invert ? "'!' belongs before a comparison"
                                                   : "a sign belongs before a value, not a comparison");
        term->type = child->type;
        term->children[term->n_children++] = child;
        *out = negate || invert ? term : child;
        return WEFT_OK;
    }
    if (reader_is(reader, "&") || reader_is(reader, "*"))
        return reader_error(reader, WEFT_ERROR_SYNTAX, token->line, token->column,
                            "no pointers: data is read and written by A(i,j)");
    return reader_error(reader, WEFT_ERROR_SYNTAX, token->line, token->column, "expected a value, found %s",
                        reader_found(reader));
done:
    return status;
}

static int binary_of(const kernel_reader *reader, weft_binary *out)
{
    static const struct {
        const char *text;
        weft_binary binary;
        int level;
    } table[] = {{"||", BINARY_OR, 1},           {"&&", BINARY_AND, 2},      {"==", BINARY_EQUAL, 3},
                 {"!=", BINARY_UNEQUAL, 3},      {"<", BINARY_LESS, 4},      {"<=", BINARY_LESS_EQUAL, 4},
                 {">", BINARY_GREATER, 4},       {">=", BINARY_GREATER_EQUAL, 4}, {"+", BINARY_ADD, 5},
                 {"-", BINARY_SUBTRACT, 5},      {"*", BINARY_MULTIPLY, 6},  {"/", BINARY_DIVIDE, 6},
                 {"%", BINARY_MODULO, 6}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        if (reader->token->kind == KERNEL_SYMBOL && strcmp(reader->token->text, table[i].text) == 0) {
            *out = table[i].binary;
            return table[i].level;
        }
    return 0;
}

/* The type of a op b; children have their types. */
static weft_status type_binary(kernel_reader *reader, weft_term *term)
{
    const weft_term *a = term->children[0], *b = term->children[1];
    bool logical_a = a->type == TYPE_CONDITION || a->type == TYPE_MASK;
    bool logical_b = b->type == TYPE_CONDITION || b->type == TYPE_MASK;
    if (term->binary <= BINARY_AND) {
        if (!logical_a || !logical_b)
            return type_error(reader, logical_a ? b : a, "'&&' and '||' join comparisons");
        if (a->type != b->type)
            return type_error(reader, term, "comparisons of integers and of reals cannot be joined");
        term->type = a->type;
        return WEFT_OK;
    }
    if (logical_a || logical_b)
        return type_error(reader, logical_a ? a : b, "a comparison is not a value: use select(condition, a, b)");
    bool real = a->type == TYPE_REAL || b->type == TYPE_REAL;
    weft_status status = WEFT_OK;
    if (real) {
        TRY(reader_check_real(reader, a, "this"));
        TRY(reader_check_real(reader, b, "this"));
        if (term->binary == BINARY_MODULO)
            return type_error(reader, term, "'%' is for integers");
    }
    if (term->binary < BINARY_ADD)
        term->type = real ? TYPE_MASK : TYPE_CONDITION;
    else
        term->type = real ? TYPE_REAL : TYPE_INT;
done:
    return status;
}

/* term(level) := primary { op term(level of op + 1) }, all operators left to right */
static weft_status read_level(kernel_reader *reader, int level, weft_term **out)
{
    weft_status status = WEFT_OK;
    weft_term *left = NULL;
    weft_binary binary = BINARY_ADD;
    int found, chain = 0;
    if (++reader->depth > WEFT_NESTING_MAX)
        return reader_error(reader, WEFT_ERROR_SYNTAX, reader->token->line, reader->token->column,
                            "nested too deeply");
    TRY(read_primary(reader, &left));
    while ((found = binary_of(reader, &binary)) >= level && found > 0) {
        weft_term *term = reader_term_make(reader, TERM_BINARY, TYPE_INT);
        if (!term)
            return reader_memory(reader);
        if (++chain > WEFT_CHAIN_MAX)
            return type_error(reader, term, "an expression of more than 400 operators: split it");
        term->binary = binary;
        ++reader->token;
        term->children[0] = left;
        TRY(read_level(reader, found + 1, &term->children[1]));
        term->n_children = 2;
        TRY(type_binary(reader, term));
        left = term;
    }
    if (reader_is(reader, "?"))
        return reader_error(reader, WEFT_ERROR_SYNTAX, reader->token->line, reader->token->column,
                            "no '?': use select(condition, a, b), which runs in lanes");
    --reader->depth;
    *out = left;
done:
    return status;
}

weft_status reader_term(kernel_reader *reader, weft_term **out)
{
    return read_level(reader, 1, out);
}

weft_status reader_integer_term(kernel_reader *reader, const char *what, weft_term **out)
{
    weft_status status = WEFT_OK;
    TRY(reader_term(reader, out));
    if ((*out)->type != TYPE_INT)
        status = reader_error(reader, WEFT_ERROR_TYPE, (*out)->line, (*out)->column,
                              "%s is an integer expression in sizes and indices", what);
done:
    return status;
}

weft_status reader_target(kernel_reader *reader, weft_term **out)
{
    weft_status status = WEFT_OK;
    const kernel_token *token = reader->token;
    TRY(read_name(reader, out));
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
    default:
        why = "cannot be assigned to";
    }
    if (why)
        status = reader_error(reader, WEFT_ERROR_TYPE, token->line, token->column, "'%s' %s", token->text, why);
done:
    return status;
}
