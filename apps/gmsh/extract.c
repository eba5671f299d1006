/* From Gmsh's model to the stream: nodes, cells of the highest dimension, facets and points of groups, pairs of
 * nodes that Periodic makes images of each other. */
#include "apps/gmsh/cell_kinds.h"
#include "apps/gmsh/node_map.h"
#include "apps/gmsh/weft_gmsh.h"
#include "core/base/number.h"
#include "fem/io/stream.h"

#include <gmshc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 14, TYPES = MSH_TYPES, POINT = 15 };

/* Elements of one entity, as node tags. */
typedef struct block {
    size_t *tags;
    size_t n_tags;
    int entity;
    int64_t first, n; /* elements, of all that are kept */
} block;

typedef struct blocks {
    block *list;
    size_t n, capacity;
} blocks;

typedef struct extraction {
    const loaded *mesh;
    stream *out;
    weft_error *error;
    int dimension;
    const cell_kind *kind;
    node_map nodes;
    blocks cells, facets, points;
    weft_stream_group *groups;
    int *tags; /* of the groups, Gmsh's */
    int n_groups;
    bool entities_are_groups; /* where the format has no groups, but numbers of parts */
    int64_t n_cells, n_facets, n_group_cells, n_points;
    int32_t *pairs; /* [n_pairs][3] */
    int64_t n_pairs;
} extraction;

static weft_status no_memory(extraction *e) {
    return weft_error_set(e->error, WEFT_ERROR_MEMORY, "out of memory reading %s", e->mesh->path);
}

static weft_status refuse(extraction *e, weft_status status, const char *hint,
                          const char *message) {
    weft_error_set(e->error, status, "%s", message);
    weft_error_location(e->error, e->mesh->path, NULL, 0, 0);
    weft_error_hint(e->error, "%s", hint);
    return status;
}

/* Elements of a type on an entity (tag -1: on all), kept until they are written. */
static weft_status keep_elements(extraction *e, blocks *to, int type, int entity, int64_t *n) {
    size_t *elements = NULL, *tags = NULL, n_elements = 0, n_tags = 0;
    int failed = 0;
    if (to->n == to->capacity) {
        size_t capacity = to->capacity ? 2 * to->capacity : 64;
        block *list = realloc(to->list, capacity * sizeof *list);
        if (!list)
            return no_memory(e);
        to->list = list;
        to->capacity = capacity;
    }
    gmshModelMeshGetElementsByType(type, &elements, &n_elements, &tags, &n_tags, entity, 0, 1,
                                   &failed);
    gmshFree(elements);
    if (failed) {
        gmshFree(tags);
        return refuse(e, WEFT_ERROR_INPUT, "open the file in Gmsh to see why",
                      "Gmsh does not give the elements of a part of it");
    }
    to->list[to->n++] = (block){tags, n_tags, entity, *n, (int64_t)n_elements};
    *n += (int64_t)n_elements;
    return WEFT_OK;
}

static void free_blocks(blocks *list) {
    for (size_t i = 0; i < list->n; ++i)
        gmshFree(list->list[i].tags);
    free(list->list);
    *list = (blocks){0};
}

/* How many elements of each type an entity has (dimension, tag -1: all of that dimension). */
static bool count_types(int dimension, int entity, int64_t *counts) {
    int *types = NULL, failed = 0;
    size_t n_types = 0, n = 0, *n_elements = NULL, n_n = 0, **elements = NULL;
    size_t **tags = NULL, *n_tags = NULL, n_n_tags = 0;
    bool any = false;
    gmshModelMeshGetElements(&types, &n_types, &elements, &n_elements, &n_n, &tags, &n_tags,
                             &n_n_tags, dimension, entity, &failed);
    for (n = 0; !failed && n < n_types; ++n) {
        if (types[n] > 0 && types[n] < TYPES && n_elements[n] > 0) {
            counts[types[n]] += (int64_t)n_elements[n];
            any = true;
        }
        gmshFree(elements[n]);
        gmshFree(tags[n]);
    }
    gmshFree(types);
    gmshFree(elements);
    gmshFree(n_elements);
    gmshFree(tags);
    gmshFree(n_tags);
    return any;
}

/* Gmsh keeps the first of several elements with one number. */
static void report_left_out(const extraction *e, int64_t n) {
    char message[200];
    snprintf(message, sizeof message, "%s: %lld cells have the number of another: left out",
             e->mesh->path, (long long)n);
    if (!e->mesh->is_geo && n > 0)
        stream_log(e->out, WEFT_LOG_WARNING, message);
}

