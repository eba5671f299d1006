/* Reads native bodies of kernel files: `//@ body cuda`, its declarations and its routines, whose text is not parsed but searched
 * for what would break the code around it. */
#include "core/base/number.h"
#include "fusion/base/array.h"
#include "fusion/library/private.h"

#include <ctype.h>
#include <string.h>

const char *const weft_language_names[WEFT_LANGUAGES] = {"plain", "c", "cuda"};

weft_status weft_reader_native(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_native *native = NULL;
    int language = LANGUAGE_C;
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    const weft_token *token = reader->token;
    while (language < WEFT_LANGUAGES && strcmp(token->text, weft_language_names[language]) != 0)
        ++language;
    if (language == WEFT_LANGUAGES)
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, token->place,
                          "expected the language of the body, c or cuda, found %s",
                          weft_reader_found(reader)));
    ++reader->token;
    TRY(weft_expect_end(reader));
    if (reader->function->n_variants == 0) {
        status = weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place,
                               "a native body before the first plain one");
        weft_error_hint(reader->error,
                        "the plain body below '//@ threads 1' says what '%s' computes: native "
                        "bodies are checked against it, and it runs where they cannot",
                        reader->function->info.name);
        goto done;
    }
    TRY(weft_reader_native_finish(reader));
    TRY(WEFT_ALLOC(reader->arena, native, 1, reader->error));
    native->language = (weft_language)language;
    reader->native = native;
    reader->native_variant = NULL;
    reader->native_line = meta->place.line;
done:
    return status;
}

weft_status weft_reader_native_finish(kernel_reader *reader) {
    const weft_native *native = reader->native;
    const bool has_threads = reader->native_variant;
    reader->native = NULL;
    reader->native_variant = NULL;
    if (!native || (has_threads && native->compute.text))
        return WEFT_OK;
    weft_error_at(reader->error, WEFT_ERROR_SYNTAX, weft_reader_line(reader, reader->native_line),
                  "this body has no '//@ %s' line", has_threads ? "compute" : "threads");
    weft_error_hint(reader->error,
                    has_threads ? "its statements are below '//@ compute'"
                                : "add '//@ threads N', and what thread t has of each argument and "
                                  "of the result");
    return WEFT_ERROR_SYNTAX;
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* A formula in sizes, and the rest of the line. */
static weft_status read_number(kernel_reader *reader, const meta_line *meta, const char *what,
                               weft_term **out) {
    weft_status status = WEFT_OK;
    if (*out)
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place,
                          "a second line '%.*s' of this body", (int)meta->keyword_length,
                          meta->keyword));
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    TRY(weft_reader_integer_term(reader, what, out));
done:
    return status;
}

/* shared := term ( "reals" | "bytes" ) */
static weft_status read_shared(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    weft_native *native = reader->native;
    TRY(read_number(reader, meta, "the shared memory of an element", &native->shared));
    native->shared_is_reals = weft_reader_accept(reader, "reals");
    if (!native->shared_is_reals)
        TRY(weft_reader_expect(reader, "bytes",
                               "or 'reals' after the shared memory of an element"));
    TRY(weft_expect_end(reader));
done:
    return status;
}

static weft_status read_registers(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    TRY(read_number(reader, meta, "the registers of a thread", &reader->native->registers));
    TRY(weft_expect_end(reader));
done:
    return status;
}

static weft_status read_operations(kernel_reader *reader, const meta_line *meta) {
    weft_status status = WEFT_OK;
    TRY(read_number(reader, meta, "the operations of an element", &reader->native->operations));
    TRY(weft_expect_end(reader));
done:
    return status;
}

