/** The tuning database: measurements of a device, for the compiler's choices.
 *  In: times, numbers, kernels and best plans by device. Out: the same, each row verified.
 *
 *  It is one SQLite file in the kernel cache's directory,
 *
 *      $XDG_CACHE_HOME/weft/tuning-FORMAT.sqlite
 *
 *  under the cache's rules: directory and file belong to the user and are writable by nobody else,
 *  links are not followed, any number of processes may use it at once. A damaged or foreign file is
 *  logged and replaced. If the file cannot be used (no home directory, read-only directory,
 *  WEFT_CACHE=off) or, later, not be written (a full disk), the database is kept in memory, which is
 *  logged once. See docs/tuning.md. */
#ifndef WEFT_TUNING_H
#define WEFT_TUNING_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the tables and of what the benchmarks measure; other versions are never read. */
#define WEFT_TUNING_FORMAT 1

typedef struct weft_tuning weft_tuning;

/** Open the database for reading and writing; create it if it is missing.
 *  options  cache_directory, cache (off: in memory; read: a copy in memory) and monitor (borrowed,
 *           must outlive the database); NULL: the defaults
 *  out      caller's; weft_tuning_close
 *  Errors   WEFT_ERROR_MEMORY only; problems with the file are logged */
weft_status weft_tuning_open(const weft_device_options *options, weft_tuning **out,
                             weft_error *error);
void weft_tuning_close(weft_tuning **tuning);
/** The file's path; "" if the database is in memory. */
const char *weft_tuning_path(const weft_tuning *tuning);

/** Hash (32 digits) of the properties of a device that affect times: kind, model, threads, driver
 *  or compiler, and WEFT_TUNING_FORMAT. Two GPUs of the same model have the same identity. */
void weft_device_identity(const weft_device *device, char out[33]);
/** Store a human-readable description of a device identity. */
weft_status weft_tuning_describe(weft_tuning *tuning, const char *device, const char *description,
                                 weft_error *error);

/* ---- times of primitives ------------------------------------------------------------------- */

/** The kernel in which a primitive was measured. */
typedef struct weft_tuning_point {
    int64_t elements;   /* per block, at once */
    int64_t threads;    /* per block; 0: irrelevant */
    int64_t iterations; /* in sequence, by the same threads; 0: irrelevant */
    int64_t extra;      /* on-chip bytes per block in addition to those of the primitive */
} weft_tuning_point;

typedef struct weft_tuning_time {
    const char *primitive; /* named as in docs/tuning.md */
    weft_tuning_point point;
    double seconds; /* per element, with the whole device busy */
} weft_tuning_time;

/** Store times, all or none. Entries with the same primitive and point are replaced.
 *  device  its identity
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY; WEFT_ERROR_USAGE: a time is not a positive number */
weft_status weft_tuning_add_times(weft_tuning *tuning, const char *device,
                                  const weft_tuning_time *times, size_t n, weft_error *error);
/** The times of a device.
 *  primitive  NULL: all primitives
 *  out        [*n] in the arena, as are the names; sorted by primitive, elements, threads,
 *             iterations, extra */
weft_status weft_tuning_times(weft_tuning *tuning, const char *device, const char *primitive,
                              weft_arena *arena, weft_tuning_time **out, size_t *n,
                              weft_error *error);
/** Remove all entries of a device (NULL: of all devices). */
weft_status weft_tuning_forget(weft_tuning *tuning, const char *device, weft_error *error);

/* ---- numbers of a device, such as the cost of a launch ------------------------------------- */

weft_status weft_tuning_set(weft_tuning *tuning, const char *device, const char *name, double value,
                            weft_error *error);
/** found  set to whether there is a number of this name; if not, *value is untouched */
weft_status weft_tuning_get(weft_tuning *tuning, const char *device, const char *name,
                            double *value, bool *found, weft_error *error);

/* ---- kernels: predicted and measured times ------------------------------------------------- */

typedef struct weft_tuning_kernel {
    const char *kernel; /* hash (32 digits) of its calls and implementation */
    const char *name;   /* human-readable */
    int64_t elements;
    double predicted, measured; /* seconds per launch */
} weft_tuning_kernel;
weft_status weft_tuning_add_kernel(weft_tuning *tuning, const char *device,
                                   const weft_tuning_kernel *kernel, weft_error *error);
weft_status weft_tuning_kernels(weft_tuning *tuning, const char *device, weft_arena *arena,
                                weft_tuning_kernel **out, size_t *n, weft_error *error);

/* ---- best plans of a search ---------------------------------------------------------------- */

/** The fastest cover that a search found for a script. */
typedef struct weft_tuning_best_plan {
    const char *script; /* hash of script, options and library: weft_compilation_hash */
    int size_class;     /* of the largest index set: weft_tuning_size_class */
    const char *cover;  /* as the compiler writes it; opaque text */
    double predicted, seconds;
} weft_tuning_best_plan;
/** The size class of n elements, within which one best plan is used: 0 up to 1023, then one class
 *  per factor of 4. */
int weft_tuning_size_class(int64_t n);
weft_status weft_tuning_store(weft_tuning *tuning, const char *device,
                              const weft_tuning_best_plan *best_plan, weft_error *error);
/** The stored best plan.
 *  out  in the arena; its cover is NULL if none is stored */
weft_status weft_tuning_lookup(weft_tuning *tuning, const char *device, const char *script,
                               int size_class, weft_arena *arena, weft_tuning_best_plan *out,
                               weft_error *error);

/* ---- for the tool -------------------------------------------------------------------------- */

typedef struct weft_tuning_device {
    char device[33];
    char description[256];
    int64_t n_product_kernels, n_times, n_kernels, n_best_plans, n_numbers;
    double age_seconds; /* of the newest entry of times */
} weft_tuning_device;
/** The devices of the database.
 *  out  [*n] malloc'd, sorted by description */
weft_status weft_tuning_list(weft_tuning *tuning, weft_tuning_device **out, size_t *n,
                             weft_error *error);
/** Count the entries, and those whose content does not match its hash.
 *  remove  delete the damaged ones */
weft_status weft_tuning_verify(weft_tuning *tuning, bool remove, int64_t *n_entries,
                               int64_t *n_damaged, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
