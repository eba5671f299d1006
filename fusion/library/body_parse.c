/* Parses bodies of functions: a subset of C statements. */
#include "fusion/base/array.h"
#include "fusion/library/private.h"

#include <string.h>

static weft_status read_statement(kernel_reader *reader, weft_statement **out);
static weft_status read_item(kernel_reader *reader, weft_statement ***end);

static weft_statement *statement_make(kernel_reader *reader, weft_statement_kind kind) {
    weft_statement *statement = weft_arena_alloc(reader->arena, 1, sizeof *statement);
    if (statement) {
        statement->kind = kind;
        statement->number = reader->n_statements++;
        statement->place = reader->token->place;
    }
    return statement;
}

static weft_status syntax_error(kernel_reader *reader, const char *text, const char *hint) {
    weft_status status =
        weft_error_at(reader->error, WEFT_ERROR_SYNTAX, reader->token->place, "%s", text);
    if (hint)
        weft_error_hint(reader->error, "%s", hint);
    return status;
}

/* A new local, visible from here to the end of its block. */
static weft_status declare(kernel_reader *reader, bool real, int *out) {
    weft_status status = WEFT_OK;
    const weft_token *token = reader->token;
    const char *name = NULL;
    TRY(weft_reader_new_name(reader, "a local's name", &name));
    if (weft_reader_is_taken(reader, name))
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, token->place,
                          "'%s' already means something here: choose another name", name));
    if (reader->n_locals == WEFT_LOCALS_MAX)
        TRY(weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, token->place,
                          "more than %d locals in one body: split the function", WEFT_LOCALS_MAX));
    *out = reader->n_locals;
    TRY(WEFT_APPEND(reader->arena, reader->scope, reader->n_scope, *out, reader->error));
    TRY(WEFT_APPEND(reader->arena, reader->locals, reader->n_locals,
                    ((weft_local){.name = name, .real = real}), reader->error));
done:
    return status;
}

/* extents := { "[" term in sizes "]" } */
static weft_status read_extents(kernel_reader *reader, weft_local *local) {
    weft_status status = WEFT_OK;
    while (weft_reader_accept(reader, "[")) {
        if (local->rank == WEFT_RANK_MAX)
            TRY(syntax_error(reader, "more than four subscripts", NULL));
        reader->mode = READ_FORMULA;
        status =
            weft_reader_integer_term(reader, "an array's size", &local->extents[local->rank++]);
        reader->mode = READ_BODY;
        TRY(status);
        TRY(weft_reader_expect(reader, "]", "after the array's size"));
    }
done:
    return status;
}

/* declaration := ("int" | "real") name [extents] ["=" term] { "," name ... } ";"
 * One statement per name; *last: the last of them. */
static weft_status read_declaration(kernel_reader *reader, weft_statement **out,
                                    weft_statement **last) {
    weft_status status = WEFT_OK;
    bool real = weft_reader_is(reader, "real");
    ++reader->token;
    do {
        weft_statement *statement = statement_make(reader, STATEMENT_DECLARE);
        if (!statement)
            TRY(weft_reader_memory(reader));
        int local = 0;
        TRY(declare(reader, real, &local));
        statement->local = local;
        TRY(read_extents(reader, &reader->locals[local]));
        bool array = reader->locals[local].rank > 0;
        if (array && !real)
            TRY(syntax_error(reader, "arrays are real", NULL));
        if (weft_reader_accept(reader, "=")) {
            if (array)
                TRY(syntax_error(
                    reader, "an array is declared without values: assign to its components", NULL));
            --reader->n_scope; /* a local is not visible in its own initialiser */
            if (real) {
                TRY(weft_reader_term(reader, &statement->value));
                TRY(weft_reader_check_real(reader, statement->value, "the value"));
            } else {
                TRY(weft_reader_integer_term(reader, "an int's value", &statement->value));
            }
            ++reader->n_scope;
        } else if (!real) {
            status = syntax_error(
                reader, "an int needs its value here, and keeps it",
                "int i = t / n; and loops declare their own: for (int i = 0; i < n; ++i)");
            goto done;
        }
        *out = statement;
        out = &statement->next;
        *last = statement;
    } while (weft_reader_accept(reader, ","));
    TRY(weft_reader_expect(reader, ";", "after the declaration"));
done:
    return status;
}