/* The routine that a line begins; NULL: the line names no argument. */
static weft_routine *routine_of(kernel_reader *reader, const meta_line *meta) {
    const weft_function *function = reader->function;
    weft_native *native = reader->native;
    const size_t length = meta->keyword_length;
    const char *name = reader->token->text;
    if (strncmp(meta->keyword, "helpers", length) == 0 && length == 7)
        return &native->helpers;
    if (strncmp(meta->keyword, "compute", length) == 0 && length == 7)
        return &native->compute;
    if (reader->token->kind != TOKEN_NAME)
        return NULL;
    ++reader->token;
    if (*meta->keyword == 's')
        return strcmp(function->result.name, name) == 0 ? &native->store : NULL;
    for (int i = 0; i < function->n_arguments; ++i)
        if (strcmp(function->arguments[i].name, name) == 0)
            return &native->loads[i];
    return NULL;
}

static bool is_of_moves(const char *name) {
    return strcmp(name, "from") == 0 || strcmp(name, "to") == 0 || strcmp(name, "stride") == 0;
}

/* A routine that loads an argument or stores the result. */
static weft_status check_move(kernel_reader *reader, const meta_line *meta, bool stores) {
    const weft_function *function = reader->function;
    const char *name = reader->token[-1].text;
    const weft_formal *formal = &function->result;
    for (int i = 0; i < function->n_arguments && !stores; ++i)
        if (strcmp(function->arguments[i].name, name) == 0)
            formal = &function->arguments[i];
    bool hides = is_of_moves(function->result.name);
    for (int i = 0; i < function->n_arguments; ++i)
        hides |= is_of_moves(function->arguments[i].name);
    const bool one = strcmp(reader->native_variant->threads_text, "1") == 0;
    const char *why =
        reader->native->language != LANGUAGE_CUDA
            ? "a body in C has no load and store routines: its operands are vectors of lanes in "
              "registers"
        : hides ? "'from', 'to' and 'stride' have a meaning in load and store routines, and this "
                  "function has an operand of such a name"
        : one   ? "load and store routines are for bodies of several threads"
        : formal->rank == 0 ? "a scalar has no load or store routine: generated code moves it"
                            : NULL;
    return why ? weft_error_at(reader->error, WEFT_ERROR_UNSUPPORTED, meta->place, "%s", why)
               : WEFT_OK;
}

/* `//@ helpers NAME`: the text below `//@ common NAME` of the same file. */
static weft_status take_common(kernel_reader *reader, weft_routine **out) {
    weft_status status = WEFT_OK;
    const weft_token *token = reader->token++;
    const weft_common *common = weft_common_find(reader->commons, token->text, strlen(token->text));
    if (!common || common->source != reader->source)
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, token->place,
                          "there is no '//@ common %s' above in this file", token->text));
    TRY(weft_expect_end(reader));
    const weft_routine text = {common->text, common->length, common->line};
    TRY(weft_reader_routine(reader, &text, *out));
    *out = NULL;
done:
    return status;
}

static weft_status begin_routine(kernel_reader *reader, const meta_line *meta, weft_routine **out) {
    weft_status status = WEFT_OK;
    reader->mode = READ_FORMULA;
    TRY(weft_meta_tokens(reader, meta));
    const weft_location place = reader->token->place;
    const bool stores = *meta->keyword == 's';
    *out = routine_of(reader, meta);
    if (!*out)
        TRY(weft_error_at(reader->error, WEFT_ERROR_TYPE, place,
                          stores ? "a store line names the result '%s'"
                                 : "a load line names an argument of '%s'",
                          stores ? reader->function->result.name : reader->function->info.name));
    if ((*out)->text)
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place,
                          "a second routine of this kind, after that of line %d",
                          (*out)->line - 1));
    if (*out == &reader->native->helpers && reader->token->kind == TOKEN_NAME) {
        status = take_common(reader, out);
        goto done;
    }
    TRY(weft_expect_end(reader));
    if (*out != &reader->native->helpers && *out != &reader->native->compute)
        TRY(check_move(reader, meta, stores));
done:
    return status;
}

