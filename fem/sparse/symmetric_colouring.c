/* Assigns rounds to the inner edges of a patch by colouring the bipartite graph of sources and
 * targets. If no degree exceeds the number of colours this always succeeds (Koenig 1916): if the
 * two ends of an edge have no free colour in common, a path that alternates between a colour free
 * at the source and one free at the target is recoloured. */
#include "fem/sparse/symmetric_patch.h"

#include <string.h>

static uint8_t *conflicts(weft_symmetric_work *work, int round, int row, int column) {
    return &work->conflicts[round][row / WEFT_SYMMETRIC_BANKS][column % WEFT_SYMMETRIC_BANKS];
}

int weft_symmetric_least_conflicts(weft_symmetric_work *work, uint32_t rounds, int row,
                                   int column) {
    int best = __builtin_ctz(rounds);
    for (uint32_t left = rounds & (rounds - 1); left; left &= left - 1) {
        const int round = __builtin_ctz(left);
        if (*conflicts(work, round, row, column) < *conflicts(work, best, row, column))
            best = round;
    }
    *conflicts(work, best, row, column) += 1;
    return best;
}

static void put(weft_symmetric_work *work, int32_t e, int round) {
    weft_symmetric_inside *edge = &work->inside[e];
    edge->round = (int8_t)round;
    work->at_source[edge->source][round] = e;
    work->at_target[edge->target][round] = e;
    work->free_source[edge->source] &= ~(1u << round);
    work->free_target[edge->target] &= ~(1u << round);
}

static void take(weft_symmetric_work *work, int32_t e) {
    const weft_symmetric_inside *edge = &work->inside[e];
    const int round = edge->round;
    work->at_source[edge->source][round] = -1;
    work->at_target[edge->target][round] = -1;
    work->free_source[edge->source] |= 1u << round;
    work->free_target[edge->target] |= 1u << round;
}

/* Free round a at a target where b is free, by exchanging a and b along the alternating path
 * a, b, a, ... that starts there. The path never reaches the source of the new edge, because it
 * enters sources by an edge of round a, which is free at that source. */
static void exchange(weft_symmetric_work *work, int target, int a, int b) {
    int n = 0;
    for (;;) {
        int32_t e = work->at_target[target][a];
        if (e < 0)
            break;
        work->path[n++] = e;
        e = work->at_source[work->inside[e].source][b];
        if (e < 0)
            break;
        work->path[n++] = e;
        target = work->inside[e].target;
    }
    for (int k = 0; k < n; ++k)
        take(work, work->path[k]);
    for (int k = 0; k < n; ++k) {
        const weft_symmetric_inside *edge = &work->inside[work->path[k]];
        *conflicts(work, k % 2 == 0 ? a : b, edge->source, edge->target) -= 1;
        *conflicts(work, k % 2 == 0 ? b : a, edge->source, edge->target) += 1;
        put(work, work->path[k], k % 2 == 0 ? b : a);
    }
}

void weft_symmetric_colour(weft_symmetric_work *work) {
    const uint32_t all = (1u << work->n_rounds) - 1;
    for (int i = 0; i < WEFT_SYMMETRIC_NODES; ++i)
        work->free_source[i] = work->free_target[i] = all;
    memset(work->at_source, 0xFF, sizeof work->at_source);
    memset(work->at_target, 0xFF, sizeof work->at_target);
    memset(work->conflicts, 0, sizeof work->conflicts);
    for (size_t e = 0; e < work->n_inside; ++e) {
        const weft_symmetric_inside *edge = &work->inside[e];
        if (edge->round < 0)
            continue;
        uint32_t free_source = work->free_source[edge->source];
        uint32_t free_target = work->free_target[edge->target];
        uint32_t both = free_source & free_target;
        const int round = weft_symmetric_least_conflicts(work, both ? both : free_source,
                                                         edge->source, edge->target);
        if (!both)
            exchange(work, edge->target, round, __builtin_ctz(free_target));
        put(work, (int32_t)e, round);
    }
}
