/* Prints what launches, copies and compilation cost on the GPU. No test: run it by hand. */
#include "core/weft_core.h"

#include <stdio.h>
#include <stdlib.h>

static const char source[] =
    "#define HERE (blockIdx.x * (long long)blockDim.x + threadIdx.x)\n"
    "extern \"C\" __global__ void copy(long long n, double2 *to, const double2 *from)\n"
    "{ if (HERE < n) to[HERE] = from[HERE]; }\n"
    "extern \"C\" __global__ void one(long long n, double *to)\n"
    "{ if (HERE < n) to[HERE] += 1; }\n";

static void run(weft_device *device, const weft_launch *launch, int times, weft_error *error) {
    for (int i = 0; i < times; ++i)
        if (weft_device_launch(device, launch, error) != WEFT_OK)
            exit(3);
    if (weft_device_wait(device, error) != WEFT_OK)
        exit(3);
}

int main(void) {
    weft_status status = WEFT_OK;
    weft_error problem = {0}, *error = &problem;
    weft_device *device = NULL;
    weft_module *module = NULL;
    weft_memory *a = NULL, *b = NULL;
    const size_t bytes = (size_t)4 << 30;
    char *host = calloc(bytes / 4, 1);
    double value, start = weft_clock();
    if (!host)
        return 3;
    TRY(weft_device_open("cuda", NULL, &device, error));
    printf("%s\nopen            %10.3f ms\n", weft_device_limits(device)->name,
           1e3 * (weft_clock() - start));
    start = weft_clock();
    TRY(weft_module_make(device, "device_times", source, &module, error));
    printf("module, %s   %10.3f ms\n", weft_module_cached(module) ? "cached" : "cold  ",
           1e3 * (weft_clock() - start));
    weft_module_free(&module);
    start = weft_clock();
    TRY(weft_module_make(device, "device_times", source, &module, error));
    printf("module, again   %10.3f ms\n", 1e3 * (weft_clock() - start));
    TRY(weft_memory_make(device, bytes, &a, error));
    TRY(weft_memory_make(device, bytes, &b, error));
    weft_memory *both[] = {b, a};
    weft_launch one = {.module = module,
                       .kernel = "one",
                       .arguments = both,
                       .n_arguments = 1,
                       .n_elements = 1,
                       .lanes = 32};
    weft_launch copy = {.module = module,
                        .kernel = "copy",
                        .arguments = both,
                        .n_arguments = 2,
                        .n_elements = (int64_t)(bytes / 16),
                        .lanes = 32};
    run(device, &one, 1000, error);
    start = weft_clock();
    run(device, &one, 20000, error);
    printf("launch          %10.3f us\n", 1e6 / 20000 * (weft_clock() - start));
    start = weft_clock();
    for (int i = 0; i < 1000; ++i)
        run(device, &one, 1, error);
    printf("launch and wait %10.3f us\n", 1e6 / 1000 * (weft_clock() - start));
    start = weft_clock();
    for (int i = 0; i < 1000; ++i)
        TRY(weft_memory_read(b, 0, &value, 8, error));
    printf("read 8 bytes    %10.3f us\n", 1e6 / 1000 * (weft_clock() - start));
    run(device, &copy, 5, error);
    start = weft_clock();
    run(device, &copy, 20, error);
    printf("device copy     %10.3f GB/s read and written\n",
           20 * 2e-9 * (double)bytes / (weft_clock() - start));
    for (int i = 0; i < 2; ++i) {
        start = weft_clock();
        TRY(weft_memory_write(a, 0, host, bytes / 4, error));
        TRY(weft_device_wait(device, error));
        printf("write 1 GiB     %10.3f GB/s\n", 0.25e-9 * (double)bytes / (weft_clock() - start));
        start = weft_clock();
        TRY(weft_memory_read(a, 0, host, bytes / 4, error));
        printf("read 1 GiB      %10.3f GB/s\n", 0.25e-9 * (double)bytes / (weft_clock() - start));
    }
    weft_memory_free(&a);
    start = weft_clock();
    for (int i = 0; i < 1000; ++i) {
        TRY(weft_memory_make(device, 1 << 20, &a, error));
        weft_memory_free(&a);
    }
    TRY(weft_device_wait(device, error));
    printf("make and free   %10.3f us, 1 MiB\n", 1e6 / 1000 * (weft_clock() - start));
done:
    if (status != WEFT_OK)
        fprintf(stderr, "%s\n", problem.message);
    weft_memory_free(&a);
    weft_memory_free(&b);
    weft_module_free(&module);
    weft_device_free(&device);
    free(host);
    return weft_status_exit_code(status);
}
