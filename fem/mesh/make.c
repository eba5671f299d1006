/* Makes a checked mesh from arrays: checks and orients cells, finds facets, matches groups, drops
 * unused nodes. Nodes keep the user's numbers, which messages contain, until the last step. */
#include "core/base/sort.h"
#include "fem/base/text.h"
#include "fem/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weft_status check_counts(const weft_mesh_data *data, const char *source, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *hint = NULL;
    bool missing = (data->n_nodes > 0 && !data->x) || (data->n_cells > 0 && !data->cells) ||
                   (data->n_groups > 0 && !data->groups) ||
                   (data->n_group_facets > 0 && !data->group_facet_nodes) ||
                   (data->n_group_cells > 0 && !data->group_cells);
    if (missing || data->n_groups < 0 || data->n_group_facets < 0 || data->n_group_cells < 0) {
        status =
            weft_error_set(error, WEFT_ERROR_USAGE, "%s: an array of the mesh is missing", source);
    } else if (data->degree < 0 || data->degree > 2) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "%s: cells of degree %d are not supported",
                                source, data->degree);
    } else if (data->cell != WEFT_POINT && weft_cell_of(data->cell)->dimension != data->dimension) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "%s: %s have dimension %d, not %d", source,
                                weft_cell_of(data->cell)->plural,
                                weft_cell_of(data->cell)->dimension, data->dimension);
    } else if (data->cell == WEFT_POINT && data->dimension != 2 && data->dimension != 3) {
        status = weft_error_set(error, WEFT_ERROR_USAGE, "%s: dimension %d is neither 2 nor 3",
                                source, data->dimension);
    } else if (data->n_cells <= 0 || data->n_nodes <= 0) {
        status =
            weft_error_set(error, WEFT_ERROR_INPUT, "%s: no triangles and no tetrahedra", source);
        hint = "mesh a surface or a volume; and where the file has physical groups, one must hold "
               "it: Physical Surface(\"domain\") = {1}; or Physical Volume(\"domain\") = {1};";
    } else if (data->n_nodes > INT32_MAX || data->n_cells > INT32_MAX ||
               data->n_group_facets > INT32_MAX) {
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                "%s: %lld nodes, %lld cells: 2^31 or more are not supported",
                                source, (long long)data->n_nodes, (long long)data->n_cells);
        hint = "use a coarser mesh";
    }
    if (hint)
        weft_error_hint(error, "%s", hint);
    return status;
}

static bool is_within(int64_t first, int64_t n, int64_t n_all) {
    return first >= 0 && n >= 0 && first <= n_all - n;
}

static weft_status check_groups(const weft_mesh_data *data, const char *source, weft_error *error) {
    for (int g = 0; g < data->n_groups; ++g) {
        const weft_group *group = &data->groups[g];
        if (group->dimension == data->dimension - 1 &&
            !is_within(group->first_facet, group->n_facets, data->n_group_facets))
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "%s: group `%.127s` reaches past the facets that are there",
                                  source, group->name);
        if (group->dimension == data->dimension &&
            !is_within(group->first_cell, group->n_cells, data->n_group_cells))
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "%s: group `%.127s` reaches past the cells that are there",
                                  source, group->name);
    }
    for (int64_t i = 0; i < data->n_group_cells; ++i)
        if (data->group_cells[i] < 0 || data->group_cells[i] >= data->n_cells)
            return weft_error_set(error, WEFT_ERROR_INPUT,
                                  "%s: a group names cell %lld, and there are %lld", source,
                                  (long long)data->group_cells[i] + 1, (long long)data->n_cells);
    return WEFT_OK;
}

