/* Predicts the time of an implementation from its cost primitives. */
#include "fusion/base/target.h"
#include "fusion/cost/occupancy.h"
#include "fusion/library/native.h"
#include "fusion/plan/block_shapes.h"
#include "fusion/plan/dense.h"
#include "fusion/plan/in_place.h"
#include "fusion/plan/issue.h"
#include "fusion/plan/nested.h"
#include "fusion/plan/primitives.h"
#include "fusion/plan/scatter.h"

#include <math.h>
#include <string.h>

#define WEFT_DEFAULT_LAUNCH 1e-6
#define DENSE_FLOPS 1e12
#define DENSE_STAGED 1.25
#define DENSE_APART 3.3
/* Start of a thread on its multiprocessor: on an H200, maps of 2^27 floats take 638 to 643 us in blocks of
 * 128 threads, with one to three loads and one element per thread */
#define THREAD_SECONDS 6.2e-10
/* Start of a block, and of a thread in it: on an H200, 524,288 sums of 256 floats take 170 us in blocks of 32, 64 or 128
 * threads, and 266 us in blocks of 256; where blocks have shared memory, half as many take as long */
#define BLOCK_SECONDS 4.3e-8
#define BLOCK_SHARED_SECONDS 9e-8
#define THREAD_OF_SEVERAL_SECONDS 2.6e-10
#define STEP_CLOCKS 1.25     /* of a tree in a warp, per word */
#define BARRIER_SECONDS 2e-8 /* wait of a block at a barrier, while others run */
#define SERIAL_SECONDS                                                                             \
    5e-9 /* of an operation that depends on the one before it, on data in shared memory */
/* Of the smaller of transfer and issue, of several threads per element: what adds to the larger */
#define ISSUE_SHARE 0.34
/* Alternating between rows of two matrices: GESUMMV with n = 16,384 floats takes 502 to 510 us on an H200, as two
 * kernels 489 */
#define RING_SHARE 0.03
#define LIVE_FACTOR 3 /* words that are live beyond the registers, relative to those that spill */

enum {
    PLACES = PREDICTOR_PLACES,
    SECTOR = 32, /* bytes that memory moves at once */
    REGISTERS_MOST = 255,
    REGISTERS_OWN = 24,
    UNROLLED_COMPONENTS = 512, /* of a value over which a loop is unrolled, at most */
    UNROLLED_FLOPS = 2000,     /* of a product whose loops are unrolled, at most */
    RING_IN_FLIGHT = 16 /* elements on the way in a ring, per thread that could be resident */
};

/* May the measured times of primitives be added up for this kernel? On a GPU only where all of the script's are known at more than
 * one point, lest two plans be compared by different means, and where elements have a thread each: what the threads of an
 * element do for each other, and rows of matrices, are priced by the model alone. */
static bool measures(const weft_predictor *p, const weft_implementation *made) {
    return p->source && (!p->is_gpu || (p->knows_all && made->threads_per_element == 0 &&
                                        weft_fusion_product(p->graph, made->fusion) < 0));
}

static double cost(const weft_predictor *p, int number, const weft_operating_point *point,
                   weft_implementation *made) {
    const weft_cost_primitive *primitive = &p->list[number];
    double seconds = 0;
    if (!measures(p, made) || !p->source->lookup(p->source->user, primitive, point, &seconds)) {
        made->measured = false;
        p->analytic.lookup(p->analytic.user, primitive, point, &seconds);
        seconds *= p->analytic_scale[primitive->kind == WEFT_COST_COMPUTE];
    }
    return seconds;
}

/* Sums over the loads and stores of a kernel: seconds, and latency, i.e. the time of each beyond
 * its bytes over the device's bandwidth; longest: the largest single latency. */
typedef struct transfers {
    double seconds, latency, longest;
} transfers;

static void add_transfer(const weft_predictor *p, transfers *sum, int number, double part,
                         const weft_operating_point *point, weft_implementation *made) {
    const double seconds = part * cost(p, number, point, made);
    const double bandwidth = weft_cost_bandwidth(p->limits);
    const double wait = seconds - part * p->list[number].bytes / bandwidth;
    sum->seconds += seconds;
    if (wait <= 0)
        return;
    sum->latency += wait;
    sum->longest = wait > sum->longest ? wait : sum->longest;
}

static bool is_inside(const weft_predictor *p, const weft_implementation *made, int m) {
    (void)p;
    return made->produced_here[m];
}

