/** What the threads of a body do, for predictions of its time.
 *  In:  a specialisation and one of its bodies
 *  Out: operations of a thread, and which components neighbouring threads access together */
#pragma once

#include "fusion/library/library.h"

enum {
    WEFT_BODY_WARP = 64,    /* threads that access memory together, at most */
    WEFT_BODY_ACCESSES = 64 /* accesses of a body that are counted; further ones are left out */
};

/** An access to an operand: one place in the text of a body. */
typedef struct weft_body_access {
    int operand;  /* index of an argument; -1: the result */
    double count; /* of the warp */
    int components
        [WEFT_BODY_WARP]; /* of the first threads, row by row, those that are there first; -1: none, or unknown */
} weft_body_access;

typedef struct weft_body_work {
    double
        operations; /* per thread: arithmetic, comparisons and subscripts; of divergent branches the sum */
    double barriers;         /* that its threads meet */
    double array_components; /* of the arrays that it declares, per thread */
    weft_body_access accesses[WEFT_BODY_ACCESSES];
    int n_accesses;
} weft_body_work;

/** Count the work of a body. (fusion/library/body_work.c)
 *  variant  its index
 *  threads  at most WEFT_BODY_WARP, of which the accesses are recorded: a warp
 *  arena    for the walk
 *  Errors   WEFT_ERROR_MEMORY */
weft_status weft_body_work_count(weft_arena *arena, const weft_specialisation *specialisation,
                                 int variant, int threads, weft_body_work *out, weft_error *error);
