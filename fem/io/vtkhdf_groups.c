/* Reads the groups of a VTKHDF file written by Weft, which are stored under /Weft. */
#include "fem/io/result.h"
#include "fem/io/vtkhdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* numbers: dimension, first, count and number of each group. */
static weft_status make_groups(weft_vtkhdf_reader *r, int64_t n,
                               char (*names)[WEFT_GROUP_NAME_BYTES], const int64_t *numbers,
                               int64_t n_facets) {
    r->data.groups = weft_array_make((size_t)n, sizeof *r->data.groups);
    if (!r->data.groups)
        return weft_vtkhdf_no_memory(r);
    r->data.n_groups = (int)n;
    for (int64_t g = 0; g < n; ++g) {
        weft_group *group = &r->data.groups[g];
        int64_t dimension = numbers[g], first = numbers[n + g], count = numbers[2 * n + g];
        if (dimension < 0 || dimension > 3 || first < 0 || count < 0 || first > n_facets - count)
            return weft_vtkhdf_damaged(r, "a group has facets that are not there");
        memcpy(group->name, names[g], sizeof group->name);
        group->name[sizeof group->name - 1] = '\0';
        group->dimension = (int)dimension;
        group->first_facet = first;
        group->n_facets = count;
        group->number = (int)numbers[3 * n + g];
    }
    return WEFT_OK;
}

static weft_status read_group_table(weft_vtkhdf_reader *r, int64_t n_facets) {
    weft_status status = WEFT_OK;
    hid_t set = -1, text = -1;
    int64_t n = -1, *numbers = NULL;
    char(*names)[WEFT_GROUP_NAME_BYTES] = NULL;
    TRY(weft_vtkhdf_open_set(r, "Weft/GroupNames", &n, 0, &set));
    H5Dclose(set);
    text = H5Tcopy(H5T_C_S1);
    if (n > 100000 || text < 0 || H5Tset_size(text, WEFT_GROUP_NAME_BYTES) < 0)
        TRY(weft_vtkhdf_damaged(r, "the number of groups is absurd"));
    numbers = calloc((size_t)n * 4 + 1, sizeof *numbers);
    names = calloc((size_t)n + 1, sizeof *names);
    if (!numbers || !names)
        TRY(weft_vtkhdf_no_memory(r));
    TRY(weft_vtkhdf_read_set(r, "Weft/GroupNames", n, 0, text, names));
    TRY(weft_vtkhdf_read_set(r, "Weft/GroupDimensions", n, 0, H5T_NATIVE_INT64, numbers));
    TRY(weft_vtkhdf_read_set(r, "Weft/GroupFirst", n, 0, H5T_NATIVE_INT64, numbers + n));
    TRY(weft_vtkhdf_read_set(r, "Weft/GroupCount", n, 0, H5T_NATIVE_INT64, numbers + 2 * n));
    if (weft_hdf5_has(r->file, "Weft/GroupNumbers"))
        TRY(weft_vtkhdf_read_set(r, "Weft/GroupNumbers", n, 0, H5T_NATIVE_INT64, numbers + 3 * n));
    TRY(make_groups(r, n, names, numbers, n_facets));
done:
    if (text >= 0)
        H5Tclose(text);
    free(numbers);
    free(names);
    return status;
}

/* The cells of group g: those that were taken from the file, where its mask is 1. */
static weft_status read_mask(weft_vtkhdf_reader *r, int g, const char *name, uint8_t *mask,
                             int64_t *capacity) {
    weft_status status = WEFT_OK;
    char path[32 + WEFT_MASK_NAME_BYTES];
    weft_mesh_data *data = &r->data;
    weft_group *group = &data->groups[g];
    snprintf(path, sizeof path, "VTKHDF/CellData/%s", name);
    TRY(weft_vtkhdf_read_set(r, path, r->n_cells, 0, H5T_NATIVE_UINT8, mask));
    if (data->n_group_cells + data->n_cells > *capacity) {
        const int64_t wanted = 2 * *capacity + data->n_cells;
        int32_t *list = realloc(data->group_cells, (size_t)wanted * sizeof *list);
        if (!list)
            TRY(weft_vtkhdf_no_memory(r));
        data->group_cells = list;
        *capacity = wanted;
    }
    group->first_cell = data->n_group_cells;
    for (int64_t i = 0, cell = 0; i < r->n_cells; ++i) {
        if (r->types[i] != r->wanted)
            continue;
        if (mask[i])
            data->group_cells[data->n_group_cells++] = (int32_t)cell;
        ++cell;
    }
    group->n_cells = data->n_group_cells - group->first_cell;
done:
    return status;
}

