#!/bin/bash
# labels: full
# A small study from its first run to its files, which a program in Python makes once more from the
# lines of the runs. Order 2 in L2 and 1 in the H1 seminorm are the theory of linear elements; on three
# halved meshes of a smooth solution the last is met within 0.02.
set -u
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
scaling=$WEFT_BUILD/scaling
here=$WEFT_SOURCE/tests/solve
fail() { echo "FAILED: $*" >&2; exit 1; }
study() { # expected exit code, options
    local expected=$1 code=0
    shift
    "$scaling" "$@" >out 2>err || code=$?
    [ "$code" = "$expected" ] || fail "scaling $*: exit $code, expected $expected: $(cat out err)"
}
recompute() { python3 "$here/scaling_check.py" "$1" || fail "$1 is not what its runs say"; }

study 0 --sizes 8,16,32 --repeat 3 --threads 1,2 --out plane
recompute plane
python3 - <<'END' || fail "orders"
import json
cases = json.load(open("plane/results.json"))["cases"]
names = {case["assembly"] for case in cases}
assert names == {"lma", "lma-gather", "csr", "matrix-free", "edge"}, names
assert {case["device"] for case in cases} == {"host:1", "host:2"}
assert len(cases) == 3 * 2 * 5
for case in cases[-10:]:
    assert abs(case["l2_order"] - 2) < 0.02 and abs(case["h1_order"] - 1) < 0.02, case
END

# What poisson says of its amounts: a node each is a dof; phases within the total, that within the
# process; a product by csr moves at least half of the values of the matrix, which has an entry for each
# node and two for each edge.
python3 - <<'END' || fail "amounts"
import json
for line in [json.loads(line) for line in open("plane/study.jsonl")][1:]:
    result, seconds = line["result"], line["result"]["seconds"]
    assert result["dofs"] == result["mesh"]["nodes"] and result["bytes_device"] > 0
    parts = sum(seconds[name] for name in seconds if name not in ("order", "total"))
    assert parts <= seconds["total"] <= line["seconds"], line
    n = int(line["case"].split(" ")[0].split(":")[1])
    entries = (n + 1) ** 2 + 2 * (3 * n * n + 2 * n)
    assert result["assembly"] != "csr" or 4 * entries <= result["bytes_product"] <= 32 * entries, line
END

# In space, refined instead of sized, on one assembly; and a mesh of Gmsh's, refined too: order 2.
study 0 --mesh cube:4 --refine 0..2 --assembly csr --repeat 1 --warmup 0 --out space
recompute space
if [ -x "$WEFT_BUILD/weft-gmsh" ]; then
    study 0 --mesh "$WEFT_SOURCE/meshes/unit_square.geo" --sizes 0.1,0.05 --refine 1,2 \
        --assembly csr --repeat 1 --out gmsh
    recompute gmsh
    [ "$(ls gmsh/meshes/*.vtkhdf | wc -l)" = 2 ] || fail "each .geo and size is meshed once"
fi
# Advection and diffusion, the time step in proportion to the cells: second order in both.
study 0 --app advection_diffusion --sizes 32,64,128 --assembly csr --repeat 1 --warmup 0 --out steps
recompute steps
python3 - <<'END' || fail "orders"
import json, os
def last(name, key):
    return json.load(open(name + "/results.json"))["cases"][-1][key]
# the coarsest cube has 4 cells a side: its orders are those of 8 and 16
assert abs(last("space", "l2_order") - 2) < 0.1 and abs(last("space", "h1_order") - 1) < 0.05
assert last("space", "cells") == 6 * 16 ** 3
assert abs(last("steps", "l2_order") - 2) < 0.05
if os.path.isdir("gmsh"):
    assert abs(last("gmsh", "l2_order") - 2) < 0.05 and abs(last("gmsh", "h1_order") - 1) < 0.05
END

# The user's own problem instead of the default: u = x + 2 y is exact in every element.
study 0 --sizes 4,8 --assembly csr --repeat 1 --out own -- --source 0 --dirichlet 'boundary=x+2*y' \
    --exact 'x+2*y' --tolerance 1e-12
python3 - <<'END' || fail "the user's problem"
import json
for case in json.load(open("own/results.json"))["cases"]:
    assert case["l2_error"] < 1e-10 and case["h1_error"] < 1e-9, case
END

