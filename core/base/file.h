/** Files as a whole. In: a path, or an open file descriptor. Out: bytes. Files are not trusted: only
 *  regular files are opened, and reading one never takes more memory than its kind may need. */
#pragma once

#include "core/weft_core.h"

/** What a file is expected to be, which limits its size. */
typedef enum weft_file_kind {
    WEFT_FILE_SCRIPT,
    WEFT_FILE_FORMS,
    WEFT_FILE_KERNELS,
    WEFT_FILE_TABLE,
    WEFT_FILE_PROBLEM,
    WEFT_FILE_PLAN,
    WEFT_FILE_GEOMETRY,
    WEFT_FILE_HISTORY,
    WEFT_FILE_INDEX,
    WEFT_FILE_STUDY,
    WEFT_FILE_JSON,
    WEFT_FILE_DATA, /* anything: of any size that memory holds */
    WEFT_FILE_KINDS
} weft_file_kind;

/** weft_file_read for a file of this kind.
 *  Errors  also WEFT_ERROR_INPUT (larger than the kind allows), before anything is read */
weft_status weft_file_read_as(const char *path, weft_file_kind kind, char **out, size_t *length,
                              weft_error *error);
/** Read the start of a file of the system, such as one of /proc, and terminate it. It allocates no
 *  memory, so that what it says does not depend on memory that is short.
 *  Returns false if there is no such file; out is then "" */
bool weft_system_file_read(const char *path, char *out, size_t size);
/** Open a regular file, without ever waiting for one that is not.
 *  flags  of open(2), such as O_RDONLY; O_CLOEXEC is added
 *  out    caller's; close
 *  size   may be NULL
 *  Errors  WEFT_ERROR_IO (cannot be opened; a folder), WEFT_ERROR_INPUT (a FIFO, device or socket) */
weft_status weft_file_open(const char *path, int flags, int *out, int64_t *size, weft_error *error);
/** A number for the name of a temporary file: another one at each call. */
uint64_t weft_random(void);
/** Replace a file, or make it: under another name first. A link at its place is replaced, not
 *  followed. Sets no message.
 *  Errors  WEFT_ERROR_IO with errno set; an earlier file is untouched */
weft_status weft_file_replace(const char *path, const void *bytes, size_t size);

/** Write all bytes, by repeated calls of write if necessary. Sets no message.
 *  Errors  WEFT_ERROR_IO with errno set; ENOSPC if the file accepts no more bytes */
weft_status weft_write_all(int file, const void *bytes, size_t size);