static weft_status read_cell_groups(weft_vtkhdf_reader *r) {
    weft_status status = WEFT_OK;
    const int n = r->data.n_groups;
    int64_t capacity = 0;
    hid_t text = -1;
    char(*names)[WEFT_MASK_NAME_BYTES] = NULL;
    uint8_t *mask = NULL;
    if (n == 0 || !weft_hdf5_has(r->file, "Weft/GroupCellData"))
        goto done;
    names = calloc((size_t)n, sizeof *names);
    mask = malloc((size_t)r->n_cells + 1);
    if (!names || !mask)
        TRY(weft_vtkhdf_no_memory(r));
    text = H5Tcopy(H5T_C_S1);
    if (text < 0 || H5Tset_size(text, WEFT_MASK_NAME_BYTES) < 0)
        TRY(weft_vtkhdf_damaged(r, "HDF5 did not start"));
    TRY(weft_vtkhdf_read_set(r, "Weft/GroupCellData", n, 0, text, names));
    for (int g = 0; g < n; ++g) {
        names[g][WEFT_MASK_NAME_BYTES - 1] = '\0';
        if (names[g][0] && r->data.groups[g].dimension == r->data.dimension)
            TRY(read_mask(r, g, names[g], mask, &capacity));
    }
done:
    if (text >= 0)
        H5Tclose(text);
    free(names);
    free(mask);
    return status;
}

/* A list of numbers in rows of `width` (0: a plain list); NULL where the file has none. */
static weft_status read_numbers(weft_vtkhdf_reader *r, const char *name, int width, int32_t **out,
                                int64_t *n) {
    weft_status status = WEFT_OK;
    hid_t set = -1;
    if (!weft_hdf5_has(r->file, name))
        goto done;
    *n = -1;
    TRY(weft_vtkhdf_open_set(r, name, n, width, &set));
    H5Dclose(set);
    *out = weft_array_make_unset((uint64_t)*n * (width ? (uint64_t)width : 1) * sizeof **out);
    if (!*out)
        TRY(weft_vtkhdf_no_memory(r));
    TRY(weft_vtkhdf_read_set(r, name, *n, width, H5T_NATIVE_INT32, *out));
done:
    return status;
}

static weft_status read_points(weft_vtkhdf_reader *r) {
    weft_status status = WEFT_OK;
    weft_point_lists *points = &r->data.points;
    const int64_t n = r->data.n_groups;
    int64_t *ranges = NULL;
    TRY(read_numbers(r, "Weft/Periodic", 3, &points->pairs, &points->n_pairs));
    TRY(read_numbers(r, "Weft/GroupPoints", 0, &points->nodes, &points->n_nodes));
    if (!points->nodes)
        goto done;
    ranges = calloc((size_t)(2 * n) + 1, sizeof *ranges);
    if (!ranges)
        TRY(weft_vtkhdf_no_memory(r));
    TRY(weft_vtkhdf_read_set(r, "Weft/GroupPointRanges", 2 * n, 0, H5T_NATIVE_INT64, ranges));
    for (int64_t g = 0; g < n; ++g) {
        weft_group *group = &r->data.groups[g];
        if (ranges[g] < 0 || ranges[n + g] < 0 || ranges[g] > points->n_nodes - ranges[n + g])
            TRY(weft_vtkhdf_damaged(r, "a group has points that are not there"));
        group->first_point = ranges[g];
        group->n_points = ranges[n + g];
    }
done:
    free(ranges);
    return status;
}

/* Facet numbers of groups -> facet nodes, as weft_mesh_make wants them. */
weft_status weft_vtkhdf_read_groups(weft_vtkhdf_reader *r) {
    weft_status status = WEFT_OK;
    const int d = weft_cell_of(weft_cell_of(r->data.cell)->facet)->n_entities[0];
    int64_t n_facets = -1, n = -1;
    int32_t *facets = NULL, *numbers = NULL;
    hid_t set = -1;
    if (!weft_hdf5_has(r->file, "Weft"))
        goto done;
    TRY(weft_vtkhdf_open_set(r, "Weft/Facets", &n_facets, d, &set));
    H5Dclose(set);
    TRY(weft_vtkhdf_open_set(r, "Weft/GroupFacets", &n, 0, &set));
    H5Dclose(set);
    if (n_facets > INT32_MAX || n > INT32_MAX)
        TRY(weft_vtkhdf_damaged(r, "the number of facets is absurd"));
    facets = malloc(((size_t)n_facets * (size_t)d + 1) * sizeof *facets);
    numbers = malloc(((size_t)n + 1) * sizeof *numbers);
    r->data.group_facet_nodes = weft_array_make_unset((uint64_t)n * (uint64_t)d * sizeof(int32_t));
    if (!facets || !numbers || !r->data.group_facet_nodes)
        TRY(weft_vtkhdf_no_memory(r));
    r->data.n_group_facets = n;
    TRY(weft_vtkhdf_read_set(r, "Weft/Facets", n_facets, d, H5T_NATIVE_INT32, facets));
    TRY(weft_vtkhdf_read_set(r, "Weft/GroupFacets", n, 0, H5T_NATIVE_INT32, numbers));
    for (int64_t i = 0; i < n; ++i) {
        if (numbers[i] < 0 || numbers[i] >= n_facets)
            TRY(weft_vtkhdf_damaged(r, "a group has facets that are not there"));
        memcpy(r->data.group_facet_nodes + i * d, facets + (int64_t)numbers[i] * d,
               (size_t)d * sizeof *facets);
    }
    TRY(read_group_table(r, n));
    TRY(read_cell_groups(r));
    TRY(read_points(r));
done:
    free(facets);
    free(numbers);
    return status;
}
