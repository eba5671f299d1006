/** A matrix over several spaces that ranks divide. Not installed.
 *
 *      rows of a matrix on each rank -> the whole matrix, by whose blocks every rank finds the same;
 *      what is found of a block in the whole -> what this rank has of it
 *
 *  Decision  docs/decisions/0075-ranks-find-blocks-of-the-whole.md */
#pragma once

#include "fem/precondition/ranks.h"

enum { WEFT_MIXED_SPACES_MAX = 16 };

typedef struct weft_mixed {
    int n;                                       /* spaces */
    weft_layout *layouts[WEFT_MIXED_SPACES_MAX]; /* of each */
    weft_rank_rows rows[WEFT_MIXED_SPACES_MAX];  /* of each, in its own numbers */
    int64_t first[WEFT_MIXED_SPACES_MAX + 1];    /* row of each in the whole */
    weft_csr A;                                  /* the whole matrix */
    weft_preconditioner_problem problem;         /* of the whole, but for its spaces and operator */
    int32_t *constrained;
} weft_mixed;
/** All ranks call this and what follows.
 *  part     own rows are complete
 *  problem  of this rank's part; borrowed
 *  out      caller's, also after an error; weft_mixed_clear
 *  Errors   those of weft_layout_make and weft_rank_rows_make */
weft_status weft_mixed_make(weft_device *device, const weft_csr *part,
                            const weft_preconditioner_problem *problem, weft_mixed *out,
                            weft_error *error);
/** Free the matrix and what belongs to it; layouts stay. */
void weft_mixed_clear_matrix(weft_mixed *mixed);
void weft_mixed_clear(weft_mixed *mixed);
/** Replace the numbers of all rows of a space by those of the rows that this rank has.
 *  values  malloc'd; NULL: nothing */
weft_status weft_mixed_take_values(const weft_mixed *mixed, int space, double **values,
                                   weft_error *error);
/** Replace a matrix from a space to itself by this rank's own rows, in its numbers; others are empty. {0}: nothing. */
weft_status weft_mixed_take_rows(const weft_mixed *mixed, int space, weft_csr *matrix,
                                 weft_error *error);
