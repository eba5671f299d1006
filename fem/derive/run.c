/* Compiles all quantities over cells, or over facets, into one program, runs it and fetches its lists. */
#include "fem/derive/tabulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const script_name = "derived quantities";

bool derive_is_nodal(const weft_derive *derive, const derive_quantity *quantity) {
    return quantity->given.kind == WEFT_DERIVE_FIELD &&
           derive->problem.projection != WEFT_PROJECT_NONE;
}

/* ---- the script ------------------------------------------------------------------------------ */

/* Statements of the fields before quantity i, at one point; of those that are constant in an element
 * at the first point only. */
static weft_status write_fields(const weft_derive *derive, int i, derive_elements elements,
                                int point, weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int k = 0; k < i; ++k) {
        const derive_place place = {&derive->scope, derive->quantities, k, elements};
        if (derive->quantities[k].given.kind == WEFT_DERIVE_FIELD &&
            (point == 0 || derive->quantities[k].varies))
            TRY(derive_script_define(&place, &derive->quantities[k], point, out, error));
    }
done:
    return status;
}

/* Set the shape from the value of the script. */
static weft_status set_shape(derive_quantity *quantity, const weft_name_info *info,
                             weft_error *error) {
    quantity->is_uniform = !info->over;
    quantity->rank = info->rank;
    quantity->n_components = 1;
    for (int i = 0; i < info->rank && i < 2; ++i) {
        quantity->sizes[i] = info->sizes[i];
        quantity->n_components *= info->sizes[i];
    }
    const bool is_scalar = quantity->given.kind != WEFT_DERIVE_EXTREMA || info->rank == 0;
    if (is_scalar && info->rank <= 2 && quantity->n_components <= WEFT_DERIVE_COMPONENTS_MAX &&
        (!info->over || strcmp(info->over, "cells") == 0))
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_TYPE,
                   !is_scalar ? "extrema are of a number, and this formula has %d components"
                              : "this formula has no number, vector or matrix for each element, of "
                                "at most 9 components (it has %d)",
                   quantity->n_components);
    weft_error_location(error, quantity->given.origin, quantity->given.text, 1, 1);
    weft_error_hint(error, !is_scalar ? "take a component, as in grad(u)[0], or norm2(...)"
                                      : "write a formula in u, grad(u) and x");
    return WEFT_ERROR_TYPE;
}

/* Compile a script that returns the quantity at one point. */
static weft_status compile_alone(const weft_derive *derive, const derive_quantity *quantity,
                                 int point, const weft_text *before, weft_compilation **out,
                                 weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_form *form = derive->scope.form;
    const derive_place place = {&derive->scope, derive->quantities, quantity->index,
                                quantity->elements};
    weft_text statement = {0}, last = {0};
    char name[300];
    derive_script_name(quantity, point, name);
    TRY(derive_script_define(&place, quantity, point, &statement, error));
    weft_text_add(&last, "return %s;\n", name);
    if (statement.failed || last.failed || before->failed)
        TRY(weft_out_of_memory(error, NULL));
    const weft_fragment fragments[] = {{form->name, form->text},
                                       {script_name, before->data},
                                       {quantity->given.origin, statement.data},
                                       {"outputs", last.data}};
    weft_compile_options options = weft_form_options(form);
    status = weft_context_compile(derive->context, fragments, 4, &options, out, error);
    if (status != WEFT_OK)
        derive_formula_correct(&place, &quantity->given, point, (int)strlen(name) + 3, error);
done:
    weft_text_free(&statement);
    weft_text_free(&last);
    return status;
}

/* The points of an element at which a quantity is evaluated: first and number in its script. */
static void points_of(const weft_derive *derive, const derive_quantity *quantity, int *first,
                      int *n) {
    const struct derive_tabulated *t = derive->tabulated;
    *first = 0;
    if (t)
        *n = t->sets[quantity->elements][derive_pointwise_set(derive, quantity)].n;
    else
        derive_points_of(&derive->parts[quantity->elements].points, quantity->given.kind, first, n);
}

static void set_lists(const weft_derive *derive, derive_quantity *quantity, int n_points) {
    quantity->n_lists = quantity->given.kind == WEFT_DERIVE_FIELD      ? 1
                        : quantity->given.kind == WEFT_DERIVE_INTEGRAL ? 2 /* and for the sums */
                                                                       : n_points;
    quantity->list_components = quantity->n_components;
    if (derive_is_nodal(derive, quantity) && !derive->tabulated) {
        quantity->n_lists = quantity->rank == 2 ? quantity->sizes[0] : 1;
        quantity->list_components = quantity->n_components / quantity->n_lists;
    }
}

