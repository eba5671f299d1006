#!/usr/bin/env bash
# labels: quick
# bench_blas measures the eleven sequences of BLAS calls on the host, compares every result of every plan
# with long double, and plans them for a GPU: ATAX, BiCGK, SGEMVT and GEMVER in one kernel over the matrix.
set -euo pipefail
bench=${WEFT_BUILD:?}/bench_blas
python=${PYTHON:-$(command -v python3)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

refused() { # message, arguments...
    local message=$1 code=0
    shift
    "$bench" "$@" > "$folder/out" 2>&1 || code=$?
    if [ "$code" -ne 2 ] || ! grep -qF -- "$message" "$folder/out"; then
        echo "bench_blas $*: exit $code, expected 2 and \"$message\" in"
        cat "$folder/out"
        exit 1
    fi
}
refused "--sizes" --sizes ten
refused "did you mean 'gemver'" --sequences gemvr
refused "single" --precision half

# one triangle of a matrix is read: the rows say half the bytes
"$bench" --device host --sequences symv,trmv,spmv,tpmv --sizes 65,300 --check --repeat 1 > "$folder/triangles" ||
    { cat "$folder/triangles"; exit 1; }
[ "$(sed -n '/^Table 2:/,/^$/p' "$folder/triangles" | grep -cE '^(SYMV|TRMV|SPMV|TPMV)')" -eq 4 ] || { cat "$folder/triangles"; exit 1; }

for precision in single double; do
    "$bench" --device host --precision "$precision" --sizes 64,65 --check --plans 3 --repeat 1 \
        --json "$folder/host.json" > "$folder/host" || { cat "$folder/host"; exit 1; }
    for number in 2 3; do # the rows of the table, up to the empty line
        rows=$(sed -n "/^Table $number:/,/^\$/p" "$folder/host" | tail -n +3 | grep -c "^[A-Z]")
        [ "$rows" -eq 11 ] || { echo "Table $number has $rows rows"; cat "$folder/host"; exit 1; }
    done
    if grep "WRONG" "$folder/host"; then exit 1; fi
    "$python" - "$folder/host.json" <<'PYTHON'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    found = json.load(file)
assert {row["sequence"] for row in found["rows"]} == {plan["sequence"] for plan in found["plans"]}
assert len(found["rows"]) == 22 and len(found["plans"]) == 11
for row in found["rows"]:
    assert 0 <= row["weft_error"] <= 1 and row["weft_seconds"] > 0, row
    # of A: BiCGK reads it once, whatever the calls of a library do
    if row["sequence"] == "BiCGK":
        bytes_of_A = row["n"] ** 2 * (4 if found["precision"] == "single" else 8)
        assert abs(row["bandwidth"] * row["weft_seconds"] / bytes_of_A - 1) < 1e-6, row
for plan in found["plans"]:
    assert 1 <= plan["best"] <= plan["measured"] <= min(3, plan["plans"]), plan
    assert plan["measured"] == min(3, plan["plans"]) and plan["wrong"] == 0, plan
    assert 0 < plan["worst_share"] <= plan["first_share"] <= 1, plan
PYTHON
done

# The C library of BLAS that Debian installs, where it is there: the calls compute the same.
if [ -n "$(ldconfig -p 2> /dev/null | grep 'libblas\.so\.3 ')" ]; then
    "$bench" --device host --sizes 65 --check --repeat 1 --blas libblas.so.3 > "$folder/rival"
    if grep "WRONG" "$folder/rival"; then exit 1; fi
fi
"$bench" --device host --sizes 64 --sequences vadd --repeat 1 --blas no-such-library.so > "$folder/none"
grep -q "no-such-library.so: skipped" "$folder/none"

# torch.compile and jax.jit, where they are installed; else it says which one is not.
code=0
"$bench" --device host --sizes 16 --sequences vadd --repeat 1 --json "$folder/small.json" > "$folder/small"
"$python" "$(dirname "$0")/bench_blas_python.py" --device cpu --repeat 1 "$folder/small.json" > "$folder/python" ||
    code=$?
if [ "$code" -eq 77 ]; then
    grep -q "torch.compile: skipped" "$folder/python"
    grep -q "jax.jit: skipped" "$folder/python"
else
    [ "$code" -eq 0 ]
    grep -q "^VADD  *256 " "$folder/python"
fi

"$bench" --device null:h200 --sizes 16384 --json "$folder/null.json" > "$folder/null"
"$python" - "$folder/null.json" <<'PYTHON'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    plans = {plan["sequence"]: plan for plan in json.load(file)["plans"]}
for name in ("ATAX", "BiCGK", "SGEMVT", "GEMVER"):
    assert plans[name]["passes"] == 1, plans[name]
PYTHON

code=0
"$bench" --device cuda --sizes 64 --sequences atax > "$folder/gpu" 2>&1 || code=$?
if [ "$code" -ne 77 ] && [ "$code" -ne 0 ]; then
    cat "$folder/gpu"
    exit 1
fi

# A library that does not start is a rival that is left out, not the end. The stand-in for the driver has no
# kernels, so nothing can be measured there.
if [ -d "$WEFT_BUILD/tests/fake_cuda" ]; then
    LD_LIBRARY_PATH="$WEFT_BUILD/tests/fake_cuda" "$bench" --device cuda --sizes 64 --sequences atax > "$folder/fake" 2>&1 &&
        { echo "the stand-in for the driver measured something"; exit 1; }
    if grep -q "stand-in" "$folder/fake"; then
        grep -q "^cuBLAS: skipped, " "$folder/fake"
    fi
fi
