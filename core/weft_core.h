/** Weft core: errors, arenas, growing text, messages to the user, devices.
 *  Every public function that can fail returns a weft_status and fills the caller's weft_error
 *  (which may be NULL). Nothing here exits, prints or keeps mutable globals. */
#ifndef WEFT_CORE_H
#define WEFT_CORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEFT_PRINTF(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define WEFT_PRINTF(format_index, first_argument)
#endif

/* ---- status and errors ---------------------------------------------------------------------- */

typedef enum weft_status {
    WEFT_OK = 0,
    WEFT_ERROR_USAGE,       /* a wrong argument, option or call                       exit 2 */
    WEFT_ERROR_INPUT,       /* a file or datum of the user's is wrong                 exit 2 */
    WEFT_ERROR_SYNTAX,      /* text that does not parse                               exit 2 */
    WEFT_ERROR_TYPE,        /* text that parses but makes no sense                    exit 2 */
    WEFT_ERROR_SHAPE,       /* sizes that do not agree                                exit 2 */
    WEFT_ERROR_IO,          /* cannot read or write a file                            exit 2 */
    WEFT_ERROR_UNSUPPORTED, /* right, but not something this build can do             exit 2 */
    WEFT_ERROR_MEMORY,      /* out of memory, on the host or on the device            exit 3 */
    WEFT_ERROR_DEVICE,      /* the device failed or is missing                        exit 3 */
    WEFT_ERROR_COMPILER,    /* the system compiler is missing or refused the source   exit 3 */
    WEFT_ERROR_INTERNAL     /* our own mistake                                        exit 3 */
} weft_status;

/** What went wrong, where, and what to do. Fixed size, so that reporting never allocates.
 *  Empty strings and zeros mean "not known". line and column count from 1. */
typedef struct weft_error {
    weft_status status;
    char message[1024];
    char file[512];
    int line, column;
    char source_line[256]; /* the offending line itself, for the caret */
    char hint[512];
} weft_error;

/** Fill *error (NULL allowed) with a message, clearing place and hint; returns status. */
weft_status weft_error_set(weft_error *error, weft_status status, const char *format, ...)
    WEFT_PRINTF(3, 4);
/** Add the place. text is the whole source text (NULL allowed): line `line` of it is copied. */
void weft_error_place(weft_error *error, const char *file, const char *text, int line, int column);
/** Add what to do about it. */
void weft_error_hint(weft_error *error, const char *format, ...) WEFT_PRINTF(2, 3);
/** Write "file:line:column: error: message", the line, a caret and the hint into out, always
 *  terminated; returns the length that the whole text has. */
size_t weft_error_text(const weft_error *error, char *out, size_t size);
/** The exit code for a status: 0, 2 or 3 (see weft_status). */
int weft_status_exit_code(weft_status status);
const char *weft_status_name(weft_status status);

/** Set status and jump to done: the one macro that hides control flow. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != WEFT_OK)                                                                     \
            goto done;                                                                             \
    } while (0)

/** The nearest of n names to `name` by edit distance, or NULL when none is near. Borrowed. */
const char *weft_nearest_name(const char *name, const char *const *names, size_t n);
/** Does a text contain the word, not as a part of a longer name as in C? "" is in no text. */
bool weft_has_word(const char *text, const char *word);

/* ---- memory --------------------------------------------------------------------------------- */

/** count * size bytes, zeroed, 64-byte aligned, padded to a multiple of 64 plus one spare cache
 *  line group (see WEFT_PADDING), NULL on overflow or no memory. Free with free(). */
void *weft_array_make(size_t count, size_t size);
/** As weft_array_make, with only what follows `bytes` zeroed: pages that are never written to are
 *  never there, and those that are belong to whoever writes first, on any thread. */
void *weft_array_make_unset(uint64_t bytes);
/** Bytes past its end that every weft_array_make and weft_memory has, readable and zero, so that
 *  whole blocks of lanes can be loaded and stored. */
