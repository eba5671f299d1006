#!/usr/bin/env bash
# labels: gpu
# Problems in time on the GPU against the host: every scheme, steps of chosen length, Newton's method, form files, and a script
# with its own loops. Each step is solved to 1e-11: numbers agree to 1e-7.
set -euo pipefail
source "${WEFT_SOURCE:?}/tests/gpu/solve_on_gpu.bash"
cat > "$folder/table.csv" <<'TEXT'
0,1
0.5,1.6
1,1.8
2,2.5
TEXT
cat > "$folder/heat.py" <<'TEXT'
from basix.ufl import element
from ufl import *
mesh = Mesh(element("Lagrange", "triangle", 1, shape=(2,)))
V = FunctionSpace(mesh, element("Lagrange", "triangle", 2))
u, v, u_old = TrialFunction(V), TestFunction(V), Coefficient(V)
dt, t = Constant(mesh), Constant(mesh)
x = SpatialCoordinate(mesh)
a = u*v*dx + dt*inner(grad(u), grad(v))*dx
L = u_old*v*dx - dt*(x[0]**2 + 2)*exp(-t)*v*dx
TEXT

heat=(heat.weft --mesh square:24 --time 0.05,1 --initial 1 --define density=2 --define 'source=x*exp(-t)'
    --dirichlet 'bottom=1+t' --neumann 'left=1-exp(-t)' --robin 'right=2,1+t' --probe 0.3,0.7)
cube=(heat.weft --mesh cube:8 --time 0.1,0.5 --define 'conductivity=1+x+t' --dirichlet 'left=t' --probe 0.3,0.7,0.5)
adaptive=(heat.weft --mesh square:24 --time 0.01,1 --time-tolerance 1e-3 --dirichlet left=1 --dirichlet right=0 --probe 0.3,0.7)
nonlinear=(heat_nonlinear.weft --nonlinear --mesh square:16 --time 0.05,0.5 --initial 0.2 --define 'conductivity=1+u^2'
    --dirichlet 'left=min(1,5*t)' --probe 0.3,0.7)
table=(heat_nonlinear.weft --nonlinear --mesh square:16 --time 0.05,0.5 --initial 0.2
    --define "conductivity=table($folder/table.csv, u)" --dirichlet 'left=min(1,5*t)' --probe 0.3,0.7)
form=("$folder/heat.py" --mesh square:8 --time 0.05,1 --initial 'x^2' --dirichlet left=0 --dirichlet 'right=exp(-t)'
    --exact 'x^2*exp(-t)')

for problem in heat cube adaptive nonlinear table form; do
    declare -n arguments=$problem
    run "$problem-host" host "${arguments[@]}"
    run "$problem-cuda" cuda "${arguments[@]}"
done
for scheme in sdirk2 sdirk3 theta; do
    for problem in heat nonlinear; do
        declare -n arguments=$problem
        run "$problem$scheme-host" host --scheme $scheme "${arguments[@]}"
        run "$problem$scheme-cuda" cuda --scheme $scheme "${arguments[@]}"
    done
done
for assembly in csr matrix-free lma edge; do
    run "heat-$assembly" cuda --assembly $assembly "${heat[@]}"
done
compare 20 heat cube adaptive nonlinear table form \
    heatsdirk2 heatsdirk3 heattheta nonlinearsdirk2 nonlinearsdirk3 nonlineartheta
