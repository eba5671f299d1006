#!/usr/bin/env bash
# labels: full
# Problems in time that are continued from a checkpoint, by a run with another number of threads: histories and series
# have the bytes of an uninterrupted run with the same checkpoints, for every scheme, steps of chosen lengths, Newton's
# method, a preconditioner that is adapted to matrices, and form files of several components and degree 2; and of a run
# without checkpoints, where nothing is adapted (Jacobi's preconditioner). What cannot be continued is refused.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "FAILED: $1"; [ ! -f out ] || cat out; exit 1; }
solve=$WEFT_BUILD/solve

# same NAME OPTIONS...: 12 steps of 0.05 with a checkpoint after 6, or 6 and then 6 more
same() {
    local name=$1
    shift
    rm -rf whole* half* free*
    local files=(--output-every 2 --probe 0.3,0.6 --integral 'a=u*u')
    [ "$components" = 1 ] || files=(--output-every 2 --probe 0.3,0.6 --integral 'a=u[0]*u[1]')
    WEFT_DEVICE=host:1 "$solve" "$@" --time 0.05,0.6 "${files[@]}" --output whole.pvd --history whole.csv \
        --checkpoint whole.vtkhdf --checkpoint-every 6 >out 2>&1 || fail "$name: whole"
    WEFT_DEVICE=host:1 "$solve" "$@" --time 0.05,0.3 "${files[@]}" --output half.pvd --history half.csv \
        --checkpoint half.vtkhdf >out 2>&1 || fail "$name: first half"
    grep -q 'checkpoint  half.vtkhdf, step 6' out || fail "$name: the checkpoint is not reported"
    WEFT_DEVICE=host:2 "$solve" "$@" --time 0.05,0.6 "${files[@]}" --output half.pvd --history half.csv \
        --resume half.vtkhdf --checkpoint half.vtkhdf >out 2>&1 || fail "$name: second half"
    grep -qE '12 steps to t = 0.6' out || fail "$name: the steps are not counted from the start"
    [ "$(wc -l <whole.csv)" = 14 ] || fail "$name: rows"
    cmp whole.csv half.csv || fail "$name: histories differ"
    [ "$(ls whole_steps | wc -l)" = 7 ] || fail "$name: steps"
    for step in $(ls whole_steps); do
        cmp "whole_steps/$step" "half_steps/$step" || fail "$name: $step differs"
    done
    WEFT_DEVICE=host:1 "$solve" "$@" --time 0.05,0.6 "${files[@]}" --history free.csv >out 2>&1 || fail "$name: free"
    [ "$adapted" = 1 ] || cmp whole.csv free.csv || fail "$name: checkpoints change the result"
}
components=1
adapted=0
heat=(heat.weft --mesh square:12 --initial 'x*y' --define 'source=t' --dirichlet left=t --robin 'right=2,sin(t)'
    --define 'conductivity=1+x*t' --preconditioner jacobi)
for scheme in theta bdf2 sdirk2 sdirk3; do
    same "$scheme" "${heat[@]}" --scheme $scheme
done
adapted=1
same aggregation heat.weft --mesh square:24 --initial 'x*y' --dirichlet left=t --preconditioner aggregation
adapted=0
same newton heat_nonlinear.weft --nonlinear --mesh square:8 --initial 1 --dirichlet 'left=1+t' \
    --define 'conductivity=0.5+0.1*u' --preconditioner jacobi
cat >burgers.ufl <<'END'
element = FiniteElement("P", triangle, 1)
u, v, u_old = TrialFunction(element), TestFunction(element), Coefficient(element)
dt, t = Constant(triangle), Constant(triangle)
a = u*v*dx + dt*0.1*inner(grad(u), grad(v))*dx + dt*u_old*u.dx(0)*v*dx
L = u_old*v*dx + dt*5*v*dx
END
same 'another method after the first step' burgers.ufl --mesh square:8 --preconditioner jacobi
cat >vector.py <<'END'
from basix.ufl import element
from ufl import *
mesh = Mesh(element("Lagrange", "triangle", 1, shape=(2,)))
V = FunctionSpace(mesh, element("Lagrange", "triangle", 2, shape=(2,)))
u, v, u_old = TrialFunction(V), TestFunction(V), Coefficient(V)
dt, t = Constant(mesh), Constant(mesh)
a = inner(u, v)*dx + dt*inner(grad(u), grad(v))*dx
L = inner(u_old - dt*as_vector((t, 1)), v)*dx
END
components=2
same vector vector.py --mesh square:4 --initial 'x^2,x*y' --dirichlet 'boundary=x^2+t,x*y-t' --preconditioner jacobi

