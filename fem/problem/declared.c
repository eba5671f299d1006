/* Keeps the constraints and loads at points that a problem is given, and makes them before a solve. */
#include "fem/problem/declared.h"
#include "core/base/number.h"
#include "core/base/options.h"
#include "fem/mesh/mesh.h"

#include <stdlib.h>

static const char *const kinds[] = {"periodic", "tie", "symmetry", "point value"};

void weft_declared_clear(weft_declared *declared) {
    free(declared->list);
    free(declared->loads);
    *declared = (weft_declared){.list = NULL};
}

/* ---- declarations ------------------------------------------------------------------------ */

/* What is wrong with a constraint; NULL: nothing. */
static const char *find_fault(const weft_constraint *one, const char **hint) {
    const bool is_known = (int)one->kind >= 0 && one->kind <= WEFT_CONSTRAINT_POINT;
    const bool is_periodic = one->kind == WEFT_CONSTRAINT_PERIODIC;
    const bool is_point = one->kind == WEFT_CONSTRAINT_POINT;
    *hint = !is_known     ? "take a weft_constraint_kind"
            : is_periodic ? "set `group` and `other`, or none for the sides of the mesh file"
            : is_point    ? "set `value`"
                          : "set `group`";
    return !is_known ? "no constraint is of this kind"
           : is_periodic
               ? (!one->group != !one->other ? "one of two periodic sides is missing" : NULL)
           : is_point   ? (one->value ? NULL : "a value at a point is missing")
           : one->group ? NULL
                        : "the group of a constraint is missing";
}

static weft_status refuse(weft_status status, const char *what, const char *hint,
                          const char *origin, weft_error *error) {
    weft_error_set(error, status, "%s", what);
    weft_error_location(error, origin, NULL, 0, 0);
    weft_error_hint(error, "%s", hint);
    return status;
}

weft_status weft_declared_add(weft_declared *declared, const weft_constraint *constraint,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const char *hint = NULL, *fault = NULL;
    weft_constraint *list = NULL;
    TRY(weft_options_check("weft_constraint", constraint->size, sizeof *constraint, error));
    fault = find_fault(constraint, &hint);
    if (fault)
        TRY(refuse(WEFT_ERROR_USAGE, fault, hint, constraint->origin, error));
    list = realloc(declared->list, ((size_t)declared->n + 1) * sizeof *list);
    if (!list)
        TRY(weft_out_of_memory(error, "a constraint"));
    list[declared->n++] = *constraint;
    declared->list = list;
done:
    return status;
}

weft_status weft_declared_add_load(weft_declared *declared, const weft_point_load *load,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    weft_point_load *list = NULL;
    TRY(weft_options_check("weft_point_load", load->size, sizeof *load, error));
    if (!load->value)
        TRY(refuse(WEFT_ERROR_USAGE, "the value of a load is missing", "set `value`", load->origin,
                   error));
    list = realloc(declared->loads, ((size_t)declared->n_loads + 1) * sizeof *list);
    if (!list)
        TRY(weft_out_of_memory(error, "a load at a point"));
    list[declared->n_loads++] = *load;
    declared->loads = list;
done:
    return status;
}

weft_status weft_declared_refuse_periodic(const weft_declared *declared, const char *file,
                                          weft_error *error) {
    char message[600];
    int i = 0;
    while (i < declared->n && declared->list[i].kind != WEFT_CONSTRAINT_PERIODIC)
        ++i;
    if (i == declared->n)
        return WEFT_OK;
    (void)weft_print(message, sizeof message,
                     "%s has an integral over facets between cells (dS), which would have to be "
                     "over the periodic sides too",
                     file ? file : "the problem");
    return refuse(WEFT_ERROR_UNSUPPORTED, message,
                  "leave --periodic out, or write the form for continuous elements, without dS",
                  declared->list[i].origin ? declared->list[i].origin : kinds[0], error);
}

/* ---- on a mesh --------------------------------------------------------------------------- */

/* What is in one component or in each: a tie, or, at points, a value or a load. */
typedef struct in_components {
    const char *group;
    const double *point; /* NULL: a tie */
    int component;
    const char *value, *origin;
    bool is_load;
} in_components;

static weft_status check_component(const in_components *what, int n_values, weft_error *error) {
    if (what->component >= WEFT_ALL_COMPONENTS && what->component < n_values)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "component %d is not one of u, which has %d",
                   what->component, n_values);
    weft_error_location(error, what->origin, NULL, 0, 0);
    weft_error_hint(error, "count from 0, over all functions of a mixed u");
    return WEFT_ERROR_USAGE;
}

static weft_status add_one(const weft_declared_target *to, const in_components *what,
                           const double *point, int component, weft_error *error) {
    if (!point)
        return weft_constraints_tie(to->constraints, what->group, component, what->origin, error);
    return what->is_load
               ? weft_point_loads_add(to->loads, point, component, what->value, what->origin, error)
               : weft_constraints_point(to->constraints, point, component, what->value,
                                        what->origin, error);
}

static weft_status add(const weft_declared_target *to, const in_components *what,
                       weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = to->mesh->dimension, c = what->component;
    const int first = c < 0 ? 0 : c, last = c < 0 ? to->n_values : c + 1;
    double *found = NULL;
    int64_t n = 1;
    TRY(check_component(what, to->n_values, error));
    if (what->point && what->group)
        TRY(weft_mesh_group_points(to->mesh, what->group, what->origin, &found, &n, error));
    for (int64_t i = 0; i < n; ++i)
        for (int k = first; k < last; ++k)
            TRY(add_one(to, what, found ? found + i * d : what->point, k, error));
done:
    free(found);
    return status;
}

static weft_status make_one(const weft_declared_target *to, const weft_constraint *one,
                            weft_error *error) {
    char name[200];
    (void)weft_print(name, sizeof name, "%s%s%s", kinds[one->kind], one->group ? " " : "",
                     one->group ? one->group : "");
    const char *origin = one->origin ? one->origin : name;
    const in_components what = {
        one->group,     one->kind == WEFT_CONSTRAINT_TIE ? NULL : one->point,
        one->component, one->value,
        origin,         false};
    switch (one->kind) {
    case WEFT_CONSTRAINT_PERIODIC:
        return one->group
                   ? weft_constraints_match(to->constraints, one->group, one->other, origin, error)
                   : weft_constraints_images(to->constraints, origin, error);
    case WEFT_CONSTRAINT_SYMMETRY:
        return weft_constraints_slide(to->constraints, one->group, origin, error);
    default:
        return add(to, &what, error);
    }
}

weft_status weft_declared_make(const weft_declared *declared, const weft_declared_target *to,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < declared->n; ++i)
        TRY(make_one(to, &declared->list[i], error));
done:
    return status;
}

weft_status weft_declared_make_loads(const weft_declared *declared, const weft_declared_target *to,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < declared->n_loads; ++i) {
        const weft_point_load *one = &declared->loads[i];
        const char *origin = one->origin ? one->origin : "point load";
        const in_components what = {one->group, one->point, one->component,
                                    one->value, origin,     true};
        TRY(add(to, &what, error));
    }
done:
    return status;
}
