/* Keeps the lists of points of a mesh: nodes of groups of points, and pairs of nodes that are images of each other. */
#include "fem/mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

static int compare_pairs(const void *a, const void *b) {
    const int32_t *p = a, *q = b;
    for (int k = 0; k < 3; ++k)
        if (p[k] != q[k])
            return p[k] < q[k] ? -1 : 1;
    return 0;
}

/* Sort, and remove duplicates and pairs of a node with itself. */
static void sort_pairs(weft_point_lists *points) {
    int64_t n = 0;
    if (points->n_pairs > 1)
        qsort(points->pairs, (size_t)points->n_pairs, 3 * sizeof(int32_t), compare_pairs);
    for (int64_t i = 0; i < points->n_pairs; ++i) {
        const int32_t *pair = points->pairs + 3 * i;
        if (pair[1] == pair[2] || (n > 0 && compare_pairs(pair, points->pairs + 3 * (n - 1)) == 0))
            continue;
        memmove(points->pairs + 3 * n++, pair, 3 * sizeof *pair);
    }
    points->n_pairs = n;
}

static int compare_nodes(const void *a, const void *b) {
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Sort the nodes of each group, and remove duplicates. */
static void sort_nodes(weft_mesh *mesh) {
    int32_t *nodes = mesh->points.nodes;
    int64_t n = 0;
    for (int g = 0; g < mesh->n_groups; ++g) {
        weft_group *group = &mesh->groups[g];
        const int64_t first = group->first_point, end = first + group->n_points;
        if (group->n_points > 1)
            qsort(nodes + first, (size_t)group->n_points, sizeof *nodes, compare_nodes);
        group->first_point = n;
        for (int64_t i = first; i < end; ++i)
            if (i == first || nodes[i] != nodes[n - 1])
                nodes[n++] = nodes[i];
        group->n_points = n - group->first_point;
    }
    mesh->points.n_nodes = n;
}

static weft_status points_alloc(weft_point_lists *points, int64_t n_nodes, int64_t n_pairs,
                                weft_error *error) {
    *points = (weft_point_lists){.n_nodes = n_nodes, .n_pairs = n_pairs};
    points->nodes = weft_array_make((size_t)n_nodes, sizeof *points->nodes);
    points->pairs = weft_array_make((size_t)n_pairs, 3 * sizeof *points->pairs);
    return points->nodes && points->pairs ? WEFT_OK : weft_out_of_memory(error, "groups of points");
}

static bool has_points(const weft_mesh *mesh, const weft_group *group) {
    return group->dimension == 0 && mesh->dimension > 1;
}

/* Only groups of points have points, whose ranges and numbers are those of the data. */
static weft_status check(weft_mesh *mesh, const weft_mesh_data *data, const char *source,
                         weft_error *error) {
    const weft_point_lists *points = &data->points;
    for (int g = 0; g < mesh->n_groups; ++g) {
        weft_group *group = &mesh->groups[g];
        if (!has_points(mesh, group))
            group->first_point = group->n_points = 0;
        if (group->first_point < 0 || group->n_points < 0 ||
            group->first_point > points->n_nodes - group->n_points)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "%s: group `%.127s` reaches past the points that are there",
                                  source, group->name);
    }
    for (int64_t i = 0; i < points->n_nodes + 2 * points->n_pairs; ++i) {
        const int64_t k = i - points->n_nodes;
        const int32_t node = k < 0 ? points->nodes[i] : points->pairs[k / 2 * 3 + 1 + k % 2];
        if (node < 0 || node >= mesh->n_nodes)
            return weft_error_set(error, WEFT_ERROR_INPUT,
                                  "%s: %s names node %lld, and there are %lld", source,
                                  k < 0 ? "a group of points" : "Periodic", (long long)node + 1,
                                  (long long)mesh->n_nodes);
    }
    return WEFT_OK;
}

/* Number the declarations from 0. */
static void count_declarations(weft_point_lists *points) {
    int32_t last = 0, n = -1;
    for (int64_t i = 0; i < points->n_pairs; ++i) {
        int32_t *pair = points->pairs + 3 * i;
        n += n < 0 || pair[0] != last;
        last = pair[0];
        pair[0] = n;
    }
}

