/* Lays out one patch: separates inner edges from halo couplings, chooses the number of rounds, and
 * places every entry. */
#include "fem/sparse/symmetric_patch.h"

#include <stdlib.h>
#include <string.h>

/* Overflow entries that a round must save to be worth adding: a round moves 5 KB, an overflow entry
 * 16 bytes. (The kernel prefetches up to 512 overflow entries, with two barriers.) */
enum { ROUND_WORTH = 256 };
/* In offsets: not placed yet. */
#define PENDING (UINT32_MAX - 1)

void weft_symmetric_work_free(weft_symmetric_work *work) {
    free(work->block);
    work->block = NULL;
    work->capacity = 0;
}

static bool grow(weft_symmetric_work *work, size_t n) {
    if (n <= work->capacity)
        return true;
    size_t bytes, each = sizeof *work->inside + sizeof *work->outside + 2 * sizeof *work->keys +
                         sizeof *work->incident;
    n += n / 4;
    weft_symmetric_work_free(work);
    if (__builtin_mul_overflow(n, each, &bytes))
        return false;
    char *block = malloc(bytes);
    if (!block)
        return false;
    work->block = work->keys = (uint64_t *)(void *)block;
    work->keys_other = work->keys + n;
    work->inside = (weft_symmetric_inside *)(void *)(work->keys_other + n);
    work->outside = (weft_symmetric_outside *)(void *)(work->inside + n);
    work->incident = (int32_t *)(void *)(work->outside + n);
    work->capacity = n;
    return true;
}

/* Separate inner edges from halo couplings. The entry a_ji of an edge is found when row j > i is
 * read; as rows ascend, the edges of row i are found in the order of their creation. Returns false
 * if a_ij or a_ji is missing. */
static bool collect(weft_symmetric_work *work, const weft_pattern *pattern, int64_t first,
                    uint32_t *offsets) {
    const int64_t start = pattern->row_start[first], last = first + work->n;
    size_t next[WEFT_SYMMETRIC_NODES], end[WEFT_SYMMETRIC_NODES];
    work->n_inside = work->n_outside = 0;
    for (int i = 0; i < work->n; ++i) {
        next[i] = work->n_inside;
        for (int64_t k = pattern->row_start[first + i]; k < pattern->row_start[first + i + 1];
             ++k) {
            const int64_t column = pattern->columns[k];
            const uint32_t entry = (uint32_t)(k - start);
            offsets[entry] = PENDING;
            if (column == first + i) {
                offsets[entry] = (uint32_t)i;
            } else if (column < first || column >= last) {
                work->keys[work->n_outside] = (uint64_t)column << 32 | work->n_outside;
                work->outside[work->n_outside++] =
                    (weft_symmetric_outside){.entry = entry, .row = (uint16_t)i};
            } else if (column > first + i) {
                work->inside[work->n_inside++] = (weft_symmetric_inside){
                    .upper = entry, .source = (uint16_t)i, .target = (uint16_t)(column - first)};
            } else {
                const size_t e = next[column - first]++;
                if (e >= end[column - first] || work->inside[e].target != i)
                    return false;
                work->inside[e].lower = entry;
            }
        }
        end[i] = work->n_inside;
    }
    for (int i = 0; i < work->n; ++i)
        if (next[i] != end[i])
            return false;
    return true;
}

/* Radix sort by the column, skipping bytes that are equal in all keys. */
static void sort_keys(weft_symmetric_work *work) {
    const size_t n = work->n_outside;
    uint64_t differ = 0;
    for (size_t k = 1; k < n; ++k)
        differ |= work->keys[k] ^ work->keys[0];
    for (int shift = 32; shift < 64; shift += 8) {
        size_t place[257] = {0};
        if (((differ >> shift) & 0xFF) == 0)
            continue;
        for (size_t k = 0; k < n; ++k)
            place[((work->keys[k] >> shift) & 0xFF) + 1] += 1;
        for (int b = 0; b < 256; ++b)
            place[b + 1] += place[b];
        for (size_t k = 0; k < n; ++k)
            work->keys_other[place[(work->keys[k] >> shift) & 0xFF]++] = work->keys[k];
        uint64_t *sorted = work->keys_other;
        work->keys_other = work->keys;
        work->keys = sorted;
    }
}

