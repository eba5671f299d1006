/** The app scaling, in flow order:
 *
 *      options -> cases -> study (what is done already) -> runs -> results -> files and plots
 *
 *  A case is one mesh, assembly and device. Each of its runs is a fresh process of poisson or
 *  advection_diffusion, whose JSON goes as one line into DIR/study.jsonl before the next is
 * started; so whatever stops a study, the same command goes on with it. */
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
/** Add the pieces of text to the list. Errors  WEFT_ERROR_USAGE: an empty or a doubled piece;
 * WEFT_ERROR_MEMORY */
weft_status scaling_list_add(const char *option, const char *text, scaling_list *list,
                             weft_error *error);
weft_status scaling_list_append(scaling_list *list, const char *text, weft_error *error);
void scaling_list_clear(scaling_list *list);

/** What an app is asked where the user gives no problem after "--". (apps/scaling/apps.c) */
typedef struct scaling_app {
    const char *name, *success;           /* the outcome that is no failure */
    const char *const *problem_options;   /* any of these is a problem of the user's; NULL ends */
    const char *const *default_arguments; /* with a known solution; NULL ends */
    /* Of an app that steps in time, NULL and 0 otherwise: --velocity in the plane and in space; the
     * time that --dt and --steps of each mesh make up, dt being courant * a mean cell's side. */
    const char *const *default_velocity;
    double default_time, default_courant;
} scaling_app;
const scaling_app *scaling_app_at(int index);
/** Names of the apps; returns how many. */
int scaling_app_names(const char *names[4]);

