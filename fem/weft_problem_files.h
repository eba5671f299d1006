/** Files of a problem in time: a series of its results, and checkpoints from which a run continues.
 *
 *      problem -> weft_problem_resume_choices   the options that were chosen by the run that is continued
 *              -> weft_problem_in_time          the integration
 *              -> weft_problem_files_make       it stands where the checkpoint was written
 *              -> weft_problem_files_begin      the series has the start
 *              -> steps, each between weft_problem_files_before and weft_problem_files_after
 *              -> weft_problem_files_end        the last checkpoint
 *
 *  A run that is continued has bitwise the results of one that was not interrupted and wrote the same checkpoints. */
#ifndef WEFT_PROBLEM_FILES_H
#define WEFT_PROBLEM_FILES_H

#include "fem/weft_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Start from weft_problem_files_options_default. Strings are borrowed, and must outlive the files. */
typedef struct weft_problem_files_options {
    size_t size; /* sizeof(weft_problem_files_options) */
    const char
        *output;      /* a time series, NAME.pvd or NAME.vtkhdf, of fem/weft_result.h; NULL: none */
    int output_every; /* number of steps; 0: only the start and the end. Not with a tolerance in time */
    double output_interval; /* of time, at whose ends steps end; 0: none */
    bool overwrite;         /* replace an existing series instead of refusing */
    const char *statement;  /* a text that the series carries; may be NULL */
    const char *checkpoint; /* NAME.vtkhdf; NULL: none */
    int checkpoint_every;   /* number of steps; 0: only at the end */
    const char *resume;     /* the checkpoint to continue from, as is the series; NULL: none */
} weft_problem_files_options;
static inline weft_problem_files_options weft_problem_files_options_default(void) {
    weft_problem_files_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

/** Of a run that continues from a checkpoint, before weft_problem_in_time: keep the choices that WEFT_AUTO stood for.
 *  path    of the checkpoint; NULL: no effect
 *  Errors  those of weft_checkpoint_problem; the preconditioner is not known */
weft_status weft_problem_resume_choices(const char *path, weft_problem_options *options,
                                        weft_error *error);

typedef struct weft_problem_files weft_problem_files;
/** Check the names, and continue from a checkpoint.
 *  problem, transient  of weft_problem_in_time; borrowed, as is options. Where the transient is divided among ranks, all make
 *                      files, the first one with the problem on the whole mesh, others with theirs; it writes and reads them
 *  state               of the last step, borrowed: whoever makes steps keeps it. Set where a checkpoint is continued
 *  out                 caller's; weft_problem_files_free, before the transient
 *  Errors              WEFT_ERROR_USAGE: two files have one name, a name ends otherwise, the checkpoint is of a time after
 *                      the end, or steps are counted that a tolerance chooses; those of weft_series_check,
 *                      weft_result_check and weft_checkpoint_read; *out untouched */
weft_status weft_problem_files_make(weft_problem *problem, weft_transient *transient,
                                    const weft_problem_files_options *options,
                                    weft_transient_state *state, weft_problem_files **out,
                                    weft_error *error);
/** Open the series and write the present state to it, where it is due.
 *  Errors  those of weft_series_make */
weft_status weft_problem_files_begin(weft_problem_files *files, weft_error *error);
/** Call it before each step. After a checkpoint operator and preconditioner are set up again, as in a run that continues.
 *  Returns  the time after which the step must not end: that of the next output, or the end */
double weft_problem_files_before(weft_problem_files *files);
/** Call it after each step that was made: write what is due.
 *  Errors  those of weft_series_add and weft_checkpoint_write */
weft_status weft_problem_files_after(weft_problem_files *files, weft_error *error);
/** Write the checkpoint, unless this state was written, and close the series. A second call has no effect.
 *  Errors  those of weft_checkpoint_write and weft_series_close */
weft_status weft_problem_files_end(weft_problem_files *files, weft_error *error);
/** Close the series, without a checkpoint. */
void weft_problem_files_free(weft_problem_files **files);

#ifdef __cplusplus
}
#endif
#endif
