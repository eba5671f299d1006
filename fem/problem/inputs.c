/* Computes the values of the inputs of a problem from formulas and lists. */
#include "fem/problem/inputs.h"
#include "fem/data/data.h"
#include "fem/space/layout.h"
#include "fem/space/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- index sets -------------------------------------------------------------------------- */

int weft_input_components(const weft_name_info *info) {
    int n = 1;
    for (int i = 0; i < info->rank; ++i)
        n *= info->sizes[i];
    return n;
}

static bool is_over(const weft_name_info *info, const char *index_set) {
    return info->over && strcmp(info->over, index_set) == 0;
}

const weft_problem_set *weft_inputs_set_of(const weft_inputs *inputs, const char *name) {
    for (int i = 0; name && i < inputs->n_sets; ++i)
        if (strcmp(inputs->sets[i].name, name) == 0)
            return &inputs->sets[i];
    return NULL;
}

const weft_space *weft_input_space(const weft_inputs *inputs, const weft_name_info *info) {
    const weft_problem_set *set = weft_inputs_set_of(inputs, info->over);
    return set                                             ? set->spaces[0]
           : inputs->n_sets == 0 && is_over(info, "nodes") ? inputs->fields->space
                                                           : NULL;
}

/* Entries for which an input has values. The nodes are those of the mesh before there is a space. */
static int64_t count_entries(const weft_inputs *inputs, const weft_name_info *info) {
    const weft_problem_set *set = weft_inputs_set_of(inputs, info->over);
    const weft_space *space = weft_input_space(inputs, info);
    int64_t n_dofs = 0;
    for (int i = 0; set && set->is_flat && i < set->n; ++i)
        n_dofs += weft_space_dofs(set->spaces[i]);
    return n_dofs > 0               ? n_dofs
           : space                  ? weft_space_nodes(space)
           : is_over(info, "cells") ? inputs->fields->mesh->n_cells
           : is_over(info, "nodes") ? inputs->fields->mesh->n_nodes
                                    : 1;
}

static int64_t count_lanes(const weft_inputs *inputs) {
    return weft_device_limits(inputs->fields->context->device)->lanes_double;
}

/* With the spare lanes of the last block of cells. */
static int64_t count_places(const weft_inputs *inputs, const weft_name_info *info) {
    const int64_t n = count_entries(inputs, info), lanes = count_lanes(inputs);
    return is_over(info, "cells") ? (n + lanes - 1) / lanes * lanes : n;
}

int64_t weft_inputs_size_of(const weft_inputs *inputs, const weft_name_info *info) {
    return weft_input_components(info) * count_places(inputs, info);
}

/* Index of component k of entry i, as weft_input says. */
static int64_t place(bool on_cells, int64_t lanes, int components, int64_t i, int k) {
    return on_cells ? (i / lanes * components + k) * lanes + i % lanes : i * components + k;
}

/* ---- formulas ---------------------------------------------------------------------------- */

/* A column of numbers on the device. */
typedef struct column {
    double *values;
    weft_memory *memory;
} column;

static void clear(column *one) {
    weft_memory_free(&one->memory);
    free(one->values);
}

weft_status weft_constants_make(const weft_fields *fields, weft_space **out, weft_error *error) {
    return weft_space_make(fields->context->device, fields->mesh,
                           (weft_element_kind){WEFT_DISCONTINUOUS, 0}, 1, out, error);
}

static weft_status refuse_uniform(const weft_input_source *source, const char *why,
                                  weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "this input is a single number, and %s", why);
    weft_error_location(error, source->origin, source->text, 1, 1);
    weft_error_hint(
        error,
        "write a constant, such as 1/40; what varies in space is an input over nodes or cells");
    return WEFT_ERROR_USAGE;
}