/* The fraction of an indirect transfer that remains if the kernel has already loaded the indices of
 * this connectivity, which happens once per kernel. */
static double part_with_map(const weft_predictor *p, int number, int connectivity) {
    const bool there = p->mapped[connectivity];
    p->mapped[connectivity] = true;
    return there ? 1 - 4.0 * p->list[number].width / p->list[number].bytes : 1;
}

/* How many times as many bytes products by warps move for an interleaved list: the components of one
 * element are far apart, and other warps have the rest of a sector. In shared memory a block has copied four
 * elements. On an H200, products of 24 x 24 doubles read 3.9 TB/s, interleaved and not in shared memory 1.2. */
static double dense_waste(const weft_predictor *p, const weft_implementation *made, int m) {
    if (made->joint_threads > 0 && weft_dense_is_interleaved(p->graph, made, m))
        return made->elements_per_block * p->real_bytes < SECTOR ? DENSE_APART : 1;
    if (!made->is_dense || !weft_dense_is_interleaved(p->graph, made, m))
        return 1;
    return made->placement[m] == PLACE_SHARED ? DENSE_STAGED : DENSE_APART;
}

static void add_all_loads(const weft_predictor *p, weft_implementation *made, transfers *sum,
                          const weft_operating_point *point) {
    for (int m = 0; m < made->n_onchip; ++m) {
        const weft_operand *operand = &made->onchip[m];
        if (p->graph->values[operand->value].index_set < 0 || is_inside(p, made, m))
            continue;
        const int number = weft_predictor_load(
            p, operand->value, operand->connectivity)[made->placement[m] == PLACE_SHARED];
        const double part = operand->connectivity >= 0
                                ? part_with_map(p, number, operand->connectivity)
                                : weft_traffic_share(p->graph, p->options, made->fusion,
                                                     p->graph->values[operand->value].index_set);
        add_transfer(p, sum, number, part * dense_waste(p, made, m), point, made);
    }
}

static int placement_of(const weft_implementation *made, int value) {
    for (int m = 0; m < made->n_onchip; ++m)
        if (made->onchip[m].value == value && made->onchip[m].connectivity < 0)
            return made->placement[m] == PLACE_SHARED ? PLACE_SHARED : PLACE_REGISTER;
    return PLACE_REGISTER;
}

static void add_all_stores(const weft_predictor *p, weft_implementation *made, transfers *sum,
                           const weft_operating_point *point) {
    const weft_graph *graph = p->graph;
    for (int m = 0; m < made->n_onchip; ++m) {
        const int value = made->onchip[m].value;
        bool live_out = graph->values[value].index_set >= 0 && is_inside(p, made, m);
        if (!live_out)
            continue;
        live_out = made->live_out[m];
        for (int i = 0; i < graph->n_accumulations; ++i)
            live_out |= graph->accumulations[i].source == value &&
                        weft_scatter_gathers(p->options, &graph->accumulations[i]);
        if (live_out)
            add_transfer(p, sum, p->stores[value * PLACES + (made->placement[m] == PLACE_SHARED)],
                         weft_traffic_share(graph, p->options, made->fusion,
                                            graph->values[value].index_set) *
                             dense_waste(p, made, m),
                         point, made);
    }
    for (int i = 0; i < graph->n_accumulations; ++i) {
        const weft_accumulation *a = &graph->accumulations[i];
        if (!weft_fusion_contains(made->fusion, a->call) || weft_scatter_gathers(p->options, a))
            continue;
        const int number = p->accumulates[i * PLACES + placement_of(made, a->source)];
        add_transfer(p, sum, number, a->matrix ? 1 : part_with_map(p, number, a->connectivity),
                     point, made);
    }
}

/* PLACE_SHARED if an operand or the result of a call is in shared memory. */
static int place_of_call(const weft_implementation *made, int position, int n_operands) {
    for (int k = 0; k <= n_operands; ++k)
        if (made->placement[made->slots[position][k]] == PLACE_SHARED)
            return PLACE_SHARED;
    return PLACE_REGISTER;
}

/* A product of matrices that exceeds the registers of its thread is a loop over arrays in memory, of which each multiply-add
 * reads two numbers: on an H200, products of 24 x 24 doubles take 51 ns each, as predicted 45. A factorisation passes over its
 * array once a step: of what is not in registers each multiply-add reads a number and writes one. NVRTC's spills are 0.9 to
 * 2.6 times that, for LU and Cholesky of n = 12 and 16; where all fits, 0. */
