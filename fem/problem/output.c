/* Shows the functions of a problem in result files and series, at nodes that all of them share. */
#include "fem/problem/output.h"
#include "fem/space/space.h"
#include "fem/space/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_constant(const weft_space *space) {
    const weft_element *element = weft_space_element(space);
    return weft_element_is_constant(element) && !weft_family_about(element->family)->is_global;
}

/* ---- nodes ------------------------------------------------------------------------------- */

/* Nodes at which all fields are shown: of the highest degree, discontinuous if one field is. */
static weft_status make_nodes(const weft_solution *u, weft_shown *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *spaces[WEFT_FIELDS_MAX];
    int n = 0;
    if (u->n_fields == 1 && weft_space_element(u->fields[0].space)->lattice_degree > 0) {
        out->nodes = u->fields[0].space;
        goto done;
    }
    for (int i = 0; i < u->n_fields; ++i) {
        const weft_element *element = weft_space_element(u->fields[i].space);
        if (!weft_element_is_constant(element) && !element->span_vanishes)
            spaces[n++] = u->fields[i].space;
        /* else shown on cells, or added to the function that they enrich */
    }
    TRY(weft_space_make(u->context->device, u->mesh, weft_space_lattice(spaces, n), 1,
                        &out->own_nodes, error));
    out->nodes = out->own_nodes;
done:
    return status;
}

/* Components that ParaView expects: vectors in the plane have three. */
static int shown_components(int components) {
    return components == 2 ? 3 : components;
}

static weft_status make_fields(const weft_solution *u, weft_shown *out, weft_error *error) {
    for (int i = 0; i < u->n_fields; ++i) {
        if (u->fields[i].is_enrichment)
            continue;
        const int n = out->n++, shown = shown_components(weft_space_values_of(u->fields[i].space));
        const bool on_cells = is_constant(u->fields[i].space);
        const int64_t rows = on_cells ? u->mesh->n_cells : weft_space_nodes(out->nodes);
        out->of[n] = i;
        const size_t size = strlen(u->name) + 16;
        out->names[n] = malloc(size);
        if (out->names[n])
            (void)snprintf(out->names[n], size, u->n_fields > 1 ? "%s_%d" : "%s", u->name, n);
        out->values[n] = weft_array_make((size_t)rows, (size_t)shown * sizeof **out->values);
        out->fields[n] = (weft_field){.name = out->names[n],
                                      .n_components = shown,
                                      .on_cells = on_cells,
                                      .values = out->values[n]};
        if (!out->values[n] || !out->names[n])
            return weft_out_of_memory(error, "a result");
    }
    return WEFT_OK;
}

static void shown_clear(weft_shown *shown) {
    for (int i = 0; i < shown->n; ++i) {
        free(shown->values[i]);
        free(shown->names[i]);
    }
    weft_space_free(&shown->own_nodes);
    *shown = (weft_shown){0};
}

/* Make the nodes and the arrays of values. */
static weft_status shown_make(const weft_solution *u, weft_shown *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_shown made = {0};
    TRY(make_nodes(u, &made, error));
    TRY(make_fields(u, &made, error));
    *out = made;
    made = (weft_shown){0};
done:
    shown_clear(&made);
    return status;
}

/* ---- values ------------------------------------------------------------------------------ */

/* [rows][c] to [rows][shown]: vectors and matrices in the plane with zeros. */
static void fill_up(const double *from, int64_t n, int c, int shown, double *to) {
    const int m = c == 4 ? 2 : c;
    memset(to, 0, (size_t)n * (size_t)shown * sizeof *to);
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < c; ++k)
            to[i * shown + (shown > c ? k / m * 3 + k % m : k)] = from[i * c + k];
}

/* The values of a field with those of its enrichments; at [rows][components] */
static weft_status evaluate(const weft_solution *u, const weft_shown *shown, int n, double *at,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const int i = shown->of[n];
    const weft_problem_field *field = &u->fields[i];
    const int c = weft_space_values_of(field->space);
    const double *values = u->values + field->first_dof;
    double *term = NULL;
    if (shown->fields[n].on_cells) {
        for (int64_t k = 0; k < u->mesh->n_cells * c; ++k)
            at[k] = values[(int64_t)weft_space_cell_nodes(field->space)[k / c] * c + k % c];
        goto done;
    }
    if (shown->nodes == field->space) {
        memcpy(at, values, (size_t)weft_space_dofs(field->space) * sizeof *at);
        goto done;
    }
    TRY(weft_space_interpolate(field->space, values, c, shown->nodes, at, error));
    for (int k = i + 1; k < u->n_fields && u->fields[k].is_enrichment; ++k) {
        TRY(weft_solution_term(u, k, &term, error));
        TRY(weft_space_interpolate(u->fields[k].space, term, c, shown->nodes, at, error));
        free(term);
        term = NULL;
    }
done:
    free(term);
    return status;
}

