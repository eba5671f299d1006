/** For programs that load libweft.so at run time: whether its interface is the one that they were made for. */
#ifndef WEFT_INTERFACE_H
#define WEFT_INTERFACE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The number of the interface that the installed headers describe. It grows when a function, an enumeration or the
 *  meaning of a member changes so that programs have to be changed or compiled again. */
#define WEFT_INTERFACE_VERSION 1
/** WEFT_INTERFACE_VERSION of the library. */
int weft_interface_version(void);

/** A struct that the installed headers lay open. */
typedef struct weft_interface_size {
    const char *name; /* "weft_mesh" */
    size_t size;      /* sizeof in the library */
} weft_interface_size;
/** All of them.
 *  n        set to their number
 *  Returns  [n] by name; static */
const weft_interface_size *weft_interface_sizes(size_t *n);

#ifdef __cplusplus
}
#endif
#endif
