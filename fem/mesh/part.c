/* Takes the part of one rank out of a mesh. */
#include "fem/mesh/part.h"
#include "fem/mesh/entities.h"
#include "fem/mesh/mesh.h"
#include "fusion/setup/team.h"

#include <stdlib.h>
#include <string.h>

int weft_part_owner(const weft_part *part, int32_t node) {
    const int64_t global = part->nodes[node];
    int low = 0, high = weft_comm_size(part->comm);
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (part->starts[middle] <= global)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void weft_part_free(weft_part **out) {
    weft_part *part = out ? *out : NULL;
    if (!part)
        return;
    weft_team_free(&part->team);
    free(part->starts);
    free(part->nodes);
    free(part->cells);
    free(part);
    *out = NULL;
}

typedef struct taking {
    const weft_mesh *whole;
    weft_mesh *mesh;
    weft_part *part;
    int32_t *number; /* [nodes of the whole]: in the part; -1: not there */
    int32_t *facet;  /* [facets of the whole], the same */
    int32_t *cell;   /* [cells of the whole], the same */
} taking;

static void *array(int64_t n, size_t size) {
    return weft_array_make((size_t)n, size);
}

/* Number those that are marked by 0. Returns how many there are. */
static int64_t count_marked(int32_t *number, int64_t n) {
    int64_t marked = 0;
    for (int64_t i = 0; i < n; ++i)
        if (number[i] >= 0)
            number[i] = (int32_t)marked++;
    return marked;
}

/* The numbers in the whole of those that have one. */
static int32_t *list_marked(const int32_t *number, int64_t n, int64_t n_marked) {
    int32_t *list = array(n_marked, sizeof *list);
    for (int64_t i = 0; i < n && list; ++i)
        if (number[i] >= 0)
            list[number[i]] = (int32_t)i;
    return list;
}

/* Cells with a node of this rank, and their nodes. */
static weft_status choose_cells(taking *t, weft_error *error) {
    const weft_mesh *whole = t->whole;
    const int v = weft_mesh_cell_vertices(whole), rank = weft_comm_rank(t->part->comm);
    const int64_t first = t->part->starts[rank], last = t->part->starts[rank + 1];
    t->number = malloc((size_t)whole->n_nodes * sizeof *t->number + 1);
    t->cell = malloc((size_t)whole->n_cells * sizeof *t->cell + 1);
    if (!t->number || !t->cell)
        return weft_out_of_memory(error, "the part of a mesh");
    memset(t->number, 0xFF, (size_t)whole->n_nodes * sizeof *t->number);
    for (int64_t c = 0; c < whole->n_cells; ++c) {
        const int32_t *nodes = whole->cells + c * v;
        bool mine = false;
        for (int k = 0; k < v; ++k)
            mine |= nodes[k] >= first && nodes[k] < last;
        t->cell[c] = mine ? 0 : -1;
        for (int k = 0; k < v && mine; ++k)
            t->number[nodes[k]] = 0;
    }
    t->mesh->n_nodes = count_marked(t->number, whole->n_nodes);
    t->mesh->n_cells = count_marked(t->cell, whole->n_cells);
    t->part->nodes = list_marked(t->number, whole->n_nodes, t->mesh->n_nodes);
    t->part->cells = list_marked(t->cell, whole->n_cells, t->mesh->n_cells);
    return t->part->nodes && t->part->cells ? WEFT_OK
                                            : weft_out_of_memory(error, "the part of a mesh");
}

static weft_status copy_cells(taking *t, weft_error *error) {
    const weft_mesh *whole = t->whole;
    weft_mesh *mesh = t->mesh;
    const int v = weft_mesh_cell_vertices(whole), d = whole->dimension;
    const size_t curve = (size_t)weft_mesh_curve_nodes(whole) * (size_t)d;
    mesh->x = array(mesh->n_nodes * d, sizeof *mesh->x);
    mesh->cells = array(mesh->n_cells * v, sizeof *mesh->cells);
    if (whole->curve)
        mesh->curve = array(mesh->n_cells, curve * sizeof *mesh->curve);
    if (!mesh->x || !mesh->cells || (whole->curve && !mesh->curve))
        return weft_out_of_memory(error, "the part of a mesh");
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        memcpy(mesh->x + i * d, whole->x + (int64_t)t->part->nodes[i] * d,
               (size_t)d * sizeof *mesh->x);
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        const int64_t from = t->part->cells[c];
        for (int k = 0; k < v; ++k)
            mesh->cells[c * v + k] = t->number[whole->cells[from * v + k]];
        if (whole->curve)
            memcpy(mesh->curve + (size_t)c * curve, whole->curve + (size_t)from * curve,
                   curve * sizeof *mesh->curve);
    }
    return WEFT_OK;
}

