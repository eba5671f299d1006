#!/usr/bin/env bash
# labels: quick
# bench_papers makes each paper's data, charts and comparison in a quick run on the host, and predictions or counts, never
# times, on a null device. Counts are compared with an independent program's.
set -euo pipefail
bench=${WEFT_BUILD:?}/bench_papers
python=${PYTHON:-$(command -v python3)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

code=0
"$bench" nobody --out "$folder" > "$folder/out" 2>&1 || code=$?
if [ "$code" -ne 2 ] || ! grep -q "kurzak" "$folder/out"; then
    echo "an unknown paper: exit $code"
    cat "$folder/out"
    exit 1
fi

"$bench" all --quick --device host --out "$folder/host" > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$bench" all --quick --device null:h200 --out "$folder/null" > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

cat > "$folder/check.py" <<'PYTHON'
import json
import os
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def read(folder, paper):
    """The data of a paper, whose charts are well-formed and show something within their edges."""
    path = os.path.join(folder, paper)
    with open(os.path.join(path, paper + ".json"), encoding="utf-8") as file:
        data = json.load(file)
    null = os.path.basename(folder) == "null"
    assert data["kind"] == ("predicted" if null else "measured") and data["quick"] is True
    charts = [name for name in os.listdir(path) if name.endswith(".svg")]
    assert charts, path
    for name in charts:
        root = xml.parse(os.path.join(path, name)).getroot()
        width, height = float(root.get("width")), float(root.get("height"))
        texts = [text.text or "" for text in root.iter(SVG + "text")]
        assert any(("predicted" if null else "measured") in text for text in texts), name
        points = list(root.iter(SVG + "circle"))
        for point in points:
            assert 0 < float(point.get("cx")) < width and 0 < float(point.get("cy")) < height, name
        bars = [bar for bar in root.iter(SVG + "rect") if bar.get("x")]
        assert points or bars or any("L" in line.get("d") for line in root.iter(SVG + "path")), name
    with open(os.path.join(path, "comparison.txt"), encoding="utf-8") as file:
        text = file.read()
    for line in data["comparison"]:
        assert line["what"] + ":" in text, line
        assert line["unit"] in ("kernels", "plans", "s") or not null or "predicted" in text, line
    for line in data["left_out"]:
        assert line["why"] and line["what"] in text, line
    return data


def kurzak_count(reuse, complex_numbers, element, transposed):
    """Algorithms 2 and 3 of the paper, from the work of a thread upwards."""
    kernels = 0
    for threads in range(32, 1025, 32):
        for down in range(max(1, (threads + 255) // 256), min(threads, 256) + 1):
            if threads % down:
                continue
            across = threads // down
            for m in range(1, 256 // down + 1):
                for n in range(1, 256 // across + 1):
                    ratio = 4 * m * n / (2 * (m + n)) if complex_numbers else m * n / (m + n)
                    if ratio < reuse or (m * n + m + n) * threads * element // 4 > 16384:
                        continue
                    for k in range(1, 65):
                        kernels += variants(threads, m * down, n * across, k, m * n + m + n,
                                            element, transposed)
    return kernels


def variants(threads, rows, columns, k, registers, element, transposed):
    if rows * k % threads or columns * k % threads:
        return 0
    for need, all_of in (((rows + 1) * k + (k + 1) * columns) * element, 49152), (
            (registers * threads + rows * k + k * columns) * (element // 4), 32768):
        blocks = min(min(all_of // need, 8) * (threads // 32), 48) // (threads // 32)
        if blocks < 2 or blocks * threads < 512:
            return 0
    ways = 1
    for stripe, turned in zip(((rows, k), (k, columns)), transposed):
        first, second = reversed(stripe) if turned else stripe
        ways *= sum(1 for x in range(1, threads + 1) if threads % x == 0 and first % x == 0 and
                    second % (threads // x) == 0)
    return ways


def check_kurzak(data, null):
    table = {"SGEMM": (3, False, 4), "CGEMM": (5, True, 8), "DGEMM": (2, False, 8), "ZGEMM": (2, True, 16)}
    counts = {(row["type"], row["order"]): row["kernels"] for row in data["figure5"]}
    assert len(counts) == 16, counts
    for (name, order), count in counts.items():
        expected = kurzak_count(*table[name], [letter == "T" for letter in order])
        assert count == expected, (name, order, count, expected)
    assert data["sgemm_nn_without_guidelines"] > 1e6
    if null:
        assert "table2" not in data and any(row["what"] == "table 2" for row in data["left_out"])
    else:
        assert len(data["table2"]) == 16 and all(row["gflops"] > 0 for row in data["table2"])


def check_dey(data, null):
    planned = data["planned_gb_per_s"]
    assert len(planned) == 7 and all(rate > 0 for rate in planned)
    if not null:
        assert any("coarsening" in row["what"] for row in data["left_out"])
        return
    rates = {(row["reduction"], row["coarsened"]): row["gb_per_s"] for row in data["reductions"]}
    assert len(rates) == 14 and len(data["transpositions"]) == 6
    for (step, _), row in rates.items(): # a shape that is asked for is in the planner's space
        assert len(row) == 5 and 0 < max(row) <= 1.001 * planned[step - 1], (step, row, planned)
    # the slides' arithmetic: blocks of 512 threads, 4 bytes per thread, 2048 threads on a multiprocessor
    factor = next(row["here"] for row in data["comparison"] if row["what"] == "factor by shared memory")
    assert factor == 16, factor


def check_filipovic(data, null):
    operations = {"BiCGK": lambda n: 4 * n * n, "VADD": lambda n: 2 * n}
    rows = data["blas"]["rows"]
    assert {row["sequence"] for row in rows} == {"BiCGK", "GEMVER", "VADD"}
    for row in rows:
        if row["sequence"] in operations:
            assert row["flops"] == operations[row["sequence"]](row["n"]), row
        assert row["predicted_seconds"] > 0 and ("weft_seconds" in row) != null, row
        assert null or not row["wrong"] and row["weft_seconds"] > 0, row
    for row in data["comparison"]:
        if row["what"] == "BiCGK, table 2":
            speeds = [1e-9 * row["flops"] / row["weft_seconds"] for row in rows if row["sequence"] == "BiCGK"]
            assert not null and row["paper"] == 115 and min(abs(row["here"] / speed - 1) for speed in speeds) < 1e-9
    assert not null or not any("table 2" in row["what"] or "rank" in row["what"] for row in data["comparison"])
    assert any("table 5, first plan" in row["what"] for row in data["comparison"])


def check_fousek(data, null):
    found = data["implementations"]
    predicted = [row["predicted_melem_per_s"] for row in found]
    assert predicted == sorted(predicted, reverse=True) and len(set(row["cover"] for row in found)) == len(found)
    rates = predicted if null else [row["measured_melem_per_s"] for row in found]
    rates = rates + [data["unfused_melem_per_s"], data["one_kernel_melem_per_s"]]
    lines = {row["what"]: row["here"] for row in data["comparison"]}
    paper = {row["what"]: row["paper"] for row in data["comparison"]}
    assert paper["best over unfused"] == 2.49 and paper["best over all fused"] == 1.46
    assert abs(lines["best over unfused"] * data["unfused_melem_per_s"] / max(rates) - 1) < 1e-4
    assert abs(lines["best over all fused"] * data["one_kernel_melem_per_s"] / max(rates) - 1) < 1e-4
    assert lines["best over unfused"] >= 1 and lines["best over all fused"] >= 1
    if null: # a prediction stands nowhere for a time
        assert len(found) == 40 and all(row["measured_melem_per_s"] is None for row in found)
        assert "compilation of an implementation" not in lines
    else:
        assert 0 < data["compiled"][0]["compile_seconds"] and len(found) == 3


def check_markall(data, null):
    assert all(row["elements"] == 2 * 12 * 12 and row["seconds"] > 0 for row in data["additions"])
    names = [row["way"] for row in data["additions"]]
    if null:
        assert "runs" not in data and "atomic" in names and "plain (wrong)" not in names
        return
    assert names == ["ranges of colours", "gathered"]
    runs = {(row["assembly"], row["elements"]): row for row in data["runs"]}
    assert set(runs) == {(name, 2 * n * n) for name in ("csr", "lma", "lma-gather") for n in (8, 16)}
    for row in runs.values():
        seconds = row["seconds"]
        assert 0 < seconds["products"] and 0 < seconds["reassembly"], row
        assert seconds["products"] + seconds["reassembly"] < seconds["solve"], row
        assert [probe["u"] for probe in row["probes"]] == [0.0], row  # given where the flow enters, or noise grows there
        assert abs(row["iterations"] - runs["csr", row["elements"]]["iterations"]) <= 4, row
    ratio = next(row for row in data["comparison"] if row["what"] == "table 1, largest mesh, ratio")
    ours = [runs[name, 512]["seconds"]["products"] for name in ("lma-gather", "csr")]
    assert abs(ratio["paper"] - 24.5 / 9.85) < 1e-9 and abs(ratio["here"] * ours[1] / ours[0] - 1) < 1e-9


def check_scales(folder):
    """Places in charts are linear in values, and in logarithms of factors."""
    root = xml.parse(os.path.join(folder, "dey", "threads.svg")).getroot()
    points = [(float(p.get("cx")), float(p.get("cy"))) for p in root.iter(SVG + "circle")][:5]
    with open(os.path.join(folder, "dey", "dey.json"), encoding="utf-8") as file:
        rates = next(row["gb_per_s"] for row in json.load(file)["reductions"] if row["coarsened"] == "threads")
    for i in range(5):
        x = points[0][0] + i * (points[4][0] - points[0][0]) / 4
        y = points[0][1] + (rates[i] - rates[0]) / (rates[4] - rates[0]) * (points[4][1] - points[0][1])
        assert abs(points[i][0] - x) < 0.2 and abs(points[i][1] - y) < 0.5, (points, rates)
    root = xml.parse(os.path.join(folder, "kurzak", "figure5.svg")).getroot()
    bars = [float(bar.get("height")) for bar in root.iter(SVG + "rect") if bar.get("x")][:4]
    with open(os.path.join(folder, "kurzak", "kurzak.json"), encoding="utf-8") as file:
        counts = [row["kernels"] for row in json.load(file)["figure5"] if row["order"] == "NN"]
    for height, count in zip(bars, counts):
        assert abs(height - count * bars[0] / counts[0]) < 0.2, (bars, counts)


CHECKS = {"markall": check_markall, "fousek": check_fousek, "filipovic": check_filipovic, "dey": check_dey, "kurzak": check_kurzak}
for folder in sys.argv[1:]:
    for paper, check in CHECKS.items():
        check(read(folder, paper), os.path.basename(folder) == "null")
    if os.path.basename(folder) == "null":
        check_scales(folder)
PYTHON
"$python" "$folder/check.py" "$folder/host" "$folder/null"

# The guidelines are options: without those of registers and blocks more kernels survive.
"$bench" kurzak --device null:h200 --reuse 2.5 --out "$folder/reuse" > "$folder/log"
"$python" - "$folder" <<'PYTHON'
import json
import sys

counts = []
for name in ("null", "reuse"):
    with open(f"{sys.argv[1]}/{name}/kurzak/kurzak.json", encoding="utf-8") as file:
        counts.append({(row["type"], row["order"]): row["kernels"] for row in json.load(file)["figure5"]})
assert counts[1]["SGEMM", "TT"] > counts[0]["SGEMM", "TT"] > 0
assert counts[0]["DGEMM", "NN"] > counts[1]["DGEMM", "NN"]
PYTHON
