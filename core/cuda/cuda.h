/* The device cuda: its state, and the members of its table. Not installed. */
#pragma once

#include "core/cache/cache.h"
#include "core/cuda/nvrtc.h"
#include "core/device/device.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WEFT_CUDA_STAGES = 2 };

typedef struct weft_cuda_array weft_cuda_array; /* state of a weft_memory */
struct weft_cuda_array {
    weft_cu_pointer address;
    size_t bytes;
    weft_cuda_array *previous, *next;
};

/* What is freed while a device graph is made waits for its end. */
typedef struct weft_cuda_module weft_cuda_module; /* state of a weft_module */
enum { WEFT_CUDA_KERNELS = 8 };
struct weft_cuda_module {
    weft_cu_module handle;
    weft_cubin cubin; /* kept for its figures */
    struct {
        char name[96];
        weft_cu_function function;
    } kernels[WEFT_CUDA_KERNELS]; /* the first that were asked for, since the driver is slow to tell
                                   */
    atomic_int n_kernels;         /* that are filled; grows under the state's mutex */
    weft_cuda_module *next;
};

enum { WEFT_CUDA_LOOPS = 8 };

/* A device graph that was made. */
typedef struct weft_cuda_graph weft_cuda_graph;
struct weft_cuda_graph {
    weft_cu_executable executable;
    weft_cu_graph graph; /* kept: tools that watch the bodies of its loops look at it */
    const void **uses;
    size_t n_uses;
    bool stale; /* something that it uses was freed */
    weft_cuda_graph *next;
};

/* The device graph that is being made. */
typedef struct weft_cuda_loop {
    weft_cu_graph graph;       /* the body */
    weft_cu_node node;         /* in the graph round it */
    unsigned long long handle; /* of its condition */
    weft_cu_pointer flag;
} weft_cuda_loop;

typedef struct weft_cuda_recorder {
    weft_cu_graph graph;
    weft_cuda_loop loops[WEFT_CUDA_LOOPS];
    int n_loops;
    bool capturing, broken; /* broken: a capture has failed */
    weft_error trouble;     /* the first that spoils the device graph; status OK: none */
    const void **uses;  /* arrays and modules, each once */
    size_t n_uses, room;
    weft_cuda_array *arrays;         /* freed meanwhile, by next */
    weft_cuda_module *modules;       /* the same */
    weft_cuda_graph *recordings;     /* the same */
} weft_cuda_recorder;

typedef struct weft_cuda_state {
    weft_cuda_driver driver;
    weft_nvrtc nvrtc; /* opened with the first module */
    weft_cu_device device;
    weft_cu_context context;
    weft_cu_stream stream;
    weft_cu_pool pool; /* NULL: plain allocations */
    int architecture, ordinal, driver_version;

    atomic_bool broken; /* a sticky error: `failure` says which */
    weft_error failure;
    char last_kernel[96]; /* launched; for messages */

    pthread_mutex_t mutex;     /* of failure, last_kernel, arrays and of what modules open */
    pthread_mutex_t transfers; /* of the stages; taken before mutex */
    weft_cuda_array arrays;    /* head of a ring of all there are */

    weft_cuda_recorder *recorder;    /* NULL: none is made */
    weft_cuda_graph *recordings;     /* that there are; of mutex */
    int records;                     /* 0: not tried yet, 1: it does, -1: it does not */
    weft_module *condition;          /* with the kernel that sets a loop's condition, or */
    weft_cu_module assembled;        /* the same from PTX */
    weft_cu_function set_condition;

    void *stage[WEFT_CUDA_STAGES];
    weft_cu_event staged[WEFT_CUDA_STAGES]; /* the stage is free again */

    bool cache_ready;
    weft_cache cache;
    weft_cache_mode mode;
    char *cache_directory, *keep_directory;
} weft_cuda_state;

/** Make the device's context current; refused once the device has failed. Pairs with leave. */
weft_status weft_cuda_enter(weft_cuda_state *state, weft_error *error);
void weft_cuda_leave(weft_cuda_state *state);
/** OK for 0; else what failed, remembered where it is sticky. */
weft_status weft_cuda_check(weft_cuda_state *state, weft_cu_result code, const char *what,
                            weft_error *error);

/* Members of the device's table. */
weft_status weft_cuda_memory_make(weft_memory *memory, weft_error *error);
weft_status weft_cuda_memory_wrap(weft_memory *memory, void *array, weft_error *error);
void weft_cuda_memory_free(weft_memory *memory);
weft_status weft_cuda_memory_write(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                                   weft_error *error);
weft_status weft_cuda_memory_read(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                                  weft_error *error);
weft_status weft_cuda_memory_zero(weft_memory *memory, weft_error *error);
weft_status weft_cuda_memory_copy(weft_memory *to, const weft_memory *from, size_t bytes,
                                  weft_error *error);
size_t weft_cuda_memory_left(const weft_device *device);
weft_status weft_cuda_memory_full(weft_device *device, size_t bytes, weft_error *error);
void weft_cuda_stages_free(weft_cuda_state *state);

weft_status weft_cuda_module_make(weft_module *module, const char *source, weft_error *error);
void weft_cuda_module_free(weft_module *module);
bool weft_cuda_module_resources(const weft_module *module, const char *kernel,
                                weft_kernel_resources *out);
/** Errors WEFT_ERROR_DEVICE: there is no such kernel. The context must be current. */
weft_status weft_cuda_module_kernel(const weft_module *module, const char *kernel,
                                    weft_cu_function *out, weft_error *error);

weft_status weft_cuda_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                             weft_error *error);
int weft_cuda_resident_blocks(const weft_device *device, const weft_module *module,
                              const char *kernel, int block_threads, int shared_bytes);

extern const weft_timer_table weft_cuda_timer;
extern const weft_device_graph_table weft_cuda_device_graph_table;
/** Load the kernel set_condition(handle, const uint32_t *flag), which sets a loop's condition to
 *  what the flag holds: compiled by NVRTC, else written in PTX for the driver's own compiler.
 *  Errors WEFT_ERROR_DEVICE: the driver takes neither */
weft_status weft_cuda_condition_load(weft_device *device, weft_error *error);
void weft_cuda_condition_free(weft_cuda_state *state);
/** Note what a captured launch uses: its memories and its module. */
weft_status weft_cuda_record_uses(weft_cuda_state *state, const weft_launch *launch,
                                  weft_error *error);
weft_status weft_cuda_record_use(weft_cuda_state *state, const void *used, weft_error *error);
/** Something is freed: device graphs that use it are not run any more. While one is made, `array`
 *  or `module` (the other is NULL) is taken over until its end: then true. */
bool weft_cuda_record_freed(weft_cuda_state *state, weft_cuda_array *array,
                            weft_cuda_module *module);
weft_status weft_cuda_device_graph_run(weft_device *device, void *graph, weft_error *error);
void weft_cuda_device_graph_free(weft_device *device, void *graph);
void weft_cuda_device_graph_end(weft_cuda_state *state, weft_cuda_graph *graph);
/** Drop the device graph that is being made, if there is one; the context must be current. */
void weft_cuda_recorder_close(weft_cuda_state *state);
void weft_cuda_array_end(weft_cuda_state *state, weft_cuda_array *array);
void weft_cuda_module_end(weft_cuda_state *state, weft_cuda_module *module);
