/* Loads the CUDA driver's library and looks up its functions. */
#include "core/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The version of the functions to look up: the first that has all of them. */
enum { ASKED_VERSION = 12000, GRAPHS_VERSION = 12030 };

typedef weft_cu_result (*find_function)(const char *name, void **address, int version,
                                        uint64_t flags, int *status);

static weft_status no_driver(const char *library, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_DEVICE, "no CUDA driver (%s): %s", library, dlerror());
    weft_error_hint(
        error, "install NVIDIA's driver, or use --device host (null:h200 shows plans for a GPU)");
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
    /* Check the address too: a driver may report success without setting it. */
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
    /* Never unload the driver: it has started threads and installed handlers. */
    out->library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!out->library)
        TRY(no_driver(name, error));
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
