/* Places the data of a GPU kernel with several threads per element, and its barriers.
 *
 * With I elements per block, thread t of element i is thread t * I + i of the block. A call of fewer
 * threads than another runs in the first threads of the block with the same coordinates. I is a
 * multiple of the warp size, so that warps are active or idle as a whole, or a power of two below
 * it, for elements of many threads. Values that only one-thread calls
 * produce and use stay in registers of the first warp. Values of which every call gives each thread
 * the same components stay in registers of these threads, and so do loaded scalars, which each
 * thread loads for itself. The others are in shared memory as [component][element], which is free
 * of bank conflicts without padding where I is a multiple of the warp size. A result is stored by the threads that compute it,
 * directly after its call. Where values may overlap dead ones, a value is loaded directly before
 * its first reader; where they may not, a late load would save nothing on chip and would cost a
 * barrier, so all loads are issued first. A barrier is needed only before a thread reads what
 * another thread has written since the last barrier, or overwrites a value that has been used since
 * the last barrier (Filipovic et al. 2015, section 4.3.3). Between calls that all run in the first warp
 * of the block, a barrier of this warp suffices.
 *
 * Decision  docs/decisions/0012-thread-patterns-are-proved.md */
#include "core/base/fault.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/library/native.h"
#include "fusion/plan/implementations.h"

#include <string.h>

enum {
    CLEAN = -1,
    LOADED = -2,
    UNKNOWN = 2,
    NO_MAPPING = -1,
    MAPPING_UNKNOWN = -2,
    HOISTED_WORDS = 64 /* most registers that loads before the first call may take */
};

/* A thread-to-component mapping of whole values: that of an operand (-1: of the result). */
typedef struct mapping {
    const weft_specialisation *specialisation;
    int variant, operand;
    bool exclusive; /* no component belongs to two threads */
} mapping;

struct weft_placer {
    const weft_graph *graph;
    const weft_limits *limits;
    const weft_compile_options *options;
    signed char ***agree; /* [n_calls][operands][writer's variant][reader's variant] or UNKNOWN */
    /* [n_calls][operands, result][variant] index in mappings; NO_MAPPING, or MAPPING_UNKNOWN */
    int ***mapping_of;
    mapping *mappings; /* [n_mappings] all different */
    int n_mappings;
    bool *seen; /* scratch: a component belongs to a thread */
    /* position of the call that wrote it since the last barrier; or CLEAN, LOADED */
    int *written;
    bool *touched;  /* used since the last barrier */
    bool *moved;    /* loaded from or stored to memory since the last barrier */
    bool scratched; /* a native body has used its shared memory since the last barrier */
    weft_live_range *ranges;
};

static int threads_at(const weft_graph *graph, const weft_implementation *made, int position) {
    const weft_call *call = &graph->calls[made->order[position]];
    return call->specialisation ? call->specialisation->threads[made->variants[position]] : 1;
}

static int variants_of(const weft_call *call) {
    return call->specialisation ? call->specialisation->n_variants : 1;
}

static weft_status mappings_make(weft_arena *arena, weft_placer *p, weft_error *error) {
    const weft_graph *graph = p->graph;
    size_t most = 1, components = 1;
    p->mapping_of = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *p->mapping_of);
    if (!p->mapping_of)
        return weft_no_memory(error);
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_call *call = &graph->calls[i];
        const size_t n = (size_t)call->n_operands + 1, n_variants = (size_t)variants_of(call);
        p->mapping_of[i] = weft_arena_alloc(arena, n, sizeof *p->mapping_of[i]);
        if (!p->mapping_of[i])
            return weft_no_memory(error);
        for (size_t k = 0; k < n; ++k) {
            int *known = p->mapping_of[i][k] = weft_arena_alloc(arena, n_variants, sizeof *known);
            if (!known)
                return weft_no_memory(error);
            for (size_t v = 0; v < n_variants; ++v)
                known[v] = MAPPING_UNKNOWN;
            const size_t count = (size_t)weft_shape_count(
                k + 1 < n ? &call->operands[k].shape : &graph->values[call->result].shape);
            components = count > components ? count : components;
        }
        most += n * n_variants;
    }
    p->mappings = weft_arena_alloc(arena, most, sizeof *p->mappings);
    p->seen = weft_arena_alloc(arena, components, sizeof *p->seen);
    return p->mappings && p->seen ? WEFT_OK : weft_no_memory(error);
}

