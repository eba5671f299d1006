#include "library_internal.h"

#include <ctype.h>
#include <string.h>

/* A line `//@ keyword rest`; rest points into the text. */
typedef struct meta_line {
    const char *keyword, *rest, *end;
    size_t keyword_length;
    int line, column, rest_column;
} meta_line;

/* Where the reader stands in the file. */
typedef struct file_reader {
    kernel_reader reader;
    const char *text; /* the next line */
    int line;
    const char *function_text; /* of the function being read */
    weft_function **functions;
    size_t n, capacity;
} file_reader;

int weft_function_name_index(const weft_function *function, const char *name)
{
    for (int i = 0; i < function->n_names; ++i)
        if (strcmp(function->names[i].name, name) == 0)
            return i;
    return -1;
}

static const char *line_end(const char *text)
{
    return text + strcspn(text, "\n");
}

static bool is_meta(const char *text)
{
    text += strspn(text, " \t");
    return strncmp(text, "//@", 3) == 0;
}

static meta_line meta_make(const char *text, int line)
{
    meta_line meta = {.line = line, .end = line_end(text)};
    if (meta.end > text && meta.end[-1] == '\r')
        --meta.end;
    const char *p = text + strspn(text, " \t") + 3;
    p += strspn(p, " \t");
    meta.keyword = p;
    meta.column = (int)(p - text) + 1;
    while (p < meta.end && isalpha((unsigned char)*p))
        ++p;
    meta.keyword_length = (size_t)(p - meta.keyword);
    while (p < meta.end && (*p == ' ' || *p == '\t'))
        ++p;
    meta.rest = p;
    meta.rest_column = (int)(p - text) + 1;
    while (meta.end > meta.rest && isspace((unsigned char)meta.end[-1]))
        --meta.end;
    return meta;
}

static bool meta_is(const meta_line *meta, const char *keyword)
{
    return meta->keyword_length == strlen(keyword) && memcmp(meta->keyword, keyword, meta->keyword_length) == 0;
}

static weft_status meta_tokens(kernel_reader *reader, const meta_line *meta)
{
    return kernel_tokens_make(reader, meta->rest, (size_t)(meta->end - meta->rest), meta->line, meta->rest_column,
                              &reader->token);
}

static weft_status meta_text(kernel_reader *reader, const meta_line *meta, const char **out)
{
    *out = weft_arena_copy(reader->arena, meta->rest, (size_t)(meta->end - meta->rest));
    return *out ? WEFT_OK : reader_memory(reader);
}

static weft_status expect_end(kernel_reader *reader)
{
    if (reader->token->kind == KERNEL_END)
        return WEFT_OK;
    return reader_error(reader, WEFT_ERROR_SYNTAX, reader->token->line, reader->token->column,
                        "the line should end here, found '%s'", reader->token->text);
}

static bool is_taken(const weft_function *function, const char *name)
{
    bool taken = weft_function_name_index(function, name) >= 0;
    taken = taken || (function->result.name && strcmp(function->result.name, name) == 0);
    for (int i = 0; i < function->n_arguments; ++i)
        taken = taken || strcmp(function->arguments[i].name, name) == 0;
    for (int i = 0; i < function->n_tables; ++i)
        taken = taken || strcmp(function->tables[i].formal.name, name) == 0;
    return taken;
}

/* formal := name ":" "real" [ "[" term { "," term } "]" ] */
static weft_status read_formal(kernel_reader *reader, const char *what, weft_formal *out)
{
    weft_status status = WEFT_OK;
    const kernel_token *token = reader->token;
    const char *name = NULL;
    TRY(reader_new_name(reader, what, &name));
    if (is_taken(reader->function, name)) {
        status = reader_error(reader, WEFT_ERROR_TYPE, token->line, token->column, "'%s' is used twice", name);
        goto done;
    }
    *out = (weft_formal){.name = name, .line = token->line, .column = token->column};
    TRY(reader_expect(reader, ":", "and the type after the name"));
    TRY(reader_expect(reader, "real", "as the type (real, real[n] or real[m,n])"));
    if (reader_accept(reader, "[")) {
        do {
            if (out->rank == WEFT_RANK_MAX) {
                status = reader_error(reader, WEFT_ERROR_UNSUPPORTED, reader->token->line, reader->token->column,
                                      "more than four sizes");
                goto done;
            }
            TRY(reader_integer_term(reader, "a size", &out->sizes[out->rank++]));
        } while (reader_accept(reader, ","));
        TRY(reader_expect(reader, "]", "after the sizes"));
    }
done:
    return status;
}

