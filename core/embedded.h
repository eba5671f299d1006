/** Text files that the build turns into part of a library (cmake/embed.cmake). */
#ifndef WEFT_EMBEDDED_H
#define WEFT_EMBEDDED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** name  path relative to the embedded folder, with '/': "algebra/mmul.kernel.c", "poisson.weft"
 *  text  the whole file, zero-terminated */
typedef struct weft_embedded_file {
    const char *name;
    const char *text;
} weft_embedded_file;

#ifdef __cplusplus
}
#endif
#endif
