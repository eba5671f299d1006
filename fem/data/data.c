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

static weft_status key_of(const weft_data_info *info, bool on_cells, char out[33],
                          weft_error *error) {
    weft_text text = {0};
    weft_text_add(&text, on_cells ? "cells" : "nodes");
    for (int i = 0; i < info->n; ++i)
        weft_text_add(&text, "\n%s=%a", info->groups[i] ? info->groups[i] : "", info->values[i]);
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

static weft_status make_list(weft_data *data, const weft_data_info *info, bool on_cells, entry *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = data->mesh;
    const int64_t lanes = weft_device_limits(data->device)->lanes_double;
    const int64_t n = on_cells ? mesh->n_cells : mesh->n_nodes;
    const int64_t room = (n + lanes - 1) / lanes * lanes;
    TRY(weft_vector_make(data->device, room, &out->values, &out->memory, error));
    TRY(on_cells ? weft_data_of_cells(mesh, info, out->values, error)
                 : weft_data_of_nodes(mesh, info, out->values, error));
    for (int64_t i = n; i < room; ++i)
        out->values[i] = out->values[n - 1]; /* spare lanes repeat the last cell */
    TRY(weft_vector_push(out->memory, out->values, room, error));
done:
    return status;
}

static weft_status find_list(weft_data *data, const weft_data_info *info, bool on_cells,
                             weft_memory **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char key[33];
    entry *made = NULL;
    TRY(key_of(info, on_cells, key, error));
    for (int i = 0; i < data->n; ++i)
        if (strcmp(data->entries[i].key, key) == 0) {
            *out = data->entries[i].memory;
            return WEFT_OK;
        }
    TRY(entry_add(data, &made, error));
    memcpy(made->key, key, sizeof key);
    TRY(make_list(data, info, on_cells, made, error));
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

/* The nodes of a cell are those of the mesh, or more. */
static bool is_cells(const weft_mesh *mesh, const weft_connectivity *elements) {
    return weft_connectivity_indices(elements) == mesh->cells ||
           (weft_connectivity_from(elements) == mesh->n_cells &&
            weft_connectivity_width(elements) > mesh->dimension);
}

weft_status weft_data_cells(weft_data *data, const weft_data_info *info, weft_memory **out,
                            weft_error *error) {
    if (!data)
        return refuse(info, WEFT_ERROR_USAGE,
                      "'%s' has formulas by group, but no mesh has groups here",
                      "give one formula for everything, or set weft_context.data", error);
    return find_list(data, info, true, out, error);
}

weft_status weft_data_bind(weft_data *data, const weft_compilation *compilation,
                           weft_program *program, const weft_connectivity *elements,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < weft_compilation_data_inputs(compilation); ++i) {
        weft_data_info info;
        weft_memory *memory = NULL;
        weft_compilation_data(compilation, i, &info);
        if (!data)
            return refuse(&info, WEFT_ERROR_USAGE,
                          "'%s' has formulas by group, but no mesh has groups here",
                          "give one formula for everything, or set weft_context.data", error);
        if (elements && !is_cells(data->mesh, elements))
            return refuse(&info, WEFT_ERROR_INPUT,
                          "'%s' is evaluated on facets, and has formulas by group of cells",
                          "give one formula: a condition holds on the facets of one group", error);
        TRY(find_list(data, &info, elements != NULL, &memory, error));
        TRY(weft_program_bind(program, info.input, memory, error));
    }
done:
    return status;
}
