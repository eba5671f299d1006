/* Takes the part of one rank out of a mesh. */
#include "fem/mesh/part.h"
#include "fem/base/sets.h"
#include "fem/mesh/entities.h"
#include "fem/mesh/mesh.h"
#include "fusion/setup/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void weft_part_starts(const weft_comm *comm, int64_t n_nodes, int64_t *out) {
    const int n = weft_comm_size(comm);
    const double *shares = n_nodes >= n ? weft_comm_shares(comm) : NULL;
    double sum = 0;
    out[0] = 0;
    for (int r = 0; r < n; ++r) {
        sum += shares ? shares[r] : 0;
        const int64_t end = shares ? llround(sum * (double)n_nodes) : n_nodes * (r + 1) / n;
        const int64_t least = out[r] + 1, most = n_nodes - (n - 1 - r);
        out[r + 1] = !shares ? end : r + 1 == n || end > most ? most : end < least ? least : end;
    }
}

int weft_part_owner_of(const int64_t *starts, int n_ranks, int64_t node) {
    int low = 0, high = n_ranks;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (starts[middle] <= node)
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
    free(part->pieces);
    free(part->also_starts);
    free(part->also);
    free(part);
    *out = NULL;
}

/* ---- lists of cells -------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    const weft_part_cell *p = a, *q = b;
    return p->rank != q->rank ? p->rank - q->rank : p->cell - q->cell;
}

void weft_part_cells_sort(weft_part_cells *cells) {
    int64_t n = 0;
    if (cells->n > 1)
        qsort(cells->list, (size_t)cells->n, sizeof *cells->list, compare);
    for (int64_t i = 0; i < cells->n; ++i)
        if (n == 0 || compare(&cells->list[n - 1], &cells->list[i]) != 0)
            cells->list[n++] = cells->list[i];
    cells->n = n;
}

weft_status weft_part_cells_add(weft_part_cells *cells, int rank, int32_t cell, weft_error *error) {
    if (cells->n == cells->capacity)
        weft_part_cells_sort(cells); /* the same cells are found again and again */
    if (2 * cells->n >= cells->capacity) {
        const int64_t capacity = 4 * cells->n + 1024;
        weft_part_cell *list = realloc(cells->list, (size_t)capacity * sizeof *list);
        if (!list)
            return weft_out_of_memory(error, "the part of a mesh");
        cells->list = list;
        cells->capacity = capacity;
    }
    cells->list[cells->n++] = (weft_part_cell){rank, cell};
    return WEFT_OK;
}

/* ---- one part -------------------------------------------------------------------------------- */

typedef struct taking {
    const weft_mesh *whole;
    const weft_part_cells *more;
    weft_mesh *mesh;
    weft_part *part;
    int32_t *number; /* [nodes of the whole]: in the part; -1: not there */
    int32_t *facet;  /* [facets of the whole], the same */
    int32_t *cell;   /* [cells of the whole], the same */
} taking;            /* numbers are -1, or 0 where those that are there have no number yet */

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

/* A cell is there with its nodes. */
static void take_cell(taking *t, int64_t cell) {
    const int v = weft_mesh_cell_vertices(t->whole);
    t->cell[cell] = 0;
    for (int k = 0; k < v; ++k)
        t->number[t->whole->cells[cell * v + k]] = 0;
}

static bool touches(const taking *t, int64_t cell, int rank) {
    const int v = weft_mesh_cell_vertices(t->whole);
    const int32_t *nodes = t->whole->cells + cell * v;
    bool found = false;
    for (int k = 0; k < v; ++k)
        found |= nodes[k] >= t->part->starts[rank] && nodes[k] < t->part->starts[rank + 1];
    return found;
}

