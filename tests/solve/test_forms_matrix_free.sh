#!/bin/bash
# labels: full
# Matrix-free products of forms, by sum factorisation on quadrilaterals and hexahedra and by Bernstein polynomials on triangles: the same
# solution as with the matrix, of problems with constants and a group of terms with another quadrature degree.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# check CELL MESH TERM OPTIONS LOG: the diffusion problem with this coefficient of diffusion
check() {
    cat > "$folder/diffusion.ufl" <<END
element = FiniteElement("P", $1, 2)
u = TrialFunction(element)
v = TestFunction(element)
f = Coefficient(element)
k = Coefficient(FiniteElement("P", $1, 1))
c = Constant($1)
a = $3*inner(grad(v), grad(u))*dx + c*u*v*dx(degree=5)
L = v*f*dx
END
    for assembly in csr matrix-free; do
        # shellcheck disable=SC2086
        "$WEFT_BUILD/solve" "$folder/diffusion.ufl" --mesh "$2" --assembly "$assembly" $4 --input c=2 \
            --input "f=1+y*x" --dirichlet left=0 --dirichlet right=x+y --tolerance 1e-12 --verbose \
            > "$folder/$assembly" 2>&1
        grep -E "^(integral u|energy)" "$folder/$assembly" | sed 's/\([0-9]\{9\}\)[0-9]*/\1/' > "$folder/$assembly.values"
    done
    grep -q "$5" "$folder/matrix-free"
    [ "$(wc -l < "$folder/csr.values")" = 2 ]
    diff "$folder/csr.values" "$folder/matrix-free.values"
}
check hexahedron hexes:3 "(1 + k)" "--input k=x" "products by sum factorisation"
check quadrilateral quads:5 "(1 + k)" "--input k=x" "products by sum factorisation"
check triangle square:5 c "" "ufl_a_action_0"

# mixed elements: u = (y^2, z^2, x^2), p = 2 (x + y + z) - 3 is in the space
cat > "$folder/stokes.ufl" <<END
W = VectorElement('Q', hexahedron, 2)*FiniteElement('Q', hexahedron, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
f = Constant(hexahedron)
a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx
L = f*q*dx
END
"$WEFT_BUILD/solve" "$folder/stokes.ufl" --mesh hexes:2 --assembly matrix-free --input f=0 \
    --dirichlet "boundary=y^2,z^2,x^2,free" --exact "y^2,z^2,x^2,2*x+2*y+2*z-3" --tolerance 1e-11 \
    --verbose > "$folder/stokes" 2>&1
grep -q "products by sum factorisation" "$folder/stokes"
awk '/^error/ { sub(",", "", $3); fine = $3 + 0 < 1e-7 } END { exit !fine }' "$folder/stokes"