weft_status weft_placer_make(weft_arena *arena, const weft_graph *graph, const weft_limits *limits,
                             const weft_compile_options *options, weft_placer **out,
                             weft_error *error) {
    weft_placer *p = weft_arena_alloc(arena, 1, sizeof *p);
    size_t most = 1;
    if (!p)
        return weft_no_memory(error);
    p->graph = graph;
    p->limits = limits;
    p->options = options;
    p->agree = weft_arena_alloc(arena, (size_t)graph->n_calls + 1, sizeof *p->agree);
    if (!p->agree)
        return weft_no_memory(error);
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_call *call = &graph->calls[i];
        const size_t n = (size_t)call->n_operands;
        most += n + 1;
        p->agree[i] = weft_arena_alloc(arena, n + 1, sizeof *p->agree[i]);
        if (!p->agree[i])
            return weft_no_memory(error);
        for (size_t k = 0; k < n; ++k) {
            const int producer = graph->values[call->operands[k].value].producer;
            if (producer < 0)
                continue;
            const size_t pairs =
                (size_t)variants_of(call) * (size_t)variants_of(&graph->calls[producer]);
            p->agree[i][k] = weft_arena_alloc(arena, pairs, sizeof *p->agree[i][k]);
            if (!p->agree[i][k])
                return weft_no_memory(error);
            memset(p->agree[i][k], UNKNOWN, pairs);
        }
    }
    p->written = weft_arena_alloc(arena, most, sizeof *p->written);
    p->touched = weft_arena_alloc(arena, most, sizeof *p->touched);
    p->moved = weft_arena_alloc(arena, most, sizeof *p->moved);
    p->ranges = weft_arena_alloc(arena, most, sizeof *p->ranges);
    if (!p->written || !p->touched || !p->moved || !p->ranges)
        return weft_no_memory(error);
    const weft_status status = mappings_make(arena, p, error);
    if (status == WEFT_OK)
        *out = p;
    return status;
}

/* Does each thread of the reader use only components that the same thread of the writer wrote? */
static bool compare_mappings(const weft_call *from, int writing, const weft_call *to, int reading,
                             int operand) {
    const int threads = to->specialisation ? to->specialisation->threads[reading] : 1;
    if ((from->specialisation ? from->specialisation->threads[writing] : 1) != threads)
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

/* ---- mappings of whole values ---- */

static int mapping_threads(const mapping *one) {
    return one->specialisation->threads[one->variant];
}

static int mapping_share(const mapping *one) {
    return weft_specialisation_thread_count(one->specialisation, one->variant, one->operand);
}

static int mapped_component(const mapping *one, int thread, int number) {
    return weft_specialisation_thread_component(one->specialisation, one->variant, one->operand,
                                                thread, number);
}

static bool is_same_mapping(const mapping *a, const mapping *b) {
    const int threads = mapping_threads(a), share = mapping_share(a);
    if (mapping_threads(b) != threads || mapping_share(b) != share)
        return false;
    for (int t = 0; t < threads; ++t)
        for (int k = 0; k < share; ++k)
            if (mapped_component(a, t, k) != mapped_component(b, t, k))
                return false;
    return true;
}

/* Set one->exclusive. Returns false: a thread has components out of range. */
static bool find_exclusive(const weft_placer *p, mapping *one, int components) {
    const int threads = mapping_threads(one), share = mapping_share(one);
    memset(p->seen, 0, (size_t)components * sizeof *p->seen);
    one->exclusive = true;
    for (int t = 0; t < threads; ++t)
        for (int k = 0; k < share; ++k) {
            const int c = mapped_component(one, t, k);
            if (c < 0 || c >= components)
                return false;
            one->exclusive &= !p->seen[c];
            p->seen[c] = true;
        }
    return true;
}

/* The mapping of an operand (n_operands: of the result) of a call of several threads that uses the
 * whole value; NO_MAPPING: there is none. */
static int find_mapping(weft_placer *p, const weft_call *call, int operand, int variant) {
    const bool is_result = operand == call->n_operands;
    mapping one = {call->specialisation, variant, is_result ? -1 : operand, false};
    int components = weft_shape_count(&p->graph->values[call->result].shape);
    if (!call->specialisation || mapping_threads(&one) == 1 ||
        (is_result && weft_specialisation_has_barriers(call->specialisation, variant)))
        return NO_MAPPING;
    if (!is_result) {
        const weft_shape whole = weft_operand_whole(p->graph, &call->operands[operand]);
        components = weft_shape_count(&whole);
        if (weft_shape_count(&call->operands[operand].shape) != components)
            return NO_MAPPING;
    }
    if (mapping_share(&one) == 0 || !find_exclusive(p, &one, components))
        return NO_MAPPING;
    for (int i = 0; i < p->n_mappings; ++i)
        if (is_same_mapping(&p->mappings[i], &one))
            return i;
    p->mappings[p->n_mappings] = one;
    return p->n_mappings++;
}

static int mapping_at(weft_placer *p, const weft_implementation *made, int position, int operand) {
    const weft_call *call = &p->graph->calls[made->order[position]];
    int *known = &p->mapping_of[call->id][operand][made->variants[position]];
    if (*known == MAPPING_UNKNOWN)
        *known = find_mapping(p, call, operand, made->variants[position]);
    return *known;
}

/* The mapping that all calls that use a value have in common, or NO_MAPPING. */
static int common_mapping(weft_placer *p, const weft_implementation *made, int m) {
    int common = MAPPING_UNKNOWN;
    for (int i = 0; i < made->fusion->n_calls; ++i)
        for (int k = 0; k <= p->graph->calls[made->order[i]].n_operands; ++k) {
            if (made->slots[i][k] != m)
                continue;
            const int one = mapping_at(p, made, i, k);
            if (one == NO_MAPPING || (common != MAPPING_UNKNOWN && one != common))
                return NO_MAPPING;
            common = one;
        }
    return common;
}

/* ---- places ---- */

/* A scalar that is loaded directly: a copy in each thread costs no memory traffic. */
static bool is_copied(const weft_implementation *made, int m) {
    return !made->produced_here[m] && made->onchip[m].connectivity < 0 &&
           weft_shape_count(&made->onchip[m].shape) == 1;
}

static weft_placement place_of_several(weft_placer *p, const weft_implementation *made, int m) {
    const int common = common_mapping(p, made, m);
    return is_copied(made, m) || (common >= 0 && p->mappings[common].exclusive) ? PLACE_OWN_REGISTER
                                                                                : PLACE_SHARED;
}

static void choose_places(weft_placer *p, weft_implementation *made) {
    for (int m = 0; m < made->n_onchip; ++m)
        made->placement[m] = PLACE_REGISTER;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        if (threads_at(p->graph, made, i) == 1)
            continue;
        for (int k = 0; k <= call->n_operands; ++k) {
            const int m = made->slots[i][k];
            if (p->graph->values[made->onchip[m].value].index_set != UNIFORM &&
                made->placement[m] == PLACE_REGISTER)
                made->placement[m] = place_of_several(p, made, m);
        }
    }
}

