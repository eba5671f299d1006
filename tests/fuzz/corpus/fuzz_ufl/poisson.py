"""Poisson's equation on quadrilaterals of degree 2, named by enumerations of Basix."""
import basix
import basix.ufl
import ufl
from ufl import dS, ds, dx, grad, inner

cell = basix.CellType.quadrilateral
mesh = ufl.Mesh(basix.ufl.element(basix.ElementFamily.P, cell, 2, shape=(2,)))
V = ufl.FunctionSpace(
    mesh, basix.ufl.element("Lagrange", "quadrilateral", 3, basix.LagrangeVariant.gll_warped)
)
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
kappa = ufl.Constant(mesh, shape=(2, 2))
f = ufl.Coefficient(V)
n = ufl.FacetNormal(mesh)

a = inner(kappa * grad(u), grad(v)) * dx
L = inner(f, v) * dx(mesh) + inner(ufl.dot(n, grad(f)), v) * ds(domain=mesh, degree=5)
