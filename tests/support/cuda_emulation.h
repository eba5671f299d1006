/** Generated CUDA text made into a shared object of the host's (cuda_on_host.h). */
#ifndef CUDA_EMULATION_H
#define CUDA_EMULATION_H

#include "emulation_compiler.h"
#include "fusion/base/cuda_on_host.h"
#include "test_support.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Run a kernel of the object (dlsym): every block and thread of it. */
typedef void emulate_function(void *kernel, long long n, void **arguments, unsigned n_blocks,
                              unsigned n_threads, unsigned shared_bytes, int backwards);

/* Skips the test where there is no g++. Threads make kernels at once: their stacks tell their files apart. */
static inline void emulation_make(const char *cpp, const char *folder, const char *object) {
    char source[PATH_MAX], made[PATH_MAX];
    snprintf(source, sizeof source, "%s/%d_%p.cu", folder, (int)getpid(), (void *)source);
    snprintf(made, sizeof made, "%s/%d_%p.so", folder, (int)getpid(), (void *)source);
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fputs(cpp, file);
    assert_int_equal(fclose(file), 0);
    const int code = emulation_run_compiler(source, made, NULL);
    unlink(source);
    if (code == 127)
        skip_test("no g++ here");
    assert_int_equal(code, 0);
    assert_int_equal(rename(made, object), 0); /* whole or not at all, for tests that run at once */
}

/** The object of a text is compiled once for all tests and kept with their other kernels.
 *  Skips the test where there is no g++. dlclose(*object) when done. */
static inline void emulation_compile(const char *text, void **object, emulate_function **emulate) {
    static const char folder[] = WEFT_BINARY_DIR "/test-cache/emulation";
    char hash[33], name[PATH_MAX];
    weft_text cpp = {0};
    weft_cuda_on_host(text, &cpp);
    assert_false(cpp.failed);
    weft_hash(cpp.data, strlen(cpp.data), hash);
    weft_text_free(&cpp);
    weft_cuda_on_host_text(text, &cpp);
    assert_false(cpp.failed);
    mkdir(WEFT_BINARY_DIR "/test-cache", 0777);
    mkdir(folder, 0777);
    snprintf(name, sizeof name, "%s/%s.so", folder, hash);
    if (access(name, R_OK) != 0)
        emulation_make(cpp.data, folder, name);
    weft_text_free(&cpp);
    *object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (*object == NULL)
        fail_msg("%s", dlerror());
    void *found = dlsym(*object, "emulate");
    memcpy(emulate, &found, sizeof found); /* C has no other way from an object to a function */
}

#endif