weft_status weft_reader_native_line(kernel_reader *reader, const meta_line *meta,
                                    weft_routine **out) {
    static const struct {
        const char *keyword;
        weft_status (*read)(kernel_reader *reader, const meta_line *meta);
    } readers[] = {
        {"shared", read_shared}, {"registers", read_registers}, {"operations", read_operations}};
    *out = NULL;
    if (!reader->native || !reader->native_variant) {
        weft_error_at(reader->error, WEFT_ERROR_SYNTAX, meta->place,
                      reader->native ? "'%.*s' comes after the '//@ threads' line of its body"
                                     : "'%.*s' belongs below a '//@ body' line",
                      (int)meta->keyword_length, meta->keyword);
        weft_error_hint(reader->error, "a native body is '//@ body cuda', '//@ threads N' with its "
                                       "pattern, '//@ shared', '//@ compute' and its statements");
        return WEFT_ERROR_SYNTAX;
    }
    for (size_t i = 0; i < sizeof readers / sizeof *readers; ++i)
        if (strlen(readers[i].keyword) == meta->keyword_length &&
            strncmp(readers[i].keyword, meta->keyword, meta->keyword_length) == 0)
            return readers[i].read(reader, meta);
    return begin_routine(reader, meta, out);
}

/* ---- the text of a routine ------------------------------------------------------------------- */

typedef struct text_search {
    kernel_reader *reader;
    weft_native *native;
    weft_routine *routine;
    const char *text, *end, *line_start;
    weft_location place; /* of the current word */
    weft_location opened[WEFT_NESTING_MAX];
    char closing[WEFT_NESTING_MAX];
    int depth;
    bool after_enum, in_enum; /* of the helpers, in the outermost block */
    char previous;            /* the last character that is not blank */
} text_search;

static weft_location place_of(const text_search *s) {
    weft_location place = s->place;
    place.column = (int)(s->text - s->line_start) + 1;
    return place;
}

static weft_status refuse(const text_search *s, const char *hint, const char *format, ...)
    WEFT_PRINTF(3, 4);

static weft_status refuse(const text_search *s, const char *hint, const char *format, ...) {
    char message[300];
    va_list arguments;
    va_start(arguments, format);
    weft_print_list(message, sizeof message, format, arguments);
    va_end(arguments);
    weft_error_at(s->reader->error, WEFT_ERROR_SYNTAX, place_of(s), "%s", message);
    if (hint)
        weft_error_hint(s->reader->error, "%s", hint);
    return WEFT_ERROR_SYNTAX;
}

static void next_line(text_search *s) {
    ++s->place.line;
    s->line_start = s->text + 1;
}

/* Skip a comment, string or character. */
static weft_status skip_quoted(text_search *s, const char *closing) {
    const text_search start = *s;
    const size_t n = strlen(closing);
    const bool is_comment = closing[0] == '*';
    for (s->text += is_comment ? 2 : 1; s->text < s->end && strncmp(s->text, closing, n) != 0;
         ++s->text) {
        if (!is_comment && *s->text == '\n')
            break;
        if (!is_comment && *s->text == '\\' && s->text + 1 < s->end)
            ++s->text;
        if (*s->text == '\n')
            next_line(s);
    }
    if (s->text >= s->end || *s->text == '\n')
        return refuse(&start, NULL, "this %s does not end: %s is missing",
                      is_comment ? "comment" : "text in quotes", closing);
    s->text += n;
    return WEFT_OK;
}

static weft_status add_name(text_search *s, const char *name, size_t length, const char ***list,
                            int *n) {
    weft_status status = WEFT_OK;
    const char *copy = weft_arena_copy(s->reader->arena, name, length);
    if (!copy)
        TRY(weft_reader_memory(s->reader));
    for (int i = 0; i < *n; ++i)
        if (strcmp((*list)[i], copy) == 0)
            goto done;
    TRY(WEFT_APPEND(s->reader->arena, *list, *n, copy, s->reader->error));
done:
    return status;
}

static size_t word_length(const char *text, const char *end) {
    size_t n = 0;
    while (text + n < end && (isalnum((unsigned char)text[n]) || text[n] == '_'))
        ++n;
    return n;
}

