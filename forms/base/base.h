/** What all stages of the form compiler share: memory, the text being read, the current place in it,
 *  and the first error.
 *  In: a text and its name. Out: an arena from which every object of the form file comes.
 *  Constructors return NULL after ufl_fail; given NULL operands they return NULL, so that a chain of
 *  calls needs one check at its end. */
#pragma once

#include "core/weft_core.h"

enum {
    UFL_RANK_MAX = 16,                 /* axes of a tensor */
    UFL_DEPTH_MAX = 2000,              /* nested operators of an expression */
    UFL_NODES_MAX = 1000000,           /* expression nodes of a form file */
    UFL_TEXT_MAX = 262144,             /* bytes of a form file */
    UFL_STATEMENTS_MAX = 100000,       /* executed statements */
    UFL_NESTING_MAX = 200,             /* nested brackets, blocks and calls */
    UFL_LIST_MAX = 1000000,            /* elements of a list, characters of a string */
    UFL_MEMORY_MAX = 512 * 1024 * 1024 /* bytes of the arena */
};

typedef struct ufl_place {
    int line, column; /* from 1; 0: not known */
} ufl_place;

typedef struct ufl_context {
    weft_arena *arena;
    const char *file, *text; /* for messages; text may be NULL */
    ufl_place place;         /* of the call or statement that is executed */
    size_t bytes;            /* allocated so far */
    weft_status status;      /* of the first error */
    weft_error *error;
} ufl_context;

/** Set the error at the current place, unless there is one already. Always returns NULL. */
void *ufl_fail(ufl_context *context, weft_status status, const char *format, ...) WEFT_PRINTF(3, 4);
void ufl_fail_list(ufl_context *context, weft_status status, const char *format, va_list arguments);
/** Add advice to the error that ufl_fail just set. Always returns NULL. */
void *ufl_hint(ufl_context *context, const char *format, ...) WEFT_PRINTF(2, 3);
/** Allocate count * size zeroed bytes. NULL and an error at the limit or on lack of memory. */
void *ufl_alloc(ufl_context *context, size_t count, size_t size);
char *ufl_copy(ufl_context *context, const char *text, size_t length);
char *ufl_print(ufl_context *context, const char *format, ...) WEFT_PRINTF(2, 3);
/** Grow for one more element after n in an array that grows by doubling.
 *  array  NULL, or from this function
 *  Returns the array, moved where necessary, or NULL and an error. */
void *ufl_grow(ufl_context *context, void *array, size_t n, size_t size);
/** "(2, 3)", "(2,)" or "()" into out. Returns out. */
const char *ufl_shape_text(const int *shape, int rank, char *out, size_t size);
