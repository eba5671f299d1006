/* The analytic cost source: a roofline whose two roofs sink where few threads are resident.
 *
 * By Little's law a memory system that is kept busy has bandwidth x latency bytes on their way. A
 * thread has the words of the routine on their way, so that resident threads x words below that
 * lower the bandwidth in proportion. Arithmetic needs warps enough to cover the latency of its
 * pipeline. */
#include "fusion_internal.h"

enum {
    BLOCKS_RESIDENT = 32,       /* of a multiprocessor, at most */
    THREADS_RESIDENT = 2048,    /* of a multiprocessor, at most */
    THREADS_BUSY = 256,         /* of a multiprocessor, that cover the latency of arithmetic */
    GATHER_FACTOR_PERCENT = 115 /* what words through a connectivity cost more than streams */
};
#define MEMORY_LATENCY 7e-7 /* seconds, of a GPU's memory under load */

static double bandwidth_of(const weft_limits *limits) {
    return limits->bandwidth > 0 ? limits->bandwidth : 20e9;
}

static double flops_of(const weft_limits *limits) {
    return limits->flops > 0 ? limits->flops : 80e9;
}

/* Threads of a multiprocessor that run at once beside what the point takes of the chip. */
static double resident_threads(const weft_limits *limits, const weft_cost_point *point) {
    double blocks = BLOCKS_RESIDENT;
    if (point->threads <= 0)
        return THREADS_RESIDENT;
    if (blocks > THREADS_RESIDENT / point->threads)
        blocks = THREADS_RESIDENT / point->threads; /* whole ones */
    if (point->extra_bytes > 0 && limits->onchip_bytes > 0 &&
        blocks > (double)(limits->onchip_bytes / point->extra_bytes))
        blocks = (double)(limits->onchip_bytes / point->extra_bytes);
    const size_t taken = (size_t)point->registers * 4 * (size_t)point->threads;
    if (taken > 0 && limits->register_bytes > 0 &&
        blocks > (double)(limits->register_bytes / taken))
        blocks = (double)(limits->register_bytes / taken);
    return blocks < 1 ? point->threads : blocks * point->threads;
}

static double at_most_one(double x) {
    return x < 1 ? x : 1;
}

static bool analytic_lookup(void *user, const weft_cost_routine *routine,
                            const weft_cost_point *point, double *seconds) {
    const weft_limits *limits = user;
    const bool is_gpu = limits->lanes_double == WEFT_CUDA_LANES;
    const double threads = is_gpu ? resident_threads(limits, point) : THREADS_RESIDENT;
    if (routine->kind == WEFT_COST_COMPUTE) {
        const double speed = flops_of(limits) * (routine->real_bytes == 4 ? 2 : 1);
        *seconds = routine->flops / speed / at_most_one(threads / THREADS_BUSY);
        return true;
    }
    const bool scattered = routine->form == WEFT_COST_INDIRECT || routine->form == WEFT_COST_ADD ||
                           routine->form == WEFT_COST_ADD_MATRIX;
    *seconds = routine->bytes / bandwidth_of(limits);
    if (is_gpu && scattered)
        *seconds *= GATHER_FACTOR_PERCENT / 100.0;
    if (is_gpu) {
        /* a thread's share of the words of its instance, all asked for at once */
        const double share =
            routine->bytes * point->instances / (point->threads > 0 ? point->threads : 1);
        const double needed = bandwidth_of(limits) * MEMORY_LATENCY /
                              (limits->multiprocessors > 0 ? limits->multiprocessors : 1);
        *seconds /= at_most_one(threads * share / needed);
    }
    return true;
}

weft_cost_source weft_cost_analytic(const weft_limits *limits) {
    return (weft_cost_source){
        .name = "analytic", .user = (void *)(uintptr_t)limits, .lookup = analytic_lookup};
}
