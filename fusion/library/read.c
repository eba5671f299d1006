/* Reads the functions of a kernel file: `//@` lines, and bodies below `//@ threads` lines. */
#include "fusion/base/array.h"
#include "fusion/library/private.h"

#include <ctype.h>
#include <string.h>

/* The state of reading one file. */
typedef struct file_reader {
    kernel_reader reader;
    const char *text; /* the next line */
    int line;
    const char *function_text; /* of the function being read */
    weft_function **functions;
    int n;
} file_reader;

int weft_function_name_index(const weft_function *function, const char *name) {
    return WEFT_FIND_NAME(function->names, function->n_names, name);
}

static const char *line_end(const char *text) {
    return text + strcspn(text, "\n");
}

const weft_common *weft_common_find(const weft_common *commons, const char *name, size_t length) {
    for (; commons; commons = commons->before)
        if (strlen(commons->name) == length && memcmp(commons->name, name, length) == 0)
            return commons;
    return NULL;
}

#define HELPERS "//@ helpers"

void weft_common_expand(const weft_common *commons, const char *text, size_t length,
                        weft_text *out) {
    const char *end = text + length;
    while (text < end) {
        const char *next = line_end(text), *word = text + strspn(text, " \t");
        next += next < end;
        const weft_common *common = NULL;
        if (strncmp(word, "use", 3) == 0 && (word[3] == ' ' || word[3] == '\t')) {
            word += 3 + strspn(word + 3, " \t");
            common = weft_common_find(commons, word, strcspn(word, " \t;"));
        }
        if (strncmp(word, HELPERS, sizeof HELPERS - 1) == 0) {
            const char *name = word + sizeof HELPERS - 1;
            name += strspn(name, " \t");
            common = weft_common_find(commons, name, strcspn(name, " \t\n"));
            weft_text_add(out, common ? HELPERS "\n" : "");
        }
        if (common)
            weft_common_expand(common->before, common->text, common->length, out);
        else
            weft_text_add_bytes(out, text, (size_t)(next - text));
        text = next;
    }
}

static void next_line(file_reader *file) {
    file->text = line_end(file->text);
    file->text += *file->text == '\n';
    ++file->line;
}

static bool is_meta(const char *text) {
    text += strspn(text, " \t");
    return strncmp(text, "//@", 3) == 0;
}

static meta_line meta_make(const file_reader *file, const char *text) {
    const weft_location place = weft_reader_line(&file->reader, file->line);
    meta_line meta = {.place = place, .rest_place = place, .end = line_end(text)};
    if (meta.end > text && meta.end[-1] == '\r')
        --meta.end;
    const char *p = text + strspn(text, " \t") + 3;
    p += strspn(p, " \t");
    meta.keyword = p;
    meta.place.column = (int)(p - text) + 1;
    while (p < meta.end && isalpha((unsigned char)*p))
        ++p;
    meta.keyword_length = (size_t)(p - meta.keyword);
    while (p < meta.end && (*p == ' ' || *p == '\t'))
        ++p;
    meta.rest = p;
    meta.rest_place.column = (int)(p - text) + 1;
    while (meta.end > meta.rest && isspace((unsigned char)meta.end[-1]))
        --meta.end;
    return meta;
}

static bool meta_is(const meta_line *meta, const char *keyword) {
    return meta->keyword_length == strlen(keyword) &&
           memcmp(meta->keyword, keyword, meta->keyword_length) == 0;
}

/* Check a complete function and append it to the list. */
static weft_status finish_function(file_reader *file, const char *end) {
    weft_status status = WEFT_OK;
    kernel_reader *reader = &file->reader;
    weft_function *function = reader->function;
    weft_text text = {0};
    if (!function)
        goto done;
    TRY(weft_reader_native_finish(reader));
    const char *name = function->info.name;
    const char *missing = !function->info.kind     ? "//@ kind map"
                          : !function->flops       ? "//@ flops FORMULA"
                          : !function->info.source ? "//@ source WHERE IT IS FROM"
                          : !function->n_variants  ? "//@ threads 1, and the body below it"
                                                   : NULL;
    if (missing) {
        status = weft_error_at(reader->error, WEFT_ERROR_SYNTAX,
                               weft_reader_line(reader, function->info.line),
                               "the function '%s' is not complete", name);
        weft_error_hint(reader->error, "add a line '%s'", missing);
        goto done;
    }
    TRY(weft_reader_check_names(reader));
    TRY(weft_reader_check_over(reader));
    TRY(weft_reader_check_combine(reader));
    TRY(weft_reader_check_barriers(reader));
    for (int i = 0; i < file->n; ++i)
        if (strcmp(file->functions[i]->info.name, name) == 0)
            TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE,
                              weft_reader_line(reader, function->info.line),
                              "'%s' is already defined in this file, on line %d", name,
                              file->functions[i]->info.line));
    const char **granularities =
        weft_arena_alloc(reader->arena, (size_t)function->n_variants, sizeof *granularities);
    const char **languages =
        weft_arena_alloc(reader->arena, (size_t)function->n_variants, sizeof *languages);
    while (end > file->function_text && isspace((unsigned char)end[-1]))
        --end;
    weft_common_expand(reader->commons, file->function_text, (size_t)(end - file->function_text),
                       &text);
    if (!granularities || !languages || text.failed)
        TRY(weft_reader_memory(reader));
    function->info.text = weft_arena_copy(reader->arena, text.data, text.length);
    if (!function->info.text)
        TRY(weft_reader_memory(reader));
    for (int i = 0; i < function->n_variants; ++i) {
        const weft_variant *one = function->variants[i];
        granularities[i] = one->native
                               ? weft_arena_print(reader->arena, "%s in %s", one->threads_text,
                                                  weft_language_names[one->native->language])
                               : one->threads_text;
        languages[i] = weft_language_names[one->native ? one->native->language : LANGUAGE_PLAIN];
        if (!granularities[i])
            TRY(weft_reader_memory(reader));
    }
    function->info.languages = languages;
    function->info.granularities = granularities;
    function->info.n_variants = function->n_variants;
    TRY(WEFT_APPEND(reader->arena, file->functions, file->n, function, reader->error));
    reader->function = NULL;