#define WEFT_PADDING 1024

typedef struct weft_arena weft_arena;
weft_status weft_arena_make(weft_arena **out, weft_error *error);
void weft_arena_free(weft_arena **arena);
/** count * size bytes, zeroed, aligned for any type; NULL on overflow or no memory. */
void *weft_arena_alloc(weft_arena *arena, size_t count, size_t size);
char *weft_arena_copy(weft_arena *arena, const char *text, size_t length);
char *weft_arena_print(weft_arena *arena, const char *format, ...) WEFT_PRINTF(2, 3);

/** Growing text. Start from {0}. A failed allocation sets `failed` and later additions do nothing,
 *  so that it is checked once, at the end. */
typedef struct weft_text {
    char *data; /* always terminated once anything was added; NULL before */
    size_t length, capacity;
    bool failed;
} weft_text;
void weft_text_add(weft_text *text, const char *format, ...) WEFT_PRINTF(2, 3);
void weft_text_add_bytes(weft_text *text, const char *bytes, size_t length);
void weft_text_free(weft_text *text);

/** Read a whole file, terminated. Errors WEFT_ERROR_IO (names the file), WEFT_ERROR_MEMORY. */
weft_status weft_file_read(const char *path, char **out, size_t *length, weft_error *error);

/** Read "500M" or "16G" (powers of 1000: k, M, G, T), 1M or more. origin names the option or
 *  variable in messages.  Errors  WEFT_ERROR_USAGE */
weft_status weft_parse_bytes(const char *origin, const char *text, double *out, weft_error *error);
/** Read a number of seconds above 0. Errors likewise. */
weft_status weft_parse_seconds(const char *origin, const char *text, double *out,
                               weft_error *error);

/** How much of a path a temporary file beside it keeps, so that a name of its own fits behind it:
 *  all, but of a last part of more than 220 bytes those. */
int weft_path_kept(const char *path);

/* ---- messages to the user ------------------------------------------------------------------- */

typedef enum weft_log_level {
    WEFT_LOG_ERROR,
    WEFT_LOG_WARNING,
    WEFT_LOG_INFO,
    WEFT_LOG_DEBUG
} weft_log_level;

/** Callbacks that an app installs; every member may be NULL, and a NULL monitor is silent.
 *  Borrowed by what it is given to, which must not outlive it. */
typedef struct weft_monitor {
    void (*log)(void *user, weft_log_level level, const char *message);
    /* done of total, in units of `phase`; total 0: unknown */
    void (*progress)(void *user, const char *phase, double done, double total);
    void *user;
} weft_monitor;
void weft_log(const weft_monitor *monitor, weft_log_level level, const char *format, ...)
    WEFT_PRINTF(3, 4);
void weft_progress(const weft_monitor *monitor, const char *phase, double done, double total);

/** Seconds of a monotonic clock. */
double weft_clock(void);
/** Peak resident memory of this process, bytes. */
size_t weft_memory_peak(void);
/** Bytes of memory this process may use: the machine's, or what its control groups allow. */
size_t weft_memory_available(void);
/** xxHash of bytes, 128 bits as 32 hexadecimal digits and a terminator. */
void weft_hash(const void *bytes, size_t length, char out[33]);

/* ---- devices -------------------------------------------------------------------------------- */

typedef enum weft_device_kind {
    WEFT_DEVICE_HOST,
    WEFT_DEVICE_NULL,
    WEFT_DEVICE_CUDA
} weft_device_kind;

/** How the instances of a kernel run. */
typedef enum weft_execution {
    WEFT_EXECUTION_SIMD, /* each is a lane of a vector, and a thread goes through blocks of them */
    WEFT_EXECUTION_SIMT  /* each is a thread */
} weft_execution;

