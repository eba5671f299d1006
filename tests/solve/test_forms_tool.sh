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
# (p + 1)(p + 2)(p + 3)/6 functions on a tetrahedron, (p + 1)^3 on a hexahedron; on a facet those of two cells
refused 'e = FiniteElement("P", tetrahedron, 10); u = TrialFunction(e); v = TestFunction(e)
a = u*v*dx' 'bad.ufl:2:8: error: the matrix of a cell has 286 x 286 entries, and 65536 are the most'
refused 'e = FiniteElement("Q", hexahedron, 6); u = TrialFunction(e); v = TestFunction(e)
a = u*v*dx' 'the matrix of a cell has 343 x 343 entries'
refused 'e = VectorElement("P", tetrahedron, 7); u = TrialFunction(e); v = TestFunction(e)
a = inner(u, v)*dx' 'the matrix of a cell has 360 x 360 entries'
refused 'e = FiniteElement("DG", tetrahedron, 8); u = TrialFunction(e); v = TestFunction(e)
a = u*v*dx + jump(u)*jump(v)*dS' 'bad.ufl:2:29: error: the matrix of the two cells of a facet has 330 x 330 entries'
cat >"$folder/robin.ufl" <<'EOF'
e = FiniteElement("P", triangle, 2)
u, v, g = TrialFunction(e), TestFunction(e), Coefficient(FiniteElement("P", triangle, 1))
a, L = inner(grad(u), grad(v))*dx + g*u*v*ds + u*v*ds(2), v*ds(2)
EOF
"$WEFT_BUILD/weft" ufl "$folder/robin.ufl" --print script >"$folder/script"
grep -q '^K_ds = ufl_a_1(ufl_a_1_constants(X_ds), ufl_a_1_points(g\[geometry_ds\]));' "$folder/script"
grep -q '^b\[dofs_ds_2\] += ufl_L_0(X_ds_2);' "$folder/script"
"$WEFT_BUILD/weft" explain "$folder/robin.ufl" --device host:1 >"$folder/out"
grep -q '^12 calls' "$folder/out" # K, K v and its diagonal over three domains, K_ds in two stages more, and the load
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

# Names that scripts use themselves are those of the file for the user.
cat >"$folder/names.ufl" <<'EOF'
e = FiniteElement("P", triangle, 1)
u, v, b, t, f = TrialFunction(e), TestFunction(e), Constant(triangle), Coefficient(e), Coefficient(e)
a, L = b*inner(grad(u), grad(v))*dx, t*v*dx + f*v*dx
EOF
named() {
    "$WEFT_BUILD/solve" "$folder/names.ufl" --mesh square:4 --dirichlet boundary=0 --probe 0.5,0.5 "$@" >"$folder/out" 2>&1
}
named --input b=2 --input t=3 --input f=0 # -2 laplace u = 3: the values of -laplace u = 1.5
grep '^probe' "$folder/out" >"$folder/one"
cp "$folder/names.ufl" "$folder/kept.ufl"
sed -i 's/\<b\>/index/g; s/\<t\>/coefficient_b/g; s/, f =/, b =/; s/f\*v/b*v/' "$folder/names.ufl" # also reserved words
named --input index=1 --input coefficient_b=1.5 --input b=0
grep '^probe' "$folder/out" | cmp - "$folder/one"
named --input index=1 --input coefficient_b=1.5 --input b=0 --input g=0 && exit 1
grep -qF "names.ufl contain no coefficient or constant 'g'" "$folder/out"
grep -qF "hint: they contain index, b, coefficient_b" "$folder/out" || { cat "$folder/out"; exit 1; }
mv "$folder/kept.ufl" "$folder/names.ufl"
"$WEFT_BUILD/weft" ufl "$folder/names.ufl" --form xyz >"$folder/out" 2>&1 && exit 1
grep -qF "hint: it has a, L" "$folder/out"
"$WEFT_BUILD/solve" "$folder/nowhere.ufl" --mesh square:4 >"$folder/out" 2>&1 && exit 1
grep -qF "nowhere.ufl: error: there is no such form file" "$folder/out"
named --input t=1 --input f=0 && exit 1
grep -qF "the script's input 'b' has no values" "$folder/out"
grep -qF "hint: add --input b=NUMBER" "$folder/out"

# Two probes at one point would be two equal columns.
named --input b=2 --input t=3 --input f=0 --probe 0.50,+0.5 && exit 1
grep -qF "two probes are at the same point: 0.5,0.5 and 0.50,+0.5" "$folder/out"

# An enclosed flow with more inflow than outflow: the symmetric form and the other have the same solution, and both say so.
for sign in - +; do
    cat >"$folder/enclosed.ufl" <<EOF
W = VectorElement("P", triangle, 2)*FiniteElement("P", triangle, 1)
(u, p), (v, q), f = TrialFunctions(W), TestFunctions(W), Constant(triangle)
a = inner(grad(u), grad(v))*dx - p*div(v)*dx $sign q*div(u)*dx
L = f*q*dx
EOF
    for right in "y*(1 - y)" "0.5*y*(1 - y)"; do
        "$WEFT_BUILD/solve" "$folder/enclosed.ufl" --mesh square:8 --input f=0 --dirichlet bottom=0,0,free --dirichlet top=0,0,free \
            --dirichlet "left=y*(1 - y),0,free" --dirichlet "right=$right,0,free" --preconditioner block >"$folder/out" 2>"$folder/err"
        sed -n 's/^integral u  \([^,]*\),.*/\1/p' "$folder/out" >>"$folder/flow$sign"
        if [ "$right" = "y*(1 - y)" ]; then
            [ ! -s "$folder/err" ] || { cat "$folder/err"; exit 1; }
        else
            grep -q 'warning: the equations of component 2 of u.* more inflow than outflow' "$folder/err" || { cat "$folder/err"; exit 1; }
        fi
    done
done
paste "$folder/flow-" "$folder/flow+" | awk '($1 - $2)^2 > 1e-10 { exit 1 } END { exit NR != 2 }' # tolerances of 1e-8
cat >"$folder/enclosed.ufl" <<EOF
W = VectorElement("P", triangle, 2)*FiniteElement("P", triangle, 1)
w = Coefficient(W)
(u, p), (v, q) = split(w), TestFunctions(W)
F = (inner(grad(u), grad(v)) + inner(grad(u)*u, v) - p*div(v) + q*div(u))*dx
unknown = w
EOF
"$WEFT_BUILD/solve" "$folder/enclosed.ufl" --nonlinear --mesh square:4 --dirichlet boundary=0,0,free --dirichlet "left=y*(1 - y),0,free" \
    >"$folder/out" 2>"$folder/err" && exit 1
grep -q 'hint: the residual of component 2 of u, to which a constant can be added, does not add up to 0' "$folder/err"