weft_status derive_quantity_check(weft_derive *derive, int i, weft_error *error) {
    weft_status status = WEFT_OK;
    derive_quantity *quantity = &derive->quantities[i];
    weft_compilation *compilation = NULL;
    weft_text before = {0};
    weft_name_info info;
    char name[300];
    int first = 0, n = 0;
    points_of(derive, quantity, &first, &n);
    if (derive->tabulated)
        derive_pointwise_start(&derive->scope, quantity->elements, &before);
    else
        derive_script_start(&derive->scope, quantity->elements,
                            &derive->parts[quantity->elements].points, &before);
    TRY(write_fields(derive, i, quantity->elements, 0, &before, error));
    if (first > 0)
        TRY(write_fields(derive, i, quantity->elements, first, &before, error));
    const derive_place place = {&derive->scope, derive->quantities, i, quantity->elements};
    derive_formula_inspect(&place, quantity);
    TRY(compile_alone(derive, quantity, first, &before, &compilation, error));
    derive_script_name(quantity, first, name);
    for (int k = 0; k < weft_compilation_names(compilation); ++k) {
        weft_compilation_name(compilation, k, &info);
        if (strcmp(info.name, name) == 0)
            break;
    }
    TRY(set_shape(quantity, &info, error));
    set_lists(derive, quantity, n);
done:
    weft_compilation_free(&compilation);
    weft_text_free(&before);
    return status;
}

/* derived_sum_i = |T| sum_p w_p f_p */
static void write_sum(const derive_quantity *quantity, const derive_points *points,
                      weft_text *out) {
    char name[300];
    int first = 0, n = 0;
    derive_points_of(points, WEFT_DERIVE_INTEGRAL, &first, &n);
    weft_text_add(out, "derived_sum_%d = derived_measure*(", quantity->index);
    if (!quantity->varies) {
        derive_script_name(quantity, first, name);
        weft_text_add(out, "%s);\n", name);
        return;
    }
    for (int p = first; p < first + n; ++p) {
        derive_script_name(quantity, p, name);
        weft_text_add(out, "%s%.17g*%s", p > first ? " + " : "", points->weights[p], name);
    }
    weft_text_add(out, ");\n");
}

/* The name of a list of results. */
static void list_name(const weft_derive *derive, const derive_quantity *quantity, int list,
                      char out[300]) {
    int first = 0, n = 0;
    derive_points_of(&derive->parts[quantity->elements].points, quantity->given.kind, &first, &n);
    if (derive_is_nodal(derive, quantity))
        snprintf(out, 300, "derived_nodal_%d_%d", quantity->index, list);
    else if (quantity->given.kind == WEFT_DERIVE_INTEGRAL)
        snprintf(out, 300, "derived_sum_%d", quantity->index);
    else
        derive_script_name(quantity, first + list, out);
}

/* Lists that the program makes: the second one of an integral only holds partial sums. */
static int n_results(const derive_quantity *quantity) {
    return quantity->given.kind == WEFT_DERIVE_INTEGRAL ? 1 : quantity->n_lists;
}

/* The statements of a quantity at all of its points. */
static weft_status write_quantity(const weft_derive *derive, const derive_quantity *quantity,
                                  weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const derive_points *points = &derive->parts[quantity->elements].points;
    const derive_place place = {&derive->scope, derive->quantities, quantity->index,
                                quantity->elements};
    int first = 0, n = 0;
    derive_points_of(points, quantity->given.kind, &first, &n);
    const bool once = quantity->given.kind == WEFT_DERIVE_INTEGRAL && !quantity->varies;
    for (int p = first; p < first + (once ? 1 : n) && quantity->given.kind != WEFT_DERIVE_FIELD;
         ++p)
        TRY(derive_script_define(&place, quantity, p, out, error));
    if (quantity->given.kind == WEFT_DERIVE_INTEGRAL)
        write_sum(quantity, points, out);
    if (derive_is_nodal(derive, quantity))
        derive_project_write(derive, quantity, out);
done:
    return status;
}

