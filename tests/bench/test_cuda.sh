#!/usr/bin/env bash
# labels: quick
# bench_cuda goes through everything on the null device, compares every product on the host, says what
# is wrong with its options, and ends with 77 where there is no GPU.
set -euo pipefail
bench=${WEFT_BUILD:?}/bench_cuda
python=${PYTHON:-$(command -v python3)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ ! -x "${WEFT_GMSH:-$WEFT_BUILD/weft-gmsh}" ]; then
    echo "skipped: weft-gmsh is not part of this build, and the tiles are meshed"
    exit 77
fi

refused() { # message, arguments...
    local message=$1 code=0
    shift
    "$bench" "$@" > "$folder/out" 2>&1 || code=$?
    if [ "$code" -ne 2 ] || ! grep -qF -- "$message" "$folder/out"; then
        echo "bench_cuda $*: exit $code, expected 2 and \"$message\" in"
        cat "$folder/out"
        exit 1
    fi
}
refused "--cells" --cells ten
refused "tetrahedra" --shapes tetrahedron
refused "matrix-free" --assemblies matrix-fre --device null
refused "there is no" --assemblies nonsense
"$bench" --help > "$folder/help"
for text in "Bytes that must move" "matrix-free" "--write-tiles"; do
    grep -qF -- "$text" "$folder/help"
done

# Nothing is measured there, and nothing may be wrong.
"$bench" --device null:h200 --cells 1e4 --json "$folder/null.json" > "$folder/null" 2>&1
# Times of a moment, and every product compared with the host's csr product.
"$bench" --device host --cells 1e4 --repeat 1 --json "$folder/host.json" > "$folder/host" 2>&1
"$python" - "$folder" <<'PYTHON'
import json
import os
import sys

for name in ("null", "host"):
    with open(os.path.join(sys.argv[1], name + ".json"), encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    done = {(row["shape"], row["work"], row["by"], row["real"]) for row in rows}
    for shape in ("triangles", "tetrahedra"):
        for work, by, real in (("local", "stored_upper.weft", "double"), ("local", "stored_upper.weft", "float"),
                               ("apply", "matrix-free", "float"), ("Addto", "matrix.weft", "float"), ("apply", "matrix-free", "double"),
                               ("apply", "lma", "double"), ("apply, shuffled", "lma", "double"),
                               ("set-up", "matrix-free", "double"), ("order", "host", "double")):
            assert (shape, work, by, real) in done, (name, shape, work, by, real)
    assert not any(row["wrong"] for row in rows), name
    compared = [row for row in rows if row["difference"] is not None]
    if name == "null":
        assert not compared and all(row["seconds"] is None for row in rows)
    else:
        assert len(compared) >= 30 and all(row["seconds"] or row["note"] for row in rows)
        # P1: local matrices to rounding, products and the tenth residual too
        assert all(row["difference"] < 1e-9 for row in compared if row["real"] == "double")
        # bytes of the formulas: 4-node cells, ten reals of a symmetric matrix, three coordinates
        row = next(r for r in rows if r["shape"] == "tetrahedra" and r["work"] == "local" and r["real"] == "double")
        assert row["bytes"] == row["cells"] * (16 + 80) + row["nodes"] * 24, row
PYTHON
grep -q "asked of an H200" "$folder/host"

# one problem with a known solution, from tiles to the error; on the null device up to the assembly
for shape in triangles tetrahedra; do
    "$bench" --device host --solve-large --cells 2e4 --shapes "$shape" > "$folder/solve" 2>&1
    grep -q "converged: .* largest error [0-9.]*e-0[234]," "$folder/solve" || { cat "$folder/solve"; exit 1; }
    "$bench" --device null:h200 --solve-large --cells 1e4 --shapes "$shape" > "$folder/solve" 2>&1
    grep -q "assembly" "$folder/solve"
done

code=0
"$bench" --cells 1e4 > "$folder/gpu" 2>&1 || code=$?
if [ "$code" -eq 77 ]; then
    grep -q "no CUDA driver\|no GPU\|no cuda:0\|NVRTC" "$folder/gpu"
else
    [ "$code" -eq 0 ] || { cat "$folder/gpu"; exit 1; }
    grep -q "copy bandwidth" "$folder/gpu"
fi
