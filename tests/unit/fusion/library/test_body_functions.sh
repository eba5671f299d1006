#!/bin/bash
# labels: quick
# Every function that a kernel's body may call, by the host's generated code against the reference
# in plain C, in double and float; and what --help says of formulas.
set -euo pipefail
weft=${WEFT_BUILD:?}/weft
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/all.kernel.c" <<'END'
//@ function  all_functions(x: real[4]) -> y: real
//@ kind      map
//@ flops     100
//@ source    none: a test
//@ threads   1
real s = 0, h = 0.5 * x(0);
s = s + sign(x(0)) + floor(3 * x(1)) + ceil(3 * x(2)) + round(3 * x(3)) + trunc(3 * x(0));
s = s + cbrt(x(0)) + hypot(x(0), x(1)) + exp(h) + exp2(x(2)) + expm1(x(3)) + sin(x(1)) * cos(x(2));
s = s + log2(2 + h) + log10(2 + h) + log1p(h) + asin(h) + acos(h) + atan(x(1)) + atan2(x(1), x(2));
s = s + sinh(x(0)) + cosh(x(1)) + tanh(x(2)) + asinh(x(3)) + acosh(2 + h) + atanh(h) + tan(h);
s = s + sqrt(2 + h) + log(2 + h) + pow(2 + h, x(1)) + erf(x(1)) + erfc(x(2)) + reciprocal(2 + h);
y = s + min(x(0), x(1)) * max(x(2), x(3)) + select(x(0) < x(1), abs(x(2)), x(3));
END
"$weft" test "$scratch" --device host:1 >"$scratch/out" || { cat "$scratch/out"; exit 1; }
grep -q '^ok  *all_functions ' "$scratch/out" || { cat "$scratch/out"; exit 1; }

# A quotient of a choice by a condition on indices is no integer division, on GPUs neither.
mkdir "$scratch/choices"
cat >"$scratch/choices/choice.kernel.c" <<'END'
//@ function  choice(a: real[n]) -> y: real[n]
//@ kind      map
//@ flops     3*n
//@ source    none: a test
//@ example   choice([1, 1, 1]) = [2/3, 4/3, 5/3]
//@ threads   1
for (int i = 0; i < n; ++i)
    y(i) = a(i) * (select(i == 0, 1, 3 + i) / n + select(i == 0, 1, 0) / n);
//@ threads   n   a(t) y(t)
y(t) = a(t) * (select(t == 0, 1, 3 + t) / n + select(t == 0, 1, 0) / n);
END
"$weft" test "$scratch/choices" --device host:1 --device emulated >"$scratch/out" || { cat "$scratch/out"; exit 1; }
grep -q '4 granularities run, 0 wrong' "$scratch/out" || { cat "$scratch/out"; exit 1; }

for program in poisson solve advection_diffusion; do
    "$WEFT_BUILD/$program" --help | tr -s ' \n' ' ' >"$scratch/help"
    for words in 'select(a < b, v, w)' 'joined by and' 'atan2' 'erf'; do
        grep -qF "$words" "$scratch/help" || { echo "$program --help does not say $words"; exit 1; }
    done
done
"$weft" library log1p >"$scratch/out"
grep -qF 'log1p(x): a function of formulas and of kernel bodies, for x >= -1' "$scratch/out" || { cat "$scratch/out"; exit 1; }
