/* labels: full */
/* Any text as a script, compiled in both plans and both scatters: it ends with a compilation or an
 * error that says something, everything prints, and a printed graph makes the same graph again. */
#include "core/weft_core.h"
#include "fusion/control/program.h"
#include "fusion/graph/graph.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const weft_limits limits = {
    .lanes_double = 8, .lanes_float = 16, .bandwidth = 1e9, .flops = 1e9};

static void check_error(const weft_error *error) {
    char message[4096];
    weft_error_text(error, message, sizeof message);
    if (error->message[0] == '\0' || error->status == WEFT_OK ||
        error->status == WEFT_ERROR_INTERNAL)
        abort();
}

static void check_prints(const weft_compilation *compilation) {
    static const char *const prints[][2] = {
        {"tokens", "text"},          {"script", "text"}, {"graph", "dot"}, {"graph", "json"},
        {"fusions", "text"},         {"cover", "text"},  {"plan", "text"}, {"plan", "dot"},
        {"implementations", "text"}, {"plan", "json"}};
    for (size_t i = 0; i < sizeof prints / sizeof prints[0]; ++i) {
        weft_text text = {0};
        if (weft_compilation_print(compilation, prints[i][0], prints[i][1], &text, NULL) != WEFT_OK)
            abort();
        weft_text_free(&text);
    }
    weft_text text = {0};
    if (weft_compilation_explain(compilation, &text, NULL) != WEFT_OK)
        abort();
    weft_text_free(&text);
}

/* The graph's text of a script's text; {0}: it does not compile. */
static weft_text graph_of(const weft_library *library, const char *script, int mode,
                          weft_error *error) {
    weft_text text = {0};
    const weft_fragment fragment = {"fuzz.weft", script};
    const weft_compile_options options = {.size = sizeof options,
                                          .plan = (weft_plan_kind)(mode % 2),
                                          .scatter = (weft_scatter)(mode / 2)};
    weft_compilation *compilation = NULL;
    if (weft_compile(library, &limits, &fragment, 1, &options, &compilation, error) == WEFT_OK) {
        weft_graph_print_text(weft_compilation_only(compilation)->graph, &text);
        check_prints(compilation);
    }
    weft_compilation_free(&compilation);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static weft_library *library; /* made once: it takes longer than all the rest */
    char *script = malloc(size + 1);
    weft_error error = {0};
    if (!script || (!library && weft_library_make(&library, NULL) != WEFT_OK))
        abort();
    if (size > 0)
        memcpy(script, data, size);
    script[size] = '\0';
    weft_text once = graph_of(library, script, (int)(size % 4), &error);
    if (!once.data)
        check_error(&error);
    else {
        weft_text twice = graph_of(library, once.data, 0, &error);
        /* formulas inlined may nest deeper than a text may */
        if (!twice.data && error.status != WEFT_ERROR_UNSUPPORTED)
            abort();
        weft_text again = twice.data ? graph_of(library, twice.data, 1, &error) : (weft_text){0};
        if (twice.data && (!again.data || strcmp(twice.data, again.data) != 0))
            abort();
        weft_text_free(&again);
        weft_text_free(&twice);
    }
    weft_text_free(&once);
    free(script);
    return 0;
}