/* Facets whose nodes are there, and that are facets of a cell of the part. */
static weft_status choose_facets(taking *t, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *whole = t->whole;
    const int w = weft_mesh_facet_vertices(whole);
    int64_t n = 0, *slots = NULL;
    int32_t *nodes = array(whole->n_facets * w, sizeof *nodes);
    t->facet = malloc((size_t)whole->n_facets * sizeof *t->facet + 1);
    if (!nodes || !t->facet)
        TRY(weft_out_of_memory(error, "the part of a mesh"));
    for (int64_t f = 0; f < whole->n_facets; ++f) {
        bool there = true;
        for (int k = 0; k < w; ++k)
            there &= t->number[whole->facets[f * w + k]] >= 0;
        t->facet[f] = there ? 0 : -1;
        for (int k = 0; k < w && there; ++k)
            nodes[n * w + k] = t->number[whole->facets[f * w + k]];
        n += there;
    }
    slots = array(2 * n, sizeof *slots);
    if (!slots)
        TRY(weft_out_of_memory(error, "the part of a mesh"));
    TRY(weft_facet_slots(NULL, t->mesh, n, nodes, slots, error));
    n = 0;
    for (int64_t f = 0; f < whole->n_facets; ++f)
        if (t->facet[f] >= 0 && slots[2 * n++] < 0)
            t->facet[f] = -1;
done:
    free(slots);
    free(nodes);
    return status;
}

static weft_status copy_facets(taking *t, weft_error *error) {
    const weft_mesh *whole = t->whole;
    weft_mesh *mesh = t->mesh;
    const int w = weft_mesh_facet_vertices(whole);
    mesh->n_facets = count_marked(t->facet, whole->n_facets);
    mesh->n_boundary_facets = 0;
    mesh->facets = array(mesh->n_facets * w, sizeof *mesh->facets);
    if (!mesh->facets)
        return weft_out_of_memory(error, "the part of a mesh");
    for (int64_t f = 0; f < whole->n_facets; ++f)
        if (t->facet[f] >= 0) {
            mesh->n_boundary_facets += f < whole->n_boundary_facets;
            for (int k = 0; k < w; ++k)
                mesh->facets[t->facet[f] * w + k] = t->number[whole->facets[f * w + k]];
        }
    return WEFT_OK;
}

/* Append those of a list that are in the part, by their numbers there. Returns how many. */
static int64_t append(const int32_t *list, int64_t n, const int32_t *number, int32_t *out) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i)
        if (number[list[i]] >= 0)
            out[kept++] = number[list[i]];
    return kept;
}

static int64_t length_of(const weft_mesh *mesh, int dimension) {
    int64_t n = 0;
    for (int g = 0; g < mesh->n_groups; ++g)
        if (mesh->groups[g].dimension == dimension)
            n += dimension == mesh->dimension ? mesh->groups[g].n_cells : mesh->groups[g].n_facets;
    return n;
}

static void copy_group(taking *t, int g, int64_t *n_facets, int64_t *n_cells) {
    const weft_mesh *whole = t->whole;
    weft_group *group = &t->mesh->groups[g];
    const weft_group *from = &whole->groups[g];
    *group = *from;
    group->first_facet = *n_facets;
    group->first_cell = *n_cells;
    if (from->dimension == whole->dimension - 1)
        group->n_facets = append(whole->group_facets + from->first_facet, from->n_facets, t->facet,
                                 t->mesh->group_facets + *n_facets);
    if (from->dimension == whole->dimension)
        group->n_cells = append(whole->group_cells + from->first_cell, from->n_cells, t->cell,
                                t->mesh->group_cells + *n_cells);
    *n_facets += from->dimension == whole->dimension - 1 ? group->n_facets : 0;
    *n_cells += from->dimension == whole->dimension ? group->n_cells : 0;
}

static void copy_points(taking *t) {
    const weft_point_lists *from = &t->whole->points;
    weft_point_lists *points = &t->mesh->points;
    for (int g = 0; g < t->mesh->n_groups; ++g) {
        weft_group *group = &t->mesh->groups[g];
        const int64_t first = group->first_point;
        group->first_point = points->n_nodes;
        group->n_points = group->n_points > 0 ? append(from->nodes + first, group->n_points,
                                                       t->number, points->nodes + points->n_nodes)
                                              : 0;
        points->n_nodes += group->n_points;
    }
    for (int64_t i = 0; i < from->n_pairs; ++i) {
        const int32_t *pair = from->pairs + 3 * i;
        if (t->number[pair[1]] < 0 || t->number[pair[2]] < 0)
            continue;
        int32_t *out = points->pairs + 3 * points->n_pairs++;
        out[0] = pair[0];
        out[1] = t->number[pair[1]];
        out[2] = t->number[pair[2]];
    }
}

