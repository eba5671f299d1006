/** Native bodies: bodies in the language of a target, with what their authors declare of them.
 *  In:  `//@ body` lines of kernel files (fusion/library/native.c)
 *  Out: their language, footprint and routines, of a specialisation's variant
 *
 *  Source    Fousek, Filipovic, Madzin 2011, section 3; Filipovic et al. 2015, section 4.3
 *  Decision  docs/decisions/0060-native-bodies.md */
#pragma once

#include "fusion/library/library.h"

typedef enum weft_language {
    LANGUAGE_PLAIN, /* the subset of C that every target runs: the meaning of a function */
    LANGUAGE_C,     /* the host's, `real` is a vector of lanes */
    LANGUAGE_CUDA,  /* CUDA C++ */
    WEFT_LANGUAGES
} weft_language;
/** "plain", "c", "cuda" */
extern const char *const weft_language_names[WEFT_LANGUAGES];
/** The language of native bodies that the device runs; LANGUAGE_PLAIN: none. */
weft_language weft_language_of(const weft_limits *limits);

enum { WEFT_NATIVE_THREADS = 1024, WEFT_NATIVE_SHARED = 1 << 18 /* of an element, at most */ };

/** What a variant needs, as declared; of plain bodies nothing is. */
typedef struct weft_footprint {
    int shared; /* of an element: reals or bytes */
    bool shared_is_reals;
    int registers;     /* of a thread; 0: not declared */
    double operations; /* of an element; negative: not declared */
} weft_footprint;

weft_language weft_specialisation_language(const weft_specialisation *specialisation, int variant);
/** May a target of this language run the variant? A native body takes the place of plain ones with as many
 *  threads. */
bool weft_specialisation_offers(const weft_specialisation *specialisation, int variant,
                                weft_language target);
/** The first variant of one thread that a target of this language offers; 0: there is none. */
int weft_specialisation_default(const weft_specialisation *specialisation, weft_language target);
/** Is this a native body of several threads, which needs all threads of its elements at once? */
bool weft_specialisation_is_joint(const weft_specialisation *specialisation, int variant);
/** Does the variant load an argument (-1: store the result) by a routine of its own? */
bool weft_specialisation_moves(const weft_specialisation *specialisation, int variant, int operand);
/** Shared memory of an element beyond its values, rounded up to 16 bytes. */
size_t weft_specialisation_scratch(const weft_specialisation *specialisation, int variant,
                                   size_t real_bytes);

/** What the writer of generated code gives a native body. */
typedef struct weft_native_style {
    const char *name; /* of the function; its helpers get it as a prefix */
    /* [n_arguments + 1], last the result: the thread's own components alone are in registers */
    const bool *own;
    const int *offsets; /* [n_arguments] of the first component */
    bool stored_own;    /* the same of a result when it is stored */
} weft_native_style;
/** Write the function of a native body, with its helpers:
 *      NAME(arguments..., result, int t, unsigned char *scratch)
 *  An argument is a list, or the value of a scalar; a result a list or the address of a scalar. Of several threads,
 *  a result has the thread's own components alone. Routines that load an argument or store the result are
 *      NAME_move1<stride>(list, address in memory of the element, t)    argument 0; the result is 0
 *  (fusion/library/native_print.c) */
void weft_native_print(const weft_specialisation *specialisation, int variant,
                       const weft_native_style *style, weft_text *out);