/* Number the halo nodes in ascending order; they are left in keys_other[0 .. n_halo). */
static void number_halo(weft_symmetric_work *work) {
    sort_keys(work);
    uint64_t before = UINT64_MAX;
    size_t n = 0;
    memset(work->n_staged, 0, sizeof work->n_staged);
    for (size_t k = 0; k < work->n_outside; ++k) {
        const uint64_t column = work->keys[k] >> 32;
        weft_symmetric_outside *outside = &work->outside[(uint32_t)work->keys[k]];
        n += column != before;
        before = column;
        const bool staged = n <= WEFT_SYMMETRIC_MOST_HALO;
        outside->halo = staged ? (int32_t)n - 1 : WEFT_SYMMETRIC_MOST_HALO;
        work->n_staged[outside->row] += staged;
        if (staged)
            work->keys_other[n - 1] = column;
    }
    work->n_halo = n < WEFT_SYMMETRIC_MOST_HALO ? n : WEFT_SYMMETRIC_MOST_HALO;
}

static void list_incident(weft_symmetric_work *work) {
    size_t *start = work->incident_start;
    memset(start, 0, sizeof work->incident_start);
    for (size_t e = 0; e < work->n_inside; ++e) {
        start[work->inside[e].source] += 1;
        start[work->inside[e].target] += 1;
    }
    for (int i = 1; i <= WEFT_SYMMETRIC_NODES; ++i)
        start[i] += start[i - 1];
    for (size_t e = work->n_inside; e-- > 0;) {
        work->incident[--start[work->inside[e].source]] = (int32_t)e;
        work->incident[--start[work->inside[e].target]] = (int32_t)e;
    }
}

/* Start with the mean number of slots per row; add rounds while each saves enough overflow. */
static void choose_rounds(weft_symmetric_work *work) {
    size_t n_staged = 0, n = (size_t)work->n, n_before;
    for (int i = 0; i < work->n; ++i)
        n_staged += (size_t)work->n_staged[i];
    const size_t mean = (work->n_inside + n_staged + n - 1) / n;
    const size_t most = (size_t)work->most_rounds;
    work->n_rounds = (int)(mean < 1 ? 1 : mean < most ? mean : most);
    work->n_overflow = weft_symmetric_orient(work);
    do {
        n_before = work->n_overflow;
        if (n_before < ROUND_WORTH || work->n_rounds >= work->most_rounds)
            return;
        work->n_rounds += 1;
        work->n_overflow = weft_symmetric_orient(work);
    } while (n_before >= work->n_overflow + ROUND_WORTH);
    work->n_rounds -= 1;
    work->n_overflow = weft_symmetric_orient(work);
}

size_t weft_symmetric_lists(const weft_symmetric_patch *patch) {
    return ((size_t)patch->n_halo + 2 * (size_t)patch->n_overflow + 3) & ~(size_t)3;
}

static uint32_t slot(int round, int row) {
    return (uint32_t)((round + 1) * WEFT_SYMMETRIC_NODES + row);
}

