/** The files of a run: which of them options read and write. */
#pragma once

#include "apps/common/run_options.h"

/** Options of files that runs in time write meanwhile. Texts are borrowed from argv; NULL: not given. */
typedef struct app_time_options {
    int output_every; /* steps between those of the series of --output; 0: not by steps */
    bool overwrite;   /* an existing series */
    const char *checkpoint, *resume;
    const char *resume_option; /* the name of the option, set by the program */
    int checkpoint_every;      /* steps; 0: only at the end */
    const char *history;       /* a CSV file */
    int history_every;         /* steps; 0: 1 */
} app_time_options;

/** Refuse that an option writes over another file of the run. But a checkpoint may replace the one that the run started
 *  from, and a result the mesh, which it contains.
 *  script  of the forms; NULL: none
 *  time    NULL: the run is not in time
 *  Errors  WEFT_ERROR_USAGE */
weft_status app_files_check(const app_run_options *options, const char *script,
                            const app_time_options *time, weft_error *error);
/** Is `path`, or NULL, a name for the result of a stationary problem?
 *  Errors  WEFT_ERROR_USAGE: it does not end in .vtkhdf or .vtu */
weft_status app_output_check(const char *path, weft_error *error);