/* step := "++" i | i "++" | "--" i | i "--" | i "+=" number | i "-=" number */
static weft_status read_step(kernel_reader *reader, const char *name, int64_t *step) {
    const char *advice = "write for (int i = 0; i < n; ++i), with ++i, --i, i += 2 or i -= 2";
    if (weft_reader_is(reader, "++") || weft_reader_is(reader, "--")) {
        *step = weft_reader_is(reader, "++") ? 1 : -1;
        ++reader->token;
        return weft_reader_accept(reader, name)
                   ? WEFT_OK
                   : syntax_error(reader, "a loop steps its own variable", advice);
    }
    if (!weft_reader_accept(reader, name))
        return syntax_error(reader, "a loop steps its own variable", advice);
    if (weft_reader_accept(reader, "++")) {
        *step = 1;
        return WEFT_OK;
    }
    if (weft_reader_accept(reader, "--")) {
        *step = -1;
        return WEFT_OK;
    }
    bool up = weft_reader_is(reader, "+="), down = weft_reader_is(reader, "-=");
    if (up || down)
        ++reader->token;
    if ((!up && !down) || reader->token->kind != TOKEN_NUMBER || !reader->token->integer ||
        reader->token->number < 1 || reader->token->number > 1e6)
        return syntax_error(reader, "expected the loop's step", advice);
    *step = (int64_t)reader->token->number * (up ? 1 : -1);
    ++reader->token;
    return WEFT_OK;
}

/* for := "for" "(" "int" i "=" term ";" i compare term ";" step ")" statement */
static weft_status read_for(kernel_reader *reader, weft_statement **out) {
    static const char *const compares[] = {"<", "<=", ">", ">="};
    static const weft_binary binaries[] = {BINARY_LESS, BINARY_LESS_EQUAL, BINARY_GREATER,
                                           BINARY_GREATER_EQUAL};
    weft_status status = WEFT_OK;
    int scope = reader->n_scope, local = 0;
    weft_statement *statement = statement_make(reader, STATEMENT_FOR);
    if (!statement)
        TRY(weft_reader_memory(reader));
    ++reader->token;
    TRY(weft_reader_expect(reader, "(", "after 'for'"));
    TRY(weft_reader_expect(reader, "int", "to declare the loop's variable"));
    TRY(declare(reader, false, &local));
    statement->local = local;
    const char *name = reader->locals[local].name;
    TRY(weft_reader_expect(reader, "=", "and the loop's first value"));
    --reader->n_scope;
    TRY(weft_reader_integer_term(reader, "a loop's first value", &statement->value));
    ++reader->n_scope;
    TRY(weft_reader_expect(reader, ";", "after the loop's first value"));
    TRY(weft_reader_expect(reader, name, "to compare the loop's variable with its bound"));
    int found = -1;
    for (int i = 0; i < 4; ++i)
        if (found < 0 && weft_reader_accept(reader, compares[i]))
            found = i;
    if (found < 0)
        TRY(syntax_error(reader, "expected <, <=, > or >= and the loop's bound", NULL));
    statement->compare = binaries[found];
    TRY(weft_reader_integer_term(reader, "a loop's bound", &statement->condition));
    TRY(weft_reader_expect(reader, ";", "after the loop's bound"));
    TRY(read_step(reader, name, &statement->step));
    if ((found < 2) != (statement->step > 0))
        TRY(syntax_error(reader, "this loop steps away from its bound", NULL));
    TRY(weft_reader_expect(reader, ")", "to close 'for'"));
    TRY(read_statement(reader, &statement->body));
    reader->n_scope = scope;
    *out = statement;
done:
    return status;
}

/* if := "if" "(" term ")" statement ["else" statement] */
static weft_status read_if(kernel_reader *reader, weft_statement **out) {
    weft_status status = WEFT_OK;
    weft_statement *statement = statement_make(reader, STATEMENT_IF);
    if (!statement)
        TRY(weft_reader_memory(reader));
    ++reader->token;
    TRY(weft_reader_expect(reader, "(", "after 'if'"));
    TRY(weft_reader_term(reader, &statement->condition));
    if (statement->condition->type != TYPE_CONDITION) {
        const weft_term *term = statement->condition;
        bool mask = term->type == TYPE_MASK;
        status = weft_error_at(reader->error, WEFT_ERROR_TYPE, term->place,
                               mask ? "'if' may not depend on data" : "'if' needs a comparison");
        weft_error_hint(reader->error,
                        mask ? "bodies run in lanes: use select(condition, a, b)"
                             : "sizes and indices may be compared, as in if (d == 2)");
        goto done;
    }
    TRY(weft_reader_expect(reader, ")", "to close 'if'"));
    TRY(read_statement(reader, &statement->body));
    if (weft_reader_accept(reader, "else"))
        TRY(read_statement(reader, &statement->otherwise));
    *out = statement;
done:
    return status;
}

