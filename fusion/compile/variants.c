/* Checks the variants that the caller chooses. */
#include "fusion/base/array.h"
#include "fusion/compile/compile.h"
#include "fusion/control/program.h"

#include <string.h>

/* The functions that a script calls. */
typedef struct function_names {
    const weft_compilation *compilation;
    const char **names;
    int n;
} function_names;

static weft_status add_functions(function_names *f, const weft_node *node, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_library *library = f->compilation->library;
    if (node->kind == NODE_CALL && (weft_library_find(library, node->name) ||
                                    weft_library_find_reduction(library, node->name)))
        TRY(WEFT_APPEND(f->compilation->arena, f->names, f->n, node->name, error));
    for (int i = 0; i < node->n_children; ++i)
        TRY(add_functions(f, node->children[i], error));
done:
    return status;
}

weft_status weft_check_variants(const weft_compilation *c, weft_error *error) {
    weft_status status = WEFT_OK;
    function_names called = {.compilation = c};
    for (int i = 0; i < c->script->n_statements; ++i)
        TRY(add_functions(&called, c->script->statements[i].value, error));
    for (int k = 0; k < c->options.n_variants; ++k) {
        const char *function = c->options.variants[k].function;
        if (weft_name_index(called.names, called.n, sizeof *called.names, function) >= 0)
            continue;
        const char *near = weft_nearest_name(function, called.names, (size_t)called.n);
        weft_error_set(error, WEFT_ERROR_USAGE, "a variant is chosen for '%s', which is not called",
                       function);
        if (near)
            weft_error_hint(error, "did you mean '%s'?", near);
        TRY(WEFT_ERROR_USAGE);
    }
done:
    return status;
}
