#!/usr/bin/env bash
# labels: quick
# docs/examples/poisson.c finds the solution to the order of its element, on the mesh it has by default, on finer
# ones and on one of Gmsh's shape; its file is a mesh that Weft reads; mistakes end it with a message.
# docs/examples/load.c compiles a form file and integrates x + y over the unit square: 1; mistakes are shown.
# Linear elements: the error in L2 falls by 4 and that in H1 by 2 where the mesh size is halved, here within 5 %.
# On a mesh of the size h the error in H1 is at most h |u|_2 (Braess 2007, theorem II.6.4), |u|_2 < 1.2 for this u.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
example=$WEFT_BUILD/tests/example_poisson
for n in 16 32 64; do
    "$example" "square:$n" | tee -a printed
    grep -q '^converged, error' printed || { echo "square:$n did not converge"; exit 1; }
done
sed 's/^converged, error \(.*\) in L2, \(.*\) in H1$/\1 \2/' printed | awk '
    function wrong(what) { print "FAILED: " what; failed = 1; exit 1 }
    NR > 1 && (l2 / $1 < 3.8 || l2 / $1 > 4.2) { wrong("order in L2: " l2 / $1) }
    NR > 1 && (h1 / $2 < 1.9 || h1 / $2 > 2.1) { wrong("order in H1: " h1 / $2) }
    $2 > 1.2 * sqrt(2) / (8 * 2 ^ NR) { wrong("error in H1: " $2) }
    { l2 = $1; h1 = $2 }
    END { if (!failed && NR != 3) wrong(NR " lines") }'
[ "$("$example")" = "$(sed -n 2p printed)" ] || { echo "FAILED: the default is square:32"; exit 1; }
"$WEFT_BUILD/poisson" --mesh poisson.vtkhdf --quiet || { echo "FAILED: its file is no mesh"; exit 1; }
code=0
"$example" nowhere.vtkhdf 2>errors || code=$?
{ [ "$code" = 2 ] && grep -q 'cannot read nowhere.vtkhdf' errors; } || { echo "FAILED: code $code"; cat errors; exit 1; }
load=$WEFT_BUILD/tests/example_load
"$load" >printed
grep -q '^L: rank 1, 1 coefficients, degree 2 on the triangle$' printed && grep -q '^integral of f: 1.0000000000$' \
    <(sed 's/..$//' printed) || { echo "FAILED: load"; cat printed; exit 1; }
code=0
printf 'L = v*dx\n' >bad.ufl
"$load" bad.ufl 2>errors || code=$?
{ [ "$code" -gt 0 ] && grep -q "bad.ufl:1:5: error: the name 'v' is not defined" errors; } ||
    { echo "FAILED: code $code"; cat errors; exit 1; }
