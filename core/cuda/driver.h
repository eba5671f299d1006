/* The types and functions of the CUDA driver and of NVRTC that Weft uses, declared here and loaded
 * at run time: building needs no CUDA headers, and programs start on machines without CUDA. The
 * numbers are those of the driver's stable ABI. Not installed. */
#pragma once

#include "core/weft_core.h"

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
typedef struct CUgraphEdgeData_st weft_cu_edge; /* always NULL: no edge attributes */

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
        int allowed; /* COOPERATIVE, DEPENDENT */
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

typedef struct weft_cu_ipc { /* CUipcMemHandle */
    unsigned char bytes[64];
} weft_cu_ipc;

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

/* Attributes for cuDeviceGetAttribute. */
enum {
    WEFT_CU_CLOCK_KHZ = 13,
    WEFT_CU_MULTIPROCESSORS = 16,
    WEFT_CU_MEMORY_CLOCK_KHZ = 36,
    WEFT_CU_BUS_BITS = 37,
    WEFT_CU_L2_BYTES = 38,
    WEFT_CU_MAJOR = 75,
    WEFT_CU_MINOR = 76,
    WEFT_CU_REGISTERS = 82, /* of 4 bytes, per multiprocessor */
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
    X(cuCtxEnablePeerAccess, (weft_cu_context context, unsigned flags))                             \
    X(cuDeviceCanAccessPeer, (int *can, weft_cu_device device, weft_cu_device other))               \
    X(cuDeviceGetUuid, (unsigned char *uuid, weft_cu_device device))                                \
    X(cuIpcGetMemHandle, (weft_cu_ipc *handle, weft_cu_pointer address))                            \
    X(cuIpcOpenMemHandle, (weft_cu_pointer *address, weft_cu_ipc handle, unsigned flags))           \
    X(cuIpcCloseMemHandle, (weft_cu_pointer address))                                               \
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

/* The functions of device graphs, in their versions of CUDA 12.3; older drivers lack some. */
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
    bool graphs; /* all of the following were found */
    WEFT_CU_GRAPH_FUNCTIONS(WEFT_CU_MEMBER)
} weft_cuda_driver;

/** Open the driver's library, look up all functions and initialise the driver.
 *  library  NULL: "libcuda.so.1"
 *  Errors   WEFT_ERROR_DEVICE: there is no driver, it is too old, or it fails to initialise */
weft_status weft_cuda_driver_open(const char *library, weft_cuda_driver *out, weft_error *error);
void weft_cuda_driver_close(weft_cuda_driver *driver);
/** Report a driver error as "what: CUDA_ERROR_NAME, code N (the driver's description)" with a hint.
 *  Returns WEFT_ERROR_MEMORY for the out-of-memory code, else WEFT_ERROR_DEVICE. */
weft_status weft_cuda_failed(const weft_cuda_driver *driver, weft_cu_result code, const char *what,
                             weft_error *error);
/** Does every later call of the process on that device fail after this code? */
bool weft_cuda_is_sticky(weft_cu_result code);
