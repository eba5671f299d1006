/** A run of an app that solves on a mesh, in the order in which it is made: device, mesh, space,
 *  conditions, operator, solution. Each app adds what it alone has. */
#pragma once

#include "apps/common/fem.h"

typedef struct app_run {
    const app_run_options *options; /* borrowed, as is messages */
    app_messages *messages;
    weft_device *device;
    weft_library *library;
    weft_context context;
    bool is_null; /* the device computes nothing */
    weft_mesh *mesh;
    app_mesh_made mesh_made;
    weft_space *space;
    app_seconds seconds;

    /* of linear and nonlinear systems */
    app_pieces pieces; /* conditions, component by component */
    weft_bc *bc;
    const int32_t *constrained; /* dofs, ascending; bc's */
    int64_t n_constrained;
    bool project;                /* nothing fixes the constant of a scalar problem */
    weft_memory *u, *b;          /* solution, right-hand side */
    double *u_values, *b_values; /* what u and b wrap */
    weft_bound_form form;        /* of the cells */
    weft_assembly assembly;      /* of the options, or chosen */
    size_t estimated_bytes;      /* on the device, at most */
    weft_operator *op;
    weft_cg_result cg;
    double l2_error, h1_error, energy; /* NaN where they are not asked for */
    double *probes;                    /* [probes][components], NaN outside */
} app_run;

void app_run_clear(app_run *run);

weft_status app_run_open(app_run *run, weft_error *error);
/** Can --output and --json be written?  Errors  WEFT_ERROR_IO */
weft_status app_run_files_check(const app_run *run, weft_error *error);
/** Read or make the mesh, refine and order it. */
weft_status app_run_mesh_make(app_run *run, weft_error *error);
/** The space and its boundary conditions.
 *  Errors  WEFT_ERROR_USAGE: a probe with too many coordinates; those of app_pieces_make and
 *          weft_bc_make */
weft_status app_run_space_make(app_run *run, int components, weft_error *error);
/** u and b, zero. */
weft_status app_run_vectors_make(app_run *run, weft_error *error);
/** Choose the assembly where the user has not, and say what the run will hold on the device.
 *  Errors  WEFT_ERROR_MEMORY: that cannot fit */
weft_status app_run_forecast(app_run *run, const app_memory_estimate *what, weft_error *error);
/** Conjugate gradients for A u = b. */
weft_status app_run_cg(app_run *run, weft_error *error);
/** Take the mean off a scalar u, given its integral. */
weft_status app_run_remove_mean(app_run *run, double integral, weft_error *error);
/** The errors from their squares; warns where they are not finite. */
void app_run_set_errors(app_run *run, double l2_squared, double h1_squared);
weft_status app_run_measure_probes(app_run *run, weft_error *error);
/** What planning and compiling took; logs the memory that was held beside the estimate. */
void app_run_finish(app_run *run);

/** The error against --exact, on stdout, where there is one. */
void app_run_print_errors(const app_run *run, const char *exact);
/** The end of a report: probes, seconds, memory, the file where it was written. */
weft_status app_run_print_end(const app_run *run, bool is_solved, weft_error *error);
/** On the null device: launches and memory, up to where, and what else can be seen. */
void app_run_print_null(const app_run *run, const char *up_to, const char *more);
/** Write --json. root is taken over; fine: it is complete.  Errors  WEFT_ERROR_MEMORY, _IO */
weft_status app_run_write_json(const app_run *run, json_t *root, bool fine, weft_error *error);
