/* Repeats a mesh along the axes. A node where copies meet belongs to the copy in which it is on the
 * low side; each copy numbers its own nodes consecutively. */
#include "fem/mesh/tile.h"
#include "fem/base/text.h"
#include "fem/mesh/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 8 };

typedef struct mesh_tiling {
    const weft_mesh *tile;
    weft_mesh *mesh;
    weft_tile_sides sides;
    int64_t counts[3], n_tiles;
    int64_t n_own[KINDS];  /* own nodes of a copy; mask: axes along which copies follow it */
    int32_t *place[KINDS]; /* [n_nodes]: index among the copy's own nodes; -1: another copy's */
    int64_t *first_node;   /* [n_tiles + 1] */
} mesh_tiling;

weft_status weft_tile_no_memory(const weft_mesh *tile, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_MEMORY, "%s: out of memory for repeating it", tile->source);
    weft_error_hint(error, "repeat it less often, or use a machine with more memory");
    return WEFT_ERROR_MEMORY;
}

/* The indices of a copy along each axis, and the mask of axes along which copies follow it. */
static int tile_kind(const mesh_tiling *tiling, int64_t t, int64_t at[3]) {
    int kind = 0;
    for (int a = 0; a < 3; ++a) {
        at[a] = t % tiling->counts[a];
        t /= tiling->counts[a];
        kind |= (at[a] + 1 < tiling->counts[a]) << a;
    }
    return kind;
}

/* The number of node i of copy t in the whole mesh. */
static int32_t node_number(const mesh_tiling *tiling, int64_t t, int kind, int32_t i) {
    const int shift = tiling->sides.on_high[i] & kind;
    int64_t step = 1;
    if (shift == 0)
        return (int32_t)(tiling->first_node[t] + tiling->place[kind][i]);
    for (int a = 0; a < 3; ++a) {
        if (shift & 1 << a) {
            i = tiling->sides.partner[a][i];
            t += step;
        }
        step *= tiling->counts[a];
    }
    int64_t at[3];
    kind = tile_kind(tiling, t, at);
    return (int32_t)(tiling->first_node[t] + tiling->place[kind][i]);
}

static void fill_tile(void *user, int64_t t) {
    const mesh_tiling *tiling = user;
    const weft_mesh *tile = tiling->tile;
    const int d = tile->dimension;
    int64_t at[3];
    const int kind = tile_kind(tiling, t, at);
    double *x = tiling->mesh->x + tiling->first_node[t] * d;
    int32_t *cells = tiling->mesh->cells + t * tile->n_cells * (d + 1);
    for (int64_t i = 0; i < tile->n_nodes; ++i)
        if (tiling->place[kind][i] >= 0)
            for (int a = 0; a < d; ++a)
                *x++ = tile->x[i * d + a] + (double)at[a] * tiling->sides.period[a];
    for (int64_t k = 0; k < tile->n_cells * (d + 1); ++k)
        cells[k] = node_number(tiling, t, kind, tile->cells[k]);
}

/* ---- facets -------------------------------------------------------------------------------- */

/* Bits 0 to 2: the facet lies on the high side of the axis; bits 3 to 5: on the low side. */
static int facet_sides(const mesh_tiling *tiling, int64_t f) {
    const int d = tiling->tile->dimension;
    int high = 7, low = 7;
    if (f >= tiling->tile->n_boundary_facets)
        return 0;
    for (int k = 0; k < d; ++k) {
        const int32_t node = tiling->tile->facets[f * d + k];
        high &= tiling->sides.on_high[node];
        low &= tiling->sides.on_low[node];
    }
    return high | low << 3;
}

/* The sides on which copy t has a neighbour, as bits of facet_sides. */
static int tile_neighbours(const mesh_tiling *tiling, int64_t t) {
    int64_t at[3];
    int out = tile_kind(tiling, t, at);
    for (int a = 0; a < 3; ++a)
        out |= (at[a] > 0) << (a + 3);
    return out;
}

/* Number the facets first .. last of each copy in the whole mesh; returns how many there are.
 * number [n_tiles][n_facets]; -1 where copies meet. */
static int64_t number_facets(const mesh_tiling *tiling, const uint8_t *sides, int64_t first,
                             int64_t last, int64_t next, int32_t *number) {
    for (int64_t t = 0; t < tiling->n_tiles; ++t) {
        const int neighbours = tile_neighbours(tiling, t);
        int32_t *of_tile = number + t * tiling->tile->n_facets;
        for (int64_t f = first; f < last; ++f)
            of_tile[f] = sides[f] & neighbours ? -1 : (int32_t)next++;
    }
    return next;
}

