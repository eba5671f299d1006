"""DOLFINx (assembly into a known pattern) and PETSc (Jacobi-CG) on the structured mesh of bench_host, one process.

usage: bench_dolfinx.py DIMENSION N     prints JSON; exits 77 where the packages are missing
Both meshes have N cells a side; kernels are compiled by FFCx with -O3 -march=native."""
import json
import os
import statistics
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import dolfinx
    import ufl
    from dolfinx import fem, mesh
    from mpi4py import MPI
    from petsc4py import PETSc
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

dimension, n = int(sys.argv[1]), int(sys.argv[2])
if dimension == 2:
    domain = mesh.create_unit_square(MPI.COMM_SELF, n, n)
else:
    domain = mesh.create_unit_cube(MPI.COMM_SELF, n, n, n)
space = fem.FunctionSpace(domain, ("Lagrange", 1))
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
form = fem.form(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx,
                jit_params={"cffi_extra_compile_args": ["-O3", "-march=native"]})
matrix = fem.petsc.create_matrix(form)
times = []
for _ in range(9):
    matrix.zeroEntries()
    start = time.perf_counter()
    fem.petsc.assemble_matrix(matrix, form)
    matrix.assemble()
    times.append(time.perf_counter() - start)

# one pinned unknown makes the stiffness matrix regular
matrix.zeroRowsColumnsLocal([0], 1.0)
b, x = matrix.createVecRight(), matrix.createVecRight()
b.set(0.0)
b.array[:] = [(i * 104729 % 1000) / 1000.0 - 0.5 for i in range(b.getLocalSize())]
solver = PETSc.KSP().create(MPI.COMM_SELF)
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-300, atol=1e-300, max_it=60)
solver.setUp()
iterations = []
for _ in range(5):
    x.set(0.0)
    start = time.perf_counter()
    solver.solve(b, x)
    iterations.append((time.perf_counter() - start) / max(1, solver.getIterationNumber()))
print(json.dumps({
    "cells": domain.topology.index_map(dimension).size_local,
    "assemble_matrix_seconds": statistics.median(times),
    "cg_iteration_seconds": min(iterations),
    "dolfinx": dolfinx.__version__,
}))