weft_status weft_input_check_uniform(const weft_input_source *source, const char *text,
                                     weft_error *error) {
    static const char *const axes[] = {"x", "y", "z"};
    weft_status status = WEFT_OK;
    for (int k = 0; k < 3; ++k)
        if (weft_has_word(text, axes[k]))
            TRY(refuse_uniform(source, "this formula depends on the place", error));
    if (weft_formula_by_group(text))
        TRY(refuse_uniform(source, "this is a formula by group", error));
done:
    return status;
}

/* The value of an input that is a single number. */
static weft_status evaluate_uniform(weft_inputs *inputs, const weft_input_source *source,
                                    const char *text, double *value, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_input_check_uniform(source, text, error));
    TRY(weft_formula_evaluate(inputs->fields->context, text, source->origin, NULL, value, error));
    if (!isfinite(*value))
        TRY(refuse_uniform(source, "this formula has no finite value", error));
done:
    return status;
}

/* A list of values: a function of a space, each of whose components has a formula. */
typedef struct value_list {
    const weft_space *space; /* over cells of constants; NULL there if all formulas are numbers */
    bool on_cells;
    int components;
    const char *origin; /* of the formulas */
    double *values;
} value_list;

/* A component of a list by chunks, on the host's threads. */
enum { CHUNKS = 256 };
typedef struct entry_chunks {
    const value_list *out;
    int64_t lanes, n, n_padded;
    int k;
    const double *from; /* [n]; NULL: constant */
    double constant;
    int64_t wrong[CHUNKS]; /* the first entry that is not finite, or -1 */
} entry_chunks;

static void fill_chunk(void *user, int64_t chunk) {
    entry_chunks *in = user;
    const value_list *out = in->out;
    in->wrong[chunk] = -1;
    for (int64_t i = in->n_padded * chunk / CHUNKS; i < in->n_padded * (chunk + 1) / CHUNKS; ++i) {
        const int64_t from = i < in->n ? i : in->n - 1; /* spare lanes repeat the last cell */
        const double value = in->from ? in->from[from] : in->constant;
        if (in->wrong[chunk] < 0 && !isfinite(value))
            in->wrong[chunk] = from;
        out->values[place(out->on_cells, in->lanes, out->components, i, in->k)] = value;
    }
}

/* Set component k to a formula. */
static weft_status fill(weft_inputs *inputs, const value_list *out, int k, const char *text,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = inputs->fields->context;
    const bool is_null = weft_device_limits(context->device)->records_only;
    const int64_t lanes = count_lanes(inputs);
    const int64_t n = out->on_cells ? inputs->fields->mesh->n_cells : weft_space_nodes(out->space);
    const int64_t n_padded = out->on_cells ? (n + lanes - 1) / lanes * lanes : n;
    column made = {0};
    double constant = 0;
    const bool is_constant = weft_formula_constant(text, &constant);
    if (!is_constant) {
        TRY(weft_vector_make(context->device, n, &made.values, &made.memory, error));
        TRY(weft_space_evaluate(context, out->space, text, out->origin, made.memory, made.values,
                                error));
        if (!out->on_cells &&
            strchr(text, '@')) /* a node has the value of the last of its groups */
            TRY(weft_space_take_owners(out->space, made.values, error));
    }
    entry_chunks all = {.out = out,
                        .lanes = lanes,
                        .n = n,
                        .n_padded = n_padded,
                        .k = k,
                        .from = made.values,
                        .constant = constant};
    TRY(weft_device_for(context->device, CHUNKS, fill_chunk, &all, error));
    for (int i = 0; i < CHUNKS && !is_null; ++i)
        if (all.wrong[i] >= 0)
            TRY(weft_formula_refuse(out->space, text, out->origin, all.wrong[i], error));
done:
    clear(&made);
    return status;
}

