/* labels: quick */
/* Any bytes as the text that a user binds to an expression, as in --source TEXT: an error that is
 * placed in the text, or a formula whose canonical text binds to the same formula. With formulas by
 * group, and files in them. */
#include "core/weft_core.h"
#include "fusion/script/script.h"
#include "fusion/weft_compile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char script_text[] = "index nodes; input x : real[2] over nodes;\n"
                                  "expression source(x, y, z) = 1;\nf = source(x); return f;\n";

/* The canonical text of a formula, or {0} where it is wrong. */
static weft_text canonical(const char *text, weft_error *error) {
    weft_text printed = {0};
    weft_arena *arena = NULL;
    weft_script *script = NULL;
    const weft_fragment fragment = {"fuzz.weft", script_text};
    const weft_expression bound = {"source", text, "--source"};
    const weft_compile_options options = {
        .size = sizeof options, .expressions = &bound, .n_expressions = 1};
    if (weft_arena_make(&arena, error) == WEFT_OK &&
        weft_script_make(arena, &fragment, 1, &options, &script, error) == WEFT_OK) {
        if (script->n_data > 0 || script->expressions[0].n_references > 0)
            weft_text_add(&printed, "0"); /* by group or from files: no single formula */
        else
            weft_node_print(script->expressions[0].body, &printed);
    }
    weft_arena_free(&arena);
    return printed;
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
        bool too_long = strlen(text) > WEFT_TEXT_MAX;
        if (error.message[0] == '\0' ||
            (!too_long && !strstr(text, "table") && strncmp(error.file, "--source", 8) != 0))
            abort();
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
