/** Devices: what they can do, memory on them, modules of compiled kernels, launches. */
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
typedef struct weft_kernel_resources {
    int registers;    /* of 4 bytes, a thread */
    int stack_bytes;  /* a thread: arrays that are indexed at run time, and spilled registers */
    int shared_bytes; /* a block, beside what the launch adds */
    int spill_store_bytes, spill_load_bytes; /* -1: not known */
} weft_kernel_resources;
/** On null with a GPU's limits the source is compiled by NVRTC when they are first asked for, GPU
 * or not. Errors  WEFT_ERROR_UNSUPPORTED: host, null; WEFT_ERROR_COMPILER: NVRTC is missing or
 * refuses; WEFT_ERROR_DEVICE: there is no such kernel */
weft_status weft_module_kernel_resources(weft_module *module, const char *kernel,
                                         weft_kernel_resources *out, weft_error *error);
/** False where they are not known: host, null, or there is no such kernel. Compiles nothing. */
bool weft_module_resources(const weft_module *module, const char *kernel,
                           weft_kernel_resources *out);

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
 *      void NAME(void *const *arguments, int64_t n_elements, int64_t first_block,
 *                int64_t last_block)
 *  and handle blocks [first_block, last_block) of ceil(n_elements / lanes). Cuda kernels have
 *      extern "C" __global__ void NAME(long long n_elements, T0 *argument0, T1 *argument1, ...)
 *  with one thread per element and the last thread block partly idle; a schedule is refused
 *  there. */
typedef struct weft_launch {
    const weft_module *module;
    const char *kernel;            /* its name in the module */
    weft_memory *const *arguments; /* borrowed */
    int n_arguments;
    int64_t n_elements;
    int lanes;                     /* elements per block */
    const weft_schedule *schedule; /* NULL: every block is independent */
    int block_threads;             /* cuda: threads a thread block; 0: 128 */
    int shared_bytes;              /* cuda: shared memory beside what the kernel declares */
    int64_t n_blocks;              /* cuda: thread blocks; 0: ceil(n_elements / block_threads) */
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

/** Launches so far, on any device; what is captured does not count, a device graph's run counts as
 *  one. */
int64_t weft_device_launches(const weft_device *device);
/** Bytes of the weft_memory there is now, made or wrapped, and at most so far. */
size_t weft_device_bytes(const weft_device *device);
size_t weft_device_bytes_peak(const weft_device *device);
/** Bytes that can still be made: on cuda what the GPU has free, other processes counted. */
size_t weft_device_bytes_free(const weft_device *device);

#ifdef __cplusplus
}
#endif
#endif
