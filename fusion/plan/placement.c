/* Where data live while a kernel of several threads an instance works, on a GPU. With I instances a
 * block, a multiple of the warp's lanes, thread t of instance i is thread t * I + i of the block: a
 * call of fewer threads than another runs in the first warps of the block and needs no other
 * coordinates, and a warp works as a whole or waits as a whole. What calls of one thread make and
 * use among themselves stays in registers; the rest is in shared memory as [component][instance],
 * so that neighbouring lanes use neighbouring banks and no padding is needed. A barrier stands only
 * where a thread reads what another one has written since the last, or writes where another element
 * lay that was used since the last (Filipovic et al. 2015, section 4.3.3). */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/plan/implementations.h"

#include <string.h>

enum { CLEAN = -1, LOADED = -2, UNKNOWN = 2 };

struct weft_placer {
    const weft_graph *graph;
    const weft_limits *limits;
    const weft_compile_options *options;
    signed char ***agree; /* [n_calls][operands][variants of the writer x of the reader], UNKNOWN */
    int *written;         /* [most on chip] position of the call that wrote it since a barrier */
    bool *touched;        /* used since a barrier */
    weft_onchip_life *lives;
};

static int threads_at(const weft_graph *graph, const weft_implementation *made, int position) {
    const weft_call *call = &graph->calls[made->order[position]];
    return call->instance != NULL ? call->instance->threads[made->variants[position]] : 1;
}

static int variants_of(const weft_call *call) {
    return call->instance != NULL ? call->instance->n_variants : 1;
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
            const int producer = graph->data[call->operands[k].datum].producer;
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
    p->lives = weft_arena_alloc(arena, most, sizeof *p->lives);
    if (p->written == NULL || p->touched == NULL || p->lives == NULL)
        return weft_no_memory(error);
    *out = p;
    return WEFT_OK;
}

/* Does each thread of the reader use only what it wrote itself as the same thread of the writer? */
static bool compare_mappings(const weft_call *from, int writing, const weft_call *to, int reading,
                             int operand) {
    const int threads = to->instance != NULL ? to->instance->threads[reading] : 1;
    if ((from->instance != NULL ? from->instance->threads[writing] : 1) != threads)
        return false;
    if (threads == 1 || weft_planted("mapping_ignored"))
        return true;
    const int n = weft_shape_count(&to->operands[operand].shape);
    for (int t = 0; t < threads; ++t)
        for (int c = 0; c < n; ++c) {
            const int reads = weft_instance_touches(to->instance, reading, operand, t, c);
            const int writes = weft_instance_touches(from->instance, writing, -1, t,
                                                     to->operands[operand].offset + c);
            if (reads != 0 && (reads < 0 || writes != 1))
                return false;
        }
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
            if (p->graph->data[made->onchip[m].datum].index_set != UNIFORM)
                made->placement[m] = PLACE_SHARED;
        }
    }
}

static bool is_stored(const weft_placer *p, const weft_implementation *made, int m) {
    const int datum = made->onchip[m].datum;
    if (made->leaves[m])
        return true;
    for (int i = 0; i < p->graph->n_accumulations; ++i)
        if (p->graph->accumulations[i].source == datum)
            return true;
    return false;
}

/* The lives of what is in one place, together at the front; how many. What is loaded lives from the
 * start, what is stored until the end. */
static int find_lives(const weft_placer *p, const weft_implementation *made, weft_placement place) {
    const int n = made->fusion->n_calls;
    int found = 0;
    for (int m = 0; m < made->n_onchip; ++m)
        p->lives[m] =
            (weft_onchip_life){.last = -1, .components = weft_shape_count(&made->onchip[m].shape)};
    for (int i = 0; i < n; ++i) {
        const int n_operands = p->graph->calls[made->order[i]].n_operands;
        p->lives[made->slots[i][n_operands]].first = i;
        for (int k = 0; k <= n_operands; ++k)
            p->lives[made->slots[i][k]].last = i;
    }
    for (int m = 0; m < made->n_onchip; ++m) {
        if (is_stored(p, made, m))
            p->lives[m].last = n;
        if (made->placement[m] == place)
            p->lives[found++] = p->lives[m];
    }
    return found;
}

