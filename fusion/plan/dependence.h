/** The dependence relation between calls, and sets of calls as bit sets.
 *  In:  graph
 *  Out: for each call, the calls that depend on it, that cannot be fused with it, and that share
 *       data with it */
#pragma once

#include "fusion/plan/fusions.h"

struct weft_dependence {
    int n, words;        /* number of calls; 64-bit words per set of calls */
    uint64_t *reachable; /* [n][words] calls that depend on this one, directly or indirectly */
    /* [n][words] calls that can never share a kernel with this one: another index set, or a path
     * with a global barrier */
    uint64_t *unfusible;
    uint64_t *shares; /* [n][words] calls whose fusion with this one saves memory traffic */
};

static inline bool weft_set_has(const uint64_t *set, int i) {
    return (set[i / 64] >> (i % 64) & 1) != 0;
}
static inline void weft_set_add(uint64_t *set, int i) {
    set[i / 64] |= (uint64_t)1 << (i % 64);
}
/** Members below `most`. */
static inline int weft_set_count(const uint64_t *set, int most) {
    int n = 0;
    for (int i = 0; i < most; ++i)
        n += weft_set_has(set, i);
    return n;
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
/** The lowest member >= i, or -1. */
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

/** Make the dependence relation of a graph, in the arena. Errors  WEFT_ERROR_MEMORY */
weft_status weft_dependence_make(weft_arena *arena, const weft_graph *graph, weft_dependence **out,
                                 weft_error *error);
/** Is the set convex, i.e. does no path leave it and come back? */
bool weft_dependence_convex(const weft_dependence *r, const uint64_t *set);

/** Does fusing two calls save memory traffic: does one use the other's result, or do both read the
 *  same value or connectivity, or accumulate through the same one? (fusion/plan/candidates.c) */
bool weft_calls_share(const weft_graph *graph, const weft_call *a, const weft_call *b);
