/* Makes the arrays of groups of cells in result files: 0 and 1 for each group, as groups may overlap. */
#include "fem/base/text.h"
#include "fem/io/result.h"

#include <stdio.h>
#include <string.h>

static bool is_taken(const weft_result_content *c, char (*names)[WEFT_MASK_NAME_BYTES], int g) {
    for (int i = 0; i < c->n_fields; ++i)
        if (c->fields[i].on_cells && strcmp(c->fields[i].name, names[g]) == 0)
            return true;
    for (int k = 0; k < g; ++k)
        if (strcmp(names[k], names[g]) == 0)
            return true;
    return false;
}

static void name_mask(const weft_result_content *c, char (*names)[WEFT_MASK_NAME_BYTES], int g) {
    char base[WEFT_GROUP_NAME_BYTES];
    weft_copy_cut(base, sizeof base, c->mesh->groups[g].name);
    for (char *at = base; *at; ++at)
        if (*at == '/')
            *at = '_';
    if (!base[0] || strcmp(base, ".") == 0)
        strcpy(base, "group");
    weft_copy_cut(names[g], WEFT_MASK_NAME_BYTES, base);
    for (int i = 2; is_taken(c, names, g); ++i)
        snprintf(names[g], WEFT_MASK_NAME_BYTES, "%s (%d)", base, i);
}

void weft_mask_names(const weft_result_content *content, char (*out)[WEFT_MASK_NAME_BYTES]) {
    const weft_mesh *mesh = content->mesh;
    for (int g = 0; g < mesh->n_groups; ++g) {
        memset(out[g], 0, WEFT_MASK_NAME_BYTES);
        if (mesh->groups[g].dimension == mesh->dimension)
            name_mask(content, out, g);
    }
}

void weft_mask_fill(const weft_mesh *mesh, int g, int64_t first, int64_t n, uint8_t *out) {
    const weft_group *group = &mesh->groups[g];
    const int32_t *cells = mesh->group_cells + group->first_cell;
    int64_t low = 0, high = group->n_cells;
    memset(out, 0, (size_t)n);
    while (low < high) { /* find the first cell >= `first` of the group */
        const int64_t middle = low + (high - low) / 2;
        if (cells[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < group->n_cells && cells[low] < first + n; ++low)
        out[cells[low] - first] = 1;
}
