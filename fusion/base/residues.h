/** Arithmetic that decides whether two formulas are the same function: the formulas are computed
 *  at random points modulo the prime p = 2^61 - 1, where nothing is rounded.
 *
 *  Different polynomials of degree n agree at a random point with a probability below n/p
 *  (Schwartz 1980, Zippel 1979). A quotient is the product with an inverse. What is not rational has
 *  a random value for each value of its arguments, so that only identities that hold whatever the
 *  function is are found: sqrt(a + b) = sqrt(b + a), but not sqrt(a)^2 = a. Of these functions,
 *  abs is even, and min and max are commutative and associative. A comparison has a random value, too,
 *  and select(c, a, b) is c a + (1 - c) b: both branches count, however rarely they are taken.
 *  So formulas that are found to be the same are the same, but not all that are the same are found.
 *
 *  Numbers that differ by less than about 1e-14 of their size are one number: the points and weights of a
 *  quadrature rule are symmetric to rounding only. */
#pragma once

#include "core/weft_core.h"
#include "fusion/base/intrinsics.h"

typedef uint64_t weft_residue; /* below p */
typedef struct weft_residues weft_residues;

/** Reset, with random numbers from a fixed seed: an answer is always the same.
 *  arena   must outlive them
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_residues_make(weft_arena *arena, weft_residues **out, weft_error *error);
/** Did a number not get memory? Then the values are wrong. */
bool weft_residues_failed(const weft_residues *r);
weft_residue weft_residue_random(weft_residues *r);
weft_residue weft_residue_integer(int64_t number);
weft_residue weft_residue_number(weft_residues *r, double number);

weft_residue weft_residue_add(weft_residue a, weft_residue b);
weft_residue weft_residue_subtract(weft_residue a, weft_residue b);
weft_residue weft_residue_multiply(weft_residue a, weft_residue b);
/** a/0 is 0: at a random point only an expression that is 0 everywhere is 0. */
weft_residue weft_residue_divide(weft_residue a, weft_residue b);
/** a^n, also for negative n. */
weft_residue weft_residue_power(weft_residue a, int64_t n);
/** The value of a < b. That of a <= b is 1 minus that of b < a. */
weft_residue weft_residue_less(const weft_residues *r, weft_residue a, weft_residue b);
weft_residue weft_residue_equal(const weft_residues *r, weft_residue a, weft_residue b);
weft_residue weft_residue_select(weft_residue condition, weft_residue a, weft_residue b);
/** A function of formulas or bodies, other than select; b: of one with two arguments. */
weft_residue weft_residue_function(const weft_residues *r, const weft_intrinsic *intrinsic,
                                   weft_residue a, weft_residue b);