done:
    weft_text_free(&text);
    return status;
}

/* What a line is followed by: a plain body, the text of a routine, or neither. */
typedef struct text_below {
    weft_variant *variant;
    weft_routine *routine;
} text_below;

/* The lines up to the next metadata line, or the end. */
static weft_status read_body_lines(file_reader *file, text_below below) {
    weft_status status = WEFT_OK;
    kernel_reader *reader = &file->reader;
    weft_variant *variant = below.variant;
    const char *start = file->text;
    int line = file->line;
    while (*file->text && !is_meta(file->text))
        next_line(file);
    if (below.routine) {
        const weft_routine text = {start, (size_t)(file->text - start), line};
        TRY(weft_reader_routine(reader, &text, below.routine));
        goto done;
    }
    TRY(weft_kernel_tokens_make(reader, start, (size_t)(file->text - start),
                                weft_reader_line(reader, line), NULL));
    if (variant) {
        if (reader->token->kind == TOKEN_END)
            TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX,
                              weft_reader_line(reader, variant->line), "no body below this line"));
        TRY(weft_reader_body(reader, &variant->body));
    } else if (reader->token->kind != TOKEN_END) {
        status = weft_error_at(reader->error, WEFT_ERROR_SYNTAX, reader->token->place,
                               "code before a '//@ threads' line");
        weft_error_hint(
            reader->error,
            "a kernel file is '//@ function', 'kind', 'flops', 'source' lines, and a body "
            "below each '//@ threads' line");
    }
done:
    return status;
}

typedef weft_status (*line_reader)(kernel_reader *reader, const meta_line *meta);

static weft_status begin_function(file_reader *file, const meta_line *meta, const char *text) {
    weft_status status = WEFT_OK;
    kernel_reader *reader = &file->reader;
    TRY(finish_function(file, text));
    reader->function = weft_arena_alloc(reader->arena, 1, sizeof *reader->function);
    if (!reader->function)
        TRY(weft_reader_memory(reader));
    reader->function->source = reader->source;
    reader->function->commons = reader->commons;
    reader->function->info.file = reader->source->name;
    reader->function->info.line = meta->place.line;
    file->function_text = text;
    TRY(weft_reader_signature(reader, meta));
done:
    return status;
}

/* `//@ common NAME`, and the lines up to the next metadata line */
static weft_status read_common(file_reader *file, const meta_line *meta, const char *text) {
    weft_status status = WEFT_OK;
    kernel_reader *reader = &file->reader;
    weft_common *common = weft_arena_alloc(reader->arena, 1, sizeof *common);
    if (!common)
        TRY(weft_reader_memory(reader));
    TRY(finish_function(file, text));
    TRY(weft_meta_tokens(reader, meta));
    TRY(weft_reader_new_name(reader, "a name of common statements", &common->name));
    TRY(weft_expect_end(reader));
    common->source = reader->source;
    common->text = file->text;
    common->line = file->line;
    common->before = reader->commons;
    while (*file->text && !is_meta(file->text))
        next_line(file);
    common->length = (size_t)(file->text - common->text);
    while (common->length > 1 && common->text[common->length - 2] == '\n')
        --common->length;
    if (strspn(common->text, " \t\r\n") >= common->length) /* what uses it finds its mistakes */
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX,
                          weft_reader_line(reader, meta->place.line),
                          "no statements below this line"));
    reader->commons = common;
done:
    return status;
}

