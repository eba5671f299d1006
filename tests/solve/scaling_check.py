#!/usr/bin/env python3
"""Everything in a study's folder once more, from the lines of its runs.

scaling_check.py FOLDER: results.json against study.jsonl, then results.csv and report.md against
results.json. Prints what differs; exit status 1 then. No part of the app is used.
"""
import csv
import json
import math
import os
import re
import statistics
import sys

failures = 0


def check(fine, *words):
    global failures
    if not fine:
        failures += 1
        print("differs:", *words)


def near(a, b, relative=1e-12):
    if a is None or b is None:
        return a is None and b is None
    return abs(a - b) <= relative * max(abs(a), abs(b))


def read_study(folder):
    lines = [json.loads(line) for line in open(os.path.join(folder, "study.jsonl"))]
    return lines[0]["question"], [line for line in lines[1:] if "result" in line]


def runs_of(runs, question, case):
    name = " | ".join([case["mesh"], case["assembly"], case["device"]])
    counted = {}
    for run in runs:
        if run["case"] == name and run["round"] >= question["warmup"]:
            counted[run["round"]] = run
    return list(counted.values())


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def order(coarse, fine, key):
    if not coarse or not coarse[key] or not fine[key] or fine["cells"] <= coarse["cells"]:
        return None
    ratio = (fine["cells"] / coarse["cells"]) ** (1 / fine["dimension"])
    return math.log(coarse[key] / fine[key]) / math.log(ratio)


def check_case(case, runs, coarse, first):
    where = case["mesh"], case["assembly"], case["device"]
    results = [run["result"] for run in runs]
    check(case["runs"] == len(runs), where, "runs")
    for key in "cells", "nodes", "dimension":
        check(case[key] == median([r["mesh"][key] for r in results]), where, key)
    for key in ("dofs", "iterations", "l2_error", "h1_error", "bytes_peak", "bytes_device",
                "bytes_product"):
        check(near(case[key], median([r.get(key) for r in results])), where, key)
    phases = {"process": [run["seconds"] for run in runs]}
    for name in (results[0]["seconds"] if results else {}):
        phases[name] = [r["seconds"][name] for r in results]
    check(set(phases) == set(case["seconds"]) or not runs, where, "phases", set(phases))
    for name, values in phases.items() if runs else ():
        told = case["seconds"][name]
        check(told["values"] == sorted(values), where, name, "values")
        check(told["min"] == min(values) and told["max"] == max(values), where, name, "range")
        check(near(told["median"], statistics.median(values)), where, name, "median")
    if not runs:
        return
    solve = case["seconds"]["solve"]["median"]
    check(near(case["dofs_per_second"], case["dofs"] * case["iterations"] / solve), where, "dof/s")
    if first["seconds"]:
        ratio = first["seconds"]["total"]["median"] / case["seconds"]["total"]["median"]
        check(near(case["speed_up"], ratio), where, "speed_up")
    for norm in "l2", "h1":
        expected = order(coarse, case, norm + "_error")
        check(near(case[norm + "_order"], expected, 1e-9), where, norm, "order", expected)


def check_csv(folder, cases):
    with open(os.path.join(folder, "results.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    check(len(rows) == len(cases), "results.csv has", len(rows), "rows")
    for row, case in zip(rows, cases):
        check(None not in row and None not in row.values(), "a row of results.csv is uneven")
        for key, text in row.items():
            phase, _, part = key.rpartition("_")
            if phase in case["seconds"] and part in ("min", "median", "max"):
                value = case["seconds"][phase][part]
            elif key in case:
                value = case[key]
            else:
                value = None
            if value is None:
                check(text == "", key, text)
            elif isinstance(value, str):
                check(text == value, key, text, value)
            else:
                check(text != "" and float(text) == value, key, text, value)


def main():
    folder = sys.argv[1]
    question, runs = read_study(folder)
    results = json.load(open(os.path.join(folder, "results.json")))
    check(results["question"] == question, "the question")
    cases = results["cases"]
    per_level = len(cases) // len(question["meshes"])
    for i, case in enumerate(cases):
        coarse = cases[i - per_level] if i >= per_level else None
        check_case(case, runs_of(runs, question, case), coarse, cases[i // per_level * per_level])
    check_csv(folder, cases)
    print(len(cases), "cases,", failures, "differences")
    sys.exit(failures > 0)


main()
