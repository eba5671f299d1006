#!/usr/bin/env bash
# labels: quick
# weft explain and fuse take form files: K of a and b of L become one kernel. What is not compiled is refused with
# its line, and what a form lacks is named.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
forms=$WEFT_SOURCE/docs/examples/forms
"$WEFT_BUILD/weft" explain "$forms/Poisson.ufl" --device null:h200 >"$folder/explained"
grep -q '2 calls: 2 kernels unfused, 1 fused' "$folder/explained"
"$WEFT_BUILD/weft" fuse "$forms/Elasticity.ufl" --print plan --device host:1 >"$folder/plan"
grep -q 'stores   K real\[12,12\]' "$folder/plan"
"$WEFT_BUILD/weft" ufl "$forms/Quasilinear.py" --print script >"$folder/script"
grep -q '^K = ufl_J_0(X, u\[dofs\]);' "$folder/script"

refused() { # text of a form file, message
    echo "$1" >"$folder/bad.ufl"
    local code=0
    "$WEFT_BUILD/weft" explain "$folder/bad.ufl" --device host:1 >"$folder/out" 2>&1 || code=$?
    [ $code -eq 2 ] || { echo "exit code $code, expected 2, for: $1"; exit 1; }
    grep -qF -- "$2" "$folder/out" || { echo "expected '$2', got:"; cat "$folder/out"; exit 1; }
}
refused 'M = Constant(triangle)*dx' 'neither a bilinear form a nor a linear form F'
refused 'e = FiniteElement("P", triangle, 2); u = TrialFunction(e); v = TestFunction(e)
a = u*v*dx' 'continuous functions of degree 1 on triangles and tetrahedra, this is P2 triangle'
refused 'e = FiniteElement("P", triangle, 1); u = TrialFunction(e); v = TestFunction(e)
a = u*v*dx + u*v*ds' 'bad.ufl:2:'
