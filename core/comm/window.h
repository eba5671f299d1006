/** Memory that kernels on the GPUs of all ranks reach. Not installed.
 *
 *      the ranks' devices, bytes -> a memory of each, and its address for each of the others
 *
 *  GPUs of one machine reach each other over PCIe or NVLink: ranks that are threads by the address, processes by a handle
 *  of CUDA's (IPC). */
#pragma once

#include "core/weft_comm.h"
#include "core/weft_device.h"

typedef struct weft_window weft_window;
/** All ranks call it.
 *  bytes   of this rank's memory, which is zeroed
 *  out     caller's; weft_window_free, when no rank writes any more. NULL where a device does not reach another one's memory
 *  why     [size] the reason for NULL; "" otherwise
 *  Errors  those of weft_comm_gather and weft_memory_make; *out untouched */
weft_status weft_window_make(weft_comm *comm, weft_device *device, size_t bytes, weft_window **out,
                             char *why, size_t size, weft_error *error);
void weft_window_free(weft_window **window);
/** The address by which kernels of this rank's device access the memory of another rank, or its own. */
int64_t weft_window_address(const weft_window *window, int rank);
