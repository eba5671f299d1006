/** Devices: limits, memory, independent tasks.
 *  In: a device's name, arrays. Out: device memory, on which kernels run (weft_launch.h). */
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#include "core/weft_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_device_kind {
    WEFT_DEVICE_HOST,
    WEFT_DEVICE_NULL,
    WEFT_DEVICE_CUDA
} weft_device_kind;

/** How the elements of a kernel run. */
typedef enum weft_execution {
    WEFT_EXECUTION_SIMD, /* each is a lane of a vector; a thread loops over blocks of lanes */
    WEFT_EXECUTION_SIMT  /* each is a thread */
} weft_execution;

/** How a SIMT device divides a launch: fusion/base/target.h explains each number. */
typedef struct weft_target {
    int warp_threads, block_threads, block_threads_most; /* of a block: usually, at most */
    int resident_threads, resident_blocks;               /* of a multiprocessor, at most */
    int reserved_bytes, reduction_tile;             /* of shared memory, per block; of elements */
    int joined_direct, joined_exact, joined_before; /* partial results */
} weft_target;
/** Properties of a device that plans and generated code depend on. Sizes in bytes. */
typedef struct weft_limits {
    weft_device_kind kind; /* for messages; decide by the members below instead */
    weft_execution execution;
    bool records_only; /* launches compute nothing, memories hold no data */
    /* of generated kernels: the name of a file in kernels/prelude/, "host" or "cuda"; NULL: the
     * first with this execution model */
    const char *language;
    char name[128]; /* "host: AMD EPYC, avx512f, 2 threads" */
    /* cells per block of interleaved data for real = double: 8, 4 or 2 on the host, 32 on cuda */
    int lanes_double;
    int lanes_float;       /* the same for real = float */
    int threads;           /* worker threads (host), 1 on null */
    int multiprocessors;   /* on the host, the number of threads */
    size_t register_bytes; /* vector registers per core, or registers per multiprocessor */
    /* thread blocks that may share their shared memory, with bulk copies into it; 0: none */
    int cluster_blocks;
    /* largest k of instructions for double-precision matrix products: 16, 4; 0: there are none */
    int matrix_depth;
    size_t onchip_bytes;   /* L1 data cache per core, or the maximum shared memory per block */
    size_t l2_bytes;       /* the last cache before memory: the host's last level, a GPU's L2 */
    size_t memory_bytes;   /* total device memory */
    double bandwidth;      /* bytes per second, nominal; for analytic costs */
    double flops;          /* double-precision operations per second, nominal */
    double launch_seconds; /* per launch, nominal */
    weft_target target;    /* of SIMT devices */
} weft_limits;

typedef enum weft_cache_mode { WEFT_CACHE_ON, WEFT_CACHE_READ, WEFT_CACHE_OFF } weft_cache_mode;

typedef struct weft_device_options {
    size_t size;                 /* sizeof(weft_device_options) */
    const weft_monitor *monitor; /* borrowed; may be NULL */
    weft_cache_mode cache;
    const char *cache_directory; /* NULL: $XDG_CACHE_HOME/weft, else ~/.cache/weft */
    const char *keep_directory;  /* NULL: do not keep generated sources */
    const char *compiler;        /* NULL: $CC, else cc */
    /* host instruction set if the device's name gives none: "avx2"; NULL: $WEFT_INSTRUCTIONS, else
     * the processor's best */
    const char *instructions;
} weft_device_options;
/** Set the members that the environment variables WEFT_CACHE, WEFT_KEEP, CC and WEFT_INSTRUCTIONS
 *  choose; a warning for a value that does not exist goes to options->monitor. */
void weft_device_options_from_environment(weft_device_options *options);
/** The defaults, as modified by the environment. */
static inline weft_device_options weft_device_options_default(const weft_monitor *monitor) {
    weft_device_options options;
    weft_options_clear(&options, sizeof options);
    options.monitor = monitor;
    weft_device_options_from_environment(&options);
    return options;
}

/** A device. It must outlive the memories and modules made on it. Several threads may make memories
 *  and modules and launch kernels at once; only one launch at a time uses the worker threads. */
typedef struct weft_device weft_device;
/** Open a device by name:
 *
 *      auto, NULL          $WEFT_DEVICE if set; else cuda if driver, GPU and NVRTC work; else host.
 *                          The choice and its reason are logged. (The programs take the host without
 *                          looking for a GPU where they predict little work: apps/common/choose_device.c.)
 *      host                the CPU, with all available threads and its best instruction set
 *      host:THREADS, host:SET, host:THREADS:SET
 *                          SET: sse2, avx2, avx512 or neon
 *      cuda, cuda:NUMBER   a GPU, numbered from 0; "gpu" is an alias of "cuda"
 *      cuda:NUMBER:traced  without graph capture: the host launches every kernel, for profilers
 *      null                checks and counts launches, computes nothing
 *      null:h200           the same with the limits of an H200
 *
 *  options  NULL: weft_device_options_default(NULL); its monitor is borrowed
 *  out      caller's; weft_device_free
 *  Errors   WEFT_ERROR_USAGE (lists the valid names), WEFT_ERROR_DEVICE, WEFT_ERROR_MEMORY */
weft_status weft_device_open(const char *name, const weft_device_options *options,
                             weft_device **out, weft_error *error);
/** Whether weft_device_open chooses the device by itself: the name is NULL or "auto", and $WEFT_DEVICE
 *  names none. A caller that knows its work may then take another one, such as the host for little work. */
