/** The app scaling, in flow order:
 *
 *      options -> cases -> study (runs done already) -> runs -> results -> files and plots
 *
 *  A case is one mesh, assembly and device. Each run is a new process of poisson or
 *  advection_diffusion, whose JSON is appended as one line to DIR/study.jsonl before the next run
 *  starts. An interrupted study is resumed by the same command. */
#pragma once

#include "apps/common/statistics.h"
#include "apps/common/support.h"
#include "fem/weft_fem.h"

/* ---- options (apps/scaling/options.c) -------------------------------------------------------- */

/** Pieces of "A,B,C". Free with scaling_list_clear. */
typedef struct scaling_list {
    char **items; /* malloc'd, each too */
    int n;
} scaling_list;
/** Split text at commas and append the pieces to the list.
 *  Errors  WEFT_ERROR_USAGE: an empty or a repeated piece; WEFT_ERROR_MEMORY */
weft_status scaling_list_add(const char *option, const char *text, scaling_list *list,
                             weft_error *error);
/** Append a copy of text to the list. */
weft_status scaling_list_append(scaling_list *list, const char *text, weft_error *error);
void scaling_list_clear(scaling_list *list);

/** An app, with its default problem if the user gives none after "--". (apps/scaling/apps.c) */
typedef struct scaling_app {
    const char *name, *success;           /* the outcome that means success */
    const char *const *problem_options;   /* options of a user's problem; NULL-terminated */
    const char *const *default_arguments; /* with a known solution; NULL-terminated */
    /* options besides; NULL-terminated, or NULL: no --preconditioner either */
    const char *const *default_solver;
    /* Time-dependent apps only, else NULL and 0: --velocity in 2 and in 3 dimensions; the end time
     * dt * steps, with dt = courant * mean side of a cell. */
    const char *const *default_velocity;
    double default_time, default_courant;
} scaling_app;
const scaling_app *scaling_app_at(int index);
/** Get the names of the apps; returns their number. */
int scaling_app_names(const char *names[4]);

typedef struct scaling_options {
    int app;
    const char *out;                  /* borrowed from argv */
    scaling_list meshes, sizes;       /* names; texts of numbers */
    scaling_list assemblies, devices; /* names */
    /* names; empty: Jacobi's, unless the app's arguments say otherwise */
    scaling_list preconditioners;
    scaling_list threads;      /* texts of numbers */
    weft_mesh_options reading; /* its cell_size is unused */
    int *refine, n_refine;     /* malloc'd, ascending */
    int repeat, warmup;
    bool no_plots, fit_dt;
    char *const *arguments; /* after "--"; borrowed from argv */
    int n_arguments;
    app_verbosity verbosity;
} scaling_options;
/** Read the command line. --help, --usage and --version print and exit.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_MEMORY */
weft_status scaling_options_read(int argc, char **argv, scaling_options *out, weft_error *error);
void scaling_options_clear(scaling_options *options);

/* ---- cases (apps/scaling/cases.c, apps/scaling/levels.c) ------------------------------------- */

/** A mesh with its size and refinement: one point of a plot's horizontal axis. */
typedef struct scaling_level {
    char *name;    /* "square:64", "part.geo, size 0.1, refined 2 times" */
    char *mesh;    /* for --mesh of the app */
    char *file;    /* as named by the user */
    char size[40]; /* mesh size of a .geo file; empty: none */
    int refine;
    char dt[40], steps[16]; /* set for time-dependent apps; else empty */
    const char *velocity;   /* of the default problem, for time-dependent apps */
    bool by_gmsh;           /* made by Gmsh with a random numbering, so the app orders it */
    char hash[33];          /* of the file; empty: built in */
} scaling_level;

typedef struct scaling_case {
    const scaling_level *level;
    const char *assembly;       /* as for --assembly */
    const char *preconditioner; /* as for --preconditioner; NULL: not set by the study */
    const char *device;         /* as for --device */
    char *system;               /* "csr", or "csr with multigrid" */
    char *name;                 /* "square:64 | csr | host:2", the key of its lines */
} scaling_case;

typedef struct scaling_cases {
    scaling_level *levels;
    int n_levels;
    scaling_list devices;      /* with the numbers of --threads */
    char (*device_names)[128]; /* [devices.n] as the devices report them */
    char machine[128], program_hash[33];
    char program[4096];     /* the app, absolute */
    bool own_problem;       /* the user has given a problem */
    scaling_list arguments; /* the user's, or the app's default problem */
    /* [n_cases], loops from the outermost: levels, devices, assemblies, preconditioners */
    scaling_case *cases;
    int n_cases;
} scaling_cases;
/** Find the app and the devices, and list all cases.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_IO (a mesh file is not there), WEFT_ERROR_DEVICE,
 *          WEFT_ERROR_UNSUPPORTED (the app is not there), WEFT_ERROR_MEMORY */
