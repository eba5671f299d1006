/** Elementary functions. In: kernel files. Out: functions, specialisations (functions with all
 *  sizes bound), the text of their bodies. */
#pragma once

#include "fusion/base/residues.h"
#include "fusion/script/script.h"

/** What a reduction of a nested function combines, if its arguments are over two index sets. */
typedef enum weft_reduce_over {
    REDUCE_ALL,   /* everything: the result is uniform */
    REDUCE_FIRST, /* over the first index set: the result is over the second */
    REDUCE_SECOND /* over the second index set: the result is over the first */
} weft_reduce_over;

/** The operation of a reduction. */
typedef struct weft_reduction {
    char op;             /* + * < (min) > (max), or f: a function of the library */
    const char *combine; /* op f: its name, and the place of the line that names it */
    weft_location place;
    weft_reduce_over over;
} weft_reduction;

typedef struct weft_function weft_function; /* defined in fusion/library/function.h */

/** The map function of this name, or NULL. */
const weft_function *weft_library_find(const weft_library *library, const char *name);
/** The reduction of this name, or NULL. A map may have the same name: `dot` of small vectors is a
 *  map, `dot` of lists of scalars is a reduction. */
const weft_function *weft_library_find_reduction(const weft_library *library, const char *name);
/** Is the function invariant when the same number is added to all components of this argument, or
 *  the same row to all of its rows (`//@ shift`)? */
bool weft_function_shifts(const weft_function *function, int argument);
/** Is the result the matrix product of the two arguments (`//@ product A*B`)? */
bool weft_function_is_product(const weft_function *function);
/** Does it work on arrays that should be registers (`//@ unroll`)? */
bool weft_function_is_unrolled(const weft_function *function);
/** Is the result of a body only assigned to, neither read nor added to? */
bool weft_function_only_assigns(const weft_function *function, int variant);
/** Index sets of an argument (-1: of the result) of a nested function, as a bit mask: 1 the first,
 *  2 the second. 0: the signature does not say (`over`). */
int weft_function_over(const weft_function *function, int argument);
/** The operation of a function of kind reduce; NULL for maps. */
const struct weft_reduction *weft_function_reduction(const weft_function *function);
/** The variant with one thread; where there is none, the first. */
int weft_function_plain_variant(const weft_function *function);
/** May the elements of an operator be combined in any order (`//@ commutative`)? */
bool weft_function_is_commutative(const weft_function *function);
/** Does a body of a reduction use the number of its element? */
bool weft_function_counts(const weft_function *function);
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

/** A function with all sizes bound, as one call in a script uses it. */
typedef struct weft_specialisation {
    const weft_function *function;
    weft_shape arguments[WEFT_ARGUMENTS_MAX];
    int n_arguments;
    weft_shape result;
    double flops;
    int n_variants;
    int *threads;                      /* [n_variants], evaluated: 1, 3, 9 */
    struct weft_footprint *footprints; /* [n_variants] fusion/library/native.h */
    int **writers; /* [n_variants][components of the result] the writing thread; NULL: one thread */
    /* size names, parameters and tables, evaluated; for fusion/library/body_emit.c */
    int n_names;
    const char **names;
    int *values;
    int n_tables;
    const char **table_names;
    weft_shape *table_shapes;
    double **tables;
} weft_specialisation;

/** A call to be specialised. */
typedef struct weft_element_request {
    const weft_function *function;
    const weft_shape *arguments;
    int n_arguments;
    const char *const *keys; /* named parameters; the others get their defaults */
    const int *key_values;
    int n_keys;
    weft_location place; /* of error messages; source NULL: none */
    /* an earlier process has proved the thread patterns: whoever plans with a variant calls weft_thread_pattern_prove first */
    bool is_proved;
} weft_element_request;
/** Specialise a function: unify the argument shapes with its signature (sizes m, k, n), bind its
 *  parameters, make its tables, infer the result's shape, evaluate flops and threads, prove that
 *  the threads of each body keep to their pattern.
 *  out     in arena
 *  Errors  WEFT_ERROR_SHAPE and others at request->place, with both shapes and the signature;
 *          WEFT_ERROR_TYPE at a body's access that breaks its thread pattern; WEFT_ERROR_MEMORY */
