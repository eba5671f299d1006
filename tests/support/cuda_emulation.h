/** Generated CUDA text made into a shared object of the host's (cuda_on_host.h). */
#ifndef CUDA_EMULATION_H
#define CUDA_EMULATION_H

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

static inline int emulation_run_compiler(const char *source, const char *object,
                                         const char *include) {
    const pid_t child = fork();
    if (child == 0) {
        execlp("g++", "g++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-include", include,
               "-x", "c++", source, "-o", object, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What has another text in C++: dynamic shared memory, and an instruction of the device's. */
static inline void emulation_write_source(FILE *file, const char *text) {
    static const char *const pairs[][2] = {
        {"extern __shared__ __align__(128) unsigned char shared[];",
         "unsigned char *const shared = emulated_shared;"},
        {"extern __shared__ __align__(16) unsigned char shared[];",
         "unsigned char *const shared = emulated_shared;"},
        {"asm(\"rcp.approx.ftz.f64 %0, %1;\" : \"=d\"(r) : \"d\"(x));", "r = 1 / x;"}};
    while (*text != '\0') {
        size_t skipped = 0;
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)
            if (strncmp(text, pairs[i][0], strlen(pairs[i][0])) == 0) {
                fputs(pairs[i][1], file);
                skipped = strlen(pairs[i][0]);
            }
        if (skipped == 0) {
            fputc(*text, file);
            skipped = 1;
        }
        text += skipped;
    }
}

/** Skips the test where there is no g++. dlclose(*object) when done. */
static inline void emulation_compile(const char *text, void **object, emulate_function **emulate) {
    char folder[] = "/tmp/weft-emulation-XXXXXX", source_name[64], object_name[64];
    assert_non_null(mkdtemp(folder));
    snprintf(source_name, sizeof source_name, "%s/kernel.cu", folder);
    snprintf(object_name, sizeof object_name, "%s/kernel.so", folder);
    FILE *file = fopen(source_name, "w");
    assert_non_null(file);
    emulation_write_source(file, text);
    fclose(file);
    const int code = emulation_run_compiler(source_name, object_name,
                                            WEFT_SOURCE_DIR "/tests/support/cuda_on_host.h");
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