static void write_return(const weft_derive *derive, derive_elements elements, weft_text *out) {
    const char *lead = "return ";
    char name[300];
    for (int i = 0; i < derive->n_quantities; ++i) {
        const derive_quantity *quantity = &derive->quantities[i];
        for (int k = 0; quantity->elements == elements && k < n_results(quantity); ++k) {
            list_name(derive, quantity, k, name);
            weft_text_add(out, "%s%s", lead, name);
            lead = ", ";
        }
        if (quantity->elements == elements && derive_is_nodal(derive, quantity) &&
            derive->problem.projection == WEFT_PROJECT_CONSISTENT)
            for (int k = 0; k < n_results(quantity); ++k)
                weft_text_add(out, ", derived_load_%d_%d", i, k);
    }
    weft_text_add(out, ";\n");
}

static weft_status write_script(const weft_derive *derive, derive_elements elements, weft_text *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const derive_points *points = &derive->parts[elements].points;
    bool has_nodal = false;
    derive_script_start(&derive->scope, elements, points, out);
    for (int p = 0; p < points->n; ++p)
        TRY(write_fields(derive, derive->n_quantities, elements, p, out, error));
    for (int i = 0; i < derive->n_quantities; ++i)
        has_nodal |= derive_is_nodal(derive, &derive->quantities[i]);
    if (has_nodal && elements == DERIVE_CELLS) {
        weft_text_add(out, "derived_W = quadrature_shapes(derived_J, degree = 4);\nderived_w =");
        for (int k = 0; k < points->n_quadrature; ++k)
            weft_text_add(out, "%s derived_W[%d]", k ? " +" : "", k);
        weft_text_add(out, ";\nderived_mass[dofs] += derived_w;\n");
    }
    for (int i = 0; i < derive->n_quantities; ++i)
        if (derive->quantities[i].elements == elements)
            TRY(write_quantity(derive, &derive->quantities[i], out, error));
    write_return(derive, elements, out);
    if (out->failed)
        TRY(weft_out_of_memory(error, NULL));
done:
    return status;
}

/* ---- the program ----------------------------------------------------------------------------- */

bool derive_is_wanted(const weft_derive *derive, derive_elements elements) {
    for (int i = 0; i < derive->n_quantities; ++i)
        if (derive->quantities[i].elements == elements)
            return true;
    return false;
}

/* The values of an input over cells at the cells of facets. */
static weft_status gather(const weft_derive *derive, derive_part *part, weft_memory *cells,
                          int components, weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int lanes = weft_device_limits(derive->context->device)->lanes_double;
    const int64_t n_cells = weft_space_mesh(derive->problem.space)->n_cells, n = part->n_elements;
    const int64_t from = (n_cells + lanes - 1) / lanes * lanes * components;
    const int64_t to = (n + lanes - 1) / lanes * lanes * components;
    double *interleaved = weft_array_make((size_t)from, sizeof *interleaved);
    double *plain = weft_array_make((size_t)(n_cells * components), sizeof *plain);
    double *mine = weft_array_make((size_t)(n * components), sizeof *mine);
    double *made = weft_array_make((size_t)to, sizeof *made);
    if (!interleaved || !plain || !mine || !made)
        TRY(weft_out_of_memory(error, "derived quantities"));
    TRY(weft_memory_make(derive->context->device, (size_t)to * sizeof *made, out, error));
    if (weft_device_limits(derive->context->device)->records_only || n == 0)
        goto done;
    TRY(weft_memory_read(cells, 0, interleaved, (size_t)from * sizeof *interleaved, error));
    weft_deinterleave(interleaved, n_cells, components, lanes, plain);
    for (int64_t i = 0; i < n; ++i)
        memcpy(mine + i * components, plain + part->cells[i] * (int64_t)components,
               (size_t)components * sizeof *mine);
    weft_interleave(mine, n, components, lanes, made);
    TRY(weft_memory_write(*out, 0, made, (size_t)to * sizeof *made, error));
done:
    free(interleaved);
    free(plain);
    free(mine);
    free(made);
    return status;
}

/* Gather a list over cells, and bind it in its place. */
static weft_status bind_gathered(weft_derive *derive, const char *name, weft_memory *cells,
                                 int components, weft_error *error) {
    weft_status status = WEFT_OK;
    derive_part *part = &derive->parts[DERIVE_FACETS];
    weft_memory **memory = &part->gathered[part->n_gathered++];
    TRY(gather(derive, part, cells, components, memory, error));
    TRY(weft_program_bind(part->compiled.program, name, *memory, error));
done:
    return status;
}

