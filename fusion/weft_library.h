/** The library of elementary functions: kernel files in (docs/kernel-files.md), functions out. */
#ifndef WEFT_LIBRARY_H
#define WEFT_LIBRARY_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_library weft_library;

/** The functions shipped with Weft (embedded from kernels/).
 *  out     caller's; weft_library_free
 *  Errors  WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE with file and line; WEFT_ERROR_MEMORY */
weft_status weft_library_make(weft_library **out, weft_error *error);
void weft_library_free(weft_library **library);
/** Add the functions of one kernel file; a function replaces an earlier one of its name.
 *  name    for messages
 *  text    copied, as is name
 *  Errors  as weft_library_make */
weft_status weft_library_add_text(weft_library *library, const char *name, const char *text,
                                  weft_error *error);
/** Add every *.kernel.c file below a directory, in order of path. */
weft_status weft_library_add_directory(weft_library *library, const char *directory,
                                       weft_error *error);

/** Let a library serve this form file alone: functions of different files have the same names. weft_ufl_bind does it.
 *  Returns  false: it serves another one */
bool weft_library_claim(weft_library *library, const void *forms);

/** A constant table, row-major, as `//@ table` lines of kernel files name it. */
typedef struct weft_table {
    int rank, sizes[4];
    double *values;
} weft_table;
/** Computes a constant table for `//@ table` lines.
 *  arguments  the integers given in the kernel file, such as (d, degree)
 *  out        starts from {0}; its values are allocated from the arena */
typedef weft_status (*weft_table_maker)(void *user, const int *arguments, int n_arguments,
                                        weft_arena *arena, weft_table *out, weft_error *error);
/** Register a table maker under a name. name is copied; maker and user must outlive the library. */
weft_status weft_library_add_table(weft_library *library, const char *name, int n_arguments,
                                   weft_table_maker maker, void *user, weft_error *error);

/** Description of a function, as `weft library` prints it. Borrowed from the library. */
typedef struct weft_function_info {
    const char *name, *signature, *kind, *flops, *source, *file;
    int line, n_variants;
    const char *const
        *granularities; /* threads of each variant, as written: "1", "m", "32 in cuda" */
    const char *const
        *languages;   /* of each variant: "plain", which every device runs, "c" or "cuda" */
    const char *text; /* the function's part of the kernel file */
} weft_function_info;
size_t weft_library_size(const weft_library *library);
/** i < weft_library_size; functions are sorted by name. */
void weft_library_info(const weft_library *library, size_t i, weft_function_info *out);

/* ---- testing a function */

typedef struct weft_test_operand {
    const char *name; /* in the signature */
    int rank, sizes[4], n;
    const double *values; /* [n], given by an example; NULL: the test chooses them */
    int over; /* nested functions: its index sets, a bit mask: 1 the first, 2 the second */
} weft_test_operand;

/** One test call of a function, with all sizes bound. */
typedef struct weft_test_case {
    const char *sizes; /* for messages: "m = 2, n = 3", or the text of an example */
    const char *keys;  /* named parameters of the call in a script: ", degree = 1", or "" */
    int n_arguments;
    weft_test_operand arguments[12], result;
    bool nested;         /* a function of a matrix: an element is a pair of a row and a column */
    char reduction;      /* 0: a map; + * < (min) > (max) f (combine): one element's contribution */
    const char *combine; /* the operator of a reduction; NULL: another one */
    bool commutative;    /* it says that the order of its values does not matter */
    int line;            /* line of the example in its file; 0: not an example */
} weft_test_case;

enum { WEFT_TEST_CASES_MAX = 48 };
typedef struct weft_test_cases {
    weft_test_case list[WEFT_TEST_CASES_MAX];
    int n;
    /* plain C references: a host kernel `trial_K` for each list[K], and where it has an operator
     * combine_K(a, b, result) and identity_K(result) of each element, and fold_K(values), which
     * combines the elements in their order, in place of the first */
    const char *source;
} weft_test_cases;

/** Test cases of a function: up to three sets of sizes, from small to large, that its signature and
 *  its `where` lines allow, up to 24 other settings of its tuned parameters, and its examples. The reference kernels are the unchanged body of the
 *  variant with `threads 1` (if there is none, of the first variant, thread after thread), compiled
 *  as plain C with real = double and no lanes.
 *  function  as in weft_library_info
 *  arena     owns what *out points to
 *  Layout    reference kernels take the arguments, then the result, as [element][component]; they
 *            compute all elements in the call with first_block == 0
 *  Errors    WEFT_ERROR_SHAPE (no sizes are allowed, or an example has sizes that are not),
 *            WEFT_ERROR_MEMORY */
weft_status weft_test_cases_make(const weft_library *library, size_t function, weft_arena *arena,
                                 weft_test_cases *out, weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
