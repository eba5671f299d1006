/* Composes the source of a product kernel and its support kernels. */
#include "fem/sparse/standalone.h"
#include "fem/embedded_operators.h"

#include <stdio.h>
#include <string.h>

static const char body_line[] = "//@ body\n";

/* A file of kernels/operators, and its line `//@ body`; "" and NULL if it does not exist. */
static const char *find(const char *name, const char *ending, const char **body) {
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "%s.%s.cu", name, ending);
    for (const weft_embedded_file *file = weft_embedded_operators; file->name; ++file)
        if (strcmp(file->name, wanted) == 0) {
            *body = strstr(file->text, body_line);
            return file->text;
        }
    *body = NULL;
    return "";
}

weft_status weft_standalone_source(const weft_standalone *kernel, int multiprocessors,
                                   weft_text *text, weft_error *error) {
    const char *body, *support_body, *none;
    const char *product = find(kernel->name, "product", &body);
    const char *support = find(kernel->name, "support", &support_body);
    if (!body || !support_body)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "the kernel %s has no body",
                              kernel->name);
    weft_text_add(text, "#define ROWS_THREADS %d\n#define ROWS_NODES %d\n", kernel->threads,
                  kernel->nodes);
    if (kernel->blocks > 0)
        weft_text_add(text,
                      "#define ROWS_BOUNDS ROWS_THREADS, %d\n"
                      "#define ROWS_RESIDENT %d /* blocks that the device runs at once */\n",
                      kernel->blocks, kernel->blocks * multiprocessors);
    else
        weft_text_add(text, "#define ROWS_BOUNDS ROWS_THREADS\n");
    weft_text_add(text, "%s", find("standalone", "prelude", &none));
    weft_text_add_bytes(text, product, (size_t)(body - product));
    weft_text_add_bytes(text, support, (size_t)(support_body - support));
    weft_text_add(text, "%s%s", body, support_body + sizeof body_line - 1);
    return text->failed ? weft_out_of_memory(error, "a kernel's text") : WEFT_OK;
}