/* A line that begins with '#'. What it defines is undone behind the body. */
static weft_status search_directive(text_search *s) {
    weft_status status = WEFT_OK;
    const char *word = s->text + 1;
    word += strspn(word, " \t");
    const size_t n = word_length(word, s->end);
    static const char *const allowed[] = {"define", "undef", "if",    "ifdef", "ifndef",
                                          "elif",   "else",  "endif", "pragma"};
    bool found = false;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; ++i)
        found |= strlen(allowed[i]) == n && strncmp(word, allowed[i], n) == 0;
    if (!found)
        TRY(refuse(s, "generated code is compiled without the headers of the system",
                   "'#%.*s' is not allowed in a native body", (int)n, word));
    if (n == 6 && strncmp(word, "define", n) == 0) {
        word += n + strspn(word + n, " \t");
        TRY(add_name(s, word, word_length(word, s->end), &s->native->macros, &s->native->n_macros));
    }
    while (s->text < s->end && *s->text != '\n') {
        if (*s->text == '\\' && s->text + 1 < s->end && s->text[1] == '\n') {
            ++s->text;
            next_line(s);
        }
        ++s->text;
    }
done:
    return status;
}

static bool is_word(const char *word, size_t n, const char *text) {
    return strlen(text) == n && strncmp(word, text, n) == 0;
}

/* __shared__ is moved to the element's part of the block's shared memory. */
static weft_status check_shared(text_search *s) {
    if (s->routine != &s->native->compute || s->depth > 0)
        return refuse(s, NULL,
                      "__shared__ data are declared in the outermost block of the compute routine");
    if (!s->native->shared)
        return refuse(s,
                      "add a line such as '//@ shared 32 reals' or '//@ shared 128 bytes' below "
                      "its '//@ threads' line",
                      "this body has shared memory, but does not say how much");
    const char *behind = s->text;
    while (behind < s->end && *behind != ';' && *behind != ',' && *behind != '=')
        ++behind;
    if (behind == s->end || *behind != ';')
        return refuse(s, "write '__shared__ real list[32];', one variable each",
                      "__shared__ data have no initial value and one name");
    const size_t at = (size_t)(s->text - s->routine->text);
    return WEFT_APPEND(s->reader->arena, s->native->shared_at, s->native->n_shared, at,
                       s->reader->error);
}

static weft_status check_wait(text_search *s, const char *word, size_t n) {
    const char *threads = s->reader->native_variant->threads_text;
    if (s->routine == &s->native->store)
        return refuse(s, "it may be in the compute routine",
                      "'%.*s' in a store routine, which threads without an element do not run",
                      (int)n, word);
    if (s->native->language != LANGUAGE_CUDA)
        return refuse(s, "such a body is '//@ body cuda'", "'%.*s' is CUDA, and this body is in C",
                      (int)n, word);
    if (s->routine == &s->native->helpers || !threads || strcmp(threads, "1") != 0) {
        s->native->waits = s->native->waits ? s->native->waits : s->place.line;
        return WEFT_OK;
    }
    return refuse(s, "declare a body of several threads, as in //@ threads 32",
                  "'%.*s' in a body of one thread: the threads beside it may have no element",
                  (int)n, word);
}

/* Does a word of the helpers name what they define outside of functions? Such names are made unique. */
static bool defines(const text_search *s, const char *word, size_t n) {
    static const char *const others[] = {"struct",   "union",         "enum",
                                         "class",    "sizeof",        "alignas",
                                         "decltype", "static_assert", "operator"};
    const char *after = word + n;
    while (after < s->end && isspace((unsigned char)*after))
        ++after;
    if (after == s->end || *word == '_')
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        if (is_word(word, n, others[i]))
            return false;
    return s->depth == 0 ? strchr("([={;", *after) != NULL
                         : s->depth == 1 && s->in_enum && strchr(",=}", *after);
}

