/* Operators of reductions that are functions of the library: a map of two values with an identity. */
#include "fusion/library/private.h"

#include <string.h>

bool weft_function_is_commutative(const weft_function *function) {
    return function->is_commutative;
}

bool weft_function_counts(const weft_function *function) {
    return function->uses_element;
}

const weft_variant *weft_function_variant(const weft_function *function, int variant) {
    return variant == WEFT_IDENTITY ? function->identity : function->variants[variant];
}

int weft_function_plain_variant(const weft_function *function) {
    for (int v = 0; v < function->n_variants; ++v)
        if (!function->variants[v]->native && strcmp(function->variants[v]->threads_text, "1") == 0)
            return v;
    return 0;
}

/* Is there an operator, of this file or of the library? *out: the function of the name. */
static weft_status find(const weft_library *library, const weft_function *const *list, size_t n,
                        const weft_reduction *reduction, const weft_function **out,
                        weft_error *error) {
    const weft_function *found = weft_library_find(library, reduction->combine);
    for (size_t i = 0; i < n; ++i)
        if (!list[i]->is_reduction && strcmp(list[i]->info.name, reduction->combine) == 0)
            found = list[i];
    *out = found;
    if (found && found->identity)
        return WEFT_OK;
    weft_error_at(error, WEFT_ERROR_TYPE, reduction->place,
                  found ? "the map '%s' has no identity, so it is not an operator of reductions"
                        : "there is no operator '%s'",
                  reduction->combine);
    if (found)
        weft_error_hint(error, "add a line '//@ identity', and the body below it");
    else
        weft_error_hint(error, "operators are +, *, min, max and maps of two values with an "
                               "'//@ identity'");
    return WEFT_ERROR_TYPE;
}

weft_status weft_combines_check(const weft_library *library, const weft_function *const *list,
                                size_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_function *ignored = NULL;
    for (size_t i = 0; i < n; ++i)
        if (list[i]->is_reduction && list[i]->reduction.op == 'f')
            TRY(find(library, list, n, &list[i]->reduction, &ignored, error));
done:
    return status;
}

weft_status weft_combine_make(weft_arena *arena, const weft_library *library,
                              const weft_reduction *reduction, const weft_shape *shape,
                              const weft_specialisation **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_function *function = NULL;
    weft_specialisation *made = NULL;
    const weft_shape both[2] = {*shape, *shape};
    *out = NULL;
    if (!reduction || reduction->op != 'f')
        goto done;
    TRY(find(library, NULL, 0, reduction, &function, error));
    TRY(weft_specialisation_make(
        arena, library,
        &(weft_element_request){
            .function = function, .arguments = both, .n_arguments = 2, .place = reduction->place},
        &made, error));
    if (!weft_shape_equal(&made->result, shape)) {
        weft_error_at(error, WEFT_ERROR_SHAPE, reduction->place,
                      "the operator '%s' combines two values of the reduction to another type",
                      function->info.name);
        weft_function_hint(function, error);
        TRY(WEFT_ERROR_SHAPE);
    }
    *out = made;
done:
    return status;
}
