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
    check(case["dofs"] == median([r.get("dofs", r["mesh"]["nodes"]) for r in results]), where, "dofs")
    for key in ("iterations", "l2_error", "h1_error", "bytes_peak", "bytes_device",
                "bytes_product"):
        check(near(case[key], median([r.get(key) for r in results])), where, key)
    phases = {"process": [run["seconds"] for run in runs]}
    if results and {"assembly", "solve"} <= set(results[0]["seconds"]):
        phases["compute"] = [r["seconds"]["assembly"] + r["seconds"]["solve"] +
                             r["seconds"].get("preconditioner", 0) for r in results]
    for name in (results[0]["seconds"] if results else {}):
        if results[0]["seconds"][name] is not None:  # a part of a captured loop
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
    basis = case["seconds"]["compute"]["median"]
    check(near(case["seconds_per_dof"], basis / case["dofs"]), where, "seconds_per_dof")
    if first["seconds"]:
        check(near(case["speed_up"], first["seconds"]["compute"]["median"] / basis), where, "speed_up")
    for norm in "l2", "h1":
        expected = order(coarse, case, norm + "_error")
        check(near(case[norm + "_order"], expected, 1e-9), where, norm, "order", expected)


def check_threads(cases):
    """Strong scaling: against the fewest threads of the same mesh and assembly."""
    groups = {}
    for case in cases:
        kind, _, threads = case["device"].partition(":")
        if kind == "host" and threads and case["seconds"]:
            groups.setdefault((case["mesh"], case["assembly"]), {})[int(threads)] = case
        else:
            check(case["threads"] is None, case["device"], "has threads")
    for where, group in groups.items():
        few = min(group)
        for threads, case in group.items():
            check(case["threads"] == threads, where, "threads")
            if len(group) == 1:
                check(case["parallel_speed_up"] is None, where, "speed-up of one number of threads")
                continue
            ratio = (group[few]["seconds"]["compute"]["median"] /
                     case["seconds"]["compute"]["median"])
            check(near(case["parallel_speed_up"], ratio), where, threads, "speed-up")
            check(near(case["parallel_efficiency"], ratio * few / threads), where, threads,
                  "efficiency")


def tables(folder):
    """The tables of report.md by their headings, as lists of dicts; doubled columns get numbers."""
    found, heading, head = {}, None, None
    for line in open(os.path.join(folder, "report.md")):
        if line.startswith("## "):
            heading, head = line[3:].strip(), None
        elif line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            if head is None:
                head = [name if name not in cells[:i] else f"{name} {i}"
                        for i, name in enumerate(cells)]
            elif not set(line) <= set("|-: \n"):
                check(len(cells) == len(head), "an uneven row in", heading)
                found.setdefault(heading, []).append(dict(zip(head, cells)))
    return found


def told(value):
    return "" if value is None else "%.4g" % value


def spread(phase):
    return "%.4g [%.4g, %.4g]" % (phase["median"], phase["min"], phase["max"]) if phase else ""


def count(value):
    return "" if value is None else "%.10g" % value


def check_table(rows, cases, heading, columns):
    check(len(rows) == len(cases), heading, "has", len(rows), "rows, not", len(cases))
    for row, case in zip(rows, cases):
        name, comma, rest = case["mesh"].partition(",")
        check(row["mesh"] == os.path.basename(name) + comma + rest, heading, row["mesh"])
        check(row["assembly"] == case["assembly"], heading, row["assembly"])
        for column, value in columns.items():
            check(row[column] == value(case), heading, column, row[column], value(case))


def check_report(folder, cases):
    found = tables(folder)
    for device in {case["device"] for case in cases}:
        check_table(found["Time on " + device], [c for c in cases if c["device"] == device],
                    "Time on " + device,
                    {"dofs": lambda c: count(c["dofs"]),
                     "iterations": lambda c: count(c["iterations"]),
                     "compute": lambda c: spread(c["seconds"].get("compute")),
                     "solve": lambda c: spread(c["seconds"].get("solve")),
                     "DoF/s": lambda c: told(c["dofs_per_second"]),
                     "seconds a dof": lambda c: told(c["seconds_per_dof"]),
                     "speed-up": lambda c: told(c["speed_up"]),
                     "bytes (process)": lambda c: told(c["bytes_peak"]),
                     "bytes (device)": lambda c: told(c["bytes_device"])})
    phases = {name for case in cases for name in case["seconds"]}
    # the column of the name of the mesh comes before that of the phase, so that one is "mesh N"
    columns = {name: (lambda c, name=name: told(c["seconds"].get(name, {}).get("median")))
               for name in phases - {"mesh", "assembly"}}
    check_table(found["Phases"], cases, "Phases", columns)
    for row in found["Phases"]:
        check(phases <= {name.split(" ")[0] for name in row}, "phases of", list(row))
    if any(case["l2_error"] is not None for case in cases):
        check_table(found["Errors"], cases, "Errors",
                    {"cells": lambda c: count(c["cells"]), "device": lambda c: c["device"],
                     "L2 error": lambda c: told(c["l2_error"]),
                     "order": lambda c: told(c["l2_order"]),
                     "H1 seminorm error": lambda c: told(c["h1_error"]),
                     "order 7": lambda c: told(c["h1_order"])})
    parallel = [case for case in cases if case["parallel_speed_up"] is not None]
    check(bool(parallel) == ("Strong scaling" in found), "the table of threads")
    check_table(found.get("Strong scaling", []), parallel, "Strong scaling",
                {"threads": lambda c: count(c["threads"]),
                 "speed-up": lambda c: told(c["parallel_speed_up"]),
                 "efficiency": lambda c: told(c["parallel_efficiency"])})


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
    check_threads(cases)
    check_csv(folder, cases)
    check_report(folder, cases)
    print(len(cases), "cases,", failures, "differences")
    sys.exit(failures > 0)


main()
