/* Settings of a function: a value for each of its tuned parameters (`//@ tune`) that a call leaves open. */
#include "core/base/fault.h"
#include "fusion/library/function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_given(const char *name, const char *const *keys, int n_keys) {
    for (int i = 0; i < n_keys; ++i)
        if (strcmp(keys[i], name) == 0)
            return true;
    return false;
}

int weft_tuned_names(const weft_function *function, const char *const *keys, int n_keys,
                     weft_tuned_name *out) {
    int n = 0;
    for (int i = 0; i < function->n_names && n < WEFT_TUNED_MAX; ++i)
        if (function->names[i].n_choices > 0 && !is_given(function->names[i].name, keys, n_keys))
            out[n++] = (weft_tuned_name){function->names[i].name, i};
    return n;
}

/* The value of choice k, of which the first is the default. */
static int choice_of(const weft_name *name, int k) {
    int at = 0;
    if (k == 0)
        return name->value;
    for (int i = 0; i < name->n_choices; ++i)
        if (name->choices[i] != name->value && ++at == k)
            return name->choices[i];
    return name->value;
}

int weft_settings_count(const weft_function *function, const weft_tuned_name *names, int n) {
    int64_t count = 1;
    for (int i = 0; i < n && count <= WEFT_SETTINGS_MAX; ++i)
        count *= function->names[names[i].index].n_choices;
    return count > WEFT_SETTINGS_MAX ? WEFT_SETTINGS_MAX : (int)count;
}

void weft_setting_at(const weft_function *function, const weft_tuned_name *names, int n, int k,
                     int *values) {
    for (int i = 0; i < n; ++i) {
        const weft_name *name = &function->names[names[i].index];
        values[i] = choice_of(name, k % name->n_choices);
        k /= name->n_choices;
    }
}

void weft_setting_print(const weft_tuned_name *names, int n, const int *values, weft_text *out) {
    for (int i = 0; i < n; ++i)
        weft_text_add(out, "%s%s = %d", i > 0 ? ", " : "", names[i].name, values[i]);
}

bool weft_setting_read(const weft_function *function, const weft_tuned_name *names, int n,
                       const char *text, int *values) {
    for (int i = 0; i < n; ++i) {
        const size_t length = strlen(names[i].name);
        const weft_name *name = &function->names[names[i].index];
        char *end = NULL;
        bool is_choice = false;
        if (strncmp(text, names[i].name, length) != 0 || strncmp(text + length, " = ", 3) != 0)
            return false;
        values[i] = (int)strtol(text + length + 3, &end, 10);
        for (int k = 0; k < name->n_choices; ++k)
            is_choice |= name->choices[k] == values[i];
        text = i + 1 < n && strncmp(end, ", ", 2) == 0 ? end + 2 : end;
        if (!is_choice)
            return false;
    }
    return *text == '\0';
}

weft_status weft_setting_specialise(const weft_library *library,
                                    const weft_element_request *request,
                                    const weft_tuned_name *names, int n, const int *values,
                                    weft_arena *arena, weft_specialisation **out,
                                    weft_error *error) {
    weft_element_request whole = *request;
    const char *keys[WEFT_FUNCTION_NAMES_MAX + WEFT_TUNED_MAX];
    int key_values[WEFT_FUNCTION_NAMES_MAX + WEFT_TUNED_MAX];
    const int n_given =
        request->n_keys < WEFT_FUNCTION_NAMES_MAX ? request->n_keys : WEFT_FUNCTION_NAMES_MAX;
    for (int i = 0; i < n_given; ++i) {
        keys[i] = request->keys[i];
        key_values[i] = request->key_values[i];
    }
    for (int i = 0; i < n; ++i) {
        keys[n_given + i] = names[i].name;
        key_values[n_given + i] = values[i];
    }
    whole.keys = keys;
    whole.key_values = key_values;
    whole.n_keys = n_given + n;
    return weft_specialisation_make(arena, library, &whole, out, error);
}

weft_status weft_setting_first(const weft_library *library, const weft_element_request *request,
                               const weft_tuned_name *names, int n, int *values,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    weft_specialisation *made = NULL;
    weft_error ignored;
    const int count = n > 0 ? weft_settings_count(request->function, names, n) : 0;
    for (int k = 0; k < count; ++k) {
        TRY(weft_arena_make(&scratch, error));
        weft_setting_at(request->function, names, n, k, values);
        const weft_status fits =
            weft_setting_specialise(library, request, names, n, values, scratch, &made, &ignored);
        weft_arena_free(&scratch);
        if (fits == WEFT_OK)
            goto done;
        if (fits == WEFT_ERROR_MEMORY)
            TRY(weft_out_of_memory(error, NULL));
    }
    weft_setting_at(request->function, names, n, 0, values); /* whose error is reported */
done:
    weft_arena_free(&scratch);
    return status;
}

weft_status weft_tuned_key(const weft_element_request *request, bool single, char out[33],
                           weft_error *error) {
    weft_text text = {0};
    weft_text_add(&text, "parameters of %s %s\n", request->function->info.name,
                  single ? "float" : "double");
    for (int i = 0; i < request->n_arguments; ++i) {
        weft_shape_print(&request->arguments[i], &text);
        weft_text_add(&text, " ");
    }
    for (int i = 0; i < request->n_keys; ++i)
        weft_text_add(&text, "%s = %d ", request->keys[i], request->key_values[i]);
    if (!weft_fault("key_without_text"))
        weft_text_add(&text, "\n%s", request->function->info.text);
    const bool failed = text.failed;
    if (!failed)
        weft_hash(text.data, text.length, out);
    weft_text_free(&text);
    return failed ? weft_out_of_memory(error, NULL) : WEFT_OK;
}