static void fill_facets(const mesh_tiling *tiling, const int32_t *number) {
    const weft_mesh *tile = tiling->tile;
    const int d = tile->dimension;
    for (int64_t t = 0; t < tiling->n_tiles; ++t) {
        int64_t at[3];
        const int kind = tile_kind(tiling, t, at);
        for (int64_t f = 0; f < tile->n_facets; ++f) {
            const int32_t to = number[t * tile->n_facets + f];
            for (int k = 0; k < d && to >= 0; ++k)
                tiling->mesh->facets[(int64_t)to * d + k] =
                    node_number(tiling, t, kind, tile->facets[f * d + k]);
        }
    }
}

/* The remaining facets of a group over all copies; out NULL: only count them. */
static int64_t group_facets(const mesh_tiling *tiling, const int32_t *number, int g, int32_t *out) {
    const weft_mesh *tile = tiling->tile;
    const weft_group *group = &tile->groups[g];
    int64_t n = 0;
    for (int64_t t = 0; t < tiling->n_tiles; ++t)
        for (int64_t k = 0; k < group->n_facets; ++k) {
            const int32_t to =
                number[t * tile->n_facets + tile->group_facets[group->first_facet + k]];
            if (to < 0)
                continue;
            if (out)
                out[n] = to;
            ++n;
        }
    return n;
}

/* The cells of each group, copy by copy, which is ascending. */
static weft_status tile_group_cells(mesh_tiling *tiling, weft_error *error) {
    const weft_mesh *tile = tiling->tile;
    weft_mesh *mesh = tiling->mesh;
    int64_t n = 0;
    for (int g = 0; g < tile->n_groups; ++g)
        n += tile->groups[g].n_cells * tiling->n_tiles;
    mesh->group_cells = weft_array_make((size_t)n, sizeof *mesh->group_cells);
    if (!mesh->group_cells)
        return weft_tile_no_memory(tile, error);
    n = 0;
    for (int g = 0; g < tile->n_groups; ++g) {
        const weft_group *group = &tile->groups[g];
        mesh->groups[g].first_cell = n;
        mesh->groups[g].n_cells = group->n_cells * tiling->n_tiles;
        for (int64_t t = 0; t < tiling->n_tiles; ++t)
            for (int64_t k = 0; k < group->n_cells; ++k)
                mesh->group_cells[n++] =
                    (int32_t)(t * tile->n_cells + tile->group_cells[group->first_cell + k]);
    }
    return WEFT_OK;
}

static weft_status tile_facets(mesh_tiling *tiling, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *tile = tiling->tile;
    weft_mesh *mesh = tiling->mesh;
    int64_t n_group_facets = 0;
    uint8_t *sides = malloc((size_t)tile->n_facets + 1);
    int32_t *number =
        malloc(((size_t)tile->n_facets * (size_t)tiling->n_tiles + 1) * sizeof *number);
    if (!sides || !number)
        TRY(weft_tile_no_memory(tile, error));
    for (int64_t f = 0; f < tile->n_facets; ++f)
        sides[f] = (uint8_t)facet_sides(tiling, f);
    mesh->n_boundary_facets = number_facets(tiling, sides, 0, tile->n_boundary_facets, 0, number);
    mesh->n_facets = number_facets(tiling, sides, tile->n_boundary_facets, tile->n_facets,
                                   mesh->n_boundary_facets, number);
    mesh->n_groups = tile->n_groups;
    mesh->facets =
        weft_array_make((size_t)mesh->n_facets, (size_t)tile->dimension * sizeof *mesh->facets);
    mesh->groups = weft_array_make((size_t)tile->n_groups, sizeof *mesh->groups);
    if (!mesh->facets || !mesh->groups)
        TRY(weft_tile_no_memory(tile, error));
    fill_facets(tiling, number);
    for (int g = 0; g < tile->n_groups; ++g) {
        mesh->groups[g] = tile->groups[g];
        mesh->groups[g].first_point = mesh->groups[g].n_points = 0;
        mesh->groups[g].first_facet = n_group_facets;
        mesh->groups[g].n_facets = group_facets(tiling, number, g, NULL);
        n_group_facets += mesh->groups[g].n_facets;
    }
    mesh->group_facets = weft_array_make((size_t)n_group_facets, sizeof *mesh->group_facets);
    if (!mesh->group_facets)
        TRY(weft_tile_no_memory(tile, error));
    for (int g = 0; g < tile->n_groups; ++g)
        group_facets(tiling, number, g, mesh->group_facets + mesh->groups[g].first_facet);
done:
    free(sides);
    free(number);
    return status;
}

/* ---- nodes and cells ----------------------------------------------------------------------- */