/* assignment := target ("=" | "+=" | "-=" | "*=" | "/=") term ";" */
static weft_status read_assignment(kernel_reader *reader, weft_statement **out) {
    static const char *const ops[] = {"=", "+=", "-=", "*=", "/="};
    weft_status status = WEFT_OK;
    weft_statement *statement = statement_make(reader, STATEMENT_ASSIGN);
    if (!statement)
        TRY(weft_reader_memory(reader));
    TRY(weft_reader_target(reader, &statement->target));
    for (int i = 0; i < 5 && !statement->op; ++i)
        if (weft_reader_accept(reader, ops[i]))
            statement->op = ops[i][0];
    if (!statement->op) {
        status =
            syntax_error(reader, "expected =, +=, -=, *= or /= after what is assigned to", NULL);
        goto done;
    }
    TRY(weft_reader_term(reader, &statement->value));
    TRY(weft_reader_check_real(reader, statement->value, "the value"));
    TRY(weft_reader_expect(reader, ";", "after the assignment"));
    *out = statement;
done:
    return status;
}

/* block := "{" { item } "}" */
static weft_status read_block(kernel_reader *reader, weft_statement **out) {
    weft_status status = WEFT_OK;
    int scope = reader->n_scope;
    weft_statement *block = statement_make(reader, STATEMENT_BLOCK);
    if (!block)
        TRY(weft_reader_memory(reader));
    const weft_token *open = reader->token++;
    weft_statement **end = &block->body;
    while (!weft_reader_is(reader, "}")) {
        if (reader->token->kind == TOKEN_END) {
            status = weft_error_at(reader->error, WEFT_ERROR_SYNTAX, open->place,
                                   "this '{' is not closed");
            goto done;
        }
        TRY(read_item(reader, &end));
    }
    ++reader->token;
    reader->n_scope = scope;
    *out = block;
done:
    return status;
}

