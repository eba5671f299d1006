/* Finds the order of a fusion's calls that minimises the components live on chip at once.
 *
 * Exact dynamic programming over the sets of calls that may run before the others (Kessler 1998;
 * Fousek et al. 2011 enumerate all orders instead): the values live while a call runs depend only
 * on the set of calls done before it. Ties are broken in favour of the script's order. */
#include "fusion/base/array.h"
#include "fusion/plan/dependence.h"
#include "fusion/plan/implementations.h"

#include <string.h>

enum { STATES_MAX = 1 << 14 };

struct weft_order_state {
    uint64_t done;   /* key: the set of members done before */
    uint32_t fusion; /* number of the fusion that the entry belongs to; other entries are free */
    int peak;        /* minimum over the orders of the rest */
    int next;        /* member to run next */
};
typedef struct weft_order_state state;

typedef struct order_search {
    const weft_onchip *items;
    int n_items, n;
    uint64_t before[WEFT_ORDER_CALLS]; /* members that must precede each */
    int own[WEFT_ORDER_CALLS];         /* components that each uses: live while it runs */
    state *table;                      /* [2 * STATES_MAX] open hashing */
    uint32_t fusion;
    int n_states;
    bool gave_up;
} order_search;

static state *find_state(const order_search *l, uint64_t done) {
    size_t at = (size_t)((done * 0x9e3779b97f4a7c15u) >> 49) % (2 * STATES_MAX);
    while (l->table[at].fusion == l->fusion && l->table[at].done != done)
        at = (at + 1) % (2 * STATES_MAX);
    return &l->table[at];
}

/* Components live while `member` runs after the set `done`. */
static int components_live(const order_search *l, uint64_t done, int member) {
    const uint64_t now = done | (uint64_t)1 << member;
    int live = 0;
    for (int i = 0; i < l->n_items; ++i)
        if ((l->items[i].users & now) != 0 && (l->items[i].users & ~done) != 0)
            live += l->items[i].components;
    return live;
}

static int least(order_search *l, uint64_t done) {
    const uint64_t all = ((uint64_t)1 << l->n) - 1;
    if (done == all)
        return 0;
    state *known = find_state(l, done);
    if (known->fusion == l->fusion)
        return known->peak;
    state made = {.done = done, .fusion = l->fusion, .peak = INT32_MAX, .next = -1};
    int floor = 0; /* no order of the rest has a lower peak */
    for (int i = 0; i < l->n; ++i)
        if ((done >> i & 1) == 0 && l->own[i] > floor)
            floor = l->own[i];
    for (int i = 0; i < l->n && made.peak > floor && !l->gave_up; ++i) {
        if ((done >> i & 1) != 0 || (l->before[i] & ~done) != 0)
            continue;
        int peak = components_live(l, done, i);
        if (peak >= made.peak)
            continue;
        const int rest = least(l, done | (uint64_t)1 << i);
        peak = rest > peak ? rest : peak;
        if (peak < made.peak) {
            made.peak = peak;
            made.next = i;
        }
    }
    if (++l->n_states > STATES_MAX)
        l->gave_up = true;
    else
        *find_state(l, done) = made;
    return made.peak;
}

/* Maximum number of components live at once in an order of n <= WEFT_ORDER_CALLS members. */
static int order_peak(const weft_onchip *items, int n_items, const int *order, int n) {
    uint64_t done = 0;
    int peak = 0;
    const order_search l = {.items = items, .n_items = n_items, .n = n};
    for (int i = 0; i < n; ++i) {
        const int live = components_live(&l, done, order[i]);
        peak = live > peak ? live : peak;
        done |= (uint64_t)1 << order[i];
    }
    return peak;
}

weft_status weft_order_table_make(weft_arena *arena, weft_order_table *out, weft_error *error) {
    *out =
        (weft_order_table){.states = weft_arena_alloc(arena, 2 * STATES_MAX, sizeof *out->states)};
    return out->states ? WEFT_OK : weft_no_memory(error);
}

/* Find the order of least on-chip need. order: [n_calls] members, 0 .. n_calls - 1. Returns whether
 * it is proved optimal; for large fusions and product calls it is the script's order, unproved. */
