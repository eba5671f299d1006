/* labels: quick */
/* Any text as a kernel file: an error that is placed in the text, or functions whose
 * specialisations of small sizes are errors in words or bodies that can be emitted. */
#include "core/weft_core.h"
#include "fusion/library/function.h"
#include "fusion/library/library.h"
#include "fusion/script/script.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_library.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A table of 6 or 3 x 6 values for any arguments, so that files which name one get further. */
static weft_status make_table(void *user, const int *arguments, int n_arguments, weft_arena *arena,
                              weft_table *out, weft_error *error) {
    (void)arguments;
    (void)n_arguments;
    *out = (weft_table){.rank = user ? 2 : 1, .sizes = {user ? 3 : 6, 6}};
    out->values = weft_arena_alloc(arena, 18, sizeof *out->values);
    for (int i = 0; out->values && i < 18; ++i)
        out->values[i] = 0.1 * i;
    return out->values ? WEFT_OK : weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
}

static void check_error(const weft_error *error, const char *file) {
    char text[4096];
    if (error->message[0] == '\0' || weft_error_text(error, text, sizeof text) == 0)
        abort();
    if (file && error->status != WEFT_ERROR_MEMORY &&
        (strcmp(error->file, file) != 0 || error->line < 1))
        abort();
}

static void emit(const weft_specialisation *specialisation) {
    static const weft_body_style styles[] = {{"SPLAT", "t", "    ", 0, NULL, false, NULL},
                                             {NULL, "t", "    ", 0, NULL, false, NULL},
                                             {"SPLAT", "0", "", 0, NULL, false, NULL}};
    weft_accessor arguments[WEFT_ARGUMENTS_MAX], result = {.base = "v_result"};
    for (int i = 0; i < WEFT_ARGUMENTS_MAX; ++i)
        arguments[i] = (weft_accessor){.base = "v_argument", .offset = i};
    for (int v = 0; v < specialisation->n_variants; ++v)
        for (size_t s = 0; s < sizeof styles / sizeof *styles; ++s) {
            weft_error error = {0};
            weft_text text = {0};
            if (weft_body_emit(specialisation, v, arguments, &result, &styles[s], &text, &error) !=
                WEFT_OK)
                check_error(&error, "fuzz");
            weft_text_free(&text);
        }
}

static void instantiate(weft_library *library, const weft_function *function, int size) {
    weft_shape shapes[WEFT_ARGUMENTS_MAX] = {0};
    weft_arena *arena = NULL;
    weft_specialisation *specialisation = NULL;
    weft_error error = {0};
    for (int i = 0; i < function->n_arguments; ++i) {
        shapes[i].rank = function->arguments[i].rank;
        for (int k = 0; k < shapes[i].rank; ++k) {
            int64_t added = 0;
            weft_term_linear(function->arguments[i].sizes[k], &added);
            shapes[i].sizes[k] = added > 0 && added < 4 ? size + (int)added : size;
        }
    }
    if (weft_arena_make(&arena, NULL) != WEFT_OK)
        return;
    if (weft_specialisation_make(arena, library,
                                 &(weft_element_request){.function = function,
                                                         .arguments = shapes,
                                                         .n_arguments = function->n_arguments},
                                 &specialisation, &error) == WEFT_OK)
        emit(specialisation);
    else
        check_error(&error, NULL);
    weft_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    weft_error error = {0};
    weft_library library = {0}; /* without the shipped functions */
    static char second;
    char *text = malloc(size + 1);
    if (!text || weft_arena_make(&library.arena, NULL) != WEFT_OK) {
        free(text);
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    if (weft_library_add_table(&library, "simplex_weights", 2, make_table, NULL, &error) !=
            WEFT_OK ||
        weft_library_add_table(&library, "simplex_shape", 2, make_table, &second, &error) !=
            WEFT_OK)
        abort();
    if (weft_library_add_text(&library, "fuzz", text, &error) != WEFT_OK)
        check_error(&error, "fuzz");
    for (size_t i = 0; i < library.n; ++i)
        for (int n = 1; n <= 4; ++n)
            instantiate(&library, library.functions[i], n);
    weft_arena_free(&library.arena);
    free(text);
    return 0;
}
