/* The few types and functions of the CUDA driver and of NVRTC that Weft uses, declared here and
 * found at run time: no CUDA header is needed to build, and the same program starts everywhere.
 * The numbers are those of the driver's ABI, which never change. Not installed. */
#pragma once

#include "core/cache/cache.h"
#include "core/device/device.h"

#include <pthread.h>
#include <stdatomic.h>

typedef int weft_cu_result; /* 0: success */
typedef int weft_cu_device;
typedef unsigned long long weft_cu_pointer;
typedef struct CUctx_st *weft_cu_context;
typedef struct CUstream_st *weft_cu_stream;
typedef struct CUevent_st *weft_cu_event;
typedef struct CUmod_st *weft_cu_module;
typedef struct CUfunc_st *weft_cu_function;
typedef struct CUmemPoolHandle_st *weft_cu_pool;
typedef struct CUgraph_st *weft_cu_graph;
typedef struct CUgraphNode_st *weft_cu_node;
typedef struct CUgraphExec_st *weft_cu_executable;
typedef struct CUgraphEdgeData_st weft_cu_edge; /* never filled: edges are plain */

typedef struct weft_cu_pool_properties {
    int allocation_type, handle_types, location_type, location_id;
    void *security;
    size_t most;
    unsigned char reserved[56];
} weft_cu_pool_properties;
_Static_assert(sizeof(weft_cu_pool_properties) == 88, "CUmemPoolProps");

typedef struct weft_cu_attribute { /* CUlaunchAttribute */
    int id, padding;
    union {
        int cooperative;
        unsigned char bytes[64];
    } value;
} weft_cu_attribute;
_Static_assert(sizeof(weft_cu_attribute) == 72, "CUlaunchAttribute");

typedef struct weft_cu_configuration { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared_bytes;
    weft_cu_stream stream;
    weft_cu_attribute *attributes;
    unsigned n_attributes;
} weft_cu_configuration;
_Static_assert(sizeof(weft_cu_configuration) == 56, "CUlaunchConfig");

typedef struct weft_cu_node_parameters { /* CUgraphNodeParams of a conditional node */
    int type, zeros[3];
    unsigned long long handle;
    int condition;
    unsigned size;
    weft_cu_graph *bodies; /* filled by the driver */
    weft_cu_context context;
    long long more_zeros[26];
} weft_cu_node_parameters;
_Static_assert(sizeof(weft_cu_node_parameters) == 256, "CUgraphNodeParams");

enum { WEFT_CU_OUT_OF_MEMORY = 2 };

/* What cuDeviceGetAttribute is asked for. */
enum {
    WEFT_CU_CLOCK_KHZ = 13,
    WEFT_CU_MULTIPROCESSORS = 16,
    WEFT_CU_MEMORY_CLOCK_KHZ = 36,
    WEFT_CU_BUS_BITS = 37,
    WEFT_CU_L2_BYTES = 38,
    WEFT_CU_MAJOR = 75,
    WEFT_CU_MINOR = 76,
    WEFT_CU_REGISTERS = 82, /* of 4 bytes, a multiprocessor */
    WEFT_CU_SINGLE_TO_DOUBLE = 87,
    WEFT_CU_SHARED_OPTIN = 97,
    WEFT_CU_POOLS = 115
};

