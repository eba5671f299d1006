/* Chooses the source of each inner edge so that every row has at most n_rounds slots and is the
 * target of at most n_rounds edges: greedily by free slots, then by reversing paths. */
#include "fem/sparse/symmetric_patch.h"

#include <string.h>

/* Slots of a row that are available to inner edges. */
static int capacity(const weft_symmetric_work *work, int i) {
    return work->n_rounds - (work->n_staged[i] - work->dropped[i]);
}

/* The minimum number of edges with source i: with fewer, row i would be the target of more than
 * n_rounds edges. */
static int least(const weft_symmetric_work *work, int i) {
    return work->degree[i] > work->n_rounds ? work->degree[i] - work->n_rounds : 0;
}

static void remove_edge(weft_symmetric_work *work, int32_t e) {
    weft_symmetric_inside *edge = &work->inside[e];
    edge->round = -1;
    work->degree[edge->source] -= 1;
    work->degree[edge->target] -= 1;
    work->out[edge->source] -= 1;
}

/* An edge whose source (or target) is row i; -1: none. */
static int32_t edge_of(const weft_symmetric_work *work, int i, bool as_source) {
    for (size_t k = work->incident_start[i]; k < work->incident_start[i + 1]; ++k) {
        const weft_symmetric_inside *edge = &work->inside[work->incident[k]];
        if (edge->round >= 0 && (as_source ? edge->source : edge->target) == i)
            return work->incident[k];
    }
    return -1;
}

static void reverse_path(weft_symmetric_work *work, int end, bool as_source) {
    for (int at = end; work->predecessor[at] >= 0;) {
        weft_symmetric_inside *edge = &work->inside[work->predecessor[at]];
        uint16_t source = edge->source;
        edge->source = edge->target;
        edge->target = source;
        at = as_source ? edge->target : edge->source;
    }
}

/* Reduce (as_source) or increase the number of edges with source i by one, by reversing the
 * shortest path to a row that can be the source of one edge more (or fewer). Where there is none, all
 * rows that were reached are stuck: no edge leads out of them, and what is then dropped or removed is
 * taken up by the row it was removed for, so that no later path ends there either. */
static bool shift(weft_symmetric_work *work, int i, bool as_source) {
    int n = 0;
    if (work->is_stuck[i])
        return false;
    for (int k = 0; k < work->n; ++k)
        work->predecessor[k] = -2;
    work->predecessor[i] = -1;
    work->queue[n++] = (uint16_t)i;
    for (int q = 0; q < n; ++q) {
        const int at = work->queue[q];
        for (size_t k = work->incident_start[at]; k < work->incident_start[at + 1]; ++k) {
            const weft_symmetric_inside *edge = &work->inside[work->incident[k]];
            const int from = as_source ? edge->source : edge->target;
            const int to = as_source ? edge->target : edge->source;
            if (edge->round < 0 || from != at || work->predecessor[to] != -2 || work->is_stuck[to])
                continue;
            work->predecessor[to] = work->incident[k];
            if (as_source ? work->out[to] < capacity(work, to) : work->out[to] > least(work, to)) {
                reverse_path(work, to, as_source);
                work->out[i] += as_source ? -1 : 1;
                work->out[to] += as_source ? 1 : -1;
                return true;
            }
            work->queue[n++] = (uint16_t)to;
        }
    }
    for (int q = 0; q < n; ++q)
        work->is_stuck[work->queue[q]] = true;
    return false;
}

/* Initial orientation without overflow of inner edges: the source is the row with more capacity left. */
static void start(weft_symmetric_work *work) {
    memset(work->degree, 0, sizeof work->degree);
    memset(work->out, 0, sizeof work->out);
    for (int i = 0; i < work->n; ++i)
        work->dropped[i] =
            work->n_staged[i] > work->n_rounds ? work->n_staged[i] - work->n_rounds : 0;
    for (size_t e = 0; e < work->n_inside; ++e) {
        weft_symmetric_inside *edge = &work->inside[e];
        const int i = edge->source, j = edge->target;
        const int more = (capacity(work, j) - work->out[j]) - (capacity(work, i) - work->out[i]);
        if (more > 0) {
            edge->source = (uint16_t)j;
            edge->target = (uint16_t)i;
        }
        edge->round = 0;
        work->out[edge->source] += 1;
        work->degree[i] += 1;
        work->degree[j] += 1;
    }
}

/* Move couplings of row i to the overflow until it has at most n_rounds slots and n_rounds edges as
 * a target. */
static void relieve(weft_symmetric_work *work, int i) {
    while (least(work, i) > capacity(work, i)) {
        if (work->dropped[i] < work->n_staged[i]) {
            work->dropped[i] += 1;
            continue;
        }
        int32_t e = edge_of(work, i, true);
        remove_edge(work, e >= 0 ? e : edge_of(work, i, false));
    }
}

size_t weft_symmetric_orient(weft_symmetric_work *work) {
    size_t n_overflow = work->n_outside;
    start(work);
    for (int i = 0; i < work->n; ++i)
        relieve(work, i);
    memset(work->is_stuck, 0, sizeof work->is_stuck);
    for (int i = 0; i < work->n; ++i)
        while (work->out[i] > capacity(work, i)) {
            if (shift(work, i, true))
                continue;
            if (work->dropped[i] < work->n_staged[i]) /* one overflow entry; an edge takes two */
                work->dropped[i] += 1;
            else
                remove_edge(work, edge_of(work, i, true));
        }
    memset(work->is_stuck, 0, sizeof work->is_stuck);
    for (int i = 0; i < work->n; ++i)
        while (work->out[i] < least(work, i))
            if (!shift(work, i, false))
                remove_edge(work, edge_of(work, i, false));
    for (int i = 0; i < work->n; ++i)
        n_overflow -= (size_t)(work->n_staged[i] - work->dropped[i]);
    for (size_t e = 0; e < work->n_inside; ++e)
        n_overflow += work->inside[e].round < 0 ? 2 : 0;
    return n_overflow;
}
