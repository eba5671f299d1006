/* A stand-in for NVIDIA's driver: device memory is the host's, graphs with loops are kept and run as
 * lists. It refuses what the driver refuses while a stream is captured, and any function can be made to
 * fail. Three kernels are known by name, for tests that load it themselves; other kernels are those of
 * modules that emulated_nvrtc.c has made, for programs that find both as their driver and compiler
 * (tests/solve/test_emulated_gpu.sh). */
#include "fake_cuda.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* the driver's, not ours */

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOP = 13,
    CAPTURED = 900,
    INVALID = 1,
    NOT_FOUND = 500,
    MOST_ARGUMENTS = 97,
    HANDLES = 64,
    KERNELS = 256 /* of a module */
};
#ifndef FAKE_CUDA_MEGABYTES_LEFT
#define FAKE_CUDA_MEGABYTES_LEFT 3
#define FAKE_CUDA_SHARED 65536
#define FAKE_CUDA_DEVICES 1
#endif
typedef enum node_kind { KERNEL, CLEAR, COPY, ITERATIONS } node_kind;
typedef unsigned long long word;

typedef void emulate_function(void *kernel, long long n, void **arguments, unsigned n_blocks,
                              unsigned n_threads, unsigned shared_bytes, int order);
typedef struct module module;
typedef struct kernel {
    char name[128];
    void *symbol; /* NULL: known by its name */
    const module *module;
} kernel;
struct module {
    void *object; /* of the host's code; NULL: its kernels are known by their names */
    emulate_function *emulate;
    kernel kernels[KERNELS];
    int n_kernels;
};

typedef struct graph graph;
typedef struct node {
    node_kind kind;
    const kernel *kernel;
    unsigned blocks, threads, shared_bytes;
    word arguments[MOST_ARGUMENTS]; /* of a kernel; to, value or from, bytes of the others */
    graph *body;
    struct node *next;
} node;
struct graph {
    node *first, *last;
};

fake_cuda fake = {.version = 13000};
static _Thread_local graph *capturing; /* by the thread of a rank */
static unsigned conditions[HANDLES];
static word n_handles;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* threads transfer arrays together */

