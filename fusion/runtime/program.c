/* Binds a compilation to data on a device: one memory per name, shared by the segments that have
 * it. */
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/runtime/private.h"

#include <stdlib.h>
#include <string.h>

static weft_status allocate(weft_program *p, weft_error *error) {
    const weft_control *control = p->compilation->control;
    int n_joined = 0; /* most arguments of a final reduction */
    for (int i = 0; i < control->n_segments; ++i)
        n_joined = 2 * control->segments[i]->graph->n_calls > n_joined
                       ? 2 * control->segments[i]->graph->n_calls
                       : n_joined;
    p->sizes = calloc((size_t)control->script->n_indices + 1, sizeof *p->sizes);
    p->segments = calloc((size_t)control->n_segments + 1, sizeof(weft_program_segment *));
    p->memory = calloc((size_t)control->n_names + 1, sizeof(weft_memory *));
    p->own = calloc((size_t)control->n_names + 1, sizeof *p->own);
    p->beginning = calloc((size_t)control->n_names + 1, sizeof *p->beginning);
    p->operators = calloc((size_t)control->script->n_operators + 1, sizeof *p->operators);
    p->arguments = calloc((size_t)control->n_names + (size_t)n_joined + 16, sizeof(weft_memory *));
    if (!p->sizes || !p->segments || !p->memory || !p->own || !p->beginning || !p->operators ||
        !p->arguments)
        return weft_program_no_memory(error);
    p->iterations = -1;
    for (int i = 0; i < control->script->n_indices; ++i)
        p->sizes[i] = -1;
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i)
        p->captured[i] = -1;
    return WEFT_OK;
}

/* The module of the compilation, where its correction has left one for this device. */
static weft_status load(weft_program *p, weft_error *error) {
    const weft_compilation *compilation = p->compilation;
    const bool needed = compilation->control->n_segments > 0 || weft_program_threaded(p);
    if (compilation->module && compilation->device == p->device) {
        p->module = compilation->module;
        return WEFT_OK;
    }
    p->owns_module = needed;
    return needed ? weft_module_make(p->device, weft_compilation_module_name(compilation),
                                     compilation->source, &p->module, error)
                  : WEFT_OK;
}

weft_status weft_program_make(weft_device *device, const weft_compilation *compilation,
                              weft_program **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control *control = compilation->control;
    weft_program *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_program_no_memory(error));
    made->device = device;
    made->compilation = compilation;
    TRY(allocate(made, error));
    TRY(load(made, error));
    for (int i = 0; i < control->n_segments; ++i)
        TRY(weft_program_segment_make(device, control->segments[i], made->module,
                                      &made->segments[i], error));
    *out = made;
    made = NULL;
done:
    weft_program_free(&made);
    return status;
}

void weft_program_free(weft_program **program) {
    if (!program || !*program)
        return;
    weft_program *p = *program;
    const weft_control *control = p->compilation->control;
    weft_program_graph_free(p);
    for (int i = 0; p->segments && i < control->n_segments; ++i)
        weft_program_segment_free(&p->segments[i]);
    for (int i = 0; p->memory && p->own && i < control->n_names; ++i)
        if (p->own[i])
            weft_memory_free(&p->memory[i]);
    if (p->owns_module)
        weft_module_free(&p->module);
    free(p->sizes);
    free(p->segments);
    free(p->memory);
    free(p->own);
    free(p->beginning);
    free(p->operators);
    weft_operator_clock_free(&p->clock);
    free(p->arguments);
    free(p);
    *program = NULL;
}

int weft_program_lanes(const weft_program *program) {
    const weft_compilation *c = program->compilation;
    return weft_target_lanes(&c->limits, c->options.single);
}

/* ---- binding --------------------------------------------------------------------------------- */

