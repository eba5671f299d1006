/* Reads the scripts of a command line as one script. */
#include "apps/common/fem.h"
#include "apps/weft/tool.h"
#include "fusion/weft_outline.h"

#include <stdlib.h>

/* Append a fragment; takes ownership of its text. */
static void add_fragment(weft_tool_scripts *scripts, const char *name, char *text) {
    scripts->texts[scripts->n] = text;
    scripts->fragments[scripts->n++] = (weft_fragment){name, text};
}

/* Return the values that no statement reads. */
static weft_status add_returns(weft_tool_scripts *scripts, const weft_outline *outline,
                               weft_error *error) {
    weft_text text = {0};
    weft_outline_name name;
    for (int i = 0; i < weft_outline_names(outline); ++i) {
        weft_outline_describe(outline, i, &name);
        if (name.kind == WEFT_NAME_VALUE && !name.in_loop && !name.read)
            weft_text_add(&text, "%s%s", text.data ? ", " : "return ", name.name);
    }
    if (!text.data)
        return WEFT_OK; /* the compiler reports what is missing */
    weft_text_add(&text, ";\n");
    if (text.failed) {
        weft_text_free(&text);
        return weft_out_of_memory(error, NULL);
    }
    add_fragment(scripts, "what is returned", text.data);
    return WEFT_OK;
}

weft_status weft_tool_scripts_read(const char *const *names, int n, const weft_ufl_options *options,
                                   weft_tool_scripts *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_outline *outline = NULL;
    for (int i = 0; i < n; ++i) {
        char *text = NULL;
        TRY(app_script_read_forms(names[i], options, &out->forms[out->n], &text, error));
        add_fragment(out, names[i], text);
    }
    TRY(weft_outline_make(out->fragments, out->n, &outline, error));
    if (!weft_outline_returns(outline))
        TRY(add_returns(out, outline, error));
done:
    weft_outline_free(&outline);
    return status;
}

void weft_tool_scripts_clear(weft_tool_scripts *scripts) {
    for (size_t i = 0; i < sizeof scripts->forms / sizeof *scripts->forms; ++i)
        weft_ufl_free(&scripts->forms[i]);
    for (int i = 0; i < scripts->n; ++i)
        free(scripts->texts[i]);
    scripts->n = 0;
}

weft_status weft_tool_scripts_add(const weft_tool_scripts *scripts, weft_library *library,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < scripts->n; ++i)
        if (scripts->forms[i])
            TRY(weft_ufl_add_functions(scripts->forms[i], library, error));
done:
    return status;
}
