/* Allocates shared memory: values that are live at once do not overlap, and the total is minimal.
 *
 * See Fousek et al. 2011, section 4.3.2. In an optimal layout every value can be pushed down until
 * it is at offset 0 or on top of a value that is live with it; placed by ascending offset, each
 * then has the lowest free offset. So first fit over all orders finds an optimal layout. Branch and
 * bound: branch over the value placed next; prune by the best total so far; stop at the lower
 * bound, the maximum live at once. */
#include "fusion/plan/implementations.h"

enum { ELEMENTS_MAX = 64, NODES_MAX = 20000 };

typedef struct allocator {
    weft_live_range *ranges;
    int n, bound, best;
    int order[ELEMENTS_MAX]; /* by size, largest first */
    int offsets[ELEMENTS_MAX], kept[ELEMENTS_MAX];
    bool placed[ELEMENTS_MAX];
    int nodes;
} allocator;

static bool meet(const weft_live_range *a, const weft_live_range *b) {
    return a->first <= b->last && b->first <= a->last;
}

int weft_onchip_bound(const weft_live_range *ranges, int n) {
    int most = 0;
    for (int i = 0; i < n; ++i) { /* the maximum is attained where some live range begins */
        int live = 0;
        for (int k = 0; k < n; ++k)
            if (ranges[k].first <= ranges[i].first && ranges[i].first <= ranges[k].last)
                live += ranges[k].components;
        most = live > most ? live : most;
    }
    return most;
}

/* The lowest offset at which a value does not overlap those placed. */
static int lowest(const allocator *a, int element) {
    const weft_live_range *one = &a->ranges[element];
    int offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int k = 0; k < a->n; ++k)
            if (a->placed[k] && meet(one, &a->ranges[k]) &&
                offset < a->offsets[k] + a->ranges[k].components &&
                a->offsets[k] < offset + one->components) {
                offset = a->offsets[k] + a->ranges[k].components;
                moved = true;
            }
    }
    return offset;
}

static void branch(allocator *a, int n_placed, int end) {
    if (end >= a->best || a->best == a->bound || ++a->nodes > NODES_MAX)
        return;
    if (n_placed == a->n) {
        a->best = end;
        for (int i = 0; i < a->n; ++i)
            a->kept[i] = a->offsets[i];
        return;
    }
    for (int k = 0; k < a->n; ++k) {
        const int element = a->order[k];
        if (a->placed[element])
            continue;
        a->offsets[element] = lowest(a, element);
        const int top = a->offsets[element] + a->ranges[element].components;
        a->placed[element] = true;
        branch(a, n_placed + 1, top > end ? top : end);
        a->placed[element] = false;
    }
}

int weft_onchip_allocate(weft_live_range *ranges, int n, bool *proved) {
    allocator a = {.ranges = ranges, .n = n, .best = 1, .bound = weft_onchip_bound(ranges, n)};
    int end = 0;
    for (int i = 0; i < n; ++i)
        a.best += ranges[i].components;
    if (n > ELEMENTS_MAX) { /* too many to search: disjoint */
        for (int i = 0; i < n; ++i) {
            ranges[i].offset = end;
            end += ranges[i].components;
        }
        *proved = end == a.bound;
        return end;
    }
    for (int i = 0; i < n; ++i) {
        int k = i;
        for (; k > 0 && ranges[a.order[k - 1]].components < ranges[i].components; --k)
            a.order[k] = a.order[k - 1];
        a.order[k] = i;
    }
    branch(&a, 0, 0);
    *proved = a.best == a.bound || a.nodes <= NODES_MAX;
    for (int i = 0; i < n; ++i)
        ranges[i].offset = a.kept[i];
    return a.best;
}