static weft_status refuse_keyword(kernel_reader *reader) {
    static const struct {
        const char *word, *message, *hint;
    } refused[] = {
        {"return", "no 'return' in a body", "the last statement ends it; assign to the result"},
        {"goto", "no 'goto' in a body", NULL},
        {"while", "no 'while' in a body", "use for (int i = 0; i < n; ++i) with a bound in sizes"},
        {"do", "no 'do' in a body", "use for (int i = 0; i < n; ++i) with a bound in sizes"},
        {"switch", "no 'switch' in a body", "use if (d == 2) ... else ..."},
        {"break", "no 'break' in a body", "bodies run in lanes: every loop runs to its end"},
        {"continue", "no 'continue' in a body", "bodies run in lanes: use select(condition, a, b)"},
        {"double", "write 'real' for data", "real is float or double, as the user chooses"},
        {"float", "write 'real' for data", "real is float or double, as the user chooses"},
        {"use", "'use' belongs between statements of a body or of a block", "put braces round it"},
        {"static", "no 'static' in a body", "constants come from '//@ table' lines"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
        if (weft_reader_is(reader, refused[i].word))
            return syntax_error(reader, refused[i].message, refused[i].hint);
    return WEFT_OK;
}

/* statement := block | for | if | declaration | assignment | "barrier" ";" | ";" */
static weft_status read_statement(kernel_reader *reader, weft_statement **out) {
    weft_status status = WEFT_OK;
    weft_statement *last = NULL;
    if (++reader->depth > WEFT_NESTING_MAX)
        TRY(syntax_error(reader, "nested too deeply", NULL));
    if (weft_reader_is(reader, "const"))
        ++reader->token;
    if (weft_reader_is(reader, "{")) {
        status = read_block(reader, out);
    } else if (weft_reader_is(reader, "for")) {
        status = read_for(reader, out);
    } else if (weft_reader_is(reader, "if")) {
        status = read_if(reader, out);
    } else if (weft_reader_is(reader, "int") || weft_reader_is(reader, "real")) {
        status = read_declaration(reader, out, &last);
    } else if (weft_reader_is(reader, "barrier")) {
        *out = statement_make(reader, STATEMENT_BARRIER);
        if (!*out)
            TRY(weft_reader_memory(reader));
        ++reader->token;
        reader->has_barriers = true;
        TRY(weft_reader_expect(reader, ";", "after the barrier"));
    } else if (weft_reader_accept(reader, ";")) {
        *out = NULL;
    } else if (reader->token->kind != TOKEN_NAME) {
        status = weft_error_at(reader->error, WEFT_ERROR_SYNTAX, reader->token->place,
                               "expected a statement, found %s", weft_reader_found(reader));
    } else {
        TRY(refuse_keyword(reader));
        status = read_assignment(reader, out);
    }
    --reader->depth;
done:
    return status;
}

/* The statements of a common, inlined. A common can only use older ones, so this terminates. */
static weft_status read_common(kernel_reader *reader, const weft_common *common,
                               const weft_location *use, weft_statement ***end) {
    weft_status status = WEFT_OK;
    const weft_common *commons = reader->commons;
    const bool in_common = reader->in_common;
    const weft_token *token = reader->token, *start = reader->start;
    weft_arena *scratch = reader->scratch;
    reader->scratch = NULL;
    reader->commons = common->before;
    reader->in_common = true;
    TRY(weft_kernel_tokens_make(reader, common->text, common->length,
                                (weft_location){reader->source, common->line, 1}, use));
    while (reader->token->kind != TOKEN_END)
        TRY(read_item(reader, end));
done:
    if (status != WEFT_OK && reader->error && reader->error->hint[0] == '\0')
        weft_error_hint(reader->error, "it is among the statements below '//@ common %s', %s:%d",
                        common->name, common->source->name, common->line - 1);
    weft_arena_free(&reader->scratch);
    reader->scratch = scratch;
    reader->commons = commons;
    reader->in_common = in_common;
    reader->token = token;
    reader->start = start;
    return status;
}

/* use := "use" name ";", on a line of its own */
static weft_status read_use(kernel_reader *reader, weft_statement ***end) {
    weft_status status = WEFT_OK;
    const weft_token *use = reader->token++, *name = reader->token;
    const weft_common *common =
        name->kind == TOKEN_NAME ? weft_common_find(reader->commons, name->text, strlen(name->text))
                                 : NULL;
    if (!common) {
        status =
            weft_error_at(reader->error, WEFT_ERROR_TYPE, name->place,
                          "there are no common statements '%s' above", weft_reader_found(reader));
        weft_error_hint(reader->error, "put a line '//@ common NAME' above such statements");
        goto done;
    }
    ++reader->token;
    TRY(weft_reader_expect(reader, ";", "after the name"));
    if (!reader->in_common &&
        ((use > reader->start && use[-1].place.line == use->place.line) ||
         (reader->token->kind != TOKEN_END && reader->token->place.line == use->place.line)))
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, use->place,
                          "put 'use %s;' on a line of its own", common->name));
    const weft_location place = use->place; /* the tokens are replaced */
    TRY(read_common(reader, common, &place, end));
done:
    return status;
}

/* item := use | statement */
static weft_status read_item(kernel_reader *reader, weft_statement ***end) {
    weft_status status = WEFT_OK;
    if (weft_reader_is(reader, "use")) {
        status = read_use(reader, end);
        goto done;
    }
    TRY(read_statement(reader, *end));
    while (**end)
        *end = &(**end)->next;
done:
    return status;
}

weft_status weft_reader_body(kernel_reader *reader, weft_body *out) {
    weft_status status = WEFT_OK;
    weft_statement **end = &out->first;
    const weft_token *start = reader->token;
    reader->mode = READ_BODY;
    reader->n_locals = reader->n_scope = reader->depth = reader->n_statements = 0;
    reader->result_set = reader->has_barriers = false;
    while (reader->token->kind != TOKEN_END)
        TRY(read_item(reader, &end));
    if (!reader->result_set) {
        status =
            weft_error_at(reader->error, WEFT_ERROR_TYPE, start->place,
                          "this body never sets its result '%s'", reader->function->result.name);
        goto done;
    }
    out->n_locals = reader->n_locals;
    out->n_statements = reader->n_statements;
    out->locals = reader->locals;
    out->has_barriers = reader->has_barriers;
done:
    reader->n_scope = 0;
    return status;
}
