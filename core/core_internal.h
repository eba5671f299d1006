/* What the files of core/ share, in the order of its flow: threads, processes, cache, compiler,
 * devices. Not installed. */
#ifndef WEFT_CORE_INTERNAL_H
#define WEFT_CORE_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE                                                                                \
    1 /* memfd_create, locks of open files, affinity; so include this header first */
#endif

#include "core/base/process.h"
#include "core/weft_core.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- threads -------------------------------------------------------------------------------- */

/** A pool of n threads, the caller's being one of them. Workers spin for some microseconds after a
 *  job and then sleep. A pool that is busy (a task that starts a job of its own, or two threads
 *  with one device) runs the second job on the caller's thread alone.
 *  Threads that cannot be started are done without: weft_threads_count tells. */
typedef struct weft_threads weft_threads;
weft_status weft_threads_make(int n, weft_threads **out, weft_error *error);
void weft_threads_free(weft_threads **threads);
int weft_threads_count(const weft_threads *threads);
/** task(user, i) for i in [0, n), each once, on any thread; returns when all are done. A thread
 *  starts with its own contiguous part, the same every time, and then helps the others.
 *  threads may be NULL: in order of i on the caller's thread. */
void weft_threads_run(weft_threads *threads, int64_t n, weft_task task, void *user);
/** Processors this process may use: its affinity mask and the limits of its control groups. */
int weft_threads_available(void);

/* ---- cache ---------------------------------------------------------------------------------- */

#define WEFT_CACHE_FORMAT 1

typedef enum weft_entry_kind {
    WEFT_ENTRY_HOST_MODULE = 1,
    WEFT_ENTRY_COMPILER = 2,
    WEFT_ENTRY_CUDA_MODULE = 3
} weft_entry_kind;

/** What an entry says of itself. A key is two halves of 16 digits: the source with the machine,
 *  and the compiler with its options; so what another compiler made of a source can be found. */
typedef struct weft_entry {
    weft_entry_kind kind;
    char key[33];
    char source_key[33]; /* in full, what the first half of key is cut from */
    char description[256];
    uint64_t payload_bytes;
    char payload_hash[33];
} weft_entry;

/* The file: a header of fixed size (see cache_entry.c), then the payload, then nothing. */
#define WEFT_ENTRY_HEADER 512
void weft_entry_encode(const weft_entry *entry, unsigned char out[WEFT_ENTRY_HEADER]);
/** Check a whole file. key NULL: any. Returns NULL when it is sound, else what is wrong, in words.
 */
const char *weft_entry_check(const unsigned char *bytes, size_t size, const char *key,
                             weft_entry *entry);
/** Is it KEY.weft? Then its key is copied. */
bool weft_entry_name(const char *file_name, char key[33]);
/** Read a whole entry file of an opened cache folder. Returns NULL and sets *bytes (free), else
 *  what is wrong, in words; "missing" is told by *missing. */
const char *weft_entry_read(int folder, const char *file_name, unsigned char **bytes, size_t *size,
                            bool *missing);
/** What weft_entry_read returns when it is our memory that is at fault and not the entry. */
extern const char weft_entry_no_memory[];

typedef struct weft_cache {
    int folder;           /* opened; -1: none, everything is made anew */
    atomic_bool writable; /* until its disk is full */
    const weft_monitor *monitor;
    atomic_bool warned;         /* that entries cannot be kept: said once */
    const char *name, *instead; /* "kernel cache", and what happens where it keeps nothing */
    char path[512];
} weft_cache;

/** Open the folder, making it where the mode allows. Never fails: what stands in the way is logged
 *  once and the cache is then empty and keeps nothing. */
void weft_cache_open(weft_cache *cache, weft_cache_mode mode, const char *directory,
                     const weft_monitor *monitor);
/** The same for who keeps something else there, under a name of its own. */
void weft_cache_open_for(weft_cache *cache, const char *name, const char *instead,
                         weft_cache_mode mode, const char *directory, const weft_monitor *monitor);
void weft_cache_close(weft_cache *cache);
/** Open an existing folder after checking that it is a folder of ours that nobody else may write.
 *  Returns -1 and the reason in words. *missing: it is not there. */