/* Ghost entities refer to cells of others. */
static bool is_ghost(int dimension, int entity) {
    char *type = NULL;
    int failed = 0;
    gmshModelGetType(dimension, entity, &type, &failed);
    const bool ghost = !failed && type && strncmp(type, "Ghost", 5) == 0;
    gmshFree(type);
    return ghost;
}

/* Are there cells of all partitions that the file announces? */
static weft_status check_parts(extraction *e) {
    weft_status status = WEFT_OK;
    const int64_t n = e->mesh->counts.parts;
    int64_t n_found = 0;
    bool parted = false;
    unsigned char *seen = n > 1 ? calloc((size_t)n + 1, 1) : NULL;
    if (n < 2 || e->n_cells == 0)
        goto done;
    if (!seen)
        TRY(no_memory(e));
    for (size_t b = 0; b < e->cells.n; ++b) {
        int *parts = NULL, failed = 0;
        size_t n_parts = 0;
        gmshModelGetPartitions(e->dimension, e->cells.list[b].entity, &parts, &n_parts, &failed);
        for (size_t i = 0; !failed && i < n_parts && e->cells.list[b].n > 0; ++i)
            if (parts[i] > 0 && parts[i] <= n)
                seen[parts[i]] = 1;
        parted |= !failed && n_parts > 0;
        gmshFree(parts);
    }
    for (int64_t i = 1; i <= n; ++i)
        n_found += seen[i];
    if (parted && n_found < n)
        status = msh_refuse_part(e->mesh->path, n, n_found, e->error);
done:
    free(seen);
    return status;
}

/* Entities whose cells are wanted: of a .geo file those in physical groups, as Gmsh itself saves
 * them, where there are any of this dimension; else all. */
static weft_status keep_cells(extraction *e) {
    weft_status status = WEFT_OK;
    int *groups = NULL, *entities = NULL, failed = 0;
    size_t n_groups = 0, n_entities = 0;
    int64_t counts[TYPES] = {0};
    gmshModelGetPhysicalGroups(&groups, &n_groups, e->dimension, &failed);
    const bool all = !e->mesh->is_geo || failed || n_groups == 0;
    gmshModelGetEntities(&entities, &n_entities, e->dimension, &failed);
    size_t n_kept = 0;
    for (size_t i = 0; !failed && i + 1 < n_entities; i += 2) {
        int *in = NULL;
        size_t n_in = 0;
        gmshModelGetPhysicalGroupsForEntity(e->dimension, entities[i + 1], &in, &n_in, &failed);
        gmshFree(in);
        if ((n_in == 0 && !all) || is_ghost(e->dimension, entities[i + 1]))
            continue;
        count_types(e->dimension, entities[i + 1], counts);
        entities[n_kept++] = entities[i + 1];
    }
    TRY(cell_kind_choose(e->mesh->path, e->dimension, counts, &e->kind, e->error));
    for (size_t i = 0; i < n_kept; ++i) {
        TRY(keep_elements(e, &e->cells, e->kind->type, entities[i], &e->n_cells));
        const block *cells = &e->cells.list[e->cells.n - 1];
        cell_kind_order(e->kind, cells->tags, cells->n_tags);
    }
    TRY(check_parts(e));
    if (all)
        report_left_out(e, e->mesh->counts.elements[e->kind->type] - e->n_cells);
done:
    gmshFree(groups);
    gmshFree(entities);
    return status;
}

/* The cells of an entity among those that are kept; n 0: it has none. */
static block cells_of(const extraction *e, int entity) {
    for (size_t b = 0; b < e->cells.n; ++b)
        if (e->cells.list[b].entity == abs(entity))
            return e->cells.list[b];
    return (block){0};
}

/* Of facets, the vertices: Gmsh has them first. */
static weft_status keep_facets(extraction *e, int entity) {
    const size_t n = (size_t)e->kind->n_facet_nodes, w = (size_t)e->kind->n_facet_vertices;
    weft_status status = keep_elements(e, &e->facets, e->kind->facet, entity, &e->n_facets);
    if (status != WEFT_OK)
        return status;
    block *facets = &e->facets.list[e->facets.n - 1];
    for (size_t i = 0; i < facets->n_tags / n; ++i)
        memmove(facets->tags + i * w, facets->tags + i * n, w * sizeof *facets->tags);
    facets->n_tags = facets->n_tags / n * w;
    return WEFT_OK;
}

