/* The few types and functions of the CUDA driver and of NVRTC that Weft uses, declared here and
 * found at run time: no CUDA header is needed to build, and the same program starts everywhere.
 * The numbers are those of the driver's ABI, which never change. Not installed. */
#ifndef WEFT_CUDA_API_H
#define WEFT_CUDA_API_H

#include "core_internal.h"

typedef int weft_cu_result; /* 0: success */
typedef int weft_cu_device;
typedef unsigned long long weft_cu_pointer;
typedef struct CUctx_st *weft_cu_context;
typedef struct CUstream_st *weft_cu_stream;
typedef struct CUevent_st *weft_cu_event;
typedef struct CUmod_st *weft_cu_module;
typedef struct CUfunc_st *weft_cu_function;
typedef struct CUmemPoolHandle_st *weft_cu_pool;

typedef struct weft_cu_pool_properties {
    int allocation_type, handle_types, location_type, location_id;
    void *security;
    size_t most;
    unsigned char reserved[56];
} weft_cu_pool_properties;
_Static_assert(sizeof(weft_cu_pool_properties) == 88, "CUmemPoolProps");

enum { WEFT_CU_OUT_OF_MEMORY = 2 };

/* What cuDeviceGetAttribute is asked for. */
enum {
    WEFT_CU_CLOCK_KHZ = 13,
    WEFT_CU_MULTIPROCESSORS = 16,
    WEFT_CU_MEMORY_CLOCK_KHZ = 36,
    WEFT_CU_BUS_BITS = 37,
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
    X(cuMemAlloc, (weft_cu_pointer *address, size_t bytes))                                         \
    X(cuMemFree, (weft_cu_pointer address))                                                         \
    X(cuMemPoolCreate, (weft_cu_pool *pool, const weft_cu_pool_properties *properties))             \
    X(cuMemPoolDestroy, (weft_cu_pool pool))                                                        \
    X(cuMemPoolTrimTo, (weft_cu_pool pool, size_t keep))                                            \
    X(cuMemPoolSetAttribute, (weft_cu_pool pool, int attribute, void *value))                       \
    X(cuMemAllocFromPoolAsync,                                                                      \
      (weft_cu_pointer *address, size_t bytes, weft_cu_pool pool, weft_cu_stream stream))           \
    X(cuMemFreeAsync, (weft_cu_pointer address, weft_cu_stream stream))                             \
    X(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                               \
    X(cuMemFreeHost, (void *address))                                                               \
    X(cuMemcpyHtoDAsync,                                                                            \
      (weft_cu_pointer to, const void *from, size_t bytes, weft_cu_stream stream))                  \
    X(cuMemcpyDtoHAsync, (void *to, weft_cu_pointer from, size_t bytes, weft_cu_stream stream))     \
    X(cuMemsetD8Async,                                                                              \
      (weft_cu_pointer address, unsigned char value, size_t bytes, weft_cu_stream stream))          \
    X(cuModuleLoadData, (weft_cu_module *module, const void *image))                                \
    X(cuModuleUnload, (weft_cu_module module))                                                      \
    X(cuModuleGetFunction, (weft_cu_function *function, weft_cu_module module, const char *name))   \
    X(cuFuncSetAttribute, (weft_cu_function function, int attribute, int value))                    \
    X(cuLaunchKernel,                                                                               \
      (weft_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,                 \
       weft_cu_stream stream, void **parameters, void **extra))                                     \
    X(cuGetErrorName, (weft_cu_result code, const char **name))                                     \
    X(cuGetErrorString, (weft_cu_result code, const char **text))

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
weft_status weft_cuda_memory_full(weft_device *device, size_t bytes, weft_error *error);
void weft_cuda_stages_free(weft_cuda_state *state);

weft_status weft_cuda_module_make(weft_module *module, const char *source, weft_error *error);
void weft_cuda_module_free(weft_module *module);
bool weft_cuda_module_figures(const weft_module *module, const char *kernel,
                              weft_kernel_figures *out);
/** Errors WEFT_ERROR_DEVICE: there is no such kernel. The context must be current. */
weft_status weft_cuda_module_kernel(const weft_module *module, const char *kernel,
                                    weft_cu_function *out, weft_error *error);

#endif