/* Does writing element m overwrite another that was used since the last barrier? */
static bool overwrites(const weft_placer *p, const weft_implementation *made, int m) {
    const int first = made->offsets[m], end = first + p->lives[m].components;
    for (int k = 0; k < made->n_onchip; ++k)
        if (k != m && made->placement[k] == PLACE_SHARED && p->touched[k] &&
            made->offsets[k] < end && first < made->offsets[k] + p->lives[k].components)
            return true;
    return false;
}

/* Before the call at this position; `exact`: offsets are known. */
static bool needs_barrier(const weft_placer *p, const weft_implementation *made, int position,
                          bool exact) {
    const weft_call *call = &p->graph->calls[made->order[position]];
    if (weft_planted("missing_barrier"))
        return false;
    for (int k = 0; k < call->n_operands; ++k) {
        const int m = made->slots[position][k];
        const int written = p->written[m];
        if (made->placement[m] == PLACE_SHARED && written != CLEAN &&
            (written == LOADED || !mappings_agree(p, made, written, position, k)))
            return true;
    }
    const int result = made->slots[position][call->n_operands];
    return exact && made->placement[result] == PLACE_SHARED && overwrites(p, made, result);
}

static void touch(const weft_placer *p, const weft_implementation *made, int position) {
    for (int k = 0; k <= p->graph->calls[made->order[position]].n_operands; ++k)
        p->touched[made->slots[position][k]] = true;
}

/* Results that leave are stored by whichever threads are free. */
static bool stores_written(const weft_placer *p, const weft_implementation *made) {
    for (int m = 0; m < made->n_onchip; ++m)
        if (made->placement[m] == PLACE_SHARED && p->written[m] >= 0 && is_stored(p, made, m) &&
            !weft_planted("missing_store_barrier"))
            return true;
    return false;
}

static void set_barriers(const weft_placer *p, weft_implementation *made, bool exact) {
    const int n = made->fusion->n_calls;
    for (int m = 0; m < made->n_onchip; ++m) {
        const bool shared = made->placement[m] == PLACE_SHARED;
        const bool inside = made->inside[m];
        p->written[m] = shared && !inside ? LOADED : CLEAN;
        p->touched[m] = shared && !inside;
    }
    for (int i = 0; i < n; ++i) {
        made->barriers[i] = needs_barrier(p, made, i, exact);
        for (int m = 0; m < made->n_onchip && made->barriers[i]; ++m) {
            p->written[m] = CLEAN;
            p->touched[m] = false;
        }
        touch(p, made, i);
        const int m = made->slots[i][p->graph->calls[made->order[i]].n_operands];
        p->written[m] = made->placement[m] == PLACE_SHARED ? i : CLEAN;
    }
    made->barriers[n] = stores_written(p, made);
}

/* One after the other. */
static int lay_out(weft_onchip_life *lives, int n) {
    int end = 0;
    for (int i = 0; i < n; ++i) {
        lives[i].offset = end;
        end += lives[i].components - weft_planted("overlapped_shared");
    }
    return end;
}

bool weft_arrangement_fits(const weft_placer *p, const weft_implementation *made) {
    const size_t real_bytes = p->options->single ? sizeof(float) : sizeof(double);
    return (size_t)made->shared_components * (size_t)made->instances_per_block * real_bytes <=
           p->limits->onchip_bytes;
}

bool weft_arrange(const weft_placer *p, weft_implementation *made, weft_arrangement how) {
    choose_places(p, made);
    made->register_components = weft_onchip_bound(p->lives, find_lives(p, made, PLACE_REGISTER));
    int n = find_lives(p, made, PLACE_SHARED);
    made->overlaps = how == ARRANGE_OVER;
    made->allocation_proved = false;
    made->shared_components = how == ARRANGE_APART ? lay_out(p->lives, n)
                              : how == ARRANGE_OVER
                                  ? weft_onchip_allocate(p->lives, n, &made->allocation_proved)
                                  : weft_onchip_bound(p->lives, n);
    for (int m = made->n_onchip - 1; m >= 0; --m)
        if (made->placement[m] == PLACE_SHARED) {
            p->lives[m] = p->lives[--n];
            made->offsets[m] = p->lives[m].offset;
        }
    set_barriers(p, made, how == ARRANGE_OVER);
    return weft_arrangement_fits(p, made);
}
