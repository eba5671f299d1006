/* Prints the resource usage of a compiled plan's kernels. */
#include "apps/weft/tool.h"

#include <string.h>

static void print_row(const char *name, int width, const weft_kernel_resources *figures,
                      weft_text *out) {
    weft_text_add(out, "  %-*s %9d %8d %8d", width, name, figures->registers, figures->shared_bytes,
                  figures->stack_bytes);
    if (figures->spill_store_bytes < 0)
        weft_text_add(out, " %8s %8s\n", "?", "?");
    else
        weft_text_add(out, " %8d %8d\n", figures->spill_store_bytes, figures->spill_load_bytes);
}

static void print_reason(const weft_error *reason, weft_text *out) {
    if (reason->status == WEFT_ERROR_COMPILER && strstr(reason->message, "not found"))
        weft_text_add(out, "  not known: NVRTC is missing (%s)\n", reason->hint);
    else
        weft_text_add(out, "  not known: %s\n", reason->message);
}

weft_status weft_tool_resources(weft_device *device, const weft_compilation *compilation,
                                weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_error reason = {0};
    weft_kernel_info info;
    weft_kernel_resources figures;
    weft_module *module = NULL;
    int width = 6, n_rows = 0;
    const int n = weft_compilation_kernels(compilation);
    /* the host's compiler does not report it */
    if (weft_device_limits(device)->execution != WEFT_EXECUTION_SIMT)
        goto done;
    for (int i = 0; i < n; ++i) {
        weft_compilation_kernel(compilation, i, &info);
        width = (int)strlen(info.name) > width ? (int)strlen(info.name) : width;
    }
    weft_text_add(out, "\nWhat the kernels take of the GPU, a thread (shared: a block)\n");
    status =
        weft_module_make(device, "figures", weft_compilation_source(compilation), &module, &reason);
    for (int i = 0; i < n && status == WEFT_OK; ++i) {
        weft_compilation_kernel(compilation, i, &info);
        if (info.is_member || info.is_sized)
            continue;
        status = weft_module_kernel_resources(module, info.name, &figures, &reason);
        if (status != WEFT_OK)
            break;
        if (n_rows++ == 0)
            weft_text_add(out, "  %-*s %9s %8s %8s %8s %8s\n", width, "kernel", "registers",
                          "B shared", "B stack", "B spill", "B reload");
        print_row(info.name, width, &figures, out);
    }
    if (status == WEFT_ERROR_COMPILER || status == WEFT_ERROR_UNSUPPORTED) {
        print_reason(&reason, out);
        status = WEFT_OK;
    }
    if (status != WEFT_OK && error)
        *error = reason;
done:
    weft_module_free(&module);
    return status;
}
