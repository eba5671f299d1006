/* The cuda device: its state and the members of its weft_device_table. Not installed. */
#pragma once

#include "core/cache/cache.h"
#include "core/cuda/nvrtc.h"
#include "core/device/device.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WEFT_CUDA_STAGES = 16 };

typedef struct weft_cuda_array weft_cuda_array; /* state of a weft_memory */
struct weft_cuda_array {
    weft_cu_pointer address;
    size_t bytes;
    bool borrowed; /* the caller frees it */
    bool alone;    /* not of the pool, whose memory other GPUs do not reach */
    weft_cuda_array *previous, *next;
};

typedef struct weft_cuda_module weft_cuda_module; /* state of a weft_module */
enum { WEFT_CUDA_KERNELS = 8 };
struct weft_cuda_module {
    weft_cu_module handle;
    weft_cubin cubin; /* kept for its resource usage */
    struct {
        char name[96];
        weft_cu_function function;
    } kernels[WEFT_CUDA_KERNELS]; /* cache of the first look-ups, which are slow in the driver */
    atomic_int n_kernels;         /* entries filled; grows under the state's mutex */
    weft_cuda_module *next;
};

enum { WEFT_CUDA_LOOPS = 8 };

/* A finished device graph. */
typedef struct weft_cuda_graph weft_cuda_graph;
struct weft_cuda_graph {
    weft_cu_executable executable;
    weft_cu_graph graph; /* kept for tools that inspect the loop bodies */
    const void **uses;   /* arrays and modules, each once */
    size_t n_uses;
    bool stale; /* one of `uses` was freed */
    weft_cuda_graph *next;
};

/* The graph capture in progress. */
typedef struct weft_cuda_loop {
    weft_cu_graph graph;       /* the body */
    weft_cu_node node;         /* in the enclosing graph */
    unsigned long long handle; /* of its condition */
    weft_cu_pointer flag;
} weft_cuda_loop;

typedef struct weft_cuda_recorder {
    weft_cu_graph graph;
    weft_cuda_loop loops[WEFT_CUDA_LOOPS];
    int n_loops;
    bool capturing, broken; /* broken: a capture has failed */
    weft_error trouble;     /* the first error that invalidates the graph; status OK: none */
    const void **uses;      /* arrays and modules, each once */
    size_t n_uses, capacity;
    weft_cuda_array *arrays;     /* freed during the capture, released at its end; linked by next */
    weft_cuda_module *modules;   /* the same */
    weft_cuda_graph *recordings; /* the same */
} weft_cuda_recorder;

typedef struct weft_cuda_state {
    weft_cuda_driver driver;
    weft_nvrtc nvrtc; /* opened by `opens`, or with the first module */
    pthread_t opens;  /* opens NVRTC while the context starts; not joined while is_opening */
    bool is_opening;
    weft_nvrtc opened; /* by `opens` */
    weft_cu_device device;
    weft_cu_context context;
    weft_cu_stream stream;
    weft_cu_pool pool; /* NULL: cuMemAlloc */
    int architecture, ordinal, driver_version;

    atomic_bool broken; /* a sticky error has occurred: `failure` */
    weft_error failure;
    char last_kernel[96]; /* last launched, for messages */

    pthread_mutex_t mutex;     /* protects failure, last_kernel, arrays, recordings, nvrtc, cache */
    pthread_mutex_t transfers; /* protects the stages; locked before mutex */
    weft_cuda_array arrays;    /* head of the circular list of all arrays */

    weft_cuda_recorder *recorder; /* NULL: no capture in progress */
    weft_cuda_graph *recordings;  /* list of the existing device graphs */
    int records;                  /* graph capture: 0 not tried yet, 1 works, -1 does not */
    weft_module *condition;       /* holds the kernel set_condition, compiled by NVRTC; or */
    weft_cu_module assembled;     /* the same, assembled from PTX */
    weft_cu_function set_condition;

    void *stage[WEFT_CUDA_STAGES];
    weft_cu_event staged[WEFT_CUDA_STAGES]; /* signals that the stage is free */

    bool cache_ready;
    weft_cache cache;
    weft_cache_mode mode;
    char *cache_directory, *keep_directory;
} weft_cuda_state;

/** The number of a cuda device; -1: another kind of device, also one that says it is a GPU. */
int weft_cuda_ordinal(const weft_device *device);
/** Make the device's context current; pairs with leave.
 *  Errors  the sticky error, if the device has failed before */
weft_status weft_cuda_enter(weft_cuda_state *state, weft_error *error);
void weft_cuda_leave(weft_cuda_state *state);
/** Turn the driver's result into a status and an error; remember sticky errors.
 *  what  the operation, for the message */
