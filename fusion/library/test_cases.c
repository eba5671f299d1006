/* Makes test cases of a function: sizes that it allows, its examples, and plain C references. */
#include "fusion/library/private.h"

#include <stdio.h>
#include <string.h>

enum { ATTEMPTS = 4096, CHOICES = 3, SETTINGS = 24 /* other ones of tuned parameters */ };

/* Sizes to choose from: small ones, and for native bodies those of warps and parts of them. */
static const int choices[] = {1, 2, 3, 4, 8, 16, 40, 32, 64};
enum {
    PLAIN_CHOICES = 4,
    NATIVE_CHOICES = sizeof choices / sizeof *choices,
    PLAIN_COMPONENTS = 512,
    NATIVE_COMPONENTS = 1024 /* a matrix of a warp's rows and columns */
};

typedef struct test_case_maker {
    weft_arena *arena;
    const weft_library *library;
    const weft_function *function;
    weft_test_cases *out;
    const weft_specialisation *elements[WEFT_TEST_CASES_MAX];
    const weft_specialisation *references[WEFT_TEST_CASES_MAX]; /* of which references are made */
    weft_error *error;
    /* names that may be chosen: sizes, parameters without a value */
    int free[WEFT_FUNCTION_NAMES_MAX];
    int n_free;
    /* tuned parameters, which have the first setting that is allowed, unless `setting` is another one */
    weft_tuned_name tuned[WEFT_TUNED_MAX];
    int n_tuned;
    int setting; /* -1: the first */
} test_case_maker;

static weft_status out_of_memory(test_case_maker *m) {
    return weft_error_set(m->error, WEFT_ERROR_MEMORY, "out of memory for trying %s",
                          m->function->info.name);
}

static bool has_value(const weft_name *name) {
    return name->is_parameter && name->has_value;
}

static void add_free(test_case_maker *m, int name) {
    for (int i = 0; i < m->n_free; ++i)
        if (m->free[i] == name)
            return;
    m->free[m->n_free++] = name;
}

static void find_free(test_case_maker *m, const weft_term *term) {
    if (term->kind == TERM_SIZE && !has_value(&m->function->names[term->index]))
        add_free(m, term->index);
    for (int i = 0; i < term->n_children; ++i)
        find_free(m, term->children[i]);
}

static void find_all_free(test_case_maker *m) {
    const weft_function *f = m->function;
    for (int i = 0; i < f->n_arguments; ++i)
        for (int j = 0; j < f->arguments[i].rank; ++j)
            find_free(m, f->arguments[i].sizes[j]);
    for (int i = 0; i < f->n_names; ++i)
        if (f->names[i].is_parameter && !f->names[i].has_value)
            add_free(m, i);
}

bool weft_function_shapes(const weft_function *f, const int *values, int most, weft_shape *shapes) {
    for (int i = 0; i < f->n_arguments; ++i) {
        shapes[i] = (weft_shape){.rank = f->arguments[i].rank};
        for (int j = 0; j < shapes[i].rank; ++j) {
            int64_t size = 0;
            if (weft_term_evaluate(f->arguments[i].sizes[j], values, NULL, &size) || size < 1 ||
                size > most)
                return false;
            shapes[i].sizes[j] = (int)size;
        }
        if (weft_shape_count(&shapes[i]) > most)
            return false;
    }
    return true;
}

static int keys_at(const test_case_maker *m, const int *values, const char **keys,
                   int *key_values) {
    int n = 0;
    for (int i = 0; i < m->n_free; ++i)
        if (m->function->names[m->free[i]].is_parameter) {
            keys[n] = m->function->names[m->free[i]].name;
            key_values[n++] = values[m->free[i]];
        }
    return n;
}

static bool has_native(const test_case_maker *m) {
    return m->function->variants[m->function->n_variants - 1]->native;
}

static int n_choices(const test_case_maker *m) {
    return has_native(m) ? NATIVE_CHOICES : PLAIN_CHOICES;
}

