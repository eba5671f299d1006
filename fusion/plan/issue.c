/* Counts the instructions and the accesses to shared memory of kernels of several threads per element. Threads of a
 * warp that have nothing to do take as long as the others; accesses to one bank of shared memory follow one another. */
#include "fusion/plan/issue.h"
#include "fusion/base/array.h"
#include "fusion/base/target.h"
#include "fusion/library/native.h"
#include "fusion/library/work.h"
#include "fusion/plan/primitives.h"

#include <math.h>

/* Instructions of a warp, as counted by a profiler on an H200 in the slides' reductions and transpositions. */
enum {
    OF_BLOCK = 33, /* places of its elements */
    OF_CALL = 5,   /* condition, bounds of the loop over the call's threads */
    OF_ITERATION = 1,
    OF_ACCESS = 1,  /* to shared memory */
    OF_ADDRESS = 1, /* of all executions of an access */
    OF_LOAD = 5,    /* of a component, with its address */
    OF_STORE = 8,
    OF_COPY = 3,  /* of a component to or from shared memory */
    OF_INDEX = 4, /* of a component through a connectivity */
    BLOCKS = 7,   /* of 1, 2, 4, ... 64 and more elements, at most those of a warp */
    LINE = 128    /* bytes that shared memory serves at once: one number of each bank */
};

/* The work of a body: operations of a thread, its accesses to each operand with the number of their places in the text,
 * and how often shared memory is accessed for those of a warp in blocks of 1, 2, 4, ... elements. */
struct weft_call_work {
    double operations, barriers, array_components;
    int n_accesses[WEFT_ARGUMENTS_MAX + 1];
    double accesses[WEFT_ARGUMENTS_MAX + 1], wavefronts[WEFT_ARGUMENTS_MAX + 1][BLOCKS];
};

typedef struct issue {
    const weft_predictor *p;
    const weft_implementation *made;
    int threads, elements; /* per element; per block */
    int block;             /* index of this number of elements in wavefronts */
    int conflicts,
        lines; /* of an access of neighbours to shared memory and to memory; 0: they are of different elements */
    weft_warp_work work; /* per block, until the end */
} issue;

/* ---- bank conflicts -------------------------------------------------------------------------- */

/* How many times shared memory is accessed for the lanes [first, first + n) of the first warp: the largest number of
 * different places in one bank. Lane l has element l % elements and thread l / elements; a component of an element
 * is at component * elements + element. */
static int accesses_of_lanes(const weft_body_access *access, int elements, int first, int n) {
    int places[WEFT_BODY_WARP], most = 1;
    for (int l = 0; l < n; ++l) {
        const int lane = first + l, thread = lane / elements;
        const int component = access->components[thread];
        places[l] = component < 0 ? -1 : component * elements + lane % elements;
    }
    for (int l = 0; l < n; ++l) {
        int same_bank = 1;
        for (int k = 0; k < l && places[l] >= 0; ++k) {
            if (places[k] == places[l]) { /* one access serves both */
                same_bank = 0;
                break;
            }
            same_bank += places[k] >= 0 && (places[k] - places[l]) % n == 0;
        }
        most = same_bank > most ? same_bank : most;
    }
    return most;
}

static int accesses_of_warp(const weft_predictor *p, const weft_body_access *access, int elements) {
    const int at_once = (int)(LINE / p->real_bytes), warp = p->limits->target.warp_threads;
    int sum = 0;
    for (int first = 0; first < warp; first += at_once)
        sum += accesses_of_lanes(access, elements, first, at_once);
    return sum;
}

/* The same where the threads of an element are neighbours, as those of native bodies are, each with its own component. */
static int accesses_of_neighbours(const weft_predictor *p, int threads, int elements) {
    const int at_once = (int)(LINE / p->real_bytes);
    int most = 1;
    for (int l = 0; l < at_once; ++l) {
        int same_bank = 0;
        for (int k = 0; k < at_once; ++k) {
            const int apart = (l % threads - k % threads) * elements + l / threads - k / threads;
            same_bank += apart % at_once == 0;
        }
        most = same_bank > most ? same_bank : most;
    }
    return most;
}

/* ---- parts of a kernel ----------------------------------------------------------------------- */

