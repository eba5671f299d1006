/* NVRTC. In: a source in CUDA C++. Out: a CUBIN for one architecture. Not installed. */
#pragma once

#include "core/cuda/driver.h"

typedef struct weft_nvrtc {
    void *library; /* NULL: not opened */
    int major, minor;
    const char *(*nvrtcGetErrorString)(int code);
    WEFT_NVRTC_FUNCTIONS(WEFT_CU_MEMBER)
} weft_nvrtc;

/** Look for libnvrtc by name, then below $CUDA_HOME and /usr/local/cuda.
 *  Errors WEFT_ERROR_COMPILER */
weft_status weft_nvrtc_open(weft_nvrtc *out, weft_error *error);
void weft_nvrtc_close(weft_nvrtc *nvrtc);

/** A CUBIN with what the assembler said about it, as it is kept in the cache. */
typedef struct weft_cubin {
    unsigned char *bytes; /* the CUBIN, the log with a terminator, the CUBIN's size (8 bytes) */
    size_t size;          /* of the CUBIN */
    size_t whole;         /* of everything */
} weft_cubin;

/** Everything that decides what NVRTC makes of a source, as text. */
void weft_nvrtc_describe(const weft_nvrtc *nvrtc, int architecture, char *out, size_t size);
/** Compile for one architecture (90: sm_90). Needs no driver and no GPU.
 *  Errors WEFT_ERROR_COMPILER (message holds NVRTC's first lines), WEFT_ERROR_MEMORY */
weft_status weft_nvrtc_compile(const weft_nvrtc *nvrtc, int architecture, const char *name,
                               const char *source, weft_cubin *out, weft_error *error);
/** Cut what the cache held, and take it over; false, and nothing taken, when that is no CUBIN. */
bool weft_cubin_read(unsigned char *bytes, size_t whole, weft_cubin *out);
void weft_cubin_free(weft_cubin *cubin);
/** Registers, stack and shared memory from the ELF file, spills from the log (-1 where it has
 *  none). False: there is no such kernel. */
bool weft_cubin_resources(const weft_cubin *cubin, const char *kernel, weft_kernel_resources *out);
