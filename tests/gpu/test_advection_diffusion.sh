#!/usr/bin/env bash
# labels: gpu
# advection_diffusion on the GPU against the host: solves to 1e-12, the same answer to 1e-8 of its size, in the plane and in space, for
# every assembly, with coefficients in time, Dirichlet nodes that move, both splittings; and a restart that ends bit by bit the same.
set -euo pipefail
app=${WEFT_BUILD:?}/advection_diffusion
python=${PYTHON:-$(command -v python3)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! "$app" --mesh square:2 --diffusivity 1 --dt 1 --steps 1 --device cuda --quiet 2> "$folder/why"; then
    grep -q "no CUDA driver\|no GPU\|no cuda:0" "$folder/why" && { head -1 "$folder/why"; exit 77; }
    cat "$folder/why"
    exit 1
fi

run() { # name, device, arguments...
    local name=$1 device=$2
    shift 2
    "$app" --device "$device" --tolerance 1e-12 --json "$folder/$name.json" --quiet --dt 0.01 --ordering bisection "$@"
}

bell="exp(-((x-0.3)^2+(y-0.4)^2)/0.02)"
plain=(--mesh square:90 --velocity 0.4,0.2 --diffusivity "1e-3,5e-4;5e-4,2e-3" --initial "$bell" --steps 20 --probe 0.4,0.45)
moving=(--mesh square:60 --velocity "0.5-y+0.1*t,x-0.5" --diffusivity "1e-3*(1+t)" --initial "$bell" --steps 12 --splitting strang
    --dirichlet "boundary=0.1*sin(3*t)" --probe 0.4,0.45)
lumped=(--mesh square:60 --velocity "0.5-y,x-0.5" --diffusivity 1e-3 --initial "$bell" --steps 12 --mass lumped --theta 1
    --probe 0.4,0.45)
space=(--mesh cube:16 --velocity 0.4,0.2,0.1 --diffusivity "1e-3,5e-4,0;5e-4,2e-3,0;0,0,1e-3" --initial "$bell" --steps 8
    --probe 0.4,0.45,0.5)

for problem in plain moving lumped space; do
    declare -n arguments=$problem
    run "$problem-host" host --assembly csr "${arguments[@]}"
    for assembly in csr edge lma lma-gather matrix-free; do
        run "$problem-$assembly" cuda --assembly "$assembly" "${arguments[@]}"
    done
done

run whole cuda --assembly csr "${moving[@]}" --checkpoint "$folder/a.vtkhdf"
run first cuda --assembly csr "${moving[@]}" --steps 7 --checkpoint "$folder/b.vtkhdf"
run rest cuda --assembly csr "${moving[@]}" --restart "$folder/b.vtkhdf" --checkpoint "$folder/b.vtkhdf"

"$python" - "$folder" <<'PYTHON'
import glob
import json
import os
import sys

folder = sys.argv[1]
worst, compared = 0.0, 0
for problem in ("plain", "moving", "lumped", "space"):
    with open(f"{folder}/{problem}-host.json") as file:
        host = json.load(file)["series"][-1]
    for path in sorted(glob.glob(f"{folder}/{problem}-*.json")):
        with open(path) as file:
            other = json.load(file)
        assert other["outcome"] == "done", path
        other = other["series"][-1]
        for key in ("mass", "minimum", "maximum", "l2_norm"):
            apart = abs(other[key] - host[key])
            worst = max(worst, apart)
            assert apart <= 1e-8, (os.path.basename(path), key, host[key], other[key])
        assert abs(other["probes"][0] - host["probes"][0]) <= 1e-8, path
        compared += 1
with open(f"{folder}/whole.json") as whole, open(f"{folder}/rest.json") as rest:
    assert json.load(whole)["series"][-1] == json.load(rest)["series"][-1], "the restart ends otherwise"
print(f"{compared} runs, apart by at most {worst:.1e}; the restart ends the same")
PYTHON
