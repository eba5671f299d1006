/* Places the data of a GPU kernel with several threads per element, and its barriers.
 *
 * With I elements per block, a multiple of the warp size, thread t of element i is thread t * I + i
 * of the block. A call of fewer threads than another runs in the first warps of the block with the
 * same coordinates, so warps are active or idle as a whole. Values that only one-thread calls
 * produce and use stay in registers; the others are in shared memory as [component][element], which
 * is free of bank conflicts without padding. A result is stored by the threads that compute it,
 * directly after its call. Where values may overlap dead ones, a value is loaded directly before
 * its first reader; where they may not, a late load would save nothing on chip and would cost a
 * barrier, so all loads are issued first. A barrier is needed only before a thread reads what
 * another thread has written since the last barrier, or overwrites a value that has been used since
 * the last barrier (Filipovic et al. 2015, section 4.3.3). */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/plan/implementations.h"

#include <string.h>

enum { CLEAN = -1, LOADED = -2, UNKNOWN = 2 };

struct weft_placer {
    const weft_graph *graph;
    const weft_limits *limits;
    const weft_compile_options *options;
    signed char ***agree; /* [n_calls][operands][writer's variant][reader's variant] or UNKNOWN */
    int *written;         /* position of the call that wrote it since the last barrier; or CLEAN,
                             LOADED */
    bool *touched;        /* used since the last barrier */
    bool *moved;          /* loaded from or stored to memory since the last barrier */
    weft_live_range *ranges;
};

static int threads_at(const weft_graph *graph, const weft_implementation *made, int position) {
    const weft_call *call = &graph->calls[made->order[position]];
    return call->specialisation != NULL ? call->specialisation->threads[made->variants[position]]
                                        : 1;
}

static int variants_of(const weft_call *call) {
    return call->specialisation != NULL ? call->specialisation->n_variants : 1;
}

weft_status weft_placer_make(weft_arena *arena, const weft_graph *graph, const weft_limits *limits,
                             const weft_compile_options *options, weft_placer **out,
                             weft_error *error) {
    weft_placer *p = weft_arena_alloc(arena, 1, sizeof *p);
    size_t most = 1;
    if (p == NULL)
        return weft_no_memory(error);
    p->graph = graph;
    p->limits = limits;
    p->options = options;
    p->agree = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *p->agree);
    if (p->agree == NULL)
        return weft_no_memory(error);
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_call *call = &graph->calls[i];
        const size_t n = (size_t)call->n_operands;
        most += n + 1;
        p->agree[i] = weft_arena_alloc(arena, n + 1, sizeof *p->agree[i]);
        if (p->agree[i] == NULL)
            return weft_no_memory(error);
        for (size_t k = 0; k < n; ++k) {
            const int producer = graph->values[call->operands[k].value].producer;
            if (producer < 0)
                continue;
            const size_t pairs =
                (size_t)variants_of(call) * (size_t)variants_of(&graph->calls[producer]);
            p->agree[i][k] = weft_arena_alloc(arena, pairs, sizeof *p->agree[i][k]);
            if (p->agree[i][k] == NULL)
                return weft_no_memory(error);
            memset(p->agree[i][k], UNKNOWN, pairs);
        }
    }
    p->written = weft_arena_alloc(arena, most, sizeof *p->written);
    p->touched = weft_arena_alloc(arena, most, sizeof *p->touched);
    p->moved = weft_arena_alloc(arena, most, sizeof *p->moved);
    p->ranges = weft_arena_alloc(arena, most, sizeof *p->ranges);
    if (p->written == NULL || p->touched == NULL || p->moved == NULL || p->ranges == NULL)
        return weft_no_memory(error);
    *out = p;
    return WEFT_OK;
}

/* Does each thread of the reader use only components that the same thread of the writer wrote? */
static bool compare_mappings(const weft_call *from, int writing, const weft_call *to, int reading,
                             int operand) {
    const int threads = to->specialisation != NULL ? to->specialisation->threads[reading] : 1;
    if ((from->specialisation != NULL ? from->specialisation->threads[writing] : 1) != threads)
        return false;
    if (threads == 1 || weft_fault("mapping_ignored"))
        return true;
    const int n = weft_shape_count(&to->operands[operand].shape);
    for (int t = 0; t < threads; ++t)
        for (int c = 0; c < n; ++c)
            if (weft_specialisation_reads(to->specialisation, reading, operand, t, c) &&
                weft_specialisation_writer(from->specialisation, writing,
                                           to->operands[operand].offset + c) != t)
                return false;
    return true;
}