static weft_status check_coordinates(const weft_mesh_data *data, const char *source,
                                     weft_error *error) {
    int d = data->dimension;
    int64_t bad = 0, first = -1;
    for (int64_t i = 0; i < data->n_nodes; ++i) {
        double zero = 0;
        for (int k = 0; k < d; ++k)
            zero += 0 * data->x[i * d + k];
        if (zero == 0)
            continue;
        if (bad++ == 0)
            first = i;
    }
    if (bad == 0)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "%s: %lld node%s a coordinate that is not finite (first: node %lld at", source,
                   (long long)bad, bad == 1 ? " has" : "s have", (long long)first + 1);
    for (int k = 0; k < d; ++k)
        weft_error_append(error, " %g", data->x[first * d + k]);
    weft_error_append(error, ")");
    weft_error_hint(error, "the file is damaged, or the geometry divides by zero: write it again");
    return WEFT_ERROR_INPUT;
}

static weft_status check_numbers(const int32_t *nodes, int64_t n, int width, int64_t n_nodes,
                                 const char *what, const char *source, weft_error *error) {
    int64_t bad = 0, first = -1;
    for (int64_t i = 0; i < n; ++i) {
        bool out = false;
        for (int k = 0; k < width; ++k)
            out |= nodes[i * width + k] < 0 || nodes[i * width + k] >= n_nodes;
        if (out && bad++ == 0)
            first = i;
    }
    if (bad == 0)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "%s: %lld %s%s nodes that do not exist (first: %s %lld, nodes", source,
                   (long long)bad, what, bad == 1 ? " has" : "s have", what, (long long)first + 1);
    for (int k = 0; k < width; ++k)
        weft_error_append(error, " %lld", (long long)nodes[first * width + k] + 1);
    weft_error_append(error, "; there are %lld nodes)", (long long)n_nodes);
    weft_error_hint(error, "the file is damaged or cut short: write it again");
    return WEFT_ERROR_INPUT;
}

void weft_error_append_cell(weft_error *error, const weft_mesh_data *data, int64_t cell) {
    const int d = data->dimension, v = weft_mesh_data_cell(data)->n_entities[0];
    const int32_t *nodes = data->cells + cell * v;
    weft_error_append(error, "cell %lld, nodes", (long long)cell + 1);
    for (int k = 0; k < v; ++k)
        weft_error_append(error, " %lld", (long long)nodes[k] + 1);
    weft_error_append(error, ", near");
    for (int k = 0; k < d; ++k)
        weft_error_append(error, " %g", data->x[(int64_t)nodes[0] * d + k]);
}

static double longest_edge(int d, const double *x, const int32_t *nodes) {
    double longest = 0;
    for (int i = 0; i < d; ++i)
        for (int j = i + 1; j <= d; ++j) {
            double square = 0;
            for (int k = 0; k < d; ++k) {
                double u = x[(int64_t)nodes[i] * d + k] - x[(int64_t)nodes[j] * d + k];
                square += u * u;
            }
            longest = square > longest ? square : longest;
        }
    return sqrt(longest);
}

/* |volume| <= 1e-14 h^d, h the longest edge: a flat cell, up to rounding. */
static weft_status rotate_cells(weft_mesh_data *data, const char *source, int64_t *n_flipped,
                                weft_error *error) {
    int d = data->dimension;
    int64_t flat = 0, first = -1;
    for (int64_t c = 0; c < data->n_cells; ++c) {
        int32_t *nodes = data->cells + c * (d + 1);
        double volume = weft_cell_volume(d, data->x, nodes);
        double h = longest_edge(d, data->x, nodes);
        if (!(fabs(volume) > 1e-14 * (d == 2 ? h * h : h * h * h))) {
            if (flat++ == 0)
                first = c;
        } else if (volume < 0) {
            int32_t last = nodes[d];
            nodes[d] = nodes[d - 1];
            nodes[d - 1] = last;
            ++*n_flipped;
        }
    }
    if (flat == 0)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_INPUT, "%s: %lld cell%s no %s (first: ", source,
                   (long long)flat, flat == 1 ? " has" : "s have", d == 2 ? "area" : "volume");
    weft_error_append_cell(error, data, first);
    weft_error_append(error, ")");
    weft_error_hint(error,
                    "its points are one, or lie on a %s: merge points that coincide in the "
                    "geometry (Coherence; in the .geo file) and mesh again%s",
                    d == 2 ? "line" : "plane", d == 2 ? "" : " with Mesh.Optimize = 1;");
    return WEFT_ERROR_INPUT;
}

