/** The search for the fastest kernel of a product. In: a product in device memory, seconds. Out: every
 *  candidate with its measurements, and which is the best; winners in the tuning database. */
#pragma once

#include "core/search/search.h"
#include "core/weft_tuning.h"
#include "gemm/kernels.h"
#include "gemm/power_monitor.h"

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

/** Energy of work, over launches without pauses between two steps of the monitor's counter. */
typedef struct weft_gemm_energy {
    double joules, watts, seconds; /* of one launch; 0: the counter did not move */
    double megahertz;              /* mean over the steps of the counter */
    int64_t launches;
} weft_gemm_energy;
/** Measure for `burst` seconds.
 *  power   NULL: all is 0
 *  Errors  those of the work and of timers */
weft_status weft_gemm_energy_measure(weft_device *device, const weft_power_monitor *power,
                                     const weft_gemm_work *work, double burst,
                                     weft_gemm_energy *out, weft_error *error);

typedef struct weft_gemm_candidate {
    weft_trial trial; /* stages are the sizes of the search */
    weft_gemm_point point;
    double merit;               /* by which candidates are ordered */
    int registers, spill_bytes; /* per thread; -1: unknown */
    double compile_seconds;
    /* of a burst of launches; 0: unknown or not measured. joules: per product; the others at its end */
    double joules, watts, megahertz;
} weft_gemm_candidate;

typedef struct weft_gemm_search_options {
    double seconds;  /* to search in; the last stage is not cut */
    int threads;     /* that compile at once; 0: all */
    int spill_bytes; /* most that a candidate may spill per thread; -1: 128 */
    int chunk;       /* candidates compiled before they are timed; 0: one per thread, at most 48 */
    double least;    /* seconds of a measurement in the last stage; 0: 20 ms; a tenth before it */
    uint32_t seed;   /* of the order of the candidates */
    double burst;    /* seconds in which the energy of a candidate is measured; 0: 0.6 */
    /* NULL, or measurements of earlier searches, which are not repeated before the last stage */
    weft_tuning *known;
    const weft_gemm_guidelines *guidelines; /* borrowed; NULL: weft_gemm_guidelines_of */
} weft_gemm_search_options;

typedef struct weft_gemm_search {
    weft_gemm_candidate *candidates; /* in the arena; in the order in which they were compiled */
    int n, n_known, n_compiled, n_timed;
    int n_tied;           /* of the last stage, that the times do not tell apart */
    bool energy_measured; /* energy is measured on this device */
    int best, standard;   /* candidates: the fastest, and the one used without tuning */
    int64_t sizes[WEFT_TRIAL_STAGES][3]; /* m, n, k */
} weft_gemm_search;

/** Search by successive halving: candidates that the guidelines leave are compiled in parallel and
 *  timed at small sizes; the best quarter at larger ones; the best twelve, then other groups of
 *  tiles of the best, interleaved, at the product's size. Those of the last whose times a rank test does not
 *  tell from the least are measured once more, in bursts, for energy, power and clock; of double
 *  precision the one with the least energy is the best.
 *  Errors  WEFT_ERROR_UNSUPPORTED: the device measures nothing; those of weft_gemm_run */
weft_status weft_gemm_search_best(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                  int64_t n, const weft_gemm_search_options *options,
                                  weft_arena *arena, weft_gemm_search *out, weft_error *error);

/** The one with the least joules; the first if its energy is unknown. */
int weft_gemm_least_energy(const weft_gemm_candidate *candidates, const int *tied, int n);

/** Give candidates the times that earlier searches of the same sizes have stored, and their energy.
 *  stages   the first ones, that are asked for
 *  Returns  the number of candidates with a time of the first stage */
int weft_gemm_search_known(weft_tuning *tuning, const weft_device *device,
                           const weft_gemm_product *product, int64_t n, int stages,
                           weft_gemm_search *search);
/** The candidates of a search with all that earlier searches have stored; nothing is measured. The best is
 *  the stored winner, or the point that is used without tuning.
 *  out      in the arena
 *  Errors   WEFT_ERROR_MEMORY */
weft_status weft_gemm_search_read(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                  int64_t n, weft_tuning *tuning, weft_arena *arena,
                                  weft_gemm_search *out, weft_error *error);
/** Store the winner; all times under the primitive "gemm D NN POINT KEY", KEY of the sources of the
 *  stencils; and numbers with " J", " W" and " MHz" behind that name. */
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