static bool mappings_agree(const weft_placer *p, const weft_implementation *made, int writer,
                           int reader, int operand) {
    const weft_call *from = &p->graph->calls[made->order[writer]];
    const weft_call *to = &p->graph->calls[made->order[reader]];
    signed char *known = &p->agree[to->id][operand][made->variants[writer] * variants_of(to) +
                                                    made->variants[reader]];
    if (*known == UNKNOWN)
        *known =
            compare_mappings(from, made->variants[writer], to, made->variants[reader], operand);
    return *known != 0;
}

static void choose_places(const weft_placer *p, weft_implementation *made) {
    for (int m = 0; m < made->n_onchip; ++m)
        made->placement[m] = PLACE_REGISTER;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        if (threads_at(p->graph, made, i) == 1)
            continue;
        for (int k = 0; k <= call->n_operands; ++k) {
            const int m = made->slots[i][k];
            if (p->graph->values[made->onchip[m].value].index_set != UNIFORM)
                made->placement[m] = PLACE_SHARED;
        }
    }
}

/* The position of the first call that uses each value. */
static void find_first_uses(const weft_placer *p, weft_implementation *made) {
    for (int m = 0; m < made->n_onchip; ++m)
        made->load_position[m] = -1;
    for (int i = 0; i < made->fusion->n_calls; ++i)
        for (int k = 0; k <= p->graph->calls[made->order[i]].n_operands; ++k) {
            int *first = &made->load_position[made->slots[i][k]];
            *first = *first < 0 ? i : *first;
        }
}

/* Put the live ranges of the values in one place at the front of p->ranges. Returns their number. A
 * value is live from its load or its call on, until its last reader. */
static int find_lives(const weft_placer *p, const weft_implementation *made, weft_placement place) {
    int found = 0;
    for (int m = 0; m < made->n_onchip; ++m)
        p->ranges[m] = (weft_live_range){.first = made->load_position[m],
                                         .components = weft_shape_count(&made->onchip[m].shape)};
    for (int i = 0; i < made->fusion->n_calls; ++i)
        for (int k = 0; k <= p->graph->calls[made->order[i]].n_operands; ++k)
            p->ranges[made->slots[i][k]].last = i;
    for (int m = 0; m < made->n_onchip; ++m)
        if (made->placement[m] == place)
            p->ranges[found++] = p->ranges[m];
    return found;
}

/* Does writing value m overwrite another value that was used since the last barrier? */
static bool overwrites(const weft_placer *p, const weft_implementation *made, int m) {
    const int first = made->offsets[m], end = first + weft_shape_count(&made->onchip[m].shape);
    for (int k = 0; k < made->n_onchip; ++k)
        if (k != m && made->placement[k] == PLACE_SHARED && p->touched[k] &&
            made->offsets[k] < end &&
            first < made->offsets[k] + weft_shape_count(&made->onchip[k].shape))
            return true;
    return false;
}

/* Does the call at this position update a list that other threads may have loaded or stored since
 * the last barrier? */
static bool updates_moved(const weft_placer *p, const weft_implementation *made, int position) {
    const weft_value *result = &p->graph->values[p->graph->calls[made->order[position]].result];
    const bool one_thread = threads_at(p->graph, made, position) == 1;
    for (int m = 0; m < made->n_onchip && result->storage >= 0; ++m)
        if (p->moved[m] && !(one_thread && made->placement[m] == PLACE_REGISTER) &&
            weft_value_storage(p->graph, made->onchip[m].value) == result->storage)
            return true;
    return false;
}

static bool is_loaded_at(const weft_implementation *made, int m, int position) {
    return made->placement[m] == PLACE_SHARED && !made->produced_here[m] &&
           made->load_position[m] == position;
}