/* "there is no list 'u' in this script: it has x, y" */
static weft_status no_such(weft_error *error, const char *what, const char *name,
                           const char *const *names, size_t n) {
    weft_text text = {0};
    for (size_t i = 0; i < n; ++i)
        weft_text_add(&text, "%s%s", i > 0 ? ", " : "", names[i]);
    const char *near = weft_nearest_name(name, names, n);
    weft_error_set(error, WEFT_ERROR_USAGE, "there is no %s '%s' in this script", what, name);
    weft_error_hint(error, "%s%s%sit has: %s", near ? "did you mean '" : "", near ? near : "",
                    near ? "'? " : "", text.data ? text.data : "none");
    weft_text_free(&text);
    return WEFT_ERROR_USAGE;
}

/* The sizes of products of index sets follow from those of their factors. */
static void size_products(weft_program *p) {
    const weft_script *script = p->compilation->control->script;
    for (int i = 0; i < script->n_indices; ++i) {
        const weft_script_index *product = &script->indices[i];
        if (!product->first)
            continue;
        const int64_t first =
            p->sizes[WEFT_FIND_NAME(script->indices, script->n_indices, product->first)];
        const int64_t second =
            p->sizes[WEFT_FIND_NAME(script->indices, script->n_indices, product->second)];
        if (first >= 0 && second >= 0)
            p->sizes[i] = weft_pairs_count(product->pairs, first, second);
    }
}

/* The same for the members `name` of an array, which are `size` bytes apart. */
static weft_status none_of(weft_error *error, const char *what, const char *name,
                           const char *const *first, int n, size_t size) {
    const char *names[64];
    size_t count = 0;
    for (; count < 64 && (int)count < n; ++count)
        names[count] = *(const char *const *)((const char *)first + count * size);
    return no_such(error, what, name, names, count);
}

/* A binding has changed: prepare and capture again. */
static void change(weft_program *p) {
    p->ready = false;
    weft_program_forget(p);
}

static void size_set(weft_program *p, const char *index_set, int64_t n) {
    const weft_script *script = p->compilation->control->script;
    const int found = WEFT_FIND_NAME(script->indices, script->n_indices, index_set);
    if (p->sizes[found] != n)
        change(p);
    p->sizes[found] = n;
    size_products(p);
}

/* Is there an index set of this name, that is not a product of others? */
static weft_status check_index_set(const weft_program *p, const char *index_set,
                                   weft_error *error) {
    const weft_script *script = p->compilation->control->script;
    const char *names[64];
    size_t count = 0;
    for (int i = 0; i < script->n_indices && count < 64; ++i)
        if (!script->indices[i].first)
            names[count++] = script->indices[i].name;
    const int found = WEFT_FIND_NAME(script->indices, script->n_indices, index_set);
    return found < 0 || script->indices[found].first
               ? no_such(error, "index set", index_set, names, count)
               : WEFT_OK;
}

static void share_set(weft_program *p, const char *index_set, const weft_share *share) {
    for (int i = 0; i < p->compilation->control->n_segments && share; ++i)
        weft_program_segment_share(p->segments[i], index_set, share);
}

weft_status weft_program_share(weft_program *p, const char *index_set, const weft_share *share,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_index_set(p, index_set, error));
    share_set(p, index_set, share);
    change(p);
done:
    return status;
}

weft_status weft_program_size(weft_program *p, const char *index_set, int64_t n,
                              weft_error *error) {
    const weft_status status = check_index_set(p, index_set, error);
    if (status != WEFT_OK)
        return status;
    if (n < 0)
        return weft_error_set(error, WEFT_ERROR_SHAPE, "index set '%s' cannot have %lld members",
                              index_set, (long long)n);
    for (int i = 0; i < p->compilation->control->n_segments; ++i)
        weft_program_segment_size(p->segments[i], index_set, n);
    size_set(p, index_set, n);
    return WEFT_OK;
}

static weft_status no_such_name(const weft_control *control, const char *name, weft_error *error) {
    const char *names[64];
    size_t n = 0;
    for (int i = 0; i < control->n_names && n < 64; ++i)
        if (control->names[i].is_input || control->names[i].returned)
            names[n++] = control->names[i].name;
    return no_such(error, "input or result", name, names, n);
}

