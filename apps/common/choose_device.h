/** The choice of the device where the user names none.
 *  In: the limits of the host, the options, what an app knows of its work. Out: whether the host is the better device. */
#pragma once

#include "apps/common/fem.h"

/** What an app knows of its work before the device is open. Start from {0}: nothing. */
typedef struct app_work {
    bool is_known;
    int degree, components; /* of u; 0 means 1 */
    bool is_general;        /* the matrix is treated as one that is not symmetric */
    bool reassembles;       /* for every solve */
    double solves;          /* 0 means 1 */
    double weight;          /* of the predicted time, which is that of poisson; 0 means 1 */
    /* with the matrix, per solve; 0: those expected of CG with Jacobi's preconditioner */
    double products;
} app_work;

/** Predicted seconds of the work on a host, from the mesh to the solution, without planning and compiling; HUGE_VAL for large
 *  meshes.
 *  size  of known dimension */
double app_host_seconds(const weft_limits *host, const app_run_options *options,
                        const app_work *work, const app_mesh_size *size);

enum { APP_REASON_MAX = 200 };
/** Is a host with these limits a better device than any GPU: because the work is done there before a GPU has started, or
 *  because an option needs it?
 *  reason  why, or why not */
bool app_prefers_host(const weft_limits *host, const app_run_options *options, const app_work *work,
                      char reason[APP_REASON_MAX]);