/** What a plan must respect. Sizes in bytes. */
typedef struct weft_limits {
    weft_device_kind kind; /* for messages; what a device can do is asked of what follows */
    weft_execution execution;
    bool records_only;    /* launches compute nothing, and memories hold no numbers */
    const char *language; /* of generated kernels, a file of kernels/prelude/: "host", "cuda"; NULL:
                             the first of this execution */
    char name[128];   /* "host: AMD EPYC, avx512f, 2 threads" */
    int lanes_double; /* cells a block of interleaved data, real = double: 8, 4 or 2 on the host, 32
                         on cuda */
    int lanes_float;  /* the same for float */
    int threads;      /* worker threads (host), 1 on null */
    int multiprocessors;   /* the same on the host */
    size_t register_bytes; /* vector registers a core, or registers a multiprocessor */
    size_t onchip_bytes; /* L1 data cache a core, or shared memory a block (the most a block can ask
                            for) */
    size_t l2_bytes;     /* the last cache before memory: the host's last level, a GPU's L2 */
    size_t memory_bytes; /* device memory in all */
    double bandwidth;    /* bytes a second, nominal; for analytic costs */
    double flops;        /* double-precision operations a second, nominal */
    double launch_seconds; /* one launch, nominal */
} weft_limits;

typedef enum weft_cache_mode { WEFT_CACHE_ON, WEFT_CACHE_READ, WEFT_CACHE_OFF } weft_cache_mode;

typedef struct weft_device_options {
    const weft_monitor *monitor; /* borrowed; may be NULL */
    weft_cache_mode cache;
    const char *cache_directory; /* NULL: $XDG_CACHE_HOME/weft, else ~/.cache/weft */
    const char *keep_directory;  /* NULL: do not keep generated sources */
    const char *compiler;        /* NULL: $CC, else cc */
    const char *instructions;    /* of the host, where the device's name has none: "avx2";
                                    NULL: $WEFT_INSTRUCTIONS, else the processor's best */
} weft_device_options;
/** The defaults, with WEFT_CACHE, WEFT_KEEP, CC and WEFT_INSTRUCTIONS of the environment read. */
weft_device_options weft_device_options_default(const weft_monitor *monitor);

/** A device outlives the memories and modules made on it. Memories and modules may be made, and
 * work launched, from several threads at once; launches of two threads do not share the workers. */
typedef struct weft_device weft_device;
/** Open a device by name: "auto" (WEFT_DEVICE of the environment, else cuda where driver, GPU and
 * NVRTC are there, else host; which, and why, is logged), "host",
 * "host:THREADS", "host:SET" or "host:THREADS:SET" (kernels for the instruction set sse2, avx2,
 * avx512 or neon), "cuda" or "cuda:NUMBER" (a GPU, from 0; driver and NVRTC are looked for then),
 * "cuda:NUMBER:traced" (records nothing: every kernel is launched by the host, for profilers),
 * "null" (records launches, computes nothing), "null:h200" (with an H200's limits).
 *  Errors WEFT_ERROR_USAGE (lists the names that exist), WEFT_ERROR_DEVICE, WEFT_ERROR_MEMORY */
weft_status weft_device_open(const char *name, const weft_device_options *options,
                             weft_device **out, weft_error *error);
void weft_device_free(weft_device **device);
const weft_limits *weft_device_limits(const weft_device *device);
/** The monitor the device was opened with; may be NULL. */
const weft_monitor *weft_device_monitor(const weft_device *device);

/** Device memory: `bytes` usable, zeroed, then WEFT_PADDING spare. */
typedef struct weft_memory weft_memory;
weft_status weft_memory_make(weft_device *device, size_t bytes, weft_memory **out,
                             weft_error *error);
/** The same for what is written before it is read: `bytes` need not be zero. */
weft_status weft_memory_make_unset(weft_device *device, size_t bytes, weft_memory **out,
                                   weft_error *error);
/** Memory of the caller's (from weft_array_make, so padded), used in place where the device can
 *  (host) and copied where it cannot (cuda): there the array is not updated, and weft_memory_read
 *  fetches what is in the memory. The caller keeps ownership and keeps it alive. */
