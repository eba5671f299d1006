#!/usr/bin/env bash
# labels: full
# Every option that takes a formula, with a formula, with the equal field of a file, and with both by group: the
# results agree to 1e-6 (the solvers stop at 1e-8 of the first residual). The field is 1 + x + 2y, which P1 has
# exactly, of a mesh that is not the one it is read on; it has more cells than nodes and other numbers.
set -u
if [ ! -x "$WEFT_BUILD/weft-gmsh" ]; then
    echo "skipped: weft-gmsh is not built (libgmsh-dev is missing)"
    exit 77
fi
export LC_ALL=C PATH="$WEFT_BUILD:$PATH"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
formula='1+x+2*y'
field='field(lin.vtkhdf,u)'

cat > two.geo <<'END'
h = 0.3;
Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {2, 0, 0, h};
Point(4) = {2, 1, 0, h}; Point(5) = {1, 1, 0, h}; Point(6) = {0, 1, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5}; Line(5) = {5, 6}; Line(6) = {6, 1};
Line(7) = {2, 5};
Curve Loop(1) = {1, 7, 5, 6}; Plane Surface(1) = {1};
Curve Loop(2) = {2, 3, 4, -7}; Plane Surface(2) = {2};
Physical Surface("a") = {1}; Physical Surface("b") = {2};
Physical Curve("left") = {6}; Physical Curve("right") = {3}; Physical Curve("sides") = {1, 2, 4, 5};
END
cat > dg.ufl <<'END'
V = FiniteElement("DG", triangle, 1)
K = FiniteElement(family, triangle, degree)
u, v = TrialFunction(V), TestFunction(V)
f = Coefficient(K)
a = u*v*dx
L = f*v*dx
END
cat > vector.ufl <<'END'
V = FiniteElement("DG", triangle, 1)
K = VectorElement(family, triangle, degree)
u, v = TrialFunction(V), TestFunction(V)
f = Coefficient(K)
a = u*v*dx
L = (f[0] + 3*f[1])*v*dx
END
printf 'x,v\n-5,-4\n0,1\n5,6\n' > table.csv
poisson -q --mesh two.geo --size 0.45 --source 0 --dirichlet "boundary=$formula" --tolerance 1e-13 --output lin.vtkhdf ||
    exit 1

# numbers COMMAND...: the numbers that it prints
numbers() {
    "$@" --tolerance 1e-10 >out 2>&1 </dev/null || { sed 's/^/    /' out; return 1; }
    grep -E '^ *(probe|integral|error|L2)' out | grep -oE -- '-?[0-9]+\.?[0-9]*(e[-+]?[0-9]+)?'
}
# try VALUE COMMAND...: {} in the command is the value; the numbers are those of the first one
try() {
    local value=$1
    shift
    if ! numbers "${@//\{\}/$value}" >numbers; then
        echo "no result with $value: $*"
        cat numbers
        failures=$((failures + 1))
    elif [ ! -s numbers ] || ! paste -d ' ' first numbers | awk '
        { e = $1 - $2; if (e < 0) e = -e; s = $1 < 0 ? -$1 : $1; if (NF != 2 || e > 1e-6*(1 + s)) bad = 1 }
        END { exit bad }'; then
        echo "other results with $value: $*"
        paste -d ' ' first numbers
        failures=$((failures + 1))
    fi
}
# agree TEXT COMMAND...: {} in the command is the text, in which F is the formula, the field or a table.
agree() {
    local text=$1 n=$failures
    shift
    numbers "${@//\{\}/${text//F/($formula)}}" >first || { cat first; failures=$((n + 1)); return; }
    try "${text//F/$field}" "$@"
    try "${text//F/(table(table.csv,x)+2*y)}" "$@"
}
# by_group TEXT COMMAND...: also by group, one with the formula, one with the field
by_group() {
    local text=$1
    agree "$@"
    shift
    try "@a=${text//F/($formula)}; @b=${text//F/$field}" "$@"
    try "@b=${text//F/($formula)}; @a=${text//F/$field}" "$@"
}
at='--probe 0.3,0.4 --probe 1.55,0.45 --integral I=u'
p="poisson --mesh two.geo $at --source 0"
by_group F $p --dirichlet 'boundary={}'
by_group F $p --dirichlet left=0 --point-value '1.55,0.45={}'
by_group F $p --dirichlet left=0 --point-load '1.55,0.45={}'
by_group F $p --dirichlet 'boundary=x' --exact '{}'
agree F $p --dirichlet left=0 --neumann 'right={}'
agree F $p --dirichlet left=0 --robin 'right=1,{}'
agree F $p --dirichlet left=1 --robin 'right={},1'
by_group F poisson --mesh two.geo $at --dirichlet left=0 --source '{}'
by_group F poisson --mesh two.geo $at --dirichlet left=0 --source 1 --diffusivity '{}'

