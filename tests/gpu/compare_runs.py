"""Compare what programs computed on a GPU with the host: FOLDER/PROBLEM-host.json against each FOLDER/PROBLEM-*.json.

usage: compare_runs.py FOLDER LEAST PROBLEM...      (LEAST: numbers that must be compared)

Numbers agree to 1e-7 of their size, or of 0.01 where they are smaller; norms of errors to 1e-7 of 1, the size of the solutions,
because an error of an exact solution in the space is what the solver left.
"""
import glob
import json
import os
import sys

QUANTITIES = ("energy", "integral_u", "l2_error", "h1_error", "l2_errors", "sum", "reactions", "derived")


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


def main(folder, least, problems):
    worst, compared = 0.0, 0
    for problem in problems:
        host_result = read(os.path.join(folder, f"{problem}-host.json"))
        host = numbers(host_result)
        paths = [path for path in glob.glob(os.path.join(folder, f"{problem}-*.json")) if not path.endswith("-host.json")]
        assert paths, problem
        for path in sorted(paths):
            result = read(path)
            assert result.get("outcome", "converged") == "converged" and "cuda" in result["device"], path
            assert result.get("newton_converged") == host_result.get("newton_converged"), path
            found = numbers(result)
            assert [key for key, _ in found] == [key for key, _ in host], path
            for (key, a), (_, b) in zip(found, host):
                difference = abs(a - b) / max(abs(b), 1 if "error" in key else 0.01)
                worst, compared = max(worst, difference), compared + 1
                assert difference < 1e-7, f"{os.path.basename(path)}: {key} is {a}, on the host {b}"
    print(f"{compared} values compared, the worst differs by {worst:.1e} of its size")
    assert compared >= least, "too few values"


main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