/* clang-format off */
/* Every function of the driver, as X(name, parameters). */
#define WEFT_CU_FUNCTIONS(X)                                                                        \
    X(cuInit, (unsigned flags))                                                                     \
    X(cuDriverGetVersion, (int *version))                                                           \
    X(cuDeviceGetCount, (int *count))                                                               \
    X(cuDeviceGet, (weft_cu_device *device, int ordinal))                                           \
    X(cuDeviceGetName, (char *name, int size, weft_cu_device device))                               \
    X(cuDeviceGetAttribute, (int *value, int attribute, weft_cu_device device))                     \
    X(cuDeviceTotalMem, (size_t *bytes, weft_cu_device device))                                     \
    X(cuDevicePrimaryCtxRetain, (weft_cu_context *context, weft_cu_device device))                  \
    X(cuDevicePrimaryCtxRelease, (weft_cu_device device))                                           \
    X(cuCtxPushCurrent, (weft_cu_context context))                                                  \
    X(cuCtxPopCurrent, (weft_cu_context *context))                                                  \
    X(cuStreamCreate, (weft_cu_stream *stream, unsigned flags))                                     \
    X(cuStreamDestroy, (weft_cu_stream stream))                                                     \
    X(cuStreamSynchronize, (weft_cu_stream stream))                                                 \
    X(cuEventCreate, (weft_cu_event *event, unsigned flags))                                        \
    X(cuEventDestroy, (weft_cu_event event))                                                        \
    X(cuEventRecord, (weft_cu_event event, weft_cu_stream stream))                                  \
    X(cuEventSynchronize, (weft_cu_event event))                                                    \
    X(cuEventElapsedTime, (float *milliseconds, weft_cu_event start, weft_cu_event stop))           \
    X(cuMemGetInfo, (size_t *free, size_t *total))                                                  \
    X(cuMemAlloc, (weft_cu_pointer *address, size_t bytes))                                         \
    X(cuMemFree, (weft_cu_pointer address))                                                         \
    X(cuMemPoolCreate, (weft_cu_pool *pool, const weft_cu_pool_properties *properties))             \
    X(cuMemPoolDestroy, (weft_cu_pool pool))                                                        \
    X(cuMemPoolTrimTo, (weft_cu_pool pool, size_t keep))                                            \
    X(cuMemPoolSetAttribute, (weft_cu_pool pool, int attribute, void *value))                       \
    X(cuMemPoolGetAttribute, (weft_cu_pool pool, int attribute, void *value))                       \
    X(cuMemAllocFromPoolAsync,                                                                      \
      (weft_cu_pointer *address, size_t bytes, weft_cu_pool pool, weft_cu_stream stream))           \
    X(cuMemFreeAsync, (weft_cu_pointer address, weft_cu_stream stream))                             \
    X(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                               \
    X(cuMemFreeHost, (void *address))                                                               \
    X(cuMemcpyHtoDAsync,                                                                            \
      (weft_cu_pointer to, const void *from, size_t bytes, weft_cu_stream stream))                  \
    X(cuMemcpyDtoHAsync, (void *to, weft_cu_pointer from, size_t bytes, weft_cu_stream stream))     \
    X(cuMemcpyDtoDAsync,                                                                            \
      (weft_cu_pointer to, weft_cu_pointer from, size_t bytes, weft_cu_stream stream))              \
    X(cuMemsetD8Async,                                                                              \
      (weft_cu_pointer address, unsigned char value, size_t bytes, weft_cu_stream stream))          \
    X(cuModuleLoadData, (weft_cu_module *module, const void *image))                                \
    X(cuModuleUnload, (weft_cu_module module))                                                      \
    X(cuModuleGetFunction, (weft_cu_function *function, weft_cu_module module, const char *name))   \
    X(cuFuncSetAttribute, (weft_cu_function function, int attribute, int value))                    \
    X(cuLaunchKernelEx,                                                                             \
      (const weft_cu_configuration *configuration, weft_cu_function function, void **parameters,    \
       void **extra))                                                                               \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                  \
      (int *n_blocks, weft_cu_function function, int block_threads, size_t shared_bytes))           \
    X(cuGetErrorName, (weft_cu_result code, const char **name))                                     \
    X(cuGetErrorString, (weft_cu_result code, const char **text))