weft_status weft_memory_wrap(weft_device *device, void *array, size_t bytes, weft_memory **out,
                             weft_error *error);
void weft_memory_free(weft_memory **memory);
size_t weft_memory_bytes(const weft_memory *memory);
weft_status weft_memory_write(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                              weft_error *error);
weft_status weft_memory_read(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                             weft_error *error);
weft_status weft_memory_zero(weft_memory *memory, weft_error *error);
/** The first `bytes` of one memory to the start of another, both of one device, in the order of the
 *  launches. Nothing is done for to == from.
 *  Errors WEFT_ERROR_USAGE: two devices, or more bytes than one of them has */
weft_status weft_memory_copy(weft_memory *to, const weft_memory *from, size_t bytes,
                             weft_error *error);
/** The address itself where the host can use it; NULL on devices with memory of their own and on
 *  null (whose memories record their size and hold nothing). */
void *weft_memory_host(const weft_memory *memory);

/** Generated source made runnable: compiled by the system compiler, or found in the cache.
 *  On null: remembers the source. name is for messages and kept files.
 *  Errors WEFT_ERROR_COMPILER (message holds the compiler's first lines), WEFT_ERROR_MEMORY,
 * WEFT_ERROR_DEVICE */
typedef struct weft_module weft_module;
weft_status weft_module_make(weft_device *device, const char *name, const char *source,
                             weft_module **out, weft_error *error);
void weft_module_free(weft_module **module);
/** Was it found in the cache? Seconds spent compiling (0 when found). */
bool weft_module_cached(const weft_module *module);
double weft_module_seconds(const weft_module *module);

/** What a kernel takes of the device, as its compiler says. */
typedef struct weft_kernel_figures {
    int registers;    /* of 4 bytes, a thread */
    int stack_bytes;  /* a thread: arrays that are indexed at run time, and spilled registers */
    int shared_bytes; /* a block, beside what the launch adds */
    int spill_store_bytes, spill_load_bytes; /* -1: not known */
} weft_kernel_figures;
/** On null with a GPU's limits the source is compiled by NVRTC when they are first asked for, GPU
 * or not. Errors  WEFT_ERROR_UNSUPPORTED: host, null; WEFT_ERROR_COMPILER: NVRTC is missing or
 * refuses; WEFT_ERROR_DEVICE: there is no such kernel */
weft_status weft_module_kernel_figures(weft_module *module, const char *kernel,
                                       weft_kernel_figures *out, weft_error *error);
/** False where they are not known: host, null, or there is no such kernel. Compiles nothing. */
bool weft_module_figures(const weft_module *module, const char *kernel, weft_kernel_figures *out);

/** The order in which blocks may run. Colours run one after another; the ranges of one colour have
 * no store in common and run on any thread. Ranges hold blocks [first, last). The order within a
 *  range is ascending, so results do not depend on the number of threads. */
typedef struct weft_schedule {
    int n_colours;
    int64_t *colour_start; /* [n_colours + 1], into ranges */
    int64_t (*ranges)[2];  /* [colour_start[n_colours]] */
} weft_schedule;
void weft_schedule_free(weft_schedule **schedule);

/** One launch. Host kernels have the signature
 *      void NAME(void *const *arguments, int64_t n_instances, int64_t first_block,
 *                int64_t last_block)
 *  and handle blocks [first_block, last_block) of ceil(n_instances / lanes). Cuda kernels have
 *      extern "C" __global__ void NAME(long long n_instances, T0 *argument0, T1 *argument1, ...)
 *  with a thread an instance and the last thread block partly idle; a schedule is refused there. */
