#!/usr/bin/env bash
# labels: gpu
# solve on the GPU against the host: vector spaces in every assembly and both plans, and Newton's method; the same answers to 1e-7 of
# their size where CG stops at 1e-11 (condition numbers of elasticity on these meshes are below 1e4).
set -euo pipefail
source "${WEFT_SOURCE:?}/tests/gpu/solve_on_gpu.bash"

helmholtz=(helmholtz.weft --mesh square:60 --define "lambda=1+x" --define "source=x*y" --neumann boundary=1 --probe 0.3,0.7)
plane=(elasticity.weft --mesh square:40 --define "young=1+x" --define "force_y=x" --dirichlet left=0,free
    --dirichlet bottom=free,0 --neumann right=1,y --robin top=2,free,1 --probe 0.3,0.7 --exact x,y)
space=(elasticity.weft --mesh cube:10 --define "force_z=-1" --dirichlet left=0,0,0 --neumann right=0,1,x
    --probe 0.3,0.7,0.5 --exact x,y,z)
newton=(kirchhoff.weft --nonlinear --mesh square:16 --dirichlet left=0,0 --dirichlet right=0.3,0.1 --probe 0.3,0.7
    --sum W --exact x,y)
newton3=(kirchhoff.weft --nonlinear --mesh cube:5 --dirichlet left=0,0,0 --neumann right=0.05,0.02,0 --load-steps 2
    --probe 0.3,0.7,0.5 --sum W --exact x,y,z)

shifted=(helmholtz.weft --mesh square:40 --define lambda=-60 --define "source=x*y" --probe 0.3,0.7)
convection=("${WEFT_SOURCE:?}/docs/examples/convection.weft" --mesh square:40 --input velocity=2,1 --input k=0.01 --probe 0.3,0.7)
quasilinear=("$WEFT_SOURCE/docs/examples/quasilinear.weft" --nonlinear --mesh square:20 --define source=20 --probe 0.3,0.7)

for problem in shifted convection quasilinear; do # edge: of shifted alone, the others are not symmetric
    declare -n arguments=$problem
    run "$problem-host" host --assembly csr "${arguments[@]}"
    for assembly in lma lma-gather csr matrix-free auto; do
        run "$problem-$assembly" cuda --assembly "$assembly" "${arguments[@]}"
    done
done
run convection-bicgstab cuda --method bicgstab "${convection[@]}"
run shifted-edge cuda --assembly edge "${shifted[@]}"

for problem in helmholtz plane space newton newton3; do
    declare -n arguments=$problem
    run "$problem-host" host --assembly csr "${arguments[@]}"
    for assembly in lma lma-gather csr matrix-free edge; do
        for plan in fused unfused; do
            run "$problem-$assembly-$plan" cuda --assembly "$assembly" --plan "$plan" "${arguments[@]}"
        done
    done
done

compare 200 helmholtz plane space newton newton3 shifted convection quasilinear