typedef struct scaling_options {
    int app;
    const char *out;                  /* borrowed from argv */
    scaling_list meshes, sizes;       /* names; texts of numbers */
    scaling_list assemblies, devices; /* names */
    scaling_list threads;             /* texts of numbers */
    weft_mesh_options reading;        /* its size is not used */
    int *refine, n_refine;            /* malloc'd, ascending */
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

/* ---- cases (apps/scaling/cases.c, apps/scaling/levels.c) ------------------------------------------ */

/** A mesh with its size and refinement: one point of the horizontal axis. */
typedef struct scaling_level {
    char *name;    /* "square:64", "part.geo, size 0.1, refined 2 times" */
    char *mesh;    /* for --mesh of the app */
    char *file;    /* as the user has named it */
    char size[40]; /* mesh size of a .geo file; empty: none */
    int refine;
    char dt[40], steps[16]; /* what the study gives to an app that steps; else empty */
    const char *velocity;   /* with them, of the default problem */
    bool by_gmsh;           /* read by Gmsh: numbered at random, so the app is to order it */
    char hash[33];          /* of the file; empty: built in */
} scaling_level;

typedef struct scaling_case {
    const scaling_level *level;
    const char *assembly;
    const char *device; /* as for --device */
    char *name;         /* "square:64 | csr | host:2", the key of its lines */
} scaling_case;

typedef struct scaling_cases {
    scaling_level *levels;
    int n_levels;
    scaling_list devices;      /* with --threads worked in */
    char (*device_names)[128]; /* [devices.n], what they call themselves */
    char machine[128], program_hash[33];
    char program[4096];     /* the app, absolute */
    bool own_problem;       /* of the user's */
    scaling_list arguments; /* the user's, or the app's default problem */
    scaling_case *cases;    /* levels outermost, then devices, then assemblies */
    int n_cases;
} scaling_cases;
/** Find the app and the devices, and write out every case.
 *  Errors  WEFT_ERROR_USAGE, WEFT_ERROR_IO (a mesh file is not there), WEFT_ERROR_DEVICE,
 *          WEFT_ERROR_UNSUPPORTED (the app is not there), WEFT_ERROR_MEMORY */
weft_status scaling_cases_make(const scaling_options *options, const weft_monitor *monitor,
                               scaling_cases *out, weft_error *error);
void scaling_cases_clear(scaling_cases *cases);
/** The hash of a whole file. Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status scaling_file_hash(const char *path, char out[33], weft_error *error);
/** The levels of the meshes, sizes and refinements. (apps/scaling/levels.c) */
weft_status scaling_levels_make(const scaling_options *options, scaling_cases *out,
                                weft_error *error);
/* ---- the study on disk (apps/scaling/study.c, apps/scaling/configuration.c)
 * ---------------------------- */

/** What was asked, as JSON: a study is resumed by the same question alone. The caller's;
 *  NULL where memory is out. (apps/scaling/configuration.c) */
json_t *scaling_configuration_make(const scaling_options *options, const scaling_cases *cases);
/** Errors  WEFT_ERROR_USAGE: they differ (says in what, with both answers) */
weft_status scaling_configuration_compare(const char *path, const json_t *before, const json_t *now,
                                          weft_error *error);

/** DIR/study.jsonl, locked: the question on its first line, then a line a run. */
typedef struct scaling_study {
    char *path;
    int file; /* -1: not open */
    json_t *configuration;
    json_t **records; /* [n_cases * rounds]: what has been run, NULL where it has not */
    int n_cases, rounds;
} scaling_study;
/** Open or begin. The last line is cut where it is not whole: its run was interrupted.
 *  question  taken over
 *  Errors  WEFT_ERROR_USAGE: another question, another process has it, or a folder of other things;
 *          WEFT_ERROR_INPUT: a line is no record; WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status scaling_study_open(const char *folder, json_t *configuration,
                               const scaling_cases *cases, int rounds, scaling_study *out,
                               weft_error *error);
/** Append a record, on disk when this returns; taken over. Records with "error" are not kept in
 *  place: they are tried again when the study is resumed.  Errors  WEFT_ERROR_IO, _MEMORY */
weft_status scaling_study_add(scaling_study *study, int index, int round, json_t *record,
                              weft_error *error);
json_t *scaling_study_at(const scaling_study *study, int index, int round);
void scaling_study_close(scaling_study *study);

/* ---- meshes and runs (apps/scaling/meshes.c, apps/scaling/runs.c, apps/scaling/progress.c) ---------------- */

/** Mesh each .geo file, and read each .msh file, once, into DIR/meshes, so that no run waits for
 *  Gmsh; what is there already stays. (apps/scaling/meshes.c)
 *  Errors  those of weft_mesh_read and weft_result_write */
weft_status scaling_meshes_make(const scaling_options *options, const weft_monitor *monitor,
                                const scaling_study *study, scaling_cases *cases,
                                weft_error *error);

/** The time steps of each level with runs to do: those of the default problem in proportion to the
 *  cells; with --fit-dt the user's, as given on the first level. (apps/scaling/steps.c)
 *  Errors  those of weft_mesh_read */
weft_status scaling_steps_make(const scaling_options *options, const weft_monitor *monitor,
                               const scaling_study *study, scaling_cases *cases, weft_error *error);
/** Errors  WEFT_ERROR_USAGE: --fit-dt without --dt and --steps to fit */
weft_status scaling_steps_check(const scaling_options *options, const scaling_cases *cases,
                                weft_error *error);
/** Is a run of this level still to be done? */
bool scaling_level_needed(const scaling_cases *cases, const scaling_study *study,
                          const scaling_level *level);

/** What is drawn on a terminal: how far, what runs, how many are left, seconds left. */
typedef struct scaling_progress {
    app_messages *messages; /* borrowed, as are cases and study */
    const scaling_cases *cases;
    const scaling_study *study;
    double *typical;          /* [n_cases] seconds of a run, 0: none yet */
    char **failed;            /* [n_cases] why a case was given up, or NULL */
    int current, round, done; /* done: by this process */
} scaling_progress;
weft_status scaling_progress_make(app_messages *messages, const scaling_cases *cases,
                                  const scaling_study *study, scaling_progress *out,
                                  weft_error *error);
void scaling_progress_clear(scaling_progress *progress);
void scaling_progress_draw(void *progress);

/** Do what is left, round after round over all cases, so that a slow hour of the machine touches
 *  all alike. A case that fails is given up. *stopped: the signal that stopped it, else 0.
 *  Errors  those of the study's file and of starting a process */
weft_status scaling_runs_do(const scaling_cases *cases, scaling_study *study,
                            scaling_progress *progress, int *stopped, weft_error *error);