bool weft_device_is_automatic(const char *name);
void weft_device_free(weft_device **device);
const weft_limits *weft_device_limits(const weft_device *device);
/** The monitor that the device was opened with; may be NULL. */
const weft_monitor *weft_device_monitor(const weft_device *device);

/** Device memory: `bytes` usable bytes, followed by WEFT_PADDING spare bytes. */
typedef struct weft_memory weft_memory;
/** Allocate zeroed device memory.
 *  out     caller's; weft_memory_free
 *  Errors  WEFT_ERROR_MEMORY, WEFT_ERROR_DEVICE; WEFT_ERROR_USAGE: during a graph capture */
weft_status weft_memory_make(weft_device *device, size_t bytes, weft_memory **out,
                             weft_error *error);
/** The same without the guarantee that `bytes` are zero, for memory written before it is read. */
weft_status weft_memory_make_unset(weft_device *device, size_t bytes, weft_memory **out,
                                   weft_error *error);
/** Make device memory from an array of the caller.
 *  array   from weft_array_make, so that it is padded; remains the caller's, who keeps it alive.
 *          The host uses it in place. cuda copies it and never updates it: use weft_memory_read.
 *  Errors  as weft_memory_make */
weft_status weft_memory_wrap(weft_device *device, void *array, size_t bytes, weft_memory **out,
                             weft_error *error);
/** Make a memory of an array that is already on the device, such as another library's: used in place,
 *  neither copied nor freed nor counted by weft_device_bytes.
 *  address  host: in the process's memory; cuda: in the primary context of the same GPU, and ready
 *           (no work of other streams is still writing it). Aligned to its numbers; for an
 *           interleaved list on the host to 64 bytes. Needs no padding
 *  Errors   WEFT_ERROR_USAGE (NULL), WEFT_ERROR_MEMORY */
weft_status weft_memory_borrow(weft_device *device, void *address, size_t bytes, weft_memory **out,
                               weft_error *error);
void weft_memory_free(weft_memory **memory);
/** Give the storage of a memory back to the device until it is used, by a launch or a call of this header:
 *  then it is allocated again, which may fail as weft_memory_make may, and also during a graph capture.
 *  Nothing happens to arrays of the caller's that are used in place, and during a graph capture.
 *  bytes   what the memory holds, as many as it has; borrowed until it is used or freed */
void weft_memory_evict(weft_memory *memory, const void *bytes);
size_t weft_memory_bytes(const weft_memory *memory);
/** Copy n bytes from the host to `offset` of the memory, or back.
 *  Errors  WEFT_ERROR_USAGE: outside of the memory, or during a graph capture; WEFT_ERROR_DEVICE */
weft_status weft_memory_write(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                              weft_error *error);
weft_status weft_memory_read(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                             weft_error *error);
weft_status weft_memory_zero(weft_memory *memory, weft_error *error);
/** Copy the first `bytes` of one memory to the start of another of the same device, ordered with
 *  the launches. Does nothing if to == from.
 *  Errors  WEFT_ERROR_USAGE: different devices, or one of the memories is too small */
weft_status weft_memory_copy(weft_memory *to, const weft_memory *from, size_t bytes,
                             weft_error *error);
/** The same from an offset in one to an offset in the other. In one memory the two parts must not
 *  overlap.
 *  Errors  WEFT_ERROR_USAGE: different devices, or a part lies outside of its memory */
weft_status weft_memory_copy_part(weft_memory *to, size_t to_offset, const weft_memory *from,
                                  size_t from_offset, size_t n, weft_error *error);
/** The host address of the memory; NULL if the device has separate memory (cuda) or stores no data
 *  (null). */
void *weft_memory_host(const weft_memory *memory);
/** The address by which kernels of the device access the memory: weft_memory_host on the host, a
 *  device pointer on cuda; NULL on null, and where evicted memory cannot be allocated again. */
void *weft_memory_address(const weft_memory *memory);

/** Wait for all launches and writes of the device and report their errors. Needed on cuda, where
 *  launches are asynchronous; weft_memory_read waits by itself. */
weft_status weft_device_wait(weft_device *device, weft_error *error);

/** Let another library work on the device: call work(user, stream) with the device's context current. What it starts on the
 *  stream is ordered with the launches.
 *  stream  cuda: the CUstream of the launches; NULL elsewhere
 *  Errors  WEFT_ERROR_USAGE: during a graph capture; WEFT_ERROR_DEVICE: the device has failed */
typedef void (*weft_foreign_work)(void *user, void *stream);
weft_status weft_device_lend(weft_device *device, weft_foreign_work work, void *user,
                             weft_error *error);

/** Run independent tasks task(user, i), i in [0, n), on the host's worker threads.
 *  device  NULL, or without threads: in order of i on the calling thread
 *  Errors  WEFT_ERROR_USAGE: n < 0, no task */
typedef void (*weft_task)(void *user, int64_t i);
weft_status weft_device_for(weft_device *device, int64_t n, weft_task task, void *user,
                            weft_error *error);

/** Number of launches so far. Captured launches do not count; a run of a device graph counts as
 *  one. */
int64_t weft_device_launches(const weft_device *device);
/** Total bytes of the existing weft_memory, made or wrapped. */
size_t weft_device_bytes(const weft_device *device);
/** The maximum of weft_device_bytes so far. */
size_t weft_device_bytes_peak(const weft_device *device);
/** Bytes that can still be allocated; on cuda the GPU's free memory, as left by all processes. */
size_t weft_device_bytes_free(const weft_device *device);

#ifdef __cplusplus
}
#endif
#endif
