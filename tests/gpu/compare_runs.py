"""Compare what programs computed on a GPU with the host: FOLDER/PROBLEM-host.json against each FOLDER/PROBLEM-*.json.

usage: compare_runs.py [--tolerance T] FOLDER LEAST PROBLEM...      (LEAST: numbers that must be compared)

Numbers agree to T (default 1e-7) of their size, or of 0.01 where they are smaller; norms of errors to T of 1, the size of the
solutions, because an error of an exact solution in the space is what the solver left. All problems are looked at before the end.
"""
import glob
import json
import os
import sys

QUANTITIES = ("energy", "integral_u", "l2_error", "h1_error", "l2_errors", "sum", "reactions", "derived", "eigenvalues")


def flat(value):
    """The numbers in a value."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, list):
        return [number for item in value for number in flat(item)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def numbers(result):
    pairs = [(key, number) for key in QUANTITIES for number in flat(result.get(key))]
    return pairs + [("probe", number) for probe in result.get("probes") or [] for number in flat(probe["u"])]


def compare(folder, problem, tolerance):
    """The number of values and the largest difference of one problem; AssertionError where it is wrong."""
    worst, compared = 0.0, 0
    paths = sorted(glob.glob(os.path.join(folder, f"{problem}-*.json")))
    host_path = os.path.join(folder, f"{problem}-host.json")
    assert host_path in paths and len(paths) > 1, f"{problem}: no results"
    host_result = read(host_path)
    host = numbers(host_result)
    for path in paths:
        if path == host_path:
            continue
        result, name = read(path), os.path.basename(path)
        assert result.get("outcome", "done") in ("converged", "done"), f"{name}: the outcome is {result['outcome']}"
        for key in ("outcome", "newton_converged"):
            assert result.get(key) == host_result.get(key), f"{name}: {key} is {result.get(key)}, on the host {host_result.get(key)}"
        assert "cuda" in result["device"], f"{name}: the device is {result['device']}"
        found = numbers(result)
        keys = [[key for key, _ in pairs] for pairs in (found, host)]
        assert keys[0] == keys[1], f"{name}: {keys[0]}, on the host {keys[1]}"
        for (key, a), (_, b) in zip(found, host):
            difference = abs(a - b) / max(abs(b), 1 if "error" in key else 0.01)
            worst, compared = max(worst, difference), compared + 1
            assert difference < tolerance, f"{os.path.basename(path)}: {key} is {a}, on the host {b}"
    return compared, worst


def main(folder, least, problems, tolerance):
    worst, compared, wrong = 0.0, 0, 0
    for problem in problems:
        try:
            n, difference = compare(folder, problem, tolerance)
            compared, worst = compared + n, max(worst, difference)
        except AssertionError as error:
            print(error)
            wrong += 1
    print(f"{compared} values of {len(problems) - wrong} problems agree, the worst differs by {worst:.1e} of its size; {wrong} problems do not")
    sys.exit(wrong > 0 or compared < least)


tolerance = 1e-7
arguments = sys.argv[1:]
if arguments[0] == "--tolerance":
    tolerance, arguments = float(arguments[1]), arguments[2:]
main(arguments[0], int(arguments[1]), arguments[2:], tolerance)
