/** Sums of lists on the host, over the entries that each rank owns. Not installed.
 *
 *      In: lists of each rank, a weft_share.  Out: one number on all ranks, whose bits do not depend on the parts.
 *
 *  Without a share the lists are whole, and sums have the order of their entries. */
#pragma once

#include "core/comm/exact.h"
#include "fusion/weft_share.h"

/** Which of the entries count; NULL: all of them. Borrowed. */
const unsigned char *weft_share_owned(const weft_share *share);
/** The communicator; NULL: one rank. */
weft_comm *weft_share_comm(const weft_share *share);
/** *out = a.b, of [n] numbers.
 *  Errors  those of weft_comm_join_sums; so for all that follow */
weft_status weft_share_product(const weft_share *share, const double *a, const double *b, int64_t n,
                               double *out, weft_error *error);
/** *sum = that of [n] numbers, *size that of their sizes (may be NULL). */
weft_status weft_share_sums(const weft_share *share, const double *v, int64_t n, double *sum,
                            double *size, weft_error *error);
/** *out = |v|. */
weft_status weft_share_norm(const weft_share *share, const double *v, int64_t n, double *out,
                            weft_error *error);
/** The same where is_free is not 0 (NULL: everywhere), as weft_norm.
 *  owned  [n] which entries count; NULL: all, on one rank */
weft_status weft_owned_norm(weft_comm *comm, const unsigned char *owned, const double *v,
                            const double *is_free, int64_t n, double *out, weft_error *error);
