/* Makes constraints of groups and points: ties, matching groups, values at points. */
#include "fem/constrain/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

weft_status constraint_locate(const char *origin, weft_status status, weft_error *error) {
    if (status != WEFT_OK && error && !error->file[0])
        weft_error_location(error, origin, NULL, 0, 0);
    return status;
}

/* The nodes of a group of facets. */
static weft_status group_nodes(const weft_space *space, const char *group, const char *origin,
                               int32_t **out, int64_t *n, weft_error *error) {
    const weft_condition condition = {.group = group, .origin = origin};
    return constraint_locate(origin, weft_condition_nodes(space, &condition, out, n, error), error);
}

/* ---- ties ------------------------------------------------------------------------------------ */

static weft_status refuse_tie(int component, const char *group, const char *origin,
                              weft_error *error) {
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                   "component %d of u is discontinuous, and its values on `%s` are those of single "
                   "cells, which cannot be tied",
                   component, group);
    weft_error_hint(error, "leave the tie out, or take a continuous (Lagrange) element");
    return constraint_locate(origin, WEFT_ERROR_UNSUPPORTED, error);
}

weft_status weft_constraints_tie(weft_constraints *constraints, const char *group, int component,
                                 const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double factors[] = {1, -1};
    const weft_constraint_field *field = constraints->fields.list;
    int32_t *nodes = NULL;
    int64_t n = 0;
    while (!constraint_field_has(field, component))
        ++field;
    const int k = component - field->first_value;
    if (!constraint_field_is_shared(field))
        TRY(refuse_tie(component, group, origin, error));
    TRY(group_nodes(field->space, group, origin, &nodes, &n, error));
    for (int64_t i = 1; i < n; ++i) {
        const int32_t dofs[] = {constraint_dof(field, nodes[0], k),
                                constraint_dof(field, nodes[i], k)};
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

weft_status constraint_match_nodes(weft_constraints *constraints,
                                   const weft_constraint_field *field, int32_t node,
                                   int32_t partner, const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double factors[] = {1, -1};
    const int c = weft_space_components(field->space);
    for (int k = 0; k < c && node != partner; ++k) {
        const int32_t dofs[] = {constraint_dof(field, node, k), constraint_dof(field, partner, k)};
        TRY(weft_constraints_add(constraints, 2, dofs, factors, 0, origin, error));
    }
done:
    return status;
}

static weft_status match_field(weft_constraints *constraints, const weft_constraint_field *field,
                               const char *group, const char *other, const char *origin,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_space *space = field->space;
    int32_t *nodes = NULL, *others = NULL;
    int64_t n = 0, n_others = 0;
    matcher m = {0};
    TRY(group_nodes(space, group, origin, &nodes, &n, error));
    TRY(group_nodes(space, other, origin, &others, &n_others, error));
    TRY(matcher_make(space, nodes, n, others, n_others, &m, error));
    for (int64_t i = 0; i < n; ++i) {
        const int32_t partner = find_partner(&m, nodes[i]);
        if (partner < 0)
            TRY(refuse_partner(&m, nodes[i], group, other, origin, error));
        TRY(constraint_match_nodes(constraints, field, nodes[i], partner, origin, error));
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

weft_status weft_constraints_match(weft_constraints *constraints, const char *group,
                                   const char *other, const char *origin, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < constraints->fields.n; ++i)
        if (constraint_field_is_shared(&constraints->fields.list[i]))
            TRY(match_field(constraints, &constraints->fields.list[i], group, other, origin,
                            error));
done:
    return status;
}

/* ---- points ---------------------------------------------------------------------------------- */

weft_status weft_constraints_point(weft_constraints *constraints, const double *point,
                                   int component, const char *value, const char *origin,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    double constant = 0;
    constraint_terms terms = {0};
    TRY(constraint_point_terms(&constraints->fields, component, point, origin, &terms, error));
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
    constraint_source_supplies(constraints, origin);
done:
    constraint_terms_free(&terms);
    return status;
}