typedef struct weft_launch {
    const weft_module *module;
    const char *kernel;            /* its name in the module */
    weft_memory *const *arguments; /* borrowed */
    int n_arguments;
    int64_t n_instances;
    int lanes;                     /* instances a block */
    const weft_schedule *schedule; /* NULL: every block is independent */
    int block_threads;             /* cuda: threads a thread block; 0: 128 */
    int shared_bytes;              /* cuda: shared memory beside what the kernel declares */
    int64_t n_blocks;              /* cuda: thread blocks; 0: ceil(n_instances / block_threads) */
    bool cooperative; /* cuda: every block runs at once, so that they may wait for each other; a
                         grid that does not fit (weft_device_resident_blocks) is refused */
} weft_launch;
/** Errors WEFT_ERROR_USAGE: a wrong argument, a block or a cooperative grid that is too large;
 *  WEFT_ERROR_UNSUPPORTED: a schedule on cuda, a cooperative launch on the host */
weft_status weft_device_launch(weft_device *device, const weft_launch *launch, weft_error *error);
/** Thread blocks of a kernel that the device runs at the same time: the largest grid of a
 *  cooperative launch. block_threads 0: 128. On null from the limits alone, registers not counted;
 *  0 on the host, and where there is no such kernel or block. */
int weft_device_resident_blocks(const weft_device *device, const weft_module *module,
                                const char *kernel, int block_threads, int shared_bytes);
/** Wait for everything launched and written on the device; reports what has failed since.
 *  Launches return before they are done on cuda; weft_memory_read waits by itself. */
weft_status weft_device_wait(weft_device *device, weft_error *error);

/** Run task(user, i) for i in [0, n) on the host's worker threads (in order of i on one thread for
 *  devices without threads, and for NULL). Tasks must not depend on each other.
 *  Errors  WEFT_ERROR_USAGE (n < 0, no task) alone */
typedef void (*weft_task)(void *user, int64_t i);
weft_status weft_device_for(weft_device *device, int64_t n, weft_task task, void *user,
                            weft_error *error);

/** Launches so far, on any device; what is recorded does not count, a recording's run counts as
 *  one. */
int64_t weft_device_launches(const weft_device *device);
/** Bytes of the weft_memory there is now, made or wrapped, and at most so far. */
size_t weft_device_bytes(const weft_device *device);
size_t weft_device_bytes_peak(const weft_device *device);
/** Bytes that can still be made: on cuda what the GPU has free, other processes counted. */
size_t weft_device_bytes_free(const weft_device *device);

/* ---- recordings: launches with their loops, run without the host -------------------------------
 */

/** A list of launches, zeroes and copies, with loops, that the device runs by itself (cuda: a graph
 *  with conditional nodes). For example
 *
 *      TRY(weft_recording_begin(device, error));
 *      TRY(weft_device_launch(device, &first, error));      recorded, not run
 *      TRY(weft_recording_while(device, flag, error));      while (*flag != 0) {
 *      TRY(weft_device_launch(device, &turn, error));           one of these sets *flag
 *      TRY(weft_recording_end_while(device, error));        }
 *      TRY(weft_recording_end(device, &recording, error));
 *      TRY(weft_recording_run(recording, error));           as often as wanted
 *
 *  From begin to end the device takes launches, weft_memory_zero and weft_memory_copy, and what any
 *  thread asks for is recorded. Kernels may be compiled meanwhile. Everything else is refused by
 *  WEFT_ERROR_USAGE and is to be done before: making and wrapping memory, reading, writing,
 * waiting, timers, running. Memory or a module that is freed meanwhile is kept until the end, which
 * then answers that mistake. A recording holds addresses: a memory or module that it uses must
 * outlive it. Where one was freed, weft_recording_run says so and runs nothing. It is freed before
 * its device. */
typedef struct weft_recording weft_recording;
/** Can the device record? Not host, null, nor a driver before CUDA 12.3, which is logged. */
bool weft_device_records(const weft_device *device);
/** Errors WEFT_ERROR_UNSUPPORTED: the device does not record; WEFT_ERROR_USAGE: it does already */
weft_status weft_recording_begin(weft_device *device, weft_error *error);
/** Begin a loop that is repeated while the uint32_t at the start of `flag` is not 0, tested before
 *  each turn. Loops may stand in loops, 8 deep.
 *  Errors WEFT_ERROR_USAGE: nothing is being recorded, or flag is no memory of 4 bytes of this
 *  device; WEFT_ERROR_DEVICE, after which end answers the same */