static void bind(weft_program *p, int name, weft_memory *memory) {
    if (p->own[name])
        weft_memory_free(&p->memory[name]);
    p->own[name] = p->beginning[name] = false;
    p->memory[name] = memory;
    change(p);
}

weft_status weft_program_bind(weft_program *p, const char *name, weft_memory *memory,
                              weft_error *error) {
    const int found =
        WEFT_FIND_NAME(p->compilation->control->names, p->compilation->control->n_names, name);
    if (found < 0)
        return no_such_name(p->compilation->control, name, error);
    bind(p, found, memory);
    return WEFT_OK;
}

weft_status weft_program_bind_beginning(weft_program *p, const char *name, weft_memory *memory,
                                        weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_program_bind(p, name, memory, error));
    p->beginning[WEFT_FIND_NAME(p->compilation->control->names, p->compilation->control->n_names,
                                name)] = true;
done:
    return status;
}

weft_status weft_program_bind_connectivity(weft_program *p, const char *name,
                                           weft_connectivity *connectivity, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_script *script = p->compilation->control->script;
    const int found = WEFT_FIND_NAME(script->connectivities, script->n_connectivities, name);
    if (found < 0)
        TRY(none_of(error, "connectivity", name, &script->connectivities->name,
                    script->n_connectivities, sizeof *script->connectivities));
    for (int k = 0; k < p->compilation->control->n_segments; ++k)
        TRY(weft_program_segment_connectivity(p->segments[k], name, connectivity, error));
    size_set(p, script->connectivities[found].from, weft_connectivity_from(connectivity));
    size_set(p, script->connectivities[found].to, weft_connectivity_to(connectivity));
    share_set(p, script->connectivities[found].from, weft_connectivity_from_share(connectivity));
    share_set(p, script->connectivities[found].to, weft_connectivity_to_share(connectivity));
    change(p);
done:
    return status;
}

static weft_status bind_matrix(weft_program *p, const char *name, weft_memory *values,
                               weft_memory *positions, const weft_matrix_rows *rows,
                               weft_error *error) {
    const weft_control *control = p->compilation->control;
    bool found = false;
    for (int i = 0; i < control->n_segments; ++i)
        found |= weft_program_segment_matrix(p->segments[i], name, positions, rows);
    return found ? weft_program_bind(p, name, values, error) : no_such_name(control, name, error);
}

weft_status weft_program_bind_matrix(weft_program *p, const char *name, weft_memory *values,
                                     weft_memory *positions, weft_error *error) {
    return bind_matrix(p, name, values, positions, NULL, error);
}

weft_status weft_program_bind_matrix_positions(weft_program *p, const char *name,
                                               const char *connectivity, weft_memory *positions,
                                               weft_error *error) {
    const weft_control *control = p->compilation->control;
    const weft_script *script = control->script;
    bool found = false;
    if (WEFT_FIND_NAME(script->connectivities, script->n_connectivities, connectivity) < 0)
        return none_of(error, "connectivity", connectivity, &script->connectivities->name,
                       script->n_connectivities, sizeof *script->connectivities);
    for (int i = 0; i < control->n_segments; ++i) {
        const weft_graph *graph = p->segments[i]->segment->graph;
        const int matrix = weft_program_value(graph, name),
                  through =
                      WEFT_FIND_NAME(graph->connectivities, graph->n_connectivities, connectivity);
        if (matrix < 0 || through < 0 || graph->values[matrix].kind != VALUE_MATRIX)
            continue;
        weft_program_segment_positions(p->segments[i], matrix, through, positions);
        found = true;
    }
    change(p);
    return found ? WEFT_OK : no_such_name(control, name, error);
}

weft_status weft_program_bind_matrix_rows(weft_program *p, const char *name, weft_memory *values,
                                          const weft_matrix_rows *rows, weft_error *error) {
    return bind_matrix(p, name, values, NULL, rows, error);
}