/* Compute the values from those of the problem. */
static weft_status shown_update(const weft_solution *u, weft_shown *shown, weft_error *error) {
    weft_status status = WEFT_OK;
    double *at = NULL;
    for (int n = 0; n < shown->n; ++n) {
        const int c = weft_space_values_of(u->fields[shown->of[n]].space);
        const int64_t rows =
            shown->fields[n].on_cells ? u->mesh->n_cells : weft_space_nodes(shown->nodes);
        at = weft_array_make((size_t)rows, (size_t)c * sizeof *at);
        if (!at)
            TRY(weft_out_of_memory(error, "a result"));
        TRY(evaluate(u, shown, n, at, error));
        fill_up(at, rows, c, shown->fields[n].n_components, shown->values[n]);
        free(at);
        at = NULL;
    }
done:
    free(at);
    return status;
}

/* ---- files ------------------------------------------------------------------------------- */

/* A derived field with the components that ParaView expects; at the shown nodes, if it is at those of the
 * first function.
 * buffer  [rows][components] of the result, to be freed */
static weft_status show_derived(const weft_solution *u, const weft_shown *shown,
                                const weft_field *derived, weft_field *out, double **buffer,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = derived->n_components, wide = c == 2 ? 3 : c == 4 ? 9 : c;
    const int64_t rows = derived->on_cells ? u->mesh->n_cells : weft_space_nodes(shown->nodes);
    const bool is_elsewhere = !derived->on_cells && shown->nodes != u->fields[0].space;
    double *at = NULL;
    *buffer = weft_array_make((size_t)rows, (size_t)wide * sizeof **buffer);
    if (is_elsewhere)
        at = weft_array_make((size_t)rows, (size_t)c * sizeof *at);
    if (!*buffer || (is_elsewhere && !at))
        TRY(weft_out_of_memory(error, "a result"));
    if (is_elsewhere)
        TRY(weft_space_interpolate(u->fields[0].space, derived->values, c, shown->nodes, at,
                                   error));
    fill_up(at ? at : derived->values, rows, c, wide, *buffer);
    *out = *derived;
    out->values = *buffer;
    out->n_components = wide;
done:
    free(at);
    return status;
}

weft_status weft_solution_write(const weft_solution *u, const char *path, const weft_derive *derive,
                                const char *statement, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_shown shown = {0};
    const weft_field *derived = NULL;
    const int n_derived = derive ? weft_derive_fields(derive, &derived) : 0;
    double **buffers = calloc((size_t)n_derived + 1, sizeof *buffers);
    weft_field *fields = calloc((size_t)(n_derived + u->n_fields) + 1, sizeof *fields);
    if (!fields || !buffers)
        TRY(weft_out_of_memory(error, NULL));
    TRY(shown_make(u, &shown, error));
    TRY(shown_update(u, &shown, error));
    memcpy(fields, shown.fields, (size_t)shown.n * sizeof *fields);
    for (int i = 0; i < n_derived; ++i)
        TRY(show_derived(u, &shown, &derived[i], &fields[shown.n + i], &buffers[i], error));
    fields[shown.n + n_derived] = (weft_field){.name = "problem", .text = statement};
    TRY(weft_space_write(path, shown.nodes, fields, shown.n + n_derived + (statement != NULL),
                         error));
done:
    for (int i = 0; buffers && i < n_derived; ++i)
        free(buffers[i]);
    free(buffers);
    free(fields);
    shown_clear(&shown);
    return status;
}

/* ---- series ------------------------------------------------------------------------------ */

weft_status weft_problem_series_make(const weft_solution *u, const char *path,
                                     const weft_series_options *options, weft_problem_series *out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    weft_problem_series made = {0};
    weft_series_options complete = *options;
    TRY(shown_make(u, &made.shown, error));
    TRY(weft_space_output_make(made.shown.nodes, &made.output, error));
    for (int i = 0; i < made.shown.n; ++i) {
        made.buffers[i] =
            weft_array_make((size_t)weft_space_nodes(made.shown.nodes),
                            (size_t)made.shown.fields[i].n_components * sizeof(double));
        if (!made.buffers[i])
            TRY(weft_out_of_memory(error, "a series"));
    }
    complete.fields = made.shown.fields;
    complete.n_fields = made.shown.n;
    complete.nodes = weft_space_output_nodes(made.output);
    TRY(weft_series_make(path, u->mesh, &complete, u->context->monitor, &made.series, error));
    *out = made;
    made = (weft_problem_series){0};
done:
    (void)weft_problem_series_close(&made, NULL);
    return status;
}

weft_status weft_problem_series_add(const weft_solution *u, weft_problem_series *series, double t,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_shown *shown = &series->shown;
    const double *values[WEFT_FIELDS_MAX];
    TRY(shown_update(u, shown, error));
    for (int i = 0; i < shown->n; ++i)
        values[i] = shown->fields[i].on_cells
                        ? shown->values[i]
                        : weft_space_output_values(series->output, shown->fields[i].n_components,
                                                   shown->values[i], series->buffers[i]);
    TRY(weft_series_add(series->series, t, values, error));
done:
    return status;
}

weft_status weft_problem_series_close(weft_problem_series *series, weft_error *error) {
    const weft_status status = weft_series_close(&series->series, error);
    for (int i = 0; i < WEFT_FIELDS_MAX; ++i)
        free(series->buffers[i]);
    weft_space_output_free(&series->output);
    shown_clear(&series->shown);
    *series = (weft_problem_series){0};
    return status;
}
