/** What one step of a run in time passes to the next.
 *
 *      In: lists on the device, numbers, and the problem that they belong to, as a text. Out: checkpoints, and runs that continue
 *      from them. */
#pragma once

#include "fem/space/layout.h"
#include "fem/weft_problem_files.h"

enum { WEFT_STATE_LISTS = 16 };
/** What one step passes to the next. */
typedef struct weft_state {
    weft_text problem; /* what a continued run must share with the original; weft_state_clear */
    int64_t step;
    int n; /* lists */
    const char *names[WEFT_STATE_LISTS];
    weft_memory *memories[WEFT_STATE_LISTS];
    int64_t
        n_dofs; /* of each list; of the whole on the first of several ranks, which have parts: */
    weft_divided divided;            /* without a layout where the memories have all; borrowed */
    const weft_space *const *spaces; /* of the whole; NULL on other ranks than the first */
    double *
        numbers; /* [n_numbers], borrowed; NULL: none, and the lists are nodal fields, which ParaView shows */
    int64_t n_numbers;
} weft_state;
void weft_state_clear(weft_state *state);
/** Write a checkpoint, or continue from one, which sets step, lists and numbers. All ranks call it; the first one writes and
 *  reads the file.
 *  Errors  those of weft_checkpoint_write or weft_checkpoint_read; WEFT_ERROR_MEMORY */
weft_status weft_state_write(const weft_state *state, const char *path, const weft_mesh *mesh,
                             weft_error *error);
weft_status weft_state_read(weft_state *state, const char *path, const weft_mesh *mesh,
                            weft_error *error);
/** Errors  WEFT_ERROR_USAGE: the name of a checkpoint does not end in .vtkhdf */
weft_status weft_state_check_name(const char *path, weft_error *error);