/* The attempt-th choice of values, the smallest first; false past the last one. */
static bool values_of(const test_case_maker *m, int attempt, int *values) {
    for (int i = 0; i < m->function->n_names; ++i)
        values[i] = m->function->names[i].value;
    const int most = n_choices(m);
    for (int i = 0; i < m->n_free; ++i, attempt /= most)
        values[m->free[i]] = choices[attempt % most];
    return attempt == 0;
}

static weft_status try_values(test_case_maker *m, const int *values, weft_arena *arena,
                              weft_specialisation **out) {
    weft_shape shapes[WEFT_ARGUMENTS_MAX];
    const char *keys[WEFT_FUNCTION_NAMES_MAX];
    int key_values[WEFT_FUNCTION_NAMES_MAX];
    weft_error made;
    *out = NULL;
    const int most = has_native(m) ? NATIVE_COMPONENTS : PLAIN_COMPONENTS;
    if (!weft_function_shapes(m->function, values, most, shapes))
        return WEFT_OK;
    int n_keys = keys_at(m, values, keys, key_values);
    const weft_element_request request = {m->function,  shapes,     m->function->n_arguments,
                                          keys,         key_values, n_keys,
                                          {NULL, 0, 0}, false};
    int setting[WEFT_TUNED_MAX];
    if (m->setting >= 0)
        weft_setting_at(m->function, m->tuned, m->n_tuned, m->setting, setting);
    else if (weft_setting_first(m->library, &request, m->tuned, m->n_tuned, setting, &made) !=
             WEFT_OK)
        return out_of_memory(m);
    weft_status status = weft_setting_specialise(m->library, &request, m->tuned, m->n_tuned,
                                                 setting, arena, out, &made);
    if (status == WEFT_ERROR_MEMORY)
        return out_of_memory(m);
    if (status == WEFT_ERROR_TYPE && m->error)
        *m->error = made;
    if (status == WEFT_ERROR_TYPE) /* not the sizes: the function is wrong */
        return status;
    if (status != WEFT_OK || weft_shape_count(&(*out)->result) > most)
        *out = NULL;
    return WEFT_OK;
}

/* Prefer small sizes, which find errors at boundaries; distinct sizes, which find swapped rows and
 * columns; and large sizes. */
static void prefer(const test_case_maker *m, const int *values, int attempt, int best[CHOICES],
                   int scores[CHOICES]) {
    int sum = 0, distinct = 0;
    for (int i = 0; i < m->n_free; ++i) {
        bool fresh = true;
        for (int j = 0; j < i; ++j)
            fresh = fresh && values[m->free[j]] != values[m->free[i]];
        sum += values[m->free[i]];
        distinct += fresh && values[m->free[i]] > 1;
    }
    const int now[CHOICES] = {1000 - sum, 1000 * distinct + 100 - sum, 1000 + sum};
    for (int c = 0; c < CHOICES; ++c)
        if (now[c] > scores[c]) {
            scores[c] = now[c];
            best[c] = attempt;
        }
}

static weft_status choose(test_case_maker *m, int best[CHOICES]) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    int values[WEFT_FUNCTION_NAMES_MAX], scores[CHOICES] = {0};
    for (int attempt = 0; attempt < ATTEMPTS && values_of(m, attempt, values); ++attempt) {
        weft_specialisation *specialisation = NULL;
        TRY(weft_arena_make(&scratch, m->error));
        TRY(try_values(m, values, scratch, &specialisation));
        weft_arena_free(&scratch);
        if (specialisation)
            prefer(m, values, attempt, best, scores);
    }
    if (scores[0] == 0) {
        status = weft_error_at(m->error, WEFT_ERROR_SHAPE,
                               (weft_location){m->function->source, m->function->info.line, 1},
                               "%s: no sizes and parameters from 1 to %d are allowed, so there is "
                               "nothing to try it with",
                               m->function->info.name, choices[n_choices(m) - 1]);
        weft_error_hint(m->error, "look at its 'where' lines and the sizes in its signature");
    }
