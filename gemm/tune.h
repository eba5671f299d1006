/** The search for the fastest kernel of a product. In: a product in device memory, seconds. Out: every
 *  candidate with what was measured of it, the best first among the last; winners in the tuning
 *  database. */
#pragma once

#include "core/weft_tuning.h"
#include "gemm/kernels.h"
#include "gemm/meter.h"

/** Work to time: launches once. */
typedef struct weft_gemm_work {
    weft_status (*run)(void *user, weft_error *error);
    void *user;
} weft_gemm_work;
/** Time works one after another, in rounds. Each is repeated until a measurement takes `least`
 *  seconds; the first round is not counted.
 *  seconds  [n][rounds], per launch
 *  Errors   those of the works and of timers */
weft_status weft_gemm_time(weft_device *device, const weft_gemm_work *works, int n, int rounds,
                           double least, double *seconds, weft_error *error);

typedef enum weft_gemm_outcome {
    WEFT_GEMM_UNTRIED,
    WEFT_GEMM_REFUSED, /* by the compiler */
    WEFT_GEMM_SPILLS,  /* more than the options allow */
    WEFT_GEMM_FAILS,   /* when run */
    WEFT_GEMM_RUNS
} weft_gemm_outcome;

enum { WEFT_GEMM_STAGES = 3, WEFT_GEMM_ROUNDS = 9 };

typedef struct weft_gemm_candidate {
    weft_gemm_point point;
    weft_gemm_outcome outcome;
    double merit;               /* by which candidates are ordered */
    int registers, spill_bytes; /* per thread; -1: unknown */
    double compile_seconds;
    double seconds[WEFT_GEMM_STAGES]; /* medians at the sizes of the stages; 0: dropped before */
    double rounds[WEFT_GEMM_ROUNDS];  /* of the last stage; 0: not measured */
    double joules, megahertz;         /* per product, and at its end; 0: unknown */
} weft_gemm_candidate;

typedef struct weft_gemm_search_options {
    double seconds;  /* to search in; the last stage is not cut */
    int threads;     /* that compile at once; 0: all */
    int spill_bytes; /* most that a candidate may spill per thread; -1: 128 */
    int chunk;       /* candidates compiled before they are timed; 0: 48 */
    double least;    /* seconds of a measurement in the last stage; 0: 20 ms; a tenth before it */
    uint32_t seed;   /* of the order of the candidates */
} weft_gemm_search_options;

typedef struct weft_gemm_search {
    weft_gemm_candidate *candidates; /* in the arena; in the order in which they were compiled */
    int n, n_compiled, n_timed;
    int best, standard; /* candidates: the fastest, and the one used without tuning */
    int64_t sizes[WEFT_GEMM_STAGES][3]; /* m, n, k */
} weft_gemm_search;

/** Search by successive halving: candidates that the guidelines leave are compiled in parallel and
 *  timed at small sizes; the best quarter at larger ones; the best twelve, then other groups of
 *  tiles of the best, interleaved, at the product's size. Power and clock are recorded there.
 *  Errors  WEFT_ERROR_UNSUPPORTED: the device measures nothing; those of weft_gemm_run */
weft_status weft_gemm_search_best(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                  int64_t n, const weft_gemm_search_options *options,
                                  weft_arena *arena, weft_gemm_search *out, weft_error *error);

/** Store the winner, and all times under the primitive "gemm D NN POINT". */
weft_status weft_gemm_search_store(weft_tuning *tuning, weft_device *device,
                                   const weft_gemm_product *product, int64_t n,
                                   const weft_gemm_search *search, weft_error *error);
/** Find the winner that was stored for a product. */
weft_status weft_gemm_tuned(weft_tuning *tuning, const weft_device *device,
                            const weft_gemm_product *product, int64_t n, weft_gemm_point *out,
                            bool *found, weft_error *error);
/** Append the search as JSON in the T4 format of the autotuning community: for each candidate its
 *  parameters, times and whether it is correct.
 *  Source  github.com/autotuning_methodology, schemas/T4 */
void weft_gemm_search_t4(const weft_gemm_product *product, const weft_gemm_search *search,
                         weft_text *out);
