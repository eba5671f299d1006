/* Parses expressions of metadata and bodies. */
#include "fusion/library/private.h"

#include <string.h>

weft_term *weft_reader_term_make(kernel_reader *reader, weft_term_kind kind, weft_term_type type) {
    weft_term *term = weft_arena_alloc(reader->arena, 1, sizeof *term);
    if (term) {
        term->kind = kind;
        term->type = type;
        term->place = reader->token->place;
    }
    return term;
}

static weft_status type_error(kernel_reader *reader, const weft_term *term, const char *text) {
    return weft_error_at(reader->error, WEFT_ERROR_TYPE, term->place, "%s", text);
}

weft_status weft_reader_check_real(kernel_reader *reader, const weft_term *term, const char *what) {
    if (term->type == TYPE_CONDITION || term->type == TYPE_MASK)
        return weft_error_at(
            reader->error, WEFT_ERROR_TYPE, term->place,
            "%s is a comparison, and should be a value: use select(condition, a, b)", what);
    if (reader->mode == READ_BODY && term->type == TYPE_INT && weft_term_divides(term)) {
        weft_status status =
            type_error(reader, term, "this divides integers, which cuts off the fraction");
        weft_error_hint(reader->error,
                        "write 1.0 / (d + 1) for a real quotient, or put the integer quotient "
                        "into an int first");
        return status;
    }
    return WEFT_OK;
}

/* primary := number | name... | "(" term ")" | "-" primary | "+" primary | "!" primary */
static weft_status read_primary(kernel_reader *reader, weft_term **out) {
    weft_status status = WEFT_OK;
    const weft_token *token = reader->token;
    weft_term *term = NULL;
    if (token->kind == TOKEN_NAME) {
        status = weft_reader_name(reader, out);
        goto done;
    }
    if (token->kind == TOKEN_NUMBER) {
        term = weft_reader_term_make(reader, token->integer ? TERM_INTEGER : TERM_NUMBER,
                                     token->integer ? TYPE_INT : TYPE_REAL);
        if (!term)
            TRY(weft_reader_memory(reader));
        if (token->integer && token->number > 1e9)
            TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                              "integers go up to 1000000000: write a larger real as 1e10"));
        term->number = token->number;
        term->integer = token->integer ? (int64_t)token->number : 0;
        ++reader->token;
        *out = term;
        goto done;
    }
    if (weft_reader_accept(reader, "(")) {
        if (weft_reader_is(reader, "int") || weft_reader_is(reader, "real") ||
            weft_reader_is(reader, "double") || weft_reader_is(reader, "float"))
            TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, reader->token->place,
                              "no casts: integers become reals where they meet one"));
        TRY(weft_reader_term(reader, out));
        status = weft_reader_expect(reader, ")", "to close the parenthesis");
        goto done;
    }
    bool negate = weft_reader_is(reader, "-"), invert = weft_reader_is(reader, "!");
    if (negate || invert || weft_reader_is(reader, "+")) {
        term = weft_reader_term_make(reader, invert ? TERM_NOT : TERM_NEGATE, TYPE_INT);
        if (!term)
            TRY(weft_reader_memory(reader));
        ++reader->token;
        if (++reader->depth > WEFT_NESTING_MAX)
            TRY(type_error(reader, term, "nested too deeply"));
        weft_term *child = NULL;
        TRY(read_primary(reader, &child));
        --reader->depth;
        bool logical = child->type == TYPE_CONDITION || child->type == TYPE_MASK;
        if (logical != invert)
            TRY(type_error(reader, term,
                           invert ? "'!' belongs before a comparison"
                                  : "a sign belongs before a value, not a comparison"));
        term->type = child->type;
        term->children[term->n_children++] = child;
        *out = negate || invert ? term : child;
        goto done;
    }
    if (weft_reader_is(reader, "&") || weft_reader_is(reader, "*"))
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, token->place,
                          "no pointers: data is read and written by A(i,j)"));
    TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, token->place, "expected a value, found %s",
                      weft_reader_found(reader)));
done:
    return status;
}

