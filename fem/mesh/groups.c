/* Finds groups by name, and lists their facets and nodes. */
#include "fem/base/marks.h"
#include "fem/weft_fem.h"

#include <stdlib.h>
#include <string.h>

static void list_names(const weft_mesh *mesh, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (int g = 0; g < mesh->n_groups; ++g) {
        const char *name = mesh->groups[g].name;
        size_t length = strlen(name), lead = used > 0 ? 2 : 0;
        if (used + lead + length + 6 > size) {
            memcpy(out + used, ", ...", 6);
            return;
        }
        memcpy(out + used, ", ", lead);
        memcpy(out + used + lead, name, length + 1);
        used += lead + length;
    }
}

static weft_status group_missing(const weft_mesh *mesh, const char *name, weft_error *error) {
    char list[700];
    size_t n = (size_t)mesh->n_groups;
    list_names(mesh, list, sizeof list);
    if (n == 0) {
        weft_error_set(error, WEFT_ERROR_INPUT, "%s has no groups, so no group `%s`", mesh->source,
                       name);
        weft_error_hint(error,
                        "name its boundary in the .geo file, such as Physical %s(\"%s\") = {...}; "
                        "or use the group `boundary`, which is all of it",
                        mesh->dimension == 2 ? "Curve" : "Surface", name);
        return WEFT_ERROR_INPUT;
    }
    weft_error_set(error, WEFT_ERROR_INPUT, "%s has no group `%s`; it has %s", mesh->source, name,
                   list);
    const char **names = malloc(n * sizeof *names);
    const char *nearest = NULL;
    for (size_t g = 0; names && g < n; ++g)
        names[g] = mesh->groups[g].name;
    if (names)
        nearest = weft_nearest_name(name, names, n);
    if (nearest)
        weft_error_hint(error, "did you mean `%s`?", nearest);
    else
        weft_error_hint(error, "`boundary` is the whole boundary");
    free(names);
    return WEFT_ERROR_INPUT;
}

enum { FACETS_OR_CELLS = -1 };

/* The first group of this name and dimension; -1: none, and *other is one of another dimension or -1. */
static int find(const weft_mesh *mesh, const char *name, int dimension, int *other) {
    int found = -1;
    *other = -1;
    for (int g = 0; g < mesh->n_groups && found < 0; ++g) {
        const int of_group = mesh->groups[g].dimension;
        if (strcmp(mesh->groups[g].name, name) != 0)
            continue;
        if (of_group == dimension ||
            (dimension == FACETS_OR_CELLS && of_group >= mesh->dimension - 1))
            found = g;
        else
            *other = g;
    }
    return found;
}

weft_status weft_mesh_group(const weft_mesh *mesh, const char *name, int *group,
                            weft_error *error) {
    int other = -1;
    const int found = find(mesh, name, mesh->dimension - 1, &other);
    if (found >= 0 || strcmp(name, "boundary") == 0) {
        *group = found;
        return WEFT_OK;
    }
    if (other < 0)
        return group_missing(mesh, name, error);
    bool flat = mesh->dimension == 2;
    weft_error_set(error, WEFT_ERROR_INPUT, "group `%s` of %s has dimension %d, and facets have %d",
                   name, mesh->source, mesh->groups[other].dimension, mesh->dimension - 1);
    weft_error_hint(error, "conditions refer to Physical %s groups", flat ? "Curve" : "Surface");
    return WEFT_ERROR_INPUT;
}

weft_status weft_mesh_place(const weft_mesh *mesh, const char *name, int *group,
                            weft_error *error) {
    for (int g = 0; g < mesh->n_groups; ++g)
        if (mesh->dimension > 1 && mesh->groups[g].dimension == 0 &&
            strcmp(mesh->groups[g].name, name) == 0 && weft_mesh_group(mesh, name, group, NULL)) {
            *group = g;
            return WEFT_OK;
        }
    return weft_mesh_group(mesh, name, group, error);
}

weft_status weft_mesh_cell_group(const weft_mesh *mesh, const char *name, int *group,
                                 weft_error *error) {
    int other = -1;
    const int found = find(mesh, name, mesh->dimension, &other);
    if (found < 0 && other < 0)
        return group_missing(mesh, name, error);
    if (found < 0) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "group `%s` of %s has dimension %d, and cells have %d", name, mesh->source,
                       mesh->groups[other].dimension, mesh->dimension);
        weft_error_hint(error, "name a Physical %s group",
                        mesh->dimension == 2 ? "Surface" : "Volume");
        return WEFT_ERROR_INPUT;
    }
    *group = found;
    return WEFT_OK;
}

