/** The functions of plug-ins for solvers of other libraries on one or several ranks, which the compiler of MPI compiles when they
 *  are first asked for (fem/external/plugin.h). All are called by one thread; those with a solver by all its ranks, in one order. */
#pragma once

#include <stdint.h>

enum { WEFT_FOREIGN_MESSAGE = 512 };
/** What has happened; besides OK, with a message [WEFT_FOREIGN_MESSAGE]. */
typedef enum weft_foreign_outcome {
    WEFT_FOREIGN_OK,
    WEFT_FOREIGN_MEMORY,
    WEFT_FOREIGN_UNSUPPORTED, /* of this library, or of this build of it */
    WEFT_FOREIGN_USAGE,       /* an option that it does not know */
    WEFT_FOREIGN_INPUT,       /* the matrix does not suit */
    WEFT_FOREIGN_FAILED
} weft_foreign_outcome;

/** The rows of a matrix that this rank owns, of which there is at least one. Ranks own ranges of the whole. Borrowed for the call. */
typedef struct weft_foreign_rows {
    const void *comm; /* address of the ranks' MPI_Comm; NULL: this process alone */
    int n;
    int64_t first, n_whole;        /* the number of the first row, and of all rows, in the whole */
    const int *rows;               /* [n] their places in what follows */
    const int *row_start;
    const int *columns;            /* of each entry, a place in `numbers` */
    const int64_t *numbers;        /* in the whole */
    const double *values;
    int components, dimension;     /* rows of a node stand together, on one rank */
    const double *coordinates;     /* [n / components][dimension]; NULL: unknown */
    int is_singular, is_general;   /* the constants are its null space; it need not be symmetric */
} weft_foreign_rows;

typedef struct weft_foreign weft_foreign;
typedef struct weft_foreign_plugin {
    /** Start the library, and MPI, unless they run.
     *  library  a handle of dlopen; find: dlsym
     *  comm     see weft_foreign_rows
     *  options  that may matter to its start; NULL: none
     *  stays    set to 1 if the plug-in must stay in the process until `stop`: MPI calls it when it ends */
    weft_foreign_outcome (*start)(void *library, void *(*find)(void *, const char *), const void *comm,
                                  const char *options, int *stays, char *message);
    /** options  of the library, in its own syntax; NULL: none
     *  out      the caller's, to be freed, also after an error */
    weft_foreign_outcome (*make)(const weft_foreign_rows *rows, const char *method,
                                 const char *options, weft_foreign **out, char *message);
    /** Set up for other values of the same rows. */
    weft_foreign_outcome (*update)(weft_foreign *solver, const weft_foreign_rows *rows,
                                   char *message);
    /** z = M^-1 r, [n] each. */
    weft_foreign_outcome (*apply)(weft_foreign *solver, const double *r, double *z, char *message);
    /** A x = b by the library's own Krylov method, from zero. */
    weft_foreign_outcome (*solve)(weft_foreign *solver, const double *b, double *x,
                                  double tolerance, int max_iterations, int *iterations,
                                  int *converged, char *message);
    /** Its version and what it does. */
    void (*describe)(const weft_foreign *solver, char *out, int size);
    void (*free)(weft_foreign *solver);
    /** End MPI, if `start` has started it, and with it the library. */
    void (*stop)(void);
} weft_foreign_plugin;
