#!/usr/bin/env bash
# labels: quick
# The roles of forms (a, L, F, J) and of the unknown are those of variables, whatever other names the same object has. The integral of
# the solution of -laplace u = 1 in P1 on square:8 with u = 0 on the boundary, 0.0334230311, is from scikit-fem.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# file NAME.ufl or NAME.py: standard input after the declarations of this kind of file
file() {
    case $1 in
    *.ufl) echo 'E = FiniteElement("CG", triangle, 1)' ;;
    *) printf '%s\n' 'from basix.ufl import element' 'from ufl import *' \
        'mesh = Mesh(element("Lagrange", "triangle", 1, shape=(2,)))' \
        'E = FunctionSpace(mesh, element("Lagrange", "triangle", 1))' ;;
    esac >"$folder/$1"
    cat >>"$folder/$1"
}
# solves FILE [OPTION...]: the integral of u must be that of scikit-fem
solves() {
    "$WEFT_BUILD/solve" "$folder/$1" --mesh square:8 --dirichlet boundary=0 --tolerance 1e-11 "${@:2}" >"$folder/log" 2>&1 ||
        { cat "$folder/log"; exit 1; }
    grep -q 'warning' "$folder/log" && { echo "$1: a warning"; cat "$folder/log"; exit 1; }
    awk '/^integral u/ { d = $3 - 0.0334230311; fine = d < 1e-9 && d > -1e-9 } END { exit !fine }' "$folder/log" ||
        { echo "$1: another solution"; cat "$folder/log"; exit 1; }
}

for ending in ufl py; do
    file "alias.$ending" <<'EOF'
u, v = TrialFunction(E), TestFunction(E)
A = inner(grad(u), grad(v))*dx
a = A
F = v*dx
L = F
EOF
    file "list.$ending" <<'EOF'
u, v = TrialFunction(E), TestFunction(E)
B = inner(grad(u), grad(v))*dx
a = B
G = v*dx
F = G
L = F
forms = [G, B]
EOF
    file "nonlinear.$ending" <<'EOF'
f, u, v = Coefficient(E), Coefficient(E), TestFunction(E)
w = u
B = inner(grad(u), grad(v))*dx - f*v*dx
F = B
EOF
    file "two.$ending" <<'EOF'
f, u, v = Coefficient(E), Coefficient(E), TestFunction(E)
w = u
G = inner(grad(u), grad(v))*dx - f*v*dx
F = G
C = derivative(F, u)
J = C
EOF
    for name in alias list; do
        solves "$name.$ending"
    done
    solves "nonlinear.$ending" --nonlinear --input f=1
    solves "two.$ending" --nonlinear --input f=1
done

# Forms can be asked for by each of their names.
"$WEFT_BUILD/weft" ufl "$folder/alias.ufl" --form F | grep -q '^L: linear form'
"$WEFT_BUILD/weft" ufl "$folder/alias.ufl" --form L --print kernels | grep -q 'ufl_L_0'

# says FILE TEXT [OPTION...]: the exit status is that of the variable `status`, and standard error has the text
says() {
    local code=0
    "$WEFT_BUILD/solve" "$folder/$1" --mesh square:4 "${@:3}" >/dev/null 2>"$folder/log" || code=$?
    [ "$code" = "$status" ] && grep -q "$2" "$folder/log" || { echo "$1: exit status $code"; cat "$folder/log"; exit 1; }
}
file bare.ufl <<<'a = inner(grad(TrialFunction(E)), grad(TestFunction(E)))*dx'
file other.ufl <<'EOF'
a = inner(grad(TrialFunction(E)), grad(TestFunction(E)))*dx
rhs_ = TestFunction(E)*dx
EOF
file functional.ufl <<'EOF'
a = inner(grad(TrialFunction(E)), grad(TestFunction(E)))*dx
L = 2*dx(triangle)
EOF
status=0 says bare.ufl 'bare.ufl has no form L, and no condition has a value other than 0, so that u = 0' --dirichlet boundary=0
status=0 says other.ufl 'has no form L, so that the load is zero: the linear form rhs_ is not part' --dirichlet boundary=0
status=2 says functional.ufl 'functional.ufl:3:[0-9]*: error: the load L of a linear problem has no test function'
printf 'parameter d = 2;\nindex cells, nodes;\nconnectivity dofs : cells -> nodes[d + 1];\ninput x : real[d] over nodes;\nJ = jacobian(x[dofs]);\nG = tform_dshape(J);\nK = dshape_dot_dshape(G, J);\n' >"$folder/bare.weft"
status=0 says bare.weft 'bare.weft has no vector b, and no condition'
"$WEFT_BUILD/solve" "$folder/bare.ufl" --mesh square:4 --dirichlet left=0 --dirichlet right=1 2>&1 | grep -q 'warning' && exit 1
exit 0
