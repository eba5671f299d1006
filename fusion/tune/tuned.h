/** The search for the values of tuned parameters of functions, and the values that searches have stored.
 *  In:  calls of functions with `//@ tune` lines, a device
 *  Out: the fastest settings, in the tuning database; a source of them for weft_compile_options.tuned */
#ifndef WEFT_TUNED_H
#define WEFT_TUNED_H

#include "fusion/tune/tune.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Stored settings of a device. */
typedef struct weft_tuned weft_tuned;
/** The settings in the tuning database, which is opened for reading when a compilation first asks for one.
 *  device  borrowed, outlives the result
 *  out     caller's; weft_tuned_free
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_tuned_open(const weft_device *device, weft_tuned **out, weft_error *error);
/** The same with a database that is open. tuning  borrowed, outlives the result */
weft_status weft_tuned_make(weft_tuning *tuning, const char *device, weft_tuned **out,
                            weft_error *error);
void weft_tuned_free(weft_tuned **tuned);
/** For weft_compile_options.tuned; borrowed. */
const struct weft_tuned_source *weft_tuned_source_of(const weft_tuned *tuned);

/** A call whose parameters were tuned. Strings are in the arena. */
typedef struct weft_tune_result {
    const char *function, *call;      /* "smooth(real[8], degree = 2)" */
    const char *setting, *standard;   /* the fastest, and the one without a search: "width = 4" */
    double seconds, standard_seconds; /* of one run of the call alone */
    int n_settings, n_allowed;        /* of the tune lines, and those that the where lines leave */
    int n_timed, n_tied;              /* n_tied: as fast as the fastest */
} weft_tune_result;

typedef struct weft_tune_options {
    size_t size;      /* sizeof(weft_tune_options) */
    double seconds;   /* to search in, for each call; 0: 60 */
    int64_t elements; /* per index set; 0: 10^6 */
    bool single;
    weft_tuning *tuning; /* gets the fastest settings; NULL: they are not stored */
    /* For tests: replaces a run on the device; NULL: that. setting: "width = 4" */
    weft_status (*measure)(void *user, const char *setting, double *seconds, weft_error *error);
    void *user;
} weft_tune_options;
static inline weft_tune_options weft_tune_options_default(void) {
    weft_tune_options options;
    weft_options_clear(&options, sizeof options);
    return options;
}

/** Find the fastest settings of all calls of a script that have tuned parameters, each call alone with lists of its own. A setting
 *  that the times do not tell from the standard one does not replace it.
 *  out     [*n] in the arena
 *  Errors  WEFT_ERROR_UNSUPPORTED: a device that computes nothing; those of compiling and running */
weft_status weft_tune_script(weft_device *device, const weft_search_script *script,
                             const weft_tune_options *options, weft_arena *arena,
                             weft_tune_result **out, int *n, weft_error *error);
/** The same with the tuning database, which is opened; options->tuning is ignored.
 *  out  gets the results as JSON: a list of objects with the members of weft_tune_result */
weft_status weft_tune_and_store(weft_device *device, const weft_search_script *script,
                                const weft_tune_options *options, weft_text *out,
                                weft_error *error);
/** Append a script that calls a function.
 *  sizes   "n = 8, m = 3": the names in its signature, and parameters; NULL: none
 *  Errors  WEFT_ERROR_USAGE: no such function or size, with those that there are; a size is missing */
weft_status weft_tune_text(const weft_library *library, const char *function, const char *sizes,
                           weft_text *out, weft_error *error);
/** Whether a function has tuned parameters. */
bool weft_is_tuned(const weft_library *library, const char *function);

#ifdef __cplusplus
}
#endif
#endif