/* Facets are kept as nodes, cells as numbers of those that are kept already. */
static weft_status keep_members(extraction *e, weft_stream_group *group, int entity) {
    if (group->dimension == e->dimension)
        group->n_cells += cells_of(e, entity).n;
    if (group->dimension == e->dimension - 1)
        return keep_facets(e, abs(entity));
    if (group->dimension == 0)
        return keep_elements(e, &e->points, POINT, abs(entity), &e->n_points);
    return WEFT_OK;
}

/* The entities of a group, for gmshFree; the answer is Gmsh's: 0, or it failed. */
static int group_entities(const extraction *e, int dimension, int tag, int **out, size_t *n) {
    int failed = 0;
    if (!e->entities_are_groups) {
        gmshModelGetEntitiesForPhysicalGroup(dimension, tag, out, n, &failed);
        return failed;
    }
    *out = gmshMalloc(sizeof **out);
    if (!*out)
        return 1;
    (*out)[0] = tag;
    *n = 1;
    return 0;
}

static weft_status keep_group(extraction *e, int dimension, int tag, weft_stream_group *group) {
    weft_status status = WEFT_OK;
    char *name = NULL;
    int *entities = NULL, failed = 0;
    size_t n_entities = 0;
    if (e->entities_are_groups && tag < 0)
        TRY(refuse(e, WEFT_ERROR_UNSUPPORTED, "give every part a number from 0 on",
                   "a part of it has a negative number, and cannot be a group"));
    const char *known = msh_names_find(&e->mesh->names, dimension, tag);
    if (!known)
        gmshModelGetPhysicalName(dimension, tag, &name, &failed);
    known = known ? known : failed ? NULL : name;
    if (known && strlen(known) >= sizeof group->name)
        status = refuse(e, WEFT_ERROR_UNSUPPORTED, "give the group a shorter name",
                        "the name of a group has more than 255 bytes");
    else if (known && *known)
        snprintf(group->name, sizeof group->name, "%s", known);
    else
        snprintf(group->name, sizeof group->name, "%d", tag);
    gmshFree(name);
    TRY(status);
    group->dimension = dimension;
    group->number = tag;
    group->first_facet = e->n_facets;
    group->first_cell = e->n_group_cells;
    group->first_point = e->n_points;
    failed = group_entities(e, dimension, tag, &entities, &n_entities);
    for (size_t i = 0; !failed && i < n_entities; ++i)
        TRY(keep_members(e, group, entities[i]));
    group->n_facets = e->n_facets - group->first_facet;
    group->n_points = e->n_points - group->first_point;
    e->n_group_cells += group->n_cells;
done:
    gmshFree(entities);
    return status;
}

static weft_status keep_groups(extraction *e) {
    weft_status status = WEFT_OK;
    int *groups = NULL, failed = 0;
    size_t n = 0;
    gmshModelGetPhysicalGroups(&groups, &n, -1, &failed);
    if (!failed && n == 0 && e->mesh->groups_by_entity) {
        e->entities_are_groups = true;
        gmshModelGetEntities(&groups, &n, -1, &failed);
    }
    if (failed)
        n = 0;
    e->groups = calloc(n / 2 + 1, sizeof *e->groups);
    e->tags = calloc(n / 2 + 1, sizeof *e->tags);
    if (!e->groups || !e->tags)
        TRY(no_memory(e));
    for (size_t i = 0; i + 1 < n; i += 2)
        if (groups[i] <= e->dimension) {
            e->tags[e->n_groups] = groups[i + 1];
            TRY(keep_group(e, groups[i], groups[i + 1], &e->groups[e->n_groups++]));
        }
done:
    gmshFree(groups);
    return status;
}

/* A mesh may leave its plane by this part of its extent: coordinates in single precision do by 1e-7, and lengths
 * change by the square of it. */
static const double FLAT = 1e-6;

