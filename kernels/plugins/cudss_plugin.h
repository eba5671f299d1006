/** The functions of the plug-in for cuDSS, which is compiled when it is first asked for (fem/external/plugin.h). All run
 *  with the device's context current, and start their work on the system's stream. */
#pragma once

#include <stdint.h>

typedef enum weft_cudss_outcome {
    WEFT_CUDSS_OK,
    WEFT_CUDSS_MEMORY,   /* not enough on the device */
    WEFT_CUDSS_SINGULAR, /* a pivot is zero */
    WEFT_CUDSS_FAILED    /* weft_cudss_report.code says how */
} weft_cudss_outcome;

/* Addresses are the device's, and stay as they are. */
typedef struct weft_cudss_system {
    int64_t n, n_entries;
    const int32_t *row_start, *columns; /* [n + 1], [n_entries]; of a symmetric matrix the upper triangle */
    const double *values;               /* [n_entries] */
    double *b, *x;                      /* [n]: A x = b */
    void *stream;
    int is_symmetric;
} weft_cudss_system;

typedef struct weft_cudss_report {
    int code;             /* of cuDSS's function that failed last */
    int64_t n_perturbed;  /* pivots that were too small, and replaced */
    int64_t n_factors;    /* entries of the factors */
    int64_t device_bytes; /* at the peak; 0: unknown */
} weft_cudss_report;

typedef struct weft_cudss_solver weft_cudss_solver;
typedef struct weft_cudss_plugin {
    /** library  a handle of dlopen; find: dlsym
     *  out      the caller's, to be freed, also after an error */
    weft_cudss_outcome (*make)(void *library, void *(*find)(void *, const char *),
                               const weft_cudss_system *system, weft_cudss_solver **out);
    /** Factorise the present values, with rows permuted by size if matches is set.
     *  analyses  look at the pattern first */
    weft_cudss_outcome (*factorise)(weft_cudss_solver *solver, int analyses, int matches);
    weft_cudss_outcome (*solve)(weft_cudss_solver *solver);
    void (*report)(const weft_cudss_solver *solver, weft_cudss_report *out);
    void (*free)(weft_cudss_solver *solver);
    /** The version of a library, [3]. Returns whether it is that of the header. */
    int (*version)(void *library, void *(*find)(void *, const char *), int *out);
} weft_cudss_plugin;