weft_status weft_program_bind_product(weft_program *p, const char *name,
                                      const weft_product_arguments *rows, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control *control = p->compilation->control;
    const char *names[64];
    size_t n = 0;
    bool found = false;
    for (int i = 0; i < control->script->n_operators && n < 64; ++i)
        if (control->script->operators[i].product_kernel)
            names[n++] = control->script->operators[i].name;
    for (int i = 0; i < control->n_segments; ++i)
        TRY(weft_program_segment_rows(p->segments[i], name, rows, &found, error));
    change(p);
    if (!found)
        status = no_such(error, "operator with a product kernel", name, names, n);
done:
    return status;
}

void weft_program_predicate(weft_program *p, weft_memory *active) {
    p->active = active;
    for (int i = 0; i < p->compilation->control->n_segments; ++i) {
        weft_program_segment *segment = p->segments[i];
        if (segment->segment->loop >= 0) /* predicated by its loop */
            continue;
        segment->active = active;
        segment->ready = segment->ready && active;
    }
}

weft_memory *weft_program_result(const weft_program *p, const char *name) {
    const int found =
        WEFT_FIND_NAME(p->compilation->control->names, p->compilation->control->n_names, name);
    return found >= 0 ? p->memory[found] : NULL;
}

weft_status weft_program_bind_operator(weft_program *p, const char *name, weft_program_apply apply,
                                       void *user, weft_error *error) {
    const weft_script *script = p->compilation->script;
    const int found = WEFT_FIND_NAME(script->operators, script->n_operators, name);
    if (found < 0 || script->operators[found].product_kernel)
        return none_of(error, "opaque operator", name, &script->operators->name,
                       script->n_operators, sizeof *script->operators);
    p->operators[found] = (weft_program_operator){apply, user};
    weft_program_forget(p);
    return WEFT_OK;
}

void weft_program_loop_on_host(weft_program *p, bool on_host) {
    p->loops_on_host = on_host;
}

/* ---- histories ------------------------------------------------------------------------------- */

weft_status weft_program_record_history(weft_program *p, const char *name, weft_memory *memory,
                                        int64_t capacity, weft_error *error) {
    const weft_control *control = p->compilation->control;
    const size_t real_bytes = p->compilation->options.single ? sizeof(float) : sizeof(double);
    const char *names[64];
    int found = -1, slot = -1;
    size_t n = 0;
    for (int i = 0; control->last_loop >= 0 && i < control->n_names; ++i) {
        const weft_control_name *known = &control->names[i];
        if (known->index_set >= 0 || known->matrix || known->shape.rank > 0)
            continue;
        if (n < 64)
            names[n++] = known->name;
        if (strcmp(known->name, name) == 0)
            found = i;
    }
    if (found < 0)
        return no_such(error, "uniform value in a loop", name, names, n);
    if (memory && (capacity < 0 || (size_t)capacity > weft_memory_bytes(memory) / real_bytes))
        return weft_error_set(error, WEFT_ERROR_SHAPE, "no room for %lld values of '%s'",
                              (long long)capacity, name);
    for (int i = WEFT_HISTORIES_MAX - 1; i >= 0; --i)
        if (p->captured[i] < 0)
            slot = i;
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i)
        if (p->captured[i] == found)
            slot = i;
    if (slot < 0)
        return weft_error_set(error, WEFT_ERROR_USAGE, "more than %d histories",
                              WEFT_HISTORIES_MAX);
    p->captured[slot] = memory ? found : -1;
    p->histories[slot] = memory;
    p->capacities[slot] = capacity;
    weft_program_forget(p);
    return WEFT_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static weft_status name_bytes(const weft_program *p, const weft_control_name *name, size_t *out,
                              weft_error *error) {
    const weft_script *script = p->compilation->control->script;
    const weft_compile_options *options = &p->compilation->options;
    const bool is_float = options->single || weft_name_is_narrow(options, name->name);
    const size_t real_bytes = is_float ? sizeof(float) : sizeof(double);
    const int64_t lanes = weft_program_lanes(p), components = weft_shape_count(&name->shape);
    int64_t n = 1;
    if (name->index_set >= 0) {
        n = p->sizes[name->index_set];
        if (n < 0)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "the size of index set '%s' is not known (needed for '%s')",
                                  script->indices[name->index_set].name, name->name);
        if (!script->indices[name->index_set].plain)
            n = (n + lanes - 1) / lanes * lanes;
    }
    *out = (size_t)(n * components) * real_bytes;
    return WEFT_OK;
}