static bool search_order(weft_order_table *table, const weft_graph *graph,
                         const weft_dependence *dependence, const weft_implementation *made,
                         const weft_onchip *items, int *order) {
    const weft_fusion *fusion = made->fusion;
    const int n = fusion->n_calls, n_items = made->n_onchip;
    order_search l = {.items = items,
                      .n_items = n_items,
                      .n = n,
                      .table = table->states,
                      .fusion = ++table->fusion};
    for (int i = 0; i < n; ++i)
        order[i] = i;
    if (n > WEFT_ORDER_CALLS || weft_fusion_product(graph, fusion) >= 0)
        return false;
    if (n <= 2)
        return true;
    for (int i = 0; i < n; ++i)
        l.own[i] = components_live(&l, ~((uint64_t)1 << i), i);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < i; ++k)
            if (weft_set_has(weft_dependence_reachable(dependence, fusion->calls[k]),
                             fusion->calls[i]))
                l.before[i] |= (uint64_t)1 << k;
    const int peak = least(&l, 0);
    if (l.gave_up || peak == order_peak(items, n_items, order, n))
        return !l.gave_up;
    uint64_t done = 0;
    for (int i = 0; i < n; ++i) {
        order[i] = find_state(&l, done)->next;
        done |= (uint64_t)1 << order[i];
    }
    return true;
}

/* ---- an implementation's order ---- */

/* Does a call read or produce this on-chip value (with its connectivity)? */
static bool uses(const weft_call *call, const weft_operand *onchip) {
    if (call->result == onchip->value && onchip->connectivity < 0)
        return true;
    for (int k = 0; k < call->n_operands; ++k)
        if (call->operands[k].value == onchip->value &&
            call->operands[k].connectivity == onchip->connectivity)
            return true;
    return false;
}

/* onchip_peak of a fusion that is too large for bit sets. */
static int peak_live(const weft_graph *graph, const weft_implementation *made) {
    int peak = 0;
    for (int now = 0; now < made->fusion->n_calls; ++now) {
        int live = 0;
        for (int m = 0; m < made->n_onchip; ++m) {
            int first = made->fusion->n_calls, last = -1;
            for (int i = 0; i < made->fusion->n_calls; ++i)
                if (uses(&graph->calls[made->order[i]], &made->onchip[m])) {
                    first = i < first ? i : first;
                    last = i;
                }
            if (first <= now && now <= last)
                live += weft_shape_count(&made->onchip[m].shape);
        }
        peak = live > peak ? live : peak;
    }
    return peak;
}

weft_status weft_order_find(weft_arena *arena, const weft_graph *graph,
                            const weft_dependence *dependence, weft_order_table *table,
                            weft_implementation *made, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_fusion *fusion = made->fusion;
    const int n = fusion->n_calls;
    weft_onchip *items = NULL;
    int *order = NULL;
    memcpy(made->order, fusion->calls, (size_t)n * sizeof *made->order);
    TRY(weft_onchip_list(arena, graph, made, error));
    if (n > WEFT_ORDER_CALLS) {
        made->onchip_peak = peak_live(graph, made);
        goto done;
    }
    TRY(WEFT_ALLOC(arena, items, (size_t)made->n_onchip, error));
    TRY(WEFT_ALLOC(arena, order, (size_t)n, error));
    for (int m = 0; m < made->n_onchip; ++m) {
        items[m].components = weft_shape_count(&made->onchip[m].shape);
        for (int i = 0; i < n; ++i)
            if (uses(&graph->calls[fusion->calls[i]], &made->onchip[m]))
                items[m].users |= (uint64_t)1 << i;
    }
    made->order_exact = search_order(table, graph, dependence, made, items, order);
    made->onchip_peak = order_peak(items, made->n_onchip, order, n);
    for (int i = 0; i < n; ++i)
        made->order[i] = fusion->calls[order[i]];
    /* list the on-chip values again, in order of first use */
    made->n_onchip = 0;
    TRY(weft_onchip_list(arena, graph, made, error));
done:
    return status;
}
