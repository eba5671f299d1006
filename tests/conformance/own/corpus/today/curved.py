"""Curved cells, manifolds and rules by name."""
import basix.ufl
from ufl import (Coefficient, FacetNormal, FunctionSpace, Identity, Mesh, SpatialCoordinate, TestFunction,
                 TrialFunction, cos, div, dot, ds, dx, grad, inner, sin, sqrt)

forms = []
settings = {"triangle": (2, 2), "tetrahedron": (2, 3), "interval": (1, 2), "hexahedron": (1, 3)}
for name in ["triangle", "tetrahedron", "interval", "hexahedron"]:
    degree, gdim = settings[name]
    mesh = Mesh(basix.ufl.element("P", name, degree, shape=(gdim,)))
    V = FunctionSpace(mesh, basix.ufl.element("P", name, 2))
    u, v = TrialFunction(V), TestFunction(V)
    x = SpatialCoordinate(mesh)
    label = f"{name}_{degree}"
    vars()[label] = inner(grad(u), grad(v)) * dx + x[0] * u * v * dx
    forms.append(vars()[label])
    rule = "default" if name in ["triangle", "tetrahedron"] else "GLL"
    forms.append((sin(x[0]) * cos(x[1]) + sqrt(dot(x, x))) * v * dx(scheme=rule, degree=4))
    if name != "interval":
        n = FacetNormal(mesh)
        forms.append(dot(n, grad(u)) * v * ds + v * u * ds(7, {"quadrature_rule": "vertex", "quadrature_degree": 1}))
