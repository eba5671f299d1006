/** The files of a problem in time, as they stand. */
#pragma once

#include "fem/problem/output.h"
#include "fem/weft_problem_files.h"

struct weft_problem_files {
    weft_problem *problem; /* borrowed, as are transient, options and state */
    weft_transient *transient;
    const weft_problem_files_options *options;
    weft_transient_state *state;
    weft_text stated; /* the text of the problem */
    weft_problem_series series;
    int64_t n_outputs; /* written; of output_interval */
    int64_t kept_step; /* of the last checkpoint */
    bool has_ended;
};

/** Is the present state, after a step, one of the series? */
bool weft_problem_files_due(const weft_problem_files *files);
/** Is a checkpoint of it written? */
bool weft_problem_files_keeps(const weft_problem_files *files);
/** The options of a series whose first state is that of `state`, for weft_series_check; without its texts. */
weft_series_options weft_problem_files_series(const weft_problem_files_options *options,
                                              const weft_transient_problem *settings,
                                              const weft_transient_state *state);