static void place_slots(weft_symmetric_work *work, uint32_t *offsets, uint16_t *columns) {
    for (int k = 0; k < work->n_rounds * WEFT_SYMMETRIC_NODES; ++k)
        columns[k] = WEFT_SYMMETRIC_NONE;
    for (size_t e = 0; e < work->n_inside; ++e) {
        const weft_symmetric_inside *edge = &work->inside[e];
        if (edge->round < 0)
            continue;
        columns[edge->round * WEFT_SYMMETRIC_NODES + edge->source] = edge->target;
        offsets[edge->upper] = slot(edge->round, edge->source);
        offsets[edge->lower] = WEFT_SYMMETRIC_DISCARD;
    }
    int left[WEFT_SYMMETRIC_NODES];
    for (int i = 0; i < work->n; ++i)
        left[i] = work->n_staged[i] - work->dropped[i];
    for (size_t k = 0; k < work->n_outside; ++k) {
        const weft_symmetric_outside *outside = &work->outside[k];
        const int row = outside->row;
        if (outside->halo >= WEFT_SYMMETRIC_MOST_HALO || left[row] == 0)
            continue;
        const int column = WEFT_SYMMETRIC_HALO + outside->halo;
        const int round = weft_symmetric_least_conflicts(work, work->free_source[row], row, column);
        left[row] -= 1;
        work->free_source[row] &= ~(1u << round);
        columns[round * WEFT_SYMMETRIC_NODES + row] = (uint16_t)column;
        offsets[outside->entry] = slot(round, row);
    }
}

/* Put the entries that are still pending into the overflow, by row. */
static void place_overflow(weft_symmetric_work *work, const weft_pattern *pattern, int64_t first,
                           uint32_t *offsets, int32_t *lists) {
    const int64_t start = pattern->row_start[first];
    int32_t *columns = lists + work->n_halo, *rows = columns + work->n_overflow;
    size_t n = 0, next_outside = 0;
    for (int i = 0; i < work->n; ++i)
        for (int64_t k = pattern->row_start[first + i]; k < pattern->row_start[first + i + 1];
             ++k) {
            const int32_t column = pattern->columns[k];
            const bool is_inside = column >= first && column < first + work->n;
            const weft_symmetric_outside *outside = &work->outside[next_outside];
            next_outside += !is_inside;
            if (offsets[k - start] != PENDING)
                continue;
            if (is_inside)
                columns[n] = (int32_t)(column - first);
            else
                columns[n] = outside->halo < WEFT_SYMMETRIC_MOST_HALO
                                 ? WEFT_SYMMETRIC_HALO + outside->halo
                                 : ~column;
            rows[n] = i;
            offsets[k - start] = slot(work->n_rounds, 0) + (uint32_t)n++;
        }
}

weft_symmetric_outcome weft_symmetric_patch_make(weft_symmetric_work *work,
                                                 const weft_pattern *pattern, int64_t p,
                                                 uint32_t *offsets, weft_symmetric_patch *counts,
                                                 void **out) {
    const int64_t first = p * WEFT_SYMMETRIC_NODES, left = pattern->n_rows - first;
    work->n = (int)(left < WEFT_SYMMETRIC_NODES ? left : WEFT_SYMMETRIC_NODES);
    const int64_t start = pattern->row_start[first];
    work->n_entries = (size_t)(pattern->row_start[first + work->n] - start);
    offsets += start;
    if (!grow(work, work->n_entries + 1))
        return WEFT_SYMMETRIC_NO_MEMORY;
    if (!collect(work, pattern, first, offsets))
        return WEFT_SYMMETRIC_NOT_SYMMETRIC;
    number_halo(work);
    list_incident(work);
    choose_rounds(work);
    weft_symmetric_colour(work);
    counts->n_rounds = (uint16_t)work->n_rounds;
    counts->n_halo = (uint16_t)work->n_halo;
    counts->n_overflow = (uint32_t)work->n_overflow;
    const size_t n_columns = (size_t)work->n_rounds * WEFT_SYMMETRIC_NODES;
    const size_t n_lists = weft_symmetric_lists(counts);
    char *record = malloc(n_columns * sizeof(uint16_t) + n_lists * sizeof(int32_t) + 1);
    if (!record)
        return WEFT_SYMMETRIC_NO_MEMORY;
    int32_t *lists = (int32_t *)(void *)(record + n_columns * sizeof(uint16_t));
    for (size_t k = 0; k < n_lists; ++k)
        lists[k] = k < work->n_halo ? (int32_t)work->keys_other[k] : 0;
    place_slots(work, offsets, (uint16_t *)(void *)record);
    place_overflow(work, pattern, first, offsets, lists);
    *out = record;
    return WEFT_SYMMETRIC_PLACED;
}