done:
    weft_arena_free(&scratch);
    return status;
}

static weft_test_operand operand_of(const weft_formal *formal, const weft_shape *shape) {
    weft_test_operand out = {.name = formal->name,
                             .rank = shape->rank,
                             .n = weft_shape_count(shape),
                             .over = formal->over};
    memcpy(out.sizes, shape->sizes, sizeof out.sizes);
    return out;
}

static weft_test_case *add_test_case(test_case_maker *m,
                                     const weft_specialisation *specialisation) {
    weft_test_case *test_case = &m->out->list[m->out->n];
    m->references[m->out->n] = specialisation;
    m->elements[m->out->n++] = specialisation;
    *test_case =
        (weft_test_case){.n_arguments = specialisation->n_arguments,
                         .result = operand_of(&m->function->result, &specialisation->result),
                         .nested = m->function->index_sets[0] != NULL,
                         .reduction = m->function->is_reduction ? m->function->reduction.op : '\0'};
    for (int i = 0; i < specialisation->n_arguments; ++i)
        test_case->arguments[i] =
            operand_of(&m->function->arguments[i], &specialisation->arguments[i]);
    return test_case;
}

static weft_status add_sizes(test_case_maker *m, int attempt) {
    weft_status status = WEFT_OK;
    int values[WEFT_FUNCTION_NAMES_MAX];
    weft_specialisation *specialisation = NULL;
    values_of(m, attempt, values);
    TRY(try_values(m, values, m->arena, &specialisation));
    if (!specialisation)
        TRY(out_of_memory(m));
    const char *sizes = "", *keys = "";
    for (int i = 0; i < m->n_free && sizes && keys; ++i) {
        const weft_name *name = &m->function->names[m->free[i]];
        sizes = weft_arena_print(m->arena, "%s%s%s = %d", sizes, i ? ", " : "", name->name,
                                 values[m->free[i]]);
        if (name->is_parameter)
            keys = weft_arena_print(m->arena, "%s, %s = %d", keys, name->name, values[m->free[i]]);
    }
    for (int i = 0; i < m->n_tuned && sizes && keys; ++i) {
        const int value = specialisation->values[m->tuned[i].index];
        sizes = weft_arena_print(m->arena, "%s%s%s = %d", sizes, sizes[0] ? ", " : "",
                                 m->tuned[i].name, value);
        keys = weft_arena_print(m->arena, "%s, %s = %d", keys, m->tuned[i].name, value);
    }
    if (!sizes || !keys)
        TRY(out_of_memory(m));
    weft_test_case *test_case = add_test_case(m, specialisation);
    test_case->sizes = sizes;
    test_case->keys = keys;
done:
    return status;
}

/* The other settings, each with the largest sizes that allow it. They give what the first setting gives. */
static weft_status add_settings(test_case_maker *m, const int best[CHOICES]) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    const int n = weft_settings_count(m->function, m->tuned, m->n_tuned);
    for (int k = 1; k < n && k <= SETTINGS; ++k) {
        int values[WEFT_FUNCTION_NAMES_MAX], c = CHOICES;
        weft_specialisation *found = NULL;
        m->setting = k;
        while (!found && --c >= 0) {
            TRY(weft_arena_make(&scratch, m->error));
            values_of(m, best[c], values);
            TRY(try_values(m, values, scratch, &found));
            weft_arena_free(&scratch);
        }
        if (!found)
            continue;
        TRY(add_sizes(m, best[c]));
        m->setting = -1;
        TRY(try_values(m, values, m->arena, &found));
        if (found)
            m->references[m->out->n - 1] = found;
    }
    m->setting = -1;
done:
    weft_arena_free(&scratch);
    return status;
}

