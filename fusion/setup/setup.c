/* Compiles, loads and launches the set-up kernels of a device. */
#include "fusion/setup/setup.h"
#include "fusion/base/prelude.h"

#include "fusion/embedded_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 32, THREADS = 256, SUMS_TILE = 2048 }; /* as in kernels/setup */

struct weft_setup {
    weft_device *device;
    /* the device's, in the order of weft_embedded_setup; NULL: not needed yet */
    weft_module *modules[FILES_MAX];
};

bool weft_setup_on_device(const weft_device *device) {
    const weft_limits *limits = device ? weft_device_limits(device) : NULL;
    return limits && limits->execution == WEFT_EXECUTION_SIMT && !limits->records_only;
}

weft_status weft_setup_make(weft_device *device, weft_setup **out, weft_error *error) {
    weft_setup *made = calloc(1, sizeof *made);
    if (!made)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for kernels of the set-up");
    made->device = device;
    *out = made;
    return WEFT_OK;
}

void weft_setup_free(weft_setup **setup) {
    if (!setup || !*setup)
        return;
    free(*setup);
    *setup = NULL;
}

weft_device *weft_setup_device(const weft_setup *setup) {
    return setup->device;
}

/* The number of a file, or -1. */
static int file_find(const char *name) {
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "%s.cu", name);
    for (int i = 0; i < FILES_MAX && weft_embedded_setup[i].name; ++i)
        if (strcmp(weft_embedded_setup[i].name, wanted) == 0)
            return i;
    return -1;
}

bool weft_setup_file(int number, char *name, size_t size) {
    for (int i = 0; i < FILES_MAX && weft_embedded_setup[i].name; ++i) {
        const char *file = weft_embedded_setup[i].name;
        if (strcmp(file, "prelude.cu") != 0 && number-- == 0)
            return snprintf(name, size, "%.*s", (int)strcspn(file, "."), file) > 0;
    }
    return false;
}

/* The prelude of generated kernels that the first line of a file names: "//@ prelude ranks_cuda.h". */
static void add_named_prelude(const char *file, weft_text *text) {
    static const char head[] = "//@ prelude ";
    const weft_prelude_value none = {NULL, NULL};
    char name[64];
    if (strncmp(file, head, strlen(head)) != 0)
        return;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(file + strlen(head), "\n"),
                   file + strlen(head));
    weft_prelude_write(name, &none, text);
}

weft_status weft_setup_source(const char *file, weft_text *text, weft_error *error) {
    const int prelude = file_find("prelude"), own = file_find(file);
    if (own < 0 || prelude < 0)
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "there is no file kernels/setup/%s.cu",
                              file);
    weft_text_add(text, "%s\n", weft_embedded_setup[prelude].text);
    add_named_prelude(weft_embedded_setup[own].text, text);
    weft_text_add(text, "%s", weft_embedded_setup[own].text);
    return text->failed
               ? weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for kernels of the set-up")
               : WEFT_OK;
}

static weft_status module_load(weft_setup *setup, const char *file, weft_module **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    char title[80];
    weft_text text = {0};
    TRY(weft_setup_source(file, &text, error));
    (void)snprintf(title, sizeof title, "setup_%s", file);
    TRY(weft_device_module(setup->device, title, text.data, out, error));
done:
    weft_text_free(&text);
    return status;
}

weft_status weft_setup_launch(weft_setup *setup, const weft_setup_kernel *kernel,
                              weft_memory *const *arguments, int n_arguments, weft_error *error) {
    weft_status status = WEFT_OK;
    const int file = file_find(kernel->file);
    if (kernel->n <= 0)
        goto done;
    weft_module **module = file >= 0 ? &setup->modules[file] : NULL;
    if (!module || !*module)
        TRY(module_load(setup, kernel->file, module, error));
    const weft_launch launch = {.module = *module,
                                .kernel = kernel->name,
                                .arguments = arguments,
                                .n_arguments = n_arguments,
                                .n_elements = kernel->n,
                                .lanes = 32,
                                .block_threads = THREADS,
                                .n_blocks = kernel->n_blocks,
                                .shared_bytes = kernel->shared_bytes};
    TRY(weft_device_launch(setup->device, &launch, error));
done:
    return status;
}

weft_status weft_setup_numbers(weft_setup *setup, const int64_t *numbers, int n, weft_memory **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = (size_t)n * sizeof *numbers;
    TRY(weft_memory_make_unset(setup->device, bytes, out, error));
    TRY(weft_memory_write(*out, 0, numbers, bytes, error));
done:
    return status;
}

weft_status weft_setup_sums(weft_setup *setup, weft_memory *counts, int64_t n, weft_memory **out,
                            int64_t *total, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n_tiles = (n + SUMS_TILE - 1) / SUMS_TILE;
    weft_memory *sums = NULL, *sum = NULL, *made = NULL;
    TRY(weft_memory_make_unset(setup->device, (size_t)(n + 1) * sizeof(int64_t), &made, error));
    TRY(weft_memory_make_unset(setup->device, (size_t)(n_tiles + 1) * sizeof(int64_t), &sums,
                               error));
    TRY(weft_memory_make(setup->device, sizeof *total, &sum, error));
    const weft_setup_kernel tiles = {.file = "scan", .name = "scan_tiles", n, .n_blocks = n_tiles};
    TRY(weft_setup_launch(setup, &tiles, (weft_memory *[]){counts, sums}, 2, error));
    const weft_setup_kernel join = {.file = "scan", .name = "scan_sums", n_tiles, .n_blocks = 1};
    TRY(weft_setup_launch(setup, &join, (weft_memory *[]){sums, sum}, 2, error));
    const weft_setup_kernel finish = {
        .file = "scan", .name = "scan_finish", n, .n_blocks = n_tiles};
    TRY(weft_setup_launch(setup, &finish, (weft_memory *[]){counts, sums, sum, made}, 4, error));
    if (n == 0)
        TRY(weft_memory_zero(made, error));
    TRY(weft_memory_read(sum, 0, total, sizeof *total, error));
    *out = made;
    made = NULL;
done:
    weft_memory_free(&made);
    weft_memory_free(&sums);
    weft_memory_free(&sum);
    return status;
}