/* Does a step read or write a name? */
static bool is_needed(const weft_program *p, const weft_control_steps *steps, int name) {
    const weft_control *control = p->compilation->control;
    bool needed = false;
    for (int i = 0; i < steps->n && !needed; ++i) {
        const weft_control_step *step = &steps->list[i];
        if (step->kind == CONTROL_SEGMENT) {
            const weft_segment *segment = control->segments[step->number];
            const int value = weft_program_value(segment->graph, control->names[name].name);
            needed = value >= 0 && weft_program_uses(segment->plan, value);
        } else if (step->kind == CONTROL_APPLY)
            needed = step->v == name || step->y == name || step->dot == name;
        else
            needed = weft_control_uses(step, name) || is_needed(p, &step->body, name);
    }
    return needed;
}

bool weft_program_needs(const weft_program *p, const char *name) {
    const weft_control *control = p->compilation->control;
    const int found = WEFT_FIND_NAME(control->names, control->n_names, name);
    return found >= 0 && is_needed(p, &control->steps, found);
}

static bool is_captured(const weft_program *p, int name) {
    for (int i = 0; i < WEFT_HISTORIES_MAX; ++i)
        if (p->captured[i] == name)
            return true;
    return false;
}

/* A list that is read by position and longer than its index set is a list of something else. */
static weft_status refuse_length(const char *name, size_t bytes, size_t needed, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_SHAPE, "'%s' has %zu bytes bound, but needs %zu", name, bytes,
                   needed);
    weft_error_hint(error, "inputs have exactly one entry for each element of their index set");
    return WEFT_ERROR_SHAPE;
}

static weft_status prepare_name(weft_program *p, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control *control = p->compilation->control;
    const weft_control_name *name = &control->names[i];
    size_t needed = 0;
    if (name->matrix || (!is_needed(p, &control->steps, i) && !is_captured(p, i)))
        goto done;
    TRY(name_bytes(p, name, &needed, error));
    if (name->is_input && !p->memory[i])
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "input '%s' is not bound", name->name));
    if (p->shared && !p->memory[i] && !name->returned && name->index_set >= 0)
        TRY(weft_program_shared_name(p, needed, &p->memory[i], error));
    TRY(weft_program_own(p->device, name->name, needed, &p->memory[i], &p->own[i], error));
    if (name->is_input && !p->beginning[i] && weft_memory_bytes(p->memory[i]) != needed)
        TRY(refuse_length(name->name, weft_memory_bytes(p->memory[i]), needed, error));
done:
    return status;
}

static weft_status prepare_segment(weft_program *p, int number, weft_error *error) {
    const weft_control *control = p->compilation->control;
    for (int i = 0; i < control->n_names; ++i)
        if (p->memory[i])
            weft_program_segment_bind(p->segments[number], control->names[i].name, p->memory[i]);
    return weft_program_prepare(p->segments[number], error);
}

weft_status weft_program_prepare_all(weft_program *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control *control = p->compilation->control;
    for (int i = 0; i < control->script->n_operators; ++i)
        if (!control->script->operators[i].product_kernel && !p->operators[i].apply)
            TRY(weft_error_set(error, WEFT_ERROR_USAGE, "operator '%s' is not bound",
                               control->script->operators[i].name));
    if (p->ready)
        goto done;
    TRY(weft_program_graph_prepare(p, error));
    for (int i = 0; i < control->n_segments; ++i)
        TRY(weft_program_check_connectivities(p->segments[i], error));
    for (int i = 0; i < control->n_names; ++i)
        TRY(prepare_name(p, i, error));
    for (int i = 0; i < control->n_segments; ++i)
        TRY(prepare_segment(p, i, error));
    p->ready = true;
done:
    return status;
}
