/* Reads places of the command line, and finds them on a mesh. */
#include "apps/common/place.h"
#include "fem/mesh/mesh.h"

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

weft_status app_place_check(const app_place *place, int dimension, const char *origin,
                            const char *form, weft_error *error) {
    return place->group || place->n == dimension
               ? WEFT_OK
               : refuse_dimension(place, dimension, origin, form, error);
}

weft_status app_place_points(const app_place *place, const weft_mesh *mesh, const char *origin,
                             const char *form, double **out, int64_t *n, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)mesh->dimension * sizeof(double);
    TRY(app_place_check(place, mesh->dimension, origin, form, error));
    if (place->group) {
        status = weft_mesh_group_points(mesh, place->group, origin, out, n, error);
        goto done;
    }
    *out = malloc(bytes);
    if (!*out)
        TRY(weft_out_of_memory(error, NULL));
    memcpy(*out, place->point, bytes);
    *n = 1;
done:
    return status;
}