static int binary_of(const kernel_reader *reader, weft_binary *out) {
    static const struct {
        const char *text;
        weft_binary binary;
        int level;
    } table[] = {
        {"||", BINARY_OR, 1},      {"&&", BINARY_AND, 2},           {"==", BINARY_EQUAL, 3},
        {"!=", BINARY_UNEQUAL, 3}, {"<", BINARY_LESS, 4},           {"<=", BINARY_LESS_EQUAL, 4},
        {">", BINARY_GREATER, 4},  {">=", BINARY_GREATER_EQUAL, 4}, {"+", BINARY_ADD, 5},
        {"-", BINARY_SUBTRACT, 5}, {"*", BINARY_MULTIPLY, 6},       {"/", BINARY_DIVIDE, 6},
        {"%", BINARY_MODULO, 6}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        if (weft_reader_is(reader, table[i].text)) {
            *out = table[i].binary;
            return table[i].level;
        }
    return 0;
}

/* Set the type of a op b from those of its children. */
static weft_status type_binary(kernel_reader *reader, weft_term *term) {
    weft_status status = WEFT_OK;
    const weft_term *a = term->children[0], *b = term->children[1];
    bool logical_a = a->type == TYPE_CONDITION || a->type == TYPE_MASK;
    bool logical_b = b->type == TYPE_CONDITION || b->type == TYPE_MASK;
    if (term->binary <= BINARY_AND) {
        if (!logical_a || !logical_b)
            TRY(type_error(reader, logical_a ? b : a, "'&&' and '||' join comparisons"));
        if (a->type != b->type)
            TRY(type_error(reader, term, "comparisons of integers and of reals cannot be joined"));
        term->type = a->type;
        goto done;
    }
    if (logical_a || logical_b)
        TRY(type_error(reader, logical_a ? a : b,
                       "a comparison is not a value: use select(condition, a, b)"));
    bool real = a->type == TYPE_REAL || b->type == TYPE_REAL;
    if (real) {
        TRY(weft_reader_check_real(reader, a, "this"));
        TRY(weft_reader_check_real(reader, b, "this"));
        if (term->binary == BINARY_MODULO)
            TRY(type_error(reader, term, "'%' is for integers"));
    }
    if (term->binary < BINARY_ADD)
        term->type = real ? TYPE_MASK : TYPE_CONDITION;
    else
        term->type = real ? TYPE_REAL : TYPE_INT;
done:
    return status;
}

/* term(level) := primary { op term(level of op + 1) }, all operators left to right */
static weft_status read_level(kernel_reader *reader, int level, weft_term **out) {
    weft_status status = WEFT_OK;
    weft_term *left = NULL;
    weft_binary binary = BINARY_ADD;
    int found, chain = 0;
    if (++reader->depth > WEFT_NESTING_MAX)
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, reader->token->place,
                          "nested too deeply"));
    TRY(read_primary(reader, &left));
    while ((found = binary_of(reader, &binary)) >= level && found > 0) {
        weft_term *term = weft_reader_term_make(reader, TERM_BINARY, TYPE_INT);
        if (!term)
            TRY(weft_reader_memory(reader));
        if (++chain > WEFT_CHAIN_MAX)
            TRY(type_error(reader, term, "an expression of more than 400 operators: split it"));
        term->binary = binary;
        ++reader->token;
        term->children[0] = left;
        TRY(read_level(reader, found + 1, &term->children[1]));
        term->n_children = 2;
        TRY(type_binary(reader, term));
        left = term;
    }
    if (weft_reader_is(reader, "?"))
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, reader->token->place,
                          "no '?': use select(condition, a, b), which runs in lanes"));
    --reader->depth;
    *out = left;
done:
    return status;
}

weft_status weft_reader_term(kernel_reader *reader, weft_term **out) {
    return read_level(reader, 1, out);
}

weft_status weft_reader_integer_term(kernel_reader *reader, const char *what, weft_term **out) {
    weft_status status = WEFT_OK;
    TRY(weft_reader_term(reader, out));
    if ((*out)->type != TYPE_INT)
        status = weft_error_at(reader->error, WEFT_ERROR_TYPE, (*out)->place,
                               "%s is an integer expression in sizes and indices", what);
done:
    return status;
}
