/** The interface that each kind of device implements, and the device objects.
 *  In: calls of weft_device.h and weft_launch.h, checked and counted by core/device. Out: calls of
 *  the device's table. */
#pragma once

#include "core/base/threads.h"
#include "core/device/kept_text.h"

#include <stdatomic.h>

/** The target of GPUs with warps of 32 threads. */
#define WEFT_TARGET_WARPS_OF_32                                                                    \
    {                                                                                              \
        .warp_threads = 32, .block_threads = 128, .block_threads_most = 1024,                      \
        .resident_threads = 2048, .resident_blocks = 32, .reserved_bytes = 1024,                   \
        .reduction_tile = 512, .joined_direct = 40960, .joined_exact = 4096, .joined_before = 2048 \
    }

/* Graph capture of a device. core/device/graph.c has checked whether a capture is in progress. */
typedef struct weft_device_graph_table {
    bool (*available)(weft_device *device); /* if not, logs the reason once */
    weft_status (*begin)(weft_device *device, weft_error *error);
    weft_status (*loop)(weft_device *device, weft_memory *flag, weft_error *error);
    weft_status (*end_loop)(weft_device *device, weft_error *error);
    /* ends the capture, also on errors; sets the device graph's state unless it returns an error */
    weft_status (*end)(weft_device *device, void **state, weft_error *error);
    weft_status (*run)(weft_device *device, void *state, weft_error *error);
    void (*free)(weft_device *device, void *state);
} weft_device_graph_table;

/* Timers: marks in the device's stream of work. */
typedef struct weft_timer_table {
    weft_status (*make)(weft_device *device, void **state, weft_error *error);
    void (*free)(weft_device *device, void *state);
    weft_status (*mark)(weft_device *device, void *state, int which, weft_error *error); /* 0, 1 */
    weft_status (*seconds)(weft_device *device, void *state, double *out, weft_error *error);
} weft_timer_table;

/* What another rank needs to reach a memory, for its kind of device alone to read. */
typedef struct weft_reach {
    uint64_t words[40];
} weft_reach;
/* Memory of one device that kernels of another one access. */
typedef struct weft_peer_table {
    weft_status (*describe)(const weft_memory *memory, weft_reach *out, weft_error *error);
    /* out     the address for kernels of the device
     * opened  whether it must be left
     * Errors  WEFT_ERROR_UNSUPPORTED, with the reason as message; *out untouched */
    weft_status (*reach)(weft_device *device, const weft_reach *there, void **out, bool *opened,
                         weft_error *error);
    void (*leave)(weft_device *device, void *address);
} weft_peer_table;

/* Operations of a kind of device; core/device checks arguments and keeps counts. memory_write,
 * memory_read, memory_zero and memory_copy are NULL if memory holds no data; other members may be
 * NULL only where noted. */
typedef struct weft_device_table {
    weft_status (*memory_make)(weft_memory *memory, weft_error *error);
    weft_status (*memory_wrap)(weft_memory *memory, void *array, weft_error *error);
    weft_status (*memory_borrow)(weft_memory *memory, void *address, weft_error *error);
    void (*memory_free)(weft_memory *memory);
    void *(*memory_address)(const weft_memory *memory); /* NULL: the host address */
    weft_status (*memory_write)(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                                weft_error *error);
    weft_status (*memory_read)(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                               weft_error *error);
    weft_status (*memory_zero)(weft_memory *memory, weft_error *error);
    weft_status (*memory_copy)(weft_memory *to, size_t to_offset, const weft_memory *from,
                               size_t from_offset, size_t n, weft_error *error);
    /* bytes that can still be allocated; NULL: memory_bytes minus the allocated bytes */
    size_t (*memory_left)(const weft_device *device);
    /* report a failed allocation: bytes requested and bytes in use; may be NULL */
    weft_status (*memory_full)(weft_device *device, size_t bytes, weft_error *error);
    weft_status (*module_make)(weft_module *module, const char *source, weft_error *error);
    weft_status (*module_store)(weft_device *device, const char *name, const char *source,
                                weft_error *error); /* NULL: it does nothing */
    /* is there an entry of the cache, which may be invalid? NULL: module_store is */
    bool (*module_stored)(weft_device *device, const char *source);
    void (*module_free)(weft_module *module);
    bool (*module_resources)(const weft_module *module, const char *kernel,
                             weft_kernel_resources *out); /* may be NULL */
    /* prepare module_resources, by compiling if necessary; may be NULL */
    weft_status (*module_measure)(weft_module *module, weft_error *error);
    weft_status (*launch)(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                          weft_error *error);
    int (*resident_blocks)(const weft_device *device, const weft_module *module, const char *kernel,
                           int block_threads, int shared_bytes); /* may be NULL */
    weft_status (*wait)(weft_device *device, weft_error *error); /* may be NULL */
    weft_status (*lend)(weft_device *device, weft_foreign_work work, void *user,
                        weft_error *error); /* NULL: there is no context or stream */
    /* add what execution times depend on, other than the device's name; may be NULL */
    void (*identify)(const weft_device *device, weft_text *out);
    const weft_device_graph_table *graph; /* NULL: no graph capture */
    const weft_timer_table *timer;        /* NULL: the host's clock */
    const weft_peer_table *peer;          /* NULL: other devices do not reach its memory */
    void (*close)(weft_device *device);
} weft_device_table;

typedef struct weft_store_queue weft_store_queue; /* core/device/store_later.c */

struct weft_device {
    const weft_device_table *table;
    weft_limits limits;
    const weft_monitor *monitor;
    weft_threads *threads; /* NULL: the calling thread alone */
    void *state;           /* of the kind of device */
    weft_text_cache *texts;
    atomic_bool graph; /* a graph capture is in progress */
    atomic_llong launches;
    atomic_size_t bytes, bytes_peak;
    _Atomic(struct weft_kept_module *) kept; /* weft_device_module */
    atomic_bool has_compiled;                /* a module, instead of loading it from the cache */
    _Atomic(weft_store_queue *) store_queue; /* weft_module_store_later; NULL: nothing was given */
};

struct weft_memory {
    weft_device *device;
    size_t bytes;
    void *host;          /* host address; NULL if the host cannot access it */
    bool wrapped;        /* made from the caller's array */
    bool borrowed;       /* the caller's array itself, which is not counted */
    bool unset;          /* need not be zeroed */
    bool reachable;      /* by other devices */
    const void *evicted; /* without storage, and not counted: what it holds, the caller's */
    void *state;
};

struct weft_module {
    weft_device *device;
    char *name;
    bool cached;
    double seconds;
    void *state;
};

/** weft_memory_make of memory that other devices can be let reach. */
weft_status weft_memory_make_reachable(weft_device *device, size_t bytes, weft_memory **out,
                                       weft_error *error);
/** Allocate the storage of an evicted memory again. Nothing happens to a memory that was not evicted.
 *  Errors  as weft_memory_make and weft_memory_write; the memory stays evicted */
weft_status weft_memory_restore(const weft_memory *memory, weft_error *error);
/** Wait for background compiles that have started, and drop the others. */
void weft_store_queue_end(weft_device *device);
/** Refuse an operation that cannot be captured.
 *  what    for the message: "reading an array"
 *  Errors  WEFT_ERROR_USAGE: a graph capture is in progress */
weft_status weft_device_graph_refuses(const weft_device *device, const char *what,
                                      weft_error *error);
/** The limits of the host with another number of threads; of other devices the same. */
weft_limits weft_limits_with_threads(const weft_limits *limits, int threads);
