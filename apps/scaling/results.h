/** What the runs of a study have come to: figures of each case, and the files that hold them. */
#pragma once

#include "apps/scaling/scaling.h"

/* ---- results (apps/scaling/results.c) --------------------------------------------------------- */

enum { SCALING_PHASES_MAX = 32, SCALING_PHASE_NAME = 32 };

/** Numbers of a case's runs; the median over them where they differ, NaN where the app does not
 *  say. */
typedef enum scaling_figure {
    SCALING_CELLS,
    SCALING_NODES,
    SCALING_DOFS,
    SCALING_DIMENSION,
    SCALING_ITERATIONS,
    SCALING_L2_ERROR,
    SCALING_H1_ERROR,
    SCALING_BYTES_PEAK,    /* of the process */
    SCALING_BYTES_DEVICE,  /* made on the device at most */
    SCALING_BYTES_PRODUCT, /* that a product of the operator moves, as predicted */
    SCALING_L2_ORDER,      /* from here on derived: against the level before */
    SCALING_H1_ORDER,
    SCALING_DOFS_PER_SECOND,     /* dofs * iterations / median seconds of the solve */
    SCALING_SECONDS_PER_DOF,     /* the basis / dofs */
    SCALING_SPEED_UP,            /* the basis of the first case of this level / of this one */
    SCALING_THREADS,             /* of host:N */
    SCALING_PARALLEL_SPEED_UP,   /* against the fewest threads of this level and assembly */
    SCALING_PARALLEL_EFFICIENCY, /* that, and threads in proportion */
    SCALING_FIGURES
} scaling_figure;
/** "cells", ...: the key in files. */
const char *scaling_figure_name(scaling_figure figure);

typedef struct scaling_result {
    const scaling_case *item; /* borrowed */
    const char *error;        /* borrowed: why there are no runs, or NULL */
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
    int basis; /* the phase that speed-ups are made of: "compute", or "process" without that */
    scaling_result *results; /* [cases->n_cases] */
    int n_missing;           /* runs still to be done */
} scaling_results;
/** failed: [n_cases] why a case was given up, or NULL; borrowed.  Errors  WEFT_ERROR_MEMORY */
weft_status scaling_results_make(const scaling_options *options, const scaling_cases *cases,
                                 const scaling_study *study, char *const *failed,
                                 scaling_results *out, weft_error *error);
void scaling_results_clear(scaling_results *results);
/** The position of a phase, or -1. */
int scaling_phase_find(const scaling_results *results, const char *name);

/** Has it no runs, or not converged in one? */
bool scaling_result_failed(const scaling_results *results, const scaling_result *result);

/* ---- files in the folder ----------------------------------------------------------------- */

enum { SCALING_PLOTS_MAX = 8 };
/** The plots that there are: NAME.svg and NAME.png, once they are drawn. */
typedef struct scaling_plots {
    const char *names[SCALING_PLOTS_MAX], *titles[SCALING_PLOTS_MAX];
    int n;
    bool drawn;
} scaling_plots;

/** results.json, results.csv, report.md. Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status scaling_json_write(const char *folder, const scaling_results *results,
                               const json_t *configuration, weft_error *error);
weft_status scaling_csv_write(const char *folder, const scaling_results *results,
                              weft_error *error);
weft_status scaling_report_write(const char *folder, const scaling_results *results,
                                 const scaling_plots *plots, weft_error *error);
/** plots.gp, which holds its data. */
weft_status scaling_plots_write(const char *folder, const scaling_results *results,
                                scaling_plots *plots, weft_error *error);
/** Run gnuplot on it where it is installed; where not, that is logged. */
weft_status scaling_plots_draw(const char *folder, const weft_monitor *monitor,
                               scaling_plots *plots, int *stopped, weft_error *error);