static weft_status copy_groups(taking *t, weft_error *error) {
    const weft_mesh *whole = t->whole;
    weft_mesh *mesh = t->mesh;
    int64_t n_facets = 0, n_cells = 0;
    mesh->n_groups = whole->n_groups;
    mesh->groups = array(whole->n_groups, sizeof *mesh->groups);
    mesh->group_facets = array(length_of(whole, whole->dimension - 1), sizeof(int32_t));
    mesh->group_cells = array(length_of(whole, whole->dimension), sizeof(int32_t));
    mesh->points.nodes = array(whole->points.n_nodes, sizeof(int32_t));
    mesh->points.pairs = array(3 * whole->points.n_pairs, sizeof(int32_t));
    if (!mesh->groups || !mesh->group_facets || !mesh->group_cells || !mesh->points.nodes ||
        !mesh->points.pairs)
        return weft_out_of_memory(error, "the part of a mesh");
    for (int g = 0; g < whole->n_groups; ++g)
        copy_group(t, g, &n_facets, &n_cells);
    copy_points(t);
    return WEFT_OK;
}

static int32_t root_of(int32_t *above, int32_t node) {
    while (above[node] != node) {
        above[node] = above[above[node]];
        node = above[node];
    }
    return node;
}

/* Count the pieces of the mesh that share no node. */
static weft_status count_pieces(const weft_mesh *whole, int64_t *out, weft_error *error) {
    const int v = weft_mesh_cell_vertices(whole);
    int32_t *above = malloc((size_t)whole->n_nodes * sizeof *above + 1);
    if (!above)
        return weft_out_of_memory(error, "the part of a mesh");
    for (int64_t i = 0; i < whole->n_nodes; ++i)
        above[i] = (int32_t)i;
    *out = whole->n_nodes;
    for (int64_t i = 0; i < whole->n_cells * v; ++i) {
        const int32_t a = root_of(above, whole->cells[i / v * v]),
                      b = root_of(above, whole->cells[i]);
        *out -= a != b;
        above[b] = a;
    }
    free(above);
    return WEFT_OK;
}

/* Equal shares of the nodes. */
static weft_status divide(weft_comm *comm, const weft_mesh *whole, weft_part **out,
                          weft_error *error) {
    const int n = weft_comm_size(comm);
    weft_part *part = calloc(1, sizeof *part);
    if (part)
        part->starts = calloc((size_t)n + 1, sizeof *part->starts);
    *out = part;
    if (!part || !part->starts)
        return weft_out_of_memory(error, "the part of a mesh");
    if (whole->n_nodes < n) {
        weft_error_set(error, WEFT_ERROR_INPUT, "%s has %lld nodes, fewer than the %d ranks",
                       whole->source, (long long)whole->n_nodes, n);
        weft_error_hint(error, "use fewer ranks, or a finer mesh");
        return WEFT_ERROR_INPUT;
    }
    for (int r = 0; r <= n; ++r)
        part->starts[r] = whole->n_nodes * r / n;
    part->comm = comm;
    if (count_pieces(whole, &part->n_pieces, error) != WEFT_OK)
        return WEFT_ERROR_MEMORY;
    part->n_global_nodes = whole->n_nodes;
    part->n_global_cells = whole->n_cells;
    part->shape = weft_mesh_shape_of(whole);
    return WEFT_OK;
}

weft_status weft_mesh_take_part(weft_comm *comm, const weft_mesh *whole, weft_mesh **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    taking t = {.whole = whole, .mesh = calloc(1, sizeof *t.mesh)};
    if (!t.mesh)
        TRY(weft_out_of_memory(error, "the part of a mesh"));
    t.mesh->dimension = whole->dimension;
    t.mesh->cell = whole->cell;
    t.mesh->n_flipped_cells = whole->n_flipped_cells;
    t.mesh->n_dropped_nodes = whole->n_dropped_nodes;
    t.mesh->n_ignored_facets = whole->n_ignored_facets;
    t.mesh->n_coincident = whole->n_coincident;
    memcpy(t.mesh->source, whole->source, sizeof t.mesh->source);
    TRY(divide(comm, whole, &t.mesh->part, error));
    t.part = t.mesh->part;
    TRY(choose_cells(&t, error));
    TRY(copy_cells(&t, error));
    TRY(choose_facets(&t, error));
    TRY(copy_facets(&t, error));
    TRY(copy_groups(&t, error));
    *out = t.mesh;
    t.mesh = NULL;
done:
    free(t.number);
    free(t.facet);
    free(t.cell);
    weft_mesh_free(&t.mesh);
    return status;
}
