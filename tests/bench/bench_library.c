/* Opens the shared libraries of rivals. */
#include "bench_library.h"

#include <dlfcn.h>
#include <stdio.h>

void *bench_library_open(const char *const *names, char *missing, size_t size) {
    for (int i = 0; names[i]; ++i) {
        char path[256];
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        snprintf(path, sizeof path, "/usr/local/cuda/lib64/%s", names[i]);
        if (!library)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library)
            return library;
    }
    snprintf(missing, size, "%s is not there (add its folder to LD_LIBRARY_PATH)", names[0]);
    return NULL;
}
