#!/usr/bin/env bash
# labels: quick
# solve --gradient: the report, the JSON and the files, against differences of J; and what is refused.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >control.ufl <<'END'
V = FiniteElement("Lagrange", triangle, 1)
u, v = TrialFunction(V), TestFunction(V)
f, d, c = Coefficient(V), Coefficient(V), Constant(triangle)
unknown = Coefficient(V)
a, L = c*inner(grad(u), grad(v))*dx, f*v*dx
J = 0.5*(unknown - d)**2*dx + c**2*f**2*dx
END
# run C LIFT OPTION...
run() {
    "$WEFT_BUILD/solve" "${file:-control.ufl}" --mesh square:8 --dirichlet "boundary=$2" --input f=1+x --input d=x*y --input "c=$1" --tolerance 1e-12 --gradient J \
        "${@:3}" >log 2>&1 || { cat log; exit 1; }
}
# close COMMAND...: is it true of the numbers that are given to awk?
differ() {
    awk -v a="$1" -v b="$2" -v h="$3" -v derivative="$4" 'BEGIN {
        d = (a - b)/h/derivative - 1; exit !(d < 1e-5 && d > -1e-5) }' || { echo "($1 - $2)/$3 is not $4"; exit 1; }
}
value() { sed -n 's/^functional  J = //p' log; }
run 1.001 0
more=$(value)
run 0.999 0
less=$(value)
run 1 0 --wrt f,c,u --output u.vtkhdf --json report.json
differ "$more" "$less" 0.002 "$(sed -n 's|^derivative  dJ/dc *||p' log)"
grep -q '^derivative  dJ/df  L2 norm .*, from .* to .*, in u_dJ_df.vtkhdf$' log || { cat log; exit 1; }
[ -s u.vtkhdf ] && [ -s u_dJ_df.vtkhdf ] && [ -s u_dJ_du.vtkhdf ]
python3 - <<'END'
import json

gradient = json.load(open("report.json"))["gradient"]
assert gradient["functional"] == "J" and gradient["adjoint_outcome"] == "converged", gradient
assert list(gradient["controls"]) == ["f", "c", "u"] and gradient["controls"]["f"]["file"] == "u_dJ_df.vtkhdf", gradient
assert gradient["controls"]["f"]["least"] <= gradient["controls"]["f"]["greatest"] and gradient["controls"]["f"]["l2_norm"] > 0
END
# The same problem by solve(), nonlinear, and on ranks, of which the first one has the whole
{ sed '/unknown/d' control.ufl; printf 'w = Function(V)\nsolve(a == L, w)\nJ = 0.5*(w - d)**2*dx + c**2*f**2*dx\n'; } >stated.ufl
{ sed '/^a, L\|^J\|^unknown/d; s/^u, v = .*/u, v = Coefficient(V), TestFunction(V)/' control.ufl
    printf 'F = c*inner(grad(u), grad(v))*dx - f*v*dx\nfunctional = 0.5*(u - d)**2*dx + c**2*f**2*dx\n'; } >nonlinear.ufl
expected=$(value)
same() { awk -v a="$(value)" -v b="$expected" 'BEGIN { d = a/b - 1; exit !(d < 1e-8 && d > -1e-8) }' || { cat log; exit 1; }; }
file=stated.ufl run 1 0 --wrt c
same
file=nonlinear.ufl run 1 0 --nonlinear --gradient functional --wrt c
sed -i 's/^functional  functional/functional  J/' log
same

# A residual without its unknown is refused, not solved.
printf 'unknown = Coefficient(V)\n' >>nonlinear.ufl
"$WEFT_BUILD/solve" nonlinear.ufl --nonlinear --mesh square:4 --input f=1 --input c=1 >log 2>&1 && exit 1
grep -q 'the form F does not depend on its unknown, unknown' log || { cat log; exit 1; }

bad() {
    "$WEFT_BUILD/solve" control.ufl --mesh square:4 --dirichlet boundary=0 --input f=1 --input d=1 --input c=1 "${@:3}" >log 2>&1 && { echo "no error: $*"; exit 1; }
    grep -q -- "$1" log && grep -q -- "$2" log || { echo "expected '$1' and '$2'"; cat log; exit 1; }
}
bad '--wrt: error\|--wrt names controls' 'add --gradient J' --wrt f
bad 'no functional K' 'functionals are: J' --gradient K
bad 'L is not a functional' 'functionals are: J' --gradient L
bad 'no coefficient or constant nu' 'weft ufl' --gradient J --wrt f,nu
bad 'is for a gradient in time' 'add --time' --gradient J --checkpoints 3
bad 'is for a gradient in time' 'add --time' --over-time

# In time: against differences of J, and with steps that are made again
printf 'm = u*v*dx\n' >>control.ufl
in_time() { run "$1" 'x*t' --time 0.1,0.55 --initial 'x*y' "${@:2}"; }
for over in '' --over-time; do
    in_time 1.001 $over
    more=$(value)
    in_time 0.999 $over
    less=$(value)
    in_time 1 $over --wrt f,c,initial,u --output t.vtkhdf --overwrite
    differ "$more" "$less" 0.002 "$(sed -n 's|^derivative  dJ/dc *||p' log)"
    [ -s t_dJ_df.vtkhdf ] && [ -s t_dJ_dinitial.vtkhdf ] && [ -s t_dJ_du.vtkhdf ]
    grep '^functional\|^derivative' log >stored
    in_time 1 $over --wrt f,c,initial,u --output t.vtkhdf --overwrite --checkpoints 2
    grep '^functional\|^derivative' log | cmp - stored
done
run 1 0 --time 0.1,0.2 --checkpoint half.vtkhdf
"$WEFT_BUILD/solve" control.ufl --mesh square:8 --dirichlet boundary=0 --input f=1+x --input d=x*y --input c=1 --tolerance 1e-12 --gradient J --time 0.1,0.4 --resume half.vtkhdf \
    >log 2>&1 && exit 1
grep -q 'continue from a checkpoint' log || { cat log; exit 1; }
bad 'not computed on several ranks' 'leave out --ranks' --gradient J --time 0.1,0.2 --ranks 2
bad 'whose length is chosen by a tolerance' 'let the tolerance' --gradient J --time 0.1,1 --time-tolerance 0.1
bad 'not computed with constraints' 'leave out' --gradient J --time 0.1,1 --periodic left=right
