/* Fills lists over cells and points with the value of the group of each. */
#include "core/base/number.h"
#include "fem/data/data.h"
#include "fem/mesh/mesh.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_status locate(const weft_data_info *info, weft_status status, weft_error *error) {
    if (status != WEFT_OK && error && !error->file[0])
        weft_error_location(error, info->origin ? info->origin : info->expression, NULL, 0, 0);
    return status;
}

static const char *cell_text(const weft_mesh *mesh, int64_t cell, char out[128]) {
    const int d = mesh->dimension, width = weft_mesh_cell_vertices(mesh);
    double centre[3] = {0};
    char point[64];
    for (int v = 0; v < width; ++v)
        for (int k = 0; k < d; ++k)
            centre[k] += mesh->x[(int64_t)mesh->cells[cell * width + v] * d + k] / width;
    (void)weft_print(out, 128, "cell %" PRId64 " at %s", cell, weft_point_text(centre, d, point));
    return out;
}

static weft_status refuse_overlap(const weft_mesh *mesh, const weft_data_info *info, int a, int b,
                                  int64_t cell, weft_error *error) {
    char where[128];
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the groups `%s` and `%s` overlap: %s is in both, so '%s' has two values there",
                   info->groups[a], info->groups[b], cell_text(mesh, cell, where),
                   info->expression);
    weft_error_hint(error, "leave one of them out, or make groups without common cells");
    return WEFT_ERROR_INPUT;
}