int weft_cache_folder_open(const char *path, bool *missing, char *reason, size_t size);
/** The payload of a sound entry, malloc'd, or NULL: missing, or unsound, which is logged unless
 *  quiet. */
unsigned char *weft_cache_load(weft_cache *cache, const weft_entry *wanted, bool quiet,
                               size_t *size);
/** The same for an entry with this source_key by whichever compiler. */
unsigned char *weft_cache_load_any(weft_cache *cache, const char *source_key, weft_entry *found,
                                   size_t *size);
/** Keep a payload under entry->key. What goes wrong is logged once. */
void weft_cache_store(weft_cache *cache, weft_entry *entry, const void *payload, size_t size);
void weft_cache_warn(weft_cache *cache, const char *format, ...) WEFT_PRINTF(2, 3);

/* One process at a time makes an entry: a lock on one byte of the file "lock", its place given by
 * the key, which ends with the process however that ends. */
typedef struct weft_cache_lock {
    int file; /* -1: none held */
} weft_cache_lock;
/** Wait for the key's turn; gives up quietly where there is no cache or no locking. */
weft_cache_lock weft_cache_lock_take(weft_cache *cache, const char *key);
void weft_cache_lock_give(weft_cache_lock *lock);
bool weft_cache_lock_try(int file, const char *key);
void weft_cache_lock_drop(int file, const char *key);

/* A private folder to compile in: tmp-KEY-RANDOM in the cache folder, where the next process cleans
 * up after one that was killed, or a new one in $TMPDIR or /tmp. */
typedef struct weft_work_folder {
    int parent, folder;
    char name[80];
} weft_work_folder;
/** The first that can be made of the places from *place on, 0 being the cache folder; *place is
 * then its number. *place > 0 says that the places before it were full. Errors WEFT_ERROR_IO: there
 * is none. */
weft_status weft_work_folder_make(weft_cache *cache, const weft_cache_lock *lock, const char *key,
                                  int *place, weft_work_folder *out, weft_error *error);
/** Is there so little room that this may be why a compilation failed? */
bool weft_work_folder_is_full(const weft_work_folder *work);
void weft_work_folder_remove(weft_work_folder *work);
/** Remove what killed processes left in a cache folder. lock: an open lock file, or -1; key: held
 *  by the caller, or NULL. */
void weft_cache_sweep(int folder, int lock, const char *key);
/** "tmp-KEY-RANDOM", fresh. */
void weft_temporary_name(const char *key, char *out, size_t size);

weft_status weft_write_all(int file, const void *bytes, size_t size);

/* ---- the processor -------------------------------------------------------------------------- */

typedef struct weft_processor {
    char name[64];      /* "AMD EPYC" */
    char vectors[16];   /* "avx512f", "simd128"; or the instruction set by the name it was given */
    const char *option; /* that makes a compiler use them: "-march=native", "-march=x86-64-v3" */
    int vector_bytes;   /* 64, 32 or 16 */
    int n_registers;    /* vector registers */
    char identity[33];  /* hash of everything that -march=native looks at, and of the above */
} weft_processor;
/** instructions  "sse2", "avx2", "avx512" (x86-64), "neon" (aarch64); NULL: the best there is
 *  Errors        WEFT_ERROR_USAGE: unknown, or this processor does not have it */
weft_status weft_processor_read(const char *instructions, weft_processor *out, weft_error *error);

/* ---- compiler ------------------------------------------------------------------------------- */

enum { WEFT_COMPILER_WORDS = 16, WEFT_COMPILER_OPTIONS = 20 };

typedef struct weft_compiler {
    char command[1024];                   /* the words of $CC, cut in place */
    char *words[WEFT_COMPILER_WORDS + 1]; /* program and options of the user's, NULL-terminated */
    char program[1024];                   /* the program found, absolute */
    char identity[2600];                  /* path, real path, size, time of change, version line */
    char label[64];                       /* "gcc 12.2.0" */
    const char *options[WEFT_COMPILER_OPTIONS + 1]; /* ours, NULL-terminated */
    weft_process_limits limits;                     /* of each run */
    const weft_monitor *monitor;                    /* borrowed */
} weft_compiler;