/* function := name "(" formal { "," formal } ")" "->" formal */
static weft_status read_signature(kernel_reader *reader, const meta_line *meta)
{
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    reader->mode = READ_SIGNATURE;
    TRY(meta_tokens(reader, meta));
    TRY(reader_new_name(reader, "a function's name", &function->info.name));
    TRY(reader_expect(reader, "(", "after the function's name"));
    if (!reader_is(reader, ")"))
        do {
            if (function->n_arguments == WEFT_ARGUMENTS_MAX) {
                status = reader_error(reader, WEFT_ERROR_UNSUPPORTED, reader->token->line, reader->token->column,
                                      "more than %d arguments", WEFT_ARGUMENTS_MAX);
                goto done;
            }
            weft_formal formal;
            TRY(read_formal(reader, "an argument's name", &formal));
            function->arguments[function->n_arguments++] = formal;
        } while (reader_accept(reader, ","));
    TRY(reader_expect(reader, ")", "after the arguments"));
    TRY(reader_expect(reader, "->", "and the result"));
    weft_formal result;
    TRY(read_formal(reader, "the result's name", &result));
    function->result = result;
    TRY(expect_end(reader));
    TRY(meta_text(reader, meta, &function->info.signature));
done:
    return status;
}

/* parameter := name ["=" ["-"] integer] */
static weft_status read_parameter(kernel_reader *reader, const meta_line *meta)
{
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    const char *name = NULL;
    reader->mode = READ_FORMULA;
    TRY(meta_tokens(reader, meta));
    const kernel_token *token = reader->token;
    TRY(reader_new_name(reader, "a parameter's name", &name));
    int index = weft_function_name_index(function, name);
    if ((index >= 0 && function->names[index].is_parameter) || (index < 0 && is_taken(function, name))) {
        status = reader_error(reader, WEFT_ERROR_TYPE, token->line, token->column, "'%s' is used twice", name);
        goto done;
    }
    if (index < 0 && function->n_names == WEFT_NAMES_MAX) {
        status = reader_error(reader, WEFT_ERROR_UNSUPPORTED, token->line, token->column,
                              "more than 32 sizes and parameters");
        goto done;
    }
    if (index < 0)
        index = function->n_names++;
    weft_name *parameter = &function->names[index];
    *parameter = (weft_name){.name = name, .is_parameter = true};
    if (reader_accept(reader, "=")) {
        bool negative = reader_accept(reader, "-");
        if (reader->token->kind != KERNEL_NUMBER || !reader->token->integer || reader->token->number > 1e9) {
            status = reader_error(reader, WEFT_ERROR_SYNTAX, reader->token->line, reader->token->column,
                                  "expected the parameter's value, an integer");
            goto done;
        }
        parameter->has_value = true;
        parameter->value = (int)reader->token->number * (negative ? -1 : 1);
        ++reader->token;
    }
    TRY(expect_end(reader));
done:
    return status;
}

/* table := formal "=" name "(" term { "," term } ")" */
static weft_status read_table(kernel_reader *reader, const meta_line *meta)
{
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    weft_formal_table table = {0};
    if (function->n_tables == WEFT_TABLES_MAX)
        return reader_error(reader, WEFT_ERROR_UNSUPPORTED, meta->line, meta->column, "more than %d tables",
                            WEFT_TABLES_MAX);
    reader->mode = READ_SIGNATURE;
    TRY(meta_tokens(reader, meta));
    TRY(read_formal(reader, "a table's name", &table.formal));
    TRY(reader_expect(reader, "=", "and what makes the table"));
    TRY(reader_new_name(reader, "a table maker's name", &table.maker));
    TRY(reader_expect(reader, "(", "after the table maker's name"));
    reader->mode = READ_FORMULA;
    if (!reader_is(reader, ")"))
        do {
            if (table.n_arguments == WEFT_RANK_MAX) {
                status = reader_error(reader, WEFT_ERROR_UNSUPPORTED, reader->token->line, reader->token->column,
                                      "more than four arguments of a table");
                goto done;
            }
            TRY(reader_integer_term(reader, "a table's argument", &table.arguments[table.n_arguments]));
            ++table.n_arguments;
        } while (reader_accept(reader, ","));
    TRY(reader_expect(reader, ")", "after the table's arguments"));
    TRY(expect_end(reader));
    function->tables[function->n_tables++] = table;
done:
    return status;
}

