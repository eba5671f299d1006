#!/usr/bin/env bash
# labels: quick
# docs/examples/poisson.c finds the solution to the order of its element, on the mesh it has by default, on finer
# ones and on one of Gmsh's shape; its file is a mesh that Weft reads; mistakes end it with a message.
# docs/examples/load.c compiles a form file and integrates x + y over the unit square: 1; mistakes are shown.
# docs/examples/wall.c, of at most 60 lines, binds a form file to a mesh of two materials and integrates in time until u is
# steady. Its mean is then exact: k = 2 | 1/2 have the flux q = 1/(0.25 + 1) = 0.8, u = 0.8 in the middle, the mean 0.65.
# docs/examples/plate.c stretches a plate by 1 in plane strain with E = 1, nu = 0.3: e_x = 1 - nu^2, e_y = -nu (1 + nu).
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
printf '%s\n' 'corner 0.91000, -0.39000' 'mean stress 1.00000' 'symmetry left -1.00000' 'symmetry bottom 0.00000' >expected
"$WEFT_BUILD/tests/example_plate" | sed 's/ -0.00000/ 0.00000/' | diff expected - || { echo "FAILED: plate"; exit 1; }
wall=$WEFT_BUILD/tests/example_wall source=$WEFT_SOURCE/docs/examples
[ "$(wc -l <"$source/wall.c")" -le 60 ] || { echo "FAILED: wall.c has more than 60 lines"; exit 1; }
if [ ! -x "$WEFT_BUILD/weft-gmsh" ]; then
    echo "skipped: weft-gmsh is not built (libgmsh-dev is missing)"
    exit 77
fi
cat >wall.geo <<'END'
Point(1) = {0, 0, 0}; Point(2) = {0.5, 0, 0}; Point(3) = {1, 0, 0};
Point(4) = {1, 1, 0}; Point(5) = {0.5, 1, 0}; Point(6) = {0, 1, 0};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5}; Line(5) = {5, 6}; Line(6) = {6, 1};
Line(7) = {2, 5};
Curve Loop(1) = {1, 7, 5, 6}; Plane Surface(1) = {1};
Curve Loop(2) = {2, 3, 4, -7}; Plane Surface(2) = {2};
Physical Surface("steel") = {1}; Physical Surface("air") = {2};
Physical Curve("left") = {6}; Physical Curve("right") = {3};
END
export PATH="$WEFT_BUILD:$PATH"
[ "$("$wall" wall.geo "$source/forms/Wall.ufl")" = "t = 20, mean 0.650000" ] || { echo "FAILED: wall"; exit 1; }
[ -s wall.vtkhdf ] || { echo "FAILED: no file of wall"; exit 1; }
code=0
"$wall" square:4 "$source/forms/Wall.ufl" 2>errors || code=$?
{ [ "$code" -gt 0 ] && grep -q "steel" errors; } || { echo "FAILED: code $code"; cat errors; exit 1; }
