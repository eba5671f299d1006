/** Set-up computed by kernels of the device (kernels/setup).
 *
 *      In: lists on a device.  Out: sums, and launches of the set-up kernels.
 *
 *  On devices that run elements as threads and hold data, set-up is computed there, with the same
 *  results as the host's, bit for bit. */
#pragma once

#include "core/weft_core.h"

/** Whether set-up runs on the device. */
bool weft_setup_on_device(const weft_device *device);

/** The set-up kernels of a device; those of a file are compiled or loaded at the first launch. */
typedef struct weft_setup weft_setup;
/** out     caller's; weft_setup_free
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_setup_make(weft_device *device, weft_setup **out, weft_error *error);
void weft_setup_free(weft_setup **setup);
weft_device *weft_setup_device(const weft_setup *setup);

typedef struct weft_setup_kernel {
    const char *file, *name; /* kernels/setup/FILE.cu */
    int64_t n;               /* first argument; nothing is launched if it is 0 */
    int64_t n_blocks;        /* thread blocks of 256; 0: a thread per element */
    int shared_bytes;
} weft_setup_kernel;
/** Launch a kernel; asynchronous.
 *  arguments  [n_arguments] borrowed
 *  Errors     WEFT_ERROR_INTERNAL (no such file), _MEMORY, _COMPILER, _DEVICE */
weft_status weft_setup_launch(weft_setup *setup, const weft_setup_kernel *kernel,
                              weft_memory *const *arguments, int n_arguments, weft_error *error);
/** The name of file `number` of kernels/setup, from 0; false if there are fewer. */
bool weft_setup_file(int number, char *name, size_t size);
/** Compile all of these kernels into the device's kernel cache, on other threads
 *  (weft_module_store_later). Nothing happens where set-up does not run on the device. */
void weft_setup_precompile(weft_device *device);
/** Append the CUDA source of kernels/setup/FILE.cu with the files that it includes.
 *  Errors  WEFT_ERROR_INTERNAL (no such file), _MEMORY */
weft_status weft_setup_source(const char *file, weft_text *text, weft_error *error);
/** Place numbers on the device, as arguments of kernels.
 *  out  caller's; weft_memory_free */
weft_status weft_setup_numbers(weft_setup *setup, const int64_t *numbers, int n, weft_memory **out,
                               weft_error *error);
/** Exclusive sums.
 *  counts  [n] uint32_t
 *  out     [n + 1] int64_t, made; caller's; weft_memory_free
 *  total   the last of them; waits for the device */
weft_status weft_setup_sums(weft_setup *setup, weft_memory *counts, int64_t n, weft_memory **out,
                            int64_t *total, weft_error *error);
