/* The libraries that weft gemm compares with: which there are, and how they are opened. */
#include "apps/weft/gemm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    weft_status (*open)(const gemm_case *one, gemm_rival *out, weft_error *error);
} rivals[] = {{"cublas", gemm_cublas_open}, {"openblas", gemm_openblas_open}};
enum { N_RIVALS = sizeof rivals / sizeof *rivals };

weft_status gemm_rival_open(const char *name, const gemm_case *one, gemm_rival *out,
                            weft_error *error) {
    const char *names[N_RIVALS];
    for (int i = 0; i < N_RIVALS; ++i) {
        names[i] = rivals[i].name;
        if (strcmp(name, names[i]) == 0)
            return rivals[i].open(one, out, error);
    }
    return weft_tool_refuse("library", name, names, N_RIVALS, error);
}

weft_status gemm_library_open(const char *const *names, void **out, weft_error *error) {
    static const char *const folders[] = {"", "/usr/local/cuda/lib64/"};
    for (int i = 0; names[i]; ++i)
        for (int f = 0; f < 2; ++f) {
            char path[256];
            snprintf(path, sizeof path, "%s%s", folders[f], names[i]);
            *out = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
            if (*out)
                return WEFT_OK;
        }
    weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "%s is not found", names[0]);
    weft_error_hint(error, "install it, or add its folder to LD_LIBRARY_PATH");
    return WEFT_ERROR_UNSUPPORTED;
}
