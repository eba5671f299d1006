#include "core/cuda/compiler.h"
#include "core/cuda/cuda.h"
#include "core/device/source.h"

#include <stdlib.h>

struct weft_source_figures {
    weft_cubin cubin;
};

weft_status weft_source_figures_make(const char *name, const char *source, int architecture,
                                     weft_source_figures **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_nvrtc nvrtc = {0};
    char file[64];
    weft_source_figures *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "a module's figures"));
    weft_source_name(name, file, sizeof file);
    TRY(weft_nvrtc_open(&nvrtc, error));
    TRY(weft_nvrtc_compile(&nvrtc, architecture, file, source, &made->cubin, error));
    *out = made;
    made = NULL;
done:
    weft_nvrtc_close(&nvrtc);
    weft_source_figures_free(&made);
    return status;
}

void weft_source_figures_free(weft_source_figures **figures) {
    if (!figures || !*figures)
        return;
    weft_cubin_free(&(*figures)->cubin);
    free(*figures);
    *figures = NULL;
}

bool weft_source_figures_find(const weft_source_figures *figures, const char *kernel,
                              weft_kernel_figures *out) {
    return weft_cubin_figures(&figures->cubin, kernel, out);
}