/* The form's inputs at facets: those over cells at the adjacent ones. */
static weft_status bind_facets(weft_derive *derive, weft_error *error) {
    weft_status status = WEFT_OK;
    derive_part *part = &derive->parts[DERIVE_FACETS];
    const weft_form *form = derive->problem.cells;
    const int n_data = weft_compilation_data_inputs(part->compiled.compilation);
    part->gathered = calloc((size_t)(form->n_inputs + n_data) + 1, sizeof(weft_memory *));
    if (!part->gathered)
        TRY(weft_out_of_memory(error, "derived quantities"));
    TRY(weft_program_bind_connectivity(part->compiled.program, "dofs", part->dofs, error));
    for (int i = 0; i < form->n_inputs; ++i) {
        const weft_form_input *input = &form->inputs[i];
        weft_name_info info;
        int components = 1;
        const bool is_of_cells = derive_scope_find(&derive->scope, input->name, &info) &&
                                 derive_scope_is_input(&derive->scope, &info, "cells");
        for (int k = 0; is_of_cells && k < info.rank; ++k)
            components *= info.sizes[k];
        TRY(is_of_cells
                ? bind_gathered(derive, input->name, input->memory, components, error)
                : weft_program_bind(part->compiled.program, input->name, input->memory, error));
    }
    for (int i = 0; i < n_data; ++i) { /* formulas by group, fields of files */
        weft_data_info info;
        weft_memory *cells = NULL;
        int components = 1;
        weft_compilation_data(part->compiled.compilation, i, &info);
        TRY(weft_data_cells(derive->context->data, &info, &cells, &components, error));
        TRY(bind_gathered(derive, info.input, cells, components, error));
    }
done:
    return status;
}

static weft_status bind_inputs(weft_derive *derive, derive_elements elements, weft_error *error) {
    weft_status status = WEFT_OK;
    derive_part *part = &derive->parts[elements];
    TRY(elements == DERIVE_FACETS
            ? bind_facets(derive, error)
            : weft_compiled_bind_form(&part->compiled, derive->problem.cells, error));
    if (strcmp(derive->scope.coordinates, "derived_coordinates") == 0)
        TRY(weft_program_bind(part->compiled.program, "derived_coordinates",
                              weft_space_coordinates(derive->problem.space), error));
    TRY(weft_program_bind(part->compiled.program, "derived_values", derive->problem.u, error));
    TRY(weft_program_bind(part->compiled.program, "derived_t", derive->t, error));
done:
    return status;
}

/* Elements of the lists of a quantity, without spare lanes. */
static int64_t list_length(const weft_derive *derive, const derive_quantity *quantity) {
    return derive_is_nodal(derive, quantity) ? weft_space_nodes(derive->problem.space)
                                             : derive->parts[quantity->elements].n_elements;
}

static weft_status make_lists(weft_derive *derive, derive_quantity *quantity, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t lanes = weft_device_limits(derive->context->device)->lanes_double;
    const int64_t n = list_length(derive, quantity);
    const size_t n_padded = (size_t)((n + lanes - 1) / lanes * lanes * quantity->list_components);
    weft_program *program = derive->parts[quantity->elements].compiled.program;
    char name[300];
    quantity->memories =
        weft_arena_alloc(derive->arena, (size_t)quantity->n_lists, sizeof(weft_memory *));
    quantity->lists = weft_arena_alloc(derive->arena, (size_t)quantity->n_lists, sizeof(double *));
    if (!quantity->memories || !quantity->lists)
        TRY(weft_out_of_memory(error, "derived quantities"));
    for (int k = 0; k < quantity->n_lists; ++k) {
        quantity->lists[k] = weft_array_make(n_padded, sizeof(double));
        if (!quantity->lists[k])
            TRY(weft_out_of_memory(error, "derived quantities"));
    }
    for (int k = 0; k < n_results(quantity); ++k) {
        TRY(weft_memory_make(derive->context->device, n_padded * sizeof(double),
                             &quantity->memories[k], error));
        list_name(derive, quantity, k, name);
        TRY(weft_program_bind(program, name, quantity->memories[k], error));
    }
done:
    return status;
}

