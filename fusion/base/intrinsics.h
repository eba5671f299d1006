/** The functions of formulas and of kernel bodies: one table for the parsers, for the host's and
 * the GPU's generated code, for references in plain C and for uniform arithmetic. Generated code
 * calls weft_NAME, which the prelude of a backend defines for `real`. A new function is an entry of
 * the table, a word in WEFT_FORMULA_FUNCTIONS (weft_fusion.h) and a row in docs/language.md. */
#pragma once

#include "core/weft_core.h"

#include <stdbool.h>

/** Where something more than a call of the C library is written. */
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
    const char *c;     /* the C library's function of doubles; with f behind it, of floats */
    const char *plain; /* where that is NULL: an expression in x (and y) of type real */
    int vector;        /* libmvec of glibc 2.N for x86-64 has it for vectors; 0: it has not */
    double (*one)(double);
    double (*two)(double, double);
    const char *domain; /* of the arguments x and y, elsewhere the value is not a number */
} weft_intrinsic;

extern const weft_intrinsic weft_intrinsics[];
extern const int weft_intrinsics_count;

/** Of this name, else NULL. */
const weft_intrinsic *weft_intrinsic_find(const char *name);
/** The same, of those that formulas may call. */
const weft_intrinsic *weft_formula_intrinsic(const char *name);
/** Names that formulas may call, in the order of the table; how many. */
enum { WEFT_INTRINSICS_MAX = 64 };
size_t weft_formula_names(const char *names[WEFT_INTRINSICS_MAX]);
/** Arguments of a function of formulas, 0: there is none of this name. */
int weft_formula_arguments(const char *name);
/** What to write in place of a well-known function that is not in the table, such as "log(a)" for
 *  ln, whatever the case of its letters; "" where nothing stands for it; NULL: not known. */
const char *weft_formula_instead(const char *name);
/** Its value; y is not looked at where there is one argument. */
double weft_intrinsic_value(const weft_intrinsic *intrinsic, double x, double y);