static weft_status check_plane(extraction *e, const double *x) {
    double least[3] = {INFINITY, INFINITY, INFINITY};
    double greatest[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * e->nodes.n; ++i) {
        least[i % 3] = fmin(least[i % 3], x[i]);
        greatest[i % 3] = fmax(greatest[i % 3], x[i]);
    }
    double extent = fmax(greatest[0] - least[0], greatest[1] - least[1]);
    double off = fmax(fabs(least[2]), fabs(greatest[2]));
    if (e->dimension == 1) {
        extent = greatest[0] - least[0];
        off = fmax(off, fmax(fabs(least[1]), fabs(greatest[1])));
    }
    if (!(off > FLAT * extent))
        return WEFT_OK;
    char message[240];
    (void)weft_print(message, sizeof message, "it has %s, by %.3g where %.3g counts as 0",
                     e->dimension == 1
                         ? "lines and no cells of higher dimension, and they leave the x axis"
                         : "triangles and no tetrahedra, and they leave the plane z = 0",
                     off, FLAT * extent);
    return refuse(e, WEFT_ERROR_UNSUPPORTED,
                  e->dimension == 1
                      ? "put the line on the x axis, or mesh a surface"
                      : "for a body, add its volume: Surface Loop(1) = {...}; Volume(1) = {1}; and "
                        "Physical Volume(\"domain\") = {1}; a flat mesh goes into the plane z = 0",
                  message);
}

static void mark_used(node_map *nodes, const blocks *list) {
    for (size_t b = 0; b < list->n; ++b)
        node_map_mark(nodes, list->list[b].tags, list->list[b].n_tags);
}

/* All nodes that a .msh file has, of a .geo file those in use, since points that only help the geometry, such as
 * centres of arcs, have nodes too. */
static weft_status map_nodes(extraction *e, double **x) {
    double *parameters = NULL;
    size_t n_x = 0, n_parameters = 0;
    int failed = 0;
    gmshModelMeshGetNodes(&e->nodes.tags, &e->nodes.n_tags, x, &n_x, &parameters, &n_parameters, -1,
                          -1, 0, 0, &failed);
    gmshFree(parameters);
    if (failed || n_x != 3 * e->nodes.n_tags)
        return no_memory(e);
    if (e->nodes.n_tags > INT32_MAX)
        return refuse(e, WEFT_ERROR_UNSUPPORTED, "use a coarser mesh", "it has 2^31 nodes or more");
    if (!node_map_make(&e->nodes))
        return no_memory(e);
    if (e->mesh->is_geo) {
        mark_used(&e->nodes, &e->cells);
        mark_used(&e->nodes, &e->facets);
        mark_used(&e->nodes, &e->points);
    }
    node_map_number(&e->nodes, e->mesh->is_geo, *x);
    return WEFT_OK;
}

static void write_coordinates(extraction *e, const double *x) {
    double piece[3 * PIECE];
    size_t d = (size_t)e->dimension;
    for (int64_t start = 0; start < e->nodes.n; start += PIECE) {
        int64_t n = e->nodes.n - start < PIECE ? e->nodes.n - start : PIECE;
        for (int64_t i = 0; i < n; ++i)
            memcpy(piece + (size_t)i * d, x + 3 * (start + i), d * sizeof *piece);
        stream_record(e->out, WEFT_STREAM_COORDINATES, piece, (uint64_t)n * d * sizeof *piece);
    }
}

static void write_blocks(extraction *e, uint32_t kind, const blocks *list) {
    int32_t piece[4 * PIECE];
    for (size_t b = 0; b < list->n; ++b) {
        const block *from = &list->list[b];
        for (size_t start = 0; start < from->n_tags; start += 4 * PIECE) {
            size_t n = from->n_tags - start < 4 * PIECE ? from->n_tags - start : 4 * PIECE;
            for (size_t i = 0; i < n; ++i)
                piece[i] = node_map_find(&e->nodes, from->tags[start + i]);
            stream_record(e->out, kind, piece, n * sizeof *piece);
        }
    }
}

static void write_numbers(extraction *e, int64_t first, int64_t n) {
    int32_t piece[PIECE];
    for (int64_t start = 0; start < n; start += PIECE) {
        const int64_t count = n - start < PIECE ? n - start : PIECE;
        for (int64_t i = 0; i < count; ++i)
            piece[i] = (int32_t)(first + start + i);
        stream_record(e->out, WEFT_STREAM_GROUP_CELLS, piece, (uint64_t)count * sizeof *piece);
    }
}

/* In the order in which keep_group counted them. */
static void write_group_cells(extraction *e) {
    for (int g = 0; g < e->n_groups; ++g) {
        int *entities = NULL;
        size_t n = 0;
        if (e->groups[g].n_cells == 0)
            continue;
        const int failed = group_entities(e, e->dimension, e->tags[g], &entities, &n);
        for (size_t i = 0; !failed && i < n; ++i) {
            const block cells = cells_of(e, entities[i]);
            write_numbers(e, cells.first, cells.n);
        }
        gmshFree(entities);
    }
}

