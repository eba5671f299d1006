#!/bin/bash
# labels: quick
# The longest names: those of scripts have 63 characters, files 255 bytes. What is longer is refused
# with its length.
set -euo pipefail
weft=${WEFT_BUILD:?}/weft
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "$1"; cat out; exit 1; }
letters() { printf "%0$2d" 0 | tr 0 "$1"; }
i=$(letters i 63) n=$(letters n 63) e=$(letters e 63) r=$(letters r 63) k=$(letters k 63)

# as long as can be, through every stage; the plan reads back
cat >long.weft <<END
index $i;
input $n : real over $i;
expression $e(x) = 3*x;
$r = 2*$e($n);
return $r;
END
for stage in tokens script graph fusions implementations cover plan source; do
    "$weft" compile long.weft --print $stage >out 2>&1 || fail "$stage"
done
"$weft" compile long.weft --format json >plan.json
"$weft" compile long.weft --plan-file plan.json --define "$e=x^2" >out 2>&1 || fail "a plan with long names is refused"
"$weft" explain long.weft --html page.html >out 2>&1 || fail "explain"

# a script that is solved, in a file whose name has 255 bytes
file=$(letters f 250).weft
cat >"$file" <<END
parameter d = 2;
index cells, nodes;
connectivity dofs : cells -> nodes[d + 1];
input x : real[d] over nodes;
input $k : real over cells;
expression $e(x, y, z) = 1;
X = x[dofs];
J = jacobian(X);
K = $k*dshape_dot_dshape(tform_dshape(J), J);
b[dofs] += quadrature_load($e(quadrature_points(X, degree = 1)), J, degree = 1);
END
"$WEFT_BUILD/solve" "$file" --mesh square:4 --input "$k=1 + x" --define "$e=y" >out 2>&1 || fail "solve"
grep -qF "$file" out || fail "the script is not named"

# longer
long=$(letters l 255)
echo "index cells; input $long : real over cells; b = 2*$long; return b;" >"$file"
for program in weft solve; do
    options=(compile)
    [ $program = weft ] || options=(--mesh square:2)
    ! "$WEFT_BUILD/$program" "${options[@]}" "$file" >out 2>&1 || fail "a name of 255 characters is taken"
    grep -q 'weft:1:20: error: this name has 255 characters, and 63 are allowed' out || fail "which name is too long?"
done
for option in --define --param; do
    ! "$weft" compile long.weft $option "$long=1" >out 2>&1 || fail "$option of a name that is not there"
    grep -qE "the script has no (expression|parameter) '$long'" out || fail "$option: which name?"
done
! "$weft" compile "$(letters f 300)" >out 2>&1 || fail "a file whose name has 300 bytes"
grep -q 'f: error: ' out || fail "no message for a file whose name has 300 bytes"
