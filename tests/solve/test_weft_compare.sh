#!/bin/bash
# labels: quick
# weft compare on times that are made up, so that what must be said is known: which pairs are apart by
# more than the threshold is plain, and p-values of the rank test are counts over C(n + m, n), e.g. two
# fives that do not overlap 2 / 252, that overlap by one pair 4 / 252.
set -u
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
python3 - "$WEFT_BUILD/weft" <<'END'
import json
import subprocess
import sys

weft = sys.argv[1]
failures = 0


def study(name, cases, **more):
    """cases: (mesh, {phase: values}, other keys)"""
    root = {"weft_scaling": 1, "complete": True,
            "question": {"app": "poisson", "version": "1", "machine": "made up"}}
    root["cases"] = [
        dict({"mesh": mesh, "assembly": "csr", "device": "host", "iterations": 10, "error": None,
              "seconds": {phase: {"min": 0, "median": 0, "max": 0, "values": values}
                          for phase, values in seconds.items()}}, **other)
        for mesh, seconds, other in cases]
    root.update(more)
    with open(name, "w") as file:
        json.dump(root, file)


def compare(code, *arguments):
    run = subprocess.run([weft, "compare", *arguments], capture_output=True, text=True)
    if run.returncode != code:
        check(False, f"exit {run.returncode}, expected {code}: {run.stdout}{run.stderr}")
    return run.stdout + run.stderr


def check(fine, words):
    global failures
    if not fine:
        failures += 1
        print("FAILED:", words)


def verdict(before, after, *options):
    """The first word of the line about one phase, and the line."""
    study("a.json", [("m", {"solve": before}, {})])
    study("b.json", [("m", {"solve": after}, {})])
    run = subprocess.run([weft, "compare", "--all", *options, "a.json", "b.json"],
                         capture_output=True, text=True)
    lines = [line for line in run.stdout.splitlines() if " solve " in line]
    check(len(lines) == 1, run.stdout + run.stderr)
    word = "too few" if lines[0].startswith("too few") else lines[0].split()[0]
    check(run.returncode == (word == "slower"), f"exit {run.returncode} of {word}")
    return word, lines[0]


FIVE = [1.0, 1.01, 1.02, 1.03, 1.04]
for factor, word in (2, "slower"), (0.5, "faster"), (1, "alike"):
    told, line = verdict(FIVE, [factor * v for v in FIVE])
    check(told == word, f"{factor}: {line}")
told, line = verdict(FIVE, [2 * v for v in FIVE])
check("+100.0 %" in line and "p 0.0079" in line, line)
check("1.02 s [1.00 s, 1.04 s] -> 2.04 s [2.00 s, 2.08 s]" in line, line)

# Apart in rank, within the threshold; and the threshold as an option.
near = [v + 0.045 for v in FIVE]
check(verdict(FIVE, near)[0] == "alike", "4 % with a threshold of 5 %")
check(verdict(FIVE, near, "--threshold", "2")[0] == "slower", "4 % with a threshold of 2 %")

# The median far away, the spread overlapping: one value of 5 crosses two of the others.
wide = [1.005, 2.0, 2.0, 2.0, 2.0]
told, line = verdict(FIVE, wide)
check(told == "alike" and "p 0.095" in line, line)  # U = 4: 2 * 12 / 252
check(verdict(FIVE, wide, "--chance", "0.1")[0] == "slower", "a chance of 10 %")
# An outlier among ten does not hide a change, among five it does.
ten = [1 + 0.001 * i for i in range(10)]
check(verdict(ten, [1.0] + [2.0] * 9)[0] == "slower", "ten with an outlier")
check(verdict(FIVE, [1.0] + [2.0] * 4)[0] == "alike", "five with an outlier")
# Too few: 4 and 4 reach 2 / 70 at best; 4 and 6, 3 and 9 reach 0.01.
check(verdict(FIVE[:4], [9.0] * 4)[0] == "too few", "4 and 4")
check(verdict(FIVE[:4], [9.0] * 6)[0] == "slower", "4 and 6")
check(verdict(FIVE[:3], [9.0] * 9)[0] == "slower", "3 and 9")
check(verdict(FIVE[:3], [9.0] * 8)[0] == "too few", "3 and 8")
check(verdict([1.0], [9.0])[0] == "too few", "1 and 1")
# The order of values is nothing: they need not be sorted.
check(verdict(FIVE[::-1], [3.0, 2.0, 4.0, 2.5, 3.5])[0] == "slower", "unsorted")

# Several cases; a phase that is always zero is none; cases of one side; iterations; a case that fails.
study("a.json", [("m1", {"solve": FIVE, "order": [0] * 5}, {}), ("m2", {"solve": FIVE}, {}),
                 ("old", {"solve": FIVE}, {}), ("breaks", {"solve": FIVE}, {})])
study("b.json", [("m2", {"solve": FIVE}, {"iterations": 12}),
                 ("m1", {"solve": [0.5 * v for v in FIVE], "order": [0] * 5}, {}),
                 ("new", {"solve": FIVE}, {}), ("breaks", {}, {"error": "no memory"})])
text = compare(1, "a.json", "b.json")
for part in ("faster   m1 | csr | host  solve", "differs  m2 | csr | host  iterations 10 -> 12",
             "only A   old | csr | host", "only B   new | csr | host",
             "fails    breaks | csr | host  no memory",
             "3 cases, 2 times: 0 slower, 1 faster, 1 alike"):
    check(part in text, f"no '{part}' in:\n{text}")
check(compare(0, "a.json", "a.json").endswith("4 cases, 4 times: 0 slower, 0 faster, 4 alike\n"), "self")

# Bad input: exit 2 and a message that names the file.
open("text.json", "w").write("{\n\n]")
json.dump([1], open("list.json", "w"))
study("torn.json", [("m", {"solve": ["x"]}, {})])
study("other.json", [("elsewhere", {"solve": FIVE}, {})])
for arguments, part in [
        (["a.json", "missing.json"], "missing.json"), (["text.json", "a.json"], "text.json:3"),
        (["a.json", "list.json"], "list.json: error: these are not results of scaling"),
        (["a.json", "torn.json"], "torn.json: error: a case lacks"),
        (["a.json", "other.json"], "no case in common"), (["a.json"], "two files are compared, 1 is"),
        ([], "two files are compared, 0 are"), (["a.json", "b.json", "c.json"], "unexpected argument"),
        (["--threshold", "-1", "a.json", "b.json"], "--threshold:1:1: error: this number is out of"),
        (["--threshold", "x", "a.json", "b.json"], "--threshold:1:1"),
        (["--chance", "2", "a.json", "b.json"], "--chance:1:1"), (["--thresh"], "needs a value"),
        (["--frobnicate"], "unknown option '--frobnicate'")]:
    text = compare(2, *arguments)
    check(part in text, f"{arguments}: no '{part}' in {text}")
sys.exit(failures > 0)
END