static double array_seconds(const weft_predictor *p, const weft_implementation *made, double most,
                            double bandwidth) {
    double flops = 0;
    for (int i = 0; p->is_gpu && made->threads_per_element == 0 && i < made->fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        const weft_function *function =
            call->specialisation ? call->specialisation->function : NULL;
        const double array = fmax(weft_issue_arrays(p, made, i),
                                  weft_shape_count(&p->graph->values[call->result].shape)) *
                             p->real_bytes / 4;
        if (function && weft_function_is_unrolled(function))
            flops += call->flops * fmax(1 - most / array, 0);
        else if (function && weft_function_is_product(function) && call->flops > UNROLLED_FLOPS)
            flops += call->flops;
    }
    return flops * p->real_bytes / bandwidth;
}

/* Seconds per element that spills of `bytes` per thread take at the speed of memory: those of all resident
 * threads exceed the first-level cache, and the last-level cache is not much faster. */
static double spilled_seconds(const weft_limits *limits, const weft_implementation *made,
                              double bytes) {
    const int threads = made->threads_per_element > 0 ? made->threads_per_element : 1;
    return threads * bytes / weft_cost_bandwidth(limits);
}

static bool has_reduction(const weft_predictor *p, const weft_implementation *made) {
    for (int i = 0; i < made->fusion->n_calls; ++i)
        if (p->graph->calls[made->fusion->calls[i]].reduction)
            return true;
    return false;
}

/* Does the kernel accumulate cell colour by cell colour? */
static bool is_by_colours(const weft_predictor *p, const weft_implementation *made) {
    for (int i = 0; i < p->graph->n_accumulations; ++i)
        if (p->options->scatter == WEFT_SCATTER_CELL_COLOURS &&
            weft_fusion_contains(made->fusion, p->graph->accumulations[i].call))
            return true;
    return false;
}

/* Components that one thread holds at once, its own or those of arrays of a body, which are often a copy of these. Only maps
 * write results in place (weft_kernel_kind). */
static int components_of_thread(const weft_predictor *p, const weft_implementation *made) {
    double most = made->register_components;
    for (int i = 0; made->threads_per_element > 0 && !made->is_dense && i < made->fusion->n_calls;
         ++i)
        most = fmax(most, weft_issue_arrays(p, made, i));
    if (made->threads_per_element > 0)
        return (int)most;
    if (!p->is_gpu || made->is_dense || has_reduction(p, made) || is_by_colours(p, made) ||
        weft_fusion_is_nested(p->graph, made->fusion) ||
        weft_fusion_product(p->graph, made->fusion) >= 0)
        return made->onchip_peak;
    return weft_peak_not_in_place(p->graph, p->options, made);
}

/* Components that one of several threads moves between memory and its registers: compilers load all first, and store last. */
static double components_moved(const weft_predictor *p, const weft_implementation *made) {
    double n = 0;
    for (int m = 0; m < made->n_onchip && made->threads_per_element > 0 && !made->is_dense; ++m)
        if (made->placement[m] == PLACE_REGISTER &&
            (!made->produced_here[m] || made->live_out[m]) &&
            p->graph->values[made->onchip[m].value].index_set >= 0)
            n += ceil((double)weft_shape_count(&made->onchip[m].shape) / made->threads_per_element);
    return n;
}

/* Words of the values that one of several threads of an element has whole and whose loops are too long to be unrolled: they are
 * arrays in memory, written and read once. */
static double words_of_arrays(const weft_predictor *p, const weft_implementation *made) {
    double sum = 0;
    for (int m = 0; m < made->n_onchip && made->threads_per_element > 0 && !made->is_dense; ++m) {
        const int components = weft_shape_count(&made->onchip[m].shape);
        if (made->placement[m] == PLACE_REGISTER && components > UNROLLED_COMPONENTS)
            sum += components * (double)p->real_bytes / 4;
    }
    return sum;
}

/* Register spills, as compiled or estimated: words per thread beyond the available registers are written and read back. What
 * is live at once is more than what a compiler spills, which loads late: a third is counted. */
