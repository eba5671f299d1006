#!/usr/bin/env bash
# labels: quick
# Form files that state their problem: figure 6 of Markall, Ham and Kelly (2010) as printed, its variations, and messages for mistakes. The
# integrals of the solutions on square:8 with u = 0 on the boundary are from scikit-fem, with f interpolated at the nodes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# file NAME.ufl or NAME.py [DEGREE]: standard input after the space P, which the figure assumes
file() {
    case $1 in
    *.ufl) echo "P = FiniteElement('Lagrange', triangle, ${2:-1})" ;;
    *) printf '%s\n' 'from basix.ufl import element' 'from ufl import *' \
        'P = FunctionSpace(Mesh(element("Lagrange", "triangle", 1, shape=(2,))), element("Lagrange", "triangle", '"${2:-1}))" ;;
    esac >"$1"
    cat >>"$1"
}
# integral FILE NAME EXPECTED [OPTION...]
integral() {
    "$WEFT_BUILD/solve" "$1" --mesh square:8 --tolerance 1e-12 "${@:4}" >log 2>&1 || { echo "$1"; cat log; exit 1; }
    grep -q warning log && { echo "$1: a warning"; cat log; exit 1; }
    awk -v name="$2" -v expected="$3" '$1 == "integral" && $2 == name { d = $3 - expected; fine = d < 2e-9 && d > -2e-9 }
        END { exit !fine }' log || { echo "$1: not $3"; cat log; exit 1; }
}
figure() {
    cat <<'END'
v=TestFunction(P)
u=TrialFunction(P)
f=Function(P, sin(x[0])+cos(x[1]))
A=dot(grad(v),grad(u))*dx
RHS=v*f*dx
END
}
held=(--dirichlet boundary=0)
for ending in ufl py; do
    { figure; echo 'P = solve(A,RHS)'; } | file "figure6.$ending"
    integral "figure6.$ending" P 0.0441454814941 "${held[@]}"
done
integral figure6.ufl P 0.0334230310777 "${held[@]}" --input f=1 # other values in place of those of the file
{ figure; echo 'P = solve(A,RHS)'; } | file second.ufl 2
integral second.ufl P 0.0464360615574 "${held[@]}"

# The same problem by other words. Without `solve` the solution is called u.
figure | file names.ufl
integral names.ufl u 0.0441454814941 "${held[@]}"
figure | sed 's/^A=/a=/; s/^RHS=/L=/' | file roles.ufl
integral roles.ufl u 0.0441454814941 "${held[@]}"
figure | sed 's/^A=/a=/' | file mixed.ufl
integral mixed.ufl u 0.0441454814941 "${held[@]}"
{ figure; printf 'w = Function(P)\nsolve(A == RHS, w, [])\n'; } | file target.ufl
integral target.ufl w 0.0441454814941 "${held[@]}"
{ figure; echo 'T = solve(dot(grad(v),grad(u))*dx, f*v*dx)'; } | file nameless.ufl
integral nameless.ufl T 0.0441454814941 "${held[@]}"
{ figure; printf 'both = A - RHS\nT = solve(lhs(both) == rhs(both))\n'; } | file both.ufl
integral both.ufl T 0.0441454814941 "${held[@]}"
{ figure; printf 'a = 3*A\nL = 7*RHS\nT = solve(A, RHS)\n'; } | file priority.ufl
integral priority.ufl T 0.0441454814941 "${held[@]}"
{ figure; printf 'w = Function(P)\nF = dot(grad(v),grad(w))*dx - RHS\nsolve(F == 0, w)\n'; } | file nonlinear.ufl
integral nonlinear.ufl w 0.0441454814941 "${held[@]}" --nonlinear
{ figure; printf 'w = Function(P)\nF = dot(grad(v),grad(w))*dx - RHS\nsolve(F == 0, w, J=A)\n'; } | file tangent.ufl
integral tangent.ufl w 0.0441454814941 "${held[@]}" --nonlinear
# (w^2 - 1)(w - 3) = 0 has the solution that is nearest to where Newton's method starts, the value of w unless another one is given.
{ figure; printf 'w = Function(P, %s)\nF = (w**2 - 1)*(w - 3)*v*dx(degree=5)\nsolve(F == 0, w)\n' '3.1 + 0*x[0]'; } | file roots.ufl
integral roots.ufl w 3 --nonlinear
grep -qF ', the start = 3.1' log
integral roots.ufl w -1 --nonlinear --initial -1.2
sed -i 's/3.1 + 0\*x\[0\]/-0.9/' roots.ufl
integral roots.ufl w -1 --nonlinear
{ figure; echo 'P = solve(A + u*v*dx, RHS)'; } | file natural.ufl
integral natural.ufl P 1.29947400752