# Time steps of the user's own, fitted to the cells: 5 of 0.02 on the first mesh, 10 and 20 on the next,
# up to t = 0.1 on each; the solution is the default problem's with another wind.
T='0.01/(0.01+0.04*t)*exp(-((x-0.4)^2+(y-0.5-0.5*t)^2)/(0.01+0.04*t))'
study 0 --app advection_diffusion --sizes 24,48,96 --fit-dt --assembly csr --repeat 1 --warmup 0 \
    --out fitted -- --velocity 0,0.5 --diffusivity 0.01 --dt 0.02 --steps=5 \
    --initial "${T//\*t/*0}" --exact "$T"
recompute fitted
python3 - <<'END' || fail "fitted time steps"
import json
lines = [json.loads(line) for line in open("fitted/study.jsonl")][1:]
told = [(r["result"]["steps"], r["result"]["dt"]) for r in lines]
assert [n for n, dt in told] == [5, 10, 20], told
assert all(abs(n * dt - 0.1) < 1e-13 for n, dt in told), told
assert all(abs(r["result"]["t"] - 0.1) < 1e-12 for r in lines)
assert abs(json.load(open("fitted/results.json"))["cases"][-1]["l2_order"] - 2) < 0.1
END

# Preconditioners as an axis: multigrid takes as many iterations at every size, Jacobi's twice as many on a
# mesh of half the size; the same errors.
study 0 --mesh square:8 --refine 1..4 --preconditioner multigrid,jacobi --repeat 1 --out flat
recompute flat
python3 - <<'END' || fail "preconditioners"
import json
cases = json.load(open("flat/results.json"))["cases"]
assert len(cases) == 8
by = {name: [c for c in cases if c["preconditioner"] == name] for name in ("multigrid", "jacobi")}
flat = [c["iterations"] for c in by["multigrid"]]
grown = [c["iterations"] for c in by["jacobi"]]
assert max(flat) <= 9 and max(flat[1:]) - min(flat[1:]) <= 1, flat
assert all(1.8 < b / a < 2.2 for a, b in zip(grown, grown[1:])), grown
for a, b in zip(by["multigrid"], by["jacobi"]):
    assert a["mesh"] == b["mesh"] and abs(a["l2_error"] / b["l2_error"] - 1) < 1e-3, (a, b)
assert {c["assembly"] for c in cases} == {"csr with multigrid", "csr with jacobi"}
END
study 2 --sizes 4 --preconditioner multigird --out wrong
grep -q "did you mean 'multigrid'" err || fail "no near name for multigird"
study 2 --app advection_diffusion --sizes 4 --preconditioner jacobi --out wrong
grep -q 'advection_diffusion has no option --preconditioner' err || fail "of advection_diffusion"

# auto is one device for all sizes, though poisson by itself would take the host for the small one.
(unset WEFT_DEVICE; study 0 --sizes 8,512 --assembly csr --repeat 1 --warmup 0 --device auto --out any) || exit 1
WEFT_DEVICE=host:1 study 0 --sizes 4 --assembly csr --repeat 1 --warmup 0 --device auto --out named
python3 - <<'END' || fail "one device"
import json
def of(name):
    cases = json.load(open(name + "/results.json"))["cases"]
    lines = [json.loads(line) for line in open(name + "/study.jsonl")][1:]
    assert all(line["result"]["device_reason"] == "as requested" for line in lines)
    return {case["device"] for case in cases}
assert of("any") in ({"host"}, {"cuda"}), of("any")
assert of("named") == {"host:1"}, of("named")
END
study 2 --sizes 4 --device auto,host --out wrong
grep -q 'the device host is given twice' err || fail "auto is host where WEFT_DEVICE says so"
WEFT_DEVICE=null study 2 --sizes 4 --device auto --out wrong
grep -q 'the device null computes nothing' err || fail "auto may be null"

# Plots: the script always, pictures where gnuplot is.
[ -s plane/plots.gp ] || fail "no plots.gp"
if command -v gnuplot >/dev/null; then
    for name in time time_per_dof speed_up iterations phases error threads; do
        grep -q '</svg>' "plane/$name.svg" || fail "$name.svg"
        [ "$(head -c 8 "plane/$name.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] ||
            fail "$name.png"
        grep -q "]($name.svg)" plane/report.md || fail "report.md does not show $name.svg"
    done
else
    echo "note: there is no gnuplot, so the pictures are not looked at"
fi
PATH=$scratch study 0 --sizes 4 --assembly csr --repeat 1 --warmup 0 --out unplotted
[ -s unplotted/plots.gp ] || fail "no plots.gp without gnuplot"
[ ! -e unplotted/time.svg ] || fail "plots without gnuplot"
grep -q 'gnuplot plots.gp' unplotted/report.md || fail "report.md does not say how to draw"

echo "ok"