weft_status weft_cuda_check(weft_cuda_state *state, weft_cu_result code, const char *what,
                            weft_error *error);

/* Members of the device's table. */
weft_status weft_cuda_memory_make(weft_memory *memory, weft_error *error);
weft_status weft_cuda_memory_wrap(weft_memory *memory, void *array, weft_error *error);
weft_status weft_cuda_memory_borrow(weft_memory *memory, void *address, weft_error *error);
void *weft_cuda_memory_address(const weft_memory *memory);
void weft_cuda_memory_free(weft_memory *memory);
weft_status weft_cuda_memory_write(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                                   weft_error *error);
weft_status weft_cuda_memory_read(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                                  weft_error *error);
weft_status weft_cuda_memory_zero(weft_memory *memory, weft_error *error);
weft_status weft_cuda_memory_copy(weft_memory *to, size_t to_offset, const weft_memory *from,
                                  size_t from_offset, size_t n, weft_error *error);
size_t weft_cuda_memory_left(const weft_device *device);
weft_status weft_cuda_memory_full(weft_device *device, size_t bytes, weft_error *error);
/** Copy between host and GPU through pinned buffers, by all threads of the device. A read waits for what was
 *  launched before; a write is ordered with launches.
 *  Errors  WEFT_ERROR_DEVICE */
weft_status weft_cuda_write(weft_device *device, weft_cu_pointer to, const void *from, size_t n,
                            weft_error *error);
weft_status weft_cuda_read(weft_device *device, void *to, weft_cu_pointer from, size_t n,
                           weft_error *error);
void weft_cuda_stages_free(weft_cuda_state *state);

weft_status weft_cuda_module_make(weft_module *module, const char *source, weft_error *error);
weft_status weft_cuda_module_store(weft_device *device, const char *name, const char *source,
                                   weft_error *error);
/** Open NVRTC on another thread, for weft_cuda_compiler_open; and end that, and close NVRTC. */
void weft_cuda_compiler_start(weft_cuda_state *state);
void weft_cuda_compiler_close(weft_cuda_state *state);
bool weft_cuda_module_stored(weft_device *device, const char *source);
void weft_cuda_module_free(weft_module *module);
bool weft_cuda_module_resources(const weft_module *module, const char *kernel,
                                weft_kernel_resources *out);
/** Look up a kernel. The context must be current.
 *  Errors  WEFT_ERROR_DEVICE: there is no such kernel */
weft_status weft_cuda_module_kernel(const weft_module *module, const char *kernel,
                                    weft_cu_function *out, weft_error *error);

weft_status weft_cuda_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                             weft_error *error);
int weft_cuda_resident_blocks(const weft_device *device, const weft_module *module,
                              const char *kernel, int block_threads, int shared_bytes);

extern const weft_timer_table weft_cuda_timer;
extern const weft_peer_table weft_cuda_peer;
extern const weft_device_graph_table weft_cuda_device_graph_table;
/** Load the kernel set_condition(handle, const uint32_t *flag), which sets a loop's condition to
 *  the value of the flag: compiled by NVRTC or, failing that, from PTX by the driver's compiler.
 *  Errors  WEFT_ERROR_DEVICE: neither works */
weft_status weft_cuda_condition_load(weft_device *device, weft_error *error);
void weft_cuda_condition_free(weft_cuda_state *state);
/** If a capture is in progress, register the memories and the module of a launch as used by it. */
weft_status weft_cuda_record_uses(weft_cuda_state *state, const weft_launch *launch,
                                  weft_error *error);
weft_status weft_cuda_record_use(weft_cuda_state *state, const void *used, weft_error *error);
/** Mark the device graphs that use a freed array or module (the other is NULL) as stale. Returns
 *  true if a capture is in progress, which takes ownership until its end. */
bool weft_cuda_record_freed(weft_cuda_state *state, weft_cuda_array *array,
                            weft_cuda_module *module);
weft_status weft_cuda_device_graph_run(weft_device *device, void *graph, weft_error *error);
void weft_cuda_device_graph_free(weft_device *device, void *graph);
void weft_cuda_device_graph_end(weft_cuda_state *state, weft_cuda_graph *graph);
/** Discard the capture in progress, if any. The context must be current. */
void weft_cuda_recorder_close(weft_cuda_state *state);
void weft_cuda_array_end(weft_cuda_state *state, weft_cuda_array *array);
void weft_cuda_module_end(weft_cuda_state *state, weft_cuda_module *module);