static double spill_seconds(const weft_predictor *p, const weft_implementation *made) {
    if (made->spills_are_known)
        return spilled_seconds(p->limits, made, made->spilled_bytes);
    double words = components_of_thread(p, made) * p->real_bytes / 4;
    const double most = p->is_gpu
                            ? REGISTERS_MOST - REGISTERS_OWN
                            : (double)p->limits->onchip_bytes / 4 /
                                  (made->elements_per_block > 0 ? made->elements_per_block : 1);
    const double bandwidth = weft_cost_bandwidth(p->limits);
    if (words <= most)
        return 0;
    const double whole = words_of_arrays(p, made);
    words = fmax(words - whole - most, 0);
    return spilled_seconds(p->limits, made, 2 * 4 * (whole + words / LIVE_FACTOR)) +
           array_seconds(p, made, most, bandwidth);
}

double weft_predict_spills(const weft_implementation *made) {
    return spill_seconds(made->predictor, made);
}

/* Is this a kernel over a matrix whose rows or columns come through a ring in shared memory? */
static bool has_ring(const weft_predictor *p, const weft_implementation *made) {
    return p->is_gpu && p->limits->cluster_blocks > 0 && has_reduction(p, made) &&
           weft_index_set_is_product(p->graph, made->fusion->index_set);
}

/* The maximum number of blocks per multiprocessor. *uneven: load imbalance, i.e. the time relative
 * to an even distribution if all blocks are resident at once; otherwise 1, since blocks are
 * scheduled dynamically. */
static double most_blocks(const weft_predictor *p, const weft_operating_point *point, double n,
                          double *uneven) {
    const double each = (double)point->elements * point->iterations,
                 all = weft_cost_multiprocessors(p->limits);
    const double most = ceil(ceil(n / each) / all);
    *uneven =
        most * point->threads <= p->limits->target.resident_threads ? all * most * each / n : 1;
    return most;
}

enum { PREFETCH_MOST = 32 /* components per thread: doubles take 64 registers */ };

int weft_components_prefetched(const weft_graph *graph, const weft_implementation *made,
                               int iterations) {
    int n = 0;
    for (int m = 0; m < made->n_onchip; ++m)
        if (!made->produced_here[m] && graph->values[made->onchip[m].value].index_set >= 0)
            n += weft_shape_count(&made->onchip[m].shape);
    return iterations > 1 && n * iterations <= PREFETCH_MOST ? n * iterations : 0;
}

int weft_coarsening_factor(const weft_predictor *p, const weft_implementation *made) {
    int factor = 1;
    for (int twice = 2; twice <= PREFETCH_MOST; twice *= 2) {
        const int prefetched = weft_components_prefetched(p->graph, made, twice);
        const double words = REGISTERS_OWN + (made->onchip_peak + prefetched) * p->real_bytes / 4;
        /* half of the threads, with as much in flight; 16 bytes per list were fastest on an H200 */
        if (prefetched > 0 && twice * p->real_bytes <= 16 &&
            words * 4 * p->limits->target.resident_threads / 2 <= (double)p->limits->register_bytes)
            factor = twice;
    }
    return factor;
}

/* The most registers that a native body of the kernel declares. */
static double declared_registers(const weft_predictor *p, const weft_implementation *made) {
    int most = 0;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_specialisation *one = p->graph->calls[made->order[i]].specialisation;
        const int own = one ? one->footprints[made->variants[i]].registers : 0;
        most = own > most ? own : most;
    }
    return most;
}

/* Of a thread, in words: as compiled, or estimated. Kernels of one thread per element keep the estimate, by which they were chosen. */
static double registers_of(const weft_predictor *p, const weft_implementation *made) {
    const double components = fmax(components_of_thread(p, made), components_moved(p, made));
    if (made->compiled_registers > 0 && made->threads_per_element > 0)
        return made->compiled_registers;
    return fmax(declared_registers(p, made),
                (made->is_dense ? 2 : 1) * REGISTERS_OWN + components * p->real_bytes / 4);
}

