#!/usr/bin/env python3
"""Forms of higher degree, vectors and mixed spaces from the mesh in memory to the solution, in one command:

    study_forms.py PROGRAMS OUT [--device cuda] [--runs 5] [--small] [--seconds 600] [--only PART]

PROGRAMS   the folder with solve
OUT        gets forms/*.py, times.json, times.md, iterations.json, iterations.md and iterations.svg
--runs     runs of each problem after one that compiles its kernels, whose medians are shown
--small    meshes of a few hundred cells, to try the script
--seconds  for all of it: problems that are not reached are missing, and named
--only     times or iterations

A time is the sum of the phases plan, compile, assembly, preconditioner and solve of the JSON of `solve`. Iterations are those
of multigrid without a matrix over four sizes of each element.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

HEAD = "from ufl import *\nimport basix.ufl\n"
POISSON = HEAD + """domain = Mesh(basix.ufl.element("Lagrange", "{cell}", 1, shape=({d},)))
V = FunctionSpace(domain, basix.ufl.element("Lagrange", "{cell}", {degree}))
u, v = TrialFunction(V), TestFunction(V)
f = Coefficient(V)
a = inner(grad(u), grad(v))*dx
L = f*v*dx
"""
ELASTICITY = HEAD + """domain = Mesh(basix.ufl.element("Lagrange", "{cell}", 1, shape=({d},)))
V = FunctionSpace(domain, basix.ufl.element("Lagrange", "{cell}", {degree}, shape=({d},)))
u, v = TrialFunction(V), TestFunction(V)
f = Coefficient(V)
nu = {nu}
mu, lmbda = 1/(2*(1 + nu)), nu/((1 + nu)*(1 - 2*nu))
e = lambda w: sym(grad(w))
a = inner(2*mu*e(u) + lmbda*tr(e(u))*Identity({d}), e(v))*dx
L = inner(f, v)*dx
"""
STOKES = HEAD + """domain = Mesh(basix.ufl.element("Lagrange", "{cell}", 1, shape=({d},)))
P2 = basix.ufl.element("Lagrange", "{cell}", {degree}, shape=({d},))
P1 = basix.ufl.element("Lagrange", "{cell}", {degree} - 1)
W = FunctionSpace(domain, basix.ufl.mixed_element([P2, P1]))
f = Coefficient(FunctionSpace(domain, P2))
u, p = TrialFunctions(W)
v, q = TestFunctions(W)
a = (inner(grad(u), grad(v)) - div(v)*p - q*div(u))*dx
L = inner(f, v)*dx
"""
CELLS = {  # mesh, dimension
    "triangle": ("square", 2), "quadrilateral": ("quads", 2), "tetrahedron": ("cube", 3), "hexahedron": ("hexes", 3)}
MATRIX_FREE = ["--preconditioner", "aggregation", "--assembly", "matrix-free"]


def problem(kind, cell, degree, nu=0.3):
    """The text of a form file and the options of solve for it."""
    d = CELLS[cell][1]
    if kind == "stokes":
        force = "f=sin(3*y),cos(2*x)" + (",x*y" if d == 3 else "")
        return STOKES.format(cell=cell, d=d, degree=degree), ["--input", force, "--dirichlet", "boundary=" + "0," * d + "free"]
    if kind == "elasticity":
        force = "f=" + ",".join(["0"] * (d - 1) + ["-1"])
        return (ELASTICITY.format(cell=cell, d=d, degree=degree, nu=nu),
                ["--input", force, "--dirichlet", "left=" + ",".join(["0"] * d)])
    return POISSON.format(cell=cell, d=d, degree=degree), ["--input", "f=1", "--dirichlet", "boundary=0"]


PARTS = ("plan", "compile", "assembly", "preconditioner", "solve")
# name, kind, cell, degree, n of the mesh, n with --small
TIMES = [
    ("Stokes, hexahedra", "stokes", "hexahedron", 2, 64, 4),
    ("Stokes, hexahedra", "stokes", "hexahedron", 2, 128, 5),
    ("P2 tetrahedra", "poisson", "tetrahedron", 2, 107, 4),
    ("P2 tetrahedra", "poisson", "tetrahedron", 2, 232, 5),
    ("P3 tetrahedra", "poisson", "tetrahedron", 3, 71, 3),
    ("P4 tetrahedra", "poisson", "tetrahedron", 4, 53, 3),
    ("Q3 hexahedra", "poisson", "hexahedron", 3, 71, 3),
    ("P2 triangles", "poisson", "triangle", 2, 358, 8),
    ("elasticity, P1 tetrahedra, nu 0.3", "elasticity", "tetrahedron", 1, 79, 4),
    ("elasticity, P2 tetrahedra, nu 0.3", "elasticity", "tetrahedron", 2, 50, 3),
    ("elasticity, P2 tetrahedra, nu 0.45", "elasticity", "tetrahedron", 2, 50, 3),
]
# kind, cell, degree: n of four meshes, whose dofs grow tenfold
ITERATIONS = [
    ("poisson", "triangle", 2, (50, 158, 500, 1581)), ("poisson", "triangle", 3, (33, 105, 333, 1054)),
    ("poisson", "triangle", 4, (25, 79, 250, 790)),
    ("poisson", "quadrilateral", 2, (50, 158, 500, 1581)), ("poisson", "quadrilateral", 3, (33, 105, 333, 1054)),
    ("poisson", "quadrilateral", 4, (25, 79, 250, 790)), ("poisson", "quadrilateral", 8, (12, 40, 125, 395)),
    ("poisson", "tetrahedron", 2, (11, 23, 50, 107)), ("poisson", "tetrahedron", 3, (7, 15, 33, 71)),
    ("poisson", "tetrahedron", 4, (5, 12, 25, 53)),
    ("poisson", "hexahedron", 2, (11, 23, 50, 107)), ("poisson", "hexahedron", 3, (7, 15, 33, 71)),
    ("poisson", "hexahedron", 4, (5, 12, 25, 53)),
    ("elasticity", "tetrahedron", 2, (7, 15, 34, 74)), ("elasticity", "hexahedron", 2, (7, 15, 34, 74)),
    ("stokes", "tetrahedron", 2, (7, 15, 34, 64)), ("stokes", "hexahedron", 2, (7, 15, 34, 74)),
]
SMALL = {2: (4, 6, 8, 12), 3: (2, 3, 4, 5)}


class Study:
    def __init__(self, options):
        self.solve = pathlib.Path(options.programs).resolve() / "solve"
        self.out = pathlib.Path(options.out).resolve()
        (self.out / "forms").mkdir(parents=True, exist_ok=True)
        self.options, self.end, self.missing = options, time.monotonic() + options.seconds, []

    def run(self, kind, cell, degree, n, more, nu):
        """The JSON of one run; None: it failed or there is no time, which is noted."""
        text, arguments = problem(kind, cell, degree, nu)
        file = self.out / "forms" / f"{kind}_{cell}_{degree}_{nu}.py"
        file.write_text(text)
        result = self.out / "result.json"
        result.unlink(missing_ok=True)
        left = self.end - time.monotonic()
        command = [str(self.solve), str(file), "--mesh", f"{CELLS[cell][0]}:{n}", *arguments, *more, "--device",
                   self.options.device, "--quiet", "--json", str(result)]
        label = f"{kind} {cell} {degree} {n}"
        if left <= 0:
            self.missing.append(f"{label}: no time is left")
            return None
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=left)
        except subprocess.TimeoutExpired:
            self.missing.append(f"{label}: no time is left")
            return None
        if done.returncode != 0:
            self.missing.append(f"{label}: exit status {done.returncode}: {done.stderr.strip().splitlines()[:1]}")
            return None
        return json.loads(result.read_text())

    def times(self):
        rows = []
        for name, kind, cell, degree, n, small in TIMES:
            n = small if self.options.small else n
            nu = 0.45 if name.endswith("0.45") else 0.3
            runs = [self.run(kind, cell, degree, n, [], nu) for _ in range(1 + self.options.runs)][1:]
            runs = [run for run in runs if run]
            if not runs:
                continue
            first = runs[0]
            rows.append({"problem": name, "mesh": f"{CELLS[cell][0]}:{n}", "runs": len(runs),
                         **{key: first[key] for key in ("dofs", "method", "preconditioner", "assembly", "iterations")},
                         "time": statistics.median(sum(run["seconds"].get(part, 0) for part in PARTS) for run in runs),
                         "seconds": {part: statistics.median(run["seconds"].get(part, 0) for run in runs)
                                     for part in (*PARTS, "measure", "total")},
                         "bytes_device": first.get("bytes_device")})
        lines = ["| problem | mesh | unknowns | chosen | iterations | plan | assembly | preconditioner | solve | time, s "
                 "| bytes an unknown |", "|---|---|---|---|---|---|---|---|---|---|---|"]
        for row in rows:
            part = row["seconds"]
            chosen = f"{row['method']}, {row['preconditioner']}, {row['assembly']}"
            lines.append(f"| {row['problem']} | `{row['mesh']}` | {row['dofs']:,} | {chosen} | {row['iterations']} | "
                         f"{part['plan'] + part['compile']:.3f} | {part['assembly']:.3f} | {part['preconditioner']:.3f} | "
                         f"{part['solve']:.3f} | {row['time']:.3f} | {(row['bytes_device'] or 0) / row['dofs']:.0f} |")
        self.write("times", rows, lines)

    def iterations(self):
        rows = []
        for kind, cell, degree, sizes in ITERATIONS:
            counts = []
            for n in SMALL[CELLS[cell][1]] if self.options.small else sizes:
                more = [] if kind == "stokes" else MATRIX_FREE
                run = self.run(kind, cell, degree, n, more, 0.3)
                if run:
                    counts.append({"n": n, "dofs": run["dofs"], "iterations": run["iterations"], "method": run["method"]})
            rows.append({"kind": kind, "cell": cell, "degree": degree, "counts": counts})
        lines = ["| form | cells | degree | unknowns: iterations |", "|---|---|---|---|"]
        for row in rows:
            counts = ", ".join(f"{count['dofs']:,}: {count['iterations']}" for count in row["counts"])
            lines.append(f"| {row['kind']} | {row['cell']} | {row['degree']} | {counts} |")
        self.write("iterations", rows, lines)
        (self.out / "iterations.svg").write_text(draw(rows))

    def write(self, name, rows, lines):
        (self.out / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
        (self.out / f"{name}.md").write_text("\n".join(lines) + "\n")
        print("\n".join(lines), flush=True)


def draw(rows):
    """Iterations over the number of unknowns, a line for each element, as SVG."""
    width, height, left, bottom, right = 760, 420, 50, 40, 230
    rows = [row for row in rows if row["counts"]]
    dofs = [count["dofs"] for row in rows for count in row["counts"]] or [1, 10]
    low, high = math.log10(min(dofs)), max(math.log10(max(dofs)), math.log10(min(dofs)) + 1)
    most = max([count["iterations"] for row in rows for count in row["counts"]] or [1])

    def place(count):
        x = left + (math.log10(count["dofs"]) - low) / (high - low) * (width - left - right)
        return x, height - bottom - count["iterations"] / most * (height - 2 * bottom)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for power in range(math.ceil(low), math.floor(high) + 1):
        x = place({"dofs": 10**power, "iterations": 0})[0]
        out.append(f'<text x="{x:.0f}" y="{height - bottom + 16}" text-anchor="middle">1e{power}</text>')
    for tick in range(0, most + 1, 10 if most > 20 else 5):
        y = place({"dofs": min(dofs), "iterations": tick})[1]
        out.append(f'<path d="M{left} {y:.0f}H{width - right}" stroke="#ddd"/><text x="{left - 6}" y="{y + 4:.0f}" '
                   f'text-anchor="end">{tick}</text>')
    out.append(f'<text x="{left}" y="16">iterations over unknowns</text>')
    for number, row in enumerate(rows):
        colour = f"hsl({number * 360 // len(rows)}, 70%, 40%)"
        points = [place(count) for count in row["counts"]]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        y = 30 + number * (height - 60) / max(len(rows), 1)
        out.append(f'<path d="M{width - right + 14} {y:.0f}h18" stroke="{colour}" stroke-width="3"/>'
                   f'<text x="{width - right + 38}" y="{y + 4:.0f}">{row["kind"]}, {row["cell"]} {row["degree"]}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("out")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", choices=("times", "iterations"))
    study = Study(parser.parse_args())
    if study.options.only != "iterations":
        study.times()
    if study.options.only != "times":
        study.iterations()
    for line in study.missing:
        print(f"missing: {line}", file=sys.stderr)
    return 1 if study.missing else 0


if __name__ == "__main__":
    sys.exit(main())
