#include "cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Functions are asked for as they were in this version, the first with every one of them. */
enum { ASKED_VERSION = 12000, GRAPHS_VERSION = 12030 };

typedef weft_cu_result (*find_function)(const char *name, void **address, int version,
                                        uint64_t flags, int *status);

static weft_status no_driver(const char *library, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_DEVICE, "no CUDA driver (%s): %s", library, dlerror());
    weft_error_hint(error, "install NVIDIA's driver, or use --device host (null:h200 shows plans "
                           "for a GPU)");
    return WEFT_ERROR_DEVICE;
}

static weft_status too_old(const char *name, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_DEVICE,
                   "this CUDA driver is too old: it has no %s of CUDA %d.%d", name,
                   ASKED_VERSION / 1000, ASKED_VERSION % 1000 / 10);
    weft_error_hint(error, "install a newer NVIDIA driver (525 or later), or use --device host");
    return WEFT_ERROR_DEVICE;
}

static weft_status find_all(weft_cuda_driver *out, weft_error *error) {
    find_function find = NULL;
    void *symbol = dlsym(out->library, "cuGetProcAddress_v2");
    if (!symbol)
        return too_old("cuGetProcAddress_v2", error);
    memcpy(&find, &symbol, sizeof find);
    /* A driver may report success and leave no address: both are looked at. */
#define FIND(name, parameters)                                                                     \
    symbol = NULL;                                                                                 \
    if (find(#name, &symbol, ASKED_VERSION, 0, NULL) != 0 || !symbol)                              \
        return too_old(#name, error);                                                              \
    memcpy(&out->name, &symbol, sizeof symbol);
    WEFT_CU_FUNCTIONS(FIND)
#undef FIND
    out->graphs = true;
#define FIND(name, parameters)                                                                     \
    symbol = NULL;                                                                                 \
    out->graphs = find(#name, &symbol, GRAPHS_VERSION, 0, NULL) == 0 && symbol && out->graphs;     \
    memcpy(&out->name, &symbol, sizeof symbol);
    WEFT_CU_GRAPH_FUNCTIONS(FIND)
#undef FIND
    return WEFT_OK;
}

weft_status weft_cuda_driver_open(const char *library, weft_cuda_driver *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *name = library ? library : "libcuda.so.1";
    *out = (weft_cuda_driver){0};
    /* The driver starts threads and handlers of its own: it is never unmapped. */
    out->library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!out->library)
        return no_driver(name, error);
    TRY(find_all(out, error));
    weft_cu_result code = out->cuInit(0);
    if (code != 0)
        status = weft_cuda_failed(out, code, "the CUDA driver does not start", error);
done:
    if (status != WEFT_OK)
        weft_cuda_driver_close(out);
    return status;
}

void weft_cuda_driver_close(weft_cuda_driver *driver) {
    if (driver->library)
        dlclose(driver->library);
    driver->library = NULL;
}

static const char *hint_of(weft_cu_result code) {
    switch (code) {
    case 2:
        return "take a smaller mesh, or an assembly that stores less (--assembly matrix-free)";
    case 34:
    case 36:
    case 222:
    case 803:
    case 804:
        return "the driver and the CUDA libraries do not belong together: install a newer driver";
    case 46:
        return "another process has the GPU for itself, or it is being reset: see nvidia-smi";
    case 100:
        return "there is no GPU that this process may use: see nvidia-smi and "
               "CUDA_VISIBLE_DEVICES, or use --device host";
    case 101:
        return "weft devices lists the GPUs there are";
    case 200:
    case 209:
        return "the kernel was compiled for another GPU: clear the cache (weft cache clear)";
    case 214:
    case 220:
        return "the GPU's memory or link failed: see nvidia-smi -q, and try another GPU";
    case 700:
    case 716:
    case 717:
    case 718:
        return "a kernel left its arrays: run under compute-sanitizer to see where; nothing that "
               "was computed since may be used";
    case 701:
        return "the kernel needs more registers or threads than a block has: take a smaller block";
    case 702:
        return "the display's watchdog ended the kernel: use a GPU without a display";
    case 719:
        return "a kernel failed: run under compute-sanitizer to see where";
    case 802:
        return "the GPU's fabric is still starting: try again in a minute";
    case 805:
    case 806:
    case 807:
        return "the MPS server does not answer: see nvidia-cuda-mps-control";
    default:
        return NULL;
    }
}

weft_status weft_cuda_failed(const weft_cuda_driver *driver, weft_cu_result code, const char *what,
                             weft_error *error) {
    const char *name = NULL, *text = NULL, *hint = hint_of(code);
    weft_status status = code == WEFT_CU_OUT_OF_MEMORY ? WEFT_ERROR_MEMORY : WEFT_ERROR_DEVICE;
    if (driver->cuGetErrorName(code, &name) != 0 || !name)
        name = "an error without a name";
    if (driver->cuGetErrorString(code, &text) != 0 || !text)
        text = "the driver has no words for it";
    weft_error_set(error, status, "%s: %s, code %d (%s)", what, name, code, text);
    if (hint)
        weft_error_hint(error, "%s", hint);
    return status;
}

bool weft_cuda_is_sticky(weft_cu_result code) {
    static const short codes[] = {4,   214, 220, 226, 700, 702, 708, 709, 710,
                                  714, 715, 716, 717, 718, 719, 721, 999};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; ++i)
        if (codes[i] == code)
            return true;
    return false;
}