static weft_status place_nodes(mesh_tiling *tiling, weft_error *error) {
    const weft_mesh *tile = tiling->tile;
    for (int kind = 0; kind < KINDS; ++kind) {
        bool exists = true;
        for (int a = 0; a < 3; ++a)
            exists &= !(kind & 1 << a) || tiling->counts[a] > 1;
        if (!exists)
            continue;
        int32_t *place = malloc((size_t)tile->n_nodes * sizeof *place);
        tiling->place[kind] = place;
        if (!place)
            return weft_tile_no_memory(tile, error);
        for (int64_t i = 0; i < tile->n_nodes; ++i)
            place[i] = tiling->sides.on_high[i] & kind ? -1 : (int32_t)tiling->n_own[kind]++;
    }
    return WEFT_OK;
}

static weft_status number_tiles(mesh_tiling *tiling, weft_error *error) {
    int64_t at[3], n = 0;
    tiling->first_node = malloc(((size_t)tiling->n_tiles + 1) * sizeof *tiling->first_node);
    if (!tiling->first_node)
        return weft_tile_no_memory(tiling->tile, error);
    for (int64_t t = 0; t < tiling->n_tiles; ++t) {
        tiling->first_node[t] = n;
        n += tiling->n_own[tile_kind(tiling, t, at)];
    }
    tiling->first_node[tiling->n_tiles] = n;
    if (n > INT32_MAX)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                              "%s repeated has %lld nodes: 2^31 or more are not supported",
                              tiling->tile->source, (long long)n);
    return WEFT_OK;
}

static weft_status check_counts(mesh_tiling *tiling, const int64_t counts[3], weft_error *error) {
    const weft_mesh *tile = tiling->tile;
    int64_t n_cells = tile->n_cells;
    tiling->n_tiles = 1;
    for (int a = 0; a < 3; ++a) {
        tiling->counts[a] = a < tile->dimension ? counts[a] : 1;
        if (tiling->counts[a] < 1)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "a mesh cannot be repeated %lld times along %c",
                                  (long long)counts[a], "xyz"[a]);
        if (__builtin_mul_overflow(n_cells, tiling->counts[a], &n_cells) || n_cells > INT32_MAX)
            return weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                                  "%s repeated has 2^31 cells or more, which are not supported",
                                  tile->source);
        tiling->n_tiles *= tiling->counts[a];
    }
    return WEFT_OK;
}

static weft_status mesh_alloc(mesh_tiling *tiling, weft_error *error) {
    const weft_mesh *tile = tiling->tile;
    const uint64_t d = (uint64_t)tile->dimension;
    weft_mesh *mesh = tiling->mesh = calloc(1, sizeof *mesh);
    if (!mesh)
        return weft_tile_no_memory(tile, error);
    mesh->dimension = tile->dimension;
    mesh->n_nodes = tiling->first_node[tiling->n_tiles];
    mesh->n_cells = tile->n_cells * tiling->n_tiles;
    /* first touched by the threads that will read it (NUMA) */
    mesh->x = weft_array_make_unset((uint64_t)mesh->n_nodes * d * sizeof *mesh->x);
    mesh->cells = weft_array_make_unset((uint64_t)mesh->n_cells * (d + 1) * sizeof *mesh->cells);
    if (!mesh->x || !mesh->cells)
        return weft_tile_no_memory(tile, error);
    char times[64], source[sizeof mesh->source + sizeof times];
    snprintf(
        times, sizeof times, d == 3 ? ", repeated %lld x %lld x %lld" : ", repeated %lld x %lld",
        (long long)tiling->counts[0], (long long)tiling->counts[1], (long long)tiling->counts[2]);
    snprintf(source, sizeof source, "%s%s", tile->source, times);
    weft_copy_cut(mesh->source, sizeof mesh->source, source);
    return WEFT_OK;
}

weft_status weft_mesh_tile(weft_device *device, const weft_mesh *tile, const int64_t counts[3],
                           weft_mesh **out, weft_error *error) {
    weft_status status = WEFT_OK;
    mesh_tiling tiling = {.tile = tile};
    TRY(weft_mesh_need_simplices(tile, "tiling", error));
    TRY(check_counts(&tiling, counts, error));
    TRY(weft_tile_sides_find(tile, tiling.counts, &tiling.sides, error));
    TRY(place_nodes(&tiling, error));
    TRY(number_tiles(&tiling, error));
    TRY(mesh_alloc(&tiling, error));
    TRY(tile_facets(&tiling, error));
    TRY(tile_group_cells(&tiling, error));
    if (device)
        TRY(weft_device_for(device, tiling.n_tiles, fill_tile, &tiling, error));
    for (int64_t t = 0; !device && t < tiling.n_tiles; ++t)
        fill_tile(&tiling, t);
    *out = tiling.mesh;
    tiling.mesh = NULL;
done:
    weft_mesh_free(&tiling.mesh);
    weft_tile_sides_free(&tiling.sides);
    for (int kind = 0; kind < KINDS; ++kind)
        free(tiling.place[kind]);
    free(tiling.first_node);
    return status;
}