static weft_status check_faults(const weft_mesh_data *data, const weft_facet_faults *faults,
                                const char *source, weft_error *error) {
    const char *facet = data->dimension == 1 ? "point" : data->dimension == 2 ? "edge" : "face";
    if (faults->n_doubled > 0) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "%s: %lld cell%s the nodes of another (first: ", source,
                       (long long)faults->n_doubled, faults->n_doubled == 1 ? " has" : "s have");
        weft_error_append_cell(error, data, faults->doubled);
        weft_error_append(error, "; as cell %lld)", (long long)faults->original + 1);
        weft_error_hint(error,
                        "put each %s into one Physical %s only (MSH 2 saves a cell once for "
                        "each), and see that no two lie on each other",
                        data->dimension == 2 ? "surface" : "volume",
                        data->dimension == 2 ? "Surface" : "Volume");
        return WEFT_ERROR_INPUT;
    }
    if (faults->n_non_manifold > 0) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "%s: %lld %s%s to three cells or more (first: nodes", source,
                       (long long)faults->n_non_manifold, facet,
                       faults->n_non_manifold == 1 ? " belongs" : "s belong");
        for (int k = 0; k < data->dimension && faults->non_manifold[k] >= 0; ++k)
            weft_error_append(error, " %lld", (long long)faults->non_manifold[k] + 1);
        weft_error_append(error, ")");
        weft_error_hint(error, "%ss overlap: an %s lies between two cells or on the boundary",
                        data->dimension == 2 ? "surface" : "volume",
                        data->dimension == 2 ? "edge" : "interior face");
        return WEFT_ERROR_INPUT;
    }
    return WEFT_OK;
}

/* Facet numbers for each group: without facets that belong to no cell, which are counted, and
 * without duplicates. stamp [n_facets], zeroed. */
static void match_groups(weft_mesh *mesh, const weft_mesh_data *data, const int32_t *number,
                         int32_t *stamp) {
    int64_t n = 0;
    for (int g = 0; g < mesh->n_groups; ++g) {
        weft_group *group = &mesh->groups[g];
        int64_t first = group->first_facet, end = first + group->n_facets;
        group->name[sizeof group->name - 1] = '\0';
        group->first_facet = n;
        group->n_facets = 0;
        if (group->dimension != data->dimension - 1)
            continue;
        for (int64_t i = first; i < end; ++i) {
            if (number[i] < 0) {
                ++mesh->n_ignored_facets;
            } else if (stamp[number[i]] != g + 1) {
                stamp[number[i]] = g + 1;
                mesh->group_facets[n++] = number[i];
            }
        }
        group->n_facets = n - group->first_facet;
    }
}

void weft_group_cells_sort(weft_mesh *mesh) {
    int64_t n = 0;
    for (int g = 0; g < mesh->n_groups; ++g) {
        weft_group *group = &mesh->groups[g];
        int32_t *list = mesh->group_cells + group->first_cell;
        const int64_t n_listed = group->dimension == mesh->dimension ? group->n_cells : 0;
        bool ascending = true;
        for (int64_t i = 1; i < n_listed; ++i)
            ascending &= list[i - 1] < list[i];
        if (!ascending)
            weft_numbers_sort((uint32_t *)list, (size_t)n_listed);
        group->first_cell = n;
        for (int64_t i = 0; i < n_listed; ++i)
            if (i == 0 || list[i] != list[i - 1])
                mesh->group_cells[n++] = list[i];
        group->n_cells = n - group->first_cell;
    }
}

