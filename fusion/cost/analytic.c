/* The analytic cost source: a roofline whose two roofs are lower where few threads are resident.
 *
 * By Little's law a saturated memory system has bandwidth x latency bytes in flight. Each thread
 * has the bytes of its loads in flight; if resident threads x bytes is less, the bandwidth drops in
 * proportion. Arithmetic needs enough warps to hide the latency of its pipeline. */
#include "fusion/base/target.h"
#include "fusion/cost/occupancy.h"
#include "fusion/weft_compile.h"

#include <math.h>

enum {
    THREADS_BUSY = 256,   /* per multiprocessor, enough to hide the latency of arithmetic */
    SCHEDULERS = 4,       /* per multiprocessor; each issues one instruction per clock */
    ELEMENT_CACHED = 256, /* bytes of an element whose sectors stay cached until they are used up */
    SECTOR = 32,          /* bytes that memory transfers at least */
    LINE = 128,           /* bytes of the cache that a sector takes up */
    REGISTERS_MOST = 255  /* of a thread */
};
#define SCATTERED_FACTOR 1.15 /* cost of indirect accesses relative to streams */
#define SHARED_SPEED 2e11     /* shared memory, bytes/s per multiprocessor: 128 bytes per clock */
#define ONE_SECTOR 1.2        /* cost of runs of one sector relative to longer ones */
#define MEMORY_LATENCY 7e-7   /* seconds, GPU memory under load */
/* Fitted to 220 shapes of the slides' scripts on an H200 (bench_slides --shapes), in clocks */
#define CLOCK 1.9e9             /* of multiprocessors, per second */
#define INSTRUCTION_LATENCY 4.7 /* between two of a warp */
#define WAIT_LATENCY 680        /* of loads */
#define ISSUE_OVERLAP 0.13      /* of the smaller of latency and issue that adds to the larger */

double weft_cost_bandwidth(const weft_limits *limits) {
    return limits->bandwidth > 0 ? limits->bandwidth : 20e9;
}

double weft_cost_multiprocessors(const weft_limits *limits) {
    return limits->multiprocessors > 0 ? limits->multiprocessors : 1;
}

static double flops_of(const weft_limits *limits) {
    return limits->flops > 0 ? limits->flops : 80e9;
}

double weft_cost_resident(const weft_limits *limits, const weft_operating_point *point) {
    const weft_target *target = &limits->target;
    const int warp = target->warp_threads;
    double blocks = target->resident_blocks;
    if (point->resident > 0)
        return point->resident;
    if (point->threads <= 0)
        return target->resident_threads;
    const int lanes = (point->threads + warp - 1) / warp * warp;
    if (blocks > target->resident_threads / lanes)
        blocks = target->resident_threads / lanes; /* whole blocks of whole warps */
    const size_t reserved = (size_t)target->reserved_bytes;
    const size_t all = limits->onchip_bytes + reserved, each = point->extra_bytes + reserved;
    if (point->extra_bytes > 0 && limits->onchip_bytes > 0 && blocks > (double)(all / each))
        blocks = (double)(all / each);
    const size_t taken = (size_t)point->registers * 4 * (size_t)lanes;
    if (taken > 0 && limits->register_bytes > 0 &&
        blocks > (double)(limits->register_bytes / taken))
        blocks = (double)(limits->register_bytes / taken);
    const double threads = (blocks < 1 ? 1 : blocks) * point->threads;
    return point->available > 0 && point->available < threads ? point->available : threads;
}

/* The latency of a warp's instructions is hidden by other warps, until they issue one per clock and scheduler. */
double weft_cost_issue(const weft_limits *limits, const weft_operating_point *point,
                       const weft_warp_work *work) {
    const double warps = ceil((double)point->threads / limits->target.warp_threads);
    const double blocks = weft_cost_resident(limits, point) / point->threads;
    const double issued = fmax(work->instructions / SCHEDULERS, work->wavefronts);
    const double latency =
        (work->instructions / warps * INSTRUCTION_LATENCY + work->waits * WAIT_LATENCY) / blocks;
    const double clocks = fmax(issued, latency) + ISSUE_OVERLAP * fmin(issued, latency);
    return clocks / CLOCK / weft_cost_multiprocessors(limits) / point->elements;
}

