/** Runs of programs on several ranks: threads of the process, or processes that mpirun has started.
 *
 *      options, what a launcher says -> checks -> a communicator for each rank -> the program's steps, on all */
#pragma once

#include "apps/common/fem.h"
#include "core/weft_comm.h"

/** Refuse what several ranks do not compute. A list of devices without a number of ranks sets that.
 *  Errors  WEFT_ERROR_UNSUPPORTED; WEFT_ERROR_USAGE: --ranks for one of several processes, or for other devices */
weft_status app_ranks_check(app_run_options *options, const weft_processes *launch,
                            weft_error *error);
/** The steps of a rank.
 *  comm     of this rank; NULL: there is one
 *  monitor  for ranks besides the first, which print nothing; NULL: the program's */
typedef weft_status app_rank_steps(void *user, weft_comm *comm, const weft_monitor *monitor,
                                   weft_error *error);
/** Run the steps: once, or on the threads of --ranks, of which this one is the first.
 *  processes  of mpirun, borrowed; NULL: none
 *  program    its name, for messages
 *  Errors     those of the first rank that has failed by itself */
weft_status app_ranks_run(const app_run_options *options, weft_comm *processes, const char *program,
                          app_rank_steps *steps, void *user, weft_error *error);
/** Print the error that ends this process, and end the others. Returns the exit code.
 *  is_common  each process has this error, as it is of the command line: the first one prints it */
int app_ranks_fail(const weft_processes *launch, bool is_common, app_messages *messages,
                   weft_comm *comm, const weft_error *error);
/** Do signals come to this rank? Those of threads come to the first one's. */
bool app_rank_is_signalled(const weft_comm *comm);
/** The signal that requests a stop of any rank, or 0; all ranks call it, and stop after the same step. */
weft_status app_ranks_stop(weft_comm *comm, int *out, weft_error *error);
