/* What a test of a function calls: sizes that it allows, its examples, and plain C references. */
#include "fusion/library/private.h"

#include <stdio.h>
#include <string.h>

enum { SIZES_MOST = 4, ATTEMPTS = 4096, COMPONENTS_MOST = 512, CHOICES = 3 };

typedef struct trial_maker {
    weft_arena *arena;
    const weft_library *library;
    const weft_function *function;
    weft_trials *out;
    const weft_instance *instances[WEFT_TRIALS_MAX];
    weft_error *error;
    int free
        [WEFT_FUNCTION_NAMES_MAX]; /* names that may be chosen: sizes, parameters without a value */
    int n_free;
} trial_maker;

static weft_status out_of_memory(trial_maker *m) {
    return weft_error_set(m->error, WEFT_ERROR_MEMORY, "out of memory for trying %s",
                          m->function->info.name);
}

static bool has_value(const weft_name *name) {
    return name->is_parameter && name->has_value;
}

static void add_free(trial_maker *m, int name) {
    for (int i = 0; i < m->n_free; ++i)
        if (m->free[i] == name)
            return;
    m->free[m->n_free++] = name;
}

static void find_free(trial_maker *m, const weft_term *term) {
    if (term->kind == TERM_SIZE && !has_value(&m->function->names[term->index]))
        add_free(m, term->index);
    for (int i = 0; i < term->n_children; ++i)
        find_free(m, term->children[i]);
}

static void find_all_free(trial_maker *m) {
    const weft_function *f = m->function;
    for (int i = 0; i < f->n_arguments; ++i)
        for (int j = 0; j < f->arguments[i].rank; ++j)
            find_free(m, f->arguments[i].sizes[j]);
    for (int i = 0; i < f->n_names; ++i)
        if (f->names[i].is_parameter && !f->names[i].has_value)
            add_free(m, i);
}

/* The shapes of the arguments at these values of the names; false where one is not allowed. */
static bool shapes_at(const weft_function *f, const int *values, weft_shape *shapes) {
    for (int i = 0; i < f->n_arguments; ++i) {
        shapes[i] = (weft_shape){.rank = f->arguments[i].rank};
        for (int j = 0; j < shapes[i].rank; ++j) {
            int64_t size = 0;
            if (weft_term_evaluate(f->arguments[i].sizes[j], values, NULL, &size) || size < 1 ||
                size > COMPONENTS_MOST)
                return false;
            shapes[i].sizes[j] = (int)size;
        }
        if (weft_shape_count(&shapes[i]) > COMPONENTS_MOST)
            return false;
    }
    return true;
}

static int keys_at(const trial_maker *m, const int *values, const char **keys, int *key_values) {
    int n = 0;
    for (int i = 0; i < m->n_free; ++i)
        if (m->function->names[m->free[i]].is_parameter) {
            keys[n] = m->function->names[m->free[i]].name;
            key_values[n++] = values[m->free[i]];
        }
    return n;
}

/* The attempt-th choice of values, the smallest first; false past the last one. */
static bool values_of(const trial_maker *m, int attempt, int *values) {
    for (int i = 0; i < m->function->n_names; ++i)
        values[i] = m->function->names[i].value;
    for (int i = 0; i < m->n_free; ++i, attempt /= SIZES_MOST)
        values[m->free[i]] = 1 + attempt % SIZES_MOST;
    return attempt == 0;
}

static weft_status try_values(trial_maker *m, const int *values, weft_arena *arena,
                              weft_instance **out) {
    weft_shape shapes[WEFT_ARGUMENTS_MAX];
    const char *keys[WEFT_FUNCTION_NAMES_MAX];
    int key_values[WEFT_FUNCTION_NAMES_MAX];
    weft_error ignored;
    *out = NULL;
    if (!shapes_at(m->function, values, shapes))
        return WEFT_OK;
    int n_keys = keys_at(m, values, keys, key_values);
    weft_status status = weft_instance_make(
        arena, m->library,
        &(weft_instance_request){
            m->function, shapes, m->function->n_arguments, keys, key_values, n_keys, {NULL, 0, 0}},
        out, &ignored);
    if (status == WEFT_ERROR_MEMORY)
        return out_of_memory(m);
    if (status != WEFT_OK || weft_shape_count(&(*out)->result) > COMPONENTS_MOST)
        *out = NULL;
    return WEFT_OK;
}

