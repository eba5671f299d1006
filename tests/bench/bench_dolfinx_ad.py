"""advection_diffusion's scheme in DOLFINx and PETSc, one process, beside Weft's own app on one thread.

usage: bench_dolfinx_ad.py ADVECTION_DIFFUSION DIMENSION N STEPS     prints JSON; exits 77 where packages are missing
The same mesh (N cells a side), time step, Lie splitting, consistent mass, theta = 1/2 and tolerance 1e-10 of each
solve's right-hand side. Matrices are assembled once; stages are products with the advection matrix and Jacobi-CG with
the mass matrix, then the diffusion's solve: once from zero, as KSP does by default, and once ("warm") as Weft does, each
slope from the one before, the diffusion from T and the last increment.
Forms are compiled by FFCx with -O3 -march=native. The two masses at the end are compared."""
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import dolfinx
    import numpy
    import ufl
    from dolfinx import fem, mesh
    from mpi4py import MPI
    from petsc4py import PETSc
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

app, dimension, n, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
dt, mu = 0.2 / n, 1e-3
velocity = [0.4, 0.2, 0.1][:dimension]
centre = [0.3, 0.4, 0.5][:dimension]

ours = json.loads(subprocess.run(
    [app, "--mesh", f"{'square' if dimension == 2 else 'cube'}:{n}", "--velocity", ",".join(map(str, velocity)),
     "--diffusivity", str(mu), "--initial",
     "exp(-(" + "+".join(f"({x}-{c})^2" for x, c in zip("xyz", centre)) + ")/0.01)", "--dt", repr(dt),
     "--steps", str(steps), "--device", "host:1", "--json", "-"], check=True, capture_output=True).stdout)

if dimension == 2:
    domain = mesh.create_unit_square(MPI.COMM_SELF, n, n)
else:
    domain = mesh.create_unit_cube(MPI.COMM_SELF, n, n, n)
space = fem.FunctionSpace(domain, ("Lagrange", 1))
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
along = ufl.as_vector(velocity)


def matrix(form):
    compiled = fem.form(form, jit_params={"cffi_extra_compile_args": ["-O3", "-march=native"]})
    out = fem.petsc.assemble_matrix(compiled)
    out.assemble()
    return out


mass, stiffness = u * v * ufl.dx, mu * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
M = matrix(mass)
A = matrix(ufl.dot(along, ufl.grad(u)) * v * ufl.dx)
B = matrix(mass + dt / 2 * stiffness)
C = matrix(mass - dt / 2 * stiffness)


def solver(of, warm):
    ksp = PETSc.KSP().create(MPI.COMM_SELF)
    ksp.setOperators(of)
    ksp.setType("cg")
    ksp.getPC().setType("jacobi")
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setTolerances(rtol=1e-10, atol=1e-300, max_it=10000)
    ksp.setInitialGuessNonzero(warm)
    ksp.setUp()
    return ksp


x = space.tabulate_dof_coordinates()
T, k, S, Y, b, y, e = (M.createVecRight() for _ in range(7))


def run(warm):
    """Seconds and iterations a step, and the mass at the end."""
    slopes, diffusion = solver(M, warm), solver(B, warm)
    distance = sum((x[:T.getLocalSize(), i] - c)**2 for i, c in enumerate(centre))
    T.array[:] = numpy.exp(-distance / 0.01)
    k.set(0.0)
    e.set(0.0)
    iterations = 0
    start = time.perf_counter()
    for _ in range(steps):
        T.copy(S)
        for offset, share in ((0, dt / 6), (dt / 2, dt / 3), (dt / 2, dt / 3), (dt, dt / 6)):
            T.copy(Y)
            Y.axpy(offset, k)
            A.mult(Y, b)
            b.scale(-1)
            slopes.solve(b, k)
            iterations += slopes.getIterationNumber()
            S.axpy(share, k)
        S.copy(T)
        C.mult(T, b)
        T.copy(y)
        y.axpy(1, e)
        diffusion.solve(b, y)
        iterations += diffusion.getIterationNumber()
        y.copy(e)
        e.axpy(-1, T)
        y.copy(T)
    seconds = (time.perf_counter() - start) / steps
    M.mult(T, b)
    return seconds, iterations / steps, b.sum()


cold, warm = run(False), run(True)
mine = ours["series"][-1]["mass"]
for other in (cold, warm):
    if abs(other[2] - mine) > 1e-8 * abs(mine):
        sys.exit(f"the masses at the end differ: {other[2]} and {mine}")
weft = ours["seconds"]["solve"] / steps
print(json.dumps({
    "nodes": T.getSize(),
    "steps": steps,
    "weft_seconds_a_step": weft,
    "weft_iterations_a_step": ours["iterations"] / steps,
    "dolfinx_seconds_a_step": cold[0],
    "dolfinx_iterations_a_step": cold[1],
    "ratio": cold[0] / weft,
    "dolfinx_warm_seconds_a_step": warm[0],
    "dolfinx_warm_iterations_a_step": warm[1],
    "ratio_warm": warm[0] / weft,
    "dolfinx": dolfinx.__version__,
}))
