/* Makes the lists of a script that is run on a mesh, from formulas, and reads and writes its results. */
#include "apps/weft/run.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_text(const char *a, const char *b) {
    return a && strcmp(a, b) == 0;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Does the script have the statement update NAME = ...? */
static bool is_updated(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, "update")); ++at) {
        const char *word = at + 6;
        const size_t blanks = strspn(word, " \t\n");
        const char end =
            blanks > 0 && strncmp(word + blanks, name, length) == 0 ? word[blanks + length] : 'x';
        if (!isalnum((unsigned char)end) && end != '_')
            return true;
    }
    return false;
}

/* Formula `text` at the nodes, or at the centers of cells, to column [padded]. */
static weft_status evaluate(weft_run *run, const list *l, const char *text, const char *origin,
                            double *column, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *output = "u";
    const bool on_cells = is_text(l->info.over, "cells");
    double constant = 0, *values = NULL;
    weft_memory *memory = NULL;
    weft_bound_form form;
    if (weft_formula_constant(text, &constant) || !l->info.over) {
        if (!l->info.over)
            TRY(weft_formula_evaluate(&run->base.context, text, origin, NULL, &constant, error));
        for (int64_t i = 0; i < l->padded; ++i)
            column[i] = constant;
        goto done;
    }
    TRY(weft_vector_make(run->base.device, l->padded, &values, &memory, error));
    if (on_cells) {
        TRY(weft_form_ship(run->base.problem->fields.space, "centres.weft",
                           weft_space_cells(run->base.problem->fields.space), &form, error));
        weft_form_bind_expression(&form, "value", text, origin);
        TRY(weft_form_run(&run->base.context, &form.form,
                          &(weft_form_outputs){&output, &memory, 1, "cells", l->n}, error));
        TRY(weft_vector_pull(memory, values, l->n, error));
    } else {
        TRY(weft_space_evaluate(&run->base.context, run->base.problem->fields.space, text, origin,
                                memory, values, error));
    }
    for (int64_t i = 0; i < l->padded; ++i)
        column[i] = values[i < l->n ? i : l->n - 1];
done:
    weft_memory_free(&memory);
    free(values);
    return status;
}

/* Index of component k of element i. */
static int64_t place(const weft_run *run, const list *l, int64_t i, int k) {
    const int64_t lanes = weft_device_limits(run->base.device)->lanes_double;
    return is_text(l->info.over, "cells") ? (i / lanes * l->components + k) * lanes + i % lanes
                                          : i * l->components + k;
}

/* One --input of a list, at all its elements or at the nodes of a group. */
static weft_status fill(weft_run *run, list *l, const setting *given, weft_error *error) {
    weft_status status = WEFT_OK;
    char **texts = NULL;
    int32_t *nodes = NULL;
    int64_t n_nodes = 0;
    double *column = weft_array_make((size_t)l->padded, sizeof *column);
    if (!column)
        TRY(weft_out_of_memory(error, NULL));
    const weft_condition group = {.group = given->group, .origin = given->origin};
    if (given->group && !is_text(l->info.over, "nodes"))
        TRY(weft_run_refuse(run, "leave out @GROUP, or write a formula with select", error,
                            "the input '%s' is not over nodes, and has no groups", l->info.name));
    if (given->group)
        TRY(weft_condition_nodes(run->base.problem->fields.space, &group, &nodes, &n_nodes, error));
    TRY(weft_formula_components(given->origin, given->text, l->components, &texts, error));
    for (int k = 0; k < l->components; ++k) {
        TRY(evaluate(run, l, texts[k], given->origin, column, error));
        for (int64_t i = 0; i < (given->group ? n_nodes : l->padded); ++i) {
            const int64_t element = given->group ? nodes[i] : i;
            if (!isfinite(column[element]) && !run->base.is_null)
                TRY(weft_formula_refuse(run->base.problem->fields.space, texts[k], given->origin, 0,
                                        error));
            l->values[place(run, l, element, k)] = column[element];
        }
    }
done:
    weft_formula_list_free(&texts, l->components);
    free(nodes);
    free(column);
    return status;
}

static weft_status make_list(weft_run *run, const weft_name_info *info, list *l,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t lanes = weft_device_limits(run->base.device)->lanes_double;
    *l = (list){.info = *info, .n = 1, .components = 1};
    if (is_text(info->over, "cells"))
        l->n = run->base.mesh->n_cells;
    else if (is_text(info->over, "nodes"))
        l->n = run->base.mesh->n_nodes;
    else if (info->over)
        TRY(weft_run_refuse(run, "lists are over nodes, over cells, or uniform", error,
                            "'%s' is over another index set", info->name));
    l->padded = is_text(info->over, "cells") ? (l->n + lanes - 1) / lanes * lanes : l->n;
    for (int i = 0; i < info->rank; ++i)
        l->components *= info->sizes[i];
    TRY(weft_vector_make(run->base.device, l->padded * l->components, &l->values, &l->memory,
                         error));
    TRY(weft_program_bind(run->program, info->name, l->memory, error));
done:
    return status;
}

static weft_status make_input(weft_run *run, list *l, weft_error *error) {
    weft_status status = WEFT_OK;
    bool is_given = false;
    for (int i = 0; i < run->options->inputs.n; ++i) {
        if (strcmp(run->options->inputs.list[i].name, l->info.name) != 0)
            continue;
        TRY(fill(run, l, &run->options->inputs.list[i], error));
        is_given = true;
    }
    if (!is_given)
        TRY(weft_run_refuse(run, "add --input NAME=EXPR", error, "the input '%s' has no value",
                            l->info.name));
    TRY(weft_vector_push(l->memory, l->values, l->padded * l->components, error));
    l->is_written = is_updated(run->text, l->info.name);
done:
    return status;
}