static int iterations_of(const issue *s, int threads) {
    return (threads + s->threads - 1) / s->threads;
}

static int warps_of(const issue *s, int threads) {
    if (s->made->joint_threads > 0) /* those of an element are neighbours */
        threads = s->threads;
    const int lanes = (threads < s->threads ? threads : s->threads) * s->elements;
    const int warp = s->p->limits->target.warp_threads;
    return (lanes + warp - 1) / warp;
}

static bool is_shared(const issue *s, int slot) {
    return s->made->placement[slot] == PLACE_SHARED;
}

static void add(issue *s, int threads, double instructions, double wavefronts) {
    const double warps = warps_of(s, threads), iterations = iterations_of(s, threads);
    s->work.instructions += warps * (OF_CALL + iterations * (OF_ITERATION + instructions));
    s->work.wavefronts += warps * iterations * wavefronts;
}

static void add_call(issue *s, int position) {
    const weft_call *call = &s->p->graph->calls[s->made->order[position]];
    const int *slots = s->made->slots[position];
    const int variant = s->made->variants[position];
    if (!call->specialisation) { /* a formula, by component */
        const int n = weft_shape_count(&s->p->graph->values[call->result].shape);
        int n_shared = 0;
        for (int k = 0; k <= call->n_operands; ++k)
            n_shared += is_shared(s, slots[k]);
        add(s, n, call->n_arithmetic + (OF_ACCESS + OF_ADDRESS) * n_shared,
            n_shared * fmax(s->conflicts, 1));
        return;
    }
    const weft_call_work *work = &s->p->work[s->p->first_work[call->id] + variant];
    double instructions = work->operations, wavefronts = 0;
    for (int k = 0; k <= call->n_operands; ++k)
        if (is_shared(s, slots[k])) {
            instructions += OF_ACCESS * work->accesses[k] + OF_ADDRESS * work->n_accesses[k];
            wavefronts +=
                s->conflicts > 0 ? work->accesses[k] * s->conflicts : work->wavefronts[k][s->block];
        }
    add(s, call->specialisation->threads[variant], instructions, wavefronts);
}

/* Loads of a thread that are on the way together, to registers and to shared memory. */
enum { IN_REGISTERS = WEFT_LOADS_IN_FLIGHT, IN_COPIES = WEFT_LOADS_COPIED };

static void add_moves(issue *s, int slot, int *loads) {
    const weft_operand *operand = &s->made->onchip[slot];
    const weft_value *value = &s->p->graph->values[operand->value];
    const int components = weft_shape_count(&s->made->onchip[slot].shape);
    const bool shared = is_shared(s, slot), stored = s->made->produced_here[slot];
    if (value->index_set < 0 || (stored && !s->made->live_out[slot]))
        return;
    /* no more than have a component at once */
    const int lines = s->lines < components ? s->lines : components,
              conflicts = s->conflicts < components ? s->conflicts : components;
    add(s, components,
        (stored ? OF_STORE : OF_LOAD) + (shared ? OF_COPY : 0) +
            (operand->connectivity >= 0 ? OF_INDEX : 0),
        lines + (shared ? fmax(conflicts, 1) : 0));
    if (stored)
        return;
    const int each = iterations_of(s, components);
    if (shared)
        s->work.waits += (each + IN_COPIES - 1) / IN_COPIES;
    else
        *loads += each;
}

weft_warp_work weft_issue_work(const weft_predictor *p, const weft_implementation *made) {
    issue s = {.p = p,
               .made = made,
               .threads = made->threads_per_element,
               .elements = made->elements_per_block};
    int loads = 0;
    const int warp = p->limits->target.warp_threads;
    while (2 << s.block <= warp && 2 << s.block <= s.elements)
        ++s.block;
    if (made->joint_threads > 0) {
        s.conflicts = accesses_of_neighbours(p, s.threads, s.elements);
        s.lines = s.threads < warp ? s.threads : warp;
    }
    for (int slot = 0; slot < made->n_onchip; ++slot)
        add_moves(&s, slot, &loads);
    for (int i = 0; i < made->fusion->n_calls; ++i)
        add_call(&s, i);
    s.work.waits += (loads + IN_REGISTERS - 1) / IN_REGISTERS;
    s.work.instructions += OF_BLOCK * (double)warps_of(&s, s.threads) / made->serial_iterations;
    return s.work;
}