# Values in all words of the language, at the nodes of P1: u = f of the L2 projection, whose integral is that of f.
value() { # VALUE EXPECTED
    printf 'v, u = TestFunction(P), TrialFunction(P)\ng = Function(P, x[0] + 2*x[1])\nf = Function(P, %s)\nu_ = solve(u*v*dx, f*v*dx)\n' \
        "$1" | file value.ufl
    integral value.ufl u_ "$2"
}
value '1.5' 1.5
value 'as_vector((x[1], x[0]))[1] + inner(x, as_vector((0, 2)))' 1.5
value 'grad(x[0]**2*x[1])[1]/max_value(x[0], 1)' 0.3359375  # x^2 at the nodes: the trapezoidal rule has 1/3 + h^2/6
value 'conditional(Or(lt(x[0], 0.5), Not(ge(x[1], -1))), 0, conditional(eq(x[0], 0.5), 0, 2*x[0] - 1))' 0.25
value 'conditional(And(gt(x[0], 0.5), ne(x[0], 2)), -(1 - 2*x[0]), 0)' 0.25
value '2*g' 3
value 'det(outer(x, x) + Identity(2)) - dot(x, x)' 1
value 'sqrt(exp(2*ln(1 + abs(-x[0]))))' 1.5

# Vectors, cells and numbers: the L2 projection of x in a vector space, of DG0 and Real in P1
cat >vector.ufl <<'END'
V = VectorElement("P", triangle, 2)
v, u = TestFunction(V), TrialFunction(V)
f = Function(V, 2*SpatialCoordinate(triangle))
c = Function(FiniteElement("DG", triangle, 0), x[0])
k = Function(FiniteElement("R", triangle, 0), 3)
w = solve(inner(u, v)*dx, (c + k)*inner(f, v)*dx)
END
"$WEFT_BUILD/solve" vector.ufl --mesh square:4 --tolerance 1e-12 --output w.vtkhdf >log
# (c + 3) 2 x with c = x0 at the middle of each cell, h = 1/4: 3 + 2/3 - h^2/9, and 3.5 with h^2/18 more or less, by the diagonals
awk '/^integral w/ { gsub(",", ""); d = $3 - (3 + 2/3 - 0.0625/9); e = ($4 - 3.5)^2 - (0.0625/18)^2
    fine = d < 1e-8 && d > -1e-8 && e < 1e-10 && e > -1e-10 } END { exit !fine }' log || { cat log; exit 1; }

# -laplace u + u = f, u = cos(pi x) cos(pi y): the errors of P1 are of order 2, of P2 of order 3, f interpolated or not
for degree in 1 2; do
    file helmholtz.ufl $degree <<'END'
v, u = TestFunction(P), TrialFunction(P)
f = Function(P, (1 + 2*pi**2)*cos(pi*x[0])*cos(pi*x[1]))
u = solve((inner(grad(u), grad(v)) + u*v)*dx, f*v*dx)
END
    for n in 8 16; do
        "$WEFT_BUILD/solve" helmholtz.ufl --mesh square:$n --tolerance 1e-11 --exact 'cos(pi*x)*cos(pi*y)' |
            awk '/^error/ { gsub(",", ""); print $3 }'
    done >errors
    awk -v p=$((degree + 1)) '{ e[NR] = $1 } END { order = log(e[1]/e[2])/log(2); exit !(order > p - 0.15 && order < p + 0.3) }' errors ||
        { echo "degree $degree"; cat errors; exit 1; }
done

# What it prints: values, and the solution by its name
"$WEFT_BUILD/weft" ufl figure6.ufl >log
grep -qF 'coefficients f: P1 triangle = sin(x) + cos(y)' log
"$WEFT_BUILD/weft" explain figure6.ufl --device host:1 >log
grep -q '^3 calls' log
"$WEFT_BUILD/solve" figure6.ufl --mesh square:4 "${held[@]}" --output P.vtkhdf --probe 0.5,0.5 --integral 'g=dot(grad(P),grad(P))' >log
grep -qF 'problem     A(P, v) = RHS(v) of figure6.ufl, f = sin(x) + cos(y); P = 0 on boundary' log
grep -qF 'probe       P(0.5,0.5)' log
# The result is a coefficient of another file by its name: twice P has twice the integral.
file again.ufl <<'END'
v, u, g = TestFunction(P), TrialFunction(P), Coefficient(P)
a, L = u*v*dx, 2*g*v*dx
END
"$WEFT_BUILD/solve" again.ufl --mesh square:4 --tolerance 1e-12 --input 'g=field(P.vtkhdf, P)' >log2
awk '/^integral/ && NR == FNR { one = $3 } /^integral u/ { two = $3 } END { d = two - 2*one; exit !(d < 1e-9 && d > -1e-9) }' \
    <(grep '^integral P' log) log2