/* A vector field in a space with continuous tangential or normal components: a formula for each component. */
static weft_status fill_mapped(weft_inputs *inputs, const value_list *out, char *const *texts,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    weft_context *context = inputs->fields->context;
    const int64_t n = weft_space_nodes(out->space);
    TRY(weft_mapped_evaluate(context, out->space, (const char *const *)texts, out->origin, NULL,
                             out->values, error));
    for (int64_t i = 0; i < n && !weft_device_limits(context->device)->records_only; ++i)
        if (!isfinite(out->values[i]))
            TRY(weft_formula_refuse(out->space, texts[0], out->origin, i, error));
done:
    return status;
}

/* Values over nodes: a formula for each component of the space. */
static weft_status fill_nodes(weft_inputs *inputs, const value_list *out, char *const *texts,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    if (weft_space_is_mapped(out->space))
        TRY(fill_mapped(inputs, out, texts, error));
    for (int k = 0; k < out->components && !weft_space_is_mapped(out->space); ++k)
        TRY(fill(inputs, out, k, texts[k], error));
done:
    return status;
}

static weft_status fill_cells(weft_inputs *inputs, value_list out, char *const *texts,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_space *constants = NULL;
    double number = 0;
    bool are_numbers = true;
    for (int k = 0; k < out.components; ++k)
        are_numbers &= weft_formula_constant(texts[k], &number);
    if (!are_numbers)
        TRY(weft_constants_make(inputs->fields, &constants, error));
    out.space = constants;
    for (int k = 0; k < out.components; ++k)
        TRY(fill(inputs, &out, k, texts[k], error));
done:
    weft_space_free(&constants);
    return status;
}

static weft_status refuse_count(const weft_input_source *source, int n, int wanted,
                                weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "%d expression%s given, but this input has %d component%s", n,
                   n == 1 ? " is" : "s are", wanted, wanted == 1 ? "" : "s");
    weft_error_location(error, source->origin, source->text, 1, 1);
    weft_error_hint(error, "write one for each, with commas between them; matrices row by row");
    return WEFT_ERROR_USAGE;
}

weft_status weft_input_split(const weft_input_source *source, int components, char ***out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    char **list = NULL;
    int n = 0;
    TRY(weft_formula_split(source->origin, source->text, &list, &n, error));
    if (n != components)
        TRY(refuse_count(source, n, components, error));
    *out = list;
    list = NULL;
done:
    weft_formula_list_free(&list, n);
    return status;
}

/* Fill a function in several spaces, whose values are dofs: one formula for each component, which enrichments have in
 * common, since their dofs are values at nodes too. */
static weft_status fill_flat(weft_inputs *inputs, const weft_problem_set *set,
                             const weft_input_source *source, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int last = set->n - 1;
    const int n_values = set->first_values[last] + weft_space_values_of(set->spaces[last]);
    char **texts = NULL;
    TRY(weft_formula_components(source->origin, source->text, n_values, &texts, error));
    for (int i = 0; i < set->n; ++i) {
        const int c = weft_space_components(set->spaces[i]);
        TRY(fill_nodes(inputs, &(value_list){set->spaces[i], false, c, source->origin, values},
                       texts + set->first_values[i], error));
        values += weft_space_dofs(set->spaces[i]);
    }
done:
    weft_formula_list_free(&texts, n_values);
    return status;
}

weft_status weft_inputs_fill(weft_inputs *inputs, const weft_name_info *info,
                             const weft_input_source *source, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_problem_set *set = weft_inputs_set_of(inputs, info->over);
    const int c = weft_input_components(info);
    const bool on_cells = is_over(info, "cells");
    const value_list out = {weft_input_space(inputs, info), on_cells, c, source->origin, values};
    char **texts = NULL;
    int n_texts = c;
    if (set && set->is_flat) {
        status = fill_flat(inputs, set, source, values, error);
        goto done;
    }
    n_texts = out.space && !on_cells && weft_space_is_mapped(out.space)
                  ? weft_space_values_of(out.space)
                  : c;
    TRY(weft_input_split(source, n_texts, &texts, error));
    if (on_cells)
        TRY(fill_cells(inputs, out, texts, error));
    else if (info->over)
        TRY(fill_nodes(inputs, &out, texts, error));
    for (int k = 0; k < c && !info->over; ++k)
        TRY(evaluate_uniform(inputs, source, texts[k], &values[k], error));
done:
    weft_formula_list_free(&texts, n_texts);
    return status;
}

