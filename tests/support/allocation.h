/** Allocations that fail on request, for programs linked with --wrap (test_allocation*.c).
 *  Only allocations of the program and of Weft are seen, not those inside of other libraries. */
#ifndef WEFT_ALLOCATION_H
#define WEFT_ALLOCATION_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** From now on count, and let the n-th allocation fail (n from 1; 0: none). */
void test_allocation_fail_at(long n);
/** Allocations since test_allocation_fail_at, the failed one too. */
long test_allocation_count(void);
/** Allocated and not yet freed. */
long test_allocation_outstanding(void);

/** Rerun a call with its n-th allocation failing for n = 1, 2, ... until it gets through without
 *  reaching the n-th. Each time: what it allocated is free again, and where it failed it says
 *  WEFT_ERROR_MEMORY with a message. The last run must succeed. The call frees what it makes.
 *  Left out, unless test_is_full: an allocation by functions that called
 *  each other in the same way for an earlier one, but each sixteenth.
 *  Returns how many allocations the call makes; fails when there are none to fail. */
typedef weft_status (*test_allocation_call)(void *user, weft_error *error);
long test_every_allocation(const char *what, test_allocation_call call, void *user);

#ifdef __cplusplus
}
#endif
#endif