static weft_operating_point point_of(const weft_predictor *p, const weft_implementation *made,
                                     double n, double *uneven) {
    const double words = registers_of(p, made);
    const weft_target *target = &p->limits->target;
    weft_operating_point point = {
        .elements = made->elements_per_block,
        /* a thread of a reduction processes its elements of a reduction tile, loads first */
        .iterations =
            (p->is_gpu && has_reduction(p, made) ? target->reduction_tile / target->block_threads
                                                 : 1) *
            made->serial_iterations,
        .threads = made->elements_per_block *
                   (made->threads_per_element > 0 ? made->threads_per_element : 1),
        .extra_bytes = (size_t)(made->shared_components * made->elements_per_block * p->real_bytes),
        .load_bytes = made->bytes_loaded,
        .registers = words < REGISTERS_MOST ? (int)words : REGISTERS_MOST,
    };
    const int prefetched = made->threads_per_element == 0 && !has_reduction(p, made)
                               ? weft_components_prefetched(p->graph, made, made->serial_iterations)
                               : 0;
    if (prefetched > 0) { /* the loads of all iterations are in flight together */
        const double more = words + prefetched * p->real_bytes / 4;
        point.load_bytes *= made->serial_iterations;
        point.registers = more < REGISTERS_MOST ? (int)more : REGISTERS_MOST;
    }
    if (has_ring(p, made))
        point.load_bytes *= RING_IN_FLIGHT;
    *uneven = 1;
    if (p->is_gpu) {
        const double available = most_blocks(p, &point, n, uneven) * point.threads;
        point.available = available < 1e6 ? (int)available : 0;
        point.resident = weft_cost_resident(p->limits, &point);
    }
    return point;
}

static int count_barriers(const weft_implementation *made) {
    int n = 0;
    for (int i = 0; made->barriers && i < made->fusion->n_calls; ++i)
        n += ((made->barriers[i] & BARRIER_BEFORE_LOADS) != 0) +
             ((made->barriers[i] & BARRIER_BEFORE_CALL) != 0);
    return n;
}

weft_kernel_prediction weft_implementation_prediction(const weft_implementation *made) {
    return (weft_kernel_prediction){.transfer = made->equation_seconds,
                                    .compute = made->compute_seconds,
                                    .bytes = made->bytes_loaded + made->bytes_stored,
                                    .latency = made->latency_seconds,
                                    .barriers = count_barriers(made)};
}

static double part_transfer(const weft_kernel_prediction *part, double elements,
                            const weft_cost_terms *terms) {
    if (!terms)
        return part->transfer;
    return (part->transfer - terms->latency_overlap * part->latency) *
           (part->bytes * elements < terms->cache_bytes ? terms->cache_factor : 1);
}

/* The fraction, at most 1, of the smaller of transfer and compute that is not overlapped. */
static double non_overlapped_part(const weft_cost_terms *terms, int barriers) {
    const double sum =
        terms->non_overlapped + (barriers > 2 ? (barriers - 2) * terms->non_overlapped_barrier : 0);
    return sum < 1 ? sum : 1;
}

/* Equation 3 of Fousek et al. 2011, with the fitted terms. */
double weft_prediction_seconds(const weft_kernel_prediction *part, double elements,
                               const weft_cost_terms *terms) {
    const double transfer = part_transfer(part, elements, terms), compute = part->compute;
    const double more = transfer > compute ? transfer : compute;
    const double less = transfer > compute ? compute : transfer;
    return terms ? more + non_overlapped_part(terms, part->barriers) * less : more;
}

void weft_implementation_compiled(int registers, int spilled, weft_implementation *made) {
    made->compiled_registers = registers;
    made->spilled_bytes = spilled;
    made->spills_are_known = true;
    weft_predict(made->predictor, made);
}

/* Seconds of the kernels that gather the accumulations of this one, with their launches. */
static double gather_seconds(const weft_predictor *p, weft_implementation *made, bool evaluates,
                             double launch) {
    const double bandwidth = weft_cost_bandwidth(p->limits);
    double sum = 0;
    for (int i = 0; i < p->graph->n_accumulations; ++i) {
        const weft_accumulation *a = &p->graph->accumulations[i];
        if (!weft_scatter_gathers(p->options, a) || !weft_fusion_contains(made->fusion, a->call))
            continue;
        double loaded = 0, stored = 0;
        weft_traffic_of_gather(p->graph, a, evaluates, p->real_bytes,
                               p->graph->values[a->target].is_input, &loaded, &stored);
        const int number = p->accumulates[i * PLACES + PLACE_REGISTER];
        const double n = weft_elements_assumed(p->graph, p->options,
                                               p->graph->connectivities[a->connectivity].to);
        const int threads = weft_target_block(p->limits, p->options->single);
        const weft_operating_point point = {
            .elements = threads, .iterations = 1, .threads = threads, .load_bytes = loaded};
        sum += launch + n * (cost(p, number, &point, made) +
                             (loaded - p->list[number].bytes + stored) / bandwidth);
    }
    return sum;
}

static const weft_cost_terms *terms_of(const weft_predictor *p) {
    return p->source ? p->source->terms : NULL;
}

