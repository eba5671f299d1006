/* Compiles a source by NVRTC for the resource usage of its kernels, without a GPU. */
#include "core/cuda/compiler.h"
#include "core/cuda/cuda.h"
#include "core/device/source.h"

#include <stdlib.h>

struct weft_source_resources {
    weft_cubin cubin;
};

weft_status weft_source_resources_make(const char *name, const char *source, int architecture,
                                       weft_source_resources **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_nvrtc nvrtc = {0};
    char file[64];
    weft_source_resources *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a module's figures"));
    weft_source_name(name, file, sizeof file);
    TRY(weft_nvrtc_open(&nvrtc, error));
    TRY(weft_nvrtc_compile(&nvrtc, architecture, file, source, &made->cubin, error));
    *out = made;
    made = NULL;
done:
    weft_nvrtc_close(&nvrtc);
    weft_source_resources_free(&made);
    return status;
}

void weft_source_resources_free(weft_source_resources **resources) {
    if (!resources || !*resources)
        return;
    weft_cubin_free(&(*resources)->cubin);
    free(*resources);
    *resources = NULL;
}

bool weft_source_resources_find(const weft_source_resources *resources, const char *kernel,
                                weft_kernel_resources *out) {
    return weft_cubin_resources(&resources->cubin, kernel, out);
}