/* The functions of recordings, asked for as they were in CUDA 12.3; older drivers lack some. */
#define WEFT_CU_GRAPH_FUNCTIONS(X)                                                                  \
    X(cuGraphCreate, (weft_cu_graph *graph, unsigned flags))                                        \
    X(cuGraphDestroy, (weft_cu_graph graph))                                                        \
    X(cuStreamBeginCaptureToGraph,                                                                  \
      (weft_cu_stream stream, weft_cu_graph graph, const weft_cu_node *after,                       \
       const weft_cu_edge *edges, size_t n_after, int mode))                                        \
    X(cuStreamGetCaptureInfo,                                                                       \
      (weft_cu_stream stream, int *capturing, uint64_t *number, weft_cu_graph *graph,               \
       const weft_cu_node **after, const weft_cu_edge **edges, size_t *n_after))                    \
    X(cuStreamEndCapture, (weft_cu_stream stream, weft_cu_graph *graph))                            \
    X(cuGraphConditionalHandleCreate,                                                               \
      (unsigned long long *handle, weft_cu_graph graph, weft_cu_context context, unsigned value,    \
       unsigned flags))                                                                             \
    X(cuGraphAddNode,                                                                               \
      (weft_cu_node *node, weft_cu_graph graph, const weft_cu_node *after,                          \
       const weft_cu_edge *edges, size_t n_after, weft_cu_node_parameters *parameters))             \
    X(cuGraphInstantiateWithFlags,                                                                  \
      (weft_cu_executable *executable, weft_cu_graph graph, unsigned long long flags))              \
    X(cuGraphUpload, (weft_cu_executable executable, weft_cu_stream stream))                        \
    X(cuGraphLaunch, (weft_cu_executable executable, weft_cu_stream stream))                        \
    X(cuGraphExecDestroy, (weft_cu_executable executable))

#define WEFT_NVRTC_FUNCTIONS(X)                                                                     \
    X(nvrtcVersion, (int *major, int *minor))                                                       \
    X(nvrtcCreateProgram,                                                                           \
      (void **program, const char *source, const char *name, int n_headers,                         \
       const char *const *headers, const char *const *include_names))                               \
    X(nvrtcDestroyProgram, (void **program))                                                        \
    X(nvrtcCompileProgram, (void *program, int n_options, const char *const *options))              \
    X(nvrtcGetCUBINSize, (void *program, size_t *size))                                             \
    X(nvrtcGetCUBIN, (void *program, char *cubin))                                                  \
    X(nvrtcGetProgramLogSize, (void *program, size_t *size))                                        \
    X(nvrtcGetProgramLog, (void *program, char *log))

#define WEFT_CU_MEMBER(name, parameters) weft_cu_result (*name) parameters;
/* clang-format on */

typedef struct weft_cuda_driver {
    void *library; /* NULL: not opened */
    WEFT_CU_FUNCTIONS(WEFT_CU_MEMBER)
    bool graphs; /* every one of these was found */
    WEFT_CU_GRAPH_FUNCTIONS(WEFT_CU_MEMBER)
} weft_cuda_driver;

/** Open libcuda.so.1, find every function, start the driver. library: NULL, or another name.
 *  Errors WEFT_ERROR_DEVICE: no driver, one that is too old, or one that does not start */
weft_status weft_cuda_driver_open(const char *library, weft_cuda_driver *out, weft_error *error);
void weft_cuda_driver_close(weft_cuda_driver *driver);
/** "what: CUDA_ERROR_NAME, code N (the driver's words)", and a hint; WEFT_ERROR_MEMORY for the
 *  out-of-memory code, else WEFT_ERROR_DEVICE. */
weft_status weft_cuda_failed(const weft_cuda_driver *driver, weft_cu_result code, const char *what,
                             weft_error *error);
/** After this code every later call of the process on that device fails too. */
bool weft_cuda_is_sticky(weft_cu_result code);

/* ---- NVRTC ---------------------------------------------------------------------------------- */

typedef struct weft_nvrtc {
    void *library; /* NULL: not opened */
    int major, minor;
    const char *(*nvrtcGetErrorString)(int code);
    WEFT_NVRTC_FUNCTIONS(WEFT_CU_MEMBER)
} weft_nvrtc;

/** Look for libnvrtc by name, then below $CUDA_HOME and /usr/local/cuda.
 *  Errors WEFT_ERROR_COMPILER */
weft_status weft_nvrtc_open(weft_nvrtc *out, weft_error *error);
void weft_nvrtc_close(weft_nvrtc *nvrtc);

/** A CUBIN with what the assembler said about it, as it is kept in the cache. */
typedef struct weft_cubin {
    unsigned char *bytes; /* the CUBIN, the log with a terminator, the CUBIN's size (8 bytes) */
    size_t size;          /* of the CUBIN */
    size_t whole;         /* of everything */
} weft_cubin;

/** Everything that decides what NVRTC makes of a source, as text. */
void weft_nvrtc_describe(const weft_nvrtc *nvrtc, int architecture, char *out, size_t size);
/** Compile for one architecture (90: sm_90). Needs no driver and no GPU.
 *  Errors WEFT_ERROR_COMPILER (message holds NVRTC's first lines), WEFT_ERROR_MEMORY */