# bad TEXT LINE:COLUMN MESSAGE [HINT]: after the five lines of the figure, whose first is line 2
bad() {
    { figure; printf '%b\n' "$1"; } | file bad.ufl
    local code=0
    "$WEFT_BUILD/weft" ufl bad.ufl --print script >log 2>&1 || code=$?
    [ $code = 2 ] && grep -qF "bad.ufl:$2: error: " log && grep -qF -- "$3" log && grep -qF -- "${4:-error}" log ||
        { echo "$1: $code"; cat log; exit 1; }
}
bad 'P = solve(A, RHS)\nQ = solve(A, RHS)' 8:5 'this file solves a problem in line 7 already' 'a file of its own'
bad 'P = solve(A, u)' 7:5 'solve expects forms, and got an expression'
bad 'P = solve(A)' 7:5 'solve expects forms'
bad 'P = solve(1, RHS)' 7:5 'solve expects forms, and got an int'
bad 'P = solve(A, A)' 7:5 'the right side of solve has a trial function: it is a bilinear form' 'solve(lhs(F), rhs(F))'
bad 'P = solve(A, f*dx)' 7:5 'the right side of solve has no test function'
bad 'P = solve(RHS, RHS)' 7:5 'the left side of solve has no trial function'
bad 'P = solve(f*dx, RHS)' 7:5 'the left side of solve has no trial and no test function'
bad 'solve(A == 2, f)' 7:1 'solve expects forms, and got an int'
bad 'solve(A == RHS, u)' 7:1 'solve puts the solution into a Function, and got an Argument'
bad 'solve(A == RHS, f)' 7:1 'the forms of a linear problem contain its solution' 'solve(F == 0, u)'
bad 'solve(A == RHS, Function(FiniteElement("P", triangle, 2)))' 7:1 'the solution is in another space'
bad 'w = Function(P)\nsolve(A == RHS, w, [DirichletBC(P, 0, "x")])' 8:21 'boundary conditions are not written' '--dirichlet'
bad 'w = Function(P)\nsolve(A == RHS, w, 3)' 8:1 'solve takes no boundary conditions from a form file' '--dirichlet'
bad 'solve(A == 0, f)' 7:1 'the form of solve(F == 0, u) has a trial function'
bad 'solve(RHS == 0)' 7:1 'solve(F == 0) does not say what the unknown is'
bad 'solve(RHS == 0, Function(P))' 7:1 'does not contain its unknown'
bad 'solve(RHS == 0, f, J=RHS)' 7:1 'J is not a bilinear form'
bad 'P = solve(A, RHS)\nM = P*v*dx' 8:8 'the form M contains the solution of the problem in line 7' '--derive'
bad 'P = solve(A, RHS)\ng = Function(P.ufl_function_space(), P)' 8:5 'the value of a Function is a formula of x and numbers, and this one contains P'
bad 'k = Constant(triangle)\ng = Function(P, k*x[0])' 8:5 'contains k' '--input'
bad 'w, u = Function(P, 1), Coefficient(P)\nF = w*u*v*dx\nsolve(F == 0, w)' 7:1 'another coefficient is called u' --initial
bad 'g = Function(P, u)' 7:5 'contains u'
bad 'g = Function(P, grad(f)[0])' 7:5 'contains grad(f)'
bad 'g = Function(P, x)' 7:5 'the value of a Function has the shape (2,), and functions of P1 triangle have ()'
bad 'g = Function(P, "sin(x[0])")' 7:5 'is an expression of x' 'without quotes'
bad 'g = Function(P, FacetNormal(triangle)[0])' 7:5 'contains FacetNormal'
bad 'g = Expression("sin(x[0])", degree=2)' 7:5 'Expression is not part of form files' 'Function(V, sin(x[0]))'
echo 'e, f = FiniteElement("P", triangle, 1), FiniteElement("P", interval, 1); g = Function(e, x[0])' >bad.ufl
"$WEFT_BUILD/weft" ufl bad.ufl >log 2>&1 && exit 1
grep -qF "the name 'x' is not defined" log
exit 0
