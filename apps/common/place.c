/* Reads places of the command line, and finds them on a mesh. */
#include "apps/common/place.h"

#include <stdlib.h>
#include <string.h>

weft_status app_place_read(const char *option, const char *text, app_place *out,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t length = strlen(text);
    *out = (app_place){0};
    if (text[0] && strchr("0123456789+-. ", text[0]))
        return app_parse_point(option, text, out->point, &out->n, error);
    const bool quoted = length > 2 && text[0] == '"' && text[length - 1] == '"';
    if (length == 0)
        return app_parse_point(option, text, out->point, &out->n, error);
    out->group = strndup(text + quoted, length - 2 * quoted);
    if (!out->group)
        status = weft_out_of_memory(error, NULL);
    return status;
}

void app_place_clear(app_place *place) {
    free(place->group);
    *place = (app_place){0};
}

static weft_status refuse_dimension(const app_place *place, int d, const char *origin,
                                    const char *form, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE,
                   "this point has %d coordinate%s, the mesh has %d dimension%s", place->n,
                   place->n == 1 ? "" : "s", d, d == 1 ? "" : "s");
    weft_error_location(error, origin, NULL, 0, 0);
    weft_error_hint(error, "write %s", form);
    return WEFT_ERROR_USAGE;
}

static weft_status find_group(const app_place *place, const weft_mesh *mesh, const char *origin,
                              int *group, weft_error *error) {
    weft_status status = weft_mesh_place(mesh, place->group, group, error);
    if (status == WEFT_OK && (*group < 0 || mesh->groups[*group].n_points == 0)) {
        status = weft_error_set(error, WEFT_ERROR_INPUT, "`%s` of %s is not a group of points",
                                place->group, mesh->source);
        weft_error_hint(error, "give coordinates, or a Physical Point of the .geo file");
    }
    if (status != WEFT_OK && error && !error->file[0])
        weft_error_location(error, origin, NULL, 0, 0);
    return status;
}

weft_status app_place_points(const app_place *place, const weft_mesh *mesh, const char *origin,
                             const char *form, double **out, int64_t *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t d = (size_t)mesh->dimension;
    int group = -1;
    int32_t *nodes = NULL;
    double *points = NULL;
    int64_t count = 1;
    if (place->group) {
        TRY(find_group(place, mesh, origin, &group, error));
        TRY(weft_mesh_group_nodes(mesh, group, &nodes, &count, error));
    } else if (place->n != mesh->dimension) {
        TRY(refuse_dimension(place, mesh->dimension, origin, form, error));
    }
    points = malloc((size_t)count * d * sizeof *points);
    if (!points)
        TRY(weft_out_of_memory(error, NULL));
    for (int64_t i = 0; i < count; ++i)
        memcpy(points + (size_t)i * d, nodes ? mesh->x + (size_t)nodes[i] * d : place->point,
               d * sizeof *points);
    *out = points;
    *n = count;
done:
    free(nodes);
    return status;
}
