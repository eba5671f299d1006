#!/usr/bin/env bash
# labels: gpu
# poisson on the GPU against the host: solved to 1e-11, the same answer to 1e-9 of its size, in the plane and in space, for every assembly
# that runs there and both plans; lma-gather bitwise identical in 20 runs.
set -euo pipefail
poisson=${WEFT_BUILD:?}/poisson
python=${PYTHON:-$(command -v python3)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! "$poisson" --mesh square:2 --device cuda --quiet 2> "$folder/why"; then
    grep -q "no CUDA driver\|no GPU\|no cuda:0" "$folder/why" && { head -1 "$folder/why"; exit 77; }
    cat "$folder/why"
    exit 1
fi

run() { # name, device, arguments...
    local name=$1 device=$2
    shift 2
    "$poisson" --device "$device" --tolerance 1e-11 --json "$folder/$name.json" --quiet "$@"
}

square=(--mesh square:120 --source "2*pi^2*sin(pi*x)*sin(pi*y)" --exact "sin(pi*x)*sin(pi*y)" --probe 0.3,0.7)
mixed=(--mesh cube:24 --source "1+x*z" --diffusivity "1+y" --dirichlet left=y --neumann right=x --robin top=2,1
    --probe 0.3,0.7,0.5)
neumann=(--mesh square:60 --source "x-0.5" --neumann left=0)

for problem in square mixed neumann; do
    declare -n arguments=$problem
    run "$problem-host" host --assembly lma "${arguments[@]}"
    for assembly in lma lma-gather csr matrix-free edge; do
        for plan in fused unfused; do
            run "$problem-$assembly-$plan" cuda --assembly "$assembly" --plan "$plan" "${arguments[@]}"
        done
    done
done

for i in $(seq 20); do
    "$poisson" --device cuda --assembly lma-gather --mesh cube:20 --source "x*y" --json - --verbose 2> /dev/null |
        "$python" -c 'import json, sys; r = json.load(sys.stdin); print(r["history"], r["energy"])' > "$folder/bits.$i"
    cmp "$folder/bits.1" "$folder/bits.$i"
done

"$python" - "$folder" <<'PYTHON'
import glob
import json
import os
import sys

folder = sys.argv[1]
worst, compared = 0.0, 0
for problem in ("square", "mixed", "neumann"):
    with open(os.path.join(folder, f"{problem}-host.json"), encoding="utf-8") as file:
        host = json.load(file)
    for path in sorted(glob.glob(os.path.join(folder, f"{problem}-[!h]*.json"))):
        with open(path, encoding="utf-8") as file:
            gpu = json.load(file)
        assert gpu["outcome"] == "converged" and "cuda" in gpu["device"], path
        pairs = [(key, gpu[key], host[key]) for key in ("energy", "integral_u", "l2_error", "h1_error")
                 if host[key] is not None]
        pairs += [("probe", a, b) for a, b in zip(gpu["probes"], host["probes"])]
        for key, a, b in pairs:
            a, b = (x["u"] if isinstance(x, dict) else x for x in (a, b))
            # integrals of the Neumann problem are zero: compared with the size of u, about 0.04
            difference = abs(a - b) / max(abs(b), 0.04)
            worst, compared = max(worst, difference), compared + 1
            assert difference < 1e-9, f"{os.path.basename(path)}: {key} is {a}, on the host {b}"
print(f"{compared} values compared, the worst differs by {worst:.1e} of its size")
assert compared >= 60
PYTHON
