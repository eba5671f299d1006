/* Runs formulas over points of cells and facets, and collects their values by element and node. */
#include "fem/derive/tabulated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the script ------------------------------------------------------------------------------ */

/* "real", "real[2]", "real[2,3]" */
static void add_shape(int components, int columns, weft_text *out) {
    if (components > 1 && columns > 0)
        weft_text_add(out, "real[%d,%d]", components, columns);
    else if (components > 1 || columns > 0)
        weft_text_add(out, "real[%d]", components > 1 ? components : columns);
    else
        weft_text_add(out, "real");
}

/* Points are the elements of this script, in the place of cells. */
void derive_pointwise_start(const derive_scope *scope, derive_elements elements, weft_text *out) {
    const struct derive_tabulated *t = scope->tabulated;
    const int d = scope->dimension;
    weft_text_add(out, "input derived_t : real;\ninput derived_x_0 : real[%d] over cells;\n", d);
    if (elements == DERIVE_FACETS)
        weft_text_add(out, "input derived_normal : real[%d] over cells;\n", d);
    for (int i = 0; i < t->n_lists; ++i) {
        const derive_list *list = &t->lists[i];
        char values[160], gradients[160];
        snprintf(values, sizeof values, i == 0 ? "derived_u_0" : "derived_n_%.127s_0", list->name);
        snprintf(gradients, sizeof gradients, i == 0 ? "derived_grad" : "derived_g_%.127s",
                 list->name);
        weft_text_add(out, "input %s : ", values);
        add_shape(list->components, 0, out);
        weft_text_add(out, " over cells;\ninput %s : ", gradients);
        add_shape(list->components, d, out);
        weft_text_add(out, " over cells;\n");
    }
    weft_text_add(out, "derived_measure = derived_x_0[0];\n");
    if (scope->components == d && d > 1)
        weft_text_add(out, "derived_strain = symmetric_part(derived_grad);\n");
}

static weft_status write_script(const weft_derive *derive, derive_elements elements, weft_text *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const char *lead = "return ";
    char name[300];
    derive_pointwise_start(&derive->scope, elements, out);
    for (int i = 0; i < derive->n_quantities; ++i) {
        const derive_place place = {&derive->scope, derive->quantities, i, elements};
        if (derive->quantities[i].elements == elements ||
            derive->quantities[i].given.kind == WEFT_DERIVE_FIELD)
            TRY(derive_script_define(&place, &derive->quantities[i], 0, out, error));
    }
    for (int i = 0; i < derive->n_quantities; ++i) {
        if (derive->quantities[i].elements != elements)
            continue;
        derive_script_name(&derive->quantities[i], 0, name);
        weft_text_add(out, "%s%s", lead, name);
        lead = ", ";
    }
    weft_text_add(out, ";\n");
    if (out->failed)
        TRY(weft_out_of_memory(error, NULL));
done:
    return status;
}

/* ---- the program ----------------------------------------------------------------------------- */

static weft_status bind(weft_derive *derive, derive_elements elements, weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    weft_program *program = t->programs[elements].program;
    const weft_compilation *compilation = t->programs[elements].compilation;
    TRY(weft_compiled_bind_form(&t->programs[elements], derive->scope.form, error));
    TRY(weft_program_size(program, "cells", t->rows, error));
    TRY(weft_program_bind(program, "derived_t", derive->t, error));
    TRY(weft_program_bind(program, "derived_x_0", t->x_memory, error));
    if (elements == DERIVE_FACETS)
        TRY(weft_program_bind(program, "derived_normal", t->normal_memory, error));
    for (int i = 0; i < t->n_lists; ++i) {
        char name[160];
        snprintf(name, sizeof name, i == 0 ? "derived_u_0" : "derived_n_%.127s_0",
                 t->lists[i].name);
        t->lists[i].reads_values[elements] = weft_compilation_reads(compilation, name);
        TRY(weft_program_bind(program, name, t->lists[i].values_memory, error));
        snprintf(name, sizeof name, i == 0 ? "derived_grad" : "derived_g_%.127s", t->lists[i].name);
        t->lists[i].reads_gradients[elements] = weft_compilation_reads(compilation, name);
        TRY(weft_program_bind(program, name, t->lists[i].gradients_memory, error));
    }
done:
    return status;
}