/* Refuse an --input of a name that the script does not have. */
static weft_status check_inputs(const weft_run *run, weft_error *error) {
    weft_name_info info;
    const char *names[LISTS_MAX];
    size_t n = 0;
    for (int k = 0; k < weft_compilation_names(run->compilation); ++k) {
        weft_compilation_name(run->compilation, k, &info);
        if (info.kind == WEFT_NAME_INPUT && n < LISTS_MAX)
            names[n++] = info.name;
    }
    for (int i = 0; i < run->options->inputs.n; ++i) {
        bool is_known = false;
        const char *name = run->options->inputs.list[i].name;
        for (size_t k = 0; k < n; ++k)
            is_known |= strcmp(names[k], name) == 0;
        if (!is_known)
            return weft_tool_refuse("input", name, names, n, error);
    }
    return WEFT_OK;
}

static weft_status bind_connectivity(weft_run *run, const weft_name_info *info, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = run->base.mesh->dimension;
    weft_connectivity *bound = NULL;
    if (is_text(info->to, "nodes") && is_text(info->over, "cells") && info->width == d + 1)
        bound = weft_space_cells(run->base.problem->fields.space);
    if (is_text(info->to, "nodes") && is_text(info->over, "facets") && info->width == d) {
        if (!run->facets.dofs)
            TRY(weft_space_facets_make(run->base.problem->fields.space, -1, &run->facets, error));
        bound = run->facets.dofs;
    }
    if (!bound)
        TRY(weft_run_refuse(
            run, "write cells -> nodes[d + 1], or facets -> nodes[d] for those of the boundary",
            error, "the mesh has no such connectivity as '%s'", info->name));
    TRY(weft_program_bind_connectivity(run->program, info->name, bound, error));
done:
    return status;
}

weft_status weft_run_bind(weft_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_name_info info;
    TRY(check_inputs(run, error));
    for (int i = 0; i < weft_compilation_names(run->compilation); ++i) {
        weft_compilation_name(run->compilation, i, &info);
        if (info.kind == WEFT_NAME_INDEX && strcmp(info.name, "nodes") == 0)
            TRY(weft_program_size(run->program, "nodes", run->base.mesh->n_nodes, error));
        if (info.kind == WEFT_NAME_INDEX && strcmp(info.name, "cells") == 0)
            TRY(weft_program_size(run->program, "cells", run->base.mesh->n_cells, error));
        if (info.kind == WEFT_NAME_CONNECTIVITY)
            TRY(bind_connectivity(run, &info, error));
        const bool is_input = info.kind == WEFT_NAME_INPUT;
        if (is_input && strcmp(info.name, "x") == 0) {
            TRY(weft_program_bind(run->program, "x",
                                  weft_space_coordinates(run->base.problem->fields.space), error));
            continue;
        }
        if (!is_input && !(info.kind == WEFT_NAME_VALUE && info.returned && !info.sparse))
            continue;
        if (run->n_lists == LISTS_MAX)
            TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "more than %d lists", LISTS_MAX));
        list *l = &run->lists[run->n_lists++];
        TRY(make_list(run, &info, l, error));
        l->is_written = true;
        if (is_input)
            TRY(make_input(run, l, error));
    }
    TRY(weft_data_bind(
        run->base.data, run->compilation, run->program,
        &(weft_data_sites){.elements = weft_space_cells(run->base.problem->fields.space),
                           .points = weft_space_data_points(run->base.problem->fields.space),
                           .n = 1},
        error));
done:
    return status;
}

/* ---- results --------------------------------------------------------------------------------- */

weft_status weft_run_pull(weft_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < run->n_lists; ++i) {
        list *l = &run->lists[i];
        if (!l->is_written)
            continue;
        TRY(weft_vector_pull(l->memory, l->values, l->padded * l->components, error));
        l->plain = weft_array_make((size_t)(l->n * l->components), sizeof *l->plain);
        if (!l->plain)
            TRY(weft_out_of_memory(error, NULL));
        for (int64_t e = 0; e < l->n; ++e)
            for (int k = 0; k < l->components; ++k)
                l->plain[e * l->components + k] = l->values[place(run, l, e, k)];
    }
done:
    return status;
}

static void print_list(const list *l) {
    printf("%-11s", l->info.name);
    if (!l->info.over) {
        for (int k = 0; k < l->components; ++k)
            printf("%s%.10g", k ? ", " : " ", l->plain[k]);
        putchar('\n');
        return;
    }
    double least = INFINITY, greatest = -INFINITY;
    for (int64_t i = 0; i < l->n * l->components; ++i) {
        least = fmin(least, l->plain[i]);
        greatest = fmax(greatest, l->plain[i]);
        if (isnan(l->plain[i]))
            least = greatest = NAN, i = l->n * l->components;
    }
    printf(" over %s, %.10g to %.10g\n", l->info.over, app_strip_nan_sign(least),
           app_strip_nan_sign(greatest));
}

weft_status weft_run_write(const weft_run *run, weft_error *error) {
    weft_field fields[LISTS_MAX];
    int n = 0;
    for (int i = 0; i < run->n_lists; ++i)
        if (run->lists[i].is_written && run->lists[i].info.over)
            fields[n++] = (weft_field){.name = run->lists[i].info.name,
                                       .on_cells = is_text(run->lists[i].info.over, "cells"),
                                       .n_components = run->lists[i].components,
                                       .values = run->lists[i].plain};
    return run->options->run.output
               ? weft_result_write(run->options->run.output, run->base.mesh, fields, n, error)
               : WEFT_OK;
}

void weft_run_print(const weft_run *run) {
    for (int i = 0; i < run->n_lists; ++i)
        if (run->lists[i].is_written)
            print_list(&run->lists[i]);
}