/** Find the program and its version line, which is remembered in the cache, and choose the options
 *  for that version and the processor's instruction set.
 *  Errors WEFT_ERROR_COMPILER: missing, it does not answer, or its version is known to be wrong;
 *         WEFT_ERROR_USAGE: the environment sets a limit that is not a number. */
weft_status weft_compiler_find(const char *command, const weft_processor *processor,
                               weft_cache *cache, weft_compiler *out, weft_error *error);
/** The options for a compiler that says `version` of itself (compiler_options.c).
 *  label    "gcc 12.2.0", of size bytes
 *  options  [WEFT_COMPILER_OPTIONS + 1], NULL-terminated; strings that last */
weft_status weft_compiler_options(const char *version, const weft_processor *processor, char *label,
                                  size_t size, const char **options, weft_error *error);
/** Everything that decides what it makes of a source, as the second half of a key. */
void weft_compiler_key(const weft_compiler *compiler, char out[33]);
/** Compile to a shared object in work's folder and read it back; *object is malloc'd. */
weft_status weft_compiler_run(const weft_compiler *compiler, const weft_work_folder *work,
                              const char *name, const char *source, unsigned char **object,
                              size_t *size, weft_error *error);

/* ---- devices -------------------------------------------------------------------------------- */

/* What a device that records does; recording.c has looked whether one is being made. */
typedef struct weft_recording_table {
    bool (*available)(weft_device *device); /* logs once why not */
    weft_status (*begin)(weft_device *device, weft_error *error);
    weft_status (*loop)(weft_device *device, weft_memory *flag, weft_error *error);
    weft_status (*end_loop)(weft_device *device, weft_error *error);
    /* ends it in any case; state is the recording's, untouched where it answers an error */
    weft_status (*end)(weft_device *device, void **state, weft_error *error);
    weft_status (*run)(weft_device *device, void *state, weft_error *error);
    void (*free)(weft_device *device, void *state);
} weft_recording_table;

/* Marks in the stream of work. */
typedef struct weft_timer_table {
    weft_status (*make)(weft_device *device, void **state, weft_error *error);
    void (*free)(weft_device *device, void *state);
    weft_status (*mark)(weft_device *device, void *state, int which, weft_error *error); /* 0, 1 */
    weft_status (*seconds)(weft_device *device, void *state, double *out, weft_error *error);
} weft_timer_table;

/* What a kind of device does. device.c checks arguments and counts; these do the work.
 * NULL members of write, read and zero: the memory holds nothing; of those marked: there is nothing
 * to do or to tell. */
typedef struct weft_device_table {
    weft_status (*memory_make)(weft_memory *memory, weft_error *error);
    weft_status (*memory_wrap)(weft_memory *memory, void *array, weft_error *error);
    void (*memory_free)(weft_memory *memory);
    weft_status (*memory_write)(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                                weft_error *error);
    weft_status (*memory_read)(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                               weft_error *error);
    weft_status (*memory_zero)(weft_memory *memory, weft_error *error);
    weft_status (*memory_copy)(weft_memory *to, const weft_memory *from, size_t bytes,
                               weft_error *error);
    /* what can still be made; NULL: all but what was made */
    size_t (*memory_left)(const weft_device *device);
    /* say that there is no room for so many bytes, and for what there was; may be NULL */
    weft_status (*memory_full)(weft_device *device, size_t bytes, weft_error *error);
    weft_status (*module_make)(weft_module *module, const char *source, weft_error *error);
    void (*module_free)(weft_module *module);
    bool (*module_figures)(const weft_module *module, const char *kernel,
                           weft_kernel_figures *out); /* may be NULL */
    /* make them known where that takes work; NULL: there is none */
    weft_status (*module_measure)(weft_module *module, weft_error *error);
    weft_status (*launch)(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                          weft_error *error);
    int (*resident_blocks)(const weft_device *device, const weft_module *module, const char *kernel,
                           int block_threads, int shared_bytes); /* may be NULL */
    weft_status (*wait)(weft_device *device, weft_error *error); /* may be NULL */
    /* add what times depend on beside the device's name; may be NULL */
    void (*identify)(const weft_device *device, weft_text *out);
    const weft_recording_table *recording; /* NULL: it does not record */
    const weft_timer_table *timer;         /* NULL: the host's clock */
    void (*close)(weft_device *device);
} weft_device_table;

