/** A wall of two materials for the tests of data by group: the unit square or cube with groups of cells
 *  steel (x < 1/2) and air (x > 1/2). */
#ifndef WEFT_WALL_SUPPORT_H
#define WEFT_WALL_SUPPORT_H

#include "fem/weft_fem.h"
#include "mesh_support.h"

#include <stdlib.h>
#include <string.h>

/** n  cells a side, even
 *  with_overlap  a third group, lower: the cells with y < 1/2
 *  only_steel    no group air: its cells are in no group */
static inline weft_mesh *wall_mesh(int d, int64_t n, bool with_overlap, bool only_steel) {
    static const char *const names[] = {"steel", "air", "lower"};
    weft_mesh *square = make_mesh(d, n), *mesh = NULL;
    weft_mesh_data data = take_apart(square);
    weft_error error = {0};
    const int width = d + 1, n_sides = square->n_groups;
    data.groups = realloc(data.groups, (size_t)(n_sides + 3) * sizeof *data.groups);
    data.group_cells = weft_array_make((size_t)square->n_cells * 3, sizeof *data.group_cells);
    assert_true(data.groups && data.group_cells);
    for (int k = 0; k < 3; ++k) {
        weft_group *group = &data.groups[data.n_groups];
        if ((k == 1 && only_steel) || (k == 2 && !with_overlap))
            continue;
        *group = (weft_group){.dimension = d, .first_cell = data.n_group_cells};
        strcpy(group->name, names[k]);
        for (int64_t c = 0; c < square->n_cells; ++c) {
            double centre[3] = {0};
            for (int v = 0; v < width; ++v)
                for (int a = 0; a < d; ++a)
                    centre[a] += square->x[(int64_t)square->cells[c * width + v] * d + a] / width;
            if (k == 0 ? centre[0] < 0.5 : k == 1 ? centre[0] > 0.5 : centre[1] < 0.5) {
                data.group_cells[data.n_group_cells++] = (int32_t)c;
                ++group->n_cells;
            }
        }
        ++data.n_groups;
    }
    if (weft_mesh_make(&data, "wall", NULL, &mesh, &error) != WEFT_OK)
        fail_msg("%s", error.message);
    weft_mesh_free(&square);
    return mesh;
}

#endif
