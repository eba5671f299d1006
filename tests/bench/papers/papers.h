/** bench_papers: the tables and figures of the five papers behind Weft, measured on the device at hand: bench_papers --help
 *
 *      main.c       command line
 *      chart.c      SVG
 *      output.c     data, charts, and lines that compare with a paper
 *      fousek.c     Fousek, Filipovic and Madzin 2011: figures 4 and 5, ratios, times of compiling
 *      filipovic.c  Filipovic, Madzin, Fousek and Matyska 2015: tables 2 to 5, figures 5 and 6
 *      dey.c        Dey's slides of 2020: throughput over coarsening factors
 *      kurzak.c     Kurzak, Tomov and Dongarra 2011: figure 5, table 2
 *      markall.c    Markall, Ham and Kelly 2010: figure 5, table 1, colouring
 *
 *  In: a paper's name, a device. Out: in FOLDER/NAME the data NAME.json, charts as SVG and comparison.txt.
 *  A null device computes nothing: what it has instead of times are predictions, and all of the output says so. */
#pragma once

#include "apps/common/support.h"
#include "chart.h"
#include "core/weft_tuning.h"
#include "fusion/weft_library.h"

typedef struct papers_options {
    const char *device, *out, *programs; /* programs: the folder of Weft's programs */
    bool quick;
    double seconds;      /* of each search for dense products */
    int threads, blocks; /* kurzak: guidelines; 0: those of table 1 */
    double reuse;
    const char *names[8];
    int n_names;
} papers_options;

typedef struct paper_run paper_run;

typedef struct paper {
    const char *name, *title, *hardware; /* hardware: of the paper */
    weft_status (*make)(paper_run *run, weft_error *error);
} paper;
extern const paper paper_fousek, paper_filipovic, paper_dey, paper_kurzak, paper_markall;

/** Everything that one paper's tables need. */
struct paper_run {
    const papers_options *options;
    const paper *paper;
    weft_device *device;
    const weft_limits *limits;
    bool predicts;         /* the device computes nothing */
    bool gpu;              /* it has threads */
    const char *kind;      /* "measured" or "predicted" */
    weft_library *library; /* the shipped functions */
    weft_arena *arena;
    const weft_monitor *monitor;
    char folder[1024];
    json_t *data; /* of NAME.json */
    weft_text lines;
};

/** Add to the data. Errors WEFT_ERROR_MEMORY */
weft_status paper_set(paper_run *run, const char *key, json_t *value, weft_error *error);
/** Add a line that compares, to the data, to comparison.txt and to what is printed.
 *  what    such as "best over unfused"
 *  theirs  the paper's; NAN: it gives no number
 *  ours    NAN: nothing is added
 *  unit    "" for ratios */
weft_status paper_compare(paper_run *run, const char *what, double theirs, double ours,
                          const char *unit, weft_error *error);
/** The same for what is counted, and so the same on every device. */
weft_status paper_compare_count(paper_run *run, const char *what, double theirs, double ours,
                                const char *unit, weft_error *error);
/** The same for what is not there, and why. */
weft_status paper_leave_out(paper_run *run, const char *what, const char *why, weft_error *error);
/** The same for any remark. */
weft_status paper_remark(paper_run *run, weft_error *error, const char *format, ...)
    WEFT_PRINTF(3, 4);
/** Write FOLDER/NAME/FIGURE.svg, with the device and whether it was measured as its second line. */
weft_status paper_draw(paper_run *run, const char *figure, paper_chart *chart, weft_error *error);
/** Median of n values, which are sorted. */
double paper_median(double *values, int n);

/** Make a paper's folder with all it has. */
weft_status paper_make(const papers_options *options, const paper *about,
                       const weft_monitor *monitor, weft_error *error);
