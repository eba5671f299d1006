/* labels: quick */
/* Any bytes as a problem file: an error with its place, or options whose problem file reads back to the same
 * options. */
#include "apps/common/problem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const app_option rows[] = {{"mesh", "MESH", "a text", .read = app_read_text},
                                  {"flag", NULL, "a flag", .read = app_read_flag},
                                  {"source", "[@GROUP=]EXPR", "by group", .read = app_read_text},
                                  {"name", "GROUP=EXPR", "by name", .read = app_read_text},
                                  {"point", "X,Y", "repeatable", .read = app_read_text},
                                  {"define", "NAME[@GROUP]=EXPR", "both", .read = app_read_text},
                                  {0}};

/* The entries of a text as a problem file; false: it is wrong. */
static bool canonical(const char *path, const void *bytes, size_t size, weft_text *out,
                      weft_error *error) {
    const app_command_line line = {.arguments = "SCRIPT", .tables = {{rows, NULL}}};
    app_entries entries = {0};
    weft_arena *arena = NULL;
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0 ||
        weft_arena_make(&arena, error) != WEFT_OK)
        abort();
    const bool fine = app_problem_read(path, &line, arena, &entries, error) == WEFT_OK;
    if (fine)
        app_problem_write(&entries, out);
    free(entries.list);
    weft_arena_free(&arena);
    return fine;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[] = "/tmp/weft-fuzz-problem-XXXXXX";
    const int made = mkstemp(path);
    weft_text first = {0}, second = {0};
    weft_error error = {0};
    if (made < 0)
        return 0;
    close(made);
    if (!canonical(path, data, size, &first, &error)) {
        if (!error.message[0])
            abort();
    } else if (first.data) {
        if (!canonical(path, first.data, first.length, &second, &error) || !second.data ||
            strcmp(first.data, second.data) != 0)
            abort();
    }
    weft_text_free(&first);
    weft_text_free(&second);
    unlink(path);
    return 0;
}