# constraints and loads at points
components=1
tied=(heat.weft --mesh square:12 --initial 'x*y' --tie right --point-load 0.3,0.3=t --preconditioner jacobi)
same constraints "${tied[@]}" --point-value '0.5,0.5=1+t'
components=2

# a mixed space whose pressure is determined up to a constant
cat >flow.ufl <<'END'
W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
w, dt = Coefficient(W), Constant(triangle)
wu, wp = split(w)
a = inner(u, v)*dx + dt*inner(grad(u), grad(v))*dx - dt*p*div(v)*dx - dt*q*div(u)*dx
L = inner(wu, v)*dx
END
same flow flow.ufl --previous w --mesh square:4 --initial 'y*(1-y),0,0' --dirichlet 'boundary=y*(1-y)*cos(t),0,free'

# steps of chosen lengths, with the same END: a run that was ended by a signal is resumed
adaptive=("${heat[@]}" --mesh square:40 --time-tolerance 1e-5 --time 0.001,1 --output-interval 0.25 --probe 0.3,0.6)
rm -f whole.csv half.csv
"$solve" "${adaptive[@]}" --history whole.csv --output whole2.pvd >out 2>&1 || fail "chosen steps"
code=0
"$solve" "${adaptive[@]}" --history half.csv --output half2.pvd --checkpoint h.vtkhdf >out 2>&1 &
pid=$!
while kill -0 $pid 2>/dev/null && [ "$(cat half.csv 2>/dev/null | wc -l)" -lt 30 ]; do sleep 0.01; done
kill -TERM $pid 2>/dev/null || true
wait $pid || code=$?
[ "$code" = 143 ] || [ "$code" = 0 ] || fail "a signal: exit $code"
grep -q 'checkpoint  h.vtkhdf, step' out || fail "no checkpoint after a signal"
steps=$(sed -nE 's/^checkpoint .* step ([0-9]+)/\1/p' out)
"$solve" "${adaptive[@]}" --history half.csv --output half2.pvd --resume h.vtkhdf >out 2>&1 || fail "after a signal"
cmp whole.csv half.csv || fail "a run that was stopped after step $steps"
for step in $(ls whole2_steps); do
    cmp "whole2_steps/$step" "half2_steps/$step" || fail "chosen steps: $step differs"
done
echo "stopped after step $steps of $(($(wc -l <whole.csv) - 2))"

# what the program chooses depends on the number of steps: a later END continues with what was chosen. The insulated
# body takes 1 through its left side in each second.
for mesh in square:4 square:16; do
    rm -f auto.vtkhdf
    for end in 0.05 1 40; do
        from=()
        [ ! -e auto.vtkhdf ] || from=(--resume auto.vtkhdf)
        "$solve" heat.weft --mesh $mesh --initial 20 --neumann left=1 --time 0.05,$end --checkpoint auto.vtkhdf "${from[@]}" \
            --integral total=u >out 2>&1 || fail "automatic choices, END $end"
    done
    grep -qE '^integral +total +(60|59\.9999)' out || fail "automatic choices: the heat"
done
flow=(--mesh square:16 --velocity 1,0 --diffusivity 0.01 --initial x --dt 0.05)
"$WEFT_BUILD/advection_diffusion" "${flow[@]}" --steps 1 --checkpoint ad.vtkhdf >out 2>&1 || fail "advection"
"$WEFT_BUILD/advection_diffusion" "${flow[@]}" --steps 300 --restart ad.vtkhdf >out 2>&1 || fail "advection, more steps"