/* Copy the cells of each group; in the user's data groups may share a range. */
static int32_t *list_group_cells(weft_mesh *mesh, const weft_mesh_data *data) {
    int64_t n = 0;
    for (int g = 0; mesh->groups && g < mesh->n_groups; ++g)
        n += mesh->groups[g].dimension == mesh->dimension ? mesh->groups[g].n_cells : 0;
    int32_t *list = weft_array_make((size_t)n, sizeof *list);
    n = 0;
    for (int g = 0; list && mesh->groups && g < mesh->n_groups; ++g) {
        weft_group *group = &mesh->groups[g];
        if (group->dimension != mesh->dimension)
            group->first_cell = group->n_cells = 0;
        if (group->n_cells > 0)
            memcpy(list + n, data->group_cells + group->first_cell,
                   (size_t)group->n_cells * sizeof *list);
        group->first_cell = n;
        n += group->n_cells;
    }
    return list;
}

static weft_status make_groups(weft_mesh *mesh, weft_mesh_data *data, const int32_t *number,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n = 0;
    int32_t *stamp = calloc((size_t)mesh->n_facets + 1, sizeof *stamp);
    mesh->n_groups = data->n_groups;
    mesh->groups = data->groups;
    data->groups = NULL;
    for (int g = 0; g < mesh->n_groups; ++g)
        if (mesh->groups[g].dimension == mesh->dimension - 1)
            n += mesh->groups[g].n_facets;
    mesh->group_facets = weft_array_make((size_t)n, sizeof *mesh->group_facets);
    if (!mesh->groups)
        mesh->groups = weft_array_make(0, sizeof *mesh->groups);
    mesh->group_cells = list_group_cells(mesh, data);
    if (stamp && mesh->group_facets && mesh->groups && mesh->group_cells) {
        match_groups(mesh, data, number, stamp);
        weft_group_cells_sort(mesh);
    } else {
        status =
            weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for %d groups", mesh->n_groups);
    }
    free(stamp);
    return status;
}

static void renumber(int32_t *nodes, int64_t n, const int32_t *new_number) {
    for (int64_t i = 0; i < n; ++i)
        nodes[i] = new_number[nodes[i]];
}

static weft_status drop_unused(weft_mesh *mesh, weft_error *error) {
    const size_t d = (size_t)mesh->dimension;
    const int64_t n_of_cells = mesh->n_cells * weft_mesh_cell_vertices(mesh);
    int32_t *new_number = malloc((size_t)mesh->n_nodes * sizeof *new_number);
    if (!new_number)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory for %lld nodes",
                              (long long)mesh->n_nodes);
    memset(new_number, 0xFF, (size_t)mesh->n_nodes * sizeof *new_number);
    for (int64_t i = 0; i < n_of_cells; ++i)
        new_number[mesh->cells[i]] = 1;
    int64_t n = 0;
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        if (new_number[i] < 0)
            continue;
        if (n < i)
            memcpy(mesh->x + (size_t)n * d, mesh->x + (size_t)i * d, d * sizeof *mesh->x);
        new_number[i] = (int32_t)n++;
    }
    mesh->n_dropped_nodes = mesh->n_nodes - n;
    if (mesh->n_dropped_nodes > 0) {
        memset(mesh->x + (size_t)n * d, 0, (size_t)mesh->n_dropped_nodes * d * sizeof *mesh->x);
        renumber(mesh->cells, n_of_cells, new_number);
        renumber(mesh->facets, mesh->n_facets * weft_mesh_facet_vertices(mesh), new_number);
        weft_points_renumber(mesh, new_number);
        mesh->n_nodes = n;
    }
    free(new_number);
    return WEFT_OK;
}

static void report_repaired(const weft_mesh *mesh, const weft_monitor *monitor) {
    if (mesh->n_flipped_cells > 0)
        weft_log(monitor, WEFT_LOG_INFO, "%s: %lld inverted cell%s reoriented", mesh->source,
                 (long long)mesh->n_flipped_cells, mesh->n_flipped_cells == 1 ? "" : "s");
    if (mesh->n_dropped_nodes > 0)
        weft_log(monitor, WEFT_LOG_INFO, "%s: %lld node%s that no cell uses dropped", mesh->source,
                 (long long)mesh->n_dropped_nodes, mesh->n_dropped_nodes == 1 ? "" : "s");
    if (mesh->n_ignored_facets > 0)
        weft_log(monitor, WEFT_LOG_WARNING, "%s: %lld facet%s of groups ignored: no cell has %s",
                 mesh->source, (long long)mesh->n_ignored_facets,
                 mesh->n_ignored_facets == 1 ? "" : "s",
                 mesh->n_ignored_facets == 1 ? "it" : "them");
}

