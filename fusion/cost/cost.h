/** Cost model. Included by weft_fusion.h.
 *  In:  cost primitives and the operating point of a kernel
 *  Out: seconds per element
 *
 *  A kernel is a sequence of *cost primitives* (Filipovic et al. 2015, section 4.3): a load for
 *  each value read from memory, a compute for each call, a store for each value written. The cost
 *  function psi(primitive, point) is the time per element of a primitive in a kernel that runs at
 *  this operating point with the whole device busy. The time of a kernel per element is equation 3
 *  of Fousek et al. 2011:
 *
 *      max(sum of psi of loads and stores, sum of psi of computes + recomputed thread indices)
 *
 *  and each launch adds launch_seconds. psi comes from a weft_cost_source: the analytic one, based
 *  on the device's limits (weft_cost_analytic), or a measured one. The analytic source supplies
 *  what the measured one lacks, and the explanation says so. */
#ifndef WEFT_PREDICTION_H
#define WEFT_PREDICTION_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_cost_kind { WEFT_COST_LOAD, WEFT_COST_COMPUTE, WEFT_COST_STORE } weft_cost_kind;

/** How a value moves between memory and chip. */
typedef enum weft_access_kind {
    WEFT_COST_BLOCK,     /* interleaved, [block][component][lane] */
    WEFT_COST_AOS,       /* [element][component] */
    WEFT_COST_INDIRECT,  /* loaded through a connectivity of `width`, [element][component] */
    WEFT_COST_ADD,       /* accumulated through a connectivity of `width` */
    WEFT_COST_ADD_MATRIX /* width x width entries accumulated into a matrix at given positions */
} weft_access_kind;

/** A cost primitive. The name identifies it: it contains everything that its time depends on except
 *  the operating point, and is the key in the tuning database.
 *
 *      load FORM COMPONENTS WIDTH TYPE PLACE      "load block 25 0 float registers"
 *      store FORM COMPONENTS WIDTH TYPE PLACE     "store add 3 3 double shared"
 *      compute FUNCTION THREADS SIZES TYPE PLACE  "compute mmul 9 m=3,k=3,n=3 float shared"
 *
 *      compute FUNCTION 1 intrinsic TYPE PLACE    "compute sin 1 intrinsic double registers"
 *
 *  FORM     block, plain, indirect, add or add_matrix (weft_access_kind)
 *  THREADS  per element; loads and stores are shared by all threads of the block
 *  PLACE    of its operands and result on chip; `shared` if at least one is in shared memory */
typedef struct weft_cost_primitive {
    const char *name;
    weft_cost_kind kind;
    weft_access_kind form; /* loads and stores */
    int components, width; /* loads and stores: components per target or source; width 0: none */
    const char *function;  /* computes: an elementary function, or "arithmetic" */
    bool intrinsic;       /* computes: the function is one of formulas (fusion/base/intrinsics.h) */
    int variant, threads; /* computes: number of the body, and its threads per element; else 0 */
    double bytes, flops;  /* per element: memory traffic; operations */
    int real_bytes;       /* 4 or 8 */
    bool shared;          /* PLACE */
    int handle;           /* set by the source's prepare; -1 before */
} weft_cost_primitive;

/** The operating point of the kernel that contains a primitive. */
typedef struct weft_operating_point {
    int elements;      /* per block, in parallel */
    int iterations;    /* serial iterations: a block processes elements * iterations */
    int threads;       /* per block */
    int available;     /* threads per multiprocessor that have elements to process; 0: unlimited */
    double load_bytes; /* loaded by the kernel per element: bytes in flight */
    int registers;     /* 4-byte words per thread, estimated; 0: unknown */
    /* on-chip bytes per block besides those of the primitive itself, which reduce the number of
     * resident blocks (Delta M of the paper) */
    size_t extra_bytes;
    double resident; /* threads per multiprocessor, of all above; 0: not computed yet */
} weft_operating_point;

/** Optional extensions of equation 3; {.cache_factor = 1}: none. */
typedef struct weft_cost_terms {
    double launch_seconds; /* per kernel; negative: unknown, use the device's nominal one */
    /* fraction of the smaller of transfer and compute that does not overlap with the larger */
    double non_overlapped;
    double non_overlapped_barrier; /* added to it per barrier beyond the first two of a kernel */
    double cache_bytes;            /* kernels with less traffic than this ... */
    double cache_factor;           /* ... have their transfer time multiplied by this */
    /* fraction of a memory latency that is hidden behind a longer latency in the same kernel */
    double latency_overlap;
} weft_cost_terms;

/** Class of a script, for which terms are fitted: does it load or accumulate through a
 *  connectivity? */
typedef enum weft_script_class {
    WEFT_SCRIPT_DIRECT,
    WEFT_SCRIPT_INDIRECT,
    WEFT_SCRIPT_CLASSES
} weft_script_class;
/** The numbers of the tuning database that hold the terms of a class, with their places in *terms.
 */
enum { WEFT_COST_TERMS = 6 };
typedef struct weft_cost_term {
    char name[48];
    double *value;
} weft_cost_term;
void weft_cost_terms_names(weft_script_class script_class, weft_cost_terms *terms,
                           weft_cost_term out[WEFT_COST_TERMS]);

/** Predicted time of one kernel of a cover, per element. */
typedef struct weft_kernel_prediction {
    double transfer, compute; /* seconds of loads and stores; of computes */
    double bytes;             /* memory traffic */
    double latency;           /* part of transfer: sum of the latencies except the longest */
    int barriers;
} weft_kernel_prediction;
/** Seconds of a kernel per element.
 *  elements  of the whole kernel
 *  terms     NULL: equation 3 alone
 *  Source    Fousek et al. 2011, equation 3 */
double weft_prediction_seconds(const weft_kernel_prediction *part, double elements,
                               const weft_cost_terms *terms);

typedef struct weft_cost_source {
    const char *name; /* for display: "analytic", "measured" */
    void *user;       /* borrowed */
    /** Called once with all primitives of a compilation, before the first lookup; may set their
     *  handles. May be NULL.
     *  Errors  the source's; the compilation fails with them */
    weft_status (*prepare)(void *user, weft_cost_primitive *const *primitives, int n,
                           weft_error *error);
    /** psi: seconds per element. Called about 10^5 times per compilation, so it must not access the
     *  database.
     *  Returns  false: unknown at this point; *seconds untouched */
    bool (*lookup)(void *user, const weft_cost_primitive *primitive,
                   const weft_operating_point *point, double *seconds);
    const weft_cost_terms *terms; /* NULL: only nominal launch times */
    /* a hash of all that the times depend on; NULL: plans by this source are not kept on disk */
    const char *identity;
} weft_cost_source;

/** A roofline from nominal limits: bytes over bandwidth and flops over speed, both reduced where
 *  too few threads are resident (fusion/cost/analytic.c). Its lookup always succeeds.
 *  limits  borrowed: `user` of the returned source */
weft_cost_source weft_cost_analytic(const weft_limits *limits);

#ifdef __cplusplus
}
#endif
#endif
