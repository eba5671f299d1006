/* Reads `//@ example` lines: a call with numbers, and its result. */
#include "fusion/base/array.h"
#include "fusion/library/private.h"

#include <string.h>

/* The numbers of one value while it is read. */
typedef struct literal {
    weft_shape shape;
    double *values;
    int n;
} literal;

static weft_status wrong(kernel_reader *reader, const char *what) {
    weft_status status = weft_error_at(reader->error, WEFT_ERROR_SYNTAX, reader->token->place,
                                       "expected %s, found %s", what, weft_reader_found(reader));
    weft_error_hint(
        reader->error,
        "an example is a call with numbers and its result, such as dot([1, 2], [3, 4]) = 11");
    return status;
}

/* number := ["-"] NUMBER ["/" NUMBER], to allow 1/6 */
static weft_status read_number(kernel_reader *reader, double *out) {
    double sign = weft_reader_accept(reader, "-") ? -1 : 1;
    if (reader->token->kind != TOKEN_NUMBER)
        return wrong(reader, "a number");
    *out = sign * reader->token->number;
    ++reader->token;
    if (weft_reader_accept(reader, "/")) {
        if (reader->token->kind != TOKEN_NUMBER || !(reader->token->number > 0))
            return wrong(reader, "a positive number to divide by");
        *out /= reader->token->number;
        ++reader->token;
    }
    return WEFT_OK;
}

/* literal := number | "[" literal { "," literal } "]", all lists of one depth equally long */
static weft_status read_literal(kernel_reader *reader, literal *out, int depth) {
    weft_status status = WEFT_OK;
    double value = 0;
    int length = 0;
    if (!weft_reader_is(reader, "[")) {
        if (depth < out->shape.rank)
            TRY(wrong(reader, "a list, as at the first place,"));
        TRY(read_number(reader, &value));
        status = WEFT_APPEND(reader->arena, out->values, out->n, value, reader->error);
        goto done;
    }
    bool first = out->n == 0;
    if (depth == WEFT_RANK_MAX || (!first && depth >= out->shape.rank))
        TRY(wrong(reader, depth == WEFT_RANK_MAX ? "at most four sizes" : "a number"));
    if (first && depth == out->shape.rank)
        out->shape.rank = depth + 1;
    ++reader->token;
    do {
        TRY(read_literal(reader, out, depth + 1));
        ++length;
    } while (weft_reader_accept(reader, ","));
    if (out->shape.sizes[depth] != 0 && out->shape.sizes[depth] != length)
        TRY(wrong(reader, "lists of one length"));
    out->shape.sizes[depth] = length;
    TRY(weft_reader_expect(reader, "]", "after the numbers"));
done:
    return status;
}

/* key := name "=" ["-"] integer */
static weft_status read_key(kernel_reader *reader, weft_example *example) {
    weft_status status = WEFT_OK;
    if (example->n_keys == WEFT_FUNCTION_NAMES_MAX)
        TRY(wrong(reader, "fewer parameters"));
    const char *name = reader->token->text;
    ++reader->token;
    TRY(weft_reader_expect(reader, "=", "and the parameter's value"));
    int sign = weft_reader_accept(reader, "-") ? -1 : 1;
    if (reader->token->kind != TOKEN_NUMBER || !reader->token->integer ||
        reader->token->number > 1e9)
        TRY(wrong(reader, "the parameter's value, an integer,"));
    example->keys[example->n_keys] = weft_arena_copy(reader->arena, name, strlen(name));
    if (!example->keys[example->n_keys])
        TRY(weft_reader_memory(reader));
    example->key_values[example->n_keys++] = sign * (int)reader->token->number;
    ++reader->token;
done:
    return status;
}

static weft_status read_arguments(kernel_reader *reader, weft_example *example) {
    weft_status status = WEFT_OK;
    const weft_function *function = reader->function;
    if (weft_reader_is(reader, ")"))
        goto done;
    do {
        if (reader->token->kind == TOKEN_NAME) {
            TRY(read_key(reader, example));
            continue;
        }
        if (example->n_arguments == function->n_arguments)
            TRY(wrong(reader, "no more arguments"));
        literal value = {.n = 0};
        TRY(read_literal(reader, &value, 0));
        example->arguments[example->n_arguments] = value.shape;
        example->values[example->n_arguments++] = value.values;
    } while (weft_reader_accept(reader, ","));
done:
    return status;
}

/* example := name "(" literal { "," literal } { "," key } ")" "=" literal */
weft_status weft_reader_example(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    weft_example *example = weft_arena_alloc(reader->arena, 1, sizeof *example);
    if (!example)
        TRY(weft_reader_memory(reader));
    if (function->n_examples == WEFT_EXAMPLES_MAX)
        TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, meta->place,
                          "more than %d examples", WEFT_EXAMPLES_MAX));
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    if (!weft_reader_accept(reader, function->info.name))
        TRY(wrong(reader, "the function's own name"));
    TRY(weft_reader_expect(reader, "(", "after the function's name"));
    TRY(read_arguments(reader, example));
    if (example->n_arguments < function->n_arguments)
        TRY(wrong(reader, "an argument more"));
    TRY(weft_reader_expect(reader, ")", "after the arguments"));
    TRY(weft_reader_expect(reader, "=", "and the result"));
    literal result = {.n = 0};
    TRY(read_literal(reader, &result, 0));
    TRY(weft_expect_end(reader));
    example->result = result.shape;
    example->result_values = result.values;
    example->place = meta->rest_place;
    example->text = weft_arena_copy(reader->arena, meta->rest, (size_t)(meta->end - meta->rest));
    if (!example->text)
        TRY(weft_reader_memory(reader));
    function->examples[function->n_examples++] = example;
done:
    return status;
}
