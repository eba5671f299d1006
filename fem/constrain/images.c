/* Periodic sides that the mesh file declares: pairs of vertices, and the nodes of facets between them. */
#include "fem/constrain/private.h"
#include "fem/mesh/entities.h"
#include "fem/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORNERS = 4 }; /* vertices of a facet, at most */
/* Differences of reference coordinates that are rounding. */
static const double ROUNDING = 1e-9;

/* ---- declarations ---------------------------------------------------------------------------- */

/* Whether two pairs of nodes of one declaration are as far from each other. */
static bool is_translation(const weft_mesh *mesh, const int32_t *pair, const int32_t *other) {
    const int d = mesh->dimension;
    double size = 0, apart = 0;
    for (int k = 0; k < d; ++k) {
        const double a = mesh->x[(int64_t)pair[2] * d + k] - mesh->x[(int64_t)pair[1] * d + k];
        const double b = mesh->x[(int64_t)other[2] * d + k] - mesh->x[(int64_t)other[1] * d + k];
        size = fmax(size, fabs(a));
        apart = fmax(apart, fabs(a - b));
    }
    return apart <= 1e-6 * size;
}

/* Vectors would have to be rotated with the sides. */
static weft_status check_vectors(const weft_mesh *mesh, const char *origin, weft_error *error) {
    for (int64_t i = 1; i < mesh->points.n_pairs; ++i) {
        const int32_t *pair = mesh->points.pairs + 3 * i;
        if (pair[0] != pair[-3] || is_translation(mesh, pair, pair - 3))
            continue;
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "the sides that %s declares periodic are rotated against each other, and "
                       "the solution has components",
                       mesh->source);
        weft_error_hint(error, "vectors are periodic by translation only");
        return constraint_locate(origin, WEFT_ERROR_UNSUPPORTED, error);
    }
    return WEFT_OK;
}

static weft_status match_vertices(weft_constraints *constraints, const weft_constraint_field *field,
                                  const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_point_lists *points = &weft_space_mesh(field->space)->points;
    for (int64_t i = 0; i < points->n_pairs; ++i)
        TRY(constraint_match_nodes(constraints, field, points->pairs[3 * i + 1],
                                   points->pairs[3 * i + 2], origin, error));
done:
    return status;
}

/* ---- facets ---------------------------------------------------------------------------------- */

/* A facet of the boundary: its vertices, ascending, and as the cell that is reoriented to it has them. */
typedef struct side {
    int32_t sorted[CORNERS], vertices[CORNERS];
    int64_t number;
} side;

typedef struct sides {
    const weft_constraint_field *field;
    weft_space_sides of;        /* the nodes of the reoriented cells */
    side *list;                 /* [of.n] ascending */
    int w;                      /* vertices of each */
    double corners[CORNERS][2]; /* their reference coordinates */
    int32_t *image;             /* [nodes of the mesh] of the present declaration; -1: none */
    unsigned char *done; /* [nodes of the mesh] 1: has an image; 2: in a facet that has one */
} sides;

static int compare(const void *a, const void *b) {
    const side *p = a, *q = b;
    for (int k = 0; k < CORNERS; ++k)
        if (p->sorted[k] != q->sorted[k])
            return p->sorted[k] < q->sorted[k] ? -1 : 1;
    return 0;
}

/* Insertion: there are four at most. */
static void sort_corners(side *s, int w) {
    for (int k = 0; k < CORNERS; ++k) {
        const int32_t vertex = k < w ? s->vertices[k] : INT32_MAX;
        int at = k;
        for (; at > 0 && s->sorted[at - 1] > vertex; --at)
            s->sorted[at] = s->sorted[at - 1];
        s->sorted[at] = vertex;
    }
}

static void sides_clear(sides *s) {
    weft_space_sides_free(&s->of);
    free(s->list);
    free(s->image);
    free(s->done);
}

static weft_status sides_make(const weft_constraint_field *field, sides *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(field->space);
    const weft_cell *cell = weft_mesh_cell(mesh);
    const int v = weft_mesh_cell_vertices(mesh), w = weft_mesh_facet_vertices(mesh);
    weft_sides found = {0};
    *out = (sides){.field = field, .w = w};
    for (int k = 0; k < w; ++k)
        for (int a = 0; a + 1 < mesh->dimension; ++a)
            out->corners[k][a] = cell->simplex ? k == a + 1 : k >> a & 1;
    TRY(weft_sides_exterior(weft_space_device(field->space), mesh, -1, &found, error));
    TRY(weft_space_exterior_make(field->space, -1, &out->of, error));
    out->list = calloc((size_t)found.n + 1, sizeof *out->list);
    out->image = malloc((size_t)mesh->n_nodes * sizeof *out->image);
    out->done = calloc((size_t)mesh->n_nodes, 1);
    if (!out->list || !out->image || !out->done)
        TRY(weft_out_of_memory(error, "constraints"));
    for (int64_t i = 0; i < found.n; ++i) {
        int order[8];
        weft_side_order(mesh, found.cells[i], found.local[i], order);
        for (int k = 0; k < w; ++k)
            out->list[i].vertices[k] = mesh->cells[(int64_t)found.cells[i] * v + order[k]];
        out->list[i].number = i;
        sort_corners(&out->list[i], w);
    }
    qsort(out->list, (size_t)found.n, sizeof *out->list, compare);
done:
    weft_sides_free(&found);
    return status;
}

/* The facet of the images of a facet's vertices; NULL: there is none.
 *  corner  [w] which of its vertices each of them is */