/* Is a barrier needed before the call at this position? exact: offsets are known. */
static bool needs_barrier(const weft_placer *p, const weft_implementation *made, int position,
                          bool exact) {
    const weft_call *call = &p->graph->calls[made->order[position]];
    if (weft_fault("missing_barrier"))
        return false;
    for (int k = 0; k < call->n_operands; ++k) {
        const int m = made->slots[position][k];
        const int written = p->written[m];
        if (made->placement[m] == PLACE_SHARED && written != CLEAN &&
            (written == LOADED || !mappings_agree(p, made, written, position, k)))
            return true;
    }
    const int result = made->slots[position][call->n_operands];
    return updates_moved(p, made, position) ||
           (exact && made->placement[result] == PLACE_SHARED && overwrites(p, made, result));
}

static void pass_barrier(const weft_placer *p, const weft_implementation *made) {
    for (int m = 0; m < made->n_onchip; ++m) {
        p->written[m] = CLEAN;
        p->touched[m] = p->moved[m] = false;
    }
}

/* The loads before the call at this position, and a barrier before them where it is needed. */
static void load_before(const weft_placer *p, weft_implementation *made, int position, bool exact) {
    bool waits = false;
    for (int m = 0; m < made->n_onchip; ++m)
        waits |= exact && is_loaded_at(made, m, position) && overwrites(p, made, m) &&
                 !weft_fault("missing_load_barrier");
    if (waits) {
        made->barriers[position] |= BARRIER_BEFORE_LOADS;
        pass_barrier(p, made);
    }
    for (int m = 0; m < made->n_onchip; ++m)
        if (is_loaded_at(made, m, position)) {
            p->written[m] = LOADED;
            p->touched[m] = p->moved[m] = true;
        }
}

static void set_barriers(const weft_placer *p, weft_implementation *made, bool exact) {
    pass_barrier(p, made);
    for (int m = 0; m < made->n_onchip; ++m) /* loaded at the start */
        p->moved[m] = made->placement[m] == PLACE_REGISTER && !made->produced_here[m];
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const int n_operands = p->graph->calls[made->order[i]].n_operands;
        made->barriers[i] = 0;
        load_before(p, made, i, exact);
        if (needs_barrier(p, made, i, exact)) {
            made->barriers[i] |= BARRIER_BEFORE_CALL;
            pass_barrier(p, made);
        }
        for (int k = 0; k <= n_operands; ++k)
            p->touched[made->slots[i][k]] = true;
        const int m = made->slots[i][n_operands];
        p->written[m] = made->placement[m] == PLACE_SHARED ? i : CLEAN;
        p->moved[m] = made->live_out[m];
    }
}

/* Disjoint offsets. Returns the total. */
static int lay_out(weft_live_range *ranges, int n) {
    int end = 0;
    for (int i = 0; i < n; ++i) {
        ranges[i].offset = end;
        end += ranges[i].components - weft_fault("overlapped_shared");
    }
    return end;
}

bool weft_arrangement_fits(const weft_placer *p, const weft_implementation *made) {
    const size_t real_bytes = p->options->single ? sizeof(float) : sizeof(double);
    return (size_t)made->shared_components * (size_t)made->elements_per_block * real_bytes <=
           p->limits->onchip_bytes;
}

bool weft_arrange(const weft_placer *p, weft_implementation *made, weft_arrangement how) {
    choose_places(p, made);
    find_first_uses(p, made);
    for (int m = 0; m < made->n_onchip; ++m) /* nothing on chip is saved by loading these late */
        if (!made->produced_here[m] &&
            (made->placement[m] == PLACE_REGISTER || how == ARRANGE_APART))
            made->load_position[m] = 0;
    made->register_components = weft_onchip_bound(p->ranges, find_lives(p, made, PLACE_REGISTER));
    int n = find_lives(p, made, PLACE_SHARED);
    made->overlaps = how == ARRANGE_OVER;
    made->allocation_proved = false;
    made->shared_components = how == ARRANGE_APART ? lay_out(p->ranges, n)
                              : how == ARRANGE_OVER
                                  ? weft_onchip_allocate(p->ranges, n, &made->allocation_proved)
                                  : weft_onchip_bound(p->ranges, n);
    for (int m = made->n_onchip - 1; m >= 0; --m)
        if (made->placement[m] == PLACE_SHARED) {
            p->ranges[m] = p->ranges[--n];
            made->offsets[m] = p->ranges[m].offset;
        }
    set_barriers(p, made, how == ARRANGE_OVER);
    return weft_arrangement_fits(p, made);
}
