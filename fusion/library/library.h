/** Elementary functions. In: kernel files. Out: functions, functions with their sizes bound, the
 *  text of their bodies. */
#pragma once

#include "fusion/script/script.h"

/** How a reduction joins its elements' contributions. */
typedef struct weft_reduction {
    char op;        /* + * < (min) > (max) */
    double neutral; /* joined with x it gives x */
} weft_reduction;

typedef struct weft_function weft_function; /* defined in fusion/library/function.h */

/** The map function of this name, or NULL. */
const weft_function *weft_library_find(const weft_library *library, const char *name);
/** The reduction of this name, or NULL: `dot` of small vectors is a map, of lists of scalars a
 * reduction. */
const weft_function *weft_library_find_reduction(const weft_library *library, const char *name);
/** Does the same number added to every member of this argument (or row to its rows) change nothing?
 */
bool weft_function_shifts(const weft_function *function, int argument);
/** What a function of kind reduce joins by; NULL for maps. */
const struct weft_reduction *weft_function_reduction(const weft_function *function);
/** The names of all functions, for suggestions. Borrowed. */
const char *const *weft_library_names(const weft_library *library, size_t *n);

typedef struct weft_shape {
    int rank; /* 0: scalar */
    int sizes[WEFT_RANK_MAX];
} weft_shape;
int weft_shape_count(const weft_shape *shape); /* components: 1 for a scalar */
bool weft_shape_equal(const weft_shape *a, const weft_shape *b);
/** "real", "real[3,3]" */
void weft_shape_print(const weft_shape *shape, weft_text *out);

/** A function with its sizes bound: what one call in a script means. */
typedef struct weft_specialisation {
    const weft_function *function;
    weft_shape arguments[WEFT_ARGUMENTS_MAX];
    int n_arguments;
    weft_shape result;
    double flops;
    int n_variants;
    int *threads; /* [n_variants], evaluated: 1, 3, 9 */
    /* size names, parameters and tables, evaluated; for fusion/library/body_emit.c */
    int n_names;
    const char **names;
    int *values;
    int n_tables;
    const char **table_names;
    weft_shape *table_shapes;
    double **tables;
} weft_specialisation;

/** A call to be specialised: argument shapes; parameters by name (the others get their defaults);
 *  where errors are shown, source NULL: nowhere. */
typedef struct weft_element_request {
    const weft_function *function;
    const weft_shape *arguments;
    int n_arguments;
    const char *const *keys;
    const int *key_values;
    int n_keys;
    weft_location place;
} weft_element_request;
/** Unify the argument shapes with the function's signature (sizes m, k, n), take parameters from
 * keys (else their defaults), make its tables, infer the result's shape, evaluate flops and
 * threads. Errors are placed at `place` and show both shapes and the signature. */
weft_status weft_specialisation_make(weft_arena *arena, const weft_library *library,
                                     const weft_element_request *request, weft_specialisation **out,
                                     weft_error *error);

/** Where an operand lives in generated code: component (i, j) of a shape [.., n] is
 *  base[offset + i * n + j]; a scalar is base[offset]. */
typedef struct weft_accessor {
    const char *base;
    int offset;
} weft_accessor;

/** What a backend's bodies look like (fusion/codegen/target_host.c). */
/** A loop of a body that becomes fewer statements than this is unrolled: its subscripts are then
 *  all constants, so that register arrays really live in registers. */
#define WEFT_UNROLL_MAX 256
typedef struct weft_body_style {
    const char
        *splat; /* macro that turns a scalar or a vector into a `real`, around initialisers of and
                   assignments to `real` variables and accessors; NULL where real is a C scalar */
    const char *thread; /* the name that `t` becomes */
    const char *indent;
    int unroll; /* loops become straight-line code below so many statements; 0: WEFT_UNROLL_MAX */
} weft_body_style;

/** Write the body of one variant with accessors replaced by their places, sizes and parameters by
 *  numbers, tables by constants, `t` by the thread index. The emitted code is the statements of one
 * thread. The caller wraps it into braces, and into `for (int t = 0; t < threads; ++t)` where it is
 * run by one. arguments [n_arguments], result: accessors. Errors with the kernel file's line. */
weft_status weft_body_emit(const weft_specialisation *specialisation, int variant,
                           const weft_accessor *arguments, const weft_accessor *result,
                           const weft_body_style *style, weft_text *out, weft_error *error);

/* ---- product kernels */

#define WEFT_PRODUCT_ARGUMENTS_MAX 16

typedef struct weft_product_argument {
    const char *type, *name; /* "const double *", "values" */
} weft_product_argument;

/** Text that computes whole rows of y = A v for the rows that a thread block owns. What stands in
 *  its scope, and what it must leave, is in docs/kernel-files.md. */
typedef struct weft_product_kernel {
    const char *name;
    int threads, rows; /* of a block; rows is a multiple of threads and of
                          WEFT_CUDA_REDUCTION_TILE */
    int blocks; /* of a multiprocessor at once, for which there must be registers; 0: any number */
    weft_product_argument *arguments;
    int n_arguments;
    const char *helpers, *body;
} weft_product_kernel;
/** The shipped product kernel of this name. Errors WEFT_ERROR_USAGE (lists those that exist) and,
 *  for a file that breaks the rules, WEFT_ERROR_SYNTAX with its line. */
weft_status weft_product_kernel_find(weft_arena *arena, const char *name,
                                     const weft_product_kernel **out, weft_error *error);
/** Read a product kernel file. */
weft_status weft_product_kernel_read(weft_arena *arena, const weft_source *source,
                                     const weft_product_kernel **out, weft_error *error);

/** Does a thread of a variant touch a component of an argument (operand -1: of the result), by its
 *  thread-to-data mapping? 1, 0, or -1 where the mapping does not say. */
int weft_specialisation_accesses(const weft_specialisation *specialisation, int variant,
                                 int operand, int thread, int component);