/* Triangles or tetrahedra, which have faster functions. */
static bool is_simplicial(const weft_mesh_data *data) {
    const weft_cell *cell = weft_mesh_data_cell(data);
    return cell->simplex && cell->dimension > 1;
}

/* All checks that only need the user's arrays. curve, n_others: see weft_curve_split. */
static weft_status check_data(weft_mesh_data *data, const char *source, int64_t *n_flipped,
                              double **curve, int64_t *n_others, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(check_counts(data, source, error));
    TRY(check_groups(data, source, error));
    TRY(check_coordinates(data, source, error));
    const weft_cell *cell = weft_mesh_data_cell(data);
    TRY(check_numbers(data->cells, data->n_cells, weft_mesh_data_width(data), data->n_nodes, "cell",
                      source, error));
    TRY(check_numbers(data->group_facet_nodes, data->n_group_facets,
                      weft_cell_of(cell->facet)->n_entities[0], data->n_nodes, "facet", source,
                      error));
    if (data->degree == 2)
        TRY(weft_curve_split(data, curve, n_others, error));
    if (is_simplicial(data))
        TRY(rotate_cells(data, source, n_flipped, error));
    else
        TRY(weft_boxes_orient(data, source, n_flipped, error));
    if (*curve)
        TRY(weft_curve_follow(data, source, *curve, error));
done:
    return status;
}

weft_status weft_mesh_make(weft_mesh_data *data, const char *source, const weft_monitor *monitor,
                           weft_mesh **out, weft_error *error) {
    return weft_mesh_make_from(data, source, 0, monitor, out, error);
}

weft_status weft_mesh_make_from(weft_mesh_data *data, const char *source, int64_t n_left_nodes,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    weft_facets facets = {0};
    weft_facet_faults faults;
    int64_t n_flipped = 0, n_others = 0;
    double *curve = NULL;
    TRY(check_data(data, source, &n_flipped, &curve, &n_others, error));
    TRY(is_simplicial(data) ? weft_facets_find(data, &facets, &faults, error)
                            : weft_facets_find_any(data, &facets, &faults, error));
    TRY(check_faults(data, &faults, source, error));
    mesh = calloc(1, sizeof *mesh);
    if (!mesh)
        TRY(weft_out_of_memory(error, "a mesh"));
    mesh->dimension = data->dimension;
    mesh->cell = weft_mesh_data_cell(data)->type;
    mesh->n_nodes = data->n_nodes;
    mesh->n_cells = data->n_cells;
    mesh->n_flipped_cells = n_flipped;
    mesh->n_facets = facets.n_facets;
    mesh->n_boundary_facets = facets.n_boundary_facets;
    mesh->facets = facets.nodes;
    facets.nodes = NULL;
    mesh->x = data->x;
    mesh->cells = data->cells;
    mesh->curve = curve;
    curve = NULL;
    data->x = NULL;
    data->cells = NULL;
    weft_copy_cut(mesh->source, sizeof mesh->source, source);
    TRY(make_groups(mesh, data, facets.number, error));
    TRY(weft_points_make(mesh, data, source, error));
    TRY(drop_unused(mesh, error));
    mesh->n_dropped_nodes += n_left_nodes - n_others;
    report_repaired(mesh, monitor);
    TRY(weft_mesh_find_coincident(mesh, monitor, error));
    *out = mesh;
    mesh = NULL;
done:
    weft_mesh_free(&mesh);
    weft_mesh_data_free(data);
    free(facets.nodes);
    free(facets.number);
    free(curve);
    return status;
}
