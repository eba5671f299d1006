/* What libraries in a wheel need of the C library under other names (cmake/weft_dependencies.cmake): copies of stdin,
 * stdout and stderr, and the hypot of glibc before 2.35, so that glibc 2.34 is enough. */
#include <stdio.h>

FILE *weft_stdin, *weft_stdout, *weft_stderr;

__attribute__((constructor)) static void copy_streams(void) {
    weft_stdin = stdin;
    weft_stdout = stdout;
    weft_stderr = stderr;
}

#ifdef __x86_64__
double weft_hypot(double x, double y);
__asm__(".symver weft_hypot, hypot@GLIBC_2.2.5");
double __wrap_hypot(double x, double y);

double __wrap_hypot(double x, double y) {
    return weft_hypot(x, y);
}
#endif
