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
    bool on_nodes;
    weft_data_elements elements; /* else */
    bool on_cells;               /* which are the cells of the mesh */
} site;

static weft_status key_of(const weft_data_info *info, const site *at, char out[33],
                          weft_error *error) {
    weft_text text = {0};
    if (at->on_nodes)
        weft_text_add(&text, "nodes");
    else
        weft_text_add(&text, "%p %lld", (const void *)at->elements.nodes,
                      (long long)at->elements.n);
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

static weft_status make_groups(weft_data *data, const weft_data_info *info, const site *at,
                               entry *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = data->mesh;
    const int64_t lanes = weft_device_limits(data->device)->lanes_double;
    const int64_t n = at->on_nodes ? mesh->n_nodes : mesh->n_cells;
    const int64_t room = (n + lanes - 1) / lanes * lanes;
    TRY(weft_vector_make(data->device, room, &out->values, &out->memory, error));
    TRY(at->on_nodes ? weft_data_of_nodes(mesh, info, out->values, error)
                     : weft_data_of_cells(mesh, info, out->values, error));
    for (int64_t i = n; i < room; ++i)
        out->values[i] = out->values[n - 1]; /* spare lanes repeat the last cell */
    TRY(weft_vector_push(out->memory, out->values, room, error));
done:
    return status;
}

static weft_status make_field(weft_data *data, const weft_data_info *info, const site *at,
                              entry *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t lanes = weft_device_limits(data->device)->lanes_double;
    const int64_t n = at->on_nodes ? data->mesh->n_nodes : at->elements.n;
    const int64_t room =
        at->on_nodes ? n : (n + lanes - 1) / lanes * lanes * (data->mesh->dimension + 1);
    TRY(weft_vector_make(data->device, room, &out->values, &out->memory, error));
    TRY(weft_data_of_field(data->device, data->mesh, info, at->on_nodes ? NULL : &at->elements,
                           out->values, error));
    TRY(weft_vector_push(out->memory, out->values, room, error));
done:
    return status;
}

static weft_status find_list(weft_data *data, const weft_data_info *info, const site *at,
                             weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char key[33];
    entry *made = NULL;
    TRY(key_of(info, at, key, error));
    for (int i = 0; i < data->n; ++i)
        if (strcmp(data->entries[i].key, key) == 0) {
            *out = data->entries[i].memory;
            return WEFT_OK;
        }
    TRY(entry_add(data, &made, error));
    memcpy(made->key, key, sizeof key);
    TRY(info->path ? make_field(data, info, at, made, error)
                   : make_groups(data, info, at, made, error));
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
static site site_of(const weft_mesh *mesh, const weft_connectivity *elements) {
    const int d = mesh->dimension;
    if (!elements)
        return (site){.on_nodes = true};
    if (weft_connectivity_indices(elements) == mesh->cells ||
        (weft_connectivity_from(elements) == mesh->n_cells &&
         (weft_connectivity_width(elements) > d ||
          (weft_connectivity_width(elements) == 1 && d > 1))))
        return cells_site(mesh);
    const int width = weft_mesh_facet_vertices(mesh);
    return (site){.elements = {weft_connectivity_from(elements), width,
                               weft_connectivity_width(elements) == width
                                   ? weft_connectivity_indices(elements)
                                   : NULL}};
}

weft_status weft_data_cells(weft_data *data, const weft_data_info *info, weft_memory **out,
                            weft_error *error) {
    if (!data)
        return refuse(info, WEFT_ERROR_USAGE,
                      "'%s' has formulas by group, but no mesh has groups here",
                      "give one formula for everything, or set weft_context.data", error);
    const site at = cells_site(data->mesh);
    return find_list(data, info, &at, out, error);
}

weft_status weft_data_bind(weft_data *data, const weft_compilation *compilation,
                           weft_program *program, const weft_connectivity *elements,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const site at = data ? site_of(data->mesh, elements) : (site){0};
    for (int i = 0; i < weft_compilation_data_inputs(compilation); ++i) {
        weft_data_info info;
        weft_memory *memory = NULL;
        weft_compilation_data(compilation, i, &info);
        if (!data)
            return refuse(
                &info, WEFT_ERROR_USAGE,
                "'%s' has formulas by group or fields of files, but there is no mesh here",
                "give one formula for everything, or set weft_context.data", error);
        if (!info.path && !at.on_nodes && !at.on_cells)
            return refuse(&info, WEFT_ERROR_INPUT,
                          "'%s' is evaluated on facets, and has formulas by group of cells",
                          "give one formula: a condition holds on the facets of one group", error);
        if (!at.on_nodes && !at.elements.nodes)
            return refuse(&info, WEFT_ERROR_UNSUPPORTED,
                          "'%s' has a field of a file on facets of higher order",
                          "give a formula of the coordinates", error);
        TRY(find_list(data, &info, &at, &memory, error));
        TRY(weft_program_bind(program, info.input, memory, error));
    }
done:
    return status;
}
