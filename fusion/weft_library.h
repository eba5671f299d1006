/** The library of elementary functions: kernel files in (docs/kernel-files.md), functions out. */
#ifndef WEFT_LIBRARY_H
#define WEFT_LIBRARY_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_library weft_library;

/** The functions shipped with Weft (embedded from kernels/).  Free with weft_library_free.
 *  Errors  WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE with file and line; WEFT_ERROR_MEMORY */
weft_status weft_library_make(weft_library **out, weft_error *error);
void weft_library_free(weft_library **library);
/** Add one kernel file's functions; a function of the same name replaces the earlier one. `name` is
 * for messages; texts are copied. */
weft_status weft_library_add_text(weft_library *library, const char *name, const char *text,
                                  weft_error *error);
/** Add every *.kernel.c below a directory, in order of path. */
weft_status weft_library_add_directory(weft_library *library, const char *directory,
                                       weft_error *error);

/** A constant table, its last subscript fastest. */
typedef struct weft_table {
    int rank, sizes[4];
    double *values;
} weft_table;
/** Makes a constant table for `//@ table` lines: fills *out, which starts from {0}, with values from
 *  the arena. arguments are the integers given in the kernel file, such as (d, degree). */
typedef weft_status (*weft_table_maker)(void *user, const int *arguments, int n_arguments,
                                        weft_arena *arena, weft_table *out, weft_error *error);
/** Offer a table under a name. user is borrowed; both must outlive the library. */
weft_status weft_library_add_table(weft_library *library, const char *name, int n_arguments,
                                   weft_table_maker maker, void *user, weft_error *error);

/** What `weft library` shows. Borrowed from the library. */
typedef struct weft_function_info {
    const char *name, *signature, *kind, *flops, *source, *file;
    int line, n_variants;
    const char *const *granularities; /* the threads of each variant, as written: "1", "m", "m*n" */
    const char *text;                 /* its part of the kernel file */
} weft_function_info;
size_t weft_library_size(const weft_library *library);
/** i < weft_library_size, in order of name. */
void weft_library_info(const weft_library *library, size_t i, weft_function_info *out);

/* ---- trying a function */

typedef struct weft_test_operand {
    const char *name; /* in the signature */
    int rank, sizes[4], n;
    const double *values; /* of an example, [n]; NULL: to be chosen */
} weft_test_operand;

/** One call of a function, with sizes: what a test of it runs. */
typedef struct weft_test_case {
    const char *sizes; /* for people: "m = 2, n = 3", or the text of an example */
    const char *keys;  /* what a script adds to the call: ", degree = 1", or "" */
    int n_arguments;
    weft_test_operand arguments[12], result;
    char reduction; /* 0: a map; + * < (min) > (max): the result is one element's contribution */
    int line;       /* of an example in its file; 0: no example */
} weft_test_case;

enum { WEFT_TEST_CASES_MAX = 24 };
typedef struct weft_test_cases {
    weft_test_case list[WEFT_TEST_CASES_MAX];
    int n;
    const char *source; /* the references as plain C: a host kernel `trial_K` for each list[K] */
} weft_test_cases;

/** Up to three choices of sizes, from small to large, that a function's signature and its where
 *  lines allow, and its examples. The references are the body with `threads 1` (else the first
 *  one, thread after thread) as it stands, with real = double and no lanes, for the C compiler.
 *  Kernels take the arguments and then the result as [instance][component], and work where
 *  first_block is 0.
 *  function  as in weft_library_info
 *  arena     owns what *out points to
 *  Errors    WEFT_ERROR_SHAPE (no sizes are allowed, an example has others), WEFT_ERROR_MEMORY */
weft_status weft_test_cases_make(const weft_library *library, size_t function, weft_arena *arena,
                                 weft_test_cases *out, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