double weft_predict_launch(const weft_predictor *p) {
    const weft_cost_terms *terms = terms_of(p);
    return terms && terms->launch_seconds >= 0 ? terms->launch_seconds
           : p->limits->launch_seconds > 0     ? p->limits->launch_seconds
                                               : WEFT_DEFAULT_LAUNCH;
}

/* Products by warps: tiles have up to twice the entries of a matrix. */
static double dense_seconds(const weft_predictor *p, const weft_implementation *made) {
    const double flops = p->limits->flops > 0 ? p->limits->flops : DENSE_FLOPS;
    return 2 * made->flops / flops;
}

/* Operations of large calls of one thread, for which the other threads of the element wait. */
static double serial_flops(const weft_predictor *p, const weft_implementation *made) {
    double flops = 0;
    for (int i = 0; made->threads_per_element > 1 && !made->is_dense && i < made->fusion->n_calls;
         ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        if (call->specialisation && call->specialisation->threads[made->variants[i]] == 1 &&
            call->flops > UNROLLED_FLOPS)
            flops += call->flops;
    }
    return flops;
}

/* Set the predicted seconds per element of an implementation that runs at this point. */
static void predict_at(const weft_predictor *p, weft_implementation *made,
                       weft_operating_point point, double uneven, double n) {
    const weft_cost_terms *terms = terms_of(p);
    transfers moved = {0};
    memset(p->mapped, 0, (size_t)p->graph->n_connectivities * sizeof *p->mapped);
    made->measured = true;
    add_all_loads(p, made, &moved, &point);
    add_all_stores(p, made, &moved, &point);
    made->equation_seconds = uneven * (moved.seconds + spill_seconds(p, made));
    made->latency_seconds = uneven * (moved.latency - moved.longest);
    made->compute_seconds = made->is_dense ? dense_seconds(p, made) : 0;
    for (int i = 0; i < made->fusion->n_calls && !made->is_dense; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        const int number = p->computes[call->id] + made->variants[i] * PLACES;
        const double share =
            weft_traffic_share(p->graph, p->options, made->fusion, call->index_set) * uneven;
        made->compute_seconds +=
            share * cost(p, number + place_of_call(made, i, call->n_operands), &point, made);
        for (int k = p->first_evaluation[call->id]; k < p->first_evaluation[call->id + 1]; ++k)
            made->compute_seconds += share * p->evaluations[k].count *
                                     cost(p, p->evaluations[k].primitive, &point, made);
    }
    const bool issues = p->is_gpu && made->threads_per_element > 0 && !made->is_dense;
    const bool fitted = terms && (terms->non_overlapped > 0 || terms->non_overlapped_barrier > 0);
    if (issues) {
        const weft_warp_work work = weft_issue_work(p, made);
        made->compute_seconds =
            fmax(made->compute_seconds, weft_cost_issue(p->limits, &point, &work));
    }
    const weft_kernel_prediction part = weft_implementation_prediction(made);
    made->transfer_seconds = part_transfer(&part, n, terms);
    made->seconds = weft_prediction_seconds(&part, n, terms);
    if (issues && !fitted)
        made->seconds += fmax(ISSUE_SHARE, point.threads / weft_cost_resident(p->limits, &point)) *
                         fmin(made->transfer_seconds, made->compute_seconds);
    const double barriers = part.barriers + (p->is_gpu ? weft_issue_barriers(p, made) : 0);
    const double waiting =
        point.threads *
        (barriers * BARRIER_SECONDS + (p->is_gpu ? serial_flops(p, made) : 0) * SERIAL_SECONDS);
    if (waiting > 0) /* resident blocks of all multiprocessors wait concurrently */
        made->seconds += waiting / (weft_cost_resident(p->limits, &point) * point.elements *
                                    weft_cost_multiprocessors(p->limits));
}

bool weft_coarsens_reductions(const weft_predictor *p, const weft_fusion *fusion) {
    bool reduces = false;
    for (int i = 0; i < fusion->n_calls; ++i)
        reduces |= p->graph->calls[fusion->calls[i]].reduction != NULL;
    return p->is_gpu && reduces && !weft_fusion_is_nested(p->graph, fusion) &&
           weft_fusion_product(p->graph, fusion) < 0;
}

/* Seconds per element that the trees of a kernel's reductions take: a warp of 32 joins its numbers in five steps, each a shuffle
 * of every word, one per clock, and an addition. A thread adds to its number first, where it has several tiles. */
