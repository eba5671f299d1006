#!/usr/bin/env bash
# labels: quick
# weft explain and fuse take form files: K of a, its product and b of L become one kernel. What is not compiled is refused with
# its line, and what a form lacks is named.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
forms=$WEFT_SOURCE/docs/examples/forms
"$WEFT_BUILD/weft" explain "$forms/Poisson.ufl" --device null:h200 >"$folder/explained"
grep -q '3 calls: 3 kernels unfused, 1 fused' "$folder/explained"
"$WEFT_BUILD/weft" fuse "$forms/Elasticity.ufl" --print plan --device host:1 >"$folder/plan"
grep -q 'stores   K real\[12,12\]' "$folder/plan"
"$WEFT_BUILD/weft" ufl "$forms/Quasilinear.py" --print script >"$folder/script"
grep -q '^K = ufl_J_0(X, u\[dofs\]);' "$folder/script"

# The degree of sin(5 x) q, q in P1 of P2 x P1: 3 + 2 by UFL 2026.1, 3 + 1 by later versions.
mixed() { # measure of the load
    cat <<EOF
W = FiniteElement("P", triangle, 2)*FiniteElement("P", triangle, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
a = (u*v + p*q)*dx(degree=4)
L = sin(5*SpatialCoordinate(triangle)[0])*q*$1
EOF
}
mixed dx >"$folder/mixed.ufl"
mixed 'dx(degree=4)' >"$folder/four.ufl"
for version in "" 2026.1 2026.2 main; do
    degree=4
    [[ "$version" == 202?.2 || "$version" == main ]] || degree=5
    "$WEFT_BUILD/weft" ufl "$folder/mixed.ufl" --print degrees ${version:+--degrees $version} >"$folder/degrees"
    grep -qE "^L  *1  cell  *triangle  *everywhere  *$degree " "$folder/degrees" || { cat "$folder/degrees"; exit 1; }
done
for command in compile explain; do
    "$WEFT_BUILD/weft" $command "$folder/mixed.ufl" --degrees 2026.2 --device host:1 >"$folder/out"
done
solution() { # form file, options of solve
    "$WEFT_BUILD/solve" "$folder/$1.ufl" --mesh square:2 --preconditioner jacobi --probe 0.3,0.4 --dirichlet left=0,free "${@:2}" \
        >"$folder/out"
    grep '^probe' "$folder/out"
}
solution four >"$folder/four"
solution mixed --degrees main >"$folder/main"
solution mixed >"$folder/default"
cmp "$folder/four" "$folder/main"
cmp -s "$folder/four" "$folder/default" && { echo "--degrees does nothing"; exit 1; }
"$WEFT_BUILD/weft" ufl "$folder/mixed.ufl" --degrees 2025 >"$folder/out" 2>&1 && exit 1
grep -qF "they are those of 2026.1 (default), 2026.2 or main" "$folder/out"

refused() { # text of a form file, message
    echo "$1" >"$folder/bad.ufl"
    local code=0
    "$WEFT_BUILD/weft" explain "$folder/bad.ufl" --device host:1 >"$folder/out" 2>&1 || code=$?
    [ $code -eq 2 ] || { echo "exit code $code, expected 2, for: $1"; exit 1; }
    grep -qF -- "$2" "$folder/out" || { echo "expected '$2', got:"; cat "$folder/out"; exit 1; }
}
refused 'M = Constant(triangle)*dx' 'neither a bilinear form a nor a linear form F'
refused 'e = FiniteElement("P", triangle, 2); g = FiniteElement("P", triangle, 1)
a = TrialFunction(e)*TestFunction(g)*dx' 'test and trial functions are in different spaces'
refused 'e = FiniteElement("P", triangle, 1); u = TrialFunction(e); v = TestFunction(e)
a = u*v*dx + u*v*dP' 'bad.ufl:2:'
cat >"$folder/robin.ufl" <<'EOF'
e = FiniteElement("P", triangle, 2)
u, v, g = TrialFunction(e), TestFunction(e), Coefficient(FiniteElement("P", triangle, 1))
a, L = inner(grad(u), grad(v))*dx + g*u*v*ds + u*v*ds(2), v*ds(2)
EOF
"$WEFT_BUILD/weft" ufl "$folder/robin.ufl" --print script >"$folder/script"
grep -q '^K_ds = ufl_a_1(X_ds, g\[geometry_ds\]);' "$folder/script"
grep -q '^b\[dofs_ds_2\] += ufl_L_0(X_ds_2);' "$folder/script"
"$WEFT_BUILD/weft" explain "$folder/robin.ufl" --device host:1 >"$folder/out"
grep -q '^7 calls' "$folder/out"
refuse_solve() { # message, options of solve
    local message=$1
    shift
    "$WEFT_BUILD/solve" "$folder/robin.ufl" --input g=1 "$@" >"$folder/out" 2>&1 && exit 1
    grep -qF -- "$message" "$folder/out" || { echo "expected '$message', got:"; cat "$folder/out"; exit 1; }
}
refuse_solve 'the forms are for triangles, and the mesh has hexahedra' --mesh hexes:2
refuse_solve "add --measure 'ds(2)=GROUP', with one of left (1), right (2), bottom (3), top (4)" --mesh square:2 \
    --measure 'ds(2)=rigth'
refuse_solve 'no integral has the measure ds(3)' --mesh square:2 --measure 'ds(3)=left'
refuse_solve 'write the boundary term into the form, with ds' --mesh square:2 --neumann left=1