/* Cells with a node of this rank, those that it has besides, and their nodes. */
static weft_status choose_cells(taking *t, weft_error *error) {
    const weft_mesh *whole = t->whole;
    const int rank = weft_comm_rank(t->part->comm);
    t->number = malloc((size_t)whole->n_nodes * sizeof *t->number + 1);
    t->cell = malloc((size_t)whole->n_cells * sizeof *t->cell + 1);
    if (!t->number || !t->cell)
        return weft_out_of_memory(error, "the part of a mesh");
    memset(t->number, 0xFF, (size_t)whole->n_nodes * sizeof *t->number);
    memset(t->cell, 0xFF, (size_t)whole->n_cells * sizeof *t->cell);
    for (int64_t c = 0; c < whole->n_cells; ++c)
        if (touches(t, c, rank))
            take_cell(t, c);
    for (int64_t i = 0; i < t->more->n; ++i)
        if (t->more->list[i].rank == rank)
            take_cell(t, t->more->list[i].cell);
    t->mesh->n_nodes = count_marked(t->number, whole->n_nodes);
    t->mesh->n_cells = count_marked(t->cell, whole->n_cells);
    t->part->nodes = list_marked(t->number, whole->n_nodes, t->mesh->n_nodes);
    t->part->cells = list_marked(t->cell, whole->n_cells, t->mesh->n_cells);
    return t->part->nodes && t->part->cells ? WEFT_OK
                                            : weft_out_of_memory(error, "the part of a mesh");
}

/* Cells of this part that others have besides those that touch a node of theirs. */
static weft_status list_also(taking *t, weft_error *error) {
    weft_part *part = t->part;
    const int n = weft_comm_size(part->comm), mine = weft_comm_rank(part->comm);
    int64_t k = 0;
    part->also_starts = calloc((size_t)n + 1, sizeof *part->also_starts);
    part->also = array(t->more->n, sizeof *part->also);
    if (!part->also_starts || !part->also)
        return weft_out_of_memory(error, "the part of a mesh");
    for (int64_t i = 0; i < t->more->n; ++i) {
        const weft_part_cell *one = &t->more->list[i];
        if (one->rank == mine || t->cell[one->cell] < 0 || touches(t, one->cell, one->rank))
            continue;
        part->also[k++] = t->cell[one->cell];
        part->also_starts[one->rank + 1] = k;
    }
    for (int r = 0; r < n; ++r)
        if (part->also_starts[r + 1] < part->also_starts[r])
            part->also_starts[r + 1] = part->also_starts[r];
    return WEFT_OK;
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

/* Number the pieces of the mesh, which share no node, by their lowest nodes. */
static weft_status find_pieces(taking *t, weft_error *error) {
    const weft_mesh *whole = t->whole;
    const int v = weft_mesh_cell_vertices(whole);
    weft_part *part = t->part;
    int32_t *above = malloc((size_t)whole->n_nodes * sizeof *above + 1);
    part->pieces = array(t->mesh->n_nodes, sizeof *part->pieces);
    if (!above || !part->pieces) {
        free(above);
        return weft_out_of_memory(error, "the part of a mesh");
    }
    for (int64_t i = 0; i < whole->n_nodes; ++i)
        above[i] = (int32_t)i;
    for (int64_t i = 0; i < whole->n_cells * v; ++i)
        weft_sets_join(above, whole->cells[i / v * v], whole->cells[i]);
    for (int64_t i = 0; i < whole->n_nodes; ++i) /* those below refer to roots already */
        above[i] = above[above[i]];
    for (int64_t i = 0; i < whole->n_nodes; ++i) {
        const int32_t root = above[i];
        above[i] = root == i ? (int32_t)part->n_pieces++ : above[root];
        if (t->number[i] >= 0)
            part->pieces[t->number[i]] = above[i];
    }
    free(above);
    return WEFT_OK;
}

/* The shares of the ranks in the nodes. */
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
    weft_part_starts(comm, whole->n_nodes, part->starts);
    part->comm = comm;
    part->n_global_nodes = whole->n_nodes;
    part->n_global_cells = whole->n_cells;
    part->shape = weft_mesh_shape_of(whole);
    return WEFT_OK;
}

weft_status weft_mesh_take_part(weft_comm *comm, const weft_mesh *whole,
                                const weft_part_cells *more, weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    taking t = {.whole = whole, .more = more, .mesh = calloc(1, sizeof *t.mesh)};
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
    TRY(list_also(&t, error));
    TRY(find_pieces(&t, error));
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
