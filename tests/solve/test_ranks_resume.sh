#!/usr/bin/env bash
# labels: full
# Checkpoints of several ranks: a run that 4 of them interrupt is continued by any number, with the bytes of one that was not interrupted
# in histories and series; one without ranks continues it, and they continue its, to rounding. What cannot be continued is
# refused with one message, on which no rank waits for another.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "FAILED: $1"; [ ! -f out ] || cat out; exit 1; }
solve=$WEFT_BUILD/solve

# near FILE FILE: the same tables up to 1e-8
near() {
    python3 - "$@" <<'PY'
import csv, sys
one, other = (list(csv.reader(open(path))) for path in sys.argv[1:])
assert one[0] == other[0] and len(one) == len(other) > 3
for a, b in zip(one[1:], other[1:]):
    for x, y in zip(a, b):
        assert abs(float(x) - float(y)) <= 1e-8*(abs(float(x)) + 1e-2), (a, b)
PY
}

# same NAME OPTIONS...: 6 steps of 0.05 with a checkpoint after 3, or 3 and then 3 more
same() {
    local name=$1
    shift
    rm -rf whole* half* part*
    local series=(--output-every 3 --probe 0.3,0.6 --integral 'a=u*u')
    [ "$components" = 1 ] || series=(--output-every 3 --probe 0.3,0.6 --integral 'a=u[0]*u[1]')
    "$solve" "$@" --time 0.05,0.3 "${series[@]}" --output whole.pvd --history whole.csv --checkpoint whole.vtkhdf \
        --checkpoint-every 3 --ranks 3 >out 2>&1 || fail "$name: whole"
    "$solve" "$@" --time 0.05,0.15 "${series[@]}" --output half.pvd --history half.csv --checkpoint half.vtkhdf \
        --ranks 4 >out 2>&1 || fail "$name: first half"
    grep -q 'checkpoint  half.vtkhdf, step 3' out || fail "$name: the checkpoint is not reported"
    for n in 1 ${WEFT_TEST_FULL:+2} 7; do
        rm -rf part*
        cp half.csv part.csv
        cp half.pvd part.pvd
        sed -i s/half_steps/part_steps/ part.pvd
        cp -r half_steps part_steps
        "$solve" "$@" --time 0.05,0.3 "${series[@]}" --output part.pvd --history part.csv --resume half.vtkhdf \
            --ranks $n >out 2>&1 || fail "$name: $n ranks"
        cmp whole.csv part.csv || fail "$name: histories of $n ranks differ"
        [ "$(ls part_steps | wc -l)" = 3 ] || fail "$name: steps"
        for step in $(ls whole_steps); do
            cmp "whole_steps/$step" "part_steps/$step" || fail "$name: $step of $n ranks differs"
        done
    done
    cp half.csv part.csv
    "$solve" "$@" --time 0.05,0.3 "${series[@]}" --history part.csv --resume half.vtkhdf >out 2>&1 || fail "$name: without ranks"
    near whole.csv part.csv || fail "$name: without ranks"
    "$solve" "$@" --time 0.05,0.15 "${series[@]}" --history alone.csv --checkpoint alone.vtkhdf --overwrite >out 2>&1 || fail "$name: alone"
    for n in 2 3; do
        cp alone.csv part.csv
        "$solve" "$@" --time 0.05,0.3 "${series[@]}" --history part.csv --resume alone.vtkhdf --ranks $n >out 2>&1 ||
            fail "$name: $n ranks after none"
        near whole.csv part.csv || fail "$name: $n ranks after none"
        [ $n = 3 ] || cp part.csv two.csv
        cmp two.csv part.csv || fail "$name: ranks after none differ"
    done
    rm -f alone*
}
components=1
heat=(heat.weft --mesh square:8 --initial 'x*y' --define 'source=t' --dirichlet left=t --robin 'right=2,sin(t)'
    --define 'conductivity=1+x*t' --preconditioner jacobi --tolerance 1e-11)
for scheme in theta bdf2 sdirk3; do
    same "$scheme" "${heat[@]}" --scheme $scheme
