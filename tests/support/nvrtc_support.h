/** Does a text compile for an H200? Where NVRTC is missing the test is skipped. */
#ifndef NVRTC_SUPPORT_H
#define NVRTC_SUPPORT_H

#include "core/cuda/cuda.h"
#include "core/weft_core.h"
#include "test_support.h"

static inline void nvrtc_open_or_skip(weft_nvrtc *nvrtc) {
    weft_error error = {0};
    if (weft_nvrtc_open(nvrtc, &error) != WEFT_OK)
        skip_test(error.message);
}

static inline void nvrtc_expect_compiles(const weft_nvrtc *nvrtc, const char *name,
                                         const char *source) {
    weft_error error = {0};
    weft_cubin cubin = {0};
    if (weft_nvrtc_compile(nvrtc, 90, name, source, &cubin, &error) != WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fail_msg("%s", text);
    }
    assert_true(cubin.size > 1000);
    assert_memory_equal(cubin.bytes, "\177ELF", 4);
    weft_cubin_free(&cubin);
}

#endif