static double tree_seconds(const weft_predictor *p, const weft_implementation *made) {
    const double warp = p->limits->target.warp_threads;
    const double join = STEP_CLOCKS * log2(warp) / warp / 1.7e9;
    double words = 0;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[made->fusion->calls[i]];
        if (call->reduction)
            words += weft_shape_count(&p->graph->values[call->result].shape) * p->real_bytes / 4;
    }
    return join * words / weft_cost_multiprocessors(p->limits) / made->serial_iterations;
}

/* Seconds per element that a GPU takes to start the threads of a map, at least. Of one thread per element more iterations
 * than have their loads in flight together gain nothing, as measured. */
static double start_seconds(const weft_predictor *p, const weft_implementation *made) {
    if (p->is_gpu && weft_coarsens_reductions(p, made->fusion))
        return tree_seconds(p, made);
    if (!p->is_gpu || has_reduction(p, made))
        return 0;
    if (made->threads_per_element == 0) {
        const int factor = weft_coarsening_factor(p, made), n = made->serial_iterations;
        return THREAD_SECONDS / weft_cost_multiprocessors(p->limits) / (n < factor ? n : factor);
    }
    const int threads = made->threads_per_element * made->elements_per_block;
    return fmax(made->shared_components > 0 ? BLOCK_SHARED_SECONDS : BLOCK_SECONDS,
                THREAD_OF_SEVERAL_SECONDS * threads) /
           weft_cost_multiprocessors(p->limits) / made->elements_per_block /
           made->serial_iterations;
}

bool weft_start_limits(const weft_predictor *p, const weft_implementation *made) {
    return made->seconds <= start_seconds(p, made);
}

/* Seconds per element that the calls take at full occupancy: at least. */
static double least_compute(const weft_predictor *p, const weft_implementation *made) {
    const int block = p->limits->target.block_threads;
    const weft_operating_point full = {.elements = block, .iterations = 1, .threads = block};
    double seconds = 0;
    weft_implementation least = *made;
    for (int i = 0; i < made->fusion->n_calls; ++i) {
        const weft_call *call = &p->graph->calls[made->order[i]];
        const double share =
            weft_traffic_share(p->graph, p->options, made->fusion, call->index_set);
        seconds +=
            share * cost(p, p->computes[call->id] + made->variants[i] * PLACES, &full, &least);
    }
    return seconds;
}

weft_least_cost weft_predict_least(const weft_predictor *p, const weft_implementation *made) {
    const double bandwidth = weft_cost_bandwidth(p->limits);
    if (p->source || !p->is_gpu || made->is_dense)
        return (weft_least_cost){0};
    return (weft_least_cost){
        .n = weft_elements_assumed(p->graph, p->options, made->fusion->index_set),
        .launch = weft_predict_launch(p),
        .warp = p->limits->target.warp_threads,
        .transfer = (made->bytes_loaded + made->bytes_stored) / bandwidth,
        .compute = least_compute(p, made),
        .issue = weft_cost_issue_least(p->limits, weft_issue_least(p, made))};
}

double weft_least_of_shape(const weft_least_cost *least, int threads, int elements) {
    const double lanes = (double)threads * elements;
    if (threads == 0)
        return least->n * fmax(least->transfer, least->compute) + least->launch;
    /* lanes of a warp that have no element take as long as the others */
    const double idle = lanes < least->warp ? least->warp / lanes : 1;
    const double compute = fmax(least->compute, idle * least->issue);
    return least->n *
               (fmax(least->transfer, compute) + ISSUE_SHARE * fmin(least->transfer, compute)) +
           least->launch;
}

/* How many times as long a kernel takes that alternates between rows of several matrices, in a ring. */
static double ring_factor(const weft_predictor *p, const weft_implementation *made) {
    int n_matrices = 0;
    for (int m = 0; m < made->n_onchip; ++m)
        n_matrices +=
            !is_inside(p, made, m) &&
            weft_index_set_is_product(p->graph, p->graph->values[made->onchip[m].value].index_set);
    return has_ring(p, made) && n_matrices > 1 ? 1 + RING_SHARE * (n_matrices - 1) : 1;
}

