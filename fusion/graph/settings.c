/* Chooses the values of tuned parameters that a call leaves open: those that a search has stored, else the defaults. */
#include "fusion/base/array.h"
#include "fusion/graph/builder.h"
#include "fusion/graph/private.h"

#include <string.h>

/* Values that are stored for the call, on the device and for the size that the script is compiled for. */
static weft_status find_stored(const weft_graph_builder *builder,
                               const weft_element_request *request, const weft_tuned_name *names,
                               int n, int *values, const weft_tuned_setting **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script_tuning *tuning = &builder->script->tuning;
    weft_arena *scratch = NULL;
    weft_specialisation *made = NULL;
    weft_error ignored;
    char key[33];
    *out = NULL;
    if (!tuning->source)
        goto done;
    TRY(weft_tuned_key(request, tuning->single, key, error));
    const weft_tuned_setting *found =
        tuning->source->find(tuning->source->user, key, tuning->elements);
    if (!found || !weft_setting_read(request->function, names, n, found->text, values))
        goto done;
    TRY(weft_arena_make(&scratch, error));
    if (weft_setting_specialise(builder->library, request, names, n, values, scratch, &made,
                                &ignored) == WEFT_OK)
        *out = found;
done:
    weft_arena_free(&scratch);
    return status;
}

weft_status weft_call_setting(weft_graph_builder *builder, weft_element_request *request,
                              const weft_call_setting_of **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuned_name names[WEFT_TUNED_MAX];
    int values[WEFT_TUNED_MAX], *key_values = NULL;
    weft_call_setting_of *made = NULL;
    const weft_tuned_setting *found = NULL;
    const char **keys = NULL;
    weft_text text = {0};
    const int n = weft_tuned_names(request->function, request->keys, request->n_keys, names);
    const int n_given = request->n_keys;
    *out = NULL;
    if (n == 0)
        goto done;
    TRY(find_stored(builder, request, names, n, values, &found, error));
    if (!found)
        TRY(weft_setting_first(builder->library, request, names, n, values, error));
    TRY(WEFT_ALLOC(builder->arena, made, 1, error));
    TRY(WEFT_ALLOC(builder->arena, keys, (size_t)(n_given + n), error));
    TRY(WEFT_ALLOC(builder->arena, key_values, (size_t)(n_given + n), error));
    for (int i = 0; i < n_given + n; ++i) {
        keys[i] = i < n_given ? request->keys[i] : names[i - n_given].name;
        key_values[i] = i < n_given ? request->key_values[i] : values[i - n_given];
    }
    request->keys = keys;
    request->key_values = key_values;
    request->n_keys = n_given + n;
    weft_setting_print(names, n, values, &text);
    made->text = text.failed ? NULL : weft_arena_copy(builder->arena, text.data, text.length);
    if (!made->text)
        TRY(weft_no_memory(error));
    made->given = keys;
    made->n_given = n_given;
    if (found) {
        made->is_stored = true;
        made->seconds = found->seconds;
        made->standard_seconds = found->standard_seconds;
    }
    *out = made;
done:
    weft_text_free(&text);
    return status;
}
