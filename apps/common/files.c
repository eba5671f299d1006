/* Checks the names of the files of a run before it starts. */
#include "apps/common/files.h"
#include "apps/common/support.h"
#include "fem/io/result.h"

#include <stdlib.h>
#include <string.h>

/* Those that are read stand first, and of two that are written the one that needs another name stands last. */
enum { MESH, SCRIPT, PROBLEM, RESUMED, CHECKPOINT, OUTPUT, JSON, HISTORY, LINES };

typedef struct file {
    const char *path, *option; /* NULL: there is none; no option writes it */
    const char *what;
} file;

static weft_status refuse(const file *written, const char *what, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s would write over %s, %s", written->option, what,
                   written->path);
    weft_error_hint(error, "give %s another name", written->option);
    return WEFT_ERROR_USAGE;
}

weft_status app_files_check(const app_run_options *options, const char *script,
                            const app_time_options *time, weft_error *error) {
    static const app_time_options stationary = {0};
    const app_time_options *t = time ? time : &stationary;
    weft_status status = WEFT_OK;
    char resumed[64];
    const int n = LINES + options->lines.n;
    file *files = calloc((size_t)n, sizeof *files);
    if (!files)
        TRY(weft_out_of_memory(error, NULL));
    snprintf(resumed, sizeof resumed, "the file of %s", t->resume_option ? t->resume_option : "");
    files[MESH] = (file){options->mesh.name, NULL, "the mesh"};
    files[SCRIPT] = (file){script, NULL, "the script"};
    files[PROBLEM] = (file){options->problem_file, NULL, "the problem file"};
    files[RESUMED] = (file){t->resume, NULL, resumed};
    files[CHECKPOINT] = (file){t->checkpoint, "--checkpoint", "the file of --checkpoint"};
    files[OUTPUT] = (file){options->output, "--output", "the file of --output"};
    files[JSON] = (file){options->json, "--json", "the file of --json"};
    files[HISTORY] = (file){t->history, "--history", "the file of --history"};
    for (int i = 0; i < options->lines.n; ++i)
        files[LINES + i] =
            (file){options->lines.list[i].path, "--line", "the file of another --line"};
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < i && files[i].option; ++k) {
            const bool replaces =
                (i == CHECKPOINT && k == RESUMED) || (i == OUTPUT && k == MESH && !time);
            if (!replaces && weft_same_file(files[i].path, files[k].path))
                TRY(refuse(&files[i], files[k].what, error));
        }
done:
    free(files);
    return status;
}

weft_status app_output_check(const char *path, weft_error *error) {
    if (!path || app_ends_with(path, ".vtkhdf") || app_ends_with(path, ".vtu"))
        return WEFT_OK;
    weft_error_set(
        error, WEFT_ERROR_USAGE,
        "--output %s: a result is a VTKHDF file, so its name ends in .vtkhdf, or in .vtu "
        "for one in XML",
        path);
    weft_error_hint(error, "write --output FILE.vtkhdf");
    return WEFT_ERROR_USAGE;
}