weft_status weft_specialisation_make(weft_arena *arena, const weft_library *library,
                                     const weft_element_request *request, weft_specialisation **out,
                                     weft_error *error);
/** Prove that the threads of a variant keep to its thread pattern, and set specialisation->writers, unless it was done before.
 *  (fusion/library/thread_pattern.c)
 *  Errors  WEFT_ERROR_TYPE, at the access that breaks it; WEFT_ERROR_MEMORY */
weft_status weft_thread_pattern_prove(weft_arena *arena, const weft_specialisation *specialisation,
                                      int variant, weft_error *error);

/* ---- settings of tuned parameters (fusion/library/settings.c) */

enum { WEFT_TUNED_MAX = 8, WEFT_SETTINGS_MAX = 4096 };
/** A tuned parameter of a function that a call leaves open. */
typedef struct weft_tuned_name {
    const char *name;
    int index; /* among the names of the function */
} weft_tuned_name;
/** out  [WEFT_TUNED_MAX]. Returns their number */
int weft_tuned_names(const weft_function *function, const char *const *keys, int n_keys,
                     weft_tuned_name *out);
/** The number of settings, at most WEFT_SETTINGS_MAX; the first has the defaults. */
int weft_settings_count(const weft_function *function, const weft_tuned_name *names, int n);
void weft_setting_at(const weft_function *function, const weft_tuned_name *names, int n, int k,
                     int *values);
/** "width = 4, rows = 2", and back; false: the text is not a setting of the function. */
void weft_setting_print(const weft_tuned_name *names, int n, const int *values, weft_text *out);
bool weft_setting_read(const weft_function *function, const weft_tuned_name *names, int n,
                       const char *text, int *values);
/** Specialise a function with a setting. Parameters and errors as weft_specialisation_make */
weft_status weft_setting_specialise(const weft_library *library,
                                    const weft_element_request *request,
                                    const weft_tuned_name *names, int n, const int *values,
                                    weft_arena *arena, weft_specialisation **out,
                                    weft_error *error);
/** The first setting that the `where` lines allow for the sizes of a call; if there is none, the defaults. */
weft_status weft_setting_first(const weft_library *library, const weft_element_request *request,
                               const weft_tuned_name *names, int n, int *values, weft_error *error);
/** The key under which the best setting of a call is stored: of the function's text, the sizes and given parameters of the call,
 *  and the precision. */
weft_status weft_tuned_key(const weft_element_request *request, bool single, char out[33],
                           weft_error *error);

/** The operator of a reduction, for values of this shape.
 *  out     in arena; NULL: the reduction is +, *, min or max
 *  Errors  WEFT_ERROR_TYPE at the line `//@ kind reduce NAME`: the library has no operator of the
 *          name; WEFT_ERROR_SHAPE: it does not combine values of the shape to one of the same */
weft_status weft_combine_make(weft_arena *arena, const weft_library *library,
                              const weft_reduction *reduction, const weft_shape *shape,
                              const weft_specialisation **out, weft_error *error);

/** Do the threads of a variant wait for each other within its body? */
bool weft_specialisation_has_barriers(const weft_specialisation *specialisation, int variant);

/** The place of an operand in generated code: component (i, j) of a shape [.., n] is
 *  base[offset + i * n + j]; a scalar is base[offset]. */
typedef struct weft_accessor {
    const char *base;
    int offset;
    bool own; /* the thread's own components alone, in ascending order, by the variant's mapping */
} weft_accessor;

/** A loop of a body is unrolled if the result has fewer statements than this: its subscripts are
 *  then constants, so that register arrays stay in registers. */
#define WEFT_UNROLL_MAX 256
/** The same inside a loop that is not unrolled, where its counter is in the subscripts of all targets: they are in memory,
 *  and more statements only take longer to compile. */
