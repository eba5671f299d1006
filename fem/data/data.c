/* Makes the lists that expressions by group read, once for each mesh, and binds them. */
#include "fem/data/data.h"
#include "fem/weft_fem.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char key[33];   /* hash of what the list contains */
    double *values; /* what memory may wrap */
    weft_memory *memory;
} entry;

struct weft_data {
    weft_device *device;
    const weft_mesh *mesh;
    entry *entries;
    int n;
};

weft_status weft_data_make(weft_device *device, const weft_mesh *mesh, weft_data **out,
                           weft_error *error) {
    weft_data *data = calloc(1, sizeof *data);
    if (!data)
        return weft_out_of_memory(error, "the data of formulas");
    *data = (weft_data){.device = device, .mesh = mesh};
    *out = data;
    return WEFT_OK;
}

void weft_data_free(weft_data **data) {
    if (!data || !*data)
        return;
    for (int i = 0; i < (*data)->n; ++i) {
        weft_memory_free(&(*data)->entries[i].memory);
        free((*data)->entries[i].values);
    }
    free((*data)->entries);
    free(*data);
    *data = NULL;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* What a list is over. */
typedef struct site {
    weft_data_points copy;          /* where they are read first */
    const weft_data_points *points; /* or, if NULL */
    weft_data_elements elements;
    bool on_cells; /* elements are the cells of the mesh */
    bool is_plain; /* without spare lanes */
} site;

static void add_hash(weft_text *text, const void *list, int64_t n, size_t bytes) {
    char hash[33];
    if (list)
        weft_hash(list, (size_t)n * bytes, hash);
    weft_text_add(text, " %s", list ? hash : "-");
}

/* Keys are hashes of contents: addresses of lists of points and facets are reused. */
static weft_status key_of(const weft_data *data, const weft_data_info *info, const site *at,
                          char out[33], weft_error *error) {
    weft_text text = {0};
    const int d = data->mesh->dimension;
    weft_text_add(&text, at->points ? "points" : at->on_cells ? "cells" : "facets");
    if (at->points) {
        add_hash(&text, at->points->x, at->points->n * d, sizeof *at->points->x);
        add_hash(&text, at->points->inside, at->points->n * d, sizeof *at->points->inside);
        weft_text_add(&text, " %p %d", at->points->user, at->is_plain);
    } else if (!at->on_cells) {
        add_hash(&text, at->elements.nodes, at->elements.n * at->elements.n_vertices,
                 sizeof *at->elements.nodes);
    }
    for (int i = 0; i < info->n; ++i)
        weft_text_add(&text, "\n%s=%a", info->groups[i] ? info->groups[i] : "", info->values[i]);
    if (info->path)
        weft_text_add(&text, "\n%s\n%s\n%d %d", info->path, info->field ? info->field : "",
                      info->component, info->clamped);
    const weft_status status =
        text.failed ? weft_out_of_memory(error, "the data of formulas") : WEFT_OK;
    if (status == WEFT_OK)
        weft_hash(text.data, text.length, out);
    weft_text_free(&text);
    return status;
}

/* Room for one more entry. */
static weft_status entry_add(weft_data *data, entry **out, weft_error *error) {
    entry *entries = reallocarray(data->entries, (size_t)data->n + 1, sizeof *entries);
    if (!entries)
        return weft_out_of_memory(error, "the data of formulas");
    data->entries = entries;
    *out = &entries[data->n];
    **out = (entry){0};
    return WEFT_OK;
}

static int64_t padded(const weft_data *data, int64_t n, bool is_plain) {
    const int64_t lanes = weft_device_limits(data->device)->lanes_double;
    return is_plain ? n : (n + lanes - 1) / lanes * lanes;
}

/* One value for each point, or cell. */
static weft_status make_values(weft_data *data, const weft_data_info *info, const site *at,
                               entry *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = at->points ? at->points->n : at->elements.n;
    const int64_t n_padded = padded(data, n, at->is_plain);
    TRY(weft_vector_make(data->device, n_padded, &out->values, &out->memory, error));
    if (!at->points)
        TRY(weft_data_of_cells(data->mesh, info, out->values, error));
    else if (info->path)
        TRY(weft_data_of_field_at(data->device, data->mesh, info, at->points, out->values, error));
    else
        TRY(weft_data_of_points(data->device, data->mesh, info, at->points, out->values, error));
    for (int64_t i = n; i < n_padded && n > 0; ++i)
        out->values[i] = out->values[n - 1]; /* spare lanes repeat the last cell */
    TRY(weft_vector_push(out->memory, out->values, n_padded, error));
done:
    return status;
}

/* The coefficients of a field in each element. */
static weft_status make_coefficients(weft_data *data, const weft_data_info *info, const site *at,
                                     entry *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_padded = padded(data, at->elements.n, false) * (data->mesh->dimension + 1);
    TRY(weft_vector_make(data->device, n_padded, &out->values, &out->memory, error));
    TRY(weft_data_of_field(data->device, data->mesh, info, &at->elements, out->values, error));
    TRY(weft_vector_push(out->memory, out->values, n_padded, error));
done:
    return status;
}

static weft_status find_list(weft_data *data, const weft_data_info *info, const site *at,
                             weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char key[33];
    entry *made = NULL;
    TRY(key_of(data, info, at, key, error));
    for (int i = 0; i < data->n; ++i)
        if (strcmp(data->entries[i].key, key) == 0) {
            *out = data->entries[i].memory;
            goto done;
        }
    TRY(entry_add(data, &made, error));
    memcpy(made->key, key, sizeof key);
    TRY(info->path && !at->points ? make_coefficients(data, info, at, made, error)
                                  : make_values(data, info, at, made, error));
    *out = made->memory;
    ++data->n;
    made = NULL;
done:
    if (made) {
        weft_memory_free(&made->memory);
        free(made->values);
    }
    return status;
}

/* ---- binding --------------------------------------------------------------------------------- */

static weft_status refuse(const weft_data_info *info, weft_status status, const char *message,
                          const char *hint, weft_error *error) {
    weft_error_set(error, status, message, info->expression);
    weft_error_location(error, info->origin ? info->origin : info->expression, NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return status;
}

static site cells_site(const weft_mesh *mesh) {
    return (site){.on_cells = true,
                  .elements = {mesh->n_cells, weft_mesh_cell_vertices(mesh), mesh->cells}};
}

/* Elements are the cells of the mesh, whose nodes are those of the mesh or more, or its facets. */
static site elements_site(const weft_mesh *mesh, const weft_data_sites *sites) {
    const int d = mesh->dimension;
    const weft_connectivity *elements = sites->elements;
    if (!sites->are_facets && (weft_connectivity_indices(elements) == mesh->cells ||
                               (weft_connectivity_from(elements) == mesh->n_cells &&
                                (weft_connectivity_width(elements) > d ||
                                 (weft_connectivity_width(elements) == 1 && d > 1)))))
        return cells_site(mesh);
    const int width = weft_mesh_facet_vertices(mesh);
    return (site){.elements = {weft_connectivity_from(elements), width,
                               weft_connectivity_width(elements) == width
                                   ? weft_connectivity_indices(elements)
                                   : NULL}};
}

/* Where an input is evaluated. */
static weft_status find_site(const weft_data *data, const weft_data_info *info,
                             const weft_data_sites *sites, site *out, weft_error *error) {
    *out = (site){.is_plain = info->is_plain};
    for (int i = 0; i < sites->n && info->at_points; ++i)
        if (strcmp(sites->points[i].over, info->over) == 0)
            out->points = &sites->points[i];
    if (out->points && out->points->read) {
        out->copy = *out->points;
        out->points = &out->copy; /* a site is not copied */
        return out->copy.read(&out->copy, error);
    }
    if (out->points)
        return WEFT_OK;
    if (info->at_points || !sites->elements) {
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "'%s' has formulas by group or fields of files, and the places of '%s' are "
                       "not known here",
                       info->expression, info->over);
        weft_error_location(error, info->origin ? info->origin : info->expression, NULL, 0, 0);
        weft_error_hint(error, "give one formula of x, y and z for everything");
        return WEFT_ERROR_USAGE;
    }
    *out = elements_site(data->mesh, sites);
    if (!info->path && !out->on_cells)
        return refuse(info, WEFT_ERROR_INPUT,
                      "'%s' is evaluated on facets, and has formulas by group of cells",
                      "give one formula: a condition holds on the facets of one group", error);
    if (!out->elements.nodes)
        return refuse(info, WEFT_ERROR_UNSUPPORTED,
                      "'%s' has a field of a file on facets of higher order",
                      "give a formula of the coordinates", error);
    return WEFT_OK;
}

weft_status weft_data_cells(weft_data *data, const weft_data_info *info, weft_memory **out,
                            int *components, weft_error *error) {
    if (!data)
        return refuse(info, WEFT_ERROR_USAGE,
                      "'%s' has formulas by group, but no mesh has groups here",
                      "give one formula for everything, or set weft_context.data", error);
    const site at = cells_site(data->mesh);
    *components = info->path ? data->mesh->dimension + 1 : 1;
    return find_list(data, info, &at, out, error);
}

weft_status weft_data_bind(weft_data *data, const weft_compilation *compilation,
                           weft_program *program, const weft_data_sites *sites, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < weft_compilation_data_inputs(compilation); ++i) {
        weft_data_info info;
        weft_memory *memory = NULL;
        site at;
        weft_compilation_data(compilation, i, &info);
        if (!data)
            TRY(refuse(&info, WEFT_ERROR_USAGE,
                       "'%s' has formulas by group or fields of files, but there is no mesh here",
                       "give one formula for everything, or set weft_context.data", error));
        TRY(find_site(data, &info, sites, &at, error));
        TRY(find_list(data, &info, &at, &memory, error));
        TRY(weft_program_bind(program, info.input, memory, error));
    }
done:
    return status;
}
