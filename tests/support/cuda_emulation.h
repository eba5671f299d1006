/** Generated CUDA text made into a shared object of the host's (cuda_on_host.h). */
#ifndef CUDA_EMULATION_H
#define CUDA_EMULATION_H

#include "fusion/base/cuda_on_host.h"
#include "test_support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/** Run a kernel of the object (dlsym): every block and thread of it. */
typedef void emulate_function(void *kernel, long long n, void **arguments, unsigned n_blocks,
                              unsigned n_threads, unsigned shared_bytes, int backwards);

static inline int emulation_run_compiler(const char *source, const char *object) {
    const pid_t child = fork();
    if (child == 0) {
        execlp("g++", "g++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-x", "c++", source,
               "-o", object, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/** Skips the test where there is no g++. dlclose(*object) when done. */
static inline void emulation_compile(const char *text, void **object, emulate_function **emulate) {
    char folder[] = "/tmp/weft-emulation-XXXXXX", source_name[64], object_name[64];
    assert_non_null(mkdtemp(folder));
    snprintf(source_name, sizeof source_name, "%s/kernel.cu", folder);
    snprintf(object_name, sizeof object_name, "%s/kernel.so", folder);
    FILE *file = fopen(source_name, "w");
    assert_non_null(file);
    weft_text cpp = {0};
    weft_cuda_on_host(text, &cpp);
    assert_false(cpp.failed);
    fputs(cpp.data, file);
    fclose(file);
    weft_text_free(&cpp);
    const int code = emulation_run_compiler(source_name, object_name);
    if (code == 127)
        skip_test("no g++ here");
    assert_int_equal(code, 0);
    *object = dlopen(object_name, RTLD_NOW | RTLD_LOCAL);
    if (*object == NULL)
        fail_msg("%s", dlerror());
    void *found = dlsym(*object, "emulate");
    memcpy(emulate, &found, sizeof found); /* C has no other way from an object to a function */
    unlink(source_name);
    unlink(object_name);
    rmdir(folder);
}

#endif