/* The lists of a quantity over its elements, or nodes, and its results at points. */
static weft_status make_lists(weft_derive *derive, derive_quantity *quantity, weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    const int i = quantity->index, c = quantity->n_components;
    const int64_t n = derive_is_nodal(derive, quantity)
                          ? weft_space_nodes(derive->problem.space)
                          : derive->parts[quantity->elements].n_elements;
    char name[300];
    quantity->lists = weft_arena_alloc(derive->arena, (size_t)quantity->n_lists, sizeof(double *));
    if (!quantity->lists)
        TRY(weft_out_of_memory(error, "derived quantities"));
    for (int k = 0; k < quantity->n_lists; ++k) {
        quantity->lists[k] = weft_array_make((size_t)n, (size_t)c * sizeof(double));
        if (!quantity->lists[k])
            TRY(weft_out_of_memory(error, "derived quantities"));
    }
    TRY(weft_vector_make(derive->context->device, t->rows * c, &t->results[i],
                         &t->result_memories[i], error));
    derive_script_name(quantity, 0, name);
    TRY(weft_program_bind(t->programs[quantity->elements].program, name, t->result_memories[i],
                          error));
done:
    return status;
}

weft_status derive_pointwise_make(weft_derive *derive, derive_elements elements,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    const weft_form *form = derive->scope.form;
    weft_text text = {0};
    if (!derive_is_wanted(derive, elements))
        goto done;
    if (!t->results)
        t->results = calloc((size_t)derive->n_quantities, sizeof *t->results);
    if (!t->result_memories)
        t->result_memories = calloc((size_t)derive->n_quantities, sizeof(weft_memory *));
    if (!t->results || !t->result_memories)
        TRY(weft_out_of_memory(error, "derived quantities"));
    TRY(write_script(derive, elements, &text, error));
    const weft_fragment fragments[] = {{form->name, form->text}, {"derived quantities", text.data}};
    const weft_compile_options options = weft_form_options(form);
    TRY(weft_compiled_make(derive->context, fragments, 2, &options, &t->programs[elements], error));
    TRY(bind(derive, elements, error));
    for (int i = 0; i < derive->n_quantities; ++i)
        if (derive->quantities[i].elements == elements)
            TRY(make_lists(derive, &derive->quantities[i], error));
done:
    weft_text_free(&text);
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------ */

derive_set derive_pointwise_set(const weft_derive *derive, const derive_quantity *quantity) {
    const bool is_solved = derive->problem.projection == WEFT_PROJECT_CONSISTENT;
    return quantity->given.kind == WEFT_DERIVE_INTEGRAL  ? DERIVE_RULE
           : quantity->given.kind == WEFT_DERIVE_EXTREMA ? DERIVE_LATTICE
           : !derive_is_nodal(derive, quantity)          ? DERIVE_CENTRE
           : is_solved                                   ? DERIVE_RULE
                                                         : DERIVE_NODES;
}

/* Values at nodes: of each cell its own, weighted by its volume; or loads, int f phi.
 * results  at the nodes, or at the points of the rule */
static void add_nodal(const weft_derive *derive, derive_quantity *quantity, int64_t cell,
                      const double *results) {
    const struct derive_tabulated *t = derive->tabulated;
    const weft_space *space = derive->problem.space;
    const int w = weft_space_element(space)->n_nodes, c = quantity->n_components;
    const int32_t *nodes = weft_space_cell_nodes(space) + cell * w;
    const int n = t->sets[DERIVE_CELLS][DERIVE_RULE].n;
    for (int j = 0; j < w; ++j)
        for (int k = 0; k < c; ++k) {
            double sum = t->shapes ? 0 : t->volumes[cell] * results[j * c + k];
            for (int p = 0; p < n && t->shapes; ++p)
                sum += t->measures[cell * n + p] * t->shapes[p * w + j] * results[p * c + k];
            quantity->lists[0][(int64_t)nodes[j] * c + k] += sum;
        }
}

/* Take the results at the points of one element. */
static void take(const weft_derive *derive, derive_quantity *quantity, int64_t element,
                 const double *results, const double *measure, int n) {
    const int c = quantity->n_components;
    if (derive_is_nodal(derive, quantity)) {
        add_nodal(derive, quantity, element, results);
        return;
    }
    for (int k = 0; k < c; ++k) {
        double sum = 0;
        for (int p = 0; p < n; ++p)
            sum += measure[p] * results[p * c + k];
        if (quantity->given.kind == WEFT_DERIVE_INTEGRAL)
            quantity->lists[0][element * c + k] = sum;
        for (int p = 0; p < n && quantity->given.kind != WEFT_DERIVE_INTEGRAL; ++p)
            quantity->lists[p][element * c + k] = results[p * c + k];
    }
}

static weft_status push_rows(const weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    const struct derive_tabulated *t = derive->tabulated;
    const int d = t->map.d;
    TRY(weft_vector_push(t->x_memory, t->x, t->rows * d, error));
    TRY(weft_vector_push(t->normal_memory, t->normal, t->rows * d, error));
    for (int i = 0; i < t->n_lists; ++i) {
        const derive_list *list = &t->lists[i];
        TRY(weft_vector_push(list->values_memory, list->values, t->rows * list->components, error));
        TRY(weft_vector_push(list->gradients_memory, list->gradients,
                             t->rows * list->components * d, error));
    }
done:
    return status;
}

/* Run the program at all points of elements first .. first + n. */
static weft_status run_range(weft_derive *derive, derive_elements elements, derive_set set,
                             int64_t first, int64_t n, weft_error *error) {
    weft_status status = WEFT_OK;
    struct derive_tabulated *t = derive->tabulated;
    const int points = t->sets[elements][set].n;
    TRY(derive_tabulated_evaluate(derive, elements, set, first, n, error));
    TRY(push_rows(derive, error));
    TRY(weft_program_run(t->programs[elements].program, error));
    for (int i = 0; i < derive->n_quantities; ++i) {
        derive_quantity *quantity = &derive->quantities[i];
        const int c = quantity->n_components;
        if (quantity->elements != elements || derive_pointwise_set(derive, quantity) != set)
            continue;
        TRY(weft_vector_pull(t->result_memories[i], t->results[i], n * points * c, error));
        for (int64_t k = 0; k < n; ++k)
            take(derive, quantity, first + k, t->results[i] + k * points * c,
                 t->measure + k * points, points);
    }
done:
    return status;
}

static weft_status run_set(weft_derive *derive, derive_elements elements, derive_set set,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const struct derive_tabulated *t = derive->tabulated;
    bool is_wanted = false;
    for (int i = 0; i < derive->n_quantities; ++i)
        is_wanted |= derive->quantities[i].elements == elements &&
                     derive_pointwise_set(derive, &derive->quantities[i]) == set;
    if (!is_wanted)
        goto done;
    const int64_t all = derive->parts[elements].n_elements,
                  most = t->rows / t->sets[elements][set].n;
    for (int64_t first = 0; first < all; first += most)
        TRY(run_range(derive, elements, set, first, all - first < most ? all - first : most,
                      error));
done:
    return status;
}

/* Divide sums over the cells of nodes by the volumes of these cells. */
static weft_status average(weft_derive *derive, weft_error *error) {
    const struct derive_tabulated *t = derive->tabulated;
    const weft_space *space = derive->problem.space;
    const int w = weft_space_element(space)->n_nodes;
    double *volumes = weft_array_make((size_t)weft_space_nodes(space), sizeof *volumes);
    if (!volumes)
        return weft_out_of_memory(error, "derived quantities");
    for (int64_t i = 0; i < t->map.mesh->n_cells * w; ++i)
        volumes[weft_space_cell_nodes(space)[i]] += t->volumes[i / w];
    for (int q = 0; q < derive->n_quantities; ++q) {
        derive_quantity *quantity = &derive->quantities[q];
        const int c = quantity->n_components;
        for (int64_t i = 0; i < weft_space_nodes(space) && derive_is_nodal(derive, quantity); ++i)
            for (int k = 0; k < c; ++k)
                quantity->lists[0][i * c + k] /= volumes[i];
    }
    free(volumes);
    return WEFT_OK;
}

static void clear_nodal(weft_derive *derive) {
    for (int i = 0; i < derive->n_quantities; ++i) {
        derive_quantity *quantity = &derive->quantities[i];
        if (derive_is_nodal(derive, quantity))
            memset(quantity->lists[0], 0,
                   (size_t)weft_space_nodes(derive->problem.space) *
                       (size_t)quantity->n_components * sizeof(double));
    }
}

weft_status derive_pointwise_run(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool records_only = weft_device_limits(derive->context->device)->records_only;
    clear_nodal(derive);
    if (!records_only)
        TRY(derive_tabulated_pull(derive, error));
    for (int e = 0; e < 2; ++e)
        for (int s = 0; s < DERIVE_SETS && derive->tabulated->programs[e].program; ++s)
            TRY(run_set(derive, (derive_elements)e, (derive_set)s, error));
    if (derive->problem.projection == WEFT_PROJECT_LUMPED)
        TRY(average(derive, error));
    for (int i = 0; i < derive->n_quantities && derive->tabulated->shapes && !records_only; ++i)
        if (derive_is_nodal(derive, &derive->quantities[i]))
            TRY(derive_mass_solve(derive, derive->quantities[i].n_components,
                                  derive->quantities[i].lists[0], error));
done:
    return status;
}
