/* Makes constraints of groups and points: ties, matching groups, sliding, values at points. */
#include "fem/constrain/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weft_status locate(const char *origin, weft_status status, weft_error *error) {
    if (status != WEFT_OK && error && !error->file[0])
        weft_error_location(error, origin, NULL, 0, 0);
    return status;
}

/* The nodes of a group of facets. */
static weft_status group_nodes(const weft_constraints *constraints, const char *group,
                               const char *origin, int32_t **out, int64_t *n, weft_error *error) {
    const weft_condition condition = {.group = group, .origin = origin};
    return locate(origin, weft_condition_nodes(constraints->space, &condition, out, n, error),
                  error);
}

/* ---- ties ------------------------------------------------------------------------------------ */

weft_status weft_constraints_tie(weft_constraints *constraints, const char *group, int component,
                                 const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double factors[] = {1, -1};
    const int c = weft_space_components(constraints->space);
    int32_t *nodes = NULL;
    int64_t n = 0;
    TRY(group_nodes(constraints, group, origin, &nodes, &n, error));
    for (int64_t i = 1; i < n; ++i) {
        const int32_t dofs[] = {nodes[0] * c + component, nodes[i] * c + component};
        TRY(weft_constraints_add(constraints, 2, dofs, factors, 0, origin, error));
    }
done:
    free(nodes);
    return status;
}

/* ---- matching groups ------------------------------------------------------------------------- */

/* A node and its coordinate along a direction that no mesh is aligned with. */
typedef struct keyed {
    double key;
    int32_t node;
} keyed;

static int compare(const void *a, const void *b) {
    const keyed *p = a, *q = b;
    return p->key < q->key ? -1 : p->key > q->key ? 1 : p->node - q->node;
}

static double key_of(int d, const double *x, const double *shift) {
    static const double direction[] = {0.6180339887, 0.7320508076, 0.2871745887};
    double key = 0;
    for (int k = 0; k < d; ++k)
        key += direction[k] * (x[k] + (shift ? shift[k] : 0));
    return key;
}

/* The least and greatest coordinates of nodes. */
static void box_of(const weft_space *space, const int32_t *nodes, int64_t n, double box[2][3]) {
    const int d = weft_space_mesh(space)->dimension;
    const double *x = weft_space_points(space);
    for (int k = 0; k < d; ++k) {
        box[0][k] = INFINITY;
        box[1][k] = -INFINITY;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < d; ++k) {
            box[0][k] = fmin(box[0][k], x[(int64_t)nodes[i] * d + k]);
            box[1][k] = fmax(box[1][k], x[(int64_t)nodes[i] * d + k]);
        }
}

typedef struct matcher {
    const weft_space *space;
    const double *x; /* of the nodes, [..][d] */
    int d;
    keyed *others;
    int64_t n_others;
    double shift[3], tolerance;
} matcher;

/* The node of the other group at a node's place; -1: there is none. */
static int32_t find_partner(const matcher *m, int32_t node) {
    const int d = m->d;
    const double *x = &m->x[(int64_t)node * d];
    const double key = key_of(d, x, m->shift), slack = 2 * m->tolerance;
    int64_t low = 0, high = m->n_others;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (m->others[middle].key < key - slack)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < m->n_others && m->others[low].key <= key + slack; ++low) {
        const double *y = &m->x[(int64_t)m->others[low].node * d];
        double apart = 0;
        for (int k = 0; k < d; ++k)
            apart = fmax(apart, fabs(x[k] + m->shift[k] - y[k]));
        if (apart <= m->tolerance)
            return m->others[low].node;
    }
    return -1;
}

static weft_status matcher_make(const weft_space *space, const int32_t *nodes, int64_t n,
                                const int32_t *others, int64_t n_others, matcher *out,
                                weft_error *error) {
    double box[2][3], other[2][3], size = 0;
    const int d = weft_space_mesh(space)->dimension;
    *out = (matcher){.space = space, .x = weft_space_points(space), .d = d, .n_others = n_others};
    box_of(space, nodes, n, box);
    box_of(space, others, n_others, other);
    for (int k = 0; k < d; ++k) {
        out->shift[k] = 0.5 * (other[0][k] + other[1][k] - box[0][k] - box[1][k]);
        size = fmax(size, other[1][k] - other[0][k]);
    }
    for (int k = 0; k < d && size == 0; ++k) /* groups of one node, as the ends of an interval */
        size = fabs(out->shift[k]);
    out->tolerance = 1e-6 * size;
    out->others = malloc((size_t)n_others * sizeof *out->others + 1);
    if (!out->others)
        return weft_out_of_memory(error, "matching groups");
    for (int64_t i = 0; i < n_others; ++i)
        out->others[i] = (keyed){key_of(d, &out->x[(int64_t)others[i] * d], NULL), others[i]};
    qsort(out->others, (size_t)n_others, sizeof *out->others, compare);
    return WEFT_OK;
}