/* Components of a value in one thread's registers, or in shared memory. */
static int components_of(weft_placer *p, const weft_implementation *made, int m) {
    const int common = made->placement[m] == PLACE_OWN_REGISTER && !is_copied(made, m)
                           ? common_mapping(p, made, m)
                           : NO_MAPPING;
    if (common < 0)
        return weft_shape_count(&made->onchip[m].shape);
    const int threads = mapping_threads(&p->mappings[common]), width = made->threads_per_element;
    return (threads + width - 1) / width * mapping_share(&p->mappings[common]);
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

/* Put the live ranges of the values in shared memory, or of those in registers, at the front of
 * p->ranges. Returns their number. A value is live from its load or its call on, until its last
 * reader. */
static int find_lives(weft_placer *p, const weft_implementation *made, bool shared) {
    int found = 0;
    for (int m = 0; m < made->n_onchip; ++m)
        p->ranges[m] = (weft_live_range){.first = made->load_position[m],
                                         .components = components_of(p, made, m)};
    for (int i = 0; i < made->fusion->n_calls; ++i)
        for (int k = 0; k <= p->graph->calls[made->order[i]].n_operands; ++k)
            p->ranges[made->slots[i][k]].last = i;
    for (int m = 0; m < made->n_onchip; ++m)
        if ((made->placement[m] == PLACE_SHARED) == shared)
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
static bool updates_moved(weft_placer *p, const weft_implementation *made, int position) {
    const weft_call *call = &p->graph->calls[made->order[position]];
    const int storage = p->graph->values[call->result].storage;
    const bool one_thread = threads_at(p->graph, made, position) == 1;
    const int writer = mapping_at(p, made, position, call->n_operands);
    for (int m = 0; m < made->n_onchip && storage >= 0; ++m) {
        const bool by_the_same = made->placement[m] == PLACE_REGISTER
                                     ? one_thread
                                     : writer >= 0 && common_mapping(p, made, m) == writer;
        if (p->moved[m] && !by_the_same &&
            weft_value_storage(p->graph, made->onchip[m].value) == storage)
            return true;
    }
    return false;
}

static bool is_loaded_at(const weft_implementation *made, int m, int position) {
    return !made->produced_here[m] && made->load_position[m] == position;
}

/* Is a barrier needed before the call at this position? exact: offsets are known. */
static bool needs_barrier(weft_placer *p, const weft_implementation *made, int position,
                          bool exact) {
    const weft_call *call = &p->graph->calls[made->order[position]];
    if (weft_fault("missing_barrier"))
        return false;
    if (p->scratched && weft_scratch_bytes(p->graph, made, position, 8) > 0 &&
        !weft_fault("scratch_without_barrier"))
        return true;
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

static void pass_barrier(weft_placer *p, const weft_implementation *made) {
    p->scratched = false;
    for (int m = 0; m < made->n_onchip; ++m) {
        p->written[m] = CLEAN;
        p->touched[m] = p->moved[m] = false;
    }
}

/* The loads before the call at this position, and a barrier before them where it is needed. */
static void load_before(weft_placer *p, weft_implementation *made, int position, bool exact) {
    bool waits = false;
    for (int m = 0; m < made->n_onchip; ++m)
        waits |= exact && is_loaded_at(made, m, position) && made->placement[m] == PLACE_SHARED &&
                 overwrites(p, made, m) && !weft_fault("missing_load_barrier");
    if (waits) {
        made->barriers[position] |= BARRIER_BEFORE_LOADS;
        pass_barrier(p, made);
    }
    for (int m = 0; m < made->n_onchip; ++m)
        if (is_loaded_at(made, m, position)) {
            p->written[m] = made->placement[m] == PLACE_SHARED ? LOADED : CLEAN;
            p->touched[m] = p->moved[m] = true;
        }
}

static bool loads_at(const weft_implementation *made, int position) {
    for (int m = 0; m < made->n_onchip; ++m)
        if (is_loaded_at(made, m, position))
            return true;
    return false;
}

/* Do all threads of the call at this position, and of the loads before it, belong to one warp? Those of an element
 * are neighbours, and share nothing with others, where native bodies need them at once. */
static bool is_in_one_warp(const weft_placer *p, const weft_implementation *made, int position) {
    const int warp = p->limits->target.warp_threads;
    if (made->joint_threads > 0)
        return made->joint_threads <= warp;
    const int threads = threads_at(p->graph, made, position);
    const int most = threads < made->threads_per_element ? threads : made->threads_per_element;
    return !loads_at(made, position) && most * made->elements_per_block <= warp;
}

/* A barrier orders what is before it up to the last barrier of the block with what is after it up
 * to the next one. */
static void narrow_barriers(const weft_placer *p, weft_implementation *made) {
    const int n = made->fusion->n_calls;
    /* all calls since the last barrier are in one warp; at first only where no others load for it */
    bool before = made->joint_threads > 0 && is_in_one_warp(p, made, 0);
    for (int m = 0; m < made->n_onchip; ++m)
        before &= made->placement[m] != PLACE_SHARED || made->produced_here[m];
    for (int i = 0; i < n; ++i) {
        bool after = is_in_one_warp(p, made, i);
        if (made->barriers[i] == BARRIER_BEFORE_CALL) {
            for (int k = i + 1; k < n && (made->barriers[k] == 0 || loads_at(made, k)); ++k)
                after = after && is_in_one_warp(p, made, k);
            made->barriers[i] |= before && after ? BARRIER_OF_WARP : 0;
            before = after;
        } else
            before = before && after && made->barriers[i] == 0;
    }
}

static void set_barriers(weft_placer *p, weft_implementation *made, bool exact) {
    pass_barrier(p, made);
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
        p->scratched |= weft_scratch_bytes(p->graph, made, i, 8) > 0;
        const int m = made->slots[i][n_operands];
        p->written[m] = made->placement[m] == PLACE_SHARED ? i : CLEAN;
        p->moved[m] = made->live_out[m];
    }
    narrow_barriers(p, made);
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

int weft_joint_threads(const weft_graph *graph, const weft_implementation *made) {
    int joint = 0;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_specialisation *one = graph->calls[made->order[i]].specialisation;
        if (!one || !weft_specialisation_is_joint(one, made->variants[i]))
            continue;
        if (joint > 0 && joint != one->threads[made->variants[i]])
            return -1;
        joint = one->threads[made->variants[i]];
    }
    return joint;
}

/* Is a value of this kernel, but for one operand (n_operands: the result) of the call at a position, used? */
static bool is_used_elsewhere(const weft_graph *graph, const weft_implementation *made,
                              int position, int operand) {
    const int m = made->slots[position][operand];
    for (int i = 0; i < made->fusion->n_calls; ++i)
        for (int k = 0; k <= graph->calls[made->order[i]].n_operands; ++k)
            if (made->slots[i][k] == m && (i != position || k != operand))
                return true;
    return false;
}

/* Is the result of a call stored as it is, and nothing else? */
static bool is_only_stored(const weft_graph *graph, const weft_implementation *made, int position,
                           const weft_call *call) {
    for (int i = 0; i < graph->n_accumulations; ++i)
        if (graph->accumulations[i].source == call->result)
            return false;
    return made->live_out[made->slots[position][call->n_operands]];
}

static const char *why_not_moved(const weft_graph *graph, const weft_implementation *made,
                                 int position) {
    const weft_call *call = &graph->calls[made->order[position]];
    const int variant = made->variants[position];
    for (int k = 0; call->specialisation && k < call->n_operands; ++k) {
        const weft_operand *operand = &call->operands[k];
        const weft_shape whole = weft_operand_whole(graph, operand);
        if (!weft_specialisation_moves(call->specialisation, variant, k))
            continue;
        if ((operand->connectivity >= 0 && !weft_fault("native_load_elsewhere")) ||
            graph->values[operand->value].index_set < 0 ||
            weft_shape_count(&operand->shape) != weft_shape_count(&whole))
            return "it loads an argument by a routine of its own, which reads whole lists";
        if (made->produced_here[made->slots[position][k]])
            return "it loads an argument by a routine of its own, and this kernel computes it";
        if (is_used_elsewhere(graph, made, position, k))
            return "it loads an argument by a routine of its own, which other calls of this kernel "
                   "use";
    }
    if (!call->specialisation || !weft_specialisation_moves(call->specialisation, variant, -1))
        return NULL;
    return is_used_elsewhere(graph, made, position, call->n_operands)
               ? "it stores its result by a routine of its own, and this kernel uses it"
           : !is_only_stored(graph, made, position, call)
               ? "it stores its result by a routine of its own, which adds nothing to others"
               : NULL;
}

const char *weft_why_not_native(const weft_graph *graph, const weft_implementation *made) {
    const char *why = NULL;
    for (int i = 0; i < made->fusion->n_calls && !why; ++i)
        why = why_not_moved(graph, made, i);
    if (!why && weft_joint_threads(graph, made) < 0)
        why = "another call of this kernel has a native body of another number of threads";
    return why;
}

int weft_scratch_bytes(const weft_graph *graph, const weft_implementation *made, int position,
                       size_t real_bytes) {
    const weft_specialisation *one = graph->calls[made->order[position]].specialisation;
    return one ? (int)weft_specialisation_scratch(one, made->variants[position], real_bytes) : 0;
}

/* The shared memory of native bodies, which have it one after another, comes first; an element's ends at 16 bytes. */
static void add_scratch(const weft_placer *p, weft_implementation *made) {
    const int real_bytes = p->options->single ? 4 : 8, whole = 16 / real_bytes;
    int scratch = 0;
    if (made->joint_threads == 0)
        return;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const int own = weft_scratch_bytes(p->graph, made, i, (size_t)real_bytes) / real_bytes;
        scratch = own > scratch ? own : scratch;
    }
    for (int m = 0; m < made->n_onchip; ++m)
        made->offsets[m] += made->placement[m] == PLACE_SHARED ? scratch : 0;
    made->shared_components = (made->shared_components + scratch + whole - 1) / whole * whole;
}

/* Choose where values are loaded, and count the registers. Loads into registers are issued first,
 * so that they are in flight together, unless that takes too many registers. */
static void choose_loads(weft_placer *p, weft_implementation *made, weft_arrangement how) {
    const int real_words = p->options->single ? 1 : 2;
    for (bool late = false;; late = true) {
        find_first_uses(p, made);
        for (int m = 0; m < made->n_onchip; ++m)
            if (!made->produced_here[m] && (made->placement[m] == PLACE_SHARED
                                                ? how == ARRANGE_APART
                                                : made->placement[m] == PLACE_REGISTER || !late))
                made->load_position[m] = 0;
        made->register_components = weft_onchip_bound(p->ranges, find_lives(p, made, false));
        if (late || made->register_components * real_words <= HOISTED_WORDS)
            return;
    }
}

bool weft_arrange(weft_placer *p, weft_implementation *made, weft_arrangement how) {
    made->joint_threads = weft_joint_threads(p->graph, made);
    choose_places(p, made);
    choose_loads(p, made, how);
    int n = find_lives(p, made, true);
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
    add_scratch(p, made);
    set_barriers(p, made, how == ARRANGE_OVER);
    return weft_arrangement_fits(p, made);
}
