/** What the order of execution asks of calls, two by two (fusion/plan/dependence.c), and sets of calls as bits.
 */
#pragma once

#include "fusion/plan/fusions.h"

struct weft_dependence {
    int n, words;        /* calls; 64-bit words of a set of them */
    uint64_t *reachable; /* [n][words] calls that a path leads to */
    uint64_t *unfusible; /* [n][words] calls that no kernel shares with this one: another index
                             set, or a path with a global barrier on it */
    uint64_t *shares;    /* [n][words] calls that fusing with spares traffic */
};

static inline bool weft_set_has(const uint64_t *set, int i) {
    return (set[i / 64] >> (i % 64) & 1) != 0;
}
static inline void weft_set_add(uint64_t *set, int i) {
    set[i / 64] |= (uint64_t)1 << (i % 64);
}
static inline void weft_set_remove(uint64_t *set, int i) {
    set[i / 64] &= ~((uint64_t)1 << (i % 64));
}
static inline bool weft_set_meets(const uint64_t *a, const uint64_t *b, int words) {
    uint64_t both = 0;
    for (int k = 0; k < words; ++k)
        both |= a[k] & b[k];
    return both != 0;
}
/** The lowest member from i on, or -1. */
static inline int weft_set_next(const uint64_t *set, int words, int i) {
    for (int k = i / 64; k < words; ++k) {
        const uint64_t rest = k == i / 64 ? set[k] & (~(uint64_t)0 << (i % 64)) : set[k];
        if (rest != 0)
            return k * 64 + __builtin_ctzll(rest);
    }
    return -1;
}
static inline const uint64_t *weft_dependence_reachable(const weft_dependence *r, int call) {
    return r->reachable + (size_t)call * (size_t)r->words;
}
static inline const uint64_t *weft_dependence_unfusible(const weft_dependence *r, int call) {
    return r->unfusible + (size_t)call * (size_t)r->words;
}
static inline const uint64_t *weft_dependence_shares(const weft_dependence *r, int call) {
    return r->shares + (size_t)call * (size_t)r->words;
}

weft_status weft_dependence_make(weft_arena *arena, const weft_graph *graph, weft_dependence **out,
                                 weft_error *error);
/** No path leaves the set and comes back. */
bool weft_dependence_convex(const weft_dependence *r, const uint64_t *set);

/** fusion/plan/candidates.c: does fusing two calls spare traffic: one uses the other's result, or both read the
 *  same value or map, or accumulate through one? */
bool weft_calls_share(const weft_graph *graph, const weft_call *a, const weft_call *b);