/* Small sizes find what is wrong at the ends, different ones a row for a column. */
static void prefer(const trial_maker *m, const int *values, int attempt, int best[CHOICES],
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

static weft_status choose(trial_maker *m, int best[CHOICES]) {
    weft_status status = WEFT_OK;
    weft_arena *scratch = NULL;
    int values[WEFT_FUNCTION_NAMES_MAX], scores[CHOICES] = {0};
    for (int attempt = 0; attempt < ATTEMPTS && values_of(m, attempt, values); ++attempt) {
        weft_instance *instance = NULL;
        TRY(weft_arena_make(&scratch, m->error));
        TRY(try_values(m, values, scratch, &instance));
        weft_arena_free(&scratch);
        if (instance)
            prefer(m, values, attempt, best, scores);
    }
    if (scores[0] == 0) {
        status = weft_error_set(m->error, WEFT_ERROR_SHAPE,
                                "%s: no sizes and parameters from 1 to %d are allowed, so there is "
                                "nothing to try it with",
                                m->function->info.name, SIZES_MOST);
        weft_error_place(m->error, m->function->source.name, m->function->source.text,
                         m->function->info.line, 1);
        weft_error_hint(m->error, "look at its 'where' lines and the sizes in its signature");
    }
done:
    weft_arena_free(&scratch);
    return status;
}

static weft_trial_operand operand_of(const weft_formal *formal, const weft_shape *shape) {
    weft_trial_operand out = {
        .name = formal->name, .rank = shape->rank, .n = weft_shape_count(shape)};
    memcpy(out.sizes, shape->sizes, sizeof out.sizes);
    return out;
}

static weft_trial *add_trial(trial_maker *m, const weft_instance *instance) {
    weft_trial *trial = &m->out->list[m->out->n];
    m->instances[m->out->n++] = instance;
    *trial =
        (weft_trial){.n_arguments = instance->n_arguments,
                     .result = operand_of(&m->function->result, &instance->result),
                     .reduction = m->function->is_reduction ? m->function->reduction.op : '\0'};
    for (int i = 0; i < instance->n_arguments; ++i)
        trial->arguments[i] = operand_of(&m->function->arguments[i], &instance->arguments[i]);
    return trial;
}

static weft_status add_sizes(trial_maker *m, int attempt) {
    weft_status status = WEFT_OK;
    int values[WEFT_FUNCTION_NAMES_MAX];
    weft_instance *instance = NULL;
    values_of(m, attempt, values);
    TRY(try_values(m, values, m->arena, &instance));
    if (!instance)
        return out_of_memory(m);
    const char *sizes = "", *keys = "";
    for (int i = 0; i < m->n_free && sizes && keys; ++i) {
        const weft_name *name = &m->function->names[m->free[i]];
        sizes = weft_arena_print(m->arena, "%s%s%s = %d", sizes, i ? ", " : "", name->name,
                                 values[m->free[i]]);
        if (name->is_parameter)
            keys = weft_arena_print(m->arena, "%s, %s = %d", keys, name->name, values[m->free[i]]);
    }
    if (!sizes || !keys)
        return out_of_memory(m);
    weft_trial *trial = add_trial(m, instance);
    trial->sizes = sizes;
    trial->keys = keys;
done:
    return status;
}

static weft_status add_example(trial_maker *m, const weft_example *example) {
    weft_status status = WEFT_OK;
    weft_instance *instance = NULL;
    const weft_place place = {&m->function->source, example->line, example->column};
    TRY(weft_instance_make(m->arena, m->library,
                           &(weft_instance_request){m->function, example->arguments,
                                                    example->n_arguments, example->keys,
                                                    example->key_values, example->n_keys, place},
                           &instance, m->error));
    if (!weft_shape_equal(&instance->result, &example->result)) {
        weft_text expected = {0}, given = {0};
        weft_shape_print(&instance->result, &expected);
        weft_shape_print(&example->result, &given);
        status = weft_error_at(
            m->error, WEFT_ERROR_SHAPE, place, "the result of this example is %s, but %s is given",
            expected.data ? expected.data : "another", given.data ? given.data : "this");
        function_hint(m->function, m->error);
        weft_text_free(&expected);
        weft_text_free(&given);
        goto done;
    }
    const char *keys = "";
    for (int i = 0; i < example->n_keys && keys; ++i)
        keys = weft_arena_print(m->arena, "%s, %s = %d", keys, example->keys[i],
                                example->key_values[i]);
    if (!keys)
        return out_of_memory(m);
    weft_trial *trial = add_trial(m, instance);
    trial->sizes = example->text;
    trial->keys = keys;
    trial->line = example->line;
    for (int i = 0; i < trial->n_arguments; ++i)
        trial->arguments[i].values = example->values[i];
    trial->result.values = example->result_values;
done:
    return status;
}

weft_status weft_trials_make(const weft_library *library, size_t function, weft_arena *arena,
                             weft_trials *out, weft_error *error) {
    const weft_instance *instances[WEFT_TRIALS_MAX];
    return weft_trials_instances(library, function, arena, out, instances, error);
}

weft_status weft_trials_instances(const weft_library *library, size_t function, weft_arena *arena,
                                  weft_trials *out, const weft_instance *instances[WEFT_TRIALS_MAX],
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    int best[CHOICES] = {0};
    weft_text source = {0};
    trial_maker m = {.arena = arena,
                     .library = library,
                     .function = library->functions[function],
                     .out = out,
                     .error = error};
    *out = (weft_trials){.n = 0};
    find_all_free(&m);
    TRY(choose(&m, best));
    for (int c = 0; c < CHOICES; ++c)
        if (c == 0 || (best[c] != best[0] && (c == 1 || best[c] != best[1])))
            TRY(add_sizes(&m, best[c]));
    for (int i = 0; i < m.function->n_examples; ++i)
        TRY(add_example(&m, m.function->examples[i]));
    weft_reference_prelude(&source);
    for (int i = 0; i < out->n; ++i)
        weft_reference_print(m.instances[i], i, &source);
    out->source = source.failed ? NULL : weft_arena_copy(arena, source.data, source.length);
    if (!out->source)
        status = out_of_memory(&m);
    memcpy(instances, m.instances, (size_t)out->n * sizeof *instances);
done:
    weft_text_free(&source);
    return status;
}
