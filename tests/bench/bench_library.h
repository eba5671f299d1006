/** Opening a rival's shared library. */
#ifndef BENCH_LIBRARY_H
#define BENCH_LIBRARY_H

#include <stddef.h>

/** The first of these names that can be opened, by itself or in the CUDA toolkit's usual folder.
 *  names    NULL-terminated
 *  missing  NULL is returned: which library was not found */
void *bench_library_open(const char *const *names, char *missing, size_t size);

#endif
