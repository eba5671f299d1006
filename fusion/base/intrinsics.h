/** The functions of formulas and of kernel bodies: one table for the parsers, the generated code of
 *  host and GPU, the references in plain C and uniform arithmetic. Generated code calls weft_NAME,
 *  which the prelude of a backend defines for `real`. To add a function, add an entry to the table,
 *  a word to WEFT_FORMULA_FUNCTIONS (weft_compile.h) and a row to docs/language.md. */
#pragma once

#include "core/weft_core.h"

#include <stdbool.h>

/** Functions that are not simply a call of the C library. */
enum {
    INTRINSIC_MASK = 1,      /* the first argument is a comparison: select */
    INTRINSIC_BODY_ONLY = 2, /* of kernel bodies, not of formulas */
    INTRINSIC_HOST_OWN = 4,  /* the host's prelude defines it for vectors */
    INTRINSIC_CUDA_OWN = 8   /* the GPU's prelude defines it */
};

typedef struct weft_intrinsic {
    const char *name;
    int n_arguments;
    int flags;
    const char *c;     /* C library function of doubles; with suffix f, of floats */
    const char *plain; /* if c is NULL: an expression in x (and y) of type real */
    int vector_x86;    /* libmvec has a vector version since glibc 2.N on x86-64; 0: none */
    int vector_arm;    /* and on aarch64 */
    double (*one)(double);
    double (*two)(double, double);
    const char *domain; /* of the arguments x and y; outside it the value is NaN */
    double flops; /* of an evaluation, in multiplications or additions; where it was not measured */
} weft_intrinsic;

extern const weft_intrinsic weft_intrinsics[];
extern const int weft_intrinsics_count;

/** The function of this name, or NULL. */
const weft_intrinsic *weft_intrinsic_find(const char *name);
/** The function of this name that formulas may call, or NULL. */
const weft_intrinsic *weft_formula_intrinsic(const char *name);
/** The names that formulas may call, in the order of the table. Returns their number. */
enum { WEFT_INTRINSICS_MAX = 64 };
size_t weft_formula_names(const char *names[WEFT_INTRINSICS_MAX]);
/** Number of arguments of a function that formulas may call; 0: there is none of this name. */
int weft_formula_arguments(const char *name);
/** The replacement for a well-known function that is not in the table, such as "log(a)" for ln;
 *  letter case is ignored. "": it has no replacement; NULL: it is not known. */
const char *weft_formula_instead(const char *name);
/** The value of a function; y is ignored if it has one argument. */
double weft_intrinsic_value(const weft_intrinsic *intrinsic, double x, double y);