static weft_status refuse_partner(const matcher *m, int32_t node, const char *group,
                                  const char *other, const char *origin, weft_error *error) {
    const int d = m->d;
    double place[3] = {0};
    char point[64], partner[64];
    for (int k = 0; k < d; ++k)
        place[k] = m->x[(int64_t)node * d + k] + m->shift[k];
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the node %s of `%s` has no partner on `%s`, where one should be at %s",
                   weft_point_text(&m->x[(int64_t)node * d], d, point), group, other,
                   weft_point_text(place, d, partner));
    weft_error_location(error, origin, NULL, 0, 0);
    weft_error_hint(error,
                    "mesh both sides alike: in a .geo file by Periodic Curve or Periodic Surface");
    return WEFT_ERROR_INPUT;
}

static weft_status match_node(weft_constraints *constraints, int32_t node, int32_t partner,
                              const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double factors[] = {1, -1};
    const int c = weft_space_components(constraints->space);
    for (int k = 0; k < c && node != partner; ++k) {
        const int32_t dofs[] = {node * c + k, partner * c + k};
        TRY(weft_constraints_add(constraints, 2, dofs, factors, 0, origin, error));
    }
done:
    return status;
}

weft_status weft_constraints_match(weft_constraints *constraints, const char *group,
                                   const char *other, const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = constraints->space;
    int32_t *nodes = NULL, *others = NULL;
    int64_t n = 0, n_others = 0;
    matcher m = {0};
    TRY(group_nodes(constraints, group, origin, &nodes, &n, error));
    TRY(group_nodes(constraints, other, origin, &others, &n_others, error));
    TRY(matcher_make(space, nodes, n, others, n_others, &m, error));
    for (int64_t i = 0; i < n; ++i) {
        const int32_t partner = find_partner(&m, nodes[i]);
        if (partner < 0)
            TRY(refuse_partner(&m, nodes[i], group, other, origin, error));
        TRY(match_node(constraints, nodes[i], partner, origin, error));
    }
    if (n != n_others) { /* the other way round */
        free(m.others);
        TRY(matcher_make(space, others, n_others, nodes, n, &m, error));
        for (int64_t i = 0; i < n_others; ++i)
            if (find_partner(&m, others[i]) < 0)
                TRY(refuse_partner(&m, others[i], other, group, origin, error));
    }
done:
    free(m.others);
    free(nodes);
    free(others);
    return status;
}

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

weft_status weft_constraints_images(weft_constraints *constraints, const char *origin,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(constraints->space);
    const weft_point_lists *points = &mesh->points;
    if (points->n_pairs == 0) {
        weft_error_set(error, WEFT_ERROR_INPUT, "%s declares no periodic sides", mesh->source);
        weft_error_hint(error,
                        "in a .geo file, Periodic Curve or Periodic Surface does; or name two "
                        "groups: --periodic GROUP=GROUP");
        return locate(origin, WEFT_ERROR_INPUT, error);
    }
    if (weft_space_cell_nodes(constraints->space) != mesh->cells) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%s declares which vertices are images of each other, and the solution has "
                       "other nodes on its periodic sides",
                       mesh->source);
        weft_error_hint(error, "name the two sides as groups: --periodic GROUP=GROUP");
        return locate(origin, WEFT_ERROR_UNSUPPORTED, error);
    }
    for (int64_t i = 0; i < points->n_pairs; ++i) {
        const int32_t *pair = points->pairs + 3 * i;
        if (i > 0 && pair[0] == pair[-3] && weft_space_components(constraints->space) > 1 &&
            !is_translation(mesh, pair, pair - 3)) {
            weft_error_set(
                error, WEFT_ERROR_UNSUPPORTED,
                "the sides that %s declares periodic are rotated against each other, and "
                "the solution has components",
                mesh->source);
            weft_error_hint(error, "vectors are periodic by translation only");
            return locate(origin, WEFT_ERROR_UNSUPPORTED, error);
        }
        TRY(match_node(constraints, pair[1], pair[2], origin, error));
    }
done:
    return status;
}

/* ---- sliding --------------------------------------------------------------------------------- */

/* Up to three normals of the facets around a node. */
typedef struct node_normals {
    double sums[3][3];
    int n;
} node_normals;

