/* Makes the mesh files of a study once, before its runs. */
#include "apps/scaling/scaling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool scaling_level_needed(const scaling_cases *cases, const scaling_study *study,
                          const scaling_level *level) {
    for (int i = 0; i < cases->n_cases; ++i)
        for (int round = 0; round < study->rounds; ++round)
            if (cases->cases[i].level == level && !scaling_study_at(study, i, round))
                return true;
    return false;
}

weft_status scaling_folder_make(const char *path, weft_error *error) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_IO, "cannot make this folder: %s", strerror(errno));
    weft_error_location(error, path, NULL, 0, 0);
    return WEFT_ERROR_IO;
}

/* DIR/meshes/NAME-SIZE-HASH.vtkhdf: content hash and size identify it, so it can be reused. */
static char *name_mesh(const char *folder, const scaling_level *level) {
    const char *slash = strrchr(level->file, '/'), *name = slash ? slash + 1 : level->file;
    const char *dot = strrchr(name, '.');
    char *path = NULL;
    int length = dot ? (int)(dot - name) : (int)strlen(name);
    if (asprintf(&path, "%s/%.*s%s%s-%.8s.vtkhdf", folder, length, name, level->size[0] ? "-" : "",
                 level->size, level->hash) < 0)
        return NULL;
    return path;
}

static weft_status write_mesh(const scaling_options *options, const scaling_level *level,
                              const char *path, const weft_monitor *monitor, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh *mesh = NULL;
    weft_mesh_options reading = options->reading;
    reading.size = sizeof reading;
    reading.cell_size = level->size[0] ? strtod(level->size, NULL) : 0;
    if (access(path, R_OK) == 0)
        goto done;
    TRY(weft_mesh_read_with(level->file, &reading, monitor, &mesh, error));
    TRY(weft_result_write(path, mesh, NULL, 0, error));
    weft_log(monitor, WEFT_LOG_INFO, "%s: %lld cells", path, (long long)mesh->n_cells);
done:
    weft_mesh_free(&mesh);
    return status;
}

weft_status scaling_meshes_make(const scaling_options *options, const weft_monitor *monitor,
                                const scaling_study *study, scaling_cases *cases,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    char *folder = NULL, *path = NULL;
    if (asprintf(&folder, "%s/meshes", options->out) < 0) {
        folder = NULL;
        TRY(weft_out_of_memory(error, NULL));
    }
    for (int i = 0; i < cases->n_levels; ++i) {
        scaling_level *level = &cases->levels[i];
        if (!level->by_gmsh || !scaling_level_needed(cases, study, level))
            continue;
        path = name_mesh(folder, level);
        if (!path)
            TRY(weft_out_of_memory(error, NULL));
        TRY(scaling_folder_make(folder, error));
        TRY(write_mesh(options, level, path, monitor, error));
        free(level->mesh);
        level->mesh = path;
        path = NULL;
    }
done:
    free(path);
    free(folder);
    return status;
}