double weft_cost_issue_least(const weft_limits *limits, double instructions) {
    return instructions / SCHEDULERS / CLOCK / weft_cost_multiprocessors(limits);
}

static double shared_bandwidth(const weft_limits *limits) {
    return SHARED_SPEED * weft_cost_multiprocessors(limits);
}

static double at_most_one(double x) {
    return x < 1 ? x : 1;
}

/* Bytes that memory transfers for each byte of a list of large elements that is not interleaved. A warp has as many elements
 * as its block, or as it has threads, and consecutive components of each, by as many threads as the warp has of an element. Runs of
 * one sector cost a fifth more, shorter ones what they transfer, or half of that where a thread loads all of its element into
 * registers and the cache keeps a line for each (factors of 8 x 8, 100,000 of them). On an H200, sums of tiles of 256 floats
 * read 3.9 TB/s in runs of 64 bytes, 3.1 to 3.5 in runs of 32. */
static double sector_waste(const weft_cost_primitive *primitive, const weft_operating_point *point,
                           const weft_limits *limits) {
    const int warp = limits->target.warp_threads;
    const bool apart = primitive->form == WEFT_COST_AOS || primitive->form == WEFT_COST_INDIRECT;
    const int elements = point->elements < warp ? point->elements : warp;
    const int each = point->elements > 0 ? point->threads / point->elements : warp;
    const int lanes = elements > 0 ? warp / elements : warp;
    const int run = (each < lanes ? each : lanes) * primitive->real_bytes;
    const bool large = primitive->components * primitive->real_bytes > ELEMENT_CACHED;
    if (!apart || !large || run >= 2 * SECTOR || run <= 0)
        return 1;
    const bool kept = each == 1 && point->registers < REGISTERS_MOST &&
                      weft_cost_resident(limits, point) * LINE <= (double)limits->onchip_bytes;
    return run < SECTOR ? fmax((double)SECTOR / run / (kept ? 2 : 1), ONE_SECTOR) : ONE_SECTOR;
}

static bool analytic_lookup(void *user, const weft_cost_primitive *primitive,
                            const weft_operating_point *point, double *seconds) {
    const weft_limits *limits = user;
    const bool is_gpu = weft_target_is_simt(limits);
    const double threads = is_gpu ? weft_cost_resident(limits, point) : 0;
    const double each = (double)point->threads / (point->elements > 0 ? point->elements : 1);
    if (primitive->kind == WEFT_COST_COMPUTE) {
        const double speed = flops_of(limits) * (primitive->real_bytes == 4 ? 2 : 1);
        const double busy =
            each > primitive->threads ? threads * primitive->threads / each : threads;
        *seconds = primitive->flops / speed;
        if (primitive->shared) /* one access to shared memory per operation */
            *seconds += primitive->flops * primitive->real_bytes / shared_bandwidth(limits);
        if (is_gpu)
            *seconds /= at_most_one(busy / THREADS_BUSY);
        return true;
    }
    *seconds = primitive->bytes / weft_cost_bandwidth(limits);
    if (is_gpu) {
        const bool scattered = primitive->form == WEFT_COST_INDIRECT ||
                               primitive->form == WEFT_COST_ADD ||
                               primitive->form == WEFT_COST_ADD_MATRIX;
        const double asked = point->load_bytes > 0 ? point->load_bytes : primitive->bytes;
        const double needed =
            weft_cost_bandwidth(limits) * MEMORY_LATENCY / weft_cost_multiprocessors(limits);
        *seconds *= sector_waste(primitive, point, limits) * (scattered ? SCATTERED_FACTOR : 1);
        const double most = (primitive->shared ? WEFT_LOADS_COPIED : WEFT_LOADS_IN_FLIGHT) *
                            (double)primitive->real_bytes;
        const double in_flight = each > 1 && asked / each > most ? most : asked / each;
        if (primitive->kind == WEFT_COST_LOAD) /* nothing waits for a store */
            *seconds /= at_most_one(threads * in_flight / needed);
        if (primitive->shared)
            *seconds += primitive->bytes / shared_bandwidth(limits);
    }
    return true;
}

weft_cost_source weft_cost_analytic(const weft_limits *limits) {
    return (weft_cost_source){
        .name = "analytic", .user = (void *)(uintptr_t)limits, .lookup = analytic_lookup};
}