weft_status scaling_cases_make(const scaling_options *options, const weft_monitor *monitor,
                               scaling_cases *out, weft_error *error);
void scaling_cases_clear(scaling_cases *cases);
/** The hash of a whole file.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status scaling_file_hash(const char *path, char out[33], weft_error *error);
/** Make the levels from meshes, sizes and refinements. (apps/scaling/levels.c) */
weft_status scaling_levels_make(const scaling_options *options, scaling_cases *out,
                                weft_error *error);
/* ---- the study on disk (apps/scaling/study.c, apps/scaling/configuration.c) ------------------ */

/** The configuration as JSON: a study is resumed only with the same one.
 *  Returns  the caller's; NULL if memory is out */
json_t *scaling_configuration_make(const scaling_options *options, const scaling_cases *cases);
/** Compare two configurations.
 *  Errors  WEFT_ERROR_USAGE: they differ (names the differences, with both values) */
weft_status scaling_configuration_compare(const char *path, const json_t *before, const json_t *now,
                                          weft_error *error);

/** DIR/study.jsonl, locked: the configuration in its first line, then one line per run. */
typedef struct scaling_study {
    char *path;
    int file; /* -1: not open */
    json_t *configuration;
    json_t **records; /* [n_cases * rounds], NULL if not run yet */
    int n_cases, rounds;
} scaling_study;
/** Open or create a study. An incomplete last line (an interrupted run) is removed.
 *  configuration  taken over
 *  out            caller's; scaling_study_close
 *  Errors         WEFT_ERROR_USAGE: another configuration, in use by another process, or a
 *  directory
 *                 with other files; WEFT_ERROR_INPUT: a line is not a record; WEFT_ERROR_IO,
 *                 WEFT_ERROR_MEMORY */
weft_status scaling_study_open(const char *folder, json_t *configuration,
                               const scaling_cases *cases, int rounds, scaling_study *out,
                               weft_error *error);
/** Append a record and flush it to disk. A record with "error" does not count as a run: it is tried
 *  again when the study is resumed.
 *  record  taken over
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status scaling_study_add(scaling_study *study, int index, int round, json_t *record,
                              weft_error *error);
json_t *scaling_study_at(const scaling_study *study, int index, int round);
void scaling_study_close(scaling_study *study);

/* ---- meshes and runs (apps/scaling/meshes.c, apps/scaling/runs.c, apps/scaling/progress.c)
 * ---- */

/** Mesh each .geo file and convert each .msh file once, into DIR/meshes, so that no run waits for
 *  Gmsh. Existing meshes are kept. (apps/scaling/meshes.c)
 *  Errors  those of weft_mesh_read and weft_result_write */
weft_status scaling_meshes_make(const scaling_options *options, const weft_monitor *monitor,
                                const scaling_study *study, scaling_cases *cases,
                                weft_error *error);

/** Make a folder unless it exists.
 *  Errors  WEFT_ERROR_IO */
weft_status scaling_folder_make(const char *path, weft_error *error);

/** Set the time steps of each level with remaining runs: for the default problem in proportion to
 *  the cell size; with --fit-dt likewise, starting from the user's on the first level.
 *  (apps/scaling/steps.c)
 *  Errors  those of weft_mesh_read */
weft_status scaling_steps_make(const scaling_options *options, const weft_monitor *monitor,
                               const scaling_study *study, scaling_cases *cases, weft_error *error);
/** Check the options of time steps.
 *  Errors  WEFT_ERROR_USAGE: --fit-dt without --dt and --steps */
weft_status scaling_steps_check(const scaling_options *options, const scaling_cases *cases,
                                weft_error *error);
/** Does this level have remaining runs? */
bool scaling_level_needed(const scaling_cases *cases, const scaling_study *study,
                          const scaling_level *level);

/** Progress on a terminal: the current run, the number of remaining runs, and the remaining
 *  time. */
typedef struct scaling_progress {
    app_messages *messages; /* borrowed, as are cases and study */
    const scaling_cases *cases;
    const scaling_study *study;
    double *typical;          /* [n_cases] seconds per run; 0: none yet */
    char **failed;            /* [n_cases] reason why a case was abandoned, or NULL */
    int current, round, done; /* done: by this process */
} scaling_progress;
weft_status scaling_progress_make(app_messages *messages, const scaling_cases *cases,
                                  const scaling_study *study, scaling_progress *out,
                                  weft_error *error);
void scaling_progress_clear(scaling_progress *progress);
void scaling_progress_draw(void *progress);

/** Do the remaining runs, in rounds over all cases, so that slow periods of the machine affect all
 *  cases alike. A case that fails is abandoned.
 *  stopped  the signal that stopped the runs, or 0
 *  Errors   those of the study's file and of starting a process */
weft_status scaling_runs_do(const scaling_cases *cases, scaling_study *study,
                            scaling_progress *progress, int *stopped, weft_error *error);