weft_status weft_recording_while(weft_device *device, weft_memory *flag, weft_error *error);
weft_status weft_recording_end_while(weft_device *device, weft_error *error);
/** End the recording, in any case: where it answers an error (a loop is open, something was freed
 *  meanwhile, a step failed) what was recorded is dropped and *out untouched.
 *  out NULL: drop it. */
weft_status weft_recording_end(weft_device *device, weft_recording **out, weft_error *error);
/** Start it, after what was launched before; returns before it is done, as launches do. */
weft_status weft_recording_run(weft_recording *recording, weft_error *error);
/** Waits for its runs. */
void weft_recording_free(weft_recording **recording);

/* ---- timers -----------------------------------------------------------------------------------
 */

/** The time between two points of a device's work: events on cuda (half a microsecond apart at
 *  best), the clock elsewhere, whose devices have done what was asked when the call returns. */
typedef struct weft_timer weft_timer;
weft_status weft_timer_make(weft_device *device, weft_timer **out, weft_error *error);
void weft_timer_free(weft_timer **timer);
weft_status weft_timer_start(weft_timer *timer, weft_error *error);
weft_status weft_timer_stop(weft_timer *timer, weft_error *error);
/** Waits for the stop. Errors WEFT_ERROR_USAGE: it was not started and stopped */
weft_status weft_timer_seconds(weft_timer *timer, double *seconds, weft_error *error);

/* ---- forecasts of memory ------------------------------------------------------------------------
 */

/** Arrays that are about to be made on a device. Start from {0}. */
enum { WEFT_FORECAST_ARRAYS = 48, WEFT_FORECAST_NAME = 40 };
typedef struct weft_forecast_array {
    char name[WEFT_FORECAST_NAME];
    size_t bytes;
} weft_forecast_array;
typedef struct weft_forecast {
    weft_forecast_array arrays[WEFT_FORECAST_ARRAYS]; /* in the order of their first mention */
    int n_arrays;
    size_t bytes; /* of all; SIZE_MAX where that overflows */
} weft_forecast;
/** count * size bytes under a name; what has the same name is added to it, and what has no place
 *  in the list is added to its last array, "others". */
void weft_forecast_add(weft_forecast *forecast, const char *name, size_t count, size_t size);
/** Log the arrays with their total and what the device has free (level info), and refuse what
 * cannot fit before any of it is made. hint    what needs less, for the error; may be NULL Errors
 * WEFT_ERROR_MEMORY (names the largest arrays) */
weft_status weft_forecast_check(const weft_forecast *forecast, const weft_device *device,
                                const char *hint, weft_error *error);

/* ---- the JIT cache, for the tool --------------------------------------------------------------
 */

typedef struct weft_cache_entry {
    char key[33];
    char description[256]; /* "poisson, double, gcc 12.2.0, znver4" */
    size_t bytes;
    double age_seconds;
    bool valid;
} weft_cache_entry;
/** List the entries of a cache directory (NULL: the default). Each is verified (header, hash,
 * size). *out is malloc'd. */
weft_status weft_cache_list(const char *directory, weft_cache_entry **out, size_t *n,
                            weft_error *error);
/** Remove every entry (only_invalid: the invalid ones) and say how many. Touches nothing that is
 * not a cache entry. */
weft_status weft_cache_clear(const char *directory, bool only_invalid, size_t *n_removed,
                             weft_error *error);
/** The directory used by default, as text. WEFT_ERROR_IO when there is no home. */
weft_status weft_cache_directory(char *out, size_t size, weft_error *error);

#ifdef __cplusplus
}
#endif

#endif
