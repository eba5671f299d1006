/* The table of libraries, and their common functions. Not installed. */
#pragma once

#include "fem/external/external.h"

/** The matrix as the libraries get it: rows and columns of free dofs, numbered in order. With
 *  several components, nodes stay whole: a node with a free dof keeps its constrained dofs, which
 *  are coupled to nothing. */
typedef struct weft_external_system {
    int n, components, dimension;
    int *row_start;      /* [n + 1] */
    int *columns;        /* ascending within a row */
    double *values;      /* [row_start[n]] */
    int32_t *dofs;       /* [n] the dof of a row */
    bool *is_free;       /* [n] */
    bool *is_alone;      /* [n] coupled to nothing: constrained, or pinned */
    double *coordinates; /* [n / components][dimension]; NULL: unknown */
    bool pins;           /* open constants are fixed at one dof */
    bool is_singular;
    bool is_general;     /* symmetry is not checked */
    bool is_indefinite;  /* neither is the sign of the diagonal */
    bool is_symmetric;   /* as the caller says */
    weft_device *device; /* of weft_external_options */
    int *
        own; /* [n_own] this rank's rows, all of one that is alone; others are empty, as columns of these */
    int n_own;
    bool *is_copy;    /* [n] of such a row; NULL: there is none */
    int64_t *numbers; /* [n] of rows in the whole, in which each rank owns a range; NULL: as here */
    int64_t first, n_whole;
    weft_comm *comm; /* of several ranks; NULL: alone */
} weft_external_system;

/** Number the free dofs, and copy their rows; on several ranks those that this one owns. Rows and columns of pinned dofs are left out for a direct solver, and
 *  so is a row of a matrix that has the constants as its null space.
 *  Errors  those of weft_external_make; *out untouched */
weft_status weft_external_system_make(const weft_external_matrix *matrix,
                                      const weft_external_info *library, weft_external_system *out,
                                      weft_error *error);
/** Copy other values; checks them. */
weft_status weft_external_system_fill(weft_external_system *system, const weft_pattern *pattern,
                                      const double *values, weft_error *error);
void weft_external_system_free(weft_external_system *system);

/** One library. State is what make returns; vectors are [system->n]. */
typedef struct weft_external_library {
    weft_external_info info;
    const char *title;        /* its name in messages */
    const char *const *names; /* of the shared object, newest first; NULL at the end */
    /* folders of wheels of Python that hold it, below nvidia/; NULL at the end, also for none */
    const char *const *wheels;
    /* environment variables that name a folder of it, and one in that with lib/; NULL: none */
    const char *roots[2];
    /* of a library that uses MPI: those that the plug-in needs, among them what tells its version and configuration; NULL at the
     * end, also for none: info.name with ".h" */
    const char *const *headers;
    const char *function; /* one of its functions, which other libraries do not have */
    /* description  [128] gets the library's version and method
     * Errors       *state may be set, and is then freed by the caller
     * NULL: a direct solver, which is made by the next members and update */
    weft_status (*make)(const struct weft_external_library *of, void *library,
                        const weft_external_options *options, const weft_external_system *system,
                        void **state, char *description, weft_error *error);
    size_t state_bytes; /* of a state, which starts from zeros */
    weft_status (*start)(void *library, void *state, char *description, weft_error *error);
    weft_status (*place)(void *state, const weft_external_system *system, weft_error *error);
    weft_status (*update)(void *state, const weft_external_system *system, weft_error *error);
    weft_status (*apply)(void *state, const double *r, double *z, weft_error *error);
    /* NULL: one application of a direct solver */
    weft_status (*solve)(void *state, const double *b, double *x, double tolerance,
                         int max_iterations, weft_external_result *result, weft_error *error);
    void (*free)(void *state);
    /* on a GPU: the lists [n] of right-hand side and solution, and z = M^-1 r from one to the other; else NULL */
    void (*lists)(const void *state, weft_memory **b, weft_memory **x);
    weft_status (*run)(void *state, weft_error *error);
} weft_external_library;
extern const weft_external_library weft_external_hypre, weft_external_petsc, weft_external_cholmod,
    weft_external_umfpack, weft_external_mumps, weft_external_cudss;

/** "the matrix is singular, as TITLE found", with a hint. Returns WEFT_ERROR_INPUT. */
weft_status weft_external_refuse_singular(const char *title, weft_error *error);
/** "TITLE ended with status 3". Returns WEFT_ERROR_INTERNAL. */
weft_status weft_external_ended(const char *title, int code, weft_error *error);
/** "TITLE has not enough memory for the factors of 100000 rows", with a hint. Returns WEFT_ERROR_MEMORY. */
weft_status weft_external_refuse_memory(const char *title, const weft_external_system *system,
                                        weft_error *error);

/** Open a library by its names, and never unload it: it has started MPI or threads.
 *  name    a file, or a folder with lib/ in it; NULL: the variable, else the names, where the system looks for libraries and in
 *          wheels
 *  Errors  WEFT_ERROR_UNSUPPORTED; *out untouched */
weft_status weft_external_library_open(const weft_external_library *library, const char *name,
                                       void **out, weft_error *error);
/** Look up n functions.
 *  functions  [n] pointers to functions
 *  Errors     WEFT_ERROR_UNSUPPORTED (one is missing) */
weft_status weft_external_functions(void *library, const char *title, const char *const *names,
                                    int n, void *functions, weft_error *error);
/** Hint at the MPI that library, mpicc and mpirun have in common. */
void weft_external_hint_mpi(const weft_external_library *library, weft_error *error);
/** "this version of TITLE is not known: VERSION", with a hint. Returns WEFT_ERROR_UNSUPPORTED. */
weft_status weft_external_unknown_version(const weft_external_library *library, int major,
                                          int minor, weft_error *error);

/** The actions of all signals, which libraries change when they start. */
typedef struct weft_external_signals weft_external_signals;
weft_status weft_external_signals_keep(weft_external_signals **out, weft_error *error);
/** Restore the actions, and free. */
void weft_external_signals_restore(weft_external_signals **signals);