weft_status weft_nvrtc_compile(const weft_nvrtc *nvrtc, int architecture, const char *name,
                               const char *source, weft_cubin *out, weft_error *error);
/** Cut what the cache held, and take it over; false, and nothing taken, when that is no CUBIN. */
bool weft_cubin_read(unsigned char *bytes, size_t whole, weft_cubin *out);
void weft_cubin_free(weft_cubin *cubin);
/** Registers, stack and shared memory from the ELF file, spills from the log (-1 where it has
 *  none). False: there is no such kernel. */
bool weft_cubin_figures(const weft_cubin *cubin, const char *kernel, weft_kernel_figures *out);

/* ---- the device ----------------------------------------------------------------------------- */

enum { WEFT_CUDA_STAGES = 2 };

typedef struct weft_cuda_array weft_cuda_array; /* state of a weft_memory */
struct weft_cuda_array {
    weft_cu_pointer address;
    size_t bytes;
    weft_cuda_array *previous, *next;
};

/* What is freed while a recording is made waits for its end. */
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

/* A recording that was made. */
typedef struct weft_cuda_recording weft_cuda_recording;
struct weft_cuda_recording {
    weft_cu_executable executable;
    weft_cu_graph graph; /* kept: tools that watch the bodies of its loops look at it */
    const void **uses;
    size_t n_uses;
    bool stale; /* something that it uses was freed */
    weft_cuda_recording *next;
};

/* The recording that is being made. */
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
    weft_error trouble; /* the first that spoils the recording; status OK: none */
    const void **uses;  /* arrays and modules, each once */
    size_t n_uses, room;
    weft_cuda_array *arrays;         /* freed meanwhile, by next */
    weft_cuda_module *modules;       /* the same */
    weft_cuda_recording *recordings; /* the same */
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
    weft_cuda_recording *recordings; /* that there are; of mutex */
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
bool weft_cuda_module_figures(const weft_module *module, const char *kernel,
                              weft_kernel_figures *out);
/** Errors WEFT_ERROR_DEVICE: there is no such kernel. The context must be current. */
weft_status weft_cuda_module_kernel(const weft_module *module, const char *kernel,
                                    weft_cu_function *out, weft_error *error);

weft_status weft_cuda_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                             weft_error *error);
int weft_cuda_resident_blocks(const weft_device *device, const weft_module *module,
                              const char *kernel, int block_threads, int shared_bytes);

extern const weft_timer_table weft_cuda_timer;
extern const weft_recording_table weft_cuda_recording_table;
/** Load the kernel set_condition(handle, const uint32_t *flag), which sets a loop's condition to
 *  what the flag holds: compiled by NVRTC, else written in PTX for the driver's own compiler.
 *  Errors WEFT_ERROR_DEVICE: the driver takes neither */
weft_status weft_cuda_condition_load(weft_device *device, weft_error *error);
void weft_cuda_condition_free(weft_cuda_state *state);
/** Note what a recorded launch uses: its memories and its module. */
weft_status weft_cuda_record_uses(weft_cuda_state *state, const weft_launch *launch,
                                  weft_error *error);
weft_status weft_cuda_record_use(weft_cuda_state *state, const void *used, weft_error *error);
/** Something is freed: recordings that use it are not run any more. While one is made, `array` or
 *  `module` (the other is NULL) is taken over until its end: then true. */
bool weft_cuda_record_freed(weft_cuda_state *state, weft_cuda_array *array,
                            weft_cuda_module *module);
weft_status weft_cuda_recording_run(weft_device *device, void *recording, weft_error *error);
void weft_cuda_recording_free(weft_device *device, void *recording);
void weft_cuda_recording_end(weft_cuda_state *state, weft_cuda_recording *recording);
/** Drop the recording that is being made, if there is one; the context must be current. */
void weft_cuda_recorder_close(weft_cuda_state *state);
void weft_cuda_array_end(weft_cuda_state *state, weft_cuda_array *array);
void weft_cuda_module_end(weft_cuda_state *state, weft_cuda_module *module);