weft_status weft_inputs_fill_fields(weft_inputs *inputs, const weft_input_source *source,
                                    double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fields *fields = inputs->fields;
    char **texts = NULL;
    TRY(weft_formula_components(source->origin, source->text, fields->n_values, &texts, error));
    for (int i = 0; i < fields->n; ++i) {
        const weft_problem_field *field = &fields->list[i];
        const int c = weft_space_components(field->space);
        TRY(fill_nodes(
            inputs,
            &(value_list){field->space, false, c, source->origin, values + field->first_dof},
            texts + field->first_value, error));
    }
done:
    weft_formula_list_free(&texts, fields->n_values);
    return status;
}

/* ---- the inputs -------------------------------------------------------------------------- */

static weft_status refuse_over(const weft_name_info *info, const weft_input_source *source,
                               weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "the input '%s' is over '%s'",
                   source->shown ? source->shown : info->name, info->over);
    weft_error_location(error, source->file, NULL, 0, 0);
    weft_error_hint(error, "inputs are over nodes, over cells, or uniform");
    return WEFT_ERROR_INPUT;
}

weft_status weft_inputs_check_length(const weft_inputs *inputs, const weft_name_info *info,
                                     const weft_input_source *source, weft_error *error) {
    const int64_t wanted = weft_inputs_size_of(inputs, info);
    if (weft_memory_bytes(source->memory) == (size_t)wanted * sizeof(double))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "the list of the input '%s' does not have %lld values",
                   source->shown ? source->shown : info->name, (long long)wanted);
    weft_error_location(error, source->origin, NULL, 0, 0);
    weft_error_hint(error, "it has a value for each component of each entry%s",
                    is_over(info, "cells") ? ", in blocks of as many cells as the device has lanes"
                                           : "");
    return WEFT_ERROR_USAGE;
}

/* Room for one more in the lists. */
static weft_status grow(weft_inputs *inputs, weft_error *error) {
    const size_t n = (size_t)inputs->n + 1;
    weft_input *list = realloc(inputs->list, n * sizeof *list);
    if (list)
        inputs->list = list;
    weft_memory **moving = realloc(inputs->moving, n * sizeof(weft_memory *));
    if (moving)
        inputs->moving = moving;
    return list && moving ? WEFT_OK : weft_out_of_memory(error, NULL);
}

static void clear_input(weft_input *input) {
    weft_moving_input_free(&input->moving);
    if (input->values)
        weft_memory_free(&input->memory);
    free(input->values);
    free(input->whole);
}

static bool is_load(const weft_input *input) {
    return strcmp(input->shown, "load") == 0;
}

/* The values of an input, at t = 0. */
static weft_status compute(weft_inputs *inputs, const weft_input_source *source, weft_input *input,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = weft_inputs_size_of(inputs, &input->info);
    if (source->memory)
        TRY(weft_inputs_check_length(inputs, &input->info, source, error));
    if (source->memory && !is_load(input)) {
        input->memory = source->memory;
        goto done;
    }
    TRY(weft_vector_make(inputs->fields->context->device, n, &input->values, &input->memory,
                         error));
    if (source->memory) { /* a copy, which is scaled */
        TRY(weft_memory_read(source->memory, 0, input->values, (size_t)n * sizeof(double), error));
        TRY(weft_vector_push(input->memory, input->values, n, error));
        goto done;
    }
    if (source->in_time && weft_has_word(source->text, "t")) {
        TRY(weft_moving_input_make(inputs, &input->info, source, input->memory, &input->moving,
                                   error));
        TRY(weft_moving_input_set(input->moving, 0, error));
        goto done;
    }
    TRY(weft_inputs_fill(inputs, &input->info, source, input->values, error));
    TRY(weft_vector_push(input->memory, input->values, n, error));
done:
    return status;
}