static weft_status add_example(test_case_maker *m, const weft_example *example) {
    weft_status status = WEFT_OK;
    weft_specialisation *specialisation = NULL;
    const weft_location place = example->place;
    TRY(weft_specialisation_make(
        m->arena, m->library,
        &(weft_element_request){m->function, example->arguments, example->n_arguments,
                                example->keys, example->key_values, example->n_keys, place, false},
        &specialisation, m->error));
    if (!weft_shape_equal(&specialisation->result, &example->result)) {
        weft_text expected = {0}, given = {0};
        weft_shape_print(&specialisation->result, &expected);
        weft_shape_print(&example->result, &given);
        status = weft_error_at(
            m->error, WEFT_ERROR_SHAPE, place, "the result of this example is %s, but %s is given",
            expected.data ? expected.data : "another", given.data ? given.data : "this");
        weft_function_hint(m->function, m->error);
        weft_text_free(&expected);
        weft_text_free(&given);
        goto done;
    }
    const char *keys = "";
    for (int i = 0; i < example->n_keys && keys; ++i)
        keys = weft_arena_print(m->arena, "%s, %s = %d", keys, example->keys[i],
                                example->key_values[i]);
    if (!keys)
        TRY(out_of_memory(m));
    weft_test_case *test_case = add_test_case(m, specialisation);
    test_case->sizes = example->text;
    test_case->keys = keys;
    test_case->line = example->place.line;
    for (int i = 0; i < test_case->n_arguments; ++i)
        test_case->arguments[i].values = example->values[i];
    test_case->result.values = example->result_values;
done:
    return status;
}

static weft_status add_operator(test_case_maker *m, int i, weft_text *source) {
    weft_status status = WEFT_OK;
    const weft_specialisation *op = NULL;
    TRY(weft_combine_make(m->arena, m->library, &m->function->reduction, &m->elements[i]->result,
                          &op, m->error));
    m->out->list[i].combine = op->function->info.name;
    m->out->list[i].commutative = op->function->is_commutative;
    weft_reference_combine(op, i, source);
done:
    return status;
}

weft_status weft_test_cases_make(const weft_library *library, size_t function, weft_arena *arena,
                                 weft_test_cases *out, weft_error *error) {
    const weft_specialisation *elements[WEFT_TEST_CASES_MAX];
    return weft_trials_elements(library, function, arena, out, elements, error);
}

weft_status weft_trials_elements(const weft_library *library, size_t function, weft_arena *arena,
                                 weft_test_cases *out,
                                 const weft_specialisation *elements[WEFT_TEST_CASES_MAX],
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    int best[CHOICES] = {0};
    weft_text source = {0};
    test_case_maker m = {.arena = arena,
                         .library = library,
                         .function = library->functions[function],
                         .out = out,
                         .error = error,
                         .setting = -1};
    *out = (weft_test_cases){.n = 0};
    m.n_tuned = weft_tuned_names(m.function, NULL, 0, m.tuned);
    find_all_free(&m);
    TRY(choose(&m, best));
    for (int c = 0; c < CHOICES; ++c)
        if (c == 0 || (best[c] != best[0] && (c == 1 || best[c] != best[1])))
            TRY(add_sizes(&m, best[c]));
    TRY(add_settings(&m, best));
    for (int i = 0; i < m.function->n_examples; ++i)
        TRY(add_example(&m, m.function->examples[i]));
    weft_reference_prelude(&source);
    for (int i = 0; i < out->n; ++i)
        weft_reference_print(m.references[i], "trial", i, weft_function_plain_variant(m.function),
                             &source);
    for (int i = 0; i < out->n && out->list[i].reduction == 'f'; ++i)
        TRY(add_operator(&m, i, &source));
    out->source = source.failed ? NULL : weft_arena_copy(arena, source.data, source.length);
    if (!out->source)
        status = out_of_memory(&m);
    memcpy(elements, m.elements, (size_t)out->n * sizeof *elements);
done:
    weft_text_free(&source);
    return status;
}