#define WEFT_UNROLL_VARYING 17
/** The style of a backend's bodies (fusion/codegen/target_host.c). */
typedef struct weft_body_style {
    /* macro that converts a scalar or a vector to a `real`, around initialisers of and assignments
     * to `real` variables and accessors; NULL: `real` is a C scalar */
    const char *splat;
    const char *thread; /* the name of the thread index `t` in generated code */
    const char *indent;
    int unroll; /* statement limit of unrolled loops; 0: WEFT_UNROLL_MAX */
    /* NULL, or what assigns to components of the result: STORE(&component, value, stream) */
    const char *store;
    bool keeps_loops; /* of large bodies, from a compiler that unrolls loops itself */
    const char
        *barrier; /* statement for `barrier`; NULL: one thread runs the body, or no body with it */
} weft_body_style;

/** The variant of weft_body_emit that is an operator's identity. */
#define WEFT_IDENTITY (-1)

/** Write the body of one variant, with operands replaced by accessors, sizes and parameters by
 *  numbers, tables by constants, `t` by the thread index. The text is the statements of one thread;
 *  the caller adds braces and, if one thread executes all, `for (int t = 0; t < threads; ++t)`.
 *  arguments  [n_arguments]
 *  Errors     WEFT_ERROR_TYPE and others, with the line in the kernel file */
weft_status weft_body_emit(const weft_specialisation *specialisation, int variant,
                           const weft_accessor *arguments, const weft_accessor *result,
                           const weft_body_style *style, weft_text *out, weft_error *error);

/** Compute the first body modulo a prime (fusion/library/body_residues.c).
 *  arguments  [n_arguments] components, row by row
 *  result     caller's, of the result's size
 *  Returns    false: too many steps, or out of memory */
bool weft_specialisation_residues(const weft_specialisation *specialisation, weft_arena *arena,
                                  weft_residues *field, const weft_residue *const *arguments,
                                  weft_residue *result);

/* ---- product kernels */

#define WEFT_PRODUCT_ARGUMENTS_MAX 16
#define WEFT_PRODUCT_TILE 512 /* weft_target.reduction_tile of devices that have product kernels */

typedef struct weft_product_argument {
    const char *type, *name; /* "const double *", "values" */
} weft_product_argument;

/** A product kernel: CUDA text that computes y = A v for the rows that a thread block owns.
 *  docs/kernel-files.md describes the names in its scope and those that it must set. */
typedef struct weft_product_kernel {
    const char *name;
    /* per block; rows: a multiple of WEFT_PRODUCT_TILE and of threads, or 32, 64, 128 or
     * 256, and then no reduction shares the kernel */
    int threads, rows;
    int blocks; /* minimum resident blocks per multiprocessor (launch bounds); 0: any number */
    weft_product_argument *arguments;
    int n_arguments;
    const char *helpers, *body;
} weft_product_kernel;
/** The shipped product kernel of this name.
 *  Errors  WEFT_ERROR_USAGE (lists those that exist), WEFT_ERROR_SYNTAX (with the file's line) */
weft_status weft_product_kernel_find(weft_arena *arena, const char *name,
                                     const weft_product_kernel **out, weft_error *error);
/** Read a product kernel file. */
weft_status weft_product_kernel_read(weft_arena *arena, const weft_source *source,
                                     const weft_product_kernel **out, weft_error *error);

/* ---- threads (fusion/library/mapping.c), proved by weft_specialisation_make; an operand is the
 * number of an argument, or -1: the result */

/** The thread of a variant that writes a component of the result. */
int weft_specialisation_writer(const weft_specialisation *specialisation, int variant,
                               int component);
/** May a thread of a variant read a component of an argument, by the variant's thread pattern? */
bool weft_specialisation_reads(const weft_specialisation *specialisation, int variant, int argument,
                               int thread, int component);
/** The number of components of an operand that each thread of a variant accesses; 0 for a result
 *  whose components the thread pattern does not tell, but weft_specialisation_writer does. */
int weft_specialisation_thread_count(const weft_specialisation *specialisation, int variant,
                                     int operand);
/** The component that a thread accesses as the number-th of its own, in ascending order; -1: out of
 *  the operand's range. */
int weft_specialisation_thread_component(const weft_specialisation *specialisation, int variant,
                                         int operand, int thread, int number);
/** Add the same as C text, for the thread whose number is the C text `thread`. */
void weft_specialisation_component(const weft_specialisation *specialisation, int variant,
                                   int operand, int number, const char *thread, weft_text *out);