weft_status weft_inputs_add(weft_inputs *inputs, const weft_name_info *info,
                            const weft_input_source *source, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_input made = {.info = *info, .shown = source->shown ? source->shown : info->name};
    if (info->over && !is_over(info, "cells") && !weft_input_space(inputs, info))
        TRY(refuse_over(info, source, error));
    TRY(grow(inputs, error));
    TRY(compute(inputs, source, &made, error));
    if (made.moving)
        inputs->moving[inputs->n_moving++] = made.memory;
    inputs->list[inputs->n++] = made;
    made = (weft_input){0};
done:
    clear_input(&made);
    return status;
}

weft_memory *weft_inputs_find(const weft_inputs *inputs, const char *name) {
    for (int i = 0; i < inputs->n; ++i)
        if (strcmp(inputs->list[i].info.name, name) == 0)
            return inputs->list[i].memory;
    return NULL;
}

void weft_inputs_clear(weft_inputs *inputs) {
    for (int i = 0; i < inputs->n; ++i)
        clear_input(&inputs->list[i]);
    for (int i = 1; i < inputs->n_sets; ++i) /* those of the first are the fields' */
        for (int k = 0; k < inputs->sets[i].n; ++k)
            weft_space_free(&inputs->sets[i].spaces[k]);
    free(inputs->sets);
    free(inputs->list);
    free(inputs->moving);
    weft_memory_free(&inputs->load);
    *inputs = (weft_inputs){0};
}

/* ---- in time ----------------------------------------------------------------------------- */

static weft_status set_time(void *user, double t, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_inputs *inputs = user;
    for (int i = 0; i < inputs->n; ++i)
        if (inputs->list[i].moving)
            TRY(weft_moving_input_set(inputs->list[i].moving, t, error));
done:
    return status;
}

weft_transient_inputs weft_inputs_moving(weft_inputs *inputs) {
    return (weft_transient_inputs){
        .memories = inputs->moving, .n = inputs->n_moving, .set = set_time, .user = inputs};
}

/* ---- load factors ------------------------------------------------------------------------ */

bool weft_inputs_have_load(const weft_inputs *inputs) {
    for (int i = 0; i < inputs->n; ++i)
        if (is_load(&inputs->list[i]))
            return true;
    return false;
}

/* Values may wrap the memory, so that those of the full load are kept. */
static weft_status keep_whole(weft_input *input, int64_t n, weft_error *error) {
    if (input->whole)
        return WEFT_OK;
    input->whole = weft_array_make((size_t)n, sizeof *input->whole);
    if (!input->whole)
        return weft_out_of_memory(error, NULL);
    memcpy(input->whole, input->values, (size_t)n * sizeof *input->whole);
    return WEFT_OK;
}

weft_status weft_inputs_scale_loads(weft_inputs *inputs, double factor, weft_error *error) {
    weft_status status = WEFT_OK;
    if (!inputs->load)
        TRY(weft_memory_make(inputs->fields->context->device, sizeof factor, &inputs->load, error));
    TRY(weft_memory_write(inputs->load, 0, &factor, sizeof factor, error));
    inputs->load_factor = factor;
    for (int i = 0; i < inputs->n; ++i) {
        weft_input *input = &inputs->list[i];
        const int64_t n = weft_inputs_size_of(inputs, &input->info);
        if (!is_load(input))
            continue;
        TRY(keep_whole(input, n, error));
        for (int64_t k = 0; k < n; ++k)
            input->values[k] = factor * input->whole[k];
        TRY(weft_vector_push(input->memory, input->values, n, error));
    }
done:
    return status;
}
