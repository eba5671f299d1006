#!/usr/bin/env bash
# labels: quick
# What was solved is part of the answer: the line `problem` of reports, of JSON and of result files, with the defaults marked. A form
# file has no condition but those that are given: the L2 projection of 1 is 1, in every element.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

failed() {
    echo "$*"
    cat log
    exit 1
}
# says TEXT PROGRAM [OPTION...]: the report has the line, and JSON the same text
says() {
    "$WEFT_BUILD/$2" "${@:3}" --json json >log 2>&1 || failed "exit status $?: $*"
    grep -qxF "problem     $1" log || failed "no problem: $1"
    grep -qF "\"problem\": \"$1\"" json || failed "not in JSON: $1"
}
# is VALUE: the integral of u, to 1e-6
is() { awk -v expected="$1" '/^integral u/ { d = $3 - expected; fine = d < 1e-6 && d > -1e-6 } END { exit !fine }' log || failed "not $1"; }

says '-div(k grad u) = f, k = 1 (default), f = 1 (default); u = 0 on the whole boundary (default)' poisson --mesh square:4
says '-div(k grad u) = f, k = 2, f = x+1; u = 1 on left; flux 3 - 2 u on right; flux 0 elsewhere (default)' \
    poisson --mesh square:4 --diffusivity 2 --source x+1 --dirichlet left=1 --robin right=2,3
says '-div(k grad u) = f, k = 1 (default), f = 1; u = 1 on boundary' poisson --mesh square:4 --source 1 --dirichlet boundary=1
says '-div(k grad u) = f, k = 1 (default), f = x-0.5; flux 0 on boundary; the integral of u is 0, for nothing fixes a constant' \
    poisson --mesh square:4 --source x-0.5 --neumann boundary=0
says 'K u = b of diffusion.weft, source = 2, diffusivity as in the script (default); u = 0 on the whole boundary (default)' \
    solve diffusion.weft --mesh square:4 --define source=2
says "K u = b of diffusion.weft, diffusivity, source as in the script (default); u = 0 on top; --periodic 'left=right'; flux 0 elsewhere (default)" \
    solve diffusion.weft --mesh square:4 --dirichlet top=0 --periodic left=right
says 'M du/dt + K u = b of heat.weft, u(0) = x, density, capacity, conductivity, source as in the script (default); u = 0 on the whole boundary (default)' \
    solve heat.weft --mesh square:2 --time 0.1,0.1 --initial x
says 'c (dT/dt + u.grad T) = div(mu grad T) + f, c = 1 (default), u = (1, 0), mu = 0.1, f = 0 (default), T(0) = 0 (default); T = 1 on left; insulated elsewhere (default)' \
    advection_diffusion --mesh square:4 --velocity 1,0 --diffusivity 0.1 --dt 0.1 --steps 1 --dirichlet left=1

# Form files are natural where nothing is prescribed, whatever their integrals are over.
for element in "'P', triangle, 1" "'P', triangle, 3" "'DG', triangle, 1"; do
    cat >projection.ufl <<EOF
V = FiniteElement($element)
u, v, f = TrialFunction(V), TestFunction(V), Coefficient(V)
a, L, m = u*v*dx, f*v*dx, u*v*dx
EOF
    says 'a(u, v) = L(v) of projection.ufl, f = 1; natural on the whole boundary (default)' solve projection.ufl --mesh square:4 --input f=1
    is 1
done
cat >newton.ufl <<'EOF'
V = FiniteElement('P', triangle, 1)
u, v = Coefficient(V), TestFunction(V)
F = (u**3 + u - 10)*v*dx
EOF
says 'F(u; v) = 0 of newton.ufl; natural on the whole boundary (default)' solve newton.ufl --mesh square:4 --nonlinear
is 2
says 'F(u; v) = 0 of newton.ufl; u = 2 on left; natural elsewhere (default)' solve newton.ufl --mesh square:4 --nonlinear --dirichlet left=2
# du/dt + u = 1 from u = 1 stays there
sed -i "s/'DG'/'P'/" projection.ufl
says 'm(du/dt, v) + a(u, v) = L(v) of projection.ufl, u(0) = 1, f = 1; natural on the whole boundary (default)' \
    solve projection.ufl --mesh square:4 --input f=1 --initial 1 --time 0.1,0.3
is 1

# A condition that is missing is said.
cat >poisson.ufl <<'EOF'
V = FiniteElement('P', triangle, 1)
u, v = TrialFunction(V), TestFunction(V)
a, L = inner(grad(u), grad(v))*dx, v*dx
EOF
for element in 1 2; do
    sed -i "s/triangle, [12])/triangle, $element)/" poisson.ufl
    code=0
    "$WEFT_BUILD/solve" poisson.ufl --mesh square:4 >log 2>&1 || code=$?
    [ "$code" = 2 ] || failed "exit status $code"
    grep -q 'no condition is given, and a form file has none of its own: add --dirichlet boundary=0' log || failed "no hint"
done

# Result files: field data of VTK, and an attribute of HDF5.
statement='-div(k grad u) = f, k = 1 (default), f = 1 (default); u = 0 on the whole boundary (default)'
for file in u.vtu u.vtkhdf; do
    "$WEFT_BUILD/poisson" --mesh square:4 --output $file --quiet
done
"$WEFT_BUILD/solve" heat.weft --mesh square:2 --time 0.1,0.2 --output heat.pvd --quiet
"$WEFT_BUILD/solve" heat.weft --mesh square:2 --time 0.1,0.2 --output heat.vtkhdf --quiet
text_of() { # of a .vtu file: the numbers of the bytes of its field data
    awk '/Name="problem"/ { getline; for (i = 1; i < NF; ++i) printf "%c", $i + 0 }' "$1"
}
[ "$(text_of u.vtu)" = "$statement" ] || failed "u.vtu: $(text_of u.vtu)"
for file in heat_steps/*.vtu; do
    [[ $(text_of "$file") == 'M du/dt + K u = b of heat.weft, u(0) = 0 (default), '* ]] || failed "$file: $(text_of "$file")"
done
grep -qaF -- "$statement" u.vtkhdf || failed "u.vtkhdf"
grep -qaF 'M du/dt + K u = b of heat.weft, u(0) = 0 (default), ' heat.vtkhdf || failed "heat.vtkhdf"
"$WEFT_BUILD/poisson" --mesh u.vtkhdf >log 2>&1 || failed "u.vtkhdf is not read again"
