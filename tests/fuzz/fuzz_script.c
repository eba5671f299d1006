/* labels: quick */
/* Any bytes as a script: an error or a script whose canonical text reads back to itself. */
#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The canonical text of a script text, or {0} where that is wrong. */
static weft_text canonical(const char *text, weft_error *error) {
    weft_text printed = {0};
    weft_arena *arena = NULL;
    weft_script *script = NULL;
    const weft_fragment fragment = {"fuzz.weft", text};
    if (weft_arena_make(&arena, error) == WEFT_OK &&
        weft_script_make(arena, &fragment, 1, NULL, &script, error) == WEFT_OK) {
        weft_text_add(&printed, "\n"); /* so that it is never NULL */
        weft_script_print(script, &printed);
    }
    weft_arena_free(&arena);
    return printed;
}

static void check_error(const weft_error *error) {
    char message[4096];
    weft_error_text(error, message, sizeof message);
    if (error->message[0] == '\0' || error->status == WEFT_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    weft_error error = {0};
    weft_text first = canonical(text, &error);
    if (!first.data) {
        check_error(&error);
    } else if (!first.failed && first.length < WEFT_TEXT_MAX) {
        weft_text second = canonical(first.data, &error);
        if (!second.data || strcmp(first.data, second.data) != 0)
            abort();
        weft_text_free(&second);
    }
    weft_text_free(&first);
    free(text);
    return 0;
}