struct weft_device {
    const weft_device_table *table;
    weft_limits limits;
    const weft_monitor *monitor;
    weft_threads *threads; /* NULL: none but the caller's */
    void *state;           /* the kind's own */
    atomic_bool recording; /* from weft_recording_begin to its end */
    atomic_llong launches;
    atomic_size_t bytes, bytes_peak;
};

struct weft_memory {
    weft_device *device;
    size_t bytes;
    void *host;   /* NULL where the host cannot use it */
    bool wrapped; /* the caller's */
    bool unset;   /* its bytes need not be zero */
    void *state;
};

struct weft_module {
    weft_device *device;
    char *name;
    bool cached;
    double seconds;
    void *state;
};

/** Open a kind: argument is what stands behind the colon, or NULL. They set table, limits, threads
 *  and state; device->monitor is set before. */
weft_status weft_device_host_open(weft_device *device, const char *argument,
                                  const weft_device_options *options, weft_error *error);
weft_status weft_device_null_open(weft_device *device, const char *argument, weft_error *error);
weft_status weft_device_cuda_open(weft_device *device, const char *argument,
                                  const weft_device_options *options, weft_error *error);

/** Open NVRTC for a cuda device now; else the first module does it.
 *  Errors WEFT_ERROR_COMPILER: it is not found */
weft_status weft_cuda_compiler_open(weft_device *device, weft_error *error);
/** What NVRTC says of a source's kernels for one architecture (90: sm_90), where there is no GPU.
 */
typedef struct weft_source_figures weft_source_figures;
weft_status weft_source_figures_make(const char *name, const char *source, int architecture,
                                     weft_source_figures **out, weft_error *error);
void weft_source_figures_free(weft_source_figures **figures);
bool weft_source_figures_find(const weft_source_figures *figures, const char *kernel,
                              weft_kernel_figures *out);
/** Refuse what cannot be recorded while a recording is made: "reading an array". */
weft_status weft_recording_refuses(const weft_device *device, const char *what, weft_error *error);

/** A module's name as a file's: letters, digits and "-_." only. */
void weft_source_name(const char *name, char *out, size_t size);
/** Keep a generated source as FOLDER/NAME.SUFFIX (folder NULL: do not); what goes wrong is logged.
 */
void weft_source_keep(const char *folder, const weft_monitor *monitor, const char *name,
                      const char *suffix, const char *source);

/* host modules */
typedef struct weft_host_compile weft_host_compile; /* options, cache and compiler of a device */
weft_status weft_host_compile_make(const weft_device_options *options,
                                   const weft_processor *processor, weft_host_compile **out,
                                   weft_error *error);
void weft_host_compile_free(weft_host_compile **compile);
/** The processor and the compiler's command, for weft_device_identity. */
void weft_host_compile_identify(const weft_host_compile *compile, weft_text *out);
weft_status weft_host_module_make(weft_host_compile *compile, weft_module *module,
                                  const char *source, weft_error *error);
void weft_host_module_free(weft_module *module);
/** NULL: there is none of that name. */
typedef void (*weft_host_kernel)(void *const *arguments, int64_t n_instances, int64_t first_block,
                                 int64_t last_block);
weft_host_kernel weft_host_module_kernel(const weft_module *module, const char *kernel);

/** Is it a whole shared object for this machine: header, segments, sections and dynamic table
 * within its bytes? Else false, and what is wrong in words. */
bool weft_object_check(const unsigned char *bytes, size_t size, char *why, size_t why_size);
/* A shared object loaded from bytes, which are checked first. */
typedef struct weft_shared_object {
    void *handle;
    int file; /* kept open: the loader tells objects apart by the path it was given */
} weft_shared_object;
weft_status weft_shared_object_load(const unsigned char *bytes, size_t size, weft_cache *cache,
                                    weft_shared_object *out, weft_error *error);
void weft_shared_object_free(weft_shared_object *object);

#endif