weft_status weft_mesh_any_group(const weft_mesh *mesh, const char *name, int *group,
                                weft_error *error) {
    int other = -1;
    const int found = find(mesh, name, FACETS_OR_CELLS, &other);
    if (found < 0 && other < 0)
        return group_missing(mesh, name, error);
    if (found < 0) {
        weft_error_set(
            error, WEFT_ERROR_INPUT,
            "group `%s` of %s has dimension %d, and a group of cells or facets is needed", name,
            mesh->source, mesh->groups[other].dimension);
        weft_error_hint(error, "name a group of dimension %d or %d", mesh->dimension - 1,
                        mesh->dimension);
        return WEFT_ERROR_INPUT;
    }
    *group = found;
    return WEFT_OK;
}

static int64_t group_size(const weft_mesh *mesh, int group) {
    return group < 0 ? mesh->n_boundary_facets : mesh->groups[group].n_facets;
}

/* The nodes of facet i of a group. */
static const int32_t *group_facet(const weft_mesh *mesh, int group, int64_t i) {
    int64_t facet = i;
    if (group >= 0)
        facet = mesh->group_facets[mesh->groups[group].first_facet + i];
    return mesh->facets + facet * weft_mesh_facet_vertices(mesh);
}

weft_status weft_mesh_group_facets(const weft_mesh *mesh, int group, int32_t **out, int64_t *n,
                                   weft_error *error) {
    const size_t w = (size_t)weft_mesh_facet_vertices(mesh);
    int64_t count = group_size(mesh, group);
    int32_t *nodes = weft_array_make((size_t)count, w * sizeof *nodes);
    if (!nodes)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for %lld facets",
                              (long long)count);
    if (group < 0)
        memcpy(nodes, mesh->facets, (size_t)count * w * sizeof *nodes);
    for (int64_t i = 0; group >= 0 && i < count; ++i)
        memcpy(nodes + (size_t)i * w, group_facet(mesh, group, i), w * sizeof *nodes);
    *out = nodes;
    *n = count;
    return WEFT_OK;
}

static weft_status list_points(const weft_mesh *mesh, const weft_group *group, int32_t **out,
                               int64_t *n, weft_error *error) {
    *out = weft_array_make((size_t)group->n_points, sizeof **out);
    if (!*out)
        return weft_out_of_memory(error, "the nodes of a group");
    for (int64_t i = 0; i < group->n_points; ++i)
        (*out)[i] = mesh->points.nodes[group->first_point + i];
    *n = group->n_points;
    return WEFT_OK;
}

weft_status weft_mesh_group_nodes(const weft_mesh *mesh, int group, int32_t **out, int64_t *n,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int w = weft_mesh_facet_vertices(mesh);
    int64_t count = 0, facets = group_size(mesh, group);
    int32_t *nodes = NULL;
    unsigned char *seen = NULL;
    if (group >= 0 && mesh->groups[group].n_points > 0) {
        status = list_points(mesh, &mesh->groups[group], out, n, error);
        goto done;
    }
    seen = weft_array_make((size_t)mesh->n_nodes, 1);
    if (!seen)
        TRY(weft_out_of_memory(error, "the nodes of a group"));
    for (int64_t i = 0; i < facets; ++i) {
        const int32_t *facet = group_facet(mesh, group, i);
        for (int k = 0; k < w; ++k) {
            count += !seen[facet[k]];
            seen[facet[k]] = 1;
        }
    }
    nodes = weft_array_make((size_t)count, sizeof *nodes);
    if (!nodes)
        TRY(weft_out_of_memory(error, "the nodes of a group"));
    weft_marks_list(seen, mesh->n_nodes, nodes);
    *out = nodes;
    *n = count;
done:
    free(seen);
    return status;
}

static weft_status find_points(const weft_mesh *mesh, const char *name, const char *origin,
                               int *group, weft_error *error) {
    weft_status status = weft_mesh_place(mesh, name, group, error);
    if (status == WEFT_OK && (*group < 0 || mesh->groups[*group].n_points == 0)) {
        status = weft_error_set(error, WEFT_ERROR_INPUT, "`%s` of %s is not a group of points",
                                name, mesh->source);
        weft_error_hint(error, "give coordinates, or a Physical Point of the .geo file");
    }
    if (status != WEFT_OK && error && !error->file[0])
        weft_error_location(error, origin, NULL, 0, 0);
    return status;
}

weft_status weft_mesh_group_points(const weft_mesh *mesh, const char *name, const char *origin,
                                   double **out, int64_t *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t d = (size_t)mesh->dimension;
    int group = -1;
    int32_t *nodes = NULL;
    double *points = NULL;
    TRY(find_points(mesh, name, origin, &group, error));
    TRY(weft_mesh_group_nodes(mesh, group, &nodes, n, error));
    points = weft_array_make((size_t)*n, d * sizeof *points);
    if (!points)
        TRY(weft_out_of_memory(error, "the points of a group"));
    for (int64_t i = 0; i < *n; ++i)
        memcpy(points + (size_t)i * d, mesh->x + (size_t)nodes[i] * d, d * sizeof *points);
    *out = points;
done:
    free(nodes);
    return status;
}