static weft_status search_word(text_search *s) {
    weft_status status = WEFT_OK;
    const char *word = s->text;
    const size_t n = word_length(word, s->end);
    const bool in_helpers = s->routine == &s->native->helpers;
    if (is_word(word, n, "return") && !in_helpers)
        TRY(refuse(s, "use if, or a function below '//@ helpers'",
                   "'return' in a routine: what is behind it is for all threads"));
    if (is_word(word, n, "goto") || is_word(word, n, "extern"))
        TRY(refuse(s, NULL, "'%.*s' is not allowed in a native body", (int)n, word));
    if (is_word(word, n, "__shared__")) {
        if (s->native->language != LANGUAGE_CUDA)
            TRY(check_wait(s, word, n));
        TRY(check_shared(s));
    }
    if (n > 7 && strncmp(word, "__", 2) == 0 &&
        (strncmp(word + n - 5, "_sync", 5) == 0 || strncmp(word, "__sync", 6) == 0))
        TRY(check_wait(s, word, n));
    if (in_helpers && defines(s, word, n))
        TRY(add_name(s, word, n, &s->native->globals, &s->native->n_globals));
    s->after_enum |= s->depth == 0 && is_word(word, n, "enum");
    s->text += n;
    s->previous = 'a';
done:
    return status;
}

static weft_status search_symbol(text_search *s) {
    static const char opening[] = "({[", closing[] = ")}]";
    const char c = *s->text;
    const char *open = strchr(opening, c), *close = strchr(closing, c);
    if (open && s->depth == WEFT_NESTING_MAX)
        return refuse(s, NULL, "more than %d brackets inside each other", WEFT_NESTING_MAX);
    if (open) {
        s->opened[s->depth] = place_of(s);
        s->closing[s->depth++] = closing[open - opening];
    }
    if (close && (s->depth == 0 || s->closing[s->depth - 1] != c))
        return refuse(s, NULL, "this '%c' closes nothing", c);
    s->depth -= close != NULL;
    if (s->depth == 1 && c == '{')
        s->in_enum = s->after_enum;
    if (s->depth == 0 && (c == ';' || c == '}'))
        s->after_enum = false;
    if (!isspace((unsigned char)c))
        s->previous = c;
    if (c == '\n')
        next_line(s);
    ++s->text;
    return WEFT_OK;
}

static weft_status search_text(text_search *s) {
    weft_status status = WEFT_OK;
    while (s->text < s->end) {
        const char c = *s->text;
        const bool starts_line = strspn(s->line_start, " \t") == (size_t)(s->text - s->line_start);
        if (c == '/' && s->text[1] == '*')
            TRY(skip_quoted(s, "*/"));
        else if (c == '/' && s->text[1] == '/')
            s->text += strcspn(s->text, "\n");
        else if (c == '"' || (c == '\'' && s->previous != '0'))
            TRY(skip_quoted(s, c == '"' ? "\"" : "'"));
        else if (c == '#' && starts_line)
            TRY(search_directive(s));
        else if (isalpha((unsigned char)c) || c == '_')
            TRY(search_word(s));
        else if (isdigit((unsigned char)c)) {
            s->text += word_length(s->text, s->end);
            s->previous = '0'; /* before which ' separates digits */
        } else if (c == '\0')
            TRY(refuse(s, NULL, "the byte 0x00 is not allowed here"));
        else
            TRY(search_symbol(s));
    }
    if (s->depth > 0)
        status = weft_error_at(s->reader->error, WEFT_ERROR_SYNTAX, s->opened[s->depth - 1],
                               "this is not closed: '%c' is missing", s->closing[s->depth - 1]);
done:
    return status;
}

weft_status weft_reader_routine(kernel_reader *reader, const weft_routine *text,
                                weft_routine *out) {
    weft_status status = WEFT_OK;
    if (strspn(text->text, " \t\r\n") >= text->length)
        TRY(weft_error_at(reader->error, WEFT_ERROR_SYNTAX,
                          weft_reader_line(reader, text->line - 1), "no text below this line"));
    *out = *text;
    text_search s = {.reader = reader,
                     .native = reader->native,
                     .routine = out,
                     .text = text->text,
                     .end = text->text + text->length,
                     .line_start = text->text,
                     .place = weft_reader_line(reader, text->line)};
    TRY(search_text(&s));
done:
    return status;
}