done
same aggregation heat.weft --mesh square:90 --initial 'x*y' --dirichlet left=t --preconditioner aggregation --tolerance 1e-11
same newton heat_nonlinear.weft --nonlinear --mesh square:6 --initial 1 --dirichlet 'left=1+t' \
    --define 'conductivity=0.5+0.1*u' --preconditioner jacobi --newton-tolerance 1e-11
cat >vector.py <<'END'
from basix.ufl import element
from ufl import *
mesh = Mesh(element("Lagrange", "triangle", 1, shape=(2,)))
V = FunctionSpace(mesh, element("Lagrange", "triangle", 3, shape=(2,)))
u, v, u_old = TrialFunction(V), TestFunction(V), Coefficient(V)
dt, t = Constant(mesh), Constant(mesh)
a = inner(u, v)*dx + dt*inner(grad(u), grad(v))*dx
L = inner(u_old - dt*as_vector((t, 1)), v)*dx
END
components=2
same vector vector.py --mesh square:3 --initial 'x^2,x*y' --dirichlet 'boundary=x^2+t,x*y-t' --preconditioner jacobi --tolerance 1e-11
# a mixed space whose pressure is determined up to a constant, which is taken off where something is written
cat >flow.ufl <<'END'
W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
w, dt = Coefficient(W), Constant(triangle)
wu, wp = split(w)
a = inner(u, v)*dx + dt*inner(grad(u), grad(v))*dx - dt*p*div(v)*dx - dt*q*div(u)*dx
L = inner(wu, v)*dx
END
same flow flow.ufl --previous w --mesh square:3 --initial 'y*(1-y),0,0' --dirichlet 'boundary=y*(1-y)*cos(t),0,free' --method minres \
    --preconditioner jacobi --tolerance 1e-11

# constraints and loads at points
components=1
same constraints heat.weft --mesh square:8 --initial 'x*y' --tie right --point-load 0.3,0.3=t --point-value '0.5,0.5=1+t' \
    --preconditioner jacobi --tolerance 1e-11

# steps of chosen lengths, stopped by a signal, and continued by others
adaptive=("${heat[@]}" --mesh square:24 --time-tolerance 1e-5 --time 0.001,1 --output-interval 0.25 --probe 0.3,0.6)
"$solve" "${adaptive[@]}" --history whole.csv --ranks 2 >out 2>&1 || fail "chosen steps"
code=0
"$solve" "${adaptive[@]}" --history part.csv --checkpoint h.vtkhdf --ranks 3 >out 2>&1 &
pid=$!
while kill -0 $pid 2>/dev/null && [ "$(cat part.csv 2>/dev/null | wc -l)" -lt 30 ]; do sleep 0.01; done
kill -TERM $pid 2>/dev/null || true
wait $pid || code=$?
[ "$code" = 143 ] || [ "$code" = 0 ] || fail "a signal: exit $code"
"$solve" "${adaptive[@]}" --history part.csv --resume h.vtkhdf --ranks 1 >out 2>&1 || fail "after a signal"
cmp whole.csv part.csv || fail "a run that was stopped"

refused() { # words, options...
    local words=$1 code=0
    shift
    timeout 60 "$solve" "$@" --ranks 3 >out 2>&1 || code=$?
    [ "$code" = 2 ] || fail "$words: exit $code"
    grep -qF -- "$words" out || fail "not said: $words"
    [ "$(grep -c 'error:' out)" = 1 ] || fail "more than one message"
}
"$solve" "${heat[@]}" --time 0.1,0.5 --checkpoint c.vtkhdf --ranks 2 >out 2>&1 || fail "a checkpoint"
refused "it was written with none of these; this run has --define 'density=2'" "${heat[@]}" --define 'density=2' \
    --time 0.1,1 --resume c.vtkhdf
refused 'the checkpoint of another mesh' "${heat[@]}" --mesh square:9 --time 0.1,1 --resume c.vtkhdf
refused 'the checkpoint was written at t = 0.5, and the run ends at t = 0.3' "${heat[@]}" --time 0.1,0.3 --resume c.vtkhdf
head -c 3000 c.vtkhdf >cut.vtkhdf
refused 'this checkpoint is incomplete' "${heat[@]}" --time 0.1,1 --resume cut.vtkhdf
echo "ranks continue what other numbers of ranks began"
