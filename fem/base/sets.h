/** Disjoint sets of numbers, each of which is that of the lowest one in it: parents point to lower numbers, and a root to itself.
 *
 *  Several threads may join at a time. A root is only ever linked to a lower one, so that the root of a set is its lowest number in the
 *  end, whatever the order of the threads.
 *  Source  Tarjan 1975; Jayanti and Tarjan 2016 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** The root of a number; paths are halved on the way. */
static inline int32_t weft_sets_root(int32_t *parent, int32_t number) {
    int32_t above = __atomic_load_n(&parent[number], __ATOMIC_RELAXED);
    while (above != number) {
        const int32_t next = __atomic_load_n(&parent[above], __ATOMIC_RELAXED);
        if (next != above)
            (void)__atomic_compare_exchange_n(&parent[number], &above, next, true, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED);
        number = next;
        above = __atomic_load_n(&parent[number], __ATOMIC_RELAXED);
    }
    return number;
}

static inline void weft_sets_join(int32_t *parent, int32_t a, int32_t b) {
    for (;;) {
        a = weft_sets_root(parent, a);
        b = weft_sets_root(parent, b);
        if (a == b)
            return;
        int32_t high = a < b ? b : a;
        const int32_t low = a < b ? a : b;
        if (__atomic_compare_exchange_n(&parent[high], &high, low, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}
