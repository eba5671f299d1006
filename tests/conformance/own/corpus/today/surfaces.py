"""Cells in a space of higher dimension: curves and surfaces, also curved ones."""
import basix.ufl
from ufl import (Coefficient, Constant, FacetNormal, FunctionSpace, Mesh, SpatialCoordinate, TestFunction, TrialFunction,
                 dot, ds, dx, grad, inner, nabla_grad)

forms = []
for name, degree, gdim in [("interval", 1, 3), ("interval", 2, 2), ("triangle", 1, 3), ("triangle", 2, 3),
                           ("quadrilateral", 1, 3)]:
    mesh = Mesh(basix.ufl.element("P", name, degree, shape=(gdim,)))
    V = FunctionSpace(mesh, basix.ufl.element("P", name, 2))
    W = FunctionSpace(mesh, basix.ufl.element("P", name, 1, shape=(gdim,)))
    u, v, f, w = TrialFunction(V), TestFunction(V), Coefficient(V), Coefficient(W)
    x, n = SpatialCoordinate(mesh), FacetNormal(mesh)
    forms.append(inner(grad(u), grad(v)) * dx(degree=3) + x[1] * u * v * dx(degree=3))
    forms.append(f * dot(w, grad(v)) * dx(degree=4) + inner(grad(w), nabla_grad(w)) * v * dx(degree=4))
    forms.append(dot(w, n) * f * v * ds(degree=3))
