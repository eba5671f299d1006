#!/usr/bin/env python3
"""Time of a gradient by the adjoint problem beside that of the solve: bench_gradient.py [DEVICE [MESH...]]

Poisson's equation with a coefficient k at the nodes, which is changed before each of five rounds, as an optimiser does; medians of the last
four, in milliseconds. The first round compiles."""

import statistics
import sys
import time

import weft

FORMS = """
V = FiniteElement("Lagrange", {cell}, 1)
u, v, unknown = TrialFunction(V), TestFunction(V), Coefficient(V)
k = Coefficient(V)
a, L = exp(k)*inner(grad(u), grad(v))*dx, v*dx
J = unknown**2*dx
"""


def main(name="host", *meshes):
    device = weft.Device(name)
    print("%-12s %9s %9s %9s %9s %6s %s" % ("mesh", "nodes", "first", "solve", "gradient", "ratio", "iterations"))
    for mesh_name in meshes or ("square:256", "cube:32"):
        mesh = weft.Mesh(mesh_name)
        k = device.zeros(mesh.n_nodes)
        cell = {2: "triangle", 3: "tetrahedron"}[mesh.dimension]
        problem = weft.Problem(mesh, weft.FormFile(FORMS.format(cell=cell), name="gradient.ufl"), {"k": k}, device=device,
                               conditions=[weft.Dirichlet("boundary", 0)])
        values, times = mesh.points[:, 0].copy(), []
        for round_ in range(5):
            k.set((1 + 0.1*round_)*values)
            start = time.perf_counter()
            report = problem.solve()
            device.wait()
            middle = time.perf_counter()
            problem.gradient("J", wrt="k", norm="l2")
            times.append((middle - start, time.perf_counter() - middle))
        solve, gradient = (1000*statistics.median(one[i] for one in times[1:]) for i in range(2))
        print("%-12s %9d %9.1f %9.1f %9.1f %6.2f %d" % (mesh_name, mesh.n_nodes, 1000*sum(times[0]), solve, gradient, gradient/solve,
                                                        report.iterations))


if __name__ == "__main__":
    main(*sys.argv[1:])