# what is refused
refused() { # words, options...
    local words=$1 code=0
    shift
    "$solve" "$@" >out 2>&1 || code=$?
    [ "$code" = 2 ] || fail "$words: exit $code"
    grep -qF -- "$words" out || fail "not said: $words"
}
"$solve" "${heat[@]}" --time 0.1,0.5 --checkpoint c.vtkhdf --output c.pvd >out 2>&1 || fail "a checkpoint"
refused 'the checkpoint of another problem' "${heat[@]}" --time 0.05,1 --resume c.vtkhdf
refused 'the checkpoint of another problem' "${heat[@]}" --define 'density=2' --time 0.1,1 --resume c.vtkhdf
refused "it was written with none of these; this run has --define 'density=2'" "${heat[@]}" --define 'density=2' \
    --time 0.1,1 --resume c.vtkhdf
refused 'it was written with --tolerance 1e-08; this run has --tolerance 1.0000000000000001e-09' "${heat[@]}" \
    --tolerance 1e-9 --time 0.1,1 --resume c.vtkhdf
"$solve" "${tied[@]}" --time 0.1,0.5 --point-value 0.5,0.5=1 --checkpoint tied.vtkhdf >out 2>&1 || fail "a tie"
refused 'the checkpoint of another problem' "${tied[@]}" --point-value 0.5,0.5=2 --time 0.1,1 --resume tied.vtkhdf
refused 'the checkpoint of another problem' "${tied[@]}" --time 0.1,1 --resume tied.vtkhdf
refused 'the checkpoint of another mesh' heat.weft --mesh square:13 --time 0.1,1 --resume c.vtkhdf
refused 'the checkpoint was written at t = 0.5, and the run ends at t = 0.3' "${heat[@]}" --time 0.1,0.3 --resume c.vtkhdf
refused 'c.pvd exists, and it is kept' "${heat[@]}" --time 0.1,1 --output c.pvd
"$solve" diffusion.weft --mesh square:12 --output r.vtkhdf >out 2>&1 || fail "a result"
refused 'this is not a checkpoint' "${heat[@]}" --time 0.1,1 --resume r.vtkhdf
refused '--resume is for problems in time' heat.weft --mesh square:12 --resume c.vtkhdf
refused 'its name ends in .vtkhdf' "${heat[@]}" --time 0.1,1 --checkpoint c.vtu
refused '--checkpoint-every says when to write, but not where' "${heat[@]}" --time 0.1,1 --checkpoint-every 2
refused 'would write over' "${heat[@]}" --time 0.1,1 --checkpoint c2.vtkhdf --history c.vtkhdf --resume c.vtkhdf
head -c 3000 c.vtkhdf >cut.vtkhdf
refused 'this checkpoint is incomplete' "${heat[@]}" --time 0.1,1 --resume cut.vtkhdf
refused '--output would write over the file of --checkpoint' "${heat[@]}" --time 0.1,1 --checkpoint new.vtkhdf \
    --output ./new.vtkhdf

for file in --checkpoint --history; do
    refused "--line would write over the file of $file" "${heat[@]}" --time 0.1,1 "$file" line.vtkhdf \
        --line 0,0:1,1:3=./line.vtkhdf
done

# a script's own scheme, whose inputs are set by steps
own=(flow.ufl --previous w --mesh square:2 --time 0.1,0.2 --dirichlet 'boundary=0,0,free')
refused "--time gives the input 'dt' its values" "${own[@]}" --input dt=3
refused "--time gives the input 'w' its values" "${own[@]}" --input w=1,2,3
refused 'a script with a scheme of its own takes no other one' "${own[@]}" --scheme sdirk2

# the report names the preconditioner after a checkpoint at the end, and blames none where no step is left
coarse=(heat.weft --mesh square:24 --dirichlet left=t --preconditioner aggregation --time 0.1,0.5)
"$solve" "${coarse[@]}" --checkpoint p.vtkhdf --checkpoint-every 5 >out 2>&1 || fail "a checkpoint at the end"
grep -qE '^aggregation .* levels' out || fail "the preconditioner of steps that end with a checkpoint"
"$solve" "${coarse[@]}" --resume p.vtkhdf >out 2>&1 || fail "nothing to do"
! grep -q 'refuses the matrix' out || fail "a matrix that was not made is refused"
echo "resumed runs are those without an interruption"