double weft_issue_least(const weft_predictor *p, const weft_implementation *made) {
    double lanes = 0;
    for (int slot = 0; slot < made->n_onchip; ++slot) {
        const bool stored = made->produced_here[slot];
        if (p->graph->values[made->onchip[slot].value].index_set >= 0 &&
            (!stored || made->live_out[slot]))
            lanes += (OF_ITERATION + (stored ? OF_STORE : OF_LOAD)) *
                     (double)weft_shape_count(&made->onchip[slot].shape);
    }
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        const int variant = made->variants[i];
        if (call->specialisation)
            lanes += call->specialisation->threads[variant] *
                     (OF_ITERATION + p->work[p->first_work[call->id] + variant].operations);
    }
    return lanes / p->limits->target.warp_threads;
}

double weft_issue_barriers(const weft_predictor *p, const weft_implementation *made) {
    double n = 0;
    for (int i = 0; i < made->fusion->n_calls && made->threads_per_element > 1; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        if (call->specialisation)
            n += p->work[p->first_work[call->id] + made->variants[i]].barriers;
    }
    return n;
}

double weft_issue_arrays(const weft_predictor *p, const weft_implementation *made, int position) {
    const weft_call *call = &p->graph->calls[made->order[position]];
    return call->specialisation && p->work
               ? p->work[p->first_work[call->id] + made->variants[position]].array_components
               : 0;
}

/* A native body: the operations that it declares, or those of the function, and each component once. */
static void native_work(const weft_call *call, int variant, weft_call_work *out) {
    const weft_specialisation *one = call->specialisation;
    const double declared = one->footprints[variant].operations;
    const int threads = one->threads[variant];
    out->operations = (declared >= 0 ? declared : call->flops) / threads;
    for (int k = 0; k <= one->n_arguments; ++k) {
        const weft_shape *shape = k < one->n_arguments ? &one->arguments[k] : &one->result;
        out->n_accesses[k] = 1;
        out->accesses[k] = (double)weft_shape_count(shape) / threads;
        for (int block = 0; block < BLOCKS; ++block)
            out->wavefronts[k][block] = out->accesses[k];
    }
}

static weft_status count_work(weft_arena *arena, const weft_predictor *p, const weft_call *call,
                              int variant, weft_call_work *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_body_work body = {0};
    const int warp = p->limits->target.warp_threads;
    if (weft_specialisation_language(call->specialisation, variant) != LANGUAGE_PLAIN) {
        native_work(call, variant, out);
        goto done;
    }
    TRY(weft_body_work_count(arena, call->specialisation, variant, warp, &body, error));
    out->operations = body.operations;
    out->barriers = body.barriers;
    out->array_components = body.array_components;
    for (int i = 0; i < body.n_accesses; ++i) {
        const weft_body_access *one = &body.accesses[i];
        const int operand = one->operand < 0 ? call->n_operands : one->operand;
        out->accesses[operand] += one->count;
        ++out->n_accesses[operand];
        for (int block = 0; 1 << block <= warp; ++block)
            out->wavefronts[operand][block] += one->count * accesses_of_warp(p, one, 1 << block);
    }
done:
    return status;
}

weft_status weft_issue_prepare(weft_arena *arena, weft_predictor *p, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_graph *graph = p->graph;
    size_t n = 0;
    TRY(WEFT_ALLOC(arena, p->first_work, (size_t)graph->n_calls + 1, error));
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_specialisation *one = graph->calls[i].specialisation;
        p->first_work[i] = (int)n;
        n += one ? (size_t)one->n_variants : 0;
    }
    TRY(WEFT_ALLOC(arena, p->work, n + 1, error));
    for (int i = 0; i < graph->n_calls; ++i) {
        const weft_specialisation *one = graph->calls[i].specialisation;
        for (int v = 0; one && v < one->n_variants; ++v)
            TRY(count_work(arena, p, &graph->calls[i], v, &p->work[p->first_work[i] + v], error));
    }
done:
    return status;
}