static int enter(const char *name) {
    pthread_mutex_lock(&mutex);
    int code = fake.dead;
    if (!code && strcmp(name, fake.fail_name) == 0 && fake.fail_skip-- == 0)
        code = fake.fail_code;
    if (code == 700)
        fake.dead = code;
    pthread_mutex_unlock(&mutex);
    return code;
}
#define ENTER(name)                                                                                \
    do {                                                                                           \
        int code_ = enter(#name);                                                                  \
        if (code_ != 0)                                                                            \
            return code_;                                                                          \
    } while (0)
#define NOT_CAPTURING(name)                                                                        \
    do {                                                                                           \
        ENTER(name);                                                                               \
        if (capturing) {                                                                           \
            fake.n_forbidden += 1;                                                                 \
            return CAPTURED;                                                                       \
        }                                                                                          \
    } while (0)

/* ---- kernels and graphs -------------------------------------------------------------------------
 */

static bool is_called(const kernel *k, const char *name) {
    return strcmp(k->name, name) == 0;
}

/* What the parameters of a launch lead to. core/cuda ends them with NULL, since no kernel of a module made here takes
 * a structure. */
static int read_arguments(const kernel *k, void **parameters, word *out) {
    const int known = is_called(k, "set_condition") ? 2 : 4; /* n, count, flag, most */
    int n = 0;
    while (k->symbol && !is_called(k, "set_condition") ? parameters[n] != NULL : n < known) {
        if (n == MOST_ARGUMENTS)
            return -1;
        out[n] = *(word *)parameters[n];
        ++n;
    }
    return n;
}

static void run_kernel(const node *n) {
    const word *a = n->arguments;
    fake.n_kernels += 1;
    if (is_called(n->kernel, "set_condition")) {
        conditions[a[0]] = *(unsigned *)(uintptr_t)a[1];
        return;
    }
    if (n->kernel->symbol) {
        void *arguments[MOST_ARGUMENTS] = {NULL};
        const char *order = getenv("FAKE_CUDA_ORDER"); /* of threads and blocks: cuda_on_host.h */
        for (int i = 1; i < MOST_ARGUMENTS; ++i)
            arguments[i - 1] = (void *)(uintptr_t)a[i];
        n->kernel->module->emulate(n->kernel->symbol, (long long)a[0], arguments, n->blocks,
                                   n->threads, n->shared_bytes, order ? atoi(order) : 0);
        return;
    }
    unsigned *count = (unsigned *)(uintptr_t)a[1], *flag = (unsigned *)(uintptr_t)a[2];
    if (is_called(n->kernel, "step"))
        *count += 1;
    *flag = *count < *(unsigned *)(uintptr_t)a[3];
}

static void run_graph(const graph *g) {
    for (const node *n = g->first; n; n = n->next) {
        if (n->kind == KERNEL)
            run_kernel(n);
        else if (n->kind == CLEAR)
            memset((void *)(uintptr_t)n->arguments[0], (int)n->arguments[1], n->arguments[2]);
        else if (n->kind == COPY)
            memmove((void *)(uintptr_t)n->arguments[0], (void *)(uintptr_t)n->arguments[1],
                    n->arguments[2]);
        else
            while (conditions[n->arguments[0]] != 0)
                run_graph(n->body);
    }
}

static graph *copy_graph(const graph *from) {
    graph *g = calloc(1, sizeof *g);
    for (const node *n = from->first; n; n = n->next) {
        node *made = malloc(sizeof *made);
        *made = *n;
        made->next = NULL;
        made->body = n->body ? copy_graph(n->body) : NULL;
        *(g->last ? &g->last->next : &g->first) = made;
        g->last = made;
    }
    return g;
}

static void free_graph(graph *g) {
    for (node *n = g->first, *next; n; n = next) {
        next = n->next;
        if (n->body)
            free_graph(n->body);
        free(n);
    }
    free(g);
}

static node *add(graph *g, const node *of) {
    node *made = malloc(sizeof *made);
    *made = *of;
    *(g->last ? &g->last->next : &g->first) = made;
    g->last = made;
    return made;
}

/* Into the graph that is captured, else at once. */
static int work(const node *wanted) {
    const graph alone = {.first = (node *)(uintptr_t)wanted};
    if (capturing)
        add(capturing, wanted);
    else
        run_graph(&alone);
    return 0;
}

/* ---- the driver's functions ---------------------------------------------------------------------
 */

static int f_cuInit(unsigned flags) {
    ENTER(cuInit);
    return 0;
}
static int f_cuDriverGetVersion(int *version) {
    ENTER(cuDriverGetVersion);
    *version = fake.version;
    return 0;
}
static int f_cuDeviceGetCount(int *count) {
    ENTER(cuDeviceGetCount);
    *count = FAKE_CUDA_DEVICES;
    return 0;
}
static int f_cuDeviceGetUuid(unsigned char *uuid, int device) {
    ENTER(cuDeviceGetUuid);
    memset(uuid, device + 1, 16);
    return 0;
}
static int f_cuDeviceCanAccessPeer(int *can, int device, int other) {
    ENTER(cuDeviceCanAccessPeer);
    *can = getenv("FAKE_CUDA_ALONE") == NULL;
    return 0;
}
static int f_cuCtxEnablePeerAccess(void *context, unsigned flags) {
    ENTER(cuCtxEnablePeerAccess);
    return 0;
}
typedef struct ipc_handle {
    unsigned char bytes[64];
} ipc_handle;
static int f_cuIpcGetMemHandle(ipc_handle *out, word address) {
    ENTER(cuIpcGetMemHandle);
    return INVALID; /* memory of this process alone */
}
static int f_cuIpcOpenMemHandle(word *address, ipc_handle there, unsigned flags) {
    ENTER(cuIpcOpenMemHandle);
    return INVALID;
}
static int f_cuIpcCloseMemHandle(word address) {
    ENTER(cuIpcCloseMemHandle);
    return INVALID;
}
static int f_cuDeviceGet(int *device, int ordinal) {
    ENTER(cuDeviceGet);
    *device = ordinal;
    return 0;
}
static int f_cuDeviceGetName(char *name, int size, int device) {
    ENTER(cuDeviceGetName);
    snprintf(name, (size_t)size, "stand-in");
    return 0;
}
static int f_cuDeviceGetAttribute(int *value, int which, int device) {
    ENTER(cuDeviceGetAttribute);
    static const int values[][2] = {
        {13, 1000000}, {16, 4}, {36, 1000000},          {37, 64}, {38, 1 << 20}, {75, 9}, {76, 0},
        {82, 65536},   {87, 2}, {97, FAKE_CUDA_SHARED}, {115, 1}};
    *value = 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i)
        *value = values[i][0] == which ? values[i][1] : *value;
    return 0;
}
static int f_cuDeviceTotalMem(size_t *bytes, int device) {
    ENTER(cuDeviceTotalMem);
    const char *given = getenv("FAKE_CUDA_BYTES");
    *bytes = given ? strtoull(given, NULL, 10) : (size_t)1 << 30;
    return 0;
}
static int f_cuDevicePrimaryCtxRetain(void **context, int device) {
    ENTER(cuDevicePrimaryCtxRetain);
    *context = &fake;
    return 0;
}
static int f_cuDevicePrimaryCtxRelease(int device) {
    ENTER(cuDevicePrimaryCtxRelease);
    return 0;
}
static int f_cuCtxPushCurrent(void *context) {
    ENTER(cuCtxPushCurrent);
    return 0;
}
static int f_cuCtxPopCurrent(void **context) {
    ENTER(cuCtxPopCurrent);
    *context = &fake;
    return 0;
}
static int f_cuStreamCreate(void **stream, unsigned flags) {
    ENTER(cuStreamCreate);
    *stream = &fake;
    return 0;
}
static int f_cuStreamDestroy(void *stream) {
    ENTER(cuStreamDestroy);
    return 0;
}
static int f_cuStreamSynchronize(void *stream) {
    NOT_CAPTURING(cuStreamSynchronize);
    return 0;
}
static int f_cuEventCreate(void **event, unsigned flags) {
    ENTER(cuEventCreate);
    *event = calloc(1, sizeof(double));
    return 0;
}
static int f_cuEventDestroy(void *event) {
    free(event);
    ENTER(cuEventDestroy);
    return 0;
}
static int f_cuEventRecord(void *event, void *stream) {
    NOT_CAPTURING(cuEventRecord);
    pthread_mutex_lock(&mutex);
    *(double *)event = ++fake.clock;
    pthread_mutex_unlock(&mutex);
    return 0;
}
static int f_cuEventSynchronize(void *event) {
    ENTER(cuEventSynchronize);
    return 0;
}
static int f_cuEventElapsedTime(float *milliseconds, void *start, void *stop) {
    ENTER(cuEventElapsedTime);
    *milliseconds = (float)(*(double *)stop - *(double *)start);
    return 0;
}
static int f_cuMemGetInfo(size_t *left, size_t *all) {
    ENTER(cuMemGetInfo);
    *all = (size_t)1 << 30;
    *left = (size_t)FAKE_CUDA_MEGABYTES_LEFT << 20;
    return 0;
}
static int f_cuMemAlloc(word *address, size_t bytes) {
    NOT_CAPTURING(cuMemAlloc);
    *address = (uintptr_t)malloc(bytes);
    return 0;
}
static int f_cuMemFree(word address) {
    free((void *)(uintptr_t)address);
    NOT_CAPTURING(cuMemFree);
    return 0;
}
static int f_cuMemPoolCreate(void **pool, const void *properties) {
    ENTER(cuMemPoolCreate);
    *pool = &fake;
    return 0;
}
static int f_cuMemPoolDestroy(void *pool) {
    ENTER(cuMemPoolDestroy);
    return 0;
}
static int f_cuMemPoolTrimTo(void *pool, size_t keep) {
    ENTER(cuMemPoolTrimTo);
    return 0;
}
static int f_cuMemPoolSetAttribute(void *pool, int which, void *value) {
    ENTER(cuMemPoolSetAttribute);
    return 0;
}
static int f_cuMemPoolGetAttribute(void *pool, int which, void *value) {
    ENTER(cuMemPoolGetAttribute);
    *(uint64_t *)value = which == 5 ? 2 << 20 : 1 << 20; /* 1 MB of it is free */
    return 0;
}
static int f_cuMemAllocFromPoolAsync(word *address, size_t bytes, void *pool, void *stream) {
    NOT_CAPTURING(cuMemAllocFromPoolAsync);
    *address = (uintptr_t)malloc(bytes);
    fake.n_arrays += 1;
    return 0;
}
static int f_cuMemFreeAsync(word address, void *stream) {
    NOT_CAPTURING(cuMemFreeAsync);
    free((void *)(uintptr_t)address);
    fake.n_arrays -= 1;
    return 0;
}
static int f_cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
    ENTER(cuMemHostAlloc);
    *address = malloc(bytes);
    return 0;
}
static int f_cuMemFreeHost(void *address) {
    free(address);
    ENTER(cuMemFreeHost);
    return 0;
}
static int f_cuMemcpyHtoDAsync(word to, const void *from, size_t bytes, void *stream) {
    NOT_CAPTURING(cuMemcpyHtoDAsync);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
static int f_cuMemcpyDtoHAsync(void *to, word from, size_t bytes, void *stream) {
    NOT_CAPTURING(cuMemcpyDtoHAsync);
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return 0;
}
static int f_cuMemcpyDtoDAsync(word to, word from, size_t bytes, void *stream) {
    ENTER(cuMemcpyDtoDAsync);
    return work(&(node){.kind = COPY, .arguments = {to, from, bytes}});
}
static int f_cuMemsetD8Async(word address, unsigned char value, size_t bytes, void *stream) {
    ENTER(cuMemsetD8Async);
    return work(&(node){.kind = CLEAR, .arguments = {address, value, bytes}});
}
/* An image that is a shared object of this machine is loaded. */
static int load_object(const void *image, module *out) {
    Elf64_Ehdr header;
    char path[] = "/tmp/weft-emulated-XXXXXX";
    memcpy(&header, image, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN)
        return 0;
    const size_t size = header.e_shoff + (size_t)header.e_shentsize * header.e_shnum;
    const int file = mkstemp(path);
    if (file < 0)
        return INVALID;
    if (write(file, image, size) == (ssize_t)size)
        out->object = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    close(file);
    unlink(path);
    void *found = out->object ? dlsym(out->object, "emulate_wide") : NULL;
    memcpy(&out->emulate, &found, sizeof found);
    return found ? 0 : INVALID;
}
static int f_cuModuleLoadData(module **out, const void *image) {
    ENTER(cuModuleLoadData);
    *out = calloc(1, sizeof **out);
    fake.n_modules += 1;
    fake.n_loads += 1;
    return load_object(image, *out);
}
static int f_cuModuleUnload(module *m) {
    NOT_CAPTURING(cuModuleUnload);
    if (m->object)
        dlclose(m->object);
    free(m);
    fake.n_modules -= 1;
    return 0;
}
static int f_cuModuleGetFunction(const kernel **function, module *m, const char *name) {
    static const char *const known[] = {"set_condition", "step", "decide"};
    ENTER(cuModuleGetFunction);
    for (int i = 0; i < m->n_kernels; ++i)
        if (strcmp(m->kernels[i].name, name) == 0) {
            *function = &m->kernels[i];
            return 0;
        }
    kernel *made = &m->kernels[m->n_kernels];
    bool found = false;
    for (int i = 0; i < 3; ++i)
        found |= strcmp(name, known[i]) == 0 && (i == 0 || !m->object);
    made->symbol = m->object ? dlsym(m->object, name) : NULL;
    if ((!found && !made->symbol) || m->n_kernels == KERNELS || strlen(name) >= sizeof made->name)
        return NOT_FOUND;
    strcpy(made->name, name);
    made->module = m;
    ++m->n_kernels;
    *function = made;
    return 0;
}
static int f_cuFuncSetAttribute(void *function, int which, int value) {
    ENTER(cuFuncSetAttribute);
    return which == 8 && value <= FAKE_CUDA_SHARED ? 0 : INVALID;
}
static int f_cuLaunchKernelEx(const void *configuration, const kernel *function, void **parameters,
                              void **extra) {
    unsigned *last = fake.last_configuration;
    node made = {.kind = KERNEL, .kernel = function};
    ENTER(cuLaunchKernelEx);
    memcpy(last, configuration, sizeof fake.last_configuration);
    made.blocks = last[0];
    made.threads = last[3];
    made.shared_bytes = last[6];
    return read_arguments(function, parameters, made.arguments) < 0 ? INVALID : work(&made);
}
static int f_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *function, int threads,
                                                         size_t shared_bytes) {
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    *n = shared_bytes > 32768 ? 1 : 1024 / threads;
    return 0;
}
static int f_cuGetErrorName(int code, const char **name) {
    *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_A_STAND_IN";
    return 0;
}
static int f_cuGetErrorString(int code, const char **text) {
    *text = "words of a stand-in";
    return 0;
}
static int f_cuGraphCreate(graph **g, unsigned flags) {
    ENTER(cuGraphCreate);
    *g = calloc(1, sizeof **g);
    return 0;
}
static int f_cuGraphDestroy(graph *g) {
    free_graph(g);
    ENTER(cuGraphDestroy);
    return 0;
}
static int f_cuStreamBeginCaptureToGraph(void *stream, graph *g, node *const *after,
                                         const void *edges, size_t n_after, int mode) {
    NOT_CAPTURING(cuStreamBeginCaptureToGraph);
    /* what follows is put at the end of the list: it must be asked for there */
    if (mode != 2 || (n_after == 0 ? g->last != NULL : n_after != 1 || after[0] != g->last))
        return INVALID;
    capturing = g;
    return 0;
}
static int f_cuStreamGetCaptureInfo(void *stream, int *status, uint64_t *number, graph **g,
                                    node *const **after, const void **edges, size_t *n_after) {
    ENTER(cuStreamGetCaptureInfo);
    *status = capturing != NULL;
    *number = 1;
    *g = capturing;
    *after = capturing ? &capturing->last : NULL;
    *edges = NULL;
    *n_after = capturing && capturing->last ? 1 : 0;
    return 0;
}
static int f_cuStreamEndCapture(void *stream, graph **g) {
    *g = capturing;
    capturing = NULL;
    ENTER(cuStreamEndCapture);
    return *g ? 0 : INVALID;
}
static int f_cuGraphConditionalHandleCreate(word *handle, graph *g, void *context, unsigned value,
                                            unsigned flags) {
    ENTER(cuGraphConditionalHandleCreate);
    if (!g || value != 0 || flags != 0)
        return INVALID;
    pthread_mutex_lock(&mutex);
    *handle = n_handles++ % HANDLES;
    pthread_mutex_unlock(&mutex);
    return 0;
}
typedef struct loop_parameters { /* CUgraphNodeParams of a conditional node */
    int type, zeros[3];
    word handle;
    int condition;
    unsigned size;
    graph **bodies;
    void *context;
} loop_parameters;
static int f_cuGraphAddNode(node **out, graph *g, node *const *after, const void *edges,
                            size_t n_after, loop_parameters *parameters) {
    ENTER(cuGraphAddNode);
    if (parameters->type != LOOP || parameters->condition != 1 || parameters->size != 1 ||
        n_after != 1 || after[0] != g->last || capturing)
        return INVALID;
    *out = add(g, &(node){.kind = ITERATIONS, .arguments = {parameters->handle}});
    (*out)->body = calloc(1, sizeof(graph));
    parameters->bodies = &(*out)->body;
    return 0;
}
static int f_cuGraphInstantiateWithFlags(graph **executable, const graph *g, word flags) {
    NOT_CAPTURING(cuGraphInstantiateWithFlags);
    *executable = copy_graph(g);
    fake.n_executables += 1;
    return 0;
}
static int f_cuGraphUpload(graph *executable, void *stream) {
    NOT_CAPTURING(cuGraphUpload);
    return 0;
}
static int f_cuGraphLaunch(graph *executable, void *stream) {
    NOT_CAPTURING(cuGraphLaunch);
    run_graph(executable);
    return 0;
}
static int f_cuGraphExecDestroy(graph *executable) {
    free_graph(executable);
    fake.n_executables -= 1;
    ENTER(cuGraphExecDestroy);
    return 0;
}