weft_status weft_points_make(weft_mesh *mesh, const weft_mesh_data *data, const char *source,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n = 0;
    TRY(check(mesh, data, source, error));
    for (int g = 0; g < mesh->n_groups; ++g)
        n += mesh->groups[g].n_points;
    TRY(points_alloc(&mesh->points, n, data->points.n_pairs, error));
    n = 0;
    for (int g = 0; g < mesh->n_groups; ++g) { /* groups of the data may share a range */
        weft_group *group = &mesh->groups[g];
        for (int64_t i = 0; i < group->n_points; ++i)
            mesh->points.nodes[n + i] = data->points.nodes[group->first_point + i];
        group->first_point = n;
        n += group->n_points;
    }
    sort_nodes(mesh);
    for (int64_t i = 0; i < 3 * data->points.n_pairs; ++i)
        mesh->points.pairs[i] = data->points.pairs[i];
    sort_pairs(&mesh->points);
    count_declarations(&mesh->points);
done:
    return status;
}

void weft_points_renumber(weft_mesh *mesh, const int32_t *new_number) {
    weft_point_lists *points = &mesh->points;
    int64_t n = 0;
    for (int g = 0; g < mesh->n_groups; ++g) {
        weft_group *group = &mesh->groups[g];
        const int64_t first = group->first_point, end = first + group->n_points;
        group->first_point = n;
        for (int64_t i = first; i < end; ++i)
            if (new_number[points->nodes[i]] >= 0)
                points->nodes[n++] = new_number[points->nodes[i]];
        group->n_points = n - group->first_point;
    }
    sort_nodes(mesh);
    n = 0;
    for (int64_t i = 0; i < points->n_pairs; ++i) {
        const int32_t *from = points->pairs + 3 * i;
        const int32_t pair[] = {from[0], new_number[from[1]], new_number[from[2]]};
        if (pair[1] >= 0 && pair[2] >= 0)
            memcpy(points->pairs + 3 * n++, pair, sizeof pair);
    }
    points->n_pairs = n;
    if (n > 0)
        sort_pairs(points);
}

/* The image of a node by a declaration; -1: it has none. */
static int32_t image_of(const weft_point_lists *points, int32_t declaration, int32_t node) {
    int64_t low = 0, high = points->n_pairs;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int32_t *pair = points->pairs + 3 * middle;
        if (pair[0] < declaration || (pair[0] == declaration && pair[1] < node))
            low = middle + 1;
        else
            high = middle;
    }
    const int32_t *pair = points->pairs + 3 * low;
    return low < points->n_pairs && pair[0] == declaration && pair[1] == node ? pair[2] : -1;
}

/* The pairs of midpoints of the edges of facets; out NULL: only count them. */
static int64_t pair_midpoints(const weft_mesh *from, const void *user,
                              int32_t (*midpoint)(const void *user, int32_t a, int32_t b),
                              int32_t *out) {
    const weft_point_lists *points = &from->points;
    const int32_t n_declared =
        points->n_pairs > 0 ? points->pairs[3 * (points->n_pairs - 1)] + 1 : 0;
    const int d = from->dimension, n_edges = d == 2 ? 1 : d;
    int64_t n = 0;
    for (int64_t i = 0; n_declared > 0 && i < from->n_facets * n_edges; ++i) {
        const int32_t *facet = from->facets + i / n_edges * d;
        const int32_t a = facet[i % n_edges], b = facet[(i % n_edges + 1) % d];
        for (int32_t k = 0; k < n_declared; ++k) {
            const int32_t p = image_of(points, k, a), q = image_of(points, k, b);
            const int32_t image = p < 0 || q < 0 ? -1 : midpoint(user, p, q);
            if (image < 0)
                continue;
            if (out)
                memcpy(out + 3 * n, (int32_t[]){k, midpoint(user, a, b), image}, 3 * sizeof *out);
            ++n;
        }
    }
    return n;
}

weft_status weft_points_refine(const weft_mesh *from, weft_mesh *to, const void *user,
                               int32_t (*number)(const void *user, int32_t node),
                               int32_t (*midpoint)(const void *user, int32_t a, int32_t b),
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_point_lists *points = &from->points;
    const int64_t n_middle = pair_midpoints(from, user, midpoint, NULL);
    TRY(points_alloc(&to->points, points->n_nodes, points->n_pairs + n_middle, error));
    for (int64_t i = 0; i < points->n_nodes; ++i)
        to->points.nodes[i] = number(user, points->nodes[i]);
    for (int64_t i = 0; i < points->n_pairs; ++i) {
        const int32_t *pair = points->pairs + 3 * i;
        memcpy(to->points.pairs + 3 * i,
               (int32_t[]){pair[0], number(user, pair[1]), number(user, pair[2])},
               3 * sizeof *pair);
    }
    pair_midpoints(from, user, midpoint, to->points.pairs + 3 * points->n_pairs);
    sort_nodes(to);
    sort_pairs(&to->points);
done:
    return status;
}

void weft_points_free(weft_point_lists *points) {
    free(points->nodes);
    free(points->pairs);
    *points = (weft_point_lists){0};
}
