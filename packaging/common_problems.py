"""Solves what Python's users solve first, so that a wheel has the kernels (packaging/wheel.sh): the problem of the package's
own help and the first ones of docs/tutorial-python.md, on meshes of each size that has kernels of its own."""

import weft

device = weft.Device()
SINE = {2: ("2*pi^2*sin(pi*x)*sin(pi*y)", "sin(pi*x)*sin(pi*y)"),
        3: ("3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)", "sin(pi*x)*sin(pi*y)*sin(pi*z)")}
FORMS = """
e = FiniteElement("Lagrange", %s, %d)
u, v = TrialFunction(e), TestFunction(e)
k, f = Coefficient(FiniteElement("DG", %s, 0)), Coefficient(e)
m = u*v*dx
a = k*inner(grad(u), grad(v))*dx
L = f*v*dx
"""
CELLS = {2: "triangle", 3: "tetrahedron"}


def solve_operator(name, dimension):
    mesh = weft.Mesh(name)
    space = weft.Space(mesh, device)
    conditions = weft.Conditions(space, [weft.Dirichlet("boundary", 0)])
    A = weft.Operator(weft.Form(space, "poisson.weft"), conditions)
    for load in (1, SINE[dimension][0]):
        assert A.solve(conditions.load(load)).converged
    space.errors(A.solve(conditions.load(1)).x, SINE[dimension][1])


def solve_forms(name, dimension, degree):
    cell = CELLS[dimension]
    forms = weft.FormFile(FORMS % (cell, degree, cell), name="Heat.ufl")
    source, exact = SINE[dimension]
    for f in (1, source):
        problem = weft.Problem(weft.Mesh(name), forms, device=device, values={"k": 1, "f": f},
                               conditions=[weft.Dirichlet("boundary", 0)])
        assert problem.solve().converged
        problem.errors(exact)
    problem.set(f=0)
    for _ in problem.steps(dt=0.01, end=0.02, initial=exact, scheme="sdirk2"):
        pass


for name in ("square:8", "square:32", "square:64", "cube:4", "cube:12"):
    dimension = 2 if name.startswith("square") else 3
    solve_operator(name, dimension)
    for degree in (1, 2):
        solve_forms(name, dimension, degree)
