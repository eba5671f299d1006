/* Reads product kernels: lines `//@ NAME VALUE`, helper functions, `//@ body`, statements. */
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/embedded_product_kernels.h"
#include "fusion/library/library.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    weft_arena *arena;
    const weft_source *source;
    weft_product_kernel *product_kernel;
    int line;
    weft_error *error;
} reader;

static weft_status broken(const reader *r, const char *what) {
    const weft_location place = {r->source, r->line, 1};
    return weft_error_at(r->error, WEFT_ERROR_SYNTAX, place, "%s", what);
}

/* The rest of a line as a copy without blanks around it. */
static const char *rest(const reader *r, const char *from, const char *end) {
    while (from < end && isspace((unsigned char)*from))
        ++from;
    while (end > from && isspace((unsigned char)end[-1]))
        --end;
    return weft_arena_copy(r->arena, from, (size_t)(end - from));
}

static weft_status read_number(const reader *r, const char *text, int *out) {
    char *end = NULL;
    const long number = strtol(text, &end, 10);
    if (end == text || number < 1 || number > 65536)
        return broken(r, "a number from 1 to 65536 is missing here");
    *out = (int)number;
    return WEFT_OK;
}

/* "const double *values   description": the name is the first word that ends a declaration. */
static weft_status read_argument(reader *r, const char *text) {
    weft_product_kernel *product_kernel = r->product_kernel;
    const char *patch = strchr(text, '*'), *name = patch, *end = NULL;
    if (!patch)
        return broken(r, "an argument is a pointer, as in: argument const double *values");
    if (product_kernel->n_arguments == WEFT_PRODUCT_ARGUMENTS_MAX)
        return broken(r, "a product kernel has 16 arguments at most");
    for (++name; isspace((unsigned char)*name);)
        ++name;
    for (end = name; isalnum((unsigned char)*end) || *end == '_';)
        ++end;
    if (end == name)
        return broken(r, "the argument's name is missing after '*'");
    const weft_product_argument argument = {
        weft_arena_copy(r->arena, text, (size_t)(patch + 1 - text)),
        weft_arena_copy(r->arena, name, (size_t)(end - name))};
    if (!argument.type || !argument.name)
        return weft_no_memory(r->error);
    return WEFT_APPEND(r->arena, product_kernel->arguments, product_kernel->n_arguments, argument,
                       r->error);
}

static weft_status read_line(reader *r, const char *text) {
    static const char *const names[] = {"rows", "source", "threads", "nodes", "argument", "blocks"};
    size_t which = 0, length = 0;
    for (; which < sizeof names / sizeof *names; ++which) {
        length = strlen(names[which]);
        if (strncmp(text, names[which], length) == 0 && isspace((unsigned char)text[length]))
            break;
    }
    const char *said = text + length;
    while (isspace((unsigned char)*said))
        ++said;
    switch (which) {
    case 0:
        r->product_kernel->name = said;
        return WEFT_OK;
    case 1:
        return WEFT_OK;
    case 2:
        return read_number(r, said, &r->product_kernel->threads);
    case 3:
        return read_number(r, said, &r->product_kernel->rows);
    case 4:
        return read_argument(r, said);
    case 5:
        return read_number(r, said, &r->product_kernel->blocks);
    default:
        return broken(r, "lines of a product kernel are rows, source, threads, nodes, blocks, "
                         "argument and body");
    }
}

static weft_status check(const reader *r) {
    const weft_product_kernel *product_kernel = r->product_kernel;
    if (!product_kernel->name || !product_kernel->body)
        return broken(r, "a product kernel needs a line 'rows NAME' and a 'body'");
    if (product_kernel->threads < 32 || product_kernel->threads > WEFT_PRODUCT_TILE ||
        WEFT_PRODUCT_TILE % product_kernel->threads != 0)
        return broken(r, "the threads of a block must be 32, 64, 128, 256 or 512");
    if (product_kernel->blocks > 2048 / product_kernel->threads)
        return broken(r, "blocks times threads are more than a multiprocessor's 2048");
    const int rows = product_kernel->rows;
    if (rows < 1 ||
        (rows % WEFT_PRODUCT_TILE != 0 && rows != 32 && rows != 64 && rows != 128 && rows != 256))
        return broken(r, "the nodes of a block must be a multiple of 512, or 32, 64, 128 or 256");
    return WEFT_OK;
}

weft_status weft_product_kernel_read(weft_arena *arena, const weft_source *source,
                                     const weft_product_kernel **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_product_kernel *product_kernel = weft_arena_alloc(arena, 1, sizeof *product_kernel);
    reader r = {.arena = arena, .source = source, .product_kernel = product_kernel, .error = error};
    const char *helpers = NULL;
    if (!product_kernel)
        TRY(weft_no_memory(error));
    for (const char *at = source->text; *at != '\0' && !product_kernel->body;) {
        const char *end = strchr(at, '\n');
        const char *next = end ? end + 1 : at + strlen(at);
        ++r.line;
        if (strncmp(at, "//@", 3) == 0) {
            const char *text = rest(&r, at + 3, end ? end : next);
            if (!text)
                TRY(weft_no_memory(error));
            if (strcmp(text, "body") != 0)
                TRY(read_line(&r, text));
            else {
                product_kernel->helpers =
                    helpers ? weft_arena_copy(arena, helpers, (size_t)(at - helpers)) : "";
                product_kernel->body = weft_arena_copy(arena, next, strlen(next));
                if (!product_kernel->helpers || !product_kernel->body)
                    TRY(weft_no_memory(error));
            }
        } else if (!helpers && product_kernel->name)
            helpers = at;
        at = next;
    }
    TRY(check(&r));
    *out = product_kernel;
done:
    return status;
}

weft_status weft_product_kernel_find(weft_arena *arena, const char *name,
                                     const weft_product_kernel **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *names[32];
    size_t n = 0;
    for (size_t i = 0; i < weft_embedded_product_kernels_count && n < 32; ++i) {
        const weft_product_kernel *product_kernel = NULL;
        weft_source *source = NULL;
        TRY(WEFT_ALLOC(arena, source, 1, error));
        *source = (weft_source){weft_embedded_product_kernels[i].name,
                                weft_embedded_product_kernels[i].text};
        TRY(weft_product_kernel_read(arena, source, &product_kernel, error));
        names[n++] = product_kernel->name;
        if (strcmp(product_kernel->name, name) == 0) {
            *out = product_kernel;
            goto done;
        }
    }
    weft_text text = {0};
    for (size_t i = 0; i < n; ++i)
        weft_text_add(&text, "%s%s", i > 0 ? ", " : "", names[i]);
    status = weft_error_set(error, WEFT_ERROR_USAGE, "there is no product kernel '%s'", name);
    weft_error_hint(error, "there are: %s", text.data ? text.data : "none");
    weft_text_free(&text);
done:
    return status;
}
