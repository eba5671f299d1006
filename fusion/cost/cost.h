/** Weft fusion: what predictions are made of. Included by weft_fusion.h.
 *
 *  A kernel is a sequence of *cost primitives* (Filipovic et al. 2015, section 4.3): a load for
 *  each element that comes from memory, a compute for each call, a store for each element that
 *  leaves. psi(primitive, point) is the time of one element of a primitive in a kernel that runs as
 *  the point says, with the whole device busy. A kernel's time for one element is equation 3 of
 *  Fousek et al. 2011:
 *
 *      max(sum of psi of loads and stores, sum of psi of computes + recomputed thread indices)
 *
 *  and a launch costs launch_seconds besides. Where a psi comes from is a weft_cost_source: the
 *  analytic one, from the device's limits (weft_cost_analytic), or one that has measured. What a
 *  source does not know is taken from the analytic one, and the explanation says so. */
#ifndef WEFT_PREDICTION_H
#define WEFT_PREDICTION_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_cost_kind { WEFT_COST_LOAD, WEFT_COST_COMPUTE, WEFT_COST_STORE } weft_cost_kind;

/** How an element moves between memory and chip. */
typedef enum weft_access_kind {
    WEFT_COST_BLOCK,     /* interleaved, [block][component][lane] */
    WEFT_COST_AOS,       /* [instance][component] */
    WEFT_COST_INDIRECT,  /* plain, through a connectivity of `width` */
    WEFT_COST_ADD,       /* added to a list through a connectivity of `width` */
    WEFT_COST_ADD_MATRIX /* added to a matrix at known positions, width x width entries */
} weft_access_kind;

/** A primitive. Two with the same name are the same primitive: the name holds everything that its
 *  time depends on but the point, and keys of a database may be made of it:
 *
 *      load FORM COMPONENTS WIDTH TYPE PLACE      "load block 25 0 float registers"
 *      store FORM COMPONENTS WIDTH TYPE PLACE     "store add 3 3 double shared"
 *      compute FUNCTION THREADS SIZES TYPE PLACE  "compute mmul 9 m=3,k=3,n=3 float shared"
 *
 *  THREADS: of an element (0 for loads and stores: all of the block share the work). PLACE: where
 * the elements that it reads and writes are on chip, `shared` as soon as one of them is there. */
typedef struct weft_cost_primitive {
    const char *name;
    weft_cost_kind kind;
    weft_access_kind form; /* loads and stores */
    int components, width; /* loads and stores: of one target or source; width 0: none */
    const char *function;  /* computes: an elementary function, or "arithmetic" */
    int variant, threads;  /* computes: which body, and its threads per element; else 0 */
    double bytes, flops;   /* of an element: moved to and from memory; done */
    int real_bytes;        /* 4 or 8 */
    bool shared;           /* PLACE */
    int handle;            /* the source's, set by prepare; -1 before */
} weft_cost_primitive;

/** The kernel that a primitive stands in. */
typedef struct weft_operating_point {
    int elements;       /* of a block, at once */
    int iterations;     /* of the serial loop: a block does elements * iterations */
    int threads;        /* of a block */
    int available;      /* threads that there are elements for, a multiprocessor; 0: any number */
    double load_bytes;  /* that the kernel loads, per element: what is on its way at once */
    int registers;      /* words of 4 bytes a thread, estimated; 0: not known */
    size_t extra_bytes; /* on chip, a block, beside what the primitive itself needs: what lowers the
                           number of blocks that run at once (Delta M of the paper) */
} weft_operating_point;

/** What equation 3 may be extended by; {.cache_factor = 1}: by nothing. */
typedef struct weft_cost_terms {
    double launch_seconds;         /* of a kernel; below 0: not known, the device's nominal one */
    double non_overlapped;         /* part of the smaller of transfer and compute that does not
                                      overlap */
    double non_overlapped_barrier; /* more of it for each barrier between the calls of a kernel,
                                      beyond that behind its loads and that before its stores */
    double cache_bytes;            /* a kernel that moves less than this ... */
    double cache_factor;           /* ... takes this part of its transfer's time */
    double latency_overlap;        /* part of the waits of loads and stores, alone, that is none
                                     beside a longer wait in the same kernel: they are on their way
                                     at once */
} weft_cost_terms;

/** One kernel of a cover, per element, as predicted. */
typedef struct weft_kernel_prediction {
    double transfer, compute; /* seconds: loads and stores, computes */
    double bytes;             /* moved */
    double latency; /* of transfer: what loads and stores wait, alone, beside a longer wait */
    int barriers;
} weft_kernel_prediction;
/** Seconds of its transfers, and of all of it, per element of so many, by equation 3 with these
 *  terms; NULL: without any. */
double weft_prediction_seconds(const weft_kernel_prediction *part, double elements,
                               const weft_cost_terms *terms);

typedef struct weft_cost_source {
    const char *name; /* for people: "analytic", "measured" */
    void *user;       /* borrowed */
    /** All primitives of a compilation, once, before they are looked up: may set their handles. May
     * be NULL. Errors: the source's; a compilation that meets one fails with it. */
    weft_status (*prepare)(void *user, weft_cost_primitive *const *primitives, int n,
                           weft_error *error);
    /** psi: *seconds of one element. false: not known there; *seconds untouched. Called often
     * (10^5 times a compilation): interpolate in memory. */
    bool (*lookup)(void *user, const weft_cost_primitive *primitive,
                   const weft_operating_point *point, double *seconds);
    const weft_cost_terms *terms; /* NULL: nominal launches alone */
} weft_cost_source;

/** A roofline from nominal limits: bytes over bandwidth, flops over speed, each over what of it the
 *  threads that the point leaves resident can use (fusion/cost/analytic.c says how). Knows everything.
 *  limits  borrowed: `user` of the source that comes back */
weft_cost_source weft_cost_analytic(const weft_limits *limits);

#ifdef __cplusplus
}
#endif
#endif
