/* Memory of one GPU that kernels of another one access: of threads of this process by its address, of other processes by a
 * handle (CUDA IPC). */
#include "core/cuda/cuda.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ALREADY_ENABLED = 704, /* CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED */
    LAZY = 1,              /* CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS */
    HOST_LENGTH = 64
};

/* weft_reach */
typedef struct reach {
    char host[HOST_LENGTH];
    int64_t process;
    unsigned char gpu[16]; /* UUID */
    int ordinal;
    weft_cu_context context;
    weft_cu_pointer address;
    weft_cu_ipc handle;
    bool has_handle;
} reach;
_Static_assert(sizeof(reach) <= sizeof(weft_reach), "what other ranks get of a memory");

static void identify(weft_cuda_state *state, reach *out) {
    *out =
        (reach){.process = (int64_t)getpid(), .ordinal = state->ordinal, .context = state->context};
    if (gethostname(out->host, sizeof out->host - 1) != 0)
        out->host[0] = '\0';
    if (state->driver.cuDeviceGetUuid(out->gpu, state->device) != 0)
        memset(out->gpu, 0, sizeof out->gpu);
}

static weft_status describe(const weft_memory *memory, weft_reach *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = memory->device->state;
    const weft_cuda_array *array = memory->state;
    reach mine;
    TRY(weft_cuda_enter(state, error));
    identify(state, &mine);
    mine.address = array->address;
    mine.has_handle = state->driver.cuIpcGetMemHandle(&mine.handle, array->address) == 0;
    weft_cuda_leave(state);
    memset(out, 0, sizeof *out);
    memcpy(out, &mine, sizeof mine);
done:
    return status;
}

/* The address for kernels of this GPU. */
static weft_status reach_it(weft_cuda_state *state, const reach *mine, const reach *there,
                            void **out, bool *opened, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cuda_driver *driver = &state->driver;
    weft_cu_pointer address = there->address;
    if (mine->process == there->process) {
        int can = 0;
        weft_cu_device other = 0;
        if (driver->cuDeviceGet(&other, there->ordinal) != 0 ||
            driver->cuDeviceCanAccessPeer(&can, state->device, other) != 0 || !can)
            TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                               "cuda:%d does not reach the memory of cuda:%d", mine->ordinal,
                               there->ordinal));
        const weft_cu_result code = driver->cuCtxEnablePeerAccess(there->context, 0);
        if (code != ALREADY_ENABLED)
            TRY(weft_cuda_check(state, code, "reaching another GPU's memory", error));
    } else if (!there->has_handle) {
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "a GPU's driver gives no handle of its memory"));
    } else {
        TRY(weft_cuda_check(state, driver->cuIpcOpenMemHandle(&address, there->handle, LAZY),
                            "reaching another process's memory on a GPU", error));
        *opened = true;
    }
    *out = (void *)(uintptr_t)address;
done:
    return status;
}

static weft_status reach_memory(weft_device *device, const weft_reach *there, void **out,
                                bool *opened, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cuda_state *state = device->state;
    reach mine, other;
    memcpy(&other, there, sizeof other);
    TRY(weft_cuda_enter(state, error));
    identify(state, &mine);
    if (strcmp(mine.host, other.host) != 0)
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "the GPUs are of several machines");
    else if (memcmp(mine.gpu, other.gpu, sizeof mine.gpu) ==
             0) /* its kernels would wait for each other */
        status = weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "several ranks share a GPU");
    else
        status = reach_it(state, &mine, &other, out, opened, error);
    weft_cuda_leave(state);
done:
    return status;
}

static void leave(weft_device *device, void *address) {
    weft_cuda_state *state = device->state;
    weft_error ignored;
    if (weft_cuda_enter(state, &ignored) != WEFT_OK)
        return;
    (void)state->driver.cuIpcCloseMemHandle((weft_cu_pointer)(uintptr_t)address);
    weft_cuda_leave(state);
}

const weft_peer_table weft_cuda_peer = {
    .describe = describe, .reach = reach_memory, .leave = leave};
