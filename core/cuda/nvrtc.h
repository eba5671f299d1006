/* NVRTC. In: a source in CUDA C++. Out: a CUBIN for one architecture. Not installed. */
#pragma once

#include "core/cuda/driver.h"

typedef struct weft_nvrtc {
    void *library; /* NULL: not opened */
    int major, minor;
    const char *(*nvrtcGetErrorString)(int code);
    WEFT_NVRTC_FUNCTIONS(WEFT_CU_MEMBER)
} weft_nvrtc;

/** Open libnvrtc, by its name or below $CUDA_HOME or /usr/local/cuda.
 *  Errors  WEFT_ERROR_COMPILER: not found or unusable */
weft_status weft_nvrtc_open(weft_nvrtc *out, weft_error *error);
void weft_nvrtc_close(weft_nvrtc *nvrtc);

/** A CUBIN with the assembler's log, in the layout of cache entries:
 *
 *      CUBIN [size] | log, zero-terminated | size (8 bytes)            whole bytes */
typedef struct weft_cubin {
    unsigned char *bytes; /* malloc'd */
    size_t size;          /* of the CUBIN */
    size_t whole;         /* of all three parts */
} weft_cubin;

/** Describe, as text, everything other than the source that determines NVRTC's output. */
void weft_nvrtc_describe(const weft_nvrtc *nvrtc, int architecture, char *out, size_t size);
/** Compile a source. Needs no driver and no GPU.
 *  architecture  90: sm_90
 *  out           caller's; weft_cubin_free
 *  Errors        WEFT_ERROR_COMPILER (message holds NVRTC's first lines), WEFT_ERROR_MEMORY */
weft_status weft_nvrtc_compile(const weft_nvrtc *nvrtc, int architecture, const char *name,
                               const char *source, weft_cubin *out, weft_error *error);
/** Parse a cache entry and take ownership of its bytes. If it is not a CUBIN with its log, return
 *  false without taking ownership. */
bool weft_cubin_read(unsigned char *bytes, size_t whole, weft_cubin *out);
void weft_cubin_free(weft_cubin *cubin);
/** Resource usage of a kernel: registers, stack and shared memory from the ELF file, spills from
 *  the log (-1 if absent). False: there is no such kernel. */
bool weft_cubin_resources(const weft_cubin *cubin, const char *kernel, weft_kernel_resources *out);
