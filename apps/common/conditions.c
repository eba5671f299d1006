/* Reads boundary conditions and probes of the command line and resolves them on a mesh. */
#include "apps/common/fem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* GROUP=EXPR, or GROUP=ALPHA,EXPR for Robin; or "GROUP" in quotes. */
weft_status app_condition_read(app_conditions *conditions, weft_condition_kind kind,
                               const char *text, weft_error *error) {
    static const char *const names[] = {"--dirichlet", "--neumann", "--robin"};
    const char *name = names[kind], *form = kind == WEFT_ROBIN ? "GROUP=ALPHA,EXPR" : "GROUP=EXPR";
    weft_status status = WEFT_OK;
    char *group = NULL, *rest = NULL, *alpha = NULL;
    TRY(app_split_assignment(name, text, form, &group, &rest, error));
    if (kind == WEFT_ROBIN) {
        char *value = NULL;
        TRY(app_split_comma(name, rest, form, &alpha, &value, error));
        free(rest);
        rest = value;
    }
    app_condition condition = {.kind = kind, .group = group, .value = rest, .alpha = alpha};
    snprintf(condition.origin, sizeof condition.origin, "%s %.255s", name, group);
    TRY(APP_APPEND(conditions->list, conditions->n, condition, error));
    group = rest = alpha = NULL;
done:
    free(group);
    free(rest);
    free(alpha);
    return status;
}

void app_conditions_clear(app_conditions *conditions) {
    for (int i = 0; i < conditions->n; ++i) {
        free(conditions->list[i].group);
        free(conditions->list[i].value);
        free(conditions->list[i].alpha);
    }
    free(conditions->list);
    *conditions = (app_conditions){0};
}

/* Check that the mesh has the group of a condition. */
static weft_status check_group(const weft_mesh *mesh, const app_condition *condition,
                               weft_error *error) {
    int group = 0;
    const weft_status status = condition->kind == WEFT_DIRICHLET
                                   ? weft_mesh_place(mesh, condition->group, &group, error)
                                   : weft_mesh_group(mesh, condition->group, &group, error);
    if (status == WEFT_OK || !error)
        return status;
    if (!error->file[0])
        weft_error_location(error, condition->origin, NULL, 0, 0);
    const size_t length = strlen(condition->group);
    for (int g = 0; g < mesh->n_groups; ++g) {
        const char *name = mesh->groups[g].name;
        if (strncmp(name, condition->group, length) == 0 && name[length] == '=')
            weft_error_hint(error, "a name with = must be in quotes: '\"%s\"=EXPR'", name);
    }
    return status;
}

/* Move the texts of one condition to out->texts, which owns them; `free` means no condition. */
static weft_status split_condition(const app_condition *condition, int components, app_pieces *out,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    char **list = NULL;
    TRY(weft_formula_components(condition->origin, condition->value, components, &list, error));
    for (int k = 0; k < components; ++k) {
        out->texts[out->n_texts++] = list[k];
        if (strcmp(list[k], "free") != 0)
            out->list[out->n++] = (weft_condition){.kind = condition->kind,
                                                   .group = condition->group,
                                                   .value = list[k],
                                                   .alpha = condition->alpha,
                                                   .origin = condition->origin,
                                                   .component = k};
    }
    free(list);
done:
    return status;
}

weft_status app_pieces_make(const app_conditions *conditions, const weft_mesh *mesh, int components,
                            app_pieces *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t capacity = (size_t)conditions->n * (size_t)components + 1;
    out->list = calloc(capacity, sizeof *out->list);
    out->texts = calloc(capacity, sizeof *out->texts);
    if (!out->list || !out->texts)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < conditions->n; ++i) {
        TRY(split_condition(&conditions->list[i], components, out, error));
        TRY(check_group(mesh, &conditions->list[i], error));
    }
done:
    return status;
}

void app_pieces_free(app_pieces *pieces) {
    weft_formula_list_free(&pieces->texts, pieces->n_texts);
    free(pieces->list);
    *pieces = (app_pieces){0};
}

weft_status app_probe_read(app_probes *probes, const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    app_probe probe = {.text = text};
    TRY(app_place_read("--probe", text, &probe.place, error));
    TRY(APP_APPEND(probes->list, probes->n, probe, error));
    probe.place.group = NULL;
done:
    app_place_clear(&probe.place);
    return status;
}

void app_probes_clear(app_probes *probes) {
    for (int i = 0; i < probes->n; ++i)
        app_place_clear(&probes->list[i].place);
    free(probes->list);
    *probes = (app_probes){0};
}

/* Refuse a point that another probe has. */
static weft_status check_point(const app_probes *probes, const app_probe *probe,
                               weft_error *error) {
    const size_t bytes = (size_t)probe->place.n * sizeof *probe->place.point;
    for (int i = 0; i < probes->n; ++i) {
        if (memcmp(probes->list[i].place.point, probe->place.point, bytes) != 0)
            continue;
        weft_error_set(error, WEFT_ERROR_USAGE,
                       "two probes are at the same point: %.200s and %.200s", probes->list[i].text,
                       probe->text);
        weft_error_location(error, "--probe", NULL, 0, 0);
        weft_error_hint(error, "leave one of them out");
        return WEFT_ERROR_USAGE;
    }
    return WEFT_OK;
}

static weft_status find_probe(const app_probe *probe, const weft_mesh *mesh, app_probes *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    double *points = NULL;
    int64_t n = 0;
    char origin[300];
    snprintf(origin, sizeof origin, "--probe %.255s", probe->text);
    TRY(app_place_points(&probe->place, mesh, origin,
                         d == 1   ? "--probe X"
                         : d == 2 ? "--probe X,Y"
                                  : "--probe X,Y,Z",
                         &points, &n, error));
    for (int64_t i = 0; i < n; ++i) {
        app_probe found = {.text = probe->text, .place.n = d};
        memcpy(found.place.point, points + i * d, (size_t)d * sizeof *points);
        for (int k = 0; k < d; ++k)
            found.place.point[k] += 0.0; /* -0 is 0 */
        TRY(check_point(out, &found, error));
        TRY(APP_APPEND(out->list, out->n, found, error));
    }
done:
    free(points);
    return status;
}

weft_status app_probes_find(const app_probes *probes, const weft_mesh *mesh, app_probes *out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < probes->n; ++i)
        TRY(find_probe(&probes->list[i], mesh, out, error));
done:
    return status;
}

weft_status app_probes_locate(const app_probes *probes, weft_device *device, const weft_mesh *mesh,
                              int64_t *cells, double (*weights)[4], weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = mesh->dimension;
    const size_t n = (size_t)probes->n;
    double *points = calloc(n * (size_t)d + 1, sizeof *points);
    double *barycentric = calloc(n * (size_t)(d + 1) + 1, sizeof *barycentric);
    if (!points || !barycentric)
        TRY(weft_out_of_memory(error, NULL));
    for (size_t i = 0; i < n; ++i)
        memcpy(points + i * (size_t)d, probes->list[i].place.point, (size_t)d * sizeof *points);
    TRY(weft_mesh_locate_points(device, mesh, points, probes->n, cells, barycentric, error));
    for (size_t i = 0; i < n; ++i)
        memcpy(weights[i], barycentric + i * (size_t)(d + 1),
               (size_t)(d + 1) * sizeof *barycentric);
done:
    free(points);
    free(barycentric);
    return status;
}
