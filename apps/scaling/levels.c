/* Lists the levels of a study: meshes by size and refinement. */
#include "apps/scaling/scaling.h"

#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

weft_status scaling_file_hash(const char *path, char out[33], weft_error *error) {
    weft_status status = WEFT_OK;
    char *bytes = NULL;
    size_t length = 0;
    TRY(weft_file_read(path, &bytes, &length, error));
    weft_hash(bytes, length, out);
done:
    free(bytes);
    return status;
}

static weft_status refuse_size(const char *mesh, const char *why, const char *hint,
                               weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "--mesh %.300s: %s", mesh, why);
    weft_error_hint(error, "%s", hint);
    return WEFT_ERROR_USAGE;
}

/* Make the level of one mesh at one of --sizes (NULL: none). */
static weft_status make_level(const char *mesh, const char *size, int refine, scaling_level *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const bool plain = strcmp(mesh, "square") == 0 || strcmp(mesh, "cube") == 0;
    const bool built_in = plain || starts_with(mesh, "square:") || starts_with(mesh, "cube:");
    const bool geo = app_ends_with(mesh, ".geo");
    char refined[40] = "";
    int cells = 0, made = 0;
    if (plain && !size)
        TRY(refuse_size(mesh, "no sizes are given", "add --sizes 32,64,128", error));
    if (!plain && !geo && size)
        TRY(refuse_size(mesh, "--sizes has no effect here",
                        "they are for square, cube and FILE.geo; --refine 0..3 is for every mesh",
                        error));
    if (plain)
        TRY(app_parse_integer("--sizes", size, 1, 100000, &cells, error));
    if (!built_in)
        TRY(scaling_file_hash(mesh, out->hash, error));
    out->refine = refine;
    out->by_gmsh = weft_mesh_is_gmsh(mesh);
    if (refine > 0)
        snprintf(refined, sizeof refined, ", refined %d time%s", refine, refine > 1 ? "s" : "");
    if (geo && size)
        snprintf(out->size, sizeof out->size, "%.39s", size);
    out->file = strdup(mesh);
    made = plain ? asprintf(&out->mesh, "%s:%d", mesh, cells) : asprintf(&out->mesh, "%s", mesh);
    if (made < 0)
        out->mesh = NULL;
    if (out->mesh && asprintf(&out->name, "%s%s%s%s", out->mesh, out->size[0] ? ", size " : "",
                              out->size, refined) < 0)
        out->name = NULL;
    if (!out->file || !out->mesh || !out->name)
        status = weft_out_of_memory(error, NULL);
done:
    return status;
}

static weft_status refuse_doubled(const scaling_level *level, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%.400s is given twice", level->name);
    weft_error_hint(error, "name each mesh and size once");
    return WEFT_ERROR_USAGE;
}

weft_status scaling_levels_make(const scaling_options *options, scaling_cases *out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const int n_sizes = options->sizes.n > 0 ? options->sizes.n : 1;
    const int most = options->meshes.n * n_sizes * options->n_refine;
    out->levels = calloc((size_t)most, sizeof *out->levels);
    if (!out->levels)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < most; ++i) {
        const int refine = options->refine[i % options->n_refine];
        const int size = i / options->n_refine % n_sizes;
        const char *mesh = options->meshes.items[i / options->n_refine / n_sizes];
        scaling_level *level = &out->levels[out->n_levels++];
        TRY(make_level(mesh, options->sizes.n > 0 ? options->sizes.items[size] : NULL, refine,
                       level, error));
        for (int k = 0; k + 1 < out->n_levels; ++k)
            if (strcmp(out->levels[k].name, level->name) == 0)
                TRY(refuse_doubled(level, error));
    }
done:
    return status;
}
