/* Compiles the formulas of a command line before the run. */
#include "apps/common/fem.h"

#include <stdlib.h>
#include <string.h>

/* index points;  input P : real[4] over points;
 * expression e0(x, y, z, t) = 0;  ...  v = P[0] + e0(P[0], P[1], P[2], P[3]) + ...;  return v; */
static void write_script(bool with_time, int n, weft_expression *expressions, char (*names)[16],
                         weft_text *out) {
    weft_text_add(out, "index points;\ninput P : real[%d] over points;\n", with_time ? 4 : 3);
    for (int i = 0; i < n; ++i) {
        snprintf(names[i], sizeof names[i], "e%d", i);
        expressions[i].name = names[i];
        weft_text_add(out, "expression e%d(x, y, z%s) = 0;\n", i, with_time ? ", t" : "");
    }
    weft_text_add(out, "v = P[0]");
    for (int i = 0; i < n; ++i)
        weft_text_add(out, " + e%d(P[0], P[1], P[2]%s)", i, with_time ? ", P[3]" : "");
    weft_text_add(out, ";\nreturn v;\n");
}

weft_status app_formulas_add(app_formulas *formulas, const char *origin, const char *text,
                             weft_error *error) {
    const weft_expression made = {NULL, text, origin};
    return text ? APP_APPEND(formulas->list, formulas->n, made, error) : WEFT_OK;
}

weft_status app_formulas_add_list(app_formulas *formulas, const char *origin, const char *text,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    char **list = NULL;
    int n = 0;
    TRY(weft_formula_split(origin, text, &list, &n, error));
    for (int i = 0; i < n; ++i) {
        const char *one = list[i];
        TRY(APP_APPEND(formulas->texts, formulas->n_texts, list[i], error));
        list[i] = NULL;
        if (strcmp(one, "free") != 0)
            TRY(app_formulas_add(formulas, origin, one, error));
    }
done:
    weft_formula_list_free(&list, n);
    return status;
}

void app_formulas_clear(app_formulas *formulas) {
    weft_formula_list_free(&formulas->texts, formulas->n_texts);
    free(formulas->list);
    *formulas = (app_formulas){0};
}

weft_status app_expressions_check(const weft_library *library, const weft_limits *limits,
                                  bool with_time, app_formulas *formulas, weft_error *error) {
    const int n = formulas->n;
    weft_status status = WEFT_OK;
    weft_text script = {0};
    weft_compilation *compilation = NULL;
    char(*names)[16] = calloc((size_t)n + 1, sizeof *names);
    if (!names)
        TRY(weft_out_of_memory(error, NULL));
    write_script(with_time, n, formulas->list, names, &script);
    if (script.failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragment = {"the expressions of the command line", script.data};
    const weft_compile_options options = {
        .size = sizeof options, .expressions = formulas->list, .n_expressions = n};
    TRY(weft_compile(library, limits, &fragment, 1, &options, &compilation, error));
done:
    weft_compilation_free(&compilation);
    weft_text_free(&script);
    free(names);
    return status;
}
