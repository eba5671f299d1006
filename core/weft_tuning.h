/** The tuning database: what was measured on a device, for the compiler's choices. Included by
 *  weft_core.h.
 *
 *  One SQLite file beside the kernel cache, $XDG_CACHE_HOME/weft/tuning-FORMAT.sqlite, under the
 *  cache's rules: a folder and a file of the user's own that nobody else may write, no link
 *  followed, any number of processes at once. A file that is damaged or another program's is
 *  refused with the reason and made again. Where it cannot be kept (no home, a read-only folder,
 *  WEFT_CACHE=off) it lives in memory, which is said once. See docs/tuning.md. */
#ifndef WEFT_TUNING_H
#define WEFT_TUNING_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Of the tables and of the benchmarks' meaning: files and keys of other formats are never read. */
#define WEFT_TUNING_FORMAT 1

typedef struct weft_tuning weft_tuning;

/** Open the database for reading and writing, making it where it is missing.
 *  options  cache_directory, cache (off: in memory; read: a copy in memory) and monitor (borrowed,
 *           must outlive it); NULL: the defaults
 *  Errors   WEFT_ERROR_MEMORY alone; what stands in the way of the file is logged */
weft_status weft_tuning_open(const weft_device_options *options, weft_tuning **out,
                             weft_error *error);
void weft_tuning_close(weft_tuning **tuning);
/** The file's path; "" where it lives in memory. */
const char *weft_tuning_path(const weft_tuning *tuning);

/** 32 digits for a device as times depend on it: kind, model, threads, driver or compiler, and
 *  WEFT_TUNING_FORMAT. Two equal GPUs have the same. */
void weft_device_identity(const weft_device *device, char out[33]);
/** Keep what an identity stands for, for people. */
weft_status weft_tuning_describe(weft_tuning *tuning, const char *device, const char *description,
                                 weft_error *error);

/* ---- times of primitives ------------------------------------------------------------------------
 */

/** How a primitive was run: the kernel that stands round it. */
typedef struct weft_tuning_point {
    int64_t elements;   /* of a block, at once */
    int64_t threads;    /* of a block; 0: does not matter */
    int64_t iterations; /* one after the other, by the same threads; 0: does not matter */
    int64_t extra;      /* bytes on chip beside what the primitive itself needs, a block */
} weft_tuning_point;

typedef struct weft_tuning_time {
    const char *primitive; /* see docs/tuning.md for how they are named */
    weft_tuning_point point;
    double seconds; /* an element, with the whole device busy */
} weft_tuning_time;

/** Keep times, all or none; what is there under the same names and points is replaced.
 *  device  its identity
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY; WEFT_ERROR_USAGE: a time that is no positive number */
weft_status weft_tuning_add_times(weft_tuning *tuning, const char *device,
                                  const weft_tuning_time *times, size_t n, weft_error *error);
/** The times of a device, by primitive, elements, threads, iterations, extra. primitive NULL: of
 *  all.
 *  *out and the names are in the arena. */
weft_status weft_tuning_times(weft_tuning *tuning, const char *device, const char *primitive,
                              weft_arena *arena, weft_tuning_time **out, size_t *n,
                              weft_error *error);
/** Forget what is known of a device (NULL: of all). */
weft_status weft_tuning_forget(weft_tuning *tuning, const char *device, weft_error *error);

/* ---- numbers of a device, such as the cost of a launch ----------------------------------------
 */

weft_status weft_tuning_set(weft_tuning *tuning, const char *device, const char *name, double value,
                            weft_error *error);
/** *found: it is there. */
weft_status weft_tuning_get(weft_tuning *tuning, const char *device, const char *name,
                            double *value, bool *found, weft_error *error);

/* ---- kernels: predicted and measured, side by side --------------------------------------------
 */

typedef struct weft_tuning_kernel {
    const char *kernel; /* 32 digits that stand for what it does and how */
    const char *name;   /* for people */
    int64_t elements;
    double predicted, measured; /* seconds of a launch */
} weft_tuning_kernel;
weft_status weft_tuning_add_kernel(weft_tuning *tuning, const char *device,
                                   const weft_tuning_kernel *kernel, weft_error *error);
weft_status weft_tuning_kernels(weft_tuning *tuning, const char *device, weft_arena *arena,
                                weft_tuning_kernel **out, size_t *n, weft_error *error);

/* ---- best plans of a search
 * ---------------------------------------------------------------------- */

/** The cover that a search found best for a script. */
typedef struct weft_tuning_best_plan {
    const char *script; /* 32 digits: script, options and library, see weft_compilation_hash */
    int size_class;     /* of the largest index set: weft_tuning_size_class */
    const char *cover;  /* as the compiler writes it; any text */
    double predicted, seconds;
} weft_tuning_best_plan;
/** Classes of sizes in which one best plan serves: 0 up to 1023, then one for each factor of 4. */
int weft_tuning_size_class(int64_t n);
weft_status weft_tuning_store(weft_tuning *tuning, const char *device,
                              const weft_tuning_best_plan *best_plan, weft_error *error);
/** *out is in the arena; its cover is NULL where none is remembered. */
weft_status weft_tuning_lookup(weft_tuning *tuning, const char *device, const char *script,
                               int size_class, weft_arena *arena, weft_tuning_best_plan *out,
                               weft_error *error);

/* ---- for the tool -----------------------------------------------------------------------------
 */

typedef struct weft_tuning_device {
    char device[33];
    char description[256];
    int64_t n_product_kernels, n_times, n_kernels, n_best_plans, n_numbers;
    double age_seconds; /* of the newest time */
} weft_tuning_device;
/** *out is malloc'd, by description. */
weft_status weft_tuning_list(weft_tuning *tuning, weft_tuning_device **out, size_t *n,
                             weft_error *error);
/** Count the entries that are not what was written (each has a hash). remove: remove them. */
weft_status weft_tuning_verify(weft_tuning *tuning, bool remove, int64_t *n_entries,
                               int64_t *n_damaged, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
