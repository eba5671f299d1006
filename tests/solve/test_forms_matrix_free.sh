#!/bin/bash
# labels: full
# Matrix-free products of forms on hexahedra by sum factorisation: the same solution as with the matrix, of a problem with
# a coefficient, a constant and a group of terms with another quadrature degree.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/diffusion.ufl" <<'END'
element = FiniteElement("Q", hexahedron, 2)
u = TrialFunction(element)
v = TestFunction(element)
f = Coefficient(element)
k = Coefficient(FiniteElement("Q", hexahedron, 1))
c = Constant(hexahedron)
a = (1 + k)*inner(grad(v), grad(u))*dx + c*u*v*dx(degree=5)
L = v*f*dx
END
for assembly in csr matrix-free; do
    "$WEFT_BUILD/solve" "$folder/diffusion.ufl" --mesh hexes:3 --assembly "$assembly" --input k=x --input c=2 \
        --input "f=1+y*z" --dirichlet left=0 --dirichlet right=x+y --tolerance 1e-12 --verbose \
        > "$folder/$assembly" 2>&1
    grep -E "^(integral u|energy)" "$folder/$assembly" | sed 's/\([0-9]\{9\}\)[0-9]*/\1/' > "$folder/$assembly.values"
done
grep -q "products by sum factorisation" "$folder/matrix-free"
[ "$(wc -l < "$folder/csr.values")" = 2 ]
diff "$folder/csr.values" "$folder/matrix-free.values"