/* `//@ threads`, of a plain or of the current native body */
static weft_status read_threads(kernel_reader *reader, const meta_line *meta, text_below *below) {
    weft_status status = WEFT_OK;
    weft_variant *variant = NULL;
    if (reader->native_variant) {
        status = weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place,
                               "a native body has one '//@ threads' line");
        weft_error_hint(reader->error, "plain bodies are above the first '//@ body' line; another "
                                       "native one begins with '//@ body'");
        goto done;
    }
    TRY(weft_reader_threads(reader, meta, &variant));
    variant->native = reader->native;
    if (reader->native && strcmp(variant->threads_text, "1") != 0 &&
        (reader->function->is_reduction || reader->function->index_sets[0]))
        TRY(weft_error_at(
            reader->error, WEFT_ERROR_UNSUPPORTED, meta->rest_place,
            "a native body of a reduction or a nested function has one thread, as its "
            "kernels have one per element"));
    if (reader->native)
        reader->native_variant = variant;
    else
        below->variant = variant;
done:
    return status;
}

static weft_status read_meta(file_reader *file, const meta_line *meta, const char *text,
                             text_below *below) {
    static const struct {
        const char *keyword;
        line_reader read;
    } readers[] = {{"kind", weft_reader_kind},       {"flops", weft_reader_flops},
                   {"source", weft_reader_source},   {"parameter", weft_reader_parameter},
                   {"table", weft_reader_table},     {"where", weft_reader_where},
                   {"shift", weft_reader_shift},     {"example", weft_reader_example},
                   {"product", weft_reader_product}, {"commutative", weft_reader_commutative},
                   {"unroll", weft_reader_unroll},   {"tune", weft_reader_tune}};
    static const char *const native_keywords[] = {"shared",  "registers", "operations", "helpers",
                                                  "compute", "load",      "store"};
    static const char *const keywords[] = {
        "function", "kind",        "flops",   "source",  "parameter", "table",
        "where",    "shift",       "example", "product", "threads",   "common",
        "identity", "commutative", "body",    "shared",  "registers", "operations",
        "helpers",  "compute",     "load",    "store",   "unroll",    "tune"};
    kernel_reader *reader = &file->reader;
    reader->depth = 0;
    reader->in_identity = false;
    *below = (text_below){NULL, NULL};
    if (meta_is(meta, "function"))
        return begin_function(file, meta, text);
    if (meta_is(meta, "common"))
        return read_common(file, meta, text);
    if (!reader->function)
        return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place,
                             "a kernel file begins with a '//@ function' line");
    if (meta_is(meta, "threads"))
        return read_threads(reader, meta, below);
    if (meta_is(meta, "body"))
        return weft_reader_native(reader, meta);
    for (size_t i = 0; i < sizeof native_keywords / sizeof *native_keywords; ++i)
        if (meta_is(meta, native_keywords[i]))
            return weft_reader_native_line(reader, meta, &below->routine);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; ++i)
        if (meta_is(meta, readers[i].keyword)) {
            if (reader->function->n_variants == 0)
                return readers[i].read(reader, meta);
            return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place,
                                 "'%s' lines belong above the first '//@ threads' line",
                                 readers[i].keyword);
        }
    if (meta_is(meta, "identity") && reader->function->n_variants > 0)
        return weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place,
                             "'identity' lines belong above the first '//@ threads' line");
    if (meta_is(meta, "identity")) {
        reader->in_identity = true;
        return weft_reader_identity(reader, meta, &below->variant);
    }
    char word[32];
    size_t length = meta->keyword_length < sizeof word ? meta->keyword_length : sizeof word - 1;
    memcpy(word, meta->keyword, length);
    word[length] = '\0';
    weft_status status =
        weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place, "unknown line '//@ %s'", word);
    const char *near = weft_nearest_name(word, keywords, sizeof keywords / sizeof *keywords);
    weft_error_hint(reader->error,
                    near ? "did you mean '%s'?"
                         : "expected function, kind, flops, source, parameter, tune, "
                           "table, where, shift, example, product, commutative, identity, unroll, "
                           "threads, body or common",
                    near);
    return status;
}

weft_status weft_kernel_file_read(weft_arena *arena, const weft_source *source,
                                  const weft_common **commons, weft_function_list *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    file_reader file = {
        .reader = {.arena = arena, .source = source, .error = error, .commons = *commons},
        .text = source->text,
        .line = 1};
    text_below below = {NULL, NULL};
    TRY(read_body_lines(&file, below));
    while (*file.text) {
        const char *text = file.text;
        meta_line meta = meta_make(&file, text);
        next_line(&file);
        TRY(read_meta(&file, &meta, text, &below));
        TRY(read_body_lines(&file, below));
    }
    TRY(finish_function(&file, file.text));
    if (file.n == 0)
        TRY(weft_error_at(error, WEFT_ERROR_SYNTAX, weft_reader_line(&file.reader, 1),
                          "no '//@ function' line in this file"));
    *out = (weft_function_list){file.functions, (size_t)file.n};
    *commons = file.reader.commons;
done:
    weft_arena_free(&file.reader.scratch);
    return status;
}
