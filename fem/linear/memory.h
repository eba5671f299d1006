/** The assembly and the memory of a solve, and the speeds that predictions are made with.
 *
 *      In: sizes; the limits of a device. Out: the fastest assembly; bytes at most. */
#pragma once

#include "fem/weft_problem.h"

/** The data of a run on its device. */
typedef struct weft_problem_memory {
    weft_assembly_problem problem;
    int n_vectors;      /* of n_dofs values, including solution and right-hand side */
    size_t input_bytes; /* of a script's inputs */
    size_t block_bytes; /* of what eigenvalues are computed with, beside the matrix */
    weft_method method;
    int restart;          /* of GMRES */
    int preconditioner;   /* a kind of weft_preconditioner; -1: none */
    bool assembles_again; /* after a solve, so that what assembly needs is kept */
    bool solves_once;     /* by weft_linear_solve, during which cells may be evicted */
    const char *forms;    /* a hash of their texts, to remember iterations by; NULL: none */
    bool ranges_load;     /* weft_bc_load_make makes it, in ranges where there are many cells */
    /* vectors of n_dofs values that look for constants before a solve, and those of the energy after it */
    int n_checks, n_energy;
} weft_problem_memory;

/** Speeds of a device for predictions: those of the tuning database, elsewhere constants. */
typedef struct weft_speeds {
    weft_assembly_speeds assemblies;
    weft_preconditioner_speeds preconditioners;
} weft_speeds;
/** Read the speeds of a device. (fem/linear/speeds.c)
 *  Errors  those of weft_tuning_get */
weft_status weft_speeds_read(weft_device *device, const weft_monitor *monitor, weft_speeds *out,
                             weft_error *error);
/** Read how many times the predicted iterations Jacobi's preconditioner took for these forms, as a run with the option tune
 *  has stored it. (fem/linear/speeds.c)
 *  out     unchanged, if nothing was
 *  Errors  those of weft_tuning_get */
weft_status weft_iterations_read(weft_device *device, const char *forms, double *out,
                                 weft_error *error);
/** "1.23 s", "4.56 ms" or "7.8 us". Returns out. (fem/linear/speeds.c) */
const char *weft_seconds_text(double seconds, char out[32]);
/** Get the assembly of the options, or choose the fastest by predictions, which are logged.
 *  preconditioner  that is used: one that needs a matrix gets it */
weft_status weft_problem_assembly_choose(weft_device *device, const weft_problem_options *options,
                                         int preconditioner, const weft_assembly_problem *problem,
                                         const weft_monitor *monitor, weft_assembly *out,
                                         weft_error *error);
/** Estimate the peak memory of a run on a device with these limits. */
void weft_problem_memory_estimate(const weft_limits *limits, const weft_problem_memory *what,
                                  weft_assembly assembly, weft_memory_estimate *estimate);
/** Estimate the peak memory of a run on the device, log it and compare it with the free memory.
 *  bytes   the estimate
 *  Errors  WEFT_ERROR_MEMORY: it does not fit; the hint has the bytes per node, how many nodes fit, and an
 *          assembly that needs less */
weft_status weft_problem_memory_check(weft_device *device, const weft_problem_memory *what,
                                      weft_assembly assembly, size_t *bytes, weft_error *error);
/** Log the actual peak memory next to the estimate. */
void weft_problem_memory_compare(const weft_device *device, size_t estimated,
                                 const weft_monitor *monitor);
