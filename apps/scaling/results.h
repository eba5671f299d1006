/** Results of a study. In: its cases and their runs. Out: figures per case, and files with them. */
#pragma once

#include "apps/scaling/scaling.h"

/* ---- results (apps/scaling/results.c) -------------------------------------------------------- */

enum { SCALING_PHASES_MAX = 32, SCALING_PHASE_NAME = 32 };

/** Figures of a case: the median over its runs; NaN if the app does not report it. */
typedef enum scaling_figure {
    SCALING_CELLS,
    SCALING_NODES,
    SCALING_DOFS,
    SCALING_DIMENSION,
    SCALING_ITERATIONS,
    SCALING_L2_ERROR,
    SCALING_H1_ERROR,
    SCALING_BYTES_PEAK,    /* of the process */
    SCALING_BYTES_DEVICE,  /* peak on the device */
    SCALING_BYTES_PRODUCT, /* predicted memory traffic of one operator application */
    SCALING_L2_ORDER,      /* from here on derived. Orders are relative to the previous level */
    SCALING_H1_ORDER,
    SCALING_DOFS_PER_SECOND,     /* dofs * iterations / median seconds of the solve */
    SCALING_SECONDS_PER_DOF,     /* seconds of the basis phase / dofs */
    SCALING_SPEED_UP,            /* basis seconds of the level's first case / of this case */
    SCALING_THREADS,             /* of host:N */
    SCALING_PARALLEL_SPEED_UP,   /* relative to the fewest threads, same level and assembly */
    SCALING_PARALLEL_EFFICIENCY, /* parallel speed-up / ratio of the threads */
    SCALING_FIGURES
} scaling_figure;
/** The key of a figure in files: "cells", ... */
const char *scaling_figure_name(scaling_figure figure);

typedef struct scaling_result {
    const scaling_case *item; /* borrowed */
    const char *error;        /* borrowed: the reason why there are no runs, or NULL */
    int n_runs;
    char outcome[32], device_name[128];
    double figures[SCALING_FIGURES];
    app_spread iterations;
    double *values[SCALING_PHASES_MAX]; /* [n_runs] seconds, ascending, malloc'd; or NULL */
    app_spread phases[SCALING_PHASES_MAX];
} scaling_result;

typedef struct scaling_results {
    const scaling_options *options; /* borrowed, as are cases */
    const scaling_cases *cases;
    char phases[SCALING_PHASES_MAX]
               [SCALING_PHASE_NAME]; /* in the app's order, then "compute", "process" */
    int n_phases;
    int basis;               /* the phase that speed-ups refer to: "compute", else "process" */
    scaling_result *results; /* [cases->n_cases] */
    int n_missing;           /* remaining runs */
} scaling_results;
/** Compute the results of a study.
 *  failed  [n_cases] reason why a case was abandoned, or NULL; borrowed
 *  out     caller's; scaling_results_clear
 *  Errors  WEFT_ERROR_MEMORY */
weft_status scaling_results_make(const scaling_options *options, const scaling_cases *cases,
                                 const scaling_study *study, char *const *failed,
                                 scaling_results *out, weft_error *error);
void scaling_results_clear(scaling_results *results);
/** The index of a phase, or -1. */
int scaling_phase_find(const scaling_results *results, const char *name);

/** Does the case have no runs, or one that has not converged? */
bool scaling_result_failed(const scaling_results *results, const scaling_result *result);

/* ---- files in the folder ----------------------------------------------------------------- */

enum { SCALING_PLOTS_MAX = 8 };
/** The plots of a study. Once drawn, each exists as NAME.svg and NAME.png. */
typedef struct scaling_plots {
    const char *names[SCALING_PLOTS_MAX], *titles[SCALING_PLOTS_MAX];
    int n;
    bool drawn;
} scaling_plots;

/** Write results.json, results.csv and report.md into a directory.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status scaling_json_write(const char *folder, const scaling_results *results,
                               const json_t *configuration, weft_error *error);
weft_status scaling_csv_write(const char *folder, const scaling_results *results,
                              weft_error *error);
weft_status scaling_report_write(const char *folder, const scaling_results *results,
                                 const scaling_plots *plots, weft_error *error);
/** Write plots.gp, a gnuplot script that holds its data. */
weft_status scaling_plots_write(const char *folder, const scaling_results *results,
                                scaling_plots *plots, weft_error *error);
/** Run gnuplot on plots.gp if it is installed; otherwise log that it is not.
 *  stopped  the signal that stopped gnuplot, if any */
weft_status scaling_plots_draw(const char *folder, const weft_monitor *monitor,
                               scaling_plots *plots, int *stopped, weft_error *error);