s="solve diffusion.weft --mesh two.geo $at"
by_group F $s --dirichlet 'boundary={}' --define source=0
by_group F $s --dirichlet left=0 --define 'source={}'
by_group F $s --dirichlet left=0 --define 'diffusivity={}'
h="solve heat.weft --mesh two.geo $at --time 0.1,0.2 --scheme theta"
by_group F $h --initial '{}' --dirichlet left=0
by_group 't*F' $h --initial 0 --dirichlet 'boundary={}'
by_group 't*F' $h --initial 0 --dirichlet 'left={}' --dirichlet "right=t^2*($formula)" --dirichlet sides=t
by_group 't*F' $h --initial 0 --define 'source={}' --define "conductivity=$formula"
by_group 't*F' $h --initial 0 --dirichlet left=0 --point-value '1.55,0.45={}' --point-load '0.4,0.4={}'
agree 't*F' $h --initial 0 --dirichlet left=0 --neumann 'right={}'
by_group F solve elasticity.weft --mesh two.geo --probe 1.5,0.5 --dirichlet left=0,0 --define 'young={}'

for element in '"Lagrange" 1' '"Lagrange" 2' '"DG" 0' '"DG" 1' '"Bubble" 3'; do
    for form in dg vector; do
        sed "s/family/${element% *}/; s/degree/${element#* }/" $form.ufl >form.ufl
        text=F
        [ $form = vector ] && text='F,2*F'
        by_group "$text" solve form.ufl --mesh two.geo --integral I=u --integral 'J=x*u' --input 'f={}'
    done
done
sed 's/K = .*//; s/u, v = /P = FiniteElement("Lagrange", triangle, 2)\nu, v = /; s/(V)/(P)/g; s/(K)/(P)/
    s/a = .*/a = dot(grad(u), grad(v))*dx/' dg.ufl >quadratic.ufl
by_group F solve quadratic.ufl --mesh two.geo $at --input f=0 --dirichlet 'boundary={}'
by_group F solve quadratic.ufl --mesh two.geo $at --input 'f={}' --dirichlet boundary=x

a='advection_diffusion --mesh two.geo --probe 0.3,0.4 --probe 1.55,0.45 --dt 0.05 --steps 3'
by_group F $a --initial '{}' --diffusivity 0.1
agree F $a --diffusivity '{}' --initial x
by_group F $a --initial 0 --diffusivity 0.1 --source '{}'
by_group 't*F' $a --initial 0 --diffusivity 0.1 --source '{}' --capacity 2
by_group F $a --initial x --diffusivity 0.1 --capacity '{}'
agree F,0 $a --initial x --diffusivity 0.1 --velocity '{}'
by_group F $a --initial 0 --diffusivity 0.1 --dirichlet 'boundary={}'
by_group 't*F' $a --initial 0 --diffusivity 0.1 --dirichlet 'boundary={}'
agree F $a --initial 0 --diffusivity 0.1 --neumann 'right={}'
agree F $a --initial 0 --diffusivity 0.1 --robin 'right=1,{}'
by_group F $a --initial x --diffusivity 0.1 --exact '{}'

# A single number is at no place.
refuse() {
    local text=$1
    shift
    if "$@" >out 2>&1 </dev/null || ! grep -qF -- "$text" out; then
        echo "exit $?, expected an error with \"$text\": $*"
        head -n 5 out
        failures=$((failures + 1))
    fi
}
sed 's/Coefficient(K)/Constant(triangle)/; s/family/"DG"/; s/degree/0/' dg.ufl >constant.ufl
refuse 'a single number is needed here' solve constant.ufl --mesh two.geo --input "f=$field"
exit $((failures > 0))