static weft_status read_where(kernel_reader *reader, const meta_line *meta)
{
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    if (function->n_wheres == WEFT_WHERES_MAX)
        return reader_error(reader, WEFT_ERROR_UNSUPPORTED, meta->line, meta->column, "more than %d where lines",
                            WEFT_WHERES_MAX);
    reader->mode = READ_FORMULA;
    TRY(meta_tokens(reader, meta));
    weft_term *term = NULL;
    TRY(reader_term(reader, &term));
    TRY(expect_end(reader));
    if (term->type != TYPE_CONDITION) {
        status = reader_error(reader, WEFT_ERROR_TYPE, term->line, term->column,
                              "a where line is a comparison of sizes, such as n == d + 1");
        goto done;
    }
    TRY(meta_text(reader, meta, &function->where_texts[function->n_wheres]));
    function->wheres[function->n_wheres++] = term;
done:
    return status;
}

static weft_status read_kind(kernel_reader *reader, const meta_line *meta)
{
    weft_status status = WEFT_OK;
    TRY(meta_text(reader, meta, &reader->function->info.kind));
    const char *kind = reader->function->info.kind;
    if (strncmp(kind, "reduce", 6) == 0 || strncmp(kind, "nested", 6) == 0)
        status = reader_error(reader, WEFT_ERROR_UNSUPPORTED, meta->line, meta->rest_column,
                              "functions of kind '%.6s' are not compiled yet", kind);
    else if (strcmp(kind, "map") != 0)
        status = reader_error(reader, WEFT_ERROR_SYNTAX, meta->line, meta->rest_column,
                              "unknown kind '%s': expected map", kind);
done:
    return status;
}

static weft_status read_source(kernel_reader *reader, const meta_line *meta)
{
    const char *text = NULL;
    weft_function_info *info = &reader->function->info;
    weft_status status = WEFT_OK;
    TRY(meta_text(reader, meta, &text));
    info->source = info->source ? weft_arena_print(reader->arena, "%s; %s", info->source, text) : text;
    if (!info->source)
        status = reader_memory(reader);
done:
    return status;
}

static weft_status read_flops(kernel_reader *reader, const meta_line *meta)
{
    weft_status status = WEFT_OK;
    reader->mode = READ_FORMULA;
    TRY(meta_tokens(reader, meta));
    TRY(reader_integer_term(reader, "flops", &reader->function->flops));
    TRY(expect_end(reader));
    TRY(meta_text(reader, meta, &reader->function->info.flops));
done:
    return status;
}

/* pattern := name [ "(" subscript { "," subscript } ")" ],  subscript := ":" | term in t and sizes */
static weft_status read_pattern(kernel_reader *reader, weft_variant *variant)
{
    weft_status status = WEFT_OK;
    const weft_function *function = reader->function;
    const kernel_token *token = reader->token;
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
    if (token->kind != KERNEL_NAME || !formal)
        return reader_error(reader, WEFT_ERROR_TYPE, token->line, token->column,
                            "expected an argument or the result with its subscripts, as in A(t,:), found %s",
                            reader_found(reader));
    ++reader->token;
    int n = 0;
    if (reader_accept(reader, "(")) {
        do {
            weft_term *term = NULL;
            if (!reader_accept(reader, ":"))
                TRY(reader_integer_term(reader, "a subscript", &term));
            if (n < WEFT_RANK_MAX)
                pattern->subscripts[n] = term;
            ++n;
        } while (reader_accept(reader, ","));
        TRY(reader_expect(reader, ")", "after the subscripts"));
    }
    if (n != formal->rank)
        status = reader_error(reader, WEFT_ERROR_TYPE, token->line, token->column,
                              "'%s' has %d subscripts, %d are given", formal->name, formal->rank, n);
done:
    return status;
}

/* threads := term { pattern } */
static weft_status read_threads(kernel_reader *reader, const meta_line *meta, weft_variant **out)
{
    weft_status status = WEFT_OK;
    weft_function *function = reader->function;
    weft_variant *variant = weft_arena_alloc(reader->arena, 1, sizeof *variant);
    if (!variant)
        return reader_memory(reader);
    if (function->n_variants == WEFT_VARIANTS_MAX)
        return reader_error(reader, WEFT_ERROR_UNSUPPORTED, meta->line, meta->column, "more than %d variants",
                            WEFT_VARIANTS_MAX);
    reader->mode = READ_FORMULA;
    TRY(meta_tokens(reader, meta));
    TRY(reader_integer_term(reader, "the number of threads", &variant->threads));
    const char *end = meta->rest + (reader->token->column - meta->rest_column);
    while (end > meta->rest && isspace((unsigned char)end[-1]))
        --end;
    variant->threads_text = weft_arena_copy(reader->arena, meta->rest, (size_t)(end - meta->rest));
    if (!variant->threads_text)
        return reader_memory(reader);
    variant->line = meta->line;
    reader->mode = READ_PATTERN;
    while (reader->token->kind != KERNEL_END)
        TRY(read_pattern(reader, variant));
    function->variants[function->n_variants++] = variant;
    *out = variant;
done:
    return status;
}