/* Add the pairs of nodes of one entity and its master, without those of nodes that are not sent. */
static weft_status add_pairs(extraction *e, int32_t declaration, const size_t *nodes,
                             const size_t *images, size_t n) {
    const size_t old = (size_t)e->n_pairs;
    int32_t *pairs = realloc(e->pairs, (old + n) * 3 * sizeof *pairs);
    if (!pairs)
        return no_memory(e);
    e->pairs = pairs;
    for (size_t i = 0; i < n; ++i) {
        const int32_t a = node_map_find(&e->nodes, nodes[i]),
                      b = node_map_find(&e->nodes, images[i]);
        if (a < 0 || b < 0)
            continue;
        int32_t *pair = e->pairs + 3 * e->n_pairs++;
        pair[0] = declaration;
        pair[1] = a;
        pair[2] = b;
    }
    return WEFT_OK;
}

/* What Periodic Curve (in space Surface) declares, also of points and curves that it implies: each
 * entity and its master count as a declaration. */
static weft_status keep_pairs(extraction *e) {
    weft_status status = WEFT_OK;
    int *entities = NULL, failed = 0;
    size_t n_entities = 0;
    gmshModelGetEntities(&entities, &n_entities, e->dimension - 1, &failed);
    for (size_t i = 0; !failed && i + 1 < n_entities && status == WEFT_OK; i += 2) {
        size_t *nodes = NULL, *images = NULL, n = 0, n_images = 0, n_transform = 0;
        double *transform = NULL;
        int master = 0;
        gmshModelMeshGetPeriodicNodes(entities[i], entities[i + 1], &master, &nodes, &n, &images,
                                      &n_images, &transform, &n_transform, 0, &failed);
        if (!failed && master != entities[i + 1] && n > 0 && n == n_images)
            status = add_pairs(e, (int32_t)(i / 2), nodes, images, n);
        gmshFree(nodes);
        gmshFree(images);
        gmshFree(transform);
    }
    gmshFree(entities);
    return status;
}

static void write_mesh(extraction *e, const double *x) {
    weft_stream_header header = {.dimension = e->dimension,
                                 .cell = (int32_t)e->kind->cell,
                                 .degree = e->kind->degree,
                                 .n_groups = e->n_groups,
                                 .n_nodes = e->nodes.n,
                                 .n_cells = e->n_cells,
                                 .n_group_facets = e->n_facets,
                                 .n_group_cells = e->n_group_cells,
                                 .n_group_points = e->n_points,
                                 .n_pairs = e->n_pairs};
    if (e->mesh->counts.nodes > e->nodes.n)
        header.n_left_nodes = e->mesh->counts.nodes - e->nodes.n;
    stream_record(e->out, WEFT_STREAM_HEADER, &header, sizeof header);
    write_coordinates(e, x);
    write_blocks(e, WEFT_STREAM_CELLS, &e->cells);
    write_blocks(e, WEFT_STREAM_GROUP_FACETS, &e->facets);
    write_group_cells(e);
    write_blocks(e, WEFT_STREAM_GROUP_POINTS, &e->points);
    stream_record(e->out, WEFT_STREAM_PAIRS, e->pairs, (uint64_t)e->n_pairs * 3 * sizeof *e->pairs);
    for (int g = 0; g < e->n_groups; ++g)
        stream_record(e->out, WEFT_STREAM_GROUP, &e->groups[g], sizeof e->groups[g]);
}

weft_status extract(const loaded *mesh, stream *out, weft_error *error) {
    weft_status status = WEFT_OK;
    extraction e = {.mesh = mesh, .out = out, .error = error, .dimension = 3};
    double *x = NULL;
    int64_t counts[TYPES] = {0};
    if (!count_types(3, -1, counts))
        e.dimension = count_types(2, -1, counts) || !count_types(1, -1, counts) ? 2 : 1;
    TRY(keep_cells(&e));
    TRY(keep_groups(&e));
    TRY(map_nodes(&e, &x));
    TRY(keep_pairs(&e));
    if (e.dimension < 3)
        TRY(check_plane(&e, x));
    write_mesh(&e, x);
    if (out->broken)
        status = weft_error_set(error, WEFT_ERROR_IO, "the mesh could not be sent");
done:
    gmshFree(x);
    node_map_clear(&e.nodes);
    free(e.groups);
    free(e.tags);
    free_blocks(&e.cells);
    free_blocks(&e.facets);
    free_blocks(&e.points);
    free(e.pairs);
    return status;
}
