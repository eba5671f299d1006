"""Cahn-Hilliard: a mixed space, split, a variable and the derivative of a residual."""
import math

from basix.ufl import element, mixed_element
from ufl import (
    Coefficient,
    Constant,
    FunctionSpace,
    Mesh,
    TestFunctions,
    derivative,
    diff,
    dx,
    grad,
    inner,
    split,
    variable,
)

lmbda = 1.0e-2
theta = 0.5
P1 = element("Lagrange", "triangle", 1)
mesh = Mesh(element("Lagrange", "triangle", 1, shape=(2,)))
ME = FunctionSpace(mesh, mixed_element([P1, P1]))
q, v = TestFunctions(ME)
u, u0 = Coefficient(ME), Coefficient(ME)
c, mu = split(u)
c0, mu0 = split(u0)
dt = Constant(mesh)

c = variable(c)
f = 100 * c**2 * (1 - c) ** 2 * math.cos(0)
dfdc = diff(f, c)
mu_mid = (1.0 - theta) * mu0 + theta * mu
F0 = inner(c, q) * dx - inner(c0, q) * dx + dt * inner(grad(mu_mid), grad(q)) * dx
F1 = inner(mu, v) * dx - inner(dfdc, v) * dx - lmbda * inner(grad(c), grad(v)) * dx
F = F0 + F1
J = derivative(F, u)
