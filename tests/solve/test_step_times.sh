#!/usr/bin/env bash
# labels: full
# advection_diffusion says how long its steps were in products and in assembling operators again: on the host by its clock,
# on a GPU whose loops are not captured by the device's timer, of which the emulated one gives a millisecond to each
# measurement, so that milliseconds count. A captured loop cannot tell them apart, and then both are null. In reports of all
# programs the parts add up to the total but for 3 % (or 20 ms, in which a busy machine may do something else).
set -euo pipefail
build=${WEFT_BUILD:?}
python=${PYTHON:-$(command -v python3)}
command -v g++ >/dev/null || { echo "skipped: there is no g++"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

run() { # name, steps, arguments...
    local name=$1 steps=$2
    shift 2
    "$build/advection_diffusion" --velocity "1,0.5" --diffusivity 0.01 --initial "sin(pi*x)*sin(pi*y)" --dt 0.001 \
        --steps "$steps" --json "$folder/$name.json" "$@" > "$folder/$name" 2>&1 || { cat "$folder/$name"; exit 1; }
}
run every 10 --device host --mesh square:40 --assembly lma --reassemble every-step
run once 10 --device host --mesh square:40 --assembly lma --reassemble once
for device in host null:h200; do
    "$build/solve" heat.weft --mesh square:24 --define "conductivity=1+t" --define source=1 --dirichlet boundary=0 --time 0.02,0.1 \
        --device "$device" --json "$folder/heat_$device.json" --quiet > "$folder/heat" 2>&1 || { cat "$folder/heat"; exit 1; }
done
"$build/poisson" --mesh square:60 --device host --json "$folder/poisson.json" --quiet > "$folder/poisson"
"$build/solve" diffusion.weft --mesh cube:12 --exact "x*y" --probe 0.5,0.5,0.5 --device host --json "$folder/solve.json" \
    --quiet > "$folder/solve"
cp "$folder/heat_host.json" "$folder/heat.json"
if [ -e "$build/tests/emulated_gpu/libcuda.so.1" ]; then
    export LD_LIBRARY_PATH=$build/tests/emulated_gpu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    for assembly in csr lma; do
        run "traced_$assembly" 2 --device cuda:0:traced --mesh square:4 --assembly "$assembly" --reassemble every-step
    done
    run captured 2 --device cuda --mesh square:4 --assembly csr --reassemble every-step
fi
"$python" - "$folder" <<'PYTHON'
import json
import os
import sys


def read(name):
    path = os.path.join(sys.argv[1], name)
    with open(path + ".json", encoding="utf-8") as file, open(path, encoding="utf-8") as text:
        data = json.load(file)
        return data, data["seconds"], text.read()


for program in ("poisson", "solve", "heat", "every"):
    _, seconds, _ = read(program)
    parts = sum(seconds[part] or 0 for part in seconds if part not in ("order", "total", "products", "reassembly"))
    assert abs(seconds["total"] - parts) < max(0.03 * seconds["total"], 0.02), (program, seconds, parts)
_, every, text = read("every")
assert 0 < every["products"] and 0 < every["reassembly"], every
assert every["products"] + every["reassembly"] < every["solve"], every
assert "assembling operators again" in text
_, once, _ = read("once")
assert once["reassembly"] == 0 < once["products"] < once["solve"], once
for device in ("host", "null:h200"): # solve's steps; a device that computes nothing has no times
    with open(os.path.join(sys.argv[1], f"heat_{device}.json"), encoding="utf-8") as file:
        heat = json.load(file)
    seconds = heat["time"]["assembly_seconds"]
    assert seconds is None if device != "host" else 0 < seconds < heat["seconds"]["solve"], heat["time"]
if os.path.exists(os.path.join(sys.argv[1], "captured.json")):
    for assembly in ("csr", "lma"):
        data, seconds, _ = read("traced_" + assembly)
        # A, M, B and C in each step
        assert abs(seconds["reassembly"] - 1e-3 * 4 * data["steps"]) < 1e-9, seconds
        # each solve's iterations and its first residual; A for four slopes, C, and B of ones
        products = data["iterations"] + data["steps"] * (4 * 2 + 3)
        assert abs(seconds["products"] - 1e-3 * products) < 1e-9, (seconds, products)
    _, seconds, text = read("captured")
    assert seconds["products"] is None and seconds["reassembly"] is None, seconds
    assert "cuda:0:traced" in text
PYTHON