/* clang-format off */
#define ALL(X)                                                                                     \
    X(cuInit) X(cuDriverGetVersion) X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName)          \
    X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain)                        \
    X(cuDevicePrimaryCtxRelease) X(cuCtxPushCurrent) X(cuCtxPopCurrent) X(cuStreamCreate)          \
    X(cuDeviceGetUuid) X(cuDeviceCanAccessPeer) X(cuCtxEnablePeerAccess) X(cuIpcGetMemHandle)      \
    X(cuIpcOpenMemHandle) X(cuIpcCloseMemHandle)                                                   \
    X(cuStreamDestroy) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord)  \
    X(cuEventSynchronize) X(cuEventElapsedTime) X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree)         \
    X(cuMemPoolCreate) X(cuMemPoolDestroy) X(cuMemPoolTrimTo) X(cuMemPoolSetAttribute)             \
    X(cuMemPoolGetAttribute) X(cuMemAllocFromPoolAsync) X(cuMemFreeAsync) X(cuMemHostAlloc)        \
    X(cuMemFreeHost) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync)                \
    X(cuMemsetD8Async) X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction)                \
    X(cuFuncSetAttribute) X(cuLaunchKernelEx) X(cuOccupancyMaxActiveBlocksPerMultiprocessor)       \
    X(cuGetErrorName) X(cuGetErrorString)
#define GRAPHS(X)                                                                                  \
    X(cuGraphCreate) X(cuGraphDestroy) X(cuStreamBeginCaptureToGraph) X(cuStreamGetCaptureInfo)    \
    X(cuStreamEndCapture) X(cuGraphConditionalHandleCreate) X(cuGraphAddNode)                      \
    X(cuGraphInstantiateWithFlags) X(cuGraphUpload) X(cuGraphLaunch) X(cuGraphExecDestroy)
/* clang-format on */

int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status);
int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags,
                        int *status) {
    *address = NULL;
#define FIND(f)                                                                                    \
    if (strcmp(name, #f) == 0)                                                                     \
        memcpy(address, &(void (*)(void)){(void (*)(void))f_##f}, sizeof *address);
    ALL(FIND)
    if (version == 12030 && fake.version >= 12030) {
        GRAPHS(FIND)
    }
    return *address ? 0 : NOT_FOUND;
}