static const side *find_image(const sides *s, const side *from, int *corner) {
    side wanted = {.number = 0};
    for (int k = 0; k < s->w; ++k) {
        wanted.vertices[k] = s->image[from->vertices[k]];
        if (wanted.vertices[k] < 0)
            return NULL;
    }
    sort_corners(&wanted, s->w);
    const side *to = bsearch(&wanted, s->list, (size_t)s->of.n, sizeof *s->list, compare);
    for (int k = 0; to && k < s->w; ++k)
        for (int j = 0; j < s->w; ++j)
            if (to->vertices[j] == wanted.vertices[k])
                corner[k] = j;
    return to;
}

/* The node of the reoriented element at a point of the base; -1: there is none. */
static int node_at(const weft_element *element, int d, const double *xi) {
    for (int k = 0; k < element->n_nodes; ++k) {
        const double *at = element->points + (ptrdiff_t)k * d;
        double apart = fabs(at[d - 1]);
        for (int a = 0; a + 1 < d; ++a)
            apart = fmax(apart, fabs(at[a] - xi[a]));
        if (apart <= ROUNDING)
            return k;
    }
    return -1;
}

/* Nodes at the same place among the vertices: the map of reference coordinates is affine, as every symmetry of a facet. */
static weft_status match_facet(weft_constraints *constraints, const sides *s, const side *from,
                               const side *to, const int *corner, const char *origin,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(s->field->space);
    const int d = weft_space_mesh(s->field->space)->dimension;
    for (int k = 0; k < element->n_nodes; ++k) {
        const double *at = element->points + (ptrdiff_t)k * d;
        double xi[2] = {0};
        if (fabs(at[d - 1]) > ROUNDING)
            continue;
        for (int a = 0; a + 1 < d; ++a) {
            xi[a] = s->corners[corner[0]][a];
            for (int axis = 0; axis + 1 < d; ++axis)
                xi[a] += at[axis] * (s->corners[corner[axis + 1]][a] - s->corners[corner[0]][a]);
        }
        const int partner = node_at(element, d, xi);
        if (partner < 0)
            TRY(weft_error_set(error, WEFT_ERROR_INTERNAL, "a facet has no symmetric nodes"));
        TRY(constraint_match_nodes(constraints, s->field,
                                   s->of.nodes[from->number * s->of.width + k],
                                   s->of.nodes[to->number * s->of.width + partner], origin, error));
    }
done:
    return status;
}

/* All facets whose vertices have images by the pairs first ... last. */
static weft_status match_declared(weft_constraints *constraints, sides *s, int64_t first,
                                  int64_t last, const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(s->field->space);
    const int32_t *pairs = mesh->points.pairs;
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        s->image[i] = -1;
    for (int64_t i = first; i < last; ++i) {
        s->image[pairs[3 * i + 1]] = pairs[3 * i + 2];
        s->done[pairs[3 * i + 1]] |= 1;
    }
    for (int64_t f = 0; f < s->of.n; ++f) {
        int corner[CORNERS] = {0};
        const side *to = find_image(s, &s->list[f], corner);
        if (!to || to == &s->list[f])
            continue;
        TRY(match_facet(constraints, s, &s->list[f], to, corner, origin, error));
        for (int k = 0; k < s->w; ++k)
            s->done[s->list[f].vertices[k]] |= 2;
    }
done:
    return status;
}

static weft_status refuse_alone(const weft_mesh *mesh, int64_t node, const char *origin,
                                weft_error *error) {
    const int d = mesh->dimension;
    char point[64];
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "%s declares an image of the vertex %s, and of no facet around it, so that "
                   "nodes between the vertices have none",
                   mesh->source, weft_point_text(&mesh->x[node * d], d, point));
    weft_error_hint(error,
                    "declare whole sides periodic, in space by Periodic Surface; or name two "
                    "groups: --periodic GROUP=GROUP");
    return constraint_locate(origin, WEFT_ERROR_UNSUPPORTED, error);
}

/* Of nodes that are not the vertices: facet by facet. */
static weft_status match_facets(weft_constraints *constraints, const weft_constraint_field *field,
                                const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(field->space);
    const weft_point_lists *points = &mesh->points;
    sides s = {0};
    TRY(sides_make(field, &s, error));
    for (int64_t first = 0, last = 0; first < points->n_pairs; first = last) {
        while (last < points->n_pairs && points->pairs[3 * last] == points->pairs[3 * first])
            ++last;
        TRY(match_declared(constraints, &s, first, last, origin, error));
    }
    for (int64_t i = 0; i < mesh->n_nodes; ++i)
        if (s.done[i] == 1)
            TRY(refuse_alone(mesh, i, origin, error));
done:
    sides_clear(&s);
    return status;
}

weft_status weft_constraints_images(weft_constraints *constraints, const char *origin,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(constraints->space);
    if (mesh->points.n_pairs == 0) {
        weft_error_set(error, WEFT_ERROR_INPUT, "%s declares no periodic sides", mesh->source);
        weft_error_hint(error,
                        "in a .geo file, Periodic Curve or Periodic Surface does; or name two "
                        "groups: --periodic GROUP=GROUP");
        TRY(constraint_locate(origin, WEFT_ERROR_INPUT, error));
    }
    for (int i = 0; i < constraints->fields.n; ++i) {
        const weft_constraint_field *field = &constraints->fields.list[i];
        if (!constraint_field_is_shared(field))
            continue;
        if (weft_space_components(field->space) > 1)
            TRY(check_vectors(mesh, origin, error));
        TRY(weft_space_cell_nodes(field->space) == mesh->cells
                ? match_vertices(constraints, field, origin, error)
                : match_facets(constraints, field, origin, error));
    }
done:
    return status;
}
