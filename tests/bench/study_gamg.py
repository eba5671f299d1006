#!/usr/bin/env python3
"""CG with Weft's preconditioners and with PETSc's GAMG on the host, set-up included:

    study_gamg.py PROGRAMS OUT [--small] [--runs 3] [--threads 1,2]

PROGRAMS   the folder with solve
OUT        gets the form files, gamg.json and gamg.md
--small    small meshes, to try the script
--threads  of Weft; PETSc has one, as its build without threads

P2 on `cube:24` and elasticity on `cube:32` to 1e-8, medians after one run that compiles kernels. `petsc` and `aggregation, csr` have the same
stored matrix; `auto` is what solve chooses. A time is that of the preconditioner and the solve, in brackets with assembly. Exit status
77, with a word, where PETSc is not installed.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

POISSON = """V = FiniteElement("Lagrange", tetrahedron, 2)
u, v = TrialFunction(V), TestFunction(V)
a, L = inner(grad(u), grad(v))*dx, 1.0*v*dx
"""
ELASTICITY = """V = VectorElement("Lagrange", tetrahedron, 1)
u, v = TrialFunction(V), TestFunction(V)
e = lambda w: sym(grad(w))
a = (2*inner(e(u), e(v)) + 1.5*div(u)*div(v))*dx
L = -1.0*v[2]*dx
"""
CHOICES = [("auto", []), ("aggregation, csr", ["--preconditioner", "aggregation", "--assembly", "csr"]),
           ("petsc (GAMG)", ["--preconditioner", "petsc", "--assembly", "csr"])]


def run(command, out, runs):
    """The last report, with medians of its times."""
    times = []
    for _ in range(runs + 1):
        done = subprocess.run([*command, "--json", str(out / "report.json")], capture_output=True, text=True, check=False)
        if "PETSc is not found" in done.stderr:
            print("skipped: PETSc is not installed (libpetsc-real-dev)")
            sys.exit(77)
        if done.returncode != 0:
            sys.exit(" ".join(command) + "\n" + done.stdout + done.stderr)
        report = json.loads((out / "report.json").read_text())
        seconds = report["seconds"]
        alone = seconds["preconditioner"] + seconds["solve"]
        times.append((alone, alone + seconds["assembly"]))
    report["alone"], report["whole"] = (statistics.median(column) for column in zip(*times[1:] or times))
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    cases = [("P2", POISSON, 4 if arguments.small else 24, "boundary=0"),
             ("elasticity", ELASTICITY, 4 if arguments.small else 32, "left=0,0,0")]
    table = "| problem | threads | preconditioner | iterations | s (with assembly) |\n|---|---|---|---|---|\n"
    reports = []
    for name, text, n, dirichlet in cases:
        form = arguments.out / f"{name}.ufl"
        form.write_text(text)
        for choice, options in reversed(CHOICES): # PETSc first, where it may be missing
            for threads in ["1"] if "petsc" in choice else arguments.threads.split(","):
                report = run([str(arguments.programs / "solve"), str(form), "--mesh", f"cube:{n}", "--dirichlet", dirichlet,
                              "--tolerance", "1e-8", "--device", f"host:{threads}", *options], arguments.out, arguments.runs)
                chosen = f"{choice}: {report['preconditioner']}" if choice == "auto" else choice
                table += (f"| {name}, `cube:{n}`, {report['dofs']} unknowns | {threads} | {chosen} | {report['iterations']} | "
                          f"{report['alone']:.3g} ({report['whole']:.3g}) |\n")
                print(table.splitlines()[-1], flush=True)
                reports.append(report)
    (arguments.out / "gamg.json").write_text(json.dumps(reports, indent=1))
    (arguments.out / "gamg.md").write_text(table)


if __name__ == "__main__":
    main()
