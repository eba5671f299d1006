/** Compiles C++ text of emulated kernels (weft_cuda_on_host_text) with what the build has compiled once for all of them:
 *  cuda_on_host.h and an optimised object of cuda_on_host_run.h. Kernels are not optimised: compiling them takes longer than
 *  running them, and a GPU gets its code from another compiler. The loader finds functions of <math.h> in the process. */
#ifndef EMULATION_COMPILER_H
#define EMULATION_COMPILER_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/** Returns g++'s exit code; 127: there is none.
 *  source  .cc
 *  log     what it says goes to this file; NULL: to stderr */
static inline int emulation_run_compiler(const char *source, const char *object, const char *log) {
    const pid_t child = fork();
    if (child == 0) {
        if (log && !freopen(log, "w", stderr))
            _exit(127);
        execlp("g++", "g++", "-std=c++17", "-O0", "-w", "-fPIC", "-include",
               EMULATION_FOLDER "/cuda_on_host.h", "-x", "c++", source, "-x", "none",
               EMULATION_FOLDER "/run.o", "-shared", "-nostdlib", "-lm", "-lc", "-lgcc", "-o",
               object, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

#endif