weft_status derive_part_make(weft_derive *derive, derive_elements elements, weft_error *error) {
    weft_status status = WEFT_OK;
    derive_part *part = &derive->parts[elements];
    const weft_form *form = derive->problem.cells;
    weft_text text = {0};
    if (!derive_is_wanted(derive, elements))
        goto done;
    if (elements == DERIVE_FACETS)
        TRY(weft_connectivity_make(derive->context->device, part->cell_nodes, part->n_elements,
                                   derive->scope.dimension + 1,
                                   weft_space_nodes(derive->problem.space), &part->dofs, error));
    else
        part->n_elements = weft_space_mesh(derive->problem.space)->n_cells;
    TRY(write_script(derive, elements, &text, error));
    const weft_fragment fragments[] = {{form->name, form->text}, {script_name, text.data}};
    const weft_compile_options options = weft_form_vector_options(derive->context, form);
    TRY(weft_compiled_make(derive->context, fragments, 2, &options, &part->compiled, error));
    TRY(bind_inputs(derive, elements, error));
    for (int i = 0; i < derive->n_quantities; ++i)
        if (derive->quantities[i].elements == elements)
            TRY(make_lists(derive, &derive->quantities[i], error));
done:
    weft_text_free(&text);
    return status;
}

void derive_part_free(derive_part *part) {
    weft_compiled_free(&part->compiled);
    weft_connectivity_free(&part->dofs);
    free(part->cell_nodes);
    free(part->cells);
    derive_points_free(&part->points);
    for (int i = 0; i < part->n_gathered; ++i)
        weft_memory_free(&part->gathered[i]);
    free(part->gathered);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static weft_status fetch(const weft_derive *derive, derive_quantity *quantity, weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = quantity->list_components;
    const int lanes = weft_device_limits(derive->context->device)->lanes_double;
    const int64_t n = list_length(derive, quantity), padded = (n + lanes - 1) / lanes * lanes;
    const bool plain = derive_is_nodal(derive, quantity);
    double *blocks = NULL;
    if (!plain && c > 1) {
        blocks = weft_array_make((size_t)(padded * c), sizeof *blocks);
        if (!blocks)
            TRY(weft_out_of_memory(error, "derived quantities"));
    }
    for (int k = 0; k < n_results(quantity); ++k) {
        double *to = blocks ? blocks : quantity->lists[k];
        const int64_t count = plain ? n * c : padded * c;
        TRY(weft_memory_read(quantity->memories[k], 0, to, (size_t)count * sizeof *to, error));
        if (blocks)
            weft_deinterleave(blocks, n, c, lanes, quantity->lists[k]);
    }
done:
    free(blocks);
    return status;
}

static weft_status solve_nodal(weft_derive *derive, derive_quantity *quantity, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_program *program = derive->parts[DERIVE_CELLS].compiled.program;
    const int64_t n = weft_space_nodes(derive->problem.space) * quantity->list_components;
    char name[64];
    double *loads = weft_array_make((size_t)n, sizeof *loads);
    if (!loads)
        TRY(weft_out_of_memory(error, "derived quantities"));
    for (int k = 0; k < quantity->n_lists; ++k) {
        snprintf(name, sizeof name, "derived_load_%d_%d", quantity->index, k);
        TRY(weft_memory_read(weft_program_result(program, name), 0, loads,
                             (size_t)n * sizeof *loads, error));
        TRY(derive_project_solve(derive, quantity->list_components, loads, quantity->lists[k],
                                 error));
    }
done:
    free(loads);
    return status;
}

weft_status derive_part_run(weft_derive *derive, derive_elements elements, weft_error *error) {
    weft_status status = WEFT_OK;
    derive_part *part = &derive->parts[elements];
    if (!part->compiled.program)
        goto done;
    if (part->n_elements > 0)
        TRY(weft_program_run(part->compiled.program, error));
    if (weft_device_limits(derive->context->device)->records_only || part->n_elements == 0)
        goto done;
    for (int i = 0; i < derive->n_quantities; ++i) {
        derive_quantity *quantity = &derive->quantities[i];
        if (quantity->elements != elements)
            continue;
        TRY(fetch(derive, quantity, error));
        if (derive_is_nodal(derive, quantity) &&
            derive->problem.projection == WEFT_PROJECT_CONSISTENT)
            TRY(solve_nodal(derive, quantity, error));
    }
done:
    return status;
}