static bool has_cell(const weft_mesh *mesh, const weft_group *group, int64_t cell) {
    int64_t low = group->first_cell, high = low + group->n_cells;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (mesh->group_cells[middle] == cell)
            return true;
        if (mesh->group_cells[middle] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static weft_status refuse_missing(const weft_mesh *mesh, const weft_data_info *info, int64_t cell,
                                  weft_error *error) {
    char where[128];
    for (int g = 0; g < mesh->n_groups; ++g) {
        const weft_group *group = &mesh->groups[g];
        if (group->dimension != mesh->dimension || !has_cell(mesh, group, cell))
            continue;
        weft_error_set(error, WEFT_ERROR_INPUT, "'%s' has no value in the group `%s`",
                       info->expression, group->name);
        weft_error_hint(error,
                        "add a formula for it, @%s=EXPR, or one without a group, for all others",
                        group->name);
        return WEFT_ERROR_INPUT;
    }
    weft_error_set(error, WEFT_ERROR_INPUT, "'%s' has no value in %s, which is in no group",
                   info->expression, cell_text(mesh, cell, where));
    weft_error_hint(error, "add a formula without a group, for all others");
    return WEFT_ERROR_INPUT;
}

/* The value of all that no group holds; -1: there is none. */
static int find_other(const weft_data_info *info) {
    for (int i = 0; i < info->n; ++i)
        if (!info->groups[i])
            return i;
    return -1;
}

weft_status weft_data_of_cells(const weft_mesh *mesh, const weft_data_info *info, double *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const int other = find_other(info);
    int32_t *owner = weft_array_make((size_t)mesh->n_cells, sizeof *owner);
    if (!owner)
        TRY(weft_out_of_memory(error, "values by group"));
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        owner[c] = -1;
    for (int i = 0; i < info->n; ++i) {
        int g = 0;
        if (!info->groups[i])
            continue;
        TRY(weft_mesh_cell_group(mesh, info->groups[i], &g, error));
        const weft_group *group = &mesh->groups[g];
        for (int64_t k = 0; k < group->n_cells; ++k) {
            const int32_t cell = mesh->group_cells[group->first_cell + k];
            if (owner[cell] >= 0)
                TRY(refuse_overlap(mesh, info, owner[cell], i, cell, error));
            owner[cell] = i;
        }
    }
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        if (owner[c] < 0 && other < 0)
            TRY(refuse_missing(mesh, info, c, error));
        out[c] = info->values[owner[c] < 0 ? other : owner[c]];
    }
done:
    free(owner);
    return locate(info, status, error);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* A weft_data_points.mark of the nodes of a mesh. */
static weft_status mark_nodes(const weft_data_points *points, int group, unsigned char *marks,
                              weft_error *error) {
    (void)error;
    const weft_mesh *mesh = points->user;
    const weft_group *g = &mesh->groups[group];
    const int width = weft_mesh_cell_vertices(mesh), facet_width = weft_mesh_facet_vertices(mesh);
    const int32_t *cells = mesh->group_cells + g->first_cell;
    const int32_t *facets = mesh->group_facets + g->first_facet;
    for (int64_t k = 0; k < g->n_cells; ++k)
        for (int v = 0; v < width; ++v)
            marks[mesh->cells[(int64_t)cells[k] * width + v]] = 1;
    for (int64_t k = 0; k < g->n_facets; ++k)
        for (int v = 0; v < facet_width; ++v)
            marks[mesh->facets[(int64_t)facets[k] * facet_width + v]] = 1;
    return WEFT_OK;
}

weft_data_points weft_data_nodes(const weft_mesh *mesh, const char *over) {
    return (weft_data_points){
        .over = over, .n = mesh->n_nodes, .x = mesh->x, .mark = mark_nodes, .user = mesh};
}

static weft_status mark_cells(const weft_data_points *points, int group, unsigned char *marks,
                              weft_error *error) {
    (void)error;
    const weft_mesh *mesh = points->user;
    const weft_group *g = &mesh->groups[group];
    for (int64_t k = 0; k < g->n_cells; ++k)
        marks[mesh->group_cells[g->first_cell + k]] = 1;
    return WEFT_OK;
}

weft_data_points weft_data_centres(const weft_mesh *mesh, const char *over, const double *x) {
    return (weft_data_points){
        .over = over, .n = mesh->n_cells, .x = x, .mark = mark_cells, .user = mesh};
}

/* Mark the points in the cells of a group. */
static weft_status mark_inside(weft_device *device, const weft_mesh *mesh,
                               const weft_data_points *points, int group, unsigned char *marks,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_group *g = &mesh->groups[group];
    const size_t d = (size_t)mesh->dimension, width = (size_t)weft_mesh_cell_vertices(mesh);
    const size_t n_curve = (size_t)weft_mesh_curve_nodes(mesh) * d;
    weft_mesh some = *mesh;
    double *xi = weft_array_make((size_t)points->n * d, sizeof *xi);
    int64_t *found = weft_array_make((size_t)points->n, sizeof *found);
    some.n_cells = g->n_cells;
    some.cells = weft_array_make((size_t)g->n_cells * width, sizeof *some.cells);
    some.curve =
        mesh->curve ? weft_array_make((size_t)g->n_cells * n_curve, sizeof *some.curve) : NULL;
    if (!xi || !found || !some.cells || (mesh->curve && !some.curve))
        TRY(weft_out_of_memory(error, "values by group"));
    for (int64_t k = 0; k < g->n_cells; ++k) {
        const size_t cell = (size_t)mesh->group_cells[g->first_cell + k];
        memcpy(some.cells + (size_t)k * width, mesh->cells + cell * width,
               width * sizeof *some.cells);
        if (some.curve)
            memcpy(some.curve + (size_t)k * n_curve, mesh->curve + cell * n_curve,
                   n_curve * sizeof *some.curve);
    }
    TRY(weft_mesh_locate_cells(device, &some, points->x, points->n, found, xi, error));
    for (int64_t i = 0; i < points->n; ++i)
        marks[i] = found[i] >= 0;
done:
    free(some.cells);
    free(some.curve);
    free(found);
    free(xi);
    return status;
}

static weft_status refuse_point(weft_device *device, const weft_mesh *mesh,
                                const weft_data_info *info, const double *point,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t cell = -1;
    double xi[3];
    char text[64];
    TRY(weft_mesh_locate_cells(device, mesh, point, 1, &cell, xi, error));
    if (cell >= 0)
        TRY(refuse_missing(mesh, info, cell, error));
    status = weft_error_set(error, WEFT_ERROR_INPUT, "'%s' has no value at %s", info->expression,
                            weft_point_text(point, mesh->dimension, text));
    weft_error_hint(error, "add a formula without a group, for all others");
done:
    return status;
}

weft_status weft_data_of_points(weft_device *device, const weft_mesh *mesh,
                                const weft_data_info *info, const weft_data_points *points,
                                double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int other = find_other(info);
    int32_t *owner = weft_array_make((size_t)points->n, sizeof *owner);
    unsigned char *marks = weft_array_make((size_t)points->n, 1);
    if (!owner || !marks)
        TRY(weft_out_of_memory(error, "values by group"));
    for (int64_t i = 0; i < points->n; ++i)
        owner[i] = -1;
    for (int i = 0; i < info->n; ++i) {
        int g = 0;
        if (!info->groups[i])
            continue;
        memset(marks, 0, (size_t)points->n);
        TRY(points->mark ? weft_mesh_any_group(mesh, info->groups[i], &g, error)
                         : weft_mesh_cell_group(mesh, info->groups[i], &g, error));
        TRY(points->mark ? points->mark(points, g, marks, error)
                         : mark_inside(device, mesh, points, g, marks, error));
        for (int64_t k = 0; k < points->n; ++k)
            owner[k] = marks[k] ? i : owner[k];
    }
    for (int64_t i = 0; i < points->n; ++i) {
        if (owner[i] < 0 && other < 0)
            TRY(refuse_point(device, mesh, info, points->x + i * mesh->dimension, error));
        out[i] = info->values[owner[i] < 0 ? other : owner[i]];
    }
done:
    free(owner);
    free(marks);
    return locate(info, status, error);
}