/* Mark the names that a formal's sizes give a value, or find that all are known. */
static void bind_names(const weft_formal *formal, bool *bound)
{
    int64_t added;
    for (int i = 0; i < formal->rank; ++i) {
        int index = weft_term_linear(formal->sizes[i], &added);
        if (index >= 0)
            bound[index] = true;
    }
}

static const weft_term *unbound_name(const weft_term *term, const bool *bound)
{
    if (term->kind == TERM_SIZE)
        return bound[term->index] ? NULL : term;
    const weft_term *found = NULL;
    for (int i = 0; i < term->n_children && !found; ++i)
        found = unbound_name(term->children[i], bound);
    return found;
}

static weft_status check_bound(kernel_reader *reader, const weft_term *term, const bool *bound)
{
    const weft_term *name = unbound_name(term, bound);
    if (!name)
        return WEFT_OK;
    weft_status status = reader_error(reader, WEFT_ERROR_TYPE, name->line, name->column,
                                      "nothing gives the size '%s' a value",
                                      reader->function->names[name->index].name);
    weft_error_hint(reader->error, "a size gets its value where it stands alone, or as name + integer, in the type "
                                   "of an argument or of a table above, or from a '//@ parameter' line");
    return status;
}

/* Every size of every type can be known from the arguments, parameters and tables, in that order. */
static weft_status check_names(kernel_reader *reader)
{
    weft_status status = WEFT_OK;
    const weft_function *function = reader->function;
    bool bound[WEFT_NAMES_MAX] = {false};
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

/* The function is complete: check it, and put it into the list. */
static weft_status finish_function(file_reader *file, const char *end)
{
    weft_status status = WEFT_OK;
    kernel_reader *reader = &file->reader;
    weft_function *function = reader->function;
    if (!function)
        return WEFT_OK;
    const char *name = function->info.name;
    const char *missing = !function->info.kind    ? "//@ kind map"
                          : !function->flops      ? "//@ flops FORMULA"
                          : !function->info.source ? "//@ source WHERE IT IS FROM"
                          : !function->n_variants ? "//@ threads 1, and the body below it"
                                                  : NULL;
    if (missing) {
        status = reader_error(reader, WEFT_ERROR_SYNTAX, function->info.line, 1, "the function '%s' is not complete",
                              name);
        weft_error_hint(reader->error, "add a line '%s'", missing);
        goto done;
    }
    TRY(check_names(reader));
    for (size_t i = 0; i < file->n; ++i)
        if (strcmp(file->functions[i]->info.name, name) == 0) {
            status = reader_error(reader, WEFT_ERROR_TYPE, function->info.line, 1,
                                  "'%s' is already defined in this file, on line %d", name,
                                  file->functions[i]->info.line);
            goto done;
        }
    const char **granularities = weft_arena_alloc(reader->arena, (size_t)function->n_variants, sizeof *granularities);
    while (end > file->function_text && isspace((unsigned char)end[-1]))
        --end;
    function->info.text = weft_arena_copy(reader->arena, file->function_text, (size_t)(end - file->function_text));
    if (!granularities || !function->info.text)
        return reader_memory(reader);
    for (int i = 0; i < function->n_variants; ++i)
        granularities[i] = function->variants[i]->threads_text;
    function->info.granularities = granularities;
    function->info.n_variants = function->n_variants;
    if (file->n == file->capacity) {
        size_t capacity = file->capacity ? file->capacity * 2 : 16;
        weft_function **more = weft_arena_alloc(reader->arena, capacity, sizeof *more);
        if (!more)
            return reader_memory(reader);
        if (file->n)
            memcpy(more, file->functions, file->n * sizeof *more);
        file->functions = more;
        file->capacity = capacity;
    }
    file->functions[file->n++] = function;
done:
    return status;
}

/* The lines up to the next metadata line, or the end. */
static weft_status read_body_lines(file_reader *file, weft_variant *variant)
{
    weft_status status = WEFT_OK;
    kernel_reader *reader = &file->reader;
    const char *start = file->text;
    int line = file->line;
    while (*file->text && !is_meta(file->text)) {
        file->text = line_end(file->text);
        file->text += *file->text == '\n';
        ++file->line;
    }
    TRY(kernel_tokens_make(reader, start, (size_t)(file->text - start), line, 1, &reader->token));
    if (variant) {
        if (reader->token->kind == KERNEL_END) {
            status = reader_error(reader, WEFT_ERROR_SYNTAX, variant->line, 1, "no body below this line");
            goto done;
        }
        TRY(reader_body(reader, &variant->body));
    } else if (reader->token->kind != KERNEL_END) {
        status = reader_error(reader, WEFT_ERROR_SYNTAX, reader->token->line, reader->token->column,
                              "code before a '//@ threads' line");
        weft_error_hint(reader->error, "a kernel file is '//@ function', 'kind', 'flops', 'source' lines, and a body "
                                       "below each '//@ threads' line");
    }
done:
    return status;
}

typedef weft_status (*line_reader)(kernel_reader *reader, const meta_line *meta);

static weft_status begin_function(file_reader *file, const meta_line *meta, const char *text)
{
    weft_status status = WEFT_OK;
    kernel_reader *reader = &file->reader;
    TRY(finish_function(file, text));
    reader->function = weft_arena_alloc(reader->arena, 1, sizeof *reader->function);
    if (!reader->function)
        return reader_memory(reader);
    reader->function->source = reader->source;
    reader->function->info.file = reader->source.name;
    reader->function->info.line = meta->line;
    file->function_text = text;
    TRY(read_signature(reader, meta));
done:
    return status;
}

static weft_status read_meta(file_reader *file, const meta_line *meta, const char *text, weft_variant **variant)
{
    static const struct {
        const char *keyword;
        line_reader read;
    } readers[] = {{"kind", read_kind},           {"flops", read_flops}, {"source", read_source},
                   {"parameter", read_parameter}, {"table", read_table}, {"where", read_where}};
    static const char *const keywords[] = {"function", "kind",  "flops", "source",
                                           "parameter", "table", "where", "threads"};
    kernel_reader *reader = &file->reader;
    reader->depth = 0;
    *variant = NULL;
    if (meta_is(meta, "function"))
        return begin_function(file, meta, text);
    if (!reader->function)
        return reader_error(reader, WEFT_ERROR_SYNTAX, meta->line, meta->column,
                            "a kernel file begins with a '//@ function' line");
    if (meta_is(meta, "threads"))
        return read_threads(reader, meta, variant);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; ++i)
        if (meta_is(meta, readers[i].keyword)) {
            if (reader->function->n_variants == 0)
                return readers[i].read(reader, meta);
            return reader_error(reader, WEFT_ERROR_SYNTAX, meta->line, meta->column,
                                "'%s' lines stand above the first '//@ threads' line", readers[i].keyword);
        }
    char word[32];
    size_t length = meta->keyword_length < sizeof word ? meta->keyword_length : sizeof word - 1;
    memcpy(word, meta->keyword, length);
    word[length] = '\0';
    weft_status status = reader_error(reader, WEFT_ERROR_SYNTAX, meta->line, meta->column, "unknown line '//@ %s'",
                                      word);
    const char *near = weft_nearest_name(word, keywords, sizeof keywords / sizeof *keywords);
    weft_error_hint(reader->error, near ? "did you mean '%s'?" : "expected function, kind, flops, source, parameter, "
                                                                 "table, where or threads", near);
    return status;
}

weft_status weft_kernel_file_read(weft_arena *arena, const weft_source *source, weft_function_list *out,
                                  weft_error *error)
{
    weft_status status = WEFT_OK;
    file_reader file = {.reader = {.arena = arena, .source = *source, .error = error}, .text = source->text,
                        .line = 1};
    weft_variant *variant = NULL;
    TRY(weft_arena_make(&file.reader.scratch, error));
    TRY(read_body_lines(&file, NULL));
    while (*file.text) {
        const char *text = file.text;
        meta_line meta = meta_make(text, file.line);
        file.text = line_end(text);
        file.text += *file.text == '\n';
        ++file.line;
        TRY(read_meta(&file, &meta, text, &variant));
        TRY(read_body_lines(&file, variant));
    }
    TRY(finish_function(&file, file.text));
    if (file.n == 0) {
        status = reader_error(&file.reader, WEFT_ERROR_SYNTAX, 1, 1, "no '//@ function' line in this file");
        goto done;
    }
    *out = (weft_function_list){file.functions, file.n};
done:
    weft_arena_free(&file.reader.scratch);
    return status;
}
