#!/usr/bin/env python3
"""--preconditioner lu on the host and on a GPU, side by side:

    study_factorizations.py PROGRAMS OUT [--small] [--runs 3] [--device cuda] [--reference host]

PROGRAMS     the folder with solve
OUT          gets the form files, factorizations.json and factorizations.md
--small      meshes of a few hundred cells, to try the script
--runs       runs of each after one that compiles kernels, whose medians are shown
--device     another one for the second column, or host to have one column
--reference  the first one; where its library is missing, and on the largest meshes, it has no rows

A factorization is the last of a run: Newton's method and time steps make several, which `all` has the time of, with the
solves. The difference is that of u at a few points, relative to its largest value there. Exit status 1 if a run fails or they differ by more than 1e-6.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

CAVITY = """W = VectorElement("Lagrange", triangle, 2)*FiniteElement("Lagrange", triangle, 1)
w = Coefficient(W)
nu = Constant(triangle)
u, p = split(w)
v, q = TestFunctions(W)
F = (nu*inner(grad(u), grad(v)) + inner(grad(u)*u, v) - p*div(v) - q*div(u))*dx
unknown = w
"""
STOKES = """W = VectorElement("Lagrange", {cell}, 2)*FiniteElement("Lagrange", {cell}, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
f = Coefficient(VectorElement("Lagrange", {cell}, 2))
a = (inner(grad(u), grad(v)) - div(v)*p - q*div(u))*dx
L = inner(f, v)*dx
"""
ELASTICITY = """V = VectorElement("Lagrange", tetrahedron, {degree})
u, v = TrialFunction(V), TestFunction(V)
f = Constant(tetrahedron)
e = lambda w: sym(grad(w))
a = (2*inner(e(u), e(v)) + 1.5*div(u)*div(v))*dx
L = f*v[2]*dx
"""
ADVECTION = """V = FiniteElement("Lagrange", {cell}, {degree})
u, v = TrialFunction(V), TestFunction(V)
a = (1e-3*inner(grad(u), grad(v)) + 2*u.dx(0)*v + u.dx(1)*v)*dx
L = v*dx
"""
WAVE = """V = FiniteElement("Lagrange", triangle, 2)
u, v = TrialFunction(V), TestFunction(V)
a = (inner(grad(u), grad(v)) - 900*u*v)*dx
L = v*dx
"""
LID = ["--nonlinear", "--dirichlet", "boundary=0,0,free", "--dirichlet", "top=1,0,free", "--input"]
POINTS = {"s": ["--probe", "0.3,0.4", "--probe", "0.8,0.9"], "c": ["--probe", "0.3,0.4,0.6", "--probe", "0.9,0.8,0.5"]}


def problems(small):
    """Name, form file, mesh and options; a name with "alone" is for the device alone."""
    def size(mesh, n, few):
        return f"{mesh}:{few if small else n}"
    yield "cavity, Re 1000, Newton", CAVITY, size("square", 64, 4), [*LID, "nu=1e-2" if small else "nu=1e-3"]
    if not small:
        yield "cavity, Re 1000, Newton, alone", CAVITY, "square:128", [*LID, "nu=1e-3"]
    yield "Stokes, plane", STOKES.format(cell="triangle"), size("square", 64, 4), [
        "--input", "f=sin(3*y),cos(2*x)", "--dirichlet", "boundary=0,0,free"]
    yield "Stokes, space", STOKES.format(cell="tetrahedron"), size("cube", 8, 2), [
        "--input", "f=sin(3*y),cos(2*x),x*y", "--dirichlet", "boundary=0,0,0,free"]
    for degree, n in (1, 24), (2, 12):
        yield f"elasticity P{degree}", ELASTICITY.format(degree=degree), size("cube", n, 2), [
            "--input", "f=-1", "--dirichlet", "left=0,0,0"]
    yield "advection P1, plane", ADVECTION.format(cell="triangle", degree=1), size("square", 256, 8), ["--dirichlet", "boundary=0"]
    yield "advection P2, space", ADVECTION.format(cell="tetrahedron", degree=2), size("cube", 12, 2), ["--dirichlet", "boundary=0"]
    yield "Helmholtz P2, k 30", WAVE, size("square", 128, 4), ["--dirichlet", "boundary=0"]


def run(arguments, command, out):
    """The report of the last run, with medians of its times; None: it failed; {}: there is no library for it."""
    times = []
    for _ in range(arguments.runs + 1):
        done = subprocess.run([*command, "--json", str(out / "report.json")], capture_output=True, text=True, check=False)
        if done.returncode != 0 and "is not found" in done.stderr and arguments.reference in command:
            return {}
        if done.returncode != 0:
            print(" ".join(command), done.stdout, done.stderr, sep="\n")
            return None
        report = json.loads((out / "report.json").read_text())
        report["again"] = report["seconds"]["preconditioner"] + report["seconds"]["solve"]
        times.append((report["preconditioner_report"]["set_up_seconds"], report["again"]))
    report["set_up"], report["all"] = (statistics.median(column) for column in zip(*times[1:] or times))
    return report


def values_of(report):
    """u at the points, as one list."""
    found = []
    for probe in report["probes"]:
        found += probe["u"] if isinstance(probe["u"], list) else [probe["u"]]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--reference", default="host")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    devices = list(dict.fromkeys([arguments.reference, arguments.device]))
    rows, failed = [], False
    table = "| problem | mesh | unknowns | device | factorization, s | all, s | iterations | by | difference |\n|" + "---|"*9 + "\n"
    for number, (name, text, mesh, options) in enumerate(problems(arguments.small)):
        form = arguments.out / f"problem_{number}.ufl"
        form.write_text(text)
        first = None
        for device in devices[1:] if "alone" in name and len(devices) > 1 else devices:
            report = run(arguments, [str(arguments.programs / "solve"), str(form), "--mesh", mesh, "--preconditioner", "lu",
                                     "--device", device, "--tolerance", "1e-10", *options, *POINTS[mesh[0]]], arguments.out)
            if report is None:
                failed = True
            if not report:
                continue
            values = values_of(report)
            difference = max(abs(a - b) for a, b in zip(first, values))/max(map(abs, first)) if first else 0
            failed = failed or difference > 1e-6
            shown = f"{difference:.1e}" if first else ""
            first = first or values
            rows.append({"problem": name, "mesh": mesh, "device": device, "report": report})
            table += (f"| {name} | `{mesh}` | {report['dofs']} | {device} | {report['set_up']:.4g} | {report['all']:.4g} | "
                      f"{report['iterations']} | {report['preconditioner_report']['detail']} | {shown} |\n")
            print(table.splitlines()[-1], flush=True)
    (arguments.out / "factorizations.json").write_text(json.dumps(rows, indent=1))
    (arguments.out / "factorizations.md").write_text(table)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