/* The normal of a facet, times its measure (twice, in space); of a quadrilateral, the mean of its normals. */
static void facet_normal(const weft_mesh *mesh, const int32_t *facet, double out[3]) {
    const int d = mesh->dimension;
    const bool is_quadrilateral = weft_mesh_facet_vertices(mesh) == 4;
    double u[3] = {0}, w[3] = {0};
    for (int k = 0; k < d; ++k) {
        const double x0 = mesh->x[(int64_t)facet[0] * d + k];
        u[k] = d > 1 ? mesh->x[(int64_t)facet[1] * d + k] - x0 : 0;
        if (d == 3)
            w[k] = mesh->x[(int64_t)facet[2] * d + k] - x0;
        if (is_quadrilateral) { /* by the diagonals 1 to 2 and 0 to 3 */
            const double diagonal = mesh->x[(int64_t)facet[3] * d + k] - x0;
            u[k] = w[k] - u[k];
            w[k] = diagonal;
        }
    }
    out[0] = d == 1 ? 1 : d == 2 ? u[1] : u[1] * w[2] - u[2] * w[1];
    out[1] = d == 1 ? 0 : d == 2 ? -u[0] : u[2] * w[0] - u[0] * w[2];
    out[2] = d < 3 ? 0 : u[0] * w[1] - u[1] * w[0];
}

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Add to the normal within 30 degrees, or as another one. */
static void add_normal(node_normals *at, const double normal[3]) {
    static const double COSINE = 0.8660254;
    for (int i = 0; i < at->n; ++i) {
        const double size = sqrt(dot(at->sums[i], at->sums[i]) * dot(normal, normal));
        if (fabs(dot(at->sums[i], normal)) < COSINE * size)
            continue;
        const double sign = dot(at->sums[i], normal) < 0 ? -1 : 1;
        for (int k = 0; k < 3; ++k)
            at->sums[i][k] += sign * normal[k];
        return;
    }
    if (at->n < 3)
        memcpy(at->sums[at->n++], normal, 3 * sizeof *normal);
}

static weft_status slide_node(weft_constraints *constraints, int32_t node, const node_normals *at,
                              const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = weft_space_mesh(constraints->space)->dimension;
    for (int i = 0; i < at->n; ++i) {
        const double size = sqrt(dot(at->sums[i], at->sums[i]));
        int32_t dofs[3];
        double factors[3];
        int n = 0;
        for (int k = 0; k < d; ++k)
            if (fabs(at->sums[i][k]) > 1e-12 * size) {
                dofs[n] = node * d + k;
                factors[n++] = at->sums[i][k] / size;
            }
        TRY(weft_constraints_add(constraints, n, dofs, factors, 0, origin, error));
    }
done:
    return status;
}

weft_status weft_constraints_slide(weft_constraints *constraints, const char *group,
                                   const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(constraints->space);
    const int d = mesh->dimension, v = weft_mesh_facet_vertices(mesh);
    int32_t *nodes = NULL, *facets = NULL;
    weft_space_facets of = {0};
    node_normals *normals = NULL;
    int64_t n = 0, n_facets = 0;
    int number = 0;
    if (weft_space_components(constraints->space) != d) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "the solution has %d component%s, and no normal component on `%s`",
                       weft_space_components(constraints->space),
                       weft_space_components(constraints->space) == 1 ? "" : "s", group);
        weft_error_hint(error, "it is for displacements, with as many components as dimensions");
        return locate(origin, WEFT_ERROR_INPUT, error);
    }
    if (mesh->curve) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "the facets of curved cells have no normal of their own, along which `%s` "
                       "would hold the solution",
                       group);
        weft_error_hint(error, "on a plane across an axis, prescribe that component: --dirichlet");
        return locate(origin, WEFT_ERROR_UNSUPPORTED, error);
    }
    TRY(locate(origin, weft_mesh_group(mesh, group, &number, error), error));
    TRY(group_nodes(constraints, group, origin, &nodes, &n, error));
    TRY(weft_mesh_group_facets(mesh, number, &facets, &n_facets, error));
    TRY(weft_space_facets_make(constraints->space, number, &of, error));
    normals = calloc((size_t)weft_space_nodes(constraints->space), sizeof *normals);
    if (!normals)
        TRY(weft_out_of_memory(error, "constraints"));
    for (int64_t f = 0; f < n_facets; ++f) {
        double normal[3];
        facet_normal(mesh, facets + f * v, normal);
        for (int k = 0; k < of.width; ++k)
            add_normal(&normals[of.nodes[f * of.width + k]], normal);
    }
    for (int64_t i = 0; i < n; ++i)
        TRY(slide_node(constraints, nodes[i], &normals[nodes[i]], origin, error));
done:
    free(nodes);
    free(facets);
    weft_space_facets_free(&of);
    free(normals);
    return status;
}

/* ---- points ---------------------------------------------------------------------------------- */

weft_status weft_constraints_point(weft_constraints *constraints, const double *point,
                                   int component, const char *value, const char *origin,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const int c = weft_space_components(constraints->space);
    double constant = 0;
    constraint_point at = {0};
    constraint_terms terms = {0};
    TRY(constraint_point_find(constraints->space, point, origin, &at, error));
    for (int v = 0; v < at.n; ++v)
        if (at.shape[v] != 0)
            TRY(constraint_terms_add(&terms, at.nodes[v] * c + component, at.shape[v], error));
    const int32_t dof = terms.dofs[0];
    if (weft_formula_constant(value, &constant)) {
        terms.constant = -constant;
        terms.size = fabs(constant);
    } else {
        TRY(constraint_terms_add(
            &terms, (int32_t)(constraints->n_dofs + constraints->values.n_values), -1, error));
        TRY(point_values_add(&constraints->values, point, value, origin, error));
    }
    TRY(constraints_add_terms(constraints, &terms, dof, origin, error));
done:
    constraint_point_clear(&at);
    constraint_terms_free(&terms);
    return status;
}
