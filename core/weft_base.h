/** Errors, host memory, text and messages to the user. Every public function that can fail returns
 *  a weft_status and fills the caller's weft_error (which may be NULL). The library never exits,
 *  never prints and keeps no mutable globals. */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEFT_PRINTF(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define WEFT_PRINTF(format_index, first_argument)
#endif

/* ---- status and errors ---------------------------------------------------------------------- */

typedef enum weft_status {
    WEFT_OK = 0,
    WEFT_ERROR_USAGE,       /* a wrong argument, option or call                       exit 2 */
    WEFT_ERROR_INPUT,       /* the user's file or data are invalid                    exit 2 */
    WEFT_ERROR_SYNTAX,      /* text that does not parse                               exit 2 */
    WEFT_ERROR_TYPE,        /* text that parses but makes no sense                    exit 2 */
    WEFT_ERROR_SHAPE,       /* sizes that do not agree                                exit 2 */
    WEFT_ERROR_IO,          /* cannot read or write a file                            exit 2 */
    WEFT_ERROR_UNSUPPORTED, /* valid, but this build or device cannot do it           exit 2 */
    WEFT_ERROR_MEMORY,      /* out of memory, on the host or on the device            exit 3 */
    WEFT_ERROR_DEVICE,      /* the device failed or is missing                        exit 3 */
    WEFT_ERROR_COMPILER,    /* the system compiler is missing or refused the source   exit 3 */
    WEFT_ERROR_INTERNAL,    /* a bug in Weft                                          exit 3 */
    WEFT_ERROR_CANCELLED    /* by weft_monitor.cancelled                              exit 3 */
} weft_status;

/** What went wrong, where, and what to do. Fixed size, so that reporting never allocates.
 *  Empty strings and zeros mean "not known". line and column count from 1. They come first, so that
 *  `weft_error error = {0};` compiles in C++, where 0 is not a weft_status. */
typedef struct weft_error {
    int line, column;
    weft_status status;
    char message[1024];
    char file[512];
    char source_line[256]; /* the offending line itself, for the caret */
    char hint[512];
} weft_error;

/** Fill *error (NULL allowed) with a message, clearing location and hint; returns status. Control
 *  characters of the arguments become '?', as weft_message_print says. */
weft_status weft_error_set(weft_error *error, weft_status status, const char *format, ...)
    WEFT_PRINTF(3, 4);
weft_status weft_error_set_list(weft_error *error, weft_status status, const char *format,
                                va_list arguments);
/** "out of memory for WHAT"; if what is NULL, "out of memory". Returns WEFT_ERROR_MEMORY. */
weft_status weft_out_of_memory(weft_error *error, const char *what);
/** Add the source location.
 *  text  the whole source text, whose line `line` is copied; may be NULL */
void weft_error_location(weft_error *error, const char *file, const char *text, int line,
                         int column);
/** Add advice on how to solve the problem. */
void weft_error_hint(weft_error *error, const char *format, ...) WEFT_PRINTF(2, 3);
void weft_error_hint_list(weft_error *error, const char *format, va_list arguments);
/** Set an error and advice that have no arguments. Returns status. */
weft_status weft_error_refuse(weft_error *error, weft_status status, const char *message,
                              const char *hint);
/** Write "file:line:column: error: message", the line, a caret and the hint into out, truncated to
 *  size bytes including the terminating zero. Returns the length of the untruncated text. */
size_t weft_error_text(const weft_error *error, char *out, size_t size);
/** The exit code for a status: 0, 2 or 3 (see weft_status). */
int weft_status_exit_code(weft_status status);
const char *weft_status_name(weft_status status);

/** Set status and jump to done: the one macro that hides control flow. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != WEFT_OK)                                                                     \
            goto done;                                                                             \
    } while (0)

/** The nearest of n names to `name` by edit distance (borrowed), or NULL if none is similar. */
const char *weft_nearest_name(const char *name, const char *const *names, size_t n);
/** Does the text contain the word as a whole C identifier? Always false for "". */
bool weft_has_word(const char *text, const char *word);

/* ---- options -------------------------------------------------------------------------------- */

/** Every weft_NAME_options begins with its size, so that a library with other members refuses it instead of
 *  reading what is not there (WEFT_ERROR_USAGE). Start from weft_NAME_options_default(), or initialise
 *  {.size = sizeof(weft_NAME_options), ...}: the other members are then 0.
 *
 *  Clear options of `size` bytes, and set their size. */
void weft_options_clear(void *options, size_t size);

/* ---- memory --------------------------------------------------------------------------------- */

/** Allocate count * size bytes, zeroed, 64-byte aligned and followed by WEFT_PADDING spare bytes.
 *  Returns NULL on overflow or lack of memory. Free with free(). */
void *weft_array_make(size_t count, size_t size);
/** As weft_array_make, but only the padding after `bytes` is zeroed. The other pages are allocated
 *  by the first write, near the thread that makes it (NUMA first touch). */
void *weft_array_make_unset(uint64_t bytes);
/** Zeroed, accessible bytes after the end of every weft_array_make and weft_memory, so that whole
 *  blocks of lanes can be loaded and stored. */
#define WEFT_PADDING 1024

typedef struct weft_arena weft_arena;
weft_status weft_arena_make(weft_arena **out, weft_error *error);
void weft_arena_free(weft_arena **arena);
/** Take back all allocations, for other ones. */
void weft_arena_clear(weft_arena *arena);
/** Allocate count * size zeroed bytes, aligned for any type. NULL on overflow or lack of memory. */
void *weft_arena_alloc(weft_arena *arena, size_t count, size_t size);
char *weft_arena_copy(weft_arena *arena, const char *text, size_t length);
char *weft_arena_print(weft_arena *arena, const char *format, ...) WEFT_PRINTF(2, 3);

/** Growing text. Start from {0}. After a failed allocation `failed` is set and later additions do
 *  nothing, so one check at the end is enough. */
typedef struct weft_text {
    char *data; /* zero-terminated; NULL until something is added */
    size_t length, capacity;
    bool failed;
} weft_text;
void weft_text_add(weft_text *text, const char *format, ...) WEFT_PRINTF(2, 3);
void weft_text_add_bytes(weft_text *text, const char *bytes, size_t length);
void weft_text_free(weft_text *text);

/** Read a whole file and append a terminating zero.
 *  out     malloc'd
 *  length  without the terminator; may be NULL
 *  Errors  WEFT_ERROR_IO (names the file), WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_file_read(const char *path, char **out, size_t *length, weft_error *error);

/** Parse an amount of memory such as "500M" or "16G" (powers of 1000: k, M, G, T), at least 1M.
 *  origin  the option or variable, for messages
 *  Units   bytes
 *  Errors  WEFT_ERROR_USAGE */
weft_status weft_parse_bytes(const char *origin, const char *text, double *out, weft_error *error);
/** Parse a positive number of seconds.
 *  origin  the option or variable, for messages
 *  Errors  WEFT_ERROR_USAGE */
weft_status weft_parse_seconds(const char *origin, const char *text, double *out,
                               weft_error *error);

/** Number of bytes of a path to use as the prefix of a temporary file's name. The last component is
 *  cut to 220 bytes, so that a suffix still fits into the 255 bytes of a file name. */
int weft_path_kept(const char *path);

/* ---- messages to the user ------------------------------------------------------------------- */

typedef enum weft_log_level {
    WEFT_LOG_ERROR,
    WEFT_LOG_WARNING,
    WEFT_LOG_INFO,
    WEFT_LOG_DEBUG
} weft_log_level;

/** Callbacks that an app installs. Every member may be NULL; a NULL monitor is silent. Objects made
 *  with a monitor borrow it: it must outlive them. */
typedef struct weft_monitor {
    void (*log)(void *user, weft_log_level level, const char *message);
    /* `done` of `total` units of work of the phase; total 0: unknown */
    void (*progress)(void *user, const char *phase, double done, double total);
    void *user;
    /* Number of the thread (gettid) whose call shall end soon with WEFT_ERROR_CANCELLED: another thread, or a signal
     * handler, sets it and sets 0 afterwards. What the call was to write is then undefined. Borrowed */
    const int *cancelled;
} weft_monitor;
void weft_log(const weft_monitor *monitor, weft_log_level level, const char *format, ...)
    WEFT_PRINTF(3, 4);
void weft_progress(const weft_monitor *monitor, const char *phase, double done, double total);
/** WEFT_ERROR_CANCELLED if the calling thread shall end its call, otherwise WEFT_OK. */
weft_status weft_cancelled(const weft_monitor *monitor, weft_error *error);

/** The version of the library, "0.1.0". */
const char *weft_version(void);
/** Seconds of a monotonic clock. */
double weft_clock(void);
/** Peak resident memory of this process, bytes. */
size_t weft_memory_peak(void);
/** Bytes of memory that this process may use: the machine's, or the limit of its control groups. */
size_t weft_memory_available(void);
/** 128-bit xxHash of the bytes, as 32 hexadecimal digits and a terminator. */
void weft_hash(const void *bytes, size_t length, char out[33]);
/** 64-bit xxHash of a text, for tables of names. */
uint64_t weft_hash_text(const char *text);

#ifdef __cplusplus
}
#endif
#endif
