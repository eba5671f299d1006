/** Modules of compiled kernels, schedules and launches.
 *  In: a device and its memory, generated source. Out: kernels that run on device memory. */
#ifndef WEFT_LAUNCH_H
#define WEFT_LAUNCH_H

#include "core/weft_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Compiled kernels. */
typedef struct weft_module weft_module;
/** Compile generated source by the system compiler (host) or NVRTC (cuda), or load it from the
 *  cache. null only keeps the source.
 *  name    for messages and kept files; NULL: "module"
 *  out     caller's; weft_module_free
 *  Errors  WEFT_ERROR_COMPILER (message holds the compiler's first lines), WEFT_ERROR_MEMORY,
 *          WEFT_ERROR_DEVICE */
weft_status weft_module_make(weft_device *device, const char *name, const char *source,
                             weft_module **out, weft_error *error);
void weft_module_free(weft_module **module);
/** The module of this name, which is made at the first call and kept until the device is closed.
 *  name    identifies the source, which must be the same in each call
 *  out     borrowed
 *  Errors  those of weft_module_make */
weft_status weft_device_module(weft_device *device, const char *name, const char *source,
                               weft_module **out, weft_error *error);
/** Compile a source for a later weft_module_make into the kernel cache, unless it is there. From any
 *  thread at any time, also while a graph is captured, since nothing is loaded. Without a cache, and on
 *  null, nothing happens.
 *  Errors  those of weft_module_make */
weft_status weft_module_store(weft_device *device, const char *name, const char *source,
                              weft_error *error);
/** The same on another thread, several at once on half of the processors; returns at once. A
 *  weft_module_make of this source waits for it alone, and reports its errors. What has not been
 *  begun when the device is freed is not compiled.
 *  name, source  copied */
void weft_module_store_later(weft_device *device, const char *name, const char *source);
/** Was a module compiled for this device since it was opened, instead of loaded from the cache? */
bool weft_device_has_compiled(const weft_device *device);
/** Was the module loaded from the cache? */
bool weft_module_cached(const weft_module *module);
/** Seconds spent compiling; 0 if it was loaded from the cache. */
double weft_module_seconds(const weft_module *module);

/** Resource usage of a kernel, as reported by its compiler. */
typedef struct weft_kernel_resources {
    int registers;    /* of 4 bytes, per thread */
    int stack_bytes;  /* per thread: arrays indexed at run time, and spilled registers */
    int shared_bytes; /* per block, without weft_launch.shared_bytes */
    int spill_store_bytes, spill_load_bytes; /* per thread; -1: unknown */
} weft_kernel_resources;
/** Resource usage of a kernel. On null with a GPU's limits the first call compiles the source by
 *  NVRTC, which needs no GPU.
 *  Errors  WEFT_ERROR_UNSUPPORTED: host, or null without a GPU's limits;
 *          WEFT_ERROR_COMPILER: NVRTC is missing or rejects the source;
 *          WEFT_ERROR_DEVICE: there is no such kernel */
weft_status weft_module_kernel_resources(weft_module *module, const char *kernel,
                                         weft_kernel_resources *out, weft_error *error);
/** The same without compiling anything. False if the usage is unknown (host, null, not compiled
 *  yet) or there is no such kernel. */
bool weft_module_resources(const weft_module *module, const char *kernel,
                           weft_kernel_resources *out);

/** The order in which blocks run. Colours run one after another; the ranges of one colour store to
 *  disjoint locations and run on any thread. A range holds blocks [first, last), which run in
 *  ascending order, so results do not depend on the number of threads. */
typedef struct weft_schedule {
    int n_colours;
    int64_t *colour_start; /* [n_colours + 1], into ranges */
    int64_t (*ranges)[2];  /* [colour_start[n_colours]] */
} weft_schedule;
void weft_schedule_free(weft_schedule **schedule);

/** One launch. Host kernels have the signature
 *
 *      void NAME(void *const *arguments, int64_t n_elements, int64_t first_block,
 *                int64_t last_block)
 *
 *  and handle blocks [first_block, last_block) of ceil(n_elements / lanes). Cuda kernels have
 *
 *      extern "C" __global__ void NAME(long long n_elements, T0 *argument0, T1 *argument1, ...)
 *
 *  with one thread per element, the last thread block being partly idle. */
typedef struct weft_launch {
    const weft_module *module;
    const char *kernel;            /* its name in the module */
    weft_memory *const *arguments; /* borrowed */
    int n_arguments;
    /* NULL, or a struct, borrowed during the call: cuda passes it by value behind the arguments,
     * the host passes its address as one more argument */
    const void *values;
    int64_t n_elements;
    int lanes;                     /* elements per block */
    const weft_schedule *schedule; /* host; NULL: every block is independent */
    int block_threads;             /* cuda: threads per thread block; 0: 128 */
    int shared_bytes;              /* cuda: dynamic shared memory */
    int cluster_blocks; /* cuda: thread blocks per cluster, as its kernel declares; 0: none */
    /* cuda: the kernel itself waits for those before it (griddepcontrol.wait), so its blocks may
     * start before they have ended */
    bool waits;
    int64_t n_blocks; /* cuda: thread blocks; 0: ceil(n_elements / block_threads) */
    /* cuda: all thread blocks are resident at once, so they may synchronise; a grid above
     * weft_device_resident_blocks is refused */
    bool cooperative;
} weft_launch;
/** Launch a kernel; on cuda asynchronously.
 *  Errors  WEFT_ERROR_USAGE: a wrong argument, a block or a cooperative grid that is too large;
 *          WEFT_ERROR_UNSUPPORTED: a schedule on cuda, a cooperative launch on the host */
weft_status weft_device_launch(weft_device *device, const weft_launch *launch, weft_error *error);
/** Number of thread blocks of a kernel that fit on the device at once: the largest grid of a
 *  cooperative launch.
 *  block_threads  0: 128
 *  Returns        0 on the host, or if there is no such kernel or the block is too large;
 *                 on null an upper bound from the limits, without registers */
int weft_device_resident_blocks(const weft_device *device, const weft_module *module,
                                const char *kernel, int block_threads, int shared_bytes);

#ifdef __cplusplus
}
#endif
#endif