void weft_predict(const weft_predictor *p, weft_implementation *made) {
    const double n = weft_elements_assumed(p->graph, p->options, made->fusion->index_set);
    double uneven = 1;
    const weft_operating_point point = point_of(p, made, n, &uneven);
    const double launch = weft_predict_launch(p);
    made->predictor = p;
    predict_at(p, made, point, uneven, n);
    made->seconds *= ring_factor(p, made);
    made->seconds = fmax(made->seconds, start_seconds(p, made));
    const bool is_evaluated = weft_gather_evaluates(p->graph, p->options, p->is_gpu, made->fusion);
    const double gathers = gather_seconds(p, made, is_evaluated, launch);
    if (is_evaluated)
        made->seconds = fmax((gathers - launch) / n, made->compute_seconds);
    made->cost = n * made->seconds + launch;
    if (!is_evaluated)
        made->cost += gathers + (has_reduction(p, made) ? launch : 0); /* final reduction */
}

/* ---- several kernels in one launch ---- */

int weft_group_threads(const weft_implementation *const *members, int n, weft_combination how,
                       int i) {
    const weft_implementation *one = members[i];
    const weft_target *target = &one->predictor->limits->target;
    int most = target->block_threads_most;
    if (how == INNER_BLOCK)
        most = most / n / target->warp_threads * target->warp_threads;
    for (int k = 0; k < n; ++k)
        if (has_reduction(members[k]->predictor, members[k]))
            most = target->block_threads;
    if (one->threads_per_element > 0)
        return one->threads_per_element * one->elements_per_block;
    if (has_reduction(one->predictor, one))
        return target->block_threads;
    return one->elements_per_block < most ? one->elements_per_block : most;
}

/* The operating point that n kernels have in common: every block has threads for as many elements
 * as it has threads (of members with several threads per element fewer), and the registers of all or of the largest kernel. The threads of all kernels
 * have their loads in flight together: those of all kernels, or of the average element. */
static weft_operating_point group_point(const weft_implementation *const *members, int n,
                                        weft_combination how, double *uneven) {
    const weft_predictor *p = members[0]->predictor;
    weft_operating_point common = {.iterations = 1};
    double blocks = 0, all = 0;
    for (int i = 0; i < n; ++i) {
        const double elements =
            weft_elements_assumed(p->graph, p->options, members[i]->fusion->index_set);
        const weft_operating_point own = point_of(p, members[i], elements, uneven);
        const int threads = weft_group_threads(members, n, how, i);
        const double own_blocks =
            ceil(elements / (members[i]->threads_per_element > 0 ? own.elements : threads) /
                 own.iterations);
        blocks = how == INTER_BLOCK ? blocks + own_blocks : fmax(blocks, own_blocks);
        common.threads = how == INNER_BLOCK         ? common.threads + threads
                         : threads > common.threads ? threads
                                                    : common.threads;
        common.registers = how == INNER_THREAD                ? common.registers + own.registers
                           : own.registers > common.registers ? own.registers
                                                              : common.registers;
        common.load_bytes += own.load_bytes * (how == INNER_THREAD ? 1 : elements);
        all += elements;
    }
    common.load_bytes /= how == INNER_THREAD ? 1 : all;
    const double most = ceil(blocks / weft_cost_multiprocessors(p->limits));
    *uneven = most * common.threads <= p->limits->target.resident_threads
                  ? weft_cost_multiprocessors(p->limits) * most / blocks
                  : 1;
    common.available = most * common.threads < 1e6 ? (int)most * common.threads : 0;
    common.registers = common.registers < REGISTERS_MOST ? common.registers : REGISTERS_MOST;
    common.elements = common.threads;
    return common;
}

double weft_predict_work(const weft_implementation *made) {
    const weft_predictor *p = made->predictor;
    return weft_elements_assumed(p->graph, p->options, made->fusion->index_set) * made->seconds;
}

int weft_predict_launches(const weft_implementation *made) {
    return has_reduction(made->predictor, made) ? 2 : 1;
}

double weft_predict_group(const weft_implementation *const *members, int n, weft_combination how) {
    const weft_predictor *p = members[0]->predictor;
    double uneven = 1, seconds = weft_predict_launch(p);
    bool has_finals = false;
    const weft_operating_point common = group_point(members, n, how, &uneven);
    for (int i = 0; i < n; ++i) {
        weft_implementation one = *members[i];
        const double elements = weft_elements_assumed(p->graph, p->options, one.fusion->index_set);
        weft_operating_point point = common;
        if (one.threads_per_element > 0) {
            double own_uneven = 1;
            point = point_of(p, members[i], elements, &own_uneven);
            point.available = common.available;
            point.registers = common.registers;
        }
        predict_at(p, &one, point, uneven, elements);
        seconds += elements * one.seconds;
        has_finals |= has_reduction(p, &one);
    }
    return seconds + (has_finals ? weft_predict_launch(p) : 0);
}
